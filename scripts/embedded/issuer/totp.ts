/** Owns time-based one-time passwords (RFC 6238): six digits every 30 s, each taken once. */
import { Secret, TOTP } from "otpauth";
import { type Sealed, seal, unseal } from "../../../actors/runtime/seal.ts";
import type { IssuerDocuments } from "./documents.ts";
import type { User } from "./users.ts";

const periodSeconds = 30;
/** A clock may be this many periods early or late. */
const window = 1;

/** 160 random bits in base32, as an authenticator app takes it. */
export const newTotpSecret = (): string => new Secret({ size: 20 }).base32;

const totpOf = (secret: string, label = "operator"): TOTP =>
  new TOTP({
    issuer: "Stopover",
    label,
    secret: Secret.fromBase32(secret),
    algorithm: "SHA1",
    digits: 6,
    period: periodSeconds,
  });

/** What a QR code for authenticator apps holds. */
export const totpUri = (secret: string, email: string): string => totpOf(secret, email).toString();

/** The code of a moment. */
export const totpCode = (secret: string, now: Date): string =>
  totpOf(secret).generate({ timestamp: now.getTime() });

/** Which period's code this is, counted since the epoch; undefined when it is none of about now. */
export const totpStep = (secret: string, code: string, now: Date): number | undefined => {
  const token = code.replaceAll(/\s/g, "");
  if (!/^\d{6}$/.test(token)) return undefined;
  const delta = totpOf(secret).validate({ token, timestamp: now.getTime(), window });
  return delta === null ? undefined : Math.floor(now.getTime() / 1000 / periodSeconds) + delta;
};

/** Takes a user's code, once: neither it nor an earlier one is taken again (RFC 6238, section 5.2). */
export const acceptTotp = async (
  { users }: IssuerDocuments,
  sealKey: Buffer,
  user: User,
  code: string,
  now: Date,
): Promise<boolean> => {
  if (user.totp === undefined) return false;
  const step = totpStep(unseal(sealKey, user.totp.secret), code, now);
  if (step === undefined) return false;
  const taken = await users.updateOne(
    { _id: user._id, "totp.secret": user.totp.secret, "totp.lastStep": { $lt: step } },
    { $set: { "totp.lastStep": step } },
  );
  return taken.matchedCount === 1;
};

/** Enrols a secret by its first code, which is taken by that. False: the code isn't the secret's. */
export const enrolTotp = async (
  { users }: IssuerDocuments,
  sealed: Sealed,
  sealKey: Buffer,
  userId: string,
  code: string,
  now: Date,
): Promise<boolean> => {
  const step = totpStep(unseal(sealKey, sealed), code, now);
  if (step === undefined) return false;
  await users.updateOne({ _id: userId }, { $set: { totp: { secret: sealed, lastStep: step } } });
  return true;
};

/** A fresh secret, sealed for the time until it is enrolled. */
export const sealedTotpSecret = (sealKey: Buffer): Sealed => seal(sealKey, newTotpSecret());
