/** Owns what pages of other origins may do with answers (CORS, Fetch standard §3.3): an allow-list of exact origins, by default empty. */
import type { Exchange } from "../http/exchange.ts";

type Headers = readonly (readonly [name: string, value: string])[];

export interface CrossOrigin {
  /** Of every answer to the request, errors too. An origin that is not on the list gets none and no error: the browser refuses it. */
  headers(origin: string): Headers;
  /** Beside those, of the answer to a preflight for a path with these methods; none for any other OPTIONS request. */
  preflight(exchange: Pick<Exchange, "headers">, methods: readonly string[]): Headers;
}

const allowedHeaders =
  "Accept, Authorization, Content-Type, Idempotency-Key, If-Match, If-None-Match, traceparent";
const exposedHeaders =
  "Deprecation, ETag, Idempotency-Replayed, Link, Retry-After, Sunset, traceparent, WWW-Authenticate, X-RateLimit-Remaining";
/** The longest that the widespread browsers keep a preflight's answer. */
const preflightMaxAgeSeconds = 7200;

/** A cache must not give the answer made for one origin to another, nor to none. */
const vary: Headers = [["Vary", "Origin"]];

/** @param allowList exact origins, separated by commas; empty: no other origin may read anything */
export const createCrossOrigin = (allowList: string): CrossOrigin => {
  const forOrigin = new Map<string, Headers>();
  for (const origin of allowList.split(",").filter((text) => text !== ""))
    forOrigin.set(origin, [
      ["Access-Control-Allow-Origin", origin],
      ["Access-Control-Allow-Credentials", "true"],
      ["Access-Control-Expose-Headers", exposedHeaders],
      ...vary,
    ]);
  const others = forOrigin.size === 0 ? [] : vary;
  return {
    headers: (origin) => forOrigin.get(origin) ?? others,
    preflight: ({ headers: { origin, preflightFor } }, methods) =>
      preflightFor === "" || !forOrigin.has(origin)
        ? []
        : [
            ["Access-Control-Allow-Methods", methods.join(", ")],
            ["Access-Control-Allow-Headers", allowedHeaders],
            ["Access-Control-Max-Age", String(preflightMaxAgeSeconds)],
          ],
  };
};
