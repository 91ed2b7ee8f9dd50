/** Owns the headers that qualify a request: `Idempotency-Key` and `If-Match` of a write, `If-None-Match` and `Last-Event-ID` of a read. */
import { Problem } from "../../schemas/problems.ts";
import type { CompiledRoute } from "../compile-route.ts";
import { versionOfTag } from "../entity-tag.ts";
import type { Exchange } from "../http/exchange.ts";

export interface Conditions {
  idempotencyKey: string | undefined;
  expectedVersion: number | undefined;
  /** As sent; empty where it is absent or does not count. */
  ifNoneMatch: string;
  /** As sent; empty where it is absent. */
  lastEventId: string;
}

const printableKey = /^[\x21-\x7e](?:[\x20-\x7e]{0,253}[\x21-\x7e])?$/;

/** @throws Problem validation/malformed when a header that counts on this route cannot be read */
export const readConditions = (route: CompiledRoute, exchange: Exchange): Conditions => {
  const { idempotencyKey, ifMatch, ifNoneMatch, lastEventId } = exchange.headers;
  if (route.rate !== "write")
    return { idempotencyKey: undefined, expectedVersion: undefined, ifNoneMatch, lastEventId };
  return {
    ifNoneMatch: "",
    lastEventId: "",
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
  const version = versionOfTag(header);
  if (version === undefined)
    throw new Problem("validation/malformed", 'If-Match takes one ETag as it was given out, such as "7".');
  return version;
};
