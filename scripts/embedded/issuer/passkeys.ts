/** Owns passkeys (WebAuthn, level 2) as a second factor: what the browser is asked, and whether its answer is good. */
import type { AuthenticationResponseJSON, RegistrationResponseJSON } from "@simplewebauthn/server";
import type { IssuerDocuments } from "./documents.ts";
import type { Passkey, User } from "./users.ts";

/** Loaded when the first passkey is used: its parsers of certificates take a quarter of a second. */
const webauthn = () => import("@simplewebauthn/server");

/** Who asks, as the browser knows it. */
export interface RelyingParty {
  /** The issuer's origin: scheme, host, port. */
  origin: string;
  /** Its host name. Browsers take no IP address for it. */
  id: string;
}

export const relyingPartyOf = (issuer: string): RelyingParty => {
  const { origin, hostname } = new URL(issuer);
  return { origin, id: hostname };
};

/** What the browser is asked, as JSON for its script, and the challenge that its answer must hold. */
export interface PasskeyRequest {
  options: object;
  challenge: string;
}

export const askForNewPasskey = async (party: RelyingParty, user: User): Promise<PasskeyRequest> => {
  const { generateRegistrationOptions } = await webauthn();
  const options = await generateRegistrationOptions({
    rpName: "Stopover",
    rpID: party.id,
    userName: user.email,
    userDisplayName: user.name,
    userID: new Uint8Array(Buffer.from(user._id)),
    attestationType: "none",
    excludeCredentials: user.passkeys.map(named),
    authenticatorSelection: { residentKey: "discouraged", userVerification: "preferred" },
  });
  return { options, challenge: options.challenge };
};

/** False: the answer is not one to this challenge, or not of an authenticator. */
export const enrolPasskey = async (
  { users }: IssuerDocuments,
  party: RelyingParty,
  userId: string,
  answer: { response: string; challenge: string },
  now: Date,
): Promise<boolean> => {
  const { verifyRegistrationResponse } = await webauthn();
  const response = parsed<RegistrationResponseJSON>(answer.response);
  if (response === undefined) return false;
  const verified = await verifyRegistrationResponse({
    response,
    expectedChallenge: answer.challenge,
    expectedOrigin: party.origin,
    expectedRPID: party.id,
    requireUserVerification: false,
  }).catch(refusal);
  if (!verified?.verified) return false;
  const { credential } = verified.registrationInfo;
  const passkey: Passkey = {
    id: credential.id,
    publicKey: Buffer.from(credential.publicKey).toString("base64url"),
    counter: credential.counter,
    transports: credential.transports ?? [],
    enrolledAt: now,
  };
  await users.updateOne({ _id: userId }, { $push: { passkeys: passkey } });
  return true;
};

export const askForPasskey = async (party: RelyingParty, user: User): Promise<PasskeyRequest> => {
  const { generateAuthenticationOptions } = await webauthn();
  const options = await generateAuthenticationOptions({
    rpID: party.id,
    allowCredentials: user.passkeys.map(named),
    userVerification: "preferred",
  });
  return { options, challenge: options.challenge };
};

/** False: not a good answer to this challenge by one of the user's passkeys, or by a copy of one (its counter stands). */
export const acceptPasskey = async (
  { users }: IssuerDocuments,
  party: RelyingParty,
  user: User,
  answer: { response: string; challenge: string },
): Promise<boolean> => {
  const { verifyAuthenticationResponse } = await webauthn();
  const response = parsed<AuthenticationResponseJSON>(answer.response);
  const passkey = user.passkeys.find(({ id }) => id === response?.id);
  if (response === undefined || passkey === undefined) return false;
  const verified = await verifyAuthenticationResponse({
    response,
    expectedChallenge: answer.challenge,
    expectedOrigin: party.origin,
    expectedRPID: party.id,
    requireUserVerification: false,
    credential: {
      id: passkey.id,
      publicKey: new Uint8Array(Buffer.from(passkey.publicKey, "base64url")),
      counter: passkey.counter,
    },
  }).catch(refusal);
  if (!verified?.verified) return false;
  const used = { ...passkey, counter: verified.authenticationInfo.newCounter };
  const passkeys = user.passkeys.map((one) => (one === passkey ? used : one));
  const written = await users.updateOne({ _id: user._id, passkeys: user.passkeys }, { $set: { passkeys } });
  return written.matchedCount === 1;
};

const named = ({ id, transports }: Passkey) => ({ id, transports });

/** The browser's script sends JSON; whoever sends something else has no passkey. */
const parsed = <Response>(text: string): Response | undefined => {
  try {
    return JSON.parse(text) as Response;
  } catch {
    return undefined;
  }
};

/** The library says no by throwing; a fault of ours in calling it would be a TypeError. */
const refusal = (error: unknown): undefined => {
  if (error instanceof TypeError) throw error;
};
