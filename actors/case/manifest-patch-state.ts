/** Owns what a case keeps of amendments of its manifest: what each brought, and a next flight that waits to be applied. */
import type { CorrectionEffect } from "../../schemas/partner-manifest.ts";
import { withGroups } from "./group-rooms.ts";
import { evolveRegroup, type RegroupEvent } from "./regroup-state.ts";
import type { CaseState } from "./state.ts";

/** The answer to one patch, kept for its repeats. */
export interface Amendment {
  commandId: string;
  decidedAt: Date;
  passengersAdded: number;
  passengersKnown: number;
  groupsAdded: number;
  groupsJoined: number;
  nextFlight?: CorrectionEffect;
}

export interface ManifestPatches {
  /** What the case was called when its first passengers came, if it is called otherwise now: who has no booking reference is known by it. */
  seededBy?: string;
  /** The newest ones, in order of their coming. Absent: none. */
  amendments?: Amendment[];
  /** When the next flight was decided that stands, or is about to. Absent: with the disruption. */
  nextFlightDecidedAt?: Date;
  /**
   * URNs of who came by an amendment and has not been seen in a group since: their sub-cases are about to hear of them. Absent:
   * nobody.
   */
  arriving?: string[];
  /** Set: to be applied once the provisioning or allocation under way has ended. */
  pendingNextFlight?: { number: string; scheduledDeparture: Date };
}

export interface ManifestPatchEvent {
  type: "case.manifest-amended";
  data: {
    amendment: Amendment;
    /** Groups that are new, or have more passengers. Absent: nobody is new. */
    groups?: RegroupEvent["data"];
    /** As it is with them. Absent: nobody. */
    arriving?: string[];
    /** Set: the next flight that stands was decided then. */
    flightDecidedAt?: Date;
    pending?: NonNullable<ManifestPatches["pendingNextFlight"]>;
    /** Set: the case had nobody yet, and its provisioning begins. */
    provisionDueAt?: Date;
    /** Set: it came as a push, which names the event. */
    naming?: Pick<CaseState, "externalEventId" | "bodyHash">;
  };
}

const amendmentsMax = 8;

/** By what name those of a patch who have no booking reference are known again. */
export const seedOf = ({ seededBy, externalEventId }: Pick<CaseState, "seededBy" | "externalEventId">) =>
  seededBy ?? externalEventId;

export const evolveManifestPatch = (state: CaseState, { data }: ManifestPatchEvent): CaseState => {
  const { amendment, groups, arriving, flightDecidedAt, pending, provisionDueAt, naming } = data;
  const { arriving: _, ...grown } = groups === undefined ? state : withNewcomers(state, groups);
  return {
    ...grown,
    ...(arriving === undefined ? {} : { arriving }),
    amendments: [...(state.amendments ?? []), amendment].slice(-amendmentsMax),
    ...(flightDecidedAt === undefined ? {} : { nextFlightDecidedAt: flightDecidedAt }),
    ...(pending === undefined ? {} : { pendingNextFlight: pending }),
    ...(provisionDueAt === undefined
      ? {}
      : { awaiting: { step: "provisioning" as const, dueAt: provisionDueAt } }),
    ...(naming === undefined || state.detection === undefined
      ? {}
      : {
          ...{ externalEventId: naming.externalEventId, bodyHash: naming.bodyHash },
          seededBy: seedOf(state),
          detection: { ...state.detection, isPushed: true as const },
        }),
  };
};

/** While the case still provisions its groups the new ones go with the chunks that are left. */
const withNewcomers = (state: CaseState, data: RegroupEvent["data"]): CaseState => {
  if (state.provisionedAt !== undefined) return evolveRegroup(state, { type: "case.regrouped", data });
  const made = data.shaped;
  return {
    ...withGroups(state, [...state.groups, ...made.map(({ head }) => head)]),
    progress: state.progress + "W".repeat(made.length),
    rounds: state.rounds + "0".repeat(made.length),
    manifest: [
      ...state.manifest,
      ...made.map(({ head: { groupId, tier, missing }, passengers }) => ({
        groupId,
        tier,
        missing,
        passengers,
      })),
    ],
  };
};
