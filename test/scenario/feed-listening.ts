// Listening to flight-data vendors: each airline hears of its own flights, once, from one process at a time, and from where a dead
// one stood. The flight actor is not here: its commands are read from their stream.
import type { Test } from "tap";
import type { Documents } from "../../actors/runtime/documents.ts";
import type { HeardFeed } from "../../actors/vendor-adapter/feed-claim.ts";
import { type Feed, feedCollection, startFlightFeeds } from "../../actors/vendor-adapter/flight-feed.ts";
import type { FlightFeedPort } from "../../actors/vendor-adapter/ports.ts";
import type { Command } from "../../schemas/command.ts";
import type { FlightPrediction, NotePrediction } from "../../schemas/flight.ts";
import { startSandbox } from "../contract/vendors/sandbox.ts";
import { type ActorsUnderTest, watch } from "../harness/actors.ts";
import { eventually } from "../harness/patience.ts";

type Page = Awaited<ReturnType<FlightFeedPort["poll"]>>;

const hourMs = 3_600_000;

/** The airlines XN and QZ are registered. */
export const listensToFeeds = async (t: Test, it: ActorsUnderTest): Promise<void> => {
  const { context, advance, send } = it;
  const { documents, streams, clock } = context;

  /** All that was ever told of the airline's flights by this vendor, by event ids in the order of the stream. */
  const toldBy = async (vendor: string, tenant = "XN"): Promise<string[]> => {
    const found: string[] = [];
    for (let seq = 1; ; ) {
      const next = { seq, next_by_subj: `cmd.${tenant}.flight.note-prediction.*` };
      const message = await streams.manager.direct.getMessage("COMMANDS", next);
      if (message === null) return found;
      const { data } = message.json<Command<NotePrediction>>();
      if (data.vendor === vendor) found.push(data.eventId);
      seq = message.seq + 1;
    }
  };
  const heard = (vendor: string) =>
    documents.tenant("XN").collection<HeardFeed>(feedCollection).findOne({ _id: vendor });
  const toldAll = (vendor: string, ids: string[], tenant = "XN") =>
    eventually(`${vendor} has told ${ids.join(", ")}`, async () => {
      const told = await toldBy(vendor, tenant);
      return told.length >= ids.length ? undefined : `only ${told.join(", ")}`;
    });

  await t.test("each airline hears of its own flights", async (t) => {
    const sandbox = await startSandbox(t, t.testdir(), ["--only", "skywatch", "--latency", "1"]);
    const { baseUrl, apiKey } = sandbox.vendor("skywatch");
    const vendor = { name: "skywatch", dialect: "skywatch", baseUrl, apiKey };
    for (const tenant of ["XN", "QZ"]) await send("vendor-adapter.put-vendor", vendor, { tenant });
    const predict = async (eventId: string, flight: string, departsInHours = 5) => {
      const body = {
        ...{ eventId, flight, departureAirport: "JFK", type: "CANCELLED", reason: "WEATHER" },
        scheduledDeparture: new Date(clock.now().getTime() + departsInHours * hourMs).toISOString(),
        ...{ probability: 0.9, state: "PREDICTED" },
      };
      const url = `${sandbox.announcement.controlUrl}/predict/skywatch`;
      const answer = await fetch(url, { method: "POST", body: JSON.stringify(body) });
      t.equal(answer.status, 200);
    };
    await predict("past", "XN1", -72);
    await predict("in a year and more", "XN2", 401 * 24);
    await predict("ours", "XN482");
    await predict("theirs", "QZ12");
    await predict("nobody's", "AA100");
    await predict("ours again", "XN 0483");
    await toldAll("skywatch", ["ours", "ours again"]);
    await toldAll("skywatch", ["theirs"], "QZ");
    const polls = async () => (await sandbox.ledger("skywatch")).requests.length;
    await eventually("the next polls are held", async () => ((await polls()) >= 4 ? undefined : "not yet"));
    t.strictSame((await toldBy("skywatch")).sort(), ["ours", "ours again"]);
    t.strictSame(await toldBy("skywatch", "QZ"), ["theirs"]);
  });

  const prediction = (eventId: string): FlightPrediction => ({
    eventId,
    observedAt: clock.now().toISOString(),
    sequence: 1,
    flight: {
      number: "XN482",
      origin: "JFK",
      destination: "MAD",
      scheduledDeparture: new Date(clock.now().getTime() + hourMs).toISOString(),
    },
    ...{ type: "CANCELLED", reason: "WEATHER", probability: 0.9, state: "PREDICTED" },
  });

  /** Tells one prediction a page, each under the cursor of its number, and then holds its caller. */
  const scripted = (name: string, pages: number) => {
    const asked: (string | undefined)[] = [];
    const instead = new Map<number, Page>();
    const port: FlightFeedPort = {
      poll: async ({ cursor }, { signal }) => {
        asked.push(cursor);
        const answer = instead.get(asked.length);
        if (answer !== undefined) return answer;
        const place = Number(cursor ?? 0);
        if (place < pages)
          return {
            outcome: "done",
            predictions: [prediction(`${name}-${place}`)],
            passedOver: 0,
            cursor: String(place + 1),
          };
        await new Promise<void>((over) => {
          if (signal?.aborted) over();
          signal?.addEventListener("abort", () => over(), { once: true });
        });
        return { outcome: "unavailable", detail: "given up" };
      },
    };
    const feed: Feed = { tenant: "XN", name, port };
    const ids = Array.from({ length: pages }, (_, i) => `${name}-${i}`);
    const start = (more: Partial<typeof context> = {}) =>
      startFlightFeeds({ ...context, ...more }, () => [feed]);
    return { asked, instead, ids, start };
  };

  await t.test("of several processes one listens, and the next goes on when it stops", async (t) => {
    const { asked, ids, start } = scripted("shared", 3);
    const [one, other] = [start(), start()];
    await toldAll("shared", ids);
    await eventually("held", async () => (asked.length === 4 ? undefined : `${asked.length} polls`));
    t.strictSame(asked, [undefined, "1", "2", "3"], "each page once");
    await Promise.all([one(), other()]);
    t.match(await heard("shared"), { cursor: "3", claimedUntil: undefined }, "given back at once");
    const next = start();
    await eventually("the next one listens", async () => (asked.length === 5 ? undefined : "not yet"));
    t.equal(asked.at(-1), "3");
    await next();
    t.strictSame(await toldBy("shared"), ids);
  });

  await t.test("a dead process's feed goes on where it stood, and nothing is told twice", async (t) => {
    const { asked, ids, start } = scripted("dying", 3);
    let told = 0;
    let isDead = false;
    const dying: Documents = {
      ...documents,
      tenant: (code) => {
        const own = documents.tenant(code);
        const collection = ((name: string) =>
          new Proxy(own.collection(name), {
            get: (target, member) => {
              if (isDead) throw new Error("killed");
              const value = Reflect.get(target, member) as unknown;
              return typeof value === "function" ? value.bind(target) : value;
            },
          })) as unknown as typeof own.collection;
        return { ...own, collection };
      },
    };
    const stop = start({
      documents: dying,
      // The second page stands on the stream, and its position is never moved.
      faults: () => {
        told += 1;
        isDead = told === 2;
        if (isDead) throw new Error("killed");
      },
    });
    await toldAll("dying", ids.slice(0, 2));
    await eventually("dead", async () => (isDead ? undefined : "not yet"));
    await stop();
    t.match(await heard("dying"), { cursor: "1", claimedUntil: Date });
    const early = start();
    await early();
    t.equal(asked.length, 2, "it is not known to be dead yet");
    advance(15_001);
    const next = start();
    await toldAll("dying", ids);
    await eventually("held", async () => (asked.length >= 5 ? undefined : "not yet"));
    await next();
    t.strictSame(asked.slice(2), ["1", "2", "3"], "from where it stood");
    t.strictSame(await toldBy("dying"), ids, "each once");
  });

  await t.test("a cursor that the vendor has forgotten, and an outage", async (t) => {
    const { asked, instead, ids, start } = scripted("forgetful", 2);
    instead.set(3, { outcome: "refused", code: "NOT_FOUND", detail: "cursor_expired" });
    instead.set(5, { outcome: "unavailable", detail: "busy" });
    const stop = start();
    await eventually("held", async () => (asked.length === 7 ? undefined : `${asked.length} polls`));
    await stop();
    t.strictSame(asked, [undefined, "1", "2", undefined, "1", "1", "2"]);
    t.strictSame(await toldBy("forgetful"), ids, "what came again is told once");
    t.match(await heard("forgetful"), { cursor: "2" });
  });

  await t.test("a vendor that never gets on is given time", async (t) => {
    type Call = { cursor: string | undefined; askedMs: number };
    const told = (eventId: string, cursor: string): Page => ({
      ...{ outcome: "done", predictions: [prediction(eventId)], passedOver: 0, cursor },
    });
    /** With how many calls there are until it was waited for twice. */
    const table: [string, number, (cursor: string | undefined) => Page][] = [
      ["the same page for ever", 4, () => told("same", "here")],
      [
        "each cursor forgotten",
        5,
        (cursor) =>
          cursor === undefined
            ? told("first", "lost")
            : { outcome: "refused", code: "NOT_FOUND", detail: "cursor_expired" },
      ],
    ];
    const waited = table.map(async ([what, count, answer]) => {
      const calls: Call[] = [];
      const poll: FlightFeedPort["poll"] = async ({ cursor }) => {
        calls.push({ cursor, askedMs: performance.now() });
        return answer(cursor);
      };
      const stop = startFlightFeeds(context, () => [{ tenant: "XN", name: what, port: { poll } }]);
      await eventually(what, async () => (calls.length >= count ? undefined : `${calls.length} polls`));
      await stop();
      const tookMs = (calls[count - 1]?.askedMs ?? 0) - (calls[0]?.askedMs ?? 0);
      t.ok(tookMs >= 1500, `${what}: half a second, then one: ${tookMs} ms`);
    });
    await Promise.all(waited);
  });

  await t.test("stopping breaks a poll off", async (t) => {
    const seen = await watch(streams.connection, "cmd.XN.flight.note-prediction.*");
    const { asked, start } = scripted("silent", 0);
    const stop = start();
    await eventually("held", async () => (asked.length === 1 ? undefined : "not yet"));
    await stop();
    t.equal(seen.seen.length, 0);
    t.match(await heard("silent"), { claimedUntil: undefined });
  });
};
