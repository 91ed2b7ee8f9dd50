/** Owns finding a contract's terms in the text of a document, by rules; nothing is guessed. How single values read is `readings.ts`'s. */
import { airport as airportOf } from "../../../schemas/airports.ts";
import type { Conditions, Draft, Extraction } from "../../../schemas/contract-analysis.ts";
import { isCurrency } from "../../../schemas/currency.ts";
import { dateAfter } from "../../../schemas/local-day.ts";
import { Evidence } from "./evidence.ts";
import { languageOf, type Term, termsIn } from "./labels.ts";
import { type Line, linesOf, type PageText } from "./page-text.ts";
import { type Context, findRates } from "./rates.ts";
import { currenciesIn, datesIn, orderIn, standsAlone } from "./readings.ts";

export const extract = (pages: readonly PageText[]): Extraction => {
  const lines = pages.flatMap(linesOf);
  const terms = termsIn(lines);
  const evidence = new Evidence();
  const language = languageOf(lines);
  const order =
    orderIn(lines.map(({ folded }) => folded)) ??
    (language === "es" || language === "pt" ? "day" : undefined);
  const context: Context = { evidence, order, currency: currencyOf(lines, terms, evidence) };
  for (const term of terms) find[term.label]?.(term, context);
  findSentences(lines, terms, context);
  const cancellation = cancellationOf(lines, terms, evidence);
  const validity = validityOf(evidence);
  const { roomTypes, rates, maxOccupancy } = findRates(lines, terms, context, validity);
  const draft = draftOf(evidence, context, { ...validity, rates, maxOccupancy });
  const releaseDays = evidence.agreed<number>("/conditions/releaseDays");
  const conditions: Conditions = {
    roomTypes,
    ...(releaseDays === undefined ? {} : { releaseDays }),
    ...(cancellation === undefined ? {} : { cancellation }),
  };
  return {
    language,
    pagesRecognised: pages.filter(({ recognised }) => recognised).map(({ page }) => page),
    draft,
    conditions,
    found: evidence.found,
    unclear: evidence.unclear,
    missing: missingOf(draft),
  };
};

const currencyOf = (
  lines: readonly Line[],
  terms: readonly Term[],
  evidence: Evidence,
): string | undefined => {
  const pointer = "/draft/currency";
  for (const { label, line, start, end } of terms) {
    if (label !== "currency") continue;
    const value = line.text.slice(start, end);
    const alone = /^\W*([A-Z]{3})\W*$/.exec(value)?.[1] ?? "";
    for (const code of new Set(isCurrency(alone) ? [alone] : currenciesIn(value)))
      evidence.note(pointer, code, 0.97, { line, start, end });
  }
  if (evidence.found.length > 0) return evidence.agreed<string>(pointer);
  for (const line of lines)
    for (const code of currenciesIn(line.text)) {
      if (evidence.found.some(({ value }) => value === code)) continue;
      const start = Math.max(0, line.text.indexOf(code));
      evidence.note(pointer, code, 0.9, { line, start, end: start + code.length });
    }
  return evidence.agreed<string>(pointer);
};

type Find = (term: Term, context: Context) => void;

const anyCode = /(?<!\p{L})[A-Z]{3}(?!\p{L})/gu;
const codeInBrackets = /(?<=\()[A-Z]{3}(?=\))/g;

const whole = (text: string): string =>
  text
    .replaceAll(/\s+/g, " ")
    .replace(/[;,.]$/, "")
    .trim();

const noteText =
  (pointer: string, confidence: number, lengthMax: number): Find =>
  ({ line, start, end }, { evidence }) => {
    const text = whole(line.text.slice(start, end));
    if (text.length >= 2 && text.length <= lengthMax)
      evidence.note(pointer, text, confidence, { line, start, end });
  };

/** The whole number that `unit` follows, or that the text begins with, if there is no other such. */
const noteCount =
  (pointer: string, confidence: number, unit: RegExp, max = 99_999): Find =>
  ({ line, start, end }, { evidence }) => {
    const folded = line.folded.slice(start, end);
    const numbers = [...folded.matchAll(/\d+(?:[.,/]\d+)*/g)].map((match) => ({
      text: match[0],
      start: match.index,
      end: match.index + match[0].length,
    }));
    if (numbers.length === 0) return;
    const counted = numbers.filter((number) => unit.test(folded.slice(number.end)));
    const [number, ...others] = counted.length > 0 ? counted : numbers;
    const isPlain =
      number !== undefined &&
      others.length === 0 &&
      (counted.length > 0 || /^[^a-z]*(?:max\w*\W*)?$/.test(folded.slice(0, number.start))) &&
      /^\d{1,5}$/.test(number.text) &&
      Number(number.text) <= max &&
      standsAlone(folded, number);
    if (!isPlain) return evidence.doubt(pointer, "gives no plain number", { line, start, end });
    const spot = { line, start: start + number.start, end: start + number.end };
    evidence.note(pointer, Number(number.text), confidence, spot);
  };

const roomsUnit = /^\s*(?:\w+ )?(?:rooms?|habitacion(?:es)?|quartos?)/;
const personsUnit =
  /^\s*(?:persons?|people|adults?|guests?|pax|personas|adultos|huespedes|pessoas|hospedes)\b/;
const starsUnit = /^\s*-?\s*(?:[*★]|stars?\b|estrellas?\b|estrelas?\b)/;
const roomsPointer = "/draft/block/roomsPerNight";
const occupancyPointer = "/draft/maxOccupancy";

const find: Partial<Record<Term["label"], Find>> = {
  hotel: noteText("/draft/hotel/name", 0.95, 120),
  address: noteText("/draft/hotel/address", 0.95, 300),
  stars: noteCount("/draft/hotel/stars", 0.9, starsUnit, 5),
  airport: ({ line, start, end }, { evidence }) => {
    const text = line.text.slice(start, end);
    // In a line of capitals every short word looks like a code: LOS ANGELES.
    const written = /\p{Ll}/u.test(text) || /^\W*[A-Z]{3}\W*$/.test(text) ? anyCode : codeInBrackets;
    const codes = [...text.matchAll(written)].filter(([code]) => airportOf(code));
    for (const { 0: code, index } of codes)
      evidence.note("/draft/airport", code, 0.95, { line, start: start + index, end: start + index + 3 });
    if (codes.length === 0)
      evidence.doubt("/draft/airport", "names no airport by its code", { line, start, end });
  },
  validity: (term, context) => noteValidity(term, context, 0.95),
  allotment: noteCount(roomsPointer, 0.95, roomsUnit),
  accessible: noteCount("/draft/accessibleRooms", 0.95, roomsUnit),
  occupancy: noteCount(occupancyPointer, 0.95, personsUnit, 20),
  release: ({ line, start, end }, { evidence }) => {
    const folded = line.folded.slice(start, end);
    const days = releaseDaysIn(folded);
    const pointer = "/conditions/releaseDays";
    if (days === undefined) evidence.doubt(pointer, "gives no plain number of days", { line, start, end });
    else evidence.note(pointer, days, 0.95, { line, start, end });
  },
};

/** Whole days before arrival; hours that make none are nobody's to round. */
export const releaseDaysIn = (folded: string): number | undefined => {
  if (/\b(same day|day of arrival|mismo dia|dia de llegada|mesmo dia|dia da chegada)\b/.test(folded))
    return 0;
  const spans = [...folded.matchAll(/\b(\d{1,3})\s*(?:\(\w+\)\s*)?(days?|dias?|hours?|hrs?|horas?|h)\b/g)];
  const [span] = spans;
  if (span === undefined || spans.length > 1) return undefined;
  const [, count = "", unit = ""] = span;
  if (!standsAlone(folded, { start: span.index, end: span.index + count.length })) return undefined;
  const days = Number(count) / (unit.startsWith("h") ? 24 : 1);
  return Number.isInteger(days) ? days : undefined;
};

const validFrom = "/draft/validFrom";
const validUntil = "/draft/validUntil";

/** What is said to last to a day lasts over its night, unless it says that this is the day of departure. */
const noteValidity = ({ line, start, end }: Term, { evidence, order }: Context, confidence: number): void => {
  const dates = datesIn(line.folded, order).filter((date) => date.start >= start && date.end <= end);
  const [from, until, ...more] = dates;
  if (from === undefined) return;
  const spot = { line, start, end };
  if (until === undefined || more.length > 0) {
    evidence.doubt(validFrom, "is no plain range from one date to another", spot);
    return;
  }
  const [[first, ...others], [last, ...otherEnds]] = [from.readings, until.readings];
  if (first === undefined || last === undefined) {
    evidence.doubt(validFrom, "has a date that there is not", spot);
    return;
  }
  if (others.length > 0 || otherEnds.length > 0) {
    evidence.doubt(
      validFrom,
      `the day and the month may be either way round: ${[...from.readings, ...until.readings].join(", ")}`,
      spot,
    );
    return;
  }
  if (last <= first) {
    evidence.doubt(validUntil, "ends before it begins", spot);
    return;
  }
  const isDeparture = /check-?out|departure|salida|saida/.test(line.folded.slice(start, end));
  evidence.note(validFrom, first, confidence, { line, start: from.start, end: from.end });
  evidence.note(
    validUntil,
    isDeparture ? last : dateAfter(last, 1),
    confidence,
    { line, start: until.start, end: until.end },
    isDeparture ? undefined : `the night of ${last} is counted in`,
  );
};

const validityOf = (evidence: Evidence): { from?: string; until?: string } => {
  const [from, until] = [evidence.agreed<string>(validFrom), evidence.agreed<string>(validUntil)];
  return { ...(from === undefined ? {} : { from }), ...(until === undefined ? {} : { until }) };
};

const nightly =
  /\b(\d{1,4}) (?:\w+ )?(?:rooms|habitaciones|quartos) (?:per|each|every|por|cada|a) (?:night|noche|noite|day|dia)\b/g;

/** Terms that stand in a sentence, where no label has given them. */
const findSentences = (lines: readonly Line[], terms: readonly Term[], context: Context): void => {
  const { evidence } = context;
  const lacks = {
    validity: !evidence.speaksOf(validFrom),
    rooms: !evidence.speaksOf(roomsPointer),
    airport: !evidence.speaksOf("/draft/airport"),
  };
  const labelled = new Set(
    terms.filter(({ label }) => label === "cancellation" || label === "rate").map(({ line }) => line),
  );
  for (const line of lines) {
    if (labelled.has(line)) continue;
    const all = { line, start: 0, end: line.text.length };
    const speaksOfValidity = /\b(valid|in force|effective|vigente|vigor|valido|valida|vigencia)\b/.test(
      line.folded,
    );
    if (lacks.validity && speaksOfValidity && datesIn(line.folded, context.order).length === 2)
      noteValidity({ label: "validity", ...all }, context, 0.85);
    for (const { 0: text, 1: count = "", index } of lacks.rooms ? line.folded.matchAll(nightly) : []) {
      const spot = { line, start: index, end: index + text.length };
      if (standsAlone(line.folded, { start: index, end: index + count.length }))
        evidence.note(roomsPointer, Number(count), 0.85, spot);
      else evidence.doubt(roomsPointer, "gives no plain number", spot);
    }
    const code = /\b(?:airport|aeropuerto|aeroporto)\b.{0,60}?\(([A-Z]{3})\)/i.exec(line.text);
    if (lacks.airport && code !== null && airportOf(code[1] ?? "") !== undefined)
      evidence.note("/draft/airport", code[1], 0.85, {
        line,
        start: code.index,
        end: code.index + code[0].length,
      });
  }
};

/** The next one's number, or a dot. */
const clause = /^(?:\d{1,2}(?:\.\d{1,2})*[.)]|[-•*])\s/;

/** The label's line and those below it up to the next label; its words are kept, and what is plain in them. */
const cancellationOf = (
  lines: readonly Line[],
  terms: readonly Term[],
  evidence: Evidence,
): Conditions["cancellation"] => {
  const term = terms.find(({ label }) => label === "cancellation");
  if (term === undefined) return undefined;
  const labelled = new Set(terms.map(({ line }) => line));
  const at = lines.indexOf(term.line);
  const rest = lines.slice(at + 1, at + 4);
  const stop = rest.findIndex(
    (line) => labelled.has(line) || clause.test(line.text) || line.page !== term.line.page,
  );
  const below = stop < 0 ? rest : rest.slice(0, stop);
  const text = whole(
    [term.line.text.slice(term.start, term.end), ...below.map((line) => line.text)].join(" "),
  ).slice(0, 500);
  const folded = [term.line.folded.slice(term.start, term.end), ...below.map((line) => line.folded)].join(
    " ",
  );
  const value = { text, ...freeUntil(folded) };
  return evidence.note("/conditions/cancellation", value, 0.9, term) === undefined ? undefined : value;
};

const free =
  /\b(free|without (?:charge|penalty|cost)|no (?:charge|penalty)|gratis|gratuita?|sin (?:cargo|coste|penalidad|gastos)|sem (?:custo|encargos?|penalidade))\b/;

/** Of one deadline alone: several are steps of a scale, whose words have to be read. */
export const freeUntil = (folded: string): { freeUntilHoursBefore?: number; freeUntilTime?: string } => {
  if (!free.test(folded)) return {};
  const spans = [
    ...folded.matchAll(
      /\b(\d{1,3})\s*(hours?|hrs?|horas?|h|days?|dias?)\b(?=.{0,12}\b(before|prior|antes|previ|de antelacion|de antecedencia))/g,
    ),
  ];
  const times = [
    ...folded.matchAll(
      /\b(?:until|before|by|hasta(?: las)?|antes de(?: las)?|ate(?: as)?)\s+([01]?\d|2[0-3])[:.h]([0-5]\d)?/g,
    ),
  ];
  const [span] = spans;
  if (span !== undefined && spans.length === 1 && times.length === 0) {
    const [, count = "", unit = ""] = span;
    if (!standsAlone(folded, { start: span.index, end: span.index + count.length })) return {};
    return { freeUntilHoursBefore: Number(count) * (unit.startsWith("d") ? 24 : 1) };
  }
  const onDay =
    /\b(day of arrival|arrival day|same day|dia de (?:la )?llegada|mismo dia|dia da chegada|mesmo dia)\b/.test(
      folded,
    );
  if (times.length !== 1 || spans.length > 0 || !onDay) return {};
  const [, hour = "", minute = "00"] = times[0]!;
  return { freeUntilTime: `${hour.padStart(2, "0")}:${minute}` };
};

const draftOf = (
  evidence: Evidence,
  { currency }: Context,
  {
    from,
    until,
    rates,
    maxOccupancy,
  }: { from?: string; until?: string } & Pick<Draft, "rates" | "maxOccupancy">,
): Draft => {
  const hotel = {
    name: evidence.agreed<string>("/draft/hotel/name"),
    address: evidence.agreed<string>("/draft/hotel/address"),
    stars: evidence.agreed<number>("/draft/hotel/stars"),
  };
  const roomsPerNight = evidence.agreed<number>(roomsPointer);
  const all = {
    hotel: Object.values(hotel).every((value) => value === undefined) ? undefined : present(hotel),
    airport: evidence.agreed<string>("/draft/airport"),
    validFrom: from,
    validUntil: until,
    rates,
    currency,
    maxOccupancy: evidence.speaksOf(occupancyPointer)
      ? evidence.agreed<number>(occupancyPointer)
      : maxOccupancy,
    accessibleRooms: evidence.agreed<number>("/draft/accessibleRooms"),
    block: roomsPerNight === undefined ? undefined : { roomsPerNight },
  };
  return present(all) as Draft;
};

const present = <Members extends object>(members: Members): Partial<Members> =>
  Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Partial<Members>;

const needed = [
  "airport",
  "validFrom",
  "validUntil",
  "rates",
  "currency",
  "maxOccupancy",
  "accessibleRooms",
  "block",
] as const;

/** What no document says of a hotel is needed too: where it is, in degrees, and what it offers in our words. */
const missingOf = (draft: Draft): string[] => [
  "/name",
  ...(["name", "address"] as const)
    .filter((name) => draft.hotel?.[name] === undefined)
    .map((name) => `/hotel/${name}`),
  "/hotel/coordinates",
  "/hotel/amenities",
  ...needed.filter((name) => draft[name] === undefined).map((name) => `/${name}`),
];
