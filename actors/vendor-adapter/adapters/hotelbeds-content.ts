/**
 * Owns what Hotelbeds says of hotels whatever the night (address, chain, facilities): asked for once a day and hotel, of its Hotel Content
 * API (`GET /hotel-content-api/1.0/hotels`), as an availability carries none of it.
 */

import type { VendorCall, VendorHttp } from "../http.ts";
import type { CallContext, ReadOutcome } from "../ports.ts";
import { type Content, isContent, type Problem, refusedBy } from "./hotelbeds-answers.ts";

type Signed = Pick<VendorCall<unknown, Problem>, "headers" | "problem" | "isBusy">;

const keptMs = 86_400_000;
/** Of one request; the reference allows up to a thousand. */
const codesAtOnce = 100;
const hotelsMax = 5_000;

export class HotelbedsContent {
  readonly #http: VendorHttp;
  readonly #clock: { now(): Date };
  readonly #signed: () => Signed;
  readonly #known = new Map<number, { content: Content; atMs: number }>();

  constructor(http: VendorHttp, clock: { now(): Date }, signed: () => Signed) {
    this.#http = http;
    this.#clock = clock;
    this.#signed = signed;
  }

  /** By code; a hotel that the vendor says nothing of is not among them. */
  async of(
    codes: readonly number[],
    context: CallContext,
  ): Promise<ReadOutcome<{ hotels: ReadonlyMap<number, Content> }>> {
    const nowMs = this.#clock.now().getTime();
    const asked = [...new Set(codes)];
    const missing = asked.filter((code) => (this.#known.get(code)?.atMs ?? -keptMs) <= nowMs - keptMs);
    for (let from = 0; from < missing.length; from += codesAtOnce) {
      const learnt = await this.#learn(missing.slice(from, from + codesAtOnce), nowMs, context);
      if (learnt.outcome !== "done") return learnt;
    }
    const hotels = asked.flatMap((code) => {
      const known = this.#known.get(code);
      return known === undefined ? [] : [[code, known.content] as const];
    });
    return { outcome: "done", hotels: new Map(hotels) };
  }

  async #learn(codes: readonly number[], nowMs: number, context: CallContext): Promise<ReadOutcome<object>> {
    const query = new URLSearchParams({
      ...{ codes: codes.join(","), fields: "all", language: "ENG" },
      ...{ from: "1", to: String(codes.length) },
    });
    const path = `/hotel-content-api/1.0/hotels?${query}`;
    const end = await this.#http.read(
      { method: "GET", path, success: isContent, ...this.#signed() },
      context,
    );
    if (end.outcome === "problem") return refusedBy(end.body, end.sent);
    if (end.outcome !== "success") return end;
    for (const content of end.body.hotels) {
      // Again at the end: what was learnt longest ago is what goes.
      this.#known.delete(content.code);
      this.#known.set(content.code, { content, atMs: nowMs });
    }
    for (const code of this.#known.keys()) {
      if (this.#known.size <= hotelsMax) break;
      this.#known.delete(code);
    }
    return { outcome: "done" };
  }
}
