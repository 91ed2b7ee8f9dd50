/**
 * Owns which of Rapid's properties are near a place, and what it says of them whatever the night: asked once a day, as shopping goes by
 * property ids and carries neither names nor places ("Properties within Polygon", "Property Content").
 */
import Type, { type Static } from "typebox";
import { distanceKmBetween } from "../../../schemas/distance.ts";
import type { Coordinates, HotelOffer } from "../../../schemas/hotel.ts";
import type { Amenity } from "../../../schemas/vocabulary.ts";
import { type VendorCall, type VendorHttp, validatorOf } from "../http.ts";
import type { CallContext, ReadOutcome } from "../ports.ts";
import { type Problem, refusedBy } from "./rapid-answers.ts";

type Signed = Pick<VendorCall<unknown, Problem>, "headers" | "problem">;

export type Property = Pick<HotelOffer, "name" | "address" | "coordinates" | "stars" | "chain" | "amenities">;

const Content = Type.Object({
  property_id: Type.String({ minLength: 1, maxLength: 50 }),
  name: Type.String({ minLength: 1, maxLength: 300 }),
  address: Type.Object({
    line_1: Type.Optional(Type.String({ maxLength: 300 })),
    city: Type.Optional(Type.String({ maxLength: 300 })),
    country_code: Type.Optional(Type.String({ maxLength: 10 })),
  }),
  ratings: Type.Optional(
    Type.Object({ property: Type.Optional(Type.Object({ rating: Type.Optional(Type.String()) })) }),
  ),
  location: Type.Object({
    coordinates: Type.Object({
      latitude: Type.Number({ minimum: -90, maximum: 90 }),
      longitude: Type.Number({ minimum: -180, maximum: 180 }),
    }),
  }),
  checkin: Type.Optional(Type.Object({ "24_hour": Type.Optional(Type.String()) })),
  amenities: Type.Optional(
    Type.Record(Type.String(), Type.Object({ name: Type.Optional(Type.String({ maxLength: 300 })) })),
  ),
  chain: Type.Optional(Type.Object({ name: Type.Optional(Type.String({ maxLength: 100 })) })),
});
type Content = Static<typeof Content>;
const isContent = validatorOf(Type.Record(Type.String(), Content));
const isGeography = validatorOf(Type.Record(Type.String(), Type.Object({ property_id: Type.String() })));

/** Rapid has hundreds of ids for what we have ten words for; their names are in English, as we ask for them. A "no" is none. */
const amenityOfWords: readonly (readonly [RegExp, Amenity])[] = [
  [/24.hour.*(front desk|reception)|front desk.*24/, "24H_RECEPTION"],
  [/airport (shuttle|transportation)/, "AIRPORT_SHUTTLE"],
  [/breakfast/, "BREAKFAST"],
  [/restaurant/, "RESTAURANT"],
  [/wi-?fi/, "WIFI"],
  [/parking/, "PARKING"],
  [/wheelchair|accessible (bath)?room/, "ACCESSIBLE_ROOMS"],
  [/pets? (allowed|welcome|friendly)|pet-friendly/, "PETS_ALLOWED"],
  [/family room|connecting.*rooms/, "FAMILY_ROOMS"],
  [/air.condition/, "AIR_CONDITIONING"],
];

const amenitiesOf = ({ amenities = {}, checkin }: Content): Amenity[] => {
  const names = Object.values(amenities).map(({ name = "" }) => name.toLowerCase());
  const told = names.filter((name) => !/^no\b|\bnot\b|unavailable/.test(name));
  const found = amenityOfWords.flatMap(([words, amenity]) =>
    told.some((name) => words.test(name)) ? [amenity] : [],
  );
  const isOpen = checkin?.["24_hour"] !== undefined && !found.includes("24H_RECEPTION");
  return isOpen ? ["24H_RECEPTION", ...found] : found;
};

const propertyOf = (content: Content): Property => {
  const { name, address, location, ratings, chain } = content;
  // 0.0 and a blank mean no rating; half stars count as the whole ones that are surely there.
  const stars = Math.floor(Number(ratings?.property?.rating ?? 0));
  return {
    name,
    address: [address.line_1, address.city, address.country_code].filter(Boolean).join(", "),
    coordinates: location.coordinates,
    ...(stars >= 1 && stars <= 5 && { stars }),
    ...(chain?.name !== undefined && { chain: chain.name.toUpperCase().replaceAll(/[^A-Z0-9]+/g, "_") }),
    amenities: amenitiesOf(content),
  };
};

const keptMs = 86_400_000;
/** Of one request ("property_id": 1 to 250). */
export const propertiesAtOnce = 250;
const placesMax = 200;
const corners = 24;
const kmPerDegree = 111.2;

/** Around the circle, not within it: what is beyond the radius is left out by its distance. GeoJSON, closed. */
const polygonAround = ({ latitude, longitude }: Coordinates, radiusKm: number) => {
  const reach = radiusKm / Math.cos(Math.PI / corners) / kmPerDegree;
  const points = Array.from({ length: corners }, (_, i) => {
    const angle = (2 * Math.PI * i) / corners;
    const north = latitude + reach * Math.sin(angle);
    const east = longitude + (reach * Math.cos(angle)) / Math.cos((latitude * Math.PI) / 180);
    return [Number(east.toFixed(6)), Number(north.toFixed(6))];
  });
  return { type: "Polygon", coordinates: [[...points, points[0]]] };
};

interface Place {
  coordinates: Coordinates;
  radiusKm: number;
}
type Found = ReadOutcome<{ properties: ReadonlyMap<string, Property> }>;

/** The oldest goes. */
const bound = (places: Map<string, unknown>): void => {
  const [oldest] = places.keys();
  if (places.size > placesMax && oldest !== undefined) places.delete(oldest);
};

const notYet: Found = { outcome: "unavailable", detail: "its hotels near the place are still being learnt" };

/** What there is of it when the signal comes is nothing yet; it goes on. */
const soonerThan = async (signal: AbortSignal, learning: Promise<Found>): Promise<Found> => {
  if (signal.aborted) return notYet;
  const aborted = Promise.withResolvers<Found>();
  const onAbort = (): void => aborted.resolve(notYet);
  signal.addEventListener("abort", onAbort, { once: true });
  try {
    return await Promise.race([learning, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
};

export class RapidPlaces {
  readonly #http: VendorHttp;
  readonly #clock: { now(): Date };
  readonly #signed: () => Signed;
  readonly #known = new Map<string, { properties: ReadonlyMap<string, Property>; atMs: number }>();
  /** Under way, by place. */
  readonly #learning = new Map<string, Promise<Found>>();
  /** Of places that are not known whole yet. */
  readonly #ids = new Map<string, { ids: readonly string[]; atMs: number }>();
  readonly #contents = new Map<string, Map<string, Property>>();

  constructor(http: VendorHttp, clock: { now(): Date }, signed: () => Signed) {
    this.#http = http;
    this.#clock = clock;
    this.#signed = signed;
  }

  /**
   * By id: those within the radius, the nearest where there are more than are shopped. What is not known yet is asked for whoever waits: a
   * search that ends before all of it is there finds it the next time. Unavailable: not all of it is there yet.
   */
  async near(
    place: Place,
    { traceparent, signal }: CallContext,
  ): Promise<ReadOutcome<{ properties: ReadonlyMap<string, Property> }>> {
    const key = JSON.stringify([place.coordinates, place.radiusKm]);
    const known = this.#known.get(key);
    const isFresh = known !== undefined && known.atMs > this.#clock.now().getTime() - keptMs;
    const { properties } = known ?? {};
    if (properties !== undefined && isFresh) return { outcome: "done", properties };
    const learning = this.#learning.get(key) ?? this.#learn(key, place, { traceparent });
    // Yesterday's hotels are good enough until today's are known.
    if (properties !== undefined) return { outcome: "done", properties };
    return signal === undefined ? learning : soonerThan(signal, learning);
  }

  /** Once at a time for a place, with nobody's time-box. */
  #learn(key: string, place: Place, context: CallContext): Promise<Found> {
    const learning = this.#ask(key, place, context).finally(() => this.#learning.delete(key));
    // Who asked for it may have gone: its end is then nobody's, and a bug of ours is met by the next who asks.
    learning.catch(() => undefined);
    this.#learning.set(key, learning);
    return learning;
  }

  async #ask(key: string, place: Place, context: CallContext): Promise<Found> {
    const { coordinates, radiusKm } = place;
    const nowMs = this.#clock.now().getTime();
    const ids = await this.#idsAround(key, place, context);
    if (ids.outcome !== "done") return ids;
    const learnt = this.#contents.get(key) ?? new Map<string, Property>();
    this.#contents.set(key, learnt);
    bound(this.#contents);
    const missing = ids.ids.filter((id) => !learnt.has(id));
    for (let from = 0; from < missing.length; from += propertiesAtOnce) {
      const lot = missing.slice(from, from + propertiesAtOnce);
      const told = await this.#content(lot, context);
      if (told.outcome !== "done") return told;
      for (const content of told.contents) learnt.set(content.property_id, propertyOf(content));
    }
    const found = [...learnt]
      .map(([id, property]) => ({ id, property, km: distanceKmBetween(coordinates, property.coordinates) }))
      .filter(({ km }) => km <= radiusKm)
      .sort((a, b) => a.km - b.km)
      .slice(0, propertiesAtOnce);
    const properties = new Map(found.map(({ id, property }) => [id, property]));
    this.#known.delete(key);
    this.#known.set(key, { properties, atMs: nowMs });
    bound(this.#known);
    this.#ids.delete(key);
    this.#contents.delete(key);
    return { outcome: "done", properties };
  }

  /** What an earlier fill that failed has learnt already is not asked for again. */
  async #idsAround(
    key: string,
    { coordinates, radiusKm }: Place,
    context: CallContext,
  ): Promise<ReadOutcome<{ ids: readonly string[] }>> {
    const nowMs = this.#clock.now().getTime();
    const before = this.#ids.get(key);
    if (before !== undefined && before.atMs > nowMs - keptMs) return { outcome: "done", ids: before.ids };
    const path = "/v3/properties/geography?include=property_ids&supply_source=expedia";
    const body = polygonAround(coordinates, radiusKm);
    const call = { method: "POST", path, body, success: isGeography, ...this.#signed() } as const;
    const end = await this.#http.read(call, context);
    if (end.outcome === "problem") return refusedBy(end.body, end.sent);
    if (end.outcome !== "success") return end;
    const ids = Object.values(end.body).map(({ property_id }) => property_id);
    this.#ids.set(key, { ids, atMs: nowMs });
    this.#contents.delete(key);
    bound(this.#ids);
    return { outcome: "done", ids };
  }

  async #content(
    ids: readonly string[],
    context: CallContext,
  ): Promise<ReadOutcome<{ contents: Content[] }>> {
    const query = new URLSearchParams({ language: "en-US", supply_source: "expedia" });
    for (const part of ["name", "address", "ratings", "location", "checkin", "amenities", "chain"])
      query.append("include", part);
    for (const id of ids) query.append("property_id", id);
    const path = `/v3/properties/content?${query}`;
    const end = await this.#http.read(
      { method: "GET", path, success: isContent, ...this.#signed() },
      context,
    );
    if (end.outcome === "problem") return refusedBy(end.body, end.sent);
    if (end.outcome !== "success") return end;
    return { outcome: "done", contents: Object.values(end.body) };
  }
}
