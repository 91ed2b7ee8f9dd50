/** Owns that nothing of a drill or shadow case leaves the house, and that all it tells says what it is. */
import type { CaseKind } from "../../schemas/drill.ts";
import type { Outgoing } from "./decider.ts";

/**
 * What others would hear in public stands on the internal stream: no partner's webhook, replay or figure reads it there.
 * Every event carries `kind`.
 */
export const inTheHouse = (kind: CaseKind | undefined, messages: Outgoing[]): Outgoing[] =>
  kind === undefined
    ? messages
    : messages.map((message) => {
        if (message.to === "command") return message;
        const { type, caseId } = message;
        const id = message.to === "internal" ? message.id : (caseId ?? "");
        const data = { ...message.data, kind };
        return { to: "internal", type, id, ...(caseId === undefined ? {} : { caseId }), data };
      });
