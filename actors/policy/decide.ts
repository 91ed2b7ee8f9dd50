/** Owns the rules of creating and activating policies. */
import { airport as airportOf } from "../../schemas/airports.ts";
import type { PolicyBody } from "../../schemas/policy.ts";
import { Problem } from "../../schemas/problems.ts";
import type { Received } from "../runtime/decider.ts";
import { requireAirport } from "../runtime/reach.ts";
import {
  type ContextEvent,
  type ContextState,
  contextKeyOf,
  type PolicyEvent,
  type PolicyState,
} from "./state.ts";

/** @throws Problem validation/body for an airport that nobody knows; auth/foreign-airport */
export const decidePolicy = (state: PolicyState | undefined, command: Received): PolicyEvent[] => {
  if (state !== undefined) return [];
  const body = command.data as PolicyBody;
  checkAirport(body, command);
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

/** An operator scoped to one airport makes and activates policies of that airport alone. */
const checkAirport = ({ context }: PolicyBody, { principal }: Received): void => {
  const { airport } = context;
  if (airport !== undefined && airportOf(airport) === undefined) {
    const errors = [{ pointer: "/context/airport", detail: `${airport} is not a known IATA airport code` }];
    throw new Problem("validation/body", "An airport code is not known.", { errors });
  }
  requireAirport(principal, airport ?? "every airport");
};

/** What an activation decides by: the policy that is to be in force. */
export interface Candidate {
  policyId: string;
  policy: PolicyState;
}

/** @throws Problem not-found/resource when the policy doesn't exist; auth/foreign-airport */
export const decideContext = (
  state: ContextState | undefined,
  command: Received,
  gathered: unknown,
): ContextEvent[] => {
  const candidate = gathered as Candidate | undefined;
  if (candidate === undefined) throw new Problem("not-found/resource", "No such policy.");
  const { policyId, policy } = candidate;
  checkAirport(policy.body, command);
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
        from: state?.archived.includes(policyId) ? "ARCHIVED" : "DRAFT",
        ...(state?.activePolicyId === undefined ? {} : { replaced: state.activePolicyId }),
      },
    },
  ];
};
