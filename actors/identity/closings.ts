/** Owns the end of passengers' sessions with their case: what the case actor tells is noted where every gateway looks. */
import type { Command } from "../../schemas/command.ts";
import { noteCase } from "../../streams/closed-cases.ts";
import type { ActorContext, CommandFunction } from "../runtime/host.ts";

/** Of the last closing, and of the change itself; ISO 8601 UTC. */
interface Closing {
  closedAt: string;
  changedAt: string;
}

/** The entity is the case. Comes at least once and in any order; whatever is newer stands. An outage is waited out. */
const noteAs =
  (context: ActorContext, open: boolean): CommandFunction =>
  async ({ entity, data }: Command, _dispatch, delivery) => {
    const { closedAt, changedAt } = data as Closing;
    const change = { closedAt: new Date(closedAt), open, changedAt: new Date(changedAt) };
    const toldAt = new Date(context.clock.now().getTime() - (delivery?.ageMs ?? 0));
    await noteCase(context.streams, entity, change, toldAt);
    return { ok: null };
  };

export const closingCommands = (context: ActorContext) => ({
  "close-case": noteAs(context, false),
  "reopen-case": noteAs(context, true),
});
