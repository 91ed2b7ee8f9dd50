/**
 * Owns what follows from a vendor's webhook: it is believed for the airlines whose secret has signed it and for no other, and what it
 * tells goes as durable commands to whom it concerns before the vendor is answered. How it is signed and worded is its dialect's.
 */
import type { Command } from "../../schemas/command.ts";
import type { MessageStatusReport } from "../../schemas/message.ts";
import { Problem } from "../../schemas/problems.ts";
import { tenantOfId } from "../../schemas/urn.ts";
import { subCaseOf } from "../../schemas/vendor-call.ts";
import type { ReceivedWebhook } from "../../schemas/vendor-webhook.ts";
import type { CardTransaction } from "../../schemas/wallet.ts";
import { causedId } from "../runtime/clock.ts";
import type { ActorContext } from "../runtime/host.ts";
import { seal } from "../runtime/seal.ts";
import { sendCommand, systemCommand } from "../runtime/send.ts";
import type { Instance } from "./dialects.ts";
import {
  type CardNotice,
  type InboundDialect,
  type InboundRequest,
  type MessageNotice,
  type VendorNotice,
  vendorSignature,
} from "./inbound.ts";
import { ownReferences } from "./reconcile.ts";
import type { Sender } from "./senders.ts";

type Context = Pick<ActorContext, "clock" | "config" | "log" | "streams">;
type Following = Pick<Command, "correlationUrn" | "traceparent">;

/** What is to be sent for one airline; its id comes from what was told. */
interface Told {
  tenant: string;
  cause: readonly string[];
  name: string;
  entity: string;
  data: unknown;
}

/** As much work as for a known vendor: nobody learns from an answer, or its time, which there are. */
const nobodysSecret = "of a vendor that nobody has configured";

/**
 * Confirmed by the streams when it returns. What names no reference of an airline that has signed it is logged and let go.
 * @param senders of the vendor's name, of every airline
 * @throws Problem auth/bad-signature, validation/malformed, validation/body
 */
export const hear = async (context: Context, senders: readonly Sender[], command: Command): Promise<void> => {
  const { vendor, headers, rawBody, url } = command.data as ReceivedWebhook;
  const request: InboundRequest = { headers, rawBody: Buffer.from(rawBody, "base64"), url };
  const now = context.clock.now();
  if (senders.length === 0) vendorSignature(request, nobodysSecret, now);
  const believed = senders.filter((sender) => sender.hasSigned(request, now));
  if (believed.length === 0)
    throw new Problem(
      "auth/bad-signature",
      "The signature is missing, by another secret, of another body, or more than 300 s old.",
    );
  const log = context.log.child({ vendor, correlationUrn: command.correlationUrn });
  for (const { tenants, notices, passedOver, malformed = 0 } of readings(believed, request, now, log)) {
    const told = notices.flatMap((notice) => toldOf(context, vendor, tenants, notice));
    await Promise.all(told.map((one) => tell(context, vendor, command, one)));
    const unknown = notices.filter((notice) => toldFor(tenants, notice).length === 0).length;
    if (malformed > 0) log.warn({ tenants, malformed }, "told of what cannot be read: passed over");
    if (unknown > 0) log.info({ tenants, unknown }, "told of nothing that is this airline's");
    // Most of a carrier's are: each message has its steps on the way.
    if (passedOver > 0) log.debug({ tenants, passedOver }, "told of what is nothing to us");
  }
};

/** Airlines that work with the same vendor in the same words. */
const byDialect = (senders: readonly Sender[]): Map<InboundDialect, string[]> => {
  const tenants = new Map<InboundDialect, string[]>();
  for (const { inbound, tenant } of senders) tenants.set(inbound, [...(tenants.get(inbound) ?? []), tenant]);
  return tenants;
};

type Reading = ReturnType<InboundDialect["read"]> & { tenants: string[] };

/** Airlines may have another vendor each under the name: one that can read it is enough. @throws Problem of the first, where none can */
const readings = (
  believed: readonly Sender[],
  request: InboundRequest,
  now: Date,
  log: Context["log"],
): Reading[] => {
  const read: Reading[] = [];
  const refused: Problem[] = [];
  for (const [inbound, tenants] of byDialect(believed)) {
    try {
      read.push({ tenants, ...inbound.read(request, now) });
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      log.warn(
        { tenants, code: error.code, errors: error.members.errors },
        "a signed webhook cannot be read",
      );
      refused.push(error);
    }
  }
  if (read.length === 0 && refused[0] !== undefined) throw refused[0];
  return read;
};

/** Of those who have signed: the airline that its reference names; without one all of them. */
const toldFor = (tenants: readonly string[], notice: VendorNotice): readonly string[] => {
  const reference = notice.kind === "card" ? notice.transaction.reference : notice.reference;
  if (reference === undefined) return tenants;
  const tenant = tenantOfId(reference);
  return tenants.includes(tenant) && ownReferences(tenant).test(reference) ? [tenant] : [];
};

const toldOf = (context: Context, vendor: string, tenants: readonly string[], notice: VendorNotice): Told[] =>
  toldFor(tenants, notice).map((tenant) =>
    notice.kind === "card"
      ? cardTold(vendor, tenant, notice)
      : messageTold(context.config.sealKey, vendor, tenant, notice),
  );

/** By the transaction, as what is polled: whichever comes first, it is one command. */
const cardTold = (vendor: string, tenant: string, { transaction }: CardNotice): Told => {
  const { reference, eventId } = transaction;
  return reference === undefined
    ? { tenant, cause: [eventId, "whose"], name: `vendor-${vendor}.find-card`, entity: "", data: transaction }
    : recorded(tenant, { ...transaction, reference });
};

const recorded = (tenant: string, transaction: CardTransaction): Told => ({
  tenant,
  cause: [transaction.eventId],
  name: "sub-case.record-card-transaction",
  entity: subCaseOf(transaction.reference),
  data: transaction,
});

const messageTold = (
  sealKey: Buffer,
  vendor: string,
  tenant: string,
  { eventId, reference, messageId, what, at, channel, recipient, detail }: MessageNotice,
): Told => {
  const isNamed = reference !== undefined || messageId !== undefined;
  const data: MessageStatusReport = {
    vendor,
    ...(reference !== undefined && { reference }),
    ...(reference === undefined && messageId !== undefined && { carrierId: messageId }),
    ...(!isNamed && channel !== undefined && { channel }),
    ...(!isNamed && recipient !== undefined && { sealedRecipient: seal(sealKey, recipient) }),
    ...(detail !== undefined && { detail }),
    state: what,
    at,
  };
  return { tenant, cause: [eventId], name: "message.record-status", entity: "", data };
};

const tell = async (
  { clock, streams }: Context,
  vendor: string,
  { correlationUrn, traceparent }: Following,
  { tenant, cause, name, entity, data }: Told,
): Promise<void> => {
  const id = causedId(`${tenant}.${vendor}`, ...cause);
  const command = { id, name, entity, data, now: clock.now() };
  await sendCommand(
    streams,
    systemCommand("vendor-adapter", { tenant, correlationUrn, traceparent }, command),
  );
};

/**
 * Asks the vendor under which reference it has the card, and passes on what it has told of it.
 * @throws Problem upstream/unavailable: the vendor cannot be asked now
 */
export const findCard = async (context: Context, instance: Instance, command: Command): Promise<void> => {
  const { tenant, traceparent } = command;
  const transaction = command.data as CardNotice["transaction"];
  const log = context.log.child({ tenant, vendor: instance.name, eventId: transaction.eventId });
  const found =
    instance.kind === "payment"
      ? await instance.port.referenceOf?.({ cardId: transaction.cardId }, { traceparent })
      : undefined;
  if (found?.outcome === "unavailable")
    throw new Problem("upstream/unavailable", found.detail, { failedDomain: instance.name });
  const reference = found?.outcome === "done" ? found.reference : undefined;
  if (reference === undefined || !ownReferences(tenant).test(reference)) {
    log.info({ outcome: found?.outcome }, "a card's transaction under no reference of this airline");
    return;
  }
  await tell(context, instance.name, command, recorded(tenant, { ...transaction, reference }));
};
