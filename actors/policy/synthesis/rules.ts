/** Owns reading a whole prompt by rules: who reads first, what is only wished or turns on something, and what nobody understood. */

import { readAutomation } from "./automation.ts";
import { readChains } from "./chains.ts";
import { isFiller } from "./fillers.ts";
import type { Prompt, Span } from "./folded.ts";
import { languageOf } from "./language.ts";
import { readAmounts, readDistance, readNearness, readOccupancy, readStars } from "./limits.ts";
import { readPlaces } from "./places.ts";
import { asks, is, type PromptLanguage, type Reader, type Reading, type ReadingContext } from "./reading.ts";
import { readAmenities, readPayments, readProviders } from "./requirements.ts";
import { readRides } from "./rides.ts";
import { readTiers } from "./tiers.ts";

/** Kept with all that they have read. */
export const rulesName = "rules@1";

const readName: Reader = (prompt) => {
  const pattern =
    /(?<![\p{L}])(?:(?:policy )?(?:called|named|titled)|(?:politica )?(?:llamad[oa]|denominad[oa]|titulad[oa]|chamad[oa]|denominad[oa]|com o nome|con el nombre)(?: de)?)\s*:?\s*"(?<name>[^"\n]{1,120})"/gu;
  return [...prompt.matches(pattern)].map(({ match, span }) => {
    prompt.take(span);
    const to = span.to - 1;
    const name = prompt.wordsAt({ from: to - (match.groups?.name?.length ?? 0), to });
    return is(span, "/name", name);
  });
};

/** The narrower before the wider: a shuttle that the hotel has before one that takes passengers, `two per room` before figures. */
const readers: readonly Reader[] = [
  readName,
  readAmenities,
  readAutomation,
  readRides,
  readOccupancy,
  readStars,
  readDistance,
  readNearness,
  readAmounts,
  readPayments,
  readProviders,
  readTiers,
  readChains,
  readPlaces,
];

export interface RulesReading {
  readings: Reading[];
  /** What no rule has understood. A wish, a denial, a condition are understood: no policy can say them. */
  open: Span[];
}

/** Every word of the prompt is understood, without meaning, or in a reading that asks. */
export const readByRules = (prompt: Prompt, airline: ReadingContext["airline"]): RulesReading => {
  const context: ReadingContext = { airline, language: languageOf(prompt.plain) };
  const read = readers.flatMap((reader) => reader(prompt, context));
  const readings = reserved(prompt, read, context.language);
  const left = leftovers(prompt, context.language);
  return {
    readings: [
      ...readings,
      ...left.map((span) => asks(span, "This was not understood. What should it change?")),
    ],
    open: left,
  };
};

/** Of their part of a sentence. */
const wishes =
  "preferably|ideally|if possible|where possible|when possible|nice to have|would be nice|prefer(?:red|s|able)?|maybe|perhaps|possibly|optionally|not sure|unless possible|preferiblemente|preferentemente|idealmente|(?:si|de) (?:es|fuera|ser) posible|a ser posible|de preferencia|quizas?|tal vez|prefer(?:imos|ido|idos|ida|idas|ible|ibles|iblemente)|mejor si|preferencialmente|preferivelmente|se (?:for )?possivel|talvez|prefer(?:ivel|imos)|seria bom|seria bueno";
/** Of their part of a sentence too: what else was read there may be what is denied. */
const denials =
  "not|never|neither|nor|without|(?:do|does|is|are|was|should|must)n't|don't|instead of|rather than|sin|ni|nunca|jamas|tampoco|en vez de|en lugar de|nao|sem|nem|jamais|em vez de|except(?: for)?|excepto|salvo|exceto|outside|away from|other than|apart from|avoid(?:ing)?|exclud(?:e|es|ed|ing)|excluir|excluya[ns]?|excluyendo|evit(?:ar|e|en|ando|em)|exclua[m]?|excluindo|(?:everywhere|anywhere|all(?: (?:of )?(?:the |our )?airports)?|(?:every|any) airport|everything) but|fuera|menos|fora";
/** Of their part of a sentence: its figures are somebody's of before, or a change of them. */
const changes = [
  "rais(?:e|es|ed|ing)|increas(?:e|es|ed|ing)|lower(?:s|ed|ing)?|reduc(?:e|es|ed|ing)|cut|double(?! (?:room|bed|occup))|doubled|triple|twice|halve|half|previous(?:ly)?|former|last (?:year|month|week|season|time)|(?:more|less|higher|lower|cheaper) than (?:today|now|before|currently|usual|last)|ignor(?:e|es|ed|ing)|disregard|forget",
  "sub(?:ir|e|a|an)|aument(?:ar|a|e|en)|increment(?:ar|a|e|en)|baj(?:ar|a|e|en)|reduc(?:ir|e|zca|zcan)|duplic(?:ar|a|ue|uen)|el doble|al doble|la mitad|anterior(?:es)?|(?:ano|mes|semana) pasad[oa]|(?:mas|menos) que (?:hoy|ahora|antes)|ignor(?:ar|a|e|en)|olvid(?:ar|a|e|en)",
  "aument(?:em)|elev(?:ar|e|em)|reduz(?:ir|a|am)?|dobr(?:ar|e|em|o)|o dobro|metade|(?:ano|mes|semana) passad[oa]|(?:mais|menos) (?:do )?que (?:hoje|agora|antes)|ignorem|esque(?:ca|cam|cer)",
].join("|");
/** Of the whole sentence. */
const conditions: Readonly<Record<PromptLanguage, string>> = {
  en: "if|unless|when|whenever|in case|during|otherwise|depending|only when|except when|on weekends|weekends|in (?:winter|summer)|until",
  es: "si|a menos que|salvo que|excepto cuando|cuando|en caso de|durante|de lo contrario|segun|fines de semana|en (?:invierno|verano)|hasta que",
  pt: "(?<=(?:^|[.,;:\\n]) ?)(?:se|caso)|a menos que|salvo se|exceto quando|quando|em caso de|durante|do contrario|conforme|fins de semana|no (?:inverno|verao)|ate que",
};

const ofWish = "A policy requires a thing or doesn't: is this required?";
const ofDenial = "What is to hold instead of what this denies?";
const ofChange = "A policy holds figures, not changes of them. What is the figure to be?";
const ofCondition = "A policy holds at all times: is this to hold without its condition?";

/** What is only wished, denied, or holds only sometimes, a policy can't say: those parts of the prompt are asked about as they stand. */
const reserved = (prompt: Prompt, read: readonly Reading[], language: PromptLanguage): Reading[] => {
  const found = (source: string): Span[] =>
    [...prompt.matches(new RegExp(`(?<![\\p{L}])(?:${source})(?![\\p{L}])`, "gu"))].map(({ span }) => span);
  const wished = found(wishes).map(({ from }) => ({ span: prompt.clauseAt(from), question: ofWish }));
  const denied = found(language === "pt" ? denials : `no|${denials}`).map(({ from, to }) => {
    // `everywhere but JFK` goes on behind its joint.
    const span = { from: prompt.clauseAt(from).from, to: prompt.clauseAt(to).to };
    const airports = read.filter((one) => isAirport(one) && liesIn(one, { from, to: span.to }));
    // `no hotels of 5 stars at JFK` is said of the stars.
    const isOfAnother = (airport: Reading): boolean =>
      read.some((one) => !isAirport(one) && one.span.from >= from && one.span.to <= airport.span.from);
    const isOfPlace = airports.some((airport) => !isOfAnother(airport));
    return { span, question: ofDenial, ...(isOfPlace ? { pointer: airportPointer, deniedFrom: from } : {}) };
  });
  const changed = found(changes)
    .map(({ from }) => prompt.clauseAt(from))
    .flatMap((span) => {
      const figure = read.find((one) => isFigure(one) && liesIn(one, span));
      return figure === undefined ? [] : [{ span, question: ofChange, pointer: pointerOf(figure) }];
    });
  const turning = found(conditions[language])
    .filter(({ from, to }) => !wished.some(({ span }) => span.from <= from && to <= span.to))
    .filter(({ from, to }) => prompt.original.slice(from, to).toLowerCase() !== "sí")
    .map(({ from }) => ({ span: prompt.sentenceAt(from), question: ofCondition }));
  const stretches = distinct(
    [...changed, ...turning, ...wished, ...denied].map((one) => ({
      ...one,
      span: trimmed(prompt, one.span),
    })),
  );
  const isInside = (reading: Reading): boolean =>
    isScope(reading)
      ? isAirport(reading) &&
        denied.some(
          ({ span, deniedFrom }) =>
            deniedFrom !== undefined && liesIn(reading, { ...span, from: deniedFrom }),
        )
      : stretches.some(({ span }) => liesIn(reading, span));
  for (const { span } of stretches) prompt.take(span);
  const questions = stretches.map(({ span, question, pointer }) => asks(span, question, pointer));
  return [...read.filter((reading) => !isInside(reading)), ...questions];
};

const liesIn = ({ span }: Reading, { from, to }: Span): boolean => span.from < to && from < span.to;

const pointerOf = (reading: Reading): string | undefined =>
  "pointer" in reading ? reading.pointer : undefined;

/** Where and for whom stays: without it the policy would be a wider one. But for an airport behind a denial: the policy is not for that. */
const isScope = (reading: Reading): boolean => /^\/(?:context|tiers)(?:\/|$)/.test(pointerOf(reading) ?? "");

const airportPointer = "/context/airport";
const isAirport = (reading: Reading): boolean =>
  pointerOf(reading) === airportPointer && !(reading.says === "is" && reading.value === undefined);

const isFigure = (reading: Reading): boolean =>
  reading.says === "amount" || (reading.says === "is" && typeof reading.value === "number");

type Stretch = { span: Span; question: string; pointer?: string | undefined; deniedFrom?: number };

/** Each once, and none inside another. */
const distinct = (all: readonly Stretch[]): Stretch[] =>
  all.filter(
    ({ span }, i) =>
      !all.some(
        (other, j) =>
          other.span.from <= span.from &&
          span.to <= other.span.to &&
          (j < i || other.span.to - other.span.from > span.to - span.from),
      ),
  );

const trimmed = (prompt: Prompt, { from, to }: Span): Span => {
  const text = prompt.original.slice(from, to);
  const start = from + (/^[\s,.:;]*/.exec(text)?.[0].length ?? 0);
  return { from: start, to: Math.max(start, to - (/[\s,.:;]*$/.exec(text)?.[0].length ?? 0)) };
};

/** Words in a row that nobody has taken; what carries no meaning between two of them goes along. */
const leftovers = (prompt: Prompt, language: PromptLanguage): Span[] => {
  const found: Span[] = [];
  for (const match of prompt.open.matchAll(/[^\s\uE000.,;:!?()"¿¡[\]{}]+(?:[.,]\d+)*/gu)) {
    const span = { from: match.index, to: match.index + match[0].length };
    if (isFiller(match[0], language) || !/[\p{L}\p{N}\p{S}]/u.test(match[0])) continue;
    const last = found.at(-1);
    const between = last === undefined ? "" : prompt.open.slice(last.to, span.from);
    if (last !== undefined && !/[\uE000,.;:!?()\n]/.test(between)) last.to = span.to;
    else found.push(span);
  }
  return found;
};
