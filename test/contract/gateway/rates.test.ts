/** Owns the tests of rates as clients meet them: what is left on every answer, who is refused when, and what the refusal says. */
import t, { type Test } from "tap";
import { problemsOf } from "../../../gateway/route.ts";
import { allRoutes } from "../../../gateway/routes/all.ts";
import type { PartnerTier } from "../../../schemas/partner-registration.ts";
import { Problem } from "../../../schemas/problems.ts";
import {
  type Answered,
  type Asked,
  bearer,
  captcha,
  operatorToken,
  partnerToken,
  passengerHost,
  passengerToken,
  startTestGateway,
  type TestGateway,
  ulid,
} from "./fixture.ts";
import { problemCheck } from "./problem-answers.ts";

/** Limits that a test can meet; on one clock, so that nothing flows in while it does. */
const limits = {
  RATE_OPERATOR: "6/4x1.5",
  RATE_PASSENGER: "8/6x1",
  RATE_SESSION: "5/3x1",
  RATE_PARTNER_TIER1: "30/20x1",
  RATE_PARTNER_TIER2: "10/8x1",
  RATE_PARTNER_TIER3: "4/2x1",
  RATE_ADDRESS: "8x1.5",
};
const tiers: Record<string, PartnerTier> = { "XN-tower": 1, "XN-desk": 2 };
const startedAt = Date.now();

const start = async (t: Test, settings: Record<string, string> = {}) => {
  let nowMs = startedAt;
  const gateway = await startTestGateway({ ...limits, ...settings }, [], {
    now: () => new Date(nowMs),
    partnerTiers: { of: (clientId) => tiers[clientId] },
  });
  t.teardown(() => gateway.close());
  return {
    ...gateway,
    passed: (ms: number) => {
      nowMs += ms;
    },
  };
};

const left = ({ headers }: Answered): number => Number(headers["x-ratelimit-remaining"]);
const caseUrn = `urn:case:XN-${ulid}`;
const casePath = `/v1/cases/${caseUrn}`;

const exceeded = (
  t: Test,
  gateway: TestGateway,
  answer: Answered,
  detail: RegExp,
  retryAfter: string,
): void => {
  problemCheck(gateway)(t, answer, "rate/exceeded");
  t.match(answer.json.detail, detail);
  t.equal(answer.headers["retry-after"], retryAfter);
  t.equal(left(answer), 0);
};

t.test("what is left stands on every kind of answer", async (t) => {
  const gateway = await start(t);
  const token = bearer(await operatorToken(gateway));
  const statuses = new Set<number>();
  const seen = async (path: string, asked: Asked, status: number, remaining: number, what: string) => {
    const answer = await gateway.ask(path, asked);
    t.equal(answer.status, status, what);
    t.equal(left(answer), remaining, `${what}: what is left`);
    statuses.add(answer.status);
  };
  await seen(casePath, { headers: token }, 200, 8, "a read");
  await seen(casePath, { headers: token, method: "HEAD" }, 200, 7, "its HEAD");
  await seen(`/cases/${caseUrn}`, { headers: token }, 200, 6, "the same route without /v1");
  await seen("/v1/cases/nonsense", { headers: token }, 404, 5, "a refusal after the count");
  await seen("/v1/cases/urn:case:YB-X", { headers: token }, 403, 4, "another airline's URN");
  await seen(casePath, { headers: { ...token, Accept: "text/html" } }, 406, 3, "a refusal just before it");
  gateway.act("case.detail", () => ({
    problem: new Problem("not-found/resource", "No such case.").record(),
  }));
  await seen(casePath, { headers: token }, 404, 2, "an actor's refusal");
  gateway.act("case.detail", () => {
    throw new Error("a bug");
  });
  await seen(casePath, { headers: token }, 500, 1, "a failure of ours");
  const close = { method: "POST", headers: token, body: { reason: "All housed" } };
  await seen(`${casePath}/close`, close, 200, 5, "a write, which is another route's");
  await seen(`${casePath}/close`, { ...close, body: "{" }, 400, 4, "a body that cannot be read");
  const keyed = { ...close, headers: { ...token, "Idempotency-Key": "k1" } };
  await seen(`${casePath}/close`, keyed, 200, 3, "a write with a key");
  await seen(`${casePath}/close`, keyed, 200, 3, "its replay, which is exempt");
  await seen(
    `${casePath}/close`,
    { ...keyed, body: { reason: "Other" } },
    422,
    2,
    "another body under the key",
  );

  await seen(casePath, {}, 401, 11, "nobody");
  await seen(casePath, { headers: bearer("x.y.z") }, 401, 10, "a wrong token");
  await seen("/v1/nothing", {}, 404, 9, "no such route");
  await seen(casePath, { method: "DELETE" }, 405, 8, "no such method");
  await seen(casePath, { method: "OPTIONS" }, 204, 7, "OPTIONS");
  const desk = bearer(await operatorToken(gateway, "FINANCE_AUDIT"));
  await seen(`${casePath}/close`, { ...close, headers: desk }, 403, 6, "a role that may not");
  await seen("/.well-known/jwks.json", {}, 200, 5, "a public route");
  await seen("/v1/me", { headers: { Host: "nobody.example" } }, 404, 4, "no such host");
  await seen("/health/live", {}, 200, 4, "health, which doesn't count");
  await seen("/health/ready", {}, 200, 4, "health, which doesn't count");
  t.same([...statuses].sort(), [200, 204, 400, 401, 403, 404, 405, 406, 422, 500]);
});

t.test("operators share a bucket per airline and route", async (t) => {
  const gateway = await start(t);
  const ana = bearer(await operatorToken(gateway));
  const ben = bearer(
    await operatorToken(gateway, "ADMIN", {
      sub: "auth0|8",
      "https://stopover.example/claims/operator_urn": "urn:operator:8",
    }),
  );
  for (const who of [ana, ben, ana, ben, ana, ben, ana, ben, ana])
    t.equal((await gateway.ask(casePath, { headers: who })).status, 200);
  const calls = gateway.received.length;
  const detail =
    /^The limit is 6 reads a minute for this airline and route, at most 9 at once\. Come back in 10 s\.$/;
  for (const who of [ana, ben])
    exceeded(t, gateway, await gateway.ask(casePath, { headers: who }), detail, "10");
  t.equal(gateway.received.length, calls, "the actor is not asked");
  t.equal((await gateway.ask(`${casePath}/manifest`, { headers: ana })).status, 200, "another route");
  const quartz = await operatorToken(gateway, "ADMIN", {
    "https://stopover.example/claims/airline": "urn:airline:YB",
  });
  const theirs = await gateway.ask(`/v1/cases/urn:case:YB-${ulid}`, { headers: bearer(quartz) });
  t.equal(theirs.status, 200, "another airline");
  gateway.passed(9999);
  exceeded(t, gateway, await gateway.ask(casePath, { headers: ana }), /./, "1");
  gateway.passed(1);
  t.equal((await gateway.ask(casePath, { headers: ana })).status, 200, "as was said");
  t.equal((await gateway.ask(casePath, { headers: ben })).status, 429, "one token, one request");
});

t.test("passengers have a session's limit and their airline's", async (t) => {
  const gateway = await start(t);
  const session = async (digit: number) => ({
    Host: passengerHost,
    ...bearer(
      await passengerToken(gateway, {
        sub: `urn:passenger-session:0b5ac3c0-3f5c-4e0e-9a53-d9cbb4f4a0a${digit}`,
      }),
    ),
  });
  const one = await session(1);
  const read = (headers: Record<string, string>, path = "/v1/me") => gateway.ask(path, { headers });
  t.equal(left(await read(one)), 4, "the session's is the tightest");
  for (const path of ["/v1/me/offer", "/v1/me", "/v1/me/offer", "/v1/me"]) await read(one, path);
  exceeded(
    t,
    gateway,
    await read(one, "/v1/me/offer"),
    /^The limit is 5 reads a minute for this session\. /,
    "12",
  );
  t.equal((await gateway.ask("/v1/me/offer/accept", { method: "POST", headers: one, body: {} })).status, 200);
  const two = await session(2);
  for (let i = 0; i < 5; i++) t.equal((await read(two)).status, 200, "another session has its own");
  const three = await session(3);
  const airline = /^The limit is 8 reads a minute for this airline and route\. /;
  exceeded(t, gateway, await read(three), airline, "8");
  t.equal(left(await read(three, "/v1/me/offer")), 4, "what was refused took nothing from the session");
});

t.test(
  "partners have one bucket over all routes, by tier, and their contact is told once a minute",
  async (t) => {
    const gateway = await start(t);
    const as = async (clientId: string) =>
      bearer(
        await partnerToken(gateway, "cases.read disruptions.subscribe policies.read", {
          sub: `${clientId}@clients`,
        }),
      );
    const read = (headers: Record<string, string>) =>
      gateway.ask(`/partner/v1/cases/${caseUrn}`, { headers });
    for (const [clientId, remaining] of [
      ["XN-tower", 29],
      ["XN-desk", 9],
      ["XN-unknown", 3],
    ] as const)
      t.equal(left(await read(await as(clientId))), remaining, clientId);
    const alerts = () => gateway.received.filter(({ name }) => name === "identity.note-limit-exceeded");
    const unknown = await as("XN-unknown");
    for (let i = 0; i < 3; i++) t.equal((await read(unknown)).status, 200);
    t.same(alerts(), []);
    const detail = /^The limit is 4 reads a minute for a partner of tier 3\. Come back in 15 s\.$/;
    for (let i = 0; i < 3; i++) exceeded(t, gateway, await read(unknown), detail, "15");
    const window = Math.floor(startedAt / 60_000);
    t.match(alerts(), [
      {
        envelope: {
          id: `limit:XN-unknown:${window}`,
          tenant: "XN",
          entity: "XN-unknown",
          principal: { surface: "system" },
          data: {
            windowStartedAt: new Date(window * 60_000).toISOString(),
            limit: "4 reads a minute for a partner of tier 3",
          },
        },
      },
    ]);
    t.equal(alerts().length, 1);
    gateway.passed(60_000);
    for (let i = 0; i < 4; i++) await read(unknown);
    gateway.act("identity.note-limit-exceeded", () => {
      throw new Error("away");
    });
    exceeded(t, gateway, await read(unknown), detail, "15");
    t.match(
      gateway.logged.join(""),
      "limit alert not recorded",
      "a failed alert is logged and holds nobody up",
    );
    await read(unknown);
    t.same(
      alerts().map(({ envelope }) => envelope.id),
      [window, window + 1, window + 1].map((each) => `limit:XN-unknown:${each}`),
      "and tried again with the next refusal",
    );
  },
);

t.test("strangers are counted by their address", async (t) => {
  const gateway = await start(t, { TRUSTED_PROXIES: "127.0.0.0/8" });
  const from = (address: string, path: string, asked: Asked = {}) =>
    gateway.ask(path, { ...asked, headers: { "X-Forwarded-For": address, ...asked.headers } });
  for (let i = 0; i < 12; i++)
    t.equal((await from("198.51.100.1", casePath, { headers: bearer(`guess.number.${i}`) })).status, 401);
  const detail =
    /^The limit is 8 requests a minute from this address without a valid token, at most 12 at once\. /;
  for (const [path, asked] of [
    [casePath, { headers: bearer("another.guess.x") }],
    ["/v1/nothing", {}],
    [casePath, { method: "OPTIONS" }],
    [casePath, { method: "DELETE" }],
    ["/.well-known/jwks.json", {}],
    ["/oauth/token", { method: "POST", body: {} }],
  ] as const) {
    const answer = await from("198.51.100.1", path, asked);
    exceeded(t, gateway, answer, detail, "8");
    t.notOk(answer.headers["www-authenticate"]);
  }
  t.equal((await from("198.51.100.2", casePath)).status, 401, "another address");
  t.equal((await from("198.51.100.2, 198.51.100.1", casePath)).status, 429, "whoever it claims to be");
  t.equal((await from("198.51.100.1", "/health/live")).status, 200, "health is never refused");
  const valid = bearer(await operatorToken(gateway));
  t.equal((await from("198.51.100.1", casePath, { headers: valid })).status, 200, "nor is a valid token");
  const login = { pnr: "K7QX2M", lastName: "Lovelace", captcha };
  const asked = { method: "POST", body: login, headers: { Host: passengerHost } };
  t.equal((await from("198.51.100.1", "/v1/auth/pnr-login", asked)).status, 429);
  gateway.act("identity.pnr-login", () => ({
    ok: { sessionId: "0b5ac3c0-3f5c-4e0e-9a53-d9cbb4f4a0a1", caseUrn, groupId: "G1" },
  }));
  t.equal((await from("198.51.100.3", "/v1/auth/pnr-login", asked)).status, 200);
  const command = gateway.received.find(({ name }) => name === "identity.pnr-login")?.envelope;
  t.match(command?.data, { address: "198.51.100.3" }, "the actor counts by the same address");
  t.equal(left(await from("2001:db8:1:2::1", "/.well-known/jwks.json")), 11);
  t.equal(left(await from("2001:db8:1:2:3::9", "/.well-known/jwks.json")), 10, "a /64 is one address");
});

t.test("every route that counts says so", async (t) => {
  for (const route of allRoutes)
    t.equal(problemsOf(route).includes("rate/exceeded"), !route.path.startsWith("/health/"), route.id);
  const gateway = await start(t);
  const { paths } = (await gateway.ask("/openapi/operator/v1.json")).json;
  const { responses } = paths["/v1/cases/{caseUrn}"].get;
  t.match(responses["429"], { description: /rate\/exceeded/, headers: { "Retry-After": {} } });
  for (const [status, { headers }] of Object.entries<{ headers?: object }>(responses))
    if (status !== "304") t.match(headers, { "X-RateLimit-Remaining": {} }, status);
});
