/** Bookings that hotel vendors make later than anybody waits: looked up until the vendor has surely done with them, and never made twice. */
import t, { type Test } from "tap";
import { systemClock } from "../../../actors/runtime/clock.ts";
import { oddityOf } from "../../../actors/sub-case/odd-bookings.ts";
import type { Reservation } from "../../../actors/sub-case/state.ts";
import { Hotelbeds } from "../../../actors/vendor-adapter/adapters/hotelbeds.ts";
import { carryOut } from "../../../actors/vendor-adapter/calls.ts";
import type { HotelPort } from "../../../actors/vendor-adapter/ports.ts";
import { staysOf } from "../../../actors/vendor-adapter/reconcile.ts";
import { airport } from "../../../schemas/airports.ts";
import type { OddBooking, StandingBooking, VendorCall } from "../../../schemas/vendor-call.ts";
import { type Dialect, dialects } from "./hotel-dialects.ts";
import { context, done, type Sandbox, startSandbox } from "./sandbox.ts";

const { latitude, longitude } = airport("FRA")!;
const stay = { checkIn: "2031-03-14", checkOut: "2031-03-16", rooms: 1 };
const search = { airport: "FRA", coordinates: { latitude, longitude }, radiusKm: 60, ...stay };
const guest = { leadGuest: { givenName: "Ana", familyName: "Silva" }, guests: [] };
const payment = { method: "GUARANTEE" } as const;

t.test("late bookings", async (t) => {
  const names = dialects.map(({ name }) => name).join(",");
  const sandbox = await startSandbox(t, t.testdir(), ["--only", names, "--seed", "late"]);
  for (const dialect of dialects)
    await t.test(`${dialect.name}: booked once, however late`, (t) => once(t, sandbox, dialect));
  await t.test("hotelbeds: a booking that nobody reckoned with any more is told of", (t) =>
    twins(t, sandbox),
  );
  await t.test("hotelbeds: a slow answer is waited for", (t) => slow(t, sandbox));
});

const held = async (port: HotelPort, reference: string): Promise<string> => {
  const [offer] = done(await port.search(search, context)).offers;
  return done(await port.hold({ reference, offer: offer!, needs: [], ...stay }, context)).holdId;
};
const bookings = async (sandbox: Sandbox, name: string) =>
  (await sandbox.ledger(name)).entries.filter(({ kind }) => kind === "booking");
const booksAsked = async (sandbox: Sandbox, name: string): Promise<number> =>
  (await sandbox.ledger(name)).requests.filter(({ operation }) => operation === "book").length;

/** The first booking under the reference is given up once the vendor has it, and made later. */
const givenUp = async (sandbox: Sandbox, name: string, book: (signal: AbortSignal) => Promise<unknown>) => {
  const failNext = [{ operation: "book", kind: "late-work", times: 1 }];
  await sandbox.control({ [name]: { lateWorkMs: 700, failNext } });
  const giveUp = new AbortController();
  const pending = book(giveUp.signal);
  while ((await booksAsked(sandbox, name)) === 0);
  giveUp.abort();
  return pending;
};

const once = async (t: Test, sandbox: Sandbox, { name, open, keyed }: Dialect): Promise<void> => {
  const port = open({ ...sandbox.vendor(name), timeoutMs: 20_000 });
  const reference = `XN-1.room.1.1`;
  const request = { holdId: await held(port, reference), payment, ...guest };
  const call: VendorCall = {
    ...{ reference, tries: 1, doubt: false, firstAskedAt: systemClock.now().toISOString() },
    ...{ request, replyTo: { name: "sub-case.record-answer", entity: "XN-1" } },
  };
  const ask = (more: Partial<VendorCall>, signal?: AbortSignal) =>
    carryOut(
      { name, kind: "hotel", port },
      "book",
      { ...call, ...more },
      { ...context, attempt: 1, now: systemClock.now(), ...(signal && { signal }) },
    );
  t.match(await givenUp(sandbox, name, (signal) => ask({}, signal)), { outcome: "in-doubt" });
  const again = await ask({ tries: 2, doubt: true });
  t.match(again, { outcome: keyed ? "done" : "in-doubt" }, "asked again only under a key");
  if (!keyed) t.equal(await booksAsked(sandbox, name), 1);
  let answer = again;
  while (answer.outcome !== "done") answer = await ask({ tries: 3, doubt: true });
  const made = await bookings(sandbox, name);
  t.match(made, [{ id: answer.result?.bookingId, reference, state: "BOOKED" }]);
  t.equal(made.length, 1);
};

const twins = async (t: Test, sandbox: Sandbox): Promise<void> => {
  await sandbox.reset();
  const port = new Hotelbeds(
    "hotelbeds",
    { ...sandbox.vendor("hotelbeds"), timeoutMs: 20_000, bookingSettlesMs: 0 },
    systemClock,
  );
  const reference = "XN-01ARZ3NDEKTSV4RRFFQ69G5FAV.room.1.1";
  const request = { reference, holdId: await held(port, reference), payment, ...guest };
  await givenUp(sandbox, "hotelbeds", (signal) => port.book(request, { ...context, signal }));
  const { bookingId } = done(await port.book(request, context));
  const reservation = { reference, bookingId } as Reservation;
  const vendor = "hotelbeds";
  const oddAmong = async (standing: readonly StandingBooking[]): Promise<OddBooking[]> =>
    standing.flatMap((one) => {
      const oddity = oddityOf({ reservation }, one);
      return oddity === undefined ? [] : [{ vendor, ...one, oddity }];
    });
  const ask = staysOf(port, vendor, { oddAmong });
  const told = async () => done(await ask({}, { ...context, signal: new AbortController().signal })).reports;
  t.same(await told(), [], "one alone");
  while ((await bookings(sandbox, vendor)).length < 2);
  const [late] = (await bookings(sandbox, vendor)).map(({ id }) => id).filter((id) => id !== bookingId);
  const twin = { vendor, reference, bookingId: late!, oddity: "TWIN" };
  t.match(await told(), [{ name: "sub-case.note-oddity", data: twin }]);
  done(await port.cancel({ reference, bookingId }, context));
  t.match(
    (await told()).filter(({ name }) => name === "sub-case.note-oddity"),
    [{ data: twin }],
    "also where the group has given its own back before anybody looked",
  );
  done(await port.cancel({ reference, bookingId: late! }, context));
  t.notOk(
    (await told()).some(({ name }) => name === "sub-case.note-oddity"),
    "none is left",
  );
};

/** Longer than any other call may take. */
const slow = async (t: Test, sandbox: Sandbox): Promise<void> => {
  await sandbox.reset();
  const patient = { timeoutMs: 300, bookingSettlesMs: 30_000 };
  const port = new Hotelbeds("hotelbeds", { ...sandbox.vendor("hotelbeds"), ...patient }, systemClock);
  const request = { reference: "slow", holdId: await held(port, "slow"), payment, ...guest };
  const failNext = [{ operation: "book", kind: "timeout", times: 1 }];
  await sandbox.control({ hotelbeds: { lateMs: 900, failNext } });
  done(await port.book(request, context));
  await sandbox.control({
    hotelbeds: { lateMs: 900, failNext: [{ operation: "cancel", kind: "timeout", times: 1 }] },
  });
  const found = done(await port.lookup({ reference: "slow" }, context));
  const bookingId = "bookingId" in found ? found.bookingId : "";
  t.match(await port.cancel({ reference: "slow", bookingId }, context), { outcome: "in-doubt" });
};
