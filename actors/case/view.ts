/** Owns what each audience may see of a case; whatever stands with other actors is joined by the queries. */
import type { BookingStarted, CaseListItem, CaseOpened, CaseStanding, CaseView } from "../../schemas/case.ts";
import type { DemandSummary, DemandView, PendingApproval } from "../../schemas/demand.ts";
import type { PartnerCaseListItem } from "../../schemas/partner-api.ts";
import type { ReaccommodationView } from "../../schemas/reaccommodate.ts";
import type { RegroupView } from "../../schemas/regroup.ts";
import { tenantOfId, urn } from "../../schemas/urn.ts";
import { causedId } from "../runtime/clock.ts";
import type { Reading } from "../runtime/decider.ts";
import { approvedDemands, bookedStages, roomsIn } from "./capacity.ts";
import type { CaseState, Demand } from "./state.ts";

const iso = (at: Date | undefined): string | undefined => at?.toISOString();

/** What the heads below are made of: nothing that grows with the passengers. */
export type CaseHead = Pick<
  CaseState,
  | "externalEventId"
  | "kind"
  | "status"
  | "airport"
  | "flight"
  | "nextFlight"
  | "disruption"
  | "detection"
  | "createdAt"
  | "resolvedAt"
  | "closedAt"
>;

/** What an operator sees of the case itself. */
export const caseHead = (
  caseId: string,
  version: number,
  state: CaseHead,
  subCaseCount: number,
): CaseListItem => ({
  urn: urn("case", caseId),
  airlineUrn: urn("airline", tenantOfId(caseId)),
  externalEventId: state.externalEventId,
  ...(state.kind === undefined ? {} : { kind: state.kind }),
  status: state.status,
  airport: state.airport,
  flight: { ...state.flight, scheduledDeparture: state.flight.scheduledDeparture.toISOString() },
  ...(state.nextFlight === undefined
    ? {}
    : {
        nextFlight: {
          ...state.nextFlight,
          scheduledDeparture: state.nextFlight.scheduledDeparture.toISOString(),
        },
      }),
  disruption: { ...state.disruption, decidedAt: state.disruption.decidedAt.toISOString() },
  ...predictionOf(state),
  subCaseCount,
  version,
  createdAt: state.createdAt.toISOString(),
  ...optional({ resolvedAt: iso(state.resolvedAt), closedAt: iso(state.closedAt) }),
});

const predictionOf = ({ detection }: CaseHead): Pick<CaseListItem, "prediction"> => {
  if (detection === undefined) return {};
  const { state, probability, threshold, vendor, observedAt } = detection.prediction;
  const flightUrn = urn("flight", detection.flightId);
  return {
    prediction: { flightUrn, state, probability, threshold, vendor, observedAt: observedAt.toISOString() },
  };
};

const optional = <T extends object>(fields: T): { [K in keyof T]?: NonNullable<T[K]> } =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;

/** Absent: every policy binds the case as it is. */
export const relaxationsView = ({ relaxations }: CaseState): Pick<CaseView, "relaxations"> =>
  relaxations === undefined
    ? {}
    : {
        relaxations: relaxations.map(({ fields, groupIds, reason, by, at }) => ({
          fields,
          groupIds,
          reason,
          by,
          at: at.toISOString(),
        })),
      };

/** The answer to a push or a declaration (contract, "Partner disruption push payload"). */
export const openedView = (state: CaseState, { id }: Reading): CaseOpened => ({
  caseUrn: urn("case", id),
  status: state.status,
  subCaseCount: state.groups.length,
  correlationUrn: state.correlationUrn,
});

/** The answer to a closing or reopening. */
export const standingView = (state: CaseState, { id, version, command }: Reading): CaseStanding => ({
  caseUrn: urn("case", id),
  status: state.status,
  ...optional({ closedAt: iso(state.closedAt) }),
  correlationUrn: command.correlationUrn,
  version,
});

/** The answer to a changed next flight: the groups that it concerns, as they stand at the moment. */
export const reaccommodationView = (
  state: CaseState,
  { id, version, command }: Reading,
): ReaccommodationView => {
  const mark = causedId(command.id);
  const { nextFlight } = state;
  return {
    caseUrn: urn("case", id),
    ...(nextFlight === undefined
      ? {}
      : { nextFlight: { ...nextFlight, scheduledDeparture: nextFlight.scheduledDeparture.toISOString() } }),
    groups: state.groups.flatMap(({ groupId, subCaseId, stay, regrouping, effect = "NOTED" }) =>
      regrouping !== mark
        ? []
        : [
            {
              groupId,
              subCaseUrn: urn("sub-case", subCaseId),
              effect,
              ...(stay === undefined
                ? {}
                : { checkIn: stay.checkIn, checkOut: stay.checkOut, nights: stay.nights }),
            },
          ],
    ),
    correlationUrn: command.correlationUrn,
    version,
  };
};

/** The answer to a split, a merge, or groups formed by name: what that very command has changed. */
export const regroupView = (state: CaseState, { id, version, command }: Reading): RegroupView => {
  const mark = causedId(command.id);
  const changed = state.groups.filter(({ regrouping }) => regrouping === mark);
  return {
    caseUrn: urn("case", id),
    groups: changed
      .filter(({ mergedInto }) => mergedInto === undefined)
      .map(({ groupId, subCaseId, tier, passengers, stay }) => ({
        groupId,
        subCaseUrn: urn("sub-case", subCaseId),
        ...(tier === undefined ? {} : { tier }),
        passengers,
        ...(stay === undefined || stay.nights === 0 ? {} : { rooms: stay.rooms }),
      })),
    mergedAway: changed.flatMap(({ groupId, mergedInto }) =>
      mergedInto === undefined ? [] : [{ groupId, mergedInto }],
    ),
    correlationUrn: command.correlationUrn,
    version,
  };
};

export const partnerHead = (caseId: string, state: CaseHead, subCaseCount: number): PartnerCaseListItem => ({
  urn: urn("case", caseId),
  externalEventId: state.externalEventId,
  status: state.status,
  airport: state.airport,
  flight: {
    iataDesignator: state.flight.number,
    originAirport: state.flight.origin,
    destinationAirport: state.flight.destination,
    scheduledDeparture: state.flight.scheduledDeparture.toISOString(),
  },
  subCaseCount,
  openedAt: state.createdAt.toISOString(),
  ...optional({ resolvedAt: iso(state.resolvedAt), closedAt: iso(state.closedAt) }),
});

/** The answer to book-rooms, which shows of each group what the case knows. */
export const bookingStartedView = (
  state: CaseState,
  { id, version, command }: Reading,
): Omit<BookingStarted, "partialFailures"> => {
  const started = state.lastBooking?.commandId === command.id ? state.lastBooking.groups : [];
  return {
    caseUrn: urn("case", id),
    groups: state.groups
      .filter(({ groupId }) => started.includes(groupId))
      .map(({ groupId, subCaseId }) => ({ groupId, subCaseUrn: urn("sub-case", subCaseId) })),
    correlationUrn: command.correlationUrn,
    version,
  };
};

export const demandView = (caseId: string, demand: Demand): DemandView => ({
  urn: urn("demand", demand.demandId),
  caseUrn: urn("case", caseId),
  type: demand.type,
  roomsRequested: demand.roomsRequested,
  state: demand.state,
  requestedAt: demand.requestedAt.toISOString(),
  requestedBy: demand.requestedBy,
  ...optional({
    decidedAt: iso(demand.decidedAt),
    decidedBy: demand.decidedBy,
    reason: demand.reason,
    policyUrn: demand.policyId === undefined ? undefined : urn("policy", demand.policyId),
    policyVersion: demand.policyVersion,
  }),
});

export const pendingApproval = (caseId: string, state: CaseState, demand: Demand): PendingApproval => ({
  ...demandView(caseId, demand),
  airport: state.airport,
  flightNumber: state.flight.number,
});

/** Groups without a room, with the review category that says why. */
const shortfallReasons = (state: CaseState): DemandSummary["shortfallReasons"] => {
  const of = (matches: (stage: string | undefined, i: number) => boolean) =>
    state.groups.filter((_, i) => matches(state.progress[i], i));
  const parts = [
    { category: "BOOKING_FAILED" as const, groups: of((stage) => stage === "F") },
    {
      category: "MIXED_TIER_GROUP" as const,
      groups: of((stage) => stage === "H").filter((g) => g.tier === undefined),
    },
    {
      category: "POLICY_VIOLATION" as const,
      groups: of((stage) => stage === "H").filter((g) => g.tier !== undefined && g.stay === undefined),
    },
    {
      category: "ALLOCATION_FAILED" as const,
      groups: of((stage) => stage === "H").filter((g) => g.stay !== undefined),
    },
  ];
  return parts
    .filter(({ groups }) => groups.length > 0)
    .map(({ category, groups }) => ({
      category,
      groups: groups.map(({ groupId }) => groupId),
      rooms: groups.reduce(
        (sum, { stay, passengers }) => sum + (stay?.rooms ?? Math.ceil(passengers / 2)),
        0,
      ),
    }));
};

export const demandSummary = (state: CaseState): DemandSummary => {
  const sum = (demands: Demand[]) => demands.reduce((total, { roomsRequested }) => total + roomsRequested, 0);
  const totalApproved = sum(approvedDemands(state));
  const totalBooked = roomsIn(state, bookedStages);
  return {
    totalRequested: sum(state.demands.filter(({ state: s }) => s !== "REJECTED")),
    totalApproved,
    totalAllocated: roomsIn(state, `AF${bookedStages}`),
    totalBooked,
    shortfall: Math.max(0, totalApproved - totalBooked),
    shortfallReasons: shortfallReasons(state),
  };
};
