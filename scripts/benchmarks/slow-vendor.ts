/** Owns the benchmark of the bulkhead: how many bookings a second go through at two hotel vendors while a third never answers, beside as many without it. */
import { freshUuid, mintTraceparent } from "../../actors/runtime/clock.ts";
import { sendCommand, systemCommand } from "../../actors/runtime/send.ts";
import type { Command } from "../../schemas/command.ts";
import { urn } from "../../schemas/urn.ts";
import type { VendorAnswer, VendorCall, VendorVerb } from "../../schemas/vendor-call.ts";
import { commandFilter } from "../../streams/subjects.ts";
import { table } from "../administration/table.ts";
import type { DemoAirline } from "../demonstration/provision.ts";
import type { Running } from "../supervisor/running.ts";
import { type Benchmark, type BenchmarkRun, median, rounded } from "./benchmark.ts";
import { OwnInstance } from "./instance.ts";
import { startPlainHotels } from "./peers.ts";
import type { PlainHotel } from "./plain-hotels.ts";
import { cpuSeconds, loadAverage } from "./process-figures.ts";
import { putPlainHotels } from "./search.ts";

const rounds = 6;
const secondsPerRound = 5;
/** Longer than a round: what the mute vendor was asked hangs all through it. */
const vendorTimeoutMs = 7000;
/** As vendors are; and so few bookings a second that the machine could do more: what is lost is lost by waiting. */
const vendorLatencyMs = 100;
const bookingsAtOnce = 16;
/** More than the bulkhead lets through at once. */
const mutedCalls = 100;
const lossMaxPercent = 5;
const stopGraceMs = 2000;
/** An actor that there is not: the benchmark takes what comes for it off the wire. */
const asker = "bench";

const idle: Pace = { bookingsPerSecond: 0, cpuMicroseconds: 0 };

const quick = ["quick-1", "quick-2"].map(
  (name): PlainHotel => ({ name, dialect: "stayhub", offers: 2, latencyMs: vendorLatencyMs }),
);
/** A new one each round: the circuit before the last one is open. */
const mutes = Array.from(
  { length: rounds },
  (_, i): PlainHotel => ({
    name: `mute-${i + 1}`,
    dialect: "stayhub",
    offers: 2,
    latencyMs: 0,
    isMute: true,
  }),
);

const run = async ({ say, signal }: BenchmarkRun) => {
  const env = { VENDOR_TIMEOUT_MS: String(vendorTimeoutMs) };
  const own = await OwnInstance.start({ vendorLatencyMs: 0, vendors: ["receiver"], env, say, signal });
  let hotels: Running | undefined;
  try {
    const { code: tenant } = own.airlines[0] as DemoAirline;
    const all = [...quick, ...mutes];
    hotels = await startPlainHotels(own, all, signal);
    await putPlainHotels(own, { code: tenant }, all, hotels.url);
    const desk = new Desk(own, tenant);
    await bookFor(desk, secondsPerRound, own.service.pid);
    const loadBefore = loadAverage();
    const played: Round[] = [];
    for (const { name: mute } of mutes) {
      const paces = { without: idle, beside: idle };
      const ways = ["without", "beside"] as const;
      // Whichever comes first has the machine as the other left it.
      for (const way of played.length % 2 === 0 ? ways : ways.toReversed()) {
        const hanging = way === "beside" ? hangAt(desk, mute) : undefined;
        paces[way] = await bookFor(desk, secondsPerRound, own.service.pid);
        if (hanging === undefined) continue;
        if (hanging.ended > 0) throw new Error(`${hanging.ended} calls to ${mute} ended within the round`);
        await hanging.all;
      }
      const { without, beside } = paces;
      const ratio = rounded(beside.bookingsPerSecond / without.bookingsPerSecond, 3);
      const round = { ...paces, ratio };
      played.push(round);
      say(
        `round ${played.length} of ${rounds}: ${without.bookingsPerSecond} bookings/s without, ${beside.bookingsPerSecond} beside it`,
      );
    }
    const ratio = rounded(median(played.map((round) => round.ratio)), 3);
    const load = { before: loadBefore, after: loadAverage() };
    return { text: textOf(played, ratio, load), figures: { ratio, lossMaxPercent, load, rounds: played } };
  } finally {
    await hotels?.stop(stopGraceMs);
    await own.stop();
  }
};

interface Round {
  without: Pace;
  beside: Pace;
  ratio: number;
}

const textOf = (played: readonly Round[], ratio: number, load: { before: number; after: number }): string =>
  [
    `${quick.length} vendors that answer after ${vendorLatencyMs} ms, ${bookingsAtOnce} bookings under way at each (a hold, then a booking, as commands to its adapter and over HTTP); ${rounds} rounds of ${secondsPerRound} s, with and without ${mutedCalls} calls that wait at a vendor which never answers`,
    `load average ${load.before} before, ${load.after} after; limit: not lower by more than ${lossMaxPercent} %`,
    "",
    table(
      ["ROUND", "WITHOUT, BOOKINGS/S", "CPU US", "BESIDE IT", "CPU US", "RATIO"],
      played.map(({ without, beside, ratio: ofRound }, i) =>
        [
          ...[i + 1, without.bookingsPerSecond, without.cpuMicroseconds],
          ...[beside.bookingsPerSecond, beside.cpuMicroseconds, ofRound],
        ].map(String),
      ),
    ),
    "",
    `median ratio: ${ratio}`,
  ].join("\n");

/** Asks the adapters as a saga does, and hears their answers. */
class Desk {
  readonly #own: OwnInstance;
  readonly #tenant: string;
  readonly #waiting = new Map<string, (answer: VendorAnswer) => void>();

  constructor(own: OwnInstance, tenant: string) {
    this.#own = own;
    this.#tenant = tenant;
    own.streams.connection.subscribe(commandFilter(tenant, asker), {
      callback: (error, message) => {
        if (error !== null) throw error;
        const { entity, data } = message.json<Command>();
        this.#waiting.get(entity)?.(data as VendorAnswer);
        this.#waiting.delete(entity);
      },
    });
  }

  async ask(
    vendor: string,
    verb: VendorVerb,
    reference: string,
    request: Record<string, unknown>,
  ): Promise<VendorAnswer> {
    const answer = Promise.withResolvers<VendorAnswer>();
    const entity = freshUuid();
    this.#waiting.set(entity, answer.resolve);
    const replyTo = { name: `${asker}.note-answer`, entity };
    const data: VendorCall = { reference, tries: 1, doubt: false, request, replyTo };
    const following = {
      tenant: this.#tenant,
      correlationUrn: urn("correlation", entity),
      traceparent: mintTraceparent(),
    };
    const named = { id: freshUuid(), name: `vendor-${vendor}.${verb}`, entity, data, now: new Date() };
    await sendCommand(this.#own.streams, systemCommand(asker, following, named));
    return answer.promise;
  }

  hold(vendor: string, reference: string): Promise<VendorAnswer> {
    const stay = { checkIn: "2031-03-14", checkOut: "2031-03-15" };
    const offer = { vendor, providerOfferId: "JFK:0:0:0", nightlyRateMinor: 18_000, currency: "USD" };
    return this.ask(vendor, "hold", reference, { offer, rooms: 1, ...stay, needs: [] });
  }
}

/** @throws Error when the vendor does not do what it always does */
const bookOne = async (desk: Desk, vendor: string): Promise<void> => {
  const reference = `bench-${freshUuid()}`;
  const held = await desk.hold(vendor, reference);
  const booked = await desk.ask(vendor, "book", reference, {
    holdId: held.result?.holdId,
    leadGuest: { givenName: "Ada", familyName: "Bench" },
    guests: [],
    payment: { method: "GUARANTEE" },
  });
  if (booked.outcome !== "done") throw new Error(`a booking ended ${booked.outcome}: ${booked.detail}`);
};

interface Pace {
  /** Of all vendors that answer. */
  bookingsPerSecond: number;
  /** CPU time of the service for each. */
  cpuMicroseconds: number;
}

const bookFor = async (desk: Desk, seconds: number, pid: number): Promise<Pace> => {
  const begun = performance.now();
  const cpuBefore = cpuSeconds(pid);
  const until = begun + seconds * 1000;
  let bookings = 0;
  const keepBooking = async (vendor: string): Promise<void> => {
    while (performance.now() < until) {
      await bookOne(desk, vendor);
      bookings += 1;
    }
  };
  await Promise.all(
    quick.flatMap(({ name }) => Array.from({ length: bookingsAtOnce }, () => keepBooking(name))),
  );
  return {
    bookingsPerSecond: rounded((bookings * 1000) / (performance.now() - begun), 1),
    cpuMicroseconds: rounded(((cpuSeconds(pid) - cpuBefore) * 1e6) / Math.max(1, bookings), 0),
  };
};

interface Hanging {
  /** Calls that have ended all the same. */
  ended: number;
  all: Promise<unknown>;
}

/** More calls than it is asked at once. None of them ends before its time is over. */
const hangAt = (desk: Desk, mute: string): Hanging => {
  const hanging: Hanging = { ended: 0, all: Promise.resolve() };
  const calls = Array.from({ length: mutedCalls }, async () => {
    await desk.hold(mute, `bench-${freshUuid()}`);
    hanging.ended += 1;
  });
  hanging.all = Promise.all(calls);
  return hanging;
};

export const slowVendor: Benchmark = {
  summary: "bookings a second at two hotel vendors while a third never answers, and without it, as a ratio",
  run,
};
