// The saga against vendors that answer late, lose answers, refuse and are busy, hotels that take rooms back, a case that closes and
// opens, and operators who try again, in random orders: whatever happens, somebody owns the group, it has never two rooms, cards or
// rides, no card pays for nothing unless somebody is told, and in the end what the saga believes is what the vendors hold, and what
// the case believes is what the saga came to.
import fc from "fast-check";
import t from "tap";
import type { HotelCandidate } from "../../../schemas/assignment.ts";
import type { StayReport } from "../../../schemas/vendor-call.ts";
import { type Turn, turns } from "../../harness/vendors-in-memory.ts";
import { cardHotel, hotel } from "./group-story.ts";
import { Night } from "./night.ts";
import { letters } from "./night-case.ts";

const hotels = ["astor", "biltmore", "carlton"];
/** How many hotels there are to try, and which of them take nothing but cards. */
const byCard = fc.array(fc.boolean(), { minLength: 1, maxLength: hotels.length });
type ByCard = typeof byCard extends fc.Arbitrary<infer Each> ? Each : never;

const turn = fc.oneof(
  { weight: 2, arbitrary: fc.constant<Turn>("done") },
  { weight: 3, arbitrary: fc.constantFrom(...turns) },
);
const which = fc.nat({ max: 5 });
const action = fc.oneof(
  { weight: 6, arbitrary: fc.record({ do: fc.constant("carry-out" as const), which, turn, lookup: turn }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant("deliver" as const), which }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant("wake" as const) }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constant("hear" as const), which }) },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constant("carry-out-twice" as const),
      which,
      turn,
      lookup: turn,
      answered: fc.boolean(),
    }),
  },
);
/** What people, hotels and the case do meanwhile. */
const event = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ do: fc.constant("wave" as const), finds: fc.boolean(), book: fc.boolean() }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("book-rooms" as const) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom("close" as const, "reopen" as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("compensate" as const),
      hotel: fc.option(fc.constantFrom("astor", "biltmore", "carlton"), { nil: undefined }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("stay" as const),
      state: fc.constantFrom(
        "CHECKED_IN",
        "CHECKED_OUT",
        "NO_SHOW",
        "CANCELLED",
        "CANCELLED",
      ) as fc.Arbitrary<StayReport["state"]>,
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("report" as const), which }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("by-hand" as const) }) },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant("amend" as const), nights: fc.integer({ min: 0, max: 3 }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ do: fc.constant("override" as const), hotel: fc.nat({ max: hotels.length }) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("accept-offer" as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("decline-offer" as const) }) },
);
const anything = fc.oneof({ weight: 4, arbitrary: action }, { weight: 1, arbitrary: event });
const actions = fc.array(anything, { maxLength: 60, size: "max" });
type Steps = typeof actions extends fc.Arbitrary<infer Each> ? Each : never;
const decision = fc.constantFrom("accept-offer", "decline-offer");

t.test("whatever vendors, people and the case do", async (t) => {
  const ends = new Map<string, number>();
  const happen = async (night: Night, step: Steps[number], candidates: HotelCandidate[]): Promise<void> => {
    switch (step.do) {
      case "carry-out":
        return night.carryOut(step.which, step.turn, step.lookup);
      case "carry-out-twice":
        return night.carryOutTwice(step.which, step);
      case "deliver":
        return night.deliver(step.which);
      case "wake":
        return night.wake();
      case "wave":
        return night.wave(candidates, step.finds, step.book);
      case "book-rooms":
        return night.bookRooms();
      case "hear":
        return night.hear(step.which);
      case "close":
      case "reopen":
        return night[step.do]();
      case "compensate":
        return night.decide(step.do, step.hotel === undefined ? {} : { hotelUrn: `urn:hotel:${step.hotel}` });
      case "stay":
        return night.stay(step.state);
      case "report":
        return night.report(step.which);
      case "override":
        return night.override(candidates[step.hotel] ?? hotel("dakota"));
      case "amend":
        return night.amend(step.nights);
      case "by-hand":
        return night.reserveByHand();
      default:
        return night.decide(step.do);
    }
  };
  let paidByCard = 0;
  let laterRounds = 0;
  let lost = 0;
  let returned = 0;
  let byHand = 0;
  let moved = 0;
  let stayed = 0;
  let amended = 0;
  const story = async (cards: ByCard, before: Steps, decided: string, after: Steps) => {
    const night = new Night();
    const candidates = cards.map((card, i) => (card ? cardHotel : hotel)(hotels[i] as string));
    const through = async (steps: Steps) => {
      for (const step of steps) {
        await happen(night, step, candidates);
        night.check();
      }
    };
    night.wave(candidates);
    night.hear(1);
    await through(before);
    night.decide(decided);
    await night.settle();
    night.checkEnd();
    if (night.activePayments().length > 0) paidByCard += 1;
    night.decide(decided);
    night.helpOn(candidates);
    await through(after);
    await night.settle();
    night.checkEnd();
    const { status, round, returns, attemptedHotels } = night.state;
    ends.set(status, (ends.get(status) ?? 0) + 1);
    if (round > 1) laterRounds += 1;
    if (returns > 0) returned += 1;
    if (night.state.reservation?.byHand !== undefined) byHand += 1;
    if (night.happened.has("subcase.switched")) moved += 1;
    if ((night.state.assignment?.stay.nights ?? 1) > 1) amended += 1;
    if (night.happened.has("subcase.switch-abandoned")) stayed += 1;
    if (attemptedHotels.some(({ reason }) => reason === "CANCELLED_BY_HOTEL")) lost += 1;
  };
  await fc.assert(fc.asyncProperty(byCard, actions, decision, actions, story), {
    numRuns: 600,
    seed: 20_261_121,
  });
  for (const status of Object.keys(letters)) t.ok(ends.has(status), `some nights end ${status}`);
  t.ok(paidByCard > 20, "some rooms are paid by card");
  t.ok(laterRounds > 20, "some groups have several rounds");
  t.ok(returned > 5, "some go back to the case");
  t.ok(lost > 20, "some rooms are taken back");
  t.ok(byHand > 5, "some rooms are booked by phone");
  t.ok(moved > 10, "some groups change hotels");
  t.ok(amended > 20, "some stay longer than was planned");
  t.ok(stayed > 2, "some stay, because the other one has no room");
  t.comment(JSON.stringify([...ends]), {
    paidByCard,
    laterRounds,
    returned,
    lost,
    byHand,
    moved,
    stayed,
    amended,
  });
});
