/** The hotel port's contract, run on each dialect against its sandbox process. */
import t, { type Test } from "tap";
import { RoomLink } from "../../../actors/vendor-adapter/adapters/roomlink.ts";
import { StayHub } from "../../../actors/vendor-adapter/adapters/stayhub.ts";
import type { VendorOptions } from "../../../actors/vendor-adapter/http.ts";
import type { Booking, Hold, HotelPort } from "../../../actors/vendor-adapter/ports.ts";
import { airport } from "../../../schemas/airports.ts";
import type { HotelOffer, HotelSearch } from "../../../schemas/hotel.ts";
import { amenities, paymentMethods } from "../../../schemas/vocabulary.ts";
import { distanceKm } from "../../../scripts/sandbox/hotels.ts";
import { closedPort, context, type Sandbox, startSandbox } from "./sandbox.ts";

type Dialect = new (vendor: string, options: VendorOptions) => HotelPort;
const dialects: [name: string, adapter: Dialect][] = [
  ["stayhub", StayHub],
  ["roomlink", RoomLink],
];

const searchAt = (code: string, radiusKm = 60): HotelSearch => {
  const { latitude, longitude } = airport(code)!;
  const stay = { checkIn: "2031-03-14", checkOut: "2031-03-16", rooms: 1 };
  return { airport: code, coordinates: { latitude, longitude }, radiusKm, ...stay };
};
const { checkIn, checkOut } = searchAt("FRA");
const guests = {
  leadGuest: { givenName: "Ana", familyName: "Silva" },
  guests: [{ givenName: "Rui", familyName: "Silva" }],
  payment: { method: "GUARANTEE" },
} as const;

/** The result of an outcome that must be done. */
const done = <Result extends { outcome: string }>(t: Test, result: Result) => {
  t.equal(result.outcome, "done", JSON.stringify(result));
  return result as Extract<Result, { outcome: "done" }>;
};

const offersOf = async (t: Test, port: HotelPort, search = searchAt("FRA")): Promise<HotelOffer[]> =>
  done(t, await port.search(search, context)).offers;

const holdOf = async (t: Test, port: HotelPort, reference: string, rooms = 1): Promise<Hold> => {
  const [offer] = await offersOf(t, port);
  return done(t, await port.hold({ reference, offer: offer!, rooms, checkIn, checkOut, needs: [] }, context));
};

const book = (port: HotelPort, reference: string, { holdId }: Hold, signal?: AbortSignal) =>
  port.book({ reference, holdId, ...guests }, { ...context, ...(signal && { signal }) });

const left = (offers: HotelOffer[], wanted: HotelOffer): number =>
  offers.find((offer) => offer.providerOfferId === wanted.providerOfferId)?.roomsLeft ?? 0;

t.test("hotel port", async (t) => {
  const sandbox = await startSandbox(t, t.testdir(), ["--only", "stayhub,roomlink", "--seed", "contract"]);
  for (const [name, Adapter] of dialects) {
    await t.test(name, (t) => suite(t, sandbox, name, Adapter));
  }
  await t.test("one hotel at both vendors", (t) => overlaps(t, sandbox));
});

const suite = async (t: Test, sandbox: Sandbox, name: string, Adapter: Dialect): Promise<void> => {
  const options = { ...sandbox.vendor(name), timeoutMs: 20_000 };
  const port = new Adapter(name, options);
  const fail = (kind: string, operation: string) =>
    sandbox.control({ [name]: { failNext: [{ operation, kind, times: 1 }] } });
  const bookings = async () =>
    (await sandbox.ledger(name)).entries.filter((entry) => entry.kind === "booking");
  t.beforeEach(() => sandbox.reset());

  await t.test("a search answers in our words, the same for the same question", async (t) => {
    const offers = await offersOf(t, port);
    t.ok(offers.length > 0);
    for (const offer of offers) {
      t.equal(offer.vendor, name);
      t.equal(offer.currency, "EUR");
      t.ok(Number.isSafeInteger(offer.nightlyRateMinor) && offer.nightlyRateMinor > 1000);
      t.ok(offer.amenities.every((one) => (amenities as readonly string[]).includes(one)));
      t.ok(offer.acceptedPayments.every((one) => (paymentMethods as readonly string[]).includes(one)));
      t.ok(offer.acceptedPayments.length > 0 && offer.roomsLeft > 0);
      t.ok(offer.stars === undefined || (offer.stars >= 1 && offer.stars <= 5));
      t.ok(distanceKm(offer.coordinates, searchAt("FRA").coordinates) <= 60);
    }
    t.ok(offers.some((offer) => offer.amenities.length > 0 && offer.chain !== undefined));
    t.ok(offers.some((offer) => offer.freeCancellationUntil !== undefined));
    t.same(await offersOf(t, port), offers);
    const near = await offersOf(t, port, searchAt("FRA", 8));
    t.ok(near.length > 0 && near.length < offers.length);
    const [yen] = await offersOf(t, port, searchAt("HND"));
    t.match(yen, { currency: "JPY" });
    t.ok(yen!.nightlyRateMinor < 200_000, "yen have no minor unit");
    t.same(await offersOf(t, port, { ...searchAt("FRA"), checkOut: checkIn }), []);
  });

  await t.test("hold, book, look up, cancel, cancel again", async (t) => {
    const before = await offersOf(t, port);
    const reference = "XN-1/attempt-1";
    t.same(await port.lookup({ reference }, context), { outcome: "none" });
    const hold = await holdOf(t, port, reference, 2);
    t.equal(hold.total.amountMinor, before[0]!.nightlyRateMinor * 2 * 2);
    t.match(await port.lookup({ reference }, context), { outcome: "done", state: "HELD", ...hold });
    t.equal(left(await offersOf(t, port), before[0]!), before[0]!.roomsLeft - 2);
    const { outcome: _, ...booking } = done(t, await book(port, reference, hold));
    t.same(booking.total, hold.total);
    t.match(await port.lookup({ reference }, context), { outcome: "done", state: "BOOKED", ...booking });
    t.equal(left(await offersOf(t, port), before[0]!), before[0]!.roomsLeft - 2, "a used hold counts once");
    const cancel = () => port.cancel({ reference, bookingId: booking.bookingId }, context);
    const cancelled = done(t, await cancel());
    t.same(await cancel(), cancelled);
    const other = await port.cancel({ reference: "XN-1/other", bookingId: booking.bookingId }, context);
    t.same(other, cancelled, "cancelling what is cancelled is done, under any reference");
    t.match(await port.lookup({ reference }, context), { state: "CANCELLED", fee: cancelled.fee });
    t.same(await offersOf(t, port), before);
    t.match(await bookings(), [{ reference, idempotencyKey: reference, state: "CANCELLED" }]);
    t.match((await sandbox.ledger(name)).counts, { held: 1, booked: 1, cancelled: 1 });
  });

  await t.test("other dates: longer, shorter, refused, in doubt", async (t) => {
    const [offer] = await offersOf(t, port);
    const hold = await holdOf(t, port, "dates", 2);
    const { bookingId, total } = done(t, await book(port, "dates", hold));
    const modify = (n: number, until: string, signal?: AbortSignal) =>
      port.modify(
        { reference: `dates.stay.${n}`, bookedUnder: "dates", bookingId, checkIn, checkOut: until },
        { ...context, ...(signal && { signal }) },
      );
    const longer = done(t, await modify(1, "2031-03-17"));
    t.match(longer, { bookingId, stay: { checkIn, checkOut: "2031-03-17" } });
    t.equal(longer.total.amountMinor, (total.amountMinor / 2) * 3, "at its own rate");
    t.same(await modify(1, "2031-03-17"), longer, "the same again");
    const found = done(t, await port.lookup({ reference: "dates" }, context));
    t.match(found, { state: "BOOKED", stay: { checkOut: "2031-03-17" } });
    t.match(done(t, await modify(2, "2031-03-15")), { stay: { checkOut: "2031-03-15" } });
    t.equal(left(await offersOf(t, port), offer!), offer!.roomsLeft - 2, "its own night is taken still");
    await fail("lost-answer", "modify");
    t.match(await modify(3, "2031-03-16"), { outcome: "in-doubt" });
    t.match(await port.lookup({ reference: "dates" }, context), { stay: { checkOut: "2031-03-16" } });
    await fail("refuse", "modify");
    t.match(await modify(4, "2031-03-18"), { outcome: "refused", code: "SOLD_OUT" });
    t.match(await port.lookup({ reference: "dates" }, context), { stay: { checkOut: "2031-03-16" } });
    t.match(await modify(5, checkIn), { outcome: "refused", code: "INVALID_REQUEST" });
    done(t, await port.cancel({ reference: "dates", bookingId }, context));
    t.match(await modify(6, "2031-03-17"), { outcome: "refused" }, "what is cancelled stays so");
  });

  await t.test("the same reference is the same work, another request under it is refused", async (t) => {
    const hold = await holdOf(t, port, "twice");
    t.same(await holdOf(t, port, "twice"), hold);
    const answers = await Promise.all([1, 2, 3].map(() => book(port, "twice", hold)));
    const [first] = answers.map((answer) => done(t, answer));
    for (const answer of answers) t.same(answer, first);
    t.equal((await bookings()).length, 1);
    const [offer] = await offersOf(t, port);
    const changed = { reference: "twice", offer: offer!, rooms: 3, checkIn, checkOut, needs: [] };
    t.match(await port.hold(changed, context), { outcome: "refused", code: "REFERENCE_REUSED" });
  });

  for (const kind of ["lost-answer", "timeout", "malformed", "error-after"]) {
    await t.test(`${kind}: in doubt, then found, and booked once`, async (t) => {
      const hold = await holdOf(t, port, kind);
      await fail(kind, "book");
      const giveUp = new AbortController();
      const pending = book(port, kind, hold, giveUp.signal);
      if (kind === "timeout") {
        while ((await bookings()).length === 0);
        giveUp.abort();
      }
      t.match(await pending, { outcome: "in-doubt" });
      const found = done(t, await port.lookup({ reference: kind }, context));
      t.equal(found.state, "BOOKED");
      const again = done(t, await book(port, kind, hold)) as Booking;
      t.match(found, { bookingId: again.bookingId });
      t.equal((await bookings()).length, 1);
    });
  }

  await t.test("what a failed answer means, by operation", async (t) => {
    const hold = await holdOf(t, port, "means");
    await fail("error", "book");
    t.match(await book(port, "means", hold), { outcome: "in-doubt" });
    t.match(await port.lookup({ reference: "means" }, context), { state: "HELD" }, "nothing was booked");
    await fail("unavailable", "book");
    t.match(await book(port, "means", hold), { outcome: "unavailable", retryAfterMs: 1000 });
    for (const kind of ["error", "malformed", "lost-answer"]) {
      await fail(kind, "search");
      t.match(await port.search(searchAt("FRA"), context), { outcome: "unavailable" }, kind);
      await fail(kind, "lookup");
      t.match(await port.lookup({ reference: "means" }, context), { outcome: "unavailable" }, kind);
    }
    const booking = done(t, await book(port, "means", hold));
    await fail("lost-answer", "cancel");
    const cancel = { reference: "means", bookingId: booking.bookingId };
    t.match(await port.cancel(cancel, context), { outcome: "in-doubt" });
    t.match(await port.lookup({ reference: "means" }, context), { state: "CANCELLED" });
    const signal = AbortSignal.abort();
    t.match(await port.search(searchAt("FRA"), { ...context, signal }), { outcome: "unavailable" });
  });

  await t.test("refusals", async (t) => {
    const [offer] = await offersOf(t, port);
    const ask = { offer: offer!, rooms: 1, checkIn, checkOut, needs: [] as string[] };
    const tooMany = { ...ask, reference: "many", rooms: offer!.roomsLeft + 1 };
    t.match(await port.hold(tooMany, context), { outcome: "refused", code: "SOLD_OUT" });
    const gone = { ...ask, reference: "gone", offer: { ...offer!, providerOfferId: "FRA999.STD" } };
    t.match(await port.hold(gone, context), { outcome: "refused", code: "NOT_FOUND" });
    const backwards = { ...ask, reference: "backwards", checkIn: checkOut, checkOut: checkIn };
    t.match(await port.hold(backwards, context), { outcome: "refused", code: "INVALID_REQUEST" });
    await fail("refuse", "hold");
    const refused = await port.hold({ ...ask, reference: "no" }, context);
    t.match(refused, { outcome: "refused", code: "SOLD_OUT" });
    t.same(await port.hold({ ...ask, reference: "no" }, context), refused, "a no stays a no");
    const unknown = { reference: "c", bookingId: "B-none" };
    t.match(await port.cancel(unknown, context), { outcome: "refused", code: "NOT_FOUND" });
    const stranger = new Adapter(name, { ...options, apiKey: "wrong" });
    t.match(await stranger.search(searchAt("FRA"), context), { outcome: "refused", code: "NOT_AUTHORISED" });
    const nowhere = new Adapter(name, { ...options, baseUrl: await closedPort() });
    t.match(await nowhere.hold({ ...ask, reference: "x" }, context), { outcome: "unavailable" });
  });

  await t.test("accessible rooms run out by themselves", async (t) => {
    const offers = await offersOf(t, port);
    const offer = offers.find((one) => one.accessibleRooms > 0 && one.roomsLeft > one.accessibleRooms)!;
    const ask = { offer, rooms: 1, checkIn, checkOut };
    for (let room = 0; room < offer.accessibleRooms; room += 1) {
      done(t, await port.hold({ ...ask, reference: `wheels-${room}`, needs: ["WHEELCHAIR"] }, context));
    }
    const more = { ...ask, reference: "wheels-more", needs: ["WHEELCHAIR"] };
    t.match(await port.hold(more, context), { outcome: "refused", code: "SOLD_OUT" });
    done(t, await port.hold({ ...ask, reference: "stairs", needs: [] }, context));
  });

  await t.test("an expired hold: booked while rooms are free, refused once they are gone", async (t) => {
    await sandbox.control({ [name]: { holdTtlMs: 1 } });
    const [offer] = await offersOf(t, port);
    const lapsed = await holdOf(t, port, "lapsed");
    t.match(await port.lookup({ reference: "lapsed" }, context), { state: "EXPIRED" });
    await sandbox.control({ [name]: { holdTtlMs: 60_000 } });
    const all = await holdOf(t, port, "all", offer!.roomsLeft);
    t.match(await book(port, "lapsed", lapsed), { outcome: "refused", code: "HOLD_EXPIRED" });
    done(t, await book(port, "all", all));
    await sandbox.reset();
    await sandbox.control({ [name]: { holdTtlMs: 1 } });
    done(t, await book(port, "late", await holdOf(t, port, "late")));
  });

  await t.test("100 at once never get more rooms than there are", async (t) => {
    const [offer] = (await offersOf(t, port)).filter((one) => one.roomsLeft < 60);
    const attempts = Array.from({ length: 100 }, async (_, number) => {
      const reference = `race-${number}`;
      const ask = { reference, offer: offer!, rooms: 1, checkIn, checkOut, needs: [] };
      const held = await port.hold(ask, context);
      return held.outcome === "done" ? book(port, reference, held) : held;
    });
    const outcomes = await Promise.all(attempts);
    t.equal(outcomes.filter((one) => one.outcome === "done").length, offer!.roomsLeft);
    const lost = outcomes.filter((one) => one.outcome !== "done");
    t.ok(lost.every((one) => one.outcome === "refused" && one.code === "SOLD_OUT"));
    const sold = await bookings();
    t.equal(sold.length, offer!.roomsLeft);
    t.equal(new Set(sold.map((entry) => entry.id)).size, sold.length);
    t.equal(left(await offersOf(t, port), offer!), 0);
  });
};

/** Contract, "Allocation wave": by id, else 100 m and the same stars, else exact name and address. */
const overlaps = async (t: Test, sandbox: Sandbox): Promise<void> => {
  await sandbox.reset();
  const [ours, theirs] = await Promise.all(
    dialects.map(([name, Adapter]) =>
      offersOf(t, new Adapter(name, { ...sandbox.vendor(name), timeoutMs: 20_000 })),
    ),
  );
  const pairs = ours!.flatMap((one) =>
    theirs!
      .filter((other) => one.maxOccupancy === other.maxOccupancy)
      .map((other) => ({
        byId: one.masterHotelId !== undefined && one.masterHotelId === other.masterHotelId,
        near: distanceKm(one.coordinates, other.coordinates) < 0.1 && one.stars === other.stars,
        byName: one.name === other.name && one.address === other.address,
        withoutId: one.masterHotelId === undefined && other.masterHotelId === undefined,
        priced: one.nightlyRateMinor !== other.nightlyRateMinor,
      })),
  );
  t.ok(
    pairs.some((pair) => pair.byId && pair.priced),
    "by id",
  );
  t.ok(
    pairs.some((pair) => pair.withoutId && pair.near && !pair.byName && pair.priced),
    "by place and stars",
  );
  t.ok(
    pairs.some((pair) => pair.withoutId && pair.byName && !pair.near && pair.priced),
    "by name and address",
  );
};
