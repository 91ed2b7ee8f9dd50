/** Owns policy limits that are loosened for this case alone, and the wave that tries them for the groups concerned. */
import { Problem } from "../../schemas/problems.ts";
import { notLooser, type RelaxedFields, relaxed, valuesOf } from "../../schemas/relaxation.ts";
import type { ForReview } from "../../schemas/review.ts";
import type { Tier } from "../../schemas/vocabulary.ts";
import type { Received } from "../runtime/decider.ts";
import { placesOf } from "./booking.ts";
import { approvedDemands, placeable } from "./capacity.ts";
import { notApproved, waveRequested } from "./planning.ts";
import type { Relaxation } from "./relax-state.ts";
import { type CaseEvent, type CaseState, evolve } from "./state.ts";

interface Relax {
  fields: RelaxedFields;
  groupIds: string[];
  reason: string;
  review?: ForReview;
}

/** Whom another wave could place: nobody has or seeks a room for them, and a policy covers them. */
const isAble = ({ groups, progress }: CaseState, at: number): boolean =>
  "WHF".includes(progress[at] ?? "?") && groups[at]?.stay !== undefined;

/** The policies that bind this case: as they are, each with what was relaxed for its tier. */
export const bindingPolicies = (
  policies: CaseState["policies"],
  relaxations: CaseState["relaxations"],
): CaseState["policies"] =>
  Object.fromEntries(
    Object.entries(policies).map(([tier, policy]) => [
      tier,
      relaxed(
        policy,
        relaxations?.filter(({ tiers }) => tiers?.includes(tier as Tier) ?? true),
      ),
    ]),
  );

/**
 * Nothing but loosening: whoever may not change the policy may let one case be an exception to it.
 * @throws Problem validation/body with a pointer for what loosens nothing; conflict/state, conflict/demand-not-approved
 */
export const decideRelax = (state: CaseState, command: Received): CaseEvent[] => {
  const { fields, groupIds, reason, review } = command.data as Relax;
  const { relaxations = [] } = state;
  if (relaxations.some(({ commandId }) => commandId === command.id)) return [];
  if (state.awaiting?.step === "wave")
    throw new Problem("conflict/state", "An allocation is under way.", { state: "RUNNING" });
  const able = placesOf(state, groupIds).filter((at) => isAble(state, at));
  if (able.length === 0) {
    const detail = "None of these groups waits for a room that a policy limits.";
    throw new Problem("conflict/state", detail, { state: state.status });
  }
  const tiers = [...new Set(able.flatMap((at) => state.groups[at]?.tier ?? []))];
  const binding = bindingPolicies(state.policies, relaxations);
  const errors = notLooser(
    tiers.flatMap((tier) => binding[tier] ?? []),
    fields,
  );
  if (errors.length > 0)
    throw new Problem("validation/body", "Only what is looser than the policy is taken.", { errors });
  const approved = approvedDemands(state).at(-1);
  if (approved === undefined) throw notApproved(state);
  const relaxation: Relaxation = {
    commandId: command.id,
    fields,
    groupIds,
    tiers,
    reason,
    by: command.principal.urn,
    at: command.now,
  };
  const loosened: CaseEvent = { type: "case.policy-relaxed", data: relaxation };
  const progress = [...state.progress].map((stage, at) => (able.includes(at) ? "W" : stage)).join("");
  const after = { ...evolve(state, loosened), progress };
  if (!placeable(after).some((at) => able.includes(at))) {
    const detail = "The approved rooms are given out; ask for an INCREMENTAL demand.";
    throw new Problem("conflict/state", detail, { state: approved.state });
  }
  const asked = waveRequested(command, approved.demandId, progress);
  const forReview = review === undefined ? {} : { review: { ...review, groupIds } };
  return [loosened, { ...asked, data: { ...asked.data, ...forReview } } as CaseEvent];
};

/** What of the tiers' policies bound the case before and after (contract, "Manual review item": audit entry). */
export const relaxationAudit = (before: CaseState, after: CaseState): { before: unknown; after: unknown } => {
  const { fields = {}, groupIds = [] } = after.relaxations?.at(-1) ?? {};
  const limits = ({ policies, relaxations }: CaseState) => {
    const binding = bindingPolicies(policies, relaxations);
    const tiers = Object.keys(binding) as Tier[];
    return Object.fromEntries(
      tiers.flatMap((tier) => {
        const policy = binding[tier];
        return policy === undefined ? [] : [[tier, valuesOf(policy, fields)]];
      }),
    );
  };
  return { before: limits(before), after: { ...limits(after), groupIds } };
};
