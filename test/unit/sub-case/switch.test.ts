// A hotel chosen by hand: for a group without a room as any other, and for one that has a room by changing hotels, where the new room
// is booked before the old one is given back.
import t from "tap";
import type { OverrideOrder } from "../../../actors/sub-case/override.ts";
import type { SubCaseEvent } from "../../../actors/sub-case/state.ts";
import { isOnDesk, shown } from "../../../actors/sub-case/switch-state.ts";
import { offerView, reservationView } from "../../../actors/sub-case/view.ts";
import type { Assignment, HotelCandidate } from "../../../schemas/assignment.ts";
import type { VendorVerb } from "../../../schemas/vendor-call.ts";
import { eventsOf, givenOf, received } from "../../harness/given.ts";
import {
  accept,
  answer,
  assign,
  calls,
  cardHotel,
  decline,
  doneIn,
  forward,
  hotel,
  opened,
  ready,
  rules,
  stage,
  standing,
  started,
  stateOf,
  stepsOf,
  story,
  subCaseId,
} from "./group-story.ts";

const override = (
  candidates: HotelCandidate[] = [hotel("dakota")],
  more: Partial<Assignment> = {},
  overrideId: string | undefined = "XN-OVERRIDE",
) => {
  const assignment = { ...(assign().data as Assignment), candidates, ...more };
  const data: OverrideOrder = { assignment, ...(overrideId === undefined ? {} : { overrideId }) };
  return received("sub-case.override", data);
};
const told = (outcome: string, state: string) => ({
  to: "command" as const,
  name: "wave.note-override",
  entity: "XN-WAVE",
  data: { overrideId: "XN-OVERRIDE", outcome, state },
});
const after = (events: SubCaseEvent[], ...commands: ReturnType<typeof received>[]) =>
  eventsOf(rules, events, ...commands);
const old = { round: 1 };

t.test("a group without a room gets the hotel that was chosen", async (t) => {
  const given = givenOf(t, rules, subCaseId);
  given(opened())
    .when(override())
    .then({ type: "subcase.overridden" }, { type: "subcase.processing" }, { type: "subcase.step-started" })
    .leads({ status: "PROCESSING", round: 1, override: { overrideId: "XN-OVERRIDE", round: 1 } })
    .sends({ to: "public" }, stage("A"), started, calls("stayhub", "hold", "room.1.1"));
  given(opened())
    .when(override([hotel("dakota")], { book: false }))
    .then({ type: "subcase.overridden" })
    .leads({ status: "PENDING" })
    .sends(
      { to: "command", name: "case.note-override", data: { groupId: "K7QX2M", round: 0, waveId: "XN-WAVE" } },
      told("DONE", "PENDING"),
    );
  const booking = eventsOf(rules, [opened()], override(), answer("hold"));
  given(...booking)
    .when(answer("book"))
    .sends(
      { to: "internal" },
      stage("B"),
      told("DONE", "PROCESSING"),
      { to: "internal" },
      { to: "internal" },
      {
        to: "internal",
      },
      { to: "command" },
    );
  const refusing = eventsOf(rules, [opened()], override());
  given(...refusing)
    .when(answer("hold", "refused", { code: "REFUSED" }))
    .leads({ status: "FAILED" })
    .sends(
      { to: "internal" },
      { to: "public" },
      stage("F"),
      { name: "review.open" },
      told("FAILED", "FAILED"),
    );
  given(...refusing)
    .when(override())
    .nothing();
  const again = override([hotel("astor")], {}, "XN-NEXT");
  given(...after(refusing, answer("hold", "refused", { code: "REFUSED" })))
    .when(again)
    .leads({ round: 2, assignment: { candidates: [{ hotelUrn: "urn:hotel:astor" }] } });
});

t.test("what cannot be done is told to the wave", async (t) => {
  const given = givenOf(t, rules, subCaseId);
  const settled = eventsOf(rules, [opened()], received("sub-case.settle"));
  const table: [string, SubCaseEvent[], string][] = [
    ["under way", story(), "PROCESSING"],
    ["declined", after(ready, decline), "ROLLING_BACK"],
    ["seen to by a person", settled, "SETTLED"],
    ["closed", after(ready, standing("suspend", 10)), "CLOSED"],
  ];
  for (const [, events, state] of table)
    given(...events)
      .when(override())
      .then({ type: "subcase.override-refused" })
      .sends(told("REFUSED", state));
  given(...ready)
    .when(override([hotel("astor")]))
    .sends(told("REFUSED", "BOOKED_THERE"));
  given(...ready)
    .when(override([hotel("dakota")], { shape: 1 }))
    .sends(told("REFUSED", "REGROUPED"));
  given(...ready)
    .when(override([hotel("astor")], {}, ""))
    .then({ type: "subcase.override-refused" });
  const { data } = override([hotel("astor")]);
  const { overrideId: _, ...byWave } = data as OverrideOrder;
  given(...ready)
    .when(received("sub-case.override", byWave))
    .nothing();
});

/** Of the second round. */
const second = (...verbs: VendorVerb[]) => doneIn(2, ...verbs);
const changing = after(ready, override());
const leaving = (verb: VendorVerb) => answer(verb, "done", old);

t.test("the new room is booked, then the old one is given back", async (t) => {
  const given = givenOf(t, rules, subCaseId);
  given(...ready)
    .when(override())
    .then({ type: "subcase.switch-begun" }, { type: "subcase.step-started" })
    .leads({ status: "PROCESSING", round: 2, card: { status: "ACTIVE" }, offer: { state: "PENDING" } })
    .sends(
      { to: "public", type: "subcase.processing" },
      { to: "internal" },
      calls("stayhub", "hold", "room.2.1"),
    );
  given(...after(changing, ...second("hold")))
    .when(answer("book", "done", { round: 2 }))
    .sends(
      { to: "internal" },
      told("DONE", "PROCESSING"),
      { to: "internal" },
      { to: "internal" },
      { to: "internal" },
      calls("ridefleet", "cancel-ride", "ride.1"),
    );
  const booked = after(changing, ...second("hold", "book"));
  given(...after(booked, leaving("cancel-ride")))
    .when(leaving("cancel"))
    .leads({
      left: { reservation: { status: "CANCELLED" }, ride: { status: "cancelled" } },
      reservation: { status: "CONFIRMED", hotelUrn: "urn:hotel:dakota" },
    });
  const all = after(booked, leaving("cancel-ride"), leaving("cancel"), ...second("book-ride"));
  given(...all)
    .when(answer("send", "done", { round: 2 }))
    .leads({ status: "OFFER_READY", left: undefined, offer: { state: "READY" }, round: 2 })
    .sends(
      { to: "internal" },
      { to: "public", type: "subcase.offer-ready", data: { hotelUrn: "urn:hotel:dakota" } as never },
      {
        to: "public",
        type: "voucher.amended",
        data: { status: "ISSUED", hotelUrn: "urn:hotel:dakota" } as never,
      },
      stage("B", 2),
    );
  t.match(stateOf(all).call, {
    reference: `${subCaseId}.offer-notice.2`,
    request: { template: "hotel-changed", facts: { hotel: "dakota" } },
  });
  const end = after(all, ...second("send"));
  t.strictSame(stepsOf(end).slice(forward.length + 1), [
    "hold DONE",
    "book DONE",
    "voucher DONE",
    "leave-ride DONE",
    "leave-room DONE",
    "transport DONE",
    "notify DONE",
  ]);
  given(...end)
    .when(accept)
    .sends({ to: "public", type: "subcase.resolved" }, stage("R", 2));
});

t.test("who has accepted has accepted the other hotel, too", async (t) => {
  const given = givenOf(t, rules, subCaseId);
  const moved = after(
    ready,
    accept,
    override(),
    ...second("hold", "book"),
    leaving("cancel-ride"),
    leaving("cancel"),
    ...second("book-ride"),
  );
  given(...moved)
    .when(accept)
    .nothing();
  given(...moved)
    .when(answer("send", "done", { round: 2 }))
    .leads({ status: "RESOLVED", offer: { state: "ACCEPTED" } })
    .sends({ to: "internal" }, { to: "public", type: "voucher.amended" }, stage("R", 2));
});

t.test("when the hotel has no room, the old one stands", async (t) => {
  const given = givenOf(t, rules, subCaseId);
  const before = stateOf(ready);
  given(...changing)
    .when(answer("hold", "refused", { round: 2 }))
    .then(
      { type: "subcase.step-failed" },
      { type: "subcase.hotel-refused" },
      { type: "subcase.switch-abandoned" },
    )
    .leads({
      status: "OFFER_READY",
      left: undefined,
      reservation: before.reservation!,
      voucher: before.voucher!,
    })
    .sends(
      { to: "internal" },
      { name: "review.open", data: { category: "BOOKING_FAILED", origin: "override" } as never },
      told("FAILED", "OFFER_READY"),
    );
  const paid = after(ready, override([cardHotel("dakota")]), ...second("hold"));
  const payment = answer("issue-card", "done", { reference: "payment.2.1" });
  const taken = after(paid, payment, answer("book", "refused", { round: 2 }));
  t.equal(stateOf(taken).call?.step, "cancel-payment", "what was paid at the new one is taken back first");
  given(...taken)
    .when(answer("cancel-card", "done", { reference: "payment.2.1" }))
    .leads({ status: "OFFER_READY", left: undefined });
  const state = stateOf(changing);
  t.match(offerView(state, 1, undefined), { state: "READY", hotel: { urn: "urn:hotel:astor" } });
  t.match(reservationView(state), { hotelUrn: "urn:hotel:astor", status: "CONFIRMED" });
  given(...changing)
    .when(accept)
    .refused("conflict/state", { state: "PENDING" });
  given(...changing)
    .when(decline)
    .refused("conflict/state", { state: "PENDING" });
});

t.test("a closing in the middle, and what the old hotel tells meanwhile", async (t) => {
  const given = givenOf(t, rules, subCaseId);
  const closed = after(changing, standing("suspend", 10));
  t.equal(shown(stateOf(closed)).offer.state, "WITHDRAWN");
  given(...after(closed, ...second("hold")))
    .when(standing("resume", 60))
    .leads({ status: "PROCESSING", call: { step: "book" } });
  given(...closed)
    .when(standing("resume", 60))
    .sends(stage("B", 2), { to: "command", name: "vendor-stayhub.hold" }, { to: "internal" });
  const report = (state: string) =>
    received("sub-case.record-stay", {
      reference: `${subCaseId}.room.1.1`,
      bookingId: "B1",
      state,
      at: "2026-11-21T22:00:00Z",
    });
  given(...changing)
    .when(report("CANCELLED"))
    .then({ type: "subcase.stay-noted", data: { ofLeft: true } })
    .leads({ left: { reservation: { status: "CANCELLED" } } })
    .sends();
  given(...after(changing, report("CANCELLED")))
    .when(answer("hold", "refused", { round: 2 }))
    .leads({ status: "ROLLING_BACK", roomLost: true });
  given(...changing)
    .when(report("CHECKED_IN"))
    .sends({ name: "review.open", data: { origin: "former-hotel" } as never });
  given(...after(changing, report("CHECKED_IN")))
    .when(answer("hold", "refused", { round: 2 }))
    .leads({ status: "RESOLVED" });
  given(...after(changing, report("CHECKED_IN"), report("CHECKED_IN")))
    .when(report("CHECKED_IN"))
    .nothing();
});

t.test("what the former hotel keeps is a person's work, and the group goes on", async (t) => {
  const given = givenOf(t, rules, subCaseId);
  const booked = after(changing, ...second("hold", "book"), leaving("cancel-ride"));
  given(...booked)
    .when(answer("cancel", "refused", old))
    .leads({ call: { step: "transport" }, status: "PROCESSING" })
    .sends(
      { to: "internal" },
      {
        name: "review.open",
        data: { origin: "former-hotel", occurrence: `${subCaseId}.room.1.1` } as never,
      },
      { to: "internal" },
      { to: "command", name: "transport.book-ride" },
    );
});

t.test("what vendors tell of a group that isn't", async (t) => {
  const given = givenOf(t, rules, subCaseId);
  for (const name of ["record-stay", "record-card-transaction"])
    given()
      .when(received(`sub-case.${name}`, {}))
      .refused("not-found/resource");
});

t.test("book-rooms waits for the wave's choice", async (t) => {
  const given = givenOf(t, rules, subCaseId);
  const book = (waveId = "XN-WAVE") => received("sub-case.book", { waveId });
  const allocated = eventsOf(rules, [opened()], assign({ book: false }));
  given(opened()).when(book()).notYet();
  given(...allocated)
    .when(book("XN-WAVE2"))
    .notYet();
  given(...allocated)
    .when(book())
    .then({ type: "subcase.processing" }, { type: "subcase.step-started" });
  given(...after(allocated, book()))
    .when(book())
    .nothing();
  given(...ready)
    .when(book())
    .nothing();
  given(...after(allocated, received("sub-case.settle")))
    .when(book())
    .nothing();
});

t.test("chosen about a review item that stands open: no other is opened when there is no room", async (t) => {
  const given = givenOf(t, rules, subCaseId);
  const onDesk = (overrideId?: string) => {
    const order = override([hotel("dakota")], {}, overrideId);
    return { ...order, data: { ...(order.data as OverrideOrder), onDesk: true } };
  };
  const roomless = after([opened()], onDesk());
  given(...roomless)
    .when(answer("hold", "refused", { code: "REFUSED" }))
    .leads({ status: "FAILED" })
    .sends({ to: "internal" }, { to: "public" }, stage("F"), told("FAILED", "FAILED"));
  const moving = after(ready, onDesk());
  given(...moving)
    .when(answer("hold", "refused", { round: 2 }))
    .leads({ status: "OFFER_READY" })
    .sends({ to: "internal" }, told("FAILED", "OFFER_READY"));
  const plain = after(
    after(roomless, answer("hold", "refused", { code: "REFUSED" })),
    override(undefined, {}, "XN-NEXT"),
  );
  given(...plain)
    .when(answer("hold", "refused", { code: "REFUSED", round: 2 }))
    .sends(
      { to: "internal" },
      { to: "public" },
      stage("F", 2),
      { name: "review.open" },
      {
        ...told("FAILED", "FAILED"),
        data: { overrideId: "XN-NEXT", outcome: "FAILED", state: "FAILED" },
      },
    );
  const housed = { ...stateOf(roomless), roomLost: "CANCELLED" };
  t.notOk(isOnDesk(housed as never), "a room that is lost later is another matter");
});
