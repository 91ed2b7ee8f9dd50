/** Owns which airport a place on earth belongs to, for vendors that are asked by coordinates alone. */
import { type Airport, airport } from "../../schemas/airports.ts";
import type { Coordinates } from "../../schemas/hotel.ts";
import { distanceKm } from "./hotels.ts";

const letters = [..."ABCDEFGHIJKLMNOPQRSTUVWXYZ"];
let known: Airport[] | undefined;

const airports = (): Airport[] => {
  known ??= letters.flatMap((one) =>
    letters.flatMap((two) => letters.flatMap((three) => airport(one + two + three) ?? [])),
  );
  return known;
};

const placesMax = 1_000;
const nearest = new Map<string, Airport>();

/** The nearest one, however far. */
export const airportNear = (place: Coordinates): Airport => {
  const key = `${place.latitude},${place.longitude}`;
  const found =
    nearest.get(key) ??
    airports().reduce((best, one) => (distanceKm(place, one) < distanceKm(place, best) ? one : best));
  nearest.set(key, found);
  const [oldest] = nearest.keys();
  if (nearest.size > placesMax && oldest !== undefined) nearest.delete(oldest);
  return found;
};
