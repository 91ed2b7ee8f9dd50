/** Owns what a case is: the disruption, who is stranded (until the sub-cases own them), demand, and progress. */

import type { Stage } from "../../schemas/group-note.ts";
import type { ResolvedPolicy } from "../../schemas/policy.ts";
import type {
  CaseStatus,
  DemandState,
  DemandType,
  DisruptionReason,
  DisruptionType,
  ReviewCategory,
  Tier,
} from "../../schemas/vocabulary.ts";
import type { ManifestGroup } from "./manifest.ts";

export interface Flight {
  number: string;
  origin: string;
  destination: string;
  scheduledDeparture: Date;
  status?: string;
}

/** A group as the case keeps it: enough to plan rooms. Its passengers stand in its sub-case. */
export interface GroupHead {
  groupId: string;
  subCaseId: string;
  /** Undefined: the group spans tiers. */
  tier?: Tier;
  passengers: number;
  needs: string[];
  missing: string[];
  /** Set once the policies are known. */
  stay?: { checkIn: string; checkOut: string; nights: number; rooms: number };
}

/** Nothing more is to be done for a group in one of these. */
export const terminalStages: ReadonlySet<string> = new Set<Stage>(["R", "D", "C", "O", "M", "X", "N"]);

export interface Demand {
  demandId: string;
  type: DemandType;
  roomsRequested: number;
  state: DemandState;
  requestedAt: Date;
  requestedBy: string;
  decidedAt?: Date;
  decidedBy?: string;
  reason?: string;
  policyId?: string;
  policyVersion?: number;
  /** The newest allocation that it was the reason for. */
  waveId?: string;
  /** Groups without a room when it was settled as PARTIAL. */
  lacking?: string[];
}

export interface CaseState {
  externalEventId: string;
  bodyHash: string;
  /** Hashes of other bodies that came under the same externalEventId; each is audited once. */
  otherBodies: string[];
  status: CaseStatus;
  source: "PARTNER" | "MANUAL";
  /** Where the passengers are: scope, policy and search go by it. */
  airport: string;
  flight: Flight;
  nextFlight?: { number: string; scheduledDeparture: Date };
  disruption: {
    type: DisruptionType;
    reason: DisruptionReason;
    reasonRaw?: string;
    airport?: string;
    decidedAt: Date;
  };
  createdAt: Date;
  createdBy: string;
  correlationUrn: string;
  groups: GroupHead[];
  /**
   * Where each group stands, one letter a group in the order of `groups`: the whole progress of a case is then one short
   * field, however many groups report at once.
   */
  progress: string;
  /** Of each group the saga that it told of last, one character counting up from `0`: a note of an earlier one is late. */
  rounds: string;
  /** Groups that a person is to find a room for; told once they have one. */
  onDesk: string[];
  /** The passengers, whom the case owns from group `provisioned` on; emptied when all sub-cases stand. */
  manifest: ManifestGroup[];
  /** Groups whose sub-cases stand: a count, so that confirming a chunk doesn't rewrite the manifest. */
  provisioned: number;
  provisionedAt?: Date;
  policies: Partial<Record<Tier, ResolvedPolicy>>;
  plannedAt?: Date;
  demands: Demand[];
  waveId?: string;
  /** The step that the case waits for, and when it asks again. */
  awaiting?: {
    step: "provisioning" | "planning" | "batch" | "wave";
    dueAt: Date;
    waveId?: string;
    demandId?: string;
    /** As they were when the wave was asked for: a group that has gone on since is not this wave's any more. */
    rounds?: string;
  };
  resolvedAt?: Date;
  closedAt?: Date;
}

export type CaseEvent =
  | { type: "case.registered"; data: CaseState }
  | { type: "case.repeated-differently"; data: { bodyHash: string } }
  | { type: "case.chunk-provisioned"; data: { count: number; dueAt: Date } }
  | { type: "case.opened"; data: { at: Date; dueAt: Date } }
  | {
      type: "case.planned";
      data: {
        at: Date;
        policies: CaseState["policies"];
        stays: (GroupHead["stay"] | undefined)[];
        progress: string;
        violated: boolean;
      };
    }
  | {
      type: "case.replanned";
      data: { policies: CaseState["policies"]; stays: (GroupHead["stay"] | undefined)[]; progress: string };
    }
  | { type: "case.step-reissued"; data: { dueAt: Date } }
  | { type: "demand.requested"; data: Demand }
  | {
      type: "demand.approved";
      data: {
        demandId: string;
        at: Date;
        by: string;
        reason: string;
        policyId?: string;
        policyVersion?: number;
      };
    }
  | { type: "demand.rejected"; data: { demandId: string; at: Date; by: string; reason: string } }
  | { type: "demand.settled"; data: { demandId: string; state: "FULFILLED" | "PARTIAL"; lacking: string[] } }
  | { type: "case.batch-awaited"; data: { demandId: string; dueAt: Date } }
  | { type: "case.batch-ended"; data: Record<string, never> }
  | { type: "case.wave-requested"; data: { waveId: string; demandId: string; dueAt: Date; progress: string } }
  | { type: "case.wave-noted"; data: { waveId: string; progress: string } }
  | { type: "case.group-noted"; data: { progress: string; rounds: string; housed: string[] } }
  | { type: "case.review-noted"; data: ReviewNoted }
  | { type: "case.groups-stranded"; data: { progress: string; groups: string[]; occurrence: string } }
  | { type: "case.resolved"; data: { at: Date } }
  | { type: "case.closed"; data: { at: Date; by: string; reason: string } }
  | { type: "case.reopened"; data: { at: Date; closedAt: Date; by: string; reason: string; dueAt: Date } };

/** What a resolved item has changed: who is tried again or settled, whom another item is needed for. */
export interface ReviewNoted {
  reviewId: string;
  progress: string;
  /** Still without what they need, though the item says that they were taken care of. */
  remaining: { category: ReviewCategory; groups: string[] } | undefined;
  /** Sub-cases whose stuck rollback is tried again. */
  retryRollback: string[];
  /** Sub-cases that a person has seen to: no wave's choice is for them any more. */
  settled: string[];
  status: CaseStatus;
}

/** Events that record work under way rather than a change that a reader of the case should be told of. */
export const technicalEvents: ReadonlySet<string> = new Set<CaseEvent["type"]>([
  "case.repeated-differently",
  "case.chunk-provisioned",
  "case.step-reissued",
]);

const withDemand = (state: CaseState, demandId: string, change: Partial<Demand>): CaseState => ({
  ...state,
  demands: state.demands.map((demand) => (demand.demandId === demandId ? { ...demand, ...change } : demand)),
});

const without = <T extends object, K extends keyof T>(state: T, key: K): T => {
  const { [key]: _, ...rest } = state;
  return rest as T;
};

/** Who was on a desk, and who is there now that groups are held or have failed. */
const heldIn = ({ groups, progress, onDesk }: CaseState): string[] => {
  const held = groups.flatMap(({ groupId }, i) => ("HF".includes(progress[i] ?? "") ? [groupId] : []));
  return held.length === 0 ? onDesk : [...new Set([...onDesk, ...held])];
};

export const evolve = (before: CaseState | undefined, event: CaseEvent): CaseState => {
  if (event.type === "case.registered") return event.data;
  const state = before as CaseState;
  switch (event.type) {
    case "case.repeated-differently":
      return { ...state, otherBodies: [...state.otherBodies, event.data.bodyHash].slice(-20) };
    case "case.chunk-provisioned":
      return {
        ...state,
        provisioned: state.provisioned + event.data.count,
        awaiting: { step: "provisioning", dueAt: event.data.dueAt },
      };
    case "case.opened":
      return {
        ...state,
        manifest: [],
        provisioned: state.groups.length,
        provisionedAt: event.data.at,
        awaiting: { step: "planning", dueAt: event.data.dueAt },
      };
    case "case.planned": {
      const { at, policies, stays, progress, violated } = event.data;
      const groups = state.groups.map((group, i) =>
        stays[i] === undefined ? group : { ...group, stay: stays[i] },
      );
      const status = violated ? "MANUAL_REVIEW" : state.status;
      const planned = { ...state, plannedAt: at, policies, groups, progress, status };
      return without({ ...planned, onDesk: heldIn(planned) }, "awaiting");
    }
    case "case.replanned": {
      const { policies, stays, progress } = event.data;
      const groups = state.groups.map((group, i) =>
        stays[i] === undefined ? group : { ...group, stay: stays[i] },
      );
      return { ...state, policies, groups, progress };
    }
    case "case.step-reissued":
      return state.awaiting === undefined
        ? state
        : { ...state, awaiting: { ...state.awaiting, dueAt: event.data.dueAt } };
    case "demand.requested":
      return { ...state, demands: [...state.demands, event.data] };
    case "demand.approved": {
      const { demandId, at, by, reason, policyId, policyVersion } = event.data;
      const policy = policyId === undefined ? {} : { policyId, policyVersion };
      return withDemand(state, demandId, {
        state: "APPROVED",
        decidedAt: at,
        decidedBy: by,
        reason,
        ...policy,
      } as Partial<Demand>);
    }
    case "demand.rejected": {
      const { demandId, at, by, reason } = event.data;
      return withDemand(state, demandId, { state: "REJECTED", decidedAt: at, decidedBy: by, reason });
    }
    case "demand.settled": {
      const { demandId, state: settled, lacking } = event.data;
      return withDemand(state, demandId, { state: settled, lacking });
    }
    case "case.batch-awaited":
      return { ...state, awaiting: { step: "batch", ...event.data } };
    case "case.wave-requested": {
      const { progress, ...awaited } = event.data;
      const { waveId, demandId } = awaited;
      return {
        ...withDemand(state, demandId, { waveId }),
        waveId,
        progress,
        awaiting: { step: "wave", ...awaited, rounds: state.rounds },
      };
    }
    case "case.batch-ended":
      return without(state, "awaiting");
    case "case.wave-noted": {
      const noted = { ...state, progress: event.data.progress };
      return without({ ...noted, onDesk: heldIn(noted) }, "awaiting");
    }
    case "case.group-noted": {
      const { progress, rounds, housed } = event.data;
      const noted = { ...state, progress, rounds };
      const onDesk = heldIn(noted).filter((groupId) => !housed.includes(groupId));
      return { ...noted, onDesk };
    }
    case "case.groups-stranded": {
      const stranded = { ...state, progress: event.data.progress };
      return { ...stranded, onDesk: heldIn(stranded) };
    }
    case "case.review-noted":
      return { ...state, progress: event.data.progress, status: event.data.status };
    case "case.resolved":
      return { ...state, resolvedAt: event.data.at };
    case "case.closed":
      return { ...state, status: "CLOSED", closedAt: event.data.at };
    case "case.reopened": {
      const { awaiting, ...open } = without(state, "closedAt");
      const { dueAt: soon } = event.data;
      // A batch keeps its beat. A wave that came while the case was closed was not taken: the next command asks for another.
      const dueAt = awaiting !== undefined && awaiting.dueAt > soon ? awaiting.dueAt : soon;
      const again =
        awaiting === undefined || awaiting.step === "wave" ? {} : { awaiting: { ...awaiting, dueAt } };
      return { ...open, status: "OPEN", ...again };
    }
    default:
      return event satisfies never;
  }
};
