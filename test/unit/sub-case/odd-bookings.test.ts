// What a vendor has for a group that the group does not know of: when it is told of, given back, and how it is found.
import t from "tap";
import { oddityOf } from "../../../actors/sub-case/odd-bookings.ts";
import type { LedgerEntry, LedgerRequest } from "../../../actors/vendor-adapter/ports.ts";
import { staysOf } from "../../../actors/vendor-adapter/reconcile.ts";
import type { BookingOddity, OddBooking, StandingBooking } from "../../../schemas/vendor-call.ts";
import { isForgotten } from "../../../scripts/administration/consistency/ledgers.ts";
import { evening, eventsOf, givenOf, received, supervisor, trace } from "../../harness/given.ts";
import {
  answer,
  assign,
  bookedByPhone,
  decline,
  done,
  hotel,
  opened,
  ready,
  refusedBy,
  reissue,
  review,
  rules,
  stateOf,
  story,
  subCaseId,
  terms,
} from "./group-story.ts";

const odd = (oddity: BookingOddity, bookingId: string, room = "room.1.1") =>
  received("sub-case.note-oddity", {
    ...{ vendor: "stayhub", reference: `${subCaseId}.${room}`, bookingId, oddity },
  } satisfies OddBooking);
const asksBack = (bookingId: string, room = "room.1.1") => ({
  to: "command" as const,
  ...{ name: "vendor-stayhub.cancel", entity: subCaseId },
  data: { reference: `${subCaseId}.${room}.odd.${bookingId}`, request: { bookingId } },
});

t.test("a booking that the group does not have is given back, and a person hears of it", async (t) => {
  const given = givenOf(t, rules, subCaseId);
  for (const oddity of ["TWIN", "STRAY"] as const) {
    given(...ready)
      .when(odd(oddity, "B2"))
      .then({ type: "subcase.odd-booking" })
      .leads({ status: "OFFER_READY", reservation: { bookingId: "B1", status: "CONFIRMED" } })
      .sends(review("BOOKING_FAILED", "reconciliation"), asksBack("B2"));
    given(...ready)
      .when(odd(oddity, "B1"))
      .then();
  }
  given(...ready)
    .when(odd("PARTLY_CANCELLED", "B1"))
    .then({ type: "subcase.odd-booking" })
    .sends(review("BOOKING_FAILED", "reconciliation"));
  given(...ready)
    .when(odd("PARTLY_CANCELLED", "B2"))
    .then();
  const told = eventsOf(rules, ready, odd("TWIN", "B2"));
  given(...told)
    .when(odd("TWIN", "B2"))
    .then();
  const late = answer("cancel", "done");
  given(...told)
    .when({ ...late, data: { ...(late.data as object), reference: `${subCaseId}.room.1.1.odd.B2` } })
    .then();
  // Which is its own nobody knows before the answer is here: it is told again then.
  for (const [oddity, bookingId] of [
    ["TWIN", "B1"],
    ["TWIN", "B2"],
    ["STRAY", "B1"],
  ] as const)
    given(...story(...done("hold")))
      .when(odd(oddity, bookingId))
      .nothing();
});

const refused = eventsOf(
  rules,
  [opened()],
  assign({ candidates: [hotel("A"), hotel("B")] }),
  ...refusedBy(1, "SOLD_OUT"),
);
const failed = eventsOf(rules, [opened()], assign({ candidates: [hotel("A")] }), ...refusedBy(1, "SOLD_OUT"));
const declined = eventsOf(rules, ready, decline, ...done("cancel-ride", "cancel-card", "cancel"));
const released = eventsOf(
  rules,
  story(...done("hold")),
  received("sub-case.regroup", { shape: 1, passengers: [], moved: [], mergedInto: "XN-OTHER" }),
  answer("book", "refused", { code: "SOLD_OUT" }),
);

const longer = { checkIn: "2026-11-21", checkOut: "2026-11-23", nights: 2 };
const amending = eventsOf(rules, ready, received("sub-case.amend-stay", { shape: 1, stay: longer }));

t.test("whose a booking is", (t) => {
  for (const [what, past, bookingId, room, expected] of [
    ["its own", ready, "B1", "room.1.1", undefined],
    ["beside its own", ready, "B2", "room.1.1", "TWIN"],
    ["beside the one that it has given back", declined, "B2", "room.1.1", "TWIN"],
    ["the one that it has given back, as far as it knows", declined, "B1", "room.1.1", undefined],
    [
      "its own, perhaps under another number since its dates were changed",
      amending,
      "B2",
      "room.1.1",
      undefined,
    ],
    ["its own may be, once its answer is here", story(...done("hold")), "B1", "room.1.1", undefined],
    ["refused, and the group let go meanwhile", released, "B1", "room.1.1", "STRAY"],
    ["of the hotel before", refused, "B1", "room.1.1", "STRAY"],
    ["of the hotel that is asked now", refused, "B1", "room.1.2", undefined],
    ["of an attempt that it knows nothing of", ready, "B2", "room.9.9", undefined],
  ] as const)
    t.equal(oddityOf(stateOf([...past]), { reference: `${subCaseId}.${room}`, bookingId }), expected, what);
  t.end();
});

t.test("what may be the room that a person has found is a person's to give back", (t) => {
  const byPhone = [
    ...failed,
    ...rules.decide(
      stateOf(failed),
      received("sub-case.reserve-manually", bookedByPhone(), { principal: supervisor, entity: subCaseId }),
      { known: null, terms },
    ),
  ];
  const given = givenOf(t, rules, subCaseId);
  for (const [past, messages] of [
    [failed, [review("BOOKING_FAILED", "reconciliation"), asksBack("B1")]],
    [eventsOf(rules, failed, received("sub-case.settle")), [review("BOOKING_FAILED", "reconciliation")]],
    [byPhone, [review("BOOKING_FAILED", "reconciliation")]],
  ] as const) {
    given(...past)
      .when(odd("STRAY", "B1"))
      .then({ type: "subcase.odd-booking" })
      .sends(...messages);
  }
  given(...ready)
    .when(odd("STRAY", "B9", "room.9.9"))
    .nothing();
  t.end();
});

t.test("an attempt that is refused is asked after", async (t) => {
  t.match(stateOf(refused), {
    givenUpAt: ["stayhub"],
    givenUp: [{ vendor: "stayhub", reference: `${subCaseId}.room.1.1` }],
  });
  t.equal(stateOf(ready).givenUp, undefined);

  const changedAt = evening.toISOString();
  const entry = (reference: string, state: string, more: Partial<LedgerEntry> = {}): LedgerEntry => ({
    ...{ kind: "booking", id: `B-${reference}`, reference, state, changedAt },
    ...more,
  });
  const asked: LedgerRequest[] = [];
  const looked: StandingBooking[] = [];
  const port = {
    reconcile: async (request: LedgerRequest) => {
      asked.push(request);
      const entries = [
        entry("own", "BOOKED"),
        entry("own-gone", "CANCELLED"),
        entry("own-partly", "BOOKED", { oddity: "PARTLY_CANCELLED" }),
        entry("given-up", "BOOKED"),
        entry("given-up-gone", "CANCELLED"),
      ];
      return { outcome: "done" as const, entries };
    },
  };
  const standing = async () => ({ references: ["own", "given-up"] });
  const oddAmong = async (bookings: readonly StandingBooking[]): Promise<OddBooking[]> => {
    looked.push(...bookings);
    return bookings
      .filter(({ reference }) => reference === "given-up")
      .map((booking) => ({ vendor: "rapid", ...booking, oddity: "STRAY" }));
  };
  const signal = new AbortController().signal;
  const ask = staysOf(port, "rapid", { standing, oddAmong });
  const page = await ask({}, { traceparent: trace.traceparent, signal });
  t.same(asked[0]?.standing, ["own", "given-up"]);
  t.same(
    looked.map(({ reference }) => reference),
    ["own", "own-partly", "given-up"],
    "what is cancelled is nobody's question",
  );
  const reports = page.outcome === "done" ? page.reports : [];
  t.match(
    reports.map(({ reference, name, data }) => ({ reference, name, data })),
    [
      { reference: "own-gone", name: "sub-case.record-stay" },
      { reference: "own-partly", name: "sub-case.note-oddity", data: { oddity: "PARTLY_CANCELLED" } },
      { reference: "given-up", name: "sub-case.note-oddity", data: { oddity: "STRAY", vendor: "rapid" } },
      { reference: "given-up-gone", name: "sub-case.record-stay" },
    ],
  );
  t.equal(reports.length, 4);
});

t.test("the call says when its step was begun, however often it is sent", async (t) => {
  const begun = evening.toISOString();
  const again = eventsOf(rules, story(), reissue(31));
  t.match(rules.outgoing(again.at(-1)!, stateOf(again)), [
    { name: "vendor-stayhub.hold", data: { tries: 2, doubt: true, firstAskedAt: begun } },
  ]);
});

t.test("a stay that was over before what a vendor lists is no difference", (t) => {
  const subCase = (checkOut: string) => ({ assignment: { stay: { checkOut } } });
  const now = new Date("2026-11-30T12:00:00Z");
  for (const [vendor, listsDays, checkOut, expected] of [
    ["hotelbeds", 30, "2026-10-31", false],
    ["hotelbeds", 30, "2026-10-30", true],
    ["stayhub", undefined, "2020-01-01", false],
    ["direct", undefined, "2020-01-01", true],
  ] as const)
    t.equal(isForgotten(subCase(checkOut), { vendor, listsDays }, now), expected, `${vendor} ${checkOut}`);
  t.end();
});
