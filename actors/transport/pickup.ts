/** Owns when a group is picked up. All of it is counted in absolute time, so that no change of clocks moves a pickup. */

const minuteMs = 60_000;

/** From the booking to the kerb: the time to fetch bags and find it. */
export const leadMinutes = 30;

/** Vehicles to hotels leave at whole quarters of an hour, which are quarters in every time zone. */
export const slotMinutes = 15;

/** The slot of this moment, or the next one. */
export const slotAt = (at: Date): Date => {
  const slotMs = slotMinutes * minuteMs;
  return new Date(Math.ceil(at.getTime() / slotMs) * slotMs);
};

/** The first slot that whoever is told now can reach. @param notBefore who is stranded only then needs no ride sooner */
export const nextPickup = (now: Date, notBefore: Date = now): Date => {
  const fromMs = Math.max(now.getTime(), notBefore.getTime());
  return slotAt(new Date(fromMs + leadMinutes * minuteMs));
};

/**
 * Of the way back: so long before the departure as the policy says, to the instant, so that who takes one flight rides together. When
 * that cannot be reached any more, the first slot that can, if it is before the departure. Undefined: the flight has left, or leaves
 * before anybody could be driven to it.
 */
export const pickupBefore = (departure: Date, minutesBeforePickup: number, now: Date): Date | undefined => {
  if (departure <= now) return undefined;
  const wanted = new Date(departure.getTime() - minutesBeforePickup * minuteMs);
  if (wanted.getTime() - now.getTime() >= leadMinutes * minuteMs) return wanted;
  const earliest = nextPickup(now);
  if (earliest < departure) return earliest;
  return wanted > now ? wanted : undefined;
};

/**
 * Of a vehicle that has to be replaced: as it was while that can be reached, else the first slot that can, where it is before the departure.
 * Undefined: its time has passed.
 * @param departure what they are driven to; undefined: nothing that leaves
 */
export const pickupInstead = (
  scheduledAt: Date,
  departure: Date | undefined,
  now: Date,
): Date | undefined => {
  if (scheduledAt <= now) return undefined;
  if (scheduledAt.getTime() - now.getTime() >= leadMinutes * minuteMs) return scheduledAt;
  const earliest = nextPickup(now);
  return departure === undefined || earliest < departure ? earliest : scheduledAt;
};
