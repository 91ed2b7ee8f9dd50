// The subcommands about an airline's vendors; the rules are the vendor-adapter actor's. Keys are read from files, never printed.
import { readFileSync } from "node:fs";
import type { VendorView } from "../../schemas/vendor-call.ts";
import { airlineOf, needed, type Subcommand } from "./subcommand.ts";
import { table } from "./table.ts";

export const vendorSubcommands: Record<string, Subcommand> = {
  "vendor put": {
    usage:
      "vendor put --airline XN --name stayhub --dialect stayhub --base-url <url> --api-key-file <file> [--reconcile-minutes 15] [--calls-per-second 20]",
    summary: "configures a vendor, or changes it; running processes take it over at once",
    options: {
      airline: { type: "string" },
      name: { type: "string" },
      dialect: { type: "string" },
      "base-url": { type: "string" },
      "api-key-file": { type: "string" },
      "reconcile-minutes": { type: "string" },
      "calls-per-second": { type: "string" },
    },
    async run(values, _, reach) {
      const client = await reach.client();
      const name = needed(values, "name");
      const data = {
        name,
        dialect: needed(values, "dialect"),
        baseUrl: needed(values, "base-url"),
        apiKey: readFileSync(needed(values, "api-key-file"), "utf8").trim(),
        ...(values["reconcile-minutes"] !== undefined && {
          reconcileMinutes: Number(values["reconcile-minutes"]),
        }),
        ...(values["calls-per-second"] !== undefined && {
          callsPerSecond: Number(values["calls-per-second"]),
        }),
      };
      await client.command("vendor-adapter.put-vendor", { tenant: airlineOf(values), data });
      return { json: { name }, text: `${name} is configured` };
    },
  },
  "vendor list": {
    usage: "vendor list --airline XN",
    summary: "lists an airline's vendors",
    options: { airline: { type: "string" } },
    async run(values, _, reach) {
      const client = await reach.client();
      const vendors = await client.query<VendorView[]>("vendor-adapter.vendors", {
        tenant: airlineOf(values),
      });
      const rows = vendors.map(({ name, dialect, baseUrl, changedAt, reconcileMinutes, callsPerSecond }) => [
        name,
        dialect,
        baseUrl,
        reconcileMinutes === undefined ? "default" : `${reconcileMinutes} min`,
        callsPerSecond === undefined ? "any" : String(callsPerSecond),
        changedAt,
      ]);
      const columns = ["NAME", "DIALECT", "BASE URL", "RECONCILED", "CALLS/S", "CHANGED"];
      return { json: vendors, text: table(columns, rows) };
    },
  },
};
