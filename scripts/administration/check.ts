// The subcommand that checks an instance's consistency and says what it found.
import { checkConsistency, type Finding } from "./consistency.ts";
import type { Subcommand } from "./subcommand.ts";
import { table } from "./table.ts";

const rowOf = ({ kind, tenant, about, detail }: Finding): string[] => [kind, tenant, about, detail];

export const checkSubcommands: Record<string, Subcommand> = {
  check: {
    usage: "check",
    summary:
      "checks that every passenger of an open case has an owner and nothing is left lying; findings exit with 1",
    options: {},
    async run(_values, _positionals, reach) {
      const { mongodb, databasePrefix } = await reach.documents();
      const streams = await reach.streams();
      const result = await checkConsistency({ mongodb, databasePrefix, streams, now: new Date() });
      const { tenants, openCases, passengers } = result.seen;
      const looked = `${tenants} airlines, ${openCases} open cases, ${passengers} passengers`;
      const text =
        result.findings.length === 0
          ? `consistent: ${looked}`
          : `${table(["WHAT", "AIRLINE", "WHERE", "DETAIL"], result.findings.map(rowOf))}\n\n${result.findings.length} findings in ${looked}`;
      return { json: result, text, failed: result.findings.length > 0 };
    },
  },
};
