// The subcommands about the keys that sign partners' and passengers' tokens: which there are, and the next step of a rotation.
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseSigningKeys, type SigningAlgorithm } from "../../config/signing-keys.ts";
import { readInstance } from "../supervisor/environment.ts";
import { keyFiles, newSigningKey } from "../supervisor/keys.ts";
import { StartFailure } from "../supervisor/start-failure.ts";
import { needed, type Subcommand, type Values } from "./subcommand.ts";
import { table } from "./table.ts";

interface SurfaceFile {
  file: string;
  algorithm: SigningAlgorithm;
  /** Of the longest token that one of its keys has signed (contract, "Limits"). */
  tokenLifetimeMs: number;
}

const surfaces: Record<string, SurfaceFile> = {
  partner: { file: keyFiles.partner, algorithm: "RS256", tokenLifetimeMs: 3_600_000 },
  passenger: { file: keyFiles.passenger, algorithm: "EdDSA", tokenLifetimeMs: 7 * 86_400_000 },
};

/** Others may keep the key set for five minutes, and gateways take a changed file up within seconds. */
const publishedBeforeMs = 6 * 60_000;
/** What a gateway may still sign with the former key while it takes the file up. */
const slackMs = 60_000;

/** A key of a file; the members of ours that no reader of JWKs looks at say how far its rotation is. */
export interface FileKey {
  kid: string;
  /** ISO 8601; absent: nobody knows, so long ago. */
  createdAt?: string;
  /** Since when it is the first. */
  signsSince?: string;
  [member: string]: unknown;
}

export type RotationStep =
  | { step: "add"; keys: FileKey[]; next: Date }
  | { step: "promote"; keys: FileKey[]; next: Date }
  | { step: "remove"; keys: FileKey[]; removed: string[] }
  | { step: "wait"; until: Date; what: "promote" | "remove" };

/**
 * What a rotation does next with a file's keys, the first of which signs: adds a new one, which all accept and nobody uses; makes
 * it the first once everybody knows it; removes the others once no token of theirs is alive.
 */
export const nextStep = (
  keys: readonly FileKey[],
  fresh: FileKey,
  tokenLifetimeMs: number,
  now: Date,
): RotationStep => {
  const [first, second] = keys;
  if (first === undefined) throw new StartFailure("the file holds no key");
  const after = (time: string | undefined, ms: number): Date => new Date((time ? Date.parse(time) : 0) + ms);
  if (second === undefined)
    return { step: "add", keys: [first, fresh], next: new Date(now.getTime() + publishedBeforeMs) };
  const isOlder = (a: FileKey, b: FileKey): boolean => (a.createdAt ?? "") < (b.createdAt ?? "");
  const newest = keys.reduce((a, b) => (isOlder(a, b) ? b : a));
  if (newest !== first) {
    const until = after(newest.createdAt, publishedBeforeMs);
    if (until > now) return { step: "wait", until, what: "promote" };
    const promoted = { ...newest, signsSince: now.toISOString() };
    const next = new Date(now.getTime() + tokenLifetimeMs + slackMs);
    return { step: "promote", keys: [promoted, ...keys.filter((key) => key !== newest)], next };
  }
  const until = after(first.signsSince ?? first.createdAt, tokenLifetimeMs + slackMs);
  if (until > now) return { step: "wait", until, what: "remove" };
  return { step: "remove", keys: [first], removed: keys.slice(1).map(({ kid }) => kid) };
};

export const keySubcommands: Record<string, Subcommand> = {
  "keys list": {
    usage: "keys list",
    summary:
      "lists the keys that sign partners' and passengers' tokens, those that are accepted, and their age",
    options: {},
    async run(values) {
      const rows = Object.entries(surfaces).flatMap(([surface, { file }]) =>
        keysIn(pathOf(values, file)).map(({ kid, createdAt }, i) => ({
          surface,
          kid,
          does: i === 0 ? "signs" : "accepted",
          createdAt: createdAt ?? null,
          ageDays:
            createdAt === undefined ? null : Math.floor((Date.now() - Date.parse(createdAt)) / 86_400_000),
        })),
      );
      const text = table(
        ["SURFACE", "KEY", "DOES", "AGE IN DAYS"],
        rows.map(({ surface, kid, does, ageDays }) => [surface, kid, does, String(ageDays ?? "unknown")]),
      );
      return { json: rows, text };
    },
  },
  "keys rotate": {
    usage: "keys rotate --surface partner|passenger",
    summary:
      "does the next step of a rotation without downtime and says when to call it again: adds a key, lets it sign, removes the former",
    options: { surface: { type: "string" } },
    async run(values) {
      const name = needed(values, "surface");
      const surface = surfaces[name];
      if (surface === undefined)
        throw new StartFailure(`--surface ${name}: one of ${Object.keys(surfaces).join(", ")} is needed`);
      const path = pathOf(values, surface.file);
      // Loaded when needed: it warns that it is experimental.
      const { lockFolder } = await import("../supervisor/folder-lock.ts");
      const lock = lockFolder(readInstance(String(values.data)).keysDir, "rotation");
      try {
        const fresh = JSON.parse(await newSigningKey(surface.algorithm)) as FileKey;
        const done = nextStep(keysIn(path), fresh, surface.tokenLifetimeMs, new Date());
        if (done.step !== "wait") write(path, done.keys, surface.algorithm);
        return { json: shown(done), text: sentence(done) };
      } finally {
        lock.release();
      }
    },
  },
};

const pathOf = (values: Values, file: string): string =>
  join(readInstance(String(values.data)).keysDir, file);

const keysIn = (path: string): FileKey[] => {
  const parsed = JSON.parse(readFileSync(path, "utf8")) as FileKey | { keys: FileKey[] };
  return Array.isArray(parsed.keys) ? parsed.keys : [parsed as FileKey];
};

/** Whole or not at all, for its owner alone, and nothing that a gateway would refuse. */
const write = (path: string, keys: readonly FileKey[], algorithm: SigningAlgorithm): void => {
  const text = JSON.stringify({ keys });
  parseSigningKeys(text, algorithm);
  writeFileSync(`${path}.new`, text, { mode: 0o600, flush: true });
  renameSync(`${path}.new`, path);
};

const shown = (done: RotationStep): Record<string, unknown> => {
  if (done.step === "wait") return { step: done.step, for: done.what, until: done.until.toISOString() };
  const kids = done.keys.map(({ kid }) => kid);
  return { step: done.step, signs: kids[0], accepted: kids, ...("next" in done ? { next: done.next } : {}) };
};

const sentence = (done: RotationStep): string => {
  const kid = done.step === "wait" ? "" : (done.keys.at(done.step === "add" ? -1 : 0)?.kid ?? "");
  const at = (time: Date): string => time.toISOString().slice(0, 19).concat("Z");
  switch (done.step) {
    case "add":
      return `added ${kid}: published and accepted within seconds, and not signing yet\nnext: the same command after ${at(done.next)} lets it sign`;
    case "promote":
      return `${kid} signs now; tokens of the former key are accepted as before\nnext: the same command after ${at(done.next)}, when the last of them has expired, removes the former key`;
    case "remove":
      return `removed ${done.removed.join(", ")}; ${kid} is the only key\nthe rotation is done`;
    case "wait":
      return done.what === "promote"
        ? `nothing done: who keeps the public keys may not know the new one before ${at(done.until)}`
        : `nothing done: tokens of the former key may live until ${at(done.until)}`;
  }
};
