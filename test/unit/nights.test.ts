/** Nights of a stay: zones, midnight, clock changes, buffers. */
import fc from "fast-check";
import t from "tap";
import { nightsOf } from "../../actors/case/nights.ts";

interface Row {
  name: string;
  zone?: string;
  from: string;
  to?: string;
  decided?: string;
  late?: number;
  early?: number;
  stay: string;
}

const newYork = "America/New_York";
const rows: Row[] = [
  {
    name: "evening to next morning",
    from: "2026-11-21T21:30-05:00",
    to: "2026-11-22T08:00-05:00",
    stay: "2026-11-21 2026-11-22 1",
  },
  {
    name: "evening to next evening is still one night",
    from: "2026-11-21T21:30-05:00",
    to: "2026-11-22T20:30-05:00",
    stay: "2026-11-21 2026-11-22 1",
  },
  {
    name: "two days on",
    from: "2026-11-21T21:30-05:00",
    to: "2026-11-23T08:00-05:00",
    stay: "2026-11-21 2026-11-23 2",
  },
  {
    name: "same evening",
    from: "2026-11-21T16:00-05:00",
    to: "2026-11-21T23:50-05:00",
    stay: "2026-11-21 2026-11-21 0",
  },
  {
    name: "leaving at 01:30 is the same evening",
    from: "2026-11-21T18:00-05:00",
    to: "2026-11-22T01:30-05:00",
    stay: "2026-11-21 2026-11-21 0",
  },
  {
    name: "02:00 sharp too",
    from: "2026-11-21T18:00-05:00",
    to: "2026-11-22T02:00-05:00",
    stay: "2026-11-21 2026-11-21 0",
  },
  {
    name: "leaving at 02:01 had a night",
    from: "2026-11-21T18:00-05:00",
    to: "2026-11-22T02:01-05:00",
    stay: "2026-11-21 2026-11-22 1",
  },
  {
    name: "leaving at 05:30 had a night",
    from: "2026-11-21T18:00-05:00",
    to: "2026-11-22T05:30-05:00",
    stay: "2026-11-21 2026-11-22 1",
  },
  {
    name: "00:30 belongs to the night begun",
    from: "2026-11-22T00:30-05:00",
    to: "2026-11-22T09:00-05:00",
    stay: "2026-11-21 2026-11-22 1",
  },
  {
    name: "midnight sharp too",
    from: "2026-11-22T00:00-05:00",
    to: "2026-11-22T09:00-05:00",
    stay: "2026-11-21 2026-11-22 1",
  },
  {
    name: "00:30 to the morning after next",
    from: "2026-11-22T00:30-05:00",
    to: "2026-11-23T09:00-05:00",
    stay: "2026-11-21 2026-11-23 2",
  },
  {
    name: "a morning flight waits by day",
    from: "2026-11-22T07:00-05:00",
    to: "2026-11-22T19:00-05:00",
    stay: "2026-11-22 2026-11-22 0",
  },
  {
    name: "a morning flight to the next morning",
    from: "2026-11-22T06:00-05:00",
    to: "2026-11-23T07:00-05:00",
    stay: "2026-11-22 2026-11-23 1",
  },
  {
    name: "under four hours needs no room",
    from: "2026-11-22T05:00-05:00",
    to: "2026-11-22T08:59-05:00",
    stay: "2026-11-21 2026-11-21 0",
  },
  {
    name: "four hours do",
    from: "2026-11-22T05:00-05:00",
    to: "2026-11-22T09:00-05:00",
    stay: "2026-11-21 2026-11-22 1",
  },
  {
    name: "next flight before the old one",
    from: "2026-11-22T20:00-05:00",
    to: "2026-11-22T15:00-05:00",
    stay: "2026-11-22 2026-11-22 0",
  },
  {
    name: "cancelled two days ahead strands at departure",
    from: "2026-11-22T20:00-05:00",
    to: "2026-11-23T09:00-05:00",
    decided: "2026-11-20T09:00-05:00",
    stay: "2026-11-22 2026-11-23 1",
  },
  {
    name: "given up after midnight",
    from: "2026-11-21T20:00-05:00",
    to: "2026-11-22T14:00-05:00",
    decided: "2026-11-22T00:40-05:00",
    stay: "2026-11-21 2026-11-22 1",
  },
  {
    name: "given up the next morning",
    from: "2026-11-21T20:00-05:00",
    to: "2026-11-22T14:00-05:00",
    decided: "2026-11-22T06:30-05:00",
    stay: "2026-11-22 2026-11-22 0",
  },
  { name: "no next flight", from: "2026-11-21T21:30-05:00", stay: "2026-11-21 2026-11-22 1 assumed" },
  {
    name: "no next flight, after midnight",
    from: "2026-11-22T03:00-05:00",
    stay: "2026-11-21 2026-11-22 1 assumed",
  },
  {
    name: "late check-out reaches into the night",
    from: "2026-11-21T18:00-05:00",
    to: "2026-11-22T01:00-05:00",
    late: 90,
    stay: "2026-11-21 2026-11-22 1",
  },
  {
    name: "late check-out of a noon flight adds none",
    from: "2026-11-21T18:00-05:00",
    to: "2026-11-22T12:00-05:00",
    late: 240,
    stay: "2026-11-21 2026-11-22 1",
  },
  {
    name: "early check-in takes the night before",
    from: "2026-11-22T06:30-05:00",
    to: "2026-11-23T09:00-05:00",
    early: 60,
    stay: "2026-11-21 2026-11-23 2",
  },
  {
    name: "early check-in of an evening adds none",
    from: "2026-11-21T21:00-05:00",
    to: "2026-11-22T09:00-05:00",
    early: 240,
    stay: "2026-11-21 2026-11-22 1",
  },
  {
    name: "Tokyo: the local date counts",
    zone: "Asia/Tokyo",
    from: "2026-11-21T14:00Z",
    to: "2026-11-22T01:00Z",
    stay: "2026-11-21 2026-11-22 1",
  },
  {
    name: "Auckland, ahead of UTC's date",
    zone: "Pacific/Auckland",
    from: "2026-11-21T10:00Z",
    to: "2026-11-21T20:00Z",
    stay: "2026-11-21 2026-11-22 1",
  },
  {
    name: "Honolulu, behind UTC's date",
    zone: "Pacific/Honolulu",
    from: "2026-11-22T08:00Z",
    to: "2026-11-22T20:00Z",
    stay: "2026-11-21 2026-11-22 1",
  },
  {
    name: "Kathmandu, a quarter hour off",
    zone: "Asia/Kathmandu",
    from: "2026-11-21T18:20Z",
    to: "2026-11-22T03:00Z",
    stay: "2026-11-21 2026-11-22 1",
  },
  {
    name: "clocks go forward that night",
    from: "2026-03-07T22:00-05:00",
    to: "2026-03-08T08:00-04:00",
    stay: "2026-03-07 2026-03-08 1",
  },
  {
    name: "clocks go back that night",
    from: "2026-10-31T22:00-04:00",
    to: "2026-11-01T08:00-05:00",
    stay: "2026-10-31 2026-11-01 1",
  },
  {
    name: "01:30 for the second time is still the evening",
    from: "2026-10-31T18:00-04:00",
    to: "2026-11-01T01:30-05:00",
    stay: "2026-10-31 2026-10-31 0",
  },
  {
    name: "03:10 where the hour from 02:00 is missing",
    from: "2026-03-07T18:00-05:00",
    to: "2026-03-08T03:10-04:00",
    stay: "2026-03-07 2026-03-08 1",
  },
  {
    name: "over a year's end in Madrid",
    zone: "Europe/Madrid",
    from: "2026-12-31T22:00+01:00",
    to: "2027-01-02T10:00+01:00",
    stay: "2026-12-31 2027-01-02 2",
  },
  {
    name: "over a leap day",
    zone: "Europe/Madrid",
    from: "2028-02-28T22:00+01:00",
    to: "2028-03-01T10:00+01:00",
    stay: "2028-02-28 2028-03-01 2",
  },
];

for (const row of rows)
  t.test(row.name, async (t) => {
    const stay = nightsOf({
      scheduledDeparture: new Date(row.from),
      nextDeparture: row.to === undefined ? undefined : new Date(row.to),
      timeZone: row.zone ?? newYork,
      lateCheckoutMinutes: row.late ?? 0,
      earlyCheckInMinutes: row.early ?? 0,
      decidedAt: new Date(row.decided ?? row.from),
    });
    t.equal(`${stay.checkIn} ${stay.checkOut} ${stay.nights}${stay.assumed ? " assumed" : ""}`, row.stay);
  });

t.test("wrong input throws", async (t) => {
  const input = {
    scheduledDeparture: new Date("2026-11-21T21:30Z"),
    nextDeparture: undefined,
    timeZone: newYork,
    lateCheckoutMinutes: 0,
    earlyCheckInMinutes: 0,
    decidedAt: new Date("2026-11-21T21:30Z"),
  };
  t.throws(() => nightsOf({ ...input, timeZone: "Mars/Olympus" }), RangeError);
  t.throws(() => nightsOf({ ...input, scheduledDeparture: new Date("never") }), RangeError);
  t.throws(() => nightsOf({ ...input, nextDeparture: new Date("never") }), RangeError);
});

t.test(
  "any stay: dates match the nights, buffers never shorten, an hour's shift is at most a night",
  async () => {
    const zone = fc.constantFrom(
      newYork,
      "Asia/Tokyo",
      "Europe/Madrid",
      "Pacific/Apia",
      "Australia/Lord_Howe",
      "UTC",
    );
    const minutes = fc.integer({ min: 0, max: 1440 });
    const start = fc.integer({ min: Date.UTC(2026, 0, 1), max: Date.UTC(2027, 11, 31) });
    fc.assert(
      fc.property(
        zone,
        start,
        fc.integer({ min: 0, max: 5 * 86_400 }),
        minutes,
        minutes,
        (timeZone, at, waitSeconds, late, early) => {
          const of = (lateCheckoutMinutes: number, earlyCheckInMinutes: number, extraMs = 0) =>
            nightsOf({
              scheduledDeparture: new Date(at),
              nextDeparture: new Date(at + waitSeconds * 1000 + extraMs),
              timeZone,
              lateCheckoutMinutes,
              earlyCheckInMinutes,
              decidedAt: new Date(at - 1),
            });
          const plain = of(0, 0);
          const wide = of(late, early);
          const longer = of(0, 0, 3_600_000);
          const days = (Date.parse(wide.checkOut) - Date.parse(wide.checkIn)) / 86_400_000;
          return (
            days === wide.nights &&
            wide.nights >= plain.nights &&
            longer.nights >= plain.nights &&
            longer.nights <= plain.nights + 1 &&
            plain.nights <= Math.ceil(waitSeconds / 86_400) + 1
          );
        },
      ),
      { seed: 20261121, numRuns: 500 },
    );
  },
);
