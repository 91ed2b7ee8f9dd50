/** Owns the tables for rates without a network: buckets, whose they are, sharing, how limits are written, logins in their window. */
import fc from "fast-check";
import t from "tap";
import { waitMs } from "../../../actors/runtime/attempt-limits.ts";
import { ConfigError, readConfig } from "../../../config/config.ts";
import { attemptLimitOf, ratePairOf, singleRateOf } from "../../../config/limits.ts";
import { type CountedRoute, Rates, remainingOf } from "../../../gateway/rates/rates.ts";
import { RateSharing } from "../../../gateway/rates/sharing.ts";
import {
  type Limit,
  msUntilToken,
  type TokenBucket,
  TokenBuckets,
  tokensIn,
} from "../../../gateway/rates/token-bucket.ts";
import type { Principal } from "../../../schemas/command.ts";
import type { PartnerTier } from "../../../schemas/partner-registration.ts";

const start = Date.UTC(2026, 10, 21, 21);
const ten: Limit = { name: "ten", says: "10 a minute", perMinute: 10, capacity: 15 };

t.test("a bucket", async (t) => {
  const buckets = new TokenBuckets(100);
  const takeAll = (key: string, nowMs: number): number => {
    let taken = 0;
    for (; tokensIn(buckets.at(key, ten, nowMs)) > 0; taken++) buckets.take(buckets.at(key, ten, nowMs));
    return taken;
  };
  const table: [string, number, number][] = [
    ["full at first", 0, 15],
    ["then empty", 0, 0],
    ["not before a whole token is there", 5999, 0],
    ["one every six seconds", 6000, 1],
    ["in any steps", 11_999, 0],
    ["to the millisecond", 12_000, 1],
    ["two in twice the time", 24_000, 2],
    ["never more than the capacity", 24_000 + 3_600_000, 15],
    ["a clock that is set back adds nothing", 0, 0],
    ["and goes on from there", 6000, 1],
  ];
  for (const [what, ms, expected] of table) t.equal(takeAll("a", start + ms), expected, what);
  t.equal(msUntilToken(buckets.at("a", ten, start + 6000)), 6000);
  t.equal(msUntilToken(buckets.at("a", ten, start + 6001)), 5999);
  t.equal(msUntilToken(buckets.at("b", ten, start)), 0, "another key is another bucket");

  t.same(new Map(buckets.untold()).get("a"), 15 + 4 + 15 + 1, "all that was taken is told once");
  t.same(buckets.untold(), []);
});

t.test("what is kept of buckets", async (t) => {
  const buckets = new TokenBuckets(3);
  const taken = (key: string, nowMs = start): TokenBucket => {
    const bucket = buckets.at(key, ten, nowMs);
    buckets.take(bucket);
    return bucket;
  };
  for (const key of ["a", "b", "c"]) taken(key);
  buckets.forgetFull(start, 100);
  t.equal(buckets.size, 3, "none is full");
  taken("d");
  t.equal(buckets.size, 3, "no more than that");
  t.same(
    [...buckets.lacking(start)].map(([key]) => key),
    ["b", "c", "d"],
    "the one that was used longest ago went",
  );
  taken("b", start + 1);
  taken("e", start + 1);
  t.same(
    [...buckets.lacking(start)].map(([key]) => key),
    ["d", "b", "e"],
    "which isn't the one that was made first",
  );
  taken("e", start + 6001);
  buckets.forgetFull(start + 6001, 1);
  t.equal(buckets.size, 2, "full ones are forgotten, some at a time");
  buckets.forgetFull(start + 6001, 2);
  t.same(
    [...buckets.lacking(start + 6001)].map(([key]) => key),
    ["b", "e"],
    "and not those that aren't",
  );
});

const settings = {
  NATS_URL: "nats://unused",
  MONGODB_URL: "mongodb://unused",
  OPERATOR_ISSUER: "https://login.example/",
  OPERATOR_JWKS: "https://login.example/keys",
};
/** What a setting's refusal says; empty where the setting itself is taken. */
const refusalOf = (more: Record<string, string>): string => {
  try {
    readConfig({ ...settings, ...more });
    return "";
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.message
      .replace("Configuration: ", "")
      .split("; ")
      .filter((line) => Object.keys(more).some((name) => line.startsWith(`${name}:`)))
      .join();
  }
};

t.test("how limits are written", async (t) => {
  t.same(ratePairOf("600/120x1.5"), {
    read: { perMinute: 600, capacity: 900 },
    write: { perMinute: 120, capacity: 180 },
  });
  t.same(singleRateOf("100x1.15"), { perMinute: 100, capacity: 115 }, "no token is lost to arithmetic");
  t.same(singleRateOf("1x1"), { perMinute: 1, capacity: 1 });
  t.same(attemptLimitOf("5/15m"), { max: 5, windowMs: 900_000 });
  t.same(attemptLimitOf("10/24h"), { max: 10, windowMs: 86_400_000 });
  t.same(attemptLimitOf("3/30s"), { max: 3, windowMs: 30_000 });
  for (const [name, wrong] of [
    [
      "RATE_OPERATOR",
      ["0/10x1", "10/0x1", "10x1", "10/10", "10/10x0.5", "10/10x", "-1/2x1", "10/10x1.555", "a"],
    ],
    ["RATE_ADDRESS", ["0x1", "10", "10/10x1", "10x0"]],
    ["LOGIN_ATTEMPTS_PNR", ["0/1h", "10", "10/1d", "10/h", "1000/1h"]],
  ] as const)
    for (const value of wrong) t.match(refusalOf({ [name]: value }), name, `${name}=${value} is refused`);
});

const caller = (surface: Principal["surface"], more: Partial<Principal> = {}): Principal => ({
  surface,
  tenant: "XN",
  urn: "urn:x:1",
  ...more,
});
const session = (name: string, tenant = "XN") =>
  caller("passenger", { urn: `urn:passenger-session:${name}`, tenant });
const partner = (clientId: string) => caller("partner", { clientId });
const reading: CountedRoute = { id: "read", rate: "read" };
const writing: CountedRoute = { id: "write", rate: "write" };
const other: CountedRoute = { id: "other", rate: "write" };

const contractRates = () => {
  const { perMinute, capacity } = singleRateOf("600x1.5");
  return {
    operator: ratePairOf("600/120x1.5"),
    passenger: ratePairOf("300/30x2"),
    session: ratePairOf("30/10x1"),
    partner: { 1: ratePairOf("1200/240x1"), 2: ratePairOf("600/120x1"), 3: ratePairOf("60/10x1") },
    address: { perMinute, capacity },
  };
};
const tiers: Record<string, PartnerTier> = { "XN-one": 1, "XN-two": 2, "XN-three": 3 };
const ratesOf = () => new Rates(contractRates(), (clientId) => tiers[clientId]);

/** How many of the caller's requests are let through at once. */
const letThrough = (rates: Rates, principal: Principal, route: CountedRoute, nowMs = start): number => {
  for (let count = 0; ; count++) {
    try {
      rates.take(rates.ofCaller(principal, route, nowMs));
    } catch (error) {
      if ((error as { code?: string }).code !== "rate/exceeded") throw error;
      return count;
    }
  }
};

t.test("whose limits they are", async (t) => {
  const rates = ratesOf();
  const table: [string, Principal, CountedRoute, number][] = [
    ["operators' reads, with their burst", caller("operator"), reading, 900],
    ["a colleague shares them", caller("operator", { urn: "urn:x:2" }), reading, 0],
    ["operators' writes", caller("operator"), writing, 180],
    ["another route is counted apart", caller("operator"), other, 180],
    ["another airline too", caller("operator", { tenant: "QZ" }), writing, 180],
    ["a session's reads", session("a"), reading, 30],
    ["a session's writes on all routes", session("a"), writing, 10],
    ["are used up on any", session("a"), other, 0],
    ["another session has its own", session("b"), writing, 10],
    ["tier 1 reads", partner("XN-one"), reading, 1200],
    ["tier 1 writes", partner("XN-one"), writing, 240],
    ["on all routes", partner("XN-one"), other, 0],
    ["tier 2 writes", partner("XN-two"), writing, 120],
    ["tier 3 writes", partner("XN-three"), writing, 10],
    ["one that is not known yet", partner("XN-new"), reading, 60],
  ];
  for (const [what, principal, route, expected] of table)
    t.equal(letThrough(rates, principal, route), expected, what);

  for (let i = 0; i < 4; i++) letThrough(rates, session(`s${i}`), writing);
  t.equal(
    letThrough(rates, session("late"), writing),
    0,
    "60 writes of an airline's passengers on one route",
  );
  t.equal(
    letThrough(rates, session("late"), other),
    10,
    "what was refused has taken nothing from the session",
  );
  t.equal(letThrough(rates, session("q", "QZ"), writing), 10, "another airline's passengers have their own");

  const refusal = (principal: Principal, route: CountedRoute, nowMs = start) => {
    const buckets = rates.ofCaller(principal, route, nowMs);
    t.equal(remainingOf(buckets), 0);
    try {
      rates.take(buckets);
      return undefined;
    } catch (error) {
      return error as { message: string; members: { retryAfterSeconds: number } };
    }
  };
  t.match(refusal(caller("operator"), writing), {
    message:
      /^The limit is 120 writes a minute for this airline and route, at most 180 at once\. Come back in 1 s\.$/,
    members: { retryAfterSeconds: 1 },
  });
  t.match(refusal(session("a"), writing), {
    message: /^The limit is 10 writes a minute for this session\. /,
    members: { retryAfterSeconds: 6 },
  });
  t.match(refusal(session("a"), writing, start + 1), { members: { retryAfterSeconds: 6 } }, "rounded up");
  t.match(refusal(session("a"), writing, start + 5001), { members: { retryAfterSeconds: 1 } });
  t.equal(letThrough(rates, session("a"), other, start + 6000), 1, "that was the truth");
  t.match(refusal(partner("XN-three"), reading.rate === "read" ? writing : reading), {
    message: /^The limit is 10 writes a minute for a partner of tier 3\. /,
  });

  const address = (text: string) => rates.take(rates.ofAddress(text, start));
  t.equal(address("192.0.2.1"), 899);
  t.equal(address("192.0.2.2"), 899);
  t.equal(address("2001:0db8:0001:0002:0000:0000:0000:0001"), 899);
  t.equal(address("2001:0db8:0001:0002:ffff:0000:0000:0001"), 898, "a /64 is one client's");
  t.equal(address("2001:0db8:0001:0003:0000:0000:0000:0001"), 899);
});

t.test("a flood of new callers resets nobody's bucket", async (t) => {
  /** More than are kept. */
  const strangers = 110_000;
  const busy = session("busy", "QZ");
  const known: [string, Principal, CountedRoute][] = [
    ["an operators' route", caller("operator"), writing],
    ["a passengers' route", session("any"), writing],
    ["a partner", partner("XN-one"), writing],
    ["a session that is in use", busy, writing],
  ];
  const floods: [string, (rates: Rates, i: number, nowMs: number) => TokenBucket[]][] = [
    ["sessions", (rates, i, nowMs) => rates.ofCaller(session(`new${i}`, "YB"), reading, nowMs)],
    ["addresses", (rates, i, nowMs) => rates.ofAddress(`192.0.${i >> 8}.${i & 255}`, nowMs)],
  ];
  for (const [what, bucketsOf] of floods) {
    const rates = ratesOf();
    for (let i = 0; i < 6; i++) letThrough(rates, session(`s${i}`), writing);
    for (const [, principal, route] of known) letThrough(rates, principal, route);
    let nowMs = start;
    for (let i = 0; i < strangers; i++) {
      if (i % 100 === 0) nowMs += 1;
      const buckets = bucketsOf(rates, i, nowMs);
      if (remainingOf(buckets) > 0) rates.take(buckets);
      // Far from often: once in 10,000 of the others.
      if (i % 10_000 === 0) rates.ofCaller(busy, writing, nowMs);
    }
    const passedMinutes = (nowMs - start) / 60_000;
    for (const [whose, principal, route] of known) {
      const flownIn = Math.ceil(240 * passedMinutes);
      t.ok(letThrough(rates, principal, route, nowMs) <= flownIn, `new ${what}: ${whose}`);
    }
  }
});

/** Gateways on a line that keeps what is told until it is delivered. */
const gatewaysOnALine = (count: number) => {
  const line: string[] = [];
  const gateways = Array.from({ length: count }, (_, i) => {
    const rates = new Rates({ ...contractRates(), operator: ratePairOf("60/60x1") }, () => undefined);
    return { rates, sharing: new RateSharing(rates, `g${i}`, (text) => line.push(text)) };
  });
  const deliver = (nowMs: number): void => {
    for (const told of line.splice(0)) for (const { sharing } of gateways) sharing.hear(told, nowMs);
    if (line.length > 0) deliver(nowMs);
  };
  return { gateways, line, deliver };
};
const operators = caller("operator");
const wants = ({ rates }: { rates: Rates }, nowMs: number): boolean => {
  try {
    rates.take(rates.ofCaller(operators, reading, nowMs));
    return true;
  } catch (error) {
    if ((error as { code?: string }).code !== "rate/exceeded") throw error;
    return false;
  }
};

t.test("gateways that share", async (t) => {
  const { gateways, line, deliver } = gatewaysOnALine(2);
  const [one, two] = gateways as [(typeof gateways)[0], (typeof gateways)[0]];
  for (const { sharing } of gateways) sharing.tell();
  t.same(line, [], "nothing is told when nothing was let through");
  for (let i = 0; i < 40; i++) wants(one, start);
  one.sharing.tell();
  t.equal(line.length, 1, "one message for all of it");
  deliver(start);
  t.equal(remainingOf(two.rates.ofCaller(operators, reading, start)), 20, "the other knows");
  t.equal(remainingOf(one.rates.ofCaller(operators, reading, start)), 20, "its own it doesn't count twice");
  one.sharing.tell();
  t.same(line, [], "told once");

  const { sharing, rates } = gatewaysOnALine(1).gateways[0]!;
  for (const nonsense of [
    "",
    "null",
    '{"took":7}',
    '{"took":[["operator-read/XN/read","x"]]}',
    '{"took":[[1,1]]}',
  ])
    t.throws(() => sharing.hear(nonsense, start), { name: /^(Syntax|Type)Error$/ }, nonsense);
  sharing.hear('{"from":"g9","took":[["of-a-newer-version/x",5],["nothing",1]]}', start);
  t.same([...rates.lacking(start)], [], "a kind of limit that is not known here is passed over");

  const joined = gatewaysOnALine(3);
  const [first, second, late] = joined.gateways as [typeof one, typeof one, typeof one];
  for (let i = 0; i < 30; i++) wants(first, start);
  first.sharing.tell();
  joined.line.length = 0;
  for (let i = 0; i < 20; i++) wants(first, start);
  for (let i = 0; i < 5; i++) wants(second, start);
  late.sharing.join();
  joined.deliver(start);
  t.equal(remainingOf(late.rates.ofCaller(operators, reading, start)), 5, "a new one is told what is gone");
  t.equal(remainingOf(first.rates.ofCaller(operators, reading, start)), 5, "an old one only what was untold");

  const many = gatewaysOnALine(2);
  for (let i = 0; i < 5000; i++)
    many.gateways[0]!.rates.take(
      many.gateways[0]!.rates.ofCaller(session(`${i}`, `T${i % 100}`), reading, start),
    );
  many.gateways[0]!.sharing.tell();
  t.equal(many.line.length, 3, "5,100 buckets do not go into one message");
  t.ok(many.line.every((told) => told.length < 512 * 1024));
});

t.test("the overshoot is at most what the others let through before they are told", async (t) => {
  const tellEveryMs = 100;
  const gatewayCount = fc.integer({ min: 2, max: 4 });
  const burst = fc.record({
    gateway: fc.nat({ max: 3 }),
    count: fc.integer({ min: 1, max: 70 }),
    afterMs: fc.integer({ min: 0, max: 400 }),
  });
  fc.assert(
    fc.property(gatewayCount, fc.array(burst, { maxLength: 60 }), (count, bursts) => {
      const { gateways, deliver } = gatewaysOnALine(count);
      let nowMs = start;
      let toldMs = start;
      let total = 0;
      /** Let through since all were told of all, by gateway. */
      let untold = gateways.map(() => 0);
      let overshoot = 0;
      for (const { gateway, count: wanted, afterMs } of bursts) {
        const untilMs = nowMs + afterMs;
        for (; toldMs + tellEveryMs <= untilMs; toldMs += tellEveryMs) {
          for (const { sharing } of gateways) sharing.tell();
          deliver(toldMs + tellEveryMs);
          untold = untold.map(() => 0);
        }
        nowMs = untilMs;
        const at = gateway % count;
        for (let i = 0; i < wanted; i++) {
          if (!wants(gateways[at]!, nowMs)) continue;
          total += 1;
          untold[at]! += 1;
          const byOthers = untold.reduce((sum, n, g) => (g === at ? sum : sum + n), 0);
          // One bucket for all would have held this much: its capacity and what has flown in since.
          const allowed = 60 + (nowMs - start) / 1000;
          overshoot = Math.max(overshoot, total - allowed - byOthers);
        }
      }
      return overshoot <= 0;
    }),
    { numRuns: 300, seed: 20_261_121 },
  );
  t.pass("held for 300 nights of bursts at two to four gateways");
});

t.test("logins in a sliding window", async (t) => {
  const limit = { max: 3, windowMs: 900_000 };
  const at = (...minutes: number[]) => minutes.map((minute) => ({ at: new Date(start + minute * 60_000) }));
  const table: [string, number[], number, number][] = [
    ["none yet", [], 0, 0],
    ["fewer than the limit", [0, 1], 1, 0],
    ["as many", [0, 1, 2], 2, 13],
    ["the oldest leaves first", [0, 1, 2], 14, 1],
    ["and has left", [0, 1, 2], 15, 0],
    ["those before don't count", [-20, -16, 0, 1], 1, 0],
    ["of more, the third last counts", [0, 1, 2, 3, 4], 5, 12],
    ["in any order", [4, 0, 2], 5, 10],
  ];
  for (const [what, minutes, nowMinute, waitMinutes] of table)
    t.equal(waitMs(at(...minutes), limit, new Date(start + nowMinute * 60_000)), waitMinutes * 60_000, what);
});
