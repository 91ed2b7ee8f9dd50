/** Owns StayHub's dialect: which requests are made for what is asked, and what their ends mean. Its answers are read in `stayhub-answers.ts`. */
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
  bookingOf,
  cancellationOf,
  changeOf,
  holdOf,
  isAvailability,
  isBooking,
  isChanges,
  isFound,
  isHold,
  isProblem,
  offersOf,
  type ProblemAnswer,
  refusedBy,
  stateOf,
} from "./stayhub-answers.ts";

const malformed: InDoubt = { outcome: "in-doubt", detail: "the vendor's answer has an impossible amount" };

/** Our words for the end of a write; `read` gives undefined for an answer that means nothing. */
const writeOutcome = <Body, Result>(
  end: VendorAnswer<Body, ProblemAnswer> | Refused | Unavailable | InDoubt,
  read: (body: Body) => Result | undefined,
): WriteOutcome<Result> => {
  if (end.outcome === "problem") return refusedBy(end.body, end.sent);
  if (end.outcome !== "success") return end;
  const result = read(end.body);
  return result === undefined ? malformed : ({ outcome: "done", ...result } as Done<Result>);
};

const person = ({ givenName, familyName }: GuestName) => ({ first_name: givenName, last_name: familyName });

export class StayHub implements HotelPort {
  readonly #vendor: string;
  readonly #http: VendorHttp;
  readonly #headers: Record<string, string>;

  /** @param vendor the instance's name, which its offers carry. */
  constructor(vendor: string, options: VendorOptions) {
    this.#vendor = vendor;
    this.#http = new VendorHttp(options);
    this.#headers = { "x-api-key": options.apiKey };
  }

  async search(search: HotelSearch, context: CallContext): Promise<ReadOutcome<{ offers: HotelOffer[] }>> {
    const body = {
      airport_iata: search.airport,
      latitude: search.coordinates.latitude.toFixed(6),
      longitude: search.coordinates.longitude.toFixed(6),
      radius_km: search.radiusKm,
      check_in: search.checkIn,
      check_out: search.checkOut,
      rooms: search.rooms,
    };
    const answered = { headers: this.#headers, success: isAvailability, problem: isProblem };
    const end = await this.#http.read(
      { method: "POST", path: "/v2/availability", body, ...answered },
      context,
    );
    if (end.outcome === "problem") return refusedBy(end.body, end.sent);
    if (end.outcome !== "success") return end;
    return { outcome: "done", offers: offersOf(this.#vendor, end.body.hotels) };
  }

  async hold(request: HoldRequest, context: CallContext): Promise<WriteOutcome<Hold>> {
    const body = {
      client_ref: request.reference,
      rate_key: request.offer.providerOfferId,
      rooms: request.rooms,
      accessible_rooms: accessibleRoomsOf(request),
      check_in: request.checkIn,
      check_out: request.checkOut,
      special_requests: request.needs,
    };
    const answered = { headers: this.#headers, success: isHold, problem: isProblem };
    const call = { method: "POST", path: "/v2/holds", body, ...answered } as const;
    const end = await this.#http.write(call, request.reference, context);
    return writeOutcome(end, ({ hold }) => holdOf(hold));
  }

  async release(
    { reference, holdId }: { reference: string; holdId: string },
    context: CallContext,
  ): Promise<WriteOutcome<object>> {
    const path = `/v2/holds/${encodeURIComponent(holdId)}`;
    const answered = { headers: this.#headers, success: isHold, problem: isProblem };
    const end = await this.#http.write({ method: "DELETE", path, ...answered }, reference, context);
    return writeOutcome(end, () => ({}));
  }

  async book(request: BookRequest, context: CallContext): Promise<WriteOutcome<Booking>> {
    const { payment } = request;
    const body = {
      client_ref: request.reference,
      hold_id: request.holdId,
      holder: person(request.leadGuest),
      guests: request.guests.map(person),
      payment:
        payment.method === "CARD" ? { type: "virtual_card", card_id: payment.cardId } : { type: "guarantee" },
    };
    const answered = { headers: this.#headers, success: isBooking, problem: isProblem };
    const call = { method: "POST", path: "/v2/bookings", body, ...answered } as const;
    const end = await this.#http.write(call, request.reference, context);
    return writeOutcome(end, ({ booking }) => bookingOf(booking));
  }

  async modify(request: ModifyRequest, context: CallContext): Promise<WriteOutcome<Booking>> {
    const path = `/v2/bookings/${encodeURIComponent(request.bookingId)}`;
    const body = { check_in: request.checkIn, check_out: request.checkOut };
    const answered = { headers: this.#headers, success: isBooking, problem: isProblem };
    const call = { method: "PATCH", path, body, ...answered } as const;
    const end = await this.#http.write(call, request.reference, context);
    return writeOutcome(end, ({ booking }) => bookingOf(booking));
  }

  async cancel(
    { reference, bookingId }: { reference: string; bookingId: string },
    context: CallContext,
  ): Promise<WriteOutcome<BookingCancellation>> {
    const path = `/v2/bookings/${encodeURIComponent(bookingId)}`;
    const answered = { headers: this.#headers, success: isBooking, problem: isProblem };
    const end = await this.#http.write({ method: "DELETE", path, ...answered }, reference, context);
    return writeOutcome(end, ({ booking }) => cancellationOf(booking));
  }

  async lookup(
    { reference }: { reference: string },
    context: CallContext,
  ): Promise<LookupOutcome<HotelState>> {
    const path = `/v2/bookings?client_ref=${encodeURIComponent(reference)}`;
    const answered = { headers: this.#headers, success: isFound, problem: isProblem };
    const end = await this.#http.read({ method: "GET", path, ...answered }, context);
    if (end.outcome === "problem") return refusedBy(end.body, end.sent);
    if (end.outcome !== "success") return end;
    const { bookings, holds } = end.body;
    if (bookings.length === 0 && holds.length === 0) return { outcome: "none" };
    const state = stateOf(bookings[0], holds[0]);
    return state === undefined
      ? { outcome: "unavailable", detail: malformed.detail }
      : { outcome: "done", ...state };
  }

  async reconcile({ since, cursor }: LedgerRequest, context: CallContext): Promise<ReadOutcome<LedgerPage>> {
    const query = new URLSearchParams({
      ...(since !== undefined && { changed_since: since }),
      ...(cursor !== undefined && { page_token: cursor }),
    });
    const answered = { headers: this.#headers, success: isChanges, problem: isProblem };
    const end = await this.#http.read(
      { method: "GET", path: `/v2/bookings/changes?${query}`, ...answered },
      context,
    );
    if (end.outcome === "problem") return refusedBy(end.body, end.sent);
    if (end.outcome !== "success") return end;
    return ledgerPage(end.body.changes.map(changeOf), end.body.next_page_token ?? "");
  }
}
