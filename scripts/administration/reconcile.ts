// The subcommand that reconciles with vendors now; the service does so by itself, at each vendor's interval.
import { decimalFromMinor } from "../../schemas/currency.ts";
import type { Difference, ReconciledVendor, ReconcileNow } from "../../schemas/reconciliation.ts";
import type { Tenant } from "../../streams/tenant-directory.ts";
import { StartFailure } from "../supervisor/start-failure.ts";
import type { InstanceClient } from "./client.ts";
import { airlineOf, type Subcommand } from "./subcommand.ts";
import { table } from "./table.ts";

interface AirlineVendor extends ReconciledVendor {
  airline: string;
}

const changeOf = ({ from, to, amount }: Difference): string[] => [
  from ?? "-",
  amount === undefined
    ? to
    : `${to} ${decimalFromMinor(amount.amountMinor, amount.currency)} ${amount.currency}`,
];

const textOf = (vendors: readonly AirlineVendor[]): string => {
  const rows = vendors.flatMap(({ airline, vendor, differences }) =>
    differences.map((one) => [airline, vendor, one.subCaseUrn, one.reference, ...changeOf(one), one.at]),
  );
  const columns = ["AIRLINE", "VENDOR", "SUB-CASE", "REFERENCE", "WAS", "IS", "AT"];
  const failed = vendors.filter(({ outcome }) => outcome !== "done");
  const lines = failed.map(
    ({ airline, vendor, outcome, detail }) =>
      `${airline} ${vendor}: ${outcome}${detail ? `, ${detail}` : ""}`,
  );
  return [rows.length === 0 ? "nothing differed" : table(columns, rows), ...lines].join("\n");
};

/** An airline that cannot be reconciled with keeps nobody from hearing what differed with the others. */
const reconciledOf = async (
  client: InstanceClient,
  airline: string,
  data: ReconcileNow,
): Promise<AirlineVendor[]> => {
  try {
    const command = { tenant: airline, data };
    const found = await client.command<ReconciledVendor[]>("vendor-adapter.reconcile", command);
    return found.map((one) => ({ airline, ...one }));
  } catch (error) {
    // No instance is there for any of them.
    if (error instanceof StartFailure) throw error;
    const detail = error instanceof Error ? error.message : String(error);
    const vendor = data.vendor ?? "all";
    return [{ airline, vendor, outcome: "unavailable", detail, told: 0, differences: [] }];
  }
};

export const reconcileSubcommands: Record<string, Subcommand> = {
  reconcile: {
    usage: "reconcile [--airline XN] [--vendor stayhub]",
    summary: "asks the vendors that are polled what has changed with them, now, and prints what differed",
    options: { airline: { type: "string" }, vendor: { type: "string" } },
    async run(values, _, reach) {
      const client = await reach.client();
      const airlines =
        values.airline === undefined
          ? (await client.query<Tenant[]>("identity.tenants", { tenant: "" })).map(({ code }) => code)
          : [airlineOf(values)];
      const data = typeof values.vendor === "string" ? { vendor: values.vendor } : {};
      const vendors: AirlineVendor[] = [];
      for (const tenant of airlines) {
        vendors.push(...(await reconciledOf(client, tenant, data)));
      }
      if (vendors.length === 0)
        throw new StartFailure(
          values.vendor === undefined
            ? "there is no vendor that is polled"
            : `no vendor ${values.vendor} is polled`,
        );
      const failed = vendors.some(({ outcome }) => outcome === "unavailable" || outcome === "refused");
      return { json: vendors, text: textOf(vendors), failed };
    },
  },
};
