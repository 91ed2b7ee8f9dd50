/** Wires the policy actor: two kinds of documents, a policy's text and the pointer that puts it in force. */
import { Problem } from "../../schemas/problems.ts";
import { urn } from "../../schemas/urn.ts";
import type { PolicyStatus } from "../../schemas/vocabulary.ts";
import { freshId } from "../runtime/clock.ts";
import type { Decider, Outgoing, Received } from "../runtime/decider.ts";
import type { Actor, ActorContext, CommandFunction } from "../runtime/host.ts";
import { requireAirport } from "../runtime/reach.ts";
import {
  decideContext,
  decidePolicy,
  isCreation,
  type PolicyAsRead,
  policyCommands,
  type Spoken,
} from "./decide.ts";
import { contextIndexes, loadPolicy, policyQueries, statusOf } from "./queries.ts";
import {
  type ContextEvent,
  type ContextState,
  evolveContext,
  evolvePolicy,
  type PolicyEvent,
  type PolicyState,
  technicalPolicyEvents,
} from "./state.ts";
import { synthesize } from "./synthesis/synthesize.ts";
import { policyView } from "./view.ts";

const policies: Decider<PolicyState, PolicyEvent> = {
  actor: "policy",
  kind: "policy",
  collection: "policies",
  schemaVersion: 1,
  commands: policyCommands,
  indexes: [{ name: "creation", key: { creation: 1 }, unique: true, sparse: true }],
  decide: decidePolicy,
  evolve: evolvePolicy,
  technical: technicalPolicyEvents,
  locate: ({ id }) => ({ creation: id }),
  create: ({ name, tenant, now }) => (isCreation({ name }) ? freshId(tenant, now) : undefined),
  view: (state, { id, version }) => policyView(id, state, version, "DRAFT"),
  audit: ({ command, before, after, events }) =>
    events.some(({ type }) => type === "policy.context-fixed")
      ? null
      : {
          action: command.name,
          ...airportOf(after),
          before: before?.body ?? null,
          after: after.body,
        },
};

/** What a trail of one airport tells of; a policy for all airports is in none. */
const airportOf = ({ body }: PolicyState): { airport?: string } =>
  body.context.airport === undefined ? {} : { airport: body.context.airport };

const contexts = (context: ActorContext): Decider<ContextState, WithTexts> => ({
  actor: "policy",
  kind: "policy",
  collection: "policyContexts",
  schemaVersion: 1,
  commands: ["move-pointer"],
  indexes: contextIndexes,
  decide: (state, command, gathered) =>
    decideContext(state, command, gathered).map((event) => ({ ...event, texts: gathered as Spoken })),
  evolve: evolveContext,
  locate: ({ data }) => ({ contextKey: (data as { contextKey: string }).contextKey }),
  create: ({ tenant, now }) => freshId(tenant, now),
  gather: async ({ tenant, data }, state): Promise<Spoken> => {
    const documents = context.documents.tenant(tenant);
    const [named, standing] = await Promise.all([
      loadPolicy(documents, (data as { policyId: string }).policyId),
      state?.activePolicyId === undefined ? undefined : loadPolicy(documents, state.activePolicyId),
    ]);
    return { named, standing };
  },
  outgoing: (event, _state, command) => auditedPolicies(event, command),
  view: (state) => state,
  audit: () => null,
});

/** What rides beside an event of a context: the texts that its trail shows. */
type WithTexts = ContextEvent & { texts: Spoken };

/**
 * The trail of each policy whose status changes, with its text (contract, "Policy": before/after snapshot). The runtime's own
 * entry would stand under the context, which no client knows.
 */
const auditedPolicies = (event: WithTexts, command: Received): Outgoing[] => {
  const { texts } = event;
  const { principal } = command;
  const { reason } = command.data as { reason?: string };
  const snapshot = (status: PolicyStatus, read: PolicyAsRead | undefined) => ({
    status,
    ...(read === undefined ? {} : { version: read.version, ...read.policy.body }),
  });
  const entry = (
    policyId: string,
    action: string,
    read: PolicyAsRead | undefined,
    [before, after]: [PolicyStatus, PolicyStatus],
  ): Outgoing => ({
    to: "internal",
    type: "audit.recorded",
    id: policyId,
    data: {
      entityUrn: urn("policy", policyId),
      action,
      principal: principal.urn,
      surface: principal.surface,
      role: principal.role,
      ...(read === undefined ? {} : airportOf(read.policy)),
      reason,
      before: snapshot(before, read),
      after: snapshot(after, read),
    },
  });
  if (event.type === "policy.deactivated")
    return [entry(event.data.policyId, "policy.deactivate", texts.named, ["ACTIVE", "ARCHIVED"])];
  const { policyId, from, replaced } = event.data;
  const activated = entry(policyId, "policy.activate", texts.named, [from, "ACTIVE"]);
  if (replaced === undefined) return [activated];
  return [activated, entry(replaced, "policy.archive", texts.standing, ["ACTIVE", "ARCHIVED"])];
};

export const policyActor = (context: ActorContext): Actor => {
  const read = async (tenant: string, policyId: string): Promise<PolicyAsRead> => {
    const found = await loadPolicy(context.documents.tenant(tenant), policyId);
    if (found === undefined) throw new Problem("not-found/resource", "No such policy.");
    return found;
  };

  /** It addresses the policy; what changes is the pointer of the policy's context, which is fixed before. */
  const move: CommandFunction = async (command, dispatch) => {
    const { tenant, entity: policyId } = command;
    const { expectedVersion, ...rest } = command;
    const seen = await read(tenant, policyId);
    // Before the version: who is scoped to another airport is told nothing of it.
    requireAirport(command.principal, seen.policy.body.context.airport ?? "every airport");
    if (expectedVersion !== undefined && expectedVersion !== seen.version) {
      const { version } = seen;
      throw new Problem("conflict/version", `The policy is at version ${version}.`, { version });
    }
    if (command.name === "policy.activate") await dispatch("fix-context", command);
    // A patch may have come between: what is answered is one text with its own version.
    const { policy, version } = await read(tenant, policyId);
    await dispatch("move-pointer", {
      ...rest,
      entity: "",
      data: { ...(command.data as object), policyId, contextKey: policy.contextKey },
    });
    const status = command.name === "policy.activate" ? "ACTIVE" : "ARCHIVED";
    return { ok: policyView(policyId, policy, version, status), version };
  };

  /** The text knows nothing of its status. */
  const patch: CommandFunction = async (command, dispatch) => {
    const reply = await dispatch("patch", command);
    if ("problem" in reply) return reply;
    const shown = reply.ok as ReturnType<typeof policyView>;
    const status = await statusOf(context.documents.tenant(command.tenant), command.entity, shown);
    return { ...reply, ok: { ...shown, status } };
  };

  return {
    name: "policy",
    deciders: [policies, contexts(context)],
    queries: policyQueries(context),
    commands: {
      activate: move,
      deactivate: move,
      patch,
      synthesize: synthesize(context),
    },
  };
};
