// The subcommands about an airline's vendors; the rules are the vendor-adapter actor's. Keys are read from files, never printed.
import type { VendorView } from "../../schemas/vendor-call.ts";
import { StartFailure } from "../supervisor/start-failure.ts";
import { airlineOf, needed, numberIn, type Subcommand, secretIn, type Values } from "./subcommand.ts";
import { table } from "./table.ts";

/** @throws StartFailure for one that is not `name=value` */
const accountOf = (settings: unknown): Record<string, string> =>
  Object.fromEntries(
    [settings].flat().map((setting) => {
      const [, name, value] = /^([^=]+)=(.+)$/s.exec(String(setting)) ?? [];
      if (name === undefined || value === undefined) throw new StartFailure("--account takes <name>=<value>");
      return [name, value];
    }),
  );

const secretNamed = (values: Values, member: string, option: string): Record<string, string> =>
  values[option] === undefined ? {} : { [member]: secretIn(needed(values, option)) };

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
      const name = needed(values, "name");
      const reconcileMinutes = numberIn(values, "reconcile-minutes");
      const callsPerSecond = numberIn(values, "calls-per-second");
      const data = {
        name,
        dialect: needed(values, "dialect"),
        baseUrl: needed(values, "base-url"),
        apiKey: secretIn(needed(values, "api-key-file")),
        ...secretNamed(values, "apiSecret", "api-secret-file"),
        ...secretNamed(values, "webhookSecret", "webhook-secret-file"),
        ...(values.account !== undefined && { account: accountOf(values.account) }),
        ...(reconcileMinutes !== undefined && { reconcileMinutes }),
        ...(callsPerSecond !== undefined && { callsPerSecond }),
      };
      const tenant = airlineOf(values);
      const client = await reach.client();
      await client.command("vendor-adapter.put-vendor", { tenant, data });
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
