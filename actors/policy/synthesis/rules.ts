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
  "not|never|neither|nor|without|(?:do|does|is|are|was|should|must)n't|don't|instead of|rather than|sin|ni|nunca|jamas|tampoco|en vez de|en lugar de|nao|sem|nem|jamais|em vez de|except(?: for)?|excepto|salvo|exceto";
/** Of the whole sentence. */
const conditions: Readonly<Record<PromptLanguage, string>> = {
  en: "if|unless|when|whenever|in case|during|otherwise|depending|only when|except when|on weekends|weekends|in (?:winter|summer)|until",
  es: "si|a menos que|salvo que|excepto cuando|cuando|en caso de|durante|de lo contrario|segun|fines de semana|en (?:invierno|verano)|hasta que",
  pt: "(?<=(?:^|[.,;:\\n]) ?)(?:se|caso)|a menos que|salvo se|exceto quando|quando|em caso de|durante|do contrario|conforme|fins de semana|no (?:inverno|verao)|ate que",
};

const ofWish = "A policy requires a thing or doesn't: is this required?";
const ofDenial = "What is to hold instead of what this denies?";
const ofCondition = "A policy holds at all times: is this to hold without its condition?";

/** What is only wished, denied, or holds only sometimes, a policy can't say: those parts of the prompt are asked about as they stand. */
const reserved = (prompt: Prompt, read: readonly Reading[], language: PromptLanguage): Reading[] => {
  const found = (source: string): Span[] =>
    [...prompt.matches(new RegExp(`(?<![\\p{L}])(?:${source})(?![\\p{L}])`, "gu"))].map(({ span }) => span);
  const wished = found(wishes).map(({ from }) => ({ span: prompt.clauseAt(from), question: ofWish }));
  const denied = found(language === "pt" ? denials : `no|${denials}`).map(({ from }) => ({
    span: prompt.clauseAt(from),
    question: ofDenial,
  }));
  const turning = found(conditions[language])
    .filter(({ from, to }) => !wished.some(({ span }) => span.from <= from && to <= span.to))
    .filter(({ from, to }) => prompt.original.slice(from, to).toLowerCase() !== "sí")
    .map(({ from }) => ({ span: prompt.sentenceAt(from), question: ofCondition }));
  const stretches = distinct(
    [...turning, ...wished, ...denied].map((one) => ({ ...one, span: trimmed(prompt, one.span) })),
  );
  const isInside = (reading: Reading): boolean =>
    !isScope(reading) &&
    stretches.some(({ span: { from, to } }) => reading.span.from < to && from < reading.span.to);
  for (const { span } of stretches) prompt.take(span);
  const questions = stretches.map(({ span, question }) => asks(span, question));
  return [...read.filter((reading) => !isInside(reading)), ...questions];
};

/** Where and for whom stays: without it the policy would be a wider one. */
const isScope = (reading: Reading): boolean =>
  "pointer" in reading && /^\/(?:context|tiers)(?:\/|$)/.test(reading.pointer ?? "");

type Stretch = { span: Span; question: string };

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
