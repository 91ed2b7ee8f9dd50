/** Owns how tokens are forged for the tests: every attack of RFC 8725 and its kin, made of one good token of a surface. */
import {
  createHmac,
  createPublicKey,
  generateKeyPairSync,
  type JsonWebKey,
  KeyObject,
  sign as signBytes,
} from "node:crypto";
import { type CryptoKey, decodeJwt, decodeProtectedHeader } from "jose";
import { claims } from "./fixture.ts";

type Part = string | Buffer | Record<string, unknown>;
type Sign = (input: string) => Buffer;

const textOf = (part: Part): string | Buffer =>
  typeof part === "string" || Buffer.isBuffer(part) ? part : JSON.stringify(part);
const encoded = (part: Part): string => Buffer.from(textOf(part)).toString("base64url");
/** Signed over whatever the parts are. */
export const craft = (header: Part, payload: Part, sign: Sign): string => {
  const input = `${encoded(header)}.${encoded(payload)}`;
  return `${input}.${sign(input).toString("base64url")}`;
};
export const withKey =
  (key: KeyObject, hash = "sha256"): Sign =>
  (input) =>
    signBytes(key.asymmetricKeyType === "ed25519" ? null : hash, Buffer.from(input), key);
const withSecret =
  (secret: string | Buffer, hash = "sha256"): Sign =>
  (input) =>
    createHmac(hash, secret).update(input).digest();
const unsigned: Sign = () => Buffer.alloc(0);

const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 });
const weak = generateKeyPairSync("rsa", { modulusLength: 1024 });
const ed = generateKeyPairSync("ed25519");

/** A surface under attack. */
export interface Surface {
  name: "operator" | "partner" | "passenger";
  token: string;
  /** What it is signed with, and what anybody may know of that. */
  key: CryptoKey;
  publicKey: JsonWebKey;
  /** `aud` of the other surfaces' tokens. */
  foreignAudiences: string[];
  others: Pick<Surface, "name" | "token" | "key">[];
}

type Attacks = Record<string, string>;

/** Another algorithm, no signature, or the public key as a secret (RFC 8725 §2.1, §3.1). */
const ofAlgorithms = ({ token, key, publicKey }: Surface): Attacks => {
  const header = decodeProtectedHeader(token) as Record<string, unknown>;
  const payload = decodeJwt(token);
  const own = KeyObject.from(key);
  const [, , signature = ""] = token.split(".");
  const attacks: Attacks = {};
  for (const alg of ["none", "None", "NONE", "nOnE", "", null, 0, ["RS256"], ["none"], { alg: "RS256" }]) {
    const body = { ...header, alg };
    attacks[`alg ${JSON.stringify(alg)}, unsigned`] = craft(body, payload, unsigned);
    attacks[`alg ${JSON.stringify(alg)}, with the true signature`] = craft(body, payload, () =>
      Buffer.from(signature, "base64url"),
    );
    attacks[`alg ${JSON.stringify(alg)}, well signed`] = craft(body, payload, withKey(own));
  }
  const { alg: _, ...bare } = header;
  attacks["no alg"] = craft(bare, payload, withKey(own));
  const spki = createPublicKey({ key: publicKey, format: "jwk" });
  const pem = spki.export({ type: "spki", format: "pem" });
  const der = spki.export({ type: "spki", format: "der" });
  for (const [alg, hash] of [
    ["HS256", "sha256"],
    ["HS384", "sha384"],
    ["HS512", "sha512"],
  ] as const) {
    for (const [name, secret] of [
      ["PEM", pem],
      ["trimmed PEM", pem.toString().trim()],
      ["DER", der],
      ["JWK", JSON.stringify(publicKey)],
      ["member", publicKey.n ?? publicKey.x ?? ""],
      ["empty", ""],
    ] as const)
      attacks[`${alg} with the public key as a secret: ${name}`] = craft(
        { ...header, alg },
        payload,
        withSecret(secret, hash),
      );
  }
  for (const alg of ["RS256", "RS512", "PS256", "ES256", "EdDSA", "Ed25519", "A128KW", "dir", "RSA-OAEP"]) {
    if (alg === header.alg) continue;
    attacks[`${alg} by the surface's own key`] = craft({ ...header, alg }, payload, withKey(own));
    attacks[`${alg} by an RSA key`] = craft({ ...header, alg }, payload, withKey(rsa.privateKey));
    attacks[`${alg} by an Ed25519 key`] = craft({ ...header, alg }, payload, withKey(ed.privateKey));
  }
  return attacks;
};

/** Whatever the header says of the key to take (RFC 8725 §2.1, §3.10). */
const ofKeys = ({ token, key, others }: Surface, attackersUrl: string): Attacks => {
  const header = decodeProtectedHeader(token) as Record<string, unknown>;
  const payload = decodeJwt(token);
  const own = withKey(KeyObject.from(key));
  const pair = header.alg === "EdDSA" ? ed : rsa;
  const strange = withKey(pair.privateKey);
  const jwk = { ...pair.publicKey.export({ format: "jwk" }), kid: header.kid, alg: header.alg };
  const attacks: Attacks = {};
  for (const kid of [
    "../../../../../../dev/null",
    "/dev/null",
    "x' UNION SELECT 'key' -- ",
    "'; DROP TABLE keys; --",
    '{"$ne":null}',
    attackersUrl,
    "k".repeat(1500),
    "",
    "__proto__",
    "constructor",
    `${header.kid}\u0000`,
    [header.kid],
    { kid: header.kid },
    0,
    null,
    true,
  ])
    attacks[`kid ${JSON.stringify(kid).slice(0, 40)}`] = craft({ ...header, kid }, payload, own);
  const { kid: _, ...nameless } = header;
  attacks["no kid"] = craft(nameless, payload, own);
  attacks["kid of /dev/null, HS256 with an empty secret"] = craft(
    { ...header, alg: "HS256", kid: "/dev/null" },
    payload,
    withSecret(""),
  );
  attacks["another key under the same kid"] = craft(header, payload, strange);
  attacks["a weak key under the same kid"] = craft(header, payload, withKey(weak.privateKey));
  for (const kid of [header.kid, "attacker"]) {
    attacks[`its own key beside it, kid ${kid}`] = craft({ ...header, kid, jwk }, payload, strange);
    attacks[`its own keys' address, kid ${kid}`] = craft(
      { ...header, kid, jku: attackersUrl },
      payload,
      strange,
    );
    attacks[`its own certificate, kid ${kid}`] = craft(
      { ...header, kid, x5u: attackersUrl, x5c: [jwk.n ?? jwk.x], x5t: "AAAA" },
      payload,
      strange,
    );
  }
  for (const other of others) {
    const theirs = withKey(KeyObject.from(other.key));
    const otherHeader = decodeProtectedHeader(other.token);
    attacks[`the ${other.name}'s own token`] = other.token;
    attacks[`signed by the ${other.name}'s key under its kid`] = craft(
      { ...header, alg: otherHeader.alg, kid: otherHeader.kid },
      payload,
      theirs,
    );
    attacks[`signed by the ${other.name}'s key under ours`] = craft(
      { ...header, alg: otherHeader.alg },
      payload,
      theirs,
    );
  }
  return attacks;
};

/** Well signed, and not for us, not now, or not a token at all (RFC 8725 §3.8 to §3.12). */
const ofClaims = ({ token, key, name, foreignAudiences: others }: Surface): Attacks => {
  const header = decodeProtectedHeader(token) as Record<string, unknown>;
  const payload = decodeJwt(token) as Record<string, unknown>;
  const own = withKey(KeyObject.from(key));
  const now = Math.floor(Date.now() / 1000);
  const { aud, iss, exp } = payload;
  const changed: Record<string, Record<string, unknown>> = {
    "audience missing": { aud: undefined },
    "audience of another surface": { aud: others[0] },
    "audience in capitals": { aud: String(aud).toUpperCase() },
    "audience with a blank": { aud: ` ${aud}` },
    "audiences without ours": { aud: others },
    "audiences with another surface's": { aud: [aud, ...others] },
    "audiences, none": { aud: [] },
    "audiences, nested": { aud: [[aud]] },
    "audience as an object": { aud: { 0: aud, length: 1 } },
    "audience true": { aud: true },
    "issuer missing": { iss: undefined },
    "issuer another": { iss: "https://evil.example/" },
    "issuer with more behind it": { iss: `${iss}.evil.example` },
    "issuer as a list": { iss: [iss] },
    "not yet valid": { nbf: now + 300 },
    "not yet valid, as a text": { nbf: "tomorrow" },
    "expiry missing": { exp: undefined },
    "expiry as a text": { exp: String(exp) },
    "expiry null": { exp: null },
    "expiry in a list": { exp: [exp] },
    "expiry in thirty years": { exp: now + 30 * 365 * 86_400 },
    "expiry beyond all dates": { exp: 1e300 },
    "expiry in milliseconds": { exp: Number(exp) * 1000 },
    "issued in the future": { iat: now + 3600, exp: now + 3700 },
    "issue time as a text": { iat: "now" },
    "issue time null": { iat: null },
    "subject missing": { sub: undefined },
    "subject empty": { sub: "" },
    "subject a number": { sub: 7 },
    "subject a list": { sub: [payload.sub] },
    "id a number": { jti: 7 },
    ...(name === "partner" && {
      "grant of a person": { gty: "password" },
      "grant in the other spelling": { gty: "client_credentials" },
      "grant as a list": { gty: ["client-credentials"] },
      "subject without its suffix": { sub: "XN-tower" },
      "scope as a list": { scope: ["cases.read"] },
    }),
    ...(name === "operator" && {
      "role as a list": { [`${claims}/role`]: ["ADMIN"] },
      "airline as a list": { [`${claims}/airline`]: ["urn:airline:XN"] },
    }),
  };
  const attacks: Attacks = {};
  for (const [what, changes] of Object.entries(changed))
    attacks[what] = craft(header, JSON.stringify({ ...payload, ...changes }), own);
  const text = JSON.stringify(payload).slice(0, -1);
  attacks["expiry infinite"] = craft(header, `${text.replace(/"exp":\d+/, '"exp":1e999')}}`, own);
  attacks["expiry no number"] = craft(header, `${text.replace(/"exp":\d+/, '"exp":NaN')}}`, own);
  attacks["audience twice, ours last"] = craft(header, `{"aud":"x",${text.slice(1)}}`, own);
  attacks["audience twice, ours first"] = craft(header, `${text},"aud":"x"}`, own);
  attacks["subject twice, the same"] = craft(header, `${text},"sub":${JSON.stringify(payload.sub)}}`, own);
  attacks["subject twice, escaped"] = craft(header, `{"\\u0073ub":"urn:user:root",${text.slice(1)}}`, own);
  return attacks;
};

/** Other ways to write one down, and other things in its place. */
const ofForm = ({ token, key }: Surface): Attacks => {
  const header = decodeProtectedHeader(token) as Record<string, unknown>;
  const payload = decodeJwt(token);
  const own = withKey(KeyObject.from(key));
  const [head = "", body = "", signature = ""] = token.split(".");
  const bytes = Buffer.from(signature, "base64url");
  const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
  /** Its left-over bits count for no decoder. */
  const nextTo = (letter: string): string => alphabet[(alphabet.indexOf(letter) + 1) % 64] ?? "";
  const headerText = JSON.stringify(header);
  const { typ: _, ...untyped } = header;
  const attacks: Attacks = {
    "alg twice": craft(`{"alg":"none",${headerText.slice(1)}`, payload, own),
    "kid twice": craft(`${headerText.slice(0, -1)},"kid":"x"}`, payload, own),
    "typ missing": craft(untyped, payload, own),
    "an unknown critical extension": craft({ ...header, crit: ["exp"], exp: 1 }, payload, own),
    "a critical extension that is not there": craft({ ...header, crit: ["b64"] }, payload, own),
    "critical extensions, none": craft({ ...header, crit: [] }, payload, own),
    "critical extensions as a text": craft({ ...header, crit: "b64" }, payload, own),
    "payload not encoded": craft({ ...header, b64: false, crit: ["b64"] }, payload, own),
    "payload said to be not encoded": craft({ ...header, b64: false }, payload, own),
    "a token in the token": craft({ ...header, cty: "JWT" }, token, own),
    "a list as payload": craft(header, `[${JSON.stringify(payload)}]`, own),
    "null as payload": craft(header, "null", own),
    "nothing as payload": craft(header, "", own),
    "no JSON as payload": craft(header, `${JSON.stringify(payload)}x`, own),
    "broken UTF-8 as payload": craft(header, Buffer.from([0x7b, 0xff, 0xfe, 0x7d]), own),
    "no JSON as header": craft("alg: none", payload, own),
    "null as header": craft("null", payload, own),
    "a list as header": craft(`[${headerText}]`, payload, own),
    "padding at the end": `${token}=`,
    "padding everywhere": `${head}==.${body}==.${signature}==`,
    "a blank at the end of a part": `${head}%20.${body}.${signature}`,
    "the last letter's left-over bits": token.slice(0, -1) + nextTo(token.at(-1) ?? ""),
    "the other base64": token.replaceAll("-", "+").replaceAll("_", "/").replace(/\w$/, "$&="),
    "signature truncated": `${head}.${body}.${bytes.subarray(0, -1).toString("base64url")}`,
    "signature halved": `${head}.${body}.${bytes.subarray(0, bytes.length / 2).toString("base64url")}`,
    "signature with one bit changed": `${head}.${body}.${Buffer.from(bytes.map((byte, i) => (i === 9 ? byte ^ 1 : byte))).toString("base64url")}`,
    "signature of zeros": `${head}.${body}.${Buffer.alloc(bytes.length).toString("base64url")}`,
    "signature twice": `${head}.${body}.${Buffer.concat([bytes, bytes]).toString("base64url")}`,
    "signature missing": `${head}.${body}.`,
    "signature's dot missing": `${head}.${body}`,
    "payload of another": `${head}.${encoded({ ...payload, sub: "urn:user:root" })}.${signature}`,
    "four parts": `${token}.${signature}`,
    "five parts, as encrypted ones have": `${token}.${signature}.${signature}`,
    "no parts": "..",
    "one part": head,
    "as JSON": Buffer.from(JSON.stringify({ payload: body, protected: head, signature })).toString("base64"),
  };
  const surfacesTypes = ["jwt", "at+jwt", "session+jwt"];
  const ownTypes = decodeProtectedHeader(token).typ === "JWT" ? ["jwt", "at+jwt"] : [String(header.typ)];
  for (const typ of [...surfacesTypes, "id+jwt", "dpop+jwt", "logout+jwt", "JOSE", "", 7, ["at+jwt"]])
    if (!ownTypes.includes(String(typ)) || Array.isArray(typ))
      attacks[`typ ${JSON.stringify(typ)}`] = craft({ ...header, typ }, payload, own);
  return attacks;
};

/** By what it tries. @param attackersUrl what must never be asked for keys */
export const attacksOn = (surface: Surface, attackersUrl: string): Attacks => ({
  ...ofAlgorithms(surface),
  ...ofKeys(surface, attackersUrl),
  ...ofClaims(surface),
  ...ofForm(surface),
});
