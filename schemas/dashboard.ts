/** Owns the wire shape of the operators' dashboard: what is open tonight, in counts, and which cases need somebody first. */
import Type, { type Static } from "typebox";
import { Urn } from "./urn.ts";
import {
  AirportCode,
  caseStatuses,
  type Priority,
  priorities,
  type ReviewCategory,
  reviewCategories,
  Timestamp,
} from "./vocabulary.ts";

/** How far a group is, in words; one for each letter of `Stage` in `group-note.ts`. */
export const progressClasses = {
  W: "WAITING",
  H: "HELD",
  A: "ALLOCATED",
  B: "BOOKED",
  F: "FAILED",
  U: "ROLLBACK_STUCK",
  R: "RESOLVED",
  D: "DECLINED",
  C: "CHECKED_OUT",
  O: "NO_SHOW",
  M: "HOUSED_BY_HAND",
  X: "SETTLED_BY_HAND",
  N: "NOT_REQUIRED",
} as const;
export type ProgressClass = (typeof progressClasses)[keyof typeof progressClasses];

const Count = Type.Integer({ minimum: 0 });

const Rooms = Type.Object(
  { requested: Count, approved: Count, booked: Count, short: Count },
  { description: "Of the open cases. `short`: approved and not booked." },
);

const UrgentCase = Type.Object({
  caseUrn: Urn("case"),
  flightNumber: Type.String(),
  airport: AirportCode,
  status: Type.Enum([...caseStatuses]),
  scheduledDeparture: Timestamp,
  createdAt: Timestamp,
  groups: Count,
  groupsWithoutRoom: Type.Integer({
    minimum: 0,
    description: "Waiting, held, failed or with a rollback that is stuck.",
  }),
  roomsShort: Count,
  pendingApprovals: Count,
  reviewItems: Type.Optional(
    Type.Object(
      { open: Count, high: Count, overdue: Count },
      { description: "Absent: not known right now." },
    ),
  ),
});
export type UrgentCase = Static<typeof UrgentCase>;

/** Sections whose owner has not answered are left out, and named in `partialFailures`. */
export const DashboardView = Type.Object(
  {
    asOf: Timestamp,
    cases: Type.Optional(
      Type.Object({
        byStatus: Type.Array(Type.Object({ status: Type.Enum([...caseStatuses]), count: Count }), {
          description: "CLOSED counts those closed within the last 24 hours.",
        }),
        byAirport: Type.Array(
          Type.Object({ airport: AirportCode, cases: Count, groups: Count, groupsWithoutRoom: Count }),
          { description: "Open cases; the most groups without a room first." },
        ),
        drills: Type.Integer({
          minimum: 0,
          description: "Open drill and shadow cases; they count in nothing else here.",
        }),
      }),
    ),
    groups: Type.Optional(
      Type.Array(Type.Object({ progress: Type.Enum(Object.values(progressClasses)), count: Count })),
    ),
    rooms: Type.Optional(Rooms),
    pendingApprovals: Type.Optional(
      Type.Object({ demands: Count, rooms: Count, oldestRequestedAt: Type.Optional(Timestamp) }),
    ),
    reviewItems: Type.Optional(
      Type.Object({
        open: Count,
        overdue: Count,
        byCategory: Type.Array(Type.Object({ category: Type.Enum([...reviewCategories]), count: Count })),
        byPriority: Type.Array(Type.Object({ priority: Type.Enum([...priorities]), count: Count })),
      }),
    ),
    urgentCases: Type.Optional(
      Type.Array(UrgentCase, {
        maxItems: 10,
        description:
          "Overdue items first, then items of high priority, groups without a room, rooms short, age.",
      }),
    ),
    partialFailures: Type.Optional(
      Type.Array(Type.Object({ failedDomain: Type.String(), detail: Type.String() })),
    ),
  },
  { title: "Dashboard" },
);
export type DashboardView = Static<typeof DashboardView>;

/** What the review actor tells of one case's open items. */
export interface CaseDesk {
  caseId: string;
  open: number;
  high: number;
  overdue: number;
  categories: Partial<Record<ReviewCategory, number>>;
  priorities: Partial<Record<Priority, number>>;
}
