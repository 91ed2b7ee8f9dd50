// Passengers on their own: their card and where its number is shown, check-in, rides and problems, with what vendors, operators and caches
// hear of it; then an attacker with a session, who tries to read or change what is somebody else's.
import { readFileSync } from "node:fs";
import t from "tap";
import { allRoutes } from "../../gateway/routes/all.ts";
import type { AuditEntryView } from "../../schemas/audit.ts";
import type { CaseView } from "../../schemas/case.ts";
import type { Page } from "../../schemas/command.ts";
import type { OfferView } from "../../schemas/passenger-api.ts";
import type { ReservationDetail } from "../../schemas/reservation.ts";
import type { ReviewItemView } from "../../schemas/review.ts";
import type { MyTransportView } from "../../schemas/transport.ts";
import type { CardRevealView, WalletView } from "../../schemas/wallet.ts";
import { demoPolicies } from "../../scripts/demonstration/provision.ts";
import { type Call, startClients } from "../harness/clients.ts";
import { takesLong } from "../harness/patience.ts";
import { type Guest, guestOf, own, strand } from "./passenger-guests.ts";
import { toldByVendors } from "./told-by-vendors.ts";

takesLong(t);
const night = await startClients(t, { settings: { LOG_LEVEL: "trace", RECONCILE_INTERVAL_MS: "500" } });
const [xn, qz] = night.airlines;
const { events } = night;
const host = xn.passengerHost;
const admin = await night.operatorToken(xn.urn, "ADMIN");
/** Whatever must stand in no log line. */
const secrets: string[] = [];
const hourMs = 3_600_000;

const onDemand = demoPolicies(xn.urn)[0];
const policy = await night.call<{ urn: string }>("createPolicy", {
  token: admin,
  body: {
    ...{ ...onDemand, name: "Rides on request", context: { airport: "BOS", airline: xn.urn } },
    transport: { ...onDemand?.transport, mode: "PRIVATE_CAR", onDemand: true },
  },
});
await night.call("activatePolicy", { token: admin, params: { policyUrn: policy.body.urn } });

const [tonight, elsewhere, later, foreign] = await Promise.all([
  strand(night, xn, { name: "tonight", pnrs: ["ALPHA1", "BRAVO1"], airport: "BOS" }),
  strand(night, xn, { name: "elsewhere", pnrs: ["CHARL1"], airport: "JFK" }),
  strand(night, xn, { name: "later", pnrs: ["DELTA1"], airport: "JFK", hours: 72 }),
  strand(night, qz, { name: "foreign", pnrs: ["FOXTR1"], airport: "JFK" }),
]);
const [alpha, bravo, charlie, delta, fox] = await Promise.all([
  guestOf(night, xn, tonight, "ALPHA1"),
  guestOf(night, xn, tonight, "BRAVO1"),
  guestOf(night, xn, elsewhere, "CHARL1"),
  guestOf(night, xn, later, "DELTA1"),
  guestOf(night, qz, foreign, "FOXTR1"),
]);

for (const { token } of [alpha, bravo, charlie, delta, fox]) secrets.push(token);

const purgedKeys = (since: number): string[] =>
  events.all
    .slice(since)
    .filter(({ type }) => type === "cache.purged")
    .flatMap(({ data }) => data.surrogateKeys as string[]);
/** Runs it, and waits until what an edge keeps under the names of this read is to be forgotten. */
const purges = async <T>(guest: Guest, work: () => Promise<T>, what: string): Promise<T> => {
  const { headers } = await night.call("getMe", own(guest));
  const keys = String(headers["surrogate-key"]).split(" ");
  const since = events.all.length;
  const result = await work();
  await events.until(`${what} is purged`, () => keys.every((key) => purgedKeys(since).includes(key)));
  return result;
};
/** The trail follows the answer: it is read until `count` entries stand there. */
const auditOf = ({ subCaseId }: Guest, action: string, count: number): Promise<AuditEntryView[]> => {
  const query = { action, limit: 200 };
  const read = async () =>
    (await night.call<Page<AuditEntryView>>("searchAudit", { token: admin, query })).body.items.filter(
      ({ entityUrn }) => entityUrn === `urn:sub-case:${subCaseId}`,
    );
  return night.eventually(`${count} of ${action}`, read, ({ length }) => length >= count);
};

t.test("the wallet: balance, what is held, what was spent, as the vendor tells it", async (t) => {
  const read = async () => (await night.call<WalletView>("getMyWallet", own(alpha))).body;
  const usd = (amountMinor: number) => ({ amountMinor, currency: "USD" });
  const first = await night.call<WalletView>("getMyWallet", own(alpha));
  t.match(first.headers, { "cache-control": "private, max-age=60", vary: "Authorization, Cookie" });
  const { amountMinor: loaded } = first.body.balance;
  t.match(first.body, { last4: /^\d{4}$/, status: "ACTIVE", held: usd(0), available: usd(loaded) });
  t.ok(loaded > 0);
  const known = { headers: { "If-None-Match": first.headers.etag ?? "" } };
  t.equal((await night.call("getMyWallet", own(alpha, known))).status, 304);
  const card = (await night.ledger("cardworks")).entries.find(({ reference }) =>
    reference.startsWith(`${alpha.subCaseId}.card`),
  );
  t.notMatch(JSON.stringify(first.body), new RegExp(`${card?.id}|${card?.reference}`));
  const cardId = card?.id ?? "";
  const spend = (type: string, amountMinor: number, more = {}) =>
    night.spend("cardworks", { cardId, type, amountMinor, ...more });
  const { authorization } = await purges(
    alpha,
    () => spend("authorization", 800, { merchant: "JFK Diner" }),
    "the wallet",
  );
  await night.eventually("held", read, ({ held }) => held.amountMinor === 800);
  t.match(await read(), { balance: usd(loaded), available: usd(loaded - 800) });
  await spend("capture", 750, { authorization });
  await night.eventually("spent", read, ({ transactions }) => transactions.length === 2);
  t.match(await read(), {
    ...{ balance: usd(loaded - 750), held: usd(0), available: usd(loaded - 750) },
    transactions: [
      { kind: "SETTLEMENT", amount: usd(750) },
      { kind: "AUTHORIZATION", amount: usd(800), merchant: "JFK Diner" },
    ],
  });
  t.equal((await night.call("getMyWallet", own(alpha, known))).status, 200);
  await events.untilCount("wallet.card-tx", 2, { caseUrn: tonight });
  await events.until("the vendor is asked again", () => events.of("wallet.card-tx").length >= 2);
  t.match(
    events.of("wallet.card-tx", tonight).map(({ stream, data }) => ({ stream, ...data })),
    [
      { stream: "EVENTS", kind: "AUTHORIZATION", balance: usd(loaded), groupId: alpha.groupId },
      { stream: "EVENTS", kind: "SETTLEMENT", balance: usd(loaded - 750), last4: first.body.last4 },
    ],
  );
  t.match(await night.call("getMyWallet", own(bravo)), { body: { transactions: [] } }, "nobody else's");
});

t.test("the number is shown by the vendor alone, and each time is noted", async (t) => {
  const told = await night.call<CardRevealView>("revealMyCard", own(alpha));
  t.match(told.body, { url: /^https:\/\/frames\.cardworks\.example\//, expiresAt: /Z$/ });
  t.match(told.headers, { "cache-control": "no-store", etag: undefined, "surrogate-key": undefined });
  const again = await night.call<CardRevealView>("revealMyCard", own(alpha));
  t.not(again.body.url, told.body.url, "kept nowhere");
  secrets.push(told.body.url, again.body.url);
  const noted = await auditOf(alpha, "sub-case.reveal-card", 2);
  t.match(noted[0], { surface: "passenger", actor: /^urn:passenger-session:/, after: { card: /^\d{4}$/ } });
  const cookie = { Cookie: `__Host-session=${alpha.token}` };
  t.equal((await night.call("revealMyCard", { host, headers: cookie })).status, 200, "a page's own GET");
  const elsewhere = { ...cookie, Origin: "https://elsewhere.example" };
  t.equal((await night.refused("revealMyCard", { host, headers: elsewhere })).status, 403);
  for (const kind of ["unavailable", "error", "malformed"]) {
    await night.control({ cardworks: { failNext: [{ operation: "reveal", kind, times: 1 }] } });
    const away = await night.call<Record<string, unknown>>("revealMyCard", own(alpha));
    t.match(away, { status: 503, body: { failedDomain: "payment" }, headers: { "retry-after": "30" } }, kind);
  }
  t.equal((await night.call("revealMyCard", own(alpha))).status, 200);
  t.equal((await auditOf(alpha, "sub-case.reveal-card", 4)).length, 4, "what was not shown is not noted");
  const everywhere = JSON.stringify([events.all, await night.ledger("receiver")]);
  t.notMatch(everywhere, /frames\.cardworks/, "no event, audit entry or webhook tells of it");
});

t.test("check-in on arrival: accepts, is seen by operators, once", async (t) => {
  t.match(await night.refused("checkIn", own(delta, { body: {} })), { status: 409, state: "CONFIRMED" });
  const checkIn = () => night.call<OfferView>("checkIn", own(charlie, { body: {} }));
  const told = await purges(charlie, checkIn, "the offer");
  t.match(told.body, { state: "ACCEPTED", stayStatus: "CHECKED_IN" });
  t.match(told.headers, { "cache-control": "no-store", "clear-site-data": '"cache"' });
  for (const again of await Promise.all([checkIn(), checkIn(), checkIn()])) t.same(again.body, told.body);
  const seen = await night.call<CaseView>("getCase", { token: admin, params: { caseUrn: elsewhere } });
  t.match(seen.body.reservations, [{ status: "CHECKED_IN" }]);
  const reservationUrn = seen.body.reservations[0]?.urn ?? "";
  const detail = { token: admin, params: { reservationUrn } };
  t.match(await night.call<ReservationDetail>("getReservation", detail), { body: { status: "CHECKED_IN" } });
  await events.untilCount("case.resolved", 1, { caseUrn: elsewhere });
  t.equal(events.of("subcase.resolved", elsewhere).length, 1);
  const noted = await auditOf(charlie, "sub-case.check-in", 1);
  t.match(noted, [{ surface: "passenger", after: { room: "CHECKED_IN", offer: "ACCEPTED" } }]);
  t.equal((await night.refused("declineMyOffer", own(charlie, { body: {} }))).status, 409);
});

t.test("a ride on request, where the policy allows it", async (t) => {
  const body = { direction: "HOTEL_TO_AIRPORT" };
  t.match(await night.refused("requestMyRide", own(charlie, { body })), {
    status: 409,
    state: "NOT_ALLOWED",
  });
  const rides = async () => (await night.call<MyTransportView>("getMyTransport", own(alpha))).body.rides;
  const planned = await night.eventually(
    "both ways",
    rides,
    (all) => all.length === 2 && all.every(({ status }) => status === "booked"),
  );
  const ask = (more: object = {}) =>
    night.call<MyTransportView>("requestMyRide", own(alpha, { body: { ...body, ...more } }));
  const same = await ask();
  t.equal(same.status, 202);
  t.same(same.body.rides, planned, "one is booked already");
  const back = (
    await night.call<Page<{ urn: string; direction: string; groupId: string }>>("listSegments", {
      token: admin,
      params: { caseUrn: tonight },
    })
  ).body.items.find(({ direction, groupId }) => direction === body.direction && groupId === alpha.groupId);
  await purges(
    alpha,
    () =>
      night.call("cancelSegment", {
        token: admin,
        params: { segmentUrn: back?.urn ?? "" },
        body: { reason: "They take a taxi" },
      }),
    "the ride",
  );
  const pickupAt = new Date(Date.now() + 5 * hourMs).toISOString();
  t.match((await ask({ pickupAt })).body.rides.at(-1), { status: /pending|declined|booked/ });
  const found = await night.eventually("a car of their own", rides, (all) =>
    all.some(
      ({ status, pickupAt: at }) =>
        status === "booked" && Date.parse(at) - Date.parse(pickupAt) < 900_000 && at >= pickupAt,
    ),
  );
  t.equal(found.length, 3);
  await ask({
    pickupAt: found.find(({ status, pickupAt: at }) => status === "booked" && at >= pickupAt)?.pickupAt,
  });
  t.equal((await rides()).length, 3, "the same is one");
  const wrong = [{ pickupAt: "2020-01-01T00:00:00Z" }, { pickupAt: "soon" }, { direction: "UP" }];
  for (const more of wrong)
    t.equal((await night.refused("requestMyRide", own(alpha, { body: { ...body, ...more } }))).status, 422);
});

t.test("a problem reaches the desk, with the words on the item alone", async (t) => {
  const words = "The desk has no room under our name <b>at all</b>; call +12025550199.";
  secrets.push(words, "+12025550199");
  const report = (guest: Guest, category: string, text: string) =>
    night.call<{ category: string; reportedAt: string }>(
      "reportMyProblem",
      own(guest, { body: { category, text } }),
    );
  const told = await report(bravo, "ROOM", words);
  t.match(told, { status: 202, body: { category: "ROOM", reportedAt: /Z$/ } });
  t.same((await report(bravo, "ROOM", ` ${words}\n`)).body, told.body, "the same words are the same report");
  await Promise.all([report(bravo, "SAFETY", "There is smoke."), report(alpha, "CARD", "It is declined.")]);
  const items = async () =>
    (
      await night.call<Page<ReviewItemView>>("listReviewItems", {
        token: admin,
        query: { caseUrn: tonight, category: "PARTIAL_FULFILLMENT" },
      })
    ).body.items.filter(({ origin }) => origin === "passenger");
  const open = await night.eventually(
    "on the desk",
    items,
    (all) => all.length === 2 && all.flatMap(({ reports = [] }) => reports).length === 3,
  );
  const item = open.find(({ affectedGroups }) => affectedGroups[0] === bravo.groupId);
  t.match(item, {
    ...{ state: "OPEN", priority: "HIGH", affectedGroups: [bravo.groupId] },
    reports: [
      { category: "ROOM", text: words, passengerUrn: bravo.passengerUrn },
      { category: "SAFETY", text: "There is smoke." },
    ],
  });
  await night.call("resolveReview", {
    token: admin,
    params: { reviewUrn: item?.urn ?? "" },
    body: { resolution: "SETTLED", reason: "The desk has found the booking" },
  });
  await report(bravo, "ROOM", "Now it is cold.");
  await night.eventually("a new item", items, (all) => all.length === 3);
  const text = JSON.stringify(events.all);
  for (const word of [words, "There is smoke", "+12025550199"])
    t.notOk(text.includes(word), "no event tells");
  const noted = await auditOf(bravo, "sub-case.report-problem", 3);
  t.match(noted.map(({ after }) => (after as { problem: string }).problem).sort(), [
    "ROOM",
    "ROOM",
    "SAFETY",
  ]);
});

const reads = allRoutes.filter(({ surface, cache }) => surface === "passenger" && cache === "passenger");
const writes = {
  acceptMyOffer: {},
  declineMyOffer: {},
  checkIn: {},
  requestMyRide: {},
  reportMyProblem: { category: "OTHER", text: "An attacker was here." },
};

/** Whose marks stand in the answer. */
const tellsOf = (told: unknown): string[] =>
  [alpha, bravo, charlie, delta, fox]
    .filter(({ marks }) => marks.some((mark) => JSON.stringify(told).includes(mark)))
    .map(({ groupId }) => groupId);

t.test("an attacker reads nobody else's: host, headers, cookies, query, tags", async (t) => {
  const cookieOf = ({ token }: Guest) => `__Host-session=${token}`;
  const bearerOf = ({ token }: Guest) => `Bearer ${token}`;
  const headers = (more: Record<string, string>): Call => ({ host, headers: more });
  const forwarded = {
    ...{ "X-Forwarded-Host": qz.passengerHost, "X-Original-Host": qz.passengerHost },
    ...{ Forwarded: `host=${qz.passengerHost}`, "X-Host": qz.passengerHost, "X-Tenant": "QZ" },
    ...{ "X-Case-Urn": bravo.caseUrn, "X-Group-Id": bravo.groupId, "X-Forwarded-For": "10.0.0.1" },
  };
  const named = { caseUrn: charlie.caseUrn, groupId: bravo.groupId, case_urn: charlie.caseUrn, tenant: "QZ" };
  const attempts: [string, Call, status: number][] = [
    ["another airline's host", { ...own(alpha), host: qz.passengerHost }, 403],
    ["another airline's session", { ...own(fox), host }, 403],
    ["hosts that proxies name", own(alpha, { headers: forwarded }), 200],
    ["two of one header", headers({ Authorization: `${bearerOf(alpha)}, ${bearerOf(bravo)}` }), 401],
    [
      "a token and another's cookie",
      headers({ Authorization: bearerOf(alpha), Cookie: cookieOf(bravo) }),
      200,
    ],
    [
      "another airline's token and a cookie",
      headers({ Authorization: bearerOf(fox), Cookie: cookieOf(alpha) }),
      403,
    ],
    [
      "a bad token and a good cookie",
      headers({ Authorization: "Bearer x.y.z", Cookie: cookieOf(alpha) }),
      401,
    ],
    [
      "a cookie that means nothing",
      headers({ Cookie: `session=${alpha.token}; host-session=${alpha.token}` }),
      401,
    ],
    ["a case in the query", own(alpha, { query: named }), 200],
  ];
  for (const { id } of reads) {
    for (const [what, call, status] of attempts) {
      const told = await night.call(id, call);
      t.equal(told.status, status, `${id}: ${what}`);
      const others = tellsOf(told).filter((groupId) => status !== 200 || groupId !== alpha.groupId);
      t.strictSame(others, [], `${id}: ${what} tells of nobody else`);
    }
    const [mine, theirs] = await Promise.all([night.call(id, own(alpha)), night.call(id, own(bravo))]);
    const tag = { headers: { "If-None-Match": theirs.headers.etag ?? "" } };
    const compared = await night.call(id, own(alpha, tag));
    if (theirs.headers.etag !== mine.headers.etag) t.equal(compared.status, 200, `${id}: another's tag`);
    t.not(mine.headers["surrogate-key"], theirs.headers["surrogate-key"], `${id}: kept apart`);
    t.match(mine.headers.vary, "Authorization, Cookie");
  }
  for (const id of ["listCases", "getCase", "getPartnerCase", "listManualReview"]) {
    const params = { caseUrn: tonight };
    t.equal((await night.refused(id, { token: alpha.token, params })).status, 401, `${id} is not for them`);
  }
});

t.test("an attacker changes nobody else's, and gets nobody's kept answer", async (t) => {
  const key = { "Idempotency-Key": "the same for all" };
  const accepted = await night.call<OfferView>("acceptMyOffer", own(bravo, { body: {}, headers: key }));
  t.equal(accepted.body.state, "ACCEPTED");
  const states = async () =>
    Promise.all(
      [bravo, charlie, delta, fox].map(async (guest) => [
        (await night.call("getMyOffer", own(guest))).body,
        (await night.call("getMyTransport", own(guest))).body,
      ]),
    );
  const before = await states();
  const named = {
    ...{ caseUrn: fox.caseUrn, groupId: bravo.groupId, subCaseUrn: `urn:sub-case:${delta.subCaseId}` },
    ...{ tenant: "QZ", entity: delta.subCaseId, passengerUrn: delta.passengerUrn, reservationUrn: "urn:x" },
  };
  for (const [id, body] of Object.entries(writes)) {
    const sent = { body: { ...body, ...named }, headers: key };
    const told = await night.call(id, own(alpha, sent));
    t.equal(told.headers["idempotency-replayed"], undefined, `${id}: another's key is not theirs`);
    t.strictSame(
      tellsOf(told).filter((groupId) => groupId !== alpha.groupId),
      [],
      id,
    );
    for (const [what, call] of [
      ["another airline's host", { ...own(alpha, sent), host: qz.passengerHost }],
      ["another airline's session", { ...own(fox, sent), host }],
      [
        "another's page",
        { host, body, headers: { Cookie: `__Host-session=${bravo.token}`, Origin: "https://evil.example" } },
      ],
      ["no page", { host, body, headers: { Cookie: `__Host-session=${bravo.token}` } }],
    ] as const)
      t.equal((await night.refused(id, call)).status, 403, `${id}: ${what}`);
  }
  t.strictSame(await states(), before);
  const reported = await auditOf(alpha, "sub-case.report-problem", 2);
  const problems = reported.map(({ after }) => (after as { problem: string }).problem);
  t.same(problems.sort(), ["CARD", "OTHER"], "what the attacker has reported is their own");
});

t.test("what vendors tell by themselves, twice and out of order, signed and forged", async (t) => {
  secrets.push(...(await toldByVendors(t, night)));
});

t.test("nothing secret in a log line", async (t) => {
  const logged = night.services.map(({ logFile }) => readFileSync(logFile, "utf8")).join("\n");
  const found = secrets.filter(
    (secret) => logged.includes(secret) || logged.includes(JSON.stringify(secret)),
  );
  t.same(found, []);
  t.notMatch(logged, /frames\.cardworks/);
  t.notMatch(logged, /"level":(50|60)/, "nothing went wrong unseen");
});
