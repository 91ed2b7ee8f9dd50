// The command `scripts/bench`: which benchmarks run, the table for people and the JSON for programs. It asserts nothing.
import { writeFileSync } from "node:fs";
import { cpus } from "node:os";
import { parseArgs } from "node:util";
import type { Benchmark } from "./benchmarks/benchmark.ts";
import { compensation } from "./benchmarks/compensate.ts";
import { dashboard } from "./benchmarks/dashboard.ts";
import { gateway } from "./benchmarks/gateway.ts";
import { live } from "./benchmarks/live.ts";
import { memory } from "./benchmarks/memory.ts";
import { offer } from "./benchmarks/offer.ts";
import { pipeline } from "./benchmarks/pipeline.ts";
import { loadAverage } from "./benchmarks/process-figures.ts";
import { push } from "./benchmarks/push.ts";
import { pushes } from "./benchmarks/pushes.ts";
import { read } from "./benchmarks/read.ts";
import { search } from "./benchmarks/search.ts";
import { slowVendor } from "./benchmarks/slow-vendor.ts";
import { webhooks } from "./benchmarks/webhooks.ts";
import { StartFailure } from "./supervisor/start-failure.ts";

const benchmarks: Record<string, Benchmark> = {
  push,
  pushes,
  memory,
  read,
  offer,
  gateway,
  pipeline,
  compensation,
  dashboard,
  webhooks,
  live,
  search,
  "slow-vendor": slowVendor,
};

const help = `Usage: scripts/bench [name…] [--json FILE]

Runs benchmarks, each on an instance of its own with real servers (temporary folder, free ports); default: all.

${Object.entries(benchmarks)
  .map(([name, { summary }]) => `  ${name.padEnd(12)} ${summary}`)
  .join("\n")}

  --json FILE  writes all figures there too
  --help       this text

What else runs on the machine shows in every figure: ratios come from one run and take turns, times don't compare
across machines.`;

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    options: { json: { type: "string" }, help: { type: "boolean", default: false } },
    allowPositionals: true,
  });
  if (values.help) return console.log(help);
  const unknown = positionals.find((name) => benchmarks[name] === undefined);
  if (unknown !== undefined)
    throw new StartFailure(`there is no benchmark '${unknown}': see scripts/bench --help`);
  const names = positionals.length > 0 ? positionals : Object.keys(benchmarks);
  const stopping = new AbortController();
  for (const name of ["SIGINT", "SIGTERM"] as const) {
    process.once(name, () => stopping.abort(new StartFailure(`stopped by ${name}`)));
  }
  const machine = {
    cpus: cpus().length,
    model: cpus()[0]?.model ?? "unknown",
    node: process.version,
    loadAtStart: loadAverage(),
  };
  console.log(
    `${machine.cpus} CPUs (${machine.model}), Node ${machine.node}, load average ${machine.loadAtStart} at the start`,
  );
  const figures: Record<string, unknown> = {};
  for (const name of names) {
    console.log(`\n== ${name}`);
    const say = (line: string): void => console.error(`  ${line}`);
    const result = await benchmarks[name]?.run({ say, signal: stopping.signal });
    if (result === undefined) continue;
    figures[name] = result.figures;
    console.log(result.text);
  }
  if (values.json !== undefined)
    writeFileSync(values.json, `${JSON.stringify({ machine, benchmarks: figures }, null, 2)}\n`);
}

try {
  await main();
  process.exit(0);
} catch (error) {
  const isUsage =
    error instanceof Error && "code" in error && String(error.code).startsWith("ERR_PARSE_ARGS");
  if (!(error instanceof StartFailure || isUsage)) throw error;
  console.error(`error: ${(error as Error).message}`);
  process.exit(isUsage ? 2 : 1);
}
