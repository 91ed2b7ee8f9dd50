// Sealed secrets come back whole under their key and not at all after any change.
import { randomBytes } from "node:crypto";
import t from "tap";
import { fingerprint, SealError, seal, unseal } from "../../../actors/runtime/seal.ts";

const key = randomBytes(32);
const secret = "whsec_Ünïcode-and-0123456789";

t.test("what was sealed comes back, and never looks the same twice", async (t) => {
  for (const text of ["", "a", secret, "x".repeat(4000)]) t.equal(unseal(key, seal(key, text)), text);
  const [first, second] = [seal(key, secret), seal(key, secret)];
  t.not(first, second);
  t.notMatch(first, /whsec|0123456789/);
  t.match(first, /^v1\.[0-9a-f]{8}\.[\w-]{16}\.[\w-]+\.[\w-]{22}$/);
});

t.test("any change is found", async (t) => {
  const sealed = seal(key, secret);
  const parts = sealed.split(".");
  const flipped = (text: string): string => `${text[0] === "A" ? "B" : "A"}${text.slice(1)}`;
  const withPart = (i: number, text: string): string => parts.with(i, text).join(".");
  const tampered = {
    iv: withPart(2, flipped(parts[2]!)),
    ciphertext: withPart(3, flipped(parts[3]!)),
    "shorter ciphertext": withPart(3, parts[3]!.slice(0, -4)),
    tag: withPart(4, flipped(parts[4]!)),
    "shorter tag": withPart(4, parts[4]!.slice(0, 6)),
    version: withPart(0, "v2"),
    "key id": withPart(1, "00000000"),
    "missing part": parts.slice(0, 4).join("."),
    "no sealed text": "secret",
    empty: "",
  };
  for (const [what, text] of Object.entries(tampered)) {
    try {
      t.fail(`${what} gave ${unseal(key, text)}`);
    } catch (error) {
      t.ok(error instanceof SealError, `${what}: ${error}`);
    }
  }
  const other = randomBytes(32);
  t.throws(() => unseal(other, sealed), /another key/);
  const relabelled = seal(other, "x").split(".")[1]!;
  t.throws(() => unseal(other, withPart(1, relabelled)), /changed/, "the key id cannot be talked over");
});

t.test("a fingerprint tells the same secret from another, per key", async (t) => {
  t.equal(fingerprint(key, secret), fingerprint(key, secret));
  t.not(fingerprint(key, secret), fingerprint(key, `${secret}.`));
  t.not(fingerprint(key, secret), fingerprint(randomBytes(32), secret));
});
