/** Owns the wire shape of demand: rooms asked for, approved, and what became of them (contract, "Demand"). */
import Type, { type Static } from "typebox";
import { Concurrency } from "./concurrency.ts";
import { Urn } from "./urn.ts";
import { AirportCode, demandStates, demandTypes, Reason, reviewCategories, Timestamp } from "./vocabulary.ts";

export const DemandRequestBody = Type.Object({
  type: Type.Enum([...demandTypes], {
    description: "INCREMENTAL adds rooms on top of the approved baseline.",
    examples: ["INCREMENTAL"],
  }),
  roomsRequested: Type.Integer({ minimum: 1, maximum: 10_000, examples: [12] }),
  ...Concurrency,
});
export type DemandRequestBody = Static<typeof DemandRequestBody>;

export const DemandDecisionBody = Type.Object({ reason: Reason, ...Concurrency });
export type DemandDecisionBody = Static<typeof DemandDecisionBody>;

export const DemandView = Type.Object(
  {
    urn: Urn("demand"),
    caseUrn: Urn("case"),
    type: Type.Enum([...demandTypes]),
    roomsRequested: Type.Integer({ minimum: 0 }),
    state: Type.Enum([...demandStates]),
    requestedAt: Timestamp,
    requestedBy: Type.Optional(Type.String({ description: "URN of who asked." })),
    decidedAt: Type.Optional(Timestamp),
    decidedBy: Type.Optional(
      Type.String({ description: "URN of who approved or rejected; the service for automatic approval." }),
    ),
    reason: Type.Optional(Type.String()),
    policyUrn: Type.Optional(Urn("policy")),
    policyVersion: Type.Optional(Type.Integer()),
  },
  { title: "Demand" },
);
export type DemandView = Static<typeof DemandView>;

/** One line of the approval queue: a demand, and enough of its case to decide on it. */
export const PendingApproval = Type.Intersect(
  [
    DemandView,
    Type.Object({
      airport: Type.String(),
      flightNumber: Type.String(),
    }),
  ],
  { title: "PendingApproval" },
);
export type PendingApproval = Static<typeof PendingApproval>;

export const DemandSummary = Type.Object(
  {
    totalRequested: Type.Integer(),
    totalApproved: Type.Integer(),
    totalAllocated: Type.Integer(),
    totalBooked: Type.Integer(),
    shortfall: Type.Integer({ description: "Approved rooms without a booking." }),
    shortfallReasons: Type.Array(
      Type.Object({
        category: Type.Enum([...reviewCategories]),
        groups: Type.Array(Type.String()),
        rooms: Type.Integer(),
      }),
    ),
  },
  { title: "DemandSummary" },
);
export type DemandSummary = Static<typeof DemandSummary>;

/** While an airport is frozen, pending and new demand of its cases is rejected with this reason. */
export const FreezeDemandBody = Type.Object({
  airport: AirportCode,
  reason: Reason,
  until: Type.Optional(
    Type.String({
      format: "date-time",
      description: "Absent: until it is lifted.",
      examples: ["2026-11-22T06:00:00Z"],
    }),
  ),
});

export const DemandFreezeView = Type.Object(
  {
    urn: Urn("demand-freeze"),
    airport: AirportCode,
    reason: Type.String(),
    status: Type.Enum(["ACTIVE", "EXPIRED", "LIFTED"]),
    frozenAt: Timestamp,
    frozenBy: Type.String({ description: "URN of who froze it." }),
    until: Type.Optional(Timestamp),
    liftedAt: Type.Optional(Timestamp),
    liftedBy: Type.Optional(Type.String({ description: "URN of who lifted it." })),
    version: Type.Integer(),
  },
  { title: "DemandFreeze" },
);
export type DemandFreezeView = Static<typeof DemandFreezeView>;
