/**
 * Owns what an `Idempotency-Key` brings beyond the command's name: the same write again gets the answer kept of the first,
 * another one under its key is refused, and of several at the same time one runs.
 */
import { createHash } from "node:crypto";
import type { Logger } from "pino";
import type { Principal, Trace } from "../../schemas/command.ts";
import { Problem } from "../../schemas/problems.ts";
import { parseUrn, urn } from "../../schemas/urn.ts";
import type { KeptAnswer, KeptAnswers, KeptEntry } from "../../streams/kept-answers.ts";
import { outageOf } from "../../streams/outage.ts";
import type { CompiledRoute } from "../compile-route.ts";
import type { Exchange, HttpAnswer } from "../http/exchange.ts";
import type { TellProblem } from "../problem-response.ts";
import type { ReadBody } from "./read-json.ts";

/** Longer than the slowest write; after it a gateway that has not kept its answer is taken for dead. */
const leaseMs = 30_000;
/** Text in JSON grows to twice its length at most, and a message takes 1 MiB. */
const keptBodyBytesMax = 480 * 1024;
/** Of a larger body the order of members counts: putting them in order would hold up everybody else for too long. */
const orderedBytesMax = 256 * 1024;
/** What belongs to the answer. Others tell of this request or of its client, and are made anew. */
const keptHeaders: ReadonlySet<string> = new Set([
  "cache-control",
  "clear-site-data",
  "content-type",
  "etag",
  "location",
  "x-content-type-options",
]);
/** Lost races in a row before the caller has to come again. */
const racesMax = 4;

/** A write that its client has named. */
export interface KeyedWrite {
  /** Digest of airline, principal, route, path and key. */
  name: string;
  /** Digest of what is asked for. @throws whatever makes the body unreadable, each time */
  payload: () => Promise<string>;
}

/** The answer that a write has had already, or where to note that it is under way now. */
export type Standing = { answer: HttpAnswer } | { revision: number };

export interface Replays {
  /**
   * Of a body that cannot be read nothing is said: its own refusal follows in its order.
   * @throws Problem idempotency/payload-differs, conflict/in-flight, upstream/unavailable
   */
  find(write: KeyedWrite): Promise<Standing>;
  /**
   * Runs a write unless another request has begun it before, and keeps its answer. A status of 5xx or 429 is not
   * kept: the same write may be sent again at once.
   * @param revision what `find` gave, or 0 without having asked
   * @throws what `run` throws and is not kept; also what `find` and `payload` throw
   */
  once(
    write: KeyedWrite,
    revision: number,
    trace: Trace,
    run: () => Promise<HttpAnswer>,
  ): Promise<HttpAnswer>;
}

/** Undefined: the client has given no key. Names what `dispatch.ts` names the command by, and as finely. */
export const keyedWriteOf = (
  { id }: CompiledRoute,
  values: readonly string[],
  { query, headers }: Exchange,
  { tenant, urn: principal }: Principal,
  idempotencyKey: string | undefined,
  readBody: () => Promise<ReadBody>,
): KeyedWrite | undefined => {
  if (idempotencyKey === undefined) return undefined;
  let digest: string | undefined;
  return {
    name: digestOf([tenant, principal, id, ...values.map(shortForm), idempotencyKey]),
    payload: async () => {
      const { value, bytes, file } = await readBody();
      // Of a form the bytes differ each time, by the line that parts them.
      const attached = file === undefined ? [] : [file.name, file.sha256];
      digest ??= digestOf([query, headers.ifMatch, value, ...attached], bytes <= orderedBytesMax);
      return digest;
    },
  };
};

const shortForm = (value: string): string => {
  const parsed = parseUrn(value);
  return parsed === undefined ? value : urn(parsed.kind, parsed.id);
};

/** @param inOrder the order of an object's members makes no difference */
const digestOf = (value: unknown, inOrder = false): string =>
  createHash("sha256")
    .update(JSON.stringify(value, inOrder ? membersInOrder : undefined))
    .digest("base64url");

const membersInOrder = (_key: string, value: unknown): unknown =>
  value === null || typeof value !== "object" || Array.isArray(value)
    ? value
    : Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));

export const createReplays = (
  kept: KeptAnswers,
  tellProblem: TellProblem,
  now: () => Date,
  log: Logger,
): Replays => {
  const find = async (write: KeyedWrite): Promise<Standing> => {
    const held = await reached(kept.read(write.name));
    if (held === undefined) return { revision: 0 };
    const payload = await write.payload().catch(undefinedIfRefused);
    if (payload === undefined) return { revision: held.revision };
    return standingOf(held.entry, held.revision, payload, now());
  };

  /** The revision of this request's own lease, or the answer of another request that was faster. */
  const begin = async (write: KeyedWrite, payload: string, revision: number): Promise<Standing> => {
    let standing: Standing = { revision };
    for (let race = 0; race < racesMax; race++) {
      if ("answer" in standing) return standing;
      const lease = { payload, leaseUntilMs: now().getTime() + leaseMs };
      const begun = await reached(kept.write(write.name, lease, standing.revision));
      if (begun !== undefined) return { revision: begun };
      standing = await find(write);
    }
    throw inFlight();
  };

  /** The answer stands, kept or not: where it is not, the command's id keeps a repeat from doing anything twice. */
  const end = async (write: KeyedWrite, entry: KeptEntry, revision: number, trace: Trace): Promise<void> => {
    try {
      await kept.write(write.name, entry, revision);
    } catch (error) {
      log.warn(
        { correlationUrn: trace.correlationUrn, err: error },
        "the answer of a keyed write is not kept",
      );
    }
  };

  return {
    find,
    once: async (write, found, trace, run) => {
      const payload = await write.payload();
      const begun = await begin(write, payload, found);
      if ("answer" in begun) return begun.answer;
      // With the payload still named: what a timeout hid may have been done, and done it was with this one.
      const released: KeptEntry = { payload, leaseUntilMs: 0 };
      let answer: HttpAnswer;
      try {
        answer = await run();
      } catch (error) {
        // After lost races nothing was done, and the same may well succeed.
        const isPassing = error instanceof Problem && error.code === "conflict/concurrent-write";
        if (!(error instanceof Problem) || isPassing || !isKeptStatus(error.status)) {
          await end(write, released, begun.revision, trace);
          throw error;
        }
        answer = tellProblem(error, trace.correlationUrn);
      }
      const keptAnswer = keptOf(answer);
      const entry = keptAnswer === undefined ? released : { payload, answer: keptAnswer };
      await end(write, entry, begun.revision, trace);
      return answer;
    },
  };
};

/** @throws Problem idempotency/payload-differs, conflict/in-flight */
export const standingOf = (entry: KeptEntry, revision: number, payload: string, now: Date): Standing => {
  if (entry.payload !== payload)
    throw new Problem(
      "idempotency/payload-differs",
      "This Idempotency-Key came with another request in the last 24 hours. Send each new request under a key of its own.",
    );
  if ("answer" in entry) return { answer: replayOf(entry.answer) };
  if (entry.leaseUntilMs > now.getTime()) throw inFlight();
  return { revision };
};

const inFlight = (): Problem =>
  new Problem("conflict/in-flight", "The same request is under way. Send it again for its answer.", {
    retryAfterSeconds: 1,
  });

const replayOf = ({ status, headers, body }: KeptAnswer): HttpAnswer => ({
  status,
  headers: [...headers, ["Idempotency-Replayed", "true"]],
  body,
});

const isKeptStatus = (status: number): boolean => status < 500 && status !== 429;

/** Undefined: not to be kept, for its status or its length. */
const keptOf = ({ status, headers, body }: HttpAnswer): KeptAnswer | undefined => {
  if (!isKeptStatus(status) || Buffer.byteLength(body ?? "") > keptBodyBytesMax) return undefined;
  return {
    status,
    headers: headers.filter(([name]) => keptHeaders.has(name.toLowerCase())),
    ...(body === undefined ? {} : { body: body.toString() }),
  };
};

const undefinedIfRefused = (error: unknown): undefined => {
  if (!(error instanceof Problem)) throw error;
};

/** @throws Problem upstream/unavailable in place of an outage of the streams: without them nobody knows whether it was done */
const reached = async <T>(call: Promise<T>): Promise<T> => {
  try {
    return await call;
  } catch (error) {
    if (outageOf(error) !== "streams") throw error;
    throw new Problem(
      "upstream/unavailable",
      "Requests with an Idempotency-Key cannot be taken right now. Nothing was done; send it again.",
      { failedDomain: "streams", retryAfterSeconds: 30 },
    );
  }
};
