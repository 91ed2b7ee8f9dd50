/** Owns who sits in which vehicle of a run: never more than its seats, a group together where it fits, whoever needs more in a vehicle that was ordered so. */

/** A vehicle as the seating sees it. */
export interface OpenVehicle {
  number: number;
  seats: number;
  taken: number;
  /** What it was ordered to be fit for. */
  needs: readonly string[];
}

export interface SeatsWanted {
  passengers: number;
  /** The most in one vehicle, from 1; only vehicles of that size are shared. */
  seats: number;
  needs: readonly string[];
  /** False: a vehicle of their own. */
  shared: boolean;
}

/** `number` absent: a vehicle more. */
export interface Seated {
  number?: number;
  passengers: number;
}

/**
 * Full vehicles for a group larger than one; the rest, or a smaller group, goes where it leaves the fewest seats free. Nobody
 * is split who fits in one vehicle.
 */
export const seating = (open: readonly OpenVehicle[], wanted: SeatsWanted): Seated[] => {
  const { passengers, seats } = wanted;
  const full = passengers > seats ? Math.floor(passengers / seats) : 0;
  const rest = passengers - full * seats;
  const whole = Array.from({ length: full }, (): Seated => ({ passengers: seats }));
  return rest === 0 ? whole : [...whole, { ...bestFor(open, wanted, rest), passengers: rest }];
};

const bestFor = (
  open: readonly OpenVehicle[],
  { seats, needs, shared }: SeatsWanted,
  passengers: number,
): Pick<Seated, "number"> => {
  if (!shared) return {};
  const [best] = open
    .filter(
      (one) =>
        one.seats === seats &&
        one.seats - one.taken >= passengers &&
        needs.every((need) => one.needs.includes(need)),
    )
    .toSorted((a, b) => b.taken - a.taken || a.number - b.number);
  return best === undefined ? {} : { number: best.number };
};
