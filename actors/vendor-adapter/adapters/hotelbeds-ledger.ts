/** Owns how Hotelbeds' list of bookings is walked through in place of a ledger of changes, and what one of its rows says in our words. */
import type { LedgerEntry } from "../ports.ts";
import { type Listed, referenceIn } from "./hotelbeds-answers.ts";

/** "BookingList": by the day of making or of the last change, both ends included. */
export type BookingFilter = Record<"filterType" | "start" | "end", string>;

export interface Place {
  filter: BookingFilter;
  /** From 1. */
  from: number;
}

const dayMs = 86_400_000;
/** How long after its check-out a booking is surely listed. */
export const listsDays = 30;
/** Bookings are listed by the day of making, which is at most so long before a check-out of ours. */
const daysListed = listsDays + 30;

const dayOf = (at: Date): string => at.toISOString().slice(0, 10);
const daysFrom = (at: Date, days: number): Date => new Date(at.getTime() + days * dayMs);

/** From the beginning: what was made in the last weeks. Since a time: what was changed since its day. Days are Spanish ones: one more to either side covers them. */
export const firstPlace = (now: Date, since?: string): Place => ({
  filter: {
    filterType: since === undefined ? "CREATION" : "MODIFIED",
    start: dayOf(since === undefined ? daysFrom(now, -daysListed) : daysFrom(new Date(since), -1)),
    end: dayOf(daysFrom(now, 1)),
  },
  from: 1,
});

export const writePlace = ({ filter, from }: Place): string =>
  [filter.filterType, filter.start, filter.end, from].join("_");

/** Undefined: none of ours. */
export const readPlace = (cursor: string): Place | undefined => {
  const read = /^(CREATION|MODIFIED)_(\d{4}-\d\d-\d\d)_(\d{4}-\d\d-\d\d)_(\d{1,9})$/.exec(cursor);
  if (read === null) return undefined;
  const [, filterType = "", start = "", end = "", from = ""] = read;
  return { filter: { filterType, start, end }, from: Number(from) };
};

/** Empty: a booking that is not confirmed yet. The row says neither when it was cancelled nor that the guests have come. @param now when it was listed */
export const entryOf = (booking: Listed, now: Date): LedgerEntry[] => {
  const { status, reference: id, creationDate } = booking;
  if (status === "PRECONFIRMED") return [];
  const isCancelled = status === "CANCELLED";
  return [
    {
      kind: "booking",
      id,
      reference: referenceIn(booking),
      state: isCancelled ? "CANCELLED" : "BOOKED",
      changedAt: isCancelled ? now.toISOString() : `${creationDate}T00:00:00.000Z`,
    },
  ];
};
