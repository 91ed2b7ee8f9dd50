// A room that a person has booked by phone, as tables: whose it can be, what it takes, how the saga goes on from it, and that no
// vendor ever hears of it.
import t from "tap";
import type { Received } from "../../../actors/runtime/decider.ts";
import { type ManualFacts, namedBy } from "../../../actors/sub-case/manual-reservation.ts";
import type { SubCaseEvent, SubCaseState } from "../../../actors/sub-case/state.ts";
import { offerView, reservationDetail } from "../../../actors/sub-case/view.ts";
import { voucherPage } from "../../../actors/sub-case/voucher-page.ts";
import { Problem } from "../../../schemas/problems.ts";
import type { ManualReservationBody } from "../../../schemas/reservation.ts";
import { evening, eventsOf, givenOf, received, supervisor } from "../../harness/given.ts";
import {
  accept,
  announced,
  answer,
  assign,
  bookedByPhone,
  calls,
  caseId,
  completed,
  decline,
  done,
  doneIn,
  hotel,
  opened,
  ready,
  refusedBy,
  review,
  rules,
  stage,
  standing,
  started,
  stateOf,
  stepsOf,
  story,
  subCaseId,
  terms,
  typesOf,
} from "./group-story.ts";

const body = bookedByPhone;
const facts: ManualFacts = { known: null, terms: { ...terms, vehicleType: "WHEELCHAIR_VAN" } };
const reserve = (data = body(), more: Partial<Received> = {}): Received =>
  received("sub-case.reserve-manually", data, { principal: supervisor, entity: subCaseId, ...more });
const given = givenOf<SubCaseState, SubCaseEvent>;
const after = (past: SubCaseEvent[], gathered: ManualFacts = facts, data = body()): SubCaseEvent[] => [
  ...past,
  ...rules.decide(stateOf(past), reserve(data), gathered),
];
const then = (past: SubCaseEvent[], ...commands: Received[]) => eventsOf(rules, past, ...commands);

const waiting = [opened()];
const failed = story(...refusedBy(1, "SOLD_OUT", "REFUSED", "SOLD_OUT"));

const problemOf = (attempt: () => unknown): Problem => {
  try {
    attempt();
  } catch (error) {
    if (error instanceof Problem) return error;
    throw error;
  }
  throw new Error("it was taken");
};

t.test("whose room it can be", async (t) => {
  const table: [string, SubCaseEvent[], string | undefined][] = [
    ["nobody has looked for a room yet", waiting, undefined],
    ["a wave has chosen, and nothing is booked", then(waiting, assign({ book: false })), undefined],
    ["every hotel refused", failed, undefined],
    ["a person has settled it otherwise", then(failed, received("sub-case.settle")), undefined],
    ["a saga is under way", story(), "PROCESSING"],
    ["it has a room", ready, "OFFER_READY"],
    ["it has accepted one", then(ready, accept), "RESOLVED"],
    ["it is giving one back", then(ready, decline), "ROLLING_BACK"],
    ["it needs none", then(waiting, received("sub-case.mark-not-required")), "NOT_REQUIRED"],
    ["it has one by hand already", after(waiting), "PROCESSING"],
  ];
  for (const [what, past, state] of table) {
    t.comment(what);
    const outcome = given(t, rules)(...past).when(reserve(), facts);
    if (state !== undefined) outcome.refused("conflict/state", { state });
    else t.equal(stateOf(after(past)).status, "PROCESSING", what);
  }
  given(
    t,
    rules,
  )(...then(waiting, standing("suspend", 0)))
    .when(reserve(), facts)
    .refused("conflict/state", { state: "CLOSED" });
  given(
    t,
    rules,
  )(...waiting)
    .when(reserve(body(), { principal: { ...supervisor, airport: "LHR" } }), facts)
    .refused("auth/foreign-airport");
});

t.test("what names the group, and what must be right", async (t) => {
  const caseUrn = `urn:case:${caseId}`;
  const { subCaseUrn: _, ...nameless } = body();
  t.same(namedBy({ data: body() }), { entity: subCaseId });
  t.same(namedBy({ data: { ...nameless, caseUrn, groupId: "K7QX2M" } }), { caseId, groupId: "K7QX2M" });
  for (const [more, pointer] of [
    [{}, "/caseUrn"],
    [{ caseUrn }, "/groupId"],
  ] as const)
    t.match(problemOf(() => namedBy({ data: { ...nameless, ...more } })).members.errors, [{ pointer }]);
  const { hotel: _named, ...hotelless } = body();
  const wrong: [Partial<ManualReservationBody>, string][] = [
    [{ caseUrn: "urn:case:XN-OTHER" }, "/caseUrn"],
    [{ groupId: "OTHER" }, "/groupId"],
    [{ currency: "QQQ" }, "/currency"],
  ];
  const refusal = (data: ManualReservationBody): Problem =>
    problemOf(() => rules.decide(stateOf(waiting), reserve(data), facts));
  for (const [more, pointer] of wrong) t.match(refusal(body(more)).members.errors, [{ pointer }]);
  t.match(refusal(hotelless).members.errors, [{ pointer: "/hotel" }]);
  const unknown = { ...hotelless, hotelUrn: "urn:hotel:nowhere" };
  t.match(refusal(unknown).members.errors, [{ pointer: "/hotelUrn" }]);
  t.equal(refusal(unknown).code, "validation/body");
});

t.test("the saga goes on from the booked room", async (t) => {
  given(
    t,
    rules,
  )(...failed)
    .when(reserve(), facts)
    .then(
      { type: "subcase.assigned", data: { assignment: { waveId: "XN-WAVE" } } },
      { type: "subcase.processing", data: { candidate: 0 } },
      { type: "subcase.step-started", data: { record: { name: "book" } } },
      { type: "subcase.step-completed", data: { step: "book" } },
      { type: "subcase.step-started", data: { record: { name: "voucher" } } },
      { type: "subcase.step-completed", data: { step: "voucher" } },
      { type: "subcase.step-started", data: { record: { name: "card" } } },
    )
    .sends(
      announced("subcase.processing", "PROCESSING"),
      started,
      completed("DONE"),
      stage("B", 2),
      started,
      completed("DONE"),
      started,
      calls("cardworks", "issue-card", "card.2"),
    )
    .leads({
      status: "PROCESSING",
      round: 2,
      reservation: {
        status: "CONFIRMED",
        vendor: "by-hand",
        rooms: 1,
        confirmationNumber: "HR-20871",
        totalMinor: 37_801,
        currency: "USD",
        byHand: { by: supervisor.urn, at: evening, reason: "Nobody else had a room." },
      },
    });
  const offered = then(after(failed), ...doneIn(2, "issue-card", "book-ride", "send"));
  t.equal(stateOf(offered).status, "OFFER_READY");
  t.same(stepsOf(offered).slice(-5), [
    "book DONE",
    "voucher DONE",
    "card DONE",
    "transport DONE",
    "notify DONE",
  ]);
  t.equal(stateOf(then(offered, accept)).status, "RESOLVED");
  const view = offerView(stateOf(offered), 3, "qr");
  t.match(view, { state: "READY", hotel: { name: "Harbour Rooms", distanceKm: 2.8 }, nights: 2, rooms: 1 });
  t.match(await voucherPage(stateOf(offered)), /Harbour Rooms[\s\S]*HR-20871/);
  t.match(reservationDetail(stateOf(offered), 3, new Date("2026-11-21T22:00:00Z")), {
    urn: /^urn:reservation:XN-/,
    status: "CONFIRMED",
    hotel: { hotelUrn: /^urn:hotel:by-hand-[0-9a-f]{16}$/, phone: "+1 718 555 0143" },
    checkIn: "2026-11-21",
    checkOut: "2026-11-23",
    byHand: { bookedBy: supervisor.urn },
    voucher: { status: "ISSUED" },
    version: 3,
  });
  const later = then(offered, decline, ...doneIn(2, "cancel-ride", "cancel-card"));
  t.same(
    typesOf(then(later, assign({ waveId: "XN-WAVF" }))),
    typesOf(later),
    "a wave's choice comes too late",
  );
});

t.test("giving it up: no vendor is asked, a person is", async (t) => {
  const offered = then(after(waiting), ...done("issue-card", "book-ride", "send"));
  const declined = then(offered, decline, answer("cancel-ride"));
  given(
    t,
    rules,
  )(...declined)
    .when(answer("cancel-card"))
    .then(
      { type: "subcase.step-completed", data: { step: "cancel-card" } },
      { type: "subcase.step-started", data: { record: { name: "void-voucher" } } },
      { type: "subcase.step-completed", data: { step: "void-voucher" } },
      { type: "subcase.step-started", data: { record: { name: "cancel-room" } } },
      { type: "subcase.step-completed", data: { step: "cancel-room" } },
      { type: "subcase.rolled-back" },
    )
    .sends(
      completed("DONE"),
      started,
      completed("DONE"),
      { to: "public", type: "voucher.amended", data: { status: "VOID" } },
      started,
      completed("DONE"),
      review("BOOKING_FAILED", "manual-cancellation", { occurrence: `${subCaseId}.room.1.1` }),
      stage("D"),
    )
    .leads({ status: "DECLINED", reservation: { status: "CANCELLED" } });
});

t.test("a hotel of the catalogue, and one whose place nobody knows", async (t) => {
  const { hotel: _named, ...hotelless } = body({ hotelUrn: "urn:hotel:astor" });
  const known = hotel("astor").offer as ManualFacts["known"];
  const booked = stateOf(after(waiting, { ...facts, known }, hotelless));
  t.match(booked.assignment?.candidates, [
    { hotelUrn: "urn:hotel:astor", offer: { name: "astor", vendor: "by-hand", nightlyRateMinor: 18_900 } },
  ]);
  const { coordinates: _place, ...placeless } = { name: "", address: "", ...body().hotel };
  const lost = reserve(body({ hotel: placeless }));
  given(
    t,
    rules,
  )(...waiting)
    .when(lost, facts)
    .sends(
      announced("subcase.processing", "PROCESSING"),
      started,
      completed("DONE"),
      stage("B"),
      review("PARTIAL_FULFILLMENT", "transport"),
      started,
      completed("DONE"),
      started,
      calls("cardworks", "issue-card", "card.1"),
    );
  const offered = then(
    after(waiting, facts, lost.data as ManualReservationBody),
    ...done("issue-card", "send"),
  );
  t.equal(stateOf(offered).status, "OFFER_READY", "the ride is left out");
  t.notOk("distanceKm" in (offerView(stateOf(offered), 1, "").hotel ?? {}));
  t.notOk(
    stepsOf(offered).some((step) => step.startsWith("hold")),
    "no vendor is asked for the room",
  );
});
