/** Owns the hotels that an airline knows: what vendors and contracts have told of them, each hotel once however often it is told. */
import { isDeepStrictEqual } from "node:util";
import { LRUCache } from "lru-cache";
import type { Collection, UpdateFilter } from "mongodb";
import type { Coordinates, HotelFacts } from "../../schemas/hotel.ts";
import { hotelId, hotelsAmong, inOrder, providerCode } from "../../schemas/hotel-identity.ts";
import { idOf } from "../../schemas/urn.ts";

/** In the airline's `hotels`. */
export interface CatalogueHotel {
  /** The id of its URN. */
  _id: string;
  name: string;
  address: string;
  coordinates: Coordinates;
  stars?: number;
  chain?: string;
  amenities: string[];
  masterHotelId?: string;
  /** What each vendor calls it, in order. */
  codes: string[];
  /** Who has offered it, in order. */
  vendors: string[];
  /** Airports it was offered for, in order. */
  airports: string[];
  /** To the day: a hotel that is told of every minute is written once a day. */
  toldAt: Date;
}

export const hotelIndexes = [
  { name: "airport", key: { airports: 1, _id: 1 } },
  { name: "codes", key: { codes: 1 } },
] as const;

/** The hotels among these offers, each once. */
export const hotelsTold = (offers: readonly HotelFacts[], airport: string, now: Date): CatalogueHotel[] =>
  hotelsAmong(offers).map(({ hotelUrn, offers: tellers, ...facts }) => ({
    _id: idOf(hotelUrn),
    ...facts,
    codes: inOrder(tellers.map(providerCode)),
    vendors: inOrder(tellers.map(({ vendor }) => vendor)),
    airports: [airport],
    toldAt: new Date(now.toISOString().slice(0, 10)),
  }));

/**
 * What the catalogue keeps of a hotel that is told of, given those that it has under one of its names. A search that one
 * vendor missed knows fewer of a hotel's names, and may give it another id: what they all say together decides.
 * @returns `gone`: ids that are this hotel's no more
 */
export const merged = (
  told: CatalogueHotel,
  known: readonly CatalogueHotel[],
): { hotel: CatalogueHotel; gone: string[] } => {
  const same = known.filter(
    ({ masterHotelId }) =>
      masterHotelId === undefined || told.masterHotelId === undefined || masterHotelId === told.masterHotelId,
  );
  const all = [told, ...same];
  const masterHotelId = all.find((one) => one.masterHotelId !== undefined)?.masterHotelId;
  const codes = inOrder(all.flatMap((one) => one.codes));
  const _id = hotelId(masterHotelId ?? (codes[0] as string));
  const hotel: CatalogueHotel = {
    ...told,
    _id,
    ...(masterHotelId === undefined ? {} : { masterHotelId }),
    codes,
    vendors: inOrder(all.flatMap((one) => one.vendors)),
    airports: inOrder(all.flatMap((one) => one.airports)),
  };
  return { hotel, gone: same.map((one) => one._id).filter((id) => id !== _id) };
};

/** A process tells the database only of what it has not told it today. */
const rememberedMax = 5000;

export class Catalogue {
  readonly #hotels: (tenant: string) => Collection<CatalogueHotel>;
  readonly #told = new LRUCache<string, CatalogueHotel>({ max: rememberedMax });

  constructor(hotels: (tenant: string) => Collection<CatalogueHotel>) {
    this.#hotels = hotels;
  }

  /** Keeps what is new in these offers. Told twice, or by two processes at once, it is the same. */
  async note(tenant: string, offers: readonly HotelFacts[], airport: string, now: Date): Promise<void> {
    const rememberedAs = ({ _id }: CatalogueHotel): string => `${tenant} ${airport} ${_id}`;
    const news = hotelsTold(offers, airport, now).filter(
      (hotel) => !isDeepStrictEqual(this.#told.get(rememberedAs(hotel)), hotel),
    );
    if (news.length === 0) return;
    const known = await this.#known(tenant, news);
    const writes = news.flatMap((told) => {
      const found = new Map(
        [told._id, ...told.codes].flatMap((name) => (known.get(name) ?? []).map((one) => [one._id, one])),
      );
      const { hotel, gone } = merged(told, [...found.values()]);
      const put = isDeepStrictEqual(found.get(hotel._id), hotel) ? [] : [putting(hotel)];
      return [...put, ...gone.map((id) => ({ deleteOne: { filter: { _id: id } } }))];
    });
    if (writes.length > 0) await this.#hotels(tenant).bulkWrite(writes, { ordered: false });
    for (const hotel of news) this.#told.set(rememberedAs(hotel), hotel);
  }

  /** By id and by code: the `codes` index serves the second. */
  async #known(tenant: string, hotels: readonly CatalogueHotel[]): Promise<Map<string, CatalogueHotel[]>> {
    const ids = hotels.map(({ _id }) => _id);
    const codes = hotels.flatMap((hotel) => hotel.codes);
    const [byId, byCode] = await Promise.all([
      this.#hotels(tenant)
        .find({ _id: { $in: ids } })
        .toArray(),
      this.#hotels(tenant)
        .find({ codes: { $in: codes } })
        .toArray(),
    ]);
    const known = new Map<string, CatalogueHotel[]>();
    const add = (name: string, hotel: CatalogueHotel): void => {
      known.set(name, [...(known.get(name) ?? []), hotel]);
    };
    for (const hotel of byId.map(ordered)) add(hotel._id, hotel);
    for (const hotel of byCode.map(ordered)) for (const code of hotel.codes) add(code, hotel);
    return known;
  }
}

/** As kept they are in the order of their coming. */
const ordered = (hotel: CatalogueHotel): CatalogueHotel => ({
  ...hotel,
  codes: inOrder(hotel.codes),
  vendors: inOrder(hotel.vendors),
  airports: inOrder(hotel.airports),
});

/** Names and airports are added, so that what another process has just added stays. */
const putting = ({ _id, codes, vendors, airports, ...facts }: CatalogueHotel) => {
  const absent = (["stars", "chain", "masterHotelId"] as const).filter((name) => facts[name] === undefined);
  const unset = Object.fromEntries(absent.map((name) => [name, "" as const]));
  const update: UpdateFilter<CatalogueHotel> = {
    $set: facts,
    ...(absent.length === 0 ? {} : { $unset: unset }),
    $addToSet: { codes: { $each: codes }, vendors: { $each: vendors }, airports: { $each: airports } },
  };
  return { updateOne: { filter: { _id }, update, upsert: true } };
};
