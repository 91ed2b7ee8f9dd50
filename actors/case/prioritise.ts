/** Owns how often partners may ask for priority: counted before a case decides, so that all cases share one bound. */
import type { Reply } from "../../schemas/command.ts";
import { Problem } from "../../schemas/problems.ts";
import { type AttemptsDocument, countAttempt, takeAttemptBack } from "../runtime/attempt-limits.ts";
import type { ActorContext, CommandFunction } from "../runtime/host.ts";
import { KeyedQueue } from "../runtime/serial.ts";
import type { Prioritising } from "./priority.ts";

export const priorityAttempts = "priorityAttempts";

const dayMs = 86_400_000;

/** A request that is refused, or asks for nothing more, is taken back from the count; one that is sent again counts once. */
export const prioritise = ({ config, documents, clock }: ActorContext): CommandFunction => {
  const queue = new KeyedQueue();
  return (command, dispatch) => {
    const { tenant, principal, id } = command;
    const attempts = documents.tenant(tenant).collection<AttemptsDocument>(priorityAttempts);
    const limit = { max: config.PARTNER_PRIORITY_DAILY, windowMs: dayMs };
    const counters = [{ key: principal.urn, limit, what: "priority requests" }];
    return queue.run(`${tenant}/${principal.urn}`, async (): Promise<Reply> => {
      await countAttempt(attempts, id, counters, () => clock.now());
      try {
        const reply = await dispatch("prioritise", command);
        if ("problem" in reply) throw Problem.from(reply.problem);
        const { isAdded, ...granted } = reply.ok as Prioritising;
        if (!isAdded) await takeAttemptBack(attempts, id, counters);
        return { ...reply, ok: granted };
      } catch (error) {
        // After an outage nobody knows whether it was granted.
        if (error instanceof Problem && error.status < 500) await takeAttemptBack(attempts, id, counters);
        throw error;
      }
    });
  };
};
