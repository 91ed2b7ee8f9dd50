/** Owns the words that cells of closed lists hold in five languages: cabins, tiers, types of passengers, needs, languages, yes and no. */
import type { AccessNeed, Language, LoyaltyTier, Tier } from "../../schemas/vocabulary.ts";
import { normalHeader } from "./headers.ts";

/** Compared like headers are. */
const wordsOf = <Value>(lists: readonly (readonly [Value, string])[]): ReadonlyMap<string, Value> =>
  new Map(
    lists.flatMap(([value, words]) => words.split(",").map((word) => [normalHeader(word), value] as const)),
  );

/** Letters are the compartments as airlines print them. */
export const cabinWords = wordsOf<Tier>([
  [
    "ECONOMY",
    "economy, economy class, eco, coach, main cabin, y, turista, clase turista, económica, económica turista, econômica, classe econômica, classe económica, économique, classe économique, economyklasse, touristenklasse, wirtschaftsklasse",
  ],
  [
    "PREMIUM_ECONOMY",
    "premium economy, premium economy class, premium eco, premium, w, turista premium, turista superior, económica premium, premium económica, econômica premium, premium econômica, économique premium, premium économique, premiumeconomyklasse",
  ],
  [
    "BUSINESS",
    "business, business class, c, j, ejecutiva, clase ejecutiva, clase business, preferente, negocios, executiva, classe executiva, affaires, classe affaires, businessklasse, geschäftsklasse",
  ],
  [
    "FIRST",
    "first, first class, f, primera, primera clase, primeira, primeira classe, première, première classe, erste, erste klasse",
  ],
  ["CREW", "crew, deadhead, dhd, tripulación, tripulante, tripulação, équipage, besatzung, crewmitglied"],
]);

/** An airline's own names of tiers are kept as they are. */
export const tierWords = wordsOf<LoyaltyTier>([
  [
    "STANDARD",
    "standard, none, no, basic, base, estándar, ninguno, padrão, nenhum, aucun, kein, keiner, keine",
  ],
  ["SILVER", "silver, plata, prata, argent, silber"],
  ["GOLD", "gold, oro, ouro, or"],
  ["PLATINUM", "platinum, platino, platina, platine, platin"],
]);

export const typeWords = wordsOf<"ADULT" | "CHILD" | "INFANT">([
  ["ADULT", "adult, adt, ad, a, adulto, adulte, erwachsener, erwachsene, erw, mr, mrs, ms, miss"],
  ["CHILD", "child, chd, cnn, ch, c, niño, niña, menor, criança, enfant, kind, mstr, um, umnr"],
  ["INFANT", "infant, inf, ins, in, i, baby, bebé, bebê, lactante, bébé, nourrisson, kleinkind, säugling"],
]);

/** Codes of special services stay as they are: what they mean is known where needs are. */
export const needWords = wordsOf<AccessNeed>([
  [
    "WHEELCHAIR",
    "wheelchair, wheel chair, silla de ruedas, cadeira de rodas, fauteuil roulant, rollstuhl, rollstuhlfahrer",
  ],
  [
    "REDUCED_MOBILITY",
    "reduced mobility, prm, pmr, cannot walk far, movilidad reducida, mobilidade reduzida, mobilité réduite, eingeschränkte mobilität, gehbehindert",
  ],
  [
    "VISUAL",
    "visual, blind, visually impaired, ciego, ciega, discapacidad visual, cego, cega, deficiência visual, aveugle, malvoyant, malvoyante, blind, sehbehindert",
  ],
  [
    "HEARING",
    "hearing, deaf, hearing impaired, sordo, sorda, discapacidad auditiva, surdo, surda, deficiência auditiva, sourd, sourde, malentendant, malentendante, gehörlos, taub, hörbehindert",
  ],
  [
    "SERVICE_ANIMAL",
    "service animal, service dog, guide dog, assistance dog, perro guía, perro de asistencia, cão-guia, cão guia, cão de assistência, chien guide, chien d'assistance, assistenzhund, blindenhund",
  ],
  ["INFANT_COT", "infant cot, cot, crib, baby cot, cuna, berço, lit bébé, berceau, babybett, kinderbett"],
]);

export const languageWords = wordsOf<Language>([
  ["en", "english, inglés, inglês, anglais, englisch, eng"],
  ["es", "spanish, español, castellano, espanhol, espagnol, spanisch, spa, esp"],
  ["pt", "portuguese, portugués, português, portugais, portugiesisch, por"],
  ["fr", "french, francés, francês, français, französisch, fra, fre"],
  ["de", "german, alemán, alemão, allemand, deutsch, ger, deu"],
]);

export const yesOrNo = wordsOf<boolean>([
  [true, "yes, y, true, x, 1, si, s, sim, oui, o, ja, j, verdadero, verdadeiro, vrai, wahr"],
  [false, "no, n, false, 0, não, nao, non, nein, none, falso, faux, falsch"],
]);

/** Longer than any word of ours; comparing costs more the longer a text is. */
const wordCharactersMax = 80;

export const wordIn = <Value>(words: ReadonlyMap<string, Value>, text: string): Value | undefined =>
  text.length > wordCharactersMax ? undefined : words.get(normalHeader(text));
