/** Owns what a policy and a policy context are, and how their events change them. */
import type { PolicyBody, PolicyProvenance, UnclearPoint } from "../../schemas/policy.ts";
import { idOf } from "../../schemas/urn.ts";
import type { PolicyStatus } from "../../schemas/vocabulary.ts";

/** A policy's text. Whether it is in force stands in its context alone. */
export interface PolicyState {
  body: PolicyBody;
  contextKey: string;
  createdAt: Date;
  createdBy: string;
  /** The command that made it: it comes again after a crash, and is the same creation. */
  creation: string;
  /** Since it was first to come into force its context is for good: a pointer elsewhere goes by it. */
  contextFixedAt?: Date;
  /** Of a draft made from a prompt: how it came about, and what the prompt left open. */
  provenance?: PolicyProvenance;
  unclear?: UnclearPoint[];
}

/** The data of `keep-draft`. */
export type SynthesizedDraft = Required<Pick<PolicyState, "body" | "provenance" | "unclear">>;

export type PolicyEvent =
  | { type: "policy.created"; data: PolicyState }
  | { type: "policy.patched"; data: { body: PolicyBody; contextKey: string } }
  | { type: "policy.context-fixed"; data: { at: Date } };

/** No change of the policy's text. */
export const technicalPolicyEvents: ReadonlySet<string> = new Set<PolicyEvent["type"]>([
  "policy.context-fixed",
]);

export const evolvePolicy = (before: PolicyState | undefined, event: PolicyEvent): PolicyState => {
  if (event.type === "policy.created") return event.data;
  const state = before as PolicyState;
  switch (event.type) {
    case "policy.patched":
      return { ...state, ...event.data };
    case "policy.context-fixed":
      return { ...state, contextFixedAt: event.data.at };
    default:
      return event satisfies never;
  }
};

/**
 * One airport, airline and tier set of one tenant: the pointer that says which policy is in force. Activating one
 * and archiving its predecessor is therefore one write.
 */
export interface ContextState {
  contextKey: string;
  airport?: string;
  tiers: string[];
  activePolicyId?: string;
  activatedAt?: Date;
  /** Policies that were in force once and aren't now. */
  archived: string[];
}

export type ContextEvent =
  | {
      type: "policy.activated";
      data: {
        contextKey: string;
        airport?: string;
        tiers: string[];
        policyId: string;
        at: Date;
        /** What it was until now; ARCHIVED is a way back. */
        from: "DRAFT" | "ARCHIVED";
        /** The policy that it takes the place of. */
        replaced?: string;
      };
    }
  | { type: "policy.deactivated"; data: { policyId: string } };

export const evolveContext = (state: ContextState | undefined, event: ContextEvent): ContextState => {
  const { policyId } = event.data;
  if (event.type === "policy.deactivated") {
    const { activePolicyId: _, activatedAt: __, ...rest } = state as ContextState;
    return { ...rest, archived: [...rest.archived.filter((id) => id !== policyId), policyId] };
  }
  const { contextKey, airport, tiers, at } = event.data;
  const before = state?.activePolicyId === undefined ? [] : [state.activePolicyId];
  const archived = [...(state?.archived ?? []), ...before].filter(
    (id, i, all) => id !== policyId && all.indexOf(id) === i,
  );
  return {
    contextKey,
    ...(airport === undefined ? {} : { airport }),
    tiers,
    activePolicyId: policyId,
    activatedAt: at,
    archived,
  };
};

/** What a policy is by its context; one that was never in force is a DRAFT. */
export const statusIn = (
  context: Pick<ContextState, "activePolicyId" | "archived"> | undefined,
  policyId: string,
): PolicyStatus =>
  context?.activePolicyId === policyId
    ? "ACTIVE"
    : context?.archived.includes(policyId)
      ? "ARCHIVED"
      : "DRAFT";

/** The same for every order of tiers. `*` stands for a context that names no airport or airline. */
export const contextKeyOf = ({ context, tiers }: Pick<PolicyBody, "context" | "tiers">): string =>
  [
    context.airport ?? "*",
    context.airline === undefined ? "*" : idOf(context.airline),
    [...tiers].sort().join("+"),
  ].join("|");
