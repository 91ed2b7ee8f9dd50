// The subcommands about airlines; the rules are the identity actor's.

import type { WebhookTestView } from "../../schemas/partner-api.ts";
import { reviewSlaDefault } from "../../schemas/review.ts";
import type { AlertChannelInput, AlertChannelView } from "../../schemas/webhook.ts";
import type { Tenant } from "../../streams/tenant-directory.ts";
import { StartFailure } from "../supervisor/start-failure.ts";
import { modeOf } from "./partners-secrets.ts";
import { airlineOf, listed, needed, type Subcommand, type Values } from "./subcommand.ts";
import { facts, table } from "./table.ts";

export const tenantSubcommands: Record<string, Subcommand> = {
  "tenant create": {
    usage: "tenant create --code XN --name <name> --country US [--host <passenger host>]… [--language es]",
    summary: "registers an airline, or changes it; the same again changes nothing",
    options: {
      code: { type: "string" },
      name: { type: "string" },
      country: { type: "string" },
      host: { type: "string", multiple: true },
      language: { type: "string" },
    },
    async run(values, _, reach) {
      const client = await reach.client();
      const { language } = values;
      const tenant = await client.command<Tenant>("identity.register-tenant", {
        tenant: needed(values, "code"),
        data: {
          name: needed(values, "name"),
          homeCountry: needed(values, "country"),
          passengerHosts: listed(values, "host"),
          ...(language === undefined ? {} : { language }),
        },
      });
      return { json: tenant, text: describe(tenant) };
    },
  },
  "tenant list": {
    usage: "tenant list",
    summary: "lists the airlines",
    options: {},
    async run(_, __, reach) {
      const client = await reach.client();
      const tenants = await client.query<Tenant[]>("identity.tenants", { tenant: "" });
      const rows = tenants.map(({ code, name, homeCountry, passengerHosts }) => [
        code,
        name,
        homeCountry,
        passengerHosts.join(" "),
      ]);
      return { json: tenants, text: table(["CODE", "NAME", "COUNTRY", "PASSENGER HOSTS"], rows) };
    },
  },
  "tenant show": {
    usage: "tenant show --airline XN",
    summary: "shows an airline, how long its review items may stay unresolved, and its alert channel",
    options: { airline: { type: "string" } },
    async run(values, _, reach) {
      const client = await reach.client();
      const code = airlineOf(values);
      const tenants = await client.query<Tenant[]>("identity.tenants", { tenant: code });
      const tenant = tenants.find((one) => one.code === code);
      if (tenant === undefined) throw new StartFailure(`there is no airline ${code}`);
      const alertChannel = await client.query<AlertChannelView | null>("webhook.alert-channel", {
        tenant: code,
      });
      const channel = alertChannel === null ? "alert channel: none" : describeChannel(alertChannel);
      return { json: { ...tenant, alertChannel }, text: `${describe(tenant)}\n${channel}` };
    },
  },
  "tenant sla": {
    usage: "tenant sla --airline XN [--high <minutes>] [--medium <minutes>] [--low <minutes>]",
    summary: "sets how long review items may stay unresolved; deadlines that run already stay",
    options: {
      airline: { type: "string" },
      high: { type: "string" },
      medium: { type: "string" },
      low: { type: "string" },
    },
    async run(values, _, reach) {
      const client = await reach.client();
      const data = { ...minutes(values, "high"), ...minutes(values, "medium"), ...minutes(values, "low") };
      const tenant = await client.command<Tenant>("identity.set-review-sla", {
        tenant: airlineOf(values),
        data,
      });
      return { json: tenant, text: describe(tenant) };
    },
  },
  "tenant alerts": {
    usage:
      "tenant alerts --airline XN --url <https URL> [--rotate-secret [--replace-newest | --end-former | --revoke-former]] | --test",
    summary:
      "sets where on-call is paged, by signed webhooks, and shows the secret when one is made, this once, the former signing beside it for 14 days more; while two are good, say which one ends; --test sends one",
    options: {
      airline: { type: "string" },
      url: { type: "string" },
      "rotate-secret": { type: "boolean" },
      "replace-newest": { type: "boolean" },
      "end-former": { type: "boolean" },
      "revoke-former": { type: "boolean" },
      test: { type: "boolean" },
    },
    async run(values, _, reach) {
      const client = await reach.client();
      const tenant = airlineOf(values);
      if (values.test === true) {
        const tested = await client.command<WebhookTestView>("webhook.test", { tenant });
        return {
          json: tested,
          text: facts({ ...tested, delivered: String(tested.delivered) }),
          failed: !tested.delivered,
        };
      }
      const rotation = modeOf(values);
      const rotateSecret = values["rotate-secret"] === true;
      if (!rotateSecret && rotation !== "PLAIN")
        throw new StartFailure("what a rotation ends is said with --rotate-secret");
      const data: AlertChannelInput = { url: needed(values, "url"), rotateSecret, rotation };
      const channel = await client.command<AlertChannelView & { secret?: string }>(
        "webhook.put-alert-channel",
        { tenant, data },
      );
      return { json: channel, text: describeChannel(channel) };
    },
  },
};

const minutes = (values: Values, name: string): Record<string, number> =>
  values[name] === undefined ? {} : { [name.toUpperCase()]: Number(needed(values, name)) };

const describeChannel = (channel: AlertChannelView & { secret?: string }): string =>
  facts({
    "alert channel": channel.host,
    status: channel.status,
    waiting: channel.waiting,
    "last test":
      channel.lastTest && `${channel.lastTest.at} ${channel.lastTest.delivered ? "reached" : "failed"}`,
    "given up": channel.lastGivenUp?.at,
    "former secret until": channel.dualKeyUntil,
    secret: channel.secret,
  });

const describe = ({
  code,
  name,
  homeCountry,
  passengerHosts,
  language = "en",
  reviewSla = reviewSlaDefault,
}: Tenant): string =>
  facts({
    code,
    name,
    country: homeCountry,
    "passenger hosts": passengerHosts.join(" ") || "none",
    "passengers' language": language,
    "review SLA": `HIGH ${reviewSla.HIGH} min, MEDIUM ${reviewSla.MEDIUM} min, LOW ${reviewSla.LOW} min`,
  });
