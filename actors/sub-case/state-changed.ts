/** Owns what watchers hear of a sub-case at each transition, whatever caused it: once for a decision, and nothing where none was made. */
import { urn } from "../../schemas/urn.ts";
import type { Outgoing } from "../runtime/decider.ts";
import { lockFacts } from "./lock.ts";
import type { SubCaseState } from "./state.ts";

/** Of its status, or of its offer: both are told, and whose lock is on it. */
export const stateChanged = (
  before: SubCaseState | undefined,
  after: SubCaseState,
  now: Date,
): Outgoing[] => {
  if (before === undefined) return [];
  if (before.status === after.status && before.offer.state === after.offer.state) return [];
  const { lockedBy } = lockFacts(after, now);
  const data = {
    caseUrn: urn("case", after.caseId),
    subCaseUrn: urn("sub-case", after.subCaseId),
    groupId: after.groupId,
    airport: after.airport,
    status: after.status,
    offer: after.offer.state,
    offerBefore: before.offer.state,
    lockedBy,
  };
  const { subCaseId: id, caseId } = after;
  return [{ to: "internal", type: "subcase.state-changed", id, caseId, data }];
};
