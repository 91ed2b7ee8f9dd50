/**
 * Owns one call to Stripe through its own SDK, and what its end means. The SDK words and signs the request and reads errors; how it is
 * sent, for how long and how often is ours: a call is made once, by `http.ts`.
 */
import type Stripe from "stripe";
import type { Validator } from "../../../schemas/formats.ts";
import { Pace } from "../../runtime/pace.ts";
import { CallFailed, fetched, type Patience, refusal, retryAfterMs, type VendorOptions } from "../http.ts";
import type { CallContext, InDoubt, RefusalCode, Refused, Unavailable } from "../ports.ts";

type HttpClient = NonNullable<Stripe.StripeConfig["httpClient"]>;
type HttpResponse = Awaited<ReturnType<HttpClient["makeRequest"]>>;

/** How an SDK call is asked for: its own options go along with each. */
type Ask = (stripe: Stripe, options: Stripe.RequestOptions) => Promise<unknown>;

export interface StripeSuccess<Body> {
  outcome: "success";
  body: Body;
}

/** Of a write: what Stripe has kept under its key is a failure, which it answers for a day, whatever was done. */
export type StripeDoubt = InDoubt & { isKeptFailure?: true };

interface Unknown {
  outcome: "unknown";
  detail: string;
}

/** 0.1 s of loading, for those airlines that have an account: not at the start of every process. */
const sdk = async () => (await import("stripe")).default;

export class StripeClient {
  readonly #options: VendorOptions;
  readonly #pace: Pace | undefined;

  constructor(options: VendorOptions) {
    this.#options = options;
    this.#pace = options.callsPerSecond === undefined ? undefined : new Pace(options.callsPerSecond);
  }

  /** Never throws for what Stripe or the network does. */
  async read<Body>(
    ask: Ask,
    isBody: Validator<Body>,
    context: CallContext,
  ): Promise<StripeSuccess<Body> | Refused | Unavailable> {
    const { end } = await this.#call(ask, isBody, context, {});
    return end.outcome === "unknown" ? { ...end, outcome: "unavailable" } : end;
  }

  /**
   * Never throws for what Stripe or the network does. @param idempotencyKey absent: one of its own for each call, for what is the same
   * when it is done twice
   */
  async write<Body>(
    ask: Ask,
    isBody: Validator<Body>,
    context: CallContext,
    idempotencyKey?: string,
  ): Promise<StripeSuccess<Body> | Refused | Unavailable | StripeDoubt> {
    const { end, wire } = await this.#call(ask, isBody, context, idempotencyKey ? { idempotencyKey } : {});
    if (end.outcome !== "unknown") return end;
    return { ...end, outcome: "in-doubt", ...(wire?.isReplay && { isKeptFailure: true }) };
  }

  async #call<Body>(
    ask: Ask,
    isBody: Validator<Body>,
    { traceparent, signal }: CallContext,
    options: Stripe.RequestOptions,
  ): Promise<{ end: StripeSuccess<Body> | Refused | Unavailable | Unknown; wire?: Wire }> {
    const { timeoutMs, apiKey, baseUrl, answerBytesMax } = this.#options;
    if (this.#pace !== undefined && !(await this.#pace.turn(timeoutMs))) {
      const detail = "more calls wait than the vendor allows";
      return { end: { outcome: "unavailable", detail, retryAfterMs: timeoutMs } };
    }
    if (signal?.aborted) return { end: { outcome: "unavailable", detail: "its turn came too late" } };
    const Sdk = await sdk();
    const wire = new Wire(baseUrl, {
      timeoutMs,
      ...(answerBytesMax !== undefined && { answerBytesMax }),
      ...(signal && { signal }),
    });
    // One for each call (0.1 ms), as it has no other way to hand a call's signal on.
    const stripe = new Sdk(apiKey, { httpClient: wire, maxNetworkRetries: 0, telemetry: false });
    try {
      const body = await ask(stripe, { ...options, headers: { traceparent } });
      if (isBody(body)) return { end: { outcome: "success", body }, wire };
      const [first] = isBody.errors ?? [];
      const where = `${first?.instancePath || "/"} ${first?.message}`;
      return { end: { outcome: "unknown", detail: `the vendor's answer is malformed: ${where}` }, wire };
    } catch (error) {
      if (!(error instanceof Sdk.errors.StripeError)) throw error;
      return { end: endOf(error, wire), wire };
    }
  }
}

/** How the SDK's requests go out. */
class Wire implements HttpClient {
  readonly #baseUrl: string;
  readonly #patience: Patience;
  status: number | undefined;
  #headers = new Headers();

  constructor(baseUrl: string, patience: Patience) {
    this.#baseUrl = baseUrl;
    this.#patience = patience;
  }

  getClientName(): string {
    return "fetch";
  }

  /** Whether what was answered is an earlier request's answer. */
  get isReplay(): boolean {
    return this.#headers.get("idempotent-replayed") === "true";
  }

  get retryAfterMs(): number | undefined {
    return retryAfterMs(this.#headers);
  }

  /** Host, port and protocol are the base URL's, as is a path before Stripe's. The SDK asks a second time after errors with some codes: its errors have none. */
  async makeRequest(
    ...[, , path, method, sdkHeaders, body]: Parameters<HttpClient["makeRequest"]>
  ): Promise<HttpResponse> {
    const headers: Record<string, string> = {};
    for (const [name, value] of Object.entries(sdkHeaders))
      if (name.toLowerCase() !== "content-length") headers[name] = String(value);
    const request = { method, headers, ...(method === "GET" ? {} : { body }) };
    const answer = await fetched(this.#baseUrl + path, request, this.#patience);
    this.status = answer.status;
    this.#headers = answer.headers;
    return answerOf(answer);
  }
}

const answerOf = ({ status, headers, text }: Awaited<ReturnType<typeof fetched>>): HttpResponse => ({
  getStatusCode: () => status,
  getHeaders: () => Object.fromEntries(headers),
  getRawResponse: () => ({}),
  toStream: () => {
    throw new Error("Nothing is asked for as a stream.");
  },
  toJSON: async () => {
    if (text === undefined) throw new Error("the vendor's answer is too long");
    if (status >= 300 && status < 400) throw new Error(`the vendor answered ${status}`);
    const body: unknown = JSON.parse(text);
    if (typeof body !== "object" || body === null) throw new Error("the vendor's answer is no object");
    return body;
  },
});

/** docs.stripe.com/error-low-level: what a status says of what was done; 5xx say nothing. */
const endOf = (error: Stripe.errors.StripeError, wire: Wire): Refused | Unavailable | Unknown => {
  const { status } = wire;
  const failed: unknown = error.detail;
  if (failed instanceof CallFailed)
    return { outcome: failed.wasSent ? "unknown" : "unavailable", detail: failed.message };
  if (status === 429) {
    const wait = wire.retryAfterMs;
    const patience = wait !== undefined && { retryAfterMs: wait };
    return { outcome: "unavailable", detail: "the vendor answered 429", ...patience };
  }
  if (status === 401 || status === 403)
    return refusal("NOT_AUTHORISED", `the vendor does not take our credentials (${status})`, {});
  // Another request with the same key, or on the same object, is under way.
  if (status === 409) return { outcome: "unknown", detail: "the vendor has such a request under way" };
  const isRefusal = error.statusCode !== undefined && error.statusCode >= 400 && error.statusCode < 500;
  if (!isRefusal) return { outcome: "unknown", detail: `the vendor answered ${status}: ${error.type}` };
  return refusal(codeOf(error), `${error.code ?? error.rawType}: ${error.message}`, {});
};

const codeOf = ({ rawType, statusCode, code }: Stripe.errors.StripeError): RefusalCode => {
  if (rawType === "idempotency_error") return "REFERENCE_REUSED";
  if (statusCode === 404 || code === "resource_missing") return "NOT_FOUND";
  if (statusCode === 402) return "PAYMENT_DECLINED";
  return statusCode === 400 ? "INVALID_REQUEST" : "REFUSED";
};
