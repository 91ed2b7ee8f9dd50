/**
 * Owns amending a case's manifest (contract, PATCH manifest): whoever is new is owned from the same commit on, whatever is under way;
 * a corrected next flight counts by when it was decided, not by when it came.
 */

import { isLive } from "../../schemas/lock.ts";
import {
  type CorrectionEffect,
  casePassengersMax,
  type ManifestAmended,
  type ManifestPatchBody,
} from "../../schemas/partner-manifest.ts";
import { needsOf, type Passenger } from "../../schemas/passenger.ts";
import { type FieldError, Problem } from "../../schemas/problems.ts";
import type { GroupMembers } from "../../schemas/regroup.ts";
import { urn } from "../../schemas/urn.ts";
import type { Tier } from "../../schemas/vocabulary.ts";
import { causedId, derivedId } from "../runtime/clock.ts";
import type { Reading, Received } from "../runtime/decider.ts";
import { isAwaitingManifest, isAwaitingPush } from "./detected-state.ts";
import { decideFacts } from "./disruption-facts.ts";
import type { Naming } from "./first-case.ts";
import { checkSizes, reissueAfterMs } from "./intake.ts";
import { groupOf, groupPassengersMax, lateGroupId, type ManifestGroup } from "./manifest.ts";
import type { ManifestPatchEvent } from "./manifest-patch-state.ts";
import { datesOf, roomsOf, stageOf } from "./planning.ts";
import { consequences } from "./progress.ts";
import { reaccommodated } from "./reaccommodate.ts";
import { moreRooms, type RegroupTerms } from "./regroup.ts";
import type { RegroupEvent, ShapedGroup } from "./regroup-state.ts";
import { inputs } from "./regroup-wanted.ts";
import { type CaseEvent, type CaseState, evolve, type GroupHead } from "./state.ts";

/** What is read for the decision; `named` are the groups that the push would have made of the patch's passengers. */
export interface ManifestTerms extends RegroupTerms {
  named: ManifestGroup[];
}

/** Between the clocks of the airline and ours. */
const skewMs = 5 * 60_000;

/** @throws Problem validation/body */
export const decideAmendManifest = (state: CaseState, command: Received, gathered: unknown): CaseEvent[] => {
  const body = command.data as ManifestPatchBody;
  const { passengers = [], nextFlight } = body;
  const decidedAt = new Date(body.decidedAt);
  check(body, decidedAt, command.now);
  const terms = gathered as ManifestTerms;
  const flight = nextFlight && {
    number: nextFlight.iataDesignator,
    scheduledDeparture: new Date(nextFlight.scheduledDeparture),
  };
  const effect = flight && effectOf(state, flight, decidedAt);
  const applied = effect === "APPLIED" && flight ? flown(state, command, flight, decidedAt) : [];
  const before = applied.reduce<CaseState>(evolve, state);
  const { shaped, added, arriving } = newcomers(state, before, command, terms);
  const naming = command.name === "case.take-push" ? namingOf(state, command) : undefined;
  const amended: ManifestPatchEvent = {
    type: "case.manifest-amended",
    data: {
      amendment: {
        commandId: command.id,
        decidedAt,
        passengersAdded: added,
        passengersKnown: passengers.length - added,
        groupsAdded: shaped.filter(({ isNew }) => isNew).length,
        groupsJoined: shaped.filter(({ isNew }) => !isNew).length,
        ...(effect === undefined ? {} : { nextFlight: effect }),
      },
      ...(shaped.length === 0 ? {} : { groups: regroupData(before, command, terms, shaped) }),
      ...(arriving.length === 0 ? {} : { arriving }),
      ...(effect === undefined || effect === "SUPERSEDED" ? {} : { flightDecidedAt: decidedAt }),
      ...(effect === "DEFERRED" && flight ? { pending: flight } : {}),
      ...(isAwaitingManifest(state) && shaped.length > 0
        ? { provisionDueAt: new Date(command.now.getTime() + reissueAfterMs) }
        : {}),
      ...(naming === undefined ? {} : { naming }),
    },
  };
  const events: CaseEvent[] = [...applied, amended];
  if (naming !== undefined) events.push(...decideFacts(state, naming.facts, "The airline"));
  if (state.plannedAt === undefined) return events;
  events.push(...moreRooms(state, events.reduce<CaseState>(evolve, state), command, terms));
  return [...events, ...consequences(events.reduce<CaseState>(evolve, state), command.now)];
};

/** What was put off is applied now, unless something is under way again: then the end of that sends this once more. */
export const decideApplyCorrection = (
  state: CaseState,
  command: Received,
  gathered: unknown,
): CaseEvent[] => {
  const { pendingNextFlight, nextFlightDecidedAt = command.now } = state;
  if (pendingNextFlight === undefined || isUnderWay(state)) return [];
  const applied = flown(state, command, pendingNextFlight, nextFlightDecidedAt);
  if (applied.length === 0) return [];
  const after = applied.reduce<CaseState>(evolve, state);
  const events = [...applied, ...moreRooms(state, after, command, gathered as RegroupTerms)];
  return [...events, ...consequences(events.reduce<CaseState>(evolve, state), command.now)];
};

/** @throws Problem conflict/concurrent-write: another push was there first */
const namingOf = (state: CaseState, { data }: Received): Naming["naming"] => {
  if (isAwaitingPush(state)) return (data as Naming).naming;
  throw new Problem("conflict/concurrent-write", "The case is another event's by now. Repeat it.");
};

const wrong = (errors: FieldError[]): Problem =>
  new Problem("validation/body", "Correct the fields named in `errors`.", { errors });

const check = ({ passengers, nextFlight }: ManifestPatchBody, decidedAt: Date, now: Date): void => {
  if (passengers === undefined && nextFlight === undefined)
    throw wrong([{ pointer: "/passengers", detail: "is required, or `nextFlight`" }]);
  // It would shut out every correction until then.
  if (decidedAt.getTime() > now.getTime() + skewMs)
    throw wrong([{ pointer: "/decidedAt", detail: "is in the future" }]);
};

type Flight = NonNullable<CaseState["nextFlight"]>;

const isSame = (a: Flight | undefined, b: Flight | undefined): boolean =>
  a?.number === b?.number && a?.scheduledDeparture.getTime() === b?.scheduledDeparture.getTime();

const isUnderWay = ({ plannedAt, awaiting }: CaseState): boolean =>
  plannedAt === undefined || awaiting?.step === "wave";

const effectOf = (state: CaseState, flight: Flight, decidedAt: Date): CorrectionEffect => {
  const standing = state.pendingNextFlight ?? state.nextFlight;
  const since = state.nextFlightDecidedAt ?? (standing && state.disruption.decidedAt);
  if (since !== undefined && decidedAt < since) return "SUPERSEDED";
  if (isSame(flight, standing)) return "UNCHANGED";
  return isUnderWay(state) ? "DEFERRED" : "APPLIED";
};

const flown = (state: CaseState, command: Received, flight: Flight, decidedAt: Date): CaseEvent[] => {
  const nextFlight = { ...flight, scheduledDeparture: flight.scheduledDeparture.toISOString() };
  const event = reaccommodated(state, command, { nextFlight }, decidedAt);
  return event === undefined ? [] : [event];
};

/** Their groups as they are to be, how many passengers are new, and who is not seen in a group yet. @throws Problem validation/body */
const newcomers = (
  standing: CaseState,
  state: CaseState,
  command: Received,
  { members, policies, named }: ManifestTerms,
): { shaped: ShapedGroup[]; added: number; arriving: string[] } => {
  checkSizes(named, "/passengers");
  const seen = new Set(members.flatMap(({ passengers }) => passengers.map(({ urn }) => urn)));
  const arriving = (state.arriving ?? []).filter((urn) => !seen.has(urn));
  const known = knownIn(state, [...seen, ...arriving]);
  const homes = homesOf(standing, state, members, command.now);
  const plan = plannerOf(state, policies);
  const taken = new Set(state.groups.map(({ groupId }) => groupId));
  const joined = new Map<Home, Passenger[]>();
  const made: ShapedGroup[] = [];
  let added = 0;
  for (const group of named) {
    // No booking reference tells whose group it is: its id does.
    if (group.passengers[0]?.pnr === undefined && taken.has(group.groupId)) continue;
    const fresh = group.passengers.filter(
      (passenger) => !known.has(passenger.urn) && known.add(passenger.urn),
    );
    if (fresh.length === 0) continue;
    added += fresh.length;
    if (state.provisionedAt !== undefined) arriving.push(...fresh.map(({ urn }) => urn));
    const home = homes
      .get(fresh[0]?.pnr)
      ?.find((candidate) => hasPlaceFor(candidate, [...(joined.get(candidate) ?? []), ...fresh]));
    if (home !== undefined) joined.set(home, [...(joined.get(home) ?? []), ...fresh]);
    else made.push(madeGroup(state, command, plan, ofFresh(group, fresh, taken)));
  }
  checkTotal(state, added);
  const grown = [...joined].map(([home, fresh]) => grownGroup(command, plan, home, fresh));
  return { shaped: [...made, ...grown], added, arriving };
};

/** Everybody whom the sub-cases of these bookings own or are about to, or the case still does. */
const knownIn = ({ manifest, provisioned }: CaseState, owned: readonly string[]): Set<string> =>
  new Set([
    ...owned,
    ...manifest.slice(provisioned).flatMap(({ passengers }) => passengers.map(({ urn }) => urn)),
  ]);

const checkTotal = ({ groups }: CaseState, added: number): void => {
  const standing = groups.reduce((sum, { passengers }) => sum + passengers, 0);
  if (standing + added > casePassengersMax)
    throw wrong([
      {
        pointer: "/passengers",
        detail: `a case has at most ${casePassengersMax}, and ${standing} are there`,
      },
    ]);
};

/** A group that can take somebody in. */
interface Home extends GroupMembers {
  head: GroupHead;
}

/**
 * Those that wait still, for nothing that is under way, by the booking references in them.
 * @param standing the case as its sub-cases know it
 * @param state with the next flight that comes with the same patch
 */
const homesOf = (
  standing: CaseState,
  state: CaseState,
  members: GroupMembers[],
  now: Date,
): Map<string | undefined, Home[]> => {
  const homes = new Map<string | undefined, Home[]>();
  if (isUnderWay(state)) return homes;
  const places = new Map(state.groups.map(({ groupId }, i) => [groupId, i]));
  for (const group of members) {
    const at = places.get(group.groupId) ?? -1;
    const head = state.groups[at];
    if (head === undefined || !"WHF".includes(state.progress[at] ?? "?")) continue;
    const isInStep = group.shape === (standing.groups[at]?.shape ?? 0);
    // Whoever works on it is not to find it changed.
    if (group.lock !== undefined && isLive(group.lock, now)) continue;
    if (!isInStep || (group.status !== "PENDING" && group.status !== "FAILED")) continue;
    const home = { ...group, head };
    for (const pnr of new Set(group.passengers.flatMap(({ pnr }) => pnr ?? [])))
      homes.set(pnr, [...(homes.get(pnr) ?? []), home]);
  }
  return homes;
};

/** In number, and in their cabin: one booking in two would wait for somebody to split it. */
const hasPlaceFor = ({ passengers, head }: Home, fresh: Passenger[]): boolean => {
  const all = [...passengers, ...fresh];
  return all.length <= groupPassengersMax && groupOf("", "", "", inputs(all)).tier === head.tier;
};

/** A group of those who are new; its id is the booking's own, unless that is somebody's already. */
const ofFresh = (group: ManifestGroup, fresh: Passenger[], taken: Set<string>): ManifestGroup => {
  const groupId = taken.has(group.groupId) ? lateGroupId(group.groupId, fresh) : group.groupId;
  taken.add(groupId);
  const whole =
    fresh.length === group.passengers.length ? group : groupOf("", groupId, groupId, inputs(fresh));
  return { ...whole, groupId, passengers: fresh };
};

const bareHead = (
  command: Received,
  { groupId, subCaseId }: Pick<GroupHead, "groupId" | "subCaseId">,
  passengers: Passenger[],
  { tier, missing }: Pick<ManifestGroup, "tier" | "missing"> = groupOf("", "", "", inputs(passengers)),
): GroupHead => ({
  groupId,
  subCaseId,
  ...(tier === undefined ? {} : { tier }),
  passengers: passengers.length,
  needs: needsOf(passengers),
  missing,
  regrouping: causedId(command.id),
});

/** Plans groups like the planning does; who flies on with the case has the dates of their tier, worked out once. */
const plannerOf = (state: CaseState, found: RegroupTerms["policies"]) => {
  const policies = { ...found, ...state.policies };
  const dates = new Map<Tier, ReturnType<typeof datesOf>>();
  return (bare: GroupHead): Pick<ShapedGroup, "head" | "letter"> => {
    if (state.plannedAt === undefined) return { head: bare, letter: "W" };
    const { tier } = bare;
    const policy = tier === undefined ? undefined : policies[tier];
    if (tier === undefined || !policy) return { head: bare, letter: stageOf(bare, policies, undefined) };
    const known = bare.nextFlight === undefined ? dates.get(tier) : undefined;
    const own = known ?? datesOf(state, bare, policy);
    if (bare.nextFlight === undefined) dates.set(tier, own);
    const stay = { ...own, rooms: roomsOf(bare, policy) };
    return { head: { ...bare, stay }, letter: stageOf(bare, policies, stay) };
  };
};
type Planner = ReturnType<typeof plannerOf>;

const madeGroup = (
  state: CaseState,
  command: Received,
  plan: Planner,
  { passengers, groupId, ...facts }: ManifestGroup,
): ShapedGroup => {
  const subCaseId = derivedId(command.tenant, `${state.externalEventId}/${groupId}`, command.now);
  const bare = bareHead(command, { groupId, subCaseId }, passengers, facts);
  return { ...plan(bare), passengers, isNew: true, moved: [] };
};

const grownGroup = (command: Received, plan: Planner, home: Home, fresh: Passenger[]): ShapedGroup => {
  const { head: before } = home;
  const passengers = [...home.passengers, ...fresh];
  const bare: GroupHead = {
    ...bareHead(command, home, passengers),
    shape: (before.shape ?? 0) + 1,
    ...(before.nextFlight === undefined ? {} : { nextFlight: before.nextFlight }),
  };
  return { ...plan(bare), passengers, isNew: false, moved: [] };
};

const regroupData = (
  state: CaseState,
  command: Received,
  { policies: found }: RegroupTerms,
  shaped: ShapedGroup[],
): RegroupEvent["data"] => {
  const isPlanned = state.plannedAt !== undefined;
  const known = Object.fromEntries(Object.entries(found).filter(([, policy]) => policy !== null));
  const violated = isPlanned && shaped.some(({ head }) => head.tier !== undefined && head.stay === undefined);
  return {
    policies: isPlanned ? { ...known, ...state.policies } : state.policies,
    shaped,
    emptied: [],
    unmixed: [],
    status: violated ? "MANUAL_REVIEW" : state.status,
    occurrence: command.id,
  };
};

/** The answer to a patch; of one that is long past, and asked for again, what is still known. */
export const manifestAmendedView = (state: CaseState, { id, command }: Reading): ManifestAmended => {
  const { decidedAt } = command.data as ManifestPatchBody;
  const kept = state.amendments?.find(({ commandId }) => commandId === command.id);
  const {
    passengersAdded = 0,
    passengersKnown = 0,
    groupsAdded = 0,
    groupsJoined = 0,
    nextFlight,
  } = kept ?? {};
  return {
    caseUrn: urn("case", id),
    decidedAt: new Date(decidedAt).toISOString(),
    passengersAdded,
    passengersKnown,
    groupsAdded,
    groupsJoined,
    ...(nextFlight === undefined ? {} : { nextFlight }),
    subCaseCount: state.groups.length,
    correlationUrn: command.correlationUrn,
  };
};
