/** Owns passengers: the lenient manifest entry that comes in, the record that is kept, and how names and references compare. */
import Type, { type Static } from "typebox";
import { Urn } from "./urn.ts";
import { type AccessNeed, accessNeeds, type Language, languages } from "./vocabulary.ts";

const text = (maxLength: number, examples: string[]) => Type.Optional(Type.String({ maxLength, examples }));

/**
 * Every field may be missing: the passenger is accepted all the same and the group gets a DATA_INCOMPLETE item.
 * Lists are open for the same reason: an unknown cabin or language never refuses a stranded passenger.
 */
export const PassengerInput = Type.Object(
  {
    passengerUrn: Type.Optional(Urn("passenger")),
    pnr: text(20, ["K7QX2M"]),
    firstName: text(100, ["Ada"]),
    lastName: text(100, ["Lovelace"]),
    cabinClass: text(40, ["ECONOMY"]),
    loyaltyTier: text(40, ["STANDARD"]),
    passengerType: Type.Optional(
      Type.String({ maxLength: 20, examples: ["ADULT"], description: "ADULT, CHILD or INFANT." }),
    ),
    specialRequirements: Type.Optional(
      Type.Array(Type.String({ maxLength: 40, examples: ["WHEELCHAIR"] }), { maxItems: 20 }),
    ),
    contact: Type.Optional(
      Type.Object({
        email: text(254, ["ada@example.com"]),
        phone: text(40, ["+12025550143"]),
        language: text(20, ["en"]),
      }),
    ),
  },
  { title: "PassengerInput" },
);
export type PassengerInput = Static<typeof PassengerInput>;

/** A group goes to its sub-case in one message, and no booking is that large: reservation systems stop at 99. */
export const bookingPassengersMax = 150;

/** A passenger as we keep one. */
export interface Passenger {
  /** `urn:passenger:<code>-…`: the same for the same person of a booking in every case. */
  urn: string;
  pnr?: string;
  firstName?: string;
  lastName?: string;
  cabinClass?: string;
  loyaltyTier?: string;
  passengerType?: string;
  specialRequirements: string[];
  contact: { email?: string; phone?: string; language?: string };
}

export { normalPnr } from "./manifest-rules.ts";

/** Names are compared without case, accents, blanks and punctuation (`O'Brien-Núñez` as `obriennunez`). */
export const normalName = (name: string): string =>
  name
    .normalize("NFD")
    .replace(/[^\p{Letter}]/gu, "")
    .toLowerCase();

const needOf: Readonly<Record<string, AccessNeed>> = {
  WCHR: "REDUCED_MOBILITY",
  WCHS: "REDUCED_MOBILITY",
  WCHC: "WHEELCHAIR",
  BLND: "VISUAL",
  DEAF: "HEARING",
  SVAN: "SERVICE_ANIMAL",
  BSCT: "INFANT_COT",
};

/**
 * IATA special service codes and plain words become our needs; others are kept on the passenger and gate nothing.
 * @returns each passenger's needs once: two who need a wheelchair are two of it, and may need two rooms for it
 */
export const needsOf = (passengers: readonly Passenger[]): AccessNeed[] =>
  passengers.flatMap(({ specialRequirements }) => {
    const named = specialRequirements.map((text) => text.trim().toUpperCase().replaceAll(" ", "_"));
    return [...new Set(named.flatMap((text) => needOf[text] ?? (isNeed(text) ? text : [])))];
  });

const isNeed = (text: string): text is AccessNeed => (accessNeeds as readonly string[]).includes(text);

/** The first that we write in, of languages as airlines have them (`pt-BR`, `EN`); undefined: none of them. */
export const knownLanguage = (wanted: readonly (string | undefined)[]): Language | undefined =>
  wanted
    .map((language) => language?.slice(0, 2).toLowerCase() ?? "")
    .find((language): language is Language => (languages as readonly string[]).includes(language));

/** The first passenger's known language, else English. */
export const languageOf = (passengers: readonly Passenger[]): Language =>
  knownLanguage(passengers.map(({ contact }) => contact.language)) ?? "en";
