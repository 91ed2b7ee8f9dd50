/**
 * Owns the peer of the benchmark `offer`: GET /v1/me/offer as a plain Fastify server would have it, one process that asks the documents
 * itself. Same driver and pool, same single read, same JSON, same token rules; no actors, no correlation, no rate limits, no entity tag.
 */
import { readFileSync } from "node:fs";
import Fastify from "fastify";
import { createLocalJWKSet, type JWK, type JWTPayload, jwtVerify } from "jose";
import { LRUCache } from "lru-cache";
import { MongoClient } from "mongodb";
import { loadedOf } from "../../actors/runtime/store.ts";
import type { SubCaseState } from "../../actors/sub-case/state.ts";
import { offerView } from "../../actors/sub-case/view.ts";
import { voucherQr } from "../../actors/sub-case/voucher-page.ts";
import { OfferView } from "../../schemas/passenger-api.ts";
import { idOf } from "../../schemas/urn.ts";
import { stopWithParent } from "../supervisor/parent-watch.ts";

const {
  MONGODB_URL = "",
  DATABASE_PREFIX = "stopover",
  KEY_FILE = "",
  AUDIENCE = "",
  TOKEN_CACHE,
} = process.env;

const { d: _private, ...publicKey } = JSON.parse(readFileSync(KEY_FILE, "utf8")) as JWK;
const keys = createLocalJWKSet({ keys: [publicKey] });
const verified =
  TOKEN_CACHE === "on"
    ? new LRUCache<string, { claims: JWTPayload; until: number }>({ max: 10_000 })
    : undefined;

const claimsOf = async (token: string): Promise<JWTPayload> => {
  const known = verified?.get(token);
  if (known !== undefined && known.until > Date.now()) return known.claims;
  const { payload } = await jwtVerify(token, keys, {
    algorithms: ["EdDSA"],
    audience: AUDIENCE,
    requiredClaims: ["exp", "sub", "case_urn", "group_id", "tenant"],
  });
  verified?.set(token, { claims: payload, until: (payload.exp ?? 0) * 1000 });
  return payload;
};

const client = await new MongoClient(MONGODB_URL, { maxPoolSize: 40, ignoreUndefined: true }).connect();
const app = Fastify();

app.get<{ Reply: unknown }>(
  "/v1/me/offer",
  { schema: { response: { 200: OfferView } } },
  async (request, reply) => {
    const token = /^Bearer (.+)$/.exec(request.headers.authorization ?? "")?.[1];
    const claims = token === undefined ? undefined : await claimsOf(token).catch(() => undefined);
    if (claims === undefined) return reply.code(401).send();
    const tenant = idOf(String(claims.tenant));
    const found = await client
      .db(`${DATABASE_PREFIX}_${tenant}`)
      .collection("subCases")
      .findOne(
        { caseId: idOf(String(claims.case_urn)), groupId: String(claims.group_id) },
        { projection: { handled: 0, outbox: 0, steps: 0, compensations: 0, attemptedHotels: 0 } },
      );
    if (found === null) return reply.code(404).send();
    const { state, meta } = loadedOf<SubCaseState>(found, { schemaVersion: 1 });
    const isIssued = state.voucher?.status === "ISSUED" && state.offer.state !== "PENDING";
    return offerView(state, meta.version, isIssued ? await voucherQr(state) : undefined);
  },
);

const stop = (): void => {
  void app.close().then(() => process.exit(0));
};
process.once("SIGTERM", stop);
stopWithParent(stop);
console.log(`listening ${await app.listen({ host: "127.0.0.1", port: 0 })}`);
