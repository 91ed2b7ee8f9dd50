/** The hotel port over the airline's own contracts, on the real actor and store; and races for the last rooms between processes. */
import type { ServiceSchema } from "moleculer";
import t, { type Test } from "tap";
import { contractActor } from "../../../actors/contract/service.ts";
import { openDocuments } from "../../../actors/runtime/documents.ts";
import { type ActorContext, hostActor } from "../../../actors/runtime/host.ts";
import { Direct } from "../../../actors/vendor-adapter/adapters/direct.ts";
import type { Booking, Hold, HotelPort } from "../../../actors/vendor-adapter/ports.ts";
import type { Command, Query, Reply } from "../../../schemas/command.ts";
import type { ContractBody, ContractView } from "../../../schemas/contract.ts";
import type { HotelOffer, HotelSearch } from "../../../schemas/hotel.ts";
import { Problem, type ProblemCode, type ProblemMembers } from "../../../schemas/problems.ts";
import { idOf } from "../../../schemas/urn.ts";
import { startActorsUnderTest, trace } from "../../harness/actors.ts";

const context = { traceparent: trace.traceparent };
const jfk = { latitude: 40.6398, longitude: -73.7789 };
const search = (more: Partial<HotelSearch> = {}): HotelSearch => ({
  airport: "JFK",
  coordinates: jfk,
  radiusKm: 50,
  checkIn: "2031-03-14",
  checkOut: "2031-03-16",
  rooms: 1,
  ...more,
});
const terms = (name: string, roomsPerNight: number): ContractBody => ({
  name,
  hotel: { name, address: "1 Runway Road", coordinates: jfk, stars: 4, amenities: [] },
  airport: "JFK",
  validFrom: "2031-03-01",
  validUntil: "2031-04-01",
  rates: [
    { from: "2031-03-01", until: "2031-03-15", nightlyRateMinor: 5000 },
    { from: "2031-03-15", until: "2031-04-01", nightlyRateMinor: 5001 },
  ],
  currency: "USD",
  maxOccupancy: 2,
  accessibleRooms: 2,
  block: { roomsPerNight },
});

const done = <Result extends { outcome: string }>(t: Test, result: Result) => {
  t.equal(result.outcome, "done", JSON.stringify(result));
  return result as Extract<Result, { outcome: "done" }>;
};

t.test("on the real actor", async (t) => {
  const under = await startActorsUnderTest(t, [contractActor]);
  const { documents, tenants } = under.context;
  await tenants.announce({ code: "XN", name: "Northern Cross", passengerHosts: [], homeCountry: "US" });
  const port = new Direct("XN", under.context);
  const agree = (name: string, rooms: number, more: Partial<ContractBody> = {}) =>
    under.send<ContractView>("contract.put", { ...terms(name, rooms), ...more });
  const offersOf = async (of: HotelPort = port, asked = search()): Promise<HotelOffer[]> =>
    done(t, await of.search(asked, context)).offers;
  const offerOf = async (name: string): Promise<HotelOffer> => {
    const offers = await offersOf();
    return offers.find((offer) => offer.name === name) as HotelOffer;
  };
  const stay = { checkIn: search().checkIn, checkOut: search().checkOut };
  const hold = (reference: string, offer: HotelOffer, rooms: number, of: HotelPort = port) =>
    of.hold({ reference, offer, rooms, ...stay, needs: [] }, context);
  const book = (reference: string, { holdId }: Hold, of: HotelPort = port) => {
    const guests = { leadGuest: { givenName: "Ana", familyName: "Silva" }, guests: [] };
    return of.book({ reference, holdId, ...guests, payment: { method: "GUARANTEE" } }, context);
  };
  const cancel = (reference: string, { bookingId }: Booking) =>
    port.cancel({ reference, bookingId }, context);
  const lookup = (reference: string) => port.lookup({ reference }, context);

  t.strictSame(await offersOf(), [], "an airline without contracts has no offers, and no failure");
  t.match(await lookup("nothing"), { outcome: "none" });
  t.strictSame(await port.reconcile({}, context), { outcome: "done", entries: [] });

  await t.test("one attempt from search to cancellation", async (t) => {
    const created = await agree("Attempt", 3);
    const offer = await offerOf("Attempt");
    t.match(offer, {
      vendor: "direct",
      providerOfferId: idOf(created.urn),
      roomsLeft: 3,
      nightlyRateMinor: 5000,
    });
    const held = done(t, await hold("A.room.1", offer, 2));
    t.strictSame(held.total, { amountMinor: 2 * 10_001, currency: "USD" }, "each night at its own rate");
    t.strictSame(await hold("A.room.1", offer, 2), held, "the same again");
    t.match(await hold("A.room.1", offer, 1), { outcome: "refused", code: "REFERENCE_REUSED" });
    t.match(await hold("B.room.1", offer, 2), { outcome: "refused", code: "SOLD_OUT" });
    t.match(await lookup("A.room.1"), { outcome: "done", state: "HELD", holdId: held.holdId });
    t.match(await book("B.room.1", held), { outcome: "refused", code: "NOT_FOUND" });
    const booked = done(t, await book("A.room.1", held));
    t.strictSame(await book("A.room.1", held), booked, "the same again");
    t.match(booked, { confirmationNumber: /^[0-9A-Z]{8}$/, total: { amountMinor: 20_002 } });
    t.match(await lookup("A.room.1"), { outcome: "done", state: "BOOKED", bookingId: booked.bookingId });
    t.match(await cancel("A.room.1", { ...booked, bookingId: held.holdId }), { code: "NOT_FOUND" });
    const cancelled = done(t, await cancel("A.room.1", booked));
    t.strictSame(await cancel("A.room.1", booked), cancelled, "the same again");
    t.match(cancelled, { fee: { amountMinor: 0, currency: "USD" } });
    t.match(await lookup("A.room.1"), { ...cancelled, state: "CANCELLED" });
    t.match(await book("A.room.1", held), { outcome: "refused", code: "HOLD_EXPIRED" });
    t.equal((await offerOf("Attempt")).roomsLeft, 3, "its rooms are back");
    const foreign = { ...offer, providerOfferId: "XN-01KAMVW9G0ABCDEFGHJKMNPQRS" };
    t.match(await hold("C.room.1", foreign, 1), { outcome: "refused", code: "NOT_FOUND" });
  });

  await t.test("accessible rooms are counted", async (t) => {
    await agree("Ramp", 5);
    const offer = await offerOf("Ramp");
    const ask = (reference: string) =>
      port.hold({ reference, offer, rooms: 1, ...stay, needs: ["WHEELCHAIR", "REDUCED_MOBILITY"] }, context);
    done(t, await ask("W1"));
    done(t, await ask("W2"));
    t.match(await ask("W3"), { outcome: "refused", code: "SOLD_OUT" });
    t.match(await offerOf("Ramp"), { roomsLeft: 3, accessibleRooms: 0 });
  });

  await t.test(
    "a hold past its time gives its rooms back, and may still be booked while they are free",
    async (t) => {
      await agree("Late", 1);
      const offer = await offerOf("Late");
      const first = done(t, await hold("L1", offer, 1));
      t.equal(await offerOf("Late"), undefined, "nothing is left to offer");
      under.advance(601_000);
      t.match(await lookup("L1"), { state: "EXPIRED" });
      const second = done(t, await hold("L2", offer, 1));
      t.match(await book("L1", first), { outcome: "refused", code: "HOLD_EXPIRED" });
      under.advance(601_000);
      done(t, await book("L2", second));
      t.match(await book("L1", first), { outcome: "refused", code: "HOLD_EXPIRED" });
    },
  );

  await t.test("terms: found again, changed by version, audited; sales don't age them", async (t) => {
    const first = await agree("Terms", 2);
    const command = under.commandOf("contract.put", { ...terms("Twice", 1) });
    const twice = [1, 2].map(() => under.context.call<ContractView>("contract.put", command));
    const [one, other] = await Promise.all(twice);
    t.equal(one?.urn, other?.urn, "the same creation makes one contract");
    done(t, await hold("T1", await offerOf("Terms"), 1));
    const change = (more: object, expectedVersion?: number) =>
      under.send<ContractView>(
        "contract.put",
        { ...terms("Terms", 2), contractUrn: first.urn, ...more },
        expectedVersion === undefined ? {} : { expectedVersion },
      );
    const changed = await change({ block: { roomsPerNight: 0 } }, first.version);
    t.match(changed, { urn: first.urn, version: first.version + 1, block: { roomsPerNight: 0 } });
    t.equal(await offerOf("Terms"), undefined);
    t.equal((await lookup("T1")).outcome, "done", "what was taken stays taken");
    await t.rejects(change({ name: "Other" }, first.version), {
      code: "conflict/version",
      members: { version: changed.version },
    });
    await t.rejects(change({ contractUrn: "urn:contract:XN-01KAMVW9G0ABCDEFGHJKMNPQRS" }), {
      code: "not-found/resource",
    });
    const listed = await under.ask<{ items: ContractView[] }>("contract.list", {});
    t.match(
      listed.items.find(({ urn }) => urn === first.urn),
      { version: changed.version, status: "UPCOMING", nights: [] },
    );
    await agree("Over", 1, {
      validFrom: "2020-01-01",
      validUntil: "2020-02-01",
      rates: [{ from: "2020-01-01", until: "2020-02-01", nightlyRateMinor: 1 }],
    });
    const names = (await under.ask<{ items: ContractView[] }>("contract.list", {})).items.map(
      ({ name }) => name,
    );
    t.ok(names.includes("Twice") && !names.includes("Over"), names.join());
    const paged = await under.ask<{ items: ContractView[]; nextCursor: string }>("contract.list", {
      limit: 2,
    });
    const next = await under.ask<{ items: ContractView[] }>("contract.list", { cursor: paged.nextCursor });
    t.strictSame(
      [...paged.items, ...next.items].map(({ name }) => name),
      names,
    );
    const scoped = { ...under.commandOf("x", {}).principal, airport: "LAX" };
    t.strictSame((await under.ask<{ items: object[] }>("contract.list", {}, scoped)).items, []);
  });

  await t.test(
    "the ledger: every booking and cancellation once, in the order of change, page by page",
    async (t) => {
      await agree("Ledger", 10);
      const offer = await offerOf("Ledger");
      const since = under.context.clock.now().toISOString();
      const bookings: Booking[] = [];
      for (const reference of ["K1", "K2", "K3", "K4"]) {
        bookings.push(done(t, await book(reference, done(t, await hold(reference, offer, 1)))));
      }
      done(t, await hold("K5", offer, 1));
      done(t, await cancel("K2", bookings[1] as Booking));
      const page = done(t, await port.reconcile({ since }, context));
      const [k1, , k3, k4] = bookings.map(({ bookingId }) => bookingId);
      t.match(page.entries, [
        { kind: "booking", id: k1, reference: "K1", state: "BOOKED" },
        { kind: "booking", id: k3, reference: "K3", state: "BOOKED" },
        { kind: "booking", id: k4, reference: "K4", state: "BOOKED" },
        { kind: "booking", id: bookings[1]?.bookingId, reference: "K2", state: "CANCELLED" },
      ]);
      t.equal(page.entries.length, 4);
      t.notOk("nextCursor" in page);
      const ledger = (params: object) =>
        under.ask<{ entries: { reference: string }[]; nextCursor?: string }>("contract.ledger", {
          ...params,
        });
      const firstPage = await ledger({ since, limit: 3 });
      t.strictSame(
        firstPage.entries.map(({ reference }) => reference),
        ["K1", "K3", "K4"],
      );
      const rest = done(t, await port.reconcile({ cursor: firstPage.nextCursor as string }, context));
      t.strictSame(
        rest.entries.map(({ reference }) => reference),
        ["K2"],
      );
      const all = done(t, await port.reconcile({}, context));
      t.ok(all.entries.length > 4, "from the beginning");
      const [inclusive] = done(
        t,
        await port.reconcile({ since: page.entries[3]?.changedAt as string }, context),
      ).entries;
      t.match(inclusive, { reference: "K2" });
    },
  );

  await t.test(
    "two hundred book at once through three processes: twenty rooms, twenty bookings",
    async (t) => {
      await agree("Race", 20);
      const offer = await offerOf("Race");
      const hosts = await Promise.all([1, 2].map(() => anotherHost(t, under.context)));
      const ports = [port, ...hosts.map((host) => new Direct("XN", { ...host, clock: under.context.clock }))];
      const portOf = (i: number) => ports[i % ports.length] as Direct;
      /** As a saga does: what surely was not done is asked again. */
      const untilAnswered = async <End extends { outcome: string }>(
        ask: () => Promise<End>,
      ): Promise<End> => {
        const end = await ask();
        return end.outcome === "unavailable" ? untilAnswered(ask) : end;
      };
      const ends = await Promise.all(
        Array.from({ length: 200 }, async (_, i) => {
          const held = await untilAnswered(() => hold(`R${i}`, offer, 1, portOf(i)));
          if (held.outcome !== "done") return held;
          return untilAnswered(() => book(`R${i}`, held, portOf(i + 1)));
        }),
      );
      const outcomes = ends.map((one) => (one.outcome === "refused" ? one.code : one.outcome));
      t.equal(outcomes.filter((one) => one === "done").length, 20);
      t.equal(outcomes.filter((one) => one === "SOLD_OUT").length, 180);
      t.equal(await offerOf("Race"), undefined);
      const document = await documents.tenant("XN").collection("contracts").findOne({ "terms.name": "Race" });
      const taken = document?.taken.map(({ state }: { state: string }) => state);
      t.strictSame(
        taken,
        Array.from({ length: 20 }, () => "BOOKED"),
      );
    },
  );
});

/** One more process as far as the documents can tell: connection, queue and handler of its own. */
const anotherHost = async (
  t: Test,
  { config, ...context }: ActorContext,
): Promise<Pick<ActorContext, "call">> => {
  const documents = await openDocuments(config.MONGODB_URL, config.DATABASE_PREFIX);
  t.teardown(() => documents.close());
  const own = { ...context, config, documents };
  const { schema } = hostActor(own, contractActor(own));
  const actions = schema.actions as unknown as Record<
    string,
    (ctx: { params: Query | Command }) => Promise<Reply>
  >;
  const call = async <View>(name: string, params: Query | Command): Promise<View> => {
    const reply = await (actions as NonNullable<ServiceSchema["actions"]> as typeof actions)[
      name.slice("contract.".length)
    ]?.({ params });
    if (reply === undefined) throw new Error(`contract takes no ${name}`);
    if ("problem" in reply) throw Problem.from(reply.problem);
    return reply.ok as View;
  };
  return { call };
};

t.test("what the end of a call means", async (t) => {
  const failing = (error: Error): Direct =>
    new Direct("XN", { clock: { now: () => new Date(0) }, call: () => Promise.reject(error) });
  const problem = (code: ProblemCode, members: ProblemMembers = {}) => new Problem(code, "no", members);
  const writes = (port: HotelPort) => [
    port.hold(
      {
        reference: "A",
        offer: { providerOfferId: "XN-1" } as HotelOffer,
        rooms: 1,
        checkIn: "",
        checkOut: "",
        needs: [],
      },
      context,
    ),
    port.cancel({ reference: "A", bookingId: "XN-1.B" }, context),
  ];
  const reads = (port: HotelPort) => [
    port.search(search(), context),
    port.lookup({ reference: "A" }, context),
    port.reconcile({}, context),
  ];
  const table: [Problem, object, object][] = [
    [problem("upstream/unavailable"), { outcome: "in-doubt" }, { outcome: "unavailable" }],
    [problem("internal/unexpected"), { outcome: "in-doubt" }, { outcome: "unavailable" }],
    [problem("conflict/concurrent-write"), { outcome: "unavailable" }, { outcome: "refused" }],
    [
      problem("conflict/state", { state: "SOLD_OUT" }),
      { outcome: "refused", code: "SOLD_OUT" },
      { outcome: "refused" },
    ],
    [
      problem("conflict/state", { state: "CLOSED" }),
      { outcome: "refused", code: "REFUSED" },
      { outcome: "refused" },
    ],
    [problem("not-found/resource"), { outcome: "refused", code: "NOT_FOUND" }, { outcome: "refused" }],
  ];
  for (const [error, write, read] of table) {
    for (const end of await Promise.all(writes(failing(error)))) t.match(end, write, error.code);
    for (const end of await Promise.all(reads(failing(error)))) t.match(end, read, error.code);
  }
  const bug = new TypeError("of undefined");
  for (const end of writes(failing(bug)))
    await t.rejects(end as Promise<unknown>, bug, "a bug comes again and is looked up");
  for (const end of await Promise.all(reads(failing(bug)))) t.match(end, { outcome: "unavailable" });

  const silent = new Direct("XN", {
    clock: { now: () => new Date(0) },
    call: () => new Promise(() => undefined),
  });
  const box = new AbortController();
  const waiting = silent.search(search(), { ...context, signal: box.signal });
  box.abort();
  t.match(await waiting, { outcome: "unavailable" }, "the time-box ends a search");
  t.match(await silent.search(search(), { ...context, signal: AbortSignal.abort() }), {
    outcome: "unavailable",
  });
});
