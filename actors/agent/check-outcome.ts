/** Owns asking after an execution that nobody has told the outcome of: of the item itself, until there is one. */
import { executionIdOf } from "../../schemas/agent.ts";
import { Problem } from "../../schemas/problems.ts";
import type { ReviewState } from "../../schemas/review.ts";
import { urn } from "../../schemas/urn.ts";
import { causedId } from "../runtime/clock.ts";
import type { Timer } from "../runtime/decider.ts";
import type { ActorContext, CommandFunction } from "../runtime/host.ts";
import type { AgentAction } from "./action-state.ts";
import type { OutcomeNote } from "./decide.ts";
import { actionNamed, carryOut } from "./execute.ts";
import { outcomeNoteOf } from "./reactions.ts";
import { type Read, readerFor } from "./reads.ts";

/** A wave and its bookings have told by then. */
const firstCheckMs = 15 * 60_000;
const nextCheckMs = 60 * 60_000;

/** A wake-up while it is being executed, and only then. */
export const outcomeTimers = ({ status, execution, checkedAt }: AgentAction): Timer[] => {
  if (status !== "EXECUTING" || execution === undefined) return [];
  const dueAt =
    checkedAt === undefined ? execution.at.getTime() + firstCheckMs : checkedAt.getTime() + nextCheckMs;
  return [{ name: "check-outcome", dueAt: new Date(dueAt) }];
};

/** What the item says of the command that the execution sent: `review.action-of`. */
interface ActionTold {
  itemState: ReviewState;
  /** Null: the item has never had it. */
  action: { state: string; groups: { detail?: string }[] } | null;
}

/** `agent.check-outcome`: a timer's. The item's word may have been lost, or the order itself: that is sent again, under its one id. */
export const checkOutcome =
  (context: ActorContext): CommandFunction =>
  async (command, dispatch) => {
    const action = await actionNamed(context, command);
    const [timer] = outcomeTimers(action);
    if (timer === undefined || context.clock.now() < timer.dueAt) return { ok: null };
    const told = await toldOf(readerFor(context, command), command.entity, action);
    if (told === "never had it") await carryOut(context)(command, dispatch);
    else if (told !== "under way") {
      const id = causedId(command.id, "outcome");
      await dispatch("note-outcome", { ...command, id, name: "agent.note-outcome", data: told });
    }
    const id = causedId(command.id, "checked");
    await dispatch("note-check", { ...command, id, name: "agent.note-check", data: {} });
    return { ok: null };
  };

const toldOf = async (
  read: Read,
  id: string,
  { reviewId }: AgentAction,
): Promise<OutcomeNote | "never had it" | "under way"> => {
  try {
    const asked = { reviewUrn: urn("review", reviewId), commandId: executionIdOf(id) };
    const { itemState, action } = await read<ActionTold>("review.action-of", asked);
    if (action === null) return "never had it";
    const note = outcomeNoteOf(action.state, action.groups);
    if (note !== undefined) return note;
    // Who works on the item no more is told nothing more of it.
    return itemState === "RESOLVED"
      ? { outcome: "FAILED", detail: "Its review item was resolved before it had an outcome." }
      : "under way";
  } catch (error) {
    if (error instanceof Problem && error.code === "not-found/resource")
      return { outcome: "FAILED", detail: "Its review item is not there any more." };
    throw error;
  }
};
