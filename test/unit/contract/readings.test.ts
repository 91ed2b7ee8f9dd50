// How single dates, amounts, rooms and deadlines read in three languages, and which can be read in two ways.
import t from "tap";
import { freeUntil, releaseDaysIn } from "../../../actors/contract/document/extract.ts";
import { fold } from "../../../actors/contract/document/page-text.ts";
import {
  amountsIn,
  currenciesIn,
  datesIn,
  minorOf,
  orderIn,
  roomsIn,
} from "../../../actors/contract/document/readings.ts";

t.test("dates", async (t) => {
  const table: [text: string, order: "day" | "month" | undefined, readings: string[][]][] = [
    ["from 2026-11-01 to 2027-03-31", undefined, [["2026-11-01"], ["2027-03-31"]]],
    ["1st of November 2026", undefined, [["2026-11-01"]]],
    ["November 1, 2026", undefined, [["2026-11-01"]]],
    ["1 de marzo de 2027", undefined, [["2027-03-01"]]],
    ["1º de março de 2027", undefined, [["2027-03-01"]]],
    ["01-Nov-2026", undefined, [["2026-11-01"]]],
    ["13/01/2027", undefined, [["2027-01-13"]]],
    ["03/04/2027", undefined, [["2027-04-03", "2027-03-04"]]],
    ["03/04/2027", "day", [["2027-04-03"]]],
    ["03/04/27", "month", [["2027-03-04"]]],
    ["04.04.2027", undefined, [["2027-04-04"]]],
    ["31/31/2027", undefined, [[]]],
    ["29/02/2027", "day", [[]]],
    ["24-11-2026/7", undefined, [["2026-11-24"]]],
    ["phone 555-12-34", undefined, []],
  ];
  for (const [text, order, readings] of table)
    t.strictSame(
      datesIn(fold(text), order).map((date) => date.readings),
      readings,
      text,
    );
  t.equal(orderIn(["01/02/2026", "13/02/2026"]), "day");
  t.equal(orderIn(["02/13/2026"]), "month");
  t.equal(orderIn(["02/13/2026", "13/02/2026"]), undefined);
});

t.test("amounts", async (t) => {
  const table: [text: string, currency: string | undefined, minor: (number | undefined)[]][] = [
    ["EUR 95.00", undefined, [9500]],
    ["95,50 €", undefined, [9550]],
    ["1.234,56 EUR", undefined, [123_456]],
    ["US$1,234.50", undefined, [123_450]],
    ["R$ 310,00", undefined, [31_000]],
    ["JPY 9800", undefined, [9800]],
    ["EUR 1.234", undefined, [undefined]],
    ["$ 95.00", undefined, [undefined]],
    ["$ 95.00", "USD", [9500]],
    ["95.00", "EUR", [9500]],
    ["95.00", undefined, []],
    ["the 12 rooms", "EUR", []],
    ["10.10.2026", "EUR", []],
    ["EUR 95.005", undefined, [undefined]],
    ["JPY 98.50", undefined, [undefined]],
    ["EUR 90-110", undefined, [undefined]],
    ["EUR 90.00 – EUR 110.00", undefined, [undefined, undefined]],
    ["EUR 89.00 - 1 Nov 2026 to 31 Mar 2027", undefined, [8900]],
    ["EUR 89.00 - 01/11/2026", undefined, [8900]],
    ["USD 80.00  USD 95.00", undefined, [8000, 9500]],
    ["desde 95,00 €", undefined, [undefined]],
    ["max. 95.00", "EUR", [undefined]],
  ];
  for (const [text, currency, minor] of table)
    t.strictSame(amountsIn(text, fold(text), currency).map(minorOf), minor, text);
  t.strictSame(currenciesIn("ALL ROOMS IN EUR (€)"), ["EUR", "EUR"]);
});

t.test("rooms, release, cancellation", async (t) => {
  t.strictSame(
    roomsIn(fold("Habitación doble, triple o individual")).map(({ kind }) => kind),
    ["DOUBLE", "TRIPLE", "SINGLE"],
  );
  t.strictSame(roomsIn("doubles tennis"), []);
  const releases: [string, number | undefined][] = [
    ["2 days prior to arrival", 2],
    ["7 (seven) days", 7],
    ["72 hours", 3],
    ["36 hours", undefined],
    ["same day, 16:00", 0],
    ["mismo dia", 0],
    ["3 days, in summer 7 days", undefined],
    ["2 to 3 days", undefined],
    ["2-3 days", undefined],
    ["none", undefined],
  ];
  for (const [text, days] of releases) t.equal(releaseDaysIn(text), days, text);
  const deadlines: [string, object][] = [
    ["free of charge up to 24 hours before arrival", { freeUntilHoursBefore: 24 }],
    ["sin cargo hasta las 18:00 del dia de llegada", { freeUntilTime: "18:00" }],
    ["sem custo ate as 16h do mesmo dia", { freeUntilTime: "16:00" }],
    ["free until 18:00", {}],
    ["free up to 24-48 hours before arrival", {}],
    ["free 7 days before arrival, 50 % 2 days before", {}],
    ["one night is charged 24 hours before arrival", {}],
  ];
  for (const [text, deadline] of deadlines) t.strictSame(freeUntil(text), deadline, text);
});
