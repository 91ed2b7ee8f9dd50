// The subcommands about an airline's vendors; the rules are the vendor-adapter actor's. Keys are read from files, never printed.
import { readFileSync } from "node:fs";
import type { VendorView } from "../../schemas/vendor-call.ts";
import { airlineOf, needed, type Subcommand } from "./subcommand.ts";
import { table } from "./table.ts";

const secretIn = (file: string): string => readFileSync(file, "utf8").trim();

/** @throws Error for one that is not `name=value` */
const accountOf = (settings: unknown): Record<string, string> =>
  Object.fromEntries(
    [settings].flat().map((setting) => {
      const [, name, value] = /^([^=]+)=(.+)$/s.exec(String(setting)) ?? [];
      if (name === undefined || value === undefined)
        throw new Error(`--account ${setting}: write it as <name>=<value>`);
      return [name, value];
    }),
  );

const vendorColumns = ["NAME", "DIALECT", "BASE URL", "WEBHOOKS", "RECONCILED", "CALLS/S", "CHANGED"];
const vendorRow = (vendor: VendorView): string[] => [
  vendor.name,
  vendor.dialect,
  vendor.baseUrl,
  vendor.webhooks ? "yes" : "no",
  vendor.reconcileMinutes === undefined ? "default" : `${vendor.reconcileMinutes} min`,
  vendor.callsPerSecond === undefined ? "any" : String(vendor.callsPerSecond),
  vendor.changedAt,
];

export const vendorSubcommands: Record<string, Subcommand> = {
  "vendor put": {
    usage:
      "vendor put --airline XN --name stayhub --dialect stayhub --base-url <url> --api-key-file <file> [--api-secret-file <file>] [--webhook-secret-file <file>] [--account sender=+15005550006 …] [--reconcile-minutes 15] [--calls-per-second 20]",
    summary: "configures a vendor, or changes it; running processes take it over at once",
    options: {
      airline: { type: "string" },
      name: { type: "string" },
      dialect: { type: "string" },
      "base-url": { type: "string" },
      "api-key-file": { type: "string" },
      "api-secret-file": { type: "string" },
      "webhook-secret-file": { type: "string" },
      account: { type: "string", multiple: true },
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
        apiKey: secretIn(needed(values, "api-key-file")),
        ...(values["api-secret-file"] !== undefined && {
          apiSecret: secretIn(String(values["api-secret-file"])),
        }),
        ...(values["webhook-secret-file"] !== undefined && {
          webhookSecret: secretIn(String(values["webhook-secret-file"])),
        }),
        ...(values.account !== undefined && { account: accountOf(values.account) }),
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
    summary: "lists an airline's vendors; with --json also what each account needs beside its key",
    options: { airline: { type: "string" } },
    async run(values, _, reach) {
      const client = await reach.client();
      const vendors = await client.query<VendorView[]>("vendor-adapter.vendors", {
        tenant: airlineOf(values),
      });
      return { json: vendors, text: table(vendorColumns, vendors.map(vendorRow)) };
    },
  },
};
