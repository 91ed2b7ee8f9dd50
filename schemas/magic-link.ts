/** Owns the form of the tokens in magic links (contract, "Passenger"): how they are written, by what they are kept, how long they are good. */
import { createHash } from "node:crypto";
import { Problem } from "./problems.ts";

/** Seven days, from the message that the link is in. */
export const magicLinkLifetimeMs = 7 * 86_400_000;

const form = /^([A-Z0-9]{2,3})-[A-Za-z0-9_-]{43}$/;

/** Names its airline, as every id does, so that one of another airline is told from one that was guessed. @param secret 256 bits */
export const magicLinkToken = (tenant: string, secret: Buffer): string =>
  `${tenant}-${secret.toString("base64url")}`;

/** The code of the airline that it names; undefined: no token of ours is written so. */
export const airlineOfMagicLink = (token: string): string | undefined => form.exec(token)?.[1];

/** What is kept of a token. It holds 256 random bits, so that nobody gets from here to there. */
export const digestOfMagicLink = (token: string): string =>
  createHash("sha256").update(token).digest("base64url");

/** The same for every link that opens nothing: only the log tells them apart. */
export const refusedLink = (): Problem =>
  new Problem(
    "auth/login-failed",
    "This link is not good any more, or never was. Log in with your booking reference.",
  );

/** What the digest of a token finds: the message that the link was in. */
export interface MagicLinkFound {
  caseId: string;
  /** As the message was written to; its passenger may be in another by now. */
  groupId: string;
  /** Whose number or address it went to. */
  passengerUrn: string;
  /** ISO 8601 UTC. */
  madeAt: string;
}
