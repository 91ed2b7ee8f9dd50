/** Owns what we remember of a rate that Hotelbeds has priced for us, in place of a hold that it does not keep; and who sleeps where. */
import type { Money } from "../../../schemas/vocabulary.ts";
import type { GuestName } from "../ports.ts";

export interface CheckedRate {
  rateKey: string;
  total: Money;
}

export interface RateHeld {
  rateKey: string;
  rooms: number;
  /** In each room. */
  adults: number;
  needs: string[];
}

/** Its id is all that there is of such a hold. */
export const writeHold = ({ rateKey, rooms, adults, needs }: RateHeld): string =>
  Buffer.from(JSON.stringify([rateKey, rooms, adults, needs])).toString("base64url");

/** Undefined: an id that is none of ours. */
export const readHold = (holdId: string): RateHeld | undefined => {
  try {
    const read = JSON.parse(Buffer.from(holdId, "base64url").toString()) as unknown;
    if (!Array.isArray(read)) return undefined;
    const [rateKey, rooms, adults, needs] = read as unknown[];
    if (typeof rateKey !== "string" || !Number.isInteger(rooms) || !Number.isInteger(adults))
      return undefined;
    return {
      rateKey,
      rooms: Number(rooms),
      adults: Number(adults),
      needs: Array.isArray(needs) ? needs : [],
    };
  } catch {
    // Whatever is no JSON is no hold; the caller says so.
    return undefined;
  }
};

/** "Booking": names of at most fifty characters. */
const nameMax = 50;
export const nameOf = (name: string): string => name.slice(0, nameMax).trim();

interface Pax {
  roomId: number;
  type: "AD";
  name?: string;
  surname?: string;
}

/**
 * As many adults in each room as the rate was priced for. Each room has a name ("Booking": at least one adult's a room is recommended):
 * guests go to the rooms in turn, and who is one too many for the rooms stands in none.
 * @param names the lead guest first
 */
export const paxesOf = (
  names: readonly GuestName[],
  { rooms, adults }: { rooms: number; adults: number },
): Pax[] => {
  const [lead] = names;
  return Array.from({ length: rooms * adults }, (_, i): Pax => {
    const roomId = (i % rooms) + 1;
    const guest = names[i] ?? (i < rooms ? lead : undefined);
    return {
      roomId,
      type: "AD",
      ...(guest !== undefined && { name: nameOf(guest.givenName), surname: nameOf(guest.familyName) }),
    };
  });
};
