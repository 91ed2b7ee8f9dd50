/** Owns partners' priority requests: for which groups, and within which bounds (contract, "Partner capabilities": a bounded write). */
import { progressClasses } from "../../schemas/dashboard.ts";
import type { Stage } from "../../schemas/group-note.ts";
import type { PriorityGranted, PriorityRequestBody } from "../../schemas/partner-priority.ts";
import { type FieldError, Problem } from "../../schemas/problems.ts";
import type { GroupMembers } from "../../schemas/regroup.ts";
import { urn } from "../../schemas/urn.ts";
import type { Reading, Received } from "../runtime/decider.ts";
import { type Prioritised, priorityOfGroups } from "./priority-state.ts";
import type { CaseEvent, CaseState } from "./state.ts";

/** What is read for the decision. */
export interface PriorityTerms {
  /** The groups that the named passengers are in. */
  members: GroupMembers[];
  /** Of this partner today, over all cases. */
  requestsToday: number;
  bounds: PriorityBounds;
}

export interface PriorityBounds {
  /** Of a case's groups, 0 to 1; one group at least. */
  share: number;
  daily: number;
}

const dayMs = 86_400_000;

/** Of the partner and the day (UTC) of a request: the index of the daily bound. */
export const markOf = ({ principal, now }: Received): string =>
  `${principal.urn}/${now.toISOString().slice(0, 10)}`;

const groupsMax = ({ groups }: CaseState, { share }: PriorityBounds): number =>
  Math.max(1, Math.floor(groups.filter(({ mergedInto }) => mergedInto === undefined).length * share));

const askedBy = (state: CaseState, by: string): Set<string> =>
  new Set(state.priorities?.flatMap((request) => (request.by === by ? request.groupIds : [])));

/**
 * Who goes first already is nothing more.
 * @throws Problem validation/body; conflict/state for groups that have a room or need none (their state), and past the share of the
 * case (PRIORITY_USED_UP); rate/exceeded past the day's requests
 */
export const decidePrioritise = (state: CaseState, command: Received, gathered: unknown): CaseEvent[] => {
  if (state.kind !== undefined) throw new Problem("not-found/resource", "No such case.");
  const { members, requestsToday, bounds } = gathered as PriorityTerms;
  const body = command.data as PriorityRequestBody;
  const named = namedGroups(state, body, members);
  const first = priorityOfGroups(state);
  const fresh = named.filter((groupId) => !first.has(groupId));
  if (fresh.length === 0) return [];
  requireWithoutRoom(state, fresh);
  const left = groupsMax(state, bounds) - askedBy(state, command.principal.urn).size;
  if (fresh.length > left)
    throw new Problem(
      "conflict/state",
      `You may ask for priority for ${groupsMax(state, bounds)} groups of this case; ${Math.max(0, left)} are left, and these are ${fresh.length}.`,
      { state: "PRIORITY_USED_UP" },
    );
  if (requestsToday >= bounds.daily)
    throw new Problem("rate/exceeded", `You may ask for priority ${bounds.daily} times a day (UTC).`, {
      retryAfterSeconds: Math.ceil((dayMs - (command.now.getTime() % dayMs)) / 1000),
    });
  const data: Prioritised = {
    commandId: command.id,
    groupIds: fresh,
    reason: body.reason,
    by: command.principal.urn,
    at: command.now,
    mark: markOf(command),
  };
  return [{ type: "case.priority-requested", data }];
};

const namedGroups = (
  { groups }: CaseState,
  { groupIds = [], passengerUrns = [] }: PriorityRequestBody,
  members: GroupMembers[],
): string[] => {
  const known = new Set(
    groups.flatMap(({ groupId, mergedInto }) => (mergedInto === undefined ? groupId : [])),
  );
  const home = new Map(
    members.flatMap(({ groupId, passengers }) => passengers.map(({ urn }) => [urn, groupId])),
  );
  const errors: FieldError[] = [
    ...groupIds.flatMap((groupId, i) =>
      known.has(groupId) ? [] : [{ pointer: `/groupIds/${i}`, detail: "is no group of this case" }],
    ),
    ...passengerUrns.flatMap((passenger, i) =>
      home.has(passenger) ? [] : [{ pointer: `/passengerUrns/${i}`, detail: "is no passenger of this case" }],
    ),
  ];
  if (groupIds.length + passengerUrns.length === 0)
    errors.push({ pointer: "/groupIds", detail: "is required, or `passengerUrns`" });
  if (errors.length > 0)
    throw new Problem("validation/body", "Correct the fields named in `errors`.", { errors });
  return [...new Set([...groupIds, ...passengerUrns.flatMap((passenger) => home.get(passenger) ?? [])])];
};

/** Waiting, held, or without one after all: nothing is gained for the others. */
const requireWithoutRoom = ({ groups, progress }: CaseState, groupIds: readonly string[]): void => {
  for (const groupId of groupIds) {
    const letter = progress[groups.findIndex((group) => group.groupId === groupId)] as Stage;
    if ("WHF".includes(letter)) continue;
    const state = progressClasses[letter];
    throw new Problem(
      "conflict/state",
      `Group ${groupId} is ${state}: it has, or needs, no place in a queue.`,
      {
        state,
      },
    );
  }
};

/** Where the partner stands with this case. */
export const priorityView = (
  state: CaseState,
  { id, command: { principal, correlationUrn } }: Reading,
  bounds: PriorityBounds,
): PriorityGranted => {
  const first = priorityOfGroups(state);
  return {
    caseUrn: urn("case", id),
    groups: state.groups
      .filter(({ groupId }) => first.get(groupId)?.by === principal.urn)
      .map(({ groupId, subCaseId }) => ({ groupId, subCaseUrn: urn("sub-case", subCaseId) })),
    groupsLeft: Math.max(0, groupsMax(state, bounds) - askedBy(state, principal.urn).size),
    correlationUrn,
  };
};
