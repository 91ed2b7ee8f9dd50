/** Owns how badly the vendors behave during one batch of a vendors soak: every fault that the sandbox has, drawn from the batch's seed. Telling the sandbox so is the soak's. */
import type { FaultKind, SettingsChange } from "../sandbox/faults.ts";
import { randomFrom } from "./scenario.ts";

/** A simulated vendor, as the sandbox announces it. */
export interface Mischievous {
  name: string;
  kind: string;
}

/** One vendor that is away for a while, from so long after the batch's first flight on. */
export interface Outage {
  vendor: string;
  settings: SettingsChange;
  afterMs: number;
  forMs: number;
}

export interface Mischief {
  settings: Record<string, SettingsChange>;
  outage: Outage | undefined;
  /** By when an oversold hotel has found out that it has no room, after the booking. */
  oversellAfterMsMax: number;
}

const calmRates = {
  refusalRate: 0,
  unavailableRate: 0,
  errorRate: 0,
  timeoutRate: 0,
  lostAnswerRate: 0,
  malformedRate: 0,
} as const;

/** What was bad enough is over: what is left is settled now, and the books can be read. */
const calm: SettingsChange = {
  ...calmRates,
  latencyMs: 5,
  jitterMs: 0,
  lateMs: null,
  priceChangeRate: 0,
  oversellRate: 0,
  duplicateRate: 0,
  reorderRate: 0,
  bounceRate: 0,
  webhookDelayMs: 50,
  failNext: [],
};

export const calmVendors = (vendors: readonly Mischievous[]): Record<string, SettingsChange> =>
  Object.fromEntries(vendors.map(({ name }) => [name, calm]));

/** Shares of all requests to a vendor, look-ups and searches included. */
const temperaments: readonly SettingsChange[] = [
  {},
  { latencyMs: 120, jitterMs: 500 },
  { refusalRate: 0.25, unavailableRate: 0.1 },
  { unavailableRate: 0.25, errorRate: 0.1 },
  { errorRate: 0.12, timeoutRate: 0.05, lostAnswerRate: 0.1, malformedRate: 0.06 },
  // Late, and behind the service's patience at times: the work is done, and the answer finds nobody.
  { timeoutRate: 0.2, lateMs: 900, jitterMs: 200 },
  {
    refusalRate: 0.05,
    unavailableRate: 0.05,
    errorRate: 0.06,
    timeoutRate: 0.04,
    lostAnswerRate: 0.05,
    malformedRate: 0.05,
    jitterMs: 100,
  },
];

const priceFactors = [0.9, 1.03, 1.25, 4] as const;
/** Of a booking that is made, and whose answer nobody gets. */
const lostAfterwards: readonly FaultKind[] = ["lost-answer", "timeout", "error-after", "malformed"];
const lookUpFaults: readonly FaultKind[] = ["lost-answer", "unavailable", "malformed", "error"];
const outageShare = 0.3;

/** All drawn at once: how long anything takes changes none of it. */
export const mischiefOf = (seed: number, vendors: readonly Mischievous[]): Mischief => {
  const random = randomFrom(seed);
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
  const between = (least: number, most: number): number => Math.round(least + random() * (most - least));
  const oversellAfterMs = between(200, 1500);
  const settings = vendors.map(({ name, kind }): [string, SettingsChange] => {
    const temper = { ...calm, ...pick(temperaments), seed: `soak-${seed}` };
    if (kind === "hotel") return [name, { ...temper, ...hotelMischief(random, pick, oversellAfterMs) }];
    const told = { duplicateRate: random(), reorderRate: random() / 2, webhookDelayMs: between(0, 300) };
    return [name, { ...temper, ...told, bounceRate: random() / 3 }];
  });
  const isOut = random() < outageShare;
  const away = pick(vendors).name;
  const silent = random() < 0.5 ? { timeoutRate: 1, lateMs: null } : { unavailableRate: 1 };
  const [afterMs, forMs] = [between(0, 1500), between(800, 4000)];
  const outage = { vendor: away, settings: { ...calmRates, ...silent }, afterMs, forMs };
  return {
    settings: Object.fromEntries(settings),
    outage: isOut ? outage : undefined,
    oversellAfterMsMax: oversellAfterMs,
  };
};

/** Prices that change, rooms that are sold twice, and the nastiest case: a booking is made, its answer is lost, and so is the first look-up's. */
const hotelMischief = (
  random: () => number,
  pick: <T>(from: readonly T[]) => T,
  oversellAfterMs: number,
): SettingsChange => ({
  priceChangeRate: random() / 3,
  priceFactor: pick(priceFactors),
  oversellRate: random() / 6,
  oversellAfterMs,
  failNext: [
    { operation: "book", kind: pick(lostAfterwards), times: 1 },
    { operation: "lookup", kind: pick(lookUpFaults), times: 1 + Math.floor(random() * 2) },
  ],
});
