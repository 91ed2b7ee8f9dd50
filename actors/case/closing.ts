/** Owns closing a case and opening it again (contract, "Case"; who may is the gateway's). */
import { Problem } from "../../schemas/problems.ts";
import type { Received } from "../runtime/decider.ts";
import { reissueAfterMs } from "./intake.ts";
import type { CaseEvent, CaseState } from "./state.ts";

export const decideClose = (command: Received): CaseEvent[] => {
  const { reason } = command.data as { reason: string };
  return [{ type: "case.closed", data: { at: command.now, by: command.principal.urn, reason } }];
};

/**
 * A wave that was under way at the closing has gone by unheard: there is another one.
 * @throws Problem conflict/state unless it is closed
 */
export const decideReopen = (state: CaseState, command: Received): CaseEvent[] => {
  if (state.status !== "CLOSED") {
    throw new Problem("conflict/state", "The case is open.", { state: state.status });
  }
  const { reason } = command.data as { reason: string };
  const dueAt = new Date(command.now.getTime() + reissueAfterMs);
  const reopened: CaseEvent = {
    type: "case.reopened",
    data: { at: command.now, closedAt: state.closedAt as Date, by: command.principal.urn, reason, dueAt },
  };
  return [reopened];
};
