// The trail's chains: bound by digests, raced for, redelivered, healed after a death at each step, and seen through when
// somebody writes to the database; and each search with the index that serves it.
import { createHash } from "node:crypto";
import t from "tap";
import { type AuditEntry, ownReport, reportOf } from "../../../actors/audit/entry.ts";
import { filterOf, indexFor } from "../../../actors/audit/queries.ts";
import type { Command, EventRecord, Principal } from "../../../schemas/command.ts";
import type { Break } from "../../../scripts/administration/trail/breaks.ts";
import { walkTrail } from "../../../scripts/administration/trail/walk.ts";
import { indexOf, stagesOf } from "../../contract/documents/documents-under-test.ts";
import { caseId, eventOf, openTrail, report } from "./report.ts";

const { client, databasePrefix, trail, appender, write, clear } = await openTrail(t);
const { entries, heads } = trail;
const chain = `urn:case:${caseId}`;
const night = (n: number) => Array.from({ length: n }, (_, i) => report(i + 1));
const standing = (): Promise<AuditEntry[]> => entries.find({ chain }).sort({ sequence: 1 }).toArray();
const walk = (isUnderWay = false) =>
  walkTrail({ database: client.db(`${databasePrefix}_XN`), isUnderWay: async () => isUnderWay });

t.test("what an entry is made of", async (t) => {
  t.match(reportOf(eventOf(1)), { kind: "case", airport: "JFK", caseId, role: "OPS_SUPERVISOR" });
  const atAirport = reportOf(eventOf(1, {}, { entityUrn: "urn:airport:LHR", airport: undefined }));
  t.match(atAirport, { kind: "airport", airport: "LHR" });
  t.match(reportOf(eventOf(1, {}, { entityUrn: "urn:stopover:policy:XN-01JD" })), {
    entityUrn: "urn:policy:XN-01JD",
  });
  const unreadable: Partial<EventRecord>[] = [
    { urn: "urn:case:XN-1" },
    { occurred_at: "yesterday" },
    { case_urn: "none" },
  ];
  for (const more of unreadable) t.equal(reportOf(eventOf(1, more)), undefined, JSON.stringify(more));
  t.equal(reportOf(eventOf(1, {}, { action: undefined })), undefined);
  const principal: Principal = { surface: "operator", tenant: "XN", urn: "urn:user:ana", airport: "JFK" };
  const command = { id: "a", name: "audit.begin-export", tenant: "XN", principal, issuedAt: new Date(0) };
  const note = (now: Date) => ownReport(command as never as Command, now, {});
  const own = note(new Date(1000));
  t.match(own, {
    entityUrn: "urn:airline:XN",
    airport: "JFK",
    action: "audit.begin-export",
    at: new Date(1000),
  });
  t.equal(note(new Date(2000))._id, own._id, "the same command is the same entry");
  t.match(note(new Date(-1000)).at, new Date(0), "never before it was asked for");
});

t.test("entries are bound in the order in which they come", async (t) => {
  const odd = { "ü\ud800": [-0, 1e21, 2 ** 40, null, "€\n"], nested: { b: 1, a: [{}] } };
  await write([...night(3), report(4, {}, { after: odd }), report(5, { case_urn: undefined as never })]);
  const [first, second, , fourth] = await standing();
  t.match(first, { sequence: 1, previousDigest: "0".repeat(64), digest: /^[0-9a-f]{64}$/ });
  t.match(second, { sequence: 2, previousDigest: first?.digest });
  const { digest, ...members } = { ...first, at: first?.at.toISOString() } as unknown as AuditEntry;
  const sorted = (value: unknown): unknown =>
    value === null || typeof value !== "object"
      ? value
      : Object.fromEntries(
          Object.keys(value)
            .sort()
            .map((key) => [key, sorted(value[key as never])]),
        );
  const byHand = createHash("sha256")
    .update(JSON.stringify(sorted(members)))
    .digest("hex");
  t.equal(digest, byHand, "anybody can work a digest out: SHA-256 over members in their order");
  t.strictSame(Object.keys(fourth?.after as object), ["ü\ufffd", "nested"]);
  t.match(await entries.findOne({ chain: "urn:airline:XN" }), { sequence: 1 }, "the airline's own chain");
  t.strictSame(await walk(), { chains: 2, entries: 5, underWay: 0, broken: 0, breaks: [] });
  await clear();
});

t.test("several processes append to one chain at once, and reports come twice", async (t) => {
  const processes = [appender(), appender(), appender()];
  const reports = night(150);
  await Promise.all(
    reports.flatMap((one, i) => [0, i % 2].map((more) => processes[(i + more) % 3]?.append("XN", one))),
  );
  await write(reports.slice(0, 20));
  t.strictSame(await walk(), { chains: 1, entries: 150, underWay: 0, broken: 0, breaks: [] });
  const all = await standing();
  t.strictSame(
    all.map(({ sequence }) => sequence),
    reports.map((_, i) => i + 1),
  );
  t.match(await heads.findOne({ _id: chain }), { sequence: 150, digest: all.at(-1)?.digest });
  await clear();
});

t.test("a process dies between the entry and its chain's head", async (t) => {
  await write(night(2));
  const dying = appender((point) => {
    if (point === "after-commit") throw new Error("killed");
  });
  await t.rejects(dying.append("XN", report(3)), { message: "killed" });
  t.match(await heads.findOne({ _id: chain }), { sequence: 2 });
  t.match(await walk(true), { underWay: 1, broken: 0 }, "the report has not been acknowledged: no tampering");
  t.match(
    (await walk(false)).breaks,
    [{ kind: "inserted", sequence: 3 }],
    "with nothing under way nobody of ours can have left it so",
  );
  await t.test("the report comes again", async (t) => {
    await write([report(3)]);
    t.match(await heads.findOne({ _id: chain }), { sequence: 3 });
    t.match(await walk(), { entries: 3, underWay: 0, broken: 0 });
  });
  await t.test("another report comes first", async (t) => {
    await t.rejects(dying.append("XN", report(4)), { message: "killed" });
    await write([report(5)]);
    t.match(await walk(), { entries: 5, underWay: 0, broken: 0 });
    await write([report(4)]);
    t.match(await walk(), { entries: 5, broken: 0 });
  });
  await t.test("the very first entry", async (t) => {
    await clear();
    await t.rejects(dying.append("XN", report(1)), { message: "killed" });
    t.match(await walk(true), { chains: 1, underWay: 1, broken: 0 });
    await write([report(1)]);
    t.match(await walk(), { chains: 1, entries: 1, underWay: 0, broken: 0 });
  });
  await t.test("the first part of what was written in one go", async (t) => {
    const late = appender();
    await Promise.all([2, 3, 4].map((n) => late.append("XN", report(n))));
    // As a death in the middle of the insert leaves it: of three entries one, and a head that knows of none.
    await entries.deleteMany({ sequence: { $gte: 3 } });
    await heads.updateOne(
      { _id: chain },
      { $set: { sequence: 1, digest: (await standing())[0]?.digest ?? "" } },
    );
    await Promise.all([2, 3, 4].map((n) => appender().append("XN", report(n))));
    t.match(await walk(), { entries: 4, broken: 0 });
  });
  await clear();
});

t.test("what is done to the database shows", async (t) => {
  const link = async (n: number) => (await standing())[n - 1] as AuditEntry;
  const place = (sequence: number) => ({ chain, sequence });
  const move = async (from: number, to: number) => entries.updateOne(place(from), { $set: { sequence: to } });
  const forged = async (sequence: number) =>
    ({ ...(await link(3)), _id: "XN-forged", sequence, reason: "Never happened" }) as AuditEntry;
  /** As somebody does it who knows how the digest is made. */
  const redigested = async (n: number, change: object): Promise<void> => {
    const entry = await link(n);
    await entries.deleteOne({ _id: entry._id });
    const writer = appender();
    const last = await link(n - 1);
    const tail = await standing();
    await entries.deleteMany({ sequence: { $gte: n } });
    const head = await heads.findOne({ _id: chain });
    await heads.updateOne({ _id: chain }, { $set: { sequence: last.sequence, digest: last.digest } });
    await writer.append("XN", { ...report(n), ...change });
    for (const one of tail.filter(({ sequence }) => sequence > n)) await entries.insertOne(one);
    await heads.replaceOne({ _id: chain }, { sequence: head?.sequence ?? 0, digest: head?.digest ?? "" });
  };
  const tamperings: [name: string, tamper: () => Promise<unknown>, found: Partial<Break>][] = [
    [
      "a reason changed",
      () => entries.updateOne(place(3), { $set: { reason: "Another" } }),
      { kind: "changed", sequence: 3, entry: `urn:event:${report(3)._id}` },
    ],
    [
      "a snapshot's number changed",
      () => entries.updateOne(place(2), { $set: { "after.n": 7 } }),
      { kind: "changed", sequence: 2 },
    ],
    [
      "a member added, and one that no JSON can tell",
      () => entries.updateOne(place(4), { $set: { approvedBy: Number.NaN } as never }),
      { kind: "changed", sequence: 4 },
    ],
    [
      "the list's key changed",
      () => entries.updateOne(place(2), { $set: { listKey: "0" } }),
      { kind: "changed" },
    ],
    [
      "an entry changed with its digest made anew",
      () => redigested(3, { reason: "Another" }),
      { kind: "changed", sequence: 3, entry: `urn:event:${report(3)._id}` },
    ],
    [
      "the last entry changed with its digest made anew",
      () => redigested(6, { reason: "Another" }),
      { kind: "changed", sequence: 6 },
    ],
    ["an entry removed", () => entries.deleteOne(place(3)), { kind: "removed", sequence: 3 }],
    ["the first entry removed", () => entries.deleteOne(place(1)), { kind: "removed", sequence: 1 }],
    [
      "an entry removed, and the later ones moved up",
      async () => {
        await entries.deleteOne(place(3));
        for (const n of [4, 5, 6]) await move(n, n - 1);
      },
      { kind: "removed", sequence: 3 },
    ],
    [
      "an entry inserted, and the later ones moved on",
      async () => {
        for (const n of [6, 5, 4, 3]) await move(n, n + 1);
        await entries.insertOne(await link(1).then((one) => ({ ...one, _id: "XN-forged", sequence: 3 })));
      },
      { kind: "inserted", sequence: 3, entry: "urn:event:XN-forged" },
    ],
    [
      "an entry inserted between two",
      async () => entries.insertOne(await forged(3.5)),
      { kind: "inserted", sequence: 3.5, entry: "urn:event:XN-forged" },
    ],
    [
      "an entry of the right form inserted at the end",
      async () => {
        const head = await heads.findOne({ _id: chain });
        await write([report(7)]);
        await heads.updateOne({ _id: chain }, { $set: { sequence: 6, digest: head?.digest ?? "" } });
      },
      { kind: "inserted", sequence: 7, entry: `urn:event:${report(7)._id}` },
    ],
    [
      "two entries exchanged",
      async () => {
        await move(3, 99);
        await move(4, 3);
        await move(99, 4);
      },
      { kind: "reordered", sequence: 3, entry: `urn:event:${report(4)._id}` },
    ],
    [
      "the last entries cut off",
      () => entries.deleteMany({ sequence: { $gte: 5 } }),
      { kind: "truncated", sequence: 5 },
    ],
    [
      "the last entry cut off, and then business goes on",
      async () => {
        await entries.deleteOne(place(6));
        await write([report(7)]);
      },
      { kind: "removed", sequence: 6 },
    ],
    ["every entry taken", () => entries.deleteMany({ chain }), { kind: "truncated", sequence: 1 }],
    ["the head taken", () => heads.deleteOne({ _id: chain }), { kind: "headless", sequence: 1 }],
    [
      "a chain taken as a whole",
      async () => {
        await client
          .db(`${databasePrefix}_XN`)
          .collection("cases")
          .insertOne({ _id: caseId as never, outbox: [] });
        await clear();
      },
      { kind: "removed", sequence: 1 },
    ],
  ];
  for (const [name, tamper, found] of tamperings) {
    await write(night(6));
    t.match(await walk(), { broken: 0, entries: 6 }, "whole at first");
    await tamper();
    const { breaks, broken } = await walk();
    t.match(breaks, [{ chain, ...found }], name);
    t.equal(broken, 1);
    await clear();
    await client.db(`${databasePrefix}_XN`).collection("cases").deleteMany({});
  }
});

t.test("each search is read by an index, in its order", async (t) => {
  await write(night(3));
  const anyone: Principal = { surface: "operator", tenant: "XN", urn: "urn:user:ana" };
  const searches: [params: Record<string, string>, principal: Partial<Principal>, index: string][] = [
    [{}, {}, "list"],
    [{ from: "2026-11-21T22:00:00Z", to: "2026-11-21T22:03:00+00:00" }, {}, "list"],
    [{ entity: "policy" }, {}, "kind"],
    [{ entityUrn: "urn:stopover:case:XN-1" }, {}, "entity"],
    [{ caseUrn: `urn:case:${caseId}` }, {}, "case"],
    [{ action: "case.close" }, {}, "action"],
    [{ actor: "urn:user:ana" }, {}, "actor"],
    [{}, { airport: "JFK" }, "airport"],
    [
      { entity: "case", action: "case.close", actor: "urn:user:ana", from: "2026-11-21T22:02:00Z" },
      {},
      "actor",
    ],
  ];
  for (const [params, scope, index] of searches) {
    const filter = filterOf(params, { ...anyone, ...scope });
    const what = JSON.stringify(filter);
    t.equal(indexFor(filter), index, what);
    const explained = await entries
      .find(filter as never, { hint: index })
      .sort({ listKey: -1 })
      .explain();
    t.equal(indexOf(explained), index);
    t.notOk(stagesOf(explained).includes("SORT"), `${what}: comes sorted`);
  }
  const explained = await entries.find({}, { hint: "chain" }).sort({ chain: 1, sequence: 1 }).explain();
  t.notOk(stagesOf(explained).includes("SORT"), "and so does the walk");
});
