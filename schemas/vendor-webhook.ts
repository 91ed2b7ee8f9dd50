/** Owns how a vendor's webhook travels from the gateway to the vendor-adapter: as it came, since its signature is over the bytes. */

/** What vendors sign in, in lower case: a request with none of them is no vendor's. */
export const signatureHeaders = ["x-vendor-signature", "stripe-signature", "x-twilio-signature"] as const;

/** The data of `vendor-adapter.receive-webhook`. */
export interface ReceivedWebhook {
  /** As the address names it; there may be no such vendor. */
  vendor: string;
  /** Names in lower case. */
  headers: Record<string, string>;
  /** Base64. */
  rawBody: string;
  /** As the vendor has called it, absolute, with its query. */
  url: string;
}

/** Of a body. In base64 and an envelope it is below what one message may be (1 MiB). */
export const webhookBytesMax = 512 * 1024;
