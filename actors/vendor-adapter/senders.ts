/** Owns who may send us webhooks: of each airline the vendors that have a secret for it, and the one before it for a while. */
import { SealError, unseal } from "../runtime/seal.ts";
import { dialects } from "./dialects.ts";
import type { InboundDialect, InboundRequest } from "./inbound.ts";

/** What of a vendor's document concerns its webhooks; the secrets are sealed. */
export interface WebhookSecrets {
  webhookSecret?: string;
  /** What it signed with before. */
  formerWebhookSecret?: string;
  /** From the bucket it comes as text. */
  formerWebhookSecretUntil?: Date;
}

/** One airline's vendor. */
export interface Sender {
  tenant: string;
  inbound: InboundDialect;
  /** Whether the vendor has signed this with a secret of this airline's. */
  hasSigned(request: InboundRequest, now: Date): boolean;
}

/** How long a vendor may go on signing with the former secret (contract, "Limits": 14-day dual-key window). */
const formerSecretMs = 14 * 86_400_000;

export class Senders {
  readonly #sealKey: Buffer;
  readonly #byVendor = new Map<string, Map<string, Sender>>();

  constructor(sealKey: Buffer) {
    this.#sealKey = sealKey;
  }

  /** @throws SealError for a secret that was sealed elsewhere */
  learn(
    tenant: string,
    { _id: name, dialect, ...secrets }: WebhookSecrets & { _id: string; dialect: string },
  ): void {
    const ofName = this.#byVendor.get(name) ?? new Map<string, Sender>();
    this.#byVendor.set(name, ofName);
    ofName.delete(tenant);
    const inbound = dialects[dialect]?.inbound;
    if (inbound === undefined || secrets.webhookSecret === undefined) return;
    ofName.set(tenant, { tenant, inbound, hasSigned: this.#checkOf(inbound, secrets) });
  }

  /** Of every airline that works with a vendor of this name. */
  of(name: string): Sender[] {
    return [...(this.#byVendor.get(name)?.values() ?? [])];
  }

  #checkOf(inbound: InboundDialect, secrets: WebhookSecrets): Sender["hasSigned"] {
    const { webhookSecret = "", formerWebhookSecret, formerWebhookSecretUntil = new Date(0) } = secrets;
    const current = unseal(this.#sealKey, webhookSecret);
    const former = formerWebhookSecret === undefined ? undefined : unseal(this.#sealKey, formerWebhookSecret);
    const until = new Date(formerWebhookSecretUntil);
    return (request, now) =>
      inbound.verify(request, current, now) ||
      (former !== undefined && now < until && inbound.verify(request, former, now));
  }
}

/**
 * What is kept of the secret before beside a new one. Whoever would have it forgotten at once puts the vendor without any first.
 * @param before as it stands; null: there is no such vendor yet
 * @param secret the new one, in the clear; undefined: none
 */
export const formerSecret = (
  sealKey: Buffer,
  before: WebhookSecrets | null,
  secret: string | undefined,
  now: Date,
): Omit<WebhookSecrets, "webhookSecret"> => {
  if (before?.webhookSecret === undefined || secret === undefined) return {};
  const { webhookSecret, formerWebhookSecret, formerWebhookSecretUntil } = before;
  const opened = openedOrNot(sealKey, webhookSecret);
  if (opened === undefined) return {};
  if (opened === secret)
    return {
      ...(formerWebhookSecret !== undefined && { formerWebhookSecret }),
      ...(formerWebhookSecretUntil !== undefined && { formerWebhookSecretUntil }),
    };
  return {
    formerWebhookSecret: webhookSecret,
    formerWebhookSecretUntil: new Date(now.getTime() + formerSecretMs),
  };
};

/** One that was sealed under another key is no secret of ours any more. */
const openedOrNot = (sealKey: Buffer, sealed: string): string | undefined => {
  try {
    return unseal(sealKey, sealed);
  } catch (error) {
    if (error instanceof SealError) return undefined;
    throw error;
  }
};
