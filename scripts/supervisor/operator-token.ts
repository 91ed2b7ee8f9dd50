/** Owns minting operators' development tokens with an instance's own issuer key, with exactly the claims of the contract. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { SignJWT } from "jose";
import { parseSigningKeys, type SigningAlgorithm, type SigningKey } from "../../config/signing-keys.ts";
import { idOf, isUrnOf, parseUrn, urn } from "../../schemas/urn.ts";
import { type Role, roles } from "../../schemas/vocabulary.ts";
import type { Instance } from "./environment.ts";
import { keyFiles } from "./keys.ts";
import { StartFailure } from "./start-failure.ts";

/** Contract, "Limits". */
const lifetimeSeconds = 15 * 60;

export interface OperatorTokenOptions {
  /** `urn:airline:XN` */
  airline: string;
  role: string;
  /** Scopes the operator to this one. */
  airport?: string | undefined;
  /** Default: one user per role. */
  sub?: string | undefined;
}

/** The key that signs. */
export const signingKeyOf = (instance: Instance, file: string, algorithm: SigningAlgorithm): SigningKey =>
  parseSigningKeys(readFileSync(join(instance.keysDir, file), "utf8"), algorithm).signing;

/** @throws StartFailure naming the option that is wrong */
export const mintOperatorToken = (
  instance: Instance,
  { airline, role, airport, sub = `dev-${role.toLowerCase().replaceAll("_", "-")}` }: OperatorTokenOptions,
): Promise<string> => {
  if (!isUrnOf(airline, ["airline"]))
    throw new StartFailure(`--airline ${airline}: urn:airline:XN is needed`);
  if (!roles.includes(role as Role))
    throw new StartFailure(`--role ${role}: one of ${roles.join(", ")} is needed`);
  if (airport !== undefined && !/^[A-Z]{3}$/.test(airport))
    throw new StartFailure(`--airport ${airport}: a code such as JFK is needed`);
  if (parseUrn(urn("user", sub)) === undefined)
    throw new StartFailure(`--sub ${sub}: letters, digits, . _ ~ | @ + -`);
  const { kid, key } = signingKeyOf(instance, keyFiles.operator, "RS256");
  const issuedAt = Math.floor(Date.now() / 1000);
  const namespace = instance.claimNamespace;
  return new SignJWT({
    scope: "openid profile email",
    [`${namespace}/airline`]: urn("airline", idOf(airline)),
    [`${namespace}/role`]: role,
    [`${namespace}/operator_urn`]: urn("user", sub),
    ...(airport === undefined ? {} : { [`${namespace}/airport`]: airport }),
  })
    .setProtectedHeader({ alg: "RS256", kid, typ: "at+jwt" })
    .setIssuer(instance.operatorIssuer)
    .setSubject(sub)
    .setAudience(instance.audiences.operator)
    .setIssuedAt(issuedAt)
    .setExpirationTime(issuedAt + lifetimeSeconds)
    .sign(key);
};
