// What a group may be told, as its document says: of a room that stands, of changes that happened, of what is withdrawn; and when its saga
// has nothing to have told.
import t from "tap";
import { noticeRecipients } from "../../../actors/sub-case/notices.ts";
import type { SubCaseEvent } from "../../../actors/sub-case/state.ts";
import type { NoticeRecipients } from "../../../schemas/message.ts";
import { evening, eventsOf, givenOf, received } from "../../harness/given.ts";
import {
  accept,
  answer,
  assign,
  decline,
  done,
  doneIn,
  forward,
  hotel,
  ready,
  refusedBy,
  rules,
  stateOf,
  story,
  subCaseId,
} from "../sub-case/group-story.ts";

const of = (events: SubCaseEvent[]): NoticeRecipients =>
  noticeRecipients(stateOf(events))[0] as NoticeRecipients;
const cancelled = received("sub-case.record-stay", {
  reference: `${subCaseId}.room.1.1`,
  bookingId: "B1",
  state: "CANCELLED",
  at: evening.toISOString(),
});

t.test("a room is told of while it is the group's", async (t) => {
  for (const events of [ready, eventsOf(rules, ready, accept)]) {
    const { facts, ...party } = of(events);
    t.match(facts, { hotel: "astor", checkIn: "2026-11-21", checkOut: "2026-11-22", code: /^\w{8}$/ });
    t.match(party, { withdrawn: false, hotelChanged: false, stayChanged: false });
  }
  const rolling = eventsOf(rules, ready, decline);
  const declined = eventsOf(rules, rolling, ...done("cancel-ride", "cancel-card", "cancel"));
  const stuck = eventsOf(rules, rolling, ...done("cancel-ride", "cancel-card"), answer("cancel", "refused"));
  const failed = story(...refusedBy(1, "INVALID_REQUEST", "SOLD_OUT", "SOLD_OUT"));
  for (const events of [rolling, declined, stuck, failed]) {
    const { facts, withdrawn } = of(events);
    t.same(facts, { flight: "XN482" }, stateOf(events).status);
    t.equal(withdrawn, true, stateOf(events).status);
  }
  t.equal(of(story()).withdrawn, false, "who never had an offer");
});

/** All vendors say yes, until nothing is waited for. */
const through = (from: SubCaseEvent[]): SubCaseEvent[] => {
  let events = from;
  for (let { call } = stateOf(events); call !== undefined; call = stateOf(events).call)
    events = eventsOf(
      rules,
      events,
      answer(call.verb, "done", { reference: call.reference.slice(subCaseId.length + 1) }),
    );
  return events;
};

t.test("changes are told of once they have happened", async (t) => {
  const nextFlight = { number: "XN486", scheduledDeparture: "2026-11-23T14:00:00.000Z" };
  const stay = { checkIn: "2026-11-21", checkOut: "2026-11-23", nights: 2 };
  const amending = eventsOf(rules, ready, received("sub-case.amend-stay", { shape: 1, nextFlight, stay }));
  t.match(of(amending), { stayChanged: false });
  t.match(of(through(amending)), {
    stayChanged: true,
    hotelChanged: false,
    facts: { checkOut: "2026-11-23" },
  });
  const { data } = assign({ candidates: [hotel("dakota")] });
  const order = { assignment: data, overrideId: "XN-OVERRIDE" };
  const switching = eventsOf(rules, ready, received("sub-case.override", order));
  t.match(of(switching), { hotelChanged: false, facts: { hotel: "astor" }, upcoming: { flight: "XN482" } });
  const booked = eventsOf(rules, switching, ...doneIn(2, "hold", "book"));
  t.match(of(booked), { hotelChanged: false, facts: { hotel: "astor" }, upcoming: { hotel: "dakota" } });
  t.match(of(through(booked)), { hotelChanged: true, stayChanged: false, facts: { hotel: "dakota" } });
  t.equal(of(through(booked)).upcoming, undefined);
});

t.test("a room that the hotel takes back on the way is told of to nobody", async (t) => {
  const riding = story(...done(...forward.slice(0, 3)));
  t.match(stateOf(riding).call, { step: "transport" });
  const lost = eventsOf(rules, riding, cancelled);
  givenOf(
    t,
    rules,
    subCaseId,
  )(...lost)
    .when(answer("book-ride"))
    .leads({ roomLost: true });
  const after = eventsOf(rules, lost, answer("book-ride"));
  t.notOk(
    stateOf(after).steps.some(({ name }) => name === "notify"),
    "the saga goes on without",
  );
});
