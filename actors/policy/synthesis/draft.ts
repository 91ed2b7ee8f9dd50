/** Owns making a draft of a policy out of what was read: what contradicts itself, or is no policy's value, becomes a question. */
import { airport as airportOf } from "../../../schemas/airports.ts";
import { currencyOfCountry, minorUnitDigits } from "../../../schemas/currency.ts";
import { convertMinor, ratesAsOf } from "../../../schemas/exchange-rates.ts";
import { PolicyBody, type UnclearPoint } from "../../../schemas/policy.ts";
import { Problem } from "../../../schemas/problems.ts";
import { cabins, type Tier } from "../../../schemas/vocabulary.ts";
import { checkedBy } from "../../runtime/input.ts";
import { chainIdOf } from "./chains.ts";
import type { Prompt } from "./folded.ts";
import { type Amount, asks, passengerTiers, type Reading } from "./reading.ts";

/** What a draft goes by beside the prompt: each counts where the prompt says nothing of it. */
export interface Circumstances {
  airlineUrn: string;
  /** The case that it is for; it may have no passengers yet. */
  ofCase?: { airport: string; tiers: readonly Tier[] };
  /** The only one that its author may write for. */
  ownAirport?: string;
  /** Where no airport is named. */
  homeCurrency: string;
  /** Ids of chains that hotels are known to be of. */
  chains: readonly string[];
}

export interface Draft {
  body: PolicyBody;
  unclear: UnclearPoint[];
  /** 0 to 1: the share of what was said that is in the draft, weighted by how sure its reader is. */
  confidence: number;
}

/** How far a reading is trusted; a model's counts less than a rule's. */
const rulesTrust = 0.95;
const modelTrust = 0.7;

const unclearMax = 50;
const textMax = 200;
const lists: ReadonlySet<string> = new Set([
  "/tiers",
  "/constraints/requiredAmenities",
  "/constraints/acceptedPayments",
]);

/** @param byModel readings of a model's: they count where the rules have read nothing of the same place */
export const draftOf = (
  prompt: Prompt,
  read: readonly Reading[],
  byModel: readonly Reading[],
  circumstances: Circumstances,
): Draft | undefined => {
  const added = besideRules(read, byModel);
  const stated = statedIn([...besideModel(read, added), ...added], circumstances);
  const understood = stated.filter(({ says }) => says !== "asks");
  if (understood.length === 0) return undefined;
  const { body, readings } = whole(stated, circumstances);
  const kept = readings.filter(({ says }) => says !== "asks");
  const open = readings.filter((reading) => reading.says === "asks");
  const spans = new Set(added.map(({ span }) => span));
  const trust = kept.reduce((sum, { span }) => sum + (spans.has(span) ? modelTrust : rulesTrust), 0);
  return {
    body,
    unclear: pointsOf(prompt, open),
    confidence: Math.round((trust / Math.max(1, kept.length + open.length)) * 100) / 100,
  };
};

/** What a model has made something of is asked about by its own question. */
const besideModel = (read: readonly Reading[], added: readonly Reading[]): Reading[] =>
  read.filter(
    ({ says, span }) =>
      says !== "asks" || !added.some((one) => one.span.from <= span.from && span.to <= one.span.to),
  );

/** What rules have read of a place stands as it is: a model adds nothing to it, and asks nothing of it. */
const besideRules = (read: readonly Reading[], byModel: readonly Reading[]): Reading[] => {
  const known = new Set(read.flatMap((one) => (one.says === "asks" ? [] : placeOf(one))));
  return byModel.filter((one) => placeOf(one).every((pointer) => !known.has(pointer)));
};

const placeOf = (reading: Reading): string[] => {
  if (reading.says === "excludes-chain") return ["/constraints/excludedChains"];
  return reading.pointer === undefined ? [] : [reading.pointer];
};

const pointsOf = (prompt: Prompt, open: readonly Reading[]): UnclearPoint[] => {
  const points = [...open]
    .sort((one, other) => one.span.from - other.span.from)
    .flatMap((reading) => {
      if (reading.says !== "asks") return [];
      const { question, pointer } = reading;
      const text = cut(prompt.wordsAt(reading.span));
      return [{ text, ...(pointer === undefined ? {} : { pointer }), question }];
    });
  const once = new Map(points.map((point) => [JSON.stringify(point), point]));
  return [...once.values()].slice(0, unclearMax);
};

const cut = (text: string): string => (text.length <= textMax ? text : `${text.slice(0, textMax - 1)}…`);

/** Amounts in the policy's currency, chains by their ids, and of what contradicts itself questions alone. */
const statedIn = (read: readonly Reading[], circumstances: Circumstances): Reading[] => {
  const named = consistent(read);
  const airports = named.flatMap((one) =>
    one.says === "is" && one.pointer === "/context/airport" ? [one.value] : [],
  );
  const isAirportOpen =
    airports.length === 0 && named.some((one) => one.says === "asks" && one.pointer === "/context/airport");
  const airport =
    airports.length > 0
      ? (airports[0] as string | undefined)
      : (circumstances.ofCase?.airport ?? circumstances.ownAirport);
  const currency =
    (airport === undefined ? undefined : currencyOfCountry(airportOf(airport)?.country ?? "")) ??
    circumstances.homeCurrency;
  return consistent(
    named.flatMap((reading): Reading[] => {
      if (reading.says === "amount")
        return inCurrency(reading, currency, isAirportOpen && airport === undefined);
      if (reading.says === "excludes-chain") return chainExcluded(reading, circumstances.chains);
      return [reading];
    }),
  );
};

const inCurrency = (
  { span, pointer, amount }: Reading & { says: "amount" },
  currency: string,
  isAirportOpen: boolean,
): Reading[] => {
  const stated = statedCurrency(amount, currency);
  const said = (major: number): Reading => ({
    span,
    says: "is",
    pointer,
    value: inUnit(pointer, major, currency),
  });
  if (stated === currency)
    return isAirportOpen && amount.currencies !== undefined
      ? [asks(span, openAirport, pointer)]
      : [said(amount.amount)];
  if (isAirportOpen) return [asks(span, openAirport, pointer)];
  const minor = stated === undefined ? undefined : convertMinor(amount.amount, stated, currency);
  if (stated === undefined || minor === undefined)
    return [asks(span, `The policy's amounts are in ${currency}. How much is it in ${currency}?`, pointer)];
  const major = minor / 10 ** minorUnitDigits(currency);
  const question = `The policy's amounts are in ${currency}: by the rates of ${ratesAsOf} it is ${major} ${currency}. Is that the limit?`;
  return [said(major), asks(span, question, pointer)];
};

const openAirport =
  "Amounts are in the currency of the policy's airport, which is open. How much is it there?";

/** Undefined: it may be several, none of them the policy's. */
const statedCurrency = ({ currencies }: Amount, currency: string): string | undefined => {
  if (currencies === undefined || currencies.includes(currency)) return currency;
  const [first, second] = currencies;
  // A pound is sterling unless the policy is in Egypt's.
  return second === undefined || first === "GBP" ? first : undefined;
};

const inUnit = (pointer: string, major: number, currency: string): number =>
  pointer.endsWith("Minor") ? Math.round(major * 10 ** minorUnitDigits(currency)) : major;

const chainExcluded = (
  { span, name }: Reading & { says: "excludes-chain" },
  chains: readonly string[],
): Reading[] => {
  const pointer = "/constraints/excludedChains";
  const { id, isKnown } = chainIdOf(name, chains);
  if (id === "") return [asks(span, "Which chain is it?", pointer)];
  const has: Reading = { span, says: "has", pointer, value: id };
  const question = `No hotel that is known here is of a chain ${id}. Is that its id?`;
  return isKnown ? [has] : [has, asks(span, question, pointer)];
};

/**
 * Two figures for one place, or a thing both required and not: neither counts. A cabin that is named by itself, and ruled out
 * elsewhere, stays; an exception of all cabins contradicts nothing.
 */
const consistent = (readings: readonly Reading[]): Reading[] => {
  /** What is said of each place, each once: a text may say one thing hundreds of times. */
  const values = new Map<string, Map<string, unknown>>();
  const listed = new Set<string>();
  for (const one of readings) {
    if (one.says === "is") {
      const said = values.get(one.pointer) ?? new Map();
      values.set(one.pointer, said.set(JSON.stringify(one.value), one.value));
    } else if (one.says === "has" || one.says === "has-not") {
      const isOfAll = readings.some((other) => other !== one && other.span === one.span);
      if (one.pointer !== "/tiers" || !isOfAll) listed.add(`${one.says} ${one.pointer} ${one.value}`);
    }
  }
  return readings.map((reading) => {
    if (reading.says === "is") {
      const { span, pointer, value } = reading;
      const own = JSON.stringify(value);
      const another = [...(values.get(pointer) ?? [])].find(([text]) => text !== own);
      if (another === undefined) return reading;
      return asks(span, `It says both ${shown(value)} and ${shown(another[1])}. Which one?`, pointer);
    }
    if (reading.says === "has-not" || (reading.says === "has" && reading.pointer !== "/tiers")) {
      const { span, pointer, value, says } = reading;
      if (listed.has(`${says === "has" ? "has-not" : "has"} ${pointer} ${value}`))
        return asks(span, `It says both that ${value} is required and that it isn't. Which one?`, pointer);
    }
    return reading;
  });
};

const shown = (value: unknown): string => (value === undefined ? "all" : String(value));

const checkWhole = checkedBy(PolicyBody);

/** A body that the schema takes: what it doesn't take is asked about, and left out. */
const whole = (
  stated: readonly Reading[],
  circumstances: Circumstances,
): { body: PolicyBody; readings: Reading[] } => {
  let readings = completed(stated, circumstances);
  for (;;) {
    const body = built(readings, circumstances);
    try {
      return { body: checkWhole(body), readings };
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      const wrong = (error.members.errors ?? []).map(({ pointer, detail }) => ({ pointer, detail }));
      const next = readings.map((reading) => refused(reading, wrong));
      if (next.every((reading, i) => reading === readings[i])) throw error;
      readings = next;
    }
  }
};

const refused = (reading: Reading, wrong: readonly { pointer: string; detail: string }[]): Reading => {
  if (reading.says === "asks" || reading.says === "excludes-chain") return reading;
  const { span, pointer } = reading;
  const found = wrong.find((one) => one.pointer === pointer || one.pointer.startsWith(`${pointer}/`));
  return found === undefined
    ? reading
    : asks(span, `A policy takes no such value here: it ${found.detail}.`, pointer);
};

/** Undefined: nobody says for whom; a case without passengers doesn't yet. */
const tiersOf = (ofCase: Circumstances["ofCase"]): readonly Tier[] | undefined =>
  ofCase === undefined || ofCase.tiers.length === 0 ? undefined : ofCase.tiers;

/** What a policy can't be without. */
const completed = (stated: readonly Reading[], { ofCase }: Circumstances): Reading[] => {
  const nowhere = { from: 0, to: 0 };
  const more: Reading[] = [];
  const isNamed = stated.some(
    ({ says, ...one }) => says === "has" && "pointer" in one && one.pointer === "/tiers",
  );
  if (!isNamed && tiersOf(ofCase) === undefined) {
    const question = "No cabin is named: the draft is for all passengers. Which ones is it for?";
    more.push(asks(nowhere, question, "/tiers"));
  }
  const airport = stated.find((one) => one.says === "is" && one.pointer === "/context/airport");
  if (ofCase !== undefined && airport?.says === "is" && airport.value !== ofCase.airport) {
    const question = `The case is at ${ofCase.airport}. Is the policy for ${shown(airport.value)} all the same?`;
    more.push(asks(airport.span, question, "/context/airport"));
  }
  const isCapped = stated.some((one) => one.says === "is" && one.pointer === "/transport/shuttleCapacity");
  const hasMode = stated.some((one) => one.says === "is" && one.pointer === "/transport/mode");
  const said = stated.flatMap((one) =>
    one.says === "is" && one.pointer.startsWith("/transport/") ? [one.pointer] : [],
  );
  const tiers = listOf(stated, "/tiers") ?? [];
  const isEach = tiers.length > 0 && tiers.every((tier) => said.includes(`/transport/perTier/${tier}`));
  if (said.length > 0 && !hasMode && !isCapped && !isEach)
    more.push(
      asks(
        nowhere,
        "How do all others travel? The draft says SHUTTLE, as policies do by default.",
        "/transport/mode",
      ),
    );
  return [...stated, ...more];
};

const built = (readings: readonly Reading[], circumstances: Circumstances): PolicyBody => {
  const { ofCase, ownAirport, airlineUrn } = circumstances;
  const values = new Map<string, unknown>();
  for (const reading of readings) if (reading.says === "is") values.set(reading.pointer, reading.value);
  for (const pointer of [...lists, "/constraints/excludedChains"]) {
    const list = listOf(readings, pointer);
    if (list !== undefined) values.set(pointer, list);
  }
  if (!values.has("/context/airport")) values.set("/context/airport", ofCase?.airport ?? ownAirport);
  if (!values.has("/context/airline") && ofCase !== undefined) values.set("/context/airline", airlineUrn);
  if (!values.has("/tiers")) values.set("/tiers", tiersWithout(readings, tiersOf(ofCase) ?? passengerTiers));
  const hasRides = [...values.keys()].some((pointer) => pointer.startsWith("/transport/"));
  if (hasRides && !values.has("/transport/mode")) values.set("/transport/mode", "SHUTTLE");
  if (!values.has("/name")) values.set("/name", nameOf(values));
  const body: Record<string, unknown> = { name: "", context: {}, tiers: [] };
  for (const [pointer, value] of values)
    if (value !== undefined) put(body, pointer.split("/").slice(1), value);
  return body as PolicyBody;
};

const denied = (readings: readonly Reading[], pointer: string): ReadonlySet<string> =>
  new Set(readings.flatMap((one) => (one.says === "has-not" && one.pointer === pointer ? [one.value] : [])));

const tiersWithout = (readings: readonly Reading[], tiers: readonly Tier[]): Tier[] => {
  const without = denied(readings, "/tiers");
  return cabins.filter((tier) => tiers.includes(tier) && !without.has(tier));
};

/** Undefined: nothing is said of it. */
const listOf = (readings: readonly Reading[], pointer: string): string[] | undefined => {
  const has = readings.flatMap((one) => (one.says === "has" && one.pointer === pointer ? [one.value] : []));
  const without = denied(readings, pointer);
  if (pointer === "/tiers") return has.length === 0 ? undefined : tiersWithout(readings, has as Tier[]);
  // Of two ways to pay, ruling out one leaves the other.
  if (pointer === "/constraints/acceptedPayments" && has.length === 0 && without.size === 1)
    return ["GUARANTEE", "CARD"].filter((one) => !without.has(one));
  return has.length === 0 ? undefined : [...new Set(has)];
};

const put = (into: Record<string, unknown>, [name = "", ...rest]: string[], value: unknown): void => {
  if (rest.length === 0) into[name] = value;
  else {
    into[name] ??= {};
    put(into[name] as Record<string, unknown>, rest, value);
  }
};

/** As `JFK: economy, business`. */
const nameOf = (values: ReadonlyMap<string, unknown>): string => {
  const airport = (values.get("/context/airport") as string | undefined) ?? "All airports";
  const tiers = (values.get("/tiers") as readonly string[]).map((tier) =>
    tier.toLowerCase().replace("_", " "),
  );
  return `${airport}: ${tiers.join(", ")}`;
};
