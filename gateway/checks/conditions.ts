/** Owns the two headers that qualify a write: `Idempotency-Key` and `If-Match`. */
import { Problem } from "../../schemas/problems.ts";
import type { CompiledRoute } from "../compile-route.ts";
import type { Exchange } from "../http/exchange.ts";

export interface Conditions {
  idempotencyKey: string | undefined;
  expectedVersion: number | undefined;
}

const printableKey = /^[\x21-\x7e](?:[\x20-\x7e]{0,253}[\x21-\x7e])?$/;
const versionTag = /^"(\d{1,15})"$/;

/** @throws Problem validation/malformed when a header that counts on this route cannot be read */
export const readConditions = (route: CompiledRoute, exchange: Exchange): Conditions => {
  const { idempotencyKey, ifMatch } = exchange.headers;
  if (route.rate === "read") return { idempotencyKey: undefined, expectedVersion: undefined };
  return {
    idempotencyKey: route.idempotent && idempotencyKey !== "" ? keyOf(idempotencyKey) : undefined,
    expectedVersion: ifMatch === "" || ifMatch === "*" ? undefined : versionOf(ifMatch),
  };
};

const keyOf = (header: string): string => {
  if (!printableKey.test(header))
    throw new Problem("validation/malformed", "An Idempotency-Key has 1 to 255 printable ASCII characters.");
  return header;
};

const versionOf = (header: string): number => {
  const version = versionTag.exec(header)?.[1];
  if (version === undefined)
    throw new Problem("validation/malformed", 'If-Match takes one ETag as it was given out, such as "7".');
  return Number(version);
};
