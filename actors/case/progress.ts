/** Owns how a case follows its groups: what a wave placed, what each sub-case became, and when all is done. */
import type { Received } from "../runtime/decider.ts";
import { type CaseEvent, type CaseState, type Demand, type Stage, terminalStages } from "./state.ts";

const staged = (state: CaseState, groupIds: ReadonlySet<string>, stage: Stage): string =>
  state.groups.map(({ groupId }, i) => (groupIds.has(groupId) ? stage : state.progress[i])).join("");

/** A wave has placed some groups and held others; those that have moved on meanwhile stay where they are. */
export const decideNoteWave = (state: CaseState, command: Received): CaseEvent[] => {
  const { waveId, allocated, unplaced } = command.data as {
    waveId: string;
    allocated: string[];
    unplaced: string[];
  };
  if (state.awaiting?.step !== "wave" || state.awaiting.waveId !== waveId) return [];
  const placed = new Set(allocated);
  const held = new Set(unplaced);
  const progress = state.groups
    .map(({ groupId }, i) => {
      if (state.progress[i] !== "W") return state.progress[i];
      return placed.has(groupId) ? "A" : held.has(groupId) ? "H" : "W";
    })
    .join("");
  return [
    { type: "case.wave-noted", data: { waveId, progress } },
    ...consequences(state, progress, command.now),
  ];
};

/** A sub-case tells where it stands. A terminal stage is never left: a late report of an earlier one changes nothing. */
export const decideNoteGroup = (state: CaseState, command: Received): CaseEvent[] => {
  const { groupId, stage } = command.data as { groupId: string; stage: Stage };
  const at = state.groups.findIndex((group) => group.groupId === groupId);
  const current = state.progress[at];
  if (current === undefined || current === stage || terminalStages.has(current)) return [];
  const progress = staged(state, new Set([groupId]), stage);
  return [{ type: "case.group-noted", data: { progress } }, ...consequences(state, progress, command.now)];
};

/** What follows when no group is on its way any more: demand is settled, and the case resolved once. */
const consequences = (state: CaseState, progress: string, now: Date): CaseEvent[] => {
  const events: CaseEvent[] = [];
  const underWay = /[WA]/.test(progress);
  const booked = /[BRD]/.test(progress);
  const failed = /[FH]/.test(progress);
  for (const demand of state.demands) {
    const outcome = settled(demand, underWay, booked, failed);
    if (outcome !== undefined)
      events.push({ type: "demand.settled", data: { demandId: demand.demandId, state: outcome } });
  }
  const done = [...progress].every((stage) => terminalStages.has(stage));
  if (done && state.resolvedAt === undefined) events.push({ type: "case.resolved", data: { at: now } });
  return events;
};

const settled = (
  demand: Demand,
  underWay: boolean,
  booked: boolean,
  failed: boolean,
): "FULFILLED" | "PARTIAL" | undefined => {
  if (underWay || !booked || (demand.state !== "APPROVED" && demand.state !== "PARTIAL")) return undefined;
  const outcome = failed ? "PARTIAL" : "FULFILLED";
  return outcome === demand.state ? undefined : outcome;
};
