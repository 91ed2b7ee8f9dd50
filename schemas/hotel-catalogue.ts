/** Owns the wire shape of the hotels that an airline knows, and of those that a case's groups are sent to. */
import Type, { type Static } from "typebox";
import type { HotelFacts } from "./hotel.ts";
import { PlaceOnEarth } from "./hotel-search.ts";
import { PageQuery } from "./page.ts";
import { Urn } from "./urn.ts";
import { AirportCode, Money, Timestamp } from "./vocabulary.ts";

const Stars = (description: string) => Type.Optional(Type.Integer({ minimum: 1, maximum: 5, description }));

export const HotelListQuery = Type.Object({
  airport: Type.Optional(
    Type.String({ ...AirportCode, description: "Hotels that were offered for this airport." }),
  ),
  stars: Stars("Exactly as many."),
  minStars: Stars("As many or more."),
  ...PageQuery,
});
export type HotelListQuery = Static<typeof HotelListQuery>;

const hotel = {
  hotelUrn: Urn("hotel"),
  name: Type.String(),
  address: Type.String(),
  coordinates: Type.Optional(PlaceOnEarth),
  stars: Type.Optional(Type.Integer({ description: "Absent: unrated." })),
};

export const CatalogueHotelView = Type.Object(
  {
    ...hotel,
    chain: Type.Optional(Type.String()),
    amenities: Type.Array(Type.String()),
    airports: Type.Array(
      Type.Object({
        airport: AirportCode,
        distanceKm: Type.Number({ description: "Straight line." }),
      }),
      { description: "Those it was offered for." },
    ),
    vendors: Type.Array(Type.String(), {
      description: "Who has offered it; `direct`: a contract of the airline's own.",
    }),
    lastToldAt: Type.String({ ...Timestamp, description: "To the day." }),
  },
  { title: "CatalogueHotel" },
);
export type CatalogueHotelView = Static<typeof CatalogueHotelView>;

export const CaseHotelView = Type.Object(
  {
    ...hotel,
    distanceKm: Type.Optional(Type.Number({ description: "Straight line from the airport." })),
    vendors: Type.Array(Type.String()),
    groups: Type.Integer({ description: "Groups that are sent there, or have been chosen to be." }),
    passengers: Type.Integer(),
    rooms: Type.Integer(),
    roomsBooked: Type.Integer({ description: "Of `rooms`, those whose booking the hotel has confirmed." }),
    groupIds: Type.Array(Type.String()),
    totals: Type.Array(Money, { description: "Of what is booked; one entry per currency." }),
  },
  { title: "CaseHotel" },
);
export type CaseHotelView = Static<typeof CaseHotelView>;

/** The data of `vendor-adapter.note-hotel`. */
export interface NoteHotel {
  hotel: HotelFacts;
  airport: string;
}
