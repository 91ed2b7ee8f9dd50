/** Owns what people set going: a ride of their own, another time, another vehicle, a cancellation, and asking again for what a group lacks. */
import { type GroupLock, requireUnlocked } from "../../schemas/lock.ts";
import { Problem } from "../../schemas/problems.ts";
import type {
  ChangeVehicleBody,
  CreateSegmentBody,
  RequestTransfersBody,
  RetimeSegmentBody,
  RideParty,
} from "../../schemas/transport.ts";
import { type Direction, directions } from "../../schemas/vocabulary.ts";
import type { Received } from "../runtime/decider.ts";
import { requireAirport } from "../runtime/reach.ts";
import { cancel, type Itinerary, type Plan, pickupToHotel, plan, seek, settleAsked } from "./itinerary.ts";
import { pickupBefore } from "./pickup.ts";
import type { Order, Segment, Wanted } from "./transfer-state.ts";
import { isLive, segmentFacts } from "./view.ts";

export const deskCommands = [
  "create-segment",
  "retime-segment",
  "change-vehicle",
  "cancel-segment",
  "request-transfer",
] as const;
type DeskCommand = (typeof deskCommands)[number];

export const isDeskCommand = (verb: string): verb is DeskCommand =>
  (deskCommands as readonly string[]).includes(verb);

/** What is read for a person's command. */
export interface Desk {
  caseIsClosed: boolean;
  /** Of a command that may order something. */
  party?: RideParty;
  /** Its group's; absent: nobody holds it. Of `request-transfer` it was looked at when the case's order was given. */
  lock?: GroupLock;
}

/** Rides of one group that are booked or sought at once: more than anybody needs. */
const ridesMax = 20;
/** Rides that one group may ever have had, whatever became of them: they are one document. */
const segmentsMax = 100;

/**
 * @throws Problem conflict/state, validation/body, not-found/resource, auth/foreign-airport, conflict/sub-case-locked,
 * conflict/stale-fencing-token
 */
export const takeFromDesk = (
  itinerary: Itinerary,
  verb: DeskCommand,
  command: Received,
  { caseIsClosed, party, lock }: Desk,
): void => {
  if (party?.order !== undefined) requireAirport(command.principal, party.order.airport);
  if (caseIsClosed)
    throw new Problem("conflict/state", "The case is closed and takes no further change.", {
      state: "CLOSED",
    });
  switch (verb) {
    case "create-segment":
      requireUnlocked([lock], command, command.now);
      recorded(itinerary, command, undefined, () => create(itinerary, command, party));
      break;
    case "request-transfer":
      requestTransfer(itinerary, command, party);
      break;
    case "retime-segment":
      changed(itinerary, command, lock, retimed);
      break;
    case "change-vehicle":
      changed(itinerary, command, lock, revehicled);
      break;
    case "cancel-segment":
      cancelled(itinerary, command, lock);
      break;
    default:
      verb satisfies never;
  }
};

export const wrong = (pointer: string, detail: string): Problem =>
  new Problem("validation/body", "Correct the fields named in `errors` and send the body again.", {
    errors: [{ pointer, detail }],
  });

const mustBeAhead = (scheduledAt: Date, now: Date): void => {
  if (scheduledAt <= now) throw wrong("/scheduledAt", "has passed");
};

/** The order under whose reference a person's ride goes. */
export const orderOf = (itinerary: Itinerary, party: RideParty | undefined): Order => {
  if (party?.order === undefined)
    throw new Problem("conflict/state", party?.detail ?? "Nobody can be driven for this reservation now.");
  const known = itinerary.order(party.reference);
  if (known?.releasedAt !== undefined)
    throw new Problem("conflict/state", "The room of this reservation is being given up.", {
      state: "CANCELLED",
    });
  const order = known ?? { ...party.order, reference: party.reference };
  if (known === undefined)
    itinerary.tell({ type: "transfer.ordered", data: { transferId: itinerary.transferId, order } });
  return order;
};

/** @throws Problem conflict/state */
export const planByHand = (
  itinerary: Itinerary,
  order: Order,
  asked: Omit<Plan, "origin">,
  origin: Plan["origin"] = "desk",
): string => {
  const { segments } = itinerary.state;
  const open = segments.filter(isLive).length;
  if (open >= ridesMax)
    throw new Problem("conflict/state", `The group has ${open} rides. Cancel some of them first.`);
  if (segments.length >= segmentsMax)
    throw new Problem(
      "conflict/state",
      `The group has had ${segments.length} rides, and takes no more. Change one that it has, or see to it by phone.`,
    );
  return plan(itinerary, order, { ...asked, origin });
};

const create = (itinerary: Itinerary, command: Received, party: RideParty | undefined): string => {
  const body = command.data as CreateSegmentBody;
  const order = orderOf(itinerary, party);
  const scheduledAt = new Date(body.scheduledAt);
  mustBeAhead(scheduledAt, itinerary.now);
  const wanted: Wanted = {
    scheduledAt,
    vehicleType: body.vehicleType ?? order.vehicleType,
    specialRequirements: body.specialRequirements ?? order.needs,
  };
  return planByHand(itinerary, order, { direction: body.direction, wanted, seed: command.id });
};

/** Only what a group lacks: a ride that is booked or sought is left as it is. */
const requestTransfer = (itinerary: Itinerary, command: Received, party: RideParty | undefined): void => {
  const order = orderOf(itinerary, party);
  const { directions: asked = directions } = command.data as RequestTransfersBody;
  for (const direction of asked) {
    const own = itinerary.state.segments.filter(
      (segment) => segment.direction === direction && segment.reference === order.reference,
    );
    if (own.some(isLive)) continue;
    const scheduledAt = pickupFor(itinerary, order, party, direction);
    if (scheduledAt === undefined) continue;
    const declined = own.findLast(({ status }) => status === "declined");
    recorded(itinerary, command, declined, () => {
      if (declined === undefined) {
        const wanted = { scheduledAt, vehicleType: order.vehicleType, specialRequirements: order.needs };
        return planByHand(itinerary, order, { direction, wanted, seed: `${command.id}/${direction}` });
      }
      const { vehicleType, specialRequirements, segmentId } = declined;
      seek(itinerary, declined, { scheduledAt, vehicleType, specialRequirements });
      return segmentId;
    });
  }
};

/** Undefined: nobody is driven back while no flight is known, or to one that has left. */
export const pickupFor = (
  { now }: Itinerary,
  { departure: known, minutesBeforePickup, notBefore }: Order,
  party: RideParty | undefined,
  direction: Direction,
): Date | undefined => {
  if (direction === "AIRPORT_TO_HOTEL") return pickupToHotel(now, { notBefore });
  const departure = known ?? party?.order?.departure;
  return departure === undefined ? undefined : pickupBefore(new Date(departure), minutesBeforePickup, now);
};

const segmentOf = (itinerary: Itinerary, command: Received): Segment => {
  const { segmentId } = command.data as { segmentId: string };
  const segment = itinerary.segment(segmentId);
  if (segment === undefined) throw new Problem("not-found/resource", "No such segment.");
  return segment;
};

const wantedOf = ({ scheduledAt, vehicleType, specialRequirements }: Wanted): Wanted => ({
  scheduledAt,
  vehicleType,
  specialRequirements,
});

const retimed = (segment: Segment, command: Received): Wanted => {
  const scheduledAt = new Date((command.data as RetimeSegmentBody).scheduledAt);
  mustBeAhead(scheduledAt, command.now);
  return { ...wantedOf(segment), scheduledAt };
};

const revehicled = (segment: Segment, { data }: Received): Wanted => {
  const { vehicleType, specialRequirements = segment.specialRequirements } = data as ChangeVehicleBody;
  return { ...wantedOf(segment), vehicleType, specialRequirements };
};

/** What is so already is nothing; what was declined is sought again. */
const changed = (
  itinerary: Itinerary,
  command: Received,
  lock: GroupLock | undefined,
  change: (segment: Segment, command: Received) => Wanted,
): void => {
  const segment = segmentOf(itinerary, command);
  if (segment.status === "cancelled")
    throw new Problem("conflict/state", "The segment is cancelled. Create another one.", {
      state: "cancelled",
    });
  const wanted = change(segment, command);
  const isSo = JSON.stringify(wanted) === JSON.stringify(wantedOf(segment));
  if (isSo && segment.status !== "declined") return;
  requireUnlocked([lock], command, command.now);
  recorded(itinerary, command, segment, () => {
    seek(itinerary, segment, wanted);
    return segment.segmentId;
  });
};

const cancelled = (itinerary: Itinerary, command: Received, lock: GroupLock | undefined): void => {
  const segment = segmentOf(itinerary, command);
  if (segment.status === "cancelled") return;
  requireUnlocked([lock], command, command.now);
  recorded(itinerary, command, segment, () => {
    cancel(itinerary, segment);
    settleAsked(itinerary);
    return segment.segmentId;
  });
};

/** Each change of a segment by a person is an entry of its own, under the segment's URN. */
export const recorded = (
  itinerary: Itinerary,
  { name, principal }: Received,
  before: Segment | undefined,
  change: () => string,
): void => {
  const segmentId = change();
  if (principal.surface === "system") return;
  const { kind } = itinerary.state;
  const shown = (segment: Segment) => ({ ...(kind === undefined ? {} : { kind }), ...segmentFacts(segment) });
  const after = itinerary.segment(segmentId) as Segment;
  itinerary.tell({
    type: "transfer.recorded",
    data: {
      segmentId,
      action: name,
      before: before === undefined ? null : shown(before),
      after: shown(after),
    },
  });
};
