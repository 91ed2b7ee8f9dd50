/** Owns the keys of a surface whose tokens we sign ourselves: the one that signs, all that are accepted, and their change while running. */
import { readFileSync } from "node:fs";
import { createLocalJWKSet, type JSONWebKeySet, type JWTVerifyGetKey } from "jose";
import type { Logger } from "pino";
import { ConfigError } from "../../config/config.ts";
import {
  type PublishedKey,
  parseSigningKeys,
  type SigningAlgorithm,
  type SigningKey,
  type SigningKeys,
} from "../../config/signing-keys.ts";
import { followFile } from "./followed-file.ts";

/** Where a verifier has its keys from. */
export interface KeySource {
  resolve: JWTVerifyGetKey;
  /** Another number once other keys count: what former ones have verified is to be verified anew. */
  generation(): number;
}

export interface KeyRing extends KeySource {
  /** What signs now. */
  signing(): SigningKey;
  /** The key set that anyone may check tokens with; no private member is in it. */
  published(): PublishedKey[];
  close(): void;
}

/** @throws ConfigError naming the setting, when the file cannot be read or holds no such keys */
export const openKeyRing = (
  setting: "PARTNER_SIGNING_KEY_FILE" | "PASSENGER_SIGNING_KEY_FILE",
  file: string,
  algorithm: SigningAlgorithm,
  log: Logger,
): KeyRing => {
  let text: string;
  let keys: SigningKeys;
  try {
    text = readFileSync(file, "utf8");
    keys = parseSigningKeys(text, algorithm);
  } catch (error) {
    throw new ConfigError(`Configuration: ${setting}: ${file} ${(error as Error).message}`);
  }
  let resolve = createLocalJWKSet({ keys: keys.published } as JSONWebKeySet);
  let generation = 0;
  const followed = followFile(
    file,
    text,
    (changed) => {
      keys = parseSigningKeys(changed, algorithm);
      resolve = createLocalJWKSet({ keys: keys.published } as JSONWebKeySet);
      generation += 1;
      const kids = keys.published.map(({ kid }) => kid);
      log.info({ setting, signing: keys.signing.kid, accepted: kids }, "signing keys changed");
    },
    (error) => log.error({ setting, err: error }, "signing keys not taken over; the former ones stay"),
  );
  return {
    resolve: (header, token) => resolve(header, token),
    generation: () => generation,
    signing: () => keys.signing,
    published: () => keys.published,
    close: () => followed.close(),
  };
};
