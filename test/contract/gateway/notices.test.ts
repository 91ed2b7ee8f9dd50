/** Owns what answers carry beside their own: to pages of other origins, and of routes that will go. */
import t, { type Test } from "tap";
import { compileRoute } from "../../../gateway/compile-route.ts";
import type { Route } from "../../../gateway/route.ts";
import { allRoutes } from "../../../gateway/routes/all.ts";
import { bearer, passengerHost, startTestGateway, type TestGateway, ulid } from "./fixture.ts";
import { surfaceTokens } from "./problem-answers.ts";

const console = "https://console.example";
const gateway = await startTestGateway({ CORS_ORIGINS: `${console},http://localhost:5173` });
t.teardown(() => gateway.close());
const tokens = await surfaceTokens(gateway);
const casePath = `/v1/cases/urn:case:XN-${ulid}`;
const asOperator = bearer(tokens.operator);

t.test("other origins", async (t) => {
  const preflight = (origin: string, path = casePath) =>
    gateway.ask(path, {
      method: "OPTIONS",
      headers: {
        Origin: origin,
        "Access-Control-Request-Method": "GET",
        "Access-Control-Request-Headers": "authorization",
      },
    });
  const allowed = await preflight(console);
  t.match(allowed, {
    status: 204,
    headers: {
      "access-control-allow-origin": console,
      "access-control-allow-credentials": "true",
      "access-control-allow-methods": "GET, HEAD, OPTIONS",
      "access-control-allow-headers": /Authorization.*Idempotency-Key.*If-Match.*traceparent/,
      "access-control-max-age": /^\d+$/,
      vary: /Origin/,
    },
  });
  const has = (headers: object): boolean =>
    Object.keys(headers).some((name) => name.startsWith("access-control-"));
  for (const origin of [
    "https://evil.example",
    "null",
    `${console}.evil.example`,
    `${console}:444`,
    "http://console.example",
    `${console}/`,
  ]) {
    const told = await preflight(origin);
    t.equal(told.status, 204);
    t.notOk(has(told.headers), origin);
    t.match(told.headers.vary, /Origin/);
  }
  for (const [asked, status] of [
    [{ headers: asOperator }, 200],
    [{}, 401],
    [{ headers: { ...asOperator, Accept: "text/html" } }, 406],
    [{ method: "PUT" }, 405],
  ] as const) {
    const from = (origin: string) =>
      gateway.ask(casePath, {
        ...asked,
        headers: { ...("headers" in asked ? asked.headers : {}), Origin: origin },
      });
    const told = await from("http://localhost:5173");
    t.equal(told.status, status);
    t.equal(told.headers["access-control-allow-origin"], "http://localhost:5173", "errors can be read too");
    t.match(told.headers["access-control-expose-headers"], /ETag.*Retry-After.*X-RateLimit-Remaining/);
    t.match(told.headers.vary, /Origin/);
    const other = await from("https://evil.example");
    t.equal(other.status, status, "no error by itself");
    t.notOk(has(other.headers));
  }
  const session = { Host: passengerHost, ...bearer(tokens.passenger), Origin: console };
  const me = await gateway.ask("/v1/me", { headers: session });
  t.equal(me.headers.vary, "Authorization, Cookie, Origin");
});

t.test("without a list no other origin is told anything", async (t) => {
  const plain = await startTestGateway();
  t.teardown(() => plain.close());
  for (const method of ["OPTIONS", "GET"]) {
    const headers = { Origin: console, "Access-Control-Request-Method": "GET" };
    const told = await plain.ask("/health/live", { method, headers });
    t.notMatch(Object.keys(told.headers).join(), /access-control|vary/);
  }
  for (const wrong of [
    "*",
    "null",
    "console.example",
    `${console}/`,
    `${console}, http://x`,
    "https://A.example",
  ])
    await t.rejects(startTestGateway({ CORS_ORIGINS: wrong }), { message: /CORS_ORIGINS/ }, wrong);
});

/** A row of the tests' own, under two prefixes of which one goes. */
const leaving = {
  id: "leave",
  surface: "operator",
  method: "get",
  path: "/leaving/{caseUrn}",
  prefixes: ["", "/v1"],
  summary: "Leave",
  description: "Goes.",
  role: "OPS_SUPERVISOR",
  rate: "read",
  params: allRoutes.find(({ id }) => id === "getCase")!.params!,
  query: "case.detail",
  success: 200,
  response: allRoutes.find(({ id }) => id === "getCase")!.response,
  problems: [],
} as const satisfies Route;
const deprecated = { since: "2026-11-01", sunset: "2027-05-01", successor: "/v2/leaving" } as const;

const startLeaving = (t: Test, change: Route["deprecated"]): Promise<TestGateway> =>
  startTestGateway({}, [], {
    routes: [...allRoutes, { ...leaving, ...(change && { deprecated: change }) }],
  }).then((started) => {
    t.teardown(() => started.close());
    return started;
  });

t.test("a route that will go says so in every answer", async (t) => {
  const own = await startLeaving(t, deprecated);
  const { operator, partner } = await surfaceTokens(own);
  const path = `/v1/leaving/urn:case:XN-${ulid}`;
  for (const [status, asked] of [
    [200, { headers: bearer(operator) }],
    [401, {}],
    [401, { headers: bearer(partner) }],
    [406, { headers: { ...bearer(operator), Accept: "image/png" } }],
  ] as const) {
    const told = await own.ask(path, asked);
    t.equal(told.status, status);
    t.match(told.headers, {
      deprecation: `@${Date.UTC(2026, 10, 1) / 1000}`,
      sunset: "Sat, 01 May 2027 00:00:00 GMT",
      link: '</v2/leaving>; rel="successor-version"',
    });
  }
  t.notOk((await own.ask(casePath, { headers: bearer(operator) })).headers.deprecation);
  const { paths } = (await own.ask("/openapi/operator/v1.json")).json;
  t.equal(paths["/v1/leaving/{caseUrn}"].get.deprecated, true);
  t.equal(paths["/v1/cases/{caseUrn}"].get.deprecated, undefined);
});

t.test("one prefix alone may go; nothing goes too soon", async (t) => {
  const own = await startLeaving(t, { ...deprecated, prefixes: [""] });
  const headers = bearer((await surfaceTokens(own)).operator);
  t.ok((await own.ask(`/leaving/urn:case:XN-${ulid}`, { headers })).headers.sunset);
  t.notOk((await own.ask(`/v1/leaving/urn:case:XN-${ulid}`, { headers })).headers.sunset);
  const { paths } = (await own.ask("/openapi/operator/v1.json")).json;
  t.equal(paths["/leaving/{caseUrn}"].get.deprecated, true);
  t.equal(paths["/v1/leaving/{caseUrn}"].get.deprecated, undefined);
  const starting = (change: Route["deprecated"]) => () =>
    compileRoute({ ...leaving, ...(change && { deprecated: change }) });
  t.doesNotThrow(starting(deprecated));
  t.throws(starting({ ...deprecated, sunset: "2027-04-30" }), { message: /too soon/ });
  for (const since of ["soon", "2026-02-30", "2026-11-01T00:00:00Z"])
    t.throws(starting({ ...deprecated, since }), { message: /no date/ }, since);
});
