/** Owns a triage from its question to what it has found: whose turn it is, what is read, the plan; `keep.ts` keeps it and answers. */
import type { TriageBody, TriageView } from "../../schemas/agent.ts";
import type { Command } from "../../schemas/command.ts";
import { Problem } from "../../schemas/problems.ts";
import { idOf } from "../../schemas/urn.ts";
import type { ActorContext, CommandFunction, Dispatch } from "../runtime/host.ts";
import { type Admitted, admit } from "./admit.ts";
import type { Facts } from "./facts.ts";
import { gatherFacts, standing, subjectOf } from "./gather.ts";
import { answerOf, type Found, keep, recordedBy } from "./keep.ts";
import { actionsOf, formerOf } from "./known-actions.ts";
import { draftsMax, type Planner } from "./planner.ts";
import { readerFor } from "./reads.ts";
import { openTimeBox, type TimeBox } from "./time-box.ts";
import type { TriageTurns } from "./triage-turns.ts";

/** Contract, "Manual review item": the agent's top three. */
const proposalsMax = 3;
/** All that is read and planned for a triage (contract, "Composition sub-call timeout"). */
const triageMs = 3000;
/** Of it, for the parts that it can go without: the planner has the rest, however slow they were. */
const partsMs = 2500;
/** Of it, until a model has to have answered: what it proposes is rehearsed and kept in the rest. */
const modelMs = 2000;

/** What a triage needs beside its command. */
interface Means {
  context: ActorContext;
  planner: Planner;
  turns: TriageTurns;
}

/** `agent.triage`: asked for by an operator, or by an item that has come to the desks. */
export const triage =
  (means: Means): CommandFunction =>
  async (command, dispatch) => {
    if (command.principal.surface !== "system")
      return { ok: await triaged(means, command, dispatch, modelMs) };
    return means.turns.unasked(command.tenant, async (mayWait) => {
      try {
        return { ok: await triaged(means, command, dispatch, mayWait ? modelMs : 0) };
      } catch (error) {
        if (!isLeftAsItIs(error)) throw error;
        const { log } = means.context;
        if (error instanceof PlannerFailure)
          log.warn({ err: error, command: command.id }, "an item was not triaged");
        return { ok: null };
      }
    });
  };

/** The planner's own failure: what passes by itself is none. */
class PlannerFailure extends Problem {}

/** Nobody has asked, and trying again would change nothing: all else comes again. */
const isLeftAsItIs = (error: unknown): boolean =>
  error instanceof PlannerFailure ||
  (error instanceof Problem && (error.code === "conflict/state" || error.code === "not-found/resource"));

/** @param untilMs from the command on that a model may take. @throws Problem what whoever has asked is told */
const triaged = async (
  means: Means,
  command: Command,
  dispatch: Dispatch,
  untilMs: number,
): Promise<TriageView> => {
  const { note: _, ...asked } = command.data as TriageBody;
  const { reviewUrn, others } = await meant(means, command, asked);
  return means.turns.ofItem(`${command.tenant}/${idOf(reviewUrn)}`, async () => {
    const answer = await lookedInto(means, command, dispatch, { ...asked, reviewUrn, untilMs });
    return others === undefined ? answer : { ...answer, otherReviewUrns: others };
  });
};

const meant = async (
  { context }: Means,
  command: Command,
  asked: TriageBody,
): Promise<{ reviewUrn: string; others?: string[] }> => {
  if (asked.reviewUrn !== undefined) return { reviewUrn: asked.reviewUrn };
  const box = openTimeBox(triageMs, context.log);
  try {
    const { item, others } = await box.whole("review", () => subjectOf(readerFor(context, command), asked));
    return { reviewUrn: item.urn, ...(others === undefined ? {} : { others }) };
  } finally {
    box.close();
  }
};

/** A repeat of what has been recorded answers from the record: another look would expire what the item recommends by it. */
const lookedInto = async (
  { context, planner }: Means,
  command: Command,
  dispatch: Dispatch,
  { untilMs, ...asked }: TriageBody & { untilMs: number },
): Promise<TriageView> => {
  const openedAt = context.clock.now().getTime();
  // An item that has waited for its turn has had a part of its time: in a night of a thousand of them most go by the rules.
  const waitedMs = (): number =>
    context.clock.now().getTime() - Math.min(openedAt, Date.parse(command.issuedAt));
  const box = openTimeBox(triageMs, context.log, partsMs);
  try {
    const read = readerFor(context, command);
    const subject = await box.whole("review", () => subjectOf(read, asked));
    const { urn } = subject.item;
    const recorded = await box.whole("agent", () => recordedBy(context, command, idOf(urn)));
    if (recorded !== undefined) return await answerOf(context, command.tenant, urn, recorded);
    const former = await box.whole("agent", () => actionsOf(context, command.tenant, idOf(urn)));
    const { note } = command.data as TriageBody;
    const facts = await gatherFacts(read, box, subject, { former: former.flatMap(formerOf), note });
    const plan = await planned(box, context, planner, facts, untilMs - waitedMs());
    const proposals = await standing(read, box, subject, { proposals: plan.proposals, most: proposalsMax });
    const found: Found = { subject, plan: { ...plan, proposals }, former, failures: box.failures };
    return await keep(context, command, dispatch, found);
  } finally {
    box.close();
  }
};

/** @throws Problem upstream/unavailable for a planner that fails, is late or says what makes no sense */
const planned = async (
  box: TimeBox,
  context: ActorContext,
  planner: Planner,
  facts: Facts,
  withinMs: number,
): Promise<Admitted> => {
  try {
    const made = await box.whole("planner", async () => planner.plan(facts, withinMs));
    return admit({ planner: planner.name, ...made, drafts: made.drafts.slice(0, draftsMax) }, facts);
  } catch (error) {
    if (error instanceof Problem) throw error;
    context.log.warn({ err: error, planner: planner.name }, "the planner failed");
    const outage = { failedDomain: "planner", retryAfterSeconds: 30 };
    throw new PlannerFailure("upstream/unavailable", "The planner has no answer right now.", outage);
  }
};
