// Rides that a vendor cancels by itself, case by case: another is sought for each group that sat there, and who hears of it when.
import t from "tap";
import { pickupInstead } from "../../../actors/transport/pickup.ts";
import type { TransferState } from "../../../actors/transport/transfer-state.ts";
import { myTransport } from "../../../actors/transport/view.ts";
import type { SeatsNote } from "../../../schemas/transport.ts";
import type { Direction, VehicleType } from "../../../schemas/vocabulary.ts";
import { received } from "../../harness/given.ts";
import { Depot, idOfGroup, referenceOf, transferRules } from "./depot.ts";

const minutesLater = (from: Date, minutes: number): Date => new Date(from.getTime() + minutes * 60_000);
const arrive = async (depot: Depot, turn: "done" | "refused" = "done"): Promise<void> => {
  while (depot.sent.length > 0) await depot.deliver(0, turn, "done", false);
};
/** What is under way arrives but for the vendor's work. */
const arriveAtHome = async (depot: Depot): Promise<void> => {
  for (;;) {
    const which = depot.sent.findIndex(({ name }) => !name.startsWith("vendor-"));
    if (which < 0) return;
    await depot.deliver(which, "done", "done", false);
  }
};
/** Both in one shuttle to the hotel, and both in one back. */
const two = async (vehicleType: VehicleType = "SHUTTLE"): Promise<Depot> => {
  const depot = new Depot();
  for (const group of [1, 2]) depot.order(group, { vehicleType });
  await arrive(depot);
  return depot;
};
const transferOf = (depot: Depot, group = 1) => depot.transfers.get(idOfGroup(group)) as TransferState;
/** The vehicle that a group sits in. */
const vehicleOf = (depot: Depot, direction: Direction = "AIRPORT_TO_HOTEL", group = 1) => {
  const { segmentId, seat } = depot.segment(group, direction) ?? {};
  const vehicles = depot.runs.get(seat?.runId ?? "")?.vehicles ?? [];
  const found = vehicles.find(({ riders }) =>
    riders.some((rider) => rider.segmentId === segmentId && rider.attempt === seat?.attempt),
  );
  if (found === undefined) throw new Error(`group ${group} sits nowhere`);
  return found;
};
/** The vendor cancels this one. */
const recall = (depot: Depot, reference: string): void => {
  depot.vendors.held.set(reference, "CANCELLED");
  depot.report(reference);
};
const bookings = ({ vendors }: Depot) => vendors.asked.filter(({ operation }) => operation === "book-ride");

t.test("a vehicle's replacement leaves as the lost one would have, or as soon as can be", (t) => {
  const now = new Date("2026-11-21T21:00:00.000Z");
  const table: [string, string, string | undefined, string | undefined][] = [
    ["half an hour is enough", "21T21:30", undefined, "21T21:30"],
    ["less is not", "21T21:29", undefined, "21T21:30"],
    ["the slot after the next", "21T21:01", undefined, "21T21:30"],
    ["in time for the flight", "21T21:20", "21T22:00", "21T21:30"],
    ["the flight would have left", "21T21:20", "21T21:30", "21T21:20"],
    ["it would have left already", "21T21:00", undefined, undefined],
  ];
  const at = (text: string): Date => new Date(`2026-11-${text}:00.000Z`);
  for (const [what, scheduled, departure, expected] of table)
    t.same(
      pickupInstead(at(scheduled), departure === undefined ? undefined : at(departure), now),
      expected === undefined ? undefined : at(expected),
      what,
    );
  t.end();
});

t.test("both groups of a shared shuttle get another one, and see it", async (t) => {
  for (const direction of ["AIRPORT_TO_HOTEL", "HOTEL_TO_AIRPORT"] as const) {
    const depot = await two();
    const lost = vehicleOf(depot, direction);
    t.equal(lost.riders.length, 2);
    const [before, seen] = [depot.segment(1, direction), bookings(depot).length];
    recall(depot, lost.reference);
    await arriveAtHome(depot);
    for (const group of [1, 2]) {
      t.match(depot.segment(group, direction), { status: "pending", seat: undefined, losses: 1 });
      const shown = myTransport(transferOf(depot, group), depot.now).rides;
      t.match(
        shown.find((ride) => ride.direction === direction),
        { status: "pending", vehicles: [] },
      );
    }
    await arrive(depot);
    await depot.settle();
    depot.checkEnd();
    const next = vehicleOf(depot, direction);
    t.not(next.reference, lost.reference);
    t.equal(next.riders.length, 2, "one for both");
    t.equal(bookings(depot).length, seen + 1);
    t.same(depot.segment(1, direction)?.scheduledAt, before?.scheduledAt);
    t.strictSame(depot.items, []);
    const notes = depot.notes.map(({ group, note }) => `${group} ${note.status}`);
    const both = [1, 2].flatMap((group) => [`${idOfGroup(group)} pending`, `${idOfGroup(group)} booked`]);
    t.strictSame(notes.sort(), direction === "AIRPORT_TO_HOTEL" ? both.sort() : [], "their offers follow");

    depot.report(lost.reference);
    await arrive(depot);
    t.match(depot.segment(1, direction), { status: "booked", losses: 1 }, "told twice it is one");
  }
});

t.test("vehicles of their own are replaced alike, one group's alone", async (t) => {
  for (const vehicleType of ["PRIVATE_CAR", "WHEELCHAIR_VAN"] as const) {
    const depot = await two(vehicleType);
    const other = vehicleOf(depot, "AIRPORT_TO_HOTEL", 2).reference;
    const lost = vehicleOf(depot).reference;
    recall(depot, lost);
    await arrive(depot);
    await depot.settle();
    depot.checkEnd();
    t.match(depot.segment(1, "AIRPORT_TO_HOTEL"), { status: "booked", vehicleType, losses: 1 });
    t.not(vehicleOf(depot).reference, lost);
    t.equal(vehicleOf(depot, "AIRPORT_TO_HOTEL", 2).reference, other);
  }
  const family = new Depot();
  family.order(1, { vehicleType: "WHEELCHAIR_VAN", passengers: 8 });
  await arrive(family);
  recall(family, vehicleOf(family).reference);
  await arrive(family);
  await family.settle();
  family.checkEnd();
  t.match(family.segment(1, "AIRPORT_TO_HOTEL"), { status: "booked", seat: { attempt: 2 } });
});

t.test("when nobody else drives, it is declined and a person hears of it", async (t) => {
  const depot = await two();
  recall(depot, vehicleOf(depot).reference);
  await arriveAtHome(depot);
  await arrive(depot, "refused");
  for (const group of [1, 2])
    t.match(depot.segment(group, "AIRPORT_TO_HOTEL"), { status: "declined", seat: undefined });
  t.strictSame(depot.items, ["transport", "transport"]);
  t.match(depot.notes.at(-1)?.note, { status: "declined" });
  await depot.settle();
  depot.checkEnd();

  const late = await two();
  const { reference } = vehicleOf(late);
  late.vendors.held.set(reference, "CANCELLED");
  const at = late.now.toISOString();
  late.now = minutesLater(late.now, 60);
  const before = bookings(late).length;
  late.report(reference, { at });
  await arrive(late);
  t.match(late.segment(1, "AIRPORT_TO_HOTEL"), {
    status: "declined",
    detail: "The vendor has cancelled the vehicle.",
  });
  t.strictSame(late.items, ["transport", "transport"], "heard of past its pickup, it is a person's affair");
  t.equal(bookings(late).length, before);
  await late.settle();
  late.checkEnd();

  const left = await two();
  left.now = minutesLater(left.now, 60);
  left.report(vehicleOf(left).reference);
  await arrive(left);
  t.match(left.segment(1, "AIRPORT_TO_HOTEL"), { status: "booked" }, "one that had left has left");
  t.strictSame(left.items, []);

  const endless = await two();
  for (let i = 1; i <= 4; i++) {
    recall(endless, vehicleOf(endless, "HOTEL_TO_AIRPORT").reference);
    await arrive(endless);
  }
  t.match(endless.segment(1, "HOTEL_TO_AIRPORT"), { status: "declined", losses: 4, attempt: 4 });
  t.strictSame(endless.items, ["transport", "transport"], "over and over is a person's affair, too");
  await endless.settle();
  endless.checkEnd();
});

t.test("less than half an hour ahead the next slot is taken", async (t) => {
  const depot = await two();
  const { scheduledAt } = depot.segment(1, "AIRPORT_TO_HOTEL") as { scheduledAt: Date };
  depot.now = minutesLater(scheduledAt, -5);
  recall(depot, vehicleOf(depot).reference);
  await arrive(depot);
  t.match(depot.segment(1, "AIRPORT_TO_HOTEL"), {
    status: "booked",
    scheduledAt: minutesLater(scheduledAt, 30),
  });
  t.match(depot.notes.at(-1)?.note, { pickupAt: minutesLater(scheduledAt, 30).toISOString() });
  await depot.settle();
  depot.checkEnd();
});

t.test("what is under way beside it goes on", async (t) => {
  const later = "2026-11-21T23:00:00.000Z";
  const moving = await two();
  const lost = vehicleOf(moving).reference;
  moving.retime(1, "AIRPORT_TO_HOTEL", later);
  recall(moving, lost);
  await arriveAtHome(moving);
  const { attempt } = moving.segment(1, "AIRPORT_TO_HOTEL") ?? {};
  t.match(moving.segment(1, "AIRPORT_TO_HOTEL"), {
    status: "pending",
    seat: undefined,
    sought: { attempt: 2 },
  });
  t.equal(attempt, 2, "it is not sought twice");
  await arrive(moving);
  t.match(moving.segment(1, "AIRPORT_TO_HOTEL"), { status: "booked", scheduledAt: new Date(later) });
  await moving.settle();
  moving.checkEnd();

  const refused = await two();
  refused.retime(1, "AIRPORT_TO_HOTEL", later);
  recall(refused, vehicleOf(refused).reference);
  await arriveAtHome(refused);
  await arrive(refused, "refused");
  t.match(refused.segment(1, "AIRPORT_TO_HOTEL"), { status: "declined" }, "what is lost is not kept");

  const leaving = await two();
  const own = vehicleOf(leaving).reference;
  for (const group of [1, 2]) leaving.cancel(group, "AIRPORT_TO_HOTEL");
  leaving.vendors.held.set(own, "CANCELLED");
  leaving.report(own);
  await arrive(leaving);
  t.match(leaving.segment(1, "AIRPORT_TO_HOTEL"), { status: "cancelled" }, "who has left needs no other");
  t.strictSame(leaving.items, []);
  await leaving.settle();
  leaving.checkEnd();
});

t.test("the saga that still waits hears how the replacement stands", async (t) => {
  const depot = new Depot();
  depot.order(1);
  await arriveAtHome(depot);
  const { segmentId = "", attempt = 0 } = depot.segment(1, "AIRPORT_TO_HOTEL") ?? {};
  const note: SeatsNote = {
    ...{ transferId: idOfGroup(1), segmentId, attempt },
    ...{ outcome: "lost", vehicles: [], detail: "gone" },
  };
  depot.handle("transport.note-seats", idOfGroup(1), note);
  t.match(depot.segment(1, "AIRPORT_TO_HOTEL"), { status: "pending", attempt: 2, losses: 1 }, "it overtakes");
  depot.handle("transport.note-seats", idOfGroup(1), { ...note, outcome: "booked", vehicles: [] });
  t.match(depot.segment(1, "AIRPORT_TO_HOTEL"), { status: "pending", attempt: 2 }, "what it has overtaken");
  await arrive(depot);
  t.match(depot.answers, [{ reference: referenceOf(1), outcome: "done" }], "once");
  await depot.settle();
  depot.checkEnd();
});

t.test(
  "each group's ride is on the trail, under the segment, with the vendor's adapter as actor",
  async (t) => {
    const depot = await two();
    const transfer = transferOf(depot);
    const { segmentId = "", attempt = 0 } = depot.segment(1, "AIRPORT_TO_HOTEL") ?? {};
    const note = { transferId: idOfGroup(1), segmentId, attempt, outcome: "lost", vehicles: [] };
    const command = received("transport.note-seats", note, { entity: idOfGroup(1), now: depot.now });
    const events = transferRules.decide(transfer, command, undefined);
    const after = events.reduce<TransferState | undefined>(transferRules.evolve, transfer) as TransferState;
    const sent = events.flatMap(
      (event) => transferRules.outgoing?.(event, after, command, idOfGroup(1)) ?? [],
    );
    t.match(
      sent.filter((message) => message.to === "internal").map(({ type, id, data }) => ({ type, id, data })),
      [
        { type: "segment.sought" },
        {
          type: "audit.recorded",
          id: segmentId,
          data: {
            entityUrn: `urn:segment:${segmentId}`,
            action: "transport.record-ride",
            principal: "urn:user:system-vendor-adapter",
            surface: "system",
            before: { status: "booked" },
            after: { status: "pending", vendor: "ridefleet" },
          },
        },
      ],
    );
  },
);
