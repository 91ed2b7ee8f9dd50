/** Owns executing an approved action: the one place from which the agent sends another actor a command, the item's own, in the executing operator's name. */
import type { Document } from "mongodb";
import { executionIdOf, type ProposalKind } from "../../schemas/agent.ts";
import type { Command } from "../../schemas/command.ts";
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
import { actionsCollection, actionsOf, schemaVersion } from "./known-actions.ts";
import { readerFor } from "./reads.ts";

/** What a person could have sent themselves; there is no other. */
export const commandOf = {
  rebook: "review.rebook",
  relaxPolicy: "review.relax",
} as const satisfies Record<ProposalKind, string>;

const dataOf = ({ action, hotelUrn, value, groupIds }: Proposal, reason: string) =>
  action === "rebook" ? { hotelUrn, groupIds, reason } : { fields: value, groupIds, reason };

/** Whether a decision needs to know how the item stands: only what is approved or executed touches it. */
export const gathersFor = ({ name }: Pick<Command, "name">): boolean =>
  name === "agent.approve" || name === "agent.execute";

/**
 * What is read before somebody approves or executes: how the item stands, and whether it would take the command. Undefined: nothing
 * is to be read.
 */
export const gatherTerms = async (
  context: ActorContext,
  command: Received,
  state: AgentAction | undefined,
): Promise<ActionTerms | undefined> => {
  const isApproval = command.name === "agent.approve" && state?.status === "PROPOSED";
  const isExecution = command.name === "agent.execute" && state?.status === "APPROVED";
  if (state === undefined || !(isApproval || isExecution)) return undefined;
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

/** The action that a command is about. @throws NotYet when there is none */
export const actionNamed = async (
  context: ActorContext,
  { tenant, entity }: Command,
): Promise<AgentAction> => {
  const found = await context.documents
    .tenant(tenant)
    .collection<Document>(actionsCollection)
    .findOne({ _id: entity as never });
  if (found === null) throw new NotYet("The action is not there yet.");
  return loadedOf<AgentAction>(found, { schemaVersion }).state;
};

/**
 * `agent.carry-out`: sent by the commit that began the execution, so it comes again after any death. The item's command has an id
 * that follows from the action: the item knows it when it comes twice. How it went the item tells (`review.action-noted`).
 */
export const carryOut =
  (context: ActorContext): CommandFunction =>
  async (command, dispatch) => {
    const { entity } = command;
    const { status, execution, proposal, reviewId } = await actionNamed(context, command);
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

/**
 * `agent.expire-of-item`: its item was resolved. A repeat finds what is done and does the rest. While the item stands so, what was
 * proposed by a triage that overlapped the resolution is meant, too.
 */
export const expireOfItem =
  (context: ActorContext): CommandFunction =>
  async (command, dispatch) => {
    const expiry = command.data as Expiry;
    const ending = expiry.caseClosed === true ? ["EXECUTING"] : [];
    const meant = new Set(["PROPOSED", "APPROVED", ...ending]);
    const known = await actionsOf(context, command.tenant, command.entity);
    const open = known.filter(({ state }) => meant.has(state.status));
    if (open.length === 0) return { ok: null };
    const reviewUrn = urn("review", command.entity);
    const item = await readerFor(context, command)<ReviewItemView>("review.item", { reviewUrn });
    const isResolved = item.state === "RESOLVED";
    const data = isResolved ? { ...expiry, at: context.clock.now().toISOString() } : expiry;
    for (const { id: entity } of open) {
      const id = causedId(command.id, "expire", entity);
      await dispatch("expire", { ...command, id, name: "agent.expire", entity, data });
    }
    return { ok: null };
  };
