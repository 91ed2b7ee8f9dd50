/** Owns how far one sign-in is, and what it still needs. Pure; the checks themselves are sign-in.ts's. */
import type { Sealed } from "../../../actors/runtime/seal.ts";
import type { AirportOperatorRule, FactorKind, RiskSignal } from "./second-factor.ts";
import { needsSecondFactor, offeredFactors } from "./second-factor.ts";
import { enrolledOf, type Membership, type User } from "./users.ts";

/** What is known of one sign-in, from the right password on. */
export interface SignIn {
  /** The uid of oidc-provider's interaction, which the browser's cookie names. */
  _id: string;
  userId: string;
  /** The airline's code, once it is known. */
  airline?: string;
  /** What spoke against it when the password came. */
  signals: RiskSignal[];
  /** Answered with success. */
  factor?: FactorKind;
  /** A strong factor was enrolled during this sign-in. */
  enrolled?: boolean;
  /** Fresh ones that the user hasn't confirmed to have seen: JSON, sealed. */
  recoveryCodes?: Sealed;
  /** Of an authenticator app that is being enrolled. */
  pendingTotp?: Sealed;
  /** Of the passkey that is being asked for; taken away by the first answer. */
  challenge?: string;
  smsCode?: { hash: string; expiresAt: Date };
  expiresAt: Date;
}

/** Long enough to install an authenticator app; oidc-provider forgets its interaction then as well. */
export const signInLifetimeSeconds = 30 * 60;

/** When the right password came: all that the sign-in gives counts from then on, so that an end in between ends it too. */
export const begunAt = ({ expiresAt }: Pick<SignIn, "expiresAt">): Date =>
  new Date(expiresAt.getTime() - signInLifetimeSeconds * 1000);

export type Stage =
  | { at: "password" }
  | { at: "organization"; memberships: readonly Membership[] }
  | { at: "second-factor"; membership: Membership; offered: readonly FactorKind[] }
  | { at: "enrolment"; membership: Membership }
  | { at: "recovery-codes"; membership: Membership }
  | { at: "finished"; membership: Membership };

/** The one that the sign-in is for; undefined as long as the user has to choose. */
const membershipOf = (signIn: SignIn, { memberships }: User): Membership | undefined => {
  const [only, ...others] = memberships;
  return others.length === 0 ? only : memberships.find(({ airline }) => airline === signIn.airline);
};

/** @param rule of the membership's airline */
export const stageOf = (
  signIn: SignIn | undefined,
  user: User | undefined,
  rule: AirportOperatorRule,
): Stage => {
  if (signIn === undefined || user === undefined || user.disabledAt !== undefined) return { at: "password" };
  // Taken away since, as by a reset of the factors: what was begun with it is over.
  if (user.passwordHash === undefined) return { at: "password" };
  if (user.memberships.length === 0) return { at: "password" };
  const membership = membershipOf(signIn, user);
  if (membership === undefined) return { at: "organization", memberships: user.memberships };
  if (signIn.recoveryCodes !== undefined) return { at: "recovery-codes", membership };
  if (signIn.factor === undefined) {
    if (!needsSecondFactor(membership.role, rule, signIn.signals)) return { at: "finished", membership };
    const offered = offeredFactors(membership.role, enrolledOf(user));
    return offered.length === 0
      ? { at: "enrolment", membership }
      : { at: "second-factor", membership, offered };
  }
  // Who needed a recovery code has lost the factor: without a new one the codes would run out.
  if (signIn.factor === "recovery-code" && signIn.enrolled !== true) return { at: "enrolment", membership };
  return { at: "finished", membership };
};

/** Authentication methods as ID tokens name them (RFC 8176). */
export const methodsOf = ({ factor }: SignIn): string[] => {
  const named = { totp: "otp", passkey: "hwk", sms: "sms", "recovery-code": "otp" } as const;
  return factor === undefined ? ["pwd"] : ["pwd", named[factor], "mfa"];
};
