/** Owns which browsers a user has signed in with, by a cookie that says nothing else: what makes a sign-in an unusual one. */
import { randomBytes } from "node:crypto";
import type { IssuerDocuments } from "./documents.ts";
import { digestOf } from "./users.ts";

export interface KnownDevice {
  /** User and digest of the cookie: several people share a desk's browser. */
  _id: string;
  userId: string;
  /** The last few, newest last. */
  networks: string[];
  expiresAt: Date;
}

/** Since its last use. */
export const deviceLifetimeSeconds = 180 * 86_400;
const networksMax = 5;

export const newDeviceToken = (): string => randomBytes(32).toString("base64url");

const idOf = (userId: string, token: string): string => `${userId}:${digestOf(token)}`;

/** The networks that it was seen in; undefined: this user has never signed in with it. */
export const networksOfDevice = async (
  { devices }: IssuerDocuments,
  userId: string,
  token: string | undefined,
  now: Date,
): Promise<string[] | undefined> => {
  if (token === undefined) return undefined;
  const found = await devices.findOne({ _id: idOf(userId, token), expiresAt: { $gt: now } });
  return found?.networks;
};

export const rememberDevice = async (
  documents: IssuerDocuments,
  seen: { userId: string; token: string; network: string },
  now: Date,
): Promise<void> => {
  const { userId, token, network } = seen;
  const known = (await networksOfDevice(documents, userId, token, now)) ?? [];
  const networks = [...known.filter((one) => one !== network), network].slice(-networksMax);
  const expiresAt = new Date(now.getTime() + deviceLifetimeSeconds * 1000);
  await documents.devices.updateOne(
    { _id: idOf(userId, token) },
    { $set: { userId, networks, expiresAt } },
    { upsert: true },
  );
};
