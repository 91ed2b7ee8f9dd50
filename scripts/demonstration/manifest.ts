/** Owns the demo's flight: 180 passengers in bookings as an airline has them, always the same. */
import type { DisruptionPushBody } from "../../schemas/partner-api.ts";
import type { PassengerInput } from "../../schemas/passenger.ts";

const lastNames =
  "Okafor Lindqvist Herrera Moreau Schneider Carvalho Tanaka Novak O'Brien Haddad Kowalski Nguyen Rossi Silva Dubois Fischer Castro Andersen Mbeki Petrov Laurent Weber Romero Almeida Kaya Byrne Núñez Keller Santos Leclerc".split(
    " ",
  );
const firstNames =
  "Ada Bruno Chiara Diego Elif Farid Greta Hugo Inês Jonas Keiko Luis Maria Nadia Oscar Paula Quinn Rosa Samir Tereza Uma Victor Wanda Xenia Yusuf Zoé".split(
    " ",
  );
const languages = ["en", "es", "pt", "de", "en", "fr"] as const;

interface Booking {
  size: number;
  cabin: string;
  loyalty?: string;
  needs?: string[];
  children?: number;
}

/** 180 passengers: business and crew first, then families, couples and single travellers. */
const bookings = (): Booking[] => {
  const made: Booking[] = [
    { size: 6, cabin: "CREW" },
    ...Array.from({ length: 6 }, () => ({ size: 1, cabin: "BUSINESS", loyalty: "PLATINUM" })),
    ...Array.from({ length: 3 }, () => ({ size: 2, cabin: "BUSINESS", loyalty: "GOLD" })),
    { size: 2, cabin: "ECONOMY", needs: ["WCHC"] },
    { size: 1, cabin: "ECONOMY", needs: ["BLND", "SVAN"] },
    ...Array.from({ length: 6 }, () => ({ size: 2, cabin: "PREMIUM_ECONOMY", loyalty: "SILVER" })),
    ...Array.from({ length: 10 }, () => ({ size: 4, cabin: "ECONOMY", children: 2 })),
    ...Array.from({ length: 4 }, () => ({ size: 3, cabin: "ECONOMY", children: 1 })),
    { size: 5, cabin: "ECONOMY", children: 3 },
    ...Array.from({ length: 30 }, () => ({ size: 2, cabin: "ECONOMY" })),
  ];
  const seated = made.reduce((sum, { size }) => sum + size, 0);
  return [...made, ...Array.from({ length: 180 - seated }, () => ({ size: 1, cabin: "ECONOMY" }))];
};

const alphabet = "ABCDEFGHJKLMNPQRSTUVWXYZ23456789";

/** Six characters as reservation systems make them, different for each index. */
const pnrOf = (index: number): string => {
  let rest = (index + 1) * 48_611_347;
  return Array.from({ length: 6 }, () => {
    const character = alphabet[rest % alphabet.length];
    rest = Math.floor(rest / alphabet.length) + index;
    return character;
  }).join("");
};

const pick = <T>(list: readonly T[], index: number): T => list[index % list.length] as T;

const membersOf = (booking: Booking, index: number): PassengerInput[] => {
  const lastName = pick(lastNames, index * 7);
  const language = pick(languages, index);
  return Array.from({ length: booking.size }, (_, i) => ({
    pnr: pnrOf(index),
    firstName: pick(firstNames, index * 5 + i * 3),
    lastName,
    cabinClass: booking.cabin,
    loyaltyTier: booking.loyalty ?? "STANDARD",
    passengerType: i >= booking.size - (booking.children ?? 0) ? "CHILD" : "ADULT",
    ...(i === 0 && booking.needs !== undefined ? { specialRequirements: booking.needs } : {}),
    ...(i === 0
      ? {
          contact:
            index % 3 === 0
              ? { email: `traveller${index}@example.com`, language }
              : {
                  email: `traveller${index}@example.com`,
                  phone: `+1202555${String(1000 + index)}`,
                  language,
                },
        }
      : {}),
  }));
};

/** One cancelled evening flight out of JFK, with everybody rebooked on the next morning's. */
export const demoPush = (airline: string, now: Date): DisruptionPushBody => {
  // 00:40 UTC is the early evening in New York, summer and winter.
  const departure = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate() + 1, 0, 40));
  const next = new Date(departure.getTime() + 14.5 * 3_600_000);
  return {
    externalEventId: `${airline}482-${departure.toISOString().slice(0, 10)}`,
    airlineUrn: `urn:airline:${airline}`,
    flight: {
      iataDesignator: `${airline}482`,
      originAirport: "JFK",
      destinationAirport: "LIS",
      scheduledDeparture: departure.toISOString(),
    },
    disruption: { type: "CANCELLED", reason: "WEATHER", decidedAt: now.toISOString() },
    passengers: bookings().flatMap(membersOf),
    nextFlight: { iataDesignator: `${airline}482D`, scheduledDeparture: next.toISOString() },
  };
};
