/** Owns the scatter-gather over an airline's hotel vendors: all at once, inside one time-box, with the late ones named. */
import type { Logger } from "pino";
import type { HotelOffer, HotelSearch, HotelSearchResult } from "../../schemas/hotel.ts";
import type { HotelPort } from "./ports.ts";
import { soundOffers } from "./sound-offers.ts";

export interface HotelSource {
  name: string;
  port: Pick<HotelPort, "search">;
}

export interface SearchOptions {
  /** Contract, "Hotel search time-box". */
  timeBoxMs: number;
  traceparent: string;
  log: Pick<Logger, "warn">;
}

/** What one vendor brought; with `detail` nothing, for that reason. */
export interface SourceAnswer {
  vendor: string;
  offers: HotelOffer[];
  detail?: string;
}

/** One answer each, in the order of the sources. */
export const askHotels = (
  sources: readonly HotelSource[],
  search: HotelSearch,
  { timeBoxMs, traceparent, log }: SearchOptions,
): Promise<SourceAnswer[]> => {
  const signal = AbortSignal.timeout(timeBoxMs);
  return Promise.all(sources.map((source) => ask(source, search, { signal, traceparent }, log)));
};

const ask = async (
  { name: vendor, port }: HotelSource,
  search: HotelSearch,
  context: { signal: AbortSignal; traceparent: string },
  log: SearchOptions["log"],
): Promise<SourceAnswer> => {
  const failed = (detail: string): SourceAnswer => ({ vendor, offers: [], detail });
  try {
    const found = await port.search(search, context);
    if (found.outcome !== "done")
      return failed(context.signal.aborted ? "No answer within the time-box." : found.detail);
    const offers = soundOffers(found.offers, search);
    const leftOut = found.offers.length - offers.length;
    if (leftOut > 0) log.warn({ vendor, airport: search.airport, leftOut }, "offers are left out");
    return { vendor, offers };
  } catch (error) {
    // A bug of ours in one dialect, or a key that cannot be sent: the other vendors' rooms are there all the same.
    log.warn({ vendor, airport: search.airport, err: error }, "a vendor could not be asked");
    return failed("It could not be asked, or its answer not be read.");
  }
};

export const resultOf = (answers: readonly SourceAnswer[]): HotelSearchResult => ({
  offers: answers.flatMap(({ offers }) => offers),
  partialFailures: answers.flatMap(({ vendor, detail }) =>
    detail === undefined ? [] : { failedDomain: vendor, detail },
  ),
});
