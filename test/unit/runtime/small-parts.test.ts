// Tables for the runtime's small parts: ids that follow from their cause, cursors, the keyed queue, kill points, delays.
// In a process of its own: an id is never before those made earlier, by whatever clock.
import t from "tap";
import { causedId, derivedId, freshId, freshSecret, mintTraceparent } from "../../../actors/runtime/clock.ts";
import { faultsOf, type KillPoint } from "../../../actors/runtime/faults.ts";
import { decodeCursor, encodeCursor, limitOf, pageOf, slicePage } from "../../../actors/runtime/page.ts";
import { KeyedQueue } from "../../../actors/runtime/serial.ts";
import { retryDelayMs } from "../../../actors/runtime/vendor-call.ts";
import { pauseMs } from "../../../actors/vendor-adapter/flight-feed.ts";
import { backoffMs } from "../../../streams/consume.ts";

const at = new Date("2026-03-01T20:00:00Z");

t.test("ids", async (t) => {
  const ulid = /^XN-[0-7][0-9A-HJKMNP-TV-Z]{25}$/;
  t.match(freshId("XN", at), ulid);
  t.match(derivedId("XN", "seed", at), ulid);
  t.equal(
    derivedId("XN", "seed", at),
    "XN-01KJNFRZG036S5GNQ1R58CN0TC",
    "the same for ever: documents are named by it",
  );
  t.not(derivedId("XN", "seed2", at), derivedId("XN", "seed", at));
  t.equal(
    derivedId("XN", "seed", at).slice(0, 13),
    freshId("XN", at).slice(0, 13),
    "its time is that of the moment",
  );
  t.ok(derivedId("XN", "z", at) < derivedId("XN", "a", new Date(at.getTime() + 1)), "ordered by time");
  t.equal(causedId("urn:event:XN-1", "case", "case.plan", "XN-2", 0), "Drnk1epxhRMbSueyD6o94mL-tBK");
  t.equal(causedId("a", "b", 1), causedId("a", "b", "1"));
  t.not(causedId("a", "b", "c"), causedId("a", "bc"));
  t.match(mintTraceparent(), /^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
  t.match(freshSecret(), /^[\w-]{43}$/);
});

t.test("kill points", async (t) => {
  const killed: string[] = [];
  const { kill } = process;
  t.teardown(() => {
    process.kill = kill;
  });
  process.kill = ((_pid: number, signal: string) => killed.push(signal)) as never;
  const walk = (setting: string | undefined, ...passed: [KillPoint, string][]): number => {
    killed.length = 0;
    const faults = faultsOf(setting);
    const at = passed.findIndex(([point, what]) => {
      faults(point, what);
      return killed.length > 0;
    });
    return at;
  };
  const open: [KillPoint, string] = ["after-commit", "case.open"];
  const book: [KillPoint, string] = ["after-vendor-answer", "vendor-stayhub.book"];
  const table: [string | undefined, number][] = [
    [undefined, -1],
    ["after-commit", 0],
    ["after-commit#2", 2],
    ["after-commit@case.open", 0],
    ["after-commit@case.open#3", 3],
    ["after-commit@case.opened", -1],
    ["before-ack", -1],
    ["after-vendor-answer@*.book", 1],
    ["after-vendor-answer@*.hold", -1],
    ["after-vendor-answer@vendor-stayhub.book", 1],
  ];
  for (const [setting, dies] of table) t.equal(walk(setting, open, book, open, open), dies, String(setting));
  for (const wrong of ["", "after", "after-commit@", "after-commit#x", "nonsense@case.open"]) {
    t.throws(() => faultsOf(wrong), /KILL_POINT/, JSON.stringify(wrong));
  }
});

t.test("cursors", async (t) => {
  for (const key of ["XN-01KJN", "a", "~".repeat(300)]) t.equal(decodeCursor(encodeCursor(key)), key);
  for (const cursor of [
    "",
    "!",
    "YQ==",
    "YR",
    encodeCursor("a b"),
    encodeCursor("é"),
    encodeCursor("a".repeat(301)),
  ]) {
    t.throws(() => decodeCursor(cursor), { code: "validation/query", status: 400 }, JSON.stringify(cursor));
  }
  t.strictSame([{}, { limit: 1 }, { limit: 200 }, { limit: 201 }].map(limitOf), [50, 1, 200, 200]);
});

t.test("pages", async (t) => {
  const keyOf = (item: string) => item;
  const map = (item: string) => item.toUpperCase();
  const table = [
    [[], 2, { items: [], nextCursor: null, hasMore: false }],
    [["a"], 2, { items: ["A"], nextCursor: null, hasMore: false }],
    [["a", "b"], 2, { items: ["A", "B"], nextCursor: null, hasMore: false }],
    [["a", "b", "c"], 2, { items: ["A", "B"], nextCursor: encodeCursor("b"), hasMore: true }],
  ] as const;
  for (const [found, limit, page] of table) t.strictSame(slicePage([...found], limit, keyOf, map), page);
  const list = ["c", "b", "a"];
  const first = pageOf(list, { limit: 2 }, keyOf, map);
  t.strictSame(first, { items: ["C", "B"], nextCursor: encodeCursor("b"), hasMore: true });
  const rest = { items: ["A"], nextCursor: null, hasMore: false };
  t.strictSame(
    pageOf(["d", ...list], { limit: 2, cursor: first.nextCursor }, keyOf, map),
    rest,
    "one was added",
  );
  for (const cursor of ["!", encodeCursor("z")])
    t.throws(() => pageOf(list, { cursor }, keyOf, map), { code: "validation/query" });
});

t.test(
  "the keyed queue: one after the other by key, side by side otherwise, and none is stopped by another's failure",
  async (t) => {
    const queue = new KeyedQueue();
    const order: string[] = [];
    const gates = [0, 1, 2].map(() => Promise.withResolvers<void>());
    const work = (name: string, gate: number) => async () => {
      order.push(`${name} begins`);
      await gates[gate]?.promise;
      order.push(`${name} ends`);
      if (name === "bad") throw new Error(name);
      return name;
    };
    const bad = queue.run("a", work("bad", 0));
    const good = queue.run("a", work("good", 1));
    const other = queue.run("b", work("other", 2));
    gates[2]?.resolve();
    t.equal(await other, "other", "another key doesn't wait");
    t.strictSame(order, ["bad begins", "other begins", "other ends"]);
    gates[0]?.resolve();
    await t.rejects(bad, { message: "bad" });
    gates[1]?.resolve();
    t.equal(await good, "good");
    t.strictSame(order.slice(3), ["bad ends", "good begins", "good ends"]);
  },
);

t.test("delays after thrown errors", async (t) => {
  t.strictSame([1, 2, 3, 6, 7, 8, 20].map(backoffMs), [200, 400, 800, 6400, 10_000, 10_000, 10_000]);
});

t.test("a vendor's call is asked again later and later, and each at a time of its own", async (t) => {
  const references = Array.from({ length: 1000 }, (_, i) => `XN-${i}.room.1.1`);
  for (const [tries, plainMs] of [
    [1, 500],
    [2, 1000],
    [5, 8000],
    [7, 32_000],
    [8, 60_000],
    [40, 60_000],
  ] as const) {
    const delays = references.map((reference) => retryDelayMs(reference, tries));
    t.strictSame(
      delays,
      references.map((reference) => retryDelayMs(reference, tries)),
      "the same again",
    );
    t.ok(
      Math.min(...delays) >= plainMs && Math.max(...delays) <= plainMs * 1.2,
      `try ${tries}: ${plainMs} ms`,
    );
    const mean = delays.reduce((sum, delay) => sum + delay, 0) / delays.length;
    t.ok(Math.abs(mean - plainMs * 1.1) < plainMs * 0.01, `spread over the fifth: ${mean} of ${plainMs} ms`);
    t.ok(new Set(delays).size > 90, "not together");
  }
  t.not(retryDelayMs("XN-1.room.1.1", 9), retryDelayMs("XN-1.room.1.1", 10), "drawn anew for each try");
});

t.test("a feed waits as long as its vendor asks for, within reason, and no two alike", async (t) => {
  const feeds = Array.from({ length: 100 }, (_, i) => `A${i}.skywatch`);
  for (const [what, failures, retryAfterMs, plainMs] of [
    ["asked for nothing", 3, undefined, 2000],
    ["for less than it waits anyway", 8, 2000, 60_000],
    ["for more", 1, 30_000, 30_000],
    ["for a year", 1, 366 * 86_400_000, 300_000],
  ] as const) {
    const page = { outcome: "unavailable", detail: "busy", ...(retryAfterMs && { retryAfterMs }) } as const;
    const waits = feeds.map((feed) => pauseMs(feed, failures, page));
    t.ok(Math.min(...waits) >= plainMs && Math.max(...waits) <= plainMs * 1.2, what);
    t.ok(new Set(waits).size > 50, `${what}: spread`);
  }
});
