/** Owns reading what a hotel has to have and to take: amenities, ways to pay, providers. */
import { type Amenity, amenities } from "../../../schemas/vocabulary.ts";
import type { Prompt, Span } from "./folded.ts";
import { asks, is, type PromptLanguage, type Reader, type Reading } from "./reading.ts";

const amenityWords: readonly [Amenity, string][] = [
  [
    "24H_RECEPTION",
    "(?:24[- ]?(?:h|hours?|hr)s?|24/7|round[- ]the[- ]clock)[- ](?:front desk|reception|desk)|(?:front desk|reception|recepcion|recepcao|portaria)(?: abierta| aberta| open)?(?: las| de| durante| as| at)?(?: )?(?:24 ?(?:h|horas|hours)|24/7)(?: (?:a day|al dia|por dia))?",
  ],
  [
    "AIRPORT_SHUTTLE",
    "(?:free |own |hotel )?(?:airport shuttles?|shuttles? (?:to|from|to and from) the airport)|hotel shuttle|(?:transporte|traslado|lanzadera|shuttle|transfer|bus|van)(?: gratuit[oa])? (?:al|del|desde el|hacia el|hasta el|ao|do|para o|ate o) (?:aeropuerto|aeroporto)|(?:transporte|lanzadera|shuttle|transfer|traslado) (?:del|do) hotel",
  ],
  ["BREAKFAST", "breakfasts?|desayunos?|cafe da manha|pequeno[- ]almoco"],
  ["RESTAURANT", "(?:on[- ]site )?restaurants?|restaurantes?"],
  [
    "WIFI",
    "(?:free )?wi-?fi(?: (?:gratis|gratuito|gratuita))?|(?:free )?internet(?: access)?|acceso a internet|acesso a internet",
  ],
  ["PARKING", "(?:car )?parking|estacionamientos?|aparcamientos?|estacionamentos?|parqueaderos?"],
  [
    "ACCESSIBLE_ROOMS",
    "(?:wheelchair[- ])?accessible rooms?|wheelchair[- ]accessible(?: hotels?)?|rooms? accessible (?:to|for) wheelchairs?|(?:habitaciones|habitacion|cuartos?|quartos?) (?:accesibles?|adaptad[oa]s?|acessive(?:l|is))",
  ],
  [
    "PETS_ALLOWED",
    "pet[- ]friendly|pets? (?:allowed|welcome|accepted)|accept(?:s|ing)? pets|(?:que )?(?:se )?(?:admit[ae]n?|acept[ae]n?|permit[ae]n?) (?:mascotas|animales)|mascotas (?:admitidas|permitidas)|(?:que )?(?:aceit[ae]m?|permit[ae]m?) (?:animais(?: de estimacao)?|pets)|animais (?:de estimacao )?(?:permitidos|aceitos)",
  ],
  [
    "FAMILY_ROOMS",
    "family rooms?|habitaciones familiares|habitacion familiar|quartos? (?:familiare?s?|familia|para familias)|quartos familiares",
  ],
  [
    "AIR_CONDITIONING",
    "air[- ]?conditioning|air[- ]conditioned(?: rooms?)?|a/c|aire acondicionado|ar[- ]condicionado",
  ],
];

const pointer = "/constraints/requiredAmenities";
const notNeededBefore =
  /(?<![\p{L}])(?:no need (?:for|of)|(?:does|do|need)(?: not|n't) (?:need|require)(?: to have)?|(?:isn't|is not) (?:necessary|needed)|no (?:hace falta|necesitan?|es necesari[oa]|se (?:requiere|exige|necesita))|(?:sin necesidad|sem necessidade) de|no (?:haga[n]?|hacen) falta|no sean? necesari[oa]s?|nao sejam? (?:necessari|obrigatori)[oa]s?|nao (?:precisam?(?: de| ter)?|e (?:necessari[oa]|preciso|obrigatori[oa])|se exige|exig(?:e|ir|imos)|requer)|dispensa(?:mos)?)(?: (?:the|an?|el|la|un|una|o|a|um|uma|ter|que tenga))*\s*$/u;
const notNeededAfter =
  /^(?: (?:is|are|es|e|sao))?(?: (?:not|no|nao|n't))? ?(?:(?:(?<=not |n't )(?:needed|required|necessary|a must))|optional|opcional|opcionais|(?<=no )(?:es (?:necesario|obligatorio)|hace falta|se requiere)|(?<=nao )(?:e (?:necessario|obrigatorio|preciso)|precisa)|dispensave(?:l|is))(?![\p{L}])/u;
/** In any of the languages: what denies in one is not worth a guess in another. */
const negation =
  "no|not|without|never|nor|neither|excluding|sin|ni|nunca|tampoco|excluyendo|nao|sem|nem|excluindo|(?:do|does|is|are)n't|don't";
/** Up to four words on, as in `we don't want hotels with`. */
const denialWith = (words: string): RegExp =>
  new RegExp(`(?<![\\p{L}])(?:${words})(?:\\s+(?!(?:${negation})\\s)[\\p{L}'-]+){0,4}\\s+$`, "u");
const denial = denialWith(negation);
/** `no aeroporto com` denies nothing in Portuguese; right before the word `no` is no Portuguese. */
const denialInPortuguese = new RegExp(
  `(?<![\\p{L}])no\\s+$|${denialWith(negation.replace("no|", "")).source}`,
  "u",
);

const required =
  /(?:\s|,)*(?<![\p{L}])(?:(?:must|should|has to|have to|need to|needs to)(?: have| offer| be)?|(?:is |are |be |as )?(?:required|mandatory|a must|included|compulsory)|with|have|having|offering|offer|con|tienen?|tenga[n]?|(?:debe[n]?) (?:tener|ofrecer|incluir)|incluid[oa]s?|obligatori[oa]s?|(?:es|son) obligatori[oa]s?|incluya[n]?|ofrezca[n]?|requerid[oa]s?|com|tenham?|deve[m]? (?:ter|oferecer|incluir)|inclus[oa]s?|obrigatori[oa]s?|ofereca[m]?|inclua[m]?|require[sd]?|requires|amenities|servicios?|servicos?|comodidades|exigir|exigimos|exige)\s*:?$/u;

const requiredAfter =
  /^(?: (?:is|are|es|son|e|sao))? ?(?:required|mandatory|compulsory|a must|included|needed|incluid[oa]s?|obligatori[oa]s?|requerid[oa]s?|necesari[oa]s?|inclus[oa]s?|obrigatori[oa]s?|necessari[oa]s?)(?![\p{L}])/u;

export const readAmenities: Reader = (prompt, { language }) => {
  const found: { span: Span; amenity: Amenity }[] = [];
  for (const [amenity, source] of amenityWords) {
    for (const { span } of prompt.matches(new RegExp(`(?<![\\p{L}\\d])(?:${source})(?![\\p{L}\\d])`, "gu")))
      if (!found.some((other) => other.span.from < span.to && span.from < other.span.to))
        found.push({ span, amenity });
  }
  found.sort((one, other) => one.span.from - other.span.from);
  const readings: (Reading & { isDenied?: boolean })[] = [];
  for (const { span, amenity } of found) {
    const before = readings.at(-1);
    const between = before === undefined ? "" : prompt.plain.slice(before.span.to, span.from);
    readings.push(wished(prompt, language, span, amenity, before, between));
  }
  for (const { span } of readings) if (!prompt.isTaken(span)) prompt.take(span);
  return [...alternatives(prompt, language, readings), ...readUnknown(prompt)];
};

/** What people ask of hotels and no policy can. */
const readUnknown = (prompt: Prompt): Reading[] => {
  const pattern =
    /(?<![\p{L}])(?:(?:swimming )?pools?|gyms?|fitness (?:cent(?:er|re)|room)|spas?|saunas?|bars?|laundry|room service|sea view|balcon(?:y|ies)|minibars?|piscinas?|gimnasios?|lavanderia|bares|vista al mar|academia|ginasios?|frigobar|vista para o mar|servico de quarto|servicio de habitaciones)(?![\p{L}])/gu;
  return [...prompt.matches(pattern)].map(({ span }) => {
    prompt.take(span);
    return asks(
      span,
      `Policies know these amenities only: ${amenities.join(", ")}. Is one of them meant?`,
      pointer,
    );
  });
};

const wished = (
  prompt: Prompt,
  language: PromptLanguage,
  span: Span,
  value: Amenity,
  before: (Reading & { isDenied?: boolean }) | undefined,
  between: string,
): Reading & { isDenied?: boolean } => {
  const { from } = prompt.clauseAt(span.from);
  const head = prompt.open.slice(Math.max(0, Math.min(from, span.from)), span.from);
  const tail = prompt.open.slice(span.to, span.to + 60);
  const unneeded = notNeededBefore.exec(head);
  const unneededAfter = notNeededAfter.exec(tail);
  if (unneeded !== null)
    return { span: { from: span.from - unneeded[0].length, to: span.to }, says: "has-not", pointer, value };
  if (unneededAfter !== null)
    return {
      span: { from: span.from, to: span.to + unneededAfter[0].length },
      says: "has-not",
      pointer,
      value,
    };
  const denied = (language === "pt" ? denialInPortuguese : denial).exec(head);
  const needed =
    /^(?: (?:is|es|e))? ?(?:needed|required|necessary|necesari[oa]|necessari[oa]|obligatori[oa]|obrigatori[oa])(?![\p{L}])/u.exec(
      tail,
    );
  if (denied !== null && needed !== null)
    return {
      span: { from: span.from - denied[0].length, to: span.to + needed[0].length },
      says: "has-not",
      pointer,
      value,
    };
  const isListed = /^\s*(?:,|or|nor|o|ou|ni|nem)?\s*(?:or|nor|o|ou|ni|nem)?\s*$/.test(between);
  if (denied !== null || (before?.isDenied === true && isListed && between.trim() !== "")) {
    const whole = { from: span.from - (denied?.[0].length ?? 0), to: span.to };
    const question = `Hotels with ${value} can't be ruled out. Is it simply not required?`;
    return { ...asks(whole, question, pointer), isDenied: true };
  }
  const word = required.exec(head)?.[0].length ?? 0;
  const after = requiredAfter.exec(tail)?.[0].length ?? 0;
  return { span: { from: span.from - word, to: span.to + after }, says: "has", pointer, value };
};

const orOf: Readonly<Record<PromptLanguage, RegExp>> = {
  en: /^\s*,?\s*or\s+(?:an?\s+)?$/,
  es: /^\s*[ou]\s+(?:un[ao]?\s+)?$/,
  pt: /^\s*ou\s+(?:uma?\s+)?$/,
};

/** `breakfast or a restaurant`: a hotel has all that is required, so neither is. */
const alternatives = (prompt: Prompt, language: PromptLanguage, readings: readonly Reading[]): Reading[] => {
  const question = "A hotel has to have all that a policy requires. Which of these is it to be?";
  const kept: Reading[] = [];
  for (const reading of readings) {
    const before = kept.at(-1);
    const between = before === undefined ? "" : prompt.plain.slice(before.span.to, reading.span.from);
    const isChoice = before?.says === "has" || (before?.says === "asks" && before.question === question);
    if (before === undefined || reading.says !== "has" || !isChoice || !orOf[language].test(between)) {
      kept.push(reading);
      continue;
    }
    const span = { from: before.span.from, to: reading.span.to };
    prompt.take(span);
    kept[kept.length - 1] = asks(span, question, pointer);
  }
  return kept;
};

const payments = "/constraints/acceptedPayments";
const cardWords =
  "(?:virtual |credit |prepaid )?cards?(?: payments?)?|tarjetas?(?: de credito| virtual(?:es)?)?|cart(?:ao|oes)(?: de credito| virtua(?:l|is))?";
const guaranteeWords = "guarantees?|garantias?";
const payWords =
  "pay(?:ing|ment|ments)?(?: by| with| methods?| via)?|paid by|accept(?:s|ed|ing)?(?: payments?(?: by| with)?)?|payments? accepted|pag(?:o|os|ar|ando|amento|amentos)(?: con| com| por| em| mediante| aceptados?| aceitos?)?|(?:se )?acept(?:a|an|ar|en|ando|ado|ados)|aceit(?:a|am|ar|e|em|ando|o|os)(?:-se)?|formas? de pago|formas? de pagamento|(?:allow|permitir|habilitar)";

/** Cards have other uses in a policy: they count here only beside a word for paying. */
export const readPayments: Reader = (prompt) => {
  const one = `(?:${cardWords}|${guaranteeWords})`;
  const only = "only|solo|solamente|unicamente|somente|apenas|so|exclusivamente";
  const list = `${one}(?:\\s*(?:,|/|and|or|y|o|e|ou)\\s*(?:by |with |con |com |por |the |la |a )?${one})?`;
  const pattern = new RegExp(
    `(?<![\\p{L}])(?<head>(?:(?:${negation}|do not|${only}|${payWords}|must|hotels?|:|the|la|a|with|con|com|by)\\s*)*)(?<list>${list})(?<tail>(?:\\s+(?:${payWords}|${only}|are|is|payments?|son|estan|sao|not|no|nao))*)(?![\\p{L}])`,
    "gu",
  );
  const readings: Reading[] = [];
  for (const { match, span } of prompt.matches(pattern)) {
    const { head = "", list: said = "", tail = "" } = match.groups ?? {};
    const around = `${head} ${tail}`;
    const isPaying = new RegExp(`(?<![\\p{L}])(?:${payWords}|${only})(?![\\p{L}])`, "u").test(around);
    const isDenied = new RegExp(`(?<![\\p{L}])(?:${negation})(?![\\p{L}])`, "u").test(around);
    if (!isPaying && !isDenied && !said.match(/guarantee|garantia/)) continue;
    const lead = /^(?:\s|the |la |a |with |con |com |hotels? )*/.exec(match[0])?.[0].length ?? 0;
    prompt.take(span);
    readings.push(...paid({ from: span.from + lead, to: span.to }, said, isDenied));
  }
  return readings;
};

const paid = (span: Span, said: string, isDenied: boolean): Reading[] =>
  [
    ...(new RegExp(guaranteeWords, "u").test(said) ? ["GUARANTEE"] : []),
    ...(new RegExp(cardWords, "u").test(said) ? ["CARD"] : []),
  ].map((value) => ({ span, says: isDenied ? "has-not" : "has", pointer: payments, value }));

/** The airline's own contracts are known by their name; vendors are not. */
export const readProviders: Reader = (prompt) => {
  const pattern =
    /(?<![\p{L}])(?:(?:only|just|solo|solamente|unicamente|somente|apenas|so|exclusivamente)\s+(?:use |from |with |usar |con |com |de |hotels (?:with|under) |hoteles con |hoteis com )*(?:(?:our|own|nuestros|nossos|los|os)\s+)*(?:direct(?:ly)? contract(?:s|ed(?: hotels)?)|contratos? diret[oa]s?|contratos? direct[oa]s?)|(?:direct contracts|contratos directos|contratos diretos) (?:only|solamente|solo|unicamente|apenas|somente))(?![\p{L}])/gu;
  return [...prompt.matches(pattern)].map(({ span }) => {
    prompt.take(span);
    return is(span, "/constraints/allowProviders", ["direct"]);
  });
};
