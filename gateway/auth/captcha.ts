/** Owns the check of a passenger's captcha: a siteverify-shaped service, or in development one fixed token. */
import { createHash, timingSafeEqual } from "node:crypto";
import { LRUCache } from "lru-cache";
import type { Config } from "../../config/config.ts";
import { Problem } from "../../schemas/problems.ts";

type Settings = Pick<Config, "CAPTCHA_VERIFY_URL" | "CAPTCHA_DEVELOPMENT_TOKEN" | "captchaSecret">;

/** Where a challenge was shown, and who has solved it. */
export interface Challenged {
  /** The client's; empty: it has gone. */
  address: string;
  /** The airline's own. A challenge that was solved on another site's page counts for nothing here. */
  hosts: readonly string[];
}

/**
 * Resolves when the challenge was solved. A token is good once.
 * @throws Problem validation/captcha; upstream/unavailable when nobody can tell
 */
export type VerifyCaptcha = (token: string, challenged: Challenged) => Promise<void>;

const verifyTimeoutMs = 3000;
const answerBytesMax = 64 * 1024;
/** Longer than any provider's tokens are good for. */
const rememberedMs = 15 * 60_000;
const rememberedMax = 50_000;

/** What the providers of this shape say when it is we who ask wrongly: no passenger can do anything about it. */
const ourFault: ReadonlySet<unknown> = new Set([
  "missing-input-secret",
  "invalid-input-secret",
  "sitekey-secret-mismatch",
  "bad-request",
  "internal-error",
]);

interface Verdict {
  success?: unknown;
  /** Of the page on which it was solved; not every provider tells it. */
  hostname?: unknown;
  "error-codes"?: unknown;
}

export const createCaptchaVerifier = (config: Settings): VerifyCaptcha => {
  const { CAPTCHA_VERIFY_URL: url, CAPTCHA_DEVELOPMENT_TOKEN: developmentToken, captchaSecret } = config;
  // Providers take a token once; one that doesn't, or is slow to know, is not asked about it again by this process.
  const used = new LRUCache<string, true>({ max: rememberedMax, ttl: rememberedMs });
  return async (token, { address, hosts }) => {
    if (developmentToken !== undefined && same(token, developmentToken)) return;
    if (url === undefined) {
      if (developmentToken !== undefined) throw refused();
      throw unavailable("No captcha service is configured.");
    }
    const mark = digest(token).toString("base64url");
    if (used.has(mark)) throw refused();
    used.set(mark, true);
    let verdict: Verdict;
    try {
      const form = new URLSearchParams({ secret: captchaSecret ?? "", response: token });
      if (address !== "") form.set("remoteip", address);
      verdict = await asked(url, form);
    } catch (error) {
      // Nothing was learnt of it: it may be sent again.
      used.delete(mark);
      throw error;
    }
    if (!isSolved(verdict, hosts)) throw refused();
  };
};

/** @throws Problem upstream/unavailable */
const isSolved = (
  { success, hostname, "error-codes": codes }: Verdict,
  hosts: readonly string[],
): boolean => {
  if (success !== true) {
    const [wrong] = Array.isArray(codes) ? codes.filter((code) => ourFault.has(code)) : [];
    if (wrong !== undefined) throw unavailable(`The captcha service does not take our requests (${wrong}).`);
    return false;
  }
  return typeof hostname !== "string" || hostname === "" || hosts.includes(hostname.toLowerCase());
};

/** @throws Problem upstream/unavailable */
const asked = async (url: string, form: URLSearchParams): Promise<Verdict> => {
  try {
    const response = await fetch(url, {
      method: "POST",
      body: form,
      redirect: "error",
      signal: AbortSignal.timeout(verifyTimeoutMs),
    });
    if (!response.ok) throw new Error(`status ${response.status}`);
    const verdict: unknown = JSON.parse(await bounded(response));
    if (typeof verdict !== "object" || verdict === null) throw new TypeError("no object");
    return verdict;
  } catch (error) {
    throw unavailable(`The captcha service cannot be asked (${(error as Error).name}).`);
  }
};

const bounded = async (response: Response): Promise<string> => {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > answerBytesMax) throw new RangeError("too long");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString("utf8");
};

/** In constant time, whatever the lengths. */
const same = (a: string, b: string): boolean => timingSafeEqual(digest(a), digest(b));
const digest = (text: string): Buffer => createHash("sha256").update(text).digest();

const refused = (): Problem => new Problem("validation/captcha", "Solve a new challenge and send its token.");
const unavailable = (detail: string): Problem =>
  new Problem("upstream/unavailable", detail, { failedDomain: "captcha", retryAfterSeconds: 30 });
