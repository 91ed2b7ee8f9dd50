/** Owns the tests of a passenger's session and the closing of its case: when it is refused, how, and whose it is not. */
import t, { type Test } from "tap";
import { passengerSessionLifetimeSeconds } from "../../../gateway/auth/passenger-token.ts";
import {
  type Answered,
  bearer,
  captcha,
  operatorToken,
  passengerHost,
  passengerToken,
  startTestGateway,
  ulid,
} from "./fixture.ts";

const gateway = await startTestGateway();
t.teardown(() => gateway.close());
t.afterEach(() => gateway.closings.clear());

const caseId = `XN-${ulid}`;
const lifetimeMs = passengerSessionLifetimeSeconds * 1000;
const asPassenger = (token: string): Promise<Answered> =>
  gateway.ask("/v1/me", { headers: { ...bearer(token), Host: passengerHost } });
const sessionOf = (issuedAtMs: number): Promise<string> =>
  passengerToken(gateway, { exp: Math.floor((issuedAtMs + lifetimeMs) / 1000) });

const ended = (t: Test, answer: Answered, name: string): void => {
  t.equal(answer.status, 401, name);
  t.match(
    answer.json,
    { type: /auth\/invalid-token$/, detail: /ended when the case was closed.*log in again/ },
    name,
  );
  t.equal(answer.headers["www-authenticate"], 'Bearer error="invalid_token"', name);
};
const shut = (t: Test, answer: Answered, name: string): void => {
  t.equal(answer.status, 403, name);
  t.match(answer.json.type, /auth\/case-closed$/, name);
};
const open = (t: Test, answer: Answered, name: string): void => {
  t.equal(answer.status, 200, name);
};

// In the middle of a second: what was issued within it counts as from before.
const closedAt = new Date(Math.floor(Date.now() / 1000) * 1000 - 3_600_000 + 400);

t.test("a session of before, at and after the closing, on every kind of route", async (t) => {
  const closed = { closedAt, open: false };
  const reopened = { closedAt, open: true };
  for (const [name, standing, afterMs, outcome] of [
    ["never closed", undefined, -1, open],
    ["closed", closed, -1, shut],
    ["closed", closed, 1, shut],
    ["reopened", reopened, -60_000, ended],
    ["reopened", reopened, -400, ended],
    ["reopened", reopened, -1, ended],
    ["reopened", reopened, 0, ended],
    ["reopened", reopened, 599, ended],
    ["reopened", reopened, 600, open],
    ["reopened", reopened, 60_000, open],
  ] as const) {
    const what = `${name}, a session of ${afterMs} ms after the closing`;
    const token = await sessionOf(closedAt.getTime() + afterMs);
    gateway.closings.clear();
    open(t, await asPassenger(token), `${what}: not known yet, and the token is remembered`);
    if (standing !== undefined) gateway.closings.set(caseId, standing);
    gateway.received.length = 0;
    const cookie = {
      Host: passengerHost,
      Cookie: `__Host-session=${token}`,
      Origin: `https://${passengerHost}`,
    };
    outcome(t, await asPassenger(token), what);
    outcome(
      t,
      await gateway.ask("/v1/me/offer/accept", { method: "POST", headers: cookie }),
      `${what}, in a cookie`,
    );
    t.equal(gateway.received.length, outcome === open ? 2 : 0, `${what}: what is refused reaches no actor`);
  }
});

t.test("a closing is nobody else's business", async (t) => {
  gateway.closings.set(caseId, { closedAt, open: false });
  const otherCase = { case_urn: `urn:case:XN-${ulid.replace("1", "2")}` };
  open(t, await asPassenger(await passengerToken(gateway, otherCase)), "another case's session lives on");
  const headers = bearer(await operatorToken(gateway));
  open(t, await gateway.ask(`/v1/cases/urn:case:${caseId}`, { headers }), "operators read on");
  const expired = await asPassenger(await sessionOf(Date.now() - lifetimeMs - 10_000));
  t.equal(
    expired.headers["www-authenticate"],
    'Bearer error="expired_token"',
    "an expired token is that first",
  );
});

t.test("closed and reopened within one second, and a login at once", async (t) => {
  const now = new Date();
  const before = await sessionOf(now.getTime() - 1);
  gateway.closings.set(caseId, { closedAt: now, open: true });
  gateway.skewMs(1);
  const session = { sessionId: "7d1f0f0e-1a35-4f43-8d0a-0d4f1ab0a001", caseUrn: `urn:case:${caseId}` };
  gateway.act("identity.pnr-login", () => ({ ok: { ...session, groupId: "G1" } }));
  const body = { pnr: "K7QX2M", lastName: "Lovelace", captcha };
  const login = await gateway.ask("/v1/auth/pnr-login", {
    method: "POST",
    body,
    headers: { Host: passengerHost },
  });
  open(t, login, "a login needs no session");
  open(t, await asPassenger(login.json.sessionToken), "the session of after the reopening");
  ended(t, await asPassenger(before), "the session of before the closing");
  gateway.closings.set(caseId, { closedAt: now, open: false });
  const late = await gateway.ask("/v1/auth/pnr-login", {
    method: "POST",
    body,
    headers: { Host: passengerHost },
  });
  t.equal(late.status, 401, "a login that the closing has overtaken");
  t.match(late.json.type, /auth\/login-failed$/);
  gateway.skewMs(0);
});
