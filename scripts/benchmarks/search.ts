/** Owns the benchmark of an operator's hotel search over five vendors: what it takes after the slowest of them has answered, beside the plainest scatter-gather. */
import { hotelsFound } from "../../actors/wave/hotel-search.ts";
import type { HotelOffer } from "../../schemas/hotel.ts";
import type { HotelSearchView } from "../../schemas/hotel-search.ts";
import { table } from "../administration/table.ts";
import type { DemoAirline } from "../demonstration/provision.ts";
import { percentile } from "../soaking/deliveries-rig.ts";
import type { Running } from "../supervisor/running.ts";
import { type Benchmark, type BenchmarkRun, rounded } from "./benchmark.ts";
import { OwnInstance } from "./instance.ts";
import { startFastifySearchPeer, startPlainHotels } from "./peers.ts";
import type { PlainHotel, PlainHotels } from "./plain-hotels.ts";
import { loadAverage } from "./process-figures.ts";

const offersPerVendor = 200;
const vendors = [20, 30, 40, 50, 60].map(
  (latencyMs, i): PlainHotel => ({
    name: `plain-${i + 1}`,
    dialect: i % 2 === 0 ? "stayhub" : "roomlink",
    offers: offersPerVendor,
    latencyMs,
  }),
);
const limitMs = 20;
const rounds = 5;
const searchesPerRound = 60;
const warmUps = 60;
const mergeRepeats = 300;
const stopGraceMs = 2000;
const dayMs = 86_400_000;
/** No two of a run ask for the same stay, so that nothing comes out of what was told before. */
const nightsMax = 20;

const run = async ({ say, signal }: BenchmarkRun) => {
  const own = await OwnInstance.start({ vendorLatencyMs: 0, vendors: ["receiver"], say, signal });
  const started: Running[] = [];
  try {
    const airline = own.airlines[0] as DemoAirline;
    const hotels = await startPlainHotels(own, vendors, signal);
    started.push(hotels);
    const peer = await startFastifySearchPeer(own, vendors, hotels.url, signal);
    started.push(peer);
    await putPlainHotels(own, airline, vendors, hotels.url);
    const token = await own.operatorToken(airline, "AIRPORT_OPERATOR");
    const ours = targetOf(`${own.instance.baseUrl}/v1/hotels/search`, hotels.url, { token });
    const theirs = targetOf(`${peer.url}/search`, hotels.url, {});
    const loadBefore = loadAverage();
    const figures = await inTurns({ ours, theirs }, say);
    const merge = mergeAlone(figures.ours.answer as HotelSearchView);
    const results = { ours: figuresOf(figures.ours.beyondMs), fastify: figuresOf(figures.theirs.beyondMs) };
    const { hotelCount, hotels: shown } = figures.ours.answer as HotelSearchView;
    const offers = shown.reduce((sum, hotel) => sum + hotel.offers.length, 0);
    const bytes = { ours: figures.ours.bytes, fastify: figures.theirs.bytes };
    const load = { before: loadBefore, after: loadAverage() };
    const text = [
      `${vendors.length} vendors × ${offersPerVendor} offers (${offers} offers of ${hotelCount} hotels), which answer after 20 to 60 ms; ${rounds} rounds of ${searchesPerRound} searches in turns, one at a time`,
      `load average ${load.before} before, ${load.after} after; limit: p99 ≤ ${limitMs} ms beyond the slowest vendor`,
      "From the last byte that the slowest vendor sends to the last byte of the answer. Ours checks every body, finds out which offers are one",
      "hotel, holds each against a policy, notes the hotels in the catalogue and looks at token, role and rates; Fastify concatenates.",
      "",
      table(
        ["WHO", "P50 MS", "P99 MS", "MAX MS", "ANSWER KB"],
        [
          ["Stopover", results.ours, bytes.ours] as const,
          ["Fastify, concatenated", results.fastify, bytes.fastify] as const,
        ].map(([name, { p50Ms, p99Ms, maxMs }, size]) =>
          [name, p50Ms, p99Ms, maxMs, Math.round(size / 1024)].map(String),
        ),
      ),
      "",
      `merge and dedup alone, ${mergeRepeats} times in this process: p50 ${merge.p50Ms} ms, p99 ${merge.p99Ms} ms`,
    ].join("\n");
    return { text, figures: { offers, hotelCount, load, limitMs, ...results, merge } };
  } finally {
    for (const running of started) await running.stop(stopGraceMs);
    await own.stop();
  }
};

/** As hotel vendors of the airline, under their own names. */
export const putPlainHotels = async (
  { client }: Pick<OwnInstance, "client">,
  { code: tenant }: Pick<DemoAirline, "code">,
  hotels: readonly PlainHotel[],
  url: string,
): Promise<void> => {
  const { addresses } = await toldBy(url);
  for (const { name, dialect } of hotels) {
    const data = { name, dialect, baseUrl: addresses[name], apiKey: "plain-key" };
    await client.command("vendor-adapter.put-vendor", { tenant, data });
  }
};

const toldBy = async (url: string): Promise<PlainHotels> => (await (await fetch(url)).json()) as PlainHotels;

interface Searched {
  beyondMs: number;
  bytes: number;
  body: string;
}

/** One search after the other, each for a stay that nobody has asked for yet. */
const targetOf = (url: string, hotelsUrl: string, { token }: { token?: string }) => {
  let asked = 0;
  return async (): Promise<Searched> => {
    const n = asked++;
    const checkIn = new Date(Date.now() + (1 + Math.floor(n / nightsMax)) * dayMs).toISOString().slice(0, 10);
    const body = {
      airport: "JFK",
      checkIn,
      nights: 1 + (n % nightsMax),
      rooms: 2,
      tier: "ECONOMY",
      limit: 200,
    };
    const answer = await fetch(url, {
      method: "POST",
      headers: {
        "content-type": "application/json",
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
      },
      body: JSON.stringify(body),
    });
    const text = await answer.text();
    const answeredAt = performance.timeOrigin + performance.now();
    if (!answer.ok) throw new Error(`${url}: ${answer.status} ${text.slice(0, 300)}`);
    const { lastSearchAt } = await toldBy(hotelsUrl);
    return { beyondMs: answeredAt - lastSearchAt, bytes: Buffer.byteLength(text), body: text };
  };
};

interface Taken {
  beyondMs: number[];
  bytes: number;
  answer: unknown;
}

const inTurns = async (
  targets: Record<"ours" | "theirs", () => Promise<Searched>>,
  say: (line: string) => void,
): Promise<Record<"ours" | "theirs", Taken>> => {
  const taken = { ours: [] as Searched[], theirs: [] as Searched[] };
  for (const name of ["ours", "theirs"] as const) for (let i = 0; i < warmUps; i++) await targets[name]();
  for (let round = 1; round <= rounds; round++) {
    for (const name of ["ours", "theirs"] as const)
      for (let i = 0; i < searchesPerRound; i++) taken[name].push(await targets[name]());
    say(`round ${round} of ${rounds}`);
  }
  const takenOf = (all: Searched[]): Taken => ({
    beyondMs: all.map(({ beyondMs }) => beyondMs),
    bytes: all.at(-1)?.bytes ?? 0,
    answer: JSON.parse(all.at(-1)?.body ?? "{}"),
  });
  return { ours: takenOf(taken.ours), theirs: takenOf(taken.theirs) };
};

const figuresOf = (ms: readonly number[]) => {
  const sorted = ms.toSorted((a, b) => a - b);
  return {
    p50Ms: rounded(percentile(sorted, 0.5), 1),
    p99Ms: rounded(percentile(sorted, 0.99), 1),
    maxMs: rounded(sorted.at(-1) ?? 0, 1),
  };
};

/** The same offers once more, without anything around: what they say of a hotel is taken from the answer. */
const mergeAlone = ({ hotels }: HotelSearchView) => {
  const offers = hotels.flatMap(({ offers: members, distanceKm: _, ...facts }) =>
    members.map((offer): HotelOffer => ({ ...facts, ...offer, providerHotelId: facts.hotelUrn })),
  );
  const jfk = { latitude: 40.6398, longitude: -73.7789, country: "US" };
  const tookMs = Array.from({ length: mergeRepeats }, () => {
    const begun = performance.now();
    hotelsFound(offers, jfk, { rooms: 2, nights: 1 }, undefined);
    return performance.now() - begun;
  });
  return figuresOf(tookMs);
};

export const search: Benchmark = {
  summary: `POST /v1/hotels/search over ${vendors.length} vendors × ${offersPerVendor} offers: the time beyond the slowest vendor, beside Fastify that concatenates`,
  run,
};
