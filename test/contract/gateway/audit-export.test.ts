// The export of the audit trail on a real socket: its CSV byte for byte, what the trail is told of it, and that it asks for no
// more than its reader takes.
import { connect } from "node:net";
import t from "tap";
import type { AuditEntryView } from "../../../schemas/audit.ts";
import { Problem } from "../../../schemas/problems.ts";
import { bearer, operatorToken, startTestGateway, ulid } from "./fixture.ts";

const gateway = await startTestGateway();
t.teardown(() => gateway.close());
const token = await operatorToken(gateway, "FINANCE_AUDIT");
const headers = { ...bearer(token), Accept: "text/csv" };

const entry = (n: number, more: Partial<AuditEntryView> = {}): AuditEntryView => ({
  urn: `urn:event:XN-${n}`,
  at: "2026-11-21T22:00:00.000Z",
  actor: "urn:user:ana",
  surface: "operator",
  role: "ADMIN",
  action: "case.close",
  entityUrn: `urn:case:XN-${ulid}`,
  correlationUrn: "urn:correlation:1",
  chain: { name: "urn:airline:XN", sequence: n, previousDigest: "0".repeat(64), digest: "f".repeat(64) },
  ...more,
});
const notes = () =>
  gateway.received
    .filter(({ name }) => name.endsWith("-export"))
    .map(({ name, envelope }) => ({ name, data: envelope.data as Record<string, unknown> }));

t.test("what a spreadsheet is given", async (t) => {
  gateway.received.length = 0;
  const nasty = [
    "=HYPERLINK(1)",
    "+1",
    "-1",
    "@SUM(A1)",
    "\tx",
    "\rx",
    'He said "no",\r\nand left',
    "plain, text",
  ];
  gateway.act("audit.search", ({ params }) => {
    const { cursor } = params as { cursor?: string };
    const items =
      cursor === undefined
        ? nasty.map((reason, i) => entry(i + 1, { reason }))
        : [entry(99, { before: { status: "OPEN" }, after: ["=1+1"], caseUrn: `urn:case:XN-${ulid}` })];
    return { ok: { items, nextCursor: cursor === undefined ? "next" : null, hasMore: cursor === undefined } };
  });
  const path = "/v1/audit/export?action=case.close&from=2026-11-21T00%3A00%3A00Z";
  const answer = await gateway.ask(path, { headers });
  t.equal(answer.status, 200);
  t.match(answer.headers, {
    "content-type": "text/csv; charset=utf-8; header=present",
    "content-disposition": /^attachment; filename="audit-XN-\d{4}-\d\d-\d\dT\d+Z\.csv"$/,
    "cache-control": "no-store",
    "transfer-encoding": "chunked",
    "x-ratelimit-remaining": /^\d+$/,
  });
  const zeros = "0".repeat(64);
  const line = (n: number, reason: string, caseUrn = "", before = "", after = "") =>
    `"2026-11-21T22:00:00.000Z","urn:user:ana","ADMIN","operator","case.close","urn:case:XN-${ulid}",${caseUrn},,${reason},${before},${after},` +
    `"urn:correlation:1","urn:event:XN-${n}","urn:airline:XN",${n},"${zeros}","${"f".repeat(64)}"\r\n`;
  t.equal(
    answer.text,
    `"at","actor","role","surface","action","entityUrn","caseUrn","airport","reason","before","after","correlationUrn","urn","chain","sequence","previousDigest","digest"\r\n` +
      line(1, `"'=HYPERLINK(1)"`) +
      line(2, `"'+1"`) +
      line(3, `"'-1"`) +
      line(4, `"'@SUM(A1)"`) +
      line(5, `"'\tx"`) +
      line(6, `"'\rx"`) +
      line(7, `"He said ""no"",\r\nand left"`) +
      line(8, `"plain, text"`) +
      line(99, "", `"urn:case:XN-${ulid}"`, `"{""status"":""OPEN""}"`, `"[""=1+1""]"`),
  );
  const filters = { action: "case.close", from: "2026-11-21T00:00:00Z", to: String };
  t.match(notes(), [
    { name: "audit.begin-export", data: { filters } },
    { name: "audit.end-export", data: { filters, rows: 9, complete: true } },
  ]);
  const searches = gateway.received.filter(({ name }) => name === "audit.search");
  t.strictSame(
    searches.map(({ envelope: { params } }) => (params as { to?: string }).to),
    [notes()[0]?.data.filters, notes()[0]?.data.filters].map((filter) => (filter as { to: string }).to),
    "up to the moment at which it began: its own entry stays out",
  );
});

t.test("who may not, and what cannot be", async (t) => {
  gateway.received.length = 0;
  const operator = await operatorToken(gateway, "AIRPORT_OPERATOR");
  t.equal((await gateway.ask("/v1/audit/export", { headers: bearer(operator) })).status, 403);
  t.equal(
    (await gateway.ask("/v1/audit/export", { headers: { ...headers, Accept: "application/json" } })).status,
    406,
  );
  t.equal((await gateway.ask("/v1/audit/export?from=yesterday", { headers })).status, 400);
  t.equal((await gateway.ask(`/v1/audit/export?caseUrn=urn:case:YB-${ulid}`, { headers })).status, 403);
  gateway.act("audit.search", () => ({ problem: new Problem("upstream/unavailable", "Away.").record() }));
  t.match(await gateway.ask("/v1/audit/export", { headers }), { status: 503, json: { status: 503 } });
  t.strictSame(notes(), [], "nothing was exported");
  const empty = { ok: { items: [], nextCursor: null, hasMore: false } };
  gateway.act("audit.search", () => empty);
  gateway.act("audit.begin-export", () => ({
    problem: new Problem("upstream/unavailable", "Away.").record(),
  }));
  t.equal((await gateway.ask("/v1/audit/export", { headers })).status, 503, "nothing leaves unnoted");
  gateway.act("audit.begin-export", () => ({ ok: {} }));
  const none = await gateway.ask("/v1/audit/export", { headers });
  t.match(none.text, /^"at",[^\r]*"digest"\r\n$/, "the names of the columns alone");
});

/** A client that reads as it likes. */
const raw = (path: string) => {
  const socket = connect(gateway.port, "127.0.0.1");
  const seen = { bytes: 0, tail: "", closed: false };
  let changed = (): void => {};
  socket.on("data", (bytes) => {
    seen.bytes += bytes.length;
    seen.tail = (seen.tail + bytes.toString("latin1")).slice(-400);
    changed();
  });
  socket.on("close", () => {
    seen.closed = true;
    changed();
  });
  socket.on("error", () => {});
  const fields = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n${fields.join("")}\r\n`);
  const until = async (holds: () => boolean): Promise<void> => {
    while (!holds()) await new Promise<void>((resolve) => (changed = resolve));
  };
  return { socket, seen, until, tell: () => changed() };
};

const rowsOfPage = 200;
const snapshot = { text: "x".repeat(1000) };
/** Pages without an end, or as many as there are, of more than 400 KB each. */
const manyPages = (pages: number) => {
  const asked = { pages: 0 };
  gateway.act("audit.search", () => {
    asked.pages += 1;
    const items = Array.from({ length: rowsOfPage }, (_, n) =>
      entry(n + 1, { before: snapshot, after: snapshot }),
    );
    const hasMore = asked.pages < pages;
    return { ok: { items, nextCursor: hasMore ? "next" : null, hasMore } };
  });
  return asked;
};
const pageBytes = 400_000;

t.test("5,000 rows to a reader that stops reading", async (t) => {
  const total = 5000 / rowsOfPage;
  const asked = manyPages(8 * total);
  const client = raw("/v1/audit/export");
  await client.until(() => client.seen.bytes > 0);
  client.socket.pause();
  // While it reads nothing the gateway has many turns in which it could ask for all.
  for (let turn = 0; turn < 300; turn++) await gateway.ask("/health/live");
  let keptBytesMax = asked.pages * pageBytes - client.seen.bytes;
  t.ok(asked.pages < 4 * total, `${asked.pages} of ${8 * total} pages were asked for`);
  client.socket.on("data", () => {
    keptBytesMax = Math.max(keptBytesMax, asked.pages * pageBytes - client.seen.bytes);
  });
  client.socket.resume();
  await client.until(() => client.seen.tail.endsWith("\r\n0\r\n\r\n"));
  t.ok(keptBytesMax < 16 * 1024 * 1024, `${keptBytesMax} bytes on their way at most, the kernel's included`);
  t.ok(client.seen.bytes > 8 * total * pageBytes, "all of it came");
  t.match(notes().at(-1), { name: "audit.end-export", data: { rows: 8 * 5000, complete: true } });
  client.socket.destroy();
});

t.test("a reader that goes away", async (t) => {
  const asked = manyPages(Number.POSITIVE_INFINITY);
  gateway.received.length = 0;
  const client = raw("/v1/audit/export");
  await client.until(() => client.seen.bytes > 2 * pageBytes);
  const ended = new Promise<void>((resolve) => {
    gateway.act("audit.end-export", () => {
      resolve();
      return { ok: {} };
    });
  });
  client.socket.destroy();
  await ended;
  const { pages } = asked;
  t.match(notes().at(-1), { name: "audit.end-export", data: { complete: false } });
  const rows = Number(notes().at(-1)?.data.rows);
  t.ok(rows >= 400 && rows <= pages * rowsOfPage, `${rows} rows`);
  for (let turn = 0; turn < 50; turn++) await gateway.ask("/health/live");
  t.equal(asked.pages, pages, "nothing more is read");
});

t.test("a page that cannot be had breaks the transfer off", async (t) => {
  gateway.received.length = 0;
  gateway.logged.length = 0;
  let pages = 0;
  gateway.act("audit.search", () => {
    pages += 1;
    if (pages === 3) return { problem: new Problem("upstream/unavailable", "The audit is away.").record() };
    return { ok: { items: [entry(pages)], nextCursor: "next", hasMore: true } };
  });
  const client = raw("/v1/audit/export");
  await client.until(() => client.seen.closed);
  t.notMatch(client.seen.tail, /\r\n0\r\n\r\n$/, "no end is told");
  t.match(notes().at(-1), { name: "audit.end-export", data: { rows: 2, complete: false } });
  t.match(gateway.logged.join(), /answer broken off/);
});
