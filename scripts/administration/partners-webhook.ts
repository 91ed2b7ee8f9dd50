// The subcommands that pause a partner's webhook, and test it; what resumes one is the webhook actor's rule.
import type { WebhookTestView } from "../../schemas/partner-api.ts";
import { Problem } from "../../schemas/problems.ts";
import { tenantOfId } from "../../schemas/urn.ts";
import type { SubscriptionView } from "../../schemas/webhook.ts";
import type { InstanceClient } from "./client.ts";
import { describeWebhook } from "./partners.ts";
import { needed, type Subcommand } from "./subcommand.ts";

const options = { client: { type: "string" } } as const;

export const partnerWebhookSubcommands: Record<string, Subcommand> = {
  "partner pause": {
    usage: "partner pause --client XN-<name>",
    summary:
      "pauses deliveries: events wait, as long as they are kept for replay (7 days); the contact is told, and only a test resumes",
    options,
    async run(values, _, reach) {
      const clientId = needed(values, "client");
      const client = await reach.client();
      const webhook = await client.command<SubscriptionView>("webhook.pause", {
        tenant: tenantOfId(clientId),
        data: { clientId, reason: "OPERATOR" },
      });
      return { json: webhook, text: describeWebhook(webhook, new Date()) };
    },
  },
  "partner resume": {
    usage: "partner resume --client XN-<name>",
    summary: "sends a test delivery to a paused webhook, whose success alone resumes it",
    options,
    async run(values, _, reach) {
      const clientId = needed(values, "client");
      const client = await reach.client();
      const before = await subscriptionOf(client, clientId);
      if (before.status !== "PAUSED")
        throw new Problem("conflict/state", "This webhook is not paused.", { state: before.status });
      const test = await tested(client, clientId);
      const webhook = await subscriptionOf(client, clientId);
      const failed = webhook.status === "PAUSED";
      const text = `${outcomeOf(test)}\n${describeWebhook(webhook, new Date())}`;
      return { json: { test, webhook }, text, failed };
    },
  },
  "partner test": {
    usage: "partner test --client XN-<name>",
    summary: "sends a signed test delivery; where the webhook is paused, its success resumes it",
    options,
    async run(values, _, reach) {
      const test = await tested(await reach.client(), needed(values, "client"));
      return { json: test, text: outcomeOf(test), failed: !test.delivered };
    },
  },
};

/** @throws Problem not-found/resource */
const subscriptionOf = (client: InstanceClient, clientId: string): Promise<SubscriptionView> =>
  client.query("webhook.subscription", { tenant: tenantOfId(clientId), params: { clientId } });

const tested = (client: InstanceClient, clientId: string): Promise<WebhookTestView> =>
  client.command("webhook.test", { tenant: tenantOfId(clientId), data: { clientId } });

const outcomeOf = ({ delivered, status, detail }: WebhookTestView): string =>
  delivered ? `delivered: the receiver answered ${status}` : `not delivered: ${detail}`;
