/** The hotel port's contract, run on each dialect against its sandbox process. */
import t, { type Test } from "tap";
import type { Booking, Hold, HotelPort } from "../../../actors/vendor-adapter/ports.ts";
import { airport } from "../../../schemas/airports.ts";
import { freeCancellationUntil } from "../../../schemas/cancellation.ts";
import type { HotelOffer, HotelSearch } from "../../../schemas/hotel.ts";
import { amenities, paymentMethods } from "../../../schemas/vocabulary.ts";
import { distanceKm } from "../../../scripts/sandbox/hotels.ts";
import { type Dialect, dialects } from "./hotel-dialects.ts";
import { closedPort, context, type Sandbox, startSandbox } from "./sandbox.ts";

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
  const sandbox = await startSandbox(t, t.testdir(), [
    "--only",
    dialects.map(({ name }) => name).join(","),
    "--seed",
    "contract",
  ]);
  for (const dialect of dialects) await t.test(dialect.name, (t) => suite(t, sandbox, dialect));
  await t.test("one hotel at both vendors", (t) => overlaps(t, sandbox));
});

const suite = async (t: Test, sandbox: Sandbox, dialect: Dialect): Promise<void> => {
  const { name, keyed, holds } = dialect;
  // Nothing is in doubt longer than its answer was waited for, but where a test says so.
  const options = { ...sandbox.vendor(name), timeoutMs: 20_000, bookingSettlesMs: 0 };
  const port = dialect.open(options);
  const fail = (kind: string, operation: string, more: object = {}) =>
    sandbox.control({ [name]: { failNext: [{ operation, kind, times: 1, ...more }] } });
  const bookings = async () =>
    (await sandbox.ledger(name)).entries.filter((entry) => entry.kind === "booking");
  t.beforeEach(() => sandbox.reset());
  /** So many rooms fewer are left than the offer said; where not all are shown, no more than those. */
  const isLess = async (t: Test, offer: HotelOffer, rooms: number, what = "rooms left"): Promise<void> => {
    const now = left(await offersOf(t, port), offer);
    if (!dialect.capped) t.equal(now, offer.roomsLeft - rooms, what);
    else t.ok(now <= offer.roomsLeft && now >= offer.roomsLeft - rooms, what);
  };

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
    const held = holds ? { outcome: "done", state: "HELD", ...hold } : { outcome: "none" };
    t.match(await port.lookup({ reference }, context), held);
    await isLess(t, before[0]!, holds ? 2 : 0);
    const { outcome: _, ...booking } = done(t, await book(port, reference, hold));
    t.same(booking.total, hold.total);
    t.match(await port.lookup({ reference }, context), { outcome: "done", state: "BOOKED", ...booking });
    await isLess(t, before[0]!, 2, "a used hold counts once");
    const cancel = () => port.cancel({ reference, bookingId: booking.bookingId }, context);
    const cancelled = done(t, await cancel());
    const same = dialect.dated ? cancelled : { outcome: "done", fee: cancelled.fee };
    t.match(await cancel(), same);
    const other = await port.cancel({ reference: "XN-1/other", bookingId: booking.bookingId }, context);
    t.match(other, same, "cancelling what is cancelled is done, under any reference");
    t.match(await port.lookup({ reference }, context), { state: "CANCELLED", fee: cancelled.fee });
    t.same(await offersOf(t, port), before);
    const key = keyed ? { idempotencyKey: reference } : {};
    t.match(await bookings(), [{ reference, ...key, state: "CANCELLED" }]);
    t.match((await sandbox.ledger(name)).counts, { held: 1, booked: 1, cancelled: 1 });
  });

  await t.test("other dates: longer, shorter, refused, in doubt", async (t) => {
    const [offer] = await offersOf(t, port);
    const hold = await holdOf(t, port, "dates");
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
    await isLess(t, offer!, 1, "its own night is taken still");
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
    if (holds) t.same(await holdOf(t, port, "twice"), hold);
    const answers = await Promise.all([1, 2, 3].map(() => book(port, "twice", hold)));
    const [first] = answers.map((answer) => done(t, answer));
    for (const answer of answers) t.same(answer, first);
    t.equal((await bookings()).length, 1);
    if (!keyed) return;
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
    const nothing = holds ? { state: "HELD" } : { outcome: "none" };
    t.match(await port.lookup({ reference: "means" }, context), nothing, "nothing was booked");
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
    t.match(await port.hold(gone, context), { outcome: "refused", code: dialect.unknownRate });
    const backwards = { ...ask, reference: "backwards", checkIn: checkOut, checkOut: checkIn };
    t.match(await port.hold(backwards, context), { outcome: "refused", code: "INVALID_REQUEST" });
    await fail("refuse", "hold");
    const refused = await port.hold({ ...ask, reference: "no" }, context);
    t.match(refused, { outcome: "refused", code: "SOLD_OUT" });
    if (keyed) t.same(await port.hold({ ...ask, reference: "no" }, context), refused, "a no stays a no");
    const unknown = { reference: "c", bookingId: "B-none" };
    t.match(await port.cancel(unknown, context), { outcome: "refused", code: "NOT_FOUND" });
    const stranger = dialect.open({ ...options, apiKey: "wrong" });
    t.match(await stranger.search(searchAt("FRA"), context), { outcome: "refused", code: "NOT_AUTHORISED" });
    if (options.apiSecret !== undefined) {
      const forger = dialect.open({ ...options, apiSecret: "wrong" });
      t.match(await forger.search(searchAt("FRA"), context), { outcome: "refused", code: "NOT_AUTHORISED" });
    }
    const nowhere = dialect.open({ ...options, baseUrl: await closedPort() });
    t.match(await nowhere.hold({ ...ask, reference: "x" }, context), { outcome: "unavailable" });
  });

  await t.test("accessible rooms run out by themselves", async (t) => {
    if (!dialect.accessible) return t.ok((await offersOf(t, port)).every((one) => one.accessibleRooms === 0));
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
    if (!keyed) return t.pass("it keeps none");
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

  await t.test("many at once never get more rooms than there are", async (t) => {
    const few = (await offersOf(t, port)).sort((a, b) => a.roomsLeft - b.roomsLeft);
    // Each takes several requests of a vendor that is asked by occupancy, and by links: a race of fewer is one, too.
    const [offer, length] = keyed ? [few.findLast((one) => one.roomsLeft < 60), 100] : [few[0], 30];
    const attempts = Array.from({ length }, async (_, number) => {
      const reference = `race-${number}`;
      const ask = { reference, offer: offer!, rooms: 1, checkIn, checkOut, needs: [] };
      const held = await port.hold(ask, context);
      return held.outcome === "done" ? book(port, reference, held) : held;
    });
    const outcomes = await Promise.all(attempts);
    const made = outcomes.filter((one) => one.outcome === "done").length;
    if (dialect.capped) t.ok(made >= offer!.roomsLeft);
    else t.equal(made, offer!.roomsLeft);
    const lost = outcomes.filter((one) => one.outcome !== "done");
    t.ok(lost.every((one) => one.outcome === "refused" && one.code === "SOLD_OUT"));
    const sold = await bookings();
    t.equal(sold.length, made);
    t.equal(new Set(sold.map((entry) => entry.id)).size, sold.length);
    t.equal(left(await offersOf(t, port), offer!), 0);
  });

  await t.test("a hold that is given up is gone at once", async (t) => {
    if (port.release === undefined) return t.notOk(holds, "who holds rooms gives them up");
    const before = await offersOf(t, port);
    const { holdId } = await holdOf(t, port, "given-up", 2);
    t.match(await port.release({ reference: "given-up", holdId }, context), { outcome: "done" });
    t.same(await offersOf(t, port), before);
    t.notMatch(await port.lookup({ reference: "given-up" }, context), { state: "HELD" });
    t.match(await book(port, "given-up", { holdId } as Hold), { outcome: "refused", code: "HOLD_EXPIRED" });
    t.match(await port.release({ reference: "given-up", holdId }, context), { outcome: "done" }, "twice");
  });

  await t.test("a price that has changed since is the hold's, and then the booking's", async (t) => {
    const [offer] = await offersOf(t, port);
    await fail("price-change", dialect.pricing, { factor: 1.5 });
    const hold = await holdOf(t, port, "dearer");
    t.equal(hold.total.amountMinor, offer!.nightlyRateMinor * 2 * 1.5);
    t.same(done(t, await book(port, "dearer", hold)).total, hold.total);
    t.equal((await offersOf(t, port))[0]!.nightlyRateMinor, offer!.nightlyRateMinor, "of that one alone");
  });

  await t.test("what cancelling costs when, and what it did cost", async (t) => {
    const offers = await offersOf(t, port);
    for (const [i, offer] of [
      offers.find(({ freeCancellationUntil }) => freeCancellationUntil !== undefined)!,
      offers.find(({ freeCancellationUntil }) => freeCancellationUntil === undefined)!,
    ].entries()) {
      const reference = `ladder-${i}`;
      const ask = { reference, offer, rooms: 2, checkIn, checkOut, needs: [] };
      const hold = done(t, await port.hold(ask, context));
      const { bookingId, cancellation, ...booking } = done(t, await book(port, reference, hold));
      const { currency } = offer;
      t.equal(cancellation?.at(-1)?.price.amountMinor, hold.total.amountMinor, "in the end all of it");
      t.ok(cancellation?.every(({ price }) => price.currency === currency));
      const isFree = offer.freeCancellationUntil !== undefined;
      const moment = (at = "1970-01-01"): number => Date.parse(at);
      t.equal(moment(booking.freeCancellationUntil), moment(offer.freeCancellationUntil));
      t.equal(freeCancellationUntil(cancellation ?? []) !== undefined, isFree);
      const { fee } = done(t, await port.cancel({ reference, bookingId }, context));
      t.same(fee, { amountMinor: isFree ? 0 : offer.nightlyRateMinor * 2, currency });
    }
  });

  await t.test("a booking that the hotel had no room for is cancelled by it soon after", async (t) => {
    await sandbox.control({ [name]: { oversellAfterMs: 100 } });
    const hold = await holdOf(t, port, "oversold");
    await fail("oversell", "book");
    const { bookingId } = done(t, await book(port, "oversold", hold));
    let found = await port.lookup({ reference: "oversold" }, context);
    while (found.outcome === "done" && found.state === "BOOKED")
      found = await port.lookup({ reference: "oversold" }, context);
    t.match(found, { outcome: "done", state: "CANCELLED", bookingId, fee: { amountMinor: 0 } });
  });
};

/** Contract, "Allocation wave": by id, else 100 m and the same stars, else exact name and address. */
const overlaps = async (t: Test, sandbox: Sandbox): Promise<void> => {
  await sandbox.reset();
  const [ours, theirs] = await Promise.all(
    dialects
      .slice(0, 2)
      .map(({ name, open }) => offersOf(t, open({ ...sandbox.vendor(name), timeoutMs: 20_000 }))),
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
