// The command `scripts/soak`: which scenarios run, their seed and numbers, what they found, and the exit code.
import { parseArgs } from "node:util";
import { agent } from "./soaking/agent.ts";
import { deliveries } from "./soaking/deliveries-soak.ts";
import { documentsCrash } from "./soaking/documents-crash.ts";
import { fuzz } from "./soaking/fuzz.ts";
import { killPoints } from "./soaking/kill-points.ts";
import { killed } from "./soaking/kills.ts";
import { sockets } from "./soaking/live-sockets.ts";
import { loginGuesses } from "./soaking/logins.ts";
import { nights } from "./soaking/nights.ts";
import { outages } from "./soaking/outages.ts";
import type { Scenario, Sizes } from "./soaking/scenario.ts";
import { streams } from "./soaking/streams.ts";
import { vendors } from "./soaking/vendors.ts";
import { waves } from "./soaking/waves.ts";
import { StartFailure } from "./supervisor/start-failure.ts";

// biome-ignore lint/suspicious/noExplicitAny: each scenario's run is typed by its own sizes where it is written
const scenarios: Record<string, Scenario<any>> = {
  "documents-crash": documentsCrash,
  "kill-points": killPoints,
  outages,
  vendors,
  waves,
  deliveries,
  kills: killed,
  fuzz,
  nights,
  sockets,
  streams,
  logins: loginGuesses,
  agent,
};

const sizeNames = [
  "runs",
  "kills",
  "cases",
  "groups",
  "requests",
  "events",
  "subscriptions",
  "readers",
  "stalled",
  "sockets",
  "drops",
  "prompts",
] as const;

const sizesShown = (sizes: Sizes = {}): string =>
  Object.entries(sizes)
    .map(([name, size]) => ` --${name} ${size}`)
    .join("");

const help = `Usage: scripts/soak [name…] [--seed N] [--runs N] [--kills N] [--cases N] [--groups N] [--requests N]
                           [--events N] [--subscriptions N] [--readers N] [--stalled N]
                           [--sockets N] [--drops N] [--prompts N]

Runs fault and load scenarios at full numbers, each on servers of its own; default: all. Minutes each.

${Object.entries(scenarios)
  .map(
    ([name, { summary, sizes }]) =>
      `  ${name.padEnd(16)} ${summary}${sizes === undefined ? "" : `\n${" ".repeat(19)}default:${sizesShown(sizes)}`}`,
  )
  .join("\n")}

  --seed N      draws the same moments and orders again (default: a new one, which is printed)
  --runs N      how many small flights meet vendors that misbehave
  --kills N     how often a process is killed
  --cases N     how many flights come in
  --groups N    how many bookings each flight has
  --requests N  how many requests each route gets
  --events N    how many events are told, and to how many partners: --subscriptions N
  --readers N   how many streams are read, and how many of them are not: --stalled N
  --sockets N   how many live sockets there are, and how often one is dropped: --drops N
  --prompts N   how many texts try to talk a model into something
  --help        this text

Smaller numbers than the defaults are for trying; a number holds for the scenarios that show it as theirs.

Exit code: 0 all as it should be, 1 faults found or not run to the end, 2 not understood.`;

class UsageError extends Error {}

const wholeNumber = (name: string, text: string, least: number): number => {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < least)
    throw new UsageError(`--${name} ${text}: a whole number from ${least} on is needed`);
  return value;
};

const read = () => {
  const { values, positionals } = parseArgs({
    options: {
      seed: { type: "string" },
      runs: { type: "string" },
      kills: { type: "string" },
      cases: { type: "string" },
      groups: { type: "string" },
      requests: { type: "string" },
      events: { type: "string" },
      subscriptions: { type: "string" },
      readers: { type: "string" },
      stalled: { type: "string" },
      sockets: { type: "string" },
      drops: { type: "string" },
      prompts: { type: "string" },
      help: { type: "boolean", default: false },
    },
    allowPositionals: true,
  });
  const unknown = positionals.find((name) => scenarios[name] === undefined);
  if (unknown !== undefined)
    throw new UsageError(`there is no scenario '${unknown}': see scripts/soak --help`);
  const asked = sizeNames.flatMap((name) => {
    const text = values[name];
    return text === undefined ? [] : [[name, wholeNumber(name, text, 1)] as const];
  });
  return {
    isHelp: values.help,
    seed: values.seed === undefined ? Math.floor(Math.random() * 1e9) : wholeNumber("seed", values.seed, 0),
    sizes: Object.fromEntries(asked),
    names: positionals.length > 0 ? positionals : Object.keys(scenarios),
  };
};

/** What was asked for of the numbers that the scenario has. */
const sizesFor = ({ sizes: own = {} }: Scenario, asked: Sizes): Sizes =>
  Object.fromEntries(Object.entries(own).map(([name, size]) => [name, asked[name] ?? size]));

async function main(): Promise<boolean> {
  const { isHelp, seed, sizes: asked, names } = read();
  if (isHelp) {
    console.log(help);
    return true;
  }
  const stopping = new AbortController();
  for (const name of ["SIGINT", "SIGTERM"] as const) {
    process.once(name, () => stopping.abort(new StartFailure(`stopped by ${name}`)));
  }
  let sound = true;
  for (const name of names) {
    const scenario = scenarios[name];
    if (scenario === undefined) continue;
    const sizes = sizesFor(scenario, asked);
    const command = `scripts/soak ${name}${sizesShown(sizes)} --seed ${seed}`;
    console.log(`== ${command}`);
    const say = (line: string): void => console.error(`  ${line}`);
    const result = await scenario.run({ seed, sizes, say, signal: stopping.signal });
    console.log(result.done);
    for (const fault of result.faults) console.log(`FAULT ${fault}`);
    console.log(
      result.faults.length === 0 ? "no faults" : `${result.faults.length} faults; again with: ${command}`,
    );
    if (result.faults.length > 0) sound = false;
  }
  return sound;
}

try {
  process.exit((await main()) ? 0 : 1);
} catch (error) {
  const isUsage =
    error instanceof UsageError ||
    (error instanceof Error && "code" in error && String(error.code).startsWith("ERR_PARSE_ARGS"));
  if (!(error instanceof StartFailure || isUsage)) throw error;
  console.error(`error: ${(error as Error).message}`);
  process.exit(isUsage ? 2 : 1);
}
