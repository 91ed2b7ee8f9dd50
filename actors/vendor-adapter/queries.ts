/** Owns the reads of what operators choose from: the hotels that the airline knows, and airports. */
import type { Document, Filter } from "mongodb";
import {
  type AirportView,
  airport as airportOf,
  airportView,
  searchAirports,
} from "../../schemas/airports.ts";
import type { Page, Query } from "../../schemas/command.ts";
import { distanceKmBetween } from "../../schemas/distance.ts";
import type { HotelFacts } from "../../schemas/hotel.ts";
import type { CatalogueHotelView, HotelListQuery } from "../../schemas/hotel-catalogue.ts";
import { ordinal } from "../../schemas/hotel-identity.ts";
import { idOf, urn } from "../../schemas/urn.ts";
import type { ActorContext } from "../runtime/host.ts";
import { pageOf, readPage } from "../runtime/page.ts";
import { airportFilter } from "../runtime/reach.ts";
import type { CatalogueHotel } from "./catalogue.ts";

export const hotelCollection = "hotels";

export const catalogueQueries = (context: ActorContext) => ({
  /** GET /v1/hotels/list, by the `airport` index or by `_id`; stars are looked at in each row. */
  hotels: ({ tenant, principal, params }: Query): Promise<Page<CatalogueHotelView>> => {
    const { airport: asked, stars, minStars } = params as HotelListQuery;
    const { airport } = airportFilter(principal, asked);
    const filter: Filter<Document> = {
      ...(airport === undefined ? {} : { airports: airport }),
      ...(stars === undefined && minStars === undefined ? {} : { stars: starsFilter(stars, minStars) }),
    };
    const hotels = context.documents.tenant(tenant).collection<Document>(hotelCollection);
    return readPage(hotels, { filter, params, direction: 1 }, (document) =>
      hotelView(document as unknown as CatalogueHotel),
    );
  },

  /** For a booking by hand: what is known of a hotel; null: nothing. */
  hotel: async ({ tenant, params }: Query): Promise<HotelFacts | null> => {
    const _id = idOf((params as { hotelUrn: string }).hotelUrn);
    const hotels = context.documents.tenant(tenant).collection<CatalogueHotel>(hotelCollection);
    const found = await hotels.findOne({ _id });
    if (found === null) return null;
    const { name, address, coordinates, stars, chain, amenities, masterHotelId } = found;
    return {
      vendor: found.vendors[0] ?? "",
      providerHotelId: _id,
      ...(masterHotelId === undefined ? {} : { masterHotelId }),
      name,
      address,
      coordinates,
      ...(stars === undefined ? {} : { stars }),
      ...(chain === undefined ? {} : { chain }),
      amenities,
    };
  },

  /** GET /v1/airports/search: the best match first; nothing for a text of only blanks. */
  airports: async ({ params }: Query): Promise<Page<AirportView>> => {
    const { q } = params as { q: string };
    return pageOf(searchAirports(q, foundMax), params, ({ code }) => code, airportView);
  },
});

/** Nobody reads on; the rank of all six thousand would only be work. */
const foundMax = 400;

const starsFilter = (stars: number | undefined, minStars: number | undefined) => ({
  ...(stars === undefined ? {} : { $eq: stars }),
  ...(minStars === undefined ? {} : { $gte: minStars }),
});

const hotelView = (hotel: CatalogueHotel): CatalogueHotelView => ({
  hotelUrn: urn("hotel", hotel._id),
  name: hotel.name,
  address: hotel.address,
  coordinates: hotel.coordinates,
  ...(hotel.stars === undefined ? {} : { stars: hotel.stars }),
  ...(hotel.chain === undefined ? {} : { chain: hotel.chain }),
  amenities: hotel.amenities,
  airports: [...hotel.airports].sort(ordinal).flatMap((code) => {
    const place = airportOf(code);
    if (place === undefined) return [];
    return [{ airport: code, distanceKm: roundedKm(distanceKmBetween(place, hotel.coordinates)) }];
  }),
  vendors: [...hotel.vendors].sort(ordinal),
  lastToldAt: hotel.toldAt.toISOString(),
});

const roundedKm = (km: number): number => Math.round(10 * km) / 10;
