/** Owns executing an approved action: the one place from which the agent sends another actor a command, the item's own, in the executing operator's name. */
import type { Collection, Document } from "mongodb";
import { executionIdOf, type ProposalKind } from "../../schemas/agent.ts";
import { Problem } from "../../schemas/problems.ts";
import type { ReviewItemView } from "../../schemas/review.ts";
import { urn } from "../../schemas/urn.ts";
import { causedId } from "../runtime/clock.ts";
import { NotYet, type Received } from "../runtime/decider.ts";
import type { ActorContext, CommandFunction } from "../runtime/host.ts";
import { loadedOf } from "../runtime/store.ts";
import type { AgentAction } from "./action-state.ts";
import type { Proposal } from "./admit.ts";
import type { ActionTerms, Expiry, OutcomeNote } from "./decide.ts";
import { readerFor } from "./reads.ts";
import { actionsCollection, schemaVersion } from "./triage.ts";

/** What a person could have sent themselves; there is no other. */
export const commandOf = {
  rebook: "review.rebook",
  relaxPolicy: "review.relax",
} as const satisfies Record<ProposalKind, string>;

const dataOf = ({ action, hotelUrn, value, groupIds }: Proposal, reason: string) =>
  action === "rebook" ? { hotelUrn, groupIds, reason } : { fields: value, groupIds, reason };

/** What is read before somebody approves or executes: how the item stands, and whether it would take the command. */
export const gatherTerms = async (
  context: ActorContext,
  command: Received,
  state: AgentAction | undefined,
): Promise<ActionTerms> => {
  const isApproval = command.name === "agent.approve" && state?.status === "PROPOSED";
  const isExecution = command.name === "agent.execute" && state?.status === "APPROVED";
  if (state === undefined || !(isApproval || isExecution)) return {};
  const read = readerFor(context, command);
  const item = await read<ReviewItemView>("review.item", { reviewUrn: urn("review", state.reviewId) });
  if (isApproval || item.state === "RESOLVED") return { item: item.state };
  const { reason = "Rehearsed." } = command.data as { reason?: string };
  const { action } = state.proposal;
  try {
    const rehearsed = {
      entity: state.reviewId,
      name: commandOf[action],
      data: dataOf(state.proposal, reason),
    };
    await read("review.rehearse", rehearsed);
    return { item: item.state };
  } catch (error) {
    if (error instanceof Problem) return { item: item.state, refusal: error };
    throw error;
  }
};

const actions = (context: ActorContext, tenant: string): Collection<Document> =>
  context.documents.tenant(tenant).collection<Document>(actionsCollection);

/**
 * `agent.carry-out`: sent by the commit that began the execution, so it comes again after any death. The item's command has an id
 * that follows from the action: the item knows it when it comes twice. How it went the item tells (`review.action-noted`).
 */
export const carryOut =
  (context: ActorContext): CommandFunction =>
  async (command, dispatch) => {
    const { tenant, entity } = command;
    const found = await actions(context, tenant).findOne({ _id: entity as never });
    if (found === null) throw new NotYet("The action is not there yet.");
    const { status, execution, proposal, reviewId } = loadedOf<AgentAction>(found, { schemaVersion }).state;
    if (status !== "EXECUTING" || execution === undefined) return { ok: null };
    const { by: principal, reason, fencingToken } = execution;
    try {
      await context.call(commandOf[proposal.action], {
        ...command,
        id: executionIdOf(entity),
        name: commandOf[proposal.action],
        entity: reviewId,
        principal,
        ...(fencingToken === undefined ? {} : { fencingToken }),
        data: dataOf(proposal, reason),
      });
    } catch (error) {
      if (
        !(error instanceof Problem) ||
        error.retry === "later" ||
        error.code === "conflict/concurrent-write"
      )
        throw error;
      const data: OutcomeNote = { outcome: "FAILED", detail: error.message };
      const id = causedId(command.id, "refused");
      await dispatch("note-outcome", { ...command, id, name: "agent.note-outcome", data });
    }
    return { ok: null };
  };

/** `agent.expire-of-item`: its item was resolved. A repeat finds what is done and does the rest. */
export const expireOfItem =
  (context: ActorContext): CommandFunction =>
  async (command, dispatch) => {
    const open = { reviewId: command.entity, status: { $in: ["PROPOSED", "APPROVED"] } };
    const found = await actions(context, command.tenant)
      .find(open, { projection: { _id: 1 }, hint: "review" })
      .toArray();
    for (const { _id } of found) {
      const id = causedId(command.id, "expire", String(_id));
      const data = command.data as Expiry;
      await dispatch("expire", { ...command, id, name: "agent.expire", entity: String(_id), data });
    }
    return { ok: null };
  };
