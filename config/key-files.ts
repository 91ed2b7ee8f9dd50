/** Owns reading the files that settings name: keys and other secrets. What is in a key set is `signing-keys.ts`'s. */
import { readFileSync } from "node:fs";
import { parseSigningKeys, type SigningAlgorithm } from "./signing-keys.ts";

/** A setting that is missing or wrong. The message names it and says what it may be. */
export class ConfigError extends Error {}

/** Without the blanks around it. @throws ConfigError when it cannot be read */
export const readText = (name: string, file: string): string => {
  try {
    return readFileSync(file, "utf8").trim();
  } catch (error) {
    throw new ConfigError(
      `Configuration: ${name}: cannot read ${file} (${(error as NodeJS.ErrnoException).code})`,
    );
  }
};

/** @throws ConfigError when it cannot be read, or is no key set of that kind */
export const checkSigningKeys = (name: string, file: string, algorithm: SigningAlgorithm): void => {
  const text = readText(name, file);
  try {
    parseSigningKeys(text, algorithm);
  } catch (error) {
    throw new ConfigError(`Configuration: ${name}: ${file} ${(error as Error).message}`);
  }
};

/** @throws ConfigError when it cannot be read, or is not 32 bytes in base64 */
export const readSealKey = (file: string): Buffer => {
  const key = Buffer.from(readText("SEAL_KEY_FILE", file), "base64");
  if (key.length !== 32)
    throw new ConfigError(`Configuration: SEAL_KEY_FILE: ${file} must hold 32 bytes in base64`);
  return key;
};
