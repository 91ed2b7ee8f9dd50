// Who is driven where: shuttles that strangers share and that are never over their seats, both ways, moved by a person, by the next
// flight, by another hotel; and what becomes of them when vendors refuse and (in the soak) processes die.
import t from "tap";
import type { AuditEntryView } from "../../schemas/audit.ts";
import type { Page } from "../../schemas/command.ts";
import type { OfferView } from "../../schemas/passenger-api.ts";
import type { SegmentView, TransfersRequested } from "../../schemas/transport.ts";
import { idOf } from "../../schemas/urn.ts";
import { isFullSize } from "../harness/environment.ts";
import { smallFlight, travellersOf } from "../harness/instance.ts";
import { takesLong } from "../harness/patience.ts";
import { capacity, minuteMs, minutesBeforePickup, startDrivenNight } from "./driven-night.ts";
import { lostRides, lostRidesThroughDeaths } from "./lost-rides.ts";

takesLong(t);
const driven = await startDrivenNight(t);
const { night, xn, events, host, supervisor, operator, auditor } = driven;
const { offered, inOwnCars, ready, segmentsOf, settled, detail, mine, booked, refuseRides, checkSeats } =
  driven;

t.test("both ways, in shuttles that strangers share", async (t) => {
  const { caseUrn, flight } = await ready("shuttle", 12);
  const segments = await settled(caseUrn);
  t.equal(segments.length, 24);
  const departure = Date.parse(flight.nextFlight?.scheduledDeparture ?? "");
  const seen = await detail(caseUrn);
  for (const segment of segments) {
    const { direction, scheduledAt, groupId } = segment;
    t.match(segment, { status: "booked", vehicleType: "SHUTTLE", vehicles: [{ plate: /^RF / }] });
    const reservation = seen.reservations.find((one) => one.groupId === groupId);
    t.equal(segment.reservationUrn, reservation?.urn);
    const atMs = Date.parse(scheduledAt);
    if (direction === "HOTEL_TO_AIRPORT") {
      t.equal(atMs, departure - minutesBeforePickup * minuteMs, "in time for the next flight");
      t.match(segment, { from: { name: "Runway" }, to: { name: /Kennedy/ } });
    } else {
      t.equal(atMs % (15 * minuteMs), 0, "at a whole quarter of an hour");
      // Nobody is stranded before the flight would have left.
      const strandedMs = Math.max(Date.now(), Date.parse(flight.flight.scheduledDeparture));
      const waitMinutes = (atMs - strandedMs) / minuteMs;
      t.ok(waitMinutes > 25 && waitMinutes < 46, `in ${waitMinutes} minutes`);
    }
  }
  const people = segments
    .filter(({ direction }) => direction === "HOTEL_TO_AIRPORT")
    .reduce((sum, { passengers }) => sum + passengers, 0);
  const back = (await booked()).filter(({ details }) => details.leg === "to_airport");
  t.ok(back.length <= Math.ceil(people / (capacity - 1)), `${people} people in ${back.length} shuttles`);
  t.ok(
    back.every(({ details }) => details.pax === capacity),
    "ordered whole",
  );
  await checkSeats(t);

  const [traveller] = travellersOf(flight.passengers);
  const token = await night.passengerToken(xn, traveller as { pnr: string; lastName: string });
  const rides = await mine(token);
  t.match(rides, {
    status: "booked",
    vehicleType: "SHUTTLE",
    rides: [
      { direction: "AIRPORT_TO_HOTEL", status: "booked", from: { name: /Kennedy/ }, to: { name: "Runway" } },
      { direction: "HOTEL_TO_AIRPORT", status: "booked", vehicles: [{ plate: String }] },
    ],
  });
  const offer = (await night.call<OfferView>("getMyOffer", { token, host })).body;
  t.equal(offer.transport?.pickupAt, rides.pickupAt, "the offer says the same");

  // Everybody declines: every seat is free, every vehicle given back.
  await Promise.all(
    travellersOf(flight.passengers).map(async (one) => {
      const session = await night.passengerToken(xn, one);
      await night.call("declineMyOffer", { token: session, host, body: {} });
    }),
  );
  await events.untilCount("case.resolved", 1, { caseUrn });
  await checkSeats(t);
  t.strictSame(await booked(), []);
  t.ok((await segmentsOf(caseUrn)).every(({ status }) => status === "cancelled"));
  t.strictSame((await detail(caseUrn)).manualReviewItems, []);
});

t.test("fifty groups race for the last seats", async (t) => {
  // In the soak two processes, so that the documents decide and not one process's order.
  const second = isFullSize ? await night.startService({ ROLE: "actors=transport" }) : undefined;
  const { caseUrn } = await ready("race", 50);
  const segments = await settled(caseUrn);
  const [first] = segments;
  const scheduledAt = new Date(Date.parse(first?.scheduledAt ?? "") + 600 * minuteMs).toISOString();
  const out = segments.filter(({ direction }) => direction === "AIRPORT_TO_HOTEL");
  t.equal(out.length, 50);
  await Promise.all(
    out.map(({ urn }) =>
      night.call("retimeSegment", {
        token: operator,
        params: { segmentUrn: urn },
        body: { scheduledAt, reason: "Snow on the road" },
      }),
    ),
  );
  const moved = (await settled(caseUrn)).filter(({ direction }) => direction === "AIRPORT_TO_HOTEL");
  t.ok(moved.every((one) => one.status === "booked" && one.scheduledAt === scheduledAt));
  await checkSeats(t);
  const people = moved.reduce((sum, { passengers }) => sum + passengers, 0);
  const vehicles = (await booked()).filter(
    ({ details }) => details.leg === "from_airport" && details.pickupTime === scheduledAt,
  );
  t.ok(vehicles.length <= Math.ceil(people / (capacity - 1)), `${people} people in ${vehicles.length}`);
  await second?.stop();
});

t.test("by hand: another time, another vehicle, none, one more", async (t) => {
  const { caseUrn, flight } = await ready("desk", 2);
  const [traveller] = travellersOf(flight.passengers);
  const { passengerGroups } = await detail(caseUrn);
  const theirs = passengerGroups.find(({ passengers }) => passengers[0]?.pnr === traveller?.pnr);
  const segment = (await settled(caseUrn)).find(
    ({ direction, groupId }) => direction === "AIRPORT_TO_HOTEL" && groupId === theirs?.groupId,
  ) as SegmentView;
  const params = { segmentUrn: segment.urn };
  const reason = "The bus is late";
  const later = new Date(Date.parse(segment.scheduledAt) + 45 * minuteMs).toISOString();
  const token = await night.passengerToken(xn, traveller as { pnr: string; lastName: string });

  const races = await Promise.all(
    Array.from({ length: 50 }, (_, i) =>
      night.sent("retimeSegment", {
        token: operator,
        params,
        body: {
          scheduledAt: new Date(Date.parse(later) + i * minuteMs).toISOString(),
          reason,
          version: segment.version,
        },
      }),
    ),
  );
  t.equal(races.filter(({ status }) => status === 200).length, 1, "one of fifty wins");
  const won = races.find(({ status }) => status === 200)?.body as SegmentView;
  t.match(won, { status: "pending", vehicles: [] });
  for (const { status, body } of races) {
    if (status === 200) continue;
    t.equal(status, 409);
    t.ok((body as { version: number }).version > segment.version, "the others hear of the current version");
  }
  const of = async () => (await settled(caseUrn)).find(({ urn }) => urn === segment.urn) as SegmentView;
  t.match(await of(), { status: "booked", scheduledAt: won.scheduledAt });

  const same = await night.call<SegmentView>("retimeSegment", {
    token: operator,
    params,
    body: { scheduledAt: won.scheduledAt, reason },
  });
  t.equal(same.body.version, (await of()).version, "the same again is nothing");
  const past = await night.refused("retimeSegment", {
    token: operator,
    params,
    body: { scheduledAt: "2020-01-01T00:00:00Z", reason },
  });
  t.match(past, { status: 422, errors: [{ pointer: "/scheduledAt" }] });
  for (const id of ["retimeSegment", "changeSegmentVehicle", "cancelSegment"]) {
    const body = { scheduledAt: later, vehicleType: "PRIVATE_CAR" };
    t.equal((await night.refused(id, { token: operator, params, body })).status, 422, `${id}: why?`);
    const elsewhere = await night.scopedToken(xn.urn, "AIRPORT_OPERATOR", "LAX");
    const call = { token: elsewhere, params, body: { ...body, reason } };
    t.equal((await night.refused(id, call)).status, 403, `${id}: at another airport`);
  }

  await night.call("changeSegmentVehicle", {
    token: operator,
    params,
    body: { vehicleType: "WHEELCHAIR_VAN", specialRequirements: ["OXYGEN"], reason },
  });
  t.match(await of(), {
    status: "booked",
    vehicleType: "WHEELCHAIR_VAN",
    specialRequirements: ["OXYGEN"],
    scheduledAt: won.scheduledAt,
  });
  const vans = (await booked()).filter(({ details }) => details.vehicleClass === "wav");
  t.match(vans, [{ details: { pax: segment.passengers, notes: ["OXYGEN"] } }], "nobody shares it");
  await night.eventually(
    "the offer follows",
    async () => (await night.call<OfferView>("getMyOffer", { token, host })).body.transport,
    (ride) => ride?.vehicleType === "WHEELCHAIR_VAN" && ride.pickupAt === won.scheduledAt,
  );

  await refuseRides("book", 1);
  await night.call("changeSegmentVehicle", {
    token: operator,
    params,
    body: { vehicleType: "PRIVATE_CAR", reason },
  });
  t.match(await of(), { status: "booked", vehicleType: "WHEELCHAIR_VAN", detail: /no_vehicle/ }, "kept");
  await events.untilCount("review.opened", 1, { caseUrn });
  t.match((await detail(caseUrn)).manualReviewItems, [
    { category: "PARTIAL_FULFILLMENT", origin: "transport", detail: /stands as it was/ },
  ]);

  await night.call("cancelSegment", { token: operator, params, body: { reason } });
  t.match(await of(), { status: "cancelled", vehicles: [] });
  const again = await night.call("cancelSegment", { token: operator, params, body: { reason } });
  t.equal(again.status, 200);
  const gone = await night.refused("retimeSegment", {
    token: operator,
    params,
    body: { scheduledAt: later, reason },
  });
  t.match(gone, { status: 409, state: "cancelled" });
  await night.eventually(
    "the passenger sees that it is off",
    () => mine(token),
    ({ rides }) => rides.some(({ urn, status }) => urn === segment.urn && status === "declined"),
  );
  t.equal((await night.call<OfferView>("getMyOffer", { token, host })).body.transport?.status, "declined");

  const created = await night.call<SegmentView>("createSegment", {
    token: operator,
    body: {
      reservationUrn: segment.reservationUrn,
      direction: "AIRPORT_TO_HOTEL",
      scheduledAt: later,
      vehicleType: "PRIVATE_CAR",
      specialRequirements: [],
    },
  });
  t.equal(created.status, 201);
  t.match(created.body, { groupId: segment.groupId, status: "pending", caseUrn });
  await settled(caseUrn);
  await night.eventually(
    "the offer tells of the ride that goes",
    async () => (await night.call<OfferView>("getMyOffer", { token, host })).body.transport,
    (ride) => ride?.status === "booked" && ride.vehicleType === "PRIVATE_CAR" && ride.pickupAt === later,
  );
  await checkSeats(t);
  const trail = await night.eventually(
    "the trail",
    async () =>
      (
        await night.call<Page<AuditEntryView>>("getEntityAudit", {
          token: auditor,
          params: { entityUrn: segment.urn },
        })
      ).body.items,
    (items) => items.length === 4,
  );
  t.match(trail.map(({ action }) => action).sort(), [
    "transport.cancel-segment",
    "transport.change-vehicle",
    "transport.change-vehicle",
    "transport.retime-segment",
  ]);
  t.ok(trail.every((entry) => entry.reason === reason));

  // What a person has ordered goes with the room, too.
  await night.call("declineMyOffer", { token, host, body: {} });
  await events.untilCount("subcase.declined", 1, { caseUrn });
  await night.eventually(
    "nothing is left",
    async () => (await segmentsOf(caseUrn)).filter(({ groupId }) => groupId === segment.groupId),
    (all) => all.every(({ status }) => status === "cancelled"),
  );
  const refused = await night.refused("createSegment", {
    token: operator,
    body: {
      reservationUrn: segment.reservationUrn,
      direction: "AIRPORT_TO_HOTEL",
      scheduledAt: later,
      vehicleType: "SHUTTLE",
    },
  });
  t.equal(refused.status, 409, "no room, no ride");
  await checkSeats(t);
});

t.test("a new flight moves the way back; another hotel moves both", async (t) => {
  const { caseUrn, flight } = await ready("moves", 2);
  const before = await settled(caseUrn);
  const departure = new Date(Date.parse(flight.nextFlight?.scheduledDeparture ?? "") + 95 * minuteMs);
  await night.call("reaccommodate", {
    token: supervisor,
    params: { caseUrn },
    body: {
      nextFlight: { number: "XN486", scheduledDeparture: departure.toISOString() },
      reason: "A later one has seats",
    },
  });
  const pickup = new Date(departure.getTime() - minutesBeforePickup * minuteMs).toISOString();
  await night.eventually(
    "they are picked up later",
    () => segmentsOf(caseUrn),
    (all) =>
      all
        .filter(({ direction }) => direction === "HOTEL_TO_AIRPORT")
        .every(({ status, scheduledAt }) => status === "booked" && scheduledAt === pickup),
  );
  t.equal((await segmentsOf(caseUrn)).length, before.length, "the same segments");
  await checkSeats(t);

  const seen = await detail(caseUrn);
  const [group] = seen.passengerGroups;
  await night.call("overrideWave", {
    token: supervisor,
    params: { waveUrn: seen.wave?.urn ?? "" },
    body: { groupId: group?.groupId, hotelUrn: "urn:hotel:harbour-jfk", reason: "Quieter" },
  });
  const all = await night.eventually(
    "the group is driven elsewhere",
    () => segmentsOf(caseUrn),
    (segments) =>
      segments.filter(({ groupId, status }) => groupId === group?.groupId && status === "cancelled")
        .length === 2 &&
      segments.filter(({ groupId, status }) => groupId === group?.groupId && status === "booked").length ===
        2,
  );
  const own = all.filter(({ groupId, status }) => groupId === group?.groupId && status === "booked");
  t.match(
    own.map(({ from, to }) => [from.name, to.name].find((name) => name === "Harbour")),
    ["Harbour", "Harbour"],
  );
  t.equal(own.find(({ direction }) => direction === "HOTEL_TO_AIRPORT")?.scheduledAt, pickup);
  await checkSeats(t);
});

t.test("a vendor cancels a booked shuttle by itself", (t) => lostRides(t, driven));

t.test("refused, then asked for again", async (t) => {
  await refuseRides("book", 2);
  const { caseUrn } = await offered(inOwnCars(smallFlight("XN", "refused", 1)), 1);
  t.match(
    (await settled(caseUrn)).map(({ status }) => status),
    ["declined", "declined"],
  );
  await events.untilCount("review.opened", 2, { caseUrn });
  const seen = await detail(caseUrn);
  t.same(
    seen.manualReviewItems.map(({ category, origin }) => `${category} ${origin}`),
    ["PARTIAL_FULFILLMENT transport", "PARTIAL_FULFILLMENT transport"],
  );
  const asked = await night.call<TransfersRequested>("requestTransfers", {
    token: operator,
    params: { caseUrn },
    body: { reason: "There are drivers again" },
  });
  t.equal(asked.status, 202);
  t.match(asked.body, { groups: [seen.passengerGroups[0]?.groupId], skipped: [] });
  const again = await night.eventually(
    "both are booked",
    () => segmentsOf(caseUrn),
    (all) => all.every(({ status }) => status === "booked"),
  );
  t.equal(again.length, 2);
  await night.call("requestTransfers", { token: operator, params: { caseUrn }, body: {} });
  const unknown = { groupIds: ["NOBODY"] };
  const refused = await night.refused("requestTransfers", {
    token: operator,
    params: { caseUrn },
    body: unknown,
  });
  t.equal(refused.status, 422);
  await checkSeats(t);
  t.equal((await segmentsOf(caseUrn)).length, 2, "what is booked is left as it is");
  await night.call("closeCase", { token: supervisor, params: { caseUrn }, body: { reason: "All done" } });
  const params = { segmentUrn: again[0]?.urn ?? "" };
  const closed = await night.refused("cancelSegment", { token: operator, params, body: { reason: "Late" } });
  t.match(closed, { status: 409, state: "CLOSED" });
  const late = await night.refused("requestTransfers", { token: operator, params: { caseUrn }, body: {} });
  t.match(late, { status: 409, state: "CLOSED" });
});

if (isFullSize)
  t.test("a process dies between a commit and what follows from it", async (t) => {
    const [service] = night.services;
    const points = [
      "after-commit@transport.take-seats#2",
      "after-publish@transport.note-seats",
      "before-ack@transport.record-answer",
    ];
    for (const [i, point] of points.entries()) {
      Object.assign(service?.settings ?? {}, { KILL_POINT: point });
      await service?.restart();
      const flight = inOwnCars(smallFlight("XN", `die${i}`, 3));
      await night.pushed(xn, flight).catch(() => undefined);
      t.equal((await service?.exited)?.signal, "SIGKILL", point);
      Object.assign(service?.settings ?? {}, { KILL_POINT: "" });
      await service?.restart();
      const { caseUrn } = (await night.pushed(xn, flight)).body;
      await events.untilCount("subcase.offer-ready", 3, { caseUrn });
      const segments = await settled(caseUrn);
      t.equal(segments.length, 6, point);
      t.ok(segments.every(({ status }) => status === "booked"));
      await checkSeats(t);
    }
    t.ok(idOf((await detail((await ready("after", 1)).caseUrn)).urn));
  });

if (isFullSize)
  t.test("and when one dies after a vendor has cancelled a shuttle", (t) =>
    lostRidesThroughDeaths(t, driven),
  );
