/** Owns the rules of creating, patching and activating policies, and of taking them out of force. */
import { airport as airportOf } from "../../schemas/airports.ts";
import { mergePatch } from "../../schemas/merge-patch.ts";
import { PolicyBody } from "../../schemas/policy.ts";
import { Problem } from "../../schemas/problems.ts";
import type { Received } from "../runtime/decider.ts";
import { checkedBy } from "../runtime/input.ts";
import { requireAirport } from "../runtime/reach.ts";
import {
  type ContextEvent,
  type ContextState,
  contextKeyOf,
  type PolicyEvent,
  type PolicyState,
  type SynthesizedDraft,
  statusIn,
} from "./state.ts";

export const policyCommands = ["create", "keep-draft", "patch", "fix-context"] as const;

/** @throws Problem validation/body for what makes no whole policy; not-found/resource, conflict/state, auth/foreign-airport */
export const decidePolicy = (state: PolicyState | undefined, command: Received): PolicyEvent[] => {
  if (isCreation(command)) return state === undefined ? created(command) : [];
  if (state === undefined) throw noSuchPolicy();
  checkAirport(state.body, command);
  if (command.name === "policy.patch") return patch(state, command);
  return state.contextFixedAt === undefined
    ? [{ type: "policy.context-fixed", data: { at: command.now } }]
    : [];
};

/** Of what a person has written, or of what was made from a prompt; `keep-draft` is the actor's own. */
export const isCreation = ({ name }: Pick<Received, "name">): boolean =>
  name === "policy.create" || name === "policy.synthesize";

const created = (command: Received): PolicyEvent[] => {
  const { provenance, unclear, body } = createdFrom(command);
  checkAirport(body, command);
  return [
    {
      type: "policy.created",
      data: {
        body,
        contextKey: contextKeyOf(body),
        createdAt: command.now,
        createdBy: command.principal.urn,
        creation: command.id,
        ...(provenance === undefined ? {} : { provenance }),
        ...(unclear === undefined ? {} : { unclear }),
      },
    },
  ];
};

const createdFrom = ({ name, data }: Received): Pick<PolicyState, "body" | "provenance" | "unclear"> => {
  if (name === "policy.synthesize") return data as SynthesizedDraft;
  const { reason: _, ...body } = data as PolicyBody & { reason?: string };
  return { body };
};

/** Every patch is a version of its own, also one that says what stands already: of two that have seen the same one wins. */
const patch = (state: PolicyState, command: Received): PolicyEvent[] => {
  const { reason: _r, version: _v, fencingToken: _f, ...change } = command.data as Record<string, unknown>;
  const body = mergePatch(state.body, change);
  checkWhole(body);
  checkAirport(body, command);
  const contextKey = contextKeyOf(body);
  if (contextKey !== state.contextKey && state.contextFixedAt !== undefined) {
    throw new Problem(
      "conflict/state",
      "The policy has been in force: its airport, airline and tiers stay as they are. Create another policy for other ones.",
      { state: "CONTEXT_FIXED" },
    );
  }
  return [{ type: "policy.patched", data: { body, contextKey } }];
};

const checkWhole = checkedBy(PolicyBody, "With this patch the policy would not be whole.");

const noSuchPolicy = (): Problem => new Problem("not-found/resource", "No such policy.");

/** An operator scoped to one airport makes and changes policies of that airport alone. */
const checkAirport = ({ context }: PolicyBody, { principal }: Received): void => {
  const { airport } = context;
  if (airport !== undefined && airportOf(airport) === undefined) {
    const errors = [{ pointer: "/context/airport", detail: `${airport} is not a known IATA airport code` }];
    throw new Problem("validation/body", "An airport code is not known.", { errors });
  }
  requireAirport(principal, airport ?? "every airport");
};

/** A policy as it stood when a change of the pointer was decided. */
export interface PolicyAsRead {
  policyId: string;
  policy: PolicyState;
  version: number;
}

/** What a change of the pointer is decided by: the policy that is spoken of, and the one in force until now. */
export interface Spoken {
  named: PolicyAsRead | undefined;
  standing: PolicyAsRead | undefined;
}

/** @throws Problem not-found/resource when the policy doesn't exist; conflict/state; auth/foreign-airport */
export const decideContext = (
  state: ContextState | undefined,
  command: Received,
  gathered: unknown,
): ContextEvent[] => {
  const { named } = gathered as Spoken;
  if (named === undefined) throw noSuchPolicy();
  const { policyId, policy, version } = named;
  checkAirport(policy.body, command);
  const status = statusIn(state, policyId);
  const isActivation = command.name === "policy.activate";
  if ((status === "ACTIVE") === isActivation) {
    const detail = isActivation ? "The policy is ACTIVE already." : `The policy is ${status}, not ACTIVE.`;
    throw new Problem("conflict/state", detail, { state: status, version });
  }
  if (!isActivation) return [{ type: "policy.deactivated", data: { policyId } }];
  return [
    {
      type: "policy.activated",
      data: {
        contextKey: policy.contextKey,
        ...(policy.body.context.airport === undefined ? {} : { airport: policy.body.context.airport }),
        tiers: policy.body.tiers,
        policyId,
        at: command.now,
        from: status === "ARCHIVED" ? "ARCHIVED" : "DRAFT",
        ...(state?.activePolicyId === undefined ? {} : { replaced: state.activePolicyId }),
      },
    },
  ];
};
