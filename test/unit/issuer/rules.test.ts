// The issuer's rules as tables: who needs a second factor and which, what a sign-in still needs, how tries wait, which codes are good.
import t from "tap";
import { roles } from "../../../schemas/vocabulary.ts";
import { attemptRules, waitsUntil } from "../../../scripts/embedded/issuer/attempts.ts";
import { isBefore } from "../../../scripts/embedded/issuer/cut-offs.ts";
import { hashPassword, passwordFault, verifyPassword } from "../../../scripts/embedded/issuer/passwords.ts";
import {
  airportOperatorRules,
  type Enrolled,
  needsSecondFactor,
  networkOf,
  offeredFactors,
  type RiskFacts,
  riskSignals,
} from "../../../scripts/embedded/issuer/second-factor.ts";
import { owedEnding } from "../../../scripts/embedded/issuer/session-endings.ts";
import {
  begunAt,
  methodsOf,
  type SignIn,
  signInLifetimeSeconds,
  stageOf,
} from "../../../scripts/embedded/issuer/sign-in-state.ts";
import { newTotpSecret, totpCode, totpStep, totpUri } from "../../../scripts/embedded/issuer/totp.ts";
import type { Membership, User } from "../../../scripts/embedded/issuer/users.ts";
import { EndedSessions } from "../../../streams/revocations.ts";

const now = new Date("2026-03-01T10:00:00Z");
const ago = (ms: number) => new Date(now.getTime() - ms);

t.test("a second factor is needed by every role but AIRPORT_OPERATOR, whose airline decides", async (t) => {
  for (const role of roles) {
    for (const rule of airportOperatorRules) {
      const calm = needsSecondFactor(role, rule, []);
      const risky = needsSecondFactor(role, rule, ["new-network"]);
      const wanted = role === "AIRPORT_OPERATOR" ? [rule === "always", rule !== "never"] : [true, true];
      t.strictSame([calm, risky], wanted, `${role} at ${rule}`);
    }
  }
});

t.test("SMS is never ADMIN's, and nobody's only factor", async (t) => {
  const all: Enrolled = { totp: true, passkeys: 2, phone: true, recoveryCodes: 3 };
  const rows: [Enrolled, string[]][] = [
    [all, ["passkey", "totp", "recovery-code", "sms"]],
    [{ ...all, passkeys: 0, recoveryCodes: 0 }, ["totp", "sms"]],
    [{ ...all, totp: false, phone: false }, ["passkey", "recovery-code"]],
    [{ ...all, totp: false, passkeys: 0 }, []],
  ];
  for (const [enrolled, offered] of rows) {
    for (const role of roles) {
      const wanted = role === "ADMIN" ? offered.filter((kind) => kind !== "sms") : offered;
      t.strictSame(offeredFactors(role, enrolled), wanted, `${role} with ${JSON.stringify(enrolled)}`);
    }
  }
});

t.test("what speaks against a sign-in", async (t) => {
  const usual: RiskFacts = {
    deviceNetworks: ["192.0.2"],
    network: "192.0.2",
    recentFailures: 0,
    lastSignInAt: ago(3_600_000),
  };
  const rows: [Partial<RiskFacts>, string[]][] = [
    [{}, []],
    [{ recentFailures: 2 }, []],
    [{ deviceNetworks: undefined }, ["new-device"]],
    [{ network: "198.51.100" }, ["new-network"]],
    [{ recentFailures: 3 }, ["recent-failures"]],
    [{ lastSignInAt: ago(31 * 86_400_000) }, ["long-absence"]],
    [{ lastSignInAt: undefined }, []],
  ];
  for (const [facts, signals] of rows)
    t.strictSame(riskSignals({ ...usual, ...facts }, now), signals, JSON.stringify(facts));
  const networks: [string, string][] = [
    ["192.0.2.77", "192.0.2"],
    ["2001:db8:1:2::9", "2001:db8:1"],
    ["2001:0DB8:0001::1", "2001:db8:1"],
    ["::1", "0:0:0"],
    ["2001:db8::7", "2001:db8:0"],
  ];
  for (const [address, network] of networks) t.equal(networkOf(address), network, address);
});

const place = (airline: string, role: Membership["role"]): Membership => ({
  airline,
  role,
  subject: airline,
});
const user: User = {
  _id: "u",
  email: "ana@xn.example",
  name: "Ana",
  memberships: [place("XN", "AIRPORT_OPERATOR")],
  passkeys: [],
  recoveryCodes: ["x"],
  passwordHash: "kept",
  totp: { secret: "sealed", lastStep: 0 },
  createdAt: now,
};
const signIn: SignIn = { _id: "i", userId: "u", signals: [], expiresAt: now };

const without = (from: User, member: "passwordHash"): User => {
  const { [member]: _, ...rest } = from;
  return rest;
};

t.test("what a sign-in needs next", async (t) => {
  const admin = { ...user, memberships: [place("XN", "ADMIN")] };
  const { totp: _, ...bare } = admin;
  const both = { ...user, memberships: [place("XN", "AIRPORT_OPERATOR"), place("QZ", "ADMIN")] };
  const rows: [string, SignIn | undefined, User | undefined, string][] = [
    ["nobody yet", undefined, undefined, "password"],
    ["no airline", signIn, { ...user, memberships: [] }, "password"],
    ["disabled meanwhile", { ...signIn, factor: "totp" }, { ...user, disabledAt: now }, "password"],
    ["factors reset meanwhile", { ...signIn, factor: "totp" }, without(bare, "passwordHash"), "password"],
    ["nothing speaks against it", signIn, user, "finished"],
    ["a strange device", { ...signIn, signals: ["new-device"] }, user, "second-factor"],
    ["ADMIN", signIn, admin, "second-factor"],
    ["ADMIN without a factor", signIn, bare, "enrolment"],
    ["ADMIN with a phone alone", signIn, { ...bare, phone: "sealed" }, "enrolment"],
    ["answered", { ...signIn, factor: "totp" }, admin, "finished"],
    ["a recovery code leads to a new factor", { ...signIn, factor: "recovery-code" }, admin, "enrolment"],
    [
      "codes not seen",
      { ...signIn, factor: "totp", enrolled: true, recoveryCodes: "s" },
      admin,
      "recovery-codes",
    ],
    ["two airlines", signIn, both, "organization"],
    ["one that they don't work for", { ...signIn, airline: "LM" }, both, "organization"],
    ["one of two, by its role", { ...signIn, airline: "QZ" }, both, "second-factor"],
    ["the other of two", { ...signIn, airline: "XN" }, both, "finished"],
  ];
  for (const [name, state, who, at] of rows) t.equal(stageOf(state, who, "adaptive").at, at, name);
  t.strictSame(methodsOf(signIn), ["pwd"]);
  t.strictSame(methodsOf({ ...signIn, factor: "passkey" }), ["pwd", "hwk", "mfa"]);
});

t.test("tries wait longer and longer, and are forgotten", async (t) => {
  const rule = attemptRules.account;
  const seconds = (count: number, agoMs: number): number | undefined => {
    const until = waitsUntil(rule, { count, lastAt: ago(agoMs) }, now);
    return until && (until.getTime() - now.getTime()) / 1000;
  };
  t.equal(waitsUntil(rule, undefined, now), undefined);
  const rows: [number, number, number | undefined][] = [
    [4, 0, undefined],
    [5, 0, 30],
    [5, 10_000, 20],
    [5, 30_000, undefined],
    [6, 0, 60],
    [9, 0, 480],
    [40, 0, 900],
    [40, 86_400_000, undefined],
  ];
  for (const [count, agoMs, waits] of rows)
    t.equal(seconds(count, agoMs), waits, `${count} tries, ${agoMs} ms ago`);
});

t.test("authenticator codes: a period early or late, and which one it was", async (t) => {
  const secret = newTotpSecret();
  t.match(secret, /^[A-Z2-7]{32}$/);
  t.match(totpUri(secret, "ana@xn.example"), /^otpauth:\/\/totp\/Stopover:.*secret=/);
  const step = Math.floor(now.getTime() / 30_000);
  for (const [offset, taken] of [
    [-2, false],
    [-1, true],
    [0, true],
    [1, true],
    [2, false],
  ] as const) {
    const code = totpCode(secret, new Date(now.getTime() + offset * 30_000));
    t.equal(totpStep(secret, code, now), taken ? step + offset : undefined, `${offset} periods`);
  }
  const code = totpCode(secret, now);
  t.equal(totpStep(secret, `${code.slice(0, 3)} ${code.slice(3)}`, now), step, "as apps show it");
  for (const wrong of ["", "12345", `${code}0`, "abcdef", code.replace(/^./, "x")])
    t.equal(totpStep(secret, wrong, now), undefined, wrong);
  // RFC 6238, appendix B: the last six of its eight digits.
  const published = "GEZDGNBVGY3TQOJQGEZDGNBVGY3TQOJQ";
  t.equal(totpCode(published, new Date(59_000)), "287082");
});

t.test("passwords", async (t) => {
  const rows: [string, RegExp | undefined][] = [
    ["correct horse battery", undefined],
    ["short", /at least 12/],
    ["x".repeat(300), /at most 256/],
    ["aaaaaaaaaaaaaa", /different/],
    ["Ana@XN.example.", /e-mail/],
  ];
  for (const [password, fault] of rows) {
    const found = passwordFault(password, "ana@xn.example");
    if (fault === undefined) t.equal(found, undefined, password);
    else t.match(found, fault, password);
  }
  const hash = await hashPassword("correct horse battery");
  t.match(hash, /^scrypt\$32768\$8\$3\$/);
  t.ok(await verifyPassword("correct horse battery", hash));
  t.notOk(await verifyPassword("correct horse batterx", hash));
  t.notOk(await verifyPassword("correct horse battery", undefined), "nobody has it");
});

t.test("which access tokens an ending covers, whatever part of a second it falls on", async (t) => {
  const second = now.getTime();
  /** In ms after a full second: the deed, the token's issue. */
  const rows: [number, number, boolean, string][] = [
    [0, -1000, true, "long out"],
    [0, 0, true, "of the very moment"],
    [0, 1, true, "of a refresh in flight"],
    [0, 999, true, "the same"],
    [500, 1000, true, "over the second's boundary"],
    [999, 1000, true, "a millisecond later, and a second"],
    [999, 1998, true, "up to a second later"],
    [0, 1999, true, "the whole second after"],
    [0, 2000, false, "of a new sign-in"],
    [999, 2000, false, "the same"],
  ];
  for (const [endedMs, issuedMs, isOver, what] of rows) {
    const ended = owedEnding({ tenant: "XN", subject: "s" }, new Date(second + endedMs));
    const sessions = new EndedSessions();
    sessions.learn(ended, now);
    const issuedAt = Math.floor((second + issuedMs) / 1000);
    const held = sessions.hold({ tenant: "XN", subjects: ["s"], tokenId: "t", issuedAt });
    t.equal(held, isOver, `ended at ${endedMs} ms, issued at ${issuedMs} ms: ${what}`);
  }
});

t.test("which sign-ins are void after an end", async (t) => {
  const rows: [number, number, boolean, string][] = [
    [500, -5000, true, "before"],
    [500, 499, true, "just before"],
    [500, 700, true, "in its second: tokens say no more"],
    [999, 1000, false, "from the next second on"],
    [0, -1, true, "a second earlier"],
  ];
  for (const [endedMs, signedInMs, isVoid, what] of rows) {
    const signedInAt = Math.floor((now.getTime() + signedInMs) / 1000);
    const origin = { subject: "s", sessionUid: undefined, signedInAt };
    t.equal(isBefore(origin, new Date(now.getTime() + endedMs)), isVoid, what);
  }
  const expiresAt = new Date(now.getTime() + signInLifetimeSeconds * 1000);
  t.same(begunAt({ expiresAt }), now, "a sign-in counts from its password on");
});
