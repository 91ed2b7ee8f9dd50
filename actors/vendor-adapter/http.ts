/** Owns one HTTP call to a vendor and what its end means: answered, surely not done, or in doubt. Knows no dialect. */
import { Ajv } from "ajv";
import type { Static, TSchema } from "typebox";
import { compiledWhenUsed, quicklyCompiled, type Validator, withFormats } from "../../schemas/formats.ts";
import { masked } from "../runtime/masking.ts";
import { Pace } from "../runtime/pace.ts";
import type {
  CallContext,
  InDoubt,
  LedgerEntry,
  LedgerPage,
  ReadOutcome,
  RefusalCode,
  Refused,
  Unavailable,
} from "./ports.ts";

export interface VendorOptions {
  /** Without a trailing slash. */
  baseUrl: string;
  apiKey: string;
  /** Of a dialect that has a second one. */
  apiSecret?: string;
  /** As the dialect names them. */
  account?: Readonly<Record<string, string>>;
  /** Per call: connecting, sending and reading the whole answer. */
  timeoutMs: number;
  /** A booking whose answer did not come may still be made for so long ({@link HotelPort.settlesMs}); default: what its dialect says. */
  bookingSettlesMs?: number;
  /** A larger answer counts as malformed; default 8 MiB. */
  answerBytesMax?: number;
  /** That the vendor allows us, from this process; undefined: as many as there are. */
  callsPerSecond?: number;
}

export interface VendorCall<Body, Problem> {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Below the base URL, already encoded. */
  path: string;
  /** Sent as JSON; fields of a form are sent as one. */
  body?: unknown;
  headers: Record<string, string>;
  /** Of a 2xx answer. */
  success: Validator<Body>;
  /** Of a 4xx answer. */
  problem: Validator<Problem>;
  /** Of a 5xx answer by which this vendor says no all the same; absent: none does. */
  finalProblem?: Validator<Problem>;
  /** Answers besides 429 and 503 that say: too many calls, nothing was done. @param text empty: longer than allowed */
  isBusy?: (status: number, headers: Headers, text: string) => boolean;
  /** Where this call's answer takes longer than others'. */
  timeoutMs?: number;
}

/** A well-formed answer: yes, or the vendor's own no (which the adapter puts into our words). */
export type VendorAnswer<Body, Problem> = (
  | { outcome: "success"; status: number; body: Body }
  | { outcome: "problem"; status: number; body: Problem }
) & {
  /** The body of the request that it answers. */
  sent: unknown;
};

/** No answer that means anything: the work may be done or not. */
interface Unknown {
  outcome: "unknown";
  detail: string;
}

const ajv = withFormats(new Ajv({ strict: true, allowUnionTypes: true, ...quicklyCompiled }));

/** Members that the schema doesn't name are let through: vendors add to their answers. */
export const validatorOf = <Schema extends TSchema>(schema: Schema): Validator<Static<Schema>> =>
  compiledWhenUsed(ajv, schema);

/** Errors before anything was sent: there was nobody to send it to. */
const neverSent = new Set([
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "EHOSTUNREACH",
  "ENETUNREACH",
  "UND_ERR_CONNECT_TIMEOUT",
]);

const defaultAnswerBytesMax = 8 * 1024 * 1024;

/** The last word of a chain of causes: `fetch failed` alone says nothing. */
const causeOf = (error: unknown): { code: string; message: string } => {
  if (error instanceof AggregateError && error.errors.length > 0) return causeOf(error.errors[0]);
  if (error instanceof Error && error.cause instanceof Error) return causeOf(error.cause);
  const code = error instanceof Error && "code" in error ? String(error.code) : "";
  return { code, message: error instanceof Error ? error.message || error.name : String(error) };
};

/** Undefined: longer than allowed. */
const readBounded = async (response: Response, bytesMax: number): Promise<string | undefined> => {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > bytesMax) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
};

const parseJson = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    // Undefined passes no schema; the caller reports it as malformed.
    return undefined;
  }
};

/** A call that got no answer. */
export class CallFailed extends Error {
  /** False: surely nothing has left. */
  readonly wasSent: boolean;

  constructor(cause: unknown) {
    const { code, message } = causeOf(cause);
    super(code === "" ? message : `${code}: ${message}`, { cause });
    this.wasSent = !neverSent.has(code);
  }
}

/** How long an answer is waited for, and how much of it is read. */
export type Patience = Pick<VendorOptions, "timeoutMs" | "answerBytesMax"> & Pick<CallContext, "signal">;

/**
 * One request and its whole answer, as it came; a redirect is not followed. `text` undefined: it is longer than allowed.
 * @throws CallFailed when there is none, TypeError for a request that cannot be made (a bug of ours)
 */
export const fetched = async (
  url: string,
  request: { method: string; headers: Record<string, string>; body?: string },
  { timeoutMs, answerBytesMax = defaultAnswerBytesMax, signal }: Patience,
): Promise<{ status: number; headers: Headers; text: string | undefined }> => {
  const timeout = AbortSignal.timeout(timeoutMs);
  try {
    const response = await fetch(url, {
      ...request,
      redirect: "manual",
      signal: signal === undefined ? timeout : AbortSignal.any([timeout, signal]),
    });
    const text = await readBounded(response, answerBytesMax);
    return { status: response.status, headers: response.headers, text };
  } catch (error) {
    // Fetch blames the network with a cause; without one the request itself could not be made.
    if (error instanceof TypeError && error.cause === undefined) throw error;
    throw new CallFailed(error);
  }
};

/** Seconds, or a date (RFC 9110, 10.2.3), which is read by the vendor's own clock. */
export const retryAfterMs = (headers: Headers): number | undefined => {
  const after = headers.get("retry-after");
  if (after === null) return undefined;
  const now = headers.get("date") ?? "";
  const ms = /^\d+$/.test(after) ? Number(after) * 1000 : Date.parse(after) - Date.parse(now);
  return Number.isFinite(ms) && ms >= 0 ? ms : undefined;
};

export class VendorHttp {
  readonly #options: VendorOptions;
  readonly #pace: Pace | undefined;

  constructor(options: VendorOptions) {
    this.#options = options;
    this.#pace = options.callsPerSecond === undefined ? undefined : new Pace(options.callsPerSecond);
  }

  /** Never throws for what a vendor or the network does; what taught nothing is unavailable, as asking again does no harm. */
  async read<Body, Problem>(
    call: VendorCall<Body, Problem>,
    context: CallContext,
  ): Promise<VendorAnswer<Body, Problem> | Refused | Unavailable> {
    const end = await this.#exchange(call, context, {});
    return end.outcome === "unknown" ? { ...end, outcome: "unavailable" } : end;
  }

  /**
   * Never throws for what a vendor or the network does. @param reference the idempotency key, the same in each retry; what
   * a person has had asked again after a refusal is another request, and gets another key.
   */
  async write<Body, Problem>(
    call: VendorCall<Body, Problem>,
    reference: string,
    context: CallContext,
  ): Promise<VendorAnswer<Body, Problem> | Refused | Unavailable | InDoubt> {
    const key = context.again === undefined ? reference : `${reference}.again.${context.again}`;
    const end = await this.#exchange(call, context, { "idempotency-key": key });
    return end.outcome === "unknown" ? { ...end, outcome: "in-doubt" } : end;
  }

  async #exchange<Body, Problem>(
    call: VendorCall<Body, Problem>,
    { traceparent, signal }: CallContext,
    headers: Record<string, string>,
  ): Promise<VendorAnswer<Body, Problem> | Refused | Unavailable | Unknown> {
    const { timeoutMs } = this.#options;
    if (this.#pace !== undefined && !(await this.#pace.turn(timeoutMs)))
      return {
        outcome: "unavailable",
        detail: "more calls wait than the vendor allows",
        retryAfterMs: timeoutMs,
      };
    if (signal?.aborted) return { outcome: "unavailable", detail: "its turn came too late" };
    const sent = sendable(call.body);
    const request = {
      method: call.method,
      headers: { accept: "application/json", traceparent, ...sent.headers, ...call.headers, ...headers },
      ...(sent.body !== undefined && { body: sent.body }),
    };
    try {
      const url = this.#options.baseUrl + call.path;
      const answer = await fetched(url, request, {
        ...this.#options,
        ...(call.timeoutMs !== undefined && { timeoutMs: call.timeoutMs }),
        ...(signal && { signal }),
      });
      return judge(answer, call);
    } catch (error) {
      if (!(error instanceof CallFailed)) throw error;
      return { outcome: error.wasSent ? "unknown" : "unavailable", detail: error.message };
    }
  }
}

const sendable = (body: unknown): { body?: string; headers: Record<string, string> } => {
  if (body === undefined) return { headers: {} };
  return body instanceof URLSearchParams
    ? { body: body.toString(), headers: { "content-type": "application/x-www-form-urlencoded" } }
    : { body: JSON.stringify(body), headers: { "content-type": "application/json" } };
};

/**
 * 429, and 503 that names a time to come back, say that nothing was done. Any other 5xx, a redirect or a body that
 * isn't the vendor's says nothing at all about what was done.
 */
const judge = <Body, Problem>(
  { status, headers, text }: Awaited<ReturnType<typeof fetched>>,
  { success, problem, finalProblem, isBusy, body: sent }: VendorCall<Body, Problem>,
): VendorAnswer<Body, Problem> | Refused | Unavailable | Unknown => {
  const unknown = (detail: string): Unknown => ({ outcome: "unknown", detail });
  const waitMs = retryAfterMs(headers);
  if (status === 429 || (status === 503 && waitMs !== undefined) || isBusy?.(status, headers, text ?? "")) {
    const wait = waitMs !== undefined && { retryAfterMs: waitMs };
    return { outcome: "unavailable", detail: `the vendor answered ${status}`, ...wait };
  }
  if (status === 401 || status === 403) {
    return refusal("NOT_AUTHORISED", `the vendor does not take our credentials (${status})`, sent);
  }
  const failure = status >= 500 && text !== undefined ? parseJson(text) : undefined;
  if (failure !== undefined && finalProblem?.(failure))
    return { outcome: "problem", status, body: failure, sent };
  if (status < 200 || status >= 500 || (status >= 300 && status < 400)) {
    return unknown(`the vendor answered ${status}`);
  }
  if (text === undefined) return unknown("the vendor's answer is too long");
  const body = parseJson(text);
  if (status < 300 && success(body)) return { outcome: "success", status, body, sent };
  if (status >= 400 && problem(body)) return { outcome: "problem", status, body, sent };
  const [first] = (status < 300 ? success.errors : problem.errors) ?? [];
  const where = body === undefined ? "no JSON" : `${first?.instancePath || "/"} ${first?.message}`;
  return unknown(`the vendor's answer with status ${status} is malformed: ${where}`);
};

/** Our word for a vendor's own; undefined: none. A vendor's text may be any, `constructor` too, so only what was written down counts. */
export const wordFor = <Word>(text: string, table: Readonly<Record<string, Word>>): Word | undefined =>
  Object.hasOwn(table, text) ? table[text] : undefined;

/** Ours for those that have one, each once, however often a vendor says it. */
export const wordsFor = <Word>(texts: readonly string[], table: Readonly<Record<string, Word>>): Word[] => [
  ...new Set(texts.flatMap((text) => wordFor(text, table) ?? [])),
];

const detailCharactersMax = 300;

/**
 * @param detail the vendor's words: kept without what may be personal, and cut to a length that fits an audit entry
 * @param sent the body that they answer
 */
export const refusal = (code: RefusalCode, detail: string, sent: unknown): Refused => ({
  outcome: "refused",
  code,
  detail: masked(detail, sent).slice(0, detailCharactersMax),
});

/**
 * A page in our words: times in UTC, to the millisecond.
 * @param next empty: this is the end for now
 * @returns unavailable when a time is none (60 seconds in a minute are written so, and are no date)
 */
export const ledgerPage = (entries: readonly LedgerEntry[], next: string): ReadOutcome<LedgerPage> => {
  if (entries.some(({ changedAt }) => Number.isNaN(Date.parse(changedAt))))
    return { outcome: "unavailable", detail: "the vendor's answer has an impossible time" };
  const inUtc = entries.map((entry) => ({ ...entry, changedAt: new Date(entry.changedAt).toISOString() }));
  return { outcome: "done", entries: inUtc, ...(next !== "" && { nextCursor: next }) };
};
