/** Owns reading how passengers are taken to the hotel and back. */
import type { Tier, VehicleType } from "../../../schemas/vocabulary.ts";
import { readQuantities } from "./bounds.ts";
import type { Prompt, Span } from "./folded.ts";
import { asks, is, type PromptLanguage, type Reader, type Reading } from "./reading.ts";
import { tiersIn } from "./tiers.ts";

const vehicleWords: readonly [VehicleType, string][] = [
  [
    "WHEELCHAIR_VAN",
    "wheelchair[- ](?:accessible )?vans?|accessible vans?|(?:furgonetas?|vans?|camionetas?) (?:adaptadas?|accesibles?|acessive(?:l|is)|para sillas? de ruedas)|transporte adaptado",
  ],
  [
    "PRIVATE_CAR",
    "private cars?|(?:private )?taxis?|cabs?|limousines?|(?:coche|auto|carro|vehiculo|veiculo)s? (?:privad[oa]s?|particular(?:es)?)|private transfers?|traslados? privad[oa]s?",
  ],
  [
    "SHUTTLE",
    "shuttle[- ](?:bus(?:es)?|vans?)|shuttles?|lanzaderas?|(?:shared|compartid[oa]s?) (?:bus(?:es)?|vans?)|(?:auto)?bus(?:es)?(?: compartid[oa]s?)?|onibus|autocarros?|vans? compartilhadas?|microbus(?:es)?|micro-onibus",
  ],
];
const any = vehicleWords.map(([type, source]) => `(?<${type}>${source})`).join("|");
/** In Spanish they are going. */
const anyWithVan = any.replace(/\)$/, "|vans?)");
const rides =
  "transport(?:ation)?|transfers?|rides?|traslados?|transportes?|translados?|travel(?:led)?|taken|go(?:es)?|get(?:s)?|van|vao|viajan|viajam|llevad[oa]s?|levad[oa]s?|pick(?:ed)?[- ]?up";
const isOfRides = new RegExp(`(?<![\\p{L}])(?:${rides})(?![\\p{L}])`, "u");
const mode = "/transport/mode";

export const readRides: Reader = (prompt, { language }) => [
  ...readCapacity(prompt),
  ...readPickUp(prompt),
  ...readOnDemand(prompt),
  ...readVehicles(prompt, language),
];

const seats =
  "seats?|passengers?|people|persons?|plazas?|asientos?|pasajeros?|personas?|lugares|assentos?|passageiros?|pessoas?";

const readCapacity = (prompt: Prompt): Reading[] => {
  const shuttle =
    "shuttles?|shuttle bus(?:es)?|bus(?:es)?|vans?|lanzaderas?|autobus(?:es)?|onibus|vehicles?|vehiculos?|veiculos?";
  const topics = `${shuttle}|capacity|capacidad|capacidade|holds?|carr(?:y|ies)|for|para|seating|(?:per|por|each|cada|a) (?:${shuttle})|(?:in|on|en|em) (?:each|cada|one|a|un|uma?) (?:${shuttle})|with room|que (?:leve|lleve)m?|llevan?|levam?`;
  const forms = [
    {
      after: `(?:-\\s*)?(?:${seats})(?![\\p{L}])(?!\\s*(?:per|a|por|em cada|in (?:a|one)) (?:room|habitacion|quarto))`,
      topics,
    },
    { after: `(?=\\s*(?:[.,;!?)\\n]|$))`, topics },
  ];
  const isOfShuttle = new RegExp(`(?<![\\p{L}])(?:${shuttle})(?![\\p{L}])`, "u");
  return forms.flatMap((form) =>
    readQuantities(prompt, form, ({ span, bound, values, isUncertain, topics: said }) => {
      if (!isOfShuttle.test(said) || (form !== forms[0] && !/capaci/.test(said))) return [];
      prompt.take(span);
      const pointer = "/transport/shuttleCapacity";
      const isClear = !isUncertain && values.length === 1 && ["exactly", "at-most"].includes(bound);
      const question = "How many passengers in one shuttle?";
      return [isClear ? is(span, pointer, values[0]) : asks(span, question, pointer)];
    }),
  );
};

const readPickUp = (prompt: Prompt): Reading[] => {
  const form = {
    after:
      "(?:minutes?|mins?|minutos?|hours?|hrs?|h|horas?)(?![\\p{L}])\\s*(?:before|ahead of|prior to|antes (?:de(?:l)?|da|do))(?: (?:the|their|its|la|el|su|sua|seu|o|a))* ?(?:departure|flight|take-?off|salida|vuelo|despegue|partida|voo|saida|decolagem)",
    topics:
      "pick(?:ed)?[- ]?up(?: passengers)?|pick them up|collect(?:ed)?|recogida|recoger(?:los)?|recogid[oa]s|busca(?:r|dos)?|buscar os passageiros|transport|leave|leaves|return|traslado|translado|transfer|embarque|coleta|recolha|recolhid[oa]s",
  };
  return readQuantities(prompt, form, ({ span, bound, values, isUncertain, unit: [, unit = ""] }) => {
    prompt.take(span);
    const pointer = "/transport/minutesBeforePickup";
    const minutes = Math.round((values[0] ?? 0) * (/^h/.test(unit) ? 60 : 1));
    const isClear = !isUncertain && values.length === 1 && bound !== "about";
    return [isClear ? is(span, pointer, minutes) : asks(span, "How many minutes before departure?", pointer)];
  });
};

const readOnDemand = (prompt: Prompt): Reading[] => {
  const pattern = new RegExp(
    `(?<![\\p{L}])(?<no>no |sin |sem |without )?(?:on[- ]demand (?:${rides})|(?:${rides}) (?:is |are )?(?:available )?(?:on[- ]demand|on request|a demanda|a pedido|a solicitud|bajo demanda|sob demanda|por encargo))(?![\\p{L}])`,
    "gu",
  );
  return [...prompt.matches(pattern)].map(({ match, span }) => {
    prompt.take(span);
    return is(span, "/transport/onDemand", match.groups?.no === undefined);
  });
};

/** A vehicle is the mode, or a tier's own where its part of the sentence names tiers. */
const readVehicles = (prompt: Prompt, language: PromptLanguage): Reading[] => {
  const vehicle = new RegExp(`(?<![\\p{L}])(?:${language === "es" ? any : anyWithVan})(?![\\p{L}])`, "gu");
  const found = [...prompt.matches(vehicle)].flatMap(({ match, span }) =>
    vehicleWords.filter(([type]) => match.groups?.[type] !== undefined).map(([type]) => ({ type, span })),
  );
  return found.flatMap((one, i): Reading[] => {
    const sentence = prompt.sentenceAt(one.span.from);
    const stretch = stretchOf(prompt, sentence, one.span, found[i - 1]?.span, found[i + 1]?.span);
    const tiers = tiersBeside(prompt, stretch, one.span);
    const head = prompt.open.slice(stretch.from, one.span.from);
    const { span, says } = vehicleSaid(one, head, tiers, prompt.plain.slice(sentence.from, sentence.to));
    prompt.take(span);
    return says;
  });
};

const denial = /(?<![\p{L}])(?:no|not|without|sin|sem|nao|never|nunca)\s+(?:an?\s+)?$/u;
const lead =
  /(?:(?<![\p{L}])(?:transport(?:ation)?|transfers?|transportes?|traslados?|translados?|mode|modo|by|in|en|de|con|com|por|via|with|a|un|una|um|uma|is|es|e|use|usar|rides?)\s*:?\s*)+$/u;
const leadsToRide =
  /(?<![\p{L}])(?:mode|modo|by|in|en|por|via|use|usar|de)\s*:?\s*(?:(?:a|un|una|um|uma)\s+)?$/u;

/** @param head what stands before it in its part of the sentence @param around the sentence */
const vehicleSaid = (
  { type, span }: { type: VehicleType; span: Span },
  head: string,
  tiers: readonly { tier: Tier; span: Span }[],
  around: string,
): { span: Span; says: Reading[] } => {
  const including = (words: string | undefined): Span => ({
    from: span.from - (words?.length ?? 0),
    to: span.to,
  });
  const denied = denial.exec(head)?.[0];
  if (denied !== undefined)
    return {
      span: including(denied),
      says: [asks(including(denied), "Which vehicle is it to be instead?", mode)],
    };
  if (tiers.length > 0) {
    const perTier = tiers.map(({ tier, span: of }) =>
      is(widest(span, of), `/transport/perTier/${tier}`, type),
    );
    return { span, says: perTier };
  }
  if (type === "WHEELCHAIR_VAN")
    return {
      span,
      says: [asks(span, "Whoever needs one is given one. Is it to be everybody's vehicle?", mode)],
    };
  const whole = including(lead.exec(head)?.[0]);
  const isRide = type !== "SHUTTLE" || isOfRides.test(around) || leadsToRide.test(head);
  const which = "A shuttle of the hotel's (an amenity), or the way passengers are taken (transport)?";
  return { span: whole, says: [isRide ? is(whole, mode, type) : asks(span, which, mode)] };
};

const widest = (one: Span, other: Span): Span => ({
  from: Math.min(one.from, other.from),
  to: Math.max(one.to, other.to),
});

/** From the vehicle before to the one after, inside the sentence. */
const stretchOf = (prompt: Prompt, sentence: Span, span: Span, before?: Span, after?: Span): Span => {
  const from = before !== undefined && before.from >= sentence.from ? before.to : sentence.from;
  const to = after !== undefined && after.to <= sentence.to ? after.from : sentence.to;
  const comma = prompt.plain.slice(from, span.from).search(/,(?!\d)[^,]*$/);
  const next = prompt.plain.slice(span.to, to).search(/,(?!\d)/);
  return { from: comma < 0 ? from : from + comma + 1, to: next < 0 ? to : span.to + next };
};

const list = "(?:\\s*(?:,|and|or|&|y|o|e|ou)\\s*|\\s+)";
const forWords =
  "(?:for|to|in|para|a|en|em|na|los|las|os|as|de|da|the|la|passengers?|customers?|pasajeros?|passageiros?|clientes?|class|of|solo|only|apenas)";
const getWords =
  "(?:get|gets|have|take|travel|go|goes|in|by|a|an|en|de|con|com|em|un|una|um|uma|van|vao|viajan|viajam|:|=|passengers?|pasajeros?|passageiros?|clase|class|transport|recibe[n]?|recebe[m]?)";
const onlyFor = new RegExp(`^\\s*(?:${forWords}\\s*)*$`, "u");
const onlyGet = new RegExp(`^\\s*(?:${getWords}\\s*)*$`, "u");
const onlyListed = new RegExp(`^${list}(?:${forWords}\\s*)*$`, "u");

type NamedTier = ReturnType<typeof tiersIn>[number];

/** `private car for first and business`; `business in a private car`. */
const tiersBeside = (prompt: Prompt, stretch: Span, span: Span): NamedTier[] => {
  const between = (from: number, to: number): string => prompt.plain.slice(from, to);
  const named = (from: number, to: number): NamedTier[] =>
    tiersIn(between(from, to)).map(({ tier, span: of }) => ({
      tier,
      span: { from: of.from + from, to: of.to + from },
    }));
  const isNext = (one: NamedTier, next: NamedTier | undefined): boolean =>
    next !== undefined && onlyListed.test(between(one.span.to, next.span.from));
  const after = named(span.to, stretch.to);
  if (after[0] !== undefined && onlyFor.test(between(span.to, after[0].span.from))) {
    const end = after.findIndex((one, i) => !isNext(one, after[i + 1]));
    return after.slice(0, end + 1);
  }
  const before = named(stretch.from, span.from);
  const last = before.at(-1);
  if (last === undefined || !onlyGet.test(between(last.span.to, span.from))) return [];
  const gap = before.findLastIndex((one, i) => i < before.length - 1 && !isNext(one, before[i + 1]));
  return before.slice(gap + 1);
};
