/** Owns what can be made to go wrong at a vendor: the settings, and which fault one request gets. */
import Type, { type Static } from "typebox";
import { type Draw, drawFor } from "./seeded.ts";
import { readerOf } from "./told.ts";

/**
 * `refuse`: the vendor's own permanent no. `unavailable`: 503 with Retry-After, nothing done. `error`: 500, nothing
 * done. `error-after`: 500, but the work was done. `timeout`: the work is done, the answer comes after `lateMs` or
 * never. `lost-answer`: the work is done, the connection drops. `late-work`: the work is done after `lateWorkMs`, whether anybody still
 * waits or not, and the connection drops. `malformed`: the work is done, the body is broken. Of hotels alone
 * `price-change`: the rooms are to be had, at `factor` times the rate that was told; `oversell`: the booking is confirmed, and
 * `oversellAfterMs` later the hotel has no room for it and cancels it.
 */
export const faultKinds = [
  "refuse",
  "unavailable",
  "error",
  "error-after",
  "timeout",
  "lost-answer",
  "late-work",
  "malformed",
  "price-change",
  "oversell",
] as const;
export type FaultKind = (typeof faultKinds)[number];

const Rate = Type.Number({ minimum: 0, maximum: 1 });

export const ScriptedFault = Type.Object(
  {
    operation: Type.String({ minLength: 1, description: "As in the ledger, e.g. `book`; `*` for any." }),
    kind: Type.Enum([...faultKinds]),
    times: Type.Integer({ minimum: 1 }),
    factor: Type.Optional(Type.Number({ exclusiveMinimum: 0, description: "Of a `price-change`." })),
    match: Type.Optional(
      Type.String({ minLength: 1, description: "Only requests whose key or raw body contains this text." }),
    ),
  },
  { additionalProperties: false },
);
export type ScriptedFault = Static<typeof ScriptedFault>;

const WebhookTarget = Type.Object(
  {
    url: Type.String({ pattern: "^https?://" }),
    secret: Type.String({ minLength: 1, maxLength: 200 }),
  },
  { additionalProperties: false },
);

/** What `POST /control` takes for one vendor; what is absent stays as it is. */
export const SettingsChange = Type.Partial(
  Type.Object({
    latencyMs: Type.Integer({ minimum: 0, maximum: 60_000 }),
    jitterMs: Type.Integer({ minimum: 0, maximum: 60_000, description: "Up to this much is added." }),
    refusalRate: Rate,
    unavailableRate: Rate,
    errorRate: Type.Number({ minimum: 0, maximum: 1, description: "Half of them after the work." }),
    timeoutRate: Rate,
    lostAnswerRate: Rate,
    lateWorkRate: Rate,
    lateWorkMs: Type.Integer({ minimum: 0, maximum: 600_000, description: "Of a `late-work`." }),
    malformedRate: Rate,
    priceChangeRate: Rate,
    priceFactor: Type.Number({ exclusiveMinimum: 0, description: "Of a `price-change` that names none." }),
    oversellRate: Rate,
    oversellAfterMs: Type.Integer({ minimum: 0, description: "From the booking to its cancellation." }),
    lateMs: Type.Union([Type.Integer({ minimum: 1 }), Type.Null()]),
    holdTtlMs: Type.Integer({ minimum: 1 }),
    ledgerPageSize: Type.Integer({ minimum: 1, maximum: 1000, description: "Entries of a `reconcile`." }),
    duplicateRate: Type.Number({ minimum: 0, maximum: 1, description: "What it tells, told twice." }),
    reorderRate: Type.Number({ minimum: 0, maximum: 1, description: "What it tells, the other way round." }),
    streamKept: Type.Integer({
      minimum: 0,
      maximum: 1_000_000,
      description: "Entries behind which a cursor is too old.",
    }),
    bounceRate: Type.Number({
      minimum: 0,
      maximum: 1,
      description: "Messages that are taken and come back.",
    }),
    webhooks: Type.Array(WebhookTarget, {
      maxItems: 20,
      description: "Where it tells what happens; outlives restarts and resets.",
    }),
    webhookDelayMs: Type.Integer({ minimum: 0, maximum: 600_000, description: "Before each webhook." }),
    failNext: Type.Array(ScriptedFault, { maxItems: 1000 }),
    seed: Type.String({ minLength: 1, maxLength: 100 }),
  }),
  { additionalProperties: false },
);
export type SettingsChange = Static<typeof SettingsChange>;
export type Settings = Required<SettingsChange>;

/** Nothing fails; each answer takes `latencyMs`. */
export const quietSettings = (seed: string, latencyMs: number): Settings => ({
  latencyMs,
  jitterMs: 0,
  refusalRate: 0,
  unavailableRate: 0,
  errorRate: 0,
  timeoutRate: 0,
  lostAnswerRate: 0,
  lateWorkRate: 0,
  lateWorkMs: 2_000,
  malformedRate: 0,
  priceChangeRate: 0,
  priceFactor: 1.25,
  oversellRate: 0,
  oversellAfterMs: 1_000,
  lateMs: null,
  holdTtlMs: 600_000,
  ledgerPageSize: 200,
  duplicateRate: 0,
  reorderRate: 0,
  streamKept: 10_000,
  bounceRate: 0,
  webhooks: [],
  webhookDelayMs: 100,
  failNext: [],
  seed,
});

/** @throws TypeError naming the first member that is wrong. */
export const readSettingsChange = readerOf(SettingsChange);

/** One request as the faults see it. `attempt` counts from 1 the requests with the same operation and key. */
export interface Attempt {
  vendor: string;
  operation: string;
  /** The idempotency key; without one whatever tells this request from others. */
  key: string;
  attempt: number;
  rawBody: string;
}

/** Takes one use of the first scripted fault that matches out of `settings`. */
const takeScripted = (
  settings: Settings,
  { operation, key, rawBody }: Attempt,
): Pick<ScriptedFault, "kind" | "factor"> | undefined => {
  const index = settings.failNext.findIndex(
    (fault) =>
      (fault.operation === "*" || fault.operation === operation) &&
      (fault.match === undefined || key.includes(fault.match) || rawBody.includes(fault.match)),
  );
  const fault = settings.failNext[index];
  if (fault === undefined) return undefined;
  const left = { ...fault, times: fault.times - 1 };
  settings.failNext = settings.failNext.toSpliced(index, 1, ...(left.times > 0 ? [left] : []));
  return fault;
};

const drawnFault = (settings: Settings, draw: Draw): FaultKind | undefined => {
  const rates: [number, FaultKind][] = [
    [settings.refusalRate, "refuse"],
    [settings.unavailableRate, "unavailable"],
    [settings.errorRate / 2, "error"],
    [settings.errorRate / 2, "error-after"],
    [settings.timeoutRate, "timeout"],
    [settings.lostAnswerRate, "lost-answer"],
    [settings.lateWorkRate, "late-work"],
    [settings.malformedRate, "malformed"],
    [settings.priceChangeRate, "price-change"],
    [settings.oversellRate, "oversell"],
  ];
  let remaining = draw.unit();
  for (const [rate, kind] of rates) {
    if (remaining < rate) return kind;
    remaining -= rate;
  }
  return undefined;
};

/**
 * What happens to this request, scripted faults first. Draws depend on the seed and the request alone, so the order
 * in which parallel requests arrive changes nothing. Rates add up; what is beyond 1 never comes.
 */
export const faultFor = (
  settings: Settings,
  attempt: Attempt,
): { fault: FaultKind | undefined; factor: number; latencyMs: number } => {
  const draw = drawFor(settings.seed, attempt.vendor, attempt.operation, attempt.key, attempt.attempt);
  const latencyMs = settings.latencyMs + Math.round(draw.unit() * settings.jitterMs);
  const drawn = drawnFault(settings, draw);
  const scripted = takeScripted(settings, attempt);
  return { fault: scripted?.kind ?? drawn, factor: scripted?.factor ?? settings.priceFactor, latencyMs };
};
