/** Owns the flight-data vendor SkyWatch: predictions of disruptions, put in by hand, told by a long-poll stream that can be resumed. */
import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import Type, { type Static } from "typebox";
import type { Settings } from "../faults.ts";
import type { Entry, Ledger } from "../ledger.ts";
import { drawFor } from "../seeded.ts";
import { readerOf } from "../told.ts";
import type { VendorAnswer, VendorDefinition, VendorRequest } from "../vendor-server.ts";

/** What `POST /predict/skywatch` takes. */
const Prediction = Type.Object(
  {
    flight: Type.String({ minLength: 3, maxLength: 10 }),
    scheduledDeparture: Type.String({ format: "date-time" }),
    departureAirport: Type.String({ pattern: "^[A-Z]{3}$" }),
    arrivalAirport: Type.Optional(Type.String({ pattern: "^[A-Z]{3}$", description: "Default: drawn." })),
    type: Type.Enum(["CANCELLED", "DELAYED", "DIVERTED", "MISSED_CONNECTION", "DENIED_BOARDING"]),
    reason: Type.String({ minLength: 1, maxLength: 60 }),
    probability: Type.Number({ minimum: 0, maximum: 1 }),
    state: Type.Enum(["PREDICTED", "CONFIRMED", "WITHDRAWN"]),
    eventId: Type.Optional(Type.String({ minLength: 1, maxLength: 100, description: "Default: a new one." })),
    observedAt: Type.Optional(Type.String({ format: "date-time", description: "Default: now." })),
  },
  { additionalProperties: false },
);
type Prediction = Static<typeof Prediction>;
type Predicted = Entry<Required<Prediction>>;

const readPrediction = readerOf(Prediction);

const kind = "prediction";
const pageMax = 100;
const waitSecondsMax = 30;
const destinations = ["MAD", "CDG", "LHR", "FRA", "GRU", "MEX", "ORD", "DFW"];

/** Who waits for something new, vendor by vendor. */
const waiting = new WeakMap<Ledger, Set<() => void>>();

const waitingAt = (ledger: Ledger): Set<() => void> => {
  const known = waiting.get(ledger) ?? new Set();
  waiting.set(ledger, known);
  return known;
};

/** @throws TypeError naming what is wrong with the prediction */
const predict = (ledger: Ledger, input: unknown, nowMs: number): unknown => {
  const told = readPrediction(input);
  const now = new Date(nowMs).toISOString();
  const draw = drawFor("route", told.flight, told.departureAirport);
  const drawn = draw.pick(destinations.filter((airport) => airport !== told.departureAirport));
  const { eventId = randomUUID(), observedAt = now, arrivalAirport = drawn, ...rest } = told;
  ledger.put({
    ...{ kind, id: eventId, reference: told.flight, idempotencyKey: "", state: told.state },
    ...{ createdAt: now, changedAt: now },
    details: { ...rest, eventId, observedAt, arrivalAirport },
  });
  for (const wake of waitingAt(ledger)) wake();
  return { eventId, arrivalAirport };
};

const problem = (status: number, error: string, message: string): VendorAnswer => ({
  status,
  body: { error, message },
});

const cursorOf = (place: number): string => Buffer.from(`sky ${place}`).toString("base64url");

/** Undefined: none of ours. */
const placeOf = (cursor: string): number | undefined => {
  const [, digits] = /^sky (\d{1,15})$/.exec(Buffer.from(cursor, "base64url").toString()) ?? [];
  return digits === undefined ? undefined : Number(digits);
};

const oldestAfter = (ledger: Ledger, { streamKept }: Settings): number =>
  ledger.placeBefore(kind, streamKept);

/** In the vendor's own words. */
const wordOf = ({ details, id }: Predicted, seq: number) => ({
  id,
  seq,
  seen_at: details.observedAt,
  status: details.state.toLowerCase(),
  confidence: details.probability,
  flight: {
    designator: details.flight,
    from: details.departureAirport,
    to: details.arrivalAirport,
    departs: details.scheduledDeparture,
  },
  disruption: { kind: details.type.toLowerCase(), cause: details.reason.toLowerCase() },
});

/** Some told twice, and all of them the other way round, as the settings have it. */
const disturbed = <Item extends { id: string }>(items: Item[], settings: Settings, page: string): Item[] => {
  const doubled = items.flatMap((item) =>
    drawFor(settings.seed, "duplicate", item.id).chance(settings.duplicateRate) ? [item, item] : [item],
  );
  return drawFor(settings.seed, "reorder", page).chance(settings.reorderRate) ? doubled.reverse() : doubled;
};

const stream = (ledger: Ledger, settings: Settings, { query }: VendorRequest): VendorAnswer => {
  const cursor = query.get("cursor");
  const oldest = oldestAfter(ledger, settings);
  const after = cursor === null ? oldest : placeOf(cursor);
  if (after === undefined) return problem(400, "bad_cursor", "This cursor is none of ours.");
  const expired = cursor !== null && (after < oldest || after > ledger.placeBefore(kind, 0));
  if (expired) return problem(410, "cursor_expired", "What came after this cursor is not kept any more.");
  const found = ledger.placesAfter(kind, after, pageMax);
  const events = found.map(({ entry, place }) => wordOf(entry as Predicted, place));
  const next = cursorOf(found.at(-1)?.place ?? after);
  return { status: 200, body: { events: disturbed(events, settings, next), next } };
};

/** Until there is something to tell, or the time that the caller gives it is over. */
const hold = async (
  ledger: Ledger,
  settings: Settings,
  query: URLSearchParams,
  signal: AbortSignal,
): Promise<void> => {
  const waitMs = Math.min(Number(query.get("wait") ?? 0) || 0, waitSecondsMax) * 1000;
  const cursor = query.get("cursor");
  const after = cursor === null ? oldestAfter(ledger, settings) : placeOf(cursor);
  if (waitMs <= 0 || after !== ledger.placeBefore(kind, 0)) return;
  const woken = new AbortController();
  const wake = (): void => woken.abort();
  waitingAt(ledger).add(wake);
  // Whatever ends it: the answer says what there is.
  await delay(waitMs, undefined, { signal: AbortSignal.any([woken.signal, signal]) }).catch(() => undefined);
  waitingAt(ledger).delete(wake);
};

export const skywatch: VendorDefinition = {
  name: "skywatch",
  kind: "flight",
  dialect: {
    accepts: (headers, { apiKey }) => headers["x-sky-key"] === apiKey,
    problem: (what, detail) =>
      ({
        unauthorized: problem(401, "unauthorized", detail),
        "not-found": problem(404, "no_such_route", detail),
        invalid: problem(400, "bad_request", detail),
        "key-reused": problem(409, "key_reused", detail),
        unavailable: problem(503, "busy", detail),
        failed: problem(500, "failed", detail),
      })[what],
    refusal: () => problem(410, "cursor_expired", "What came after this cursor is not kept any more."),
  },
  routes: (ledger, settings) => [
    {
      operation: "stream",
      method: "GET",
      path: "/v1/stream",
      write: false,
      hold: (query, signal) => hold(ledger, settings(), query, signal),
      handle: (request) => stream(ledger, settings(), request),
    },
  ],
  predictor: predict,
  counts: (ledger) => ({ predictions: ledger.entries().length }),
};
