// A webhook as vendors without a scheme of their own sign it, written from the contract's decision and not from our code.
import { createHmac } from "node:crypto";
import type { Call } from "./clients.ts";

/** @param at when it was signed; default: now */
export const signedWebhook = (
  vendor: string,
  secret: string,
  body: unknown,
  at = new Date(),
): Call & { raw: string; headers: Record<string, string> } => {
  const raw = typeof body === "string" ? body : JSON.stringify(body);
  const time = Math.floor(at.getTime() / 1000);
  const v1 = createHmac("sha256", secret).update(`${time}.${raw}`).digest("hex");
  return { params: { vendor }, raw, headers: { "X-Vendor-Signature": `t=${time},v1=${v1}` } };
};
