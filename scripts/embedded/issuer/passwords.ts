/** Owns passwords: which ones may be chosen, and how they are kept (scrypt, RFC 7914). */
import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from "node:crypto";

/** `scrypt$<N>$<r>$<p>$<salt>$<hash>`, the last two in base64url. */
export type PasswordHash = string;

/** OWASP's figures for 32 MiB each: what a guess costs in time it also costs in memory. */
const cost = { N: 2 ** 15, r: 8, p: 3 } as const;
const hashBytes = 32;
const memoryMaxBytes = 256 * 1024 * 1024;

export const passwordLength = { min: 12, max: 256 } as const;

/** What is wrong with a password that somebody wants; undefined: nothing. */
export const passwordFault = (password: string, email: string): string | undefined => {
  const length = [...password].length;
  if (length < passwordLength.min) return `Use at least ${passwordLength.min} characters.`;
  if (length > passwordLength.max) return `Use at most ${passwordLength.max} characters.`;
  if (new Set(password).size < 5) return "Use more different characters.";
  const lower = password.toLowerCase();
  const [mailbox = ""] = email.toLowerCase().split("@");
  if (
    lower.includes(email.toLowerCase()) ||
    lower === mailbox.repeat(Math.ceil(lower.length / mailbox.length))
  )
    return "Don't use your e-mail address.";
  return undefined;
};

/** @param p how many passes; one is enough for a password that was drawn at random */
export const hashPassword = async (password: string, p: number = cost.p): Promise<PasswordHash> => {
  const salt = randomBytes(16);
  const hash = await derive(password, salt, { ...cost, p });
  return ["scrypt", cost.N, cost.r, p, salt.toString("base64url"), hash.toString("base64url")].join("$");
};

/** For users that don't exist: looking takes as long as for one that does. */
const nobody = `scrypt$${cost.N}$${cost.r}$${cost.p}$${"A".repeat(22)}$${"A".repeat(43)}`;

/** @param hash undefined: nobody has this password, which takes as long to find out as a wrong one */
export const verifyPassword = async (password: string, hash: PasswordHash | undefined): Promise<boolean> => {
  const [scheme, N, r, p, salt = "", wanted = ""] = (hash ?? nobody).split("$");
  if (scheme !== "scrypt") throw new Error("a password hash of an unknown scheme");
  const options = { N: Number(N), r: Number(r), p: Number(p) };
  // A password is never longer than this; whoever sends a megabyte shall not have it hashed.
  const given = await derive(
    password.slice(0, passwordLength.max * 2),
    Buffer.from(salt, "base64url"),
    options,
  );
  const isSame = timingSafeEqual(given, Buffer.from(wanted, "base64url"));
  return isSame && hash !== undefined;
};

const derive = (password: string, salt: Buffer, options: ScryptOptions): Promise<Buffer> =>
  new Promise((resolve, reject) =>
    // The same letters typed on different keyboards are the same password (RFC 8265, section 4.2).
    scrypt(
      password.normalize("NFKC"),
      salt,
      hashBytes,
      { ...options, maxmem: memoryMaxBytes },
      (error, key) => (error === null ? resolve(key) : reject(error)),
    ),
  );
