/** Owns what leaves with a case's events: public events, review items to open, and the next step's command. */
import type { ReviewCategory } from "../../schemas/vocabulary.ts";
import type { Outgoing, Received } from "../runtime/decider.ts";
import { chunkSize } from "./intake.ts";
import type { CaseEvent, CaseState } from "./state.ts";

const flightOf = ({ flight }: CaseState) => ({
  iataDesignator: flight.number,
  originAirport: flight.origin,
  destinationAirport: flight.destination,
  scheduledDeparture: flight.scheduledDeparture,
});

export const outgoing = (
  event: CaseEvent,
  state: CaseState,
  _command: Received,
  caseId: string,
): Outgoing[] => {
  switch (event.type) {
    case "case.registered":
    case "case.chunk-provisioned":
      return [provisionNext(state, caseId)];
    case "case.opened":
      return [
        {
          to: "public",
          type: "case.opened",
          caseId,
          data: {
            externalEventId: state.externalEventId,
            status: state.status,
            airport: state.airport,
            flight: flightOf(state),
            disruption: { type: state.disruption.type, reason: state.disruption.reason },
            subCaseCount: state.groups.length,
          },
        },
        { to: "command", name: "case.plan", entity: caseId, data: {} },
        ...incompleteItems(state, caseId),
      ];
    case "case.planned":
      return [...heldItems(state, caseId), ...notRequired(state)];
    case "case.wave-requested":
      return [runWave(event.data.waveId, event.data.demandId, caseId)];
    case "case.step-reissued":
      return reissued(state, caseId);
    case "demand.requested":
    case "demand.approved":
    case "demand.rejected":
    case "demand.settled":
      return [{ to: "internal", type: event.type, id: caseId, caseId, data: { ...event.data } }];
    case "case.resolved":
      return [
        {
          to: "public",
          type: "case.resolved",
          caseId,
          data: { resolvedAt: event.data.at, subCaseCount: state.groups.length, outcomes: outcomesOf(state) },
        },
      ];
    case "case.wave-noted":
    case "case.group-noted":
    case "case.repeated-differently":
      return [];
    default:
      return event satisfies never;
  }
};

const outcomesOf = ({ progress }: CaseState) => {
  const count = (stage: string) => progress.split(stage).length - 1;
  return { resolved: count("R"), declined: count("D"), notRequired: count("N") };
};

const provisionNext = (state: CaseState, caseId: string): Outgoing => {
  const from = state.provisioned;
  const owned = state.manifest.slice(from);
  const groups = owned.slice(0, chunkSize(owned));
  return {
    to: "command",
    name: "sub-case.open-many",
    entity: caseId,
    data: {
      from,
      airport: state.airport,
      flight: state.flight,
      nextFlight: state.nextFlight,
      groups: groups.map((group, i) => ({ ...group, subCaseId: state.groups[from + i]?.subCaseId })),
    },
  };
};

const runWave = (waveId: string, demandId: string, caseId: string): Outgoing => ({
  to: "command",
  name: "wave.run",
  entity: waveId,
  data: { caseId, demandId },
});

const reissued = (state: CaseState, caseId: string): Outgoing[] => {
  const { awaiting } = state;
  if (awaiting?.step === "provisioning") return [provisionNext(state, caseId)];
  if (awaiting?.step === "planning") return [{ to: "command", name: "case.plan", entity: caseId, data: {} }];
  if (awaiting?.waveId === undefined || awaiting.demandId === undefined) return [];
  return [runWave(awaiting.waveId, awaiting.demandId, caseId)];
};

const item = (
  state: CaseState,
  caseId: string,
  category: ReviewCategory,
  origin: string,
  detail: string,
  affectedGroups: string[],
): Outgoing => ({
  to: "command",
  name: "review.open",
  entity: "",
  data: { caseId, airport: state.airport, category, origin, detail, attemptedHotels: [], affectedGroups },
});

/** Incomplete passengers are housed all the same; somebody completes what is missing. */
const incompleteItems = (state: CaseState, caseId: string): Outgoing[] => {
  const incomplete = state.groups.filter(({ missing }) => missing.length > 0);
  const fields = [...new Set(incomplete.flatMap(({ missing }) => missing))].join(", ");
  const groups = incomplete.map(({ groupId }) => groupId);
  const items: Outgoing[] = [];
  if (groups.length > 0) {
    items.push(
      item(state, caseId, "DATA_INCOMPLETE", "manifest", `The manifest leaves out: ${fields}.`, groups),
    );
  }
  if (state.nextFlight === undefined && state.groups.length > 0) {
    const detail = "No next flight is known; one night was assumed for everybody.";
    items.push(
      item(
        state,
        caseId,
        "DATA_INCOMPLETE",
        "next-flight",
        detail,
        state.groups.map(({ groupId }) => groupId),
      ),
    );
  }
  return items;
};

const heldItems = (state: CaseState, caseId: string): Outgoing[] => {
  const held = state.groups.filter((_, i) => state.progress[i] === "H");
  const mixed = held.filter(({ tier }) => tier === undefined).map(({ groupId }) => groupId);
  const unmatched = held.filter(({ tier }) => tier !== undefined);
  const tiers = [...new Set(unmatched.map(({ tier }) => tier))];
  const items: Outgoing[] = [];
  if (mixed.length > 0) {
    const detail = "Passengers of one booking travel in different cabins; split the group or override.";
    items.push(item(state, caseId, "MIXED_TIER_GROUP", "planning", detail, mixed));
  }
  if (unmatched.length > 0) {
    const detail = `No active policy covers ${tiers.join(", ")} at ${state.airport}.`;
    items.push(
      item(
        state,
        caseId,
        "POLICY_VIOLATION",
        "planning",
        detail,
        unmatched.map(({ groupId }) => groupId),
      ),
    );
  }
  return items;
};

const notRequired = (state: CaseState): Outgoing[] =>
  state.groups
    .filter((_, i) => state.progress[i] === "N")
    .map(({ subCaseId }) => ({
      to: "command",
      name: "sub-case.mark-not-required",
      entity: subCaseId,
      data: {},
    }));
