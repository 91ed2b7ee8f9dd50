/** Owns the tests of withdrawn access at the gateway: which token an entry is about, that it is asked each time, and what is told. */
import { createHash } from "node:crypto";
import t from "tap";
import { EndedSessions, type PresentedToken, RevocationList } from "../../../streams/revocations.ts";
import {
  type Answered,
  bearer,
  type Changes,
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

const ask = {
  operator: (token: string) => gateway.ask("/v1/cases", { headers: bearer(token) }),
  partner: (token: string) => gateway.ask("/partner/v1/cases", { headers: bearer(token) }),
  passenger: (token: string) => gateway.ask("/v1/me", { headers: { ...bearer(token), Host: passengerHost } }),
  cookie: (token: string) =>
    gateway.ask("/v1/me", { headers: { Cookie: `__Host-session=${token}`, Host: passengerHost } }),
};
const digestOf = (token: string): string => createHash("sha256").update(token).digest("base64url");
const seconds = Math.floor(Date.now() / 1000);
const session = "urn:passenger-session:0b5ac3c0-3f5c-4e0e-9a53-d9cbb4f4a0a1";
const operator = (changes: Changes = {}) => operatorToken(gateway, "ADMIN", changes);
const plain = await operator();
const named = await operator({ jti: "token-7" });
const partner = await partnerToken(gateway, "cases.read");
const passenger = await passengerToken(gateway);
const scopedTo = { [`${claims}/operator_urn`]: "urn:stopover:user:7", sub: "ana|7" };

t.test("whom an entry is about, on every surface, though the token is remembered", async (t) => {
  for (const [name, surface, token, entry, isAbout] of [
    ["an operator's sub", "operator", plain, { subject: "auth0|7" }, true],
    ["an operator's URN", "operator", plain, { subject: "urn:operator:7" }, true],
    [
      "an operator's URN, written long",
      "operator",
      await operator(scopedTo),
      { subject: "urn:user:7" },
      true,
    ],
    ["another operator", "operator", plain, { subject: "auth0|70" }, false],
    ["a part of the sub", "operator", plain, { subject: "auth0" }, false],
    ["another case", "operator", plain, { subject: "AUTH0|7" }, false],
    ["the same of another airline", "operator", plain, { tenant: "YB", subject: "auth0|7" }, false],
    ["a token by its digest", "operator", plain, { tokenId: digestOf(plain) }, true],
    ["a token by its jti", "operator", named, { tokenId: "token-7" }, true],
    ["one with a jti by its digest", "operator", named, { tokenId: digestOf(named) }, false],
    ["another token of that operator", "operator", plain, { tokenId: "token-7" }, false],
    ["a token's id as a subject", "operator", named, { subject: "token-7" }, false],
    ["a subject as a token's id", "operator", plain, { tokenId: "auth0|7" }, false],
    ["a partner's sub", "partner", partner, { subject: "XN-tower@clients" }, true],
    ["a partner's URN", "partner", partner, { subject: `urn:partner:XN-${ulid}` }, true],
    ["a client id alone", "partner", partner, { subject: "XN-tower" }, false],
    ["a passenger's session", "passenger", passenger, { subject: session }, true],
    ["a passenger's session in a cookie", "cookie", passenger, { subject: session }, true],
    ["a passenger's token", "passenger", passenger, { tokenId: digestOf(passenger) }, true],
    ["the passenger's case", "passenger", passenger, { subject: `urn:case:XN-${ulid}` }, false],
  ] as const) {
    const reading = (): Promise<Answered> => ask[surface](token);
    t.equal((await reading()).status, 200, `${name}: before`);
    gateway.revoked.learn("XN-1", { tenant: "XN", ...entry });
    gateway.received.length = 0;
    const answer = await reading();
    gateway.revoked.forget("XN-1");
    t.equal(answer.status, isAbout ? 401 : 200, name);
    t.equal((await reading()).status, 200, `${name}: after`);
    if (!isAbout) continue;
    t.equal(answer.headers["www-authenticate"], 'Bearer error="invalid_token"', name);
    t.match(answer.json, { type: /auth\/invalid-token$/, detail: /withdrawn.*administrator/ }, name);
    t.equal(gateway.received.length, 1, `${name}: what is refused reaches no actor`);
  }
});

t.test("ended sessions: tokens issued up to a moment", async (t) => {
  const at = (iat: number) => operator({ iat, exp: iat + 900 });
  const end = (subject: string, issuedUpTo: number, tenant = "XN"): void =>
    gateway.ended.learn({ tenant, subject, issuedUpTo }, new Date());
  const before = await at(seconds - 100);
  const moment = await at(seconds - 50);
  const after = await at(seconds - 49);
  end("auth0|7", seconds - 50, "YB");
  end("auth0|8", seconds - 50);
  for (const token of [before, moment, after]) t.equal((await ask.operator(token)).status, 200);
  end("auth0|7", seconds - 50);
  const answers = await Promise.all([before, moment, after].map(ask.operator));
  t.strictSame(
    answers.map(({ status }) => status),
    [401, 401, 200],
  );
  t.match(answers[0]?.json, { type: /auth\/invalid-token$/, detail: /session has ended.*Log in/ });
  const issuedAt = seconds - 1000;
  const old = await passengerToken(gateway, { exp: issuedAt + 7 * 86_400 });
  end(session, issuedAt - 1);
  t.equal((await ask.passenger(old)).status, 200, "a passenger's issue time follows from its expiry");
  end(session, issuedAt);
  t.equal((await ask.passenger(old)).status, 401);
});

t.test("which refusal comes first", async (t) => {
  gateway.revoked.learn("XN-1", { tenant: "XN", subject: session });
  const expired = await ask.passenger(await passengerToken(gateway, { exp: seconds - 5 }));
  t.match(expired.json.type, /auth\/expired-token$/, "the token's own fault");
  gateway.closings.set(`XN-${ulid}`, { closedAt: new Date(), open: false });
  t.equal((await ask.passenger(passenger)).status, 401, "singly revoked before closed with its case");
  gateway.revoked.forget("XN-1");
  t.equal((await ask.passenger(passenger)).status, 403);
  gateway.closings.clear();
  gateway.revoked.learn("XN-1", { tenant: "XN", subject: "auth0|7" });
  const supervisor = await operatorToken(gateway, "OPS_SUPERVISOR");
  const forbidden = await gateway.ask("/v1/admin/revocations", { headers: bearer(supervisor) });
  t.equal(forbidden.status, 401, "before the role");
  gateway.revoked.forget("XN-1");
});

const presented = (more: Partial<PresentedToken> = {}): PresentedToken => ({
  tenant: "XN",
  subjects: ["ana", "urn:user:ana"],
  tokenId: "t1",
  issuedAt: 100,
  ...more,
});

t.test("the list: entries come twice, change, go, and make sense", async (t) => {
  const list = new RevocationList();
  list.learn("XN-1", { tenant: "XN", subject: "ana" });
  list.learn("XN-1", { tenant: "XN", subject: "ana" });
  list.learn("XN-2", { tenant: "XN", subject: "ana" });
  list.forget("XN-1");
  t.ok(list.holds(presented()), "two entries about one subject");
  list.forget("XN-2");
  list.forget("XN-2");
  list.forget("XN-9");
  t.notOk(list.holds(presented()), "neither holds");
  list.learn("XN-3", { tenant: "XN", tokenId: "t1" });
  t.ok(list.holds(presented()));
  list.learn("XN-3", { tenant: "XN", tokenId: "t2" });
  t.notOk(list.holds(presented()), "the entry is about another token now");
  for (const wrong of [
    {},
    { tenant: "XN" },
    { tenant: "XN", subject: "" },
    { tenant: "XN", subject: 7 },
    { tenant: "XN", subject: "a", tokenId: "b" },
    { subject: "a" },
  ])
    t.throws(() => list.learn("XN-4", wrong as never), TypeError, JSON.stringify(wrong));
});

t.test(
  "ends of sessions are forgotten once no token of before can live, by the bucket's time alone",
  async (t) => {
    const ended = new EndedSessions();
    const minute = (n: number): Date => new Date(Date.UTC(2026, 10, 21, 12, n));
    ended.learn({ tenant: "XN", subject: "ana", issuedUpTo: 100 }, minute(0));
    t.ok(ended.hold(presented()));
    t.notOk(ended.hold(presented({ issuedAt: 101 })));
    t.notOk(ended.hold(presented({ tenant: "QZ" })));
    ended.learn({ tenant: "XN", subject: "ben", issuedUpTo: 100 }, minute(16));
    t.ok(ended.hold(presented()), "after 16 minutes");
    ended.learn({ tenant: "XN", subject: "eve", issuedUpTo: 100 }, minute(17));
    t.notOk(ended.hold(presented()), "after 17");
    t.ok(ended.hold(presented({ subjects: ["ben"] })));
    ended.learn({ tenant: "XN", subject: "ben", issuedUpTo: 200 }, minute(18));
    ended.learn({ tenant: "XN", subject: "eve", issuedUpTo: 100 }, minute(33));
    t.ok(
      ended.hold(presented({ subjects: ["ben"], issuedAt: 200 })),
      "a later end counts from when it was put",
    );
    for (const wrong of [
      {},
      { tenant: "XN", subject: "a" },
      { tenant: "XN", subject: "a", issuedUpTo: "now" },
    ])
      t.throws(() => ended.learn(wrong as never, minute(0)), TypeError, JSON.stringify(wrong));
  },
);
