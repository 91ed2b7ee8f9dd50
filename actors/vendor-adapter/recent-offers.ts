/** Owns the offers that operators' searches are answered from for a minute. Booking never reads them: a wave asks the vendors anew. */
import { LRUCache } from "lru-cache";
import { directVendor } from "../../schemas/contract.ts";
import type { HotelOffer, HotelSearch, RecentOffers } from "../../schemas/hotel.ts";
import type { Clock } from "../runtime/clock.ts";
import { askHotels, type HotelSource, resultOf, type SearchOptions, type SourceAnswer } from "./search.ts";

const keptForMs = 60_000;
/** Of all airlines together; a kilobyte each. */
const offersMax = 10_000;

interface Kept {
  offers: HotelOffer[];
  askedAt: Date;
  /** How often the airport had been invalidated when the vendor was asked. */
  invalidations: number;
}

/** A vendor that is being asked: whoever wants to know the same meanwhile waits for that answer, however it ends. */
interface UnderWay {
  answer: Promise<SourceAnswer>;
  askedAt: Date;
  invalidations: number;
}

/**
 * Vendor by vendor: one that has failed is asked again at the next search, whatever the others' offers, and a crowd that asks at once
 * asks it once. The airline's own contracts are always asked, as their rooms are counted down next door.
 */
export class OfferCache {
  readonly #clock: Clock;
  readonly #hears: () => boolean;
  readonly #kept = new LRUCache<string, Kept>({
    maxSize: offersMax,
    sizeCalculation: ({ offers }) => offers.length + 1,
  });
  readonly #underWay = new Map<string, UnderWay>();
  readonly #invalidations = new Map<string, number>();

  /** @param hears whether invalidations by other processes are heard of; while they are not, every vendor is asked */
  constructor(clock: Clock, hears: () => boolean) {
    this.#clock = clock;
    this.#hears = hears;
  }

  async search(
    tenant: string,
    sources: readonly HotelSource[],
    search: HotelSearch,
    options: SearchOptions,
  ): Promise<{ recent: RecentOffers; asked: SourceAnswer[] }> {
    const now = this.#clock.now();
    const invalidations = this.#invalidations.get(placeOf(tenant, search.airport)) ?? 0;
    const known = new Map<string, Kept>();
    for (const { name } of this.#hears() ? sources : []) {
      const kept = this.#kept.get(keyOf(tenant, name, search));
      if (kept !== undefined && kept.invalidations === invalidations && isFresh(kept, now))
        known.set(name, kept);
    }
    const [asked, heard] = await this.#ask(
      sources.filter(({ name }) => !known.has(name)),
      { tenant, search, options, invalidations, now },
    );
    for (const { vendor, offers, askedAt, detail } of heard)
      if (detail === undefined) known.set(vendor, { offers, askedAt, invalidations });
    const answers = sources.flatMap(({ name }) => {
      const kept = known.get(name);
      return kept === undefined ? [] : [{ vendor: name, ...kept }];
    });
    const vendors = answers.map(({ vendor, offers, askedAt }) => ({
      vendor,
      offers: offers.length,
      askedAt: askedAt.toISOString(),
    }));
    const { partialFailures } = resultOf(heard);
    return { recent: { offers: answers.flatMap(({ offers }) => offers), vendors, partialFailures }, asked };
  }

  /** @returns what this search has asked, and all that it has heard: also what others were asking */
  async #ask(
    sources: readonly HotelSource[],
    { tenant, search, options, invalidations, now }: Asking,
  ): Promise<[asked: SourceAnswer[], heard: (SourceAnswer & { askedAt: Date })[]]> {
    const own: Promise<SourceAnswer>[] = [];
    const heard = sources.map(async (source) => {
      const key = keyOf(tenant, source.name, search);
      const other = this.#hears() ? this.#underWay.get(key) : undefined;
      if (other !== undefined && other.invalidations === invalidations && source.name !== directVendor)
        return { ...(await other.answer), askedAt: other.askedAt };
      const answer = this.#askOne(source, search, options);
      own.push(answer);
      const underWay = { answer, askedAt: now, invalidations };
      this.#underWay.set(key, underWay);
      const told = await answer;
      if (this.#underWay.get(key) === underWay) this.#underWay.delete(key);
      const { offers, detail } = told;
      if (detail === undefined && source.name !== directVendor)
        this.#kept.set(key, { offers, askedAt: now, invalidations });
      return { ...told, askedAt: now };
    });
    return [await Promise.all(own), await Promise.all(heard)];
  }

  async #askOne(source: HotelSource, search: HotelSearch, options: SearchOptions): Promise<SourceAnswer> {
    const [answer] = await askHotels([source], search, options);
    return answer as SourceAnswer;
  }

  /** What was asked before, or is being asked right now, answers no search that begins from now on. */
  invalidate(tenant: string, airport: string): void {
    const place = placeOf(tenant, airport);
    this.#invalidations.set(place, (this.#invalidations.get(place) ?? 0) + 1);
  }
}

interface Asking {
  tenant: string;
  search: HotelSearch;
  options: SearchOptions;
  invalidations: number;
  now: Date;
}

const isFresh = ({ askedAt }: Kept, now: Date): boolean => now.getTime() - askedAt.getTime() < keptForMs;

const placeOf = (tenant: string, airport: string): string => `${tenant}.${airport}`;

const keyOf = (tenant: string, vendor: string, search: HotelSearch): string =>
  JSON.stringify([
    tenant,
    vendor,
    search.airport,
    search.checkIn,
    search.checkOut,
    search.rooms,
    search.radiusKm,
  ]);
