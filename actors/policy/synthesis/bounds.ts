/** Owns how a limit is said around its figure: at most, at least, between, about, in either order, in three languages. */
import type { Prompt, Span } from "./folded.ts";
import { endsInNumber, numberPattern, readNumber } from "./numbers.ts";

const atMost = [
  "up to|at most|(?:no|not) (?:more|further|farther|higher) than|not (?:over|above|exceeding|exceed)|max(?:imum)?\\.?(?: of)?|within(?: a radius of)?|less than|fewer than|under|below|capped at|cap(?: of)?|limit(?:ed)?(?: to| of)?|cheaper than|closer than|<=?|≤",
  "hasta(?: un maximo de)?|como (?:maximo|mucho)|maxim[oa]s?(?: de)?|a lo sumo|(?:no|nunca) mas de|a no mas de|menos de|a menos de|por debajo de|(?:no )?(?:supere|superen|superar|exceda|excedan|exceder)(?: de| los| las)?|no superior(?:es)? a|inferior(?:es)? a|tope(?: de)?|limite(?: de)?|dentro de|en un radio(?: maximo)? de",
  "ate(?: no maximo)?|no maximo|nao superior(?:es)? a|nao mais (?:de|que|do que)|menos (?:que|do que)|abaixo de|(?:nao )?(?:passe|passem|ultrapasse|ultrapassem)(?: de| os| as)?|teto(?: de)?|num raio de|em um raio de|a no maximo",
].join("|");
const atLeast = [
  "at least|min(?:imum)?\\.?(?: of)?|(?:no|not) (?:less|fewer|lower) than|not (?:under|below)|starting (?:at|from)|from|>=|≥",
  "al menos|como minimo|minim[oa]s?(?: de)?|por lo menos|(?:no|nunca) menos de|no inferior(?:es)? a|a partir de|desde",
  "pelo menos|no minimo|ao menos|nao menos (?:de|que|do que)",
].join("|");
const moreThan =
  "more than|over|above|greater than|better than|exceed(?:s|ing)?|>|mas de|superior(?:es)? a|por encima de|mayor(?:es)? (?:a|de|que)|supera|mais (?:de|que|do que)|acima de|maior(?:es)? (?:que|do que)";
const about =
  "about|around|roughly|approximately|approx\\.?|some|unos|unas|aproximadamente|alrededor de|mas o menos|cerca de|por volta de|uns|umas|mais ou menos|~";
const between = "between|ranging from|entre|de entre";
const afterMost =
  "or (?:less|fewer|under|lower|cheaper|closer|below)|max(?:imum)?\\b\\.?|at most|tops|ceiling|cap|limit|tope|limite|teto|o menos|como (?:maximo|mucho)|maxim[oa]s?|ou menos|no maximo";
const afterLeast =
  "or (?:more|better|higher|above|up)|and (?:above|up|higher)|min(?:imum)?\\b\\.?|plus|\\+|o (?:mas|mejor(?:es)?|superior(?:es)?)|y (?:mas|superior(?:es)?)|en adelante|como minimo|minim[oa]s?|ou (?:mais|melhor(?:es)?|superior(?:es)?)|para cima|no minimo|pelo menos|al menos";
const afterAbout = "or so|mas o menos|mais ou menos|aproximadamente|approximately";

/** `exactly`: nothing is said. */
type BoundKind = "at-most" | "at-least" | "more-than" | "about" | "between" | "exactly";

const kindsBefore: readonly [BoundKind, RegExp][] = (
  [
    ["between", between],
    ["at-most", atMost],
    ["at-least", atLeast],
    ["more-than", moreThan],
    ["about", about],
  ] as const
).map(([kind, source]) => [kind, new RegExp(`(?<![\\p{L}])(?:${source})\\s*$`, "u")]);
const kindsAfter: readonly [BoundKind, RegExp][] = (
  [
    ["at-least", afterLeast],
    ["at-most", afterMost],
    ["about", afterAbout],
  ] as const
).map(([kind, source]) => [kind, new RegExp(`^[\\s(]*(?:${source})(?![\\p{L}])`, "u")]);

/** A figure with its unit, and all around it that belongs to it. */
export interface Quantity {
  span: Span;
  bound: BoundKind;
  /** The one, or both ends of a range. */
  values: readonly number[];
  /** A part of a longer number in words. */
  isUncertain: boolean;
  /** A group of three digits after one sign: thousands to some, decimals to others. The value takes it as thousands. */
  isAmbiguous: boolean;
  /** What the unit's groups matched. */
  unit: readonly (string | undefined)[];
  /** The words before and after it that name what it is about. */
  topics: string;
}

interface QuantityForm {
  /** Before the figure, with the unit after it: either may be empty. Sources of patterns. */
  before?: string;
  after: string;
  /** Words beside it that belong to it: what it is about, and joints. */
  topics: string;
}

const joints =
  "the|a|an|of|is|be|as|at|to|for|with|that|which|and|are|should|must|can|may|el|la|los|las|un|una|de|del|es|sea|sean|ser|a|en|con|que|debe|deben|o|os|as|do|da|dos|das|e|seja|sejam|com|em|na|deve|devem";

/**
 * All that is said with such a unit, one after the other: what the reading of one takes is no part of the next.
 * @param form its patterns hold no named group
 */
export const readQuantities = <Said>(
  prompt: Prompt,
  form: QuantityForm,
  read: (found: Quantity) => readonly Said[],
): Said[] => {
  const said: Said[] = [];
  for (const found of quantitiesIn(prompt, form)) said.push(...read(found));
  return said;
};

function* quantitiesIn(prompt: Prompt, form: QuantityForm): Generator<Quantity> {
  const range = "(?<joint>\\s*-\\s*|\\s+(?:to|a|and|y|e|ate|hasta|or|o|ou)\\s+)";
  const unit = (name: string, source: string): string => `(?<${name}>${source})`;
  const pattern = new RegExp(
    `${unit("before", form.before ?? "")}\\s*(?<first>${numberPattern})(?:\\s*(?:${form.after})?${range}(?:${form.before ?? ""})\\s*(?<second>${numberPattern}))?\\s*${unit("after", form.after)}`,
    "gu",
  );
  for (const { match, span } of prompt.matches(pattern)) {
    if (prompt.isTaken(span)) continue;
    const { first = "", joint = "", second, before, after } = match.groups ?? {};
    const figures = [first, ...(second === undefined ? [] : [second])].map(readNumber);
    const values = figures.map(({ value }) => value);
    const whole = compound(first, joint, second);
    const head = prompt.open.slice(Math.max(0, span.from - 20), span.from);
    yield {
      ...peeled(prompt.open, span, form.topics),
      values: whole === undefined ? values : [whole],
      isUncertain: endsInNumber.test(head) || (whole === undefined && isSpelled(first, joint, second)),
      isAmbiguous: figures.some((figure) => figure.isAmbiguous),
      unit: [before, after],
    };
  }
}

/** `a hundred and twenty`. */
const isSpelled = (first: string, joint: string, second: string | undefined): boolean =>
  second !== undefined && !/\d/.test(first + second) && /^(?:-|and|y|e)$/.test(joint.trim());

/** `thirty-five`, `treinta y cinco`, `trinta e cinco`: one number in two words. */
const compound = (tens: string, joint: string, ones: string | undefined): number | undefined => {
  if (ones === undefined || /\d/.test(tens + ones) || !/^(?:-|y|e)$/.test(joint.trim())) return undefined;
  const [ten, one] = [readNumber(tens).value, readNumber(ones).value];
  return ten >= 20 && ten < 100 && one > 0 && one < 10 ? ten + one : undefined;
};

/** One side of a figure: how far the words reach that belong to it, and what they say. */
interface Side {
  /** Characters. */
  length: number;
  bound: BoundKind;
  topics: string[];
}

type Patterns = Readonly<Record<"topic" | "joint", RegExp>> & { kinds: readonly [BoundKind, RegExp][] };

/** Words looked at on one side, and how far. */
const wordsMax = 12;
const reachMax = 80;

/** @param rest what is left of the side after so many characters of it were taken */
const sideOf = (rest: (taken: number) => string, { kinds, topic, joint }: Patterns): Side => {
  const side: Side = { length: 0, bound: "exactly", topics: [] };
  let taken = 0;
  for (let word = 0; word < wordsMax; word++) {
    const text = rest(taken);
    const kind = longest(kinds, text);
    const named = topic.exec(text)?.[0];
    const joined = joint.exec(text)?.[0] ?? "";
    if (kind === undefined && named === undefined && joined.trim() === "") break;
    taken += kind?.length ?? named?.length ?? joined.length;
    // Of two the nearer one counts: `at most about`.
    if (kind !== undefined && side.bound === "exactly") side.bound = kind.bound;
    if (kind === undefined && named !== undefined) side.topics.push(named.trim());
    // A joint belongs to it only with what it joins.
    if (kind !== undefined || named !== undefined) side.length = taken;
  }
  return side;
};

/** With the words on both sides that belong to the figure. */
const peeled = (
  open: string,
  { from, to }: Span,
  topics: string,
): Pick<Quantity, "span" | "bound" | "topics"> => {
  const before = sideOf((taken) => open.slice(Math.max(0, from - taken - reachMax), from - taken), {
    kinds: kindsBefore,
    topic: new RegExp(`(?<![\\p{L}\\d])(?:${topics})\\s*[:=]?\\s*$`, "u"),
    joint: new RegExp(`(?<![\\p{L}\\d])(?:${joints})\\s*$`, "u"),
  });
  const after = sideOf((taken) => open.slice(to + taken, to + taken + reachMax), {
    kinds: before.bound === "exactly" ? kindsAfter : [],
    topic: new RegExp(`^[\\s(]*(?:,\\s*)?(?:${topics})(?![\\p{L}\\d])\\)?`, "u"),
    joint: /^\s*(?:the|of|from|el|la|del|de|do|da|a|is|es|e)(?![\p{L}\d])(?=\s*\S)/u,
  });
  return {
    span: { from: from - before.length, to: to + after.length },
    bound: before.bound === "exactly" ? after.bound : before.bound,
    topics: [...before.topics.reverse(), ...after.topics].join(" "),
  };
};

/** `not less than` is no `less than`. */
const longest = (
  kinds: readonly [BoundKind, RegExp][],
  text: string,
): { bound: BoundKind; length: number } | undefined => {
  const found = kinds.flatMap(([bound, pattern]) => {
    const length = pattern.exec(text)?.[0].length;
    return length === undefined ? [] : [{ bound, length }];
  });
  return found.sort((a, b) => b.length - a.length)[0];
};
