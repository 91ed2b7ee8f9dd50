/** Owns the HTTP side that all vendors share: routes, credentials, idempotency keys, latency and faults. */
import { createHash } from "node:crypto";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import type { TSchema } from "typebox";
import { send, sendText } from "./answering.ts";
import { type FaultKind, faultFor, quietSettings, readSettingsChange, type Settings } from "./faults.ts";
import { Ledger } from "./ledger.ts";
import { listenOnLoopback, readBody } from "./loopback-http.ts";
import { bodyOf } from "./request-body.ts";
import type { SandboxPart } from "./sandbox-part.ts";
import { type CompiledRoute, compileRoute, whatIsWrong } from "./vendor-routes.ts";
import { WebhookSender, type WordWebhook } from "./webhooks.ts";

export interface VendorRequest<Body = unknown> {
  params: Record<string, string>;
  query: URLSearchParams;
  body: Body;
  /** Empty for reads, and where the dialect has none. */
  idempotencyKey: string;
  /** Of a rate, times what was told before: other than 1 for a `price-change`. */
  priceFactor: number;
  /** An `oversell`: what is booked is not there. */
  oversold: boolean;
  nowMs: number;
}

export interface VendorAnswer {
  status: number;
  body: unknown;
  headers?: Record<string, string>;
}

export interface VendorRoute {
  /** The name in ledger and fault settings. */
  operation: string;
  /** Where one address does several things; absent: `operation`. */
  operationOf?(request: Pick<VendorRequest, "query" | "body">): string;
  method: string;
  /** `:name` stands for one path segment. */
  path: string;
  /** Writes need an `Idempotency-Key`; their answers are kept under it. `unkeyed`: this dialect has no such keys. */
  write: boolean | "unkeyed";
  /** Where a hotel's prices change, or its rooms are sold twice; anywhere else these faults do nothing. */
  shock?: "price-change" | "oversell";
  body?: TSchema;
  /** Of a long poll: resolves once there is something to answer, or its time is over. @param signal nobody waits any more */
  hold?(query: URLSearchParams, signal: AbortSignal): Promise<void>;
  // biome-ignore lint/suspicious/noExplicitAny: the body's type follows from the route's own schema.
  handle(request: VendorRequest<any>): VendorAnswer;
}

/** How one vendor says what every vendor has to say. */
export interface Dialect {
  accepts(headers: IncomingHttpHeaders, keys: { apiKey: string; apiSecret: string }, nowMs: number): boolean;
  /** Clients sign with a second secret. */
  hasSecret?: true;
  problem(
    kind: "unauthorized" | "not-found" | "invalid" | "key-reused" | "unavailable" | "failed",
    detail: string,
  ): VendorAnswer;
  /**
   * Stripe's idempotency: keys are the account's, not an operation's; failures are kept under them, too; and what is kept says so by a
   * header. Absent: a key belongs to its operation, and what failed is tried anew.
   */
  keepsFailures?: true;
  /** The vendor's permanent no to this operation when a fault asks for one. */
  refusal(operation: string): VendorAnswer;
}

export interface VendorDefinition {
  name: string;
  kind: string;
  dialect: Dialect;
  /** What a client configures besides the keys, by the names of the service's dialect. */
  account?: Record<string, string>;
  routes(
    ledger: Ledger,
    settings: () => Settings,
    keys: Pick<VendorOptions, "apiKey" | "apiSecret" | "webhookSecret">,
  ): VendorRoute[];
  /** What a hotel's own desk does to bookings, or a fleet to rides. @throws TypeError naming what is wrong with the marking */
  frontDesk?(ledger: Ledger, marking: unknown, nowMs: number): unknown;
  /** What happens to its cards elsewhere. @throws TypeError naming what is wrong with the spending */
  till?(ledger: Ledger, spending: unknown, nowMs: number, settings: Settings): unknown;
  /** A reader answers a message, or writes by themselves. @throws TypeError naming what is wrong with the reply */
  reply?(ledger: Ledger, reply: unknown, nowMs: number, settings: Settings): unknown;
  /** How it words and signs what it announces (`webhooks.ts`); absent: it announces nothing. */
  wordWebhook?: WordWebhook;
  /** What is put in for it to tell. @throws TypeError naming what is wrong with it */
  predictor?(ledger: Ledger, prediction: unknown, nowMs: number): unknown;
  /** Totals for the ledger, by what the vendor sells. */
  counts(ledger: Ledger): Record<string, number>;
}

export interface VendorOptions {
  file: string;
  apiKey: string;
  apiSecret: string;
  webhookSecret: string;
  seed: string;
  latencyMs: number;
}

type Shock = Pick<VendorRequest, "priceFactor" | "oversold">;
type Call = Omit<VendorRequest, "nowMs" | keyof Shock>;

const shockOf = (fault: FaultKind | undefined, factor: number): Shock => ({
  priceFactor: fault === "price-change" ? factor : 1,
  oversold: fault === "oversell",
});

const requestBytesMax = 256 * 1024;
const neverMs = 2 ** 31 - 1;

/** One vendor: its server, its ledger and its settings. */
export class VendorServer implements SandboxPart {
  readonly name: string;
  readonly kind: string;
  readonly apiKey: string;
  readonly apiSecret: string | undefined;
  readonly webhookSecret: string | undefined;
  readonly account: Record<string, string> | undefined;
  readonly #sender: WebhookSender | undefined;
  readonly #definition: VendorDefinition;
  readonly #options: VendorOptions;
  readonly #ledger: Ledger;
  readonly #routes: CompiledRoute[];
  readonly #stopping = new AbortController();
  #settings: Settings;
  #url = "";
  #close: () => Promise<void> = async () => undefined;

  constructor(definition: VendorDefinition, options: VendorOptions) {
    this.name = definition.name;
    this.kind = definition.kind;
    this.apiKey = options.apiKey;
    this.apiSecret = definition.dialect.hasSecret && options.apiSecret;
    this.webhookSecret = definition.wordWebhook && options.webhookSecret;
    this.account = definition.account;
    this.#definition = definition;
    this.#options = options;
    this.#ledger = new Ledger(options.file);
    this.#settings = {
      ...quietSettings(this.#ledger.note("seed") ?? options.seed, options.latencyMs),
      webhooks: JSON.parse(this.#ledger.note("webhooks") ?? "[]") as Settings["webhooks"],
    };
    this.#sender = definition.wordWebhook && new WebhookSender(this.#ledger, definition.wordWebhook);
    this.#routes = definition.routes(this.#ledger, () => this.#settings, options).map(compileRoute);
  }

  get baseUrl(): string {
    return this.#url;
  }

  async start(): Promise<void> {
    const server = createServer((request, response) => {
      this.#serve(request, response).catch((error: unknown) => {
        if (this.#stopping.signal.aborted) return;
        console.error(error);
        response.destroy();
      });
    });
    const remembered = Number(this.#ledger.note("port") ?? 0);
    const { url, port, close } = await listenOnLoopback(server, 0, remembered);
    this.#ledger.setNote("port", String(port));
    this.#url = url;
    this.#close = close;
    this.#sender?.wake();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { dialect } = this.#definition;
    const url = new URL(request.url ?? "/", "http://vendor");
    const route = this.#routes.find((one) => one.method === request.method && one.pattern.test(url.pathname));
    const rawBody = await readBody(request, requestBytesMax);
    if (rawBody === undefined) return send(response, dialect.problem("invalid", "The body is too large."));
    if (!dialect.accepts(request.headers, this.#options, Date.now())) {
      return send(response, dialect.problem("unauthorized", "Unknown API key."));
    }
    if (route === undefined) return send(response, dialect.problem("not-found", "No such route."));
    const key = String(request.headers["idempotency-key"] ?? "");
    const body = bodyOf(rawBody, request.headers["content-type"]);
    const wrong = whatIsWrong(route, body, key);
    if (wrong !== undefined) return send(response, dialect.problem("invalid", wrong));
    const params = { ...route.pattern.exec(url.pathname)?.groups };
    const call = { params, query: url.searchParams, body, idempotencyKey: route.write === true ? key : "" };
    await this.#work(route, url, rawBody, call, response);
  }

  async #work(
    route: CompiledRoute,
    url: URL,
    rawBody: string,
    call: Call,
    response: ServerResponse,
  ): Promise<void> {
    const { dialect, name: vendor } = this.#definition;
    const fingerprint = createHash("sha256")
      .update(`${route.method} ${url.pathname}${url.search}\n${rawBody}`)
      .digest("hex");
    const requestKey = call.idempotencyKey || fingerprint;
    const arrivedAt = new Date().toISOString();
    const operation = route.operationOf?.(call) ?? route.operation;
    const opened = this.#ledger.openRequest(arrivedAt, operation, requestKey, call.idempotencyKey || null);
    const {
      fault: possible,
      factor,
      latencyMs,
    } = faultFor(this.#settings, {
      vendor,
      operation,
      key: requestKey,
      attempt: opened.attempt,
      rawBody,
    });
    const isShock = possible === "price-change" || possible === "oversell";
    const fault = isShock && route.shock !== possible ? undefined : possible;
    await delay(latencyMs, undefined, { signal: this.#stopping.signal });
    if (fault === "late-work")
      await delay(this.#settings.lateWorkMs, undefined, { signal: this.#stopping.signal });
    const undone = { unavailable: "unavailable", error: "failed" } as const;
    if (route.hold !== undefined && (fault === undefined || fault === "malformed")) {
      const gone = new AbortController();
      response.once("close", () => gone.abort());
      const signal = AbortSignal.any([gone.signal, this.#stopping.signal]);
      await route.hold(call.query, signal);
    }
    const isKeptFailure = dialect.keepsFailures && route.write === true && fault === "error";
    const { answer, repeated } =
      fault === "unavailable" || (fault === "error" && !isKeptFailure)
        ? { answer: dialect.problem(undone[fault], "Nothing was done."), repeated: false }
        : this.#answer(route, { ...call, ...shockOf(fault, factor) }, fingerprint, fault);
    const lost =
      fault === "lost-answer" ||
      fault === "late-work" ||
      (fault === "timeout" && this.#settings.lateMs === null);
    this.#ledger.closeRequest(opened.request, {
      fault: fault ?? null,
      status: lost ? null : answer.status,
      repeated,
    });
    if (route.write) this.#sender?.wake();
    await this.#deliver(response, answer, fault);
  }

  /** The work and the kept answer are one transaction: a key is never used up without its work, nor the reverse. */
  #answer(
    route: CompiledRoute,
    call: Call & Shock,
    fingerprint: string,
    fault: FaultKind | undefined,
  ): { answer: VendorAnswer; repeated: boolean } {
    const { dialect } = this.#definition;
    if (!route.write) return { answer: route.handle({ ...call, nowMs: Date.now() }), repeated: false };
    const failed = dialect.problem("failed", "An unexpected error occurred.");
    const work = (): VendorAnswer => {
      if (fault === "error") return failed;
      return fault === "refuse"
        ? dialect.refusal(route.operation)
        : route.handle({ ...call, nowMs: Date.now() });
    };
    if (route.write === "unkeyed") return { answer: this.#ledger.transaction(work), repeated: false };
    return this.#ledger.transaction(() => {
      const owner = dialect.keepsFailures ? "account" : route.operation;
      const kept = this.#ledger.keptAnswer(owner, call.idempotencyKey);
      if (kept !== undefined && kept.fingerprint !== fingerprint) {
        const detail = "This idempotency key was used for another request.";
        return { answer: dialect.problem("key-reused", detail), repeated: false };
      }
      if (kept !== undefined) {
        const headers = dialect.keepsFailures && { headers: { "Idempotent-Replayed": "true" } };
        const body = JSON.parse(kept.body) as unknown;
        return { answer: { status: kept.status, body, ...headers }, repeated: true };
      }
      const answer = work();
      const { status, body } = dialect.keepsFailures && fault === "error-after" ? failed : answer;
      this.#ledger.keepAnswer(owner, call.idempotencyKey, {
        fingerprint,
        status,
        body: JSON.stringify(body),
      });
      return { answer, repeated: false };
    });
  }

  async #deliver(
    response: ServerResponse,
    answer: VendorAnswer,
    fault: FaultKind | undefined,
  ): Promise<void> {
    const { dialect } = this.#definition;
    switch (fault) {
      case "lost-answer":
      case "late-work":
        response.destroy();
        return;
      case "malformed": {
        const text = JSON.stringify(answer.body) as string | undefined;
        // What has no body can't have a broken one.
        if (text === undefined) return void response.destroy();
        sendText(response, answer.status, text.slice(0, Math.max(1, Math.floor(text.length / 2))));
        return;
      }
      case "error-after":
        return send(response, dialect.problem("failed", "An unexpected error occurred."));
      case "timeout": {
        if (response.closed) return;
        const lateMs = this.#settings.lateMs ?? neverMs;
        const gone = new AbortController();
        response.once("close", () => gone.abort());
        const signal = AbortSignal.any([gone.signal, this.#stopping.signal]);
        const due = await delay(lateMs, true, { signal }).catch(() => false);
        return due ? send(response, answer) : undefined;
      }
      default:
        return send(response, answer);
    }
  }

  async ledger(): Promise<unknown> {
    return {
      vendor: this.name,
      kind: this.kind,
      counts: this.#definition.counts(this.#ledger),
      requestCounts: this.#ledger.requestCounts(),
      entries: this.#ledger.entries(),
      requests: this.#ledger.requests(1000),
      ...(this.#sender && { webhooks: this.#ledger.tellings(1000) }),
    };
  }

  async control(change: unknown): Promise<unknown> {
    const checked = readSettingsChange(change);
    this.#settings = { ...this.#settings, ...checked };
    if (checked.seed !== undefined) this.#ledger.setNote("seed", checked.seed);
    if (checked.webhooks !== undefined) this.#ledger.setNote("webhooks", JSON.stringify(checked.webhooks));
    // Secrets are never answered back.
    return { ...this.#settings, webhooks: this.#settings.webhooks.map(({ url }) => ({ url })) };
  }

  async stay(marking: unknown): Promise<unknown> {
    const { frontDesk } = this.#definition;
    if (frontDesk === undefined) throw new TypeError(`${this.name} has no desk.`);
    return frontDesk(this.#ledger, marking, Date.now());
  }

  async spend(spending: unknown): Promise<unknown> {
    const { till } = this.#definition;
    if (till === undefined) throw new TypeError(`${this.name} issues no cards.`);
    const spent = till(this.#ledger, spending, Date.now(), this.#settings);
    this.#sender?.wake();
    return spent;
  }

  async reply(reply: unknown): Promise<unknown> {
    const { reply: read } = this.#definition;
    if (read === undefined) throw new TypeError(`${this.name} carries no messages.`);
    const told = read(this.#ledger, reply, Date.now(), this.#settings);
    this.#sender?.wake();
    return told;
  }

  async predict(prediction: unknown): Promise<unknown> {
    const { predictor } = this.#definition;
    if (predictor === undefined) throw new TypeError(`${this.name} predicts nothing.`);
    return predictor(this.#ledger, prediction, Date.now());
  }

  async reset(): Promise<void> {
    this.#ledger.reset();
    const { seed, webhooks } = this.#settings;
    this.#settings = { ...quietSettings(seed, this.#options.latencyMs), webhooks };
  }

  async healthy(): Promise<boolean> {
    return !this.#stopping.signal.aborted;
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#close();
    await this.#sender?.stop();
    this.#ledger.close();
  }
}
