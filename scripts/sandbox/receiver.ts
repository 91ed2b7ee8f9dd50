/** Owns the partner's webhook receiver: verifies, dedupes by event URN, keeps what came, and fails on request. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import Type, { type Static } from "typebox";
import {
  readRawBody,
  type Verdict,
  verifyWebhook,
  type WebhookSecrets,
} from "../../schemas/webhook-signature.ts";
import { Ledger } from "./ledger.ts";
import { listenOnLoopback } from "./loopback-http.ts";
import type { SandboxPart } from "./sandbox-part.ts";
import { readerOf } from "./told.ts";

const Secrets = Type.Object(
  { current: Type.String({ minLength: 1 }), previous: Type.Optional(Type.String({ minLength: 1 })) },
  { additionalProperties: false },
);
const ReceiverChange = Type.Partial(
  Type.Object({
    secrets: Type.Record(Type.String({ minLength: 1 }), Secrets),
    failNext: Type.Array(
      Type.Object(
        {
          path: Type.String({ minLength: 1, description: "Below /hooks/, e.g. a client id; `*` for any." }),
          kind: Type.Enum(["status", "timeout", "drop"]),
          status: Type.Optional(Type.Integer({ minimum: 200, maximum: 599 })),
          times: Type.Integer({ minimum: 1 }),
        },
        { additionalProperties: false },
      ),
    ),
    latencyMs: Type.Integer({ minimum: 0, maximum: 60_000 }),
  }),
  { additionalProperties: false },
);
type ReceiverChange = Static<typeof ReceiverChange>;
const readChange = readerOf(ReceiverChange);

const neverMs = 2 ** 31 - 1;

interface Delivery {
  path: string;
  verified: boolean;
  /** With which secret and header; or why not. */
  by?: unknown;
  reason?: string;
  receivedAt: string;
  eventUrn: string | null;
  eventType: string | null;
  headers: Record<string, string>;
  body: unknown;
  /** The event URN had come before, verified, on this path. */
  duplicate: boolean;
  /** What was answered; null: nothing. */
  status: number | null;
}

type ReceiverFault = NonNullable<ReceiverChange["failNext"]>[number];

export class Receiver implements SandboxPart {
  readonly name = "receiver";
  readonly kind = "receiver";
  readonly apiKey = "";
  readonly #ledger: Ledger;
  readonly #stopping = new AbortController();
  #failNext: ReceiverFault[] = [];
  #latencyMs = 0;
  #url = "";
  #close: () => Promise<void> = async () => undefined;

  /** @param file its ledger, created when absent. */
  constructor(file: string) {
    this.#ledger = new Ledger(file);
  }

  get baseUrl(): string {
    return `${this.#url}/hooks`;
  }

  async start(): Promise<void> {
    const server = createServer((request, response) => {
      this.#receive(request, response).catch((error: unknown) => {
        if (!this.#stopping.signal.aborted) console.error(error);
        response.destroy();
      });
    });
    const { url, port, close } = await listenOnLoopback(server, 0, Number(this.#ledger.note("port") ?? 0));
    this.#ledger.setNote("port", String(port));
    this.#url = url;
    this.#close = close;
  }

  #secrets(): Record<string, WebhookSecrets> {
    return JSON.parse(this.#ledger.note("secrets") ?? "{}") as Record<string, WebhookSecrets>;
  }

  /** The whole path's own secret, else its first segment's (the client id). */
  #secretsFor(path: string): WebhookSecrets | undefined {
    const all = this.#secrets();
    const client = path.split("/", 1)[0]!;
    return Object.hasOwn(all, path) ? all[path] : Object.hasOwn(all, client) ? all[client] : undefined;
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname } = new URL(request.url ?? "/", "http://receiver");
    const path = /^\/hooks\/(.+)$/.exec(pathname)?.[1];
    const rawBody = await readRawBody(request);
    if (path === undefined || request.method !== "POST" || rawBody === undefined) {
      response.writeHead(404).end();
      return;
    }
    const nowMs = Date.now();
    const verdict = verifyWebhook({
      headers: request.headers,
      rawBody,
      secrets: this.#secretsFor(path),
      nowMs,
    });
    const fault = this.#takeFault(path);
    const status =
      fault === undefined
        ? verdict.verified
          ? 200
          : 401
        : fault.kind === "status"
          ? (fault.status ?? 500)
          : null;
    this.#keep(path, request, rawBody, verdict, status, nowMs);
    await delay(this.#latencyMs, undefined, { signal: this.#stopping.signal });
    if (fault?.kind === "drop") response.destroy();
    else if (status === null) await this.#neverAnswer(response);
    else response.writeHead(status).end();
  }

  async #neverAnswer(response: ServerResponse): Promise<void> {
    if (response.closed) return;
    const gone = new AbortController();
    response.once("close", () => gone.abort());
    const signal = AbortSignal.any([gone.signal, this.#stopping.signal]);
    // Ends by an abort, on whichever side gives up first.
    await delay(neverMs, undefined, { signal }).catch(() => undefined);
  }

  #takeFault(path: string): ReceiverFault | undefined {
    const index = this.#failNext.findIndex(
      (fault) => fault.path === "*" || path === fault.path || path.startsWith(`${fault.path}/`),
    );
    const fault = this.#failNext[index];
    if (fault === undefined) return undefined;
    const left = { ...fault, times: fault.times - 1 };
    this.#failNext = this.#failNext.toSpliced(index, 1, ...(left.times > 0 ? [left] : []));
    return fault;
  }

  /** An event counts as received once it was verified and answered with a 2xx: before that the sender tries again. */
  #keep(
    path: string,
    request: IncomingMessage,
    rawBody: Buffer,
    verdict: Verdict,
    status: number | null,
    nowMs: number,
  ): void {
    const header = (name: string): string | null => {
      const value = request.headers[name];
      return typeof value === "string" ? value : null;
    };
    const eventUrn = header("x-service-event-urn");
    const reference = `${path}\n${eventUrn ?? ""}`;
    const accepted = verdict.verified && status !== null && status < 300;
    const duplicate = this.#ledger
      .byReference("delivery", reference)
      .some((earlier) => earlier.state === "ACCEPTED");
    const receivedAt = new Date(nowMs).toISOString();
    const delivery: Delivery = {
      ...verdict,
      path,
      receivedAt,
      eventUrn,
      eventType: header("x-service-event-type"),
      headers: Object.fromEntries(
        Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
      ),
      body: parsed(rawBody.toString("utf8")),
      duplicate,
      status,
    };
    this.#ledger.put({
      kind: "delivery",
      id: crypto.randomUUID(),
      reference,
      idempotencyKey: eventUrn ?? "",
      state: accepted ? "ACCEPTED" : "NOT_ACCEPTED",
      createdAt: receivedAt,
      changedAt: receivedAt,
      details: { ...delivery },
    });
  }

  async ledger(): Promise<unknown> {
    const deliveries = this.#ledger.entries().map((entry) => entry.details as unknown as Delivery);
    const count = (test: (delivery: Delivery) => boolean): number => deliveries.filter(test).length;
    return {
      vendor: this.name,
      kind: this.kind,
      counts: {
        received: deliveries.length,
        verified: count((delivery) => delivery.verified),
        rejected: count((delivery) => !delivery.verified),
        duplicates: count((delivery) => delivery.duplicate),
      },
      deliveries,
    };
  }

  /** Secrets are added to those known, by client id or whole path; they are never answered back. */
  async control(change: unknown): Promise<unknown> {
    const { secrets: told, failNext, latencyMs } = readChange(change);
    const secrets = { ...this.#secrets(), ...told };
    this.#ledger.setNote("secrets", JSON.stringify(secrets));
    this.#failNext = failNext ?? this.#failNext;
    this.#latencyMs = latencyMs ?? this.#latencyMs;
    return { secretsFor: Object.keys(secrets), failNext: this.#failNext, latencyMs: this.#latencyMs };
  }

  async predict(): Promise<unknown> {
    throw new TypeError("The receiver predicts nothing.");
  }

  async spend(): Promise<unknown> {
    throw new TypeError("The receiver issues no cards.");
  }

  async reply(): Promise<unknown> {
    throw new TypeError("The receiver carries no messages.");
  }

  async stay(): Promise<unknown> {
    throw new TypeError("The receiver is no hotel.");
  }

  async reset(): Promise<void> {
    this.#ledger.reset();
    this.#failNext = [];
    this.#latencyMs = 0;
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

const parsed = (rawBody: string): unknown => {
  try {
    return JSON.parse(rawBody);
  } catch {
    // Kept as it came: the ledger shows what was wrong with it.
    return rawBody;
  }
};
