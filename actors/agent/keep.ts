/** Owns what is kept of a triage: its agent actions, and the record that the item's recommendations and the answer come from. */
import type { Document } from "mongodb";
import type { TriageBody, TriageView } from "../../schemas/agent.ts";
import type { Command, Reply } from "../../schemas/command.ts";
import { Problem } from "../../schemas/problems.ts";
import type { ReviewItemView } from "../../schemas/review.ts";
import { idOf, urn } from "../../schemas/urn.ts";
import { causedId } from "../runtime/clock.ts";
import type { ActorContext, Dispatch } from "../runtime/host.ts";
import { isHandled, loadedOf } from "../runtime/store.ts";
import type { Proposed } from "./action-state.ts";
import type { Admitted } from "./admit.ts";
import { agentActionIdOf, type Expiry } from "./decide.ts";
import type { Subject } from "./gather.ts";
import { actionsOf, isOpen, type KnownAction, roundOf, schemaVersion } from "./known-actions.ts";
import { readerFor } from "./reads.ts";
import type { TimeBox } from "./time-box.ts";
import type { Triage, TriageFound } from "./triage-state.ts";
import { actionView, recommendationOf } from "./view.ts";

export const triagesCollection = "agentTriages";
/** Contract, "Manual review item": the agent's top three. */
const recommendationsMax = 3;

/** What a triage has come to. */
export interface Found {
  subject: Subject;
  plan: Admitted;
  /** The item's actions before it. */
  former: KnownAction[];
  failures: TimeBox["failures"];
}

type Send = (verb: string, entity: string, data: unknown) => Promise<unknown>;

const recordId = ({ id }: Pick<Command, "id">): string => causedId(id, "record");

/** What this very command has recorded before, or what was recorded since. Undefined: it has recorded nothing yet. */
export const recordedBy = async (
  context: ActorContext,
  command: Command,
  reviewId: string,
): Promise<Triage | undefined> => {
  const found = await context.documents
    .tenant(command.tenant)
    .collection<Document>(triagesCollection)
    .findOne({ _id: reviewId as never });
  if (found === null) return undefined;
  const { meta, state } = loadedOf<Triage>(found, { schemaVersion });
  return isHandled(meta.handled, recordId(command), context.clock.now()) ? state : undefined;
};

/**
 * Actions first, then what they replace, the record last: whoever reads of an action finds it, and nothing is recommended that was
 * expired. An item that was resolved meanwhile may have told its actions so before these were there.
 * @throws Problem conflict/state for such an item
 */
export const keep = async (
  context: ActorContext,
  command: Command,
  dispatch: Dispatch,
  found: Found,
): Promise<TriageView> => {
  const { tenant } = command;
  const { item } = found.subject;
  const reviewId = idOf(item.urn);
  const send = senderFor(command, dispatch);
  const startedAt = context.clock.now();
  const proposed = proposedBy(found);
  for (const { id, data } of proposed) await send("propose", id, data);
  const ids = proposed.map(({ id }) => id);
  const standsNow = await readerFor(context, command)<ReviewItemView>("review.item", { reviewUrn: item.urn });
  if (standsNow.state === "RESOLVED") {
    const expiry = { detail: "Its review item was resolved.", at: context.clock.now().toISOString() };
    for (const id of ids) await send("expire", id, expiry);
    const { state, resolution } = standsNow;
    throw new Problem("conflict/state", `This item was resolved as ${resolution}.`, { state });
  }
  // Another process may have had the same command, and was first.
  const recorded = await recordedBy(context, command, reviewId);
  if (recorded !== undefined) return answerOf(context, tenant, item.urn, recorded);
  if (found.failures.length === 0) await expireOthers(found.former, new Set(ids), startedAt, send);
  const known = await actionsOf(context, tenant, reviewId);
  const triage = (await send("record-triage", reviewId, recordOf(command, found, ids, known))) as Triage;
  return answerOf(context, tenant, item.urn, triage);
};

const senderFor =
  (command: Command, dispatch: Dispatch): Send =>
  async (verb, entity, data) => {
    const id = verb === "record-triage" ? recordId(command) : causedId(command.id, verb, entity);
    const { expectedVersion: _v, fencingToken: _f, ...envelope } = command;
    const reply: Reply = await dispatch(verb, { ...envelope, id, name: `agent.${verb}`, entity, data });
    if ("problem" in reply) throw Problem.from(reply.problem);
    return reply.ok;
  };

const proposedBy = ({ subject, plan, former }: Found) => {
  const { item, airport } = subject;
  return plan.proposals.map(({ planner, ...proposal }) => {
    const reviewId = idOf(item.urn);
    const base = { reviewId, caseId: idOf(item.caseUrn), airport, cause: plan.cause, planner, proposal };
    const data: Proposed = { ...base, round: roundOf(former, base) };
    return { id: agentActionIdOf(data), data };
  });
};

/** What a whole look no longer proposes is not left to be approved; what a person has approved stays. */
const expireOthers = async (
  former: readonly KnownAction[],
  proposed: ReadonlySet<string>,
  startedAt: Date,
  send: Send,
): Promise<void> => {
  const detail = "A later triage does not propose it any more.";
  const data: Expiry = { detail, at: startedAt.toISOString(), proposedOnly: true };
  for (const { id, state } of former)
    if (state.status === "PROPOSED" && !proposed.has(id)) await send("expire", id, data);
};

/** @param known the item's actions as they stand now: what was decided on meanwhile is not recommended */
const recordOf = (
  command: Command,
  { subject: { item, airport }, plan, failures }: Found,
  proposed: readonly string[],
  known: readonly KnownAction[],
): TriageFound => {
  const open = new Map(known.filter(isOpen).map((action) => [action.id, action]));
  const made = proposed.flatMap((id) => open.get(id) ?? []);
  const recommended = failures.length === 0 ? made : [...made, ...earlier([...open.values()], made)];
  const { note } = command.data as TriageBody;
  return {
    caseId: idOf(item.caseUrn),
    airport,
    category: item.category,
    cause: plan.cause,
    confidence: plan.confidence,
    evidence: plan.evidence,
    planner: plan.planner,
    actionIds: made.map(({ id }) => id),
    recommendations: recommended
      .slice(0, recommendationsMax)
      .map(({ id, state }) => recommendationOf(id, state.proposal)),
    partialFailures: failures,
    ...(note === undefined ? {} : { note }),
  };
};

/** A look that was not whole says nothing against what was proposed before. */
const earlier = (open: readonly KnownAction[], made: readonly KnownAction[]): KnownAction[] =>
  open
    .filter((action) => !made.includes(action))
    .sort((a, b) => b.state.proposal.viability - a.state.proposal.viability || (a.id < b.id ? -1 : 1));

/** The record as its asker sees it, with its proposals as they stand now; what has ended meanwhile is left out. */
export const answerOf = async (
  context: ActorContext,
  tenant: string,
  reviewUrn: string,
  triage: Triage,
): Promise<TriageView> => {
  const known = await actionsOf(context, tenant, idOf(reviewUrn));
  const open = new Map(known.filter(isOpen).map((action) => [action.id, action]));
  const { category, cause, confidence, evidence, partialFailures, planner } = triage;
  return {
    reviewUrn,
    caseUrn: urn("case", triage.caseId),
    category,
    classification: { cause, confidence, evidence },
    proposals: triage.actionIds
      .flatMap((id) => open.get(id) ?? [])
      .map(({ id, state, version }) => actionView(id, state, version)),
    partialFailures,
    planner,
    triagedAt: triage.at.toISOString(),
  };
};
