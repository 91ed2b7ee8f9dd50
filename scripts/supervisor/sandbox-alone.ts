// Runs the simulated vendors by themselves, for integrators: their addresses and keys at the terminal and in a file, until told to stop.
import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { table } from "../administration/table.ts";
import type { Announcement } from "../sandbox/remote-part.ts";
import { partNames } from "../sandbox/vendors/index.ts";
import { describeEnd } from "./running.ts";
import { startScript } from "./script-process.ts";
import { StartFailure } from "./start-failure.ts";

export interface SandboxAloneOptions {
  /** Of the control address. */
  port: number;
  /** Ledgers, keys and seed stand in `sandbox` below it, and `sandbox.json`. */
  dataDir: string;
  /** Which of the parts stand; undefined: every one. */
  vendors: string | undefined;
  /** For a new folder; undefined: the sandbox's own. */
  seed: string | undefined;
  say(line: string): void;
}

const stopGraceMs = 5_000;

/**
 * Resolves once everything has stopped.
 * @throws StartFailure when the sandbox does not start, or ends by itself, with its own words
 */
export const runSandboxAlone = async (
  { port, dataDir, vendors = partNames.join(","), seed, say }: SandboxAloneOptions,
  signal: AbortSignal,
): Promise<void> => {
  const folder = join(dataDir, "sandbox");
  mkdirSync(folder, { recursive: true });
  const logFile = join(folder, "sandbox.log");
  const announced = Promise.withResolvers<Announcement>();
  const starting = startScript({
    name: "sandbox",
    script: resolve(import.meta.dirname, "../sandbox/main.ts"),
    args: [
      ...["--dir", folder, "--port", String(port), "--vendors", vendors],
      ...(seed === undefined ? [] : ["--seed", seed]),
    ],
    env: process.env,
    logFile,
    readyLine: /^listening (http:\S+)/,
    onLine: (line) => {
      if (line.startsWith("sandbox ")) announced.resolve(JSON.parse(line.slice("sandbox ".length)));
    },
    signal,
  });
  const sandbox = await starting.catch((error: unknown) => {
    if (!signal.aborted) throw error;
  });
  if (sandbox === undefined) return;
  const told = await announced.promise;
  const file = join(dataDir, "sandbox.json");
  writeFileSync(file, `${JSON.stringify(told, null, 2)}\n`, { mode: 0o600 });
  say(
    table(
      ["NAME", "KIND", "BASE URL"],
      [
        ...told.vendors.map(({ name, kind, baseUrl }) => [name, kind, baseUrl]),
        ...(told.receiverUrl === undefined ? [] : [["receiver", "receiver", told.receiverUrl]]),
      ],
    ),
  );
  say(`keys and secrets are in ${file}; faults and ledgers: scripts/sandbox/README.md`);
  say(`ready ${sandbox.url}`);
  const stopped = new Promise<void>((done) => signal.addEventListener("abort", () => done(), { once: true }));
  const ended = await Promise.race([sandbox.exited, signal.aborted ? undefined : stopped]);
  if (ended !== undefined) throw new StartFailure(`the sandbox ${describeEnd(ended)} (log: ${logFile})`);
  await sandbox.stop(stopGraceMs);
};
