/** Owns what leaves with a transfer's events: searches for seats, answers to the saga, items for people, the trail. */
import { systemPrincipal } from "../../schemas/command.ts";
import type { LeaveSeats, RideNote, RunFacts, TakeSeats } from "../../schemas/transport.ts";
import { urn } from "../../schemas/urn.ts";
import type { VendorAnswer } from "../../schemas/vendor-call.ts";
import type { ReviewCategory } from "../../schemas/vocabulary.ts";
import type { Decider, Outgoing, Received, Timer } from "../runtime/decider.ts";
import { inTheHouse } from "../runtime/drill.ts";
import { purges } from "./purges.ts";
import { transferCommands, transferDecider } from "./transfer-decide.ts";
import {
  type Asked,
  evolveTransfer,
  type Leaving,
  type Order,
  type Recorded,
  type Segment,
  type TransferEvent,
  type TransferState,
  technicalEvents,
  type Wanted,
} from "./transfer-state.ts";
import type { CallSettings } from "./vehicle-call.ts";
import { passengersStatus, segmentFacts, wayToHotel } from "./view.ts";

export const transferCollection = "transfers";
export const transferSchemaVersion = 1;

export const transferIndexes = [
  { name: "group", key: { caseId: 1, groupId: 1 } },
  { name: "segment", key: { "segments.segmentId": 1 } },
] as const;

/** Without what only a service can read: the gathering, and the views of each command. */
export const transfers = (
  settings: CallSettings,
): Omit<Decider<TransferState, TransferEvent>, "gather" | "view"> => ({
  actor: "transport",
  kind: "transfer",
  collection: transferCollection,
  schemaVersion: transferSchemaVersion,
  remembered: 256,
  opens: ({ name }) => name === "transport.book-ride",
  commands: transferCommands,
  indexes: transferIndexes,
  decide: transferDecider(settings),
  evolve: evolveTransfer,
  outgoing: (event, state, command) => inTheHouse(state.kind, outgoing(event, state, command)),
  changed: (change) => inTheHouse(change.after.kind, purges(change)),
  technical: technicalEvents,
  timers: timersOf,
  // Each segment's change is an entry of its own, under its own URN.
  audit: () => null,
});

const timersOf = ({ segments, leaving }: TransferState): Timer[] => {
  const waiting = [
    ...segments.flatMap(({ sought }) => sought ?? []),
    ...leaving.filter(({ refusal }) => refusal === undefined),
  ];
  return waiting.map(({ dueAt }) => ({ name: "repeat", dueAt }));
};

const outgoing = (event: TransferEvent, state: TransferState, command: Received): Outgoing[] => {
  switch (event.type) {
    case "segment.sought": {
      const { segmentId, wanted, sought } = event.data;
      return [takeSeats(state, segmentId, wanted, sought), announced(state, "segment.sought", segmentId)];
    }
    case "seats.search-repeated": {
      const { segmentId, sought } = event.data;
      const segment = segmentOf(state, segmentId);
      return [
        takeSeats(state, segmentId, segment, sought),
        ...unanswered(state, segment, sought, "the search for a vehicle"),
      ];
    }
    case "segment.booked":
      return [announced(state, event.type, event.data.segmentId)];
    case "segment.declined": {
      const { segmentId, detail, sagaTells } = event.data;
      const item = notDriven(state, segmentOf(state, segmentId), detail);
      return [announced(state, event.type, segmentId), ...(sagaTells ? [] : [item])];
    }
    case "segment.kept": {
      const { segmentId, detail } = event.data;
      return [
        announced(state, event.type, segmentId),
        notChanged(state, segmentOf(state, segmentId), detail),
      ];
    }
    case "segment.cancelled":
      return [announced(state, event.type, event.data.segmentId)];
    case "seats.given-up":
      return [leaveSeats(state, event.data.leaving)];
    case "seats.given-up-again": {
      const { leaving } = event.data;
      const segment = segmentOf(state, leaving.segmentId);
      return [leaveSeats(state, leaving), ...unanswered(state, segment, leaving, "giving the seats back")];
    }
    case "seats.stuck": {
      const { segmentId, attempt, refusal, sagaTells } = event.data;
      return sagaTells ? [] : [notCancelled(state, segmentOf(state, segmentId), attempt, refusal.detail)];
    }
    case "transfer.answered":
      return [answered(event.data)];
    case "transfer.ride-noted":
      return rideNoted(state, event.data.reference);
    case "transfer.recorded":
      return [auditEntry(state, command, event.data)];
    case "transfer.ordered":
    case "transfer.flight-changed":
    case "transfer.released":
    case "transfer.asked":
    case "segment.planned":
    case "seats.lost":
    case "seats.left":
      return [];
    default:
      return event satisfies never;
  }
};

const segmentOf = ({ segments }: TransferState, id: string): Segment =>
  segments.find(({ segmentId }) => segmentId === id) as Segment;

const orderOf = ({ orders }: TransferState, { reference }: { reference: string }): Order =>
  orders.find((order) => order.reference === reference) as Order;

const takeSeats = (
  state: TransferState,
  segmentId: string,
  { scheduledAt, vehicleType, specialRequirements }: Wanted,
  { attempt, runId }: { attempt: number; runId: string },
): Outgoing => {
  const { direction, passengers, reference } = segmentOf(state, segmentId);
  const { vendor, kind, airport, hotelUrn, airportPlace, hotelPlace, seats } = orderOf(state, { reference });
  const isToHotel = direction === "AIRPORT_TO_HOTEL";
  const run: RunFacts = {
    vendor,
    ...(kind === undefined ? {} : { kind }),
    airport,
    hotelUrn,
    direction,
    vehicleType,
    pickupAt: scheduledAt.toISOString(),
    from: isToHotel ? airportPlace : hotelPlace,
    to: isToHotel ? hotelPlace : airportPlace,
  };
  const data: TakeSeats = {
    transferId: state.transferId,
    segmentId,
    attempt,
    run,
    passengers,
    seats: seats[vehicleType],
    needs: specialRequirements,
  };
  return { to: "command", name: "transport.take-seats", entity: runId, data };
};

const leaveSeats = (
  { transferId }: TransferState,
  { segmentId, attempt, runId, again }: Leaving,
): Outgoing => {
  const data: LeaveSeats = { transferId, segmentId, attempt, again };
  return { to: "command", name: "transport.leave-seats", entity: runId, data };
};

/** Under the verb, vendor and reference of the saga's own call. */
const answered = ({
  asked,
  result,
  refusal,
}: {
  asked: Asked;
  result?: object;
  refusal?: { code: string; detail: string };
}): Outgoing => {
  const { verb, vendor, reference, tries, again, replyTo } = asked;
  const data: VendorAnswer = {
    verb,
    vendor,
    reference,
    tries,
    ...(again === undefined ? {} : { again }),
    ...(refusal === undefined
      ? { outcome: "done", result: { ...result } }
      : { outcome: "refused", ...refusal }),
  };
  return { to: "command", name: replyTo.name, entity: replyTo.entity, data };
};

const rideNoted = (state: TransferState, reference: string): Outgoing[] => {
  const segment = wayToHotel(state, reference);
  if (segment === undefined) return [];
  const { vehicleType, scheduledAt } = segment;
  const data: RideNote = {
    reference,
    sequence: state.notes,
    status: passengersStatus(segment),
    vehicleType,
    pickupAt: scheduledAt.toISOString(),
  };
  return [{ to: "command", name: "sub-case.note-ride", entity: state.transferId, data }];
};

/** Under the group's id, by which all that concerns it is found in the log. */
const announced = (state: TransferState, type: string, segmentId: string): Outgoing => {
  const { caseId, groupId, airport, transferId } = state;
  const data = {
    segmentUrn: urn("segment", segmentId),
    subCaseUrn: urn("sub-case", transferId),
    groupId,
    airport,
    ...segmentFacts(segmentOf(state, segmentId)),
  };
  return { to: "internal", type, id: transferId, caseId, data };
};

const item = (
  { caseId, airport, kind, groupId }: TransferState,
  about: { category: ReviewCategory; origin: string; detail: string; occurrence: string },
): Outgoing => ({
  to: "command",
  name: "review.open",
  entity: "",
  data: {
    caseId,
    airport,
    ...(kind === undefined ? {} : { kind }),
    ...about,
    attemptedHotels: [],
    affectedGroups: [groupId],
  },
});

const wayOf = ({ direction }: Segment): string =>
  direction === "AIRPORT_TO_HOTEL" ? "to the hotel" : "back to the airport";

const notDriven = (state: TransferState, segment: Segment, detail: string): Outgoing =>
  item(state, {
    category: "PARTIAL_FULFILLMENT",
    origin: "transport",
    detail: `Nobody drives the group ${wayOf(segment)}. ${detail}`,
    occurrence: `${segment.segmentId} ${segment.attempt}`,
  });

const notChanged = (state: TransferState, segment: Segment, detail: string): Outgoing =>
  item(state, {
    category: "PARTIAL_FULFILLMENT",
    origin: "transport",
    detail: `The ride ${wayOf(segment)} could not be changed and stands as it was. ${detail}`,
    occurrence: `${segment.segmentId} ${segment.attempt}`,
  });

const notCancelled = (state: TransferState, segment: Segment, attempt: number, detail: string): Outgoing =>
  item(state, {
    category: "BOOKING_FAILED",
    origin: "vehicle",
    detail: `A vehicle ${wayOf(segment)} that nobody needs cannot be cancelled. ${detail}`,
    occurrence: `${segment.segmentId} ${attempt}`,
  });

/** After some minutes of silence a person should ask the vendor, too. */
const triesToldOf = 9;

const unanswered = (
  state: TransferState,
  segment: Segment,
  { tries }: { tries: number },
  what: string,
): Outgoing[] =>
  tries === triesToldOf
    ? [
        item(state, {
          category: "BOOKING_FAILED",
          origin: "in-doubt",
          detail: `The vendor does not say what became of ${what} (${wayOf(segment)}); it is still being asked.`,
          occurrence: `${segment.segmentId} ${segment.attempt} ${what}`,
        }),
      ]
    : [];

const auditEntry = (
  { caseId, airport }: TransferState,
  { tenant, principal: sender, data: asked }: Received,
  { segmentId, action, before, after, isVendors }: Recorded,
): Outgoing => {
  const principal = isVendors ? systemPrincipal(tenant, "vendor-adapter") : sender;
  const { reason } = asked as { reason?: string };
  const data = {
    entityUrn: urn("segment", segmentId),
    action,
    principal: principal.urn,
    surface: principal.surface,
    role: principal.role,
    airport,
    reason,
    before,
    after,
  };
  return { to: "internal", type: "audit.recorded", id: segmentId, caseId, data };
};
