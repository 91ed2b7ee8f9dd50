/** Wires the case actor. */

import type { CaseKind } from "../../schemas/drill.ts";
import type { DetectedDisruption } from "../../schemas/flight.ts";
import type { LockedGroup } from "../../schemas/lock.ts";
import type { AddPassengers, PassengerFileFacts } from "../../schemas/passenger-file.ts";
import type { GroupMembers } from "../../schemas/regroup.ts";
import type { ReviewSettled } from "../../schemas/review.ts";
import { idOf, urn } from "../../schemas/urn.ts";
import { cabins, type Tier } from "../../schemas/vocabulary.ts";
import { attemptIndexes } from "../runtime/attempt-limits.ts";
import { freshId } from "../runtime/clock.ts";
import type { Change, Decider, Reading, Received } from "../runtime/decider.ts";
import { inTheHouse } from "../runtime/drill.ts";
import type { Actor, ActorContext } from "../runtime/host.ts";
import { rehearse } from "../runtime/rehearse.ts";
import { allocate, bookRooms, spreadFreeze } from "./compositions.ts";
import { commands, decide } from "./decide.ts";
import { manifestTimers } from "./detected-state.ts";
import { type FedAirlines, openDetected, openOnce, watchFedAirlines } from "./first-case.ts";
import { freezes } from "./freeze.ts";
import { freezeAt } from "./freezes-query.ts";
import { eventIdOf } from "./intake.ts";
import { type ManifestTerms, manifestAmendedView } from "./manifest-patch.ts";
import { gatherPriority, groupsNamed, membersNamed } from "./partner-terms.ts";
import { type DemandTerms, demandMadeBy, type Policies } from "./planning.ts";
import { prioritise, priorityAttempts } from "./prioritise.ts";
import { priorityView } from "./priority.ts";
import { caseIndexes, caseQueries, collection } from "./queries.ts";
import type { ReaccommodateTerms } from "./reaccommodate.ts";
import { outgoing, statusChanged } from "./reactions.ts";
import { type RegroupTerms, tiersAmong } from "./regroup.ts";
import { namedIn } from "./regroup-wanted.ts";
import { relaxationAudit } from "./relax.ts";
import { type CaseEvent, type CaseState, evolve, schemaVersion, technicalEvents } from "./state.ts";
import {
  bookingStartedView,
  demandView,
  openedView,
  reaccommodationView,
  regroupView,
  standingView,
} from "./view.ts";

const cases = (context: ActorContext): Decider<CaseState, CaseEvent> => ({
  actor: "case",
  kind: "case",
  collection,
  schemaVersion,
  remembered: 16,
  commands,
  indexes: caseIndexes,
  decide,
  evolve,
  outgoing: (event, state, command, id) => inTheHouse(state.kind, outgoing(event, state, command, id)),
  changed: ({ id, before, after }) => inTheHouse(after.kind, statusChanged(id, before, after)),
  technical: technicalEvents,
  timers: (state) => [
    ...(state.awaiting === undefined || state.status === "CLOSED"
      ? []
      : [{ name: "reissue", dueAt: state.awaiting.dueAt }]),
    ...manifestTimers(state),
  ],
  locate: ({ data }) => {
    const { externalEventId, kind, demandUrn } = data as {
      externalEventId?: string;
      kind?: CaseKind;
      demandUrn?: string;
    };
    if (demandUrn !== undefined) return { "demands.demandId": idOf(demandUrn) };
    return externalEventId === undefined
      ? undefined
      : { externalEventId: eventIdOf({ externalEventId, ...(kind === undefined ? {} : { kind }) }) };
  },
  create: ({ name, tenant, now }) => (name.startsWith("case.open") ? freshId(tenant, now) : undefined),
  gathersFor: (command) =>
    isRegrouping(command) ||
    isAboutDemand(command) ||
    command.name === "case.apply-freeze" ||
    command.name === "case.prioritise",
  gather: async (command, state) => {
    if (state === undefined) return undefined;
    if (isRegrouping(command)) return gatherRegroup(context, command, state);
    if (command.name === "case.prioritise") return gatherPriority(context, command);
    return gatherTerms(context, command, state);
  },
  view: (state, reading) =>
    reading.command.name === "case.prioritise"
      ? priorityView(state, reading, context.config.PARTNER_PRIORITY_SHARE)
      : view(state, reading),
  audit,
});

/** Undefined where nothing about demand is decided. */
const gatherTerms = async (
  context: ActorContext,
  command: Received,
  { airport, groups }: CaseState,
): Promise<DemandTerms | ReaccommodateTerms | undefined> => {
  const freeze = () => freezeAt(context, command.tenant, airport);
  if (command.name === "case.apply-freeze") return { policies: {}, freeze: await freeze() };
  if (!isAboutDemand(command)) return undefined;
  const tiers = [...new Set(groups.flatMap(({ tier }) => tier ?? []))] as Tier[];
  const asked = { ...command, params: { airport, tiers } };
  const policies = await context.call<Policies>("policy.resolve-tiers", asked);
  const terms: DemandTerms = { policies, freeze: await freeze() };
  if (command.name !== "case.reaccommodate") return terms;
  const ofCase = { ...command, params: { caseId: command.entity } };
  return { ...terms, locks: await context.call<LockedGroup[]>("sub-case.locks", ofCase) };
};

/** The groups as their sub-cases have them, and what their rooms will be asked under: cabins that nobody was planned in, too. */
const gatherRegroup = async (
  context: ActorContext,
  command: Received,
  state: CaseState,
): Promise<RegroupTerms | ManifestTerms> => {
  const { airport } = state;
  const patches = isPatch(command.name);
  const params = { caseId: command.entity, ...(patches ? {} : namedIn(command)) };
  const members = patches
    ? await membersNamed(context, command)
    : await context.call<GroupMembers[]>("sub-case.members", { ...command, params });
  // Newcomers travel in whatever cabin.
  const asked = { ...command, params: { airport, tiers: patches ? cabins : tiersAmong(members) } };
  const [policies, freeze] = await Promise.all([
    context.call<Policies>("policy.resolve-tiers", asked),
    freezeAt(context, command.tenant, airport),
  ]);
  const terms: RegroupTerms = { members, policies, freeze };
  return patches ? { ...terms, named: await groupsNamed(command, state) } : terms;
};

const isRegrouping = ({ name }: Pick<Received, "name">): boolean =>
  name === "case.split-group" ||
  name === "case.merge-groups" ||
  name === "case.group-passengers" ||
  isPatch(name);

const isPatch = (name: string): boolean =>
  name === "case.amend-manifest" || name === "case.add-passengers" || name === "case.take-push";

const isAboutDemand = ({ name, data }: Pick<Received, "name" | "data">): boolean =>
  name === "case.plan" ||
  name === "case.request-demand" ||
  name === "case.approve-demand" ||
  name === "case.reaccommodate" ||
  name === "case.apply-correction" ||
  name === "case.relax" ||
  (name === "case.note-review" && (data as ReviewSettled).category === "POLICY_VIOLATION");

/** What each command answers: the case that was opened, the demand that was decided, the wave that was asked for. */
const view = (state: CaseState, reading: Reading): unknown => {
  const { id, command } = reading;
  switch (command.name) {
    case "case.request-demand": {
      const demand = demandMadeBy(command, state);
      return demand === undefined ? null : demandView(id, demand);
    }
    case "case.approve-demand":
    case "case.reject-demand": {
      const demandId = idOf((command.data as { demandUrn: string }).demandUrn);
      const demand = state.demands.find((candidate) => candidate.demandId === demandId);
      return demand === undefined ? null : demandView(id, demand);
    }
    case "case.book-rooms":
      return bookingStartedView(state, reading);
    case "case.allocate":
    case "case.rerun":
      return {
        caseUrn: urn("case", id),
        ...(state.waveId === undefined ? {} : { waveUrn: urn("wave", state.waveId) }),
        correlationUrn: command.correlationUrn,
      };
    case "case.split-group":
    case "case.merge-groups":
    case "case.group-passengers":
      return regroupView(state, reading);
    case "case.reaccommodate":
      return reaccommodationView(state, reading);
    case "case.amend-manifest":
    case "case.add-passengers":
      return manifestAmendedView(state, reading);
    case "case.close":
    case "case.reopen":
      return standingView(state, reading);
    default:
      return openedView(state, reading);
  }
};

/** Every human's change, and the service's own decisions on demand (contract, "Demand": who, when, why, policy version). */
const audit = ({ id, command, before, after, events }: Change<CaseState, CaseEvent>) => {
  const approved = events.find((event) => event.type === "demand.approved");
  const rejected = events.find((event) => event.type === "demand.rejected");
  const isSystem = command.principal.surface === "system";
  if (fromFeed.has(command.name)) return feedNote(command, { id, before, after });
  if (isSystem && approved === undefined && rejected === undefined) return undefined;
  const repeated = events.some((event) => event.type === "case.repeated-differently");
  const reason = repeated
    ? "The same externalEventId came with another body; nothing was changed."
    : undefined;
  return {
    action:
      approved !== undefined
        ? "case.approve-demand"
        : isSystem && rejected !== undefined
          ? "case.reject-demand"
          : command.name.replace(/-first$/, ""),
    caseId: id,
    ...optional(approved?.data.reason ?? rejected?.data.reason ?? reason),
    before: before === undefined ? null : auditSnapshot(before),
    after: { ...auditSnapshot(after), ...fileOf(command) },
    ...(command.name === "case.relax" && before !== undefined ? relaxationAudit(before, after) : {}),
  };
};

const fromFeed: ReadonlySet<string> = new Set([
  "case.open-detected",
  "case.amend-detected",
  "case.withdraw-detected",
]);

/** What the feed does is nobody's act, and is answered for all the same. */
const feedNote = (
  { name, data }: Received,
  { id, before, after }: Pick<Change<CaseState, CaseEvent>, "id" | "before" | "after">,
) => {
  const { vendor, eventId, state, probability } = (data as DetectedDisruption).prediction;
  return {
    action: name,
    caseId: id,
    reason: `The flight feed ${vendor} has told it: ${state}, ${probability} (event ${eventId}).`,
    before: before === undefined ? null : auditSnapshot(before),
    after: auditSnapshot(after),
  };
};

/** Of a spreadsheet that passengers came in: which bytes, how much of it. */
const fileOf = ({ name, data }: Received): { file?: PassengerFileFacts } =>
  name === "case.add-passengers" ? { file: (data as AddPassengers).file } : {};

const optional = (reason: string | undefined): { reason?: string } =>
  reason === undefined ? {} : { reason };

/** What an auditor compares: states and figures, no passenger's details. */
const auditSnapshot = (state: CaseState) => {
  const { status, kind, externalEventId, airport, flight, disruption, detection } = state;
  const { groups, demands, progress } = state;
  return {
    ...(kind === undefined ? {} : { kind }),
    status,
    externalEventId,
    airport,
    groups: groups.length,
    progress,
    demands,
    ...(detection === undefined ? {} : { flight, disruption, prediction: detection.prediction }),
  };
};

export const caseActor = (context: ActorContext): Actor => {
  const decider = cases(context);
  const fed = Promise.withResolvers<FedAirlines>();
  return {
    name: "case",
    deciders: [decider, freezes],
    queries: { ...caseQueries(context), rehearse: rehearse(context, decider) },
    commands: {
      open: openOnce(context, "open", fed.promise),
      "open-manually": openOnce(context, "open-manually", fed.promise),
      "open-detected": openDetected(context),
      allocate: allocate(context),
      "book-rooms": bookRooms(context),
      "spread-freeze": spreadFreeze(context, collection),
      prioritise: prioritise(context),
    },
    collections: { [priorityAttempts]: attemptIndexes },
    start: async () => {
      const airlines = await watchFedAirlines(context);
      fed.resolve(airlines);
      return async () => airlines.close();
    },
  };
};
