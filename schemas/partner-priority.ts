/** Owns the shapes of a priority request (contract, POST priority-request): for whom, why, and what it comes to. */
import Type, { type Static } from "typebox";
import { Urn } from "./urn.ts";
import { GroupId, Timestamp } from "./vocabulary.ts";

/** A closed list: a partner's free text would stand on operators' screens. */
export const priorityReasons = [
  "MEDICAL",
  "REDUCED_MOBILITY",
  "UNACCOMPANIED_MINOR",
  "FAMILY_WITH_INFANT",
  "CRITICAL_TRAVEL",
  "VIP",
] as const;
export type PriorityReason = (typeof priorityReasons)[number];

const groupsMax = 100;

export const PriorityRequestBody = Type.Object(
  {
    groupIds: Type.Optional(Type.Array(GroupId, { minItems: 1, maxItems: groupsMax, uniqueItems: true })),
    passengerUrns: Type.Optional(
      Type.Array(Urn("passenger"), {
        minItems: 1,
        maxItems: groupsMax,
        uniqueItems: true,
        description: "In place of `groupIds` or beside them: the groups that they are in.",
      }),
    ),
    reason: Type.Enum([...priorityReasons]),
  },
  { description: "`groupIds`, `passengerUrns`, or both." },
);
export type PriorityRequestBody = Static<typeof PriorityRequestBody>;

export const PriorityGranted = Type.Object(
  {
    caseUrn: Urn("case"),
    groups: Type.Array(Type.Object({ groupId: Type.String(), subCaseUrn: Urn("sub-case") }), {
      description: "All of the case that go first within their tier pass at your request.",
    }),
    groupsLeft: Type.Integer({
      minimum: 0,
      examples: [3],
      description: "For how many more groups of this case you may ask.",
    }),
    correlationUrn: Urn("correlation"),
  },
  { title: "PriorityGranted" },
);
export type PriorityGranted = Static<typeof PriorityGranted>;

/** How operators see it. */
export const GroupPriority = Type.Object(
  {
    reason: Type.Enum([...priorityReasons]),
    requestedBy: Type.String({ description: "The partner's URN.", examples: ["urn:partner:XN-tower"] }),
    requestedAt: Timestamp,
  },
  { description: "Asked for by a partner: it goes first within its tier pass. Absent: nobody has." },
);
