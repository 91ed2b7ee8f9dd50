// How the delivery log is searched and seen, and the pace of deliveries: pure.
import t from "tap";
import { Pace } from "../../../actors/runtime/pace.ts";
import { deliveryIdOf } from "../../../actors/webhook/attempt.ts";
import {
  deliveryLogIndexes,
  deliveryView,
  filterOf,
  indexFor,
} from "../../../actors/webhook/delivery-log.ts";
import type { DeliveryState } from "../../../actors/webhook/state.ts";
import { event, later, now } from "./offer-ready.ts";

t.test("each filter is read by its index", async (t) => {
  const caseUrn = "urn:case:XN-01JD0000000000000000000000";
  const table: [object, string | undefined, string][] = [
    [{}, undefined, "_id_"],
    [{ status: "EXHAUSTED" }, undefined, "status"],
    [{}, "XN-SUB", "subscription"],
    [{ status: "PENDING" }, "XN-SUB", "subscription-status"],
    [{ caseUrn, status: "PENDING" }, "XN-SUB", "case"],
    [{ from: now.toISOString() }, undefined, "_id_"],
  ];
  const known = new Set(["_id_", ...deliveryLogIndexes.map(({ name }) => name)]);
  for (const [search, subscription, name] of table) {
    const filter = filterOf("XN", subscription, search);
    t.equal(indexFor(filter), name, JSON.stringify({ ...search, subscription }));
    t.ok(known.has(name));
    t.same(Object.keys(filter).sort(), Object.keys(filter).toSorted());
  }
  t.match(filterOf("XN", undefined, { caseUrn: "urn:stopover:case:XN-01JD0000000000000000000000" }), {
    caseUrn,
  });
});

t.test("times are those of events, which ids begin with", async (t) => {
  const idAt = (at: Date) =>
    deliveryIdOf({ id: "XN-SUB", tenant: "XN" }, { ...event, occurred_at: at.toISOString() });
  const { _id: range } = filterOf("XN", undefined, {
    from: now.toISOString(),
    to: later(60_000).toISOString(),
  });
  const isIn = (at: Date) => idAt(at) >= (range?.$gte ?? "") && idAt(at) < (range?.$lt ?? "");
  const table: [number, boolean][] = [
    [-1, false],
    [0, true],
    [59_999, true],
    [60_000, false],
  ];
  for (const [ms, expected] of table) t.equal(isIn(later(ms)), expected, `${ms} ms after`);
});

t.test("what has a time's form and is none is refused by its name", async (t) => {
  for (const name of ["from", "to"]) {
    const members = { errors: [{ pointer: `?${name}` }] };
    t.throws(() => filterOf("XN", undefined, { [name]: "2026-11-21T23:59:60Z" }), {
      ...{ code: "validation/query", members },
    });
  }
  const { _id: range } = filterOf("XN", undefined, { from: "0001-01-01T00:00:00Z" });
  t.equal(range?.$gte, "XN-0000000000", "before all of them");
});

t.test("what is seen of a delivery", async (t) => {
  const common = {
    subscriptionId: "XN-SUB",
    ...{ eventUrn: "urn:event:XN-E", type: "case.opened", correlationUrn: "urn:correlation:c", sequence: 7 },
    createdAt: now,
    attempts: [{ attempt: 1, at: now, latencyMs: 12, status: 503, excerpt: "busy" }],
  };
  const message = {
    ...{ eventUrn: "urn:event:XN-E", type: "case.opened", tenant: "urn:airline:XN" },
    ...{ correlationUrn: "urn:correlation:c", traceparent: "00-1-1-01", body: "the body" },
  };
  const pending: DeliveryState = { ...common, status: "PENDING", message, dueAt: later(60_000) };
  const view = deliveryView("XN-D", pending, "XN-tower");
  t.same(view, {
    urn: "urn:delivery:XN-D",
    clientId: "XN-tower",
    ...{ eventUrn: "urn:event:XN-E", eventType: "case.opened", status: "PENDING" },
    firstAttemptAt: now.toISOString(),
    nextAttemptAt: later(60_000).toISOString(),
    attempts: [{ attempt: 1, latencyMs: 12, status: 503, excerpt: "busy", at: now.toISOString() }],
  });
  const due: DeliveryState = { ...pending, status: "DUE", reissueAt: later(9_000_000) };
  t.notOk(
    "nextAttemptAt" in deliveryView("XN-D", due, "XN-tower"),
    "one that is due waits for nobody's time",
  );
  const ended: DeliveryState = { ...common, replayId: "XN-R", status: "EXHAUSTED", settledAt: later(5) };
  t.match(deliveryView("XN-D", ended, "XN-tower"), {
    replayUrn: "urn:replay:XN-R",
    settledAt: later(5).toISOString(),
  });
});

t.test("a subscription's pace: a second's worth at once, then one after another", async (t) => {
  const pace = new Pace(10);
  const burst = Array.from({ length: 10 }, () => pace.take(5000));
  t.same(
    burst,
    Array.from({ length: 10 }, () => 0),
  );
  t.same([pace.take(5000), pace.take(5000)], [100, 200], "each later by a tenth");
  t.equal(pace.take(5300), 0, "those that have waited are over");
  t.equal(pace.take(5300), 100);
  t.same(
    Array.from({ length: 10 }, () => pace.take(60_000)).filter(Boolean),
    [],
    "idle time earns no more than that",
  );
  t.equal(pace.take(60_000), 100);
  await new Pace(1000).turn();
});
