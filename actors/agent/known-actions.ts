/** Owns reading what is known of an item already: its agent actions, and what is to be made of them in a new triage. */
import type { Document } from "mongodb";
import type { ActorContext } from "../runtime/host.ts";
import { loadedOf } from "../runtime/store.ts";
import type { AgentAction, Proposed } from "./action-state.ts";
import { agentActionIdOf } from "./decide.ts";
import type { FormerProposal } from "./facts.ts";

export const actionsCollection = "agentActions";
export const schemaVersion = 1;

export interface KnownAction {
  id: string;
  state: AgentAction;
  version: number;
}

/** All of the item's, whatever has become of them. */
export const actionsOf = async (
  context: ActorContext,
  tenant: string,
  reviewId: string,
): Promise<KnownAction[]> => {
  const found = await context.documents
    .tenant(tenant)
    .collection<Document>(actionsCollection)
    .find({ reviewId }, { projection: { outbox: 0, handled: 0 }, hint: "review" })
    .toArray();
  return found.map((document) => {
    const { state, meta } = loadedOf<AgentAction>(document, { schemaVersion });
    return { id: meta._id, state, version: meta.version };
  });
};

/** Whether somebody can still decide on it, or execute it. */
export const isOpen = ({ state: { status } }: KnownAction): boolean =>
  status === "PROPOSED" || status === "APPROVED";

/** What is waiting to be decided on or executed may be proposed as it is; what was decided or tried is not proposed again. */
export const formerOf = ({ state: { status, proposal } }: KnownAction): FormerProposal[] => {
  if (["PROPOSED", "APPROVED", "EXPIRED"].includes(status)) return [];
  const { action, hotelUrn, value } = proposal;
  return [{ action, hotelUrn, ...(value === undefined ? {} : { value }) }];
};

/** An expired proposal may be made anew: as an action of its own. */
export const roundOf = (former: readonly KnownAction[], proposed: Omit<Proposed, "round">): number => {
  const idAt = (round: number): string => agentActionIdOf({ ...proposed, round });
  const expired = new Set(former.filter(({ state }) => state.status === "EXPIRED").map(({ id }) => id));
  let round = 0;
  while (expired.has(idAt(round))) round += 1;
  return round;
};
