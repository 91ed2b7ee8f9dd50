/** Owns the links in messages that log their readers in: which messages have one, and making it; what becomes of it is the identity actor's. */
import { createHmac, hkdfSync } from "node:crypto";
import { digestOfMagicLink, magicLinkToken } from "../../schemas/magic-link.ts";
import type { NotificationTemplate } from "../../schemas/notification.ts";

/** Those that tell of an offer, or of what goes with it. */
const linked: ReadonlySet<NotificationTemplate> = new Set<NotificationTemplate>([
  "offer-ready",
  "voucher-issued",
  "stay-changed",
  "hotel-changed",
  "transport-updated",
  "magic-link",
]);

/**
 * The token of one attempt's link. It follows from the attempt's own reference, so that whatever is sent again has the same link,
 * and nothing but its digest has to be kept. A key of its own, so that what seals secrets does nothing else.
 */
const tokenOf = (sealKey: Buffer, tenant: string, attemptReference: string): string => {
  const key = Buffer.from(hkdfSync("sha256", sealKey, "", "magic links", 32));
  return magicLinkToken(tenant, createHmac("sha256", key).update(`${tenant}\n${attemptReference}`).digest());
};

/** What a message keeps of the link that this attempt will have; undefined: it has none. @param host of the airline's page for passengers */
export const keptLink = (
  sealKey: Buffer,
  tenant: string,
  template: NotificationTemplate,
  host: string | undefined,
  attemptReference: string,
): string | undefined =>
  host === undefined || !linked.has(template)
    ? undefined
    : digestOfMagicLink(tokenOf(sealKey, tenant, attemptReference));

/** Contract, "Passenger API": `{passenger_base_url}?token=<MAGIC_LINK_TOKEN>`. */
export const loginLink = (sealKey: Buffer, tenant: string, host: string, attemptReference: string): string =>
  `https://${host}?token=${tokenOf(sealKey, tenant, attemptReference)}`;
