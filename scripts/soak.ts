// The command `scripts/soak`: which scenarios run, their seed, what they found, and the exit code.
import { parseArgs } from "node:util";
import { documentsCrash } from "./soaking/documents-crash.ts";
import { killPoints } from "./soaking/kill-points.ts";
import { killed } from "./soaking/kills.ts";
import type { Scenario } from "./soaking/scenario.ts";
import { waves } from "./soaking/waves.ts";
import { StartFailure } from "./supervisor/start-failure.ts";

const scenarios: Record<string, Scenario> = {
  "documents-crash": documentsCrash,
  "kill-points": killPoints,
  waves,
  kills: killed,
};

const help = `Usage: scripts/soak [name…] [--seed N]

Runs fault and load scenarios at full numbers, each on servers of its own; default: all. Minutes each.

${Object.entries(scenarios)
  .map(([name, { summary }]) => `  ${name.padEnd(16)} ${summary}`)
  .join("\n")}

  --seed N  draws the same moments and orders again (default: a new one, which is printed)
  --help    this text

Exit code: 0 all as it should be, 1 faults found, 2 not understood.`;

async function main(): Promise<boolean> {
  const { values, positionals } = parseArgs({
    options: { seed: { type: "string" }, help: { type: "boolean", default: false } },
    allowPositionals: true,
  });
  if (values.help) {
    console.log(help);
    return true;
  }
  const unknown = positionals.find((name) => scenarios[name] === undefined);
  if (unknown !== undefined)
    throw new StartFailure(`there is no scenario '${unknown}': see scripts/soak --help`);
  const seed = values.seed === undefined ? Math.floor(Math.random() * 1e9) : Number(values.seed);
  if (!Number.isInteger(seed)) throw new StartFailure(`--seed ${values.seed}: a whole number is needed`);
  const stopping = new AbortController();
  for (const name of ["SIGINT", "SIGTERM"] as const) {
    process.once(name, () => stopping.abort(new StartFailure(`stopped by ${name}`)));
  }
  let sound = true;
  for (const name of positionals.length > 0 ? positionals : Object.keys(scenarios)) {
    console.log(`== ${name} --seed ${seed}`);
    const say = (line: string): void => console.error(`  ${line}`);
    const result = await scenarios[name]?.run({ seed, say, signal: stopping.signal });
    if (result === undefined) continue;
    console.log(result.done);
    for (const fault of result.faults) console.log(`FAULT ${fault}`);
    console.log(result.faults.length === 0 ? "no faults" : `${result.faults.length} faults`);
    if (result.faults.length > 0) sound = false;
  }
  return sound;
}

try {
  process.exit((await main()) ? 0 : 1);
} catch (error) {
  const isUsage =
    error instanceof Error && "code" in error && String(error.code).startsWith("ERR_PARSE_ARGS");
  if (!(error instanceof StartFailure || isUsage)) throw error;
  console.error(`error: ${(error as Error).message}`);
  process.exit(isUsage ? 2 : 1);
}
