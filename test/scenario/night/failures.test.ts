// Vendors refuse, vanish and lose their answers; what a passenger, an operator and a partner then see, and what the ledgers
// hold in the end: nobody is housed twice, and nothing is given up that a person should know of.
import t from "tap";
import type { CaseView } from "../../../schemas/case.ts";
import type { DemandSummary } from "../../../schemas/demand.ts";
import type { CaseProgressView } from "../../../schemas/orchestration.ts";
import type { PassengerInput } from "../../../schemas/passenger.ts";
import type { OfferView } from "../../../schemas/passenger-api.ts";
import type { ReservationDetail } from "../../../schemas/reservation.ts";
import type { WaveView } from "../../../schemas/wave.ts";
import { startClients } from "../../harness/clients.ts";
import { type Ledger, smallFlight } from "../../harness/instance.ts";

const night = await startClients(t, {
  settings: { VENDOR_TIMEOUT_MS: "400", STEP_DEADLINE_MS: "1500", HOTEL_SILENCE_MS: "300" },
});
const [xn] = night.airlines;
const { events } = night;
const host = xn.passengerHost;
const supervisor = await night.operatorToken(xn.urn, "OPS_SUPERVISOR");
const hotels = ["stayhub", "roomlink"] as const;

const traveller = (pnr: string, lastName: string): PassengerInput => ({
  pnr,
  firstName: "Ada",
  lastName,
  cabinClass: "ECONOMY",
  contact: { email: `${pnr.toLowerCase()}@mail.example`, language: "en" },
});
const push = async (name: string, passengers: PassengerInput[]): Promise<string> =>
  (await night.pushed(xn, { ...smallFlight("XN", name, 0), passengers })).body.caseUrn;
const detail = async (caseUrn: string): Promise<CaseView> =>
  (await night.call<CaseView>("getCase", { token: supervisor, params: { caseUrn } })).body;
/** Once a case has this many review items. */
const withItems = async (caseUrn: string, count: number): Promise<CaseView> => {
  await events.untilCount("review.opened", count, { caseUrn });
  return detail(caseUrn);
};
const offerOf = async (pnr: string, lastName: string) => {
  const token = await night.passengerToken(xn, { pnr, lastName });
  return { token, offer: (await night.call<OfferView>("getMyOffer", { host, token })).body };
};
/** Scripted faults of one vendor; those left over from before are dropped. */
const fail = (
  vendors: readonly string[],
  ...failNext: { operation: string; kind: string; times?: number; match?: string; factor?: number }[]
) =>
  night.control(
    Object.fromEntries(
      vendors.map((name) => [name, { failNext: failNext.map((fault) => ({ times: 1, ...fault })) }]),
    ),
  );
const entriesOf = async (name: string, seen: CaseView): Promise<Ledger["entries"]> => {
  const ids = seen.passengerGroups.map(({ subCaseUrn = "" }) => subCaseUrn.slice("urn:sub-case:".length));
  const { entries } = await night.ledger(name);
  return entries.filter(({ reference }) => ids.some((id) => reference.startsWith(`${id}.`)));
};

t.test("the first hotels refuse: the next one takes them, and the attempts are on record", async (t) => {
  await fail(hotels, { operation: "hold", kind: "refuse" });
  await fail(["cardworks"], { operation: "issueCard", kind: "refuse" });
  const caseUrn = await push("next", [traveller("NEXTH1", "Onward")]);
  await events.untilCount("subcase.offer-ready", 1, { caseUrn });
  const seen = await withItems(caseUrn, 1);
  t.match(seen, {
    manualReviewItems: [{ category: "PAYMENT_FAILED", priority: "MEDIUM", origin: "card" }],
    reservations: [{ status: "CONFIRMED" }],
    passengerGroups: [{ operationalStatus: "OFFER_READY" }],
  });
  const attempted = seen.manualReviewItems[0]?.attemptedHotels ?? [];
  t.ok(attempted.length >= 1 && attempted.length <= 2);
  t.ok(attempted.every(({ hotelUrn, reason, providerError }) => hotelUrn && reason && providerError));
  const { offer } = await offerOf("NEXTH1", "Onward");
  t.match(offer, { state: "READY", walletCardUrl: undefined, transport: { status: "booked" } });
  t.equal(offer.hotel?.urn, seen.reservations[0]?.hotelUrn);
  const asked = { token: supervisor, params: { caseUrn } };
  const { body: progress } = await night.call<CaseProgressView>("getCaseProgress", asked);
  const [holds] = progress.steps;
  t.match(progress, { caseUrn, groups: [{ status: "OFFER_READY", count: 1 }], hasMore: false });
  t.match(holds, { name: "hold", underWay: 0, done: 1, refused: attempted.length });
  t.match(progress.items, [
    { progress: 1, waitingFor: undefined, steps: [{ name: "hold", result: "REFUSED" }] },
  ]);
  t.ok(progress.items[0]?.steps.some(({ name, result }) => name === "card" && result === "REFUSED"));
});

t.test(
  "a price that has risen beyond the policy: the room is given back, the next hotel takes them",
  async (t) => {
    await fail(hotels, { operation: "hold", kind: "price-change", factor: 40 });
    await fail(["cardworks"], { operation: "issueCard", kind: "refuse" });
    const caseUrn = await push("dearer", [traveller("DEARR1", "Dearer")]);
    await events.untilCount("subcase.offer-ready", 1, { caseUrn });
    const seen = await withItems(caseUrn, 1);
    const attempted = seen.manualReviewItems[0]?.attemptedHotels ?? [];
    t.ok(attempted.length >= 1 && attempted.length <= 2);
    for (const { reason, providerError } of attempted) {
      t.equal(reason, "PRICE_CHANGED");
      t.match(providerError, /^A night is \S+ USD now, and was \S+ USD; the policy allows \S+ USD\.$/);
    }
    const entries = (await Promise.all(hotels.map((name) => entriesOf(name, seen)))).flat();
    const states = (kind: string) => entries.filter((one) => one.kind === kind).map(({ state }) => state);
    t.same(states("hold").sort(), [...attempted.map(() => "EXPIRED"), "USED"], "given back at once");
    t.same(states("booking"), ["BOOKED"]);
    const [reservation] = seen.reservations;
    t.match(reservation?.cancellation?.at(-1)?.price, {
      amountMinor: reservation?.totalMinor,
      currency: "USD",
    });
    const { body } = await night.call<ReservationDetail>("getReservation", {
      token: supervisor,
      params: { reservationUrn: reservation?.urn ?? "" },
    });
    t.match(body, {
      cancellingNow: { currency: "USD" },
      cheapestCancellation: { price: { currency: "USD" } },
    });
    t.same(body.cancellation, reservation?.cancellation);
  },
);

t.test("every hotel refuses one group: it fails, the others are housed", async (t) => {
  await fail(hotels, { operation: "book", kind: "refuse", times: 50, match: "Unlucky" });
  const caseUrn = await push("unlucky", [traveller("UNLUC1", "Unlucky"), traveller("UNLUC2", "Lucky")]);
  await events.untilCount("subcase.failed", 1, { caseUrn });
  const seen = await withItems(caseUrn, 2);
  const itemOf = (wanted: string) => seen.manualReviewItems.find(({ category }) => category === wanted);
  const item = itemOf("BOOKING_FAILED");
  t.match(item, { priority: "HIGH", origin: "booking" });
  t.ok((item?.attemptedHotels.length ?? 0) > 2, "every candidate was tried");
  const failed = seen.passengerGroups.find(({ operationalStatus }) => operationalStatus === "FAILED");
  t.same(item?.affectedGroups, [failed?.groupId]);
  t.match(itemOf("PARTIAL_FULFILLMENT"), {
    priority: "MEDIUM",
    origin: "demand",
    affectedGroups: [failed?.groupId],
  });
  await events.untilCount("demand.settled", 1, { caseUrn });
  t.match(events.of("demand.settled", caseUrn).at(-1)?.data, { state: "PARTIAL" });
  const summary = await night.call<DemandSummary>("getDemandSummary", {
    token: supervisor,
    params: { caseUrn },
  });
  t.match(summary.body, {
    totalRequested: 2,
    totalApproved: 2,
    totalBooked: 1,
    shortfall: 1,
    shortfallReasons: [{ category: "BOOKING_FAILED", groups: [failed?.groupId], rooms: 1 }],
  });
  const heard = await night.eventually(
    "the partner hears of the failure",
    () => night.deliveries(xn, caseUrn),
    (deliveries) => deliveries.some(({ eventType }) => eventType === "subcase.failed"),
  );
  t.match(heard.find(({ eventType }) => eventType === "subcase.failed")?.body.data, {
    groupId: failed?.groupId,
    status: "FAILED",
  });
  t.equal(events.of("case.resolved", caseUrn).length, 0, "somebody still has to find a room");
  await fail(hotels);
});

t.test("no ride and no message: the room stands, a person looks", async (t) => {
  await fail(["ridefleet"], { operation: "book", kind: "refuse", times: 2 });
  await fail(["sendwell"], { operation: "send", kind: "refuse" });
  const caseUrn = await push("walk", [{ ...traveller("WALKS1", "Walker"), cabinClass: "BUSINESS" }]);
  await events.untilCount("subcase.offer-ready", 1, { caseUrn });
  const seen = await withItems(caseUrn, 3);
  t.same(seen.manualReviewItems.map(({ category, origin }) => `${category} ${origin}`).sort(), [
    "PARTIAL_FULFILLMENT notify",
    "PARTIAL_FULFILLMENT transport",
    "PARTIAL_FULFILLMENT transport",
  ]);
  const { offer } = await offerOf("WALKS1", "Walker");
  t.match(offer, { state: "READY", transport: { status: "declined" }, voucher: { code: /\S/ } });
});

t.test("answers are lost at every step: looked up, and nothing is done twice", async (t) => {
  const kinds = ["lost-answer", "timeout", "error-after", "malformed"];
  const each = (operation: string) => kinds.map((kind) => ({ operation, kind }));
  await fail(hotels, ...each("hold"), ...each("book"));
  await fail(["cardworks"], ...each("issueCard"));
  await fail(["ridefleet"], ...each("book"));
  await fail(["sendwell"], ...each("send"));
  const caseUrn = await push(
    "lost",
    Array.from({ length: 4 }, (_, i) => traveller(`LOSTA${i}`, `Lost${i}`)),
  );
  await events.untilCount("subcase.offer-ready", 4, { caseUrn });
  const seen = await detail(caseUrn);
  t.same(seen.manualReviewItems, []);
  t.same(
    seen.reservations.map(({ status }) => status),
    ["CONFIRMED", "CONFIRMED", "CONFIRMED", "CONFIRMED"],
  );
  const sold = (await Promise.all(hotels.map((name) => entriesOf(name, seen)))).flat();
  const references = (entries: Ledger["entries"], kind: string) =>
    entries.filter((entry) => entry.kind === kind).map(({ reference }) => reference);
  for (const kind of ["hold", "booking"]) {
    t.equal(references(sold, kind).length, 4, kind);
    t.equal(new Set(references(sold, kind)).size, 4, kind);
  }
  for (const [vendor, kind] of [
    ["cardworks", "card"],
    ["sendwell", "message"],
  ] as const) {
    const made = references(await entriesOf(vendor, seen), kind);
    t.same([made.length, new Set(made).size], [4, 4], kind);
  }
  // Who goes to the same hotel rides together.
  const rides = references(await entriesOf("ridefleet", seen), "ride");
  t.equal(new Set(rides).size, rides.length, "ride");
  const numbers = seen.reservations.map(({ confirmationNumber }) => confirmationNumber).sort();
  t.same(
    numbers,
    sold
      .filter(({ kind }) => kind === "booking")
      .map(({ details }) => details.confirmationNumber)
      .sort(),
  );
  t.equal(events.of("subcase.offer-ready", caseUrn).length, 4);
});

t.test("one hotel vendor is down: it is named, and the other one serves", async (t) => {
  await fail(["stayhub"], { operation: "search", kind: "unavailable", times: 5 });
  const caseUrn = await push("down", [traveller("DOWNS1", "Down"), traveller("DOWNS2", "Down")]);
  await events.untilCount("subcase.offer-ready", 2, { caseUrn });
  const seen = await detail(caseUrn);
  const wave = await night.call<WaveView>("getWave", {
    token: supervisor,
    params: { waveUrn: seen.wave?.urn ?? "" },
  });
  t.match(wave.body.partialFailures, [{ failedDomain: "stayhub", detail: /\S/ }]);
  t.same([...new Set(seen.reservations.map(({ vendor }) => vendor))], ["roomlink"]);
  await fail(["stayhub"]);
});

t.test("a ride that cannot be cancelled: the rest is given back, a person is called", async (t) => {
  const caseUrn = await push("stuck", [{ ...traveller("STUCK1", "Stuck"), cabinClass: "BUSINESS" }]);
  await events.untilCount("subcase.offer-ready", 1, { caseUrn });
  await fail(["ridefleet"], { operation: "cancel", kind: "refuse", times: 20 });
  const { token } = await offerOf("STUCK1", "Stuck");
  await night.call("declineMyOffer", { host, token, body: {} });
  await events.untilCount("subcase.compensation-failed", 1, { caseUrn });
  const seen = await withItems(caseUrn, 1);
  t.match(seen, {
    passengerGroups: [{ operationalStatus: "COMPENSATION_FAILED" }],
    reservations: [{ status: "CANCELLED" }],
    manualReviewItems: [{ category: "BOOKING_FAILED", origin: "rollback", detail: /cancel-transport/ }],
  });
  const names = [...hotels, "cardworks", "ridefleet"];
  const states = (await Promise.all(names.map((name) => entriesOf(name, seen))))
    .flat()
    .filter(({ kind }) => kind !== "hold")
    .map(({ kind, state }) => `${kind} ${state}`);
  t.same(states.sort(), ["booking CANCELLED", "card CANCELLED", "ride BOOKED", "ride BOOKED"]);
  t.equal(events.of("case.resolved", caseUrn).length, 0);
  await fail(["ridefleet"]);
});

t.test("nobody sells hotels tonight: held for a person, with the vendors' names", async (t) => {
  await fail(hotels, { operation: "search", kind: "unavailable", times: 50 });
  const caseUrn = await push("none", [traveller("NONES1", "None")]);
  const seen = await withItems(caseUrn, 1);
  t.match(seen.manualReviewItems, [
    {
      category: "ALLOCATION_FAILED",
      priority: "HIGH",
      detail: /No answer from (roomlink, stayhub|stayhub, roomlink)/,
    },
  ]);
  await fail(hotels);
});
