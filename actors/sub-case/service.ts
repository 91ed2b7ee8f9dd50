/** Wires the sub-case actor: provisioning in chunks, the saga, and the passenger's decision. */
import type { Document } from "mongodb";
import type { Command } from "../../schemas/command.ts";
import type { CaseKind } from "../../schemas/drill.ts";
import { languageOf, normalPnr, type Passenger } from "../../schemas/passenger.ts";
import type { Tier } from "../../schemas/vocabulary.ts";
import { causedId } from "../runtime/clock.ts";
import type { Change, Decider, Reading, Timer } from "../runtime/decider.ts";
import { inTheHouse } from "../runtime/drill.ts";
import type { Actor, ActorContext, CommandFunction } from "../runtime/host.ts";
import { sendCommand, systemCommand } from "../runtime/send.ts";
import { firstDocument } from "../runtime/store.ts";
import { submittedAs } from "./compensate.ts";
import { commands, deciderOf } from "./decide.ts";
import { afterLogout, closeSession, releaseLocks } from "./held-locks.ts";
import { isRenewal, lockTimers, lockView, unlockedView } from "./lock.ts";
import { gatherManualFacts, manualReservation, namedBy } from "./manual-reservation.ts";
import { stayAudit, toldByHotels } from "./on-record.ts";
import { passengersTold } from "./passengers-told.ts";
import { purges } from "./purges.ts";
import { collection, schemaVersion, subCaseIndexes, subCaseQueries } from "./queries.ts";
import { outgoing } from "./reactions.ts";
import { reportView } from "./report-problem.ts";
import { revealCard } from "./reveal-card.ts";
import { roomChanged } from "./room-changed.ts";
import { documentOf } from "./sessions.ts";
import { evolve, type SubCaseEvent, type SubCaseState, technicalEvents } from "./state.ts";
import { stateChanged } from "./state-changed.ts";
import { compensationView, offerView, reservationDetail, reservationView } from "./view.ts";

const subCases = (context: ActorContext): Decider<SubCaseState, SubCaseEvent> => ({
  actor: "sub-case",
  kind: "sub-case",
  collection,
  schemaVersion,
  remembered: 256,
  commands,
  // One that comes again hands out another page, of which the trail has to know as well.
  idempotent: ({ name }) => name === "sub-case.reveal-card",
  indexes: subCaseIndexes,
  gathersFor: ({ name }) => name === manualReservation,
  gather: (command, state) => gatherManualFacts(context, command, state),
  decide: deciderOf({
    stepDeadlineMs: context.config.STEP_DEADLINE_MS,
    lockLeaseMs: context.config.LOCK_LEASE_MS,
  }),
  evolve,
  outgoing: (event, state) =>
    inTheHouse(state.kind, [...outgoing(event, state), ...roomChanged(event, state)]),
  changed: (change) => {
    const { before, after, command } = change;
    return inTheHouse(after.kind, [
      ...stateChanged(before, after, command.now),
      ...passengersTold(change),
      ...purges(change),
    ]);
  },
  technical: technicalEvents,
  timers: (state) => [...callTimers(state), ...lockTimers(state)],
  locate,
  view: (state, reading) => view(state, reading, context.clock.now()),
  reactions: afterLogout,
  audit,
});

const callTimers = ({ call, closedAt }: SubCaseState): Timer[] =>
  call === undefined || closedAt !== undefined ? [] : [{ name: "reissue-call", dueAt: call.dueAt }];

/** A booking by hand names a group of a case. */
const locate = (command: Command): Record<string, unknown> | undefined =>
  command.name === manualReservation ? namedBy(command) : undefined;

const view = (state: SubCaseState, { version, command }: Reading, now: Date): unknown => {
  switch (command.name) {
    case "sub-case.compensate": {
      const { correlationUrn } = submittedAs(state, command) ?? command;
      return compensationView(state, version, correlationUrn);
    }
    case manualReservation:
      return reservationDetail(state, version, now);
    case "sub-case.lock":
      return lockView(state, { principal: command.principal, version, now });
    case "sub-case.report-problem":
      return reportView(state, command, now);
    case "sub-case.unlock":
    case "sub-case.release-lock":
      return unlockedView(state, version, now);
    default:
      return offerView(state, version, undefined);
  }
};

/** Whatever a human decided; the saga's own steps are on the internal stream, and so is a lock that is only renewed. */
const audit = ({ id, command, before, after, events }: Change<SubCaseState, SubCaseEvent>) => {
  if (toldByHotels.has(command.name)) return stayAudit({ id, command, before, after, events });
  if (command.principal.surface === "system") return undefined;
  if (events.some(isRenewal)) return null;
  const locking = events.some(({ type }) => type === "subcase.lock-changed");
  // Of passengers' words only what they are about: they may name anybody, or a number.
  const { category } = command.data as { category?: string };
  const own = {
    "sub-case.check-in": { room: after.reservation?.status },
    "sub-case.reveal-card": { card: after.card?.last4 },
    "sub-case.report-problem": { problem: category },
  }[command.name];
  const snapshot = (state: SubCaseState) => ({
    ...(state.kind === undefined ? {} : { kind: state.kind }),
    status: state.status,
    offer: state.offer.state,
    ...(command.name === manualReservation ? { reservation: reservationView(state) ?? null } : {}),
    ...(locking ? { lockedBy: state.lock?.held?.by ?? null } : {}),
  });
  return {
    action: command.name,
    caseId: after.caseId,
    before: before === undefined ? null : snapshot(before),
    after: { ...snapshot(after), ...own },
  };
};

/** What a case hands over of each group. */
interface OpenMany {
  from: number;
  kind?: CaseKind;
  airport: string;
  flight: { number: string; origin: string; destination: string; scheduledDeparture: string };
  nextFlight?: { number: string; scheduledDeparture: string };
  groups: { groupId: string; subCaseId: string; tier?: Tier; passengers: Passenger[] }[];
}

const opened = (caseId: string, data: OpenMany, group: OpenMany["groups"][number]): SubCaseState => ({
  subCaseId: group.subCaseId,
  caseId,
  groupId: group.groupId,
  ...(data.kind === undefined ? {} : { kind: data.kind }),
  airport: data.airport,
  tier: group.tier ?? "ECONOMY",
  status: "PENDING",
  passengers: group.passengers,
  pnrs: [...new Set(group.passengers.flatMap(({ pnr }) => (pnr === undefined ? [] : normalPnr(pnr))))],
  language: languageOf(group.passengers),
  flight: { ...data.flight, scheduledDeparture: new Date(data.flight.scheduledDeparture) },
  ...(data.nextFlight === undefined
    ? {}
    : {
        nextFlight: { ...data.nextFlight, scheduledDeparture: new Date(data.nextFlight.scheduledDeparture) },
      }),
  round: 0,
  candidate: 0,
  firstCandidate: 0,
  returns: 0,
  compensations: [],
  steps: [],
  attemptedHotels: [],
  offer: { state: "PENDING" },
});

/**
 * Makes a chunk of sub-cases, then tells the case. Ids are the case's choice, so a repeat after a crash finds those that
 * stand and adds the rest; the case counts an answer once by where the chunk begins.
 */
const openMany =
  (context: ActorContext): CommandFunction =>
  async (command) => {
    const data = command.data as OpenMany;
    const caseId = command.entity;
    const now = context.clock.now();
    const documents = data.groups.map((group) =>
      firstDocument(schemaVersion, {
        entity: group.subCaseId,
        now,
        before: undefined,
        after: opened(caseId, data, group),
        version: 1,
        handled: [{ id: command.id, at: now, version: 1 }],
        entries: [],
        timers: [],
      }),
    );
    await insertMissing(context, command, documents as unknown as Document[]);
    context.faults("after-commit", command.name);
    const note = {
      id: causedId(`${caseId}/provisioned`, data.from, data.groups.length),
      name: "case.note-provisioned",
      entity: caseId,
      data: { from: data.from, count: data.groups.length },
      now,
    };
    await sendCommand(context.streams, systemCommand("sub-case", command, note));
    return { ok: null };
  };

const insertMissing = async (
  context: ActorContext,
  command: Command,
  documents: Document[],
): Promise<void> => {
  if (documents.length === 0) return;
  try {
    await context.documents
      .tenant(command.tenant)
      .collection<Document>(collection)
      .insertMany(documents, { ordered: false });
  } catch (error) {
    const { writeErrors = [] } = error as { writeErrors?: { code?: number }[] };
    const areThere = writeErrors.length > 0 && writeErrors.every(({ code }) => code === 11000);
    if (!areThere) throw error;
  }
};

/** The body says which group is meant. */
const reserveByName: CommandFunction = async (command, dispatch) => {
  const named = namedBy(command);
  return dispatch("reserve-manually", "entity" in named ? { ...command, entity: named.entity } : command);
};

/** A lock is given back whatever has become of the group since its holder has read it. */
const unlock: CommandFunction = ({ expectedVersion: _, ...command }, dispatch) => dispatch("unlock", command);

/** A session names the group that it was opened for; its passenger may be in another one by now. */
const ofSession =
  (context: ActorContext, verb: (typeof commands)[number]): CommandFunction =>
  async (command, dispatch) => {
    if (command.principal.surface !== "passenger") return dispatch(verb, command);
    const subCases = context.documents.tenant(command.tenant).collection<Document>(collection);
    const { _id } = await documentOf(subCases, command.principal, { passengers: 1, moved: 1, mergedInto: 1 });
    return dispatch(verb, { ...command, entity: String(_id) });
  };

export const subCaseActor = (context: ActorContext): Actor => ({
  name: "sub-case",
  deciders: [subCases(context)],
  queries: subCaseQueries(context),
  commands: {
    "open-many": openMany(context),
    "reserve-manually": reserveByName,
    unlock,
    "close-session": closeSession(context),
    "release-locks": releaseLocks(context),
    "accept-offer": ofSession(context, "accept-offer"),
    "decline-offer": ofSession(context, "decline-offer"),
    "check-in": ofSession(context, "check-in"),
    // What is reported is no change of what anybody has seen.
    "report-problem": ({ expectedVersion: _, ...command }, dispatch) =>
      ofSession(context, "report-problem")(command, dispatch),
    "reveal-card": revealCard(context, { collection, schemaVersion }),
  },
  concurrency: 64,
});
