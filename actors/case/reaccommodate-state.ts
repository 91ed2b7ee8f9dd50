/** Owns what a case keeps of a changed next flight, and what leaves with it. */
import type { Stage } from "../../schemas/group-note.ts";
import type { StayAmended, StayEffect } from "../../schemas/reaccommodate.ts";
import { urn } from "../../schemas/urn.ts";
import type { Outgoing } from "../runtime/decider.ts";
import { stillToBook } from "./booking-state.ts";
import { withGroups } from "./group-rooms.ts";
import type { CaseState, GroupHead } from "./state.ts";

interface Reaccommodated {
  type: "case.reaccommodated";
  data: {
    nextFlight?: NonNullable<CaseState["nextFlight"]>;
    /** Of the case's next flight. */
    decidedAt?: Date;
    groups: { head: GroupHead; letter: Stage; effect: StayEffect }[];
    /** Until now no next flight was known, and nights were assumed. */
    firstKnown: boolean;
  };
}

export type ReaccommodateEvent =
  | Reaccommodated
  | { type: "case.replacement-asked"; data: { groupId: string } };

/** Without groups that are seen to: moved, told of, or about to ask their hotel for other dates again. */
export const toReplaceWithout = (
  { toReplace }: CaseState,
  gone: ReadonlySet<string>,
): Pick<CaseState, "toReplace"> =>
  toReplace === undefined ? {} : { toReplace: toReplace.filter((groupId) => !gone.has(groupId)) };

export const evolveReaccommodated = (state: CaseState, event: ReaccommodateEvent): CaseState =>
  event.type === "case.replacement-asked"
    ? { ...state, toReplace: [...(state.toReplace ?? []), event.data.groupId] }
    : reaccommodatedState(state, event);

const reaccommodatedState = (before: CaseState, { data }: Reaccommodated): CaseState => {
  const { pendingNextFlight: _, ...decided } = before;
  const state: CaseState = data.nextFlight === undefined ? before : decided;
  const changed = new Map(data.groups.map((group) => [group.head.groupId, group]));
  const groups = state.groups.map((group) => {
    const found = changed.get(group.groupId);
    return found === undefined ? group : { ...found.head, effect: found.effect };
  });
  const letters = state.groups.map(({ groupId }, i) => changed.get(groupId)?.letter ?? state.progress[i]);
  const replanned = new Set(
    data.groups.flatMap(({ head, effect, letter }) =>
      effect === "REPLANNED" || letter === "N" ? [head.groupId] : [],
    ),
  );
  return {
    ...withGroups(state, groups),
    ...(data.nextFlight === undefined ? {} : { nextFlight: data.nextFlight }),
    ...(data.decidedAt === undefined ? {} : { nextFlightDecidedAt: data.decidedAt }),
    progress: letters.join(""),
    ...(state.toBook === undefined ? {} : { toBook: stillToBook(state.toBook, replanned) }),
    ...toReplaceWithout(state, new Set(changed.keys())),
    onDesk: state.onDesk.filter((groupId) => changed.get(groupId)?.letter !== "N"),
  };
};

/** Contract, "Outbound webhooks": case.amended; every group hears its dates, and desks what is settled. */
export const reaccommodatedOut = ({ data }: Reaccommodated, state: CaseState, caseId: string): Outgoing[] => {
  const { nextFlight, groups, firstKnown } = data;
  return [
    {
      to: "public",
      type: "case.amended",
      caseId,
      data: {
        externalEventId: state.externalEventId,
        change: "NEXT_FLIGHT",
        ...(nextFlight === undefined ? {} : { nextFlight }),
        groups: groups.map(({ head, effect }) => ({
          groupId: head.groupId,
          subCaseUrn: urn("sub-case", head.subCaseId),
          effect,
          nextFlight: head.nextFlight ?? state.nextFlight,
          ...(head.stay === undefined ? {} : { checkIn: head.stay.checkIn, checkOut: head.stay.checkOut }),
        })),
      },
    },
    ...groups.map(({ head, effect }) => amend(head, effect, state)),
    ...groups
      .filter(({ effect }) => effect === "LOCAL_RESIDENT" || firstKnown)
      .map(
        ({ head, effect }): Outgoing => ({
          to: "command",
          name: "review.note-housed",
          entity: caseId,
          data: {
            groupId: head.groupId,
            resolution: effect === "LOCAL_RESIDENT" ? "LOCAL_RESIDENT" : "NEXT_FLIGHT_KNOWN",
          },
        }),
      ),
  ];
};

const amend = (
  { subCaseId, shape = 0, nextFlight, stay }: GroupHead,
  effect: StayEffect,
  state: CaseState,
): Outgoing => {
  const flight = nextFlight ?? state.nextFlight;
  const dates = stay && { checkIn: stay.checkIn, checkOut: stay.checkOut, nights: stay.nights };
  const data: StayAmended = {
    shape,
    effect,
    ...(flight === undefined ? {} : { nextFlight: flight }),
    ...(dates === undefined ? {} : { stay: dates }),
  };
  return { to: "command", name: "sub-case.amend-stay", entity: subCaseId, data };
};
