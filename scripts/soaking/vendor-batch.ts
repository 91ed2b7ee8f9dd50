/**
 * Owns one batch of a vendors soak: some small flights at once while the vendors misbehave as its seed says; their passengers decide and
 * spend; then the vendors are calm, one reconciliation goes by, and it is told what stands wrong.
 */
import { setTimeout as delay } from "node:timers/promises";
import type { Db, MongoClient } from "mongodb";
import type { SubCaseState } from "../../actors/sub-case/state.ts";
import type { Reconciliation } from "../../actors/vendor-adapter/position.ts";
import type { DisruptionPushBody } from "../../schemas/partner-api.ts";
import { idOf } from "../../schemas/urn.ts";
import { subCaseOf } from "../../schemas/vendor-call.ts";
import { readBlocks } from "../administration/consistency/blocks.ts";
import type { OwnInstance } from "../benchmarks/instance.ts";
import { demoPush } from "../demonstration/manifest.ts";
import { travellersOf } from "../demonstration/passengers.ts";
import type { DemoAirline } from "../demonstration/provision.ts";
import { type Decision, decideOnOffer } from "./decisions.ts";
import { pushUntilAnswered } from "./pushes.ts";
import { randomFrom } from "./scenario.ts";
import { bookFaults, type Housed, type Sold } from "./vendor-books.ts";
import { calmVendors, type Mischief, type Mischievous, mischiefOf } from "./vendor-mischief.ts";

/** What a batch needs of an instance. */
export interface SoakedInstance
  extends Pick<OwnInstance, "instance" | "airlines" | "streams" | "partnerToken" | "control" | "sandboxUrl"> {
  mongodb: MongoClient;
  /** Of the names of the databases. */
  databasePrefix: string;
  vendors: readonly Mischievous[];
  /** Names of vendors by the airline's code. */
  worksWith: Readonly<Record<string, readonly string[]>>;
}

export interface BatchPlan {
  seed: number;
  runs: readonly Run[];
  mischief: Mischief;
}

/** One flight, and what its passengers will do. */
interface Run {
  number: number;
  airline: DemoAirline;
  body: DisruptionPushBody;
  decisions: (Decision & { spends: readonly number[] })[];
}

const dayMs = 86_400_000;
const groupsMax = 4;
const [accepting, declining] = [0.45, 0.3];
const lookEveryMs = 100;
/** For offers under misbehaving vendors; who has none by then goes on without. */
const offersMsMax = 15_000;
/** What is given back is given back to misbehaving vendors for so long. */
const rollbackMsMax = 3000;
export const restTimeoutMs = 180_000;
/** By tier, as the demo's policies for JFK have it. */
const nightlyMaxMinor = { ECONOMY: 32_000, PREMIUM_ECONOMY: 32_000, BUSINESS: 52_000, FIRST: 52_000 };

/** All drawn before the first push. @param first number of the first run; the passengers of each run are its own */
export const planOf = (
  { airlines, vendors }: Pick<SoakedInstance, "airlines" | "vendors">,
  { seed, first, runs, now }: { seed: number; first: number; runs: number; now: Date },
): BatchPlan => {
  const random = randomFrom(seed);
  const night = Math.floor(first / runs) % 300;
  return {
    seed,
    mischief: mischiefOf(seed, vendors),
    runs: Array.from({ length: runs }, (_, i): Run => {
      const number = first + i;
      const airline = airlines[number % airlines.length] as DemoAirline;
      const body = smallFlight(airline, number, random, new Date(now.getTime() + night * dayMs));
      const decisions = travellersOf(body.passengers).flatMap((traveller) => {
        const drawn = random();
        const spends = Array.from(
          { length: Math.floor(random() * 3) },
          () => 100 + Math.floor(random() * 900),
        );
        if (drawn > accepting + declining) return [];
        const does = drawn < accepting ? ("accept" as const) : ("decline" as const);
        return [{ airline, traveller, does, spends: does === "accept" ? spends : [] }];
      });
      return { number, airline, body, decisions };
    }),
  };
};

/** Some bookings of the demo's flight, under PNRs that no other run has. */
const smallFlight = (
  airline: DemoAirline,
  number: number,
  random: () => number,
  night: Date,
): DisruptionPushBody => {
  const flight = demoPush(airline.code, night);
  const bookings = [...Map.groupBy(flight.passengers, ({ pnr }) => pnr).values()];
  const groups = 1 + Math.floor(random() * groupsMax);
  const passengers = Array.from({ length: groups }, (_, i) => {
    const booking = bookings[Math.floor(random() * bookings.length)] ?? [];
    const pnr = `V${number.toString(36).padStart(4, "0")}${i}`.toUpperCase();
    return booking.map((passenger) => ({ ...passenger, pnr }));
  });
  return {
    ...flight,
    externalEventId: `soak-vendors-${number}`,
    flight: { ...flight.flight, iataDesignator: `${airline.code}${1000 + (number % 9000)}` },
    passengers: passengers.flat(),
  };
};

export interface BatchOutcome {
  caseUrns: string[];
  answered: Decision[];
  /** Answers that should not have been. */
  faults: string[];
  /** When the vendors had come to their senses. */
  calmAt: Date;
}

/** Under the vendors' faults, until they are over; what then still is under way is the caller's to wait for. */
export const playBatch = async (
  own: SoakedInstance,
  { runs, mischief }: BatchPlan,
  signal: AbortSignal,
): Promise<BatchOutcome> => {
  const { settings, outage } = mischief;
  await own.control(settings);
  const outageOver =
    outage === undefined
      ? Promise.resolve()
      : delay(outage.afterMs, undefined, { signal })
          .then(() => own.control({ [outage.vendor]: outage.settings }))
          .then(() => delay(outage.forMs, undefined, { signal }))
          .then(() => own.control({ [outage.vendor]: settings[outage.vendor] }));
  const noWait = async (): Promise<void> => undefined;
  const pushes = runs.map(({ airline, body }) => pushUntilAnswered(own, airline, body, noWait));
  const caseUrns = await Promise.all(pushes);
  await until(offersMsMax, signal, async () => (await waiting(own, caseUrns)) === 0);
  const decided = await Promise.all(
    runs.flatMap(({ decisions }) => decisions).map((one) => decide(own, one)),
  );
  await until(rollbackMsMax, signal, async () => (await inStatus(own, caseUrns, "ROLLING_BACK")) === 0);
  await outageOver;
  await own.control(calmVendors(own.vendors));
  return {
    caseUrns,
    answered: decided.flatMap((one) => ("answered" in one && one.answered ? [one.answered] : [])),
    faults: decided.flatMap((one) => ("fault" in one ? [one.fault] : [])),
    calmAt: new Date(Date.now() + mischief.oversellAfterMsMax),
  };
};

/** Until it holds, or the time is over. */
const until = async (msMax: number, signal: AbortSignal, holds: () => Promise<boolean>): Promise<boolean> => {
  for (const deadline = performance.now() + msMax; !(await holds()); ) {
    if (performance.now() > deadline) return false;
    await delay(lookEveryMs, undefined, { signal });
  }
  return true;
};

const databaseOf = ({ mongodb, databasePrefix }: SoakedInstance, airline: string): Db =>
  mongodb.db(`${databasePrefix}_${airline}`);

const inStatus = async (
  own: SoakedInstance,
  caseUrns: readonly string[],
  ...statuses: SubCaseState["status"][]
): Promise<number> => {
  const caseId = { $in: caseUrns.map(idOf) };
  const counts = await Promise.all(
    own.airlines.map(({ code }) =>
      databaseOf(own, code)
        .collection<SubCaseState>("subCases")
        .countDocuments({ caseId, status: { $in: statuses } }),
    ),
  );
  return counts.reduce((sum, count) => sum + count, 0);
};

/** Groups that are being housed, and those of cases that have none yet. */
const waiting = async (own: SoakedInstance, caseUrns: readonly string[]): Promise<number> =>
  inStatus(own, caseUrns, "PENDING", "PROCESSING");

/** An offer may be withdrawn between a passenger's look and their word: what was answered then is looked at when all is at rest. */
const decide = async (
  own: SoakedInstance,
  decision: Run["decisions"][number],
): Promise<{ answered: Decision | undefined } | { fault: string }> => {
  const { airline, traveller, does, spends } = decision;
  try {
    if (!(await decideOnOffer(own, decision, async () => undefined))) return { answered: undefined };
    if (spends.length > 0) await spend(own, airline, traveller.pnr, spends);
    return { answered: decision };
  } catch (error) {
    const detail = (error as Error).message;
    return /: 409 instead/.test(detail)
      ? { answered: undefined }
      : { fault: `${traveller.pnr} would ${does}: ${detail}` };
  }
};

/** Each amount is held, then charged or given back: word of it comes twice and in any order. */
const spend = async (
  own: SoakedInstance,
  airline: DemoAirline,
  pnr: string,
  amounts: readonly number[],
): Promise<void> => {
  const found = await databaseOf(own, airline.code)
    .collection<SubCaseState>("subCases")
    .findOne({ pnrs: pnr });
  const card = found?.card;
  if (card?.status !== "ACTIVE") return;
  for (const [i, amountMinor] of amounts.entries()) {
    const use = { reference: card.reference, amountMinor };
    const held = await useCard(own, card.vendor, { ...use, type: "authorization" });
    await useCard(own, card.vendor, {
      ...use,
      type: i % 2 === 0 ? "capture" : "reversal",
      authorization: held,
    });
  }
};

/** @returns its authorization */
const useCard = async (own: SoakedInstance, vendor: string, spending: object): Promise<string> => {
  const answer = await fetch(new URL(`/spend/${vendor}`, own.sandboxUrl), {
    method: "POST",
    body: JSON.stringify(spending),
  });
  if (!answer.ok) throw new Error(`the card could not be used: ${answer.status} ${await answer.text()}`);
  return ((await answer.json()) as { authorization: string }).authorization;
};

const asked = async <Body>(own: SoakedInstance, path: string): Promise<Body> => {
  const answer = await fetch(new URL(path, own.sandboxUrl));
  if (!answer.ok) throw new Error(`${path}: ${answer.status}`);
  return (await answer.json()) as Body;
};

export interface VendorLedger {
  entries: Omit<Sold, "vendor">[];
  requests: { at: string; operation: string; fault: string | null }[];
  /** The newest thousand. */
  webhooks?: { id: string; isTaken: boolean }[];
}

export const ledgerOf = (own: SoakedInstance, vendor: string): Promise<VendorLedger> =>
  asked(own, `/ledger/${vendor}`);

/**
 * Waits until each vendor has been reconciled with, from a moment on.
 * @returns a fault for each that was not in time, and for webhooks that nobody takes
 */
export const reconciledSince = async (
  own: SoakedInstance,
  since: Date,
  signal: AbortSignal,
): Promise<string[]> => {
  const faults: string[] = [];
  for (const { name, kind } of own.vendors) {
    if (kind === "hotel" || kind === "payment")
      for (const { code } of own.airlines.filter((one) => own.worksWith[one.code]?.includes(name))) {
        const positions = databaseOf(own, code).collection<Reconciliation>("reconciliations");
        const isDone = async () =>
          ((await positions.findOne({ _id: name }))?.polledAt ?? new Date(0)) > since;
        if (!(await until(restTimeoutMs, signal, isDone)))
          faults.push(`${code} was never reconciled with ${name} after its faults`);
      }
    const isTaken = async () =>
      ((await ledgerOf(own, name)).webhooks ?? []).every((webhook) => webhook.isTaken);
    if (!(await until(restTimeoutMs, signal, isTaken))) faults.push(`a webhook of ${name} was never taken`);
  }
  return faults;
};

export interface Judged {
  faults: string[];
  groups: number;
  housed: number;
  /** On a person's desk. */
  failed: number;
  declined: number;
  /** Faults that vendors had while the batch ran, by kind. */
  met: Record<string, number>;
  /** Rooms and cards of its groups that were ever sold, by vendor. */
  sold: Record<string, number>;
}

/** At rest: the batch's groups beside the vendors' books, and what passengers were answered beside what came of it. */
export const judgeBatch = async (
  own: SoakedInstance,
  plan: BatchPlan,
  { answered, caseUrns }: BatchOutcome,
  since: Date,
): Promise<Judged> => {
  const groups: (Housed & { caseId: string })[] = [];
  const everybody: string[] = [];
  const books: Sold[] = [];
  const met: Record<string, number> = {};
  for (const { code } of own.airlines) {
    const caseId = { $in: caseUrns.map(idOf) };
    const subCases = databaseOf(own, code).collection<Housed & { caseId: string }>("subCases");
    groups.push(...(await subCases.find({ caseId }).toArray()));
    for (const { _id } of await subCases.find({}, { projection: { _id: 1 } }).toArray()) everybody.push(_id);
    const { entries } = await readBlocks(databaseOf(own, code), code, new Date());
    books.push(...entries.map((entry) => ({ ...entry, vendor: "direct", details: {} })));
  }
  for (const { name, kind } of own.vendors) {
    const { entries, requests } = await ledgerOf(own, name);
    books.push(...entries.map((entry) => ({ ...entry, vendor: name })));
    for (const { at, operation, fault } of requests)
      if (fault !== null && at >= since.toISOString()) {
        met[fault] = (met[fault] ?? 0) + 1;
        if (kind === "hotel" && operation === "book" && lost.has(fault))
          met["lost bookings"] = (met["lost bookings"] ?? 0) + 1;
      }
  }
  const ids = new Set(groups.map(({ _id }) => _id));
  const ours = books.filter(({ reference }) => ids.has(subCaseOf(reference)));
  const faults = bookFaults(groups, books, nightlyMaxMinor, everybody).map(
    ({ about, detail }) => `${whose(plan, groups, about)} ${about}: ${detail}`,
  );
  const count = (...statuses: SubCaseState["status"][]): number =>
    groups.filter(({ status }) => statuses.includes(status)).length;
  return {
    faults: [...faults, ...decisionFaults(groups, books, answered)],
    groups: groups.length,
    housed: count("OFFER_READY", "RESOLVED"),
    failed: count("PENDING", "FAILED", "COMPENSATION_FAILED"),
    declined: count("DECLINED"),
    met,
    sold: Object.fromEntries(
      [
        ...Map.groupBy(
          ours.filter(({ kind }) => kind === "booking" || kind === "card"),
          ({ vendor }) => vendor,
        ),
      ].map(([vendor, sold]) => [vendor, sold.length]),
    ),
  };
};

const lost: ReadonlySet<string> = new Set(["lost-answer", "timeout", "error-after", "malformed"]);

const whose = (
  { runs }: BatchPlan,
  groups: readonly Pick<Housed, "_id" | "pnrs">[],
  subCaseId: string,
): string => {
  const pnrs = groups.find(({ _id }) => _id === subCaseId)?.pnrs ?? [];
  const run = runs.find(({ body }) => body.passengers.some(({ pnr = "" }) => pnrs.includes(pnr)));
  return run === undefined ? "no run of this batch," : `run ${run.number + 1}, group`;
};

/** Whom a hotel has turned away afterwards keeps no word of theirs. */
const decisionFaults = (
  groups: readonly Housed[],
  books: readonly Sold[],
  answered: readonly Decision[],
): string[] =>
  answered.flatMap(({ traveller: { pnr }, does }) => {
    const group = groups.find(({ pnrs }) => pnrs.includes(pnr));
    const ends: readonly string[] = does === "accept" ? ["RESOLVED"] : ["DECLINED", "COMPENSATION_FAILED"];
    if (group === undefined || ends.includes(group.status)) return [];
    const isOversold = books.some(
      ({ reference, details }) => reference.startsWith(`${group._id}.`) && details.oversoldAt !== undefined,
    );
    return does === "accept" && isOversold
      ? []
      : [`${pnr} was told that its ${does} is taken; ${group._id} is ${group.status}`];
  });
