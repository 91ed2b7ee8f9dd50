// The subcommands of scripts/admin, carried out in the test's own process at a running instance: what they do and answer.
// How the command line is read, printed and ended is the processes' (`runScript`) to show.
import { execFile } from "node:child_process";
import { join, resolve } from "node:path";
import { parseArgs, promisify } from "node:util";
import { MongoClient } from "mongodb";
import type { Test } from "tap";
import { readSealKey } from "../../config/config.ts";
import { openClient } from "../../scripts/administration/client.ts";
import type { Answer, Reach, Subcommand } from "../../scripts/administration/subcommand.ts";
import { readInstance } from "../../scripts/supervisor/environment.ts";
import { keyFiles } from "../../scripts/supervisor/keys.ts";
import { openStreams } from "../../streams/connection.ts";
import { compileCache } from "./environment.ts";

const root = resolve(import.meta.dirname, "../..");

/** Where the instance is, as `--data` and DATABASE_PREFIX tell it. */
export interface Place {
  dataDir: string;
  databasePrefix?: string;
}

/** What is opened closes with the test. */
const reachOf = (t: Pick<Test, "teardown">, { dataDir, databasePrefix = "stopover" }: Place): Reach => {
  const instance = readInstance(dataDir);
  const once = <Part extends { close(): Promise<unknown> }>(open: () => Promise<Part>) => {
    let part: Promise<Part> | undefined;
    t.teardown(async () => (await part)?.close());
    return () => {
      part ??= open();
      return part;
    };
  };
  const mongodb = once(() => MongoClient.connect(instance.mongodbUrl));
  return {
    client: once(() => openClient(instance.natsUrl)),
    streams: once(() => openStreams(instance.natsUrl, "admin")),
    documents: async () => ({ mongodb: await mongodb(), databasePrefix }),
    sealKey: async () => readSealKey(join(instance.keysDir, keyFiles.seal)),
    operatorIssuer: () => instance.operatorIssuer,
  };
};

/**
 * Carries out a subcommand, its two words and its options as typed.
 * @throws what the process would print before its exit code 1: Problem, StartFailure
 */
export const openAdministration = (
  t: Pick<Test, "teardown">,
  place: Place,
  subcommands: Record<string, Subcommand>,
): ((...args: string[]) => Promise<Answer>) => {
  const reach = reachOf(t, place);
  return async (...args) => {
    const subcommand = subcommands[args.slice(0, 2).join(" ")];
    if (subcommand === undefined) throw new TypeError(`none of these subcommands: ${args.join(" ")}`);
    const options = { args: args.slice(2), options: subcommand.options, allowPositionals: true };
    const { values, positionals } = parseArgs(options);
    return subcommand.run({ ...values, data: place.dataDir }, positionals, reach);
  };
};

/** The command that runs a script as a process. With an empty environment: `--data` alone says where, and tap's loader stays out. */
export const scriptCommand = (
  name: "admin" | "token",
  { dataDir, databasePrefix }: Place,
  args: string[],
) => {
  const settings = { DATABASE_PREFIX: databasePrefix, NODE_COMPILE_CACHE: compileCache };
  const environment = Object.entries(settings).flatMap(([key, value]) => (value ? [`${key}=${value}`] : []));
  const script = join(root, "scripts", `${name}.ts`);
  return ["-i", ...environment, process.execPath, script, ...args, "--data", dataDir];
};

export interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs a script as a process, to its end. */
export const runScript = async (name: "admin" | "token", place: Place, args: string[]): Promise<Ended> => {
  try {
    return { code: 0, ...(await promisify(execFile)("/usr/bin/env", scriptCommand(name, place, args))) };
  } catch (error) {
    return error as unknown as Ended;
  }
};
