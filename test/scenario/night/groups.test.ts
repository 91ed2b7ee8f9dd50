// Operators change a night under way: groups are split and merged, the next flight moves, a drill runs beside it; with what
// passengers, vendors' ledgers, partners and the dashboard tell of it.
import t from "tap";
import type { CaseView } from "../../../schemas/case.ts";
import type { Page } from "../../../schemas/command.ts";
import type { DashboardView } from "../../../schemas/dashboard.ts";
import type { NotificationView } from "../../../schemas/notification.ts";
import type { PassengerInput } from "../../../schemas/passenger.ts";
import type { MeView, OfferView, PnrLoginView } from "../../../schemas/passenger-api.ts";
import type { ReaccommodationView } from "../../../schemas/reaccommodate.ts";
import type { RegroupView } from "../../../schemas/regroup.ts";
import { startClients } from "../../harness/clients.ts";
import { smallFlight } from "../../harness/instance.ts";
import { reconciledOnDemand } from "./reconciled.ts";
import { stripeAndTwilio } from "./stripe-and-twilio.ts";

const night = await startClients(t, { settings: { RATE_OPERATOR: "9000/9000x1" } });
const [xn] = night.airlines;
const { events } = night;
const host = xn.passengerHost;
const operator = await night.operatorToken(xn.urn, "AIRPORT_OPERATOR");
const supervisor = await night.operatorToken(xn.urn, "OPS_SUPERVISOR");
const admin = await night.operatorToken(xn.urn, "ADMIN");
const auditor = await night.operatorToken(xn.urn, "FINANCE_AUDIT");
const reason = "They asked for it";

const traveller = (pnr: string, firstName: string, more: PassengerInput = {}): PassengerInput => ({
  pnr,
  firstName,
  lastName: `Name${firstName}`,
  cabinClass: "ECONOMY",
  contact: { email: `${firstName}@mail.example` },
  ...more,
});
const push = async (name: string, passengers: PassengerInput[], airport = "JFK"): Promise<string> => {
  const body = smallFlight("XN", name, 0);
  const flight = { ...body.flight, originAirport: airport };
  return (await night.pushed(xn, { ...body, flight, passengers })).body.caseUrn;
};
const detail = async (caseUrn: string): Promise<CaseView> =>
  (await night.call<CaseView>("getCase", { token: operator, params: { caseUrn } })).body;
const logIn = async (pnr: string, firstName: string): Promise<string> => {
  const body = { pnr, lastName: `Name${firstName}`, captcha: night.instance.captcha };
  return (await night.call<PnrLoginView>("logIn", { host, body })).body.sessionToken;
};
const meOf = async (token: string) => (await night.call<MeView>("getMe", { host, token })).body;
const offerOf = async (token: string) => (await night.call<OfferView>("getMyOffer", { host, token })).body;
const groupOf = (seen: CaseView, firstName: string) =>
  seen.passengerGroups.find(({ passengers }) => passengers.some((one) => one.firstName === firstName));
const urnOf = (seen: CaseView, firstName: string): string =>
  groupOf(seen, firstName)?.passengers.find((one) => one.firstName === firstName)?.urn ?? "?";
const categories = ({ manualReviewItems }: CaseView, state: string) =>
  manualReviewItems.filter((item) => item.state === state).map(({ category }) => category);
/** Bookings of the case at all hotel vendors, newest state. */
const bookings = async (caseUrn: string) => {
  const ids = (await detail(caseUrn)).passengerGroups.map(({ subCaseUrn = "" }) =>
    subCaseUrn.split(":").at(-1),
  );
  const ledgers = await Promise.all(["stayhub", "roomlink"].map((name) => night.ledger(name)));
  return ledgers
    .flatMap(({ entries }) => entries)
    .filter(({ kind, reference }) => kind === "booking" && ids.includes(reference.split(".")[0]))
    .map(({ state, details }) => ({ state, checkOut: details.checkOut }));
};

t.test("a booking of two cabins: split by fifty operators at once, and one of them does it", async (t) => {
  const caseUrn = await push("mixed", [
    traveller("MIXED1", "Eco"),
    traveller("MIXED1", "Biz", { cabinClass: "BUSINESS" }),
  ]);
  const held = await night.eventually(
    "its item",
    () => detail(caseUrn),
    (seen) => categories(seen, "OPEN").includes("MIXED_TIER_GROUP"),
  );
  const [eco, biz] = [await logIn("MIXED1", "Eco"), await logIn("MIXED1", "Biz")];
  const groupId = groupOf(held, "Eco")?.groupId ?? "?";
  t.equal((await meOf(biz)).groupId, groupId);
  const into = [[urnOf(held, "Eco")], [urnOf(held, "Biz")]];
  const call = { token: operator, params: { caseUrn, groupId }, body: { into, reason } };
  const all = await Promise.all(
    Array.from({ length: 50 }, () => night.call<RegroupView & { state?: string }>("splitGroup", call)),
  );
  const won = all.filter(({ status }) => status === 200);
  t.equal(won.length, 1);
  t.ok(all.filter(({ status }) => status === 409).length === 49);
  t.ok(
    all.every(({ status, body }) => status === 200 || body.state !== undefined),
    "each loser hears the state",
  );
  t.match(won[0]?.body.groups, [
    { groupId, tier: "ECONOMY", passengers: 1 },
    { tier: "BUSINESS", passengers: 1 },
  ]);
  await events.untilCount("subcase.offer-ready", 2, { caseUrn });
  const seen = await detail(caseUrn);
  t.same(categories(seen, "OPEN"), [], "the item is settled");
  t.equal((await meOf(eco)).groupId, groupId);
  const followed = await meOf(biz);
  t.equal(followed.groupId, groupOf(seen, "Biz")?.groupId);
  t.same(
    followed.passengers.map(({ firstName }) => firstName),
    ["Biz"],
  );
  t.equal((await offerOf(biz)).state, "READY");
  const accepted = await night.call<OfferView>("acceptMyOffer", { host, token: biz, body: {} });
  t.equal(accepted.body.state, "ACCEPTED");
  t.equal((await offerOf(eco)).state, "READY", "the other's is untouched");
  t.match(await night.refused("splitGroup", call), { status: 409, state: "BOOKED" });
  t.equal(events.of("case.amended", caseUrn).length, 1);
});

t.test("groups that wait: merged, formed by name; sessions follow", async (t) => {
  const passengers = ["Ann", "Bob", "Cyd"].map((name, i) => traveller(`WAIT0${i}`, name));
  const caseUrn = await push("waiting", passengers, "OPO");
  const before = await night.eventually(
    "its item",
    () => detail(caseUrn),
    (seen) => categories(seen, "OPEN").length > 0,
  );
  const bob = await logIn("WAIT01", "Bob");
  const ids = ["Ann", "Bob"].map((name) => groupOf(before, name)?.groupId ?? "?");
  const params = { caseUrn };
  const merged = await night.call<RegroupView>("mergeGroups", {
    token: operator,
    params,
    body: { groupIds: ids, reason },
  });
  t.match(merged.body, {
    groups: [{ groupId: ids[0], passengers: 2 }],
    mergedAway: [{ groupId: ids[1], mergedInto: ids[0] }],
  });
  const after = await night.eventually(
    "the sub-cases have heard",
    () => detail(caseUrn),
    (seen) =>
      groupOf(seen, "Bob")?.groupId === ids[0] &&
      seen.passengerGroups.some(({ groupId, mergedInto }) => groupId === ids[1] && mergedInto !== undefined),
  );
  t.match(
    after.passengerGroups.find(({ groupId }) => groupId === ids[1]),
    {
      operationalStatus: "NOT_REQUIRED",
      mergedInto: ids[0],
      passengers: [],
    },
  );
  t.match(await meOf(bob), { groupId: ids[0], passengers: { length: 2 } });
  const groups = [{ passengerUrns: ["Bob", "Cyd"].map((name) => urnOf(after, name)) }];
  const formed = await night.call<RegroupView>("groupPassengers", {
    token: operator,
    params,
    body: { groups, reason },
  });
  t.match(formed.body.groups.map(({ passengers: count }) => count).sort(), [1, 2]);
  const last = await night.eventually(
    "the sub-cases have heard again",
    () => detail(caseUrn),
    (seen) => groupOf(seen, "Bob")?.groupId === groupOf(seen, "Cyd")?.groupId,
  );
  t.equal((await meOf(bob)).groupId, groupOf(last, "Cyd")?.groupId);
  const lax = await night.scopedToken(xn.urn, "AIRPORT_OPERATOR", "LAX");
  t.equal(
    (await night.refused("mergeGroups", { token: lax, params, body: { groupIds: ids, reason } })).status,
    403,
  );
});

t.test(
  "the next flight moves: hotels follow, one that cannot gives way, and nobody is kept for no night",
  async (t) => {
    const caseUrn = await push("moves", [traveller("MOVES1", "Una"), traveller("MOVES2", "Due")]);
    await events.untilCount("subcase.offer-ready", 2, { caseUrn });
    const una = await logIn("MOVES1", "Una");
    const { checkOut = "", nextFlight } = { ...(await offerOf(una)), ...(await detail(caseUrn)) };
    const dayMs = 86_400_000;
    const movedBy = (days: number) => ({
      number: "XN486",
      scheduledDeparture: new Date(
        Date.parse(nextFlight?.scheduledDeparture ?? "") + days * dayMs,
      ).toISOString(),
    });
    const reaccommodate = (next: object) =>
      night.call<ReaccommodationView>("reaccommodate", {
        token: operator,
        params: { caseUrn },
        body: { nextFlight: next, reason },
      });
    const later = new Date(Date.parse(checkOut) + dayMs).toISOString().slice(0, 10);
    const { version } = await detail(caseUrn);
    const raced = await Promise.all(
      Array.from({ length: 50 }, (_, i) =>
        night.call<ReaccommodationView>("reaccommodate", {
          token: operator,
          params: { caseUrn },
          body: { nextFlight: { ...movedBy(1), number: `XN${600 + i}` }, reason, version },
        }),
      ),
    );
    const [told, ...others] = raced.filter(({ status }) => status === 202);
    t.same(others, [], "of fifty who have seen the same case one moves the flight");
    const lost = raced.filter(({ status }) => status === 409);
    t.equal(lost.length, 49);
    t.ok(
      lost.every(({ body }) => body.version === told?.body.version),
      "and the others hear what stands",
    );
    t.equal((await detail(caseUrn)).nextFlight?.number, told?.body.nextFlight?.number);
    t.match(told?.body.groups, [
      { effect: "AMENDING", nights: 2, checkOut: later },
      { effect: "AMENDING", nights: 2 },
    ]);
    const amended = () =>
      events.of("voucher.amended", caseUrn).filter(({ data }) => data.status === "AMENDED");
    await events.until("both stays are amended", () => amended().length === 2);
    t.match(await offerOf(una), { state: "READY", nights: 2, checkOut: later });
    t.same(
      new Set((await bookings(caseUrn)).map((one) => `${one.state} ${one.checkOut}`)),
      new Set([`BOOKED ${later}`]),
    );
    const cards = async () => {
      const groups = (await detail(caseUrn)).passengerGroups;
      const ids = groups.map(({ subCaseUrn = "" }) => subCaseUrn.split(":").at(-1));
      const { entries } = await night.ledger("cardworks");
      return entries.filter(({ reference }) => ids.includes(reference.split(".")[0]));
    };
    const balances = events.of("wallet.card-issued", caseUrn).map(({ data }) => data.balance);
    const incidentals = (balances[0] as { amountMinor: number } | undefined)?.amountMinor ?? 0;
    t.ok(incidentals > 0);
    await night.eventually(
      "the cards hold incidentals for both nights",
      cards,
      (all) => all.length === 2 && all.every(({ details }) => details.loadedMinor === 2 * incidentals),
    );
    const templates = async () =>
      (await night.call<Page<NotificationView>>("listMyNotifications", { host, token: una })).body.items.map(
        ({ template }) => template,
      );
    await night.eventually(
      "she is written to, once",
      templates,
      (all) => JSON.stringify(all) === JSON.stringify(["stay-changed", "offer-ready"]),
    );
    const { reservations } = await detail(caseUrn);
    const refusing = { failNext: [{ operation: "modify", kind: "refuse", times: 1 }] };
    const first = reservations.find(({ subCaseUrn }) => subCaseUrn !== undefined);
    await night.control({ [first?.vendor ?? "stayhub"]: refusing });
    await reaccommodate(movedBy(2));
    const latest = new Date(Date.parse(checkOut) + 2 * dayMs).toISOString().slice(0, 10);
    const moved = await night.eventually(
      "both have a room for the new dates",
      () => detail(caseUrn),
      (seen) =>
        seen.reservations.every((one) => one.checkOut === latest && one.status === "CONFIRMED") &&
        seen.passengerGroups.every(({ operationalStatus }) => operationalStatus === "OFFER_READY"),
    );
    t.equal(moved.reservations.length, 2);
    const sold = (await bookings(caseUrn)).map(({ state, checkOut: until }) => `${state} ${until}`).sort();
    t.same(
      sold,
      [`BOOKED ${latest}`, `BOOKED ${latest}`, `CANCELLED ${later}`],
      "the room that could not follow is given back",
    );
    const soon = {
      number: "XN400",
      scheduledDeparture: new Date(Date.parse(moved.flight.scheduledDeparture) + 3_600_000).toISOString(),
    };
    t.match((await reaccommodate(soon)).body.groups, [
      { effect: "LOCAL_RESIDENT" },
      { effect: "LOCAL_RESIDENT" },
    ]);
    const home = await night.eventually(
      "everybody is let go",
      () => detail(caseUrn),
      (seen) => seen.passengerGroups.every(({ operationalStatus }) => operationalStatus === "LOCAL_RESIDENT"),
    );
    t.ok((await bookings(caseUrn)).every(({ state }) => state === "CANCELLED"));
    t.same(categories(home, "OPEN"), []);
    t.match(await offerOf(una), { state: "WITHDRAWN" });
    await events.untilCount("case.resolved", 1, { caseUrn });
  },
);

t.test("a drill runs to its end, and nobody outside hears of it", async (t) => {
  const { passengers, flight } = smallFlight("XN", "drill", 3);
  const body = {
    externalEventId: "exercise",
    kind: "DRILL",
    flight: {
      number: "XN1",
      origin: flight.originAirport,
      destination: flight.destinationAirport,
      scheduledDeparture: flight.scheduledDeparture,
    },
    nextFlight: {
      number: "XN2",
      scheduledDeparture: new Date(Date.parse(flight.scheduledDeparture) + 52e6).toISOString(),
    },
    passengerGroups: [{ passengers }],
  };
  t.equal((await night.refused("openCaseManually", { token: supervisor, body })).status, 403);
  const opened = await night.call<{ caseUrn: string; subCaseCount: number }>("openCaseManually", {
    token: admin,
    body,
  });
  const { caseUrn, subCaseCount } = opened.body;
  t.equal(subCaseCount, 3);
  await events.untilCount("subcase.offer-ready", 3, { caseUrn });
  const seen = await detail(caseUrn);
  t.match(seen, { kind: "DRILL", externalEventId: "DRILL:exercise" });
  t.ok(seen.reservations.every(({ vendor, status }) => vendor === "drill" && status === "CONFIRMED"));
  const ours = events.all.filter((event) => event.case_urn === caseUrn && event.type !== "audit.recorded");
  t.ok(ours.length > 20);
  t.ok(ours.every(({ stream, data }) => stream === "INTERNAL" && data.kind === "DRILL"));
  const ids = seen.passengerGroups.map(({ subCaseUrn = "" }) => subCaseUrn.split(":").at(-1) ?? "?");
  for (const vendor of ["stayhub", "roomlink", "cardworks", "ridefleet", "sendwell"])
    t.notOk(
      (await night.ledger(vendor)).entries.some(({ reference }) =>
        ids.includes(reference.split(".")[0] ?? ""),
      ),
    );
  t.same(await night.deliveries(xn, caseUrn), []);
  const partner = await night.partnerToken(xn);
  t.equal((await night.refused("getPartnerCase", { token: partner, params: { caseUrn } })).status, 404);
  const theirs = await night.call<Page<{ urn: string }>>("listPartnerCases", { token: partner });
  t.notOk(theirs.body.items.some(({ urn }) => urn === caseUrn));
  const ourList = await night.call<Page<{ urn: string; kind?: string }>>("listCases", { token: operator });
  t.equal(ourList.body.items.find(({ urn }) => urn === caseUrn)?.kind, "DRILL");
  const trail = await night.eventually(
    "its audit entry",
    async () =>
      (
        await night.call<Page<{ after: { kind?: string } }>>("getCaseAudit", {
          token: auditor,
          params: { caseUrn },
        })
      ).body.items,
    (items) => items.length > 0,
  );
  t.ok(trail.every(({ after }) => after.kind === "DRILL"));
  t.equal(
    (
      await night.sent("logIn", {
        host,
        body: { pnr: passengers[0]?.pnr, lastName: passengers[0]?.lastName, captcha: night.instance.captcha },
      })
    ).status,
    401,
    "its people are nobody's guests",
  );
});

t.test("the dashboard looks over all of it", async (t) => {
  const board = (await night.call<DashboardView>("getDashboard", { token: operator })).body;
  t.notOk(board.partialFailures);
  t.match(board.cases, { drills: 1 });
  const open = board.cases?.byStatus.reduce((sum, { count }) => sum + count, 0);
  t.equal(open, 3);
  t.ok(
    board.urgentCases?.some(({ airport, reviewItems }) => airport === "OPO" && (reviewItems?.open ?? 0) > 0),
  );
  t.ok((board.reviewItems?.open ?? 0) > 0);
  const lax = await night.scopedToken(xn.urn, "AIRPORT_OPERATOR", "LAX");
  const theirs = (await night.call<DashboardView>("getDashboard", { token: lax })).body;
  t.same(theirs.cases?.byAirport, []);
  t.equal(theirs.reviewItems?.open, 0);
});

t.test("an administrator reconciles with the vendors now", (t) => reconciledOnDemand(t, night));

t.test("cards of Stripe's and texts through Twilio", (t) => stripeAndTwilio(t, night));
