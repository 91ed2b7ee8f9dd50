/** Owns which operators need a second factor and which ones may serve (contract, "Operator", MFA). Pure; asking and checking are sign-in's. */
import type { Role } from "../../../schemas/vocabulary.ts";

/** What an organization asks of its AIRPORT_OPERATORs; the other roles always need a second factor. */
export const airportOperatorRules = ["never", "adaptive", "always"] as const;
export type AirportOperatorRule = (typeof airportOperatorRules)[number];
export const usualAirportOperatorRule: AirportOperatorRule = "adaptive";

export type FactorKind = "totp" | "passkey" | "sms" | "recovery-code";

/** What a user has to answer with. */
export interface Enrolled {
  totp: boolean;
  passkeys: number;
  phone: boolean;
  recoveryCodes: number;
}

export type RiskSignal = "new-device" | "new-network" | "recent-failures" | "long-absence";

export interface RiskFacts {
  /** The networks that the browser was seen in; undefined: the user has never signed in with it. */
  deviceNetworks: readonly string[] | undefined;
  network: string;
  /** Wrong passwords and codes of late, of this user. */
  recentFailures: number;
  lastSignInAt: Date | undefined;
}

const recentFailuresMax = 2;
const absenceMaxMs = 30 * 86_400_000;

/** Why a sign-in with the right password may not be the user's. Empty: nothing speaks against it. */
export const riskSignals = (
  { deviceNetworks, network, recentFailures, lastSignInAt }: RiskFacts,
  now: Date,
): RiskSignal[] => {
  const signals: RiskSignal[] = [];
  if (deviceNetworks === undefined) signals.push("new-device");
  else if (!deviceNetworks.includes(network)) signals.push("new-network");
  if (recentFailures > recentFailuresMax) signals.push("recent-failures");
  if (lastSignInAt !== undefined && now.getTime() - lastSignInAt.getTime() > absenceMaxMs)
    signals.push("long-absence");
  return signals;
};

/** Whether a sign-in in this role takes more than the password. */
export const needsSecondFactor = (
  role: Role,
  rule: AirportOperatorRule,
  signals: readonly RiskSignal[],
): boolean => {
  if (role !== "AIRPORT_OPERATOR") return true;
  if (rule === "adaptive") return signals.length > 0;
  return rule === "always";
};

/** Whether there is one of the factors that every role may rely on: an authenticator app or a passkey. */
const hasStrongFactor = ({ totp, passkeys }: Enrolled): boolean => totp || passkeys > 0;

/**
 * What the user may answer with, the usual first. Empty: a strong factor is to be enrolled first. SMS is the last resort
 * of somebody whose strong factor is not at hand, never that of an ADMIN, and never the only factor.
 */
export const offeredFactors = (role: Role, enrolled: Enrolled): FactorKind[] => {
  if (!hasStrongFactor(enrolled)) return [];
  const offered: FactorKind[] = [];
  if (enrolled.passkeys > 0) offered.push("passkey");
  if (enrolled.totp) offered.push("totp");
  if (enrolled.recoveryCodes > 0) offered.push("recovery-code");
  if (enrolled.phone && role !== "ADMIN") offered.push("sms");
  return offered;
};

/** What tells networks apart: the first three bytes of an IPv4 address, the first 48 bits of an IPv6 one. */
export const networkOf = (address: string): string => {
  if (!address.includes(":")) return address.split(".").slice(0, 3).join(".");
  const [head = "", tail = ""] = address.toLowerCase().split("::");
  const groups = (part: string): string[] => part.split(":").filter(Boolean);
  const zeros = address.includes("::") ? 8 - groups(head).length - groups(tail).length : 0;
  return [...groups(head), ...Array<string>(zeros).fill("0"), ...groups(tail)]
    .slice(0, 3)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(":");
};
