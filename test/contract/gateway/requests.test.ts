/** Owns what holds for requests beyond the tables' rows: the order of refusals, what an actor is sent, queries, bodies and caching. */
import t from "tap";
import type { StageCommand } from "../../../gateway/dispatch.ts";
import { allRoutes } from "../../../gateway/routes/all.ts";
import { exampleOf } from "../../../gateway/schema-example.ts";
import type { DisruptionPushBody } from "../../../schemas/partner-api.ts";
import type { ProblemCode } from "../../../schemas/problems.ts";
import { fileForm } from "../../harness/forms.ts";
import {
  type Asked,
  bearer,
  operatorToken,
  partnerToken,
  passengerHost,
  startTestGateway,
  ulid,
} from "./fixture.ts";
import { problemCheck, surfaceTokens } from "./problem-answers.ts";

const gateway = await startTestGateway();
t.teardown(() => gateway.close());
const tokens = await surfaceTokens(gateway);
const isProblem = problemCheck(gateway);

t.test("a refusal comes in the order of the checks", async (t) => {
  const path = "/v1/cases";
  const weak = bearer(await operatorToken(gateway, "AIRPORT_OPERATOR"));
  const strong = bearer(tokens.operator);
  const steps: [ProblemCode, Asked][] = [
    ["auth/missing-token", { body: "{", headers: { "Content-Type": "text/plain" } }],
    ["auth/insufficient-role", { body: "{", headers: { ...weak, "Content-Type": "text/plain" } }],
    [
      "validation/too-large",
      { body: Buffer.alloc(2 ** 21), headers: { ...strong, "Content-Type": "text/plain" } },
    ],
    ["validation/media-type", { body: "{", headers: { ...strong, "Content-Type": "text/plain" } }],
    ["validation/malformed", { body: "{", headers: strong }],
    ["validation/body", { body: {}, headers: strong }],
  ];
  for (const [code, asked] of steps)
    isProblem(t, await gateway.ask(path, { method: "POST", ...asked }), code);
  const decide = `/v1/demand/urn:demand:YB-${ulid}/approve`;
  const asked = { method: "POST", headers: strong };
  isProblem(t, await gateway.ask(decide, { ...asked, body: {} }), "validation/body");
  isProblem(t, await gateway.ask(decide, { ...asked, body: { reason: "x" } }), "auth/foreign-tenant");
});

t.test("what an actor is sent", async (t) => {
  gateway.received.length = 0;
  const headers = bearer(tokens.operator);
  let keys = 0;
  const sent = async (path: string, body: unknown, more: Record<string, string> = {}) => {
    keys += 1;
    const keyed = { ...headers, "Idempotency-Key": `k ${keys}`, ...more };
    await gateway.ask(path, { method: "POST", body, headers: keyed });
    return gateway.received.at(-1)?.envelope;
  };
  const demand = `/demand/case/urn:case:XN-${ulid}`;
  const body = { type: "INITIAL", roomsRequested: 3, fencingToken: 9, unknown: { a: 1 } };
  t.match(await sent(demand, body, { "If-Match": '"12"' }), {
    id: `api:XN:urn:operator:7:requestDemand:urn:case:XN-${ulid}:k 1`,
    expectedVersion: 12,
    fencingToken: 9,
    data: { type: "INITIAL", roomsRequested: 3 },
  });
  t.notMatch(
    gateway.received.at(-1)?.envelope.data,
    { unknown: { a: 1 } },
    "unknown members are left behind",
  );
  t.match(await sent(demand, { ...body, version: 4 }, { "If-Match": '"12"' }), { expectedVersion: 4 });
  const demandUrn = `urn:demand:XN-${ulid}`;
  t.match(await sent(`/demand/${demandUrn}/approve`, { reason: "full house" }), {
    entity: "",
    data: { demandUrn, reason: "full house" },
  });
  t.match(await sent("/v1/allocation/allocate", { caseUrn: `urn:case:XN-${ulid}` }), {
    entity: `XN-${ulid}`,
    data: {},
  });
  const foreign = { method: "POST", headers, body: { caseUrn: `urn:case:YB-${ulid}` } };
  isProblem(t, await gateway.ask("/v1/allocation/allocate", foreign), "auth/foreign-tenant");
  for (const bad of ["", "1é1", "x".repeat(256), " "]) {
    const answer = await gateway.ask(demand, {
      method: "POST",
      body,
      headers: { ...headers, "Idempotency-Key": Buffer.from(bad).toString("latin1") },
    });
    if (bad.trim() === "") t.equal(answer.status, 201, "an empty header is none");
    else isProblem(t, answer, "validation/malformed");
  }
  const badTag = { method: "POST", body, headers: { ...headers, "If-Match": "12" } };
  isProblem(t, await gateway.ask(demand, badTag), "validation/malformed");
  await gateway.ask(`/v1/cases/urn:case:XN-${ulid}/manifest?limit=900&cursor=abc&x=1`, { headers });
  t.same(gateway.received.at(-1)?.envelope.params, {
    caseUrn: `urn:case:XN-${ulid}`,
    limit: 200,
    cursor: "abc",
  });
});

t.test("query strings", async (t) => {
  const headers = bearer(tokens.operator);
  const refused: [string, string, RegExp][] = [
    ["limit=0", "?limit", />= 1/],
    ["limit=many", "?limit", /integer/],
    ["limit=1&limit=2", "?limit", /twice/],
    ["offset=10", "?offset", /cursor/],
    ["page=2", "?page", /cursor/],
    ["status=ASLEEP", "?status", /OPEN, MANUAL_REVIEW, CLOSED/],
    ["airport=jfk", "?airport", /JFK/],
    ["from=yesterday", "?from", /ISO 8601/],
    ["cursor=%00", "?cursor", /control/],
  ];
  for (const [query, pointer, detail] of refused) {
    const answer = await gateway.ask(`/v1/cases?${query}`, { headers });
    isProblem(t, answer, "validation/query");
    t.match(answer.json.errors, [{ pointer, detail }]);
  }
  await gateway.ask("/v1/cases?__proto__=1&status=OPEN", { headers });
  t.same(gateway.received.at(-1)?.envelope.params, { status: "OPEN", limit: 50 });
  isProblem(t, await gateway.ask("/v1/policies/resolve?tier=ECONOMY", { headers }), "validation/query");
});

t.test("paths that are not in the tables", async (t) => {
  for (const path of [
    "/",
    "/v1",
    "/v1/cases/",
    "/v2/cases",
    "/v1/v1/cases",
    "//cases",
    "/partner/v1/me",
    "/health",
  ])
    isProblem(t, await gateway.ask(path), "not-found/route");
  isProblem(t, await gateway.ask("/nowhere", { method: "OPTIONS" }), "not-found/route");
  const answer = await gateway.ask("/v1/cases", { method: "PUT" });
  t.equal(answer.headers.allow, "GET, HEAD, OPTIONS, POST");
});

t.test("a push of the contract's shape", async (t) => {
  const headers = bearer(tokens.partner);
  const push = exampleOf(allRoutes.find(({ id }) => id === "pushDisruption")!.body!) as DisruptionPushBody;
  const ask = (body: unknown) => gateway.ask("/partner/v1/disruptions", { method: "POST", headers, body });
  t.equal((await ask({ ...push, passengers: [{}, { pnr: "K7QX2M", unknown: 1 }] })).status, 202);
  const { passengers } = gateway.received.at(-1)!.envelope.data as DisruptionPushBody;
  t.same(passengers, [{}, { pnr: "K7QX2M" }]);
  t.equal((await ask({ ...push, disruption: { ...push.disruption, reason: "VOLCANO" } })).status, 202);
  const wrong = await ask({
    ...push,
    flight: { ...push.flight, originAirport: "kennedy", scheduledDeparture: "soon" },
    disruption: { ...push.disruption, type: "EATEN" },
    passengers: [{ pnr: 7 }],
  });
  isProblem(t, wrong, "validation/body");
  t.same(wrong.json.errors.map(({ pointer }: { pointer: string }) => pointer).sort(), [
    "/disruption/type",
    "/flight/originAirport",
    "/flight/scheduledDeparture",
    "/passengers/0/pnr",
  ]);
  isProblem(t, await ask({ ...push, airlineUrn: "urn:airline:YB" }), "auth/foreign-tenant");
  const nested = { passengers: [{ passengerUrn: `urn:passenger:YB-${ulid}` }] };
  isProblem(t, await ask({ ...push, ...nested }), "auth/foreign-tenant");
  isProblem(t, await ask(`{"__proto__": {"a": 1}}`), "validation/body");
  isProblem(t, await ask({ ...push, externalEventId: "a\u0000b" }), "validation/body");
});

t.test("a body that is too large for a message", async (t) => {
  const staged = { stagedId: "s1", pieces: 2 };
  const kept: unknown[] = [];
  const stage: StageCommand = async (command) => {
    kept.push(command.data);
    return { ...command, data: {}, staged };
  };
  const other = await startTestGateway({}, [], { stage });
  t.teardown(() => other.close());
  const headers = bearer(await partnerToken(other, "disruptions.events.publish"));
  const push = exampleOf(allRoutes.find(({ id }) => id === "pushDisruption")!.body!) as DisruptionPushBody;
  const ask = (passengers: unknown) =>
    other.ask("/partner/v1/disruptions", { method: "POST", headers, body: { ...push, passengers } });
  t.equal((await ask(push.passengers)).status, 202);
  t.equal(kept.length, 0, "a small one travels as it is");
  t.equal((await ask(Array(9000).fill({ pnr: "K7QX2M", lastName: "Lovelace" }))).status, 202);
  t.match(other.received.at(-1)?.envelope, { name: "case.open", staged, data: {} });
  t.equal((kept[0] as DisruptionPushBody).passengers.length, 9000);
});

t.test("what an actor refuses, and what breaks", async (t) => {
  const headers = bearer(tokens.operator);
  const path = `/v1/cases/urn:case:XN-${ulid}`;
  const refusals = [
    { code: "conflict/version", members: { version: 8 }, body: { version: 8 } },
    { code: "conflict/state", members: { state: "CLOSED" }, body: { state: "CLOSED" } },
    { code: "auth/foreign-airport", members: {}, body: {} },
    { code: "not-found/resource", members: {}, body: {} },
  ] as const;
  for (const { code, members, body } of refusals) {
    gateway.act("case.detail", () => ({ problem: { code, detail: "So it is.", members } }));
    const answer = await gateway.ask(path, { headers });
    isProblem(t, answer, code);
    t.match(answer.json, { detail: "So it is.", ...body });
  }
  const unavailable = {
    code: "upstream/unavailable",
    detail: "x",
    members: { failedDomain: "hotel-search" },
  } as const;
  gateway.act("case.detail", () => ({ problem: unavailable }));
  const down = await gateway.ask(path, { headers });
  isProblem(t, down, "upstream/unavailable");
  t.equal(down.headers["retry-after"], "30");
  gateway.act("case.detail", () => {
    throw new Error("secret detail");
  });
  gateway.logged.length = 0;
  const broken = await gateway.ask(path, { headers });
  isProblem(t, broken, "internal/unexpected");
  t.notMatch(broken.text, "secret detail");
  t.match(gateway.logged.join(), broken.json.instance, "the log can be found by the correlation URN");
  t.match(gateway.logged.join(), "secret detail");
  t.notMatch(gateway.logged.join(), tokens.operator);
  gateway.act("case.detail", () => ({ ok: {} }));
  t.match((await gateway.ask(path, { headers })).headers.etag, /^"[\w-]{16}"$/, "no version to tell");
  gateway.act("case.detail", () => ({ ok: { version: 6 } }));
  t.equal(
    (await gateway.ask(path, { headers })).headers.etag?.split("-")[0],
    '"6',
    "the version that a view shows",
  );
});

t.test("an actor that is not there", async (t) => {
  const partial = await startTestGateway({}, ["audit", "staging"]);
  t.teardown(() => partial.close());
  const headers = bearer(await operatorToken(partial));
  const form = fileForm("%PDF-1.7\n", "contract.pdf");
  const analyze = async (at: typeof gateway) =>
    at.ask("/v1/contracts/analyze-pdf", {
      method: "POST",
      body: form.raw,
      headers: { ...bearer(await operatorToken(at)), ...form.headers },
    });
  gateway.act("staging.put", () => {
    throw Object.assign(new Error("nobody"), { name: "MongoServerSelectionError" });
  });
  for (const [failedDomain, answer] of [
    ["audit", await partial.ask(`/v1/audit/case/urn:case:XN-${ulid}`, { headers })],
    ["staging", await analyze(partial)],
    ["documents", await analyze(gateway)],
  ] as const)
    t.match(answer, { status: 503, json: { failedDomain }, headers: { "retry-after": "30" } });
});

t.test("health and caching", async (t) => {
  t.same((await gateway.ask("/health/live")).json, { status: "live" });
  t.match(await gateway.ask("/health/ready"), { status: 200, json: { ready: true } });
  gateway.skewMs(1);
  t.match(await gateway.ask("/health/ready"), {
    status: 503,
    json: { ready: false, checks: { clock: false } },
  });
  gateway.skewMs(0);
  const headers = { ...bearer(tokens.passenger), Host: passengerHost };
  for (const path of ["/v1/me", "/v1/me/offer", "/v1/me/voucher"]) {
    const read = await gateway.ask(path, { headers });
    t.equal(read.headers["cache-control"], "private, max-age=60");
    t.equal(read.headers.vary, "Authorization, Cookie");
  }
  t.equal((await gateway.ask("/v1/me/voucher", { headers })).text, "<p>sub-case.voucher-html</p>");
  const write = await gateway.ask("/v1/me/offer/accept", { method: "POST", headers });
  t.equal(write.status, 200, "a body may be left out where nothing in it is required");
  t.equal(write.headers["cache-control"], "no-store");
  t.equal(write.headers["clear-site-data"], '"cache"');
});
