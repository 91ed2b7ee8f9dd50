// A vendor that cancels a booked shuttle by itself: heard of when it is polled, printed for the administrator, and both groups that rode
// in it get another one, or their airline hears that nobody drives them.
import type { Test } from "tap";
import { sendCommand, systemCommand } from "../../actors/runtime/send.ts";
import type { AuditEntryView } from "../../schemas/audit.ts";
import type { Page } from "../../schemas/command.ts";
import type { OfferView } from "../../schemas/passenger-api.ts";
import { type RideReport, runOfReference } from "../../schemas/transport.ts";
import { reconcileSubcommands } from "../../scripts/administration/reconcile.ts";
import type { Answer, Reach, Values } from "../../scripts/administration/subcommand.ts";
import { trace } from "../harness/given.ts";
import { smallFlight, travellersOf } from "../harness/instance.ts";
import { type DrivenNight, minuteMs } from "./driven-night.ts";

const later = (at: string, minutes: number): string =>
  new Date(Date.parse(at) + minutes * minuteMs).toISOString();

/** Two groups who ride to their hotel in one shuttle, at a time of their own, so that nobody else rides along. @param minutes after other flights */
const sharing = async (t: Test, driven: DrivenNight, name: string, minutes: number) => {
  const { offered, segmentsOf, settled, booked } = driven;
  const { flight, ...push } = smallFlight("XN", name, 2);
  const scheduledDeparture = later(flight.scheduledDeparture, minutes);
  const { caseUrn } = await offered({ ...push, flight: { ...flight, scheduledDeparture } }, 2);
  const there = async () =>
    (await segmentsOf(caseUrn)).filter(({ direction }) => direction === "AIRPORT_TO_HOTEL");
  await settled(caseUrn);
  const [first] = await there();
  const inSlot = async () =>
    (await booked()).filter(
      ({ details }) => details.leg === "from_airport" && details.pickupTime === first?.scheduledAt,
    );
  const [shared, ...more] = await inSlot();
  t.strictSame(more, [], "both in one");
  const { reference = "", id: rideId = "" } = shared ?? {};
  return { caseUrn, first, push, there, inSlot, reference, rideId };
};

export const lostRides = async (t: Test, driven: DrivenNight): Promise<void> => {
  const { night, xn, events, host, auditor, detail, mine, refuseRides, checkSeats } = driven;
  const reach = { client: async () => night.client } as unknown as Reach;
  const reconcile = async (values: Values = {}) =>
    (await reconcileSubcommands.reconcile?.run({ airline: "XN", ...values }, [], reach)) as Answer;
  const { caseUrn, first, push, there, inSlot, reference } = await sharing(t, driven, "lost", 65);
  await reconcile();

  await night.desk("ridefleet", { reference, state: "CANCELLED" });
  const told = await reconcile({ vendor: "ridefleet" });
  t.match(told.json, [
    { vendor: "ridefleet", outcome: "done", differences: [{ reference, from: "BOOKED", to: "CANCELLED" }] },
  ]);
  t.match(told.text, new RegExp(`XN +ridefleet .*${reference}.* BOOKED +CANCELLED `));
  const replaced = await night.eventually("another one comes", inSlot, (rides) => rides.length === 1);
  t.not(replaced[0]?.reference, reference);
  const plate = replaced[0]?.details.plate as string;
  const people = travellersOf(push.passengers);
  t.equal(people.length, 2);
  const tokens = await Promise.all(people.map((one) => night.passengerToken(xn, one)));
  for (const token of tokens) {
    await night.eventually(
      "its passengers see it",
      () => mine(token),
      ({ status, rides }) =>
        status === "booked" && rides.some(({ vehicles }) => vehicles[0]?.plate === plate),
    );
    await night.eventually(
      "and so does their offer",
      async () => (await night.call<OfferView>("getMyOffer", { token, host })).body.transport,
      (ride) => ride?.status === "booked" && ride.pickupAt === first?.scheduledAt,
    );
  }
  await checkSeats(t);
  for (const { urn: entityUrn } of await there()) {
    const trail = await night.eventually(
      "the trail",
      async () =>
        (await night.call<Page<AuditEntryView>>("getEntityAudit", { token: auditor, params: { entityUrn } }))
          .body.items,
      (items) => items.length === 1,
    );
    t.match(trail, [
      {
        action: "transport.record-ride",
        actor: "urn:user:system-vendor-adapter",
        before: { status: "booked" },
        after: { status: "pending", vendor: "ridefleet" },
      },
    ]);
  }
  t.match(await reconcile({ vendor: "ridefleet" }), { text: "nothing differed", failed: false });

  await refuseRides("book", 2);
  await night.desk("ridefleet", { reference: replaced[0]?.reference ?? "", state: "CANCELLED" });
  await reconcile({ vendor: "ridefleet" });
  await events.untilCount("review.opened", 2, { caseUrn });
  await night.control({ ridefleet: { failNext: [] } });
  t.ok((await there()).every(({ status }) => status === "declined"));
  t.match((await detail(caseUrn)).manualReviewItems, [
    { category: "PARTIAL_FULFILLMENT", origin: "transport", detail: /Nobody drives the group to the hotel/ },
    { category: "PARTIAL_FULFILLMENT", origin: "transport" },
  ]);
  for (const token of tokens)
    await night.eventually(
      "its passengers see that nobody comes",
      () => mine(token),
      ({ rides }) =>
        rides.some((ride) => ride.direction === "AIRPORT_TO_HOTEL" && ride.status === "declined"),
    );
  await checkSeats(t);
};

/** In the soak: a process dies between what a poll has told, what its riders hear, and what they seek then. */
export const lostRidesThroughDeaths = async (t: Test, driven: DrivenNight): Promise<void> => {
  const { night, settled, checkSeats } = driven;
  const [service] = night.services;
  const points = [
    "after-commit@transport.record-ride",
    "after-publish@transport.note-seats",
    "after-commit@transport.note-seats",
    "before-ack@transport.record-ride",
  ];
  for (const [i, point] of points.entries()) {
    const { caseUrn, inSlot, reference, rideId } = await sharing(t, driven, `gone${i}`, 125 + i * 60);
    Object.assign(service?.settings ?? {}, { KILL_POINT: point });
    await service?.restart();
    await night.desk("ridefleet", { reference, state: "CANCELLED" });
    const [now, id] = [new Date(), `told ${reference}`];
    const data: RideReport = { reference, rideId, state: "CANCELLED", at: now.toISOString() };
    const told = { id, name: "transport.record-ride", entity: runOfReference(reference) ?? "", data, now };
    await sendCommand(night.streams, systemCommand("vendor-adapter", { ...trace, tenant: "XN" }, told));
    t.equal((await service?.exited)?.signal, "SIGKILL", point);
    Object.assign(service?.settings ?? {}, { KILL_POINT: "" });
    await service?.restart();
    const [next] = await night.eventually("another one comes", inSlot, (rides) => rides.length === 1);
    t.not(next?.reference, reference, point);
    t.ok((await settled(caseUrn)).every(({ status }) => status === "booked"));
    await checkSeats(t);
  }
};
