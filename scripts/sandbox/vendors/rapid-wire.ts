/** Owns what a vendor that speaks Expedia Rapid's dialect says: its links and their tokens, rates, itineraries and errors. */
import { decimalFromMinor } from "../../../schemas/currency.ts";
import type { Amenity } from "../../../schemas/vocabulary.ts";
import type { DeskRefusal, Vacancy } from "../hotel-desk.ts";
import { type CancellationStep, nightsOf, type Sale, type Stay } from "../hotel-sale.ts";
import type { Listing } from "../hotels.ts";
import type { VendorAnswer } from "../vendor-server.ts";

export const problem = (status: number, type: string, message: string): VendorAnswer => ({
  status,
  body: { type, message },
});
export const invalid = (type: string, message: string): VendorAnswer => ({
  status: 400,
  body: {
    ...{ type: "invalid_input", message: "An invalid request was sent in, please check the nested errors." },
    errors: [{ type, message }],
  },
});

export const refusals: Record<DeskRefusal, VendorAnswer> = {
  UNKNOWN: problem(404, "resource_not_found", "Itinerary was not found with provided request."),
  INVALID_STAY: invalid("checkout.invalid", "The checkout must be 1 to 28 nights after the checkin."),
  SOLD_OUT: problem(410, "rooms_unavailable", "One or more requested rooms are unavailable."),
  NOT_HELD: problem(404, "resource_not_found", "Itinerary was not found with provided request."),
  HOLD_EXPIRED: problem(404, "resource_not_found", "Itinerary was not found with provided request."),
  STAYED: invalid("post_stay_cancel", "The stay has begun: it cannot be cancelled any more."),
};

/** What a token keeps from call to call; clients pass it on unread. */
export interface Kept {
  rateKey?: string;
  stay?: Stay;
  rooms?: number;
  adults?: number;
  /** Of the price that was checked, times the rate's own. */
  factor?: number;
  itinerary?: string;
  room?: number;
}

const tokenOf = (kept: Kept): string => Buffer.from(JSON.stringify(kept)).toString("base64url");

/** Undefined: none of ours. */
export const readToken = (token: string | null): Kept | undefined => {
  try {
    return token === null ? undefined : (JSON.parse(Buffer.from(token, "base64url").toString()) as Kept);
  } catch {
    // No JSON is no token; the caller says so.
    return undefined;
  }
};

export const linkTo = (method: string, path: string, kept: Kept, expires?: string) => ({
  ...{ method, href: `/v3${path}?token=${tokenOf(kept)}` },
  ...(expires !== undefined && { expires }),
});

const amenityNames: Record<Amenity, string> = {
  "24H_RECEPTION": "24-hour front desk",
  AIRPORT_SHUTTLE: "Free airport transportation",
  BREAKFAST: "Buffet breakfast",
  RESTAURANT: "Number of restaurants - 1",
  WIFI: "Free WiFi",
  PARKING: "Free self parking",
  ACCESSIBLE_ROOMS: "Wheelchair accessible (may have limitations)",
  PETS_ALLOWED: "Pets allowed",
  FAMILY_ROOMS: "Family room",
  AIR_CONDITIONING: "Air conditioning",
};

export const contentOf = (id: string, listing: Listing) => ({
  property_id: id,
  name: listing.name,
  address: { line_1: listing.street, city: listing.city, country_code: listing.country },
  ratings: { property: { rating: listing.stars === undefined ? "0.0" : `${listing.stars}.0`, type: "Star" } },
  location: { coordinates: listing.coordinates },
  ...(listing.chain !== undefined && { chain: { id: "1", name: listing.chain } }),
  amenities: Object.fromEntries(
    [...listing.amenities.map((one) => amenityNames[one]), "Fitness facilities", "No elevators"].map(
      (name, i) => [String(2000 + i), { id: String(2000 + i), name }],
    ),
  ),
});

const pricingOf = (minor: number, currency: string) => {
  const value = { value: decimalFromMinor(minor, currency), currency };
  return { totals: { inclusive: { billable_currency: value, request_currency: value } } };
};

/** What begins when the step before it ends; free steps are no penalty. */
const penaltiesOf = (
  ladder: readonly CancellationStep[],
  { times, currency, checkOut, nowMs }: { times: number; currency: string; checkOut: string; nowMs: number },
) =>
  ladder.flatMap(({ until, feeMinor }, i) => {
    if (feeMinor === 0) return [];
    const start = ladder[i - 1]?.until ?? `${new Date(nowMs).toISOString().slice(0, 10)}T00:00:00.000Z`;
    const amount = decimalFromMinor(Math.round(feeMinor * times), currency);
    return [{ start, end: until ?? `${checkOut}T00:00:00.000Z`, amount, currency }];
  });

interface Asked {
  stay: Stay;
  rooms: number;
  adults: number;
}

/** @param change set: shopped for an itinerary that stands, whose link is to be committed */
export const rateOf = (
  id: string,
  { room, roomsLeft, ladder }: Vacancy,
  { stay, rooms, adults }: Asked,
  { nowMs, change }: { nowMs: number; change?: Kept },
) => {
  const { currency, nightlyRateMinor: nightly, code } = room;
  const path = `/properties/${id}/rooms/${code}/rates/${code}-1`;
  const kept = { ...change, rateKey: room.rateKey, stay, rooms, adults, factor: 1 };
  const inForce = { times: 1, currency, checkOut: stay.checkOut, nowMs };
  return {
    id: `${code}-1`,
    status: "available",
    available_rooms: roomsLeft,
    refundable: room.freeCancellation,
    holdable: true,
    merchant_of_record: "expedia",
    bed_groups: { "37310": { id: "37310", links: { price_check: linkTo("GET", path, kept) } } },
    cancel_penalties: penaltiesOf(ladder, inForce),
    occupancy_pricing: { [adults]: pricingOf(nightly * nightsOf(stay).length, currency) },
  };
};

export const priceCheckOf = (
  vacancy: Vacancy | undefined,
  kept: Required<Omit<Kept, "itinerary" | "room">> & Kept,
  factor: number,
) => {
  if (vacancy === undefined || vacancy.roomsLeft < (kept.itinerary === undefined ? kept.rooms : 0))
    return { status: "sold_out" };
  const { currency, nightlyRateMinor } = vacancy.room;
  const minor = Math.round(nightlyRateMinor * factor) * nightsOf(kept.stay).length;
  const checked = { ...kept, factor };
  return {
    status: factor === 1 ? "available" : "price_changed",
    occupancy_pricing: { [kept.adults]: pricingOf(minor, currency) },
    links:
      kept.itinerary === undefined
        ? { book: linkTo("POST", "/itineraries", checked) }
        : { commit: linkTo("PUT", `/itineraries/${kept.itinerary}/rooms/${kept.room}/pricing`, checked) },
  };
};

const roomStatus = (state: string): string => {
  if (state === "HELD") return "pending";
  return state === "CANCELLED" ? "canceled" : "booked";
};

/** @param sale a hold or what it has become: both have the itinerary's id */
export const itineraryOf = ({ kind, id, state, createdAt, changedAt, idempotencyKey, details }: Sale) => {
  const { currency, checkIn: checkin, checkOut: checkout, rooms, ladder, totalMinor } = details;
  const given = (details.cancelledRooms as number[] | undefined) ?? [];
  const feeMinor = (details.cancellationFeeMinor ?? 0) / rooms;
  const own = { itinerary: id };
  const each = Array.from({ length: rooms }, (_, i) => {
    const status = given.includes(i + 1) ? "canceled" : roomStatus(state);
    const kept = { ...own, room: i + 1 };
    const inForce = { times: 1 / rooms, currency, checkOut: checkout, nowMs: Date.parse(createdAt) };
    return {
      id: `${id}-${i + 1}`,
      ...(kind === "booking" && {
        confirmation_id: { expedia: `E${id}`, property: details.confirmationNumber },
      }),
      ...{ checkin, checkout, status, number_of_adults: details.adults ?? 2 },
      rate: {
        id: `${details.rateKey.slice(-3)}-1`,
        refundable: details.freeCancellationUntil !== null,
        ...(status === "canceled" && {
          cancel_refund: {
            amount: `-${decimalFromMinor(Math.round(totalMinor / rooms - feeMinor), currency)}`,
            currency,
          },
        }),
        cancel_penalties: penaltiesOf(ladder, inForce),
        pricing: pricingOf(totalMinor / rooms, currency),
      },
      ...(status === "booked" && {
        links: {
          cancel: linkTo("DELETE", `/itineraries/${id}/rooms/${id}-${i + 1}`, kept),
          ...(rooms === 1 && {
            shop_for_change: linkTo("GET", `/properties/${details.property}/availability`, kept),
          }),
        },
      }),
    };
  });
  return {
    itinerary_id: id,
    ...(kind === "hold" && {
      links: {
        resume: linkTo("PUT", `/itineraries/${id}`, own, details.expiresAt),
        cancel: linkTo("DELETE", `/itineraries/${id}`, own),
      },
    }),
    email: details.email,
    rooms: each,
    creation_date_time: createdAt,
    affiliate_reference_id: idempotencyKey,
    affiliate_metadata: details.metadata,
    room_history: each.map(({ status }) => [
      { event_type: "created", event_timestamp: createdAt },
      ...(status === "canceled" ? [{ event_type: "canceled", event_timestamp: changedAt }] : []),
    ]),
  };
};
