/** Owns the tables of what an `Idempotency-Key` names, and of what an entry kept under it means to a request. */
import t from "tap";
import { keyedWriteOf, standingOf } from "../../../gateway/checks/replay.ts";
import type { Exchange } from "../../../gateway/http/exchange.ts";
import type { KeptEntry } from "../../../streams/kept-answers.ts";

t.test("standing", async (t) => {
  const now = new Date("2026-11-21T21:00:00Z");
  const at = (ms: number): KeptEntry => ({ payload: "p", leaseUntilMs: now.getTime() + ms });
  t.throws(() => standingOf(at(1), 7, "p", now), { code: "conflict/in-flight" });
  t.strictSame(standingOf(at(0), 7, "p", now), { revision: 7 });
  t.strictSame(standingOf({ payload: "p", leaseUntilMs: 0 }, 7, "p", now), { revision: 7 });
  for (const entry of [at(1), at(-1), { payload: "p", answer: { status: 204, headers: [] } }])
    t.throws(() => standingOf(entry, 7, "q", now), { code: "idempotency/payload-differs" });
  t.strictSame(standingOf({ payload: "p", answer: { status: 204, headers: [] } }, 7, "p", now), {
    answer: { status: 204, headers: [["Idempotency-Replayed", "true"]], body: undefined },
  });
});

t.test("names and payloads", async (t) => {
  const exchange = { query: "", headers: { ifMatch: "" } } as Exchange;
  const principal = { tenant: "XN", urn: "urn:operator:7", surface: "operator" } as const;
  const write = (value: unknown, values: string[] = ["a"], key = "k", bytes = 1) =>
    keyedWriteOf({ id: "r" } as never, values, exchange, principal, key, async () => ({ value, bytes }))!;
  t.equal(
    keyedWriteOf({ id: "r" } as never, [], exchange, principal, undefined, () => Promise.reject()),
    undefined,
  );
  t.match(write(1).name, /^[\w-]{43}$/, "a valid key of a bucket");
  t.not(write(1, ["a", "b"], "k").name, write(1, ["a"], "b:k").name);
  const payloads: [unknown, unknown, boolean][] = [
    [{ a: 1, b: { c: [1, 2], d: 2 } }, { b: { d: 2, c: [1, 2] }, a: 1 }, true],
    [[1, 2], [2, 1], false],
    [{}, undefined, false],
    [{ a: null }, {}, false],
    ["1", 1, false],
    [{ "1": 0, a: 0 }, { a: 0, "1": 0 }, true],
  ];
  for (const [a, b, isSame] of payloads)
    t.equal((await write(a).payload()) === (await write(b).payload()), isSame, JSON.stringify([a, b]));
  const large = (value: unknown) => write(value, ["a"], "k", 256 * 1024 + 1).payload();
  t.not(await large({ a: 1, b: 2 }), await large({ b: 2, a: 1 }), "of a large body the order counts");
  t.equal(await large({ a: 1, b: 2 }), await large({ a: 1, b: 2 }));
});
