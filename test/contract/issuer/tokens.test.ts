// Tokens after a sign-in: what they say, how they are refreshed, and every way in which they end.
import { decodeJwt, decodeProtectedHeader } from "jose";
import t from "tap";
import { owedEnding, oweEnding, settleEnding } from "../../../scripts/embedded/issuer/session-endings.ts";
import { putMembership } from "../../../scripts/embedded/issuer/users.ts";
import { Browser } from "../../harness/browser.ts";
import { OperatorConsole, type TokenAnswer, type Tokens } from "../../harness/operator-console.ts";
import { type Person, type PersonOptions, password, startIssuerUnderTest } from "./fixture.ts";

const under = await startIssuerUnderTest(t);
const { issuer, documents } = under;
const namespace = "https://stopover.example/claims";
const daySeconds = 86_400;

interface SignedIn extends Tokens {
  console: OperatorConsole;
  person: Person;
  subject: string;
}

const tokensOf = ({ body }: TokenAnswer): Tokens => body as unknown as Tokens;

const signIn = async (
  name: string,
  options: PersonOptions = { places: [["XN", "ADMIN"]] },
): Promise<SignedIn> => {
  const person = await under.person(name, options);
  const console = new OperatorConsole(issuer);
  await console.begin();
  await console.step({ step: "password", email: person.email, password });
  const tokens = tokensOf(await console.exchange(await console.step({ step: "totp", code: person.code() })));
  return { ...tokens, console, person, subject: decodeJwt(tokens.access_token).sub ?? "" };
};

const isRefused = { status: 400, body: { error: "invalid_grant" } };
const isGood = {
  status: 200,
  body: { token_type: "Bearer", expires_in: 900, scope: "openid profile email" },
};

/** A stored token as oidc-provider reads it, changed as if time had passed. */
const edit = async (filter: object, change: (payload: Record<string, number>) => object): Promise<void> => {
  const stored = await documents.tokens.findOne(filter);
  const payload = JSON.parse(stored?.payload ?? "{}") as Record<string, number>;
  const edited = JSON.stringify({ ...payload, ...change(payload) });
  await documents.tokens.updateOne({ _id: stored?._id ?? "" }, { $set: { payload: edited } });
};

t.test("the access token says exactly what the contract lists", async (t) => {
  const { access_token, id_token, subject, person } = await signIn("ana");
  t.match(decodeProtectedHeader(access_token), { alg: "RS256", typ: "at+jwt", kid: under.signingKid });
  const { iat = 0, exp = 0, ...claims } = decodeJwt(access_token);
  t.equal(exp - iat, 900);
  t.strictSame(claims, {
    iss: issuer,
    sub: subject,
    aud: "stopover-operator",
    scope: "openid profile email",
    [`${namespace}/airline`]: "urn:airline:XN",
    [`${namespace}/role`]: "ADMIN",
    [`${namespace}/operator_urn`]: `urn:user:${subject}`,
  });
  t.match(subject, /^[0-9a-f-]{36}$/);
  t.not(subject, person.id, "no airline learns where else somebody works");
  t.match(decodeJwt(id_token), { sub: subject, email: "ana@example.com", aud: "stopover-console" });
  const jfk = await signIn("jan", { places: [["XN", "OPS_SUPERVISOR", "JFK"]] });
  t.equal(decodeJwt(jfk.access_token)[`${namespace}/airport`], "JFK");
});

t.test("discovery, keys, and pages of the console's origin alone may ask for tokens", async (t) => {
  const browser = new Browser({ Accept: "application/json" });
  const liar = new Browser({ ...browser.headers, Host: "evil.example", "X-Forwarded-Host": "evil.example" });
  const { text } = await liar.get(`${issuer}/.well-known/openid-configuration`);
  const found = JSON.parse(text) as { jwks_uri: string };
  t.match(found, {
    issuer,
    code_challenge_methods_supported: ["S256"],
    response_types_supported: ["code"],
    grant_types_supported: ["authorization_code", "refresh_token"],
    end_session_endpoint: `${issuer}/session/end`,
    revocation_endpoint: `${issuer}/token/revocation`,
  });
  const { keys } = JSON.parse((await browser.get(found.jwks_uri)).text) as { keys: object[] };
  const published = { kty: "RSA", alg: "RS256", use: "sig" };
  t.match(keys, [{ ...published, kid: under.signingKid }, published], "both keys of a rotation");
  t.notOk(
    keys.some((key) => "d" in key || "p" in key),
    "the public halves",
  );
  const asked = { client_id: "stopover-console", grant_type: "refresh_token", refresh_token: "x" };
  const from = async (Origin: string) =>
    (await browser.post(`${issuer}/token`, asked, { Origin })).headers["access-control-allow-origin"];
  t.equal(await from("http://127.0.0.1:5173"), "http://127.0.0.1:5173");
  t.equal(await from("https://evil.example"), undefined);
});

t.test("each refresh gives another token; one that comes twice ends all", async (t) => {
  const { console, refresh_token, subject } = await signIn("bo");
  const second = await console.refresh(refresh_token);
  t.match(second, isGood);
  const third = await console.refresh(tokensOf(second).refresh_token);
  t.match(third, isGood);
  t.not(tokensOf(third).refresh_token, tokensOf(second).refresh_token);
  t.strictSame(under.ended, []);
  t.match(await console.refresh(refresh_token), isRefused, "the first one once more");
  t.strictSame(under.ended, [{ subject }], "the gateways know before the answer");
  t.match(await console.refresh(tokensOf(third).refresh_token), isRefused, "the newest is over as well");
  const { location = "" } = await console.begin({ prompt: "none" });
  t.match(location, /error=login_required/, "and the browser's session: nothing recovers by itself");
  t.equal(await documents.tokens.countDocuments({ accountId: subject }), 0);
});

t.test("of two refreshes at once one is a reuse", async (t) => {
  const { console, refresh_token } = await signIn("cy");
  const both = await Promise.all([console.refresh(refresh_token), console.refresh(refresh_token)]);
  const won = both.find(({ status }) => status === 200);
  t.ok(both.some(({ status }) => status === 400));
  if (won !== undefined) t.match(await console.refresh(tokensOf(won).refresh_token), isRefused);
});

t.test("a code that comes twice ends what it gave", async (t) => {
  const person = await under.person("dee", { places: [["XN", "ADMIN"]] });
  const console = new OperatorConsole(issuer);
  await console.begin();
  await console.step({ step: "password", email: person.email, password });
  const back = await console.step({ step: "totp", code: person.code() });
  t.match(await console.exchange(back, { code_verifier: "x".repeat(43) }), isRefused, "not who asked for it");
  const { refresh_token } = tokensOf(await console.exchange(back));
  t.match(await console.exchange(back), isRefused);
  t.match(await console.refresh(refresh_token), isRefused);
});

t.test("gateways out of reach: the end of a session is owed until they know", async (t) => {
  const { console, refresh_token, subject } = await signIn("ed");
  const { refresh_token: newest } = tokensOf(await console.refresh(refresh_token));
  under.isAway = true;
  t.match(await console.refresh(refresh_token), isRefused);
  t.match(await console.refresh(newest), isRefused);
  t.match(await documents.endings.find({}).toArray(), [{ subject, tenant: "XN", grantId: /./ }]);
  under.isAway = false;
  await documents.endings.deleteMany({});
});

t.test(
  "a refresh token lives 7 days unused and 30 days in all, and is known as used until then",
  async (t) => {
    const { console, refresh_token, subject } = await signIn("flo");
    const ofFlo = { accountId: subject, model: "RefreshToken", consumed: { $exists: false } };
    const lifetime = async () => {
      const stored = await documents.tokens.findOne(ofFlo);
      const { iat = 0, exp = 0 } = JSON.parse(stored?.payload ?? "{}") as { iat?: number; exp?: number };
      // Each of the times is taken anew, and a second may pass in between.
      return Math.round((exp - iat) / 60) / (daySeconds / 60);
    };
    t.equal(await lifetime(), 7);
    await edit(ofFlo, ({ iiat = 0 }) => ({ iiat: iiat - 28 * daySeconds }));
    const { refresh_token: second } = tokensOf(await console.refresh(refresh_token));
    t.equal(await lifetime(), 2, "what is left of the 30 days");
    await edit(ofFlo, () => ({ exp: 1 }));
    t.match(await console.refresh(second), isRefused, "too long unused");
    const used = await documents.tokens.findOne({ ...ofFlo, consumed: { $exists: true } });
    t.ok((used?.expiresAt?.getTime() ?? 0) > Date.now() + 1.9 * daySeconds * 1000);
  },
);

t.test("a logout tells first, then revokes, then clears", async (t) => {
  const { console, refresh_token, id_token, subject } = await signIn("gil");
  const form = await console.askLogout(id_token);
  under.isAway = true;
  t.match(await console.confirmLogout(form), { status: 503, text: /still signed in/ });
  const kept = await console.refresh(refresh_token);
  t.match(kept, isGood, "not told: nothing was revoked");
  under.isAway = false;
  const left = await console.confirmLogout(await console.askLogout(id_token));
  t.match(left, { status: 303, location: `${issuer}/session/end/success` });
  t.strictSame(under.logouts.splice(0), [{ subject, tokensLeft: 2 }], "told while the tokens stood");
  t.equal(await documents.tokens.countDocuments({ accountId: subject }), 0);
  t.match(await console.refresh(tokensOf(kept).refresh_token), isRefused);
  t.equal(console.browser.cookie("stopover_session"), undefined);
  t.equal(left.headers["clear-site-data"], '"cache", "storage"');
  t.notMatch(under.ended, [{ subject }], "a routine logout is no withdrawal");
  t.match(await console.confirmLogout({ xsrf: "made up", logout: "yes" }), { status: 400 });
});

t.test("revoking the refresh token is a logout too", async (t) => {
  const { console, refresh_token, subject } = await signIn("hal");
  t.match(await console.revoke(refresh_token), { status: 200 });
  t.match(under.logouts.splice(0), [{ subject, tokensLeft: 1 }]);
  t.match(await console.refresh(refresh_token), isRefused);
  t.match(await console.begin({ prompt: "none" }), { location: /error=login_required/ });
});

t.test("a second window of the same browser needs no new sign-in, for twelve hours", async (t) => {
  const { console, refresh_token, subject } = await signIn("ida");
  const other = new OperatorConsole(issuer, console.browser);
  const tokens = tokensOf(await other.exchange(await other.begin({ prompt: "none" })));
  t.equal(decodeJwt(tokens.access_token).sub, subject);
  t.match(await console.refresh(refresh_token), isGood, "both go on");
  await edit({ accountId: subject, model: "Session" }, ({ loginTs = 0 }) => ({
    loginTs: loginTs - 13 * 3600,
  }));
  t.match(await other.begin({ prompt: "none" }), { location: /error=login_required/ });
  t.match(await other.refresh(tokens.refresh_token), isGood, "what there is goes on");
});

t.test("a change of role shows in the next token; a place that is gone gives none", async (t) => {
  const { console, refresh_token, person } = await signIn("jo");
  const place = { email: person.email, name: "Jo", airline: "XN", role: "FINANCE_AUDIT" as const };
  await putMembership(documents, place, new Date());
  const second = await console.refresh(refresh_token);
  t.equal(decodeJwt(tokensOf(second).access_token)[`${namespace}/role`], "FINANCE_AUDIT");
  await under.change(person, { $set: { memberships: [] } });
  t.match(await console.refresh(tokensOf(second).refresh_token), isRefused);
  t.match(await console.begin({ prompt: "none" }), { location: /error=login_required/ });
});

/** As scripts/admin ends all that somebody has at an airline. */
const endAll = async (subject: string): Promise<void> => {
  const ending = owedEnding({ tenant: "XN", subject }, new Date(Date.now() + under.aheadMs));
  await oweEnding(documents, ending);
  await settleEnding(documents, ending, async () => {});
};

t.test("what a request in flight writes back after an end is good for nothing", async (t) => {
  const ends: [string, (signedIn: SignedIn) => Promise<unknown>][] = [
    ["ended by an administrator", ({ subject }) => endAll(subject)],
    [
      "a refresh token that came twice",
      async ({ console, refresh_token }) => {
        t.match(await console.refresh(refresh_token), isGood);
        t.match(await console.refresh(refresh_token), isRefused);
      },
    ],
    ["revoked", ({ console, refresh_token }) => console.revoke(refresh_token)],
    ["signed out", async ({ console, id_token }) => console.confirmLogout(await console.askLogout(id_token))],
  ];
  for (const [index, [how, end]] of ends.entries()) {
    const signedIn = await signIn(`mo${index}`);
    const { console, person, refresh_token, subject } = signedIn;
    const stored = await documents.tokens.find({ accountId: subject }).toArray();
    const writeBack = async () => {
      await documents.tokens.deleteMany({ accountId: subject });
      await documents.tokens.insertMany(stored);
    };
    await writeBack();
    const { location = "" } = await console.begin({ prompt: "none" });
    t.match(location, /code=/, `${how}: it was good before`);
    const kept = new Map(stored.map(({ model }) => [model, true]));
    t.ok(["Session", "Grant", "RefreshToken"].every((model) => kept.has(model)));
    await end(signedIn);
    await writeBack();
    t.match(await console.refresh(refresh_token), isRefused, `${how}: its refresh token`);
    t.match(
      await console.begin({ prompt: "none" }),
      { location: /error=login_required/ },
      `${how}: its browser`,
    );
    under.aheadMs += 31_000;
    await console.begin();
    await console.step({ step: "password", email: person.email, password });
    const again = await console.exchange(await console.step({ step: "totp", code: person.code() }));
    t.match(again, isGood, `${how}: a new sign-in is good`);
    t.match(await console.refresh(tokensOf(again).refresh_token), isGood);
  }
  under.logouts.length = 0;
});

t.test("an end in the middle of a refresh leaves no token", async (t) => {
  const { console, refresh_token, subject } = await signIn("nat");
  const { tokens } = documents;
  const updateOne = tokens.updateOne.bind(tokens);
  // The new refresh token: by then all that a refresh looks at was found good, and the old one is used up.
  tokens.updateOne = async (...written) => {
    const [, change] = written;
    if ("$set" in change && change.$set?.model === "RefreshToken") {
      tokens.updateOne = updateOne;
      await endAll(subject);
    }
    return updateOne(...written);
  };
  t.match(await console.refresh(refresh_token), isRefused);
  t.equal(tokens.updateOne, updateOne, "it was in the middle");
});

t.test("an end in the middle of a sign-in ends that too", async (t) => {
  const person = await under.person("oli", { places: [["XN", "ADMIN"]] });
  const subject = (await documents.users.findOne({ _id: person.id }))?.memberships[0]?.subject ?? "";
  const console = new OperatorConsole(issuer);
  await console.begin();
  await console.step({ step: "password", email: person.email, password });
  await endAll(subject);
  under.aheadMs += 31_000;
  const shown = await console.step({ step: "totp", code: person.code() });
  t.match(shown, { status: 200, text: /type="password"/ }, "from the start once more");
  under.aheadMs += 31_000;
  await console.step({ step: "password", email: person.email, password });
  t.match(await console.exchange(await console.step({ step: "totp", code: person.code() })), isGood);
});
