/** Owns changing who is in which group while nobody of them has a room: split, merge, and groups formed by name (contract, "Endpoints"). */
import { progressClasses } from "../../schemas/dashboard.ts";
import type { Stage } from "../../schemas/group-note.ts";
import { requireUnlocked } from "../../schemas/lock.ts";
import { needsOf, type Passenger } from "../../schemas/passenger.ts";
import { Problem } from "../../schemas/problems.ts";
import type { GroupMembers, Regrouped } from "../../schemas/regroup.ts";
import type { Tier } from "../../schemas/vocabulary.ts";
import { causedId, derivedId } from "../runtime/clock.ts";
import type { Received } from "../runtime/decider.ts";
import { roomsIn } from "./capacity.ts";
import { groupOf } from "./manifest.ts";
import { askFor, type DemandTerms, requested, stageOf, stayOf } from "./planning.ts";
import type { EmptiedGroup, RegroupEvent, ShapedGroup } from "./regroup-state.ts";
import { beingChanged, byUrn, inputs, namedIn, type Wanted, wantedBy } from "./regroup-wanted.ts";
import { type CaseEvent, type CaseState, evolve, type GroupHead } from "./state.ts";

/** What is read for the decision: the groups concerned as their sub-cases have them, and the terms of a demand. */
export interface RegroupTerms extends DemandTerms {
  members: GroupMembers[];
}

/** Waiting, held, or without a room: nothing is booked or being booked for them. */
const changeable = "WHF";

/**
 * The groups as they are to be, the rooms that they need now, and items for those that cannot be planned.
 * @throws Problem conflict/state while a room is had or sought for one of them; conflict/sub-case-locked,
 * conflict/stale-fencing-token; not-found/resource; validation/body
 */
export const decideRegroup = (state: CaseState, command: Received, gathered: unknown): CaseEvent[] => {
  const terms = gathered as RegroupTerms;
  if (state.plannedAt === undefined)
    throw new Problem("conflict/state", "The case is still being provisioned. Try again in a moment.", {
      state: "PROVISIONING",
    });
  if (state.awaiting?.step === "wave")
    throw new Problem("conflict/state", "An allocation is under way. Try again in a moment.", {
      state: "ALLOCATING",
    });
  requireWaiting(state, namedIn(command).groupIds ?? []);
  const wanted = wantedBy(state, command, terms.members);
  const regrouped = regroup(state, command, terms, wanted);
  if (regrouped === undefined) return [];
  const after = evolve(state, regrouped);
  return [regrouped, ...moreRooms(state, after, command, terms)];
};

/** Where everybody is to be, and whom that concerns. */
interface Plan {
  state: CaseState;
  command: Received;
  members: GroupMembers[];
  policies: CaseState["policies"];
  homes: Home[];
  /** By group. */
  subCases: Map<string, string>;
}

interface Home {
  groupId: string;
  urns: string[];
  isNew: boolean;
}

/** Undefined: everybody is where they are to be. */
const regroup = (
  state: CaseState,
  command: Received,
  { members, policies: found }: RegroupTerms,
  wanted: Wanted[],
): RegroupEvent | undefined => {
  const homes = homesOf(command, members, wanted);
  const changed = homes.filter(({ groupId, urns }) => !isAsItWas(members, groupId, urns));
  const emptied = members.filter(({ groupId }) => !homes.some((home) => home.groupId === groupId));
  if (changed.length === 0 && emptied.length === 0) return undefined;
  const concerned = new Set([...changed, ...emptied].map(({ groupId }) => groupId));
  const locks = members.flatMap(({ groupId, lock }) => (concerned.has(groupId) ? [lock] : []));
  requireUnlocked(locks, command, command.now);
  requireChangeable(state, members, concerned);
  const known = Object.fromEntries(Object.entries(found).filter(([, policy]) => policy !== null));
  const subCases = new Map(members.map(({ groupId, subCaseId }) => [groupId, subCaseId]));
  for (const { groupId } of changed.filter(({ isNew }) => isNew))
    subCases.set(groupId, derivedId(command.tenant, `${state.externalEventId}/${groupId}`, command.now));
  const plan: Plan = { state, command, members, policies: { ...known, ...state.policies }, homes, subCases };
  const shaped = changed.map((home) => shapedGroup(plan, home));
  const violated = shaped.some(({ head }) => head.tier !== undefined && head.stay === undefined);
  const mixed = new Set(state.groups.flatMap(({ groupId, tier }) => (tier === undefined ? [groupId] : [])));
  return {
    type: "case.regrouped",
    data: {
      policies: plan.policies,
      shaped,
      emptied: emptied.map((group) => emptiedGroup(plan, group)),
      unmixed: shaped.flatMap(({ head }) => (mixed.has(head.groupId) ? [head.groupId] : [])),
      status: violated ? "MANUAL_REVIEW" : state.status,
      occurrence: command.id,
    },
  };
};

/** The groups that are wanted, and what is left of those that somebody is taken out of. */
const homesOf = (command: Received, members: GroupMembers[], wanted: Wanted[]): Home[] => {
  const parts = withIds(command, members, wanted);
  const taken = new Set(parts.flatMap(({ urns }) => urns));
  const left = members.flatMap(({ groupId, passengers }) => {
    const urns = passengers.map(({ urn }) => urn).filter((urn) => !taken.has(urn));
    return urns.length === 0 ? [] : [{ groupId, urns, isNew: false }];
  });
  return [...parts, ...left];
};

const shapedGroup = (plan: Plan, { groupId, urns, isNew }: Home): ShapedGroup => {
  const { state, command, members, policies, subCases } = plan;
  const all = byUrn(members);
  const passengers = urns.map((urn) => all.get(urn) as Passenger);
  const { tier, missing } = groupOf(command.tenant, groupId, groupId, inputs(passengers));
  const from = isNew
    ? members.find((group) => group.passengers.some(({ urn }) => urn === urns[0]))
    : undefined;
  const before = state.groups.find((group) => group.groupId === (from?.groupId ?? groupId));
  const bare: GroupHead = {
    groupId,
    subCaseId: subCases.get(groupId) as string,
    ...(tier === undefined ? {} : { tier }),
    passengers: passengers.length,
    needs: needsOf(passengers),
    missing,
    ...(isNew ? {} : { shape: (before?.shape ?? 0) + 1 }),
    regrouping: causedId(command.id),
    ...(before?.nextFlight === undefined ? {} : { nextFlight: before.nextFlight }),
  };
  const stay = stayOf(state, bare, policies);
  const head = stay === undefined ? bare : { ...bare, stay };
  return { head, letter: stageOf(bare, policies, stay), passengers, isNew, moved: movedFrom(plan, groupId) };
};

/** Of several groups that have taken somebody in, the one with the first passenger stands for the group. */
const emptiedGroup = (plan: Plan, { groupId, subCaseId, passengers }: GroupMembers): EmptiedGroup => {
  const { state, command, homes, subCases } = plan;
  const into = homes.find(({ urns }) => urns.includes(passengers[0]?.urn as string))?.groupId as string;
  const before = state.groups.find((group) => group.groupId === groupId);
  const head: GroupHead = {
    groupId,
    subCaseId,
    ...(before?.tier === undefined ? {} : { tier: before.tier }),
    passengers: 0,
    needs: [],
    missing: [],
    shape: (before?.shape ?? 0) + 1,
    mergedInto: into,
    regrouping: causedId(command.id),
  };
  const mergedInto = { groupId: into, subCaseId: subCases.get(into) as string };
  return { head, mergedInto, moved: movedFrom(plan, groupId) };
};

const movedFrom = ({ members, homes, subCases }: Plan, groupId: string): Regrouped["moved"] => {
  const left = members.find((group) => group.groupId === groupId)?.passengers.map(({ urn }) => urn) ?? [];
  return homes
    .filter((home) => home.groupId !== groupId)
    .map((home) => ({
      passengerUrns: home.urns.filter((urn) => left.includes(urn)),
      subCaseId: subCases.get(home.groupId) as string,
    }))
    .filter(({ passengerUrns }) => passengerUrns.length > 0);
};

/** A set keeps the id of a group that it has all passengers of; without one it is a new group. */
const withIds = (
  command: Received,
  members: GroupMembers[],
  wanted: Wanted[],
): { groupId: string; urns: string[]; isNew: boolean }[] => {
  const given = new Set(wanted.flatMap(({ groupId }) => groupId ?? []));
  return wanted.map(({ groupId, urns }, i) => {
    const kept =
      groupId ??
      members.find(
        (group) =>
          !given.has(group.groupId) &&
          group.passengers.length > 0 &&
          group.passengers.every(({ urn }) => urns.includes(urn)),
      )?.groupId;
    if (kept !== undefined) given.add(kept);
    const made = `G${causedId(command.id, "group", i)
      .replaceAll(/[^A-Za-z0-9]/g, "")
      .slice(0, 16)
      .toUpperCase()}`;
    return { groupId: kept ?? made, urns, isNew: kept === undefined };
  });
};

const isAsItWas = (members: GroupMembers[], groupId: string, urns: string[]): boolean => {
  const before = members.find((group) => group.groupId === groupId)?.passengers.map(({ urn }) => urn);
  return before?.length === urns.length && urns.every((urn) => before.includes(urn));
};

const requireChangeable = (state: CaseState, members: GroupMembers[], changed: ReadonlySet<string>): void => {
  for (const { groupId, shape, status } of members.filter((group) => changed.has(group.groupId))) {
    const at = state.groups.findIndex((group) => group.groupId === groupId);
    const letter = (state.progress[at] ?? "N") as Stage;
    if (!changeable.includes(letter)) throw hasRoom(groupId, progressClasses[letter]);
    if (shape !== (state.groups[at]?.shape ?? 0)) throw beingChanged();
    if (status !== "PENDING" && status !== "FAILED") throw hasRoom(groupId, status);
  }
};

const requireWaiting = (state: CaseState, groupIds: readonly string[]): void => {
  for (const groupId of groupIds) {
    const letter = state.progress[state.groups.findIndex((group) => group.groupId === groupId)];
    if (letter !== undefined && !changeable.includes(letter))
      throw hasRoom(groupId, progressClasses[letter as Stage]);
  }
};

const hasRoom = (groupId: string, state: string): Problem =>
  new Problem(
    "conflict/state",
    `Group ${groupId} is ${state}. Groups change while they are WAITING, HELD or FAILED: before a room is sought for them.`,
    { state },
  );

/** The cabins of these passengers, group by group or apart. */
export const tiersAmong = (members: readonly GroupMembers[]): Tier[] => {
  const each = members.flatMap(({ passengers }) => passengers.map((passenger) => [passenger]));
  return [...new Set(each.flatMap((alone) => groupOf("", "", "", inputs(alone)).tier ?? []))];
};

/** Letters of groups that have rooms, or are to have some. */
const needy = "WHAFBRCOMU";

/** Smaller groups fill their rooms less well: what nobody has asked for yet is asked for now. Nothing is ever given back. */
export const moreRooms = (
  before: CaseState,
  after: CaseState,
  command: Received,
  { freeze }: DemandTerms,
): CaseEvent[] => {
  const standing = after.demands.filter(({ state }) => state !== "REJECTED");
  if (standing.length === 0 && after.demands.length > 0) return [];
  const asked = standing.reduce((sum, { roomsRequested }) => sum + roomsRequested, 0);
  const rooms = roomsIn(after, needy) - Math.max(asked, roomsIn(before, needy));
  if (rooms <= 0) return [];
  const type = standing.some((demand) => demand.type === "INITIAL") ? "INCREMENTAL" : "INITIAL";
  return askFor(after, command, requested(command, after, type, rooms), freeze);
};
