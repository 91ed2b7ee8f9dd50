// A group for the saga's tables: two passengers, three hotels to try, every kind of vendor, and vendors' answers in short.

import type { Received } from "../../../actors/runtime/decider.ts";
import { deciderOf } from "../../../actors/sub-case/decide.ts";
import { outgoing } from "../../../actors/sub-case/reactions.ts";
import { evolve, type SubCaseEvent, type SubCaseState } from "../../../actors/sub-case/state.ts";
import type { Assignment, HotelCandidate } from "../../../schemas/assignment.ts";
import type { KnownStage } from "../../../schemas/group-note.ts";
import type { HotelOffer } from "../../../schemas/hotel.ts";
import type { ManualReservationBody } from "../../../schemas/reservation.ts";
import type { VendorAnswer, VendorVerb } from "../../../schemas/vendor-call.ts";
import { evening, eventsOf, folded, received, secondsLater } from "../../harness/given.ts";

export const stepDeadlineMs = 30_000;
export const lockLeaseMs = 300_000;
export const rules = { decide: deciderOf({ stepDeadlineMs, lockLeaseMs }), evolve, outgoing };
export const subCaseId = "XN-01KAMVW9G0ABCDEFGHJKMNPQRS";
export const caseId = "XN-01KAMVW9G0CASECASECASECASE";

const ada = {
  urn: "urn:passenger:XN-ADA",
  pnr: "K7QX2M",
  firstName: "Ada",
  lastName: "Lovelace",
  specialRequirements: ["WCHC"],
  contact: { email: "ada@example.com", phone: "+12025550143" },
};
const byron = {
  ...ada,
  urn: "urn:passenger:XN-BYRON",
  firstName: "Byron",
  specialRequirements: [],
  contact: {},
};

const flight = {
  number: "XN482",
  origin: "JFK",
  destination: "MAD",
  scheduledDeparture: new Date("2026-11-21T21:30:00Z"),
};

export const opened = (more: Partial<SubCaseState> = {}): SubCaseEvent => ({
  type: "subcase.opened",
  data: {
    subCaseId,
    caseId,
    groupId: "K7QX2M",
    airport: "JFK",
    tier: "ECONOMY",
    status: "PENDING",
    passengers: [ada, byron],
    pnrs: ["K7QX2M"],
    language: "en",
    flight,
    round: 0,
    candidate: 0,
    firstCandidate: 0,
    returns: 0,
    compensations: [],
    steps: [],
    attemptedHotels: [],
    offer: { state: "PENDING" },
    ...more,
  },
});

export const offerOf = (name: string, more: Partial<HotelOffer> = {}): HotelOffer => ({
  vendor: "stayhub",
  providerOfferId: `offer-${name}`,
  providerHotelId: name,
  name,
  address: `1 ${name} street`,
  coordinates: { latitude: 40.6, longitude: -73.8 },
  stars: 4,
  amenities: [],
  acceptedPayments: ["GUARANTEE"],
  nightlyRateMinor: 12_000,
  currency: "USD",
  roomsLeft: 50,
  maxOccupancy: 2,
  accessibleRooms: 2,
  ...more,
});
export const hotel = (name: string): HotelCandidate => ({
  hotelUrn: `urn:hotel:${name}`,
  offer: offerOf(name),
  rooms: 1,
  distanceKm: 7.5,
  payment: "GUARANTEE",
});

/** It takes no guarantee: a card is issued for it before it is booked. */
export const cardHotel = (name: string): HotelCandidate => ({ ...hotel(name), payment: "CARD" });

export const terms: Assignment["terms"] = {
  airport: { code: "JFK", name: "John F Kennedy", coordinates: { latitude: 40.64, longitude: -73.78 } },
  airlineName: "Xenon",
  passengerHost: "xenon.example",
  vehicleType: "SHUTTLE",
  rides: {
    minutesBeforePickup: 180,
    seats: { SHUTTLE: 24, PRIVATE_CAR: 4, WHEELCHAIR_VAN: 6 },
    onDemand: false,
  },
  incidentalsMinor: 5_000,
  currency: "USD",
  vendors: { payment: "cardworks", transport: "ridefleet", message: "sendwell" },
};

/** A room that a person has found by phone, for two nights. */
export const bookedByPhone = (more: Partial<ManualReservationBody> = {}): ManualReservationBody => ({
  subCaseUrn: `urn:sub-case:${subCaseId}`,
  hotel: {
    name: "Harbour Rooms",
    address: "7 Quay Street, New York, US",
    phone: "+1 718 555 0143",
    coordinates: { latitude: 40.66, longitude: -73.8 },
  },
  checkIn: "2026-11-21",
  nights: 2,
  rooms: 1,
  confirmationNumber: "HR-20871",
  totalMinor: 37_801,
  currency: "USD",
  reason: "Nobody else had a room.",
  ...more,
});

/** By default three hotels, and a vendor for everything. */
export const assign = (
  more: Partial<Assignment> = {},
  otherTerms: Partial<Assignment["terms"]> = {},
): Received => {
  const stay = { checkIn: "2026-11-21", checkOut: "2026-11-22", nights: 1 };
  const candidates = [hotel("astor"), hotel("biltmore"), hotel("carlton")];
  const data: Assignment = {
    waveId: "XN-WAVE",
    stay,
    candidates,
    terms: { ...terms, ...otherTerms },
    book: true,
    ...more,
  };
  return received("sub-case.assign", data);
};

const results: Readonly<Record<VendorVerb, Record<string, unknown>>> = {
  hold: { holdId: "H1", expiresAt: "2026-11-21T22:00:00Z", total: { amountMinor: 12_000, currency: "USD" } },
  book: {
    bookingId: "B1",
    confirmationNumber: "C-77",
    total: { amountMinor: 12_500, currency: "USD" },
    cancellation: [
      { until: "2026-11-21T20:00:00Z", price: { amountMinor: 0, currency: "USD" } },
      { price: { amountMinor: 4_000, currency: "USD" } },
    ],
  },
  modify: { bookingId: "B1", confirmationNumber: "C-78", total: { amountMinor: 25_000, currency: "USD" } },
  cancel: { cancelledAt: "2026-11-21T22:00:00Z", fee: { amountMinor: 4_000, currency: "USD" } },
  "issue-card": {
    cardId: "K1",
    last4: "4242",
    expiryMonth: 1,
    expiryYear: 2027,
    balance: { amountMinor: 5_000, currency: "USD" },
  },
  "load-card": {
    cardId: "K1",
    last4: "4242",
    expiryMonth: 1,
    expiryYear: 2027,
    balance: { amountMinor: 10_000, currency: "USD" },
    loaded: { amountMinor: 10_000, currency: "USD" },
  },
  "cancel-card": {
    cardId: "K1",
    last4: "4242",
    expiryMonth: 1,
    expiryYear: 2027,
    balance: { amountMinor: 0, currency: "USD" },
  },
  "book-ride": { rideId: "R1", vehicleType: "SHUTTLE", pickupAt: "2026-11-21T21:40:00.000Z" },
  "cancel-ride": { rideId: "R1", vehicleType: "SHUTTLE", pickupAt: "2026-11-21T21:40:00.000Z" },
  send: { acceptedAt: "2026-11-21T21:00:01Z", channel: "SMS" },
};

/** What the reference of each verb ends in, while the first hotel of this round is tried. */
const referenceOf = (verb: VendorVerb, round: number): string =>
  ({
    hold: `room.${round}.1`,
    book: `room.${round}.1`,
    modify: `room.${round}.1.stay.1`,
    cancel: `room.${round}.1`,
    "issue-card": `card.${round}`,
    "load-card": `card.${round}.load.1`,
    "cancel-card": `card.${round}`,
    "book-ride": `ride.${round}`,
    "cancel-ride": `ride.${round}`,
    send: `offer-notice.${round}`,
  })[verb];
const vendors: Readonly<Record<string, string>> = {
  room: "stayhub",
  card: "cardworks",
  payment: "cardworks",
  ride: "ridefleet",
  offer: "sendwell",
  stay: "sendwell",
};

type Outcome = VendorAnswer["outcome"];
let answers = 0;

/** @param reference what it ends in, e.g. `room.1.2` for the second hotel; default: the first try of its kind in the round */
export const answer = (
  verb: VendorVerb,
  outcome: Outcome = "done",
  {
    round = 1,
    reference = referenceOf(verb, round),
    code = "SOLD_OUT",
    now = evening,
    tries,
    again,
  }: { round?: number; reference?: string; code?: string; now?: Date; tries?: number; again?: number } = {},
): Received => {
  const data: VendorAnswer = {
    verb,
    vendor: vendors[reference.split(/[.-]/)[0] as string] as string,
    reference: `${subCaseId}.${reference}`,
    outcome,
    ...(tries === undefined ? {} : { tries }),
    ...(again === undefined ? {} : { again }),
    ...(outcome === "done" ? { result: results[verb] } : {}),
    ...(outcome === "refused" ? { code } : {}),
    ...(outcome === "done" ? {} : { detail: `${verb} is ${outcome}.` }),
  };
  return { ...received("sub-case.record-answer", data, { now }), id: `answer ${++answers}` };
};

export const done = (...verbs: VendorVerb[]): Received[] => verbs.map((verb) => answer(verb));
export const doneIn = (round: number, ...verbs: VendorVerb[]): Received[] =>
  verbs.map((verb) => answer(verb, "done", { round }));
/** Hotel after hotel of a round answers the hold with a refusal. @param codes one a hotel, in their order */
export const refusedBy = (round: number, ...codes: string[]): Received[] =>
  codes.map((code, i) => answer("hold", "refused", { reference: `room.${round}.${i + 1}`, code }));
export const forward = ["hold", "book", "issue-card", "book-ride", "send"] as const satisfies VendorVerb[];

/** The story after these commands, from a group that is assigned and booked. */
export const story = (...commands: Received[]): SubCaseEvent[] =>
  eventsOf<SubCaseState, SubCaseEvent>(rules, [opened()], assign(), ...commands);
export const stateOf = (events: SubCaseEvent[]): SubCaseState => folded(rules, events) as SubCaseState;

export const reissue = (seconds: number) =>
  received("sub-case.reissue-call", {}, { now: secondsLater(seconds) });
/** The case was closed, or opened again, so many seconds into the evening. @param known what the case thinks of the group */
export const standing = (
  verb: "suspend" | "resume",
  seconds: number,
  toldAt = seconds,
  known?: Partial<KnownStage>,
) =>
  received(
    `sub-case.${verb}`,
    {
      changedAt: secondsLater(seconds).toISOString(),
      ...(known === undefined ? {} : { known: { round: 0, shape: 0, toBook: false, ...known } }),
    },
    { now: secondsLater(toldAt) },
  );
export const accept = received("sub-case.accept-offer");
export const decline = received("sub-case.decline-offer", { reason: "I found a room" });
export const ready = story(...done(...forward));
export const typesOf = (events: SubCaseEvent[]): string[] => events.map(({ type }) => type);
export const stepsOf = (events: SubCaseEvent[]) =>
  stateOf(events).steps.map(({ name, result }) => `${name} ${result ?? "…"}`);
export const calls = (vendor: string, verb: VendorVerb, reference: string) => ({
  to: "command" as const,
  // Rides are asked of the transport actor, and messages of their own, whoever is the vendor.
  name: `${{ "book-ride": "transport", "cancel-ride": "transport", send: "message" }[verb as string] ?? `vendor-${vendor}`}.${verb}`,
  entity: verb === "send" ? "" : subCaseId,
  data: {
    reference: `${subCaseId}.${reference}`,
    doubt: false,
    replyTo: { name: "sub-case.record-answer", entity: subCaseId },
  },
});
export const stage = (letter: string, round = 1) => ({
  to: "command" as const,
  name: "case.note-group",
  entity: caseId,
  data: { groupId: "K7QX2M", stage: letter, round },
});
export const started = { to: "internal", type: "graph.step-started", id: subCaseId } as const;
export const completed = (result: string) =>
  ({ to: "internal", type: "graph.step-completed", id: subCaseId, data: { result } }) as const;
export const progressed = (progress: number, message: string) =>
  ({ to: "internal", type: "graph.step-progress", id: subCaseId, data: { progress, message } }) as const;
export const announced = (type: string, status: string) => ({
  to: "public" as const,
  type,
  caseId,
  data: { status },
});
export const review = (category: string, origin: string, more: object = {}) => ({
  to: "command" as const,
  name: "review.open",
  data: { caseId, airport: "JFK", category, origin, affectedGroups: ["K7QX2M"], ...more },
});
