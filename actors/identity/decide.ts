/** Owns the rules of registering a partner and rotating its secrets. The secrets themselves never come here. */
import { Problem } from "../../schemas/problems.ts";
import type { Received } from "../runtime/decider.ts";
import type { Attributes, RegistrationEvent, RegistrationState } from "./state.ts";

/**
 * Well above the 15 s after which a call between actors is given up, and with it the attempt; after this the attempt
 * counts as dead and its registration may be begun again.
 */
export const attemptMs = 30_000;

export interface Begin {
  attributes: Attributes;
  attempt: string;
  by: string;
}

/** @throws Problem conflict/duplicate, conflict/concurrent-write, conflict/state, not-found/resource */
export const decideRegistration = (
  state: RegistrationState | undefined,
  command: Received,
): RegistrationEvent[] => {
  switch (command.name) {
    case "identity.begin-registration":
      return begin(state, command as Received<Begin>);
    case "identity.release-registration":
      return release(state, command as Received<{ attempt: string }>);
    case "identity.complete-registration":
      return complete(state, command as Received<{ attempt: string; hash: string }>);
    case "identity.store-client-secret":
      return storeClientSecret(state, command as Received<{ hash: string; revokeFormer: boolean }>);
    case "identity.note-webhook-secret":
      mustBeActive(state);
      return [{ type: "identity.webhook-secret-rotated", data: { at: command.now } }];
    case "identity.note-limit-exceeded":
      return noteLimit(state, command as Received<{ windowStartedAt: string; limit: string }>);
    default:
      throw new Error(`identity takes no command ${command.name}`);
  }
};

const begin = (state: RegistrationState | undefined, { data, now }: Received<Begin>): RegistrationEvent[] => {
  if (state?.status === "ACTIVE") {
    throw new Problem(
      "conflict/duplicate",
      "This partner is registered already, and its secrets are shown only once. Rotate them to get new ones.",
    );
  }
  const { attributes, attempt, by } = data;
  if (state !== undefined && state.attemptUntil > now) {
    const leftSeconds = Math.ceil((state.attemptUntil.getTime() - now.getTime()) / 1000);
    throw new Problem(
      "conflict/concurrent-write",
      `This partner is being registered right now. Repeat in ${leftSeconds} s if that fails.`,
      { retryAfterSeconds: leftSeconds },
    );
  }
  const attemptUntil = new Date(now.getTime() + attemptMs);
  return [{ type: "identity.registration-begun", data: { attributes, attempt, attemptUntil, at: now, by } }];
};

const release = (
  state: RegistrationState | undefined,
  { data, now }: Received<{ attempt: string }>,
): RegistrationEvent[] =>
  state?.status === "PROVISIONING" && state.attempt === data.attempt
    ? [{ type: "identity.registration-released", data: { at: now } }]
    : [];

const complete = (
  state: RegistrationState | undefined,
  { data, now }: Received<{ attempt: string; hash: string }>,
): RegistrationEvent[] => {
  if (state?.status !== "PROVISIONING" || state.attempt !== data.attempt) {
    throw new Problem("conflict/concurrent-write", "Another registration of this partner has taken over.");
  }
  return [{ type: "identity.partner-registered", data: { hash: data.hash, at: now } }];
};

const storeClientSecret = (
  state: RegistrationState | undefined,
  { data, now }: Received<{ hash: string; revokeFormer: boolean }>,
): RegistrationEvent[] => {
  mustBeActive(state);
  const { hash, revokeFormer } = data;
  return [{ type: "identity.client-secret-rotated", data: { hash, revokeFormer, at: now } }];
};

/** Every gateway may tell of the same window: the first is enough, and a late one of an older window is no news. */
const noteLimit = (
  state: RegistrationState | undefined,
  { data, now }: Received<{ windowStartedAt: string; limit: string }>,
): RegistrationEvent[] => {
  mustBeActive(state);
  // A gateway whose clock is ahead must not silence the others until then.
  const windowStartedAt = new Date(Math.min(Date.parse(data.windowStartedAt), now.getTime()));
  if (state?.limitMet !== undefined && state.limitMet.windowStartedAt >= windowStartedAt) return [];
  return [{ type: "identity.partner-limit-met", data: { windowStartedAt, limit: data.limit } }];
};

const mustBeActive = (state: RegistrationState | undefined): void => {
  if (state === undefined) throw new Problem("not-found/resource", "No such partner.");
  if (state.status === "ACTIVE") return;
  throw new Problem(
    "conflict/state",
    "This partner's registration was begun and not ended. Register it again.",
    {
      state: state.status,
    },
  );
};
