/** Owns codes by SMS, the last resort of those who may use it (second-factor.ts): sent through a messaging vendor, few, and each for one sign-in. */
import { randomInt, randomUUID } from "node:crypto";
import { mintTraceparent } from "../../../actors/runtime/clock.ts";

/** Sends a text to a phone number in E.164. @throws Error when the vendor hasn't taken it; never with the number */
export type SendText = (phone: string, text: string) => Promise<void>;

const timeoutMs = 5000;

export const createSendText = (vendor: { baseUrl: string; apiKey: string }): SendText => {
  // Loaded with the first code: most installations send none.
  const loading = async () => {
    const { SendWell } = await import("../../../actors/vendor-adapter/adapters/sendwell.ts");
    return new SendWell({ ...vendor, timeoutMs });
  };
  let port: ReturnType<typeof loading> | undefined;
  return async (recipient, text) => {
    const reference = `sign-in-${randomUUID()}`;
    const message = { reference, channel: "SMS", recipient, text, language: "en" } as const;
    port ??= loading();
    const sent = await (await port).send(message, { traceparent: mintTraceparent() });
    if (sent.outcome !== "done")
      throw new Error(`the messaging vendor has not taken a code: ${sent.outcome}`);
  };
};

export const smsCodeLifetimeMs = 5 * 60_000;

/** Six digits. */
export const newSmsCode = (): string => String(randomInt(1_000_000)).padStart(6, "0");

/** The last domain is for browsers that fill the code in on no other site (WICG, "origin-bound one-time codes"). */
export const smsText = (code: string, host: string): string =>
  `${code} is your Stopover sign-in code. Nobody will ask you for it.\n\n@${host} #${code}`;
