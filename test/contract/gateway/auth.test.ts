/** Owns the tests of who gets in: every way a token can be wrong, the passengers' host, cookie and login, the partners' token endpoint. */
import { once } from "node:events";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createLocalJWKSet, decodeJwt, decodeProtectedHeader, jwtVerify } from "jose";
import t, { type Test } from "tap";
import type { Role } from "../../../schemas/vocabulary.ts";
import {
  type Answered,
  bearer,
  type Changes,
  captcha,
  claims,
  operatorToken,
  partnerToken,
  passengerHost,
  passengerToken,
  startTestGateway,
  ulid,
} from "./fixture.ts";

const gateway = await startTestGateway();
t.teardown(() => gateway.close());
const { keys, config } = gateway;

const past = Math.floor(Date.now() / 1000) - 10;
const asOperator = (token: string): Promise<Answered> => gateway.ask("/v1/cases", { headers: bearer(token) });
const asPartner = (token: string): Promise<Answered> =>
  gateway.ask("/partner/v1/cases", { headers: bearer(token) });
const asPassenger = (token: string, host = passengerHost): Promise<Answered> =>
  gateway.ask("/v1/me", { headers: { ...bearer(token), Host: host } });

const challenge = (
  t: Test,
  answer: Answered,
  error: "invalid_token" | "expired_token",
  name: string,
): void => {
  t.equal(answer.status, 401, name);
  t.equal(answer.headers["www-authenticate"], `Bearer error="${error}"`, name);
};

t.test("operator tokens", async (t) => {
  const make = (changes: Changes = {}, signing = {}) =>
    operatorToken(gateway, "AIRPORT_OPERATOR", changes, signing);
  t.equal((await asOperator(await make())).status, 200);
  const publicKey = new TextEncoder().encode(JSON.stringify(keys.public.operator).padEnd(64));
  const invalid: [string, string][] = [
    ["of another issuer", await make({ iss: "https://evil.example/" })],
    ["for another audience", await make({ aud: config.PARTNER_AUDIENCE })],
    ["signed by a stranger", await make({}, { key: keys.foreign })],
    ["signed by the partners' key", await make({}, { key: keys.partner, kid: "partner-1" })],
    ["with the public key as a secret", await make({}, { key: publicKey, alg: "HS256" })],
    ["unsigned", `${btoa('{"alg":"none"}')}.${(await make()).split(".")[1]}.`.replaceAll("=", "")],
    ["not yet valid", await make({ nbf: past + 1000 })],
    ["without expiry", await make({ exp: undefined })],
    ["without issue time", await make({ iat: undefined })],
    ["without subject", await make({ sub: undefined })],
    ["without airline", await make({ [`${claims}/airline`]: undefined })],
    ["without role", await make({ [`${claims}/role`]: undefined })],
    ["with an unknown role", await make({ [`${claims}/role`]: "KING" })],
    ["without operator", await make({ [`${claims}/operator_urn`]: undefined })],
    ["with a partner as operator", await make({ [`${claims}/operator_urn`]: `urn:partner:XN-${ulid}` })],
    ["with a malformed airport", await make({ [`${claims}/airport`]: "jfk" })],
    ["with several airports", await make({ [`${claims}/airport`]: ["JFK"] })],
    ["changed on the way", `${(await make()).slice(0, -6)}AAAAAA`],
    ["not a token", "abc"],
    ["long", "a".repeat(3000)],
  ];
  for (const [name, token] of invalid) challenge(t, await asOperator(token), "invalid_token", name);
  for (const header of ["Basic abc", "Bearer", "Bearer a b", "Token x"]) {
    const answer = await gateway.ask("/v1/cases", { headers: { Authorization: header } });
    challenge(t, answer, "invalid_token", header);
  }
  challenge(t, await asOperator(await make({ exp: past })), "expired_token", "expired");
  const unknown = await asOperator(await make({ [`${claims}/airline`]: "urn:airline:ZZ" }));
  t.equal(unknown.status, 403);
  t.match(unknown.json.type, "auth/foreign-tenant");
  await asOperator(
    await make({ [`${claims}/airport`]: "JFK", [`${claims}/operator_urn`]: "urn:user:auth0|9" }),
  );
  t.match(gateway.received.at(-1)?.envelope.principal, {
    surface: "operator",
    tenant: "XN",
    urn: "urn:user:auth0|9",
    role: "AIRPORT_OPERATOR",
    airport: "JFK",
  });
});

t.test("partner tokens", async (t) => {
  const make = (changes: Changes = {}, signing = {}) =>
    partnerToken(gateway, "cases.read future.scope", changes, signing);
  t.equal((await asPartner(await make())).status, 200);
  t.match(gateway.received.at(-1)?.envelope.principal, {
    surface: "partner",
    tenant: "XN",
    urn: `urn:partner:XN-${ulid}`,
    clientId: "XN-tower",
    scopes: ["cases.read"],
  });
  const invalid: [string, string][] = [
    ["signed by the operators' key", await make({}, { key: keys.operator })],
    ["for another audience", await make({ aud: config.OPERATOR_AUDIENCE })],
    ["of another issuer", await make({ iss: config.OPERATOR_ISSUER })],
    ["with a person as subject", await make({ sub: "auth0|7" })],
    ["without scope", await make({ scope: undefined })],
    ["without grant type", await make({ gty: undefined })],
    ["without partner", await make({ [`${claims}/partner_urn`]: undefined })],
    ["without airline", await make({ [`${claims}/tenant_urn`]: undefined })],
  ];
  for (const [name, token] of invalid) challenge(t, await asPartner(token), "invalid_token", name);
  challenge(t, await asPartner(await make({ exp: past })), "expired_token", "expired");
});

t.test("passenger sessions and their host", async (t) => {
  const make = (changes: Changes = {}, signing = {}) => passengerToken(gateway, changes, signing);
  const token = await make();
  t.equal((await asPassenger(token)).status, 200);
  t.match(gateway.received.at(-1)?.envelope.principal, {
    surface: "passenger",
    tenant: "XN",
    caseId: `XN-${ulid}`,
    groupId: "K7QX2M",
    urn: /^urn:passenger-session:/,
  });
  t.equal(
    (await asPassenger(token, `${passengerHost.toUpperCase()}:8080`)).status,
    200,
    "case and port are ignored",
  );
  const unknown = await asPassenger(token, "stay.nobody.example");
  t.equal(unknown.status, 404);
  t.match(unknown.json.type, "not-found/host");
  const foreign = await asPassenger(token, "stay.yb.example");
  t.equal(foreign.status, 403);
  t.match(foreign.json.type, "auth/foreign-tenant");
  const invalid: [string, string][] = [
    ["signed with RS256", await make({}, { key: keys.partner, alg: "RS256", kid: "partner-1" })],
    ["for another audience", await make({ aud: config.PARTNER_AUDIENCE })],
    ["of another kind of subject", await make({ sub: "urn:user:7" })],
    ["without case", await make({ case_urn: undefined })],
    ["without group", await make({ group_id: undefined })],
    ["with another airline's case", await make({ case_urn: `urn:case:YB-${ulid}` })],
    ["without airline", await make({ tenant: undefined })],
  ];
  for (const [name, wrong] of invalid) challenge(t, await asPassenger(wrong), "invalid_token", name);
  challenge(t, await asPassenger(await make({ exp: past })), "expired_token", "expired");
});

t.test("a session in the cookie", async (t) => {
  const token = await passengerToken(gateway);
  const headers = { Host: passengerHost, Cookie: `a=b; __Host-session=${token}; c` };
  t.equal((await gateway.ask("/v1/me", { headers })).status, 200, "reads need no Origin");
  const accept = (more: Record<string, string>) =>
    gateway.ask("/v1/me/offer/accept", { method: "POST", headers: { ...headers, ...more } });
  t.equal((await accept({ Origin: `https://${passengerHost}` })).status, 200);
  for (const Origin of ["https://evil.example", "null", `https://${passengerHost}.evil.example`, ""]) {
    const answer = await accept({ Origin });
    t.equal(answer.status, 403, `from ${Origin}`);
    t.match(answer.json.type, "auth/foreign-origin");
  }
  const byBearer = await accept({ Origin: "https://evil.example", ...bearer(token) });
  t.equal(byBearer.status, 200, "a bearer token is never sent by a browser on its own");
  const other = { Host: passengerHost, Cookie: "session=x" };
  challenge(t, await gateway.ask("/v1/me", { headers: other }), "invalid_token", "no session cookie");
});

t.test("a verified token is remembered no longer than it lives", async (t) => {
  const token = await operatorToken(gateway, "ADMIN", { exp: past + 70 });
  t.equal((await asOperator(token)).status, 200);
  gateway.skewMs(61_000);
  challenge(t, await asOperator(token), "expired_token", "remembered");
  challenge(t, await asOperator(token), "expired_token", "forgotten");
  gateway.skewMs(0);
});

t.test("a passenger's login", async (t) => {
  const sessionId = "7d1f0f0e-1a35-4f43-8d0a-0d4f1ab0a001";
  const caseUrn = `urn:case:XN-${ulid}`;
  gateway.act("identity.pnr-login", () => ({ ok: { sessionId, caseUrn, groupId: "G1" } }));
  const logIn = (body: Record<string, unknown>, host = passengerHost) =>
    gateway.ask("/v1/auth/pnr-login", {
      method: "POST",
      body: { pnr: "K7QX2M", lastName: "Lovelace", captcha, ...body },
      headers: { Host: host },
    });
  const answer = await logIn({});
  t.equal(answer.status, 200);
  t.same(Object.keys(answer.json).sort(), ["caseUrn", "expiresAt", "sessionToken"]);
  t.equal(answer.json.caseUrn, caseUrn);
  const token = answer.json.sessionToken as string;
  t.same(decodeProtectedHeader(token), { alg: "EdDSA", kid: "passenger-1", typ: "session+jwt" });
  const { exp, ...rest } = decodeJwt(token);
  t.same(rest, {
    iss: config.AUTH_URL,
    sub: `urn:passenger-session:${sessionId}`,
    aud: config.PASSENGER_AUDIENCE,
    case_urn: caseUrn,
    group_id: "G1",
    tenant: "urn:airline:XN",
  });
  t.equal(new Date(Math.round(Number(exp) * 1000)).toISOString(), answer.json.expiresAt);
  t.ok(Math.abs(Number(exp) - Date.now() / 1000 - 7 * 86_400) < 5, "seven days");
  t.match(
    String(answer.headers["set-cookie"]),
    `__Host-session=${token}; Path=/; Max-Age=604800; Secure; HttpOnly`,
  );
  t.equal(answer.headers["cache-control"], "no-store");
  t.equal((await asPassenger(token)).status, 200, "the session works");
  t.match(gateway.received.find(({ name }) => name === "identity.pnr-login")?.envelope, {
    name: "identity.pnr-login",
    tenant: "XN",
    data: { pnr: "K7QX2M", lastName: "Lovelace", address: "127.0.0.1" },
  });
  t.notMatch(JSON.stringify(gateway.received), captcha, "the challenge goes no further");
  const wrongCaptcha = await logIn({ captcha: "guess" });
  t.equal(wrongCaptcha.status, 400);
  t.match(wrongCaptcha.json.type, "validation/captcha");
  t.equal((await logIn({}, "nobody.example")).status, 404);
  t.equal((await logIn({ pnr: 7 })).status, 422);
  const members = {};
  gateway.act("identity.pnr-login", () => ({
    problem: { code: "auth/login-failed", detail: "No.", members },
  }));
  challenge(t, await logIn({}), "invalid_token", "no open case");
});

t.test("the partners' token endpoint", async (t) => {
  const client = { clientId: "XN-tower", partnerUrn: `urn:partner:XN-${ulid}`, tenant: "XN" };
  gateway.act("identity.authenticate-partner", ({ data }) =>
    (data as { clientSecret: string }).clientSecret === "right"
      ? { ok: { ...client, scopes: ["cases.read", "policies.read"] } }
      : { problem: { code: "auth/invalid-client", detail: "No.", members: {} } },
  );
  const body = {
    grant_type: "client_credentials",
    client_id: "XN-tower",
    client_secret: "right",
    audience: config.PARTNER_AUDIENCE,
  };
  const ask = (changes: Changes, headers = {}) =>
    gateway.ask("/oauth/token", { method: "POST", body: { ...body, ...changes }, headers });
  const answer = await ask({});
  t.equal(answer.status, 200);
  t.equal(answer.headers["cache-control"], "no-store");
  const { access_token: token, ...rest } = answer.json;
  t.same(decodeProtectedHeader(token), { alg: "RS256", kid: "partner-1", typ: "at+jwt" });
  t.same(rest, { token_type: "Bearer", expires_in: 3600 });
  const keySet = (await gateway.ask("/.well-known/jwks.json")).json;
  t.same(Object.keys(keySet.keys[0]).sort(), ["alg", "e", "kid", "kty", "n", "use"], "nothing private");
  t.same(Object.keys(keySet.keys[1]).sort(), ["alg", "crv", "kid", "kty", "use", "x"], "nothing private");
  const { payload } = await jwtVerify(token, createLocalJWKSet(keySet), { algorithms: ["RS256"] });
  const { iat, exp, ...claimed } = payload;
  t.same(claimed, {
    iss: config.AUTH_URL,
    sub: "XN-tower@clients",
    aud: config.PARTNER_AUDIENCE,
    scope: "cases.read policies.read",
    gty: "client-credentials",
    [`${claims}/partner_urn`]: client.partnerUrn,
    [`${claims}/tenant_urn`]: "urn:airline:XN",
  });
  t.equal(Number(exp) - Number(iat), 3600);
  t.equal((await asPartner(token)).status, 200, "the token works");
  t.match(gateway.received.find(({ name }) => name === "identity.authenticate-partner")?.envelope, {
    tenant: "XN",
    entity: "",
    data: { clientId: "XN-tower", clientSecret: "right" },
  });
  for (const client_id of ["ZZ-tower", "tower", "XN-tower"]) {
    const refused = await ask({ client_id, client_secret: "wrong" });
    challenge(t, refused, "invalid_token", client_id);
    t.match(refused.json.type, "auth/invalid-client");
  }
  for (const [member, value] of [
    ["grant_type", "password"],
    ["audience", config.OPERATOR_AUDIENCE],
  ] as const) {
    const refused = await ask({ [member]: value });
    t.equal(refused.status, 400);
    t.match(refused.json.errors, [{ pointer: `/${member}` }]);
  }
  t.equal((await ask({}, { "Content-Type": "application/x-www-form-urlencoded" })).status, 415);
  t.notMatch(gateway.logged.join(), "right");
});

const serve = async (t: Test, answer: (body: string) => { status: number; body: unknown }) => {
  const server: Server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const { status, body } = answer(Buffer.concat(chunks).toString());
    response.writeHead(status, { "Content-Type": "application/json", Connection: "close" });
    response.end(JSON.stringify(body));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  t.teardown(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};

t.test("a real captcha service", async (t) => {
  const asked: URLSearchParams[] = [];
  let status = 200;
  let said: object | undefined;
  const url = await serve(t, (body) => {
    asked.push(new URLSearchParams(body));
    return { status, body: said ?? { success: asked.at(-1)?.get("response")?.startsWith("solved") } };
  });
  const CAPTCHA_SECRET_FILE = join(t.testdir({ secret: "for the provider\n" }), "secret");
  const real = { CAPTCHA_VERIFY_URL: url, CAPTCHA_DEVELOPMENT_TOKEN: "" };
  await t.rejects(startTestGateway(real), { message: /CAPTCHA_SECRET_FILE: is missing/ });
  const other = await startTestGateway({ ...real, CAPTCHA_SECRET_FILE });
  t.teardown(() => other.close());
  const session = {
    sessionId: "7d1f0f0e-1a35-4f43-8d0a-0d4f1ab0a001",
    caseUrn: `urn:case:XN-${ulid}`,
    groupId: "G",
  };
  other.act("identity.pnr-login", () => ({ ok: session }));
  const logIn = (token: string) =>
    other.ask("/v1/auth/pnr-login", {
      method: "POST",
      body: { pnr: "K7QX2M", lastName: "Lovelace", captcha: token },
      headers: { Host: passengerHost },
    });
  t.equal((await logIn("solved")).status, 200);
  t.strictSame(Object.fromEntries(asked[0] ?? []), {
    secret: "for the provider",
    response: "solved",
    remoteip: "127.0.0.1",
  });
  const before = asked.length;
  t.equal((await logIn("solved")).status, 400, "a token is good once");
  t.equal(asked.length, before, "and nobody is asked about it again");
  const both = await Promise.all([logIn("solved-at-once"), logIn("solved-at-once")]);
  t.strictSame(both.map((answer) => answer.status).sort(), [200, 400]);
  t.equal((await logIn("guessed")).status, 400);
  t.equal((await logIn(captcha)).status, 400, "the development token counts only where it is set");
  let n = 0;
  for (const [verdict, expected] of [
    [{ success: true, hostname: passengerHost }, 200],
    [{ success: true, hostname: passengerHost.toUpperCase() }, 200],
    [{ success: true, hostname: "phishing.example" }, 400],
    [{ success: true, hostname: "" }, 200],
    [{ success: "true" }, 400],
    [{ success: 1 }, 400],
    [{ success: false, "error-codes": ["timeout-or-duplicate"] }, 400],
    [{ success: false, "error-codes": ["invalid-input-response"] }, 400],
    [{ success: false, "error-codes": ["invalid-input-secret"] }, 503],
    [{ success: false, "error-codes": "x" }, 400],
    [{}, 400],
    [{ success: true, more: "x".repeat(70_000) }, 503],
  ] as const) {
    said = verdict;
    const answer = await logIn(`another-${n++}`);
    t.equal(answer.status, expected, JSON.stringify(verdict).slice(0, 80));
    if (expected === 503) t.equal(answer.json.failedDomain, "captcha");
  }
  said = undefined;
  status = 500;
  const down = await logIn("solved-later");
  t.equal(down.status, 503);
  t.equal(down.json.failedDomain, "captcha");
  status = 200;
  t.equal((await logIn("solved-later")).status, 200, "of what nobody could tell nothing is remembered");
});

t.test("an issuer's key set over HTTP", async (t) => {
  let status = 500;
  const served: { keys: unknown[] } = { keys: [] };
  const url = await serve(t, () => ({ status, body: served }));
  const other = await startTestGateway({ OPERATOR_JWKS: url });
  t.teardown(() => other.close());
  const role: Role = "ADMIN";
  const headers = bearer(await operatorToken(other, role));
  const down = await other.ask("/v1/cases", { headers });
  t.equal(down.status, 503, "nobody can tell whether the token is good");
  t.equal(down.json.failedDomain, "identity-provider");
  status = 200;
  served.keys.push(other.keys.public.operator);
  t.equal((await other.ask("/v1/cases", { headers })).status, 200);
  const stranger = await operatorToken(other, role, {}, { key: other.keys.foreign, kid: "stranger" });
  const answer = await other.ask("/v1/cases", { headers: bearer(stranger) });
  challenge(t, answer, "invalid_token", "a key that the issuer does not have");
});

t.test("a key set that is not there stops the start", async (t) => {
  const start = startTestGateway({ OPERATOR_JWKS: "/nowhere/keys.jwks" });
  await t.rejects(start, { message: /OPERATOR_JWKS: cannot read \/nowhere\/keys.jwks \(ENOENT\)/ });
});
