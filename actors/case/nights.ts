/** Owns how many nights a stranded passenger needs a room for, in local time at the case's airport; what they cost is the allocation's. */
import { isoDate, localDay } from "../../schemas/local-day.ts";

export interface StayInput {
  scheduledDeparture: Date;
  /** Undefined: not rebooked yet. */
  nextDeparture: Date | undefined;
  /** IANA name of the zone of the case's airport, e.g. `America/New_York`. */
  timeZone: string;
  lateCheckoutMinutes: number;
  earlyCheckInMinutes: number;
  decidedAt: Date;
}

export interface Stay {
  /** Local dates, `YYYY-MM-DD`; check-out is exclusive and equals check-in when no night is needed. */
  checkIn: string;
  checkOut: string;
  nights: number;
  /** True: no next flight is known, one night was assumed (DATA_INCOMPLETE). */
  assumed: boolean;
}

/** Whoever is stranded before this hour still gets the night already begun. */
const nightEndsHour = 6;
/** Whoever leaves by this hour waits at the airport: no hotel would be worth the two rides. */
const lateEveningEndsHour = 2;
const restMsMin = 4 * 3_600_000;

/**
 * The wait runs from the later of the scheduled departure and the decision (a flight cancelled long before strands
 * nobody earlier, a delay given up at midnight strands them at midnight) to the next departure; the policy's buffers
 * widen it, earlier by `earlyCheckInMinutes` and later by `lateCheckoutMinutes`.
 * The night of a date is needed when the widened wait begins before 06:00 of the morning after and ends after 02:00
 * of it: so 00:30 belongs to the night already begun, and a 23:50 or 01:30 departure needs no night of its own.
 * A wait of under four hours, before widening, needs no room; with no next flight one night is assumed.
 *
 * Buffers are elapsed minutes, the hours are those on the local clock, so a night in which clocks change is one
 * night. Throws a RangeError for an unknown zone or an invalid date.
 */
export const nightsOf = (input: StayInput): Stay => {
  const strandedMs = Math.max(input.scheduledDeparture.getTime(), input.decidedAt.getTime());
  const startMs = strandedMs - input.earlyCheckInMinutes * 60_000;
  const firstNight = localDay(startMs, input.timeZone, nightEndsHour);
  if (input.nextDeparture === undefined) return stay(firstNight, 1, true);
  const nextMs = input.nextDeparture.getTime();
  if (Number.isNaN(nextMs)) throw new RangeError("nextDeparture is not a valid date");
  if (nextMs - strandedMs < restMsMin) return stay(firstNight, 0, false);
  // A millisecond less, for a departure at 02:00 sharp still belongs to the evening.
  const endMs = nextMs + input.lateCheckoutMinutes * 60_000 - 1;
  const lastMorning = localDay(endMs, input.timeZone, lateEveningEndsHour);
  return stay(firstNight, Math.max(0, lastMorning - firstNight), false);
};

const stay = (firstNight: number, nights: number, assumed: boolean): Stay => ({
  checkIn: isoDate(firstNight),
  checkOut: isoDate(firstNight + nights),
  nights,
  assumed,
});
