// The subcommands about partner registrations; the rules are the identity actor's. Secrets of a new one are printed once, here.
import type { Page } from "../../schemas/command.ts";
import type { PartnerNoticeView } from "../../schemas/partner-notice.ts";
import type {
  ChangePartner,
  PartnerView,
  RegisteredPartner,
  RotatedPartner,
} from "../../schemas/partner-registration.ts";
import { tenantOfId } from "../../schemas/urn.ts";
import type { SubscriptionView } from "../../schemas/webhook.ts";
import type { InstanceClient } from "./client.ts";
import {
  type Answer,
  airlineOf,
  listed,
  needed,
  type Reach,
  type Subcommand,
  type Values,
} from "./subcommand.ts";
import { facts, table } from "./table.ts";

export const partnerSubcommands: Record<string, Subcommand> = {
  "partner create": {
    usage:
      "partner create --airline XN --client <name> --name <name> --scope <scope>… --tier 1|2|3 --contact <e-mail> [--webhook-url <url>]",
    summary: "registers a partner as XN-<name> and shows its secrets, this once",
    options: {
      airline: { type: "string" },
      client: { type: "string" },
      name: { type: "string" },
      scope: { type: "string", multiple: true },
      tier: { type: "string" },
      contact: { type: "string" },
      "webhook-url": { type: "string" },
    },
    async run(values, _, reach) {
      const client = await reach.client();
      const tenant = airlineOf(values);
      const partner = await client.command<RegisteredPartner>("identity.register-partner", {
        tenant,
        data: {
          clientId: needed(values, "client").replace(new RegExp(`^${tenant}-`), ""),
          name: needed(values, "name"),
          scopes: listed(values, "scope"),
          tier: Number(needed(values, "tier")),
          contact: needed(values, "contact"),
          ...(values["webhook-url"] === undefined ? {} : { webhookUrl: values["webhook-url"] }),
        },
      });
      return { json: partner, text: describe(partner) };
    },
  },
  "partner list": {
    usage: "partner list --airline XN",
    summary: "lists an airline's partners",
    options: { airline: { type: "string" } },
    async run(values, _, reach) {
      const partners = await allPartners(await reach.client(), airlineOf(values));
      const rows = partners.map(({ clientId, name, status, tier, scopes, rotateBy }) => [
        clientId,
        name,
        status,
        String(tier),
        scopes.join(" "),
        rotateBy?.slice(0, 10) ?? "",
      ]);
      const head = ["CLIENT", "NAME", "STATUS", "TIER", "SCOPES", "ROTATE BY"];
      return { json: partners, text: table(head, rows) };
    },
  },
  "partner show": {
    usage: "partner show --client XN-<name>",
    summary: "shows a registration and how its webhook stands, without their secrets",
    options: { client: { type: "string" } },
    async run(values, _, reach) {
      const client = await reach.client();
      const partner = await partnerOf(client, needed(values, "client"));
      const { tenant, clientId, webhookUrl } = partner;
      const notices: Page<PartnerNoticeView> = await client.query("message.partner-notices", {
        tenant,
        params: { clientId, limit: 1 },
      });
      const [contactTold = null] = notices.items;
      const told = contactTold === null ? "" : `\n${describeNotice(contactTold)}`;
      if (webhookUrl === undefined)
        return { json: { ...partner, webhook: null, contactTold }, text: describe(partner) + told };
      const params = { clientId };
      const webhook = await client.query<SubscriptionView>("webhook.subscription", { tenant, params });
      return {
        json: { ...partner, webhook, contactTold },
        text: `${describe(partner)}\n${describeWebhook(webhook, new Date())}${told}`,
      };
    },
  },
  "partner set-scopes": {
    usage: "partner set-scopes --client XN-<name> --scope <scope>…",
    summary:
      "replaces all scopes; tokens that were issued before keep theirs until they expire, an hour at most",
    options: { client: { type: "string" }, scope: { type: "string", multiple: true } },
    run: (values, _, reach) => change(reach, values, { scopes: listed(values, "scope") }),
  },
  "partner set-tier": {
    usage: "partner set-tier --client XN-<name> --tier 1|2|3",
    summary: "sets the tier, and with it the limits that hold at every gateway at once",
    options: { client: { type: "string" }, tier: { type: "string" } },
    run: (values, _, reach) => change(reach, values, { tier: Number(needed(values, "tier")) }),
  },
  "partner set-webhook": {
    usage: "partner set-webhook --client XN-<name> --url <https URL>",
    summary:
      "sets where events are delivered; a first address makes the webhook's secret, which is shown this once",
    options: { client: { type: "string" }, url: { type: "string" } },
    run: (values, _, reach) => change(reach, values, { webhookUrl: needed(values, "url") }),
  },
  "partner set-contact": {
    usage: "partner set-contact --client XN-<name> --contact <e-mail>",
    summary: "sets who is written to of a paused webhook and of a limit that was met",
    options: { client: { type: "string" }, contact: { type: "string" } },
    run: (values, _, reach) => change(reach, values, { contact: needed(values, "contact") }),
  },
};

const change = async (
  reach: Reach,
  values: Values,
  data: Partial<Record<keyof ChangePartner, unknown>>,
): Promise<Answer> => {
  const clientId = needed(values, "client");
  const client = await reach.client();
  const partner = await client.command<RotatedPartner>("identity.change-partner", {
    tenant: tenantOfId(clientId),
    entity: clientId,
    data,
  });
  return { json: partner, text: describe(partner) };
};

/** @throws Problem not-found/resource */
export const partnerOf = (client: InstanceClient, clientId: string): Promise<PartnerView> =>
  client.query<PartnerView>("identity.partner", { tenant: tenantOfId(clientId), params: { clientId } });

export async function allPartners(client: InstanceClient, tenant: string): Promise<PartnerView[]> {
  const all: PartnerView[] = [];
  let cursor: string | null | undefined;
  while (cursor !== null) {
    const params = { limit: 200, ...(cursor === undefined ? {} : { cursor }) };
    const page: Page<PartnerView> = await client.query("identity.partners", { tenant, params });
    all.push(...page.items);
    cursor = page.nextCursor;
  }
  return all;
}

/** With the secrets that an answer shows this once. */
export const describe = (partner: PartnerView & Partial<RegisteredPartner>): string =>
  facts({
    client: partner.clientId,
    name: partner.name,
    status: partner.status,
    scopes: partner.scopes.join(" "),
    tier: partner.tier,
    webhook: partner.webhookUrl ?? "none",
    contact: partner.contact,
    created: partner.createdAt,
    "client secrets": partner.clientSecrets
      .map(({ createdAt, expiresAt }) =>
        expiresAt === undefined ? createdAt : `${createdAt} (until ${expiresAt})`,
      )
      .join(", "),
    "rotate by": partner.rotateBy,
    "rotate webhook by": partner.webhookRotateBy,
    "limit met": partner.limitMet && `${partner.limitMet.at} (${partner.limitMet.limit})`,
    "client secret": partner.clientSecret,
    "webhook secret": partner.webhookSecret,
  });

export const describeWebhook = (webhook: SubscriptionView, now: Date): string => {
  const { status, pausedAt, pauseReason, dualKeyUntil, lastTest, eventTypes } = webhook;
  const paused = `PAUSED since ${pausedAt} (${pauseReason}): events wait until a test delivery succeeds`;
  const isOpen = dualKeyUntil !== undefined && Date.parse(dualKeyUntil) > now.getTime();
  const tested = lastTest && `${lastTest.at} ${lastTest.delivered ? "delivered" : "failed"}`;
  return facts({
    deliveries: status === "PAUSED" ? paused : status,
    "event types": eventTypes.join(" ") || "none: no scope of it brings any",
    "signed twice until": isOpen ? dualKeyUntil : undefined,
    "last test": tested && `${tested}${lastTest?.status === undefined ? "" : ` (${lastTest.status})`}`,
  });
};

/** Of the last e-mail to the contact. */
const describeNotice = ({ template, status, queuedAt, sentAt, detail }: PartnerNoticeView): string =>
  facts({
    "contact told": `${template}: ${status} ${sentAt ?? queuedAt}${detail === undefined ? "" : ` (${detail})`}`,
  });
