/** Owns the scatter-gather over an airline's hotel vendors: all at once, inside one time-box, with the late ones named. */
import type { HotelOffer, HotelSearch, HotelSearchResult } from "../../schemas/hotel.ts";
import type { HotelPort } from "./ports.ts";

interface Source {
  name: string;
  port: Pick<HotelPort, "search">;
}

/** @param timeBoxMs contract, "Hotel search time-box" */
export const searchHotels = async (
  sources: readonly Source[],
  search: HotelSearch,
  options: { timeBoxMs: number; traceparent: string },
): Promise<HotelSearchResult> => {
  const signal = AbortSignal.timeout(options.timeBoxMs);
  const answers = await Promise.all(
    sources.map((source) => ask(source, search, { signal, traceparent: options.traceparent })),
  );
  return {
    offers: answers.flatMap(({ offers }) => offers),
    partialFailures: answers.flatMap(({ failure }) => failure ?? []),
  };
};

interface Answer {
  offers: HotelOffer[];
  failure?: { failedDomain: string; detail: string };
}

const ask = async (
  { name, port }: Source,
  search: HotelSearch,
  context: { signal: AbortSignal; traceparent: string },
): Promise<Answer> => {
  const found = await port.search(search, context);
  if (found.outcome === "done") return found;
  const detail = context.signal.aborted ? "No answer within the time-box." : found.detail;
  return { offers: [], failure: { failedDomain: name, detail } };
};
