/** Owns what operators and provisioning see of a subscription: never a secret. */
import { typesFor } from "../../schemas/events.ts";
import { urn } from "../../schemas/urn.ts";
import type { AlertChannelView, SubscriptionView } from "../../schemas/webhook.ts";
import type { SubscriptionState } from "./state.ts";

export const subscriptionView = (state: SubscriptionState, id: string): SubscriptionView => ({
  urn: urn("subscription", id),
  clientId: state.clientId,
  url: state.url,
  scopes: state.scopes,
  eventTypes: typesFor(state.scopes),
  contact: state.contact,
  status: state.status,
  ...(state.status === "PAUSED"
    ? { pausedAt: state.pausedAt.toISOString(), pauseReason: state.pauseReason }
    : {}),
  ...(state.previousSecret === undefined ? {} : { dualKeyUntil: state.previousSecret.until.toISOString() }),
  ...(state.lastTest === undefined
    ? {}
    : { lastTest: { ...state.lastTest, at: state.lastTest.at.toISOString() } }),
  lastSequence: state.lastSequence,
  createdAt: state.createdAt.toISOString(),
});

export const alertChannelView = (state: SubscriptionState, waiting: number): AlertChannelView => {
  const { lastGivenUp } = state;
  const { status, createdAt, dualKeyUntil, lastTest } = subscriptionView(state, "");
  return {
    host: new URL(state.url).host,
    status,
    createdAt,
    ...(dualKeyUntil === undefined ? {} : { dualKeyUntil }),
    ...(lastTest === undefined ? {} : { lastTest }),
    waiting,
    ...(lastGivenUp === undefined
      ? {}
      : { lastGivenUp: { ...lastGivenUp, at: lastGivenUp.at.toISOString() } }),
  };
};

/** What an audit entry may hold: no secret, no contact. */
export const subscriptionAudit = (state: SubscriptionState | undefined) =>
  state === undefined
    ? null
    : {
        // The rest of an address may hold a token of the partner's own.
        host: new URL(state.url).host,
        scopes: state.scopes,
        status: state.status,
        secret: state.secret.fingerprint,
      };
