/** Owns the tests of where keys come from: files that change while the gateway runs, an issuer of somebody else's by its discovery alone, and the steps of a rotation. */
import { generateKeyPairSync, KeyObject } from "node:crypto";
import { once } from "node:events";
import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { type CryptoKey, decodeJwt, decodeProtectedHeader, generateKeyPair, type JWK } from "jose";
import t from "tap";
import { parseSigningKeys } from "../../../config/signing-keys.ts";
import { type FileKey, nextStep } from "../../../scripts/administration/keys.ts";
import { eventually } from "../../harness/patience.ts";
import {
  type Answered,
  bearer,
  operatorToken,
  partnerToken,
  passengerHost,
  passengerToken,
  startTestGateway,
  type TestGateway,
  ulid,
} from "./fixture.ts";
import { craft, withKey } from "./forged-tokens.ts";

const gateway = await startTestGateway();
t.teardown(() => gateway.close());

const askWith = (of: TestGateway, token: string): Promise<Answered> =>
  of.ask("/v1/cases", { headers: bearer(token) });
const kidsAt = async (path: string): Promise<string[]> =>
  (await gateway.ask(path)).json.keys.map(({ kid }: JWK) => kid);
const becomes = (what: string, path: string, kids: string[]): Promise<void> =>
  eventually(what, async () => {
    const got = await kidsAt(path);
    return got.join() === kids.join() ? undefined : got;
  });
const replace = (file: string, text: string): void => {
  writeFileSync(`${file}.new`, text);
  renameSync(`${file}.new`, file);
};
const privateJwk = (type: "rsa" | "ed25519", kid: string, bits = 2048) => {
  const pair =
    type === "rsa" ? generateKeyPairSync("rsa", { modulusLength: bits }) : generateKeyPairSync("ed25519");
  return { ...pair.privateKey.export({ format: "jwk" }), kid };
};

t.test("the public keys, of both surfaces and of each", async (t) => {
  t.strictSame(await kidsAt("/.well-known/jwks.json"), ["partner-1", "passenger-1"]);
  t.strictSame(await kidsAt("/.well-known/jwks/partner.json"), ["partner-1"]);
  t.strictSame(await kidsAt("/.well-known/jwks/passenger.json"), ["passenger-1"]);
  const { headers, text } = await gateway.ask("/.well-known/jwks.json");
  t.equal(headers["cache-control"], "public, max-age=300");
  t.notMatch(text, /"(d|p|q|dp|dq|qi|k)":/, "nothing private");
  for (const other of ["operator.json", "partner", "..%2Fpartner.json", "__proto__"])
    t.equal((await gateway.ask(`/.well-known/jwks/${other}`)).status, 404, other);
});

t.test("keys are rotated while it runs", async (t) => {
  const files = {
    partner: gateway.config.PARTNER_SIGNING_KEY_FILE,
    passenger: gateway.config.PASSENGER_SIGNING_KEY_FILE,
  };
  const operatorFile = gateway.config.OPERATOR_JWKS ?? "";
  const old = {
    partner: JSON.parse(readFileSync(files.partner, "utf8")),
    passenger: JSON.parse(readFileSync(files.passenger, "utf8")),
  };
  const fresh = { partner: privateJwk("rsa", "partner-2"), passenger: privateJwk("ed25519", "passenger-2") };
  const client = { clientId: "XN-tower", partnerUrn: `urn:partner:XN-${ulid}`, tenant: "XN" };
  gateway.act("identity.authenticate-partner", () => ({ ok: { ...client, scopes: ["cases.read"] } }));
  const issued = async (): Promise<string> => {
    const body = {
      grant_type: "client_credentials",
      client_id: "XN-tower",
      client_secret: "right",
      audience: gateway.config.PARTNER_AUDIENCE,
    };
    return (await gateway.ask("/oauth/token", { method: "POST", body })).json.access_token;
  };
  const asPartner = async (token: string): Promise<number> =>
    (await gateway.ask("/partner/v1/cases", { headers: bearer(token) })).status;
  const asPassenger = async (token: string): Promise<number> =>
    (await gateway.ask("/v1/me", { headers: { ...bearer(token), Host: passengerHost } })).status;
  const former = await issued();
  const session = await passengerToken(gateway);
  const operator = await operatorToken(gateway);
  const told = async (): Promise<number[]> => [
    await asPartner(former),
    await asPassenger(session),
    (await askWith(gateway, operator)).status,
  ];
  t.strictSame(await told(), [200, 200, 200]);

  replace(files.partner, JSON.stringify({ keys: [old.partner, fresh.partner] }));
  replace(files.passenger, JSON.stringify({ keys: [old.passenger, fresh.passenger] }));
  await becomes("published", "/.well-known/jwks.json", [
    "partner-1",
    "partner-2",
    "passenger-1",
    "passenger-2",
  ]);
  t.equal(decodeProtectedHeader(await issued()).kid, "partner-1", "the first signs");
  const early = await partnerToken(
    gateway,
    "cases.read",
    {},
    {
      key: KeyObject.from(gateway.keys.foreign) as never,
      kid: "partner-2",
    },
  );
  t.equal(await asPartner(early), 401, "the new kid alone is not enough");

  replace(files.partner, JSON.stringify({ keys: [fresh.partner, old.partner] }));
  replace(files.passenger, JSON.stringify({ keys: [fresh.passenger, { ...old.passenger, d: undefined }] }));
  await becomes("the new one signs", "/.well-known/jwks.json", [
    "partner-2",
    "partner-1",
    "passenger-2",
    "passenger-1",
  ]);
  const latter = await issued();
  t.equal(decodeProtectedHeader(latter).kid, "partner-2");
  t.equal(await asPartner(latter), 200);
  t.strictSame(await told(), [200, 200, 200], "tokens of before live on, also by a public half alone");

  replace(files.partner, '{"keys":');
  const rival = await generateKeyPair("RS256", { extractable: true });
  const rivalJwk = KeyObject.from(rival.publicKey).export({ format: "jwk" });
  replace(operatorFile, JSON.stringify({ keys: [{ ...rivalJwk, kid: "operator-2", alg: "RS256" }] }));
  replace(files.passenger, JSON.stringify(fresh.passenger));
  await becomes("the former passenger's is gone", "/.well-known/jwks/passenger.json", ["passenger-2"]);
  await eventually("the broken file is told of", async () =>
    gateway.logged.some((line) => line.includes("signing keys not taken over")) ? undefined : gateway.logged,
  );
  t.strictSame(await kidsAt("/.well-known/jwks/partner.json"), ["partner-2", "partner-1"], "the ring stays");
  await eventually("the operators' keys are other ones", async () => {
    const { status } = await askWith(gateway, operator);
    return status === 401 ? undefined : status;
  });
  t.strictSame(await told(), [200, 401, 401], "what is gone is refused, though it was remembered");
  const key = rival.privateKey as CryptoKey;
  t.equal(
    (await askWith(gateway, await operatorToken(gateway, "ADMIN", {}, { key, kid: "operator-2" }))).status,
    200,
  );

  replace(files.partner, JSON.stringify(fresh.partner));
  await becomes("the former partner's is gone", "/.well-known/jwks/partner.json", ["partner-2"]);
  t.equal(await asPartner(former), 401);
  t.equal(await asPartner(latter), 200);
  t.notMatch(gateway.logged.join(), fresh.partner.d, "nothing private is logged");
});

t.test("another issuer, by its address alone", async (t) => {
  const [first, second] = await Promise.all([
    generateKeyPair("RS256", { extractable: true }),
    generateKeyPair("RS256", { extractable: true }),
  ]);
  /** Some issuers don't say what a key is for. */
  const jwkOf = ({ publicKey }: { publicKey: CryptoKey }, kid: string) => ({
    ...KeyObject.from(publicKey).export({ format: "jwk" }),
    kid,
  });
  let keys = [jwkOf(first, "first")];
  let isAway = true;
  let named = "";
  const seen: string[] = [];
  const server = createServer((request, response) => {
    seen.push(request.url ?? "");
    response.statusCode = isAway ? 500 : 200;
    response.setHeader("Content-Type", "application/json");
    const description = {
      issuer: named,
      jwks_uri: `${issuer}/keys`,
      authorization_endpoint: `${issuer}/auth`,
    };
    response.end(JSON.stringify(request.url?.endsWith("/keys") ? { keys } : description));
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.teardown(() => {
    server.close();
    server.closeAllConnections();
  });
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}/airlines`;
  named = issuer;
  const other = await startTestGateway({ OPERATOR_ISSUER: issuer, OPERATOR_JWKS: "" });
  t.teardown(() => other.close());
  const token = (pair: { privateKey: CryptoKey }, kid: string, changes = {}) =>
    operatorToken(other, "ADMIN", changes, { key: pair.privateKey, kid, typ: "at+jwt" });
  const good = await token(first, "first");

  const unavailable = async (why: string): Promise<void> => {
    const { status, headers, json } = await askWith(other, good);
    t.equal(status, 503, why);
    t.equal(json.failedDomain, "identity-provider", why);
    t.ok(headers["retry-after"], why);
  };
  await unavailable("the issuer is away");
  isAway = false;
  named = "https://login.example/";
  await unavailable("its description names another issuer");
  named = issuer;
  t.equal((await askWith(other, good)).status, 200, "the next request finds it");
  t.ok(seen.includes("/airlines/.well-known/openid-configuration"));
  const asked = seen.length;
  t.equal((await askWith(other, await token(first, "first", { sub: "another" }))).status, 200);
  t.equal(seen.length, asked, "keys are kept");

  const own = KeyObject.from(first.privateKey);
  const otherwise = craft(
    { alg: "RS512", kid: "first", typ: "JWT" },
    decodeJwt(good),
    withKey(own, "sha512"),
  );
  t.equal((await askWith(other, otherwise)).status, 401, "another algorithm by a key for any");

  const ours = await operatorToken(other, "ADMIN", { iss: "https://login.example/" }, {});
  t.equal((await askWith(other, ours)).status, 401, "the first issuer's tokens");
  const forged = await operatorToken(
    other,
    "ADMIN",
    { iss: "https://login.example/" },
    { key: first.privateKey, kid: "first" },
  );
  t.equal((await askWith(other, forged)).status, 401, "another issuer by this one's key");

  keys = [jwkOf(second, "second")];
  const real = Date.now;
  t.teardown(() => {
    Date.now = real;
  });
  // An unknown kid makes it ask again, once in 30 s at most.
  Date.now = () => real() + 31_000;
  t.equal((await askWith(other, await token(second, "second"))).status, 200, "rotated");
  t.equal(
    (await askWith(other, await token(first, "first", { sub: "late" }))).status,
    401,
    "the key of before",
  );
  const fetched = seen.length;
  for (const kid of ["a", "b", "c"]) t.equal((await askWith(other, await token(second, kid))).status, 401);
  t.equal(seen.length, fetched, "unknown names make it ask no more than that");
});

t.test("what a key file may hold", async (t) => {
  const [a, b] = [privateJwk("rsa", "a"), privateJwk("rsa", "b")];
  const bare = ({ kty, n, e, kid }: JWK) => ({ kty, n, e, kid });
  const parsed = (value: unknown) => parseSigningKeys(JSON.stringify(value), "RS256");
  t.equal(parsed(a).signing.kid, "a", "one key");
  t.equal(parsed({ keys: [bare(b), a] }).signing.kid, "a", "the first private one signs");
  t.strictSame(
    parsed({ keys: [{ ...a, createdAt: "2026-01-01T00:00:00Z" }, bare(b)] }).published,
    [a, b].map((key) => ({ ...bare(key), alg: "RS256", use: "sig" })),
    "public halves, and nothing of ours",
  );
  const { kid: _, ...nameless } = a;
  for (const [wrong, message] of [
    ["", /not JSON/],
    ['{"kty":"RSA","d":"secret', /not JSON/],
    ["null", /key 1 has no kid/],
    ["[]", /no JWK Set/],
    ['{"keys":{}}', /no JWK Set/],
    ['{"keys":[]}', /no key/],
    [JSON.stringify(nameless), /no kid/],
    [JSON.stringify(bare(a)), /no private key/],
    [JSON.stringify({ keys: [a, { ...b, kid: "a" }] }), /two keys of one kid/],
    [JSON.stringify({ ...a, alg: "PS256" }), /not for RS256/],
    [JSON.stringify({ ...a, use: "enc" }), /not for signing/],
    [JSON.stringify(privateJwk("ed25519", "c")), /not for RS256/],
    [JSON.stringify(privateJwk("rsa", "weak", 1024)), /fewer than 2048 bits/],
    [JSON.stringify({ kty: "RSA", d: "AQ", n: "AQ", e: "AQAB", kid: "x" }), /no key that can be read/],
    [JSON.stringify({ kty: "oct", k: "AAAA", kid: "x" }), /no key that can be read/],
  ] as const)
    t.throws(() => parseSigningKeys(wrong, "RS256"), { name: "TypeError", message }, wrong.slice(0, 40));
});

t.test("the steps of a rotation", async (t) => {
  const at = (minutes: number): Date => new Date(Date.UTC(2026, 10, 21, 12, minutes));
  const hour = 3_600_000;
  const made = (kid: string, minutes: number): FileKey => ({ kid, createdAt: at(minutes).toISOString() });
  const kids = (step: ReturnType<typeof nextStep>): unknown =>
    "keys" in step ? [step.step, ...step.keys.map(({ kid }) => kid)] : [step.step, step.what];
  const fresh = made("new", 0);
  const old: FileKey = { kid: "old" };
  const promoted = nextStep([old, fresh], made("newer", 10), hour, at(10));
  const inOrder = "keys" in promoted ? promoted.keys : [];
  for (const [name, keys, minutes, expected] of [
    ["one key: another is added behind it", [old], 0, ["add", "old", "new"]],
    ["too new to sign", [old, fresh], 5, ["wait", "promote"]],
    ["known to everybody", [old, fresh], 6, ["promote", "new", "old"]],
    ["tokens of the former live", inOrder, 70, ["wait", "remove"]],
    ["the last of them has expired", inOrder, 71, ["remove", "new"]],
    [
      "two spare ones, the newest counts",
      [old, made("spare", -99), fresh],
      6,
      ["promote", "new", "old", "spare"],
    ],
    ["an order made by hand", [fresh, old], 60, ["wait", "remove"]],
    ["an order made by hand, later", [fresh, old], 61, ["remove", "new"]],
    ["the next rotation", [{ ...fresh, signsSince: at(10).toISOString() }], 99, ["add", "new", "newest"]],
  ] as const)
    t.strictSame(
      kids(nextStep(keys, made(expected.at(-1) ?? "", minutes), hour, at(minutes))),
      expected,
      name,
    );
  t.throws(() => nextStep([], fresh, hour, at(0)), /no key/);
});
