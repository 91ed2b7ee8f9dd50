/** Owns reading for whom a policy is: cabins, all passengers, the crew. */
import type { Tier } from "../../../schemas/vocabulary.ts";
import type { Prompt, Span } from "./folded.ts";
import { asks, passengerTiers, type Reader, type Reading } from "./reading.ts";

const cabin = "class|cabins?|clases?|classes?|cabinas?|cabines?|classe";
const people =
  "passengers?|customers?|travell?ers?|guests?|pasajeros?|viajeros?|clientes?|passageiros?|viajantes";
/** An ordinal like any other, but for people or in a row of cabins. */
const alone = "(?:first|primera|primeira)";
const listed = "\\s*(?:,|/|&|,? (?:and|or|y|o|e|ou)(?: (?:for|en|em|de|in|da))?) ?";
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
const all = `(?<ALL_TIERS>all (?:the )?tiers|every tier|tod[oa]s (?:los|as|os) (?:niveles|tiers))|(?<ALL>(?:all|every|each) (?:of )?(?:the |our )?(?:${people}|classes|cabins?)|every(?:one|body)|tod[oa]s (?:las |los |as |os )(?:nuestros |nossos )?(?:${people}|${cabin})|todo el pasaje|qualquer (?:passageiro|classe)|cualquier (?:pasajero|clase))`;
const excepts =
  "except(?: for| the)?|but not|excluding|other than|not (?:for )?(?:the )?|no (?:para (?:la )?)?|excepto|salvo|menos|sin(?: la)?|exceto|sem(?: a)?|nao (?:para )?(?:a )?|mas nao(?: para)?(?: a)?|pero no(?: para)?(?: la)?";
const lead = `(?:(?:passengers?|customers?|pasajeros?|passageiros?|clientes?) (?:in|of|on|from|en|de|em|da|na) (?:la |a )?)?`;

const pointer = "/tiers";

export const readTiers: Reader = (prompt) => {
  const pattern = new RegExp(
    `(?<![\\p{L}])(?<except>(?:${excepts})\\s*(?:(?:the|la|a|los|os|las|as) )?)?${lead}(?:${all}|${one})(?:[- ](?:tier|cabin|class))?(?: (?:${people}))?(?![\\p{L}])`,
    "gu",
  );
  const readings: Reading[] = [];
  for (const { match, span } of [...prompt.matches(pattern)]) {
    const { ALL, ALL_TIERS, except, ...tiers } = match.groups ?? {};
    prompt.take(span);
    const found: readonly Tier[] =
      ALL_TIERS !== undefined
        ? [...passengerTiers, "CREW"]
        : ALL !== undefined
          ? passengerTiers
          : (Object.keys(tiers) as Tier[]).filter((tier) => tiers[tier] !== undefined);
    for (const value of found)
      readings.push({ span, says: except === undefined ? "has" : "has-not", pointer, value });
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
