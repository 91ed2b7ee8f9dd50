/** Owns the demo's operators: one for each role at each airline, with a password and an authenticator app, as if they had been invited. */
import { randomBytes } from "node:crypto";
import { MongoClient } from "mongodb";
import { seal } from "../../actors/runtime/seal.ts";
import { Environment, readSealKey } from "../../config/config.ts";
import { type Role, roles } from "../../schemas/vocabulary.ts";
import { ensureIssuerIndexes, issuerDocuments } from "../embedded/issuer/documents.ts";
import { hashPassword } from "../embedded/issuer/passwords.ts";
import { newTotpSecret } from "../embedded/issuer/totp.ts";
import { putMembership } from "../embedded/issuer/users.ts";

export interface DemoOperator {
  /** The airline's URN. */
  airline: string;
  role: Role;
  email: string;
  password: string;
  /** Base32, as an authenticator app takes it. */
  totpSecret: string;
}

const usualPrefix = (): string => {
  const { default: usual } = Environment.properties.DATABASE_PREFIX as { default?: string };
  return process.env.DATABASE_PREFIX || (usual ?? "stopover");
};

/** @param place.sealKeyFile of the instance, which seals the authenticator apps' secrets */
export const provisionOperators = async (
  place: { mongodbUrl: string; sealKeyFile: string; databasePrefix?: string },
  airlines: readonly { code: string; name: string }[],
): Promise<DemoOperator[]> => {
  const mongodb = await MongoClient.connect(place.mongodbUrl, { appName: "stopover-demo" });
  try {
    const documents = issuerDocuments(mongodb, place.databasePrefix ?? usualPrefix());
    await ensureIssuerIndexes(documents);
    const sealKey = readSealKey(place.sealKeyFile);
    const wanted = airlines.flatMap((airline) => roles.map((role) => ({ airline, role })));
    const make = async ({ airline, role }: (typeof wanted)[number]): Promise<DemoOperator> => {
      const { code, name } = airline;
      const word = role.toLowerCase().replaceAll("_", "-");
      const email = `${word}@${code.toLowerCase()}.example`;
      const password = randomBytes(15).toString("base64url");
      const [passwordHash, { user }] = await Promise.all([
        hashPassword(password, 1),
        putMembership(documents, { email, name: `${name}, ${word}`, airline: code, role }, new Date()),
      ]);
      const totpSecret = newTotpSecret();
      const totp = { secret: seal(sealKey, totpSecret), lastStep: 0 };
      await documents.users.updateOne({ _id: user._id }, { $set: { passwordHash, totp } });
      return { airline: `urn:airline:${code}`, role, email, password, totpSecret };
    };
    return await Promise.all(wanted.map(make));
  } finally {
    await mongodb.close();
  }
};
