/** Owns what people set going about a case's rooms: booking what is allocated, another wave, a hotel chosen by hand. */
import { Problem } from "../../schemas/problems.ts";
import type { Received } from "../runtime/decider.ts";
import { stillToBook } from "./booking-state.ts";
import { approvedDemands, placeable } from "./capacity.ts";
import { notApproved, tryAgain, waveRequested } from "./planning.ts";
import { roundOf } from "./progress.ts";
import { type CaseEvent, type CaseState, evolve } from "./state.ts";

/** @throws Problem validation/body for a group that the case doesn't have */
export const placesOf = ({ groups }: CaseState, groupIds: readonly string[]): number[] =>
  groupIds.map((groupId, i) => {
    const at = groups.findIndex((group) => group.groupId === groupId);
    if (at >= 0) return at;
    throw new Problem("validation/body", "The case has no such group.", {
      errors: [{ pointer: `/groupIds/${i}`, detail: "is no group of this case" }],
    });
  });

/**
 * Sends the allocated groups that wait for it to booking; of those named the ones that wait.
 * @throws Problem conflict/state when none of them waits
 */
export const decideBookRooms = (state: CaseState, command: Received): CaseEvent[] => {
  const { groupIds } = command.data as { groupIds?: string[] };
  const named = groupIds === undefined ? undefined : new Set(placesOf(state, groupIds));
  const started = (state.toBook ?? []).flatMap((entry) => {
    const at = state.groups.findIndex(({ groupId }) => groupId === entry.groupId);
    const group = state.groups[at];
    return group === undefined || named?.has(at) === false ? [] : { ...entry, subCaseId: group.subCaseId };
  });
  if (started.length === 0) {
    const detail = "No allocated group waits for its booking.";
    throw new Problem("conflict/state", detail, { state: state.status });
  }
  return [{ type: "case.booking-requested", data: { commandId: command.id, started } }];
};

/**
 * Another wave for whoever has no room: waiting, held, failed, or allocated and not booked yet; and for those with a room
 * that are named. Of two that have seen the same wave one wins: the other's is no longer the newest.
 * @throws Problem conflict/state, conflict/demand-not-approved, validation/body
 */
export const decideRerun = (standing: CaseState, command: Received): CaseEvent[] => {
  const { waveId, groupIds = [] } = command.data as { waveId: string; groupIds?: string[] };
  if (standing.awaiting?.step === "wave")
    throw new Problem("conflict/state", "An allocation is under way.", { state: "RUNNING" });
  if (standing.waveId !== waveId) {
    const detail = "The case has a newer wave. Look at that one, and rerun it if need be.";
    throw new Problem("conflict/state", detail, { state: "SUPERSEDED" });
  }
  const approved = approvedDemands(standing).at(-1);
  if (approved === undefined) throw notApproved(standing);
  const places = placesOf(standing, groupIds);
  const again = places.flatMap((at) =>
    "BR".includes(standing.progress[at] ?? "?") ? (standing.groups[at]?.groupId ?? []) : [],
  );
  const state = tryAgain(unbooked(standing), "HF");
  return [waveRequested(command, approved.demandId, state.progress, again)];
};

/** What was allocated to them and not booked is let go. */
const unbooked = (state: CaseState): CaseState => {
  const loose = new Set((state.toBook ?? []).map(({ groupId }) => groupId));
  const progress = state.groups.map(({ groupId }, i) => {
    const stage = state.progress[i];
    return stage === "A" && loose.has(groupId) ? "W" : stage;
  });
  return { ...state, progress: progress.join(""), toBook: stillToBook(state.toBook, loose) };
};

/**
 * A supervisor has chosen a hotel for a group that has no room, and under its policy a person books: it counts as allocated.
 * What was chosen before a saga that the case has heard of is late.
 */
export const decideNoteOverride = (state: CaseState, command: Received): CaseEvent[] => {
  const { groupId, round, waveId } = command.data as { groupId: string; round: number; waveId: string };
  const at = state.groups.findIndex((group) => group.groupId === groupId);
  const stage = state.progress[at];
  if (stage === undefined || !"WHF".includes(stage) || round < roundOf(state.rounds[at])) return [];
  const progress = `${state.progress.slice(0, at)}A${state.progress.slice(at + 1)}`;
  return [{ type: "case.override-noted", data: { groupId, waveId, progress } }];
};

/** Groups that a wave is to place, by their place in the case; those with a room only where somebody asked for them. */
export const toBePlaced = (state: CaseState): { waiting: number[]; again: number[] } => {
  const asked = new Set(state.awaiting?.again ?? []);
  const again = state.groups.flatMap(({ groupId }, i) =>
    asked.has(groupId) && "BR".includes(state.progress[i] ?? "?") ? i : [],
  );
  return { waiting: placeable(state), again };
};

/** The policies of the case's tiers as they are in force now; where none is any more, the one that it was planned by stays. */
export const policiesNow = (
  { policies }: Pick<CaseState, "policies">,
  found: Readonly<Record<string, CaseState["policies"][keyof CaseState["policies"]] | null>> | undefined,
): CaseState["policies"] =>
  Object.fromEntries(Object.entries(policies).map(([tier, copy]) => [tier, found?.[tier] ?? copy]));

/** A patch or another activation since the planning counts from the next decision on (contract, "Policy"). */
export const renewed = (state: CaseState, found: Parameters<typeof policiesNow>[1]): CaseEvent[] => {
  const policies = policiesNow(state, found);
  const isSame = Object.entries(state.policies).every(([tier, copy]) => {
    const now = policies[tier as keyof typeof policies];
    return now?.policyId === copy?.policyId && now?.version === copy?.version;
  });
  return isSame ? [] : [{ type: "case.policies-renewed", data: { policies } }];
};

/** Decides by the policies in force, which the case then keeps. */
export const withRenewed = (
  state: CaseState,
  found: Parameters<typeof policiesNow>[1],
  decide: (state: CaseState) => CaseEvent[],
): CaseEvent[] => {
  const renewal = renewed(state, found);
  const events = decide(renewal.reduce<CaseState>(evolve, state));
  return events.length === 0 ? [] : [...renewal, ...events];
};
