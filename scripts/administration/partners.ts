// The subcommands about partner registrations; the rules are the identity actor's. Secrets are printed once, here alone.
import type { Page } from "../../schemas/command.ts";
import type { PartnerView, RegisteredPartner } from "../../schemas/partner-registration.ts";
import { tenantOfId } from "../../schemas/urn.ts";
import type { InstanceClient } from "./client.ts";
import { airlineOf, listed, needed, type Subcommand } from "./subcommand.ts";
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
    summary: "shows a registration, without its secrets",
    options: { client: { type: "string" } },
    async run(values, _, reach) {
      const partner = await partnerOf(await reach.client(), needed(values, "client"));
      return { json: partner, text: describe(partner) };
    },
  },
  "partner rotate": {
    usage: "partner rotate --client XN-<name> [--webhook | --revoke-former]",
    summary:
      "makes a new client secret (or webhook secret) and shows it, this once; the former is good for 14 days more unless revoked",
    options: {
      client: { type: "string" },
      webhook: { type: "boolean" },
      "revoke-former": { type: "boolean" },
    },
    async run(values, _, reach) {
      const clientId = needed(values, "client");
      const verb = values.webhook === true ? "rotate-webhook-secret" : "rotate-client-secret";
      const client = await reach.client();
      const partner = await client.command<PartnerView>(`identity.${verb}`, {
        tenant: tenantOfId(clientId),
        entity: clientId,
        data: { revokeFormer: values["revoke-former"] === true },
      });
      return { json: partner, text: describe(partner) };
    },
  },
};

/** @throws Problem not-found/resource */
export const partnerOf = (client: InstanceClient, clientId: string): Promise<PartnerView> =>
  client.query<PartnerView>("identity.partner", { tenant: tenantOfId(clientId), params: { clientId } });

async function allPartners(client: InstanceClient, tenant: string): Promise<PartnerView[]> {
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

const describe = (partner: PartnerView & Partial<RegisteredPartner>): string =>
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
    "limit met": partner.limitMet && `${partner.limitMet.at} (${partner.limitMet.limit})`,
    "client secret": partner.clientSecret,
    "webhook secret": partner.webhookSecret,
  });
