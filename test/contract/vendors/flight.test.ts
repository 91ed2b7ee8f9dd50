/** The flight-data port's contract, run on each adapter against its sandbox process: a stream that is held, resumed, and disturbed. */
import t from "tap";
import { SkyWatch } from "../../../actors/vendor-adapter/adapters/skywatch.ts";
import type { VendorOptions } from "../../../actors/vendor-adapter/http.ts";
import type { FlightFeedPort } from "../../../actors/vendor-adapter/ports.ts";
import { closedPort, context, done, startSandbox } from "./sandbox.ts";

const adapters: [string, new (options: VendorOptions) => FlightFeedPort][] = [["skywatch", SkyWatch]];

const departure = "2031-03-14T21:30:00.000Z";
const prediction = {
  flight: "XN 0482",
  scheduledDeparture: departure,
  departureAirport: "JFK",
  arrivalAirport: "MAD",
  type: "CANCELLED",
  reason: "WEATHER",
  probability: 0.92,
  state: "PREDICTED",
};

t.test("flight-data port", async (t) => {
  const names = adapters.map(([name]) => name).join(",");
  const sandbox = await startSandbox(t, t.testdir(), ["--only", names]);
  for (const [name, Adapter] of adapters)
    await t.test(name, async (t) => {
      const options = { ...sandbox.vendor(name), account: {}, timeoutMs: 20_000 };
      const port = new Adapter(options);
      const post = async (body: unknown) => {
        const url = `${sandbox.announcement.controlUrl}/predict/${name}`;
        const answer = await fetch(url, { method: "POST", body: JSON.stringify(body) });
        return { status: answer.status, body: (await answer.json()) as { eventId: string; detail?: string } };
      };
      const predict = async (more: object = {}): Promise<string> => {
        const { status, body } = await post({ ...prediction, ...more });
        t.equal(status, 200);
        return body.eventId;
      };
      const poll = (cursor?: string, waitMs = 0) =>
        port.poll({ ...(cursor !== undefined && { cursor }), waitMs }, context);
      const idsIn = (page: Awaited<ReturnType<typeof poll>>): string[] =>
        done(page).predictions.map(({ eventId }) => eventId);
      const settle = (settings: object) => sandbox.control({ [name]: settings });
      t.beforeEach(() => sandbox.reset());

      await t.test("told in our words", async (t) => {
        await predict({ eventId: "one", observedAt: "2031-03-14T12:00:00+01:00" });
        const page = done(await poll());
        t.strictSame(page.predictions, [
          {
            eventId: "one",
            observedAt: "2031-03-14T11:00:00.000Z",
            sequence: page.predictions[0]?.sequence,
            flight: { number: "XN482", origin: "JFK", destination: "MAD", scheduledDeparture: departure },
            type: "CANCELLED",
            reason: "WEATHER",
            probability: 0.92,
            state: "PREDICTED",
          },
        ]);
        for (const type of ["DELAYED", "DIVERTED", "MISSED_CONNECTION", "DENIED_BOARDING"])
          await predict({ type, state: "CONFIRMED" });
        await predict({ state: "WITHDRAWN", arrivalAirport: undefined });
        const more = done(await poll(page.cursor)).predictions;
        t.strictSame(
          more.map(({ type, state }) => `${type} ${state}`),
          [
            "DELAYED CONFIRMED",
            "DIVERTED CONFIRMED",
            "MISSED_CONNECTION CONFIRMED",
            "DENIED_BOARDING CONFIRMED",
            "CANCELLED WITHDRAWN",
          ],
        );
        t.match(more.at(-1)?.flight.destination, /^[A-Z]{3}$/, "the vendor knows where it goes");
      });

      await t.test("held until something comes, or the wait is over", async (t) => {
        const first = done(await poll());
        t.strictSame(first.predictions, []);
        const held = poll(first.cursor, 25_000);
        const eventId = await predict();
        t.strictSame(idsIn(await held), [eventId]);
        t.strictSame(idsIn(await poll(first.cursor, 25_000)), [eventId], "at once when it is there");
        const over = done(await poll(done(await poll()).cursor, 1000));
        t.strictSame(over.predictions, []);
        const gone = new AbortController();
        const given = port.poll({ cursor: over.cursor, waitMs: 25_000 }, { ...context, signal: gone.signal });
        gone.abort();
        t.match(await given, { outcome: "unavailable" }, "given up by the caller");
      });

      await t.test("goes on behind its cursor, and says when that is too old", async (t) => {
        const ids = [await predict(), await predict(), await predict()];
        const page = await poll();
        t.strictSame(idsIn(page), ids);
        t.strictSame(idsIn(await poll(done(page).cursor)), []);
        const later = await predict();
        t.strictSame(idsIn(await poll(done(page).cursor)), [later]);
        t.match(await poll("bm9uc2Vuc2U"), { outcome: "refused", code: "NOT_FOUND" });
        await settle({ streamKept: 2 });
        await predict();
        await predict();
        t.match(await poll(done(page).cursor), { outcome: "refused", code: "NOT_FOUND" });
        t.equal(idsIn(await poll()).length, 2, "from the oldest that is kept");
        const before = done(await poll()).cursor;
        await sandbox.reset();
        t.match(await poll(before), { outcome: "refused", code: "NOT_FOUND" }, "a stream that began anew");
      });

      await t.test("what is told twice, the other way round, or wrongly", async (t) => {
        const ids = [await predict(), await predict()];
        await settle({ duplicateRate: 1, reorderRate: 1 });
        t.strictSame(idsIn(await poll()), [ids[1], ids[1], ids[0], ids[0]]);
        await settle({ duplicateRate: 0, reorderRate: 0 });
        await predict({ departureAirport: "QQQ" });
        const page = done(await poll());
        t.strictSame([page.predictions.length, page.passedOver], [2, 1], "a flight from nowhere");
      });

      await t.test("an outage is one, whatever it looks like", async (t) => {
        await predict();
        for (const kind of ["unavailable", "error", "malformed", "lost-answer", "error-after"]) {
          await settle({ failNext: [{ operation: "stream", kind, times: 1 }] });
          t.match(await poll(), { outcome: "unavailable" }, kind);
          t.equal(idsIn(await poll()).length, 1, `after ${kind}`);
        }
        const stranger = new Adapter({ ...options, apiKey: "wrong" });
        t.match(await stranger.poll({ waitMs: 0 }, context), { outcome: "refused", code: "NOT_AUTHORISED" });
        const nowhere = new Adapter({ ...options, baseUrl: await closedPort() });
        t.match(await nowhere.poll({ waitMs: 0 }, context), { outcome: "unavailable" });
      });

      await t.test("the sandbox says what is wrong with a prediction", async (t) => {
        const wrong: [object, RegExp][] = [
          [{ probability: 1.2 }, /probability/],
          [{ state: "LIKELY" }, /state/],
          [{ departureAirport: "jfk" }, /departureAirport/],
          [{ delay: 3 }, /delay/],
        ];
        for (const [more, detail] of wrong)
          t.match(await post({ ...prediction, ...more }), { status: 400, body: { detail } });
      });
    });
});
