/** Owns the form of what an airline is registered with; provisioning is the platform's, so no surface shows it. */
import Type, { type Static } from "typebox";
import { languages } from "./vocabulary.ts";

/** IATA (two characters) or ICAO (three) designator. */
export const airlineCodePattern = "^[A-Z0-9]{2,3}$";

export const RegisterTenant = Type.Object({
  name: Type.String({ minLength: 1, maxLength: 100 }),
  /** Lower case and without the port, as `Host` is compared. */
  passengerHosts: Type.Array(Type.String({ pattern: "^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$" }), {
    maxItems: 20,
    uniqueItems: true,
  }),
  homeCountry: Type.String({ pattern: "^[A-Z]{2}$", description: "ISO 3166-1 alpha-2." }),
  language: Type.Optional(
    Type.Enum([...languages], {
      description:
        "What its passengers are written in who have none of their own that we write. Default: English.",
    }),
  ),
});
export type RegisterTenant = Static<typeof RegisterTenant>;

const Minutes = Type.Number({
  minimum: 0.01,
  maximum: 10_080,
  description: "Parts of a minute are for tests.",
});

/** The data of `identity.set-review-sla`: minutes per priority; those left out stay as they are. */
export const SetReviewSla = Type.Object(
  { HIGH: Type.Optional(Minutes), MEDIUM: Type.Optional(Minutes), LOW: Type.Optional(Minutes) },
  { additionalProperties: false, minProperties: 1 },
);
export type SetReviewSla = Static<typeof SetReviewSla>;
