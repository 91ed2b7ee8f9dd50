/** Owns opening what travels sealed to a carrier of messages: whom it goes to, and what it says; no stream and no outbox has it in the clear. */
import type { VendorCall } from "../../schemas/vendor-call.ts";
import { unseal } from "../runtime/seal.ts";

/** The same call where nothing is sealed. @throws SealError for a content that was sealed elsewhere, or changed */
export const opened = (call: VendorCall, sealKey: Buffer): VendorCall => {
  const { sealed, ...request } = call.request as { sealed?: string };
  if (sealed === undefined) return call;
  const content = JSON.parse(unseal(sealKey, sealed)) as Record<string, unknown>;
  return { ...call, request: { ...request, ...content } };
};
