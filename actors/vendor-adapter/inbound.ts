/**
 * Owns what a dialect has to know of the webhooks that its vendors send us: whether one is theirs, and what it tells in our words. Pure:
 * whose airline it concerns and what follows is `hear.ts`'s.
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import type { Validator } from "../../schemas/formats.ts";
import type { MessageState } from "../../schemas/message.ts";
import { Problem } from "../../schemas/problems.ts";
import type { signatureHeaders } from "../../schemas/vendor-webhook.ts";
import type { Channel } from "../../schemas/vocabulary.ts";
import type { CardTransaction } from "../../schemas/wallet.ts";

/** A webhook as it came. */
export interface InboundRequest {
  /** Names in lower case; of one that came several times, all values joined by a comma and a blank. */
  headers: Readonly<Record<string, string>>;
  rawBody: Buffer;
  /** The address as the vendor has called it, absolute, with its query. */
  url: string;
}

/** What a webhook tells. */
interface Told {
  notices: VendorNotice[];
  passedOver: number;
  malformed?: number;
}

/** One thing that a vendor tells, in our words. */
export type VendorNotice = CardNotice | MessageNotice;

/**
 * A card was used. Told twice it is one by the transaction's `eventId`, which is the same in webhooks and in what is polled, whatever
 * the webhook's own id is.
 */
export interface CardNotice {
  kind: "card";
  /** Without `reference` the vendor is asked whose card it is (`PaymentPort.referenceOf`). */
  transaction: Omit<CardTransaction, "reference"> & { reference?: string };
}

/** A message's fate, or what its reader says. One of `reference`, `messageId` and `recipient` is there; the last of a reader's own word alone. */
export interface MessageNotice {
  kind: "message";
  /** The vendor's own id of what it tells: told twice it is one. */
  eventId: string;
  /** Ours, under which it was sent. */
  reference?: string;
  /** The vendor's own, as it was answered when the message was sent. */
  messageId?: string;
  what: MessageState;
  /** ISO 8601 UTC, by the vendor's clock. */
  at: string;
  /** To be there with `recipient`: it concerns what was last sent there. */
  channel?: Channel;
  /** A number or address in the clear: it goes no further than the process that has read it. */
  recipient?: string;
  /** Why it did not arrive, in the vendor's words without what is personal (`runtime/masking.ts`). */
  detail?: string;
}

export interface InboundDialect {
  /** In lower case. Also in `schemas/vendor-webhook.ts`: what has none of them is no vendor's. */
  signatureHeader: (typeof signatureHeaders)[number];
  /**
   * Whether it was signed with this secret, in constant time, and, where the scheme has a time, at most {@link skewSecondsMax} s from
   * now. Never throws for what was sent.
   */
  verify(request: InboundRequest, secret: string, now: Date): boolean;
  /**
   * Called once it is verified.
   * @param now for what vendors don't date
   * @returns `passedOver`: how many things it tells that are nothing to us; `malformed`: those of them that cannot be read. Absent: none
   * @throws Problem `validation/malformed` ({@link jsonOf}), `validation/body` ({@link checked})
   */
  read(request: InboundRequest, now: Date): Told;
}

/** Seconds by which a signature's time may differ from our clock, in either direction (contract, "Limits"). */
export const skewSecondsMax = 300;

/**
 * The scheme that Stripe has made common: `<header>: t=<Unix seconds>,v1=<hex>[,v1=<hex>…]`, each `v1` an HMAC-SHA256 of
 * `<t>.<body>`; one that fits is enough, as while a secret is changed there are two.
 * @param header in lower case
 */
export const timestampedSignature =
  (header: string): InboundDialect["verify"] =>
  ({ headers, rawBody }, secret, now) => {
    const parts = (headers[header] ?? "").split(",").map((part) => part.trim());
    const times = parts.filter((part) => part.startsWith("t=")).map((part) => part.slice(2));
    const [time = ""] = times;
    const expected = createHmac("sha256", secret).update(`${time}.`).update(rawBody).digest();
    const given = parts
      .filter((part) => /^v1=[0-9a-f]{64}$/i.test(part))
      .map((part) => Buffer.from(part.slice(3), "hex"));
    // All are compared, so that how long it takes tells nothing of which fits.
    const fits = given.map((one) => timingSafeEqual(one, expected)).includes(true);
    const isTimely =
      times.length === 1 &&
      /^\d{1,12}$/.test(time) &&
      Math.abs(now.getTime() / 1000 - Number(time)) <= skewSecondsMax;
    return fits && isTimely;
  };

/** Of the vendors that have no scheme of their own, the sandbox's among them. */
export const vendorSignature = timestampedSignature("x-vendor-signature");

const utf8 = new TextDecoder("utf-8", { fatal: true });

/** @throws Problem validation/malformed */
export const jsonOf = ({ rawBody }: InboundRequest): unknown => {
  try {
    return JSON.parse(utf8.decode(rawBody));
  } catch (error) {
    const what = error instanceof SyntaxError ? "JSON" : "UTF-8";
    throw new Problem("validation/malformed", `The body is not ${what}.`);
  }
};

/** @throws Problem validation/body, naming the first member that is wrong and never its value */
export const checked = <Body>(body: unknown, isBody: Validator<Body>): Body => {
  if (isBody(body)) return body;
  const [first] = isBody.errors ?? [];
  throw new Problem("validation/body", "The body is none of this vendor's webhooks; see `errors`.", {
    errors: [{ pointer: first?.instancePath ?? "", detail: first?.message ?? "is not valid" }],
  });
};
