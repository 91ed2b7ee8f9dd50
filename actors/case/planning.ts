/** Owns what a case asks for once its passengers are owned: stays under each tier's policy, demand, and its approval. */
import { airport as airportOf } from "../../schemas/airports.ts";
import type { Command } from "../../schemas/command.ts";
import type { Stage } from "../../schemas/group-note.ts";
import type { ResolvedPolicy } from "../../schemas/policy.ts";
import { Problem } from "../../schemas/problems.ts";
import { idOf, urn } from "../../schemas/urn.ts";
import type { DemandType, Tier } from "../../schemas/vocabulary.ts";
import { derivedId } from "../runtime/clock.ts";
import type { Received } from "../runtime/decider.ts";
import { approvedDemands, placeable } from "./capacity.ts";
import { isAwaitingManifest } from "./detected-state.ts";
import type { Freeze } from "./freeze.ts";
import { reissueAfterMs } from "./intake.ts";
import { nightsOf } from "./nights.ts";
import { type CaseEvent, type CaseState, type Demand, evolve, type GroupHead } from "./state.ts";

export type Policies = Partial<Record<Tier, ResolvedPolicy | null>>;

/** What is read for a decision about demand: the policies in force for the case's tiers, and a freeze at its airport. */
export interface DemandTerms {
  policies: Policies;
  freeze?: Freeze | undefined;
}

/**
 * Plans every group's stay and asks for the rooms. Groups without a policy or a single tier are held for a review;
 * those with no night to bridge need no room; the rest make the INITIAL demand.
 */
export const decidePlan = (state: CaseState, command: Received, gathered: unknown): CaseEvent[] => {
  if (state.provisionedAt === undefined || state.plannedAt !== undefined) return [];
  const { policies, freeze } = gathered as DemandTerms;
  const stays = state.groups.map((group) => stayOf(state, group, policies));
  const progress = state.groups.map((group, i) => stageOf(group, policies, stays[i])).join("");
  const violated = state.groups.some(({ tier }) => tier !== undefined && !policies[tier]);
  const known = Object.fromEntries(Object.entries(policies).filter(([, policy]) => policy !== null));
  const planned: CaseEvent = {
    type: "case.planned",
    data: { at: command.now, policies: known, stays, progress, violated },
  };
  const rooms = roomsByTier(state, stays, progress);
  const total = Object.values(rooms).reduce((sum, share) => sum + share, 0);
  const finished: CaseEvent[] = /^[N]*$/.test(progress)
    ? [{ type: "case.resolved", data: { at: command.now } }]
    : [];
  if (total === 0) return [planned, ...finished];
  const demand = requested(command, state, "INITIAL", total);
  const automatic = Object.entries(rooms).every(([tier, share]) => {
    const policy = policies[tier as Tier];
    return policy?.autoApproveDemand === true && share <= policy.maxAutomaticRoomsPerWave;
  });
  const first = policies[Object.keys(rooms)[0] as Tier];
  const events: CaseEvent[] = [planned, { type: "demand.requested", data: demand }];
  if (freeze !== undefined) return [...events, frozenRejection(command, demand, freeze)];
  if (!automatic) return events;
  return [...events, approval(command, demand, automaticReason, first ?? undefined)];
};

const automaticReason = "Within the rooms that the policy approves automatically.";

export const stayOf = (
  state: CaseState,
  group: GroupHead,
  policies: Policies,
): GroupHead["stay"] | undefined => {
  const policy = group.tier === undefined ? undefined : policies[group.tier];
  return policy ? { ...datesOf(state, group, policy), rooms: roomsOf(group, policy) } : undefined;
};

/** The nights that somebody of this policy and next flight needs a room for. */
export const datesOf = (
  state: CaseState,
  { nextFlight }: Pick<GroupHead, "nextFlight">,
  { lateCheckoutMinutes, earlyCheckInMinutes }: ResolvedPolicy,
): Pick<NonNullable<GroupHead["stay"]>, "checkIn" | "checkOut" | "nights"> => {
  const { checkIn, checkOut, nights } = nightsOf({
    scheduledDeparture: state.flight.scheduledDeparture,
    nextDeparture: (nextFlight ?? state.nextFlight)?.scheduledDeparture,
    timeZone: airportOf(state.airport)?.timeZone ?? "UTC",
    lateCheckoutMinutes,
    earlyCheckInMinutes,
    decidedAt: state.disruption.decidedAt,
  });
  return { checkIn, checkOut, nights };
};

export const roomsOf = ({ passengers }: GroupHead, { maxOccupancy }: ResolvedPolicy): number =>
  Math.ceil(passengers / maxOccupancy);

/** Where a group begins once it is planned. */
export const stageOf = (group: GroupHead, policies: Policies, stay: GroupHead["stay"] | undefined): Stage => {
  if (group.tier === undefined || !policies[group.tier] || stay === undefined) return "H";
  return stay.nights === 0 ? "N" : "W";
};

const roomsByTier = (state: CaseState, stays: (GroupHead["stay"] | undefined)[], progress: string) => {
  const rooms: Partial<Record<Tier, number>> = {};
  for (const [i, { tier }] of state.groups.entries()) {
    if (progress[i] === "W" && tier !== undefined) rooms[tier] = (rooms[tier] ?? 0) + (stays[i]?.rooms ?? 0);
  }
  return rooms;
};

const demandIdOf = (command: Command, state: CaseState, at: Date): string =>
  derivedId(command.tenant, `${command.id}/${state.externalEventId}`, at);

/** The demand that this very command made, also when it comes again later: the id's random part is the command's. */
export const demandMadeBy = (command: Command, state: CaseState): Demand | undefined => {
  const mark = demandIdOf(command, state, new Date(0)).slice(-16);
  return state.demands.find(({ demandId }) => demandId.endsWith(mark));
};

export const requested = (command: Received, state: CaseState, type: DemandType, rooms: number): Demand => ({
  demandId: demandIdOf(command, state, command.now),
  type,
  roomsRequested: rooms,
  state: "REQUESTED",
  requestedAt: command.now,
  requestedBy: command.principal.urn,
});

const approval = (command: Received, demand: Demand, reason: string, policy?: ResolvedPolicy): CaseEvent => ({
  type: "demand.approved",
  data: {
    demandId: demand.demandId,
    at: command.now,
    by: command.principal.urn,
    reason,
    ...(policy === undefined ? {} : { policyId: policy.policyId, policyVersion: policy.version }),
  },
});

/** By the system policy that the freeze is, with its reason (contract, "Demand": reject). */
const frozenRejection = (command: Received, { demandId }: Demand, { reason }: Freeze): CaseEvent => ({
  type: "demand.rejected",
  data: { demandId, at: command.now, by: urn("user", "system-case"), reason, frozen: true },
});

/** A freeze, or a demand that was being asked for when it came: whatever is pending is rejected. */
export const decideApplyFreeze = (state: CaseState, command: Received, gathered: unknown): CaseEvent[] => {
  const { freeze } = gathered as DemandTerms;
  if (freeze === undefined) return [];
  return state.demands
    .filter((demand) => demand.state === "REQUESTED")
    .map((demand) => frozenRejection(command, demand, freeze));
};

/**
 * What follows every decision about a planned case, so that nobody who waits is left to nobody. An approval enqueues an
 * allocation (contract, "Demand"): at once, at the next beat where all policies concerned are BATCH, or after the one under
 * way. For whom the approved rooms suffice otherwise there is a wave, and for the rest, when no demand is to be decided, a
 * person. There is no wave with nobody to place: it would hide what the last one decided.
 */
export const thenPlace = (state: CaseState, command: Received, events: CaseEvent[]): CaseEvent[] => {
  const told = events.reduce<CaseState>(evolve, state);
  const step = told.awaiting?.step;
  if (told.plannedAt === undefined || told.status === "CLOSED" || step === "wave") return events;
  const unserved = told.demands.find((demand) => demand.state === "APPROVED" && demand.waveId === undefined);
  const next = unserved ?? approvedDemands(told).at(-1);
  // New rooms are also for those who could not be placed before.
  const after = unserved === undefined ? told : tryAgain(told, "H");
  const again = toReplace(told);
  if (next !== undefined && (placeable(after).length > 0 || again.length > 0)) {
    // Whose room is for the wrong dates waits for no beat.
    const dueAt = unserved === undefined || again.length > 0 ? undefined : nextBeat(after, command.now);
    if (dueAt === undefined) return [...events, waveRequested(command, next.demandId, after.progress, again)];
    if (step === "batch") return events;
    return [...events, { type: "case.batch-awaited", data: { demandId: next.demandId, dueAt } }];
  }
  const isToBeDecided = told.demands.some((demand) => demand.state === "REQUESTED");
  if (step !== undefined || isToBeDecided || !told.progress.includes("W")) return events;
  const groups = told.groups.flatMap(({ groupId }, i) => (told.progress[i] === "W" ? [groupId] : []));
  const progress = told.progress.replaceAll("W", "H");
  return [...events, { type: "case.groups-stranded", data: { progress, groups, occurrence: command.id } }];
};

/** Of those who are to change hotels the ones that have a room still. */
const toReplace = (state: CaseState): string[] =>
  state.groups.flatMap(({ groupId }, i) =>
    "BR".includes(state.progress[i] ?? "?") && state.toReplace?.includes(groupId) ? groupId : [],
  );

/**
 * When the next batch runs; undefined: at once, because somebody who can be placed is under an ON_DEMAND policy. Beats are
 * counted from the epoch, so that the cases of one airport and policy run on the same one.
 */
const nextBeat = (state: CaseState, now: Date): Date | undefined => {
  const concerned = placeable(state).map((i) => state.policies[state.groups[i]?.tier as Tier]);
  if (concerned.some((policy) => policy?.mode !== "BATCH")) return undefined;
  const beatMs = Math.min(...concerned.map((policy) => policy?.batchIntervalMinutes as number)) * 60_000;
  return new Date((Math.floor(now.getTime() / beatMs) + 1) * beatMs);
};

/** A batch is due: a wave for all that are approved by now. */
export const runBatch = (waiting: CaseState, command: Received): CaseEvent[] => {
  const state = tryAgain(waiting, "H");
  const demandId = state.awaiting?.demandId;
  if (demandId === undefined || placeable(state).length === 0)
    return [{ type: "case.batch-ended", data: {} }];
  return [waveRequested(command, demandId, state.progress)];
};

/** @param again groups that have a room and are to be placed anew */
export const waveRequested = (
  command: Received,
  demandId: string,
  progress: string,
  again: string[] = [],
): CaseEvent => ({
  type: "case.wave-requested",
  data: {
    waveId: derivedId(command.tenant, `${command.id}/wave`, command.now),
    demandId,
    dueAt: new Date(command.now.getTime() + reissueAfterMs),
    progress,
    ...(again.length === 0 ? {} : { again }),
  },
});

/** @throws Problem conflict/state for a second INITIAL demand, or before the case is planned */
export const decideRequestDemand = (
  state: CaseState,
  command: Received,
  freeze: Freeze | undefined,
): CaseEvent[] => {
  const { type, roomsRequested } = command.data as { type: DemandType; roomsRequested: number };
  if (isAwaitingManifest(state)) {
    throw new Problem("conflict/state", "Nobody has said yet who is stranded: push or amend the manifest.", {
      state: "AWAITING_MANIFEST",
    });
  }
  if (state.plannedAt === undefined) {
    throw new Problem("conflict/state", "The case is still being provisioned. Try again in a moment.", {
      state: state.status,
    });
  }
  const standing = state.demands.find((demand) => demand.type === "INITIAL" && demand.state !== "REJECTED");
  if (type === "INITIAL" && standing !== undefined) {
    throw new Problem("conflict/state", "The case has its INITIAL demand; ask for an INCREMENTAL one.", {
      state: standing.state,
    });
  }
  const demand = requested(command, state, type, roomsRequested);
  return askFor(state, command, demand, freeze);
};

/** Asks for the rooms, and approves them at once where every policy of the case allows it; while demand is frozen it is rejected. */
export const askFor = (
  state: CaseState,
  command: Received,
  demand: Demand,
  freeze: Freeze | undefined,
): CaseEvent[] => {
  const { type, roomsRequested } = demand;
  const policies = Object.values(state.policies);
  const automatic =
    policies.length > 0 &&
    policies.every(
      (policy) =>
        policy.autoApproveDemand &&
        roomsRequested <= policy.maxAutomaticRoomsPerWave &&
        !(type === "INCREMENTAL" && policy.incrementalRequiresApproval),
    );
  const events: CaseEvent[] = [{ type: "demand.requested", data: demand }];
  if (freeze !== undefined) return [...events, frozenRejection(command, demand, freeze)];
  if (!automatic) return events;
  return [...events, approval(command, demand, automaticReason, policies[0])];
};

const demandOf = (state: CaseState, command: Received): Demand => {
  const demandId = idOf((command.data as { demandUrn: string }).demandUrn);
  const demand = state.demands.find((candidate) => candidate.demandId === demandId);
  if (demand === undefined) throw new Problem("not-found/resource", "No such demand.");
  if (demand.state !== "REQUESTED") {
    throw new Problem(
      "conflict/state",
      `The demand is ${demand.state}; only a REQUESTED one can be decided.`,
      { state: demand.state },
    );
  }
  return demand;
};

/** @throws Problem conflict/state for a demand that is decided, or while demand at the airport is frozen */
export const decideApprove = (
  state: CaseState,
  command: Received,
  freeze: Freeze | undefined,
): CaseEvent[] => {
  const demand = demandOf(state, command);
  if (freeze !== undefined) {
    const detail = `Demand at ${state.airport} is frozen (${freeze.reason}). Lift the freeze, and ask for the rooms again.`;
    throw new Problem("conflict/state", detail, { state: "FROZEN" });
  }
  const { reason } = command.data as { reason: string };
  return [approval(command, demand, reason, Object.values(state.policies)[0])];
};

export const decideReject = (state: CaseState, command: Received): CaseEvent[] => {
  const { demandId } = demandOf(state, command);
  const { reason } = command.data as { reason: string };
  return [
    { type: "demand.rejected", data: { demandId, at: command.now, by: command.principal.urn, reason } },
  ];
};

/** Who could not be placed, or whom every hotel refused, is tried again when somebody asks: much has changed since. */
export const tryAgain = (state: CaseState, stages: string): CaseState => {
  const again = (stage: string, i: number) => stages.includes(stage) && state.groups[i]?.stay !== undefined;
  return {
    ...state,
    progress: [...state.progress].map((stage, i) => (again(stage, i) ? "W" : stage)).join(""),
  };
};

export const notApproved = ({ demands }: CaseState): Problem =>
  new Problem("conflict/demand-not-approved", "Rooms are searched once a demand is approved.", {
    state: demands.at(-1)?.state ?? "none",
  });

/** @throws Problem conflict/demand-not-approved: no search runs before an approval (contract, "What the service does", 3) */
export const decideAllocate = (standing: CaseState, command: Received): CaseEvent[] => {
  const state = tryAgain(standing, "HF");
  const approved = approvedDemands(state).at(-1);
  if (approved === undefined) throw notApproved(state);
  if (state.awaiting?.step === "wave") {
    throw new Problem("conflict/state", "An allocation is under way.", { state: "RUNNING" });
  }
  if (!state.progress.includes("W")) {
    throw new Problem("conflict/state", "No group waits for a hotel.", { state: state.status });
  }
  if (placeable(state).length === 0) {
    throw new Problem("conflict/state", "The approved rooms are given out; ask for an INCREMENTAL demand.", {
      state: approved.state,
    });
  }
  return [waveRequested(command, approved.demandId, state.progress)];
};
