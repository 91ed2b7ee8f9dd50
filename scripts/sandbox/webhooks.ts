/**
 * Owns what a vendor tells its clients by itself: kept with what it tells of, sent until it is taken, and what goes wrong on the way
 * (told twice, told late). How it is worded and signed is the vendor's.
 */
import { createHmac } from "node:crypto";
import type { Settings } from "./faults.ts";
import type { Ledger, Telling } from "./ledger.ts";
import { drawFor } from "./seeded.ts";

/** Where to, and what it is signed with. */
export interface WebhookTarget {
  url: string;
  secret: string;
}

/** How a vendor words and signs one of its webhooks. */
export type WordWebhook = (
  event: unknown,
  target: WebhookTarget,
  nowMs: number,
) => { headers: Record<string, string>; body: string };

export interface Announced {
  /** The vendor's own, of what it tells. */
  id: string;
  /** As {@link WordWebhook} takes it. */
  event: unknown;
  nowMs: number;
  /** A client's own for this one; absent: those of the settings. */
  targets?: readonly WebhookTarget[];
}

/** What is held back is sent so much later at most. */
const heldMsMax = 600;

/**
 * Keeps it to be sent, in the transaction that it is called in. Nobody to send it to: nothing is kept. Drawn by seed and id: told twice
 * (`duplicateRate`), or held back so that what came later is told before it (`reorderRate`).
 */
export const announce = (
  ledger: Ledger,
  settings: Settings,
  { id, event, nowMs, targets }: Announced,
): void => {
  const draw = drawFor(settings.seed, "webhook", id);
  const held = draw.chance(settings.reorderRate) ? draw.between(1, heldMsMax) : 0;
  const isTwice = draw.chance(settings.duplicateRate);
  const again = draw.between(0, heldMsMax);
  for (const target of targets ?? settings.webhooks) {
    const dueMs = nowMs + settings.webhookDelayMs + held;
    ledger.tell({ id, event, target, dueMs });
    if (isTwice) ledger.tell({ id, event, target, dueMs: dueMs + again });
  }
};

/** `t=<Unix seconds>,v1=<hex HMAC-SHA256 of "<t>.<body>">`: of vendors without a scheme of their own. */
export const signed: (body: string, secret: string, nowMs: number) => string = (body, secret, nowMs) => {
  const time = Math.floor(nowMs / 1000);
  return `t=${time},v1=${createHmac("sha256", secret).update(`${time}.${body}`).digest("hex")}`;
};

const atOnce = 16;
const timeoutMs = 10_000;
const retryMs = { first: 100, most: 3_000 } as const;

/** Sends what is due until it is answered with a 2xx. */
export class WebhookSender {
  readonly #ledger: Ledger;
  readonly #word: WordWebhook;
  readonly #stopping = new AbortController();
  readonly #underWay = new Map<number, Promise<void>>();
  #timer: NodeJS.Timeout | undefined;

  constructor(ledger: Ledger, word: WordWebhook) {
    this.#ledger = ledger;
    this.#word = word;
  }

  /** To be called after something was announced, and at the start for what an earlier process has left. */
  wake(): void {
    if (this.#stopping.signal.aborted) return;
    clearTimeout(this.#timer);
    const nowMs = Date.now();
    const waiting = this.#ledger.untold(2 * atOnce).filter(({ sequence }) => !this.#underWay.has(sequence));
    const due = waiting.filter(({ dueMs }) => dueMs <= nowMs).slice(0, atOnce - this.#underWay.size);
    for (const one of due) {
      const sending = this.#send(one, nowMs).finally(() => {
        this.#underWay.delete(one.sequence);
        this.wake();
      });
      this.#underWay.set(one.sequence, sending);
    }
    const next = waiting.find(({ dueMs }) => dueMs > nowMs);
    if (next !== undefined && this.#underWay.size < atOnce)
      this.#timer = setTimeout(() => this.wake(), next.dueMs - nowMs);
  }

  async #send({ sequence, event, target, attempts }: Telling, nowMs: number): Promise<void> {
    const to = target as WebhookTarget;
    const { headers, body } = this.#word(event, to, nowMs);
    const signal = AbortSignal.any([this.#stopping.signal, AbortSignal.timeout(timeoutMs)]);
    // Whatever goes wrong, the client has not confirmed it: it is sent again.
    const status = await fetch(to.url, { method: "POST", headers, body, signal, redirect: "manual" }).then(
      async (response) => {
        await response.body?.cancel();
        return response.status;
      },
      () => 0,
    );
    if (this.#stopping.signal.aborted) return;
    const isTaken = status >= 200 && status < 300;
    const waitMs = Math.min(retryMs.first * 2 ** Math.min(attempts, 10), retryMs.most);
    this.#ledger.noteTelling(sequence, { status, ...(isTaken ? {} : { dueMs: Date.now() + waitMs }) });
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    clearTimeout(this.#timer);
    await Promise.all(this.#underWay.values());
  }
}
