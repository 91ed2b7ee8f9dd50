/** Owns the scatter-gather over an airline's hotel vendors: all at once, inside one time-box, with the late ones named. */
import type { HotelOffer, HotelSearch, HotelSearchResult } from "../../schemas/hotel.ts";
import type { HotelPort } from "./ports.ts";

export interface HotelSource {
  name: string;
  port: Pick<HotelPort, "search">;
}

export interface SearchOptions {
  /** Contract, "Hotel search time-box". */
  timeBoxMs: number;
  traceparent: string;
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
  { timeBoxMs, traceparent }: SearchOptions,
): Promise<SourceAnswer[]> => {
  const signal = AbortSignal.timeout(timeBoxMs);
  return Promise.all(sources.map((source) => ask(source, search, { signal, traceparent })));
};

const ask = async (
  { name: vendor, port }: HotelSource,
  search: HotelSearch,
  context: { signal: AbortSignal; traceparent: string },
): Promise<SourceAnswer> => {
  const found = await port.search(search, context);
  if (found.outcome === "done") return { vendor, offers: found.offers };
  return {
    vendor,
    offers: [],
    detail: context.signal.aborted ? "No answer within the time-box." : found.detail,
  };
};

export const resultOf = (answers: readonly SourceAnswer[]): HotelSearchResult => ({
  offers: answers.flatMap(({ offers }) => offers),
  partialFailures: answers.flatMap(({ vendor, detail }) =>
    detail === undefined ? [] : { failedDomain: vendor, detail },
  ),
});
