// Lists of cases on a real document server: each filter alone and with others, page by page, and that a page reads little more than it shows.
import type { Collection, Document, FindCursor } from "mongodb";
import t from "tap";
import { caseList, caseListIndexes } from "../../../actors/case/case-list.ts";
import { collection } from "../../../actors/case/queries.ts";
import { openDocuments } from "../../../actors/runtime/documents.ts";
import { startDocuments } from "../../harness/processes.ts";

const airports = ["JFK", "LIS", "OPO"];
const statuses = ["CLOSED", "OPEN", "CLOSED", "MANUAL_REVIEW", "CLOSED"];
const hourMs = 3_600_000;
const start = Date.UTC(2026, 0, 1);
const total = 150;
const limit = 16;

interface Listed {
  _id: string;
  status: string;
  airport: string;
  at: Date;
}

/** Departures neither follow the ids nor are all different: up to five leave at one time. */
const listed: Listed[] = Array.from({ length: total }, (_, i) => ({
  _id: `XN-01KA${String(i).padStart(22, "0")}`,
  status: statuses[i % statuses.length] as string,
  airport: airports[(i >> 2) % airports.length] as string,
  at: new Date(start + ((i * 37) % 31) * 24 * hourMs),
}));

const documentOf = ({ _id, status, airport, at }: Listed): Document => ({
  _id,
  revision: 3,
  version: 2,
  schemaVersion: 1,
  handled: [],
  outbox: [],
  status,
  airport,
  flight: { number: "XN1", origin: airport, destination: "CDG", scheduledDeparture: at },
  progress: "WW",
  groups: [{ groupId: "G0" }, { groupId: "G1" }],
  manifest: [{ groupId: "G0" }],
});

const day = (index: number): Date => new Date(start + index * 24 * hourMs);

interface Wanted {
  status?: string;
  airport?: string;
  from?: Date;
  to?: Date;
}

/** By id where no departure is asked for, else by departure; the newest first. */
const expected = ({ status, airport, from, to }: Wanted): string[] =>
  listed
    .filter(
      (one) =>
        (status === undefined || one.status === status) &&
        (airport === undefined || one.airport === airport) &&
        (from === undefined || one.at >= from) &&
        (to === undefined || one.at < to),
    )
    .sort((a, b) => {
      const byTime = from === undefined && to === undefined ? 0 : b.at.getTime() - a.at.getTime();
      return byTime || (a._id < b._id ? 1 : -1);
    })
    .map(({ _id }) => _id);

const ranges: Wanted[] = [
  {},
  { from: day(3) },
  { to: day(20) },
  { from: day(4), to: day(5) },
  { from: day(2), to: day(29) },
  { from: day(9), to: day(9) },
];

const combinations: Wanted[] = ranges.flatMap((range) =>
  [undefined, "OPEN", "CLOSED"].flatMap((status) =>
    [undefined, "LIS"].map((airport) => ({
      ...range,
      ...(status === undefined ? {} : { status }),
      ...(airport === undefined ? {} : { airport }),
    })),
  ),
);

t.test("lists of cases", async (t) => {
  const server = await startDocuments(t);
  const documents = await openDocuments(server.url, server.databasePrefix);
  t.teardown(() => documents.close());
  const cases = documents.tenant("XN").collection<Document>(collection);
  await cases.createIndexes([...caseListIndexes]);
  await cases.insertMany(listed.map(documentOf));

  const asked: FindCursor<Document>[] = [];
  const watched = new Proxy(cases, {
    get: (target, name) => {
      if (name !== "find") return Reflect.get(target, name);
      return (...parameters: Parameters<Collection<Document>["find"]>) => {
        asked.push(target.find(...parameters) as FindCursor<Document>);
        return asked.at(-1);
      };
    },
  });

  const page = ({ from, to, status, airport }: Wanted, cursor?: string) =>
    caseList(
      watched,
      { ...(status === undefined ? {} : { status }), ...(airport === undefined ? {} : { airport }) },
      {
        limit,
        ...(from === undefined ? {} : { from: from.toISOString() }),
        ...(to === undefined ? {} : { to: to.toISOString() }),
        ...(cursor === undefined ? {} : { cursor }),
      },
      ({ meta, state }) => {
        t.equal(state.progress.length, 2);
        t.notOk(
          "groups" in state || "manifest" in state || "handled" in meta,
          "what grows stays where it is",
        );
        return meta._id;
      },
    );

  await t.test(
    "each combination tells what meets it, once, in order, and reads no more than a page",
    async (t) => {
      // At the cursor's own time some were shown already: they are read once more.
      const readMax = limit + 1 + 5;
      for (const wanted of combinations) {
        const told: string[] = [];
        for (let cursor: string | undefined; ; ) {
          const { items, hasMore, nextCursor } = await page(wanted, cursor);
          told.push(...items);
          const { executionStats, queryPlanner } = await (asked.at(-1) as FindCursor<Document>)
            .clone()
            .explain("executionStats");
          const name = JSON.stringify({ wanted, cursor });
          // Not every compatible engine counts what it reads.
          const { totalDocsExamined } = executionStats ?? {};
          if (totalDocsExamined !== undefined) {
            t.ok(totalDocsExamined <= readMax, `${totalDocsExamined} read: ${name}`);
            t.notMatch(JSON.stringify(queryPlanner.winningPlan), /"SORT"|COLLSCAN/, name);
          }
          if (!hasMore || nextCursor === null) break;
          cursor = nextCursor;
        }
        t.strictSame(told, expected(wanted), JSON.stringify(wanted));
      }
    },
  );

  await t.test("a list that grows meanwhile is told on from where it was", async (t) => {
    const range = { from: day(2), to: day(29) };
    const first = await page(range);
    const newer = { _id: "XN-01KAZ", status: "OPEN", airport: "JFK", at: day(28) };
    await cases.insertOne(documentOf(newer));
    t.teardown(() => cases.deleteOne({ _id: newer._id as never }));
    const second = await page(range, first.nextCursor as string);
    t.strictSame([...first.items, ...second.items], expected(range).slice(0, 2 * limit));
  });

  await t.test("a cursor of the other order is refused", async (t) => {
    const byId = (await page({})).nextCursor as string;
    await t.rejects(page({ from: day(1) }, byId), { code: "validation/query" });
    const byDeparture = (await page({ from: day(1) })).nextCursor as string;
    await t.rejects(page({}, byDeparture), { code: "validation/query" });
    const odd = Buffer.from("yesterday|XN-1").toString("base64url");
    await t.rejects(page({ from: day(1) }, odd), { code: "validation/query" });
  });
});
