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

/**
 * Vendor by vendor: one that has failed is asked again at the next search, whatever the others' offers. The airline's own
 * contracts are always asked, as their rooms are counted down next door.
 */
export class OfferCache {
  readonly #clock: Clock;
  readonly #hears: () => boolean;
  readonly #kept = new LRUCache<string, Kept>({
    maxSize: offersMax,
    sizeCalculation: ({ offers }) => offers.length + 1,
  });
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
    const asked = await askHotels(
      sources.filter(({ name }) => !known.has(name)),
      search,
      options,
    );
    const told = asked.filter(({ detail }) => detail === undefined);
    for (const { vendor, offers } of told) {
      const kept: Kept = { offers, askedAt: now, invalidations };
      known.set(vendor, kept);
      if (vendor !== directVendor) this.#kept.set(keyOf(tenant, vendor, search), kept);
    }
    const answers = sources.flatMap(({ name }) => {
      const kept = known.get(name);
      return kept === undefined ? [] : [{ vendor: name, ...kept }];
    });
    const vendors = answers.map(({ vendor, offers, askedAt }) => ({
      vendor,
      offers: offers.length,
      askedAt: askedAt.toISOString(),
    }));
    const { partialFailures } = resultOf(asked);
    return { recent: { offers: answers.flatMap(({ offers }) => offers), vendors, partialFailures }, asked };
  }

  /** What was asked before, or is being asked right now, answers no search that begins from now on. */
  invalidate(tenant: string, airport: string): void {
    const place = placeOf(tenant, airport);
    this.#invalidations.set(place, (this.#invalidations.get(place) ?? 0) + 1);
  }
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
