// The subcommand that checks an instance's consistency and says what it found.
import type { Finding } from "./consistency/finding.ts";
import type { Seen } from "./consistency.ts";
import type { Subcommand } from "./subcommand.ts";
import { table } from "./table.ts";

const rowOf = ({ kind, tenant, about, detail }: Finding): string[] => [kind, tenant, about, detail];

const lookedAt = ({ tenants, openCases, passengers, vendors }: Seen): string =>
  `${tenants} airlines, ${openCases} open cases, ${passengers} passengers, ${vendors} vendors' books`;

export const checkSubcommands: Record<string, Subcommand> = {
  check: {
    usage: "check [--no-vendors]",
    summary:
      "checks that every passenger of an open case has an owner, nothing is left lying, and documents, streams and\n      vendors' books agree; findings exit with 1",
    options: { "no-vendors": { type: "boolean", default: false } },
    async run(values, _positionals, reach) {
      // Loaded when needed: the vendors' adapters and their schemas take longer to load than all the rest.
      const [{ checkConsistency }, { Environment }] = await Promise.all([
        import("./consistency.ts"),
        import("../../config/config.ts"),
      ]);
      const { default: timeoutMs } = Environment.properties.VENDOR_TIMEOUT_MS as { default?: number };
      const withVendors = values["no-vendors"] !== true;
      const result = await checkConsistency({
        ...(await reach.documents()),
        streams: await reach.streams(),
        now: new Date(),
        ...(withVendors && { vendors: { sealKey: await reach.sealKey(), timeoutMs: timeoutMs ?? 8000 } }),
      });
      const { findings, seen } = result;
      const text =
        findings.length === 0
          ? `consistent: ${lookedAt(seen)}`
          : `${table(["WHAT", "AIRLINE", "WHERE", "DETAIL"], findings.map(rowOf))}\n\n${findings.length} findings in ${lookedAt(seen)}`;
      return { json: result, text, failed: findings.length > 0 };
    },
  },
};
