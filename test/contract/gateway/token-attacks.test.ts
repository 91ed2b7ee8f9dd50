/** Owns the attacks of RFC 8725 and their kin on all three surfaces: each is 401 with a problem, whatever it is made of, and never worse. */
import { type JsonWebKey, KeyObject } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { decodeJwt, decodeProtectedHeader } from "jose";
import t from "tap";
import {
  bearer,
  operatorToken,
  partnerToken,
  passengerHost,
  passengerToken,
  startTestGateway,
} from "./fixture.ts";
import { attacksOn, craft, withKey } from "./forged-tokens.ts";

const gateway = await startTestGateway();
t.teardown(() => gateway.close());
const { config, keys } = gateway;

/** Nobody may ever ask it for keys, whatever a token says. */
let fetches = 0;
const attacker = createServer((_request, response) => {
  fetches += 1;
  response.end('{"keys":[]}');
}).listen(0, "127.0.0.1");
await once(attacker, "listening");
t.teardown(() => attacker.close());
const attackersUrl = `http://127.0.0.1:${(attacker.address() as AddressInfo).port}/keys.json`;

const published: JsonWebKey[] = (await gateway.ask("/.well-known/jwks.json")).json.keys;
const askAt = (path: string, Host?: string) => (token: string) =>
  gateway.ask(path, { headers: { ...bearer(token), ...(Host === undefined ? {} : { Host }) } });
const bases = [
  {
    name: "operator",
    token: await operatorToken(gateway),
    key: keys.operator,
    publicKey: keys.public.operator as JsonWebKey,
    audience: config.OPERATOR_AUDIENCE,
    ask: askAt("/v1/cases"),
  },
  {
    name: "partner",
    token: await partnerToken(gateway, "cases.read"),
    key: keys.partner,
    publicKey: published[0] ?? {},
    audience: config.PARTNER_AUDIENCE,
    ask: askAt("/partner/v1/cases"),
  },
  {
    name: "passenger",
    token: await passengerToken(gateway),
    key: keys.passenger,
    publicKey: published[1] ?? {},
    audience: config.PASSENGER_AUDIENCE,
    ask: askAt("/v1/me", passengerHost),
  },
] as const;
const surfaces = bases.map((base) => {
  const others = bases.filter((other) => other !== base);
  return { ...base, others, foreignAudiences: others.map(({ audience }) => audience) };
});

for (const surface of surfaces) {
  const header = decodeProtectedHeader(surface.token) as Record<string, unknown>;
  const payload = decodeJwt(surface.token);
  const own = withKey(KeyObject.from(surface.key));

  t.test(`attacks on the ${surface.name} surface`, async (t) => {
    t.equal((await surface.ask(surface.token)).status, 200, "what is attacked works");
    t.equal((await surface.ask(craft(header, payload, own))).status, 200, "and so does what is crafted well");
    const attacks = attacksOn(surface, attackersUrl);
    t.ok(Object.keys(attacks).length > 120, `${Object.keys(attacks).length} attacks`);
    const failed: unknown[] = [];
    for (const [name, token] of Object.entries(attacks)) {
      if (token === surface.token) throw new Error(`${name} is no attack`);
      const { status, headers, json } = await surface.ask(token);
      const isRefused =
        status === 401 &&
        headers["www-authenticate"] === 'Bearer error="invalid_token"' &&
        headers["content-type"] === "application/problem+json" &&
        /\/auth\/(invalid|missing)-token$/.test(json?.type) &&
        json.status === 401;
      if (!isRefused) failed.push({ name, status, json });
    }
    t.strictSame(failed, []);
  });

  t.test(`expiry on the ${surface.name} surface`, async (t) => {
    const now = Math.floor(Date.now() / 1000);
    for (const exp of [now - 1, now - 30, now - 3600, 0, -1, now - 0.5]) {
      const { status, headers, json } = await surface.ask(
        craft(header, { ...payload, exp, iat: now - 7200 }, own),
      );
      t.equal(status, 401, `expired at ${exp}`);
      t.equal(headers["www-authenticate"], 'Bearer error="expired_token"');
      t.match(json.type, /auth\/expired-token$/);
    }
    const ahead = craft(
      header,
      { ...payload, nbf: now + 30, ...(payload.iat === undefined ? {} : { iat: now + 30 }) },
      own,
    );
    t.equal((await surface.ask(ahead)).status, 200, "an issuer's clock may be ahead by seconds");
  });

  t.test(`a token of 9 KB on the ${surface.name} surface`, async (t) => {
    const { status } = await surface.ask(craft(header, { ...payload, filler: "x".repeat(6800) }, own));
    t.equal(status, 431, "is more than all headers together may have");
  });
}

t.test(
  "an issuer's own user info may stand beside an operator's audience, and typ be written out",
  async (t) => {
    const { token, key, ask } = surfaces[0] as (typeof surfaces)[number];
    const own = withKey(KeyObject.from(key));
    const header = decodeProtectedHeader(token) as Record<string, unknown>;
    const aud = [config.OPERATOR_AUDIENCE, `${config.OPERATOR_ISSUER}userinfo`];
    const payload = decodeJwt(token);
    const shared = craft(header, { ...payload, aud }, own);
    t.equal((await ask(shared)).status, 200);
    const typed = craft({ ...header, typ: "application/AT+JWT" }, payload, own);
    t.equal((await ask(typed)).status, 200);
  },
);

t.test("nobody was asked for keys, and nothing was taken for a fault of ours", async (t) => {
  t.equal(fetches, 0);
  t.strictSame(gateway.logged, []);
});
