/** Owns how a case follows its groups: what a wave placed, what each sub-case became, and when all is done. */
import type { Received } from "../runtime/decider.ts";
import { approvedDemands, roomsIn } from "./capacity.ts";
import { thenWave } from "./planning.ts";
import { type CaseEvent, type CaseState, evolve, type Stage, terminalStages } from "./state.ts";

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
  const noted: CaseEvent = { type: "case.wave-noted", data: { waveId, progress } };
  return thenWave(state, command, [noted, ...consequences(evolve(state, noted), command.now)], true);
};

/** A sub-case tells where it stands. A terminal stage is never left: a late report of an earlier one changes nothing. */
export const decideNoteGroup = (state: CaseState, command: Received): CaseEvent[] => {
  const { groupId, stage } = command.data as { groupId: string; stage: Stage };
  const at = state.groups.findIndex((group) => group.groupId === groupId);
  const current = state.progress[at];
  if (current === undefined || current === stage || terminalStages.has(current)) return [];
  const progress = staged(state, new Set([groupId]), stage);
  const noted: CaseEvent = { type: "case.group-noted", data: { progress } };
  return [noted, ...consequences(evolve(state, noted), command.now)];
};

/** What follows from where the groups stand now: demand is settled, and the case resolved once. */
const consequences = (state: CaseState, now: Date): CaseEvent[] => {
  const events = settlements(state);
  const done = [...state.progress].every((stage) => terminalStages.has(stage));
  if (done && state.resolvedAt === undefined) events.push({ type: "case.resolved", data: { at: now } });
  return events;
};

/**
 * Booked rooms count for the demands in their order. A demand is FULFILLED once its last room is booked, and PARTIAL
 * once nothing of it is under way and some of its rooms are booked while groups have failed or could not be placed
 * (contract, "Demand"). With nothing booked it stays APPROVED, and can be allocated again.
 */
const settlements = (state: CaseState): CaseEvent[] => {
  const booked = roomsIn(state, "BRD");
  const underWay = state.progress.includes("A") || state.awaiting?.step === "wave";
  const lost = roomsIn(state, "FH") > 0;
  let upTo = 0;
  return approvedDemands(state).flatMap(({ demandId, state: before, roomsRequested }) => {
    const from = upTo;
    upTo += roomsRequested;
    const partly = !underWay && lost && booked > from;
    const outcome = booked >= upTo ? "FULFILLED" : partly ? "PARTIAL" : undefined;
    if (outcome === undefined || outcome === before || before === "FULFILLED") return [];
    return { type: "demand.settled", data: { demandId, state: outcome } } as const;
  });
};
