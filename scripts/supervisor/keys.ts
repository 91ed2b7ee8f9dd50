// Makes the development keys of an instance once and keeps them; production brings its own keys by configuration.
import { randomBytes } from "node:crypto";
import { existsSync, linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { calculateJwkThumbprint, exportJWK, generateKeyPair, type JWK } from "jose";
import type { SigningAlgorithm } from "../../config/signing-keys.ts";

/** The files of a keys folder: private JWKs, the operators' public key set, and 32 bytes in base64. */
export const keyFiles = {
  operator: "operator.jwk",
  operatorJwks: "operator.jwks.json",
  partner: "partner.jwk",
  passenger: "passenger.jwk",
  seal: "seal.key",
} as const;

/**
 * Makes what is missing in `dir`, readable by its owner alone (0600): RS256 keys for operators and partners, Ed25519 for
 * passengers, each a private JWK with `alg` and `kid` (its RFC 7638 thumbprint), and the sealing key.
 * Keys that stand there are never replaced, also when two processes start at once.
 */
export async function ensureDevelopmentKeys(dir: string): Promise<void> {
  mkdirSync(dir, { recursive: true, mode: 0o700 });
  await ensure(keyFiles.operator, () => newSigningKey("RS256"));
  await ensure(keyFiles.partner, () => newSigningKey("RS256"));
  await ensure(keyFiles.passenger, () => newSigningKey("EdDSA"));
  await ensure(keyFiles.seal, async () => randomBytes(32).toString("base64"));
  const { kty, n, e, kid, alg, use } = JSON.parse(readFileSync(join(dir, keyFiles.operator), "utf8")) as JWK;
  await ensure(keyFiles.operatorJwks, async () => JSON.stringify({ keys: [{ kty, n, e, kid, alg, use }] }));

  async function ensure(name: string, make: () => Promise<string>): Promise<void> {
    const file = join(dir, name);
    if (!existsSync(file)) createOnce(file, await make());
  }
}

/** A private JWK as text, named by its thumbprint (RFC 7638), with the moment of its making. */
export async function newSigningKey(alg: SigningAlgorithm): Promise<string> {
  const { privateKey } = await generateKeyPair(alg, {
    extractable: true,
    ...(alg === "EdDSA" && { crv: "Ed25519" }),
  });
  const jwk = await exportJWK(privateKey);
  return JSON.stringify({
    ...jwk,
    kid: await calculateJwkThumbprint(jwk),
    alg,
    use: "sig",
    createdAt: new Date().toISOString(),
  });
}

/** A link appears whole or not at all, and fails when another process has linked its own first. */
function createOnce(file: string, text: string): void {
  const draft = `${file}.${process.pid}`;
  writeFileSync(draft, text, { mode: 0o600 });
  try {
    linkSync(draft, file);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
  } finally {
    rmSync(draft);
  }
}
