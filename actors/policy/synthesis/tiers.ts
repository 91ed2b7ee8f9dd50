/** Owns reading for whom a policy is: cabins, all passengers, the crew. */
import type { Tier } from "../../../schemas/vocabulary.ts";
import type { Prompt, Span } from "./folded.ts";
import { asks, type PromptLanguage, passengerTiers, type Reader, type Reading } from "./reading.ts";

const cabin = "class|cabins?|clases?|classes?|cabinas?|cabines?|classe";
const people =
  "passengers?|customers?|travell?ers?|guests?|pasajeros?|viajeros?|clientes?|passageiros?|viajantes";
/** An ordinal like any other, but for people or in a row of cabins. */
const alone = "(?:first|primera|primeira)";
const listed = "\\s*(?:,|/|&|,? (?:and|or|nor|y|o|ni|e|ou|nem)(?: (?:for|en|em|de|in|da))?) ?";
/** The longer before what it holds. */
const tierWords: readonly [Tier, string][] = [
  [
    "PREMIUM_ECONOMY",
    `premium[- _]economy(?: (?:${cabin}))?|economy premium|(?:${cabin}) (?:turista|economica) premium|(?:turista|economica|economia) premium|premium econom(?:ica|ia)`,
  ],
  [
    "ECONOMY",
    `economy(?: (?:${cabin}))?|coach(?: class)?|(?:(?:${cabin}) )?turistica?|(?:(?:${cabin}) )?turista|(?:(?:${cabin}) (?:de )?)?econom(?:ica|ia)`,
  ],
  [
    "BUSINESS",
    `business(?: (?:${cabin}))?|(?:${cabin}) (?:business|ejecutiva|executiva|de negocios)|ejecutiva|executiva`,
  ],
  [
    "FIRST",
    `first[- ](?:${cabin})|(?:primera|primeira) (?:${cabin})|${alone}(?=(?: (?:${people})|${listed}(?:business|premium|economy|crew|ejecutiva|executiva|turista|economica|tripula)))|(?<=(?:business|economy|crew|ejecutiva|executiva|turista|economica|tripulacion|tripulacao)${listed})${alone}|(?<=(?:en|na|em|de) )(?:primera|primeira)`,
  ],
  ["CREW", "(?:flight |cabin |air)?crews?(?: members?)?|tripula(?:cion(?:es)?|cao|coes|ntes?)"],
];
const one = tierWords.map(([tier, source]) => `(?<${tier}>${source})`).join("|");
const all = `(?<ALL_TIERS>all (?:the )?tiers|every tier|tod[oa]s (?:los|as|os) (?:niveles|tiers))|(?<ALL>(?:all|every|each) (?:of )?(?:the |our )?(?:${people}|classes|cabins?)|(?:every|any)(?:one|body)|all(?= but )|tod[oa]s (?:las |los |as |os )(?:nuestros |nossos )?(?:${people}|${cabin})|todo el pasaje|qualquer (?:passageiro|classe)|cualquier (?:pasajero|clase))`;
/** What they rule out may be a list. */
const excepts =
  "except(?: for| the)?|excluding|other than|without|but(?! (?:not|also))|excepto|salvo|menos|sin(?: la)?|exceto|sem(?: a)?|fora";
/** `no crew, economy`: only the first is ruled out. `no` rules out nothing in Portuguese. */
const deniesIn = (language: PromptLanguage): string =>
  `${language === "pt" ? "" : "no (?:para (?:la )?)?|"}but not|not (?:for )?(?:the )?|neither|nor|nao (?:para )?(?:a )?|mas nao(?: para)?(?: a)?|pero no(?: para)?(?: la)?`;
const either = /^,?\s+(?:or|o|ou)\s+(?:the |for |la |para |a )*$/;
const listedOn =
  /^\s*(?:,|\/|&|,?\s(?:and|or|y|o|e|ou|ni|nem)\s)\s*(?:the |for |in |la |los de |en |em |para |a )*$/;
const lead = `(?:(?:passengers?|customers?|pasajeros?|passageiros?|clientes?) (?:in|of|on|from|en|de|em|da|na) (?:la |a )?)?`;

const pointer = "/tiers";

/** The cabins named before. */
interface Named {
  to: number;
  isAll: boolean;
  /** Of what is ruled out: what joins more of it. */
  goesOn: RegExp | undefined;
}

/** What joins more to it, where this is ruled out. @param between it and what was named before */
const listOfRuledOut = (
  { excepts, denies }: Record<string, string>,
  before: Named | undefined,
  between: string,
): RegExp | undefined => {
  if (denies !== undefined) return either;
  // `economy but business` rules out nothing.
  if (excepts === "but" && (!before?.isAll || /\S/.test(between))) return undefined;
  if (excepts !== undefined) return listedOn;
  return before?.goesOn?.test(between) ? before.goesOn : undefined;
};

export const readTiers: Reader = (prompt, { language }) => {
  const pattern = new RegExp(
    `(?<![\\p{L}])(?:(?:(?<excepts>${excepts})|(?<denies>${deniesIn(language)}))\\s*(?:(?:the|la|a|l?os(?: de)?|las(?: de)?|as) )?)?${lead}(?:${all}|${one})(?:[- ](?:tier|cabin|class))?(?: (?:${people}))?(?![\\p{L}])`,
    "gu",
  );
  const readings: Reading[] = [];
  let before: Named | undefined;
  for (const { match, span } of [...prompt.matches(pattern)]) {
    const { ALL, ALL_TIERS, excepts: _e, denies: _d, ...tiers } = match.groups ?? {};
    const found: readonly Tier[] =
      ALL_TIERS !== undefined
        ? [...passengerTiers, "CREW"]
        : ALL !== undefined
          ? passengerTiers
          : (Object.keys(tiers) as Tier[]).filter((tier) => tiers[tier] !== undefined);
    const between = prompt.plain.slice(before?.to ?? 0, span.from);
    const goesOn = listOfRuledOut(match.groups ?? {}, before, between);
    // The joint belongs to the list.
    const isJoined = goesOn !== undefined && goesOn === before?.goesOn && goesOn.test(between);
    prompt.take({ from: isJoined ? span.from - between.length : span.from, to: span.to });
    for (const value of found)
      readings.push({ span, says: goesOn === undefined ? "has" : "has-not", pointer, value });
    before = { to: span.to, isAll: (ALL ?? ALL_TIERS) !== undefined, goesOn };
  }
  return [...readings, ...readLoyalty(prompt)];
};

const readLoyalty = (prompt: Prompt): Reading[] => {
  const pattern = new RegExp(
    `(?<![\\p{L}])(?:(?:members?|miembros?|membros?|socios?|clientes?) )?(?:gold|silver|platinum|oro|plata|platino|ouro|prata|platina|elite|frequent flyers?|viajeros frecuentes|loyalty)(?: (?:members?|card holders?|tier|status|${people}|miembros|membros|socios))?(?![\\p{L}])`,
    "gu",
  );
  return [...prompt.matches(pattern)].map(({ span }): Reading => {
    prompt.take(span);
    return asks(span, "Policies go by cabin, not by loyalty. Which cabins is it for?", pointer);
  });
};

/** Cabins that a stretch names, without taking them. */
export const tiersIn = (text: string): { tier: Tier; span: Span }[] =>
  [...text.matchAll(new RegExp(`(?<![\\p{L}])(?:${one})(?![\\p{L}])`, "gu"))].flatMap((match) =>
    tierWords
      .filter(([tier]) => match.groups?.[tier] !== undefined)
      .map(([tier]) => ({ tier, span: { from: match.index, to: match.index + match[0].length } })),
  );
