// A disruption comes in: by a partner's push and by an operator's hand, whole, broken, again and huge; told by what the
// partner and the operator see of it.
import t from "tap";
import type { CaseListItem, CaseOpened, CaseView, ManifestItem } from "../../../schemas/case.ts";
import type { Page } from "../../../schemas/command.ts";
import type { DisruptionPushBody, PartnerCaseView } from "../../../schemas/partner-api.ts";
import type { PassengerInput } from "../../../schemas/passenger.ts";
import { startClients } from "../../harness/clients.ts";
import { smallFlight } from "../../harness/instance.ts";

const night = await startClients(t);
const [xn] = night.airlines;
const { events } = night;
const supervisor = await night.operatorToken(xn.urn, "OPS_SUPERVISOR");
const partner = await night.partnerToken(xn);

const hourMs = 3_600_000;
const later = (at: string, hours: number): string => new Date(Date.parse(at) + hours * hourMs).toISOString();

const flight = (
  name: string,
  passengers: PassengerInput[],
  change: Partial<DisruptionPushBody> = {},
): DisruptionPushBody => ({ ...smallFlight("XN", name, 0), passengers, ...change });

const traveller = (pnr: string | undefined, lastName: string, more: PassengerInput = {}): PassengerInput => ({
  ...(pnr === undefined ? {} : { pnr }),
  firstName: "Ada",
  lastName,
  cabinClass: "ECONOMY",
  contact: { email: "ada@example.com", language: "en" },
  ...more,
});

const detail = async (caseUrn: string): Promise<CaseView> =>
  (await night.call<CaseView>("getCase", { token: supervisor, params: { caseUrn } })).body;
const categories = ({ manualReviewItems }: CaseView): string[] =>
  manualReviewItems.map(({ category }) => category).sort();
const casesNow = async (): Promise<number> => {
  const list = await night.call<Page<CaseListItem>>("listCases", {
    token: supervisor,
    query: { limit: 200 },
  });
  return list.body.items.length;
};

t.test("one PNR is one group, however it is written; who has none is alone", async (t) => {
  const body = flight("groups", [
    traveller("AAAAA1", "Okafor"),
    traveller("aaaaa1", "Okafor", { firstName: "Ben" }),
    traveller(" aaaaa1 ", "Okafor", { firstName: "Ada" }),
    traveller("BBBBB2", "Okafor"),
    traveller(undefined, "Solo"),
    traveller(undefined, "Solo"),
    traveller("  ", "Blank"),
  ]);
  const { status, headers, body: opened } = await night.pushed(xn, body);
  t.equal(status, 202);
  t.equal(opened.subCaseCount, 5);
  t.match(opened, { status: "OPEN", correlationUrn: /^urn:correlation:/ });
  t.match(headers, { traceparent: /^00-/, etag: '"1"' });
  await events.untilCount("case.opened", 1, { caseUrn: opened.caseUrn });
  const seen = await detail(opened.caseUrn);
  const people = seen.passengerGroups.map((group) => group.passengers.length);
  t.same(people.sort(), [1, 1, 1, 1, 3]);
  t.equal(new Set(seen.passengerGroups.flatMap((g) => g.passengers.map((p) => p.urn))).size, 7);
  t.match(seen, { flight: { number: "XN482", origin: "JFK" }, airport: "JFK", subCaseCount: 5 });
});

t.test("the same event again is the same case, alone or twenty at once", async (t) => {
  const body = smallFlight("XN", "again", 3);
  const twenty = await Promise.all(Array.from({ length: 20 }, () => night.pushed(xn, body)));
  t.same([...new Set(twenty.map(({ status }) => status))], [202]);
  const [opened] = twenty.map((told) => told.body);
  t.equal(new Set(twenty.map((told) => told.body.caseUrn)).size, 1);
  t.same([...new Set(twenty.map((told) => told.body.subCaseCount))], [3]);
  const { caseUrn } = opened as CaseOpened;
  await events.untilCount("subcase.offer-ready", 3, { caseUrn });
  t.equal(events.of("case.opened", caseUrn).length, 1);
  const before = await detail(caseUrn);
  const other = { ...smallFlight("XN", "again", 9), nextFlight: undefined };
  t.equal((await night.pushed(xn, other)).body.caseUrn, caseUrn);
  t.equal((await night.pushed(xn, other)).body.subCaseCount, 3);
  const trail = await night.eventually(
    "the other body in the audit trail",
    async () =>
      (
        await night.call<Page<{ action: string; reason?: string }>>("getCaseAudit", {
          token: supervisor,
          params: { caseUrn },
        })
      ).body.items,
    (entries) => entries.some(({ reason }) => reason?.includes("another body")),
  );
  t.equal(trail.filter(({ action }) => action === "case.open").length, 2, "the opening and one other body");
  t.same(await detail(caseUrn), before);
});

t.test("a broken body is told where it breaks, and stores nothing", async (t) => {
  const good = smallFlight("XN", "broken", 1);
  const before = await casesNow();
  const pointersOf = async (body: unknown) => {
    const problem = await night.refused("pushDisruption", { token: partner, body });
    t.equal(problem.status, 422);
    return problem.errors?.map(({ pointer }) => pointer);
  };
  t.same(await pointersOf({ ...good, flight: { ...good.flight, originAirport: "jfk" } }), [
    "/flight/originAirport",
  ]);
  t.same(await pointersOf({ ...good, flight: { ...good.flight, originAirport: "QQQ" } }), [
    "/flight/originAirport",
  ]);
  t.same(await pointersOf({ ...good, disruption: { ...good.disruption, airport: "QQQ", type: "LATE" } }), [
    "/disruption/type",
  ]);
  t.same(await pointersOf({ ...good, disruption: { ...good.disruption, airport: "QQQ" } }), [
    "/disruption/airport",
  ]);
  t.same(await pointersOf({ ...good, passengers: [{ pnr: 7 }, { lastName: ["x"] }] }), [
    "/passengers/0/pnr",
    "/passengers/1/lastName",
  ]);
  const { externalEventId: _, ...nameless } = good;
  t.same(await pointersOf(nameless), ["/externalEventId"]);
  for (const [raw, status] of [
    ["{", 400],
    ["", 400],
    ["[]", 422],
    ["\u0000", 400],
  ] as const) {
    t.equal(
      (await night.refused("pushDisruption", { token: partner, raw })).status,
      status,
      JSON.stringify(raw),
    );
  }
  t.equal(await casesNow(), before);
  t.equal((await night.pushed(xn, good)).status, 202, "nothing of it was kept under its event id");
});

t.test("eight MiB and not a byte more", async (t) => {
  const body = JSON.stringify(smallFlight("XN", "heavy", 1));
  const limit = 8 * 1024 * 1024;
  const padded = (bytes: number): string =>
    body.replace(/^\{/, `{"padding":"${" ".repeat(bytes - body.length - 13)}",`);
  t.equal(Buffer.byteLength(padded(limit)), limit);
  t.equal((await night.refused("pushDisruption", { token: partner, raw: padded(limit + 1) })).status, 413);
  const told = await night.call<CaseOpened>("pushDisruption", { token: partner, raw: padded(limit) });
  t.equal(told.status, 202);
  t.equal(told.body.subCaseCount, 1);
});

t.test("a reason that nobody knows is kept as it came", async (t) => {
  const body = smallFlight("XN", "reason", 1);
  const { caseUrn } = (
    await night.pushed(xn, { ...body, disruption: { ...body.disruption, reason: "VOLCANO" } })
  ).body;
  t.match((await detail(caseUrn)).disruption, { type: "CANCELLED", reason: "OTHER", reasonRaw: "VOLCANO" });
});

t.test("missing fields are somebody's work and nobody's refusal", async (t) => {
  const body = flight("incomplete", [
    traveller("CCCCC1", "Whole"),
    traveller("CCCCC2", ""),
    traveller("CCCCC3", "Mute", { contact: { email: " " } }),
    traveller("CCCCC4", "Nowhere", { cabinClass: "LOUNGE" }),
    traveller("CCCCC5", "Family", { cabinClass: "premium economy" }),
    traveller("CCCCC5", "Family", { firstName: "Baby", cabinClass: "" }),
  ]);
  const { caseUrn, subCaseCount } = (await night.pushed(xn, body)).body;
  t.equal(subCaseCount, 5);
  await events.untilCount("subcase.offer-ready", 5, { caseUrn });
  const seen = await detail(caseUrn);
  t.same(categories(seen), ["DATA_INCOMPLETE"]);
  const [item] = seen.manualReviewItems;
  t.match(item, { priority: "LOW", state: "OPEN", detail: /lastName.*contact.*cabinClass|lastName/ });
  t.equal(item?.affectedGroups.length, 4);
  const family = seen.passengerGroups.find(({ passengers }) => passengers[0]?.lastName === "Family");
  t.equal(family?.tier, "PREMIUM_ECONOMY", "who has no cabin travels in that of the booking");
});

t.test("a booking in two cabins is held, the rest goes on", async (t) => {
  const body = flight("mixed", [
    traveller("DDDDD1", "Split"),
    traveller("DDDDD1", "Split", { firstName: "Ben", cabinClass: "BUSINESS" }),
    traveller("DDDDD2", "Plain"),
  ]);
  const { caseUrn } = (await night.pushed(xn, body)).body;
  await events.untilCount("subcase.offer-ready", 1, { caseUrn });
  const seen = await detail(caseUrn);
  t.same(categories(seen), ["MIXED_TIER_GROUP"]);
  const split = seen.passengerGroups.find(({ passengers }) => passengers.length === 2);
  t.equal(split?.operationalStatus, "PENDING");
  t.same(seen.manualReviewItems[0]?.affectedGroups, [split?.groupId]);
  const summary = await night.call("getDemandSummary", { token: supervisor, params: { caseUrn } });
  t.match(summary.body, { totalRequested: 1, totalBooked: 1, shortfall: 0 });
  t.match(summary.body.shortfallReasons, [{ category: "MIXED_TIER_GROUP", rooms: 1 }]);
});

t.test("no policy: a person decides", async (t) => {
  const body = smallFlight("XN", "lawless", 2);
  const { caseUrn } = (await night.pushed(xn, { ...body, flight: { ...body.flight, originAirport: "OPO" } }))
    .body;
  await events.untilCount("review.opened", 1, { caseUrn });
  const seen = await detail(caseUrn);
  t.equal(seen.status, "MANUAL_REVIEW");
  t.same(categories(seen), ["POLICY_VIOLATION"]);
  t.equal(seen.wave, null);
  const list = await night.call<Page<CaseListItem>>("listCases", {
    token: supervisor,
    query: { status: "MANUAL_REVIEW" },
  });
  t.same(
    list.body.items.map(({ urn }) => urn),
    [caseUrn],
  );
});

t.test("no next flight: one night, and somebody finds one", async (t) => {
  const { nextFlight: _, ...body } = smallFlight("XN", "onward", 2);
  const { caseUrn } = (await night.pushed(xn, body)).body;
  await events.untilCount("subcase.offer-ready", 2, { caseUrn });
  const seen = await detail(caseUrn);
  t.same(categories(seen), ["DATA_INCOMPLETE"]);
  t.match(seen.manualReviewItems[0]?.detail, /next flight/);
  for (const { checkIn, checkOut } of seen.reservations)
    t.equal(Date.parse(checkOut) - Date.parse(checkIn), 24 * hourMs);
});

t.test("the next flight leaves the same evening: nobody needs a room", async (t) => {
  const body = smallFlight("XN", "evening", 3);
  const departure = later(body.flight.scheduledDeparture, -4);
  const { caseUrn } = (
    await night.pushed(xn, {
      ...body,
      flight: { ...body.flight, scheduledDeparture: departure },
      disruption: { ...body.disruption, decidedAt: later(departure, -1) },
      nextFlight: { iataDesignator: "XN490", scheduledDeparture: later(departure, 3) },
    })
  ).body;
  await events.untilCount("case.resolved", 1, { caseUrn });
  const seen = await night.eventually(
    "all local",
    () => detail(caseUrn),
    ({ passengerGroups }) => passengerGroups.every((g) => g.operationalStatus === "LOCAL_RESIDENT"),
  );
  t.ok(seen.resolvedAt);
  t.same([seen.status, seen.reservations, seen.wave], ["OPEN", [], null]);
  const manifest = await night.call<Page<ManifestItem>>("getManifest", {
    token: supervisor,
    params: { caseUrn },
  });
  t.same([...new Set(manifest.body.items.map(({ status }) => status))], ["NOT_REQUIRED"]);
  const partnerView = await night.call<PartnerCaseView>("getPartnerCase", {
    token: partner,
    params: { caseUrn },
  });
  t.same(partnerView.body.progress, [{ operationalStatus: "LOCAL_RESIDENT", groups: 3 }]);
});

t.test("an empty aircraft is a case with nothing to do", async () => {
  const { body } = await night.pushed(xn, flight("empty", []));
  t.equal(body.subCaseCount, 0);
  await events.untilCount("case.resolved", 1, { caseUrn: body.caseUrn });
});

t.test("2,500 passengers: counted at once, provisioned in chunks, listed page by page", async (t) => {
  const passengers = Array.from({ length: 2500 }, (_, i) =>
    traveller(`E${String(Math.floor(i / 3.57)).padStart(5, "0")}`, `Name${i % 90}`, { firstName: `P${i}` }),
  );
  const groups = new Set(passengers.map(({ pnr }) => pnr)).size;
  const base = flight("jumbo", passengers);
  const { body } = await night.pushed(xn, { ...base, flight: { ...base.flight, originAirport: "OPO" } });
  t.equal(body.subCaseCount, groups);
  const { caseUrn } = body;
  const early = await night.call<PartnerCaseView>("getPartnerCase", { token: partner, params: { caseUrn } });
  t.equal(
    early.body.progress.reduce((sum, { groups: n }) => sum + n, 0),
    groups,
    "every group counts from the first moment",
  );
  await events.untilCount("review.opened", 1, { caseUrn });
  const seen = new Set<string>();
  let people = 0;
  let cursor: string | null | undefined;
  do {
    const page = await night.call<Page<ManifestItem>>("getManifest", {
      token: supervisor,
      params: { caseUrn },
      query: { limit: 1000, ...(cursor ? { cursor } : {}) },
    });
    t.ok(page.body.items.length <= 200, "a larger limit is clamped");
    for (const item of page.body.items) {
      seen.add(item.groupId);
      people += item.passengers.length;
    }
    cursor = page.body.nextCursor;
  } while (cursor);
  t.same([seen.size, people], [groups, 2500]);
});

t.test("declared by hand", async (t) => {
  const { flight: pushed } = smallFlight("XN", "hand", 0);
  const flightOf = (number: string) => ({
    number,
    origin: pushed.originAirport,
    destination: pushed.destinationAirport,
    scheduledDeparture: pushed.scheduledDeparture,
    status: "CANCELLED",
  });
  const body = {
    externalEventId: "hand-1",
    flight: flightOf("XN77"),
    nextFlight: { number: "XN79", scheduledDeparture: later(pushed.scheduledDeparture, 14) },
    passengerGroups: [
      { groupId: "crew-1", passengers: [traveller(undefined, "Pilot", { cabinClass: "CREW" })] },
      { passengers: [traveller("FFFFF1", "One"), traveller("FFFFF2", "Two")] },
    ],
  };
  const declared = await night.call<CaseOpened>("openCaseManually", { token: supervisor, body });
  t.equal(declared.status, 201);
  t.equal(declared.body.subCaseCount, 3);
  const { caseUrn } = declared.body;
  t.equal(
    (await night.call<CaseOpened>("openCaseManually", { token: supervisor, body })).body.caseUrn,
    caseUrn,
  );
  await events.untilCount("subcase.offer-ready", 3, { caseUrn });
  const seen = await detail(caseUrn);
  t.match(seen, { flight: { number: "XN77", status: "CANCELLED" }, disruption: { reason: "OTHER" } });
  t.equal(seen.wave?.allocations.length, 3);
  t.same(
    seen.reservations.map(({ status }) => status),
    ["CONFIRMED", "CONFIRMED", "CONFIRMED"],
  );
  t.ok(seen.passengerGroups.some(({ groupId, tier }) => groupId === "crew-1" && tier === "CREW"));
  const [group] = body.passengerGroups;
  const twice = { ...body, externalEventId: "hand-2", passengerGroups: [group, group] };
  const refused = await night.refused("openCaseManually", { token: supervisor, body: twice });
  t.match(refused, { status: 422, errors: [{ pointer: "/passengerGroups/1/groupId" }] });
  const jfk = await night.scopedToken(xn.urn, "OPS_SUPERVISOR", "LAX");
  const foreign = { ...body, externalEventId: "hand-3" };
  t.equal((await night.refused("openCaseManually", { token: jfk, body: foreign })).status, 403);
});

t.test("lists: filtered, page by page, the same page while cases are added", async (t) => {
  const list = async (query: Record<string, string | number>) =>
    (await night.call<Page<CaseListItem>>("listCases", { token: supervisor, query })).body;
  const all = await list({ limit: 200 });
  t.ok(all.items.length > 10);
  t.equal(all.nextCursor, null);
  const first = await list({ limit: 4 });
  t.ok(first.hasMore);
  const second = await list({ limit: 4, cursor: first.nextCursor ?? "" });
  await night.pushed(xn, flight("added", []));
  t.same(await list({ limit: 4, cursor: first.nextCursor ?? "" }), second);
  t.same(
    [...first.items, ...second.items].map(({ urn }) => urn),
    all.items.slice(0, 8).map(({ urn }) => urn),
  );
  t.equal((await list({ airport: "OPO" })).items.length, 2);
  t.same((await list({ airport: "LAX" })).items, []);
  const departure = smallFlight("XN", "x", 0).flight.scheduledDeparture;
  t.same((await list({ to: later(departure, -24) })).items, []);
  t.equal(
    (await list({ from: departure, limit: 200 })).items.some((c) => c.externalEventId === "XN-evening"),
    false,
  );
  const bad: Record<string, string | number>[] = [
    { cursor: "x" },
    { cursor: "§" },
    { offset: 3 },
    { page: 2 },
    { limit: 0 },
    { limit: "many" },
    { status: "GONE" },
    { from: "yesterday" },
  ];
  for (const query of bad) {
    const problem = await night.refused("listCases", { token: supervisor, query });
    t.equal(problem.status, 400, JSON.stringify(query));
    t.equal(problem.errors?.[0]?.pointer, `?${Object.keys(query)[0]}`);
  }
  const mine = await night.call<Page<{ urn: string }>>("listPartnerCases", {
    token: partner,
    query: { limit: 200 },
  });
  t.equal(mine.body.items.length, (await list({ limit: 200 })).items.length);
});
