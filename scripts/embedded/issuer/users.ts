/** Owns the operators' accounts: who they are, in which role at which airline, and what they sign in with. Checking that is its neighbours'. */
import { createHash, randomBytes, randomUUID } from "node:crypto";
import type { Sealed } from "../../../actors/runtime/seal.ts";
import type { Role } from "../../../schemas/vocabulary.ts";
import type { IssuerDocuments } from "./documents.ts";
import type { PasswordHash } from "./passwords.ts";
import type { AirportOperatorRule, Enrolled } from "./second-factor.ts";
import { usualAirportOperatorRule } from "./second-factor.ts";

/** One person's place at one airline. */
export interface Membership {
  /** The airline's code. */
  airline: string;
  role: Role;
  /** Undefined: all of the airline's airports. */
  airport?: string;
  /** The tokens' `sub`: one per person and airline, so that no airline learns where else somebody works. */
  subject: string;
}

export interface Passkey {
  /** The credential id, base64url. */
  id: string;
  /** COSE, base64url. */
  publicKey: string;
  /** The authenticator's signature counter; 0 for those that have none. */
  counter: number;
  transports: string[];
  enrolledAt: Date;
}

export interface User {
  _id: string;
  /** In lower case. */
  email: string;
  name: string;
  /** Undefined until the invitation is accepted. */
  passwordHash?: PasswordHash;
  /** At most one per airline. */
  memberships: Membership[];
  /** `lastStep`: of the last code that was taken, in 30 s since the epoch. */
  totp?: { secret: Sealed; lastStep: number };
  passkeys: Passkey[];
  /** E.164. */
  phone?: Sealed;
  /** Digests of those that are left. */
  recoveryCodes: string[];
  invitation?: { tokenHash: string; expiresAt: Date };
  disabledAt?: Date;
  lastSignInAt?: Date;
  createdAt: Date;
}

export interface Organization {
  /** The airline's code. */
  _id: string;
  airportOperatorRule: AirportOperatorRule;
}

export interface Account {
  user: User;
  membership: Membership;
}

export const enrolledOf = ({ totp, passkeys, phone, recoveryCodes }: User): Enrolled => ({
  totp: totp !== undefined,
  passkeys: passkeys.length,
  phone: phone !== undefined,
  recoveryCodes: recoveryCodes.length,
});

export const normalEmail = (email: string): string => email.trim().toLowerCase();

/** Good for secrets that nobody guesses (80 random bits and more); passwords take scrypt. */
export const digestOf = (secret: string): string => createHash("sha256").update(secret).digest("base64url");

/** By index `email`. */
export const userByEmail = async ({ users }: IssuerDocuments, email: string): Promise<User | undefined> =>
  (await users.findOne({ email: normalEmail(email) })) ?? undefined;

/** Who a token's `sub` is, if that person may still have tokens. By index `memberships.subject`. */
export const accountOf = async (
  { users }: IssuerDocuments,
  subject: string,
): Promise<Account | undefined> => {
  const user = await users.findOne({ "memberships.subject": subject });
  const membership = user?.memberships.find((one) => one.subject === subject);
  if (user === null || membership === undefined || user.disabledAt !== undefined) return undefined;
  return { user, membership };
};

export const airportOperatorRuleOf = async (
  { organizations }: IssuerDocuments,
  airline: string,
): Promise<AirportOperatorRule> =>
  (await organizations.findOne({ _id: airline }))?.airportOperatorRule ?? usualAirportOperatorRule;

export interface NewPlace {
  email: string;
  name: string;
  airline: string;
  role: Role;
  airport?: string | undefined;
}

/**
 * Gives somebody a place at an airline, who becomes a user by it if they aren't one; their role there is replaced.
 * @returns the user as it stands now, and the place that was replaced by another
 */
export const putMembership = async (
  documents: IssuerDocuments,
  { email, name, airline, role, airport }: NewPlace,
  now: Date,
): Promise<{ user: User; replaced: Membership | undefined }> => {
  const { users } = documents;
  const created = { name, passkeys: [], recoveryCodes: [], memberships: [], createdAt: now };
  await users.updateOne(
    { email: normalEmail(email) },
    { $setOnInsert: { _id: randomUUID(), ...created } },
    { upsert: true },
  );
  for (;;) {
    const user = await users.findOne({ email: normalEmail(email) });
    if (user === null) throw new Error("the user was removed meanwhile: try again");
    const held = user.memberships.find((one) => one.airline === airline);
    const place = { airline, role, subject: held?.subject ?? randomUUID(), ...(airport && { airport }) };
    const memberships = [...user.memberships.filter((one) => one !== held), place];
    const { _id, memberships: seen } = user;
    const written = await users.updateOne({ _id, memberships: seen }, { $set: { memberships, name } });
    const isChanged = held !== undefined && (held.role !== role || held.airport !== place.airport);
    if (written.matchedCount === 1) {
      return { user: { ...user, name, memberships }, replaced: isChanged ? held : undefined };
    }
  }
};

/** How long an invitation may wait for its user. */
const invitationLifetimeMs = 72 * 3_600_000;

/** @returns the secret of the link, which is kept nowhere; an earlier link is void by it */
export const invite = async ({ users }: IssuerDocuments, userId: string, now: Date): Promise<string> => {
  const secret = randomBytes(32).toString("base64url");
  const expiresAt = new Date(now.getTime() + invitationLifetimeMs);
  await users.updateOne(
    { _id: userId },
    { $set: { invitation: { tokenHash: digestOf(secret), expiresAt } } },
  );
  return secret;
};

/** By index `invitation.tokenHash`. */
export const invitedUser = async (
  { users }: IssuerDocuments,
  secret: string,
  now: Date,
): Promise<User | undefined> => {
  const user = await users.findOne({ "invitation.tokenHash": digestOf(secret) });
  return user !== null && user.invitation !== undefined && user.invitation.expiresAt > now ? user : undefined;
};

/** False: the link was used in the meantime. */
export const acceptInvitation = async (
  { users }: IssuerDocuments,
  secret: string,
  passwordHash: PasswordHash,
): Promise<boolean> => {
  const accepted = await users.updateOne(
    { "invitation.tokenHash": digestOf(secret) },
    { $set: { passwordHash }, $unset: { invitation: "" } },
  );
  return accepted.matchedCount === 1;
};
