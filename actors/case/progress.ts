/** Owns how a case follows its groups: what a wave placed, what each sub-case became, and when all is done. */
import type { GroupNote, Stage } from "../../schemas/group-note.ts";
import type { Received } from "../runtime/decider.ts";
import { approvedDemands, bookedStages, roomsIn } from "./capacity.ts";
import { type CaseEvent, type CaseState, evolve, terminalStages } from "./state.ts";

/** A wave has placed some groups and held others; those that have moved on meanwhile stay where they are. */
export const decideNoteWave = (state: CaseState, command: Received): CaseEvent[] => {
  const {
    waveId,
    allocated,
    unplaced,
    unbooked = [],
  } = command.data as { waveId: string; allocated: string[]; unplaced: string[]; unbooked?: string[] };
  if (state.awaiting?.step !== "wave" || state.awaiting.waveId !== waveId) return [];
  const { rounds } = state.awaiting;
  const placed = new Set(allocated);
  const held = new Set(unplaced);
  const progress = state.groups
    .map(({ groupId }, i) => {
      if (state.progress[i] !== "W" || state.rounds[i] !== rounds?.[i]) return state.progress[i];
      return placed.has(groupId) ? "A" : held.has(groupId) ? "H" : "W";
    })
    .join("");
  const toBook = unbooked.filter((groupId) => {
    const at = state.groups.findIndex((group) => group.groupId === groupId);
    return progress[at] === "A" && state.progress[at] === "W";
  });
  const unmoved = unmovedIn(state, placed);
  const data = { waveId, progress, toBook, ...(unmoved.length === 0 ? {} : { unmoved }) };
  const noted: CaseEvent = { type: "case.wave-noted", data };
  return [noted, ...consequences(evolve(state, noted), command.now)];
};

/** Groups that have their room for the wrong dates still, and that this wave has found no other for. */
const unmovedIn = (state: CaseState, placed: ReadonlySet<string>): string[] =>
  state.groups.flatMap(({ groupId }, i) => {
    const asked = state.toReplace?.includes(groupId) && state.awaiting?.again?.includes(groupId);
    return asked && !placed.has(groupId) && "BR".includes(state.progress[i] ?? "?") ? groupId : [];
  });

/**
 * How far a group comes within one saga; a note of something earlier is late. One that was placed may
 * go back to waiting (A, then W), and a stuck rollback of a lost room may end after all (U, then F).
 */
const reached: Readonly<Record<Stage, number>> = {
  A: 0,
  W: 1,
  H: 1,
  B: 2,
  R: 3,
  U: 4,
  F: 5,
  D: 5,
  O: 5,
  C: 6,
  M: 7,
  X: 7,
  N: 7,
};

/** A sub-case tells where it stands. What it told of an earlier saga, or of an earlier moment of this one, changes nothing. */
export const decideNoteGroup = (state: CaseState, command: Received): CaseEvent[] => {
  const { groupId, stage, round, shape } = command.data as GroupNote;
  const at = state.groups.findIndex((group) => group.groupId === groupId);
  const current = state.progress[at] as Stage | undefined;
  if (current === undefined) return [];
  const last = roundOf(state.rounds[at]);
  const { mergedInto, shape: standing = 0 } = state.groups[at] as CaseState["groups"][number];
  if (stage === "N" && shape !== undefined && shape < standing) return [];
  const newer =
    round > last
      ? current !== "N" || (stage === "W" && mergedInto === undefined)
      : round === last && isFurther(stage, current);
  if (!newer) return [];
  const progress = withLetter(state.progress, at, stage);
  const rounds = withLetter(state.rounds, at, String.fromCharCode(zero + round));
  const housed = "BRC".includes(stage) && state.onDesk.includes(groupId) ? [groupId] : [];
  const noted: CaseEvent = { type: "case.group-noted", data: { groupId, progress, rounds, housed } };
  return [noted, ...consequences(evolve(state, noted), command.now)];
};

/** Who waits, or is held, is past the saga that the round was: what it came to has been told, and another is to come. */
const isFurther = (stage: Stage, current: Stage): boolean =>
  "WH".includes(current) ? stage === "N" : reached[stage] > reached[current];

/** One character a group, `0` for none yet. */
const zero = "0".charCodeAt(0);
export const roundOf = (character: string | undefined): number => (character ?? "0").charCodeAt(0) - zero;

const withLetter = (text: string, at: number, letter: string): string =>
  text.slice(0, at) + letter + text.slice(at + 1);

/** What follows from where the groups stand now: demand is settled, the case resolved once, and closed when all have left. */
export const consequences = (state: CaseState, now: Date): CaseEvent[] => {
  const events = settlements(state);
  const done = [...state.progress].every((stage) => terminalStages.has(stage));
  if (done && state.resolvedAt === undefined) events.push({ type: "case.resolved", data: { at: now } });
  if (done && haveLeft(state.progress) && state.status !== "CLOSED")
    events.push({ type: "case.closed", data: { at: now, ...automaticClose } });
  return events;
};

const automaticClose = { by: "urn:user:system-case", reason: "All reservations are checked out." };

/** At least one stay has ended and none goes on; who never came, declined or was settled otherwise has none (contract, "Case"). */
const haveLeft = (progress: string): boolean => progress.includes("C") && !progress.includes("R");

/**
 * Booked rooms count for the demands in their order. A demand is FULFILLED once its last room is booked, and PARTIAL
 * once nothing of it is under way and some of its rooms are booked while groups have failed or could not be placed
 * (contract, "Demand"). With nothing booked it stays APPROVED, and can be allocated again.
 */
const settlements = (state: CaseState): CaseEvent[] => {
  const booked = roomsIn(state, bookedStages);
  const underWay = state.progress.includes("A") || state.awaiting?.step === "wave";
  const lost = roomsIn(state, "FHX") > 0;
  const lacking = state.groups.flatMap(({ groupId }, i) =>
    "FH".includes(state.progress[i] ?? "") ? [groupId] : [],
  );
  let upTo = 0;
  return approvedDemands(state).flatMap(({ demandId, state: before, roomsRequested }) => {
    const from = upTo;
    upTo += roomsRequested;
    const partly = !underWay && lost && booked > from;
    const outcome = booked >= upTo ? "FULFILLED" : partly ? "PARTIAL" : undefined;
    if (outcome === undefined || outcome === before || before === "FULFILLED") return [];
    return { type: "demand.settled", data: { demandId, state: outcome, lacking } } as const;
  });
};
