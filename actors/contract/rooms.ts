/** Owns counting a block's rooms: what is taken of a night, what is left for a stay, and what a stay costs. */
import type { ContractTerms } from "../../schemas/contract.ts";
import { dateAfter } from "../../schemas/local-day.ts";
import type { ContractState, TakenRooms } from "./state.ts";

const dayMs = 86_400_000;

/** Part of `rooms`, never on top of them. */
export interface Stock {
  rooms: number;
  accessible: number;
}

/** Every night of a stay by its date; empty when check-out isn't after check-in. */
export const nightsOf = (checkIn: string, checkOut: string): string[] => {
  const count = Math.max(0, Math.round((Date.parse(checkOut) - Date.parse(checkIn)) / dayMs));
  return Array.from({ length: count }, (_, day) => dateAfter(checkIn, day));
};

/** Rooms of the block in a night; 0 outside the contract's validity, and in a blackout. */
export const blockOf = ({ block, validFrom, validUntil }: ContractTerms, night: string): number => {
  if (night < validFrom || night >= validUntil) return 0;
  if (block.blackouts?.some(({ from, until }) => from <= night && night < until)) return 0;
  return block.exceptions.find((exception) => exception.night === night)?.rooms ?? block.roomsPerNight;
};

/** A hold past its time has given its rooms back, whatever its state says. */
export const isExpired = (entry: TakenRooms, now: Date): boolean =>
  entry.state === "HELD" && (entry.lapsed === true || entry.expiresAt <= now);

export const takenOf = (taken: readonly TakenRooms[], night: string, now: Date): Stock =>
  taken
    .filter(({ checkIn, checkOut }) => checkIn <= night && night < checkOut)
    .filter((entry) => entry.state !== "CANCELLED" && !isExpired(entry, now))
    .reduce(
      (sum, { rooms, accessible }) => ({
        rooms: sum.rooms + rooms,
        accessible: sum.accessible + accessible,
      }),
      { rooms: 0, accessible: 0 },
    );

/** Never below zero: a block may have been made smaller than what was taken of it. */
const leftIn = ({ terms, taken }: ContractState, night: string, now: Date): Stock => {
  const used = takenOf(taken, night, now);
  const rooms = Math.max(0, blockOf(terms, night) - used.rooms);
  return { rooms, accessible: Math.max(0, Math.min(rooms, terms.accessibleRooms - used.accessible)) };
};

/** What is left for all of these nights together; nothing where there is no night. */
export const leftFor = (state: ContractState, nights: readonly string[], now: Date): Stock => {
  if (nights.length === 0) return { rooms: 0, accessible: 0 };
  return nights
    .map((night) => leftIn(state, night, now))
    .reduce((least, one) => ({
      rooms: Math.min(least.rooms, one.rooms),
      accessible: Math.min(least.accessible, one.accessible),
    }));
};

/** One room for all of these nights, exactly; undefined when a night is outside the validity or has no rate. */
export const priceOf = (terms: ContractTerms, nights: readonly string[]): number | undefined => {
  let sum = 0;
  for (const night of nights) {
    const season = terms.rates.find(({ from, until }) => from <= night && night < until);
    if (season === undefined || night < terms.validFrom || night >= terms.validUntil) return undefined;
    sum += season.nightlyRateMinor;
  }
  return sum;
};

/** The average over the nights; rounded down to a minor unit where it isn't whole, so the sum of a stay is `priceOf`'s. */
export const nightlyRateOf = (price: number, nights: readonly string[]): number =>
  Math.floor(price / Math.max(1, nights.length));
