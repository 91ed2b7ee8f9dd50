/** Owns recovery codes: ten of them, each for one sign-in without the factor that was lost. */
import { randomBytes } from "node:crypto";
import type { IssuerDocuments } from "./documents.ts";
import { digestOf } from "./users.ts";

const codesPerUser = 10;
/** Without letters and digits that look alike. */
const alphabet = "23456789abcdefghjkmnpqrstuvwxyz";
const charactersPerCode = 16;

/** About 79 random bits in four groups. */
const newCode = (): string => {
  const characters: string[] = [];
  while (characters.length < charactersPerCode) {
    for (const byte of randomBytes(charactersPerCode)) {
      // A larger byte would make the first letters likelier.
      if (byte < Math.floor(256 / alphabet.length) * alphabet.length)
        characters.push(alphabet[byte % alphabet.length]!);
    }
  }
  return characters
    .slice(0, charactersPerCode)
    .join("")
    .replaceAll(/(.{4})(?=.)/g, "$1-");
};

const digestOfCode = (code: string): string => digestOf(code.toLowerCase().replaceAll(/[\s-]/g, ""));

/** Replaces all that the user has. @returns the codes as the user is shown them, once */
export const issueRecoveryCodes = async ({ users }: IssuerDocuments, userId: string): Promise<string[]> => {
  const codes = Array.from({ length: codesPerUser }, newCode);
  await users.updateOne({ _id: userId }, { $set: { recoveryCodes: codes.map(digestOfCode) } });
  return codes;
};

/** Takes a code, once. */
export const acceptRecoveryCode = async (
  { users }: IssuerDocuments,
  userId: string,
  code: string,
): Promise<boolean> => {
  const digest = digestOfCode(code);
  const taken = await users.updateOne(
    { _id: userId, recoveryCodes: digest },
    { $pull: { recoveryCodes: digest } },
  );
  return taken.matchedCount === 1;
};
