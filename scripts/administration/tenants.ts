// The subcommands about airlines; the rules are the identity actor's.
import type { Tenant } from "../../streams/tenant-directory.ts";
import { listed, needed, type Subcommand } from "./subcommand.ts";
import { facts, table } from "./table.ts";

export const tenantSubcommands: Record<string, Subcommand> = {
  "tenant create": {
    usage: "tenant create --code XN --name <name> --country US [--host <passenger host>]…",
    summary: "registers an airline, or changes it; the same again changes nothing",
    options: {
      code: { type: "string" },
      name: { type: "string" },
      country: { type: "string" },
      host: { type: "string", multiple: true },
    },
    async run(values, _, reach) {
      const client = await reach.client();
      const tenant = await client.command<Tenant>("identity.register-tenant", {
        tenant: needed(values, "code"),
        data: {
          name: needed(values, "name"),
          homeCountry: needed(values, "country"),
          passengerHosts: listed(values, "host"),
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
};

const describe = ({ code, name, homeCountry, passengerHosts }: Tenant): string =>
  facts({ code, name, country: homeCountry, "passenger hosts": passengerHosts.join(" ") || "none" });
