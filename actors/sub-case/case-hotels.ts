/** Owns which hotels a case's groups are sent to, and how many of them to each. */
import type { Page } from "../../schemas/command.ts";
import type { CaseHotelView } from "../../schemas/hotel-catalogue.ts";
import { inOrder, ordinal } from "../../schemas/hotel-identity.ts";
import type { ReservationStatus } from "../../schemas/vocabulary.ts";
import { decodeCursor, limitOf, slicePage } from "../runtime/page.ts";
import type { SubCaseState } from "./state.ts";

/** What of a group is read for it. */
export const placedProjection = {
  _id: 0,
  groupId: 1,
  status: 1,
  candidate: 1,
  "assignment.candidates": 1,
  reservation: 1,
  "passengers.urn": 1,
};

/** A group as {@link placedProjection} reads it. */
export type Placed = Pick<SubCaseState, "groupId" | "status" | "candidate" | "reservation" | "passengers"> & {
  assignment?: Pick<NonNullable<SubCaseState["assignment"]>, "candidates">;
};

/** On the way to a room, or in one; whoever has lost or declined it is sent nowhere. */
const sent: ReadonlySet<string> = new Set(["PENDING", "PROCESSING", "OFFER_READY", "RESOLVED"]);
const booked: ReadonlySet<string> = new Set<ReservationStatus>([
  "CONFIRMED",
  "CHECKED_IN",
  "CHECKED_OUT",
  "NO_SHOW",
]);

/** Each hotel once, in the order of its URN. */
export const hotelsOfCase = (groups: readonly Placed[]): CaseHotelView[] => {
  const hotels = new Map<string, CaseHotelView>();
  for (const group of groups) {
    const candidate = group.assignment?.candidates[group.candidate];
    if (candidate === undefined || !sent.has(group.status)) continue;
    const { hotelUrn, offer, distanceKm } = candidate;
    const { name, address, coordinates, stars } = offer;
    const before = hotels.get(hotelUrn) ?? {
      hotelUrn,
      name,
      address,
      ...(coordinates === undefined ? {} : { coordinates }),
      ...(stars === undefined ? {} : { stars }),
      ...(distanceKm === undefined ? {} : { distanceKm }),
      ...nobody,
    };
    hotels.set(hotelUrn, withGroup(before, group, offer.vendor, candidate.rooms));
  }
  return [...hotels.values()].sort((a, b) => ordinal(a.hotelUrn, b.hotelUrn));
};

const nobody = { vendors: [], groups: 0, passengers: 0, rooms: 0, roomsBooked: 0, groupIds: [], totals: [] };

const withGroup = (hotel: CaseHotelView, group: Placed, vendor: string, rooms: number): CaseHotelView => {
  const { reservation } = group;
  const isBooked = booked.has(reservation?.status ?? "");
  return {
    ...hotel,
    vendors: inOrder([...hotel.vendors, vendor]),
    groups: hotel.groups + 1,
    passengers: hotel.passengers + group.passengers.length,
    rooms: hotel.rooms + rooms,
    roomsBooked: hotel.roomsBooked + (isBooked ? (reservation?.rooms ?? 0) : 0),
    groupIds: inOrder([...hotel.groupIds, group.groupId]),
    totals: isBooked ? withAmount(hotel.totals, reservation) : hotel.totals,
  };
};

const withAmount = (
  totals: CaseHotelView["totals"],
  { totalMinor, currency }: { totalMinor?: number; currency?: string } = {},
): CaseHotelView["totals"] => {
  if (totalMinor === undefined || currency === undefined) return totals;
  const before = totals.find((one) => one.currency === currency)?.amountMinor ?? 0;
  const others = totals.filter((one) => one.currency !== currency);
  return [...others, { currency, amountMinor: before + totalMinor }];
};

/** Hotels come and go between two pages: the next one begins behind the last URN, wherever that stood. */
export const pageOfHotels = (
  hotels: readonly CaseHotelView[],
  params: { limit?: unknown; cursor?: unknown },
): Page<CaseHotelView> => {
  const after = typeof params.cursor === "string" ? decodeCursor(params.cursor) : "";
  const rest = hotels.filter(({ hotelUrn }) => hotelUrn > after);
  return slicePage(
    rest,
    limitOf(params),
    ({ hotelUrn }) => hotelUrn,
    (hotel) => hotel,
  );
};
