// A passkey in software (WebAuthn level 2, ES256, attestation "none"): answers what a page asks of the browser, as a browser would.
import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from "node:crypto";

interface CreationOptions {
  challenge: string;
  rp: { id: string };
}

interface RequestOptions {
  challenge: string;
  rpId: string;
  allowCredentials: { id: string }[];
}

/** Just what an attestation needs of CBOR (RFC 8949). */
const cbor = (value: number | string | Buffer | Map<number | string, unknown>): Buffer => {
  const head = (major: number, length: number): Buffer =>
    length < 24
      ? Buffer.from([(major << 5) | length])
      : length < 256
        ? Buffer.from([(major << 5) | 24, length])
        : Buffer.from([(major << 5) | 25, length >> 8, length & 255]);
  if (typeof value === "number") return value < 0 ? head(1, -1 - value) : head(0, value);
  if (typeof value === "string")
    return Buffer.concat([head(3, Buffer.byteLength(value)), Buffer.from(value)]);
  if (Buffer.isBuffer(value)) return Buffer.concat([head(2, value.length), value]);
  const entries = [...value].flatMap(([key, one]) => [cbor(key), cbor(one as string)]);
  return Buffer.concat([head(5, value.size), ...entries]);
};

const sha256 = (data: Buffer | string): Buffer => createHash("sha256").update(data).digest();
const userPresent = 0x01;
const userVerified = 0x04;
const hasCredential = 0x40;

export class Authenticator {
  readonly id = randomBytes(16).toString("base64url");
  readonly #privateKey: KeyObject;
  readonly #publicKey: Buffer;
  readonly #origin: string;
  #counter = 0;

  /** @param origin of the pages that it is used on */
  constructor(origin: string) {
    this.#origin = origin;
    const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    this.#privateKey = privateKey;
    const { x = "", y = "" } = publicKey.export({ format: "jwk" });
    // COSE_Key: EC2, ES256, P-256 (RFC 9053).
    const key = new Map<number, unknown>([
      [1, 2],
      [3, -7],
      [-1, 1],
      [-2, Buffer.from(x, "base64url")],
      [-3, Buffer.from(y, "base64url")],
    ]);
    this.#publicKey = cbor(key);
  }

  /** The JSON of `navigator.credentials.create`. */
  create({ challenge, rp }: CreationOptions): string {
    const rawId = Buffer.from(this.id, "base64url");
    const idLength = Buffer.from([rawId.length >> 8, rawId.length & 255]);
    const credential = Buffer.concat([Buffer.alloc(16), idLength, rawId, this.#publicKey]);
    const authData = Buffer.concat([this.#data(rp.id, hasCredential), credential]);
    const attestation = new Map<string, unknown>([
      ["fmt", "none"],
      ["attStmt", new Map()],
      ["authData", authData],
    ]);
    return this.#answer({
      clientDataJSON: this.#clientData("webauthn.create", challenge).toString("base64url"),
      attestationObject: cbor(attestation).toString("base64url"),
      transports: ["usb"],
    });
  }

  /** The JSON of `navigator.credentials.get`. */
  get({ challenge, rpId }: RequestOptions): string {
    this.#counter++;
    const authData = this.#data(rpId, 0);
    const clientData = this.#clientData("webauthn.get", challenge);
    const signature = sign("sha256", Buffer.concat([authData, sha256(clientData)]), this.#privateKey);
    return this.#answer({
      clientDataJSON: clientData.toString("base64url"),
      authenticatorData: authData.toString("base64url"),
      signature: signature.toString("base64url"),
    });
  }

  #data(rpId: string, flags: number): Buffer {
    const counter = Buffer.alloc(4);
    counter.writeUInt32BE(this.#counter);
    return Buffer.concat([sha256(rpId), Buffer.from([userPresent | userVerified | flags]), counter]);
  }

  #clientData(type: string, challenge: string): Buffer {
    return Buffer.from(JSON.stringify({ type, challenge, origin: this.#origin, crossOrigin: false }));
  }

  #answer(response: object): string {
    const { id } = this;
    return JSON.stringify({ id, rawId: id, type: "public-key", clientExtensionResults: {}, response });
  }
}
