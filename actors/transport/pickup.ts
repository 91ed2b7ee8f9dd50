/** Owns when a group is picked up. All of it is counted in absolute time, so that no change of clocks moves a pickup. */

const minuteMs = 60_000;

/** From the booking to the kerb: the time to fetch bags and find it. */
export const leadMinutes = 30;

/** Vehicles to hotels leave at whole quarters of an hour, which are quarters in every time zone. */
export const slotMinutes = 15;

/** The first slot that whoever is told now can reach. */
export const nextPickup = (now: Date): Date => {
  const slotMs = slotMinutes * minuteMs;
  return new Date(Math.ceil((now.getTime() + leadMinutes * minuteMs) / slotMs) * slotMs);
};

/**
 * Of the way back: so long before the departure as the policy says, to the instant, so that who takes one flight rides together. When
 * that has passed, the first slot that can still be reached, if it is before the departure. Undefined: the flight has left.
 */
export const pickupBefore = (departure: Date, minutesBeforePickup: number, now: Date): Date | undefined => {
  if (departure <= now) return undefined;
  const wanted = new Date(departure.getTime() - minutesBeforePickup * minuteMs);
  const earliest = nextPickup(now);
  return wanted > now || earliest >= departure ? wanted : earliest;
};
