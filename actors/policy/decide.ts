/** Owns the rules of creating and activating policies. */
import type { PolicyBody } from "../../schemas/policy.ts";
import { Problem } from "../../schemas/problems.ts";
import type { Received } from "../runtime/decider.ts";
import {
  type ContextEvent,
  type ContextState,
  contextKeyOf,
  type PolicyEvent,
  type PolicyState,
} from "./state.ts";

export const decidePolicy = (state: PolicyState | undefined, command: Received): PolicyEvent[] => {
  if (state !== undefined) return [];
  const body = command.data as PolicyBody;
  return [
    {
      type: "policy.created",
      data: {
        body,
        contextKey: contextKeyOf(body),
        createdAt: command.now,
        createdBy: command.principal.urn,
      },
    },
  ];
};

/** What an activation decides by: the policy that is to be in force. */
export interface Candidate {
  policyId: string;
  policy: PolicyState;
}

/** @throws Problem not-found/resource when the policy doesn't exist */
export const decideContext = (
  state: ContextState | undefined,
  command: Received,
  gathered: unknown,
): ContextEvent[] => {
  const candidate = gathered as Candidate | undefined;
  if (candidate === undefined) throw new Problem("not-found/resource", "No such policy.");
  const { policyId, policy } = candidate;
  if (state?.activePolicyId === policyId) return [];
  return [
    {
      type: "policy.activated",
      data: {
        contextKey: policy.contextKey,
        ...(policy.body.context.airport === undefined ? {} : { airport: policy.body.context.airport }),
        tiers: policy.body.tiers,
        policyId,
        at: command.now,
      },
    },
  ];
};
