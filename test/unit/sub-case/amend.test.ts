// Other dates for a group, in every state: its hotel is asked, another one is sought when it cannot, and nothing runs into anything else.
import t from "tap";
import type { Received } from "../../../actors/runtime/decider.ts";
import type { SubCaseEvent } from "../../../actors/sub-case/state.ts";
import { reservationView } from "../../../actors/sub-case/view.ts";
import { eventsOf, givenOf, received } from "../../harness/given.ts";
import {
  accept,
  answer,
  assign,
  calls,
  cardHotel,
  caseId,
  decline,
  done,
  doneIn,
  forward,
  opened,
  ready,
  refusedBy,
  reissue,
  review,
  rules,
  stage,
  standing,
  stateOf,
  stepsOf,
  story,
  subCaseId,
  typesOf,
} from "./group-story.ts";

const nextFlight = { number: "XN486", scheduledDeparture: "2026-11-23T14:00:00.000Z" };
const until = (checkOut: string, shape = 1, nights = 2): Received =>
  received("sub-case.amend-stay", { shape, nextFlight, stay: { checkIn: "2026-11-21", checkOut, nights } });
const longer = until("2026-11-23");
const longest = until("2026-11-24", 2, 3);
const loaded = (shape = 1) => answer("load-card", "done", { reference: `card.1.load.${shape}` });
const written = (shape = 1, outcome: "done" | "refused" = "done") =>
  answer("send", outcome, { reference: `stay-notice.${shape}` });
const resolved = eventsOf(rules, ready, accept);
const failed = story(...refusedBy(1, "INVALID_REQUEST", "SOLD_OUT", "SOLD_OUT"));
const modified = (outcome: "done" | "refused" | "unavailable" | "in-doubt" = "done", more = {}) =>
  answer("modify", outcome, more);

t.test("a room that stands gets the new dates, and the voucher follows", async (t) => {
  for (const events of [ready, resolved]) {
    const { status } = stateOf(events);
    givenOf(
      t,
      rules,
      subCaseId,
    )(...events)
      .when(longer)
      .then({ type: "subcase.stay-amended" }, { type: "subcase.step-started" })
      .leads({ status, nextFlight: { number: "XN486" }, call: { step: "modify", doubt: false } });
    const asked = eventsOf(rules, events, longer);
    const command = rules.outgoing(asked.at(-1) as SubCaseEvent, stateOf(asked)).at(-1);
    t.match(command, {
      ...calls("stayhub", "modify", "room.1.1.stay.1"),
      data: {
        request: {
          bookedUnder: `${subCaseId}.room.1.1`,
          bookingId: "B1",
          checkIn: "2026-11-21",
          checkOut: "2026-11-23",
        },
      },
    });
    const changed = eventsOf(rules, asked, modified());
    t.match(stateOf(changed), {
      call: {
        step: "load-card",
        verb: "load-card",
        reference: `${subCaseId}.card.1.load.1`,
        request: { issuedUnder: `${subCaseId}.card.1`, loaded: { amountMinor: 10_000, currency: "USD" } },
      },
    });
    const writing = eventsOf(rules, changed, loaded());
    t.match(stateOf(writing).call, {
      step: "notify-stay",
      verb: "send",
      vendor: "sendwell",
      reference: `${subCaseId}.stay-notice.1`,
      request: {
        template: "stay-changed",
        caseId,
        subCaseId,
        facts: { flight: "XN482", hotel: "astor", checkIn: "2026-11-21", checkOut: "2026-11-23" },
      },
    });
    const after = eventsOf(rules, writing, written());
    t.match(stateOf(after), {
      status,
      call: undefined,
      untold: undefined,
      assignment: { stay: { checkOut: "2026-11-23", nights: 2 } },
      reservation: { status: "CONFIRMED", confirmationNumber: "C-78", totalMinor: 25_000 },
      card: { status: "ACTIVE", balanceMinor: 10_000, loadedMinor: 10_000 },
      offer: stateOf(events).offer,
    });
    t.match(reservationView(stateOf(after)), { checkOut: "2026-11-23", confirmationNumber: "C-78" });
    const completed = changed.find(
      (event) => event.type === "subcase.step-completed" && event.data.step === "modify",
    );
    const told = rules.outgoing(completed as SubCaseEvent, stateOf(after)).at(-1);
    t.match(told, {
      to: "public",
      type: "voucher.amended",
      caseId,
      data: { status: "AMENDED", checkOut: "2026-11-23" },
    });
  }
});

t.test("dates that are as they were ask nobody", async (t) => {
  givenOf(
    t,
    rules,
    subCaseId,
  )(...ready)
    .when(until("2026-11-22", 1, 1))
    .then({ type: "subcase.stay-amended" })
    .sends({
      to: "command",
      name: "transport.follow-flight",
      entity: subCaseId,
      data: { reference: `${subCaseId}.ride.1`, departure: "2026-11-23T14:00:00.000Z", shape: 1 },
    })
    .leads({ nextFlight: { number: "XN486" } });
  givenOf(
    t,
    rules,
    subCaseId,
  )(...eventsOf(rules, ready, longer))
    .when(longer)
    .nothing();
  givenOf(
    t,
    rules,
    subCaseId,
  )(...ready)
    .when(longest)
    .notYet();
});

t.test("a saga under way asks for them before its offer", async (t) => {
  const events = story(...done("hold", "book", "issue-card"));
  const amended = eventsOf(rules, events, longer);
  t.same(typesOf(amended).slice(events.length), ["subcase.stay-amended"]);
  const asking = eventsOf(rules, amended, ...done("book-ride", "send"));
  t.match(stateOf(asking), { status: "PROCESSING", call: { step: "modify" } });
  const offered = eventsOf(rules, asking, modified(), loaded(), written());
  t.match(stateOf(offered), { status: "OFFER_READY", assignment: { stay: { nights: 2 } } });
  const refused = eventsOf(rules, asking, modified("refused"));
  t.match(stateOf(refused), { status: "OFFER_READY", unfit: true, assignment: { stay: { nights: 1 } } });
});

t.test("changed again while the hotel is asked", async (t) => {
  const twice = eventsOf(rules, ready, longer, longest);
  t.match(stateOf(twice), { call: { reference: `${subCaseId}.room.1.1.stay.1` } });
  const again = eventsOf(rules, twice, modified());
  t.match(stateOf(again), {
    call: { reference: `${subCaseId}.room.1.1.stay.2` },
    assignment: { stay: { nights: 2 } },
  });
  const both = eventsOf(
    rules,
    again,
    modified("done", { reference: "room.1.1.stay.2" }),
    loaded(2),
    written(2),
  );
  t.same(
    stateOf(both).steps.flatMap(({ name, result }) =>
      name.startsWith("notify") ? [`${name} ${result}`] : [],
    ),
    ["notify DONE", "notify-stay DONE"],
    "once, of the dates that stand",
  );
  t.match(stateOf(both), {
    call: undefined,
    assignment: { stay: { nights: 3 } },
    card: { loadedMinor: 15_000 },
  });
});

t.test("a hotel that cannot: another one is sought, or a person sees to it", async (t) => {
  const given = givenOf(t, rules, subCaseId);
  const asked = eventsOf(rules, ready, longer);
  const replace = { to: "command" as const, name: "case.replace-group", entity: caseId };
  const after = (events: SubCaseEvent[], command: Received) => {
    const all = eventsOf(rules, events, command);
    const last = all.at(-1) as SubCaseEvent;
    t.equal(last.type, "subcase.outgrown");
    return rules.outgoing(last, stateOf(all));
  };
  t.match(after(asked, modified("refused")), [replace]);
  given(...asked)
    .when(modified("refused"))
    .leads({ status: "OFFER_READY", unfit: true, assignment: { stay: { nights: 1 } } });
  const arrived = eventsOf(
    rules,
    asked,
    received("sub-case.record-stay", {
      reference: `${subCaseId}.room.1.1`,
      bookingId: "B1",
      state: "CHECKED_IN",
      at: "2026-11-21T23:00:00Z",
    }),
  );
  t.match(after(arrived, modified("refused")), [review("BOOKING_FAILED", "amendment")]);
  const late = eventsOf(
    rules,
    asked,
    modified("unavailable"),
    reissue(60),
    modified("unavailable"),
    reissue(600),
  );
  t.match(after(late, modified("unavailable")), [review("BOOKING_FAILED", "amendment")]);
  // Once the group has moved, the new hotel has it for the dates that it needs.
  const moved = eventsOf(
    rules,
    eventsOf(rules, asked, modified("refused")),
    received("sub-case.override", {
      assignment: {
        ...(assign({ waveId: "XN-WAVE2", shape: 1 }).data as object),
        stay: { checkIn: "2026-11-21", checkOut: "2026-11-23", nights: 2 },
        candidates: [{ ...stateOf(ready).assignment!.candidates[1]! }],
      },
    }),
    ...doneIn(2, "hold", "book"),
  );
  t.match(stateOf(moved), { status: "PROCESSING", assignment: { stay: { nights: 2 } } });
});

t.test("cards follow a longer stay, and a shorter one takes nothing back", async (t) => {
  const refused = answer("load-card", "refused", { reference: "card.1.load.1", code: "PAYMENT_DECLINED" });
  const without = eventsOf(rules, ready, longer, modified(), refused, written());
  t.match(stateOf(without), { call: undefined, status: "OFFER_READY", loadRefused: 1 });
  const failed = without.find(
    (event) => event.type === "subcase.step-failed" && event.data.step === "load-card",
  );
  t.match(
    rules.outgoing(failed as SubCaseEvent, stateOf(without)).at(-1),
    review("PAYMENT_FAILED", "load-card"),
  );
  const shorter = eventsOf(rules, ready, longer, modified(), loaded(), written(), until("2026-11-22", 2, 1));
  const back = eventsOf(rules, shorter, modified("done", { reference: "room.1.1.stay.2" }), written(2));
  t.match(stateOf(back), {
    call: undefined,
    assignment: { stay: { nights: 1 } },
    card: { loadedMinor: 10_000 },
  });
  const byCard = eventsOf(
    rules,
    [opened()],
    assign({ candidates: [cardHotel("astor")] }),
    answer("hold"),
    answer("issue-card", "done", { reference: "payment.1.1" }),
    ...done("book", "issue-card", "book-ride", "send"),
  );
  const asked = eventsOf(rules, byCard, longer, modified());
  t.match(stateOf(asked).call, {
    step: "load-payment",
    reference: `${subCaseId}.payment.1.1.load.1`,
    request: { loaded: { amountMinor: 25_000, currency: "USD" } },
  });
  const paid = eventsOf(rules, asked, answer("load-card", "done", { reference: "payment.1.1.load.1" }));
  t.match(stateOf(paid), { payment: { loadedMinor: 25_000 }, call: { step: "load-card" } });
});

t.test("the message of other dates keeps nothing waiting", async (t) => {
  const writing = eventsOf(rules, ready, longer, modified(), loaded());
  t.match(stateOf(writing), { status: "OFFER_READY", untold: 1, call: { step: "notify-stay" } });
  const given = givenOf(t, rules, subCaseId)(...writing);
  const left = { type: "subcase.step-failed", data: { step: "notify-stay", result: "SKIPPED" } } as const;
  given
    .when(decline)
    .then(left, { type: "subcase.declined" }, { type: "subcase.step-started" })
    .leads({ status: "ROLLING_BACK", call: { step: "cancel-transport" } });
  given
    .when(longest)
    .then({ type: "subcase.stay-amended" }, left, { type: "subcase.step-started" })
    .leads({ call: { step: "modify", reference: `${subCaseId}.room.1.1.stay.2` } });
  given.when(until("2026-11-21", 2, 0)).leads({ status: "ROLLING_BACK", call: { step: "cancel-transport" } });
  given
    .when(
      received("sub-case.record-stay", {
        reference: `${subCaseId}.room.1.1`,
        bookingId: "B1",
        state: "CANCELLED",
        at: "2026-11-21T23:00:00Z",
      }),
    )
    .leads({ status: "ROLLING_BACK", roomLost: true });
  // Where the hotel refuses the next dates, the passengers hear of those that stand.
  const refused = eventsOf(rules, writing, longest, modified("refused", { reference: "room.1.1.stay.2" }));
  t.match(stateOf(refused), { unfit: true, call: { step: "notify-stay", reference: /stay-notice\.1$/ } });
  const unsent = eventsOf(rules, writing, written(1, "refused"));
  t.match(stateOf(unsent), { status: "OFFER_READY", call: undefined, untold: undefined });
  const failed = unsent.find((event) => event.type === "subcase.step-failed");
  t.match(
    rules.outgoing(failed as SubCaseEvent, stateOf(unsent)).at(-1),
    review("PARTIAL_FULFILLMENT", "notify-stay"),
  );
  const nobody = eventsOf(
    rules,
    [opened({ passengers: stateOf(ready).passengers.map((one) => ({ ...one, contact: {} })) })],
    assign(),
    ...done("hold", "book", "issue-card", "book-ride"),
    longer,
    modified(),
    loaded(),
  );
  t.match(stateOf(nobody), { status: "OFFER_READY", call: undefined });
  t.notOk(stateOf(nobody).steps.some(({ name }) => name.startsWith("notify")));
});

t.test("in doubt: looked up as any call, and never lost", async (t) => {
  const doubtful = eventsOf(rules, ready, longer, modified("in-doubt"), reissue(60));
  t.match(stateOf(doubtful), { call: { step: "modify", doubt: true, tries: 2 } });
  t.match(stateOf(eventsOf(rules, doubtful, modified())), { assignment: { stay: { nights: 2 } } });
});

t.test("nothing else runs into it", async (t) => {
  const asked = eventsOf(rules, ready, longer);
  const given = givenOf(t, rules, subCaseId);
  given(...asked)
    .when(decline)
    .refused("conflict/state", { state: "READY" });
  const accepted = eventsOf(rules, asked, accept, modified(), loaded(), written());
  t.match(stateOf(accepted), { status: "RESOLVED", assignment: { stay: { nights: 2 } } });
  const lost = received("sub-case.record-stay", {
    reference: `${subCaseId}.room.1.1`,
    bookingId: "B1",
    state: "CANCELLED",
    at: "2026-11-21T23:00:00Z",
  });
  const cancelled = eventsOf(rules, asked, lost);
  t.match(stateOf(cancelled), { call: { step: "modify" } });
  t.match(stateOf(eventsOf(rules, cancelled, modified("refused"))), {
    status: "ROLLING_BACK",
    roomLost: true,
  });
  const released = eventsOf(rules, asked, until("2026-11-21", 2, 0));
  t.match(stateOf(released), { status: "ROLLING_BACK", call: { step: "modify" } });
  const back = eventsOf(rules, released, modified(), ...done("cancel-ride", "cancel-card", "cancel"));
  t.match(stateOf(back), { status: "NOT_REQUIRED" });
});

t.test("while the case is closed it waits", async (t) => {
  const closed = eventsOf(rules, ready, standing("suspend", 10), longer);
  t.match(stateOf(closed), { call: undefined, wanted: { nights: 2 } });
  t.match(stateOf(eventsOf(rules, closed, standing("resume", 60))), { call: { step: "modify" } });
  const asked = eventsOf(rules, ready, longer, standing("suspend", 10));
  t.match(stateOf(eventsOf(rules, asked, standing("resume", 60))), {
    call: { step: "modify", tries: 2, doubt: true },
  });
  const told = eventsOf(rules, asked, modified());
  t.match(stateOf(told), { assignment: { stay: { nights: 2 } }, call: undefined });
});

t.test("without a room: hotels for other dates are forgotten, who needed none may need one", async (t) => {
  const waiting = eventsOf(rules, [opened()], assign({ book: false }), longer);
  t.match(stateOf(waiting), { status: "PENDING", assignment: undefined, wanted: { nights: 2 } });
  t.match(stateOf(eventsOf(rules, failed, longer)), { status: "FAILED", assignment: undefined });
  const none = eventsOf(
    rules,
    ready,
    until("2026-11-21", 1, 0),
    ...done("cancel-ride", "cancel-card", "cancel"),
  );
  t.equal(stateOf(none).status, "NOT_REQUIRED");
  const unheard = eventsOf(rules, none, standing("suspend", 10), standing("resume", 60));
  t.match(rules.outgoing(unheard.at(-1) as SubCaseEvent, stateOf(unheard)), [stage("N")]);
  const needed = eventsOf(rules, none, until("2026-11-23", 2));
  t.match(stateOf(needed), {
    status: "PENDING",
    reservation: undefined,
    released: undefined,
    offer: { state: "PENDING" },
  });
  const again = eventsOf(
    rules,
    needed,
    assign({
      shape: 2,
      waveId: "XN-WAVE2",
      stay: { checkIn: "2026-11-21", checkOut: "2026-11-23", nights: 2 },
    }),
    ...doneIn(2, ...forward),
  );
  t.match(stateOf(again), { status: "OFFER_READY", round: 2 });
  t.equal(stepsOf(again).filter((step) => step === "modify DONE").length, 0);
});
