/** Owns the ground-transport vendor RideFleet: books and cancels rides between airport and hotel. */
import { randomUUID } from "node:crypto";
import Type, { type Static } from "typebox";
import { changesOf } from "../changes.ts";
import type { Settings } from "../faults.ts";
import type { Entry, Ledger } from "../ledger.ts";
import { drawFor } from "../seeded.ts";
import { readerOf } from "../told.ts";
import type { VendorAnswer, VendorDefinition, VendorRequest } from "../vendor-server.ts";

const Place = Type.Object({
  label: Type.String({ minLength: 1, maxLength: 300 }),
  lat: Type.Number({ minimum: -90, maximum: 90 }),
  lon: Type.Number({ minimum: -180, maximum: 180 }),
});
const Ride = Type.Object({
  bookingRef: Type.String({ minLength: 1, maxLength: 200 }),
  leg: Type.Enum(["from_airport", "to_airport"]),
  vehicleClass: Type.Enum(["minibus", "sedan", "wav"]),
  pickupTime: Type.String({ format: "date-time" }),
  pickup: Place,
  dropoff: Place,
  pax: Type.Integer({ minimum: 1, maximum: 500 }),
  notes: Type.Array(Type.String({ maxLength: 200 }), { maxItems: 50 }),
});

/** Its fleet's own word. */
const Recall = Type.Object(
  { reference: Type.String({ minLength: 1, maxLength: 200 }), state: Type.Enum(["CANCELLED"]) },
  { additionalProperties: false },
);

type Booked = Entry<Omit<Static<typeof Ride>, "bookingRef"> & { plate: string }>;

/** Most passengers in one vehicle of the class. */
const seats: Record<string, number> = { minibus: 50, sedan: 4, wav: 6 };

const problem = (status: number, reason: string, detail: string): VendorAnswer => ({
  status,
  body: { reason, detail },
});

const rideOf = ({ id, reference, state, details }: Booked) => ({
  ride: {
    id,
    bookingRef: reference,
    state: state === "BOOKED" ? "confirmed" : "cancelled",
    vehicleClass: details.vehicleClass,
    pickupTime: details.pickupTime,
    plate: details.plate,
  },
});

const book = (ledger: Ledger, seed: string, request: VendorRequest<Static<typeof Ride>>): VendorAnswer => {
  const { bookingRef, ...ride } = request.body;
  if (ride.pax > seats[ride.vehicleClass]!) {
    return problem(409, "capacity", "No vehicle of this class takes so many passengers.");
  }
  const draw = drawFor(seed, "plate", request.idempotencyKey);
  const now = new Date(request.nowMs).toISOString();
  const booked: Booked = {
    kind: "ride",
    id: `rf-${randomUUID()}`,
    reference: bookingRef,
    idempotencyKey: request.idempotencyKey,
    state: "BOOKED",
    createdAt: now,
    changedAt: now,
    details: { ...ride, plate: `RF ${draw.between(100, 999)} ${draw.pick(["AB", "CK", "MX", "TZ"])}` },
  };
  ledger.put(booked);
  return { status: 201, body: rideOf(booked) };
};

const cancel = (ledger: Ledger, { params, nowMs }: VendorRequest): VendorAnswer => {
  const ride = ledger.entry("ride", params.id!) as Booked | undefined;
  if (ride === undefined) return problem(404, "unknown_ride", "There is no such ride.");
  if (ride.state === "CANCELLED") return { status: 200, body: rideOf(ride) };
  const given = cancelled(ride, nowMs);
  ledger.put(given);
  return { status: 200, body: rideOf(given) };
};

const cancelled = (ride: Booked, nowMs: number): Booked => ({
  ...ride,
  state: "CANCELLED",
  changedAt: new Date(nowMs).toISOString(),
});

const readRecall = readerOf(Recall);

/**
 * The fleet drives a ride no more, which no client has asked for. Survives a restart.
 * @throws TypeError naming what is wrong with the input, or that there is no such ride
 */
const recall = (ledger: Ledger, input: unknown, nowMs: number): { marked: string[]; passedOver: string[] } =>
  ledger.transaction(() => {
    const { reference } = readRecall(input);
    const [ride] = ledger.byReference("ride", reference) as Booked[];
    if (ride === undefined) throw new TypeError(`There is no ride ${reference}.`);
    if (ride.state === "CANCELLED") return { marked: [], passedOver: [ride.id] };
    ledger.put(cancelled(ride, nowMs));
    return { marked: [ride.id], passedOver: [] };
  });

const lookup = (ledger: Ledger, { params }: VendorRequest): VendorAnswer => {
  const [ride] = ledger.byReference("ride", decodeURIComponent(params.reference!)) as Booked[];
  return ride === undefined
    ? problem(404, "unknown_reference", "No ride was booked under this reference.")
    : { status: 200, body: rideOf(ride) };
};

const reconcile = (ledger: Ledger, settings: Settings, { query }: VendorRequest): VendorAnswer => {
  const since = query.get("changedFrom");
  const cursor = query.get("cursor");
  if (since !== null && Number.isNaN(Date.parse(since)))
    return problem(400, "invalid", "changedFrom is no time.");
  const found = changesOf(ledger, "ride", settings, {
    ...(since !== null && { since: new Date(since).toISOString() }),
    ...(cursor !== null && { cursor }),
  });
  if (found === undefined) return problem(400, "invalid", "This cursor is none of ours.");
  const rides = found.entries.map(({ id, reference, state, changedAt }) => ({
    id,
    bookingRef: reference,
    state: state === "BOOKED" ? "confirmed" : "cancelled",
    changedTime: changedAt,
  }));
  // Empty at the end.
  return { status: 200, body: { rides, cursor: found.cursor ?? "" } };
};

export const ridefleet: VendorDefinition = {
  name: "ridefleet",
  kind: "transport",
  dialect: {
    accepts: (headers, { apiKey }) => headers["x-fleet-key"] === apiKey,
    problem: (kind, detail) =>
      ({
        unauthorized: problem(401, "unauthorized", detail),
        "not-found": problem(404, "unknown_route", detail),
        invalid: problem(400, "invalid", detail),
        "key-reused": problem(422, "key_reused", detail),
        unavailable: problem(503, "busy", detail),
        failed: problem(500, "crash", detail),
      })[kind],
    refusal: (operation) =>
      operation === "cancel"
        ? problem(409, "driver_on_site", "The driver has arrived; the ride cannot be cancelled.")
        : problem(409, "no_vehicle", "No vehicle of this class is free at that time."),
  },
  routes: (ledger, settings) => [
    {
      operation: "book",
      method: "POST",
      path: "/rides",
      write: true,
      body: Ride,
      handle: (request) => book(ledger, settings().seed, request),
    },
    {
      operation: "cancel",
      method: "DELETE",
      path: "/rides/:id",
      write: true,
      handle: (request) => cancel(ledger, request),
    },
    {
      operation: "lookup",
      method: "GET",
      path: "/rides/by-reference/:reference",
      write: false,
      handle: (request) => lookup(ledger, request),
    },
    {
      operation: "reconcile",
      method: "GET",
      path: "/rides/changes",
      write: false,
      handle: (request) => reconcile(ledger, settings(), request),
    },
  ],
  frontDesk: recall,
  counts: (ledger) => {
    const rides = ledger.entries();
    return { booked: rides.length, cancelled: rides.filter((ride) => ride.state === "CANCELLED").length };
  },
};
