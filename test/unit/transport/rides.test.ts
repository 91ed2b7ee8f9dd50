// One group's rides, case by case: when they are ordered, what a new flight moves, what comes too late, who is answered and told what.
import t from "tap";
import type { SubCaseState } from "../../../actors/sub-case/state.ts";
import { nextPickup } from "../../../actors/transport/pickup.ts";
import { myTransport } from "../../../actors/transport/view.ts";
import { Problem } from "../../../schemas/problems.ts";
import type { RideNote } from "../../../schemas/transport.ts";
import type { Direction } from "../../../schemas/vocabulary.ts";
import { eventsOf, givenOf, received, secondsLater, supervisor } from "../../harness/given.ts";
import * as group from "../sub-case/group-story.ts";
import { Depot, idOfGroup, orderOf, referenceOf } from "./depot.ts";

const me = idOfGroup(1);
const transferOf = (depot: Depot) => {
  const transfer = depot.transfers.get(me);
  if (transfer === undefined) throw new Error("nothing was ordered");
  return transfer;
};
const party = { subCaseId: me, groupId: "G1", reference: referenceOf(1), order: orderOf(1) };
const elsewhere = { hotelUrn: "urn:hotel:dakota" };
const create = (depot: Depot, direction: Direction, scheduledAt: string) =>
  depot.byHand("create-segment", 1, { direction, scheduledAt, reservationUrn: "" }, party);
/** Everything under way arrives, and every vendor answers. No timer goes off. */
const arrive = async (depot: Depot): Promise<void> => {
  while (depot.sent.length > 0) await depot.deliver(0, "done", "done", false);
};
/** What is under way arrives but for the vendor's work. */
const arriveAtHome = async (depot: Depot): Promise<void> => {
  for (;;) {
    const which = depot.sent.findIndex(({ name }) => !name.startsWith("vendor-"));
    if (which < 0) return;
    await depot.deliver(which, "done", "done", false);
  }
};
const ordered = async (more: Parameters<Depot["order"]>[1] = {}): Promise<Depot> => {
  const depot = new Depot();
  depot.order(1, more);
  await arrive(depot);
  return depot;
};
const back = (depot: Depot) =>
  transferOf(depot)
    .segments.filter(({ direction }) => direction === "HOTEL_TO_AIRPORT")
    .map(
      ({ origin, status, scheduledAt }) => `${origin} ${status} ${scheduledAt.toISOString().slice(8, 16)}`,
    );

t.test("nobody is fetched before they are stranded", async (t) => {
  const notBefore = "2026-11-22T22:00:00.000Z";
  const depot = await ordered({ notBefore, departure: "2026-11-23T14:00:00.000Z" });
  const pickup = nextPickup(depot.now, new Date(notBefore));
  t.same(depot.segment(1, "AIRPORT_TO_HOTEL")?.scheduledAt, pickup);
  depot.cancel(1, "AIRPORT_TO_HOTEL");
  await arrive(depot);
  depot.byHand("request-transfer", 1, {}, party);
  const asked = transferOf(depot).segments.at(-1);
  t.match(asked, { origin: "desk", direction: "AIRPORT_TO_HOTEL", scheduledAt: pickup }, "by hand, too");
  const call = group.stateOf(group.story(...group.done("hold", "book", "issue-card"))).call;
  t.equal(
    call?.request.notBefore,
    group.stateOf(group.ready).flight.scheduledDeparture.toISOString(),
    "the saga says when that is",
  );
});

t.test("a new flight moves one way back, and orders none beside it", async (t) => {
  const flight = "2026-11-22T16:00:00.000Z";
  const table: [string, (depot: Depot) => void | Promise<void>, string[]][] = [
    ["as it was ordered", () => undefined, ["saga pending 22T13:00"]],
    [
      "declined, and one ordered by hand",
      async (depot) => {
        depot.changeVehicle(1, "HOTEL_TO_AIRPORT", "WHEELCHAIR_VAN");
        depot.cancel(1, "HOTEL_TO_AIRPORT");
        create(depot, "HOTEL_TO_AIRPORT", "2026-11-22T10:00:00.000Z");
        await arrive(depot);
      },
      ["saga cancelled 22T11:00", "desk pending 22T13:00"],
    ],
    ["cancelled", (depot) => depot.cancel(1, "HOTEL_TO_AIRPORT"), ["saga cancelled 22T11:00"]],
    [
      "two that a person wants",
      async (depot) => {
        create(depot, "HOTEL_TO_AIRPORT", "2026-11-22T10:00:00.000Z");
        await arrive(depot);
      },
      ["saga pending 22T13:00", "desk booked 22T10:00"],
    ],
  ];
  for (const [what, happens, expected] of table) {
    const depot = await ordered();
    await happens(depot);
    await arrive(depot);
    depot.follow(1, flight, 1);
    await arriveAtHome(depot);
    t.strictSame(back(depot), expected, what);
  }
  const none = await ordered({ departure: undefined });
  create(none, "HOTEL_TO_AIRPORT", "2026-11-22T10:00:00.000Z");
  await arrive(none);
  none.follow(1, flight, 1);
  await arriveAtHome(none);
  t.strictSame(back(none), ["desk pending 22T13:00"], "a desk's, where no flight was known");
  none.cancel(1, "HOTEL_TO_AIRPORT");
  none.follow(1, "2026-11-22T18:00:00.000Z", 2);
  await arrive(none);
  t.strictSame(back(none), ["desk cancelled 22T13:00"], "what a person has cancelled stays so");

  const refused = new Depot();
  refused.order(1);
  await arriveAtHome(refused);
  while (refused.sent.length > 0) await refused.deliver(0, "refused", "done", false);
  create(refused, "HOTEL_TO_AIRPORT", "2026-11-22T10:00:00.000Z");
  await arrive(refused);
  refused.follow(1, flight, 1);
  await arriveAtHome(refused);
  t.strictSame(back(refused), ["saga declined 22T11:00", "desk pending 22T13:00"], "a replacement alone");
});

t.test("a flight that leaves too soon for a ride to it is told to a person", async (t) => {
  const soon = secondsLater(600).toISOString();
  const depot = await ordered({ departure: soon });
  t.match(depot.segment(1, "HOTEL_TO_AIRPORT"), { status: "declined", detail: /leaves too soon/ });
  t.match(depot.segment(1, "AIRPORT_TO_HOTEL"), { status: "booked" }, "the way there is driven all the same");
  t.strictSame(depot.items, ["transport"]);
  depot.follow(1, "2026-11-22T16:00:00.000Z", 1);
  await arriveAtHome(depot);
  t.strictSame(back(depot), ["saga pending 22T13:00"], "a later flight has it sought");

  const moved = await ordered();
  moved.follow(1, soon, 1);
  await arrive(moved);
  t.match(moved.segment(1, "HOTEL_TO_AIRPORT"), { status: "declined", seat: undefined });
  t.strictSame(moved.items, ["transport"]);
  const kept = await ordered({ departure: secondsLater(3 * 3_600).toISOString(), minutesBeforePickup: 100 });
  kept.now = secondsLater(3_600 + 1_500);
  kept.follow(1, secondsLater(2 * 3_600).toISOString(), 1);
  await arrive(kept);
  t.match(
    kept.segment(1, "HOTEL_TO_AIRPORT"),
    { status: "booked" },
    "one that goes before the flight is kept",
  );
  t.strictSame(kept.items, []);
});

t.test("what is found after its own pickup is nobody's ride", async (t) => {
  const depot = new Depot();
  depot.order(1);
  await arriveAtHome(depot);
  depot.now = secondsLater(3_600);
  await arrive(depot);
  t.match(depot.segment(1, "AIRPORT_TO_HOTEL"), { status: "declined", seat: undefined });
  t.match(depot.segment(1, "HOTEL_TO_AIRPORT"), { status: "booked" });
  t.match(depot.answers, [{ outcome: "refused" }]);
  await depot.settle();
  t.strictSame(
    [...depot.vendors.held.values()].sort(),
    ["BOOKED", "CANCELLED"],
    "the vehicle that came too late is given back",
  );

  const moved = await ordered();
  moved.retime(1, "AIRPORT_TO_HOTEL", "2026-11-21T23:00:00.000Z");
  await arriveAtHome(moved);
  moved.now = secondsLater(3_600);
  while (moved.sent.length > 0) await moved.deliver(0, "refused", "done", false);
  t.match(
    moved.segment(1, "AIRPORT_TO_HOTEL"),
    { status: "declined", seat: undefined },
    "one that has left is not kept",
  );
  const kept = await ordered();
  kept.retime(1, "AIRPORT_TO_HOTEL", "2026-11-21T23:00:00.000Z");
  await arriveAtHome(kept);
  while (kept.sent.length > 0) await kept.deliver(0, "refused", "done", false);
  t.match(kept.segment(1, "AIRPORT_TO_HOTEL"), { status: "booked", detail: String });
});

t.test("a vehicle that is on somebody's desk fails no rollback", async (t) => {
  const depot = await ordered();
  depot.retime(1, "AIRPORT_TO_HOTEL", "2026-11-21T23:00:00.000Z");
  await arriveAtHome(depot);
  await depot.deliver(0, "done", "done", false);
  await arriveAtHome(depot);
  while (depot.sent.length > 0) await depot.deliver(0, "refused", "done", false);
  t.strictSame(depot.items, ["vehicle"], "a person's change has left it");
  depot.giveBack(1);
  await arrive(depot);
  t.match(depot.answers.at(-1), { verb: "cancel-ride", outcome: "done" });
  t.strictSame(transferOf(depot).leaving, []);

  const stuck = await ordered();
  stuck.giveBack(1);
  await arriveAtHome(stuck);
  while (stuck.sent.length > 0) await stuck.deliver(0, "refused", "done", false);
  t.match(stuck.answers.at(-1), { verb: "cancel-ride", outcome: "refused" }, "its own counts");
  stuck.now = new Date("2026-11-23T00:00:00.000Z");
  stuck.giveBack(1, { again: 1 });
  await arrive(stuck);
  t.match(stuck.answers.at(-1), { outcome: "done", again: 1 }, "until the vehicle has left");
});

t.test("a late try of an earlier order takes nothing from the one under way", async (t) => {
  const depot = await ordered();
  depot.order(1, elsewhere, { round: 2 });
  await arriveAtHome(depot);
  t.match(transferOf(depot).asked, { reference: referenceOf(1, 2), tries: 1 });
  depot.order(1, {}, { tries: 2 });
  await arriveAtHome(depot);
  t.match(depot.answers.at(-1), { reference: referenceOf(1), tries: 2, outcome: "done" }, "answered at once");
  t.match(transferOf(depot).asked, { reference: referenceOf(1, 2), tries: 1 });
  depot.retime(1, "AIRPORT_TO_HOTEL", "2026-11-21T23:00:00.000Z");
  depot.order(1, {}, { tries: 3 });
  depot.order(1, elsewhere, { round: 2, tries: 2 });
  depot.order(1, elsewhere, { round: 2, tries: 1 });
  await arriveAtHome(depot);
  t.match(transferOf(depot).asked, { reference: referenceOf(1, 2), tries: 2 }, "nor while that is open");
  await arrive(depot);
  t.match(depot.answers.at(-1), { reference: referenceOf(1, 2), tries: 2, outcome: "done" });
  t.equal(transferOf(depot).asked, undefined);
});

t.test("the sub-case hears of each order's ride what it was not answered", async (t) => {
  const depot = await ordered();
  t.strictSame(depot.notes, [], "the answer says it all");
  depot.order(1, elsewhere, { round: 2 });
  await arriveAtHome(depot);
  const first = depot.segment(1, "AIRPORT_TO_HOTEL")?.segmentId;
  depot.byHand("retime-segment", 1, { segmentId: first, scheduledAt: "2026-11-21T23:00:00.000Z" });
  t.match(depot.notes, [{ note: { reference: referenceOf(1), status: "pending" } }], "during a switch");
  await arrive(depot);
  t.strictSame(
    depot.notes.map(({ note }) => [note.reference, note.status, note.sequence]),
    [
      [referenceOf(1), "pending", 1],
      [referenceOf(1), "booked", 2],
    ],
  );

  const asking = new Depot();
  asking.order(1);
  await arriveAtHome(asking);
  create(asking, "AIRPORT_TO_HOTEL", "2026-11-21T23:00:00.000Z");
  await arriveAtHome(asking);
  const which = asking.sent.findIndex(({ name }) => name === "vendor-ridefleet.book-ride");
  await asking.deliver(which, "refused", "done", false);
  await arriveAtHome(asking);
  await arrive(asking);
  t.match(asking.answers, [{ outcome: "refused" }]);
  t.match(asking.notes.at(-1)?.note, { status: "booked", pickupAt: "2026-11-21T23:00:00.000Z" });
});

const note = (sequence: number, more: Partial<RideNote> = {}) =>
  received("sub-case.note-ride", {
    reference: `${group.subCaseId}.ride.1`,
    sequence,
    status: "booked",
    vehicleType: "PRIVATE_CAR",
    pickupAt: "2026-11-21T23:00:00.000Z",
    ...more,
  });

t.test(
  "a note waits for the answer that it overtakes, and reaches the ride that a change of hotels may leave",
  async (t) => {
    const given = givenOf(t, group.rules, group.subCaseId);
    const asking = group.story(...group.done("hold", "book", "issue-card"));
    given(...asking)
      .when(note(1))
      .notYet();
    given(...eventsOf(group.rules, asking, group.answer("book-ride")))
      .when(note(1))
      .leads({ ride: { vehicleType: "PRIVATE_CAR", noted: 1 } });
    const noted = eventsOf(group.rules, group.ready, note(2));
    given(...noted)
      .when(note(1))
      .nothing();
    given(...noted)
      .when(note(3, { reference: `${group.subCaseId}.ride.9` }))
      .nothing();
    const choice = received("sub-case.override", {
      overrideId: "XN-CHOICE",
      assignment: { ...(group.assign().data as object), candidates: [group.hotel("dakota")] },
    });
    const switching = eventsOf(group.rules, group.ready, choice);
    t.ok((group.stateOf(switching) as SubCaseState).left?.ride);
    given(...switching)
      .when(note(1))
      .leads({ left: { ride: { vehicleType: "PRIVATE_CAR", noted: 1 } } });
    const stays = eventsOf(group.rules, switching, ...group.refusedBy(2, "SOLD_OUT"));
    given(...stays)
      .when(note(1))
      .leads({ ride: { vehicleType: "PRIVATE_CAR", noted: 1 } });
  },
);

t.test("a closed case sets no vehicle going; it is said when it opens", async (t) => {
  const given = givenOf(t, group.rules, group.subCaseId);
  const stay = { checkIn: "2026-11-21", checkOut: "2026-11-22", nights: 1 };
  const scheduledDeparture = new Date("2026-11-22T16:00:00.000Z");
  const amended = received("sub-case.amend-stay", {
    stay,
    shape: 1,
    nextFlight: { number: "XN486", scheduledDeparture },
  });
  const follow = {
    to: "command" as const,
    name: "transport.follow-flight",
    data: { reference: `${group.subCaseId}.ride.1`, departure: scheduledDeparture.toISOString(), shape: 1 },
  };
  given(...group.ready)
    .when(amended)
    .sends(follow);
  const closed = eventsOf(group.rules, group.ready, group.standing("suspend", 10));
  given(...closed)
    .when(amended)
    .sends();
  given(...eventsOf(group.rules, closed, amended))
    .when(group.standing("resume", 60))
    .sends(group.stage("B"), follow);
  given(...closed)
    .when(group.standing("resume", 60))
    .sends(group.stage("B"));
});

t.test("the headline is the next ride that goes", async (t) => {
  const depot = await ordered();
  const at = (when: string) => {
    const { status, pickupAt } = myTransport(depot.transfers.get(me), new Date(when));
    return `${status} ${pickupAt?.slice(8, 16)}`;
  };
  t.equal(at("2026-11-21T21:00:00Z"), "booked 21T21:30");
  t.equal(at("2026-11-21T21:30:00Z"), "booked 22T11:00", "who is at the hotel is told of the way back");
  t.equal(at("2026-11-22T12:00:00Z"), "booked 22T11:00", "after all the last one");
  depot.cancel(1, "AIRPORT_TO_HOTEL");
  t.equal(at("2026-11-21T21:00:00Z"), "booked 22T11:00");
  depot.cancel(1, "HOTEL_TO_AIRPORT");
  t.equal(at("2026-11-21T21:00:00Z"), "declined 21T21:30");
  t.strictSame(myTransport(undefined, depot.now), { rides: [] });
});

t.test("a group's rides come to an end", async (t) => {
  const depot = await ordered();
  const again = (): number => {
    create(depot, "AIRPORT_TO_HOTEL", "2026-11-21T23:00:00.000Z");
    const { segmentId = "" } = transferOf(depot).segments.at(-1) ?? {};
    depot.byHand("cancel-segment", 1, { segmentId });
    return transferOf(depot).segments.length;
  };
  while (again() < 100) await arrive(depot);
  await arrive(depot);
  const asked = received(
    "transport.create-segment",
    { direction: "AIRPORT_TO_HOTEL", scheduledAt: "2026-11-21T23:00:00.000Z" },
    { entity: me, principal: supervisor },
  );
  t.throws(() => depot.handle(asked.name, me, asked.data, asked, { caseIsClosed: false, party }), Problem);
  t.equal(transferOf(depot).segments.length, 100);
  const run = [...depot.runs.values()].find(({ pickupAt }) =>
    pickupAt.toISOString().startsWith("2026-11-21T23"),
  );
  t.match(run, { vehicles: [], ordered: 98 }, "dead vehicles are forgotten, their numbers are not");
});
