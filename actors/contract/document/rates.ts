/** Owns finding what rooms cost, by type and season, and whether that comes to the one rate a night that a contract has. */
import type { Conditions, Draft } from "../../../schemas/contract-analysis.ts";
import { dateAfter } from "../../../schemas/local-day.ts";
import type { Evidence } from "./evidence.ts";
import type { Term } from "./labels.ts";
import type { Line } from "./page-text.ts";
import {
  type AmountReading,
  amountsIn,
  type DateOrder,
  type DateReading,
  datesIn,
  minorOf,
  occupancyOf,
  roomsIn,
} from "./readings.ts";

export interface Context {
  evidence: Evidence;
  order: DateOrder;
  /** The document's, where it names one alone. */
  currency: string | undefined;
}

type RoomType = Conditions["roomTypes"][number];
type Season = { from: string; until: string };
type Rate = Partial<Season> & { nightlyRateMinor: number };

export interface Rates {
  roomTypes: RoomType[];
  rates: Draft["rates"];
  maxOccupancy: number | undefined;
}

/** Amounts of these lines are no rates. */
const otherMoney =
  /\b(cancel\w*|penalt\w*|deposit\w*|tax(?:es)?|city tax|breakfast|parking|supplement\w*|fee|extra bed|rollaway|half board|day use|cama (?:extra|supletoria)|media pension|meia pensao|impuestos?|desayuno|suplemento|penaliza\w*|multa|taxas?|cafe da manha|pequeno[- ]almoco|transfer|shuttle)\b/;
const rateWords =
  /\b(rates?|tarifas?|precios?|precos?|diarias?|price|per night|por noche|por noite|nightly)\b/;

export const findRates = (
  lines: readonly Line[],
  terms: readonly Term[],
  context: Context,
  validity: Partial<Season>,
): Rates => {
  const labelled = new Set(terms.filter(({ label }) => label === "rate").map(({ line }) => line));
  const roomTypes: RoomType[] = [];
  const plain: Rate[] = [];
  let columns: RoomType["kind"][] = [];
  for (const line of lines) {
    const rooms = roomsIn(line.folded);
    const amounts = amountsIn(line.text, line.folded, context.currency);
    if (amounts.length === 0) {
      if (rooms.length > 1) columns = rooms.map(({ kind }) => kind);
      continue;
    }
    if (otherMoney.test(line.folded)) continue;
    const kinds =
      rooms.length > 0 ? rooms.map(({ kind }) => kind) : columns.length === amounts.length ? columns : [];
    const isRate = kinds.length > 0 || labelled.has(line) || rateWords.test(line.folded);
    const season = isRate ? seasonOf(line, datesIn(line.folded, context.order), context.evidence) : "none";
    if (!isRate || season === "unclear") continue;
    for (const [i, amount] of amounts.entries()) {
      const kind =
        kinds.length === amounts.length
          ? kinds[i]
          : amounts.length === 1 && kinds.length === 1
            ? kinds[0]
            : undefined;
      noteRate({ line, amount, kind, season: season === "none" ? {} : season }, context, roomTypes, plain);
    }
  }
  nameOnly(lines, context, roomTypes);
  return { roomTypes, ...draftRates(roomTypes, plain, validity, context.evidence) };
};

const seasonOf = (
  line: Line,
  dates: readonly DateReading[],
  evidence: Evidence,
): Season | "none" | "unclear" => {
  if (dates.length === 0) return "none";
  const [from, until, ...more] = dates.map(({ readings }) =>
    readings.length === 1 ? readings[0] : undefined,
  );
  if (from !== undefined && until !== undefined && more.length === 0 && from <= until)
    return { from, until: dateAfter(until, 1) };
  evidence.doubt("/draft/rates", "the season of a rate is no plain range of dates", {
    line,
    start: 0,
    end: line.text.length,
  });
  return "unclear";
};

interface Found {
  line: Line;
  amount: AmountReading;
  kind: RoomType["kind"] | undefined;
  season: Partial<Season>;
}

const noteRate = (
  { line, amount, kind, season }: Found,
  { evidence }: Context,
  roomTypes: RoomType[],
  plain: Rate[],
): void => {
  const { start, end } = amount;
  const nightlyRateMinor = minorOf(amount);
  if (nightlyRateMinor === undefined) {
    const why =
      amount.currency === undefined
        ? "says no currency, or one that several countries have"
        : "can be read in two ways, or is a limit alone";
    evidence.doubt("/draft/rates", `the amount ${why}`, { line, start, end });
    return;
  }
  const rate = { ...season, nightlyRateMinor };
  if (kind === undefined) {
    if (evidence.note("/draft/rates", rate, 0.85, { line, start, end })) plain.push(rate);
    return;
  }
  const roomType: RoomType = { kind, ...rate, currency: amount.currency! };
  const isKnown = roomTypes.some((known) => JSON.stringify(known) === JSON.stringify(roomType));
  if (!isKnown && evidence.note("/conditions/roomTypes", roomType, 0.9, { line, start, end }))
    roomTypes.push(roomType);
};

/** Types that are named without a rate: in a list, or a line about rooms. */
const nameOnly = (lines: readonly Line[], { evidence }: Context, roomTypes: RoomType[]): void => {
  for (const line of lines) {
    if (!/\b(rooms?|room types?|habitacion(?:es)?|quartos?)\b/.test(line.folded)) continue;
    for (const { kind, start, end } of roomsIn(line.folded)) {
      if (roomTypes.some((known) => known.kind === kind)) continue;
      if (evidence.note("/conditions/roomTypes", { kind }, 0.7, { line, start, end }))
        roomTypes.push({ kind });
    }
  }
};

/** A contract has one rate a night: types that cost differently have to be chosen from. */
const draftRates = (
  roomTypes: readonly RoomType[],
  plain: readonly Rate[],
  { from, until }: Partial<Season>,
  evidence: Evidence,
): Pick<Rates, "rates" | "maxOccupancy"> => {
  const priced = roomTypes.filter((type): type is RoomType & Rate => type.nightlyRateMinor !== undefined);
  const kinds = [...new Set(roomTypes.map(({ kind }) => kind))];
  const occupancies = [...new Set(kinds.map(occupancyOf))];
  const maxOccupancy = occupancies.length === 1 ? occupancies[0] : undefined;
  if (occupancies.length > 1)
    evidence.doubt("/draft/maxOccupancy", `the rooms are of several sizes: ${kinds.join(", ")}`);
  const all: Rate[] = [...priced, ...plain];
  const seasons = new Map<string, Set<number>>();
  for (const rate of all) {
    const season = { from: rate.from ?? from, until: rate.until ?? until };
    const key = JSON.stringify(season);
    seasons.set(key, (seasons.get(key) ?? new Set()).add(rate.nightlyRateMinor));
  }
  if (all.length === 0) return { rates: undefined, maxOccupancy };
  if ([...seasons.values()].some((amounts) => amounts.size > 1)) {
    const what = kinds.length > 1 ? `${kinds.join(", ")} have different rates` : "several rates are given";
    evidence.doubt("/draft/rates", `${what}; a contract here has one a night`);
    return { rates: undefined, maxOccupancy };
  }
  const rates = [...seasons].map(([key, [nightlyRateMinor = 0]]) => ({
    ...(JSON.parse(key) as Partial<Season>),
    nightlyRateMinor,
  }));
  const dated = rates.flatMap(({ from: start, until: end, nightlyRateMinor }) =>
    start === undefined || end === undefined ? [] : [{ from: start, until: end, nightlyRateMinor }],
  );
  if (dated.length < rates.length)
    evidence.doubt("/draft/rates", "the rates have no season, and the document no plain validity");
  else if (overlap(dated)) evidence.doubt("/draft/rates", "seasons with different rates overlap");
  else return { rates: dated, maxOccupancy };
  return { rates: undefined, maxOccupancy };
};

const overlap = (seasons: readonly Season[]): boolean =>
  seasons.some((one, i) =>
    seasons.slice(i + 1).some((other) => one.from < other.until && other.from < one.until),
  );
