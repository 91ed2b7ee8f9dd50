/** Owns what watchers hear of a sub-case at each transition, whatever caused it: once for a decision, and nothing where none was made. */
import { urn } from "../../schemas/urn.ts";
import type { ReservationStatus, SubCaseStatus } from "../../schemas/vocabulary.ts";
import type { Outgoing } from "../runtime/decider.ts";
import { lockFacts } from "./lock.ts";
import type { SubCaseState } from "./state.ts";

/** How far a stay has come. */
const stays: ReadonlySet<ReservationStatus> = new Set(["CONFIRMED", "CHECKED_IN", "NO_SHOW", "CHECKED_OUT"]);
/** On the way to an offer only its end is told. */
const underWay: ReadonlySet<SubCaseStatus> = new Set(["PENDING", "PROCESSING"]);

/** Its status, its offer or how far its stay has come is another one. */
export const isOtherState = (before: SubCaseState, after: SubCaseState): boolean => {
  if (before.status !== after.status || before.offer.state !== after.offer.state) return true;
  const [was, is] = [before.reservation?.status, after.reservation?.status];
  if (was === undefined || is === undefined || was === is || underWay.has(after.status)) return false;
  return stays.has(was) && stays.has(is);
};

/** All of them are told, and whose lock is on it. */
export const stateChanged = (
  before: SubCaseState | undefined,
  after: SubCaseState,
  now: Date,
): Outgoing[] => {
  if (before === undefined || !isOtherState(before, after)) return [];
  const { lockedBy } = lockFacts(after, now);
  const data = {
    caseUrn: urn("case", after.caseId),
    subCaseUrn: urn("sub-case", after.subCaseId),
    groupId: after.groupId,
    airport: after.airport,
    status: after.status,
    offer: after.offer.state,
    offerBefore: before.offer.state,
    ...(after.reservation === undefined ? {} : { reservationStatus: after.reservation.status }),
    lockedBy,
  };
  const { subCaseId: id, caseId } = after;
  return [{ to: "internal", type: "subcase.state-changed", id, caseId, data }];
};
