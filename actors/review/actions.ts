/** Owns what the claimant of an item may set going about it, what is read for that, and what its outcome does to the item. */
import type { Query } from "../../schemas/command.ts";
import { type FieldError, Problem } from "../../schemas/problems.ts";
import type { GroupMembers } from "../../schemas/regroup.ts";
import type { ActionNote, ReviewActionKind } from "../../schemas/review.ts";
import { derivedId } from "../runtime/clock.ts";
import type { Received } from "../runtime/decider.ts";
import type { ActorContext } from "../runtime/host.ts";
import type { Asked, ReviewAction } from "./action-state.ts";
import { evolveReview, type ReviewEvent, type ReviewItem } from "./state.ts";

/** The second word of each action's command. */
export const actionVerbs = {
  rebook: "REBOOK",
  relax: "RELAX",
  split: "SPLIT",
  override: "OVERRIDE",
} as const satisfies Record<string, ReviewActionKind>;
type ActionVerb = keyof typeof actionVerbs;

export const actionOf = ({ name }: Pick<Received, "name">): ActionVerb | undefined => {
  const verb = name.slice("review.".length);
  return verb in actionVerbs ? (verb as ActionVerb) : undefined;
};

/** The groups that an action is for. */
export type Targets = ReviewAction["groups"];

/** @throws Problem conflict/state unless the item is claimed by this very person (contract, "Manual review item") */
const requireClaimed = ({ principal }: Pick<Received, "principal">, state: ReviewItem): void => {
  if (state.status === "OPEN")
    throw new Problem("conflict/state", "Nobody has claimed this item. Claim it first.", { state: "OPEN" });
  requireNotAnothers({ principal }, state);
};

/** @throws Problem conflict/state for an item that is resolved, or claimed by another */
export const requireNotAnothers = ({ principal }: Pick<Received, "principal">, state: ReviewItem): void => {
  if (state.status === "RESOLVED") {
    throw new Problem("conflict/state", `This item was resolved as ${state.resolution}.`, {
      state: state.status,
    });
  }
  if (state.status === "CLAIMED" && state.assignedTo !== principal.urn) {
    throw new Problem("conflict/state", "Another operator has claimed this item.", {
      state: state.status,
      lockedBy: state.assignedTo,
    });
  }
};

const actionIdOf = ({ tenant, id, now }: Received): string => derivedId(tenant, `${id}/action`, now);

/** The action that this very command began: the id's random part is the command's. */
const begunBy = (command: Received, { actions = [] }: ReviewItem): ReviewAction | undefined => {
  const mark = actionIdOf({ ...command, now: new Date(0) }).slice(-16);
  return actions.find(({ actionId }) => actionId.endsWith(mark));
};

/**
 * Asks those who will carry the action out whether they would: what is refused here is refused at once, and nothing was done.
 * Nobody is asked for whoever may not act on the item. @returns the groups, or the refusal
 */
export const gatherTargets = async (
  context: ActorContext,
  command: Received,
  state: ReviewItem,
): Promise<Targets | Problem> => {
  const { principal } = command;
  const isTheirs = state.status === "CLAIMED" && state.assignedTo === principal.urn;
  const isReached = principal.airport === undefined || principal.airport === state.airport;
  if (!isTheirs || !isReached || begunBy(command, state) !== undefined) return [];
  try {
    return await targetsOf(context, command, state);
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
};

/** @throws Problem conflict/state, validation/body and whatever the others refuse with */
const targetsOf = async (context: ActorContext, command: Received, state: ReviewItem): Promise<Targets> => {
  const { expectedVersion: _, ...envelope } = command;
  const ask = <View>(name: string, params: Query["params"]): Promise<View> =>
    context.call<View>(name, { ...envelope, params });
  const { caseId } = state;
  const data = command.data as Asked & { reason: string };
  const verb = actionOf(command);
  if (verb === "split") {
    const groupId = await groupToSplit(ask, state, data.into ?? []);
    await ask("case.rehearse", { entity: caseId, name: "case.split-group", data: { ...data, groupId } });
    return [{ groupId }];
  }
  const groupIds = groupsLeft(command, state);
  if (verb === "relax") {
    await ask("case.rehearse", { entity: caseId, name: "case.relax", data: { ...data, groupIds } });
    return groupIds.map((groupId) => ({ groupId }));
  }
  return ask<Targets>("wave.choosable", { caseId, groupIds, ...choiceOf(command, data) });
};

/** A hotel that the policy's gates refuse takes an override. */
export const choiceOf = (
  { name }: Pick<Received, "name">,
  { hotelUrn, providerOfferId, reason }: Asked & { reason: string },
) => ({
  hotelUrn,
  reason,
  ...(providerOfferId === undefined ? {} : { providerOfferId }),
  ...(name === "review.rebook" ? { withinPolicy: true } : {}),
});

/** @throws Problem validation/body for a group that is not the item's */
const groupsLeft = ({ data }: Received, { affectedGroups, housedGroups }: ReviewItem): string[] => {
  const { groupIds } = data as { groupIds?: string[] };
  const unknown = (groupIds ?? []).flatMap((groupId, i) =>
    affectedGroups.includes(groupId)
      ? []
      : [{ pointer: `/groupIds/${i}`, detail: "is no group of this item" }],
  );
  if (unknown.length > 0) throw wrong(unknown);
  const left = affectedGroups.filter((groupId) => !housedGroups.includes(groupId));
  const named = groupIds ?? left;
  if (named.length > 0) return named;
  throw new Problem("conflict/state", "This item concerns no group.", { state: "NO_GROUPS" });
};

const wrong = (errors: FieldError[]): Problem =>
  new Problem("validation/body", "Correct the fields named in `errors`.", { errors });

/** The item's group that these passengers are in. @throws Problem validation/body */
const groupToSplit = async (
  ask: <View>(name: string, params: Query["params"]) => Promise<View>,
  { caseId, affectedGroups }: ReviewItem,
  into: string[][],
): Promise<string> => {
  const members = await ask<GroupMembers[]>("sub-case.members", { caseId, passengerUrns: into.flat() });
  const first = into[0]?.[0];
  const group = members.find(({ passengers }) => passengers.some(({ urn }) => urn === first));
  if (group !== undefined && affectedGroups.includes(group.groupId)) return group.groupId;
  throw wrong([{ pointer: "/into/0/0", detail: "is no passenger of this item's groups" }]);
};

/** It is kept before anything is done, so that a death in between leaves it to be carried out. */
export const beginAction = (
  state: ReviewItem,
  command: Received,
  targets: Targets | Problem,
): ReviewEvent[] => {
  if (begunBy(command, state) !== undefined) return [];
  requireClaimed(command, state);
  if (targets instanceof Problem) throw targets;
  const { reason, hotelUrn, providerOfferId, fields, into } = command.data as Asked & { reason: string };
  const asked = Object.fromEntries(
    Object.entries({ hotelUrn, providerOfferId, fields, into }).filter(([, value]) => value !== undefined),
  );
  const action: ReviewAction = {
    actionId: actionIdOf(command),
    commandId: command.id,
    kind: actionVerbs[actionOf(command) as ActionVerb],
    by: command.principal,
    at: command.now,
    reason,
    asked,
    groups: targets,
  };
  return [{ type: "review.action-begun", data: action }];
};

/** A wave that was asked for is not run once the case is closed, and the reopened case asks for one of its own. */
export const lostWithCase = ({ actions = [] }: ReviewItem): ReviewEvent[] =>
  actions.flatMap(({ actionId, kind, groups }): ReviewEvent[] => {
    const open = groups.filter(({ outcome }) => outcome === undefined);
    if (kind !== "RELAX" || open.length === 0) return [];
    const detail = "The case was closed before a place was found.";
    const lost = open.map(({ groupId }) => ({ groupId, outcome: "FAILED" as const, detail }));
    return [{ type: "review.action-noted", data: { actionId, groups: lost } }];
  });

/** Of an item's groups that have rooms: another hotel is all that was missing. */
const isAboutAnotherHotel = ({ origin }: ReviewItem): boolean =>
  origin === "amendment" || origin === "override";

/**
 * How it went, group by group, once. What has failed after a person resolved the item is theirs again: whoever carried it out
 * has opened no other. @param settle what a group that has what it needs does to the item
 * @param reinstated what puts a resolved item back
 */
export const noteAction = (
  state: ReviewItem,
  { data }: Received,
  {
    settle,
    reinstated,
  }: { settle(state: ReviewItem, groupId: string): ReviewEvent[]; reinstated: ReviewEvent },
): ReviewEvent[] => {
  const { actionId, groups } = data as ActionNote;
  const action = state.actions?.find((one) => one.actionId === actionId);
  const open = new Set(
    action?.groups.flatMap(({ groupId, outcome }) => (outcome === undefined ? groupId : [])),
  );
  const told = groups.filter(({ groupId }) => open.has(groupId));
  if (action === undefined || told.length === 0) return [];
  const noted: ReviewEvent = { type: "review.action-noted", data: { actionId, groups: told } };
  const failed = told.filter(
    ({ groupId, outcome }) => outcome === "FAILED" && !state.housedGroups.includes(groupId),
  );
  if (state.status === "RESOLVED")
    return failed.length > 0 && state.resolution !== "CASE_CLOSED" ? [noted, reinstated] : [noted];
  const isMoved = isAboutAnotherHotel(state) && action.asked.hotelUrn !== undefined;
  const housed = isMoved ? told.filter(({ outcome }) => outcome === "DONE") : [];
  const events: ReviewEvent[] = [noted];
  for (const { groupId } of housed) events.push(...settle(events.reduce(evolveReview, state), groupId));
  return events;
};
