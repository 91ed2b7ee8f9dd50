/**
 * Owns the peer of the benchmarks `read` and `dashboard`: GET /v1/cases/{urn} and GET /v1/cases as a plain Fastify server
 * would have them, one process that asks the documents itself. Same driver and pool, same documents, same queries, same JSON,
 * same token rules; no actors, no correlation, no rate limits, no airport scope beyond the one comparison.
 */
import { readFileSync } from "node:fs";
import Fastify from "fastify";
import { createLocalJWKSet, type JWTPayload, jwtVerify } from "jose";
import { LRUCache } from "lru-cache";
import { type Document, MongoClient } from "mongodb";
import { caseList } from "../../actors/case/case-list.ts";
import type { CaseState } from "../../actors/case/state.ts";
import { caseHead } from "../../actors/case/view.ts";
import type { ReviewItem } from "../../actors/review/state.ts";
import { reviewView } from "../../actors/review/view.ts";
import { loadedOf } from "../../actors/runtime/store.ts";
import type { SubCaseState } from "../../actors/sub-case/state.ts";
import { groupView, reservationView } from "../../actors/sub-case/view.ts";
import type { WaveState } from "../../actors/wave/state.ts";
import { CaseListItem, CaseView } from "../../schemas/case.ts";
import { pageOf } from "../../schemas/page.ts";
import { idOf, tenantOfId, urn } from "../../schemas/urn.ts";
import { stopWithParent } from "../supervisor/parent-watch.ts";

const {
  MONGODB_URL = "",
  DATABASE_PREFIX = "stopover",
  JWKS_FILE = "",
  ISSUER,
  AUDIENCE,
  TOKEN_CACHE,
} = process.env;
const namespace = process.env.CLAIM_NAMESPACE ?? "";

const keys = createLocalJWKSet(JSON.parse(readFileSync(JWKS_FILE, "utf8")));
const verified =
  TOKEN_CACHE === "on"
    ? new LRUCache<string, { claims: JWTPayload; until: number }>({ max: 10_000 })
    : undefined;

const claimsOf = async (token: string): Promise<JWTPayload> => {
  const known = verified?.get(token);
  if (known !== undefined && known.until > Date.now()) return known.claims;
  const { payload } = await jwtVerify(token, keys, {
    algorithms: ["RS256"],
    issuer: ISSUER ?? "",
    audience: AUDIENCE ?? "",
    requiredClaims: ["exp", "sub", "iat", `${namespace}/airline`, `${namespace}/role`],
  });
  verified?.set(token, { claims: payload, until: (payload.exp ?? 0) * 1000 });
  return payload;
};

const current = { schemaVersion: 1 };
const client = await new MongoClient(MONGODB_URL, { maxPoolSize: 40, ignoreUndefined: true }).connect();

const allocationsOf = (documents: Document[]) => {
  const views = documents.flatMap((document) => {
    const { state: wave } = loadedOf<WaveState>(document, current);
    return wave.allocations.map((allocation) => ({
      groupId: allocation.groupId,
      subCaseUrn: urn("sub-case", allocation.subCaseId),
      tier: allocation.tier,
      hotelUrn: allocation.hotelUrn,
      hotelName: wave.offers[allocation.offer]?.name ?? "",
      rooms: allocation.rooms,
      nights: allocation.nights,
      totalMinor: allocation.totalMinor,
      currency: allocation.currency,
      reason: allocation.reason,
    }));
  });
  return [...new Map(views.map((view) => [view.groupId, view])).values()];
};

const app = Fastify();

const bearerOf = async (authorization: string | undefined): Promise<JWTPayload | undefined> => {
  const token = /^Bearer (.+)$/.exec(authorization ?? "")?.[1];
  return token === undefined ? undefined : claimsOf(token).catch(() => undefined);
};

interface ListQuery {
  status?: string;
  airport?: string;
  from?: string;
  to?: string;
  cursor?: string;
  limit?: string;
}

app.get<{ Querystring: ListQuery }>(
  "/v1/cases",
  { schema: { response: { 200: pageOf(CaseListItem, "Cases") } } },
  async (request, reply) => {
    const claims = await bearerOf(request.headers.authorization);
    if (claims === undefined) return reply.code(401).send();
    const tenant = idOf(String(claims[`${namespace}/airline`]));
    const { status, airport, limit, ...range } = request.query;
    const standing = { ...(status && { status }), ...(airport && { airport }) };
    const cases = client.db(`${DATABASE_PREFIX}_${tenant}`).collection("cases");
    return caseList(cases, standing, { ...range, limit: Number(limit) }, ({ meta, state }) =>
      caseHead(meta._id, meta.version, state, state.progress.length),
    );
  },
);

app.get<{ Params: { caseUrn: string } }>(
  "/v1/cases/:caseUrn",
  { schema: { response: { 200: CaseView } } },
  async (request, reply) => {
    const claims = await bearerOf(request.headers.authorization);
    if (claims === undefined) return reply.code(401).send();
    const caseId = idOf(request.params.caseUrn);
    const tenant = tenantOfId(caseId);
    if (idOf(String(claims[`${namespace}/airline`])) !== tenant) return reply.code(403).send();
    const database = client.db(`${DATABASE_PREFIX}_${tenant}`);
    const found = await database.collection("cases").findOne({ _id: caseId as never });
    if (found === null) return reply.code(404).send();
    const { state, meta } = loadedOf<CaseState>(found, current);
    const [subCases, waves, items] = await Promise.all([
      database
        .collection("subCases")
        .find({ caseId }, { projection: { handled: 0, outbox: 0 } })
        .sort({ _id: 1 })
        .toArray(),
      database
        .collection("waves")
        .find({ caseId }, { projection: { outbox: 0, handled: 0, rankingInputs: 0 } })
        .sort({ _id: 1 })
        .toArray(),
      database.collection("reviewItems").find({ caseId }).sort({ listKey: -1 }).toArray(),
    ]);
    const now = new Date();
    const states = subCases.map((document) => loadedOf<SubCaseState>(document, current).state);
    return {
      ...caseHead(meta._id, meta.version, state, state.groups.length),
      passengerGroups: states.map((one) => groupView(one, now)),
      wave:
        state.waveId === undefined
          ? null
          : { urn: urn("wave", state.waveId), allocations: allocationsOf(waves) },
      reservations: states.flatMap((one) => reservationView(one) ?? []),
      manualReviewItems: items.map((item) => {
        const loaded = loadedOf<ReviewItem>(item, current);
        return reviewView(loaded.meta._id, loaded.state, loaded.meta.version, now);
      }),
    };
  },
);

const stop = (): void => {
  void app.close().then(() => process.exit(0));
};
process.once("SIGTERM", stop);
stopWithParent(stop);
console.log(`listening ${await app.listen({ host: "127.0.0.1", port: 0 })}`);
