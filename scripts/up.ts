// The command `scripts/up`: its options, its signals and its exit code; the supervisor does the work.
import { resolve } from "node:path";
import { parseArgs } from "node:util";
import { demoLimits } from "./demonstration/limits.ts";
import { StartFailure } from "./supervisor/start-failure.ts";
import { type SuperviseOptions, supervise } from "./supervisor/supervise.ts";

const help = `Usage: scripts/up [options]

Starts Stopover in the foreground and prints \`ready <base url>\` once it serves. Ctrl-C stops it.

  --port <number>   port of the service, 0 for a free one (default 8080)
  --host <address>  address to listen on (default 127.0.0.1)
  --data <folder>   documents, streams, keys and logs; a later start continues on it (default .data in the checkout)
  --role <role>     all, gateway, actors, or actors=case,sub-case,… (default all)
  --demo            loads two demo airlines and the sandbox, and runs one disruption from push to offers
  --help            this text

NATS_URL and MONGODB_URL name real servers to use instead of the embedded ones.`;

function readOptions(args: string[]): SuperviseOptions | "help" {
  const { values } = parseArgs({
    args,
    options: {
      port: { type: "string", default: "8080" },
      host: { type: "string", default: "127.0.0.1" },
      data: { type: "string", default: resolve(import.meta.dirname, "../.data") },
      role: { type: "string", default: "all" },
      demo: { type: "boolean", default: false },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) return "help";
  const port = /^\d{1,5}$/.test(values.port) ? Number(values.port) : Number.NaN;
  if (!(port <= 65535)) throw new StartFailure(`--port ${values.port}: a number from 0 to 65535 is needed`);
  if (!/^(all|gateway|actors(=[a-z-]+(,[a-z-]+)*)?)$/.test(values.role)) {
    throw new StartFailure(`--role ${values.role}: all, gateway, actors or actors=case,sub-case,… is needed`);
  }
  return {
    port,
    host: values.host,
    dataDir: values.data,
    role: values.role,
    demo: values.demo,
    natsUrl: process.env.NATS_URL || undefined,
    mongodbUrl: process.env.MONGODB_URL || undefined,
    say: (line) => console.log(line),
    onReady: ({ baseUrl, operatorIssuer }) => {
      if (values.role === "all") console.log(`operators sign in at ${operatorIssuer}`);
      console.log(`ready ${baseUrl}`);
    },
  };
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
  if (options.demo) raiseLimits(options);
  const stopping = new AbortController();
  for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"] as const) {
    process.on(signal, () => stopping.abort(new Error(`stopped by ${signal}`)));
  }
  await supervise(options, stopping.signal);
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
