// A block's rooms held, booked, given back and forgotten, as tables; and that no order of requests oversells a night.
import fc from "fast-check";
import t from "tap";
import { decide } from "../../../actors/contract/decide.ts";
import { takenOf } from "../../../actors/contract/rooms.ts";
import { type ContractEvent, type ContractState, evolve } from "../../../actors/contract/state.ts";
import { roomsTakenView } from "../../../actors/contract/view.ts";
import type { HoldRooms } from "../../../schemas/contract.ts";
import { Problem } from "../../../schemas/problems.ts";
import { evening, secondsLater } from "../../harness/given.ts";
import {
  after,
  agreed,
  ask,
  bookedAs,
  booking,
  contractId,
  given,
  heldIn,
  holdData,
  put,
  stateOf,
} from "./night-block.ts";

const cancelling = (events: ContractEvent[], reference: string) => {
  const entry = heldIn(events, reference);
  return ask("cancel", { reference, bookingId: entry.state === "HELD" ? "?" : entry.bookingId });
};
/** Past every hold made in the evening. */
const late = secondsLater(601);

t.test("holding rooms", async (t) => {
  const nine = bookedAs("A", 9);
  const rows: [string, ContractEvent[], HoldRooms, string | undefined, Date?][] = [
    ["all of the block", agreed(), holdData("B", 10), undefined],
    ["one too many", agreed(), holdData("B", 11), "SOLD_OUT"],
    ["the last one", nine, holdData("B", 1), undefined],
    ["one more than is left", nine, holdData("B", 2), "SOLD_OUT"],
    [
      "the night after is another",
      nine,
      holdData("B", 10, { checkIn: "2026-11-22", checkOut: "2026-11-23" }),
      undefined,
    ],
    ["one full night of two", nine, holdData("B", 2, { checkOut: "2026-11-23" }), "SOLD_OUT"],
    ["the last accessible ones", agreed(), holdData("B", 4, { accessible: 3 }), undefined],
    ["one accessible too many", agreed(), holdData("B", 4, { accessible: 4 }), "SOLD_OUT"],
    [
      "accessible rooms taken by others",
      after(agreed(), ask("hold", holdData("A", 2, { accessible: 2 }))),
      holdData("B", 2, { accessible: 2 }),
      "SOLD_OUT",
    ],
    ["given back", after(nine, cancelling(nine, "A")), holdData("B", 10), undefined],
    [
      "still held",
      after(agreed(), ask("hold", holdData("A", 10))),
      holdData("B", 1),
      "SOLD_OUT",
      secondsLater(599),
    ],
    ["held no longer", after(agreed(), ask("hold", holdData("A", 10))), holdData("B", 10), undefined, late],
    [
      "before the first night",
      agreed(),
      holdData("B", 1, { checkIn: "2026-10-31", checkOut: "2026-11-02" }),
      "SOLD_OUT",
    ],
    [
      "past the last night",
      agreed(),
      holdData("B", 1, { checkIn: "2027-01-31", checkOut: "2027-02-02", nightlyRateMinor: 9000 }),
      "SOLD_OUT",
    ],
    [
      "an excepted night",
      agreed({ block: { roomsPerNight: 10, exceptions: [{ night: "2026-11-21", rooms: 3 }] } }),
      holdData("B", 4),
      "SOLD_OUT",
    ],
    [
      "a night of a blackout, whatever the exception says",
      agreed({
        block: {
          roomsPerNight: 10,
          exceptions: [{ night: "2026-11-22", rooms: 4 }],
          blackouts: [{ from: "2026-11-22", until: "2026-11-23" }],
        },
      }),
      holdData("B", 1, { checkOut: "2026-11-23" }),
      "SOLD_OUT",
    ],
    [
      "the night before a blackout",
      agreed({ block: { roomsPerNight: 10, blackouts: [{ from: "2026-11-22", until: "2026-11-23" }] } }),
      holdData("B", 1),
      undefined,
    ],
    ["no rooms", agreed(), holdData("B", 0), "INVALID_REQUEST"],
    ["no nights", agreed(), holdData("B", 1, { checkOut: "2026-11-21" }), "INVALID_REQUEST"],
    ["months", agreed(), holdData("B", 1, { checkOut: "2027-01-31" }), "INVALID_REQUEST"],
    ["offered cheaper than it is now", agreed(), holdData("B", 1, { nightlyRateMinor: 4999 }), "REFUSED"],
    ["offered dearer", agreed(), holdData("B", 1, { nightlyRateMinor: 5001 }), undefined],
    ["offered in another currency", agreed(), holdData("B", 1, { currency: "EUR" }), "REFUSED"],
    ["other rooms under the same reference", nine, holdData("A", 1), "REFERENCE_REUSED"],
    [
      "more accessible ones under the same reference",
      nine,
      holdData("A", 9, { accessible: 1 }),
      "REFERENCE_REUSED",
    ],
    [
      "a smaller block sells no more",
      after(nine, put({ block: { roomsPerNight: 5 } }, contractId)),
      holdData("B", 1),
      "SOLD_OUT",
    ],
  ];
  for (const [what, past, data, refusal, now] of rows) {
    const outcome = given(t)(...past).when(ask("hold", data, now));
    if (refusal !== undefined) outcome.refused("conflict/state", { state: refusal });
    else outcome.then({ type: "contract.rooms-held", data: { reference: "B", rooms: data.rooms } });
    t.comment(what);
  }
  given(t)()
    .when(ask("hold", holdData("B", 1)))
    .refused("not-found/resource");
  given(t)(...nine)
    .when(ask("hold", holdData("A", 9)))
    .nothing();
  given(t)(...agreed())
    .when(
      ask(
        "hold",
        holdData("B", 3, { checkIn: "2026-12-23", checkOut: "2026-12-25", nightlyRateMinor: 6500 }),
      ),
    )
    .then({
      type: "contract.rooms-held",
      data: { total: { amountMinor: 3 * 13_001, currency: "USD" }, expiresAt: secondsLater(600) },
    });
});

t.test("booking and cancelling", async (t) => {
  const held = after(agreed(), ask("hold", holdData("A", 9)));
  const book = booking(held, "A");
  const booked = after(held, book);
  given(t)(...held)
    .when(book)
    .then({ type: "contract.rooms-booked", data: { reference: "A" } });
  given(t)(...booked)
    .when(book)
    .nothing();
  given(t)(...held)
    .when(booking(held, "A", late))
    .then({ type: "contract.rooms-booked" });
  const other = after(held, ask("hold", holdData("B", 2), late));
  given(t)(...other)
    .when(booking(held, "A", late))
    .refused("conflict/state", { state: "HOLD_EXPIRED" });
  given(t)(...other)
    .when(book)
    .refused("conflict/state", { state: "HOLD_EXPIRED" });
  const otherGone = after(other, ask("hold", holdData("C", 8), secondsLater(1300)));
  given(t)(...otherGone)
    .when(booking(other, "B", secondsLater(1100)))
    .then({ type: "contract.rooms-booked", data: { reference: "B" } });
  given(t)(...after(otherGone, booking(otherGone, "C", secondsLater(1300))))
    .when(booking(held, "A", secondsLater(1)))
    .refused("conflict/state", { state: "HOLD_EXPIRED" });
  const rivals = after(agreed(), ask("hold", holdData("A", 6)), ask("hold", holdData("B", 6), late));
  const lateBooked = after(rivals, booking(rivals, "B", late));
  given(t)(...lateBooked)
    .when(booking(rivals, "A"))
    .refused("conflict/state", { state: "HOLD_EXPIRED" });
  const both = after(agreed(), ask("hold", holdData("A", 5)), ask("hold", holdData("B", 5)));
  const first = after(both, put({ block: { roomsPerNight: 5 } }, contractId), booking(both, "A", late));
  given(t)(...first)
    .when(booking(both, "B"))
    .refused("conflict/state", { state: "HOLD_EXPIRED" });
  t.notOk("lapsed" in heldIn(first, "A"), "what is booked is no hold any more");
  const shrunk = after(held, put({ block: { roomsPerNight: 1 } }, contractId));
  given(t)(...shrunk)
    .when(book)
    .then({ type: "contract.rooms-booked" });
  given(t)(...shrunk)
    .when(booking(held, "A", late))
    .refused("conflict/state", { state: "HOLD_EXPIRED" });
  const unknown = { reference: "A", holdId: "another", payment: "GUARANTEE" };
  given(t)(...held)
    .when(ask("book", unknown))
    .refused("not-found/resource");
  given(t)(...held)
    .when(ask("book", { ...unknown, reference: "Z" }))
    .refused("not-found/resource");
  given(t)(...held)
    .when(ask("book", { ...unknown, holdId: heldIn(held, "A").holdId, payment: "CARD" }))
    .refused("conflict/state", { state: "PAYMENT_DECLINED" });

  const cancelled = after(booked, cancelling(booked, "A"));
  given(t)(...booked)
    .when(cancelling(booked, "A"))
    .then({ type: "contract.rooms-released" });
  given(t)(...cancelled)
    .when(cancelling(booked, "A"))
    .nothing();
  given(t)(...cancelled)
    .when(book)
    .refused("conflict/state", { state: "HOLD_EXPIRED" });
  given(t)(...held)
    .when(ask("cancel", { reference: "A", bookingId: "?" }))
    .refused("not-found/resource");
  given(t)(...booked)
    .when(ask("cancel", { reference: "A", bookingId: "?" }))
    .refused("not-found/resource");
  given(t)()
    .when(ask("cancel", { reference: "A", bookingId: "?" }))
    .refused("not-found/resource");

  const told = (events: ContractEvent[], now = evening) => roomsTakenView(heldIn(events, "A"), now);
  t.match(told(held), {
    state: "HELD",
    total: { amountMinor: 45_000 },
    expiresAt: secondsLater(600).toISOString(),
  });
  t.match(told(held, late), { state: "EXPIRED" });
  t.match(told(other), { state: "EXPIRED" }, "whatever the time, once something was decided on it");
  t.match(told(booked, late), { state: "BOOKED", confirmationNumber: /^[0-9A-Z]{8}$/ });
  t.match(told(booked), {
    bookingId: new RegExp(`^${contractId}\\.`),
    holdId: new RegExp(`^${contractId}\\.`),
  });
  t.match(told(cancelled), {
    state: "CANCELLED",
    cancelledAt: evening.toISOString(),
    fee: { amountMinor: 0, currency: "USD" },
  });
  t.notSame((told(booked) as { bookingId: string }).bookingId, told(booked).holdId);
});

t.test("what nobody will ask for again is forgotten at the next hold", async (t) => {
  const days = (count: number): Date => secondsLater(count * 86_400);
  const far = { checkIn: "2027-01-10", checkOut: "2027-01-11", nightlyRateMinor: 9000 };
  let events = after(agreed(), ask("hold", holdData("expired", 1)), ask("hold", holdData("booked", 1)));
  events = after(events, ask("hold", holdData("cancelled", 1, far)), ask("hold", holdData("coming", 1, far)));
  for (const reference of ["booked", "cancelled", "coming"])
    events = after(events, booking(events, reference));
  events = after(events, cancelling(events, "cancelled"));
  const leftAfter = (count: number): string[] =>
    stateOf(after(events, ask("hold", holdData("new", 1, far), days(count)))).taken.map(
      ({ reference }) => reference,
    );
  t.strictSame(leftAfter(1 / 24), ["expired", "booked", "cancelled", "coming", "new"], "an hour");
  t.strictSame(leftAfter(1.2 / 24), ["booked", "cancelled", "coming", "new"], "and ten minutes more");
  const forgotten = after(events, ask("hold", holdData("new", 1, far), days(1)));
  given(t)(...forgotten)
    .when(booking(events, "expired"))
    .refused("conflict/state", { state: "HOLD_EXPIRED" });
  t.equal(
    heldIn(after(forgotten, ask("hold", holdData("expired", 1, far), days(1))), "expired").state,
    "HELD",
    "asked for again, it is held again",
  );
  t.strictSame(leftAfter(7), ["booked", "cancelled", "coming", "new"]);
  t.strictSame(leftAfter(9), ["booked", "coming", "new"]);
  t.strictSame(leftAfter(30), ["booked", "coming", "new"]);
  t.strictSame(leftAfter(32), ["coming", "new"]);
});

t.test("no order of requests oversells a night", async (t) => {
  const nights = ["2026-11-21", "2026-11-22", "2026-11-23", "2026-11-24"];
  const step = fc.record({
    verb: fc.constantFrom("hold", "book", "cancel"),
    reference: fc.constantFrom("A", "B", "C", "D", "E", "F"),
    rooms: fc.integer({ min: 1, max: 6 }),
    accessible: fc.integer({ min: 0, max: 2 }),
    from: fc.integer({ min: 0, max: 2 }),
    length: fc.integer({ min: 1, max: 2 }),
    waitS: fc.constantFrom(0, 1, 200, 601),
    skewS: fc.constantFrom(0, 0, 120, 700),
  });
  let [held, refused] = [0, 0];
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      let state = stateOf(agreed());
      let seconds = 0;
      for (const { verb, reference, rooms, accessible, from, length, waitS, skewS } of steps) {
        seconds += waitS;
        // Each process has its own clock, some minutes off the others'.
        const now = secondsLater(seconds + skewS);
        const entry = state.taken.find((one) => one.reference === reference);
        const stay = { checkIn: nights[from] as string, checkOut: nights[from + length] as string };
        const data = {
          hold: holdData(reference, rooms, { ...stay, accessible: Math.min(accessible, rooms) }),
          book: { reference, holdId: entry?.holdId, payment: "GUARANTEE" },
          cancel: { reference, bookingId: entry?.state === "BOOKED" ? entry.bookingId : "?" },
        }[verb];
        try {
          const events = decide(state, ask(verb, data, now));
          held += events.filter(({ type }) => type === "contract.rooms-held").length;
          state = events.reduce<ContractState>(evolve, state);
        } catch (error) {
          if (!(error instanceof Problem)) throw error;
          refused += 1;
        }
        for (const night of nights) {
          // By the clock that is furthest behind: whatever could still be booked with no question asked.
          const taken = takenOf(state.taken, night, evening);
          if (taken.rooms > 10 || taken.accessible > 3) return false;
        }
      }
      return true;
    }),
    { seed: 20261121, numRuns: 400 },
  );
  t.ok(held > 100 && refused > 100, `${held} held, ${refused} refused`);
});
