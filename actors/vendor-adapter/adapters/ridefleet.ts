/** Owns RideFleet's dialect: rides between airport and hotel. */
import Type, { type Static } from "typebox";
import type { Direction, VehicleType } from "../../../schemas/vocabulary.ts";
import { ledgerPage, refusal, VendorHttp, type VendorOptions, validatorOf, wordFor } from "../http.ts";
import type {
  CallContext,
  LedgerEntry,
  LedgerPage,
  LedgerRequest,
  LookupOutcome,
  ReadOutcome,
  RefusalCode,
  Refused,
  Ride,
  RidePlace,
  RideRequest,
  TransportPort,
  WriteOutcome,
} from "../ports.ts";

const vehicleOfClass = {
  minibus: "SHUTTLE",
  sedan: "PRIVATE_CAR",
  wav: "WHEELCHAIR_VAN",
} as const satisfies Record<string, VehicleType>;
type VehicleClass = keyof typeof vehicleOfClass;
const classOfVehicle: Readonly<Record<VehicleType, VehicleClass>> = {
  SHUTTLE: "minibus",
  PRIVATE_CAR: "sedan",
  WHEELCHAIR_VAN: "wav",
};
const legOf: Readonly<Record<Direction, string>> = {
  AIRPORT_TO_HOTEL: "from_airport",
  HOTEL_TO_AIRPORT: "to_airport",
};

const RideAnswer = Type.Object({
  ride: Type.Object({
    id: Type.String({ minLength: 1, maxLength: 200 }),
    state: Type.Enum(["confirmed", "cancelled"]),
    vehicleClass: Type.Enum(["minibus", "sedan", "wav"]),
    pickupTime: Type.String({ format: "date-time" }),
    plate: Type.Optional(Type.String({ maxLength: 20 })),
  }),
});
const ChangeAnswer = Type.Object({
  id: Type.String({ minLength: 1, maxLength: 200 }),
  bookingRef: Type.String({ minLength: 1, maxLength: 500 }),
  state: Type.Enum(["confirmed", "cancelled"]),
  changedTime: Type.String({ format: "date-time" }),
});
const ProblemAnswer = Type.Object({ reason: Type.String(), detail: Type.String() });

const isRide = validatorOf(RideAnswer);
const isChanges = validatorOf(
  Type.Object({ rides: Type.Array(ChangeAnswer), cursor: Type.String({ maxLength: 500 }) }),
);
const isProblem = validatorOf(ProblemAnswer);

const refusalCodeOf: Readonly<Record<string, RefusalCode>> = {
  capacity: "CAPACITY_EXCEEDED",
  no_vehicle: "SOLD_OUT",
  driver_on_site: "NOT_CANCELLABLE",
  unknown_ride: "NOT_FOUND",
  unknown_route: "NOT_FOUND",
  invalid: "INVALID_REQUEST",
  key_reused: "REFERENCE_REUSED",
};

const refusedBy = ({ reason, detail }: Static<typeof ProblemAnswer>, sent: unknown): Refused =>
  refusal(wordFor(reason, refusalCodeOf) ?? "REFUSED", `${reason}: ${detail}`, sent);

const rideOf = ({ ride }: Static<typeof RideAnswer>): Ride => ({
  rideId: ride.id,
  vehicleType: vehicleOfClass[ride.vehicleClass as VehicleClass],
  pickupAt: ride.pickupTime,
  ...(ride.plate !== undefined && { plate: ride.plate }),
});

const changeOf = ({ id, bookingRef, state, changedTime }: Static<typeof ChangeAnswer>): LedgerEntry => ({
  kind: "ride",
  id,
  reference: bookingRef,
  state: state === "confirmed" ? "BOOKED" : "CANCELLED",
  changedAt: changedTime,
});

const place = ({ label, coordinates }: RidePlace) => ({
  label,
  lat: coordinates.latitude,
  lon: coordinates.longitude,
});

export class RideFleet implements TransportPort {
  readonly vehicleSeats = { SHUTTLE: 50, PRIVATE_CAR: 4, WHEELCHAIR_VAN: 6 };
  readonly #http: VendorHttp;
  readonly #headers: Record<string, string>;

  constructor(options: VendorOptions) {
    this.#http = new VendorHttp(options);
    this.#headers = { "x-fleet-key": options.apiKey };
  }

  book(request: RideRequest, context: CallContext): Promise<WriteOutcome<Ride>> {
    const body = {
      bookingRef: request.reference,
      leg: legOf[request.direction],
      vehicleClass: classOfVehicle[request.vehicleType],
      pickupTime: request.pickupAt,
      pickup: place(request.from),
      dropoff: place(request.to),
      pax: request.passengers,
      notes: request.specialRequirements,
    };
    return this.#write("POST", "/rides", body, request.reference, context);
  }

  cancel(
    { reference, rideId }: { reference: string; rideId: string },
    context: CallContext,
  ): Promise<WriteOutcome<Ride>> {
    return this.#write("DELETE", `/rides/${encodeURIComponent(rideId)}`, undefined, reference, context);
  }

  async #write(
    method: "POST" | "DELETE",
    path: string,
    body: unknown,
    reference: string,
    context: CallContext,
  ): Promise<WriteOutcome<Ride>> {
    const answered = { headers: this.#headers, success: isRide, problem: isProblem };
    const end = await this.#http.write({ method, path, body, ...answered }, reference, context);
    if (end.outcome === "problem") return refusedBy(end.body, end.sent);
    return end.outcome === "success" ? { outcome: "done", ...rideOf(end.body) } : end;
  }

  async lookup(
    { reference }: { reference: string },
    context: CallContext,
  ): Promise<LookupOutcome<Ride & { state: "BOOKED" | "CANCELLED" }>> {
    const path = `/rides/by-reference/${encodeURIComponent(reference)}`;
    const answered = { headers: this.#headers, success: isRide, problem: isProblem };
    const end = await this.#http.read({ method: "GET", path, ...answered }, context);
    if (end.outcome === "problem") {
      return end.body.reason === "unknown_reference" ? { outcome: "none" } : refusedBy(end.body, end.sent);
    }
    if (end.outcome !== "success") return end;
    const state = end.body.ride.state === "confirmed" ? "BOOKED" : "CANCELLED";
    return { outcome: "done", state, ...rideOf(end.body) };
  }

  async reconcile({ since, cursor }: LedgerRequest, context: CallContext): Promise<ReadOutcome<LedgerPage>> {
    const query = new URLSearchParams({
      ...(since !== undefined && { changedFrom: since }),
      ...(cursor !== undefined && { cursor }),
    });
    const answered = { headers: this.#headers, success: isChanges, problem: isProblem };
    const end = await this.#http.read(
      { method: "GET", path: `/rides/changes?${query}`, ...answered },
      context,
    );
    if (end.outcome === "problem") return refusedBy(end.body, end.sent);
    return end.outcome === "success" ? ledgerPage(end.body.rides.map(changeOf), end.body.cursor) : end;
  }
}
