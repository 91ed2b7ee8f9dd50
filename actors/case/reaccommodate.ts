/** Owns what a changed next flight does to a case's groups (contract, PATCH reaccommodate): other nights, another hotel, or no room at all. */
import type { Stage } from "../../schemas/group-note.ts";
import { type LockedGroup, requireCaseUnlocked } from "../../schemas/lock.ts";
import { Problem } from "../../schemas/problems.ts";
import type { StayEffect } from "../../schemas/reaccommodate.ts";
import { causedId } from "../runtime/clock.ts";
import { NotYet, type Received } from "../runtime/decider.ts";
import { approvedDemands } from "./capacity.ts";
import { type DemandTerms, stayOf } from "./planning.ts";
import { consequences } from "./progress.ts";
import type { ReaccommodateEvent } from "./reaccommodate-state.ts";
import { moreRooms } from "./regroup.ts";
import { type CaseEvent, type CaseState, evolve, type GroupHead } from "./state.ts";

interface Said {
  nextFlight?: { number: string; scheduledDeparture: string };
  groups?: { groupId: string; nextFlight: { number: string; scheduledDeparture: string } }[];
}

/** What is read for the decision: the terms of a demand, and whose locks are on the case's groups. */
export interface ReaccommodateTerms extends DemandTerms {
  locks: LockedGroup[];
}

type Flight = NonNullable<CaseState["nextFlight"]>;

const flightOf = ({
  number,
  scheduledDeparture,
}: {
  number: string;
  scheduledDeparture: string;
}): Flight => ({
  number,
  scheduledDeparture: new Date(scheduledDeparture),
});

/**
 * Every group whose next flight changes is planned anew; groups with a flight of their own don't follow the case's.
 * @throws Problem conflict/state before the case is planned or while an allocation is under way; validation/body;
 * conflict/sub-case-locked for a group that is named, conflict/stale-fencing-token
 */
export const decideReaccommodate = (state: CaseState, command: Received, gathered: unknown): CaseEvent[] => {
  const said = command.data as Said;
  checkSaid(state, said);
  if (state.plannedAt === undefined)
    throw new Problem("conflict/state", "The case is still being provisioned. Try again in a moment.", {
      state: "PROVISIONING",
    });
  if (state.awaiting?.step === "wave")
    throw new Problem("conflict/state", "An allocation is under way. Try again in a moment.", {
      state: "ALLOCATING",
    });
  const event = reaccommodated(state, command, said, command.now);
  if (event === undefined) return [];
  const { locks, ...terms } = gathered as ReaccommodateTerms;
  const named = said.groups?.map(({ groupId }) => groupId) ?? [];
  requireCaseUnlocked(locks, { named, isWhole: said.nextFlight !== undefined }, command, command.now);
  const after = evolve(state, event);
  const events: CaseEvent[] = [event, ...moreRooms(state, after, command, terms)];
  return [...events, ...consequences(events.reduce<CaseState>(evolve, state), command.now)];
};

const checkSaid = (state: CaseState, { nextFlight, groups = [] }: Said): void => {
  const known = new Set(state.groups.map(({ groupId }) => groupId));
  const errors = groups.flatMap(({ groupId }, i) =>
    known.has(groupId) ? [] : [{ pointer: `/groups/${i}/groupId`, detail: "is no group of this case" }],
  );
  if (nextFlight === undefined && groups.length === 0)
    errors.push({ pointer: "/nextFlight", detail: "is required, or `groups`" });
  if (errors.length > 0)
    throw new Problem("validation/body", "Correct the fields named in `errors`.", { errors });
};

/** Undefined: everybody flies as was known. @param decidedAt when the case's next flight was decided */
export const reaccommodated = (
  state: CaseState,
  command: Received,
  said: Said,
  decidedAt: Date,
): ReaccommodateEvent | undefined => {
  const own = new Map(said.groups?.map(({ groupId, nextFlight }) => [groupId, flightOf(nextFlight)]));
  const nextFlight = said.nextFlight === undefined ? state.nextFlight : flightOf(said.nextFlight);
  const planned = { ...state, ...(nextFlight === undefined ? {} : { nextFlight }) };
  const loose = new Set(state.toBook?.map(({ groupId }) => groupId));
  const groups = state.groups.flatMap((group, i) => {
    const flies = own.get(group.groupId) ?? group.nextFlight;
    const now = flies ?? nextFlight;
    if (isSame(now, group.nextFlight ?? state.nextFlight) || group.mergedInto !== undefined) return [];
    const head: GroupHead = {
      ...group,
      shape: (group.shape ?? 0) + 1,
      regrouping: causedId(command.id),
      ...(flies === undefined ? {} : { nextFlight: flies }),
    };
    const stay = stayOf(planned, head, state.policies) ?? group.stay;
    const told = stay === undefined ? head : { ...head, stay };
    const letter = state.progress[i] as Stage;
    return [{ head: told, ...effectOn(letter, group.stay, stay, loose.has(group.groupId)) }];
  });
  const changed = said.nextFlight !== undefined && !isSame(nextFlight, state.nextFlight);
  if (groups.length === 0 && !changed) return undefined;
  return {
    type: "case.reaccommodated",
    data: {
      ...(changed && nextFlight !== undefined ? { nextFlight, decidedAt } : {}),
      groups,
      firstKnown: state.nextFlight === undefined,
    },
  };
};

const isSame = (a: Flight | undefined, b: Flight | undefined): boolean =>
  a?.number === b?.number && a?.scheduledDeparture.getTime() === b?.scheduledDeparture.getTime();

/** What becomes of a group at this letter. @param loose allocated, and waiting for somebody to book it */
const effectOn = (
  letter: Stage,
  before: GroupHead["stay"],
  stay: GroupHead["stay"],
  loose: boolean,
): { letter: Stage; effect: StayEffect } => {
  const isOver = "DCOMX".includes(letter);
  const isSameStay = before?.checkIn === stay?.checkIn && before?.checkOut === stay?.checkOut;
  if (isOver || stay === undefined || isSameStay) return { letter, effect: "NOTED" };
  const waits = "WHFN".includes(letter) || (letter === "A" && loose);
  if (stay.nights === 0) return { letter: waits ? "N" : letter, effect: "LOCAL_RESIDENT" };
  if (!waits) return { letter, effect: "AMENDING" };
  return { letter: letter === "N" || letter === "A" ? "W" : letter, effect: "REPLANNED" };
};

/**
 * A group's hotel has not the dates that it needs: another one is sought, and the room that it has is given back once that
 * is booked. Whoever asks during an allocation is in the next one, together. @throws NotYet before the case knows of its room
 */
export const decideReplaceGroup = (state: CaseState, command: Received): CaseEvent[] => {
  const { groupId, shape = 0 } = command.data as { groupId: string; shape?: number };
  const at = state.groups.findIndex((group) => group.groupId === groupId);
  const letter = state.progress[at];
  if (approvedDemands(state).length === 0 || letter === undefined) return [];
  // The dates have changed again: its hotel is about to be asked for those.
  if (shape < (state.groups[at]?.shape ?? 0) || state.toReplace?.includes(groupId)) return [];
  if (letter === "A") throw new NotYet("The group's room is not known of yet.");
  return "BR".includes(letter) ? [{ type: "case.replacement-asked", data: { groupId } }] : [];
};
