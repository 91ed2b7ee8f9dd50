/** Owns the shapes of a changed next flight: what an operator says, what follows for each group, and what a sub-case is told. */
import Type, { type Static } from "typebox";
import type { Stay } from "./assignment.ts";
import { NextFlight } from "./case.ts";
import { Concurrency } from "./concurrency.ts";
import { Urn } from "./urn.ts";
import { GroupId, Reason } from "./vocabulary.ts";

/** For the case, for groups that fly otherwise, or both; a group's own next flight counts for it from then on. */
export const ReaccommodateBody = Type.Object({
  nextFlight: Type.Optional(NextFlight),
  groups: Type.Optional(
    Type.Array(Type.Object({ groupId: GroupId, nextFlight: NextFlight }), { minItems: 1, maxItems: 1500 }),
  ),
  reason: Reason,
  ...Concurrency,
});

/**
 * AMENDING: its hotel is asked for the new dates, and another one is sought when it cannot. REPLANNED: it has no room yet and
 * is placed for the new dates. LOCAL_RESIDENT: no night remains, and what it has is given back. NOTED: nothing follows.
 */
export const stayEffects = ["AMENDING", "REPLANNED", "LOCAL_RESIDENT", "NOTED"] as const;
export type StayEffect = (typeof stayEffects)[number];

export const ReaccommodationView = Type.Object(
  {
    caseUrn: Urn("case"),
    nextFlight: Type.Optional(NextFlight),
    groups: Type.Array(
      Type.Object({
        groupId: Type.String(),
        subCaseUrn: Urn("sub-case"),
        effect: Type.Enum([...stayEffects]),
        checkIn: Type.Optional(Type.String({ description: "Local date at the airport, `YYYY-MM-DD`." })),
        checkOut: Type.Optional(Type.String({ description: "Local date at the airport, `YYYY-MM-DD`." })),
        nights: Type.Optional(Type.Integer({ minimum: 0 })),
      }),
      { description: "Those whom the change concerns." },
    ),
    correlationUrn: Urn("correlation"),
    version: Type.Integer(),
  },
  { title: "Reaccommodation" },
);
export type ReaccommodationView = Static<typeof ReaccommodationView>;

/** The data of `sub-case.amend-stay`. */
export interface StayAmended {
  /** Counts up by one with each change of the group. */
  shape: number;
  nextFlight?: { number: string; scheduledDeparture: string | Date };
  /** What it needs a room for now; no night: it needs none. Absent: nobody has planned one. */
  stay?: Stay;
  /** What the case makes of it. */
  effect?: StayEffect;
}
