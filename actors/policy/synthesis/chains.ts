/** Owns reading which chains of hotels are ruled out. */
import { airport as airportOf } from "../../../schemas/airports.ts";
import type { Prompt, Span } from "./folded.ts";
import { isPlace } from "./places.ts";
import { asks, type PromptLanguage, type Reader, type Reading } from "./reading.ts";

const exclude =
  "exclud(?:e|es|ed|ing)|avoid(?:ing)?|never (?:use|book)|(?:do not|don't) (?:use|book)|not in|excluir|excluya[ns]?|excluyendo|excluid[oa]s?|evit(?:ar|e|en|ando|em)|no (?:usar|reservar|utilizar)|nunca (?:usar|reservar|en|em)|exclua[m]?|excluindo|nao (?:usar|reservar|utilizar)|ban(?:ned)?|prohib(?:ir|id[oa]s?)|proib(?:ir|id[oa]s?)";
const except = "except|excepto|exceto|salvo";
/** `no Galeão` is a place in Portuguese. */
const neverIn = (language: PromptLanguage): string =>
  `${language === "pt" ? "" : "no|"}not|never|neither|without|sin|ni|nunca|jamas|sem|nem|nao`;
const determiner = "(?:the|any|an?|el|las?|los|o|os|as|una?|uma?)";
const noun =
  "(?:hotel )?(?:chains?|brands?)|cadenas?(?: hoteleras?)?|marcas?|redes?(?: hoteleiras?)?|cadeias?|bandeiras?";
const article =
  "(?:(?:en|em|in|at|the|any|of|hotels?|hoteles|hoteis|de|del|da|das|do|las?|los|as?|os?)\\s+)*";
const pointer = "/constraints/excludedChains";

/** Names as they were written: with a capital letter, a digit or in quotation marks; up to four words. */
const nameInOriginal =
  /^\s*(?:"([^"\n]{1,40})"|((?:[\p{Lu}\d][\p{L}\p{N}&'.-]*)(?: (?:of|de|da|do|&|[\p{Lu}\d][\p{L}\p{N}&'.-]*)){0,3}))/u;
const nameInSmall =
  /^\s*((?!(?:except|but|other|at all|hotels?|excepto|salvo|menos|otr[oa]s?|hoteles|exceto|fora|outr[oa]s?|hoteis)(?![\p{L}]))[\p{L}\p{N}&'-]+(?: (?!and |or |y |o |e |ou |hotels?|chain|brand|cadena|rede)[\p{L}\p{N}&'-]+){0,2})/u;
const joint =
  /^\s*(?:,\s*(?:and|or|y|o|e|ou|ni|nem)?|\/|&|and|or|nor|y|o|e|u|ou|ni|nem)(?:\s+(?:the|la|las|a|as|de la|da))?\s+/u;

export const readChains: Reader = (prompt, { language }) => {
  const never = neverIn(language);
  const isOfPlace = lookUp();
  return [
    ...readPreferred(prompt),
    ...listed(
      prompt,
      new RegExp(
        `(?<![\\p{L}])(?:(?:${exclude}|${never}|${except})\\s+${article}(?:${noun})|(?:excluded|banned|forbidden) (?:${noun})|(?:${noun})\\s+(?:excluid[oa]s|prohibid[oa]s|proibid[oa]s|excluded|banned|to avoid|a evitar))\\s*(?:of|de|:|are|is|son|sao)?(?=\\s)`,
        "gu",
      ),
    ),
    ...listed(
      prompt,
      new RegExp(
        `(?<![\\p{L}])(?:${exclude}|(?:${never}|${except})(?=[^.;,\\n]{1,60}\\b(?:${noun}|hotels?|hoteles|hoteis)\\b)|(?:sin|sem|no) (?:hoteles|hoteis|hotels))\\s+${article}`,
        "gu",
      ),
      isOfPlace,
    ),
    // In a text in capitals anything may be a name.
    ...(prompt.isShouted
      ? []
      : listed(prompt, new RegExp(`(?<![\\p{L}])(?:${never})\\s+(?:${determiner}\\s+)?`, "gu"), isOfPlace)),
  ];
};

const readPreferred = (prompt: Prompt): Reading[] => {
  const pattern = new RegExp(
    `(?<![\\p{L}])(?:prefer(?:red|ably)?|favou?r(?:ed|ite)?|only)\\s+(?:the |hotels? of the )?(?:${noun})\\s*:?[^.;\\n]*|(?<![\\p{L}])(?:${noun})\\s+(?:preferid[oa]s|preferente?s|favorit[oa]s)\\s*:?[^.;\\n]*|(?<![\\p{L}])(?:preferi[rm]?|prefer(?:imos|e|ir)|dar preferencia a|solo|apenas|somente)\\s+(?:las? |as? |os? )?(?:${noun})[^.;\\n]*`,
    "gu",
  );
  return [...prompt.matches(pattern)].map(({ match, span }) => {
    const trimmed = { from: span.from, to: span.from + match[0].trimEnd().length };
    prompt.take(trimmed);
    return asks(trimmed, "A policy excludes chains and prefers none. Which ones are ruled out?", pointer);
  });
};

/** @param isOfPlace undefined: the head says that chains are meant */
const listed = (prompt: Prompt, head: RegExp, isOfPlace?: (name: string) => boolean): Reading[] =>
  [...prompt.matches(head)].flatMap(({ span }) => {
    const saysChains = isOfPlace === undefined;
    const names: { name: string; span: Span }[] = [];
    let at = span.to;
    for (let rounds = 0; rounds < 20; rounds++) {
      const rest = prompt.untakenFrom(at);
      const found = nameInOriginal.exec(rest) ?? (saysChains ? nameInSmall.exec(rest) : null);
      if (found === null || !(saysChains || isProper(found[0]))) break;
      const name = (found[1] ?? found[2] ?? "").replace(/[.'-]+$/, "").trim();
      names.push({ name, span: { from: at, to: at + found[0].length } });
      at += found[0].length;
      const and = joint.exec(prompt.open.slice(at));
      if (and === null) break;
      const next = prompt.untakenFrom(at + and[0].length);
      const isInSmall = saysChains && nameInSmall.test(next) && !/^\s*,/.test(and[0]);
      if (!nameInOriginal.test(next) && !isInSmall) break;
      at += and[0].length;
    }
    if (names.length === 0 || (!saysChains && names.every(({ name }) => isOfPlace(name)))) return [];
    const after = new RegExp(`^\\s*(?:${noun}|hotels?|properties|hoteles|hoteis)(?![\\p{L}])`, "u");
    at += after.exec(prompt.open.slice(at))?.[0].length ?? 0;
    const whole = { from: span.from, to: at };
    prompt.take(whole);
    return names.map(({ name }): Reading => ({ span: whole, says: "excludes-chain", name }));
  });

/** `24 hours` is no name. */
const isProper = (text: string): boolean => /["\p{Lu}]/u.test(text);

/** Names looked up in one prompt; the rest is asked about. */
const lookUpsMax = 60;

/** `avoid JFK` is said of an airport. */
const lookUp = (): ((name: string) => boolean) => {
  let left = lookUpsMax;
  return (name) => left-- <= 0 || (/^[A-Z]{3}$/.test(name) && airportOf(name) !== undefined) || isPlace(name);
};

/** A chain's id as this policy may name it: what hotels are known by, else the name's own words. */
export const chainIdOf = (name: string, known: readonly string[]): { id: string; isKnown: boolean } => {
  const bare = (text: string): string =>
    text
      .normalize("NFD")
      .replace(/[^\p{L}\p{N}]/gu, "")
      .toLowerCase();
  const wanted = bare(name);
  const found = known.find((id) => bare(id) === wanted);
  if (found !== undefined) return { id: found, isKnown: true };
  const id = name
    .normalize("NFD")
    .replace(/\p{M}/gu, "")
    .replace(/[^\p{L}\p{N}]+/gu, "_")
    .replace(/^_+|_+$/g, "")
    .toUpperCase();
  return { id, isKnown: false };
};
