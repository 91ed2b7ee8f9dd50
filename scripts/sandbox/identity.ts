/** Owns what the sandbox keeps of itself in its folder: seed and API keys, so that a restart is the same sandbox. */
import { randomBytes } from "node:crypto";
import { mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { vendorNames } from "./vendors/index.ts";

export interface Identity {
  seed: string;
  apiKeys: Record<string, string>;
  /** Of every vendor; those whose dialect has a second one use it. */
  apiSecrets: Record<string, string>;
  /** Likewise: those that send webhooks sign with it. */
  webhookSecrets: Record<string, string>;
}

const readKept = (file: string): Partial<Identity> => {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as Identity;
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ENOENT")) throw error;
    return {};
  }
};

/** Those that are kept stay; a vendor that is new gets one. */
const forEach = (kept: Record<string, string> | undefined, prefix: string): Record<string, string> =>
  Object.fromEntries(
    vendorNames.map((name) => [
      name,
      kept?.[name] ?? `${prefix}${name}_${randomBytes(18).toString("base64url")}`,
    ]),
  );

/** Reads the folder's identity, or makes one; `seed` counts for a new folder only. Readable by its owner alone. */
export const identityIn = (folder: string, seed: string): Identity => {
  mkdirSync(folder, { recursive: true });
  const file = join(folder, "sandbox.json");
  const kept = readKept(file);
  const identity: Identity = {
    seed: kept.seed ?? seed,
    apiKeys: forEach(kept.apiKeys, ""),
    apiSecrets: forEach(kept.apiSecrets, "secret_"),
    webhookSecrets: forEach(kept.webhookSecrets, "whsec_"),
  };
  const text = `${JSON.stringify(identity, null, 2)}\n`;
  if (JSON.stringify(kept) === JSON.stringify(identity)) return identity;
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, text, { mode: 0o600 });
  renameSync(draft, file);
  return identity;
};
