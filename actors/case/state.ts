/** Owns what a case is: the disruption, who is stranded (until the sub-cases own them), demand, and progress. */

import type { CaseKind } from "../../schemas/drill.ts";
import type { Stage } from "../../schemas/group-note.ts";
import type { ResolvedPolicy } from "../../schemas/policy.ts";
import type { StayEffect } from "../../schemas/reaccommodate.ts";
import type {
  CaseStatus,
  DemandState,
  DemandType,
  DisruptionReason,
  DisruptionType,
  Tier,
} from "../../schemas/vocabulary.ts";
import { alsoToBook, type BookingEvent, evolveBooking, stillToBook, type ToBook } from "./booking-state.ts";
import { type DetectedEvent, evolveDetected, type FromFeed, isDetected } from "./detected-state.ts";
import { withGroups } from "./group-rooms.ts";
import type { ManifestGroup } from "./manifest.ts";
import {
  evolveManifestPatch,
  type ManifestPatchEvent,
  type ManifestPatches,
} from "./manifest-patch-state.ts";
import { evolvePriority, type Priorities, type PriorityEvent } from "./priority-state.ts";
import { evolveReaccommodated, type ReaccommodateEvent, toReplaceWithout } from "./reaccommodate-state.ts";
import { evolveRegroup, type RegroupEvent } from "./regroup-state.ts";
import type { Relaxation, RelaxEvent, WaveReview } from "./relax-state.ts";
import type { ReviewNoted } from "./review-notes.ts";

/** Of case documents. */
export const schemaVersion = 1;

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
  /** How often it was split, merged or amended; a sub-case that counts otherwise is about to hear of it. Absent: never. */
  shape?: number;
  /** Set: nobody is left in it, its passengers are in this group. */
  mergedInto?: string;
  /** Of the change that it was in last: tells what that change's answer is about. */
  regrouping?: string;
  /** What its newest change of dates has led to. */
  effect?: StayEffect;
  /** Set: it flies on otherwise than the case. */
  nextFlight?: CaseState["nextFlight"];
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
  /** Rejected because demand at the airport is frozen. */
  frozen?: true;
}

export interface CaseState extends ManifestPatches, Priorities, FromFeed {
  externalEventId: string;
  bodyHash: string;
  /** Hashes of other bodies that came under the same externalEventId; each is audited once. */
  otherBodies: string[];
  status: CaseStatus;
  source: "PARTNER" | "MANUAL" | "FEED";
  /** Set: nobody is stranded. Everything runs as in a real night, and nothing of it leaves the house. */
  kind?: CaseKind;
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
  /** Rooms of each group's stay, one character a group (`roomsAt`): what overviews need of the groups, without reading them. */
  rooms: string;
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
  /** What of them is loosened for this case alone, in order. Absent: nothing. */
  relaxations?: Relaxation[];
  plannedAt?: Date;
  demands: Demand[];
  waveId?: string;
  /** Allocated groups that wait for book-rooms. */
  toBook?: ToBook[];
  /** What the newest book-rooms has set going: its answer, also when it is asked again. */
  lastBooking?: { commandId: string; groups: string[] };
  /** Groups whose hotel has not the dates that they need: the next wave seeks another one for them. */
  toReplace?: string[];
  /** The step that the case waits for, and when it asks again. */
  awaiting?: {
    step: "provisioning" | "planning" | "batch" | "wave";
    dueAt: Date;
    waveId?: string;
    demandId?: string;
    /** As they were when the wave was asked for: a group that has gone on since is not this wave's any more. */
    rounds?: string;
    /** Groups that have a room and are to be placed anew all the same. */
    again?: string[];
    /** Set: the wave is run about this item. */
    review?: WaveReview;
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
  | {
      type: "demand.rejected";
      data: { demandId: string; at: Date; by: string; reason: string; frozen?: true };
    }
  | { type: "demand.settled"; data: { demandId: string; state: "FULFILLED" | "PARTIAL"; lacking: string[] } }
  | { type: "case.batch-awaited"; data: { demandId: string; dueAt: Date } }
  | { type: "case.batch-ended"; data: Record<string, never> }
  | {
      type: "case.wave-requested";
      data: {
        waveId: string;
        demandId: string;
        dueAt: Date;
        progress: string;
        again?: string[];
        review?: WaveReview;
      };
    }
  /** `unmoved`: groups for which another hotel was to be found, and none was. */
  | {
      type: "case.wave-noted";
      data: { waveId: string; progress: string; toBook: string[]; unmoved?: string[] };
    }
  | BookingEvent
  | DetectedEvent
  | RegroupEvent
  | ManifestPatchEvent
  | PriorityEvent
  | ReaccommodateEvent
  | RelaxEvent
  | {
      type: "case.group-noted";
      data: { groupId: string; progress: string; rounds: string; housed: string[] };
    }
  | { type: "case.review-noted"; data: ReviewNoted }
  | { type: "case.groups-stranded"; data: { progress: string; groups: string[]; occurrence: string } }
  | { type: "case.resolved"; data: { at: Date } }
  | { type: "case.closed"; data: { at: Date; by: string; reason: string } }
  | { type: "case.reopened"; data: { at: Date; closedAt: Date; by: string; reason: string; dueAt: Date } };

/** Events that record work under way rather than a change that a reader of the case should be told of. */
export const technicalEvents: ReadonlySet<string> = new Set<CaseEvent["type"]>([
  "case.repeated-differently",
  "case.chunk-provisioned",
  "case.step-reissued",
  "case.prediction-noted",
  "case.taken-in-hand",
]);

const withDemand = (state: CaseState, demandId: string, change: Partial<Demand>): CaseState => ({
  ...state,
  demands: state.demands.map((demand) => (demand.demandId === demandId ? { ...demand, ...change } : demand)),
});

const without = <T extends object, K extends keyof T>(state: T, key: K): T => {
  const { [key]: _, ...rest } = state;
  return rest as T;
};

const waitingIn = (groups: readonly GroupHead[], progress: string): ReadonlySet<string> =>
  new Set(groups.flatMap(({ groupId }, i) => (progress[i] === "W" ? [groupId] : [])));

/** Who was on a desk, and who is there now that groups are held or have failed. */
const heldIn = ({ groups, progress, onDesk }: CaseState): string[] => {
  const held = groups.flatMap(({ groupId }, i) => ("HF".includes(progress[i] ?? "") ? [groupId] : []));
  return held.length === 0 ? onDesk : [...new Set([...onDesk, ...held])];
};

export const evolve = (before: CaseState | undefined, event: CaseEvent): CaseState => {
  if (event.type === "case.registered") return event.data;
  const state = before as CaseState;
  if (isDetected(event)) return evolveDetected(state, event);
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
      const planned = { ...withGroups(state, groups), plannedAt: at, policies, progress, status };
      return without({ ...planned, onDesk: heldIn(planned) }, "awaiting");
    }
    case "case.replanned": {
      const { policies, stays, progress } = event.data;
      const groups = state.groups.map((group, i) =>
        stays[i] === undefined ? group : { ...group, stay: stays[i] },
      );
      return { ...withGroups(state, groups), policies, progress };
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
      const { demandId, at, by, reason, frozen } = event.data;
      const rejected = { state: "REJECTED", decidedAt: at, decidedBy: by, reason } as const;
      return withDemand(state, demandId, frozen ? { ...rejected, frozen } : rejected);
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
        toBook: stillToBook(state.toBook, waitingIn(state.groups, progress)),
        awaiting: { step: "wave", ...awaited, rounds: state.rounds },
      };
    }
    case "case.batch-ended":
      return without(state, "awaiting");
    case "case.wave-noted": {
      const { progress, waveId, toBook } = event.data;
      const again = new Set(state.awaiting?.again);
      const noted = {
        ...state,
        progress,
        toBook: alsoToBook(state.toBook, toBook, waveId),
        ...toReplaceWithout(state, again),
      };
      return without({ ...noted, onDesk: heldIn(noted) }, "awaiting");
    }
    case "case.group-noted": {
      const { progress, rounds, housed, groupId } = event.data;
      const toBook = stillToBook(state.toBook, new Set([groupId]));
      const noted = { ...state, progress, rounds, toBook };
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
      return without({ ...state, status: "CLOSED", closedAt: event.data.at }, "flightClaim");
    case "case.reopened": {
      const { awaiting, ...open } = without(state, "closedAt");
      const { dueAt: soon } = event.data;
      // A batch keeps its beat. A wave that came while the case was closed was not taken: the next command asks for another.
      const dueAt = awaiting !== undefined && awaiting.dueAt > soon ? awaiting.dueAt : soon;
      const again =
        awaiting === undefined || awaiting.step === "wave" ? {} : { awaiting: { ...awaiting, dueAt } };
      return { ...open, status: "OPEN", ...again };
    }
    case "case.policy-relaxed":
      return { ...state, relaxations: [...(state.relaxations ?? []), event.data] };
    case "case.policies-renewed":
    case "case.booking-requested":
    case "case.override-noted":
      return evolveBooking(state, event);
    case "case.reaccommodated":
    case "case.replacement-asked":
      return evolveReaccommodated(state, event);
    case "case.priority-requested":
      return evolvePriority(state, event);
    case "case.regrouped":
    case "case.manifest-amended": {
      const changed =
        event.type === "case.regrouped" ? evolveRegroup(state, event) : evolveManifestPatch(state, event);
      return { ...changed, onDesk: heldIn(changed) };
    }
    default:
      return event satisfies never;
  }
};
