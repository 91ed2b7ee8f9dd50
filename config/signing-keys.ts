/** Owns what a signing key file may hold, one private JWK or a JWK Set (RFC 7517), and what follows from it. Reading it is its users'. */
import { createPrivateKey, createPublicKey, type JsonWebKey, type KeyObject } from "node:crypto";

export type SigningAlgorithm = "RS256" | "EdDSA";

export interface SigningKey {
  kid: string;
  key: KeyObject;
}

/** A public key as it is published. */
export type PublishedKey = JsonWebKey & { kid: string; alg: SigningAlgorithm; use: "sig" };

export interface SigningKeys {
  /** The first private one of the file. */
  signing: SigningKey;
  /** All of the file, in its order: whatever one of them has signed is accepted. */
  published: PublishedKey[];
}

const keysMax = 20;
/** RFC 7518 §3.3. */
const modulusBitsMin = 2048;

/** @throws TypeError that says what is wrong, and holds nothing of the file */
export const parseSigningKeys = (text: string, algorithm: SigningAlgorithm): SigningKeys => {
  const keys = keysOf(text);
  if (keys.length === 0 || keys.length > keysMax)
    throw new TypeError(`holds no key, or more than ${keysMax}`);
  const published = keys.map((key, i) => publishedOf(key, algorithm, `key ${i + 1}`));
  if (new Set(published.map(({ kid }) => kid)).size < published.length)
    throw new TypeError("has two keys of one kid");
  const first = keys.findIndex(({ d }) => d !== undefined);
  const [jwk, half] = [keys[first], published[first]];
  if (jwk === undefined || half === undefined) throw new TypeError("holds no private key");
  return { signing: { kid: half.kid, key: createPrivateKey({ key: jwk, format: "jwk" }) }, published };
};

const keysOf = (text: string): JsonWebKey[] => {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    // The parser's own message may quote the text.
    throw new TypeError("is not JSON");
  }
  const { keys } = Object(parsed) as { keys?: unknown };
  const all = keys === undefined ? [parsed] : keys;
  if (!Array.isArray(all)) throw new TypeError("is no JWK Set");
  return all.map((key) => Object(key) as JsonWebKey);
};

/** A private key's public half is worked out anew: one that was written down wrongly would check nothing. */
const publishedOf = (jwk: JsonWebKey, alg: SigningAlgorithm, name: string): PublishedKey => {
  const { kid, d } = jwk as { kid?: unknown; d?: unknown };
  if (typeof kid !== "string" || kid === "" || kid.length > 200) throw new TypeError(`${name} has no kid`);
  if (jwk.alg !== undefined && jwk.alg !== alg) throw new TypeError(`${name} is not for ${alg}`);
  if (jwk.use !== undefined && jwk.use !== "sig") throw new TypeError(`${name} is not for signing`);
  const half = publicHalf(jwk, name, d !== undefined);
  const type = half.asymmetricKeyType;
  if (type !== (alg === "RS256" ? "rsa" : "ed25519")) throw new TypeError(`${name} is not for ${alg}`);
  if (type === "rsa" && (half.asymmetricKeyDetails?.modulusLength ?? 0) < modulusBitsMin)
    throw new TypeError(`${name} has fewer than ${modulusBitsMin} bits`);
  return { ...half.export({ format: "jwk" }), kid, alg, use: "sig" };
};

const publicHalf = (jwk: JsonWebKey, name: string, isPrivate: boolean): KeyObject => {
  try {
    const key = { key: jwk, format: "jwk" } as const;
    return isPrivate ? createPublicKey(createPrivateKey(key)) : createPublicKey(key);
  } catch {
    throw new TypeError(`${name} is no key that can be read`);
  }
};
