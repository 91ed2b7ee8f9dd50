/** Owns the shapes of an amended manifest (contract, PATCH manifest): who was added, which next flight is right, and when that was decided. */
import Type, { type Static } from "typebox";
import { FlightNumber } from "./case.ts";
import { PassengerInput } from "./passenger.ts";
import { Urn } from "./urn.ts";
import { Timestamp } from "./vocabulary.ts";

/** Of one case, however often it is amended; also of the push that opens it. */
export const casePassengersMax = 20_000;

export const ManifestPatchBody = Type.Object(
  {
    decidedAt: Type.String({
      ...Timestamp,
      description:
        "When the airline decided this; not in the future. Patches may come in any order: of two next flights the one that was decided later counts.",
    }),
    passengers: Type.Optional(
      Type.Array(PassengerInput, {
        minItems: 1,
        maxItems: casePassengersMax,
        description:
          "Added passengers, or any part of the manifest: who is known already (same booking reference and name, or the same `passengerUrn`) stays as they are. Two of one name in one booking are told apart by their order, so name both. Nobody is ever taken off.",
      }),
    ),
    nextFlight: Type.Optional(
      Type.Object(
        { iataDesignator: FlightNumber, scheduledDeparture: Timestamp },
        {
          description:
            "The corrected next flight of the case. Groups that an operator has put on another one don't follow.",
        },
      ),
    ),
  },
  { description: "`passengers`, `nextFlight`, or both." },
);
export type ManifestPatchBody = Static<typeof ManifestPatchBody>;

/**
 * APPLIED: every group hears it. DEFERRED: an allocation or the provisioning is under way, it is applied as soon as that ends.
 * UNCHANGED: it was known. SUPERSEDED: another one was decided later.
 */
export const correctionEffects = ["APPLIED", "DEFERRED", "UNCHANGED", "SUPERSEDED"] as const;
export type CorrectionEffect = (typeof correctionEffects)[number];

const count = Type.Integer({ minimum: 0, examples: [2] });

export const ManifestAmended = Type.Object(
  {
    caseUrn: Urn("case"),
    decidedAt: Timestamp,
    passengersAdded: count,
    passengersKnown: Type.Integer({
      minimum: 0,
      examples: [0],
      description: "Who stood in the manifest already; nothing has changed for them.",
    }),
    groupsAdded: Type.Integer({
      minimum: 0,
      examples: [1],
      description:
        "Also for who was added to a booking that has, or is about to have, its room: they get one of their own.",
    }),
    groupsJoined: Type.Integer({
      minimum: 0,
      examples: [0],
      description: "Groups that were waiting still, and have more passengers now.",
    }),
    nextFlight: Type.Optional(
      Type.Enum([...correctionEffects], {
        description:
          "What becomes of `nextFlight`. DEFERRED: applied as soon as what is under way has ended. SUPERSEDED: another one was decided later, and stands.",
      }),
    ),
    subCaseCount: Type.Integer({ minimum: 0, description: "Groups of the case with this patch." }),
    correlationUrn: Urn("correlation"),
  },
  { title: "ManifestAmended" },
);
export type ManifestAmended = Static<typeof ManifestAmended>;
