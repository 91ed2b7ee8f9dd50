/** Owns what a vendor that speaks Hotelbeds' dialect says: its codes, its rate keys, and what rooms and bookings look like in its answers. */
import { decimalFromMinor } from "../../../schemas/currency.ts";
import type { Amenity } from "../../../schemas/vocabulary.ts";
import type { DeskRefusal, Vacancy } from "../hotel-desk.ts";
import { type CancellationStep, nightsOf, type Sale, type Stay } from "../hotel-sale.ts";
import { type Listing, numberOfCode } from "../hotels.ts";
import type { VendorAnswer } from "../vendor-server.ts";

export const facilityCodes: Record<Amenity, [group: number, code: number]> = {
  "24H_RECEPTION": [70, 30],
  AIRPORT_SHUTTLE: [70, 562],
  BREAKFAST: [80, 30],
  RESTAURANT: [71, 200],
  WIFI: [70, 550],
  PARKING: [70, 320],
  ACCESSIBLE_ROOMS: [70, 295],
  PETS_ALLOWED: [70, 540],
  FAMILY_ROOMS: [10, 131],
  AIR_CONDITIONING: [70, 10],
};
export const roomCodes: Readonly<Record<string, string>> = { STD: "DBT.ST", FAM: "FAM.ST" };
export const kindOfRoom = (roomCode: string): string => (roomCode === "FAM.ST" ? "FAM" : "STD");

const auditData = { processTime: "12", environment: "[sandbox]" };
export const answer = (body: object): VendorAnswer => ({ status: 200, body: { auditData, ...body } });
export const problem = (status: number, code: string, message: string): VendorAnswer => ({
  status,
  body: { auditData, error: { code, message } },
});

export const refusals: Record<DeskRefusal, VendorAnswer> = {
  UNKNOWN: problem(400, "INVALID_DATA", "The booking does not exist."),
  INVALID_STAY: problem(400, "INVALID_DATA", "The check-out must be 1 to 30 nights after the check-in."),
  SOLD_OUT: problem(500, "PRODUCT_ERROR", "Insufficient allotment: the room is no longer available."),
  NOT_HELD: problem(500, "PRODUCT_ERROR", "Booking confirmation error."),
  HOLD_EXPIRED: problem(500, "PRODUCT_ERROR", "Insufficient allotment."),
  STAYED: problem(500, "PRODUCT_ERROR", "Cannot cancel a booking after the check-in."),
};
export const badKey = problem(400, "INVALID_DATA", "The rateKey is not valid.");

/** Also what the vendor has asked for it since it was told, in ten-thousandths. */
interface KeyParts extends Stay {
  hotel: number;
  roomCode: string;
  rooms: number;
  adults: number;
  factor: number;
}

const compact = (day: string): string => day.replaceAll("-", "");
const spread = (day: string): string => `${day.slice(0, 4)}-${day.slice(4, 6)}-${day.slice(6)}`;

const writeKey = ({ checkIn, checkOut, hotel, roomCode, rooms, adults, factor }: KeyParts): string =>
  `${compact(checkIn)}|${compact(checkOut)}|W|1|${hotel}|${roomCode}|CG-TODOS|RO||${rooms}~${adults}~0||N@${factor}`;

export const readKey = (key: string): KeyParts | undefined => {
  const parts = /^(\d{8})\|(\d{8})\|W\|1\|(\d+)\|([A-Z.]+)\|CG-TODOS\|RO\|\|(\d+)~(\d+)~0\|\|N@(\d+)$/.exec(
    key,
  );
  if (parts === null) return undefined;
  const [, from = "", to = "", hotel, roomCode = "", rooms, adults, factor] = parts;
  const numbers = { hotel: Number(hotel), rooms: Number(rooms), adults: Number(adults) };
  return { checkIn: spread(from), checkOut: spread(to), roomCode, ...numbers, factor: Number(factor) };
};

/** What begins when the step before it ends; free steps are no policy. */
const policiesOf = (
  ladder: readonly CancellationStep[],
  times: number,
  currency: string,
  nowMs: number,
): { amount: string; from: string }[] =>
  ladder.flatMap(({ feeMinor }, i) => {
    const from = ladder[i - 1]?.until ?? `${new Date(nowMs).toISOString().slice(0, 10)}T00:00:00.000Z`;
    if (feeMinor === 0) return [];
    return [
      {
        amount: decimalFromMinor(Math.round(feeMinor * times), currency),
        from: from.replace(".000Z", "+00:00").replace(/\.\d+Z$/, "Z"),
      },
    ];
  });

export const rateOf = (vacancy: Vacancy, listing: Listing, key: KeyParts, nowMs: number) => {
  const { room, roomsLeft, ladder } = vacancy;
  const nightlyMinor = Math.round((room.nightlyRateMinor * key.factor) / 10_000);
  return {
    rateKey: writeKey(key),
    rateClass: room.freeCancellation ? "NOR" : "NRF",
    rateType: room.code === "FAM" ? "BOOKABLE" : "RECHECK",
    net: decimalFromMinor(nightlyMinor * key.rooms * nightsOf(key).length, room.currency),
    allotment: roomsLeft,
    paymentType: listing.payments.includes("GUARANTEE") ? "AT_WEB" : "AT_HOTEL",
    packaging: false,
    boardCode: "RO",
    boardName: "ROOM ONLY",
    cancellationPolicies: policiesOf(ladder, (key.rooms * key.factor) / 10_000, room.currency, nowMs),
    rooms: key.rooms,
    adults: key.adults,
    children: 0,
  };
};

export const hotelOf = (listing: Listing) => ({
  code: numberOfCode(listing.hotelCode),
  name: listing.name,
  ...(listing.stars !== undefined && { categoryCode: `${listing.stars}EST` }),
  latitude: listing.coordinates.latitude.toFixed(14),
  longitude: listing.coordinates.longitude.toFixed(14),
});

export const bookingOf = ({ id, state, createdAt, idempotencyKey, details }: Sale) => {
  const status = state === "CANCELLED" ? "CANCELLED" : "CONFIRMED";
  const { currency, ladder, rooms, checkIn, checkOut } = details;
  const total = decimalFromMinor(details.totalMinor, currency);
  const perRoom = policiesOf(ladder, 1 / rooms, currency, Date.parse(createdAt));
  const kind = details.rateKey.endsWith(".FAM") ? "FAM.ST" : "DBT.ST";
  return {
    reference: id,
    clientReference: idempotencyKey,
    creationDate: createdAt.slice(0, 10),
    status,
    ...(state === "CANCELLED" && { cancellationReference: `C-${id}` }),
    modificationPolicies: { cancellation: state === "BOOKED", modification: state === "BOOKED" },
    holder: details.holder,
    hotel: {
      checkIn,
      checkOut,
      code: numberOfCode(details.hotelCode),
      name: details.hotelName,
      rooms: Array.from({ length: rooms }, (_, i) => ({
        status,
        id: i + 1,
        code: kind,
        rates: [{ rateClass: "NOR", boardCode: "RO", cancellationPolicies: perRoom, rooms: 1 }],
      })),
      totalNet: total,
      currency,
      ...(state === "CANCELLED" && {
        cancellationAmount: Number(decimalFromMinor(details.cancellationFeeMinor ?? 0, currency)),
      }),
    },
    remark: details.remark,
    totalNet: Number(total),
    pendingAmount: Number(total),
    currency,
  };
};
