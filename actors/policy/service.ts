/** Wires the policy actor: two kinds of documents, a policy's text and the pointer that puts it in force. */
import { Problem } from "../../schemas/problems.ts";
import { urn } from "../../schemas/urn.ts";
import type { PolicyStatus } from "../../schemas/vocabulary.ts";
import { freshId } from "../runtime/clock.ts";
import type { Decider, Outgoing, Received } from "../runtime/decider.ts";
import type { Actor, ActorContext, CommandFunction } from "../runtime/host.ts";
import { type Candidate, decideContext, decidePolicy } from "./decide.ts";
import { contextIndexes, loadPolicy, policyQueries } from "./queries.ts";
import {
  type ContextEvent,
  type ContextState,
  evolveContext,
  evolvePolicy,
  type PolicyEvent,
  type PolicyState,
} from "./state.ts";
import { policyView } from "./view.ts";

const policies: Decider<PolicyState, PolicyEvent> = {
  actor: "policy",
  kind: "policy",
  collection: "policies",
  schemaVersion: 1,
  commands: ["create"],
  indexes: [],
  decide: decidePolicy,
  evolve: evolvePolicy,
  create: ({ tenant, now }) => freshId(tenant, now),
  view: (state, { id, version }) => policyView(id, state, version, "DRAFT"),
  audit: ({ before, after }) => ({
    action: "policy.create",
    before: before?.body ?? null,
    after: after.body,
  }),
};

const contexts = (context: ActorContext): Decider<ContextState, ContextEvent> => {
  const gather = async (tenant: string, policyId: string): Promise<Candidate | undefined> => {
    const found = await loadPolicy(context.documents.tenant(tenant), policyId);
    return found === undefined ? undefined : { policyId, policy: found.policy };
  };
  return {
    actor: "policy",
    kind: "policy",
    collection: "policyContexts",
    schemaVersion: 1,
    commands: ["put-in-force"],
    indexes: contextIndexes,
    decide: decideContext,
    evolve: evolveContext,
    locate: ({ data }) => ({ contextKey: (data as { contextKey: string }).contextKey }),
    create: ({ tenant, now }) => freshId(tenant, now),
    gather: ({ tenant, data }) => gather(tenant, (data as { policyId: string }).policyId),
    outgoing: auditedPolicies,
    view: (state) => state,
    audit: () => null,
  };
};

/**
 * The trail of each policy whose status the activation changes (contract, "Policy"). The runtime's own entry would stand
 * under the context, which no client knows.
 */
const auditedPolicies = ({ data }: ContextEvent, _state: ContextState, command: Received): Outgoing[] => {
  const { principal } = command;
  const { reason } = command.data as { reason?: string };
  const entry = (policyId: string, action: string, before: PolicyStatus, after: PolicyStatus): Outgoing => ({
    to: "internal",
    type: "audit.recorded",
    id: policyId,
    data: {
      entityUrn: urn("policy", policyId),
      action,
      principal: principal.urn,
      surface: principal.surface,
      role: principal.role,
      reason,
      before: { status: before },
      after: { status: after },
    },
  });
  const activated = entry(data.policyId, "policy.activate", data.from, "ACTIVE");
  if (data.replaced === undefined) return [activated];
  return [activated, entry(data.replaced, "policy.archive", "ACTIVE", "ARCHIVED")];
};

export const policyActor = (context: ActorContext): Actor => {
  const byContext = contexts(context);

  /** An activation addresses the policy; what changes is the pointer of the policy's context. */
  const activate: CommandFunction = async (command, dispatch) => {
    const policyId = command.entity;
    const found = await loadPolicy(context.documents.tenant(command.tenant), policyId);
    if (found === undefined) throw new Problem("not-found/resource", "No such policy.");
    const { expectedVersion, ...rest } = command;
    if (expectedVersion !== undefined && expectedVersion !== found.version) {
      throw new Problem("conflict/version", `The policy is at version ${found.version}.`, {
        version: found.version,
      });
    }
    const { contextKey } = found.policy;
    await dispatch("put-in-force", {
      ...rest,
      entity: "",
      data: { ...(command.data as object), policyId, contextKey },
    });
    return { ok: policyView(policyId, found.policy, found.version, "ACTIVE"), version: found.version };
  };

  return {
    name: "policy",
    deciders: [policies, byContext],
    queries: policyQueries(context),
    commands: { activate },
  };
};
