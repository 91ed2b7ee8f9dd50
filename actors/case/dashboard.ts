/** Owns the sums of the operators' dashboard: what case documents keep beside what the review desk tells; reading is `dashboard-query.ts`. */
import {
  type CaseDesk,
  type DashboardView,
  progressClasses,
  type UrgentCase,
} from "../../schemas/dashboard.ts";
import type { Stage } from "../../schemas/group-note.ts";
import { urn } from "../../schemas/urn.ts";
import { type CaseStatus, priorities, reviewCategories } from "../../schemas/vocabulary.ts";
import { approvedStates, bookedStages } from "./capacity.ts";
import { roomsAt } from "./group-rooms.ts";
import type { CaseState } from "./state.ts";

/** Of an open case what the sums are made of: some hundred bytes, however many groups it has. */
export const boardProjection = {
  status: 1,
  airport: 1,
  kind: 1,
  "flight.number": 1,
  "flight.scheduledDeparture": 1,
  createdAt: 1,
  progress: 1,
  rooms: 1,
  "demands.state": 1,
  "demands.roomsRequested": 1,
  "demands.requestedAt": 1,
};

/** A case as {@link boardProjection} reads it. */
export interface BoardCase
  extends Pick<CaseState, "status" | "airport" | "kind" | "progress" | "rooms" | "createdAt"> {
  _id: string;
  flight: Pick<CaseState["flight"], "number" | "scheduledDeparture">;
  demands: Pick<CaseState["demands"][number], "state" | "roomsRequested" | "requestedAt">[];
}

/** Groups that have no room and may need one. */
const withoutRoom = "WHFU";

interface CaseSums {
  /** How often each letter stands in the progress, by its code. */
  letters: Uint32Array;
  groups: number;
  groupsWithoutRoom: number;
  requested: number;
  approved: number;
  booked: number;
  short: number;
  pending: { rooms: number; requestedAt: Date }[];
}

/** By a letter's code, as a night has tens of thousands of letters. */
const bookedLetters = new Set([...bookedStages].map((stage) => stage.charCodeAt(0)));
const codesMax = 128;

const countOf = (letters: Uint32Array, stages: string): number => {
  let count = 0;
  for (let i = 0; i < stages.length; i++) count += letters[stages.charCodeAt(i)] ?? 0;
  return count;
};

const sumsOf = ({ progress, rooms, demands }: BoardCase): CaseSums => {
  const letters = new Uint32Array(codesMax);
  let booked = 0;
  for (let i = 0; i < progress.length; i++) {
    const letter = progress.charCodeAt(i);
    letters[letter] = (letters[letter] ?? 0) + 1;
    if (bookedLetters.has(letter)) booked += roomsAt(rooms, i);
  }
  const groupsWithoutRoom = countOf(letters, withoutRoom);
  let [requested, approved] = [0, 0];
  for (const { state, roomsRequested } of demands) {
    if (state !== "REJECTED") requested += roomsRequested;
    if (approvedStates.has(state)) approved += roomsRequested;
  }
  const pending = demands
    .filter(({ state }) => state === "REQUESTED")
    .map(({ roomsRequested, requestedAt }) => ({ rooms: roomsRequested, requestedAt }));
  const short = Math.max(0, approved - booked);
  return { letters, groups: progress.length, groupsWithoutRoom, requested, approved, booked, short, pending };
};

export interface Board {
  open: BoardCase[];
  /** Cases closed within the last 24 hours. */
  closedLately: number;
}

type Sections = Omit<DashboardView, "asOf" | "partialFailures">;

/** Of the parts that have answered; a drill is nobody's night, and is only counted as one. */
export const sectionsOf = (board: Board | undefined, desks: CaseDesk[] | undefined): Sections => ({
  ...(board === undefined ? {} : caseSections(board, desks)),
  ...(desks === undefined ? {} : { reviewItems: deskSection(desks) }),
});

const caseSections = ({ open, closedLately }: Board, desks: CaseDesk[] | undefined): Sections => {
  const live = open.filter(({ kind }) => kind === undefined).map((one) => ({ one, sums: sumsOf(one) }));
  const total = (of: (sums: CaseSums) => number): number => live.reduce((sum, { sums }) => sum + of(sums), 0);
  const pending = live.flatMap(({ sums }) => sums.pending);
  const oldest = pending.map(({ requestedAt }) => requestedAt.getTime()).sort((a, b) => a - b)[0];
  const standing = (status: CaseStatus): number => live.filter(({ one }) => one.status === status).length;
  return {
    cases: {
      byStatus: [
        { status: "OPEN", count: standing("OPEN") },
        { status: "MANUAL_REVIEW", count: standing("MANUAL_REVIEW") },
        { status: "CLOSED", count: closedLately },
      ],
      byAirport: byAirport(live),
      drills: open.length - live.length,
    },
    groups: (Object.keys(progressClasses) as Stage[]).flatMap((stage) => {
      const count = total(({ letters }) => countOf(letters, stage));
      return count === 0 ? [] : [{ progress: progressClasses[stage], count }];
    }),
    rooms: {
      requested: total(({ requested }) => requested),
      approved: total(({ approved }) => approved),
      booked: total(({ booked }) => booked),
      short: total(({ short }) => short),
    },
    pendingApprovals: {
      demands: pending.length,
      rooms: pending.reduce((sum, { rooms }) => sum + rooms, 0),
      ...(oldest === undefined ? {} : { oldestRequestedAt: new Date(oldest).toISOString() }),
    },
    urgentCases: urgentCases(live, desks),
  };
};

interface Summed {
  one: BoardCase;
  sums: CaseSums;
}

const byAirport = (live: Summed[]): NonNullable<DashboardView["cases"]>["byAirport"] => {
  const airports = new Map<
    string,
    { airport: string; cases: number; groups: number; groupsWithoutRoom: number }
  >();
  for (const { one, sums } of live) {
    const { airport } = one;
    const row = airports.get(airport) ?? { airport, cases: 0, groups: 0, groupsWithoutRoom: 0 };
    airports.set(airport, row);
    row.cases += 1;
    row.groups += sums.groups;
    row.groupsWithoutRoom += sums.groupsWithoutRoom;
  }
  return [...airports.values()].sort(
    (a, b) => b.groupsWithoutRoom - a.groupsWithoutRoom || (a.airport < b.airport ? -1 : 1),
  );
};

const urgentMax = 10;

const urgentCases = (live: Summed[], desks: CaseDesk[] | undefined): UrgentCase[] => {
  const deskOf = new Map(desks?.map((desk) => [desk.caseId, desk]));
  return live
    .map((summed) => ({ ...summed, desk: deskOf.get(summed.one._id) }))
    .filter(({ sums, desk }) => needsSomebody(sums, desk))
    .sort(
      (a, b) =>
        (b.desk?.overdue ?? 0) - (a.desk?.overdue ?? 0) ||
        (b.desk?.high ?? 0) - (a.desk?.high ?? 0) ||
        b.sums.groupsWithoutRoom - a.sums.groupsWithoutRoom ||
        b.sums.short - a.sums.short ||
        (a.one._id < b.one._id ? -1 : 1),
    )
    .slice(0, urgentMax)
    .map(({ one, sums, desk }) => ({
      caseUrn: urn("case", one._id),
      flightNumber: one.flight.number,
      airport: one.airport,
      status: one.status,
      scheduledDeparture: one.flight.scheduledDeparture.toISOString(),
      createdAt: one.createdAt.toISOString(),
      groups: sums.groups,
      groupsWithoutRoom: sums.groupsWithoutRoom,
      roomsShort: sums.short,
      pendingApprovals: sums.pending.length,
      ...(desks === undefined
        ? {}
        : { reviewItems: { open: desk?.open ?? 0, high: desk?.high ?? 0, overdue: desk?.overdue ?? 0 } }),
    }));
};

const needsSomebody = (sums: CaseSums, desk: CaseDesk | undefined): boolean =>
  sums.groupsWithoutRoom > 0 || sums.short > 0 || sums.pending.length > 0 || (desk?.open ?? 0) > 0;

const deskSection = (desks: CaseDesk[]): NonNullable<DashboardView["reviewItems"]> => {
  const sum = (of: (desk: CaseDesk) => number | undefined): number =>
    desks.reduce((total, desk) => total + (of(desk) ?? 0), 0);
  return {
    open: sum(({ open }) => open),
    overdue: sum(({ overdue }) => overdue),
    byCategory: reviewCategories.flatMap((category) => {
      const count = sum(({ categories }) => categories[category]);
      return count === 0 ? [] : [{ category, count }];
    }),
    byPriority: priorities.flatMap((priority) => {
      const count = sum((desk) => desk.priorities[priority]);
      return count === 0 ? [] : [{ priority, count }];
    }),
  };
};
