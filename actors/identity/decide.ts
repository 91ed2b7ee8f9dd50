/** Owns the rules of registering a partner and rotating its secrets. The secrets themselves never come here. */
import { mustAllowRotation, type RotationMode } from "../../schemas/partner-registration.ts";
import { Problem } from "../../schemas/problems.ts";
import type { Received } from "../runtime/decider.ts";
import { windowOf } from "./secrets.ts";
import type { Active, Attributes, RegistrationEvent, RegistrationState } from "./state.ts";

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

/** `newWebhook`: it had none, and its secret was made just now. */
export type StoreChanges = Partial<Omit<Attributes, "name">> & { newWebhook: boolean };

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
      return storeClientSecret(state, command as Received<{ hash: string; mode: RotationMode }>);
    case "identity.note-webhook-secret":
      return noteWebhookSecret(state, command as Received<{ formerAt?: string }>);
    case "identity.store-changes":
      return storeChanges(state, command as Received<StoreChanges>);
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
  { data, now }: Received<{ hash: string; mode: RotationMode }>,
): RegistrationEvent[] => {
  mustBeActive(state);
  const { hash, mode } = data;
  mustAllowRotation(mode, windowOf(state.keys, now));
  return [{ type: "identity.client-secret-rotated", data: { hash, mode, at: now } }];
};

const noteWebhookSecret = (
  state: RegistrationState | undefined,
  { data: { formerAt }, now }: Received<{ formerAt?: string }>,
): RegistrationEvent[] => {
  mustBeActive(state);
  const former = formerAt === undefined ? {} : { formerAt: new Date(formerAt) };
  return [{ type: "identity.webhook-secret-rotated", data: { at: now, ...former } }];
};

/** What is as it was is no change; the order of scopes means nothing. */
const storeChanges = (
  state: RegistrationState | undefined,
  { data, now }: Received<StoreChanges>,
): RegistrationEvent[] => {
  mustBeActive(state);
  const { newWebhook, ...given } = data;
  const registered = state as unknown as Record<string, unknown>;
  const changed = Object.entries(given).filter(([name, value]) => !isSame(registered[name], value));
  if (changed.length === 0 && !newWebhook) return [];
  const since = newWebhook ? { webhookSecretAt: now } : {};
  return [{ type: "identity.partner-changed", data: { ...Object.fromEntries(changed), ...since } }];
};

const isSame = (before: unknown, after: unknown): boolean =>
  Array.isArray(before) && Array.isArray(after)
    ? before.toSorted().join() === after.toSorted().join()
    : before === after;

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

function mustBeActive(state: RegistrationState | undefined): asserts state is Active {
  if (state === undefined) throw new Problem("not-found/resource", "No such partner.");
  if (state.status === "ACTIVE") return;
  throw new Problem(
    "conflict/state",
    "This partner's registration was begun and not ended. Register it again.",
    {
      state: state.status,
    },
  );
}
