/** Owns reading which chains of hotels are ruled out. */
import { airport as airportOf } from "../../../schemas/airports.ts";
import type { Prompt, Span } from "./folded.ts";
import { asks, type Reader, type Reading } from "./reading.ts";

const exclude =
  "exclud(?:e|es|ed|ing)|avoid(?:ing)?|never (?:use|book)|(?:do not|don't) (?:use|book)|not in|excluir|excluya[ns]?|excluyendo|excluid[oa]s?|evit(?:ar|e|en|ando|em)|no (?:usar|reservar|utilizar)|nunca (?:usar|reservar|en|em)|exclua[m]?|excluindo|nao (?:usar|reservar|utilizar)|ban(?:ned)?|prohib(?:ir|id[oa]s?)|proib(?:ir|id[oa]s?)";
const without = "no|without|sin|sem|except|excepto|exceto|salvo";
const noun =
  "(?:hotel )?(?:chains?|brands?)|cadenas?(?: hoteleras?)?|marcas?|redes?(?: hoteleiras?)?|cadeias?|bandeiras?";
const article =
  "(?:(?:en|em|in|at|the|any|of|hotels?|hoteles|hoteis|de|del|da|das|do|las?|los|as?|os?)\\s+)*";
const pointer = "/constraints/excludedChains";

/** Names as they were written: with a capital letter, a digit or in quotation marks; up to four words. */
const nameInOriginal =
  /^\s*(?:"([^"\n]{1,40})"|((?:[\p{Lu}\d][\p{L}\p{N}&'.-]*)(?: (?:of|de|da|do|&|[\p{Lu}\d][\p{L}\p{N}&'.-]*)){0,3}))/u;
const nameInSmall =
  /^\s*([\p{L}\p{N}&'-]+(?: (?!and |or |y |o |e |ou |hotels?|chain|brand|cadena|rede)[\p{L}\p{N}&'-]+){0,2})/u;
const joint =
  /^\s*(?:,\s*(?:and|or|y|o|e|ou|ni|nem)?|\/|&|and|or|nor|y|o|e|u|ou|ni|nem)(?:\s+(?:the|la|las|a|as|de la|da))?\s+/u;

export const readChains: Reader = (prompt) => [
  ...readPreferred(prompt),
  ...listed(
    prompt,
    new RegExp(
      `(?<![\\p{L}])(?:(?:${exclude}|${without})\\s+${article}(?:${noun})|(?:excluded|banned|forbidden) (?:${noun})|(?:${noun})\\s+(?:excluid[oa]s|prohibid[oa]s|proibid[oa]s|excluded|banned|to avoid|a evitar))\\s*(?:of|de|:|are|is|son|sao)?(?=\\s)`,
      "gu",
    ),
    true,
  ),
  ...listed(
    prompt,
    new RegExp(
      `(?<![\\p{L}])(?:${exclude}|(?:${without})(?=[^.;,\\n]{1,60}\\b(?:${noun}|hotels?|hoteles|hoteis)\\b)|(?:sin|sem|no) (?:hoteles|hoteis|hotels))\\s+${article}`,
      "gu",
    ),
    false,
  ),
];

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

const listed = (prompt: Prompt, head: RegExp, saysChains: boolean): Reading[] =>
  [...prompt.matches(head)].flatMap(({ span }) => {
    const names: { name: string; span: Span }[] = [];
    let at = span.to;
    for (let rounds = 0; rounds < 20; rounds++) {
      const rest = prompt.original.slice(at);
      const open = prompt.open.slice(at);
      const found = nameInOriginal.exec(rest) ?? (saysChains ? nameInSmall.exec(rest) : null);
      if (found === null || open.slice(0, found[0].length).includes("\uE000")) break;
      const name = (found[1] ?? found[2] ?? "").replace(/[.'-]+$/, "").trim();
      names.push({ name, span: { from: at, to: at + found[0].length } });
      at += found[0].length;
      const and = joint.exec(prompt.open.slice(at));
      if (and === null) break;
      const next = nameInOriginal.exec(prompt.original.slice(at + and[0].length));
      if (
        next === null &&
        !(saysChains && nameInSmall.test(prompt.original.slice(at + and[0].length)) && !/^\s*,/.test(and[0]))
      )
        break;
      at += and[0].length;
    }
    if (names.length === 0 || (!saysChains && names.every(({ name }) => isAirport(name)))) return [];
    const after = new RegExp(`^\\s*(?:${noun}|hotels?|properties|hoteles|hoteis)(?![\\p{L}])`, "u");
    at += after.exec(prompt.open.slice(at))?.[0].length ?? 0;
    const whole = { from: span.from, to: at };
    prompt.take(whole);
    return names.map(({ name }): Reading => ({ span: whole, says: "excludes-chain", name }));
  });

/** `never in JFK` is said of a place. */
const isAirport = (name: string): boolean => /^[A-Z]{3}$/.test(name) && airportOf(name) !== undefined;

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
