// What went wrong is mended: by an operator's compensation, a supervisor's new allocation, a resolved review item; and a case is
// closed and opened again. Told by what operators, passengers and partners see.
import { MongoClient } from "mongodb";
import t from "tap";
import type { CaseStanding, CaseView, CompensationStarted, ManifestItem } from "../../../schemas/case.ts";
import type { Page } from "../../../schemas/command.ts";
import type { DemandSummary } from "../../../schemas/demand.ts";
import type { PassengerInput } from "../../../schemas/passenger.ts";
import type { MeView, OfferView } from "../../../schemas/passenger-api.ts";
import type { PolicyView } from "../../../schemas/policy.ts";
import type { ReviewItemView } from "../../../schemas/review.ts";
import { judgeBatch, planOf, playBatch, reconciledSince } from "../../../scripts/soaking/vendor-batch.ts";
import { startClients, type ToldProblem } from "../../harness/clients.ts";
import { smallFlight } from "../../harness/instance.ts";
import { takesLong } from "../../harness/patience.ts";

takesLong(t);
const night = await startClients(t, {
  settings: {
    VENDOR_TIMEOUT_MS: "400",
    STEP_DEADLINE_MS: "1500",
    HOTEL_SILENCE_MS: "0",
    RECONCILE_INTERVAL_MS: "500",
  },
});
const [xn] = night.airlines;
const { events } = night;
const host = xn.passengerHost;
const [admin, supervisor, agent] = await Promise.all(
  ["ADMIN", "OPS_SUPERVISOR", "AIRPORT_OPERATOR"].map((role) => night.operatorToken(xn.urn, role)),
);
const hotels = ["stayhub", "roomlink"];

const traveller = (pnr: string, lastName: string, cabinClass = "ECONOMY"): PassengerInput =>
  ({
    pnr,
    firstName: "Ada",
    lastName,
    cabinClass,
    contact: { email: `${pnr.toLowerCase()}@mail.example` },
  }) as PassengerInput;
const pushFrom = async (airport: string, name: string, passengers: PassengerInput[]): Promise<string> => {
  const body = smallFlight("XN", name, 0);
  const flight = { ...body.flight, originAirport: airport };
  return (await night.pushed(xn, { ...body, flight, passengers })).body.caseUrn;
};
const detail = async (caseUrn: string): Promise<CaseView> =>
  (await night.call<CaseView>("getCase", { token: agent, params: { caseUrn } })).body;
const summary = async (caseUrn: string): Promise<DemandSummary> =>
  (await night.call<DemandSummary>("getDemandSummary", { token: agent, params: { caseUrn } })).body;
const manifest = async (caseUrn: string): Promise<ManifestItem[]> =>
  (await night.call<Page<ManifestItem>>("getManifest", { token: agent, params: { caseUrn } })).body.items;
const groupIn = async (caseUrn: string, status: string): Promise<ManifestItem> => {
  const found = (await manifest(caseUrn)).find((item) => item.status === status);
  if (found === undefined) throw new Error(`no group of ${caseUrn} is ${status}`);
  return found;
};
const itemsOf = async (caseUrn: string) =>
  (await detail(caseUrn)).manualReviewItems.map(({ category, state }) => `${category} ${state}`).sort();
const whenItems = (caseUrn: string, wanted: string[]) =>
  night.eventually(
    `items ${wanted}`,
    () => itemsOf(caseUrn),
    (found) => found.join() === wanted.join(),
  );
const fail = (
  vendors: readonly string[],
  ...failNext: { operation: string; kind: string; times: number; match?: string }[]
) => night.control(Object.fromEntries(vendors.map((name) => [name, { failNext }])));
const resolve = async (caseUrn: string, category: string, resolution: string): Promise<ReviewItemView> => {
  const item = (await detail(caseUrn)).manualReviewItems.find(
    (one) => one.category === category && one.state === "OPEN",
  );
  const body = { resolution, reason: "Seen to at the desk" };
  const params = { reviewUrn: item?.urn ?? "" };
  return (await night.call<ReviewItemView>("resolveReview", { token: agent, params, body })).body;
};
const compensate = (subCaseUrn: string, body: object) =>
  night.call<Omit<CompensationStarted, "status"> & ToldProblem>("compensate", {
    token: agent,
    params: { subCaseUrn },
    body,
  });

t.test("a group that every hotel refused is compensated by hand", async (t) => {
  await fail(hotels, { operation: "book", kind: "refuse", times: 100, match: "Mend" });
  const caseUrn = await pushFrom("JFK", "mend", [traveller("MENDS1", "Mend"), traveller("MENDS2", "Fine")]);
  await events.untilCount("subcase.failed", 1, { caseUrn });
  await whenItems(caseUrn, ["BOOKING_FAILED OPEN", "PARTIAL_FULFILLMENT OPEN"]);
  const failed = await groupIn(caseUrn, "FAILED");
  const { subCaseUrn, version } = failed;

  const stale = await compensate(subCaseUrn, { version: version - 1 });
  t.match(stale, { status: 409, body: { type: /conflict\/version$/, version } }, "an outdated version");
  const foreign = await night.refused("compensate", {
    token: agent,
    params: { subCaseUrn },
    body: { version, hotelUrn: "urn:hotel:nowhere" },
  });
  t.match(foreign, { status: 422, errors: [{ pointer: "/hotelUrn" }] });
  await fail(hotels);
  const [first, second] = await Promise.all([
    compensate(subCaseUrn, { version }),
    compensate(subCaseUrn, { version }),
  ]);
  t.match([first.status, second.status], [202, 202]);
  const { correlationUrn } = first.body;
  t.equal(second.body.correlationUrn, correlationUrn, "the same payload is the same compensation");
  await events.untilCount("subcase.offer-ready", 2, { caseUrn });
  const repeated = await compensate(subCaseUrn, { version });
  t.match(
    repeated,
    { status: 202, body: { correlationUrn, status: "OFFER_READY" } },
    "also when it is done, before any version",
  );
  t.match(await compensate(subCaseUrn, {}), {
    status: 409,
    body: { type: /conflict\/state$/, state: "OFFER_READY" },
  });

  await events.untilCount("demand.settled", 2, { caseUrn });
  t.same(
    events.of("demand.settled", caseUrn).map(({ data }) => data.state),
    ["PARTIAL", "FULFILLED"],
  );
  t.match(await summary(caseUrn), { totalBooked: 2, shortfall: 0, shortfallReasons: [] });
  await whenItems(caseUrn, ["BOOKING_FAILED RESOLVED", "PARTIAL_FULFILLMENT RESOLVED"]);
  const ids = [subCaseUrn.slice("urn:sub-case:".length)];
  const ledgers = await Promise.all(hotels.map((name) => night.ledger(name)));
  const booked = ledgers
    .flatMap(({ entries }) => entries)
    .filter(
      ({ kind, state, reference }) =>
        kind === "booking" && state === "BOOKED" && ids.some((id) => reference.startsWith(id)),
    );
  t.equal(booked.length, 1, "one room");
  t.same(
    events
      .of("subcase.processing", caseUrn)
      .filter(({ data }) => data.subCaseUrn === subCaseUrn)
      .at(-1)?.correlation_urn,
    correlationUrn,
    "what partners hear carries the compensation's correlation",
  );
});

t.test("held for want of hotels: the item is resolved with another try", async (t) => {
  await fail(hotels, { operation: "search", kind: "unavailable", times: 50 });
  const caseUrn = await pushFrom("JFK", "held", [traveller("HELDS1", "Held"), traveller("HELDS2", "Held")]);
  await whenItems(caseUrn, ["ALLOCATION_FAILED OPEN"]);
  t.match(
    await night.refused("compensate", {
      token: agent,
      params: { subCaseUrn: (await groupIn(caseUrn, "PENDING")).subCaseUrn },
      body: {},
    }),
    { status: 409, state: "PENDING" },
  );
  await fail(hotels);
  t.match(await resolve(caseUrn, "ALLOCATION_FAILED", "RETRIED"), { state: "RESOLVED" });
  await events.untilCount("subcase.offer-ready", 2, { caseUrn });
  t.match(await summary(caseUrn), { totalBooked: 2, shortfall: 0 });
});

t.test("no policy for a cabin: one is made, the item resolved, and the case goes on", async (t) => {
  const caseUrn = await pushFrom("CDG", "tierless", [traveller("TIERL1", "Less")]);
  const before = await detail(caseUrn);
  if (before.status !== "MANUAL_REVIEW") await events.untilCount("review.opened", 1, { caseUrn });
  t.match(await detail(caseUrn), {
    status: "MANUAL_REVIEW",
    manualReviewItems: [{ category: "POLICY_VIOLATION", priority: "LOW" }],
  });
  await resolve(caseUrn, "POLICY_VIOLATION", "RETRIED");
  await whenItems(caseUrn, ["POLICY_VIOLATION OPEN", "POLICY_VIOLATION RESOLVED"]);
  t.equal((await detail(caseUrn)).status, "MANUAL_REVIEW", "still nobody's policy: another item");
  const body = {
    name: "Paris",
    context: { airport: "CDG" },
    tiers: ["ECONOMY"],
    autoApproveDemand: true,
    maxAutomaticRoomsPerWave: 10,
  };
  const { urn } = (await night.call<PolicyView>("createPolicy", { token: supervisor, body })).body;
  await night.call("activatePolicy", { token: admin, params: { policyUrn: urn } });
  await resolve(caseUrn, "POLICY_VIOLATION", "RETRIED");
  await events.untilCount("subcase.offer-ready", 1, { caseUrn });
  t.match(await detail(caseUrn), { status: "OPEN", passengerGroups: [{ operationalStatus: "OFFER_READY" }] });
});

t.test("what a person settles is settled, and the case resolved", async (t) => {
  await fail(hotels, { operation: "search", kind: "unavailable", times: 50 });
  const caseUrn = await pushFrom("JFK", "byhand", [traveller("BYHND1", "Hand")]);
  await whenItems(caseUrn, ["ALLOCATION_FAILED OPEN"]);
  await fail(hotels);
  await resolve(caseUrn, "ALLOCATION_FAILED", "REBOOKED");
  const [resolved] = await events.untilCount("case.resolved", 1, { caseUrn });
  t.match(resolved?.data, { outcomes: { settledByHand: 1, resolved: 0 } });
  const [settled] = await events.untilCount("demand.settled", 1, { caseUrn });
  t.match(settled?.data, { state: "FULFILLED" });
});

t.test("a case is closed, and opened again", async (t) => {
  const caseUrn = await pushFrom("JFK", "close", [
    traveller("CLOSE1", "Closer"),
    traveller("CLOSE2", "Closest"),
  ]);
  await events.untilCount("subcase.offer-ready", 2, { caseUrn });
  const token = await night.passengerToken(xn, { pnr: "CLOSE1", lastName: "Closer" });
  const me = (asked: string) =>
    night.call<Omit<MeView, "status"> & ToldProblem>("getMe", { host, token: asked });
  t.equal((await me(token)).status, 200);
  const params = { caseUrn };
  const closed = await night.call<CaseStanding>("closeCase", {
    token: agent,
    params,
    body: { reason: "All at home" },
  });
  t.match(closed.body, { status: "CLOSED", closedAt: /Z$/ });
  await night.eventually(
    "the session is ended",
    () => me(token),
    ({ status }) => status === 403,
  );
  t.match((await me(token)).body.type, /auth\/case-closed$/);
  t.match(await night.refused("closeCase", { token: agent, params, body: { reason: "Again" } }), {
    status: 409,
    state: "CLOSED",
  });
  t.match(
    await night.refused("requestDemand", {
      token: agent,
      params,
      body: { type: "INCREMENTAL", roomsRequested: 1 },
    }),
    { status: 409 },
  );
  const withdrawn = await night.eventually(
    "offers withdrawn",
    () => manifest(caseUrn),
    (items) => items.every(({ offerState }) => offerState === "WITHDRAWN"),
  );
  t.match(
    await night.refused("compensate", {
      token: agent,
      params: { subCaseUrn: withdrawn[0]?.subCaseUrn ?? "" },
      body: {},
    }),
    { status: 409, state: "CLOSED" },
  );
  const login = { pnr: "CLOSE1", lastName: "Closer", captcha: night.instance.captcha };
  t.match(
    await night.refused("logIn", { host, body: login }),
    { status: 401 },
    "nobody logs in to a closed case",
  );
  t.same(
    (await detail(caseUrn)).reservations.map(({ status }) => status),
    ["CONFIRMED", "CONFIRMED"],
    "rooms stay booked",
  );

  t.match(await night.refused("reopenCase", { token: supervisor, params, body: { reason: "Back" } }), {
    status: 403,
  });
  t.match(
    (
      await night.call<CaseStanding>("reopenCase", {
        token: admin,
        params,
        body: { reason: "They are back" },
      })
    ).body,
    { status: "OPEN" },
  );
  await night.eventually(
    "the old session stays ended",
    () => me(token),
    ({ status }) => status === 401,
  );
  const anew = await night.passengerToken(xn, { pnr: "CLOSE1", lastName: "Closer" });
  await night.eventually(
    "the offer stands again",
    async () => (await night.call<OfferView>("getMyOffer", { host, token: anew })).body,
    ({ state }) => state === "READY",
  );
  await night.call("acceptMyOffer", { host, token: anew, body: {} });
  await events.untilCount("subcase.resolved", 1, { caseUrn });
});

/** The front desk of whichever hotel vendor has this group's booking. */
const atDesk = async (caseUrn: string, groupIds: string[], state: string): Promise<void> => {
  for (const { groupId = "", vendor = "", subCaseUrn = "" } of (await detail(caseUrn)).reservations) {
    if (!groupIds.includes(groupId)) continue;
    const referencePrefix = `${subCaseUrn.slice("urn:sub-case:".length)}.`;
    await night.desk(vendor, { referencePrefix, state });
  }
};

t.test("a hotel takes a room back: the rest is given back, and the group gets another one", async (t) => {
  const caseUrn = await pushFrom("JFK", "taken", [traveller("TAKEN1", "Back")]);
  await events.untilCount("subcase.offer-ready", 1, { caseUrn });
  const before = (await detail(caseUrn)).reservations[0];
  await atDesk(caseUrn, [before?.groupId ?? ""], "CANCELLED");
  await events.untilCount("subcase.failed", 1, { caseUrn });
  await events.untilCount("voucher.amended", 1, { caseUrn });
  await whenItems(caseUrn, ["BOOKING_FAILED OPEN"]);
  t.match(await detail(caseUrn), { reservations: [{ status: "CANCELLED" }] });
  const { subCaseUrn } = await groupIn(caseUrn, "FAILED");
  await compensate(subCaseUrn, {});
  await events.untilCount("subcase.offer-ready", 2, { caseUrn });
  const [after] = (await detail(caseUrn)).reservations;
  t.match(after, { status: "CONFIRMED" });
  t.not(after?.urn, before?.urn, "another reservation");
  await whenItems(caseUrn, ["BOOKING_FAILED RESOLVED"]);
});

t.test("everybody has checked out: the case closes itself", async (t) => {
  const caseUrn = await pushFrom("JFK", "leave", [
    traveller("LEAVE1", "Leaver"),
    traveller("LEAVE2", "Leaver"),
    traveller("LEAVE3", "Missing"),
    traveller("LEAVE4", "Refuser"),
  ]);
  await events.untilCount("subcase.offer-ready", 4, { caseUrn });
  const groups = await manifest(caseUrn);
  const of = (pnr: string): string =>
    groups.find(({ passengers }) => passengers.some((one) => one.pnr === pnr))?.groupId ?? "";
  const token = await night.passengerToken(xn, { pnr: "LEAVE4", lastName: "Refuser" });
  await night.call("declineMyOffer", { host, token, body: {} });
  await atDesk(caseUrn, [of("LEAVE1"), of("LEAVE2")], "CHECKED_IN");
  await events.untilCount("subcase.resolved", 2, { caseUrn });
  t.equal((await detail(caseUrn)).status, "OPEN", "who has arrived has accepted, and the case goes on");
  await atDesk(caseUrn, [of("LEAVE3")], "NO_SHOW");
  await atDesk(caseUrn, [of("LEAVE1"), of("LEAVE2")], "CHECKED_OUT");
  const closed = await night.eventually(
    "closed",
    () => detail(caseUrn),
    ({ status }) => status === "CLOSED",
  );
  t.same(closed.reservations.map(({ status }) => status).sort(), [
    "CANCELLED",
    "CHECKED_OUT",
    "CHECKED_OUT",
    "NO_SHOW",
  ]);
  t.equal(events.of("case.resolved", caseUrn).length, 1, "resolved once, before it was closed");
});

t.test("vendors with every fault at once: one booking for who is housed, none for who is not", async (t) => {
  const names = night.vendors.map(({ name }) => name);
  const mongodb = await new MongoClient(night.instance.mongodbUrl).connect();
  const over = new AbortController();
  t.teardown(() => {
    over.abort();
    return mongodb.close();
  });
  const own = {
    ...night,
    airlines: [...night.airlines],
    sandboxUrl: night.sandbox?.url ?? "",
    mongodb,
    worksWith: { XN: names, QZ: names },
  };
  const since = new Date();
  const plan = planOf(own, { seed: 18, first: 0, runs: 2, now: since });
  const outcome = await playBatch(own, plan, over.signal);
  t.same([...outcome.faults, ...(await reconciledSince(own, outcome.calmAt, over.signal))], []);
  const judged = await night.eventually(
    "our books and the vendors' agree",
    () => judgeBatch(own, plan, outcome, since),
    ({ faults }) => faults.length === 0,
  );
  t.ok(judged.housed > 0, JSON.stringify(judged));
  t.ok((judged.met["lost bookings"] ?? 0) > 0, "a hotel booked, and its answer was lost");
});
