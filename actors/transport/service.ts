/** Wires the transport actor: groups' rides, the vehicles that they share, and what people ask for. */
import type { Document } from "mongodb";
import type { CaseListItem } from "../../schemas/case.ts";
import type { Command } from "../../schemas/command.ts";
import type { GroupStanding } from "../../schemas/group-note.ts";
import { type LockedGroup, requireCaseUnlocked } from "../../schemas/lock.ts";
import { Problem } from "../../schemas/problems.ts";
import type {
  CreateSegmentBody,
  RequestTransfersBody,
  RideParty,
  TransfersRequested,
} from "../../schemas/transport.ts";
import { idOf } from "../../schemas/urn.ts";
import { causedId } from "../runtime/clock.ts";
import type { Decider, Reading } from "../runtime/decider.ts";
import type { Actor, ActorContext, CommandFunction } from "../runtime/host.ts";
import { sendCommand } from "../runtime/send.ts";
import { type Desk, isDeskCommand } from "./desk.ts";
import { isSeededBy } from "./itinerary.ts";
import { ownRide } from "./own-ride.ts";
import { transportQueries } from "./queries.ts";
import { runs } from "./runs.ts";
import type { Segment, TransferEvent, TransferState } from "./transfer-state.ts";
import { transferCollection, transfers } from "./transfers.ts";
import { myTransport, segmentView } from "./view.ts";

/** Which rooms of a case people are to be driven for. */
type PartiesAsked =
  | { reservationId: string }
  | { caseId: string; groupIds?: string[] }
  | { subCaseId: string };

const askParties = (context: ActorContext, command: Command, params: PartiesAsked): Promise<RideParty[]> =>
  context.call<RideParty[]>("sub-case.ride-parties", { ...command, params: { ...params } });

/** By a person, at a desk or in a hotel's room. */
const isAsked = (verb: string): boolean => isDeskCommand(verb) || verb === ownRide;

/** What a person's command goes by: whom the sub-case would have driven now, whose lock it is, and whether the case still takes changes. */
const gatherFor = async (
  context: ActorContext,
  command: Command,
  state: TransferState | undefined,
): Promise<Desk | undefined> => {
  const verb = command.name.slice("transport.".length);
  if (!isAsked(verb)) return undefined;
  const orders = verb === "create-segment" || verb === "request-transfer" || verb === ownRide;
  const [party] = orders ? await askParties(context, command, { subCaseId: command.entity }) : [];
  const caseId = state?.caseId ?? party?.order?.caseId;
  const caseIsClosed =
    caseId !== undefined &&
    (await context.call<boolean>("case.is-closed", { ...command, params: { caseId } }));
  const { lock } =
    verb === "request-transfer" || verb === ownRide
      ? {}
      : ((await context.call<GroupStanding | null>("sub-case.standing", {
          ...command,
          params: { subCaseId: command.entity },
        })) ?? {});
  return {
    caseIsClosed,
    ...(party === undefined ? {} : { party }),
    ...(lock === undefined ? {} : { lock }),
  };
};

/** The segment that a command was about, or has made. */
const segmentShown = (state: TransferState, { id, data }: Command): Segment | undefined => {
  const { segmentId } = data as { segmentId?: string };
  return state.segments.find((segment) =>
    segmentId === undefined ? isSeededBy(segment, id) : segment.segmentId === segmentId,
  );
};

const decider = (context: ActorContext): Decider<TransferState, TransferEvent> => ({
  ...transfers({ stepDeadlineMs: context.config.STEP_DEADLINE_MS }),
  gathersFor: ({ name }) => isAsked(name.slice("transport.".length)),
  gather: (command, state) => gatherFor(context, command, state),
  view: (state, { version, command }: Reading) => {
    if (command.principal.surface === "passenger") return myTransport(state, context.clock.now());
    const segment = command.principal.surface === "system" ? undefined : segmentShown(state, command);
    return segment === undefined ? null : segmentView(state, segment, version);
  },
});

const noSegment = (): Problem => new Problem("not-found/resource", "No such segment.");

/** A segment stands in its group's transfer. */
const ofSegment =
  (context: ActorContext, verb: string): CommandFunction =>
  async (command, dispatch) => {
    const segmentId = command.entity;
    const found = await context.documents
      .tenant(command.tenant)
      .collection<Document>(transferCollection)
      .findOne({ "segments.segmentId": segmentId }, { projection: { _id: 1 } });
    if (found === null) throw noSegment();
    const data = { ...(command.data as object), segmentId };
    return dispatch(verb, { ...command, entity: String(found._id), data });
  };

/** The body names the reservation; its group's transfer may not stand yet. */
const createSegment =
  (context: ActorContext): CommandFunction =>
  async (command, dispatch) => {
    const { reservationUrn } = command.data as CreateSegmentBody;
    const [party] = await askParties(context, command, { reservationId: idOf(reservationUrn) });
    if (party === undefined)
      throw new Problem("not-found/resource", "No such reservation, or its group has another one by now.");
    return dispatch("create-segment", { ...command, entity: party.subCaseId });
  };

/** The session tells whose ride it is; what is asked for is no change of what anybody has seen. */
const requestOwnRide =
  (context: ActorContext): CommandFunction =>
  async ({ expectedVersion: _, ...command }, dispatch) => {
    const { subCaseId } = await context.call<RideParty>("sub-case.own-ride-party", {
      ...command,
      params: {},
    });
    return dispatch(ownRide, { ...command, entity: subCaseId });
  };

/** Each group's request is a command of its own, under an id that a repeat has, too. */
const requestTransfers =
  (context: ActorContext): CommandFunction =>
  async (command) => {
    // Its token is looked at here: of the groups' own commands none would fit but one.
    const { fencingToken: _, ...envelope } = command;
    const {
      caseUrn,
      groupIds,
      fencingToken: _token,
      ...asked
    } = command.data as RequestTransfersBody & { caseUrn: string };
    const head = await context.call<CaseListItem>("case.head", { ...command, params: { caseUrn } });
    if (head.status === "CLOSED")
      throw new Problem("conflict/state", "The case is closed and takes no further change.", {
        state: "CLOSED",
      });
    const caseId = idOf(caseUrn);
    const filter = groupIds === undefined ? { caseId } : { caseId, groupIds };
    const parties = await askParties(context, command, filter);
    const known = new Set(parties.map(({ groupId }) => groupId));
    const unknown = (groupIds ?? []).filter((groupId) => !known.has(groupId));
    if (unknown.length > 0)
      throw new Problem("validation/body", "Some of these groups are not the case's.", {
        errors: unknown.map((groupId) => ({ pointer: "/groupIds", detail: `${groupId} is no group of it` })),
      });
    const locks = await context.call<LockedGroup[]>("sub-case.locks", { ...command, params: { caseId } });
    const order = { named: groupIds ?? [], isWhole: groupIds === undefined };
    requireCaseUnlocked(locks, order, command, context.clock.now());
    const driven = parties.filter(({ order }) => order !== undefined);
    for (const { subCaseId } of driven) {
      const name = "transport.request-transfer";
      const id = causedId(command.id, "request-transfer", subCaseId);
      await sendCommand(context.streams, { ...envelope, id, name, entity: subCaseId, data: asked });
    }
    const ok: TransfersRequested = {
      caseUrn,
      groups: driven.map(({ groupId }) => groupId),
      skipped: parties.flatMap(({ groupId, order, detail = "It has no room." }) =>
        order === undefined ? [{ groupId, detail }] : [],
      ),
      correlationUrn: command.correlationUrn,
    };
    return { ok };
  };

export const transportActor = (context: ActorContext): Actor => ({
  name: "transport",
  deciders: [decider(context), runs({ stepDeadlineMs: context.config.STEP_DEADLINE_MS })],
  queries: transportQueries(context),
  commands: {
    "create-segment": createSegment(context),
    "retime-segment": ofSegment(context, "retime-segment"),
    "change-vehicle": ofSegment(context, "change-vehicle"),
    "cancel-segment": ofSegment(context, "cancel-segment"),
    "request-transfers": requestTransfers(context),
    [ownRide]: requestOwnRide(context),
  },
  concurrency: 64,
});
