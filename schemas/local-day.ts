/** Owns which calendar day it is somewhere, counted from 1970-01-01, and how a date is written. */
import Type from "typebox";

const dayMs = 86_400_000;

/** A local calendar date, `YYYY-MM-DD`. */
export const LocalDate = (example: string, description?: string) =>
  Type.String({
    format: "date",
    pattern: "^\\d{4}-\\d{2}-\\d{2}$",
    maxLength: 10,
    examples: [example],
    ...(description === undefined ? {} : { description }),
  });

/** The date so many days later. */
export const dateAfter = (date: string, days: number): string =>
  new Date(Date.parse(date) + days * dayMs).toISOString().slice(0, 10);

/** `YYYY-MM-DD` of a day counted from 1970-01-01. */
export const isoDate = (day: number): string => new Date(day * dayMs).toISOString().slice(0, 10);

/** Days since 1970-01-01 of the local date at that moment, for a day that begins at `dayBeginsHour` on the local clock. */
export const localDay = (timeMs: number, timeZone: string, dayBeginsHour: number): number => {
  const part: Record<string, number> = {};
  for (const { type, value } of clockIn(timeZone).formatToParts(timeMs)) part[type] = Number(value);
  const day = Date.UTC(part.year!, part.month! - 1, part.day!) / dayMs;
  return part.hour! < dayBeginsHour ? day - 1 : day;
};

/** Building a formatter costs a hundred times its use, and an airline flies from few zones. */
const clocks = new Map<string, Intl.DateTimeFormat>();

const clockIn = (timeZone: string): Intl.DateTimeFormat => {
  const known = clocks.get(timeZone);
  if (known !== undefined) return known;
  const clock = new Intl.DateTimeFormat("en-US", {
    timeZone,
    calendar: "gregory",
    numberingSystem: "latn",
    hourCycle: "h23",
    year: "numeric",
    month: "numeric",
    day: "numeric",
    hour: "numeric",
  });
  clocks.set(timeZone, clock);
  return clock;
};
