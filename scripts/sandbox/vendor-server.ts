/** Owns the HTTP side that all vendors share: routes, credentials, idempotency keys, latency and faults. */
import { createHash } from "node:crypto";
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { Ajv, type ValidateFunction } from "ajv";
import addFormats from "ajv-formats";
import type { TSchema } from "typebox";
import { type FaultKind, faultFor, quietSettings, readSettingsChange, type Settings } from "./faults.ts";
import { Ledger } from "./ledger.ts";
import { listenOnLoopback, readBody } from "./loopback-http.ts";
import type { SandboxPart } from "./sandbox-part.ts";

export interface VendorRequest<Body = unknown> {
  params: Record<string, string>;
  query: URLSearchParams;
  body: Body;
  /** Empty for reads. */
  idempotencyKey: string;
  nowMs: number;
}

export interface VendorAnswer {
  status: number;
  body: unknown;
}

export interface VendorRoute {
  /** The name in ledger and fault settings. */
  operation: string;
  method: string;
  /** `:name` stands for one path segment. */
  path: string;
  /** Writes need an `Idempotency-Key`; their answers are kept under it. */
  write: boolean;
  body?: TSchema;
  // biome-ignore lint/suspicious/noExplicitAny: the body's type follows from the route's own schema.
  handle(request: VendorRequest<any>): VendorAnswer;
}

/** How one vendor says what every vendor has to say. */
export interface Dialect {
  accepts(headers: IncomingHttpHeaders, apiKey: string): boolean;
  problem(
    kind: "unauthorized" | "not-found" | "invalid" | "key-reused" | "unavailable" | "failed",
    detail: string,
  ): VendorAnswer;
  /** The vendor's permanent no to this operation when a fault asks for one. */
  refusal(operation: string): VendorAnswer;
}

export interface VendorDefinition {
  name: string;
  kind: string;
  dialect: Dialect;
  routes(ledger: Ledger, settings: () => Settings): VendorRoute[];
  /** What a hotel's own desk does to bookings. @throws TypeError naming what is wrong with the marking */
  frontDesk?(ledger: Ledger, marking: unknown, nowMs: number): unknown;
  /** What happens to its cards elsewhere. @throws TypeError naming what is wrong with the spending */
  till?(ledger: Ledger, spending: unknown, nowMs: number): unknown;
  /** Totals for the ledger, by what the vendor sells. */
  counts(ledger: Ledger): Record<string, number>;
}

export interface VendorOptions {
  file: string;
  apiKey: string;
  seed: string;
  latencyMs: number;
}

const requestBytesMax = 256 * 1024;
const neverMs = 2 ** 31 - 1;

const ajv = new Ajv({ strict: true });
// ajv-formats is CommonJS: its callable stands under `default` for the type checker alone.
(addFormats as unknown as (instance: Ajv) => void)(ajv);

interface CompiledRoute extends VendorRoute {
  pattern: RegExp;
  isBody: ValidateFunction | undefined;
}

const compileRoute = (route: VendorRoute): CompiledRoute => ({
  ...route,
  pattern: new RegExp(`^${route.path.replaceAll(/:(\w+)/g, "(?<$1>[^/]+)")}$`),
  isBody: route.body && ajv.compile(route.body),
});

/** One vendor: its server, its ledger and its settings. */
export class VendorServer implements SandboxPart {
  readonly name: string;
  readonly kind: string;
  readonly apiKey: string;
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
    this.#definition = definition;
    this.#options = options;
    this.#ledger = new Ledger(options.file);
    this.#settings = quietSettings(this.#ledger.note("seed") ?? options.seed, options.latencyMs);
    this.#routes = definition.routes(this.#ledger, () => this.#settings).map(compileRoute);
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
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { dialect } = this.#definition;
    const url = new URL(request.url ?? "/", "http://vendor");
    const route = this.#routes.find((one) => one.method === request.method && one.pattern.test(url.pathname));
    const rawBody = await readBody(request, requestBytesMax);
    if (rawBody === undefined) return send(response, dialect.problem("invalid", "The body is too large."));
    if (!dialect.accepts(request.headers, this.apiKey)) {
      return send(response, dialect.problem("unauthorized", "Unknown API key."));
    }
    if (route === undefined) return send(response, dialect.problem("not-found", "No such route."));
    const key = String(request.headers["idempotency-key"] ?? "");
    const body = parseJson(rawBody);
    const wrong = whatIsWrong(route, body, key);
    if (wrong !== undefined) return send(response, dialect.problem("invalid", wrong));
    const params = { ...route.pattern.exec(url.pathname)?.groups };
    const call = { params, query: url.searchParams, body, idempotencyKey: route.write ? key : "" };
    await this.#work(route, url, rawBody, call, response);
  }

  async #work(
    route: CompiledRoute,
    url: URL,
    rawBody: string,
    call: Omit<VendorRequest, "nowMs">,
    response: ServerResponse,
  ): Promise<void> {
    const { dialect, name: vendor } = this.#definition;
    const fingerprint = createHash("sha256")
      .update(`${route.method} ${url.pathname}${url.search}\n${rawBody}`)
      .digest("hex");
    const requestKey = call.idempotencyKey || fingerprint;
    const arrivedAt = new Date().toISOString();
    const opened = this.#ledger.openRequest(
      arrivedAt,
      route.operation,
      requestKey,
      call.idempotencyKey || null,
    );
    const { fault, latencyMs } = faultFor(this.#settings, {
      vendor,
      operation: route.operation,
      key: requestKey,
      attempt: opened.attempt,
      rawBody,
    });
    await delay(latencyMs, undefined, { signal: this.#stopping.signal });
    const undone = { unavailable: "unavailable", error: "failed" } as const;
    const { answer, repeated } =
      fault === "unavailable" || fault === "error"
        ? { answer: dialect.problem(undone[fault], "Nothing was done."), repeated: false }
        : this.#answer(route, call, fingerprint, fault);
    const lost = fault === "lost-answer" || (fault === "timeout" && this.#settings.lateMs === null);
    this.#ledger.closeRequest(opened.request, {
      fault: fault ?? null,
      status: lost ? null : answer.status,
      repeated,
    });
    await this.#deliver(response, answer, fault);
  }

  /** The work and the kept answer are one transaction: a key is never used up without its work, nor the reverse. */
  #answer(
    route: CompiledRoute,
    call: Omit<VendorRequest, "nowMs">,
    fingerprint: string,
    fault: FaultKind | undefined,
  ): { answer: VendorAnswer; repeated: boolean } {
    const { dialect } = this.#definition;
    if (!route.write) return { answer: route.handle({ ...call, nowMs: Date.now() }), repeated: false };
    return this.#ledger.transaction(() => {
      const kept = this.#ledger.keptAnswer(route.operation, call.idempotencyKey);
      if (kept !== undefined && kept.fingerprint !== fingerprint) {
        const detail = "This idempotency key was used for another request.";
        return { answer: dialect.problem("key-reused", detail), repeated: false };
      }
      if (kept !== undefined) {
        return { answer: { status: kept.status, body: JSON.parse(kept.body) as unknown }, repeated: true };
      }
      const answer =
        fault === "refuse" ? dialect.refusal(route.operation) : route.handle({ ...call, nowMs: Date.now() });
      this.#ledger.keepAnswer(route.operation, call.idempotencyKey, {
        fingerprint,
        status: answer.status,
        body: JSON.stringify(answer.body),
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
        response.destroy();
        return;
      case "malformed": {
        const text = JSON.stringify(answer.body);
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
    };
  }

  async control(change: unknown): Promise<unknown> {
    const checked = readSettingsChange(change);
    this.#settings = { ...this.#settings, ...checked };
    if (checked.seed !== undefined) this.#ledger.setNote("seed", checked.seed);
    return this.#settings;
  }

  async stay(marking: unknown): Promise<unknown> {
    const { frontDesk } = this.#definition;
    if (frontDesk === undefined) throw new TypeError(`${this.name} is no hotel.`);
    return frontDesk(this.#ledger, marking, Date.now());
  }

  async spend(spending: unknown): Promise<unknown> {
    const { till } = this.#definition;
    if (till === undefined) throw new TypeError(`${this.name} issues no cards.`);
    return till(this.#ledger, spending, Date.now());
  }

  async reset(): Promise<void> {
    this.#ledger.reset();
    this.#settings = quietSettings(this.#settings.seed, this.#options.latencyMs);
  }

  async healthy(): Promise<boolean> {
    return !this.#stopping.signal.aborted;
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#close();
    this.#ledger.close();
  }
}

const parseJson = (text: string): unknown => {
  try {
    return text === "" ? undefined : JSON.parse(text);
  } catch {
    // Undefined fails every body schema, which is how the caller hears of it.
    return undefined;
  }
};

const whatIsWrong = (route: CompiledRoute, body: unknown, key: string): string | undefined => {
  if (route.write && !/^[\x21-\x7e]{1,255}$/.test(key)) return "An Idempotency-Key header is needed.";
  if (route.isBody === undefined || route.isBody(body)) return undefined;
  const [first] = route.isBody.errors ?? [];
  return `${first?.instancePath || "/"} ${first?.message}`;
};

const sendText = (response: ServerResponse, status: number, text: string): void => {
  const headers: Record<string, string> = { "Content-Type": "application/json" };
  if (status === 503 || status === 429) headers["Retry-After"] = "1";
  response.writeHead(status, headers).end(text);
};

const send = (response: ServerResponse, { status, body }: VendorAnswer): void =>
  sendText(response, status, JSON.stringify(body));
