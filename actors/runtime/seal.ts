/** Owns sealing: secrets that must be read back are kept encrypted and authenticated (AES-256-GCM, NIST SP 800-38D). */
import { createCipheriv, createDecipheriv, createHash, createHmac, randomBytes } from "node:crypto";

/** `v1.<key id>.<iv>.<ciphertext>.<tag>`, the last three in base64url. */
export type Sealed = string;

/** The text is not ours, was changed, or was sealed under another key. */
export class SealError extends Error {}

const version = "v1";
const ivBytes = 12;
const tagBytes = 16;

/** Tells keys apart without saying anything of them. */
const keyIdOf = (key: Buffer): string =>
  createHash("sha256").update("stopover seal key id\n").update(key).digest("hex").slice(0, 8);

/** @param key 32 bytes. The same text never gives the same result twice. */
export const seal = (key: Buffer, text: string): Sealed => {
  const keyId = keyIdOf(key);
  const iv = randomBytes(ivBytes);
  const cipher = createCipheriv("aes-256-gcm", key, iv);
  cipher.setAAD(Buffer.from(`${version}.${keyId}`));
  const ciphertext = Buffer.concat([cipher.update(text, "utf8"), cipher.final()]);
  const parts = [iv, ciphertext, cipher.getAuthTag()].map((part) => part.toString("base64url"));
  return [version, keyId, ...parts].join(".");
};

/** @throws SealError naming what is wrong, never the content */
export const unseal = (key: Buffer, sealed: Sealed): string => {
  const [foundVersion, keyId, ...parts] = sealed.split(".");
  if (foundVersion !== version || parts.length !== 3)
    throw new SealError("not a sealed text of this version");
  if (keyId !== keyIdOf(key)) throw new SealError(`sealed under another key (${keyId?.slice(0, 8)})`);
  const [iv, ciphertext, tag] = parts.map((part) => Buffer.from(part, "base64url")) as [
    Buffer,
    Buffer,
    Buffer,
  ];
  if (iv.length !== ivBytes || tag.length !== tagBytes)
    throw new SealError("not a sealed text of this version");
  const decipher = createDecipheriv("aes-256-gcm", key, iv, { authTagLength: tagBytes });
  decipher.setAAD(Buffer.from(`${version}.${keyId}`));
  decipher.setAuthTag(tag);
  try {
    return Buffer.concat([decipher.update(ciphertext), decipher.final()]).toString("utf8");
  } catch {
    throw new SealError("the sealed text was changed");
  }
};

/** The same for the same text under the same key: tells whether a secret is a new one without opening the old. */
export const fingerprint = (key: Buffer, text: string): string =>
  createHmac("sha256", key).update(`stopover fingerprint\n${text}`).digest("base64url").slice(0, 22);
