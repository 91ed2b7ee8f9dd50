/** Owns RoomLink's dialect: which requests are made for what is asked, and what their ends mean, refusals inside 200 answers too. */
import type { HotelOffer, HotelSearch } from "../../../schemas/hotel.ts";
import { ledgerPage, type VendorAnswer, VendorHttp, type VendorOptions } from "../http.ts";
import {
  accessibleRoomsOf,
  type Booking,
  type BookingCancellation,
  type BookRequest,
  type CallContext,
  type Done,
  type GuestName,
  type Hold,
  type HoldRequest,
  type HotelPort,
  type HotelState,
  type InDoubt,
  type LedgerPage,
  type LedgerRequest,
  type LookupOutcome,
  type ModifyRequest,
  type ReadOutcome,
  type Refused,
  type Unavailable,
  type WriteOutcome,
} from "../ports.ts";
import {
  type Answer,
  bookingOf,
  cancellationOf,
  changeOf,
  holdOf,
  incomplete,
  isChanges,
  isProblem,
  isReservation,
  isSearch,
  offersOf,
  type Problem,
  type Reservation,
  refusedBy,
  stateOf,
} from "./roomlink-answers.ts";

type WriteEnd = VendorAnswer<Answer<Reservation>, Problem> | Refused | Unavailable | InDoubt;

/** Our words for the end of a write; `read` gives undefined for an answer that means nothing. */
const writeOutcome = <Result>(
  end: WriteEnd,
  read: (reservation: Reservation) => Result | undefined,
): WriteOutcome<Result> => {
  if (end.outcome === "problem") return refusedBy(end.body.errors, end.sent);
  if (end.outcome !== "success") return end;
  if (end.body.errors.length > 0) return refusedBy(end.body.errors, end.sent);
  const result = end.body.data === null ? undefined : read(end.body.data);
  if (result === undefined) return { outcome: "in-doubt", detail: incomplete };
  return { outcome: "done", ...result } as Done<Result>;
};

const guest = ({ givenName, familyName }: GuestName) => ({ fullName: `${givenName} ${familyName}`.trim() });

export class RoomLink implements HotelPort {
  readonly #vendor: string;
  readonly #http: VendorHttp;
  readonly #headers: Record<string, string>;

  /** @param vendor the instance's name, which its offers carry. */
  constructor(vendor: string, options: VendorOptions) {
    this.#vendor = vendor;
    this.#http = new VendorHttp(options);
    this.#headers = { authorization: `Bearer ${options.apiKey}` };
  }

  async search(search: HotelSearch, context: CallContext): Promise<ReadOutcome<{ offers: HotelOffer[] }>> {
    const body = {
      locationCode: search.airport,
      near: { position: [search.coordinates.longitude, search.coordinates.latitude] },
      radiusMeters: Math.round(search.radiusKm * 1000),
      stay: { arrival: search.checkIn, departure: search.checkOut },
      roomCount: search.rooms,
    };
    const answered = { headers: this.#headers, success: isSearch, problem: isProblem };
    const end = await this.#http.read({ method: "POST", path: "/api/search", body, ...answered }, context);
    if (end.outcome === "problem") return refusedBy(end.body.errors, end.sent);
    if (end.outcome !== "success") return end;
    if (end.body.data === null) return refusedBy(end.body.errors, end.sent);
    return { outcome: "done", offers: offersOf(this.#vendor, end.body.data.properties) };
  }

  #write(
    method: "POST" | "PUT",
    path: string,
    body: unknown,
    reference: string,
    context: CallContext,
  ): Promise<WriteEnd> {
    const answered = { headers: this.#headers, success: isReservation, problem: isProblem };
    return this.#http.write({ method, path, body, ...answered }, reference, context);
  }

  async hold(request: HoldRequest, context: CallContext): Promise<WriteOutcome<Hold>> {
    const body = {
      externalReference: request.reference,
      offerToken: request.offer.providerOfferId,
      roomCount: request.rooms,
      accessibleRoomCount: accessibleRoomsOf(request),
      stay: { arrival: request.checkIn, departure: request.checkOut },
      remarks: request.needs,
    };
    return writeOutcome(await this.#write("POST", "/api/options", body, request.reference, context), holdOf);
  }

  async release(
    { reference, holdId }: { reference: string; holdId: string },
    context: CallContext,
  ): Promise<WriteOutcome<object>> {
    const path = `/api/options/${encodeURIComponent(holdId)}/release`;
    return writeOutcome(await this.#write("POST", path, undefined, reference, context), () => ({}));
  }

  async book(request: BookRequest, context: CallContext): Promise<WriteOutcome<Booking>> {
    const { payment, reference } = request;
    const body = {
      externalReference: reference,
      mainGuest: guest(request.leadGuest),
      otherGuests: request.guests.map(guest),
      settlement:
        payment.method === "CARD"
          ? { mode: "PREPAID_CARD", cardToken: payment.cardId }
          : { mode: "AGENCY_GUARANTEE" },
    };
    const path = `/api/options/${encodeURIComponent(request.holdId)}/confirmation`;
    return writeOutcome(await this.#write("PUT", path, body, reference, context), bookingOf);
  }

  async modify(request: ModifyRequest, context: CallContext): Promise<WriteOutcome<Booking>> {
    const { bookingId, checkIn, checkOut, reference } = request;
    const path = `/api/reservations/${encodeURIComponent(bookingId)}/modification`;
    const body = { stay: { arrival: checkIn, departure: checkOut } };
    return writeOutcome(await this.#write("POST", path, body, reference, context), bookingOf);
  }

  async cancel(
    { reference, bookingId }: { reference: string; bookingId: string },
    context: CallContext,
  ): Promise<WriteOutcome<BookingCancellation>> {
    const path = `/api/reservations/${encodeURIComponent(bookingId)}/cancellation`;
    return writeOutcome(await this.#write("POST", path, undefined, reference, context), cancellationOf);
  }

  async lookup(
    { reference }: { reference: string },
    context: CallContext,
  ): Promise<LookupOutcome<HotelState>> {
    const path = `/api/references/${encodeURIComponent(reference)}`;
    const answered = { headers: this.#headers, success: isReservation, problem: isProblem };
    const end = await this.#http.read({ method: "GET", path, ...answered }, context);
    if (end.outcome === "problem") return refusedBy(end.body.errors, end.sent);
    if (end.outcome !== "success") return end;
    if (end.body.errors.length > 0) return refusedBy(end.body.errors, end.sent);
    if (end.body.data === null) return { outcome: "none" };
    const state = stateOf(end.body.data);
    return state === undefined
      ? { outcome: "unavailable", detail: incomplete }
      : { outcome: "done", ...state };
  }

  async reconcile({ since, cursor }: LedgerRequest, context: CallContext): Promise<ReadOutcome<LedgerPage>> {
    const body = {
      ...(since !== undefined && { fromEpoch: Date.parse(since) / 1000 }),
      ...(cursor !== undefined && { continuation: cursor }),
    };
    const answered = { headers: this.#headers, success: isChanges, problem: isProblem };
    const call = { method: "POST", path: "/api/reservations/changes", body, ...answered } as const;
    const end = await this.#http.read(call, context);
    if (end.outcome === "problem") return refusedBy(end.body.errors, end.sent);
    if (end.outcome !== "success") return end;
    if (end.body.errors.length > 0) return refusedBy(end.body.errors, end.sent);
    if (end.body.data === null) return { outcome: "unavailable", detail: incomplete };
    return ledgerPage(end.body.data.items.map(changeOf), end.body.data.continuation ?? "");
  }
}
