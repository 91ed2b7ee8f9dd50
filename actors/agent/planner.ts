/** Owns the port behind which a planner stands: facts in, a cause and proposals out. It is given nothing that it could act with. */
import type { ProposalKind, TriageCause } from "../../schemas/agent.ts";
import type { RelaxedFields } from "../../schemas/relaxation.ts";
import type { Facts } from "./facts.ts";

/** Proposals that a planner may hand in; the three best that stand up to a look are shown. */
export const draftsMax = 8;

/**
 * What a planner would do. It names things of the facts and nothing else: what a proposal costs and fixes is worked out from the
 * facts again (`admit.ts`), for a planner may be wrong, or be talked into something by a text among them.
 */
export interface Draft {
  action: ProposalKind;
  /** Of one of the facts' searches. Of a relaxation: what it would bring within reach. */
  hotelUrn: string;
  /** Of one search's groups. */
  groupIds: string[];
  /** Of a relaxation, alone. */
  value?: RelaxedFields;
  reason: string;
  /** 0 to 1; proposals are ranked by it. */
  viability: number;
  /** Who proposes it. Absent: whoever made the plan. */
  planner?: string;
}

export interface Plan {
  cause: TriageCause;
  /** 0 to 1. */
  confidence: number;
  /** Short sentences, the weightiest first. */
  evidence: string[];
  drafts: Draft[];
  /** Who made it, where that differs from time to time. Absent: the planner by its own name. */
  planner?: string;
}

export interface Planner {
  /** With its version: kept with all that it has proposed. */
  readonly name: string;
  /**
   * A planner that fails, or takes longer than the triage has, leaves the item as it is.
   * @param withinMs for asking elsewhere; 0 or less: there is no time for that
   */
  plan(facts: Facts, withinMs: number): Plan | Promise<Plan>;
}
