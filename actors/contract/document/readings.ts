/** Owns reading dates, amounts and room types out of a line's text, in English, Spanish and Portuguese. Where a text can be read in two ways it says so. */
import type { RoomKind } from "../../../schemas/contract-analysis.ts";
import { isCurrency, minorFromDecimal } from "../../../schemas/currency.ts";

interface Span {
  start: number;
  end: number;
}

export interface DateReading extends Span {
  /** `YYYY-MM-DD`. Two: the day and the month may be either way round. None: there is no such day. */
  readings: string[];
}

/** Which of a date's numbers comes first; undefined: the document doesn't show it. */
export type DateOrder = "day" | "month" | undefined;

const months: readonly (readonly string[])[] = [
  ["january", "jan", "enero", "ene", "janeiro"],
  ["february", "feb", "febrero", "fevereiro", "fev"],
  ["march", "mar", "marzo", "marco"],
  ["april", "apr", "abril", "abr"],
  ["may", "mayo", "maio", "mai"],
  ["june", "jun", "junio", "junho"],
  ["july", "jul", "julio", "julho"],
  ["august", "aug", "agosto", "ago"],
  ["september", "sep", "sept", "septiembre", "setiembre", "setembro", "set"],
  ["october", "oct", "octubre", "outubro", "out"],
  ["november", "nov", "noviembre", "novembro"],
  ["december", "dec", "diciembre", "dic", "dezembro", "dez"],
];
const monthOf = new Map(months.flatMap((names, i) => names.map((name) => [name, i + 1] as const)));
const month = [...monthOf.keys()].sort((a, b) => b.length - a.length).join("|");
const dayOfMonth = String.raw`(\d{1,2})(?:st|nd|rd|th|º|ª|o)?`;
const written = [
  { pattern: /\b(\d{4})-(\d{2})-(\d{2})\b/g, order: ["year", "month", "day"] },
  {
    pattern: new RegExp(
      String.raw`\b${dayOfMonth}\s*(?:of\s+|de\s+|-)?(${month})\b\.?,?\s*(?:of\s+|de\s+|del\s+|-)?(\d{4})\b`,
      "g",
    ),
    order: ["day", "month", "year"],
  },
  {
    pattern: new RegExp(String.raw`\b(${month})\b\.?\s+${dayOfMonth},?\s+(\d{4})\b`, "g"),
    order: ["month", "day", "year"],
  },
] as const;
const numeric = /\b(\d{1,2})([./-])(\d{1,2})\2(\d{4}|\d{2})\b/g;

/** @param folded small letters, no accents */
export const datesIn = (folded: string, order: DateOrder): DateReading[] => {
  const found: DateReading[] = [];
  for (const { pattern, order: parts } of written)
    for (const match of folded.matchAll(pattern)) {
      const part = (name: "year" | "month" | "day"): string => match[parts.indexOf(name as never) + 1]!;
      const named = part("month");
      const readings = dayOf(Number(part("year")), monthOf.get(named) ?? Number(named), Number(part("day")));
      found.push({ ...spanOf(match), readings });
    }
  for (const match of folded.matchAll(numeric)) {
    const [, first = "", , second = "", years = ""] = match;
    const year = years.length === 2 ? 2000 + Number(years) : Number(years);
    const dayFirst = dayOf(year, Number(second), Number(first));
    const monthFirst = dayOf(year, Number(first), Number(second));
    const either = [...new Set([...dayFirst, ...monthFirst])];
    const readings = order === "day" ? dayFirst : order === "month" ? monthFirst : either;
    found.push({ ...spanOf(match), readings });
  }
  return found.sort((a, b) => a.start - b.start);
};

/** Of a document: what its unmistakable dates show. Undefined: none does, or they contradict each other. */
export const orderIn = (lines: readonly string[]): DateOrder => {
  const shown = new Set<DateOrder>();
  for (const line of lines)
    for (const [, first, , second] of line.matchAll(numeric)) {
      if (Number(first) > 12 && Number(second) <= 12) shown.add("day");
      if (Number(second) > 12 && Number(first) <= 12) shown.add("month");
    }
  return shown.size === 1 ? [...shown][0] : undefined;
};

/** As a list of none or one. */
const dayOf = (year: number, monthNumber: number, day: number): string[] => {
  const at = new Date(Date.UTC(year, monthNumber - 1, day));
  const isReal =
    at.getUTCMonth() === monthNumber - 1 && at.getUTCDate() === day && year >= 2000 && year < 2100;
  return isReal ? [at.toISOString().slice(0, 10)] : [];
};

const spanOf = (match: RegExpMatchArray): Span => ({
  start: match.index ?? 0,
  end: (match.index ?? 0) + match[0].length,
});

const rangeWord = String.raw`(?:[-–—/]|\b(?:to|or|and|a|o|u|ou|y|e|hasta|ate)\b)`;
const rangeBefore = new RegExp(String.raw`\d\s*${rangeWord}\s*$`);
/** What follows is a number, and no date. */
const rangeAfter = new RegExp(
  String.raw`^\s*(?:%|${rangeWord}\s*(?:us\$|r\$|[€£$]|[a-z]{3}\s)?\s*\d+(?:[.,]\d+)?(?![.,/-]?\d|(?:st|nd|rd|th|º|ª|o)?\s*(?:of\s+|de\s+|-)?(?:${month})\b))`,
);
const reach = 24;

/** Whether a number counts by itself: it is no percentage, and no end of a range (`2-3`, `2 to 3`). */
export const standsAlone = (folded: string, { start, end }: Span): boolean =>
  !rangeBefore.test(folded.slice(Math.max(0, start - reach), start)) &&
  !rangeAfter.test(folded.slice(end, end + reach));

export interface AmountReading extends Span {
  /** ISO 4217; undefined: it says none, or one that several countries call so. */
  currency: string | undefined;
  /** With a point before the decimals. Undefined: it can be read in two ways, or is only a limit. */
  decimal: string | undefined;
}

const signs: Readonly<Record<string, string>> = {
  "€": "EUR",
  "£": "GBP",
  us$: "USD",
  r$: "BRL",
  euro: "EUR",
  euros: "EUR",
  reais: "BRL",
};
const sign = String.raw`us\$|r\$|[€£$]|euros?\b|reais\b|[a-z]{3}\b`;
const number = String.raw`\d{1,3}(?:[., ]\d{3})+(?:[.,]\d{1,2})?|\d+(?:[.,]\d{1,3})?`;
const amount = new RegExp(
  String.raw`(?<![\w$€£])(?:(${sign})\s*(${number})|(${number})\s*(${sign})(?!\s*\d))(?![\w/])`,
  "g",
);
const bare = /(?<![\d.,/-])\d{1,6}[.,]\d{2}(?![\d.,/-])/g;

/** @param line as it stands, for codes are in capitals; @param currency that the document names elsewhere: bare decimals are of it */
export const amountsIn = (line: string, folded: string, currency: string | undefined): AmountReading[] => {
  const found: AmountReading[] = [];
  for (const match of folded.matchAll(amount)) {
    const [, before, numberAfter, numberBefore, after] = match;
    const named = before ?? after ?? "";
    const at = folded.indexOf(named, match.index);
    const code = currencyOf(named, line.slice(at, at + named.length));
    if (code === undefined && named !== "$") continue;
    const number = numberAfter ?? numberBefore ?? "";
    found.push(amountOf(folded, spanOf(match), number, code ?? dollars(currency)));
  }
  if (found.length === 0 && currency !== undefined)
    for (const match of line.matchAll(bare)) found.push(amountOf(folded, spanOf(match), match[0], currency));
  return found;
};

const limitBefore =
  /\b(?:from|starting at|desde|a partir de|up to|hasta|ate|min(?:imum|imo|imal)?\.?|max(?:imum|imo)?\.?)\s*$/;

const amountOf = (
  folded: string,
  span: Span,
  number: string,
  currency: string | undefined,
): AmountReading => {
  const isLimit = limitBefore.test(folded.slice(Math.max(0, span.start - reach), span.start));
  const counts = !isLimit && standsAlone(folded, span);
  return { ...span, currency, decimal: counts ? decimalOf(number) : undefined };
};

const currencyOf = (named: string, asWritten: string): string | undefined => {
  const code = Object.hasOwn(signs, named) ? signs[named] : undefined;
  if (code !== undefined) return code;
  return /^[A-Z]{3}$/.test(asWritten) && isCurrency(asWritten) ? asWritten : undefined;
};

/** A `$` is that of the document, where it names one that is called so. */
const dollars = (currency: string | undefined): string | undefined =>
  currency !== undefined && /^(USD|CAD|AUD|NZD|SGD|HKD|MXN|CLP|COP|ARS)$/.test(currency)
    ? currency
    : undefined;

/** The currencies that a line names by themselves. */
export const currenciesIn = (line: string): string[] => [
  ...[...line.matchAll(/\b[A-Z]{3}\b/g)]
    .map(([code]) => code)
    .filter((code) => isCurrency(code) && !words.has(code)),
  ...[...line.matchAll(/US\$|R\$|€|£/gi)].map(([found]) => signs[found.toLowerCase()] ?? ""),
];

/** Codes of money that are words or places, too. */
const words: ReadonlySet<string> = new Set(["ALL", "TOP", "TRY", "CUP", "MOP", "LAK", "SOS", "PEN", "DOP"]);

const decimalOf = (text: string): string | undefined => {
  const separators = [...text.matchAll(/[., ]/g)].map(([separator]) => separator);
  const last = separators.at(-1);
  if (last === undefined) return text;
  const fraction = text.slice(text.lastIndexOf(last) + 1);
  const whole = text.slice(0, text.lastIndexOf(last)).replaceAll(/[., ]/g, "");
  // One separator before three digits parts thousands here and decimals there.
  if (fraction.length === 3) return separators.length === 1 && last !== " " ? undefined : whole + fraction;
  return `${whole}.${fraction}`;
};

/** Undefined: it says no currency, or has more decimals than it. */
export const minorOf = ({ decimal, currency }: AmountReading): number | undefined =>
  decimal === undefined || currency === undefined ? undefined : minorFromDecimal(decimal, currency);

/** How many sleep in it is said by its name; of others it is not. */
const rooms: readonly { kind: RoomKind; pattern: RegExp; occupancy?: number }[] = [
  { kind: "SINGLE", pattern: /\b(single|individual(es)?|sencillas?|solteiro|sgl)\b/g, occupancy: 1 },
  { kind: "DOUBLE", pattern: /\b(double|dobles?|duplos?|casal|matrimonial(es)?|dbl)\b/g, occupancy: 2 },
  { kind: "TWIN", pattern: /\b(twin|dos camas|duas camas|twn)\b/g, occupancy: 2 },
  { kind: "TRIPLE", pattern: /\b(triples?|triplos?|tpl)\b/g, occupancy: 3 },
  { kind: "QUADRUPLE", pattern: /\b(quadruple|quad|cuadruples?|quadruplos?)\b/g, occupancy: 4 },
  { kind: "FAMILY", pattern: /\b(family|familiar(es)?|familia)\b/g },
  { kind: "SUITE", pattern: /\b(suites?)\b/g },
];

export const occupancyOf = (kind: RoomKind): number | undefined =>
  rooms.find((room) => room.kind === kind)?.occupancy;

/** In their order. */
export const roomsIn = (folded: string): (Span & { kind: RoomKind })[] =>
  rooms
    .flatMap(({ kind, pattern }) =>
      [...folded.matchAll(pattern)].map((match) => ({ kind, ...spanOf(match) })),
    )
    .sort((a, b) => a.start - b.start);
