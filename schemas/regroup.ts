/** Owns the shapes of changing who travels with whom: splitting, merging and forming groups, and what the sub-cases are told. */
import Type, { type Static } from "typebox";
import { Concurrency } from "./concurrency.ts";
import type { GroupLock } from "./lock.ts";
import type { Passenger } from "./passenger.ts";
import { Urn } from "./urn.ts";
import { cabins, GroupId, Reason, type SubCaseStatus, type Tier } from "./vocabulary.ts";

const Passengers = Type.Array(Urn("passenger"), { minItems: 1, maxItems: 150 });

/** Every passenger of the group stands in exactly one part; the first part keeps the group's id and sub-case. */
export const SplitGroupBody = Type.Object({
  into: Type.Array(Passengers, {
    minItems: 2,
    maxItems: 150,
    description: "Ids of passengers, part by part.",
  }),
  reason: Reason,
  ...Concurrency,
});

/** The first group named is the one that stays. */
export const MergeGroupsBody = Type.Object({
  groupIds: Type.Array(GroupId, { minItems: 2, maxItems: 50 }),
  reason: Reason,
  ...Concurrency,
});

/** Passengers who are not named stay where they are. */
export const GroupPassengersBody = Type.Object({
  groups: Type.Array(Type.Object({ passengerUrns: Passengers }), { minItems: 1, maxItems: 150 }),
  reason: Reason,
  ...Concurrency,
});

export const RegroupView = Type.Object(
  {
    caseUrn: Urn("case"),
    groups: Type.Array(
      Type.Object({
        groupId: Type.String(),
        subCaseUrn: Urn("sub-case"),
        tier: Type.Optional(
          Type.Enum([...cabins], { description: "Absent: its passengers travel in different cabins." }),
        ),
        passengers: Type.Integer({ minimum: 1 }),
        rooms: Type.Optional(Type.Integer({ minimum: 1, description: "Absent: not planned." })),
      }),
      { description: "Those that this has changed or made." },
    ),
    mergedAway: Type.Array(Type.Object({ groupId: Type.String(), mergedInto: Type.String() })),
    correlationUrn: Urn("correlation"),
    version: Type.Integer(),
  },
  { title: "Regrouping" },
);
export type RegroupView = Static<typeof RegroupView>;

/** What the sub-case of a group tells before its group is changed: the answer of `sub-case.members`. */
export interface GroupMembers {
  groupId: string;
  subCaseId: string;
  status: SubCaseStatus;
  /** How often the group has been changed. */
  shape: number;
  passengers: Passenger[];
  /** Absent: nobody holds one. */
  lock?: GroupLock;
}

/** The data of `sub-case.regroup`: who is in the group from now on. */
export interface Regrouped {
  /** Counts up by one with each change of the group. */
  shape: number;
  /** Empty: nobody is left, see `mergedInto`. */
  passengers: Passenger[];
  tier?: Tier;
  mergedInto?: { groupId: string; subCaseId: string };
  /** Where those who are no longer in it have gone. */
  moved: { passengerUrns: string[]; subCaseId: string }[];
}
