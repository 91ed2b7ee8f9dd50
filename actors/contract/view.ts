/** Owns what readers see of a contract, and what an asker of rooms is told of them. */
import { airport as airportOf } from "../../schemas/airports.ts";
import {
  type ContractStatus,
  type ContractTerms,
  type ContractView,
  directVendor,
  type RoomsTaken,
} from "../../schemas/contract.ts";
import type { HotelFacts } from "../../schemas/hotel.ts";
import { dateAfter, isoDate, localDay } from "../../schemas/local-day.ts";
import { idOf, urn } from "../../schemas/urn.ts";
import { blockOf, isExpired, leftFor, takenOf } from "./rooms.ts";
import type { ContractState, TakenRooms } from "./state.ts";

const nightsShown = 14;

export const contractView = (
  contractId: string,
  state: ContractState,
  version: number,
  now: Date,
): ContractView => {
  const { terms } = state;
  const today = isoDate(localDay(now.getTime(), airportOf(terms.airport)?.timeZone ?? "UTC", 0));
  return {
    urn: urn("contract", contractId),
    ...terms,
    status: statusAt(terms, today),
    ...provenanceOf(state),
    nights: nightsFrom(state, today, now),
    version,
    createdAt: state.createdAt.toISOString(),
    changedAt: state.changedAt.toISOString(),
  };
};

/** The document behind the terms, if any. */
export const provenanceOf = ({ provenance }: ContractState): Pick<ContractView, "provenance"> =>
  provenance === undefined
    ? {}
    : {
        provenance: {
          analysisUrn: urn("contract-analysis", provenance.analysisId),
          confirmedBy: provenance.by,
          confirmedAt: provenance.at.toISOString(),
        },
      };

/** The hotel in the words of an offer. Two contracts with one hotel are offers of one hotel. */
export const hotelFacts = (
  contractId: string,
  { hotel: { hotelUrn, ...hotel } }: ContractTerms,
): HotelFacts => {
  const masterHotelId = hotelUrn === undefined ? undefined : idOf(hotelUrn);
  return {
    ...hotel,
    vendor: directVendor,
    providerHotelId: masterHotelId ?? contractId,
    ...(masterHotelId === undefined ? {} : { masterHotelId }),
  };
};

const statusAt = (terms: { validFrom: string; validUntil: string }, today: string): ContractStatus =>
  today < terms.validFrom ? "UPCOMING" : today < terms.validUntil ? "ACTIVE" : "ENDED";

const nightsFrom = (state: ContractState, today: string, now: Date): ContractView["nights"] =>
  Array.from({ length: nightsShown }, (_, day) => dateAfter(today, day))
    .filter((night) => state.terms.validFrom <= night && night < state.terms.validUntil)
    .map((night) => {
      const { rooms: left, accessible: accessibleLeft } = leftFor(state, [night], now);
      const rooms = blockOf(state.terms, night);
      return { night, rooms, taken: takenOf(state.taken, night, now).rooms, left, accessibleLeft };
    });

/** The furthest that this reference got. Rooms of a block are given back without a fee. */
export const roomsTakenView = (entry: TakenRooms, now: Date): RoomsTaken => {
  const { holdId, expiresAt, total } = entry;
  const held = { holdId, expiresAt: expiresAt.toISOString(), total };
  if (entry.state === "HELD") return { ...held, state: isExpired(entry, now) ? "EXPIRED" : "HELD" };
  const { bookingId, confirmationNumber, changedAt } = entry;
  if (entry.state === "BOOKED") return { ...held, state: "BOOKED", bookingId, confirmationNumber };
  return {
    ...held,
    state: "CANCELLED",
    bookingId,
    confirmationNumber,
    cancelledAt: changedAt.toISOString(),
    fee: { amountMinor: 0, currency: total.currency },
  };
};
