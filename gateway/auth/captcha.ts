/** Owns the check of a passenger's captcha: a siteverify-shaped service, or in development one fixed token. */
import { createHash, timingSafeEqual } from "node:crypto";
import type { Config } from "../../config/config.ts";
import { Problem } from "../../schemas/problems.ts";

type Settings = Pick<Config, "CAPTCHA_VERIFY_URL" | "CAPTCHA_DEVELOPMENT_TOKEN" | "captchaSecret">;

/**
 * Resolves when the challenge was solved.
 * @throws Problem validation/captcha; upstream/unavailable when nobody can tell
 */
export type VerifyCaptcha = (token: string, address: string) => Promise<void>;

const verifyTimeoutMs = 3000;

export const createCaptchaVerifier = (config: Settings): VerifyCaptcha => {
  const { CAPTCHA_VERIFY_URL: url, CAPTCHA_DEVELOPMENT_TOKEN: developmentToken, captchaSecret } = config;
  return async (token, address) => {
    if (developmentToken !== undefined && same(token, developmentToken)) return;
    if (url === undefined) {
      if (developmentToken !== undefined) throw refused();
      throw unavailable("No captcha service is configured.");
    }
    if (!(await solved(url, { secret: captchaSecret ?? "", response: token, remoteip: address })))
      throw refused();
  };
};

const solved = async (url: string, form: Record<string, string>): Promise<boolean> => {
  try {
    const response = await fetch(url, {
      method: "POST",
      body: new URLSearchParams(form),
      redirect: "error",
      signal: AbortSignal.timeout(verifyTimeoutMs),
    });
    if (!response.ok) throw new Error(`status ${response.status}`);
    return ((await response.json()) as { success?: unknown }).success === true;
  } catch (error) {
    throw unavailable(`The captcha service cannot be asked (${(error as Error).name}).`);
  }
};

/** In constant time, whatever the lengths. */
const same = (a: string, b: string): boolean => timingSafeEqual(digest(a), digest(b));
const digest = (text: string): Buffer => createHash("sha256").update(text).digest();

const refused = (): Problem => new Problem("validation/captcha", "Solve a new challenge and send its token.");
const unavailable = (detail: string): Problem =>
  new Problem("upstream/unavailable", detail, { failedDomain: "captcha", retryAfterSeconds: 30 });
