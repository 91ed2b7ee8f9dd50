/** Owns the kill soak: the service, and now and then a server behind it, dies by SIGKILL at moments drawn from the seed while flights come in, passengers decide and vendors fail, and nothing is lost or done twice. */
import { setTimeout as delay } from "node:timers/promises";
import { type Db, MongoClient } from "mongodb";
import type { ContractState } from "../../actors/contract/state.ts";
import type { SubCaseState } from "../../actors/sub-case/state.ts";
import type { DisruptionPushBody } from "../../schemas/partner-api.ts";
import { OwnInstance } from "../benchmarks/instance.ts";
import { expectStatus, request } from "../demonstration/http.ts";
import { travellersOf } from "../demonstration/passengers.ts";
import type { DemoAirline } from "../demonstration/provision.ts";
import { jfkBlock } from "./block.ts";
import { Deciding } from "./deciding.ts";
import { checkDecisions, type Decision, decideOnOffer } from "./decisions.ts";
import { checkDeliveries } from "./deliveries.ts";
import { flightWith, pushUntilAnswered } from "./pushes.ts";
import { randomFrom, type Scenario, type SoakResult, type SoakRun } from "./scenario.ts";
import { checkSettled } from "./settled.ts";
import { reliableVendors, shortVendorPatience, unreliableVendors } from "./vendor-faults.ts";

const sizes = { kills: 300, cases: 20, groups: 60 };
/** A life between two kills lasts up to this long, drawn from the seed. */
const lifeMsMax = 3000;
/** Of all kills; the others are the service's. */
const shares = { documents: 0.04, nats: 0.04 };
/** Flights come in up to this share of the kills; what is pushed late has some kills ahead of it all the same. */
const pushingShare = 0.9;
const decidingGroups = 0.4;
const declining = 0.4;
const tellEveryKills = 5;
/** Of a contract that each airline has of its own. */
const blockRoomsPerNight = 30;
const restTimeoutMs = 420_000;
/** What a dead process held comes back this soon instead of after the half minute of production. */
const impatient = {
  ACK_WAIT_MS: "3000",
  SWEEP_INTERVAL_MS: "1000",
  STEP_DEADLINE_MS: "4000",
  WEBHOOK_RETRY_SCALE: "0.02",
};

interface Flight {
  airline: DemoAirline;
  body: DisruptionPushBody;
}

interface Death {
  /** After the last start. */
  lifeMs: number;
  victim: "service" | "nats" | "documents";
}

/** All drawn before the first kill: how long anything takes changes none of it. */
const planOf = (own: OwnInstance, { seed, sizes: { kills, cases, groups } }: SoakRun<typeof sizes>) => {
  const random = randomFrom(seed);
  const now = new Date();
  const deaths = Array.from({ length: kills }, (): Death => {
    const lifeMs = Math.round(random() * lifeMsMax);
    const drawn = random();
    if (drawn < shares.nats) return { lifeMs, victim: "nats" };
    return { lifeMs, victim: drawn < shares.nats + shares.documents ? "documents" : "service" };
  });
  const flights = Array.from({ length: cases }, (_, i): Flight => {
    const airline = own.airlines[i % own.airlines.length] as DemoAirline;
    return { airline, body: flightWith(airline, Math.floor(i / own.airlines.length), { groups, now }) };
  });
  const early = flights.slice(0, Math.ceil(cases / 2));
  const decisions = early.flatMap(({ airline, body }) =>
    travellersOf(body.passengers).flatMap((traveller): Decision[] => {
      const [decides, declines] = [random() < decidingGroups, random() < declining];
      return decides ? [{ airline, traveller, does: declines ? "decline" : "accept" }] : [];
    }),
  );
  return { deaths, flights, decisions };
};

/** For the person who waits. */
const standing = async (mongodb: MongoClient, own: OwnInstance): Promise<string> => {
  const counts = { cases: 0, offers: 0, decided: 0 };
  for (const { code } of own.airlines) {
    const database = mongodb.db(`stopover_${code}`);
    counts.cases += await database.collection("cases").countDocuments();
    const subCases = database.collection("subCases");
    counts.offers += await subCases.countDocuments({ "offer.state": "READY" });
    counts.decided += await subCases.countDocuments({ "offer.state": { $in: ["ACCEPTED", "DECLINED"] } });
  }
  return `${counts.cases} cases open, ${counts.offers} offers, ${counts.decided} decided`;
};

/** So that rooms are also held, booked and given back in a document of ours. */
const agreeBlock = async (own: OwnInstance, airline: DemoAirline): Promise<void> => {
  const token = await own.operatorToken(airline, "OPS_SUPERVISOR");
  const body = jfkBlock(new Date(), blockRoomsPerNight);
  const asked = { method: "POST", path: "/v1/contracts", token, body } as const;
  expectStatus(await request(own.instance.baseUrl, asked), 201, `a contract of ${airline.code}`);
};

/** Of the airlines' own contracts, those given back included. */
const roomsOfBlocks = async (databases: readonly Db[]): Promise<{ sold: number; back: number }> => {
  const counts = { sold: 0, back: 0 };
  for (const database of databases) {
    for (const { taken } of await database.collection<ContractState>("contracts").find().toArray()) {
      for (const { state, rooms } of taken) {
        if (state === "BOOKED" || state === "CANCELLED") counts.sold += rooms;
        if (state === "CANCELLED") counts.back += rooms;
      }
    }
  }
  return counts;
};

/** Of these, those whose offer waits for them. Two airlines may give the same booking reference. */
const withOffer = async (
  databaseOf: (airline: string) => Db,
  decisions: readonly Decision[],
): Promise<Set<Decision>> => {
  const ready = new Set<Decision>();
  for (const decision of decisions) {
    const { airline, traveller } = decision;
    const filter = { pnrs: traveller.pnr, "offer.state": "READY" as const };
    const found = await databaseOf(airline.code).collection<SubCaseState>("subCases").findOne(filter);
    if (found !== null) ready.add(decision);
  }
  return ready;
};

/** Waits for rest, lets those who still wait decide, and compares everything. */
const judge = async (
  { say, signal }: Pick<SoakRun, "say" | "signal">,
  run: { own: OwnInstance; mongodb: MongoClient; caseUrns: string[]; deciding: Deciding },
): Promise<SoakResult> => {
  const { own, mongodb, caseUrns, deciding } = run;
  const databaseOf = (airline: string) => mongodb.db(`stopover_${airline}`);
  const databases = own.airlines.map(({ code }) => databaseOf(code));
  const atRest = () => deciding.lastly((left) => withOffer(databaseOf, left));
  const options = { timeoutMs: restTimeoutMs, signal, say, atRest };
  const settled = await checkSettled(own, caseUrns, options);
  const delivered = await checkDeliveries(own, signal);
  const direct = await roomsOfBlocks(databases);
  const untouched = direct.sold === 0 ? ["no room of an airline's own contract was sold"] : [];
  const kept = await checkDecisions(databaseOf, deciding.answered);
  return {
    faults: [...deciding.faults, ...settled.faults, ...untouched, ...delivered.faults, ...kept],
    done: `${settled.done}; ${direct.sold} rooms sold by direct, ${direct.back} of them given back; ${deciding.answered.length} of ${deciding.drawn} passengers decided; ${delivered.events} public events, ${delivered.deliveries} deliveries`,
  };
};

const run = async (soak: SoakRun<typeof sizes>) => {
  const { seed, say, signal } = soak;
  const env = { ...impatient, ...shortVendorPatience };
  const own = await OwnInstance.start({ vendorLatencyMs: 20, env, say, signal });
  const mongodb = await new MongoClient(own.instance.mongodbUrl).connect();
  try {
    for (const airline of own.airlines) await agreeBlock(own, airline);
    await own.control(unreliableVendors(seed));
    const { deaths, flights, decisions } = planOf(own, soak);
    let serving = Promise.resolve();
    const whenServing = (): Promise<void> => serving;
    const deciding = new Deciding(decisions, deaths.length, (one) => decideOnOffer(own, one, whenServing));
    const pushes: Promise<string | Error>[] = [];
    let startMs = 0;
    for (const [i, { lifeMs, victim }] of deaths.entries()) {
      const pushedBy = Math.ceil(((i + 1) / (deaths.length * pushingShare)) * flights.length);
      for (const { airline, body } of flights.slice(pushes.length, pushedBy))
        pushes.push(pushUntilAnswered(own, airline, body, whenServing).catch((error: Error) => error));
      if (i >= deaths.length / 2) deciding.some();
      await delay(lifeMs, undefined, { signal });
      const killedAt = performance.now();
      if (victim === "service") {
        serving = own.restartService(0);
        await serving;
      } else await own.killServer(victim);
      const tookMs = performance.now() - killedAt;
      startMs += tookMs;
      if ((i + 1) % tellEveryKills === 0 || victim !== "service")
        say(
          `kill ${i + 1} of ${deaths.length} (${victim}, after ${lifeMs} ms, back in ${Math.round(tookMs)}): ${await standing(mongodb, own)}`,
        );
    }
    const pushed = await Promise.all(pushes);
    const caseUrns = pushed.filter((one) => typeof one === "string");
    const refused = pushed.filter((one) => one instanceof Error).map(String);
    await deciding.ended();
    await own.control(reliableVendors);
    const judged = await judge(soak, { own, mongodb, caseUrns, deciding });
    const toBeBack = `${deaths.length} kills (${Math.round(startMs / deaths.length)} ms to be back)`;
    return { faults: [...refused, ...judged.faults], done: `${toBeBack}; ${judged.done}` };
  } finally {
    await mongodb.close();
    await own.stop();
  }
};

export const killed: Scenario<typeof sizes> = {
  summary: `the service (at times NATS or the document server) killed ${sizes.kills} times while ${sizes.cases} flights come in, passengers decide and a tenth of all vendor calls fails: nothing is lost or done twice`,
  sizes,
  run,
};
