/** Owns a triage from its question to its answer: facts, plan, agent actions, and the record that the item's recommendations come from. */
import type { Document } from "mongodb";
import type { AgentActionView, TriageBody, TriageView } from "../../schemas/agent.ts";
import type { Command } from "../../schemas/command.ts";
import { Problem } from "../../schemas/problems.ts";
import { idOf, urn } from "../../schemas/urn.ts";
import { causedId } from "../runtime/clock.ts";
import type { ActorContext, CommandFunction, Dispatch } from "../runtime/host.ts";
import { isHandled, loadedOf } from "../runtime/store.ts";
import type { AgentAction, Proposed } from "./action-state.ts";
import { type Admitted, admit, type Proposal } from "./admit.ts";
import { agentActionIdOf, type Expiry } from "./decide.ts";
import type { Facts, FormerProposal } from "./facts.ts";
import { gatherFacts, type Subject, standing, subjectOf } from "./gather.ts";
import { draftsMax, type Planner } from "./planner.ts";
import { readerFor } from "./reads.ts";
import { openTimeBox, type TimeBox } from "./time-box.ts";
import type { TriageFound } from "./triage-state.ts";
import { recommendationOf } from "./view.ts";

/** Contract, "Manual review item": the agent's top three. */
const proposalsMax = 3;
/** All that is read and planned for a triage (contract, "Composition sub-call timeout"). */
const triageMs = 3000;

export const actionsCollection = "agentActions";
export const triagesCollection = "agentTriages";
export const schemaVersion = 1;

interface Found {
  subject: Subject;
  plan: Admitted;
  former: KnownAction[];
  failures: TimeBox["failures"];
}

interface KnownAction {
  id: string;
  state: AgentAction;
}

/** `agent.triage`: asked for by an operator, or by an item that has come to the desks. */
export const triage = (context: ActorContext, planner: Planner): CommandFunction => {
  return async (command, dispatch) => {
    const isAsked = command.principal.surface !== "system";
    if (!isAsked && (await isDone(context, command))) return { ok: null };
    const found = await findings(context, planner, command, isAsked);
    if (found === undefined) return { ok: null };
    const answer = await keep(command, dispatch, {
      ...found,
      planner: planner.name,
      now: context.clock.now(),
    });
    return { ok: answer };
  };
};

const recordId = ({ id }: Pick<Command, "id">): string => causedId(id, "record");

/** An item's opening may be told more than once. */
const isDone = async (context: ActorContext, command: Command): Promise<boolean> => {
  const { reviewUrn = "" } = command.data as TriageBody;
  const found = await context.documents
    .tenant(command.tenant)
    .collection<Document>(triagesCollection)
    .findOne({ _id: idOf(reviewUrn) as never });
  if (found === null) return false;
  const { meta } = loadedOf<object>(found, { schemaVersion });
  return isHandled(meta.handled, recordId(command), context.clock.now());
};

/** Undefined: it failed, and nobody has asked. @throws Problem what whoever has asked is told */
const findings = async (
  context: ActorContext,
  planner: Planner,
  command: Command,
  isAsked: boolean,
): Promise<Found | undefined> => {
  const box = openTimeBox(triageMs, context.log);
  try {
    return await findingsIn(box, context, planner, command);
  } catch (error) {
    if (isAsked) throw error;
    const resolved = error instanceof Problem && error.code === "conflict/state";
    if (!resolved) context.log.warn({ err: error, command: command.id }, "an item was not triaged");
    return undefined;
  } finally {
    box.close();
  }
};

const findingsIn = async (
  box: TimeBox,
  context: ActorContext,
  planner: Planner,
  command: Command,
): Promise<Found> => {
  const { note, ...asked } = command.data as TriageBody;
  const read = readerFor(context, command);
  const subject = await box.whole("review", () => subjectOf(read, asked));
  const former = await box.whole("agent", () => actionsOf(context, command.tenant, idOf(subject.item.urn)));
  const facts = await gatherFacts(read, box, subject, { former: former.flatMap(formerOf), note });
  const plan = await planned(box, context, planner, facts);
  const proposals = await standing(read, box, subject, { proposals: plan.proposals, most: proposalsMax });
  return { subject, plan: { ...plan, proposals }, former, failures: box.failures };
};

/** @throws Problem upstream/unavailable for a planner that fails, is late or says what makes no sense */
const planned = async (
  box: TimeBox,
  context: ActorContext,
  planner: Planner,
  facts: Facts,
): Promise<Admitted> => {
  try {
    const { drafts, ...plan } = await box.whole("planner", async () => planner.plan(facts));
    return admit({ ...plan, drafts: drafts.slice(0, draftsMax) }, facts);
  } catch (error) {
    if (error instanceof Problem) throw error;
    context.log.warn({ err: error, planner: planner.name }, "the planner failed");
    const outage = { failedDomain: "planner", retryAfterSeconds: 30 };
    throw new Problem("upstream/unavailable", "The planner has no answer right now.", outage);
  }
};

const actionsOf = async (context: ActorContext, tenant: string, reviewId: string): Promise<KnownAction[]> => {
  const found = await context.documents
    .tenant(tenant)
    .collection<Document>(actionsCollection)
    .find({ reviewId }, { projection: { outbox: 0, handled: 0 }, hint: "review" })
    .toArray();
  return found.map((document) => {
    const { state, meta } = loadedOf<AgentAction>(document, { schemaVersion });
    return { id: meta._id, state };
  });
};

/** What is waiting to be decided on or executed may be proposed as it is; what was decided or tried is not proposed again. */
const formerOf = ({ state: { status, proposal } }: KnownAction): FormerProposal[] => {
  if (["PROPOSED", "APPROVED", "EXPIRED"].includes(status)) return [];
  const { action, hotelUrn, value } = proposal;
  return [{ action, hotelUrn, ...(value === undefined ? {} : { value }) }];
};

/** An expired proposal may be made anew: as an action of its own. */
const roundOf = (former: readonly KnownAction[], proposed: Omit<Proposed, "round">): number => {
  const idAt = (round: number): string => agentActionIdOf({ ...proposed, round });
  const expired = new Set(former.filter(({ state }) => state.status === "EXPIRED").map(({ id }) => id));
  let round = 0;
  while (expired.has(idAt(round))) round += 1;
  return round;
};

/** Actions first, then the record that tells of them: whoever reads of an action finds it. */
const keep = async (
  command: Command,
  dispatch: Dispatch,
  found: Found & { planner: string; now: Date },
): Promise<TriageView> => {
  const { subject, plan, planner, former, failures, now } = found;
  const { item, airport, others } = subject;
  const reviewId = idOf(item.urn);
  const send = async (verb: string, entity: string, data: unknown): Promise<unknown> => {
    const id = verb === "record-triage" ? recordId(command) : causedId(command.id, verb, entity);
    const { expectedVersion: _v, fencingToken: _f, ...envelope } = command;
    const reply = await dispatch(verb, { ...envelope, id, name: `agent.${verb}`, entity, data });
    if ("problem" in reply) throw Problem.from(reply.problem);
    return reply.ok;
  };
  const proposed = plan.proposals.map((proposal: Proposal) => {
    const base = { reviewId, caseId: idOf(item.caseUrn), airport, cause: plan.cause, planner, proposal };
    const whole: Proposed = { ...base, round: roundOf(former, base) };
    return { id: agentActionIdOf(whole), data: whole };
  });
  const views: AgentActionView[] = [];
  for (const { id, data } of proposed) views.push((await send("propose", id, data)) as AgentActionView);
  const record: TriageFound = {
    caseId: idOf(item.caseUrn),
    airport,
    category: item.category,
    cause: plan.cause,
    confidence: plan.confidence,
    evidence: plan.evidence,
    planner,
    actionIds: proposed.map(({ id }) => id),
    recommendations: proposed.map(({ id, data }) => recommendationOf(id, data.proposal)),
    partialFailures: failures,
    ...noteOf(command),
  };
  await send("record-triage", reviewId, record);
  if (failures.length === 0) await expireOthers(former, new Set(record.actionIds), now, send);
  const { caseId: _c, airport: _a, actionIds: _i, recommendations: _r, note: _n, ...told } = record;
  const { cause, confidence, evidence, ...rest } = told;
  return {
    reviewUrn: item.urn,
    caseUrn: urn("case", record.caseId),
    classification: { cause, confidence, evidence },
    proposals: views,
    ...(others === undefined ? {} : { otherReviewUrns: others }),
    ...rest,
    triagedAt: now.toISOString(),
  };
};

const noteOf = ({ data }: Command): { note?: string } => {
  const { note } = data as TriageBody;
  return note === undefined ? {} : { note };
};

/** What a whole look no longer proposes is not left to be approved; what a person has approved stays. */
const expireOthers = async (
  former: readonly KnownAction[],
  proposed: ReadonlySet<string>,
  now: Date,
  send: (verb: string, entity: string, data: Expiry) => Promise<unknown>,
): Promise<void> => {
  const detail = "A later triage does not propose it any more.";
  for (const { id, state } of former)
    if (state.status === "PROPOSED" && !proposed.has(id))
      await send("expire", id, { detail, at: now.toISOString(), proposedOnly: true });
};
