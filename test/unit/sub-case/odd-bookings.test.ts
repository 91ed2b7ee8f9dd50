// What a vendor has for a group that the group does not know of: when it is told of, given back, and how it is found.
import t from "tap";
import { NotYet } from "../../../actors/runtime/decider.ts";
import type { LedgerEntry, LedgerRequest } from "../../../actors/vendor-adapter/ports.ts";
import { staysOf } from "../../../actors/vendor-adapter/reconcile.ts";
import type { BookingOddity, OddBooking } from "../../../schemas/vendor-call.ts";
import { isForgotten } from "../../../scripts/administration/consistency/ledgers.ts";
import { evening, eventsOf, givenOf, received, trace } from "../../harness/given.ts";
import {
  answer,
  assign,
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
  const booking = story(...done("hold"));
  t.throws(
    () => rules.decide(stateOf(booking), odd("TWIN", "B2")),
    new NotYet("Its own answer has not arrived yet."),
    "which is its own?",
  );
});

t.test("an attempt that is refused is asked after", async (t) => {
  const refused = eventsOf(
    rules,
    [opened()],
    assign({ candidates: [hotel("A"), hotel("B")] }),
    ...refusedBy(1, "SOLD_OUT"),
  );
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
  const standing = async () => ({
    references: ["own", "own-gone", "own-partly"],
    givenUp: ["given-up", "given-up-gone"],
  });
  const signal = new AbortController().signal;
  const page = await staysOf(port, standing, "rapid")({}, { traceparent: trace.traceparent, signal });
  t.same(asked[0]?.standing, ["own", "own-gone", "own-partly", "given-up", "given-up-gone"]);
  const reports = page.outcome === "done" ? page.reports : [];
  t.match(
    reports.map(({ reference, name, data }) => ({ reference, name, data })),
    [
      { reference: "own-gone", name: "sub-case.record-stay" },
      { reference: "own-partly", name: "sub-case.note-oddity", data: { oddity: "PARTLY_CANCELLED" } },
      { reference: "given-up", name: "sub-case.note-oddity", data: { oddity: "STRAY", vendor: "rapid" } },
    ],
  );
  t.equal(reports.length, 3);
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
