/** Owns how far two places are from each other. */
import type { Coordinates } from "./hotel.ts";

const earthRadiusKm = 6371.0088;

/** Great-circle distance in kilometres (haversine, mean earth radius). */
export const distanceKmBetween = (a: Coordinates, b: Coordinates): number => {
  const radians = (degrees: number): number => (degrees * Math.PI) / 180;
  const halfChord =
    Math.sin(radians(b.latitude - a.latitude) / 2) ** 2 +
    Math.cos(radians(a.latitude)) *
      Math.cos(radians(b.latitude)) *
      Math.sin(radians(b.longitude - a.longitude) / 2) ** 2;
  return 2 * earthRadiusKm * Math.asin(Math.min(1, Math.sqrt(halfChord)));
};
