/** Owns the sandbox as a program: its arguments, one process per vendor, the ready line, and a clean stop. */
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { keepRunning } from "../supervisor/keep-running.ts";
import { parentHoldsStdin, stopWithParent } from "../supervisor/parent-watch.ts";
import { startScript } from "../supervisor/script-process.ts";
import { StartFailure } from "../supervisor/start-failure.ts";
import { startControl } from "./control.ts";
import { type Identity, identityIn } from "./identity.ts";
import { type Announcement, announcementOf, remotePart } from "./remote-part.ts";
import type { SandboxPart } from "./sandbox-part.ts";
import { defaultParts, loadVendor, partNames } from "./vendors/index.ts";

const help = `Simulated vendors and a partner's webhook receiver, over HTTP on loopback.

usage: node scripts/sandbox/main.ts --dir DIR [options]

  --dir DIR           where ledgers, API keys and the seed are kept (made when absent)
  --port N            of the control address; 0 (default): a free one. Vendors take free ports and keep them over restarts
  --vendors NAME,…    which stand, each in a process of its own (default: ${defaultParts.join(", ")})
  --only NAME[,NAME]  only these, in this process: ${partNames.join(", ")}
  --seed TEXT         of all invented hotels and drawn faults, for a new DIR (default: stopover)
  --latency MS        before each answer (default: 50)
  --with-parent       stop when stdin ends
  --help              this text

On start it prints, each on a line of its own:
  sandbox {"controlUrl":…,"vendors":[{"name","kind","baseUrl","apiKey","apiSecret"?,"webhookSecret"?}],"receiverUrl":…}
  listening <controlUrl>

Control address: GET / (the announcement again), GET /ledger/<name>, POST /control,
POST /stay/<name>, POST /spend/<name>, POST /predict/<name>, POST /reply/<name>, POST /reset, GET /health.
Settings and faults are described in scripts/sandbox/README.md.
`;

interface Options {
  dir: string;
  port: number;
  vendors: readonly string[];
  only: string[] | undefined;
  seed: string;
  latencyMs: number;
  withParent: boolean;
}

const wholeNumber = (name: string, text: string, max: number): number => {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 0 || value > max) {
    throw new StartFailure(`--${name} takes a whole number from 0 to ${max}, not ${text}`);
  }
  return value;
};

const parse = (args: string[]) => {
  try {
    return parseArgs({
      args,
      options: {
        dir: { type: "string" },
        port: { type: "string", default: "0" },
        vendors: { type: "string" },
        only: { type: "string" },
        seed: { type: "string", default: "stopover" },
        latency: { type: "string", default: "50" },
        "with-parent": { type: "boolean", default: false },
        help: { type: "boolean", default: false },
      },
    }).values;
  } catch (error) {
    throw new StartFailure(`${(error as Error).message} (see --help)`);
  }
};

/** Undefined when help was asked for. */
const readOptions = (args: string[]): Options | undefined => {
  const values = parse(args);
  if (values.help) return undefined;
  if (values.dir === undefined) throw new StartFailure("--dir is needed (see --help)");
  const only = values.only?.split(",");
  const vendors = values.vendors?.split(",");
  for (const [option, names] of Object.entries({ only, vendors })) {
    const unknown = names?.find((name) => !partNames.includes(name));
    if (unknown !== undefined)
      throw new StartFailure(`--${option} knows ${partNames.join(", ")}, not ${unknown}`);
  }
  return {
    dir: resolve(values.dir),
    port: wholeNumber("port", values.port, 65_535),
    vendors: vendors ?? defaultParts,
    only,
    seed: values.seed,
    latencyMs: wholeNumber("latency", values.latency, 60_000),
    withParent: values["with-parent"],
  };
};

/** Loads only what this process runs: the first one, which runs none, stays small and quick. */
const partFor = async (name: string, options: Options, identity: Identity) => {
  const file = join(options.dir, `${name}.sqlite`);
  if (name === "receiver") {
    const { Receiver } = await import("./receiver.ts");
    return new Receiver(file);
  }
  const { VendorServer } = await import("./vendor-server.ts");
  const { seed, apiKeys, apiSecrets, webhookSecrets } = identity;
  const [apiKey, apiSecret, webhookSecret] = [apiKeys[name]!, apiSecrets[name]!, webhookSecrets[name]!];
  const keys = { apiKey, apiSecret, webhookSecret };
  return new VendorServer(await loadVendor(name), { file, ...keys, seed, latencyMs: options.latencyMs });
};

const startHere = async (name: string, options: Options, identity: Identity): Promise<SandboxPart> => {
  const part = await partFor(name, options, identity);
  await part.start();
  return part;
};

const childStopMs = 2_000;

/** The same program with `--only`, started again on the same ports should it die. */
const startApart = async (
  name: string,
  options: Options,
  stopping: AbortController,
): Promise<SandboxPart> => {
  const logFile = join(options.dir, `${name}.log`);
  let announcement: Announcement | undefined;
  const start = (port: number | undefined, signal: AbortSignal) =>
    startScript({
      name,
      script: import.meta.filename,
      args: [
        ...["--dir", options.dir, "--only", name],
        ...["--port", String(port ?? 0), "--latency", String(options.latencyMs)],
      ],
      env: process.env,
      logFile,
      readyLine: /^listening (http:\S+)/,
      onLine: (line) => {
        if (line.startsWith("sandbox ")) announcement = JSON.parse(line.slice(8)) as Announcement;
      },
      signal,
    });
  const onGivenUp = (failure: StartFailure): void => {
    process.exitCode = 1;
    stopping.abort(failure);
  };
  const kept = await keepRunning({ name, start, logFile, say: console.error, onGivenUp }, stopping.signal);
  return remotePart(announcement!, () => kept.stop(childStopMs));
};

/** All, or none: what a failed start leaves is stopped before the failure is told. */
const startParts = async (
  starts: Promise<SandboxPart>[],
  stopping: AbortController,
): Promise<SandboxPart[]> => {
  const started = await Promise.allSettled(starts);
  const failed = started.find((one) => one.status === "rejected");
  const parts = started.filter((one) => one.status === "fulfilled").map((one) => one.value);
  if (failed === undefined) return parts;
  stopping.abort();
  await Promise.all(parts.map((part) => part.stop()));
  throw failed.reason;
};

const run = async (options: Options): Promise<void> => {
  const stopping = new AbortController();
  const stop = (): void => stopping.abort();
  process.once("SIGTERM", stop);
  process.once("SIGINT", stop);
  if (options.withParent) Object.assign(process.env, parentHoldsStdin);
  stopWithParent(stop);
  const identity = identityIn(options.dir, options.seed);
  const parts = await startParts(
    options.only?.map((name) => startHere(name, options, identity)) ??
      options.vendors.map((name) => startApart(name, options, stopping)),
    stopping,
  );
  const control = await startControl(parts, options.port);
  console.log(`sandbox ${JSON.stringify(announcementOf(control.url, parts))}`);
  console.log(`listening ${control.url}`);
  if (!stopping.signal.aborted) {
    await new Promise((done) => stopping.signal.addEventListener("abort", done, { once: true }));
  }
  await control.close();
  await Promise.all(parts.map((part) => part.stop()));
};

try {
  const options = readOptions(process.argv.slice(2));
  if (options === undefined) process.stdout.write(help);
  else await run(options);
  // A parent's pipe would otherwise keep the process alive.
  process.stdin.destroy();
} catch (error) {
  if (!(error instanceof StartFailure)) throw error;
  console.error(`error: ${error.message}`);
  process.exitCode = 1;
  process.stdin.destroy();
}
