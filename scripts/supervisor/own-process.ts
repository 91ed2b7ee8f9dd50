// Runs one of our servers as a process of its own: settings, log, the line that says that it serves, and its end. What it serves is its own business.
import { destination, type Logger, pino } from "pino";
import type { TObject } from "typebox";
import { settingsReference } from "../../config/reference.ts";
import { stopWithParent } from "./parent-watch.ts";

export interface Serving {
  address: string;
  /** Resolves once nothing of it is left. */
  stop(): Promise<void>;
}

export interface OwnProcess<Config extends { LOG_LEVEL: string }> {
  /** As `--help` calls it. */
  name: string;
  /** What `--help` lists. */
  settings: TObject;
  /** @throws Error that names the setting which is wrong */
  readConfig(): Config;
  /** Stands in each line of its log. */
  roleOf(config: Config): string;
  /** Said before the address on stdout, once it serves: parents and tests wait for that line. */
  readyWord: string;
  start(config: Config, log: Logger): Promise<Serving>;
}

/**
 * Serves until SIGTERM, SIGINT or the end of the parent, then ends the process: with 0, or with 1 if stopping failed. One
 * that cannot start says why in a last line on stderr and ends with 1. With `--help` it lists its settings instead.
 */
export async function runAsProcess<Config extends { LOG_LEVEL: string }>(
  parts: OwnProcess<Config>,
): Promise<void> {
  try {
    await serve(parts);
  } catch (error) {
    process.stderr.write(`error: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exit(1);
  }
}

async function serve<Config extends { LOG_LEVEL: string }>(parts: OwnProcess<Config>): Promise<void> {
  if (process.argv.includes("--help")) {
    const settings = settingsReference(parts.settings);
    console.log(`Runs ${parts.name}, configured by the environment alone.\n\n${settings}`);
    return;
  }
  const config = parts.readConfig();
  const log = pino(
    { level: config.LOG_LEVEL, base: { role: parts.roleOf(config) } },
    destination({ dest: 2, sync: false }),
  );
  const serving = await parts.start(config, log);
  stopWhenTold(serving, log);
  process.stdout.write(`${parts.readyWord} ${serving.address}\n`);
}

function stopWhenTold(serving: Serving, log: Logger): void {
  let isStopping = false;
  const stop = (): void => {
    if (isStopping) return;
    isStopping = true;
    serving.stop().then(
      () => process.exit(0),
      (error) => {
        log.error({ err: error }, "stopping failed");
        process.exit(1);
      },
    );
  };
  process.once("SIGTERM", stop);
  process.once("SIGINT", stop);
  stopWithParent(stop);
}
