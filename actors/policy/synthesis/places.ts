/** Owns reading where a policy holds: an airport by its code, name or city, and the airline itself. */
import { type Airport, airport as airportOf, searchAirports } from "../../../schemas/airports.ts";
import { isCurrency } from "../../../schemas/currency.ts";
import { distanceKmBetween } from "../../../schemas/distance.ts";
import { citiesNamed } from "./cities.ts";
import { isFiller } from "./fillers.ts";
import type { Prompt, Span } from "./folded.ts";
import { asks, is, type PromptLanguage, type Reader, type Reading, type ReadingContext } from "./reading.ts";

const pointer = "/context/airport";
/** Names looked up in one prompt: beyond it a text speaks of other things. */
const lookUpsMax = 60;

export const readPlaces: Reader = (prompt, context) => [
  ...readAirline(prompt, context),
  ...readEverywhere(prompt),
  ...readAirports(prompt, context.language),
];

const readAirline = (prompt: Prompt, { airline, language }: ReadingContext): Reading[] => {
  const name = airline.name
    .normalize("NFD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
  const own = `our (?:own )?(?:airline|flights|passengers)|(?:de )?nuestra (?:aerolinea|compania)|(?:d?a )?nossa (?:companhia(?: aerea)?|empresa)|(?:airline|aerolinea|companhia(?: aerea)?) ${airline.code.toLowerCase()}`;
  const lead =
    "(?:(?:airline|aerolinea|companhia(?: aerea)?|passengers of|flights of|pasajeros de|passageiros da) )?";
  const spans = [
    ...[...prompt.matches(new RegExp(`(?<![\\p{L}\\d])(?:${lead}${name}|${own})(?![\\p{L}\\d])`, "gu"))].map(
      ({ span }) => span,
    ),
    ...inCapitals(prompt, new RegExp(`(?<![\\p{L}\\d])${airline.code}(?![\\p{L}\\d])`, "gu")).filter(
      () => !prompt.isShouted || !isFiller(airline.code.toLowerCase(), language),
    ),
  ];
  return spans.map((span) => {
    prompt.take(span);
    return is(span, "/context/airline", airline.urn);
  });
};

/** Nothing else is meant by naming all of them. */
const readEverywhere = (prompt: Prompt): Reading[] => {
  const pattern =
    /(?<![\p{L}])(?:(?:at|in|for|en|para|em) )?(?:all (?:of )?(?:the |our )?airports|every airport|any airport|tod[oa]s (?:los aeropuertos|os aeroportos)|cualquier aeropuerto|qualquer aeroporto)(?![\p{L}])(?!,?\s+(?:but|menos)(?![\p{L}]))/gu;
  return [...prompt.matches(pattern)].map(({ span }) => {
    prompt.take(span);
    return is(span, pointer, undefined);
  });
};

function inCapitals(prompt: Prompt, pattern: RegExp): Span[] {
  return [...prompt.original.matchAll(pattern)]
    .map((match) => ({ from: match.index, to: match.index + match[0].length }))
    .filter((span) => !prompt.isTaken(span));
}

const marker =
  /(?<![\p{L}])(?:at|in|for|from|near|around|to|airports?(?: of)?|aeropuertos?(?: de)?|aeroportos?(?: d[eao])?|en|em|no|na|de|del|do|da|para|desde|vuelos|flights|base|hub|station|escala)(?:\s+(?:the|el|la|los|las|o|a|os|as|airport|aeropuerto|aeroporto|de|do|da|del|city|ciudad|cidade))*\s*[:"(]?\s*$/u;
const airportWord = /^\s*-?\s*(?:international |internacional )?(?:airport|aeropuerto|aeroporto)(?![\p{L}])/u;

interface Found {
  span: Span;
  airports: readonly Airport[];
}

const readAirports = (prompt: Prompt, language: PromptLanguage): Reading[] => {
  const codes = readCodes(prompt, language);
  for (const { span } of codes) prompt.take(span);
  const names = readNames(prompt, language, codes);
  for (const { span } of names) prompt.take(span);
  // `New York JFK`: what a name leaves open a code beside it settles.
  const settled = new Set(codes.flatMap(({ airports }) => airports.map(({ code }) => code)));
  return [...codes, ...names].flatMap(({ span, airports }): Reading[] => {
    const [first, ...others] = airports;
    if (first === undefined) return [];
    if (others.length === 0) return [is(span, pointer, first.code)];
    if (airports.some(({ code }) => settled.has(code))) return [];
    const choice = airports.slice(0, 8).map(({ code, name }) => `${code} (${name})`);
    return [asks(span, `Which airport: ${choice.join(", ")}?`, pointer)];
  });
};

/** BRL is a field in Iowa, and the money of Brazil; MAD is Madrid, and the money of Morocco: the large ones are known by their codes. */
const isMoney = (code: string): boolean => isCurrency(code) && airportOf(code)?.size !== "L";

/** Three capitals, that are no word of a text in capitals; or three letters after the word for an airport. */
const readCodes = (prompt: Prompt, language: PromptLanguage): Found[] => {
  const spans = inCapitals(prompt, /(?<![\p{L}\d])[A-Z]{3}(?![\p{L}\d])/gu).filter(
    ({ from, to }) =>
      !isMoney(prompt.original.slice(from, to)) &&
      !(prompt.isShouted && isFiller(prompt.plain.slice(from, to), language)),
  );
  const small = [...prompt.matches(/(?<=\b(?:airport|aeropuerto|aeroporto)\s+)[a-z]{3}(?![\p{L}\d])/gu)]
    .map(({ span }) => span)
    .filter(
      ({ from, to }) =>
        !isFiller(prompt.plain.slice(from, to), language) && !spans.some((one) => one.from === from),
    );
  return [...spans, ...small].flatMap((span) => {
    const found = airportOf(prompt.plain.slice(span.from, span.to).toUpperCase());
    return found === undefined ? [] : [{ span, airports: [found] }];
  });
};

const word = /[\p{L}][\p{L}'.]*/gu;

/** After a word of place, before `airport`, or right beside a code; the longest name that an airport or its city has. */
const readNames = (prompt: Prompt, language: PromptLanguage, codes: readonly Found[]): Found[] => {
  const words = [...prompt.open.matchAll(word)].map((match) => ({
    from: match.index,
    to: match.index + match[0].replace(/\.$/, "").length,
  }));
  const found: Found[] = [];
  const lookUps = { left: lookUpsMax };
  words.forEach((start, i) => {
    if (found.some(({ span }) => span.to > start.from)) return;
    const ends = words.slice(i, i + wordsMax).map(({ to }) => to);
    const name = nameFrom(prompt, { start: start.from, ends, language, codes, found, lookUps });
    if (name !== undefined) found.push(name);
  });
  return found;
};

const wordsMax = 5;
const joined = /^\s*(?:,|\/|-|and|or|y|o|e|ou)\s*$/;

interface NameSearch {
  start: number;
  /** Where a name from there may end, the shortest first. */
  ends: readonly number[];
  language: PromptLanguage;
  codes: readonly Found[];
  found: readonly Found[];
  lookUps: { left: number };
}

const nameFrom = (prompt: Prompt, search: NameSearch): Found | undefined => {
  const { start, ends, language, codes, found, lookUps } = search;
  const head = prompt.plain.slice(Math.max(0, start - 60), start);
  const isNamed = isCapital(prompt.original[start] ?? "");
  const isChained = isNamed && found.some(({ span }) => joined.test(prompt.plain.slice(span.to, start)));
  const isPointedAt = marker.test(head) || isChained;
  for (const end of ends.toReversed()) {
    const span = { from: start, to: end };
    const text = prompt.plain.slice(start, end);
    const rest = prompt.plain.slice(end);
    if (!/^[\p{L}'.]+(?:[\s-]+[\p{L}'.]+)*$/u.test(text) || isFillers(prompt, span, language)) continue;
    const isBeside = airportWord.test(rest) || isBesideCode(prompt, span, codes);
    // In small letters many are words.
    const isWord = !isNamed && language !== "en" && !text.includes(" ") && isCommon(head);
    if ((!isPointedAt || isWord) && !isBeside) continue;
    if (lookUps.left-- <= 0) return undefined;
    const airports = airportsNamed(text);
    const after = airportWord.exec(rest)?.[0].length ?? 0;
    if (airports.length > 0) return { span: { from: start, to: end + after }, airports };
  }
  return undefined;
};

const isCapital = (letter: string): boolean => /\p{Lu}/u.test(letter);
/** `de desayuno`, `do quarto`: these words stand before anything. */
const isCommon = (head: string): boolean => /(?<![\p{L}])(?:de|del|do|da|no|na|para|a)\s+$/u.test(head);
/** `Los Angeles` begins with a word like any other, but in a capital. */
const isFillers = (prompt: Prompt, { from, to }: Span, language: PromptLanguage): boolean => {
  const words = prompt.plain.slice(from, to).split(/[\s-]+/);
  const isArticle = words.length > 1 && isCapital(prompt.original[from] ?? "");
  return (!isArticle && isFiller(words[0] ?? "", language)) || isFiller(words.at(-1) ?? "", language);
};

const isBesideCode = (prompt: Prompt, { from, to }: Span, codes: readonly Found[]): boolean =>
  codes.some(
    ({ span }) =>
      (/^[\s(,/-]*$/.test(prompt.plain.slice(to, Math.max(to, span.from))) && span.from >= to) ||
      (/^[\s),/-]*$/.test(prompt.plain.slice(span.to, Math.max(span.to, from))) && from >= span.to),
  );

const bare = (text: string): string =>
  text
    .normalize("NFD")
    .replace(/\p{M}/gu, "")
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, " ")
    .trim();

/** Words that half of all airports have in their names. */
const generic =
  /^(?:international|internacional|regional|municipal|city|county|national|nacional|field|airport|aeropuerto|aeroporto|general|island|north|south|east|west|new|san|saint|santa|port|fort|air|base)$/;

/** Around a city's large airport lie smaller ones that no airline flies to, and large ones of another city's name. */
const besideKm = 60;

/** All that may be meant, the larger first; the one large airport alone where the rest lie around it. */
const airportsNamed = (text: string): Airport[] => {
  const called = bare(text);
  const others = citiesNamed(called).flatMap((one) => airportOf(one.toUpperCase()) ?? matching(one));
  const own = matching(called).filter((one) => others.length === 0 || cityOf(one) === called);
  const found = new Map([...own, ...others].map((one) => [one.code, one]));
  const all = [...found.values()].sort((one, other) => "LMS".indexOf(one.size) - "LMS".indexOf(other.size));
  const [main, ...rest] = all;
  if (main?.size !== "L") return all;
  return [main, ...rest.filter((one) => one.size === "L" || !isBeside(one, main))];
};

/** Without what the file adds to tell it from others. */
const cityOf = ({ city }: Airport): string => bare(city.replace(/\(.*?\)/g, ""));

const isBeside = (one: Airport, other: Airport): boolean =>
  one.country === other.country && distanceKmBetween(one, other) < besideKm;

/** Of that city, and around it; else with all of the words in its name: of a single word, large ones alone. */
const matching = (wanted: string): Airport[] => {
  const words = wanted.split(" ");
  const [telling] = words.filter((one) => !generic.test(one)).sort((one, other) => other.length - one.length);
  if (wanted.length < 3 || telling === undefined) return [];
  const named = searchAirports(telling, 60).filter(({ city, name }) => {
    const all = ` ${bare(`${city} ${name}`)} `;
    return words.every((each) => all.includes(` ${each} `));
  });
  const ofCity = named.filter((one) => cityOf(one) === wanted);
  const large = named.filter((one) => one.size === "L" || words.length > 1);
  if (ofCity.length === 0) return large;
  return [
    ...ofCity,
    ...large.filter((one) => ofCity.some((other) => one.code !== other.code && isBeside(one, other))),
  ];
};

/** Between the parts of a name or a city, as in `Dallas-Fort Worth`. */
const partsOf = (text: string): string[] =>
  text.split(/[-–/,()]/).map((part) => {
    const words = bare(part).split(" ");
    return words.slice(0, words.findLastIndex((one) => !generic.test(one)) + 1).join(" ");
  });

/** A large airport's name or the end of it, or its city. `Hilton` is only the beginning of one: of Hilton Head. */
export const isPlace = (name: string): boolean => {
  const called = bare(name);
  const isCalledSo = ({ size, name: own, city }: Airport): boolean =>
    size === "L" &&
    (partsOf(city).includes(called) || partsOf(own).some((part) => ` ${part}`.endsWith(` ${called}`)));
  return citiesNamed(called).length > 0 || matching(called).some(isCalledSo);
};
