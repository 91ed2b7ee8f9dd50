/** Owns the kill soak: the service, and now and then a server behind it, dies by SIGKILL at moments drawn from the seed while flights come in, passengers decide and vendors fail, and nothing is lost or done twice. */
import { setTimeout as delay } from "node:timers/promises";
import { MongoClient } from "mongodb";
import type { DisruptionPushBody } from "../../schemas/partner-api.ts";
import { OwnInstance } from "../benchmarks/instance.ts";
import { travellersOf } from "../demonstration/passengers.ts";
import type { DemoAirline } from "../demonstration/provision.ts";
import { checkDecisions, type Decision, decideOnOffer } from "./decisions.ts";
import { checkDeliveries } from "./deliveries.ts";
import { flightWith, pushUntilAnswered } from "./pushes.ts";
import { randomFrom, type Scenario, type SoakRun } from "./scenario.ts";
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

/** Passengers decide in the second half of the kills, some after each; who finds no offer yet comes again later. */
class Deciding {
  readonly answered: Decision[] = [];
  readonly faults: string[] = [];
  readonly #waiting: Decision[];
  readonly #perKill: number;
  readonly #underWay: Promise<void>[] = [];
  readonly #decide: (decision: Decision) => Promise<boolean>;

  constructor(
    decisions: readonly Decision[],
    kills: number,
    decide: (decision: Decision) => Promise<boolean>,
  ) {
    this.#waiting = [...decisions];
    this.#perKill = Math.ceil((2 * decisions.length) / kills);
    this.#decide = decide;
  }

  some(): void {
    for (const decision of this.#waiting.splice(0, this.#perKill)) {
      const underWay = this.#decide(decision).then(
        (isDone) => void (isDone ? this.answered : this.#waiting).push(decision),
        (error: unknown) => void this.faults.push(String(error)),
      );
      this.#underWay.push(underWay);
    }
  }

  async ended(): Promise<void> {
    await Promise.all(this.#underWay);
  }
}

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

const run = async (soak: SoakRun<typeof sizes>) => {
  const { seed, say, signal } = soak;
  const env = { ...impatient, ...shortVendorPatience };
  const own = await OwnInstance.start({ vendorLatencyMs: 20, env, say, signal });
  const mongodb = await new MongoClient(own.instance.mongodbUrl).connect();
  try {
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
    const settled = await checkSettled(own, caseUrns, { timeoutMs: restTimeoutMs, signal, say });
    const delivered = await checkDeliveries(own, signal);
    const databaseOf = (airline: string) => mongodb.db(`stopover_${airline}`);
    const kept = await checkDecisions(databaseOf, deciding.answered);
    return {
      faults: [...refused, ...deciding.faults, ...settled.faults, ...delivered.faults, ...kept],
      done: `${deaths.length} kills (${Math.round(startMs / deaths.length)} ms to be back); ${settled.done}; ${deciding.answered.length} of ${decisions.length} passengers decided; ${delivered.events} public events, ${delivered.deliveries} deliveries`,
    };
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
