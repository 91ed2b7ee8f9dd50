/** Owns SkyWatch's dialect: predicted disruptions of flights, told by a long-poll stream. */
import Type, { type Static } from "typebox";
import { airport } from "../../../schemas/airports.ts";
import { type FlightPrediction, flightNumberOf, type PredictionState } from "../../../schemas/flight.ts";
import type { DisruptionType } from "../../../schemas/vocabulary.ts";
import { refusal, VendorHttp, type VendorOptions, validatorOf, wordFor } from "../http.ts";
import type { CallContext, FlightFeedPort, FlightPage, ReadOutcome, RefusalCode } from "../ports.ts";

const Entry = Type.Object({
  id: Type.String({ minLength: 1, maxLength: 200 }),
  seq: Type.Integer({ minimum: 0 }),
  seen_at: Type.String({ format: "date-time" }),
  status: Type.String(),
  confidence: Type.Number({ minimum: 0, maximum: 1 }),
  flight: Type.Object({
    designator: Type.String({ minLength: 3, maxLength: 10 }),
    from: Type.String(),
    to: Type.String(),
    departs: Type.String({ format: "date-time" }),
  }),
  disruption: Type.Object({ kind: Type.String(), cause: Type.String({ minLength: 1, maxLength: 60 }) }),
});

const isEntry = validatorOf(Entry);
/** Entry by entry they are looked at later: one that is wrong must not stop the stream for good. */
const isPage = validatorOf(
  Type.Object({
    events: Type.Array(Type.Unknown(), { maxItems: 10_000 }),
    next: Type.String({ minLength: 1, maxLength: 500 }),
  }),
);
const ProblemAnswer = Type.Object({ error: Type.String(), message: Type.String() });
const isProblem = validatorOf(ProblemAnswer);

const stateOf: Readonly<Record<string, PredictionState>> = {
  predicted: "PREDICTED",
  confirmed: "CONFIRMED",
  withdrawn: "WITHDRAWN",
};
const typeOf: Readonly<Record<string, DisruptionType>> = {
  cancelled: "CANCELLED",
  delayed: "DELAYED",
  diverted: "DIVERTED",
  missed_connection: "MISSED_CONNECTION",
  denied_boarding: "DENIED_BOARDING",
};
const refusalCodeOf: Readonly<Record<string, RefusalCode>> = {
  cursor_expired: "NOT_FOUND",
  bad_cursor: "NOT_FOUND",
  bad_request: "INVALID_REQUEST",
};

/** Undefined: nothing that we know how to take, such as a flight from nowhere. */
const predictionOf = (entry: Static<typeof Entry>): FlightPrediction | undefined => {
  const { id, seq, seen_at, status, confidence, flight, disruption } = entry;
  const state = wordFor(status, stateOf);
  const type = wordFor(disruption.kind, typeOf);
  const times = [Date.parse(seen_at), Date.parse(flight.departs)];
  const isKnown = airport(flight.from) !== undefined && airport(flight.to) !== undefined;
  if (state === undefined || type === undefined || times.some(Number.isNaN) || !isKnown) return undefined;
  const [observed, departs] = times.map((time) => new Date(time).toISOString()) as [string, string];
  return {
    eventId: id,
    observedAt: observed,
    sequence: seq,
    flight: {
      number: flightNumberOf(flight.designator),
      origin: flight.from,
      destination: flight.to,
      scheduledDeparture: departs,
    },
    type,
    reason: disruption.cause.toUpperCase(),
    probability: confidence,
    state,
  };
};

const holdMsMax = 30_000;

export class SkyWatch implements FlightFeedPort {
  readonly #http: VendorHttp;
  readonly #headers: Record<string, string>;

  constructor(options: VendorOptions) {
    // The vendor may hold a call so long before it begins to answer.
    this.#http = new VendorHttp({ ...options, timeoutMs: options.timeoutMs + holdMsMax });
    this.#headers = { "x-sky-key": options.apiKey };
  }

  async poll(
    { cursor, waitMs }: { cursor?: string; waitMs: number },
    context: CallContext,
  ): Promise<ReadOutcome<FlightPage>> {
    const wait = Math.round(Math.min(waitMs, holdMsMax) / 1000);
    const query = new URLSearchParams({ ...(cursor !== undefined && { cursor }), wait: String(wait) });
    const path = `/v1/stream?${query}`;
    const answered = { headers: this.#headers, success: isPage, problem: isProblem };
    const end = await this.#http.read({ method: "GET", path, ...answered }, context);
    if (end.outcome === "problem") {
      const { error, message } = end.body;
      return refusal(wordFor(error, refusalCodeOf) ?? "REFUSED", `${error}: ${message}`, end.sent);
    }
    if (end.outcome !== "success") return end;
    const { events, next } = end.body;
    const predictions = events.flatMap((entry) => (isEntry(entry) ? (predictionOf(entry) ?? []) : []));
    return { outcome: "done", predictions, passedOver: events.length - predictions.length, cursor: next };
  }
}
