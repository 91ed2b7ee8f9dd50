/**
 * Owns what Expedia Rapid's answers look like, and what they say in our words: amounts as text with their currency, links to go on by,
 * penalties from a moment on. From the public OpenAPI document of Rapid v3 (ExpediaGroup/rapid-java-sdk, "EPS Rapid V3") and the guides
 * of developers.expediagroup.com: Lodging "Shopping", "Booking", "Hold and resume", "Manage booking", "Content reference lists".
 */
import Type, { type Static } from "typebox";
import {
  type CancellationStep,
  freeCancellationUntil,
  ladderOfPenalties,
  sumOfLadders,
} from "../../../schemas/cancellation.ts";
import { minorFromDecimal } from "../../../schemas/currency.ts";
import type { HotelOffer } from "../../../schemas/hotel.ts";
import type { Money } from "../../../schemas/vocabulary.ts";
import { refusal, validatorOf, wordFor } from "../http.ts";
import type { Booking, BookingCancellation, Hold, HotelState, RefusalCode, Refused } from "../ports.ts";
import type { Property } from "./rapid-places.ts";

const Text = Type.String({ minLength: 1, maxLength: 500 });
const Id = Type.String({ minLength: 1, maxLength: 200 });
const Decimal = Type.String({ pattern: "^-?\\d{1,13}(\\.\\d{1,6})?$" });
const Amount = Type.Object({ value: Decimal, currency: Type.String({ pattern: "^[A-Z]{3}$" }) });
const Day = Type.String({ format: "date" });
const Instant = Type.String({ format: "date-time" });
/** Followed as it is, below the vendor's own address: one that leads elsewhere is none. */
const Link = Type.Object({
  href: Type.String({ pattern: "^/v3/[\\x21-\\x7e]*$", maxLength: 4000 }),
  expires: Type.Optional(Instant),
});
const Pricing = Type.Object({
  totals: Type.Object({ inclusive: Type.Object({ billable_currency: Amount }) }),
});
const Penalty = Type.Object({
  start: Instant,
  currency: Type.Optional(Type.String({ pattern: "^[A-Z]{3}$" })),
  amount: Type.Optional(Decimal),
  percent: Type.Optional(Type.String({ pattern: "^\\d{1,3}(\\.\\d+)?%?$" })),
  nights: Type.Optional(Type.String({ pattern: "^\\d{1,3}$" })),
});
const Penalties = Type.Optional(Type.Array(Penalty, { maxItems: 50 }));

const Rate = Type.Object({
  id: Id,
  available_rooms: Type.Integer({ minimum: 0 }),
  refundable: Type.Optional(Type.Boolean()),
  holdable: Type.Optional(Type.Boolean()),
  bed_groups: Type.Record(Type.String(), Type.Object({ links: Type.Object({ price_check: Link }) })),
  cancel_penalties: Penalties,
  occupancy_pricing: Type.Record(Type.String(), Pricing),
});
export type Rate = Static<typeof Rate>;
const Availability = Type.Object({
  property_id: Id,
  rooms: Type.Optional(Type.Array(Type.Object({ id: Id, rates: Type.Array(Rate) }))),
});
export type Availability = Static<typeof Availability>;
/** Nothing to be had is an empty list. */
export const isAvailability = validatorOf(Type.Array(Availability));
const PriceCheck = Type.Object({
  status: Type.Enum(["available", "price_changed", "sold_out"]),
  occupancy_pricing: Type.Optional(Type.Record(Type.String(), Pricing)),
  links: Type.Optional(Type.Object({ book: Type.Optional(Link), commit: Type.Optional(Link) })),
});
export type PriceCheck = Static<typeof PriceCheck>;
export const isPriceCheck = validatorOf(PriceCheck);
export type Created = Static<typeof Created>;
const Created = Type.Object({
  itinerary_id: Id,
  links: Type.Optional(Type.Object({ resume: Type.Optional(Link) })),
});
export const isCreated = validatorOf(Created);
/** 204, and 202 where the vendor doesn't know yet, come without a body. */
export const isAnything = validatorOf(Type.Unknown());

const Room = Type.Object({
  id: Id,
  confirmation_id: Type.Optional(
    Type.Object({ expedia: Type.Optional(Text), property: Type.Optional(Text) }),
  ),
  checkin: Day,
  checkout: Day,
  status: Type.Enum(["pending", "booked", "canceled"]),
  number_of_adults: Type.Integer({ minimum: 0 }),
  rate: Type.Object({
    id: Type.Optional(Id),
    refundable: Type.Optional(Type.Boolean()),
    cancel_refund: Type.Optional(Type.Object({ amount: Type.Union([Decimal, Type.Number()]) })),
    cancel_penalties: Penalties,
    pricing: Pricing,
  }),
  links: Type.Optional(Type.Object({ cancel: Type.Optional(Link), shop_for_change: Type.Optional(Link) })),
});
export type Room = Static<typeof Room>;
const Itinerary = Type.Object({
  itinerary_id: Id,
  links: Type.Optional(Type.Object({ resume: Type.Optional(Link), cancel: Type.Optional(Link) })),
  rooms: Type.Array(Room, { minItems: 1 }),
  creation_date_time: Instant,
  room_history: Type.Optional(
    Type.Array(Type.Array(Type.Object({ event_type: Type.String(), event_timestamp: Instant }))),
  ),
});
export type Itinerary = Static<typeof Itinerary>;
export const isItinerary = validatorOf(Itinerary);
/** An itinerary may be listed some minutes before its rooms are ("Search for and retrieve Bookings"): nothing is learnt until then. */
export const areItineraries = validatorOf(Type.Array(Itinerary));

const Problem = Type.Object({
  type: Type.String(),
  message: Type.Optional(Type.String()),
  errors: Type.Optional(
    Type.Array(Type.Object({ type: Type.String(), message: Type.Optional(Type.String()) })),
  ),
});
export type Problem = Static<typeof Problem>;
export const isProblem = validatorOf(Problem);

const refusalOfType: Readonly<Record<string, RefusalCode>> = {
  rooms_unavailable: "SOLD_OUT",
  price_mismatch: "PRICE_CHANGED",
  cc_declined: "PAYMENT_DECLINED",
  resource_not_found: "NOT_FOUND",
  "link.invalid": "HOLD_EXPIRED",
  "link.expired": "HOLD_EXPIRED",
  duplicate_itinerary: "REFERENCE_REUSED",
  post_stay_cancel: "NOT_CANCELLABLE",
  room_already_cancelled: "NOT_CANCELLABLE",
  invalid_input: "INVALID_REQUEST",
};

/** The first nested error says more than what it is nested in. */
export const refusedBy = ({ type, message = "", errors = [] }: Problem, sent: unknown): Refused => {
  const [inner] = errors;
  const code = (inner && wordFor(inner.type, refusalOfType)) ?? wordFor(type, refusalOfType) ?? "REFUSED";
  return refusal(code, `${inner?.type ?? type}: ${inner?.message ?? message}`, sent);
};

export const isDuplicate = ({ type, errors = [] }: Problem): boolean =>
  [type, ...errors.map((inner) => inner.type)].includes("duplicate_itinerary");

/** Undefined: more decimals than the currency has; so wherever money is read here. */
const moneyOf = ({ value, currency }: Static<typeof Amount>): Money | undefined => {
  const amountMinor = minorFromDecimal(value, currency);
  return amountMinor === undefined ? undefined : { amountMinor, currency };
};

/** Of one room for the whole stay, with taxes: what the airline is billed. */
export const priceOf = ({ totals }: Static<typeof Pricing>): Money | undefined =>
  moneyOf(totals.inclusive.billable_currency);

const penaltyPrice = (
  { amount, currency, percent, nights }: Static<typeof Penalty>,
  { total, nights: stayNights }: { total: Money; nights: number },
): Money | undefined => {
  if (amount !== undefined) return moneyOf({ value: amount, currency: currency ?? total.currency });
  if (percent === undefined && nights === undefined) return undefined;
  const share =
    percent === undefined ? Math.min(1, Number(nights) / stayNights) : Number.parseFloat(percent) / 100;
  return { amountMinor: Math.round(total.amountMinor * share), currency: total.currency };
};

/** Of one room. Empty: it doesn't tell, or has a penalty that can't be reckoned with. */
export const ladderOf = (
  rate: Pick<Rate, "refundable" | "cancel_penalties">,
  room: { total: Money; nights: number; now: Date },
): CancellationStep[] => {
  const penalties = rate.cancel_penalties ?? [];
  const { total, now } = room;
  if (penalties.length === 0 && rate.refundable !== true)
    return rate.refundable === undefined ? [] : [{ price: total }];
  const priced = penalties.flatMap((penalty) => {
    const price = penaltyPrice(penalty, room);
    return price === undefined || price.currency !== total.currency ? [] : [{ from: penalty.start, price }];
  });
  const zero = { amountMinor: 0, currency: total.currency };
  return priced.length < penalties.length ? [] : ladderOfPenalties(priced, zero, now);
};

/** The rooms that one itinerary takes ("Get property room rates and availability"). */
export const roomsAtOnce = 8;

const offerIdOf = (propertyId: string, roomId: string, { id }: Pick<Rate, "id">, adults: number): string =>
  [propertyId, roomId, id, adults].join("/");

/** The offer's own rate. Undefined: not to be had any more. */
export const alike = (
  available: readonly Availability[],
  offerId: string,
  adults: number,
): Rate | undefined =>
  available
    .flatMap(({ property_id, rooms = [] }) =>
      rooms.flatMap((room) =>
        room.rates.map((rate) => ({ id: offerIdOf(property_id, room.id, rate, adults), rate })),
      ),
    )
    .find(({ id }) => id === offerId)?.rate;

/** Only rates that can be held, which Expedia bills us for. How many rooms are accessible is not told, so none counts as such. */
export const offersOf = (
  vendor: string,
  { property_id, rooms = [] }: Availability,
  property: Property,
  { adults, nights, now }: { adults: number; nights: number; now: Date },
): HotelOffer[] =>
  rooms.flatMap((room) =>
    room.rates.flatMap((rate): HotelOffer[] => {
      const pricing = rate.occupancy_pricing[String(adults)];
      const total = pricing && priceOf(pricing);
      if (total === undefined || rate.holdable !== true) return [];
      const until = freeCancellationUntil(ladderOf(rate, { total, nights, now }));
      return [
        {
          vendor,
          providerOfferId: offerIdOf(property_id, room.id, rate, adults),
          providerHotelId: property_id,
          ...property,
          acceptedPayments: ["GUARANTEE"],
          nightlyRateMinor: Math.ceil(total.amountMinor / nights),
          currency: total.currency,
          roomsLeft: Math.min(rate.available_rooms, roomsAtOnce),
          maxOccupancy: adults,
          accessibleRooms: 0,
          ...(until !== undefined && { freeCancellationUntil: until }),
        },
      ];
    }),
  );

const dayMs = 86_400_000;
const nightsOf = ({ checkin, checkout }: Room): number =>
  Math.max(1, (Date.parse(checkout) - Date.parse(checkin)) / dayMs);

const totalOf = (rooms: readonly Room[]): Money | undefined => {
  const prices = rooms.flatMap(({ rate }) => priceOf(rate.pricing) ?? []);
  const [first] = prices;
  if (first === undefined || prices.length < rooms.length) return undefined;
  if (prices.some(({ currency }) => currency !== first.currency)) return undefined;
  return {
    amountMinor: prices.reduce((sum, { amountMinor }) => sum + amountMinor, 0),
    currency: first.currency,
  };
};

/** A booking of several rooms is shown at the desk by its first room's number, or the itinerary's. */
export const bookingOf = ({ itinerary_id, rooms }: Itinerary, now: Date): Booking | undefined => {
  const total = totalOf(rooms);
  const [first] = rooms as [Room];
  const ladder = sumOfLadders(
    rooms.map((room) => {
      const price = priceOf(room.rate.pricing);
      return price === undefined ? [] : ladderOf(room.rate, { total: price, nights: nightsOf(room), now });
    }),
  );
  const until = freeCancellationUntil(ladder);
  const { property, expedia } = first.confirmation_id ?? {};
  return (
    total && {
      bookingId: itinerary_id,
      confirmationNumber: property ?? expedia ?? itinerary_id,
      total,
      ...(until !== undefined && { freeCancellationUntil: until }),
      ...(ladder.length > 0 && { cancellation: ladder }),
      stay: { checkIn: first.checkin, checkOut: first.checkout },
    }
  );
};

const standingRooms = ({ rooms }: Itinerary): Room[] => rooms.filter(({ status }) => status !== "canceled");

/** Every room that was not given back is confirmed. */
export const isBooked = (itinerary: Itinerary): boolean => {
  const rooms = standingRooms(itinerary);
  return rooms.length > 0 && rooms.every(({ status }) => status === "booked");
};

/** A room waits for the hotel's word, and can't be resumed: nobody can count on it, nor do without. */
export const isPending = (itinerary: Itinerary): boolean =>
  itinerary.links?.resume === undefined &&
  standingRooms(itinerary).some(({ status }) => status === "pending");

/** Some of its rooms are given back, or were taken back, and some are not. */
export const isPartlyCancelled = (itinerary: Itinerary): boolean => {
  const { length } = standingRooms(itinerary);
  return length > 0 && length < itinerary.rooms.length;
};

export const isCancelled = ({ rooms }: Itinerary): boolean =>
  rooms.every(({ status }) => status === "canceled");

/** What was not given back. Undefined: it stands, or an impossible amount. @param knownAt stands for its time where the history has none */
export const cancellationOf = (itinerary: Itinerary, knownAt: Date): BookingCancellation | undefined => {
  const total = totalOf(itinerary.rooms);
  if (!isCancelled(itinerary) || total === undefined) return undefined;
  const refunds = itinerary.rooms.map(({ rate }) =>
    moneyOf({ value: String(rate.cancel_refund?.amount ?? 0), currency: total.currency }),
  );
  if (refunds.includes(undefined)) return undefined;
  const refunded = refunds.reduce((sum, refund) => sum + Math.abs(refund?.amountMinor ?? 0), 0);
  const moments = (itinerary.room_history ?? [])
    .flat()
    .flatMap(({ event_type, event_timestamp }) => (event_type === "canceled" ? [event_timestamp] : []));
  const last = moments.sort((a, b) => Date.parse(a) - Date.parse(b)).at(-1);
  return {
    cancelledAt: last === undefined ? knownAt.toISOString() : new Date(last).toISOString(),
    fee: { amountMinor: Math.max(0, total.amountMinor - refunded), currency: total.currency },
  };
};

/** What the documentation leaves open, where its link doesn't say. */
const holdMs = 10 * 60_000;

/** What has just been held, by the answer that says so. @param total known from its price check */
export const createdHoldOf = ({ itinerary_id, links }: Created, total: Money, now: Date): Hold => ({
  holdId: itinerary_id,
  expiresAt: links?.resume?.expires ?? new Date(now.getTime() + holdMs).toISOString(),
  total,
});

/** Undefined: not on hold, or an impossible amount. */
export const holdOf = ({ itinerary_id, links, rooms, creation_date_time }: Itinerary): Hold | undefined => {
  const total = totalOf(rooms);
  const { resume } = links ?? {};
  if (resume === undefined || total === undefined) return undefined;
  const expiresAt = resume.expires ?? new Date(Date.parse(creation_date_time) + holdMs).toISOString();
  return { holdId: itinerary_id, expiresAt, total };
};

/** Whether guests have come is not told: what is not cancelled is booked. Undefined: pending, or an impossible amount. */
export const stateOf = (itinerary: Itinerary, now: Date): HotelState | undefined => {
  const hold = holdOf(itinerary);
  if (hold !== undefined) return { state: "HELD", ...hold };
  const booked = bookingOf(itinerary, now);
  if (!isCancelled(itinerary))
    return isBooked(itinerary) ? booked && { state: "BOOKED", ...booked } : undefined;
  const cancelled = cancellationOf(itinerary, now);
  return booked && cancelled && { state: "CANCELLED", ...booked, ...cancelled };
};
