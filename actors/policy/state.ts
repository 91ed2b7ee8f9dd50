/** Owns what a policy and a policy context are, and how their events change them. */
import type { PolicyBody } from "../../schemas/policy.ts";
import { idOf } from "../../schemas/urn.ts";

/** A policy's text. Whether it is in force stands in its context alone. */
export interface PolicyState {
  body: PolicyBody;
  contextKey: string;
  createdAt: Date;
  createdBy: string;
}

export type PolicyEvent = { type: "policy.created"; data: PolicyState };

export const evolvePolicy = (_state: PolicyState | undefined, event: PolicyEvent): PolicyState => event.data;

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

export type ContextEvent = {
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
};

export const evolveContext = (state: ContextState | undefined, event: ContextEvent): ContextState => {
  const { contextKey, airport, tiers, policyId, at } = event.data;
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

/** The same for every order of tiers. `*` stands for a context that names no airport or airline. */
export const contextKeyOf = ({ context, tiers }: Pick<PolicyBody, "context" | "tiers">): string =>
  [
    context.airport ?? "*",
    context.airline === undefined ? "*" : idOf(context.airline),
    [...tiers].sort().join("+"),
  ].join("|");
