/** Owns what happens at a hotel's own desk, which no client asks for: guests arrive, leave, don't show up, or are turned away. */
import Type, { type Static } from "typebox";
import type { Sale } from "./hotel-sale.ts";
import type { Ledger } from "./ledger.ts";
import { readerOf } from "./told.ts";

const Text = Type.String({ minLength: 1, maxLength: 200 });
const Marking = Type.Object(
  {
    reference: Type.Optional(Text),
    bookingId: Type.Optional(Text),
    referencePrefix: Type.Optional(Text),
    state: Type.Enum(["CHECKED_IN", "CHECKED_OUT", "NO_SHOW", "CANCELLED"]),
  },
  { additionalProperties: false },
);
type Marking = Static<typeof Marking>;

/** Booking ids. `passedOver`: those whose state doesn't lead to the wanted one. */
interface Marked {
  marked: string[];
  passedOver: string[];
}

/** From which states a booking comes to each. */
const before: Readonly<Record<string, readonly string[]>> = {
  CHECKED_IN: ["BOOKED"],
  CHECKED_OUT: ["BOOKED", "CHECKED_IN"],
  NO_SHOW: ["BOOKED"],
  CANCELLED: ["BOOKED"],
};

const readMembers = readerOf(Marking);

const readMarking = (input: unknown): Marking => {
  const told = readMembers(input);
  const named = [told.reference, told.bookingId, told.referencePrefix].filter((one) => one !== undefined);
  if (named.length !== 1) throw new TypeError("One of reference, bookingId and referencePrefix is needed.");
  return told;
};

const bookingsOf = (ledger: Ledger, { reference, bookingId, referencePrefix }: Marking): Sale[] => {
  if (referencePrefix !== undefined) return ledger.byReferencePrefix("booking", referencePrefix) as Sale[];
  const found =
    bookingId === undefined
      ? ledger.byReference("booking", reference ?? "")[0]
      : ledger.entry("booking", bookingId);
  if (found === undefined) throw new TypeError(`There is no booking ${bookingId ?? reference}.`);
  return [found as Sale];
};

/**
 * All or nothing; survives a restart. A hotel that turns its guests away takes no fee.
 * @throws TypeError naming what is wrong with the input, or that there is no such booking
 */
export const markStays = (ledger: Ledger, input: unknown, nowMs: number): Marked =>
  ledger.transaction(() => {
    const marking = readMarking(input);
    const { state } = marking;
    const marked: string[] = [];
    const passedOver: string[] = [];
    for (const booking of bookingsOf(ledger, marking)) {
      if (!before[state]?.includes(booking.state)) {
        passedOver.push(booking.id);
        continue;
      }
      const fee = state === "CANCELLED" && { cancellationFeeMinor: 0 };
      const changedAt = new Date(nowMs).toISOString();
      ledger.put({ ...booking, state, changedAt, details: { ...booking.details, ...fee } });
      if (state === "CANCELLED") ledger.releaseNights("booking", booking.id);
      marked.push(booking.id);
    }
    return { marked, passedOver };
  });
