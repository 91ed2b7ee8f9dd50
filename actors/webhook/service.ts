/** Wires the webhook actor: subscriptions, deliveries, and the lanes of this process that make the attempts. */
import type { Command, Query } from "../../schemas/command.ts";
import type { WebhookTestView } from "../../schemas/partner-api.ts";
import { Problem } from "../../schemas/problems.ts";
import { urn } from "../../schemas/urn.ts";
import {
  type AlertChannelInput,
  alertChannelOf,
  type PauseInput,
  type SubscriptionInput,
} from "../../schemas/webhook.ts";
import { causedId, derivedId, freshId, freshSecret } from "../runtime/clock.ts";
import type { Decider } from "../runtime/decider.ts";
import type { Actor, ActorContext, CommandFunction } from "../runtime/host.ts";
import { fingerprint, seal } from "../runtime/seal.ts";
import { post, recipientOf } from "./attempt.ts";
import {
  checkSubscription,
  decideDelivery,
  decideSubscription,
  deliveryOutgoing,
  deliveryTimers,
  type RecordTest,
  type SealedInput,
  subscriptionOutgoing,
} from "./decide.ts";
import { deliveryLogIndexes, deliveryLogQueries } from "./delivery-log.ts";
import { createSender, Interrupted, type Sender } from "./effects.ts";
import { Lanes } from "./lanes.ts";
import { messageOf } from "./message.ts";
import {
  deliveries,
  deliveryIndexes,
  loadSubscription,
  subscriptionIndexes,
  subscriptions,
  webhookQueries,
} from "./queries.ts";
import { replayDecider } from "./replay-decide.ts";
import { ReplayLanes } from "./replay-lanes.ts";
import { replayQueries } from "./replay-queries.ts";
import { startReplay } from "./replay-start.ts";
import {
  type CallResult,
  type DeliveryEvent,
  type DeliveryState,
  evolveDelivery,
  evolveSubscription,
  isDelivered,
  type Message,
  type SealedSecret,
  type SubscriptionEvent,
  type SubscriptionState,
} from "./state.ts";
import type { TargetRules } from "./target.ts";
import { alertChannelView, subscriptionAudit, subscriptionView } from "./view.ts";

const subscriptionDecider = (rules: TargetRules): Decider<SubscriptionState, SubscriptionEvent> => ({
  actor: "webhook",
  kind: "subscription",
  ...subscriptions,
  commands: ["put-subscription", "pause", "record-test", "note-position"],
  indexes: subscriptionIndexes,
  technical: new Set(["subscription.position-noted", "subscription.tested"]),
  decide: decideSubscription(rules),
  evolve: evolveSubscription,
  outgoing: subscriptionOutgoing,
  locate: ({ data }) => {
    const { clientId } = data as { clientId?: string };
    return clientId === undefined ? undefined : { clientId };
  },
  create: ({ name, tenant, now }) => (name === "webhook.put-subscription" ? freshId(tenant, now) : undefined),
  view: (state, { id }) => subscriptionView(state, id),
  audit: ({ command, before, after }) =>
    command.name === "webhook.note-position"
      ? undefined
      : {
          action: command.name === "webhook.record-test" ? "webhook.test" : command.name,
          ...(command.name === "webhook.pause" ? { reason: (command.data as PauseInput).reason } : {}),
          before: subscriptionAudit(before),
          after: subscriptionAudit(after),
        },
});

const deliveryDecider = (retryScale: number): Decider<DeliveryState, DeliveryEvent> => ({
  actor: "webhook",
  kind: "delivery",
  ...deliveries,
  commands: ["record-attempt", "attempt", "withdraw"],
  indexes: [...deliveryIndexes, ...deliveryLogIndexes],
  decide: decideDelivery(retryScale),
  evolve: evolveDelivery,
  outgoing: deliveryOutgoing,
  timers: deliveryTimers,
  opens: ({ data }) => (data as { opening?: unknown } | null)?.opening !== undefined,
  view: ({ status, attempts }) => ({ status, attempts: attempts.length }),
});

export const webhookActor = (context: ActorContext): Actor => {
  const rules = { allowLoopback: context.config.WEBHOOK_ALLOW_LOOPBACK === "true" };
  const sender = createSender({ rules, clock: context.clock });
  return {
    name: "webhook",
    deciders: [
      subscriptionDecider(rules),
      deliveryDecider(context.config.WEBHOOK_RETRY_SCALE),
      replayDecider,
    ],
    queries: {
      ...webhookQueries(context),
      ...deliveryLogQueries(context),
      ...replayQueries(context),
      /** Whether `webhook.put-subscription` would take this; for whoever has something to store before it. */
      "check-subscription": async ({ tenant, params }: Query): Promise<null> => {
        checkSubscription(params as unknown as Parameters<typeof checkSubscription>[0], tenant, rules);
        return null;
      },
    },
    commands: {
      "put-subscription": putSubscription(context),
      "put-alert-channel": putAlertChannel(context),
      test: testDelivery(context, sender),
      "replay-events": startReplay(context),
    },
    start: async () => {
      const lanes = new Lanes(context, sender);
      const replayLanes = new ReplayLanes(context, sender);
      await Promise.all([lanes.start(), replayLanes.start()]);
      return async () => {
        await Promise.all([lanes.stop(), replayLanes.stop()]);
      };
    },
  };
};

/** Seals the secret at the door: no decision, document or message sees it in plain. */
const putSubscription =
  ({ config }: ActorContext): CommandFunction =>
  async (command, dispatch) => {
    const { secret, ...rest } = command.data as SubscriptionInput;
    const sealed = secret === undefined ? {} : { secret: sealedSecret(config.sealKey, secret) };
    const data: SealedInput = { ...rest, ...sealed };
    const reply = await dispatch("put-subscription", { ...command, entity: "", data });
    // This one's secret signs nothing.
    if (secret !== undefined && "ok" in reply && reply.repeated === true)
      throw new Problem(
        "conflict/duplicate",
        "This was done; its secret is shown only once. If it is lost, rotate again to replace it.",
      );
    return reply;
  };

/** An airline's own receiver of what cannot wait. Its address may be a token, its secret is one: neither is shown again. */
const putAlertChannel =
  ({ config, documents }: ActorContext): CommandFunction =>
  async (command, dispatch) => {
    const { url, rotateSecret = false, rotation = "PLAIN" } = command.data as AlertChannelInput;
    const clientId = alertChannelOf(command.tenant);
    const tenantDocuments = documents.tenant(command.tenant);
    const known = await loadSubscription(tenantDocuments, { clientId });
    const made = known === undefined || rotateSecret ? freshSecret() : undefined;
    const sealed: Pick<SealedInput, "secret"> =
      made === undefined ? {} : { secret: sealedSecret(config.sealKey, made) };
    const data: SealedInput = { clientId, kind: "alerts", url, scopes: [], contact: "", ...sealed, rotation };
    const name = "webhook.put-subscription";
    const reply = await dispatch("put-subscription", { ...command, name, entity: "", data });
    if ("problem" in reply) return reply;
    const put = await loadSubscription(tenantDocuments, { clientId });
    const shown = put === undefined ? {} : alertChannelView(put.state, 0);
    // A repeat of the command, or one that another has overtaken, has stored none of its own: it must not name one that signs nothing.
    const isStored =
      sealed.secret !== undefined && sealed.secret.fingerprint === put?.state.secret.fingerprint;
    return { ok: { ...shown, ...(isStored ? { secret: made } : {}) } };
  };

const sealedSecret = (key: Buffer, secret: string): SealedSecret => {
  if (!/^[\x21-\x7e]{16,256}$/.test(secret)) {
    throw new Problem("validation/body", "The subscription is not valid.", {
      errors: [{ pointer: "/secret", detail: "must be 16 to 256 printable characters" }],
    });
  }
  return { sealed: seal(key, secret), fingerprint: fingerprint(key, secret) };
};

/**
 * POST /partner/v1/webhooks/test: a real, signed delivery to the caller's own target, whose success re-enables a
 * paused subscription. The same command sends it again under the same event URN.
 */
const testDelivery =
  (context: ActorContext, sender: Sender): CommandFunction =>
  async (command, dispatch) => {
    const clientId = testedBy(command);
    const found =
      clientId === undefined
        ? undefined
        : await loadSubscription(context.documents.tenant(command.tenant), { clientId });
    if (found === undefined) throw new Problem("not-found/resource", "You have no webhook subscription.");
    const recipient = recipientOf(command.tenant, found, context.config.sealKey);
    const message = testMessage(command, found.state.clientId);
    let result: CallResult;
    try {
      result = await post({ ...context, sender }, recipient, message);
    } catch (error) {
      if (!(error instanceof Interrupted)) throw error;
      throw new Problem("upstream/unavailable", "The service is stopping. Test again.", {
        failedDomain: "webhook",
      });
    }
    const delivered = isDelivered(result);
    const { at, status } = result;
    const data: RecordTest = {
      url: recipient.url,
      at,
      delivered,
      ...(status === undefined ? {} : { status }),
    };
    await dispatch("record-test", {
      ...command,
      id: causedId(command.id, "record-test", at),
      name: "webhook.record-test",
      entity: found.id,
      data,
    });
    const view: WebhookTestView = {
      delivered,
      ...(status === undefined ? {} : { status }),
      ...(delivered ? {} : { detail: detailOf(result) }),
    };
    return { ok: view };
  };

/** Partners test their own; a tool of the platform tests the one it names, else the airline's alert channel. */
const testedBy = ({ principal, tenant, data }: Command): string | undefined =>
  principal.surface === "system"
    ? ((data as { clientId?: string } | null)?.clientId ?? alertChannelOf(tenant))
    : principal.clientId;

const testMessage = (
  { id, tenant, correlationUrn, traceparent, issuedAt }: Command,
  clientId: string,
): Message =>
  messageOf({
    urn: urn("event", derivedId(tenant, `webhook.test\n${id}`, new Date(issuedAt))),
    type: "webhook.test",
    occurred_at: issuedAt,
    tenant: urn("airline", tenant),
    correlation_urn: correlationUrn,
    traceparent,
    data: { clientId },
  });

const detailOf = ({ status, failure, excerpt }: CallResult): string => {
  switch (failure) {
    case "TIMEOUT":
      return "No complete answer within 10 s.";
    case "TARGET_REFUSED":
      return excerpt ?? "The target is refused.";
    case "ANSWER_TOO_LONG":
      return "The answer is longer than 1 MiB.";
    case "CONNECTION":
      return `The connection failed (${excerpt ?? "no reason known"}).`;
    case undefined:
      return `A 2xx answer is needed; redirects are not followed. The receiver answered ${status}.`;
  }
};
