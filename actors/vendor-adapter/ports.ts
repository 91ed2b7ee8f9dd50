/** Owns what the service asks of vendors, kind by kind, in our words; how one vendor is asked stands in `adapters/`. */
import type { CancellationLadder } from "../../schemas/cancellation.ts";
import type { FlightPrediction } from "../../schemas/flight.ts";
import type { Coordinates, HotelOffer, HotelSearch } from "../../schemas/hotel.ts";
import type { Channel, Direction, Money, VehicleType } from "../../schemas/vocabulary.ts";
import type { CardTransaction } from "../../schemas/wallet.ts";

/** Goes along with every call. */
export interface CallContext {
  /** W3C Trace Context. */
  traceparent: string;
  /** How often a person has had a refused write asked again; absent: never. */
  again?: number;
  /** Not asked for any more later than this: its sender has gone on. */
  notAfter?: Date;
  /** An earlier try of a write may have been carried out, or be on its way still. */
  doubt?: true;
  /** When its sender began to ask for it; absent: nobody knows. */
  firstAskedAt?: Date;
  /** Gives the call up sooner than the adapter's own timeout would. */
  signal?: AbortSignal;
}

/** What a vendor can say no to. A refusal is final: the same request under the same reference gets it again. */
export const refusalCodes = [
  "SOLD_OUT",
  "PRICE_CHANGED",
  "HOLD_EXPIRED",
  "PAYMENT_DECLINED",
  "RECIPIENT_REJECTED",
  "OPTED_OUT",
  "CAPACITY_EXCEEDED",
  "NOT_CANCELLABLE",
  "NOT_FOUND",
  "INVALID_REQUEST",
  "NOT_AUTHORISED",
  "REFERENCE_REUSED",
  "REFUSED",
] as const;
export type RefusalCode = (typeof refusalCodes)[number];

/** The vendor said no, for good. */
export interface Refused {
  outcome: "refused";
  code: RefusalCode;
  detail: string;
}

/** Nothing was done, surely; later it may work. Of a read: nothing was learnt. */
export interface Unavailable {
  outcome: "unavailable";
  detail: string;
  /** What the vendor asked us to wait. */
  retryAfterMs?: number;
}

/** Done or not, nobody knows: look it up by the reference before any other step. Never the outcome of a read. */
export interface InDoubt {
  outcome: "in-doubt";
  detail: string;
}

export type Done<Result> = { outcome: "done" } & Result;
export type WriteOutcome<Result> = Done<Result> | Refused | Unavailable | InDoubt;
export type ReadOutcome<Result> = Done<Result> | Refused | Unavailable;
/** `none`: the vendor has nothing under this reference (as of its answer: a request still on its way may yet arrive). */
export type LookupOutcome<Result> = ReadOutcome<Result> | { outcome: "none" };

/**
 * In each write `reference` is ours, stable over retries, and one attempt's alone: another hotel, amount or recipient
 * needs another one. It is the `Idempotency-Key` and what `lookup` finds the result by. Keys of different operations
 * do not collide, so that hold, book and cancel of one attempt share it.
 */
interface Write {
  reference: string;
}

export interface GuestName {
  givenName: string;
  familyName: string;
}

export interface HoldRequest extends Write {
  offer: HotelOffer;
  rooms: number;
  /** Local dates at the airport, `YYYY-MM-DD`; check-out exclusive. */
  checkIn: string;
  checkOut: string;
  /** As the group has them; adapters act on those that they know. */
  needs: readonly string[];
  /** The most that a room may cost a night, by the policy: rooms that have become dearer are not kept. Absent: no limit. */
  nightlyMax?: Money;
  /** Of whom the rooms are for, where a vendor wants names this early. */
  leadGuest?: GuestName;
  guests?: readonly GuestName[];
}

/**
 * Rooms of a hold that must be accessible, as many as the wave reckons with: one for each time that the need is named, WHEELCHAIR
 * and REDUCED_MOBILITY in one.
 */
export const accessibleRoomsOf = ({ rooms, needs }: Pick<HoldRequest, "rooms" | "needs">): number => {
  const times = (need: string): number => needs.filter((one) => one === need).length;
  return Math.min(rooms, Math.max(times("WHEELCHAIR"), times("REDUCED_MOBILITY")));
};

export interface Hold {
  holdId: string;
  /** ISO 8601 UTC; after it the rooms may be gone. */
  expiresAt: string;
  /** The whole stay, all rooms. */
  total: Money;
}

export interface BookRequest extends Write {
  holdId: string;
  leadGuest: GuestName;
  /** The others; the lead guest isn't repeated. */
  guests: readonly GuestName[];
  payment: { method: "GUARANTEE" } | { method: "CARD"; cardId: string };
}

export interface Booking {
  bookingId: string;
  /** What the guest shows at the desk. */
  confirmationNumber: string;
  total: Money;
  freeCancellationUntil?: string;
  /** What cancelling costs when, for the whole booking; absent: its answers don't tell. */
  cancellation?: CancellationLadder;
  /** The dates that the hotel has it for; absent: its answers don't tell. */
  stay?: { checkIn: string; checkOut: string };
}

/** Other dates for a booking that stands; who has arrived may stay longer or leave sooner. */
export interface ModifyRequest extends Write {
  /** Our reference of the booking, which it is looked up by; `reference` is this modification's own. */
  bookedUnder: string;
  bookingId: string;
  /** Local dates at the airport, `YYYY-MM-DD`; check-out exclusive. */
  checkIn: string;
  checkOut: string;
  /** The most that a room may cost a night, by the policy; the booking's own price is taken whatever it is. Absent: no limit. */
  nightlyMax?: Money;
}

export interface BookingCancellation {
  cancelledAt: string;
  fee: Money;
}

/** What a booking is from when it is made on, until somebody cancels it. */
export const bookedStates = ["BOOKED", "CHECKED_IN", "CHECKED_OUT", "NO_SHOW"] as const;
export type BookedState = (typeof bookedStates)[number];

/** The furthest that the attempt got. */
export type HotelState =
  | ({ state: "HELD" | "EXPIRED" } & Hold)
  | ({ state: BookedState } & Booking)
  | ({ state: "CANCELLED" } & Booking & BookingCancellation);

/** One thing that the vendor has under a reference of ours, as its reconciliation interface lists it. */
export interface LedgerEntry {
  kind: "booking" | "card" | "ride";
  /** The vendor's own id. */
  id: string;
  reference: string;
  /**
   * booking: BOOKED, CHECKED_IN, CHECKED_OUT, NO_SHOW, CANCELLED; card: ACTIVE, FROZEN, CANCELLED; ride: BOOKED, CANCELLED.
   */
  state: string;
  /** ISO 8601 UTC. */
  changedAt: string;
  /** What a person should look into: some of its rooms are cancelled. */
  oddity?: "PARTLY_CANCELLED";
}

/** In the order of change, oldest first, or newest first where the vendor tells of no changes, but of what there is. `nextCursor`: there is more; without it this is the end for now. */
export interface LedgerPage {
  entries: LedgerEntry[];
  /** References of what was asked for and could not be learnt, or the vendor's ids of what could not be read; absent: nothing. */
  unreadable?: string[];
  nextCursor?: string;
}

/** `since` (ISO 8601 UTC, inclusive) and `cursor` exclude each other; with neither from the beginning. */
export interface LedgerRequest {
  since?: string;
  cursor?: string;
  /** References of ours that stand with the vendor as far as we know, for one that asks for them. */
  standing?: readonly string[];
}

/** The vendor's reconciliation interface: all that it holds for us, of every airline that has the same account. */
export interface Reconciling {
  reconcile(request: LedgerRequest, context: CallContext): Promise<ReadOutcome<LedgerPage>>;
  /** It lists no changes: what we think stands there is asked after, reference by reference (`standing`). */
  readonly needsStanding?: true;
  /** From the beginning it lists what was checked out of in the last so many days; absent: all. */
  readonly listsDays?: number;
}

export interface HotelPort extends Reconciling {
  /**
   * A write whose answer did not come may be carried out, and be seen by a look-up, as late as so many milliseconds after it was asked
   * for: until then "nothing there" teaches nothing. Absent: it does at once.
   */
  readonly settlesMs?: Readonly<Partial<Record<"hold" | "book", number>>>;
  /** Offers with at least one room left for the whole stay; empty: nothing there. */
  search(search: HotelSearch, context: CallContext): Promise<ReadOutcome<{ offers: HotelOffer[] }>>;
  hold(request: HoldRequest, context: CallContext): Promise<WriteOutcome<Hold>>;
  /** Gives a hold up that is not booked; one that is gone is as good. Absent: holds of this vendor end by themselves alone. */
  release?(request: Write & { holdId: string }, context: CallContext): Promise<WriteOutcome<object>>;
  book(request: BookRequest, context: CallContext): Promise<WriteOutcome<Booking>>;
  /** The dates are set, not moved: done when the booking has them already. Refused: the booking stands as it was. */
  modify(request: ModifyRequest, context: CallContext): Promise<WriteOutcome<Booking>>;
  /** Done, with the same answer, when it was cancelled before. */
  cancel(
    request: Write & { bookingId: string },
    context: CallContext,
  ): Promise<WriteOutcome<BookingCancellation>>;
  lookup(request: Write, context: CallContext): Promise<LookupOutcome<HotelState>>;
}

/** Never a card number or code: those are shown by the vendor's own page. */
export interface Card {
  cardId: string;
  last4: string;
  expiryMonth: number;
  expiryYear: number;
  balance: Money;
  /** All that was ever put on it; absent: its answers don't tell. */
  loaded?: Money;
}

/** More on a card: `loaded` is what has been put on it in all, afterwards. */
export interface LoadRequest extends Write {
  /** Our reference of the card, which it is looked up by; `reference` is this loading's own. */
  issuedUnder: string;
  cardId: string;
  loaded: Money;
}

/** One use of a card, as the vendor tells of it. */
export interface CardTransactionEntry {
  /** ISO 8601 UTC: when the vendor has noted it. */
  changedAt: string;
  /** Absent: it is nothing that can be told of one of our cards. */
  transaction?: CardTransaction;
}

/** In the order in which the vendor has noted them, oldest first; page by page the other way where it lists so. */
export interface CardTransactionPage {
  entries: CardTransactionEntry[];
  /** The vendor's ids of what could not be read; absent: nothing. Their times are among the entries. */
  unreadable?: string[];
  nextCursor?: string;
}

/** Where the vendor itself shows a card's number and code: a secret, good for some minutes. */
export interface CardReveal {
  url: string;
  /** ISO 8601 UTC. */
  expiresAt: string;
}

export interface PaymentPort extends Reconciling {
  /** How cards under references of ours were used. */
  transactions(request: LedgerRequest, context: CallContext): Promise<ReadOutcome<CardTransactionPage>>;
  /** Changes nothing that anybody would have to look up. */
  reveal(request: { cardId: string }, context: CallContext): Promise<ReadOutcome<CardReveal>>;
  /** Under which reference of ours the vendor has the card; absent: all that it tells of cards names it. */
  referenceOf?(
    request: { cardId: string },
    context: CallContext,
  ): Promise<LookupOutcome<{ reference: string }>>;
  /** @param request `label`: what the card is called at the vendor, at most 100 characters, no contact details. */
  issueCard(
    request: Write & { balance: Money; label: string },
    context: CallContext,
  ): Promise<WriteOutcome<Card>>;
  /** The amount is set, not added: done when that much is on it already. */
  loadCard(request: LoadRequest, context: CallContext): Promise<WriteOutcome<Card>>;
  cancelCard(request: Write & { cardId: string }, context: CallContext): Promise<WriteOutcome<Card>>;
  lookup(
    request: Write,
    context: CallContext,
  ): Promise<LookupOutcome<Card & { state: "ACTIVE" | "CANCELLED" }>>;
}

export interface RidePlace {
  label: string;
  coordinates: Coordinates;
}

export interface RideRequest extends Write {
  direction: Direction;
  vehicleType: VehicleType;
  /** ISO 8601 UTC. */
  pickupAt: string;
  from: RidePlace;
  to: RidePlace;
  passengers: number;
  specialRequirements: readonly string[];
}

export interface Ride {
  rideId: string;
  vehicleType: VehicleType;
  pickupAt: string;
  /** What to look for at the kerb. */
  plate?: string;
}

export interface TransportPort extends Reconciling {
  /** The most passengers in one vehicle of each type. */
  readonly vehicleSeats: Readonly<Record<VehicleType, number>>;
  book(request: RideRequest, context: CallContext): Promise<WriteOutcome<Ride>>;
  cancel(request: Write & { rideId: string }, context: CallContext): Promise<WriteOutcome<Ride>>;
  lookup(
    request: Write,
    context: CallContext,
  ): Promise<LookupOutcome<Ride & { state: "BOOKED" | "CANCELLED" }>>;
}

export interface MessageRequest extends Write {
  channel: Channel;
  /** E.164 for SMS and WHATSAPP, an address for EMAIL. */
  recipient: string;
  /** E-mail alone has one. */
  subject?: string;
  text: string;
  /** Of an e-mail, the same as the text; carriers that take none leave it out. */
  html?: string;
  /** BCP 47. */
  language: string;
}

export interface SentMessage {
  messageId: string;
  /** The vendor took it; delivery is told later, by its webhook. */
  acceptedAt: string;
}

export interface MessagePort {
  send(request: MessageRequest, context: CallContext): Promise<WriteOutcome<SentMessage>>;
  /** By the reference, or, where the vendor keeps none, by what was to be sent. */
  lookup(request: MessageRequest, context: CallContext): Promise<LookupOutcome<SentMessage>>;
}

/** What came after a cursor of a flight-data vendor's stream. */
export interface FlightPage {
  /** In whatever order, and some perhaps twice: times and ids tell. Empty: nothing came while the vendor held the call. */
  predictions: FlightPrediction[];
  /** How many entries were none that we can read. */
  passedOver: number;
  /** Where the next poll goes on. */
  cursor: string;
}

export interface FlightFeedPort {
  /**
   * Answered at once when something is there, else when something comes or the wait is over. Refused with NOT_FOUND: the vendor keeps
   * nothing of that age any more, or has never given that cursor.
   * @param request without `cursor`: from the oldest that the vendor keeps
   */
  poll(request: { cursor?: string; waitMs: number }, context: CallContext): Promise<ReadOutcome<FlightPage>>;
}
