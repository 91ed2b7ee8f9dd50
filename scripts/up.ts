// The command `scripts/up`: its options, its signals and its exit code; the supervisor does the work.
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { demoLimits } from "./demonstration/limits.ts";
import { runSandboxAlone, type SandboxAloneOptions } from "./supervisor/sandbox-alone.ts";
import { StartFailure } from "./supervisor/start-failure.ts";
import { type SuperviseOptions, supervise } from "./supervisor/supervise.ts";

const help = `Usage: scripts/up [options]

Starts Stopover in the foreground and prints \`ready <base url>\` once it serves. Ctrl-C stops it.

  --port <number>   port of the service, 0 for a free one (default 8080)
  --host <address>  address to listen on (default 127.0.0.1)
  --data <folder>   documents, streams, keys and logs; a later start continues on it (default .data in the checkout)
  --role <role>     all, gateway, actors, or actors=case,sub-case,… (default all)
  --sandbox-only    only the simulated vendors, for integrators: no service, no servers; --port is their control address
  --vendors <a,b>   with --sandbox-only: which of them (default: all)
  --seed <text>     with --sandbox-only: of hotels and drawn faults, for a new folder
  --demo            loads two demo airlines and the sandbox, and runs one disruption from push to offers
  --help            this text

NATS_URL and MONGODB_URL name real servers to use instead of the embedded ones.`;

type Options = "help" | { alone: SandboxAloneOptions } | { whole: SuperviseOptions };

function readOptions(args: string[]): Options {
  const { values } = parseArgs({
    args,
    options: {
      port: { type: "string", default: "8080" },
      host: { type: "string", default: "127.0.0.1" },
      data: { type: "string", default: resolve(import.meta.dirname, "../.data") },
      role: { type: "string", default: "all" },
      demo: { type: "boolean", default: false },
      "sandbox-only": { type: "boolean", default: false },
      vendors: { type: "string" },
      seed: { type: "string" },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return "help";
  const port = /^\d{1,5}$/.test(values.port) ? Number(values.port) : Number.NaN;
  if (!(port <= 65535)) throw new StartFailure(`--port ${values.port}: a number from 0 to 65535 is needed`);
  if (!/^(all|gateway|actors(=[a-z-]+(,[a-z-]+)*)?)$/.test(values.role)) {
    throw new StartFailure(`--role ${values.role}: all, gateway, actors or actors=case,sub-case,… is needed`);
  }
  const { vendors, seed } = values;
  const say = (line: string): void => console.log(line);
  if (values["sandbox-only"]) {
    if (values.demo) throw new StartFailure("--demo needs the service, which --sandbox-only leaves out");
    return { alone: { port, dataDir: values.data, vendors, seed, say } };
  }
  if (vendors !== undefined || seed !== undefined)
    throw new StartFailure("--vendors and --seed go with --sandbox-only");
  const whole: SuperviseOptions = {
    port,
    host: values.host,
    dataDir: values.data,
    role: values.role,
    demo: values.demo,
    natsUrl: process.env.NATS_URL || undefined,
    mongodbUrl: process.env.MONGODB_URL || undefined,
    say,
    onReady: ({ baseUrl, operatorIssuer }) => {
      if (values.role === "all") console.log(`operators sign in at ${operatorIssuer}`);
      console.log(`ready ${baseUrl}`);
    },
  };
  return { whole };
}

function raiseLimits({ host, say }: SuperviseOptions): void {
  const raised = demoLimits(host, process.env);
  Object.assign(process.env, raised);
  for (const [name, value] of Object.entries(raised))
    say(`for the demo's crowd ${name} is ${value}; all other limits are the defaults`);
}

async function main(): Promise<void> {
  const options = readOptions(process.argv.slice(2));
  if (options === "help") return console.log(help);
  const whole = "whole" in options ? options.whole : undefined;
  if (whole?.demo) raiseLimits(whole);
  const stopping = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(signal, () => stopping.abort(new Error(`stopped by ${signal}`)));
  }
  if ("alone" in options) await runSandboxAlone(options.alone, stopping.signal);
  else await supervise(options.whole, stopping.signal);
}

try {
  await main();
  process.exit(0);
} catch (error) {
  const isUsage =
    error instanceof Error && "code" in error && String(error.code).startsWith("ERR_PARSE_ARGS");
  if (!(error instanceof StartFailure || isUsage)) throw error;
  console.error(`error: ${(error as Error).message}`);
  process.exit(1);
}
