/**
 * Owns the simulated vendor of drills and shadow cases: hotels, cards, rides and messages out of nothing, the same for the same
 * request. It keeps no books and calls nobody, so asking again is as good as looking up.
 */
import { createHash } from "node:crypto";
import { airport as airportOf } from "../../../schemas/airports.ts";
import { currencyOfCountry } from "../../../schemas/currency.ts";
import { drillVendor } from "../../../schemas/drill.ts";
import { convertMinor } from "../../../schemas/exchange-rates.ts";
import type { HotelOffer, HotelSearch } from "../../../schemas/hotel.ts";
import type { VendorChoice, VendorKind, VendorVerb } from "../../../schemas/vendor-call.ts";
import type { Money } from "../../../schemas/vocabulary.ts";
import type { Instance } from "../dialects.ts";
import type {
  Booking,
  Card,
  Done,
  HotelPort,
  MessagePort,
  PaymentPort,
  Ride,
  TransportPort,
} from "../ports.ts";

const done = <Result extends object>(result: Result): Done<Result> => ({ outcome: "done", ...result });
const nothingKept = async () => ({ outcome: "none" }) as const;
const emptyLedger = async (): Promise<Done<{ entries: [] }>> => done({ entries: [] });

const hashOf = (text: string): string => createHash("sha256").update(text).digest("hex");

interface DrillHotel {
  name: string;
  stars: number;
  /** Degrees of latitude from the airport; a hundredth is about 1.1 km. */
  north: number;
  /** US cents. */
  nightlyRateMinor: number;
  rooms: number;
  payments: string[];
}

const hotels: readonly DrillHotel[] = [
  {
    name: "Drill Plaza",
    stars: 5,
    north: 0.09,
    nightlyRateMinor: 21_900,
    rooms: 40,
    payments: ["GUARANTEE", "CARD"],
  },
  {
    name: "Drill Airport Hotel",
    stars: 4,
    north: 0.01,
    nightlyRateMinor: 15_900,
    rooms: 120,
    payments: ["GUARANTEE", "CARD"],
  },
  {
    name: "Drill Garden Inn",
    stars: 4,
    north: 0.04,
    nightlyRateMinor: 13_500,
    rooms: 80,
    payments: ["GUARANTEE", "CARD"],
  },
  {
    name: "Drill Lodge",
    stars: 3,
    north: 0.06,
    nightlyRateMinor: 9_900,
    rooms: 150,
    payments: ["GUARANTEE", "CARD"],
  },
  { name: "Drill Budget", stars: 2, north: 0.12, nightlyRateMinor: 6_900, rooms: 200, payments: ["CARD"] },
];

/** Every hotel has every comfort: a drill exercises people, not amenities. */
const amenities = [
  "24H_RECEPTION",
  "AIRPORT_SHUTTLE",
  "BREAKFAST",
  "RESTAURANT",
  "WIFI",
  "PARKING",
  "ACCESSIBLE_ROOMS",
  "PETS_ALLOWED",
  "FAMILY_ROOMS",
  "AIR_CONDITIONING",
];

/** In the currency of the airport's country, as a policy's limit is; dollars where there is no rate for it. */
const inCurrencyAt = (code: string, cents: number): Pick<HotelOffer, "nightlyRateMinor" | "currency"> => {
  const currency = currencyOfCountry(airportOf(code)?.country ?? "") ?? "USD";
  const nightlyRateMinor = convertMinor(cents / 100, "USD", currency);
  return nightlyRateMinor === undefined
    ? { nightlyRateMinor: cents, currency: "USD" }
    : { nightlyRateMinor, currency };
};

const offerOf = (hotel: DrillHotel, { airport, coordinates }: HotelSearch): HotelOffer => {
  const id = `${airport}-${hotel.name.toLowerCase().replaceAll(" ", "-")}`;
  return {
    vendor: drillVendor,
    providerOfferId: id,
    providerHotelId: id,
    name: hotel.name,
    address: `A drill: no such street, ${airport}`,
    coordinates: { ...coordinates, latitude: coordinates.latitude + hotel.north },
    stars: hotel.stars,
    amenities,
    acceptedPayments: hotel.payments,
    ...inCurrencyAt(airport, hotel.nightlyRateMinor),
    roomsLeft: hotel.rooms,
    maxOccupancy: 4,
    accessibleRooms: 10,
  };
};

/** A hold's id says what it costs, for nothing else remembers it. */
const idOf = (kind: string, { amountMinor, currency }: Money, seed: string): string =>
  `${kind}_${amountMinor}_${currency}_${hashOf(seed).slice(0, 12)}`;

const totalIn = (id: string): Money => {
  const [, amountMinor = "0", currency = "USD"] = id.split("_");
  return { amountMinor: Number(amountMinor), currency };
};

const dayMs = 86_400_000;
const nightsBetween = (checkIn: string, checkOut: string): number =>
  (Date.parse(checkOut) - Date.parse(checkIn)) / dayMs;

const farAway = "2100-01-01T00:00:00.000Z";

const hotel: HotelPort = {
  search: async (search) => done({ offers: hotels.map((one) => offerOf(one, search)) }),
  hold: async ({ reference, offer, rooms, checkIn, checkOut }) => {
    const amountMinor = offer.nightlyRateMinor * rooms * nightsBetween(checkIn, checkOut);
    const total = { amountMinor, currency: offer.currency };
    return done({ holdId: idOf("hold", total, reference), expiresAt: farAway, total });
  },
  book: async ({ reference, holdId }) => done(bookingOf(reference, totalIn(holdId))),
  modify: async ({ bookedUnder, bookingId, checkIn, checkOut }) =>
    done({ ...bookingOf(bookedUnder, totalIn(bookingId)), bookingId, stay: { checkIn, checkOut } }),
  cancel: async ({ bookingId }) =>
    done({ cancelledAt: new Date(0).toISOString(), fee: { ...totalIn(bookingId), amountMinor: 0 } }),
  lookup: nothingKept,
  reconcile: emptyLedger,
};

const bookingOf = (reference: string, total: Money): Booking => ({
  bookingId: idOf("booking", total, reference),
  confirmationNumber: `DRILL-${hashOf(reference).slice(0, 6).toUpperCase()}`,
  total,
});

const cardOf = (cardId: string, balance: Money): Card => ({
  cardId,
  last4: "0000",
  expiryMonth: 12,
  expiryYear: 2099,
  balance,
});

const payment: PaymentPort = {
  issueCard: async ({ reference, balance }) => done(cardOf(idOf("card", balance, reference), balance)),
  loadCard: async ({ cardId, loaded }) => done({ ...cardOf(cardId, loaded), loaded }),
  cancelCard: async ({ cardId }) => done(cardOf(cardId, { ...totalIn(cardId), amountMinor: 0 })),
  lookup: nothingKept,
  reconcile: emptyLedger,
  transactions: emptyLedger,
  reveal: async ({ cardId }) =>
    done({ url: `https://drill.example/cards/${hashOf(cardId).slice(0, 12)}`, expiresAt: farAway }),
};

/** What a cancellation tells of its ride nobody reads. */
const cancelledRide = (rideId: string): Ride => ({ rideId, vehicleType: "SHUTTLE", pickupAt: farAway });

const transport: TransportPort = {
  vehicleSeats: { SHUTTLE: 50, PRIVATE_CAR: 4, WHEELCHAIR_VAN: 6 },
  book: async ({ reference, vehicleType, pickupAt }) =>
    done({ rideId: `ride_${hashOf(reference).slice(0, 12)}`, vehicleType, pickupAt, plate: "DRILL" }),
  cancel: async ({ rideId }) => done(cancelledRide(rideId)),
  lookup: nothingKept,
  reconcile: emptyLedger,
};

const message: MessagePort = {
  send: async ({ reference }) =>
    done({ messageId: `message_${hashOf(reference).slice(0, 12)}`, acceptedAt: new Date(0).toISOString() }),
  lookup: nothingKept,
};

/** Flight data is heard, and nobody asks a drill for it. */
type CalledKind = Exclude<VendorKind, "flight">;

/** One of each kind, under one name: a drill's calls have one consumer. */
const instances = {
  hotel: { name: drillVendor, kind: "hotel", port: hotel },
  payment: { name: drillVendor, kind: "payment", port: payment },
  transport: { name: drillVendor, kind: "transport", port: transport },
  message: { name: drillVendor, kind: "message", port: message },
} as const satisfies { [Kind in CalledKind]: Extract<Instance, { kind: Kind }> };

const kindOf: Readonly<Record<VendorVerb, CalledKind>> = {
  hold: "hotel",
  book: "hotel",
  modify: "hotel",
  cancel: "hotel",
  "issue-card": "payment",
  "load-card": "payment",
  "cancel-card": "payment",
  "book-ride": "transport",
  "cancel-ride": "transport",
  send: "message",
};

export const drillHotels = instances.hotel;

export const drillInstance = (verb: VendorVerb): Instance => instances[kindOf[verb]];

/** Who does in a drill what is not searched for. */
export const drillChoice: Required<Omit<VendorChoice, "email">> = {
  payment: drillVendor,
  transport: drillVendor,
  vehicleSeats: transport.vehicleSeats,
  message: drillVendor,
};
