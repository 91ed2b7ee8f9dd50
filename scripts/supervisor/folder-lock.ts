// Holds a folder for one process at a time; who may be told what about the holder is the caller's business.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { StartFailure } from "./start-failure.ts";

export interface FolderLock {
  release(): void;
}

/**
 * Locks `folder` (made if missing) under `name`, so that several names can be held independently.
 * The lock is SQLite's file lock, which the kernel drops with its holder: a killed process leaves nothing stale behind,
 * and two that start at the same moment cannot both win, as they could with a pid file.
 *
 * @throws StartFailure naming the holder's pid when a living process holds it.
 */
export function lockFolder(folder: string, name: string): FolderLock {
  mkdirSync(folder, { recursive: true });
  const pidFile = join(folder, `${name}.lock.pid`);
  const database = new DatabaseSync(join(folder, `${name}.lock`));
  try {
    database.exec("PRAGMA busy_timeout = 0; PRAGMA journal_mode = MEMORY; BEGIN EXCLUSIVE");
  } catch (error) {
    database.close();
    if (!isBusy(error)) throw error;
    throw new StartFailure(
      `${folder} is in use by process ${holderPid(pidFile)}: stop it, or choose another folder`,
    );
  }
  writeFileSync(pidFile, `${process.pid}\n`);
  return { release: () => database.isOpen && database.close() };
}

function isBusy(error: unknown): boolean {
  const SQLITE_BUSY = 5;
  return error instanceof Error && "errcode" in error && error.errcode === SQLITE_BUSY;
}

/** Only for the message: the holder writes it just after taking the lock, so for an instant it is missing or old. */
function holderPid(pidFile: string): string {
  try {
    return readFileSync(pidFile, "utf8").trim();
  } catch {
    return "(just starting)";
  }
}
