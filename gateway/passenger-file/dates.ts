/** Owns reading a day as people and spreadsheets write it; what could be two days is none. */
import type { Cell } from "./table.ts";

/** What is told of somebody by their age in years (IATA: infants until 2, children until 12). */
export const typeAt = (born: Date, on: Date): "ADULT" | "CHILD" | "INFANT" => {
  const had = on.getUTCMonth() * 100 + on.getUTCDate() >= born.getUTCMonth() * 100 + born.getUTCDate();
  const years = on.getUTCFullYear() - born.getUTCFullYear() - (had ? 0 : 1);
  return years < 2 ? "INFANT" : years < 12 ? "CHILD" : "ADULT";
};

const months: Readonly<Record<string, number>> = Object.fromEntries(
  [
    "jan ene gen janv january enero janeiro janvier januar",
    "feb fev fevr february febrero fevereiro fevrier februar",
    "mar mars marz march marzo marco marz mrz",
    "apr abr avr april abril avril",
    "may mai mayo maio",
    "jun juin june junio junho juni",
    "jul juil july julio julho juillet juli",
    "aug ago aout august agosto",
    "sep set sept september septiembre setembro septembre",
    "oct out okt october octubre outubro octobre oktober",
    "nov november noviembre novembro novembre",
    "dec dic dez december diciembre dezembro decembre dezember",
  ].flatMap((names, i) => names.split(" ").map((name) => [name, i + 1])),
);

/** The numbers of days that birthdays have: from 1900 to 2173. */
const serialMax = 100_000;
const dayCharactersMax = 40;
const msPerDay = 86_400_000;
/** Day 0: the calendar of 1900 counts a 29 February that never was, so days after it count from the day before. */
const day0Ms = { from1900: Date.UTC(1899, 11, 30), from1904: Date.UTC(1904, 0, 1) };

/** Undefined: no day, none that exists, or one that could be two (03/04/1990). */
export const dayOf = ({ text, kind }: Cell, from1904: boolean): Date | undefined => {
  if (kind === "number" && Number(text) > 0 && Number(text) < serialMax)
    return new Date((from1904 ? day0Ms.from1904 : day0Ms.from1900) + Math.floor(Number(text)) * msPerDay);
  if (text.length > dayCharactersMax) return undefined;
  const plain = text
    .normalize("NFKD")
    .replaceAll(/\p{Mark}/gu, "")
    .toLowerCase();
  const iso = /^(\d{4})([-/.]?)(\d{2})\2(\d{2})(?:[t ][\d:.]+z?)?$/.exec(plain);
  if (iso !== null) return existing(Number(iso[1]), Number(iso[3]), Number(iso[4]));
  const named = /^(\d{1,2})(?:\.|st|nd|rd|th)?[\s./-]*(?:de )?([a-z]+)\.?[\s./-]*(?:de )?,?\s*(\d{4})$/.exec(
    plain,
  );
  if (named !== null) return existing(Number(named[3]), months[named[2] ?? ""] ?? 0, Number(named[1]));
  const monthFirst = /^([a-z]+)\.? ?(\d{1,2})(?:st|nd|rd|th)?,? (\d{4})$/.exec(plain);
  if (monthFirst !== null)
    return existing(Number(monthFirst[3]), months[monthFirst[1] ?? ""] ?? 0, Number(monthFirst[2]));
  const figures = /^(\d{1,2})([./-])(\d{1,2})\2(\d{4})$/.exec(plain);
  return figures === null
    ? undefined
    : ofFigures(Number(figures[1]), Number(figures[3]), Number(figures[4]), figures[2] === ".");
};

/** With points the day is first everywhere; with others it is first or second, which only a figure above 12 tells. */
const ofFigures = (a: number, b: number, year: number, pointed: boolean): Date | undefined => {
  if (pointed || a > 12 || a === b) return existing(year, b, a);
  return b > 12 ? existing(year, a, b) : undefined;
};

const existing = (year: number, month: number, day: number): Date | undefined => {
  const date = new Date(Date.UTC(year, month - 1, day));
  const isReal =
    date.getUTCFullYear() === year && date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
  return isReal ? date : undefined;
};
