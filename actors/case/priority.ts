/**
 * Owns partners' priority requests: for which groups, and for how many of a case (contract, "Partner capabilities": a bounded write).
 * How often a partner may ask is `prioritise.ts`'s.
 */
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
  /** Of a case's groups, 0 to 1; one group at least. */
  share: number;
}

const groupsMax = ({ groups }: CaseState, share: number): number =>
  Math.max(1, Math.floor(groups.filter(({ mergedInto }) => mergedInto === undefined).length * share));

const askedBy = (state: CaseState, by: string): Set<string> =>
  new Set(state.priorities?.flatMap((request) => (request.by === by ? request.groupIds : [])));

/**
 * Who goes first already is nothing more.
 * @throws Problem validation/body; conflict/state for groups that have a room or need none (their state), and past the share of the
 * case (PRIORITY_USED_UP)
 */
export const decidePrioritise = (state: CaseState, command: Received, gathered: unknown): CaseEvent[] => {
  const { members, share } = gathered as PriorityTerms;
  const body = command.data as PriorityRequestBody;
  const named = namedGroups(state, body, members);
  const first = priorityOfGroups(state);
  const fresh = named.filter((groupId) => !first.has(groupId));
  if (fresh.length === 0) return [];
  requireWithoutRoom(state, fresh);
  const left = groupsMax(state, share) - askedBy(state, command.principal.urn).size;
  if (fresh.length > left)
    throw new Problem(
      "conflict/state",
      `You may ask for priority for ${groupsMax(state, share)} groups of this case; ${Math.max(0, left)} are left, and these are ${fresh.length}.`,
      { state: "PRIORITY_USED_UP" },
    );
  const data: Prioritised = {
    commandId: command.id,
    groupIds: fresh,
    reason: body.reason,
    by: command.principal.urn,
    at: command.now,
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

/** Where the partner stands with this case; `isAdded`: by this very command some groups go first that did not. */
export type Prioritising = PriorityGranted & { isAdded: boolean };

export const priorityView = (
  state: CaseState,
  { id, command: { id: commandId, principal, correlationUrn } }: Reading,
  share: number,
): Prioritising => {
  const first = priorityOfGroups(state);
  return {
    isAdded: state.priorities?.some((request) => request.commandId === commandId) === true,
    caseUrn: urn("case", id),
    groups: state.groups
      .filter(({ groupId }) => first.get(groupId)?.by === principal.urn)
      .map(({ groupId, subCaseId }) => ({ groupId, subCaseUrn: urn("sub-case", subCaseId) })),
    groupsLeft: Math.max(0, groupsMax(state, share) - askedBy(state, principal.urn).size),
    correlationUrn,
  };
};
