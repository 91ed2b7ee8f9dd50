/** Owns the settings of how often somebody may try to log in, and what is read from them. Counting is the identity actor's. */
import Type from "typebox";
import { type AttemptLimit, attemptLimitOf, attemptsForm } from "./limits.ts";

const attempts = (byDefault: string, description: string) =>
  Type.String({ pattern: attemptsForm, default: byDefault, description });

export const loginAttemptSettings = {
  LOGIN_ATTEMPTS_ADDRESS: attempts(
    "5/15m",
    "Logins with a booking reference from one client address in any such time.",
  ),
  LOGIN_ATTEMPTS_PNR: attempts(
    "10/24h",
    "Logins with one booking reference, from wherever, in any such time.",
  ),
  LOGIN_LINKS_ADDRESS: attempts(
    "20/15m",
    "Links to log in with that were refused (used, expired, guessed) to one client address in any such time.",
  ),
};

export type LoginAttemptLimits = Readonly<Record<"address" | "pnr" | "link", AttemptLimit>>;

export const loginAttemptLimits = (
  settings: Record<keyof typeof loginAttemptSettings, string>,
): LoginAttemptLimits => ({
  address: attemptLimitOf(settings.LOGIN_ATTEMPTS_ADDRESS),
  pnr: attemptLimitOf(settings.LOGIN_ATTEMPTS_PNR),
  link: attemptLimitOf(settings.LOGIN_LINKS_ADDRESS),
});
