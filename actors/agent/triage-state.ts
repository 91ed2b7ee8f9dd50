/** Owns what is kept of an item's latest triage, and the one thing that it decides: the newer one counts. */
import type { RecommendationsNote, TriageCause } from "../../schemas/agent.ts";
import type { ReviewCategory } from "../../schemas/vocabulary.ts";
import type { Received } from "../runtime/decider.ts";

/** The data of `agent.record-triage`. */
export interface TriageFound {
  caseId: string;
  airport: string;
  category: ReviewCategory;
  cause: TriageCause;
  /** 0 to 1. */
  confidence: number;
  evidence: string[];
  planner: string;
  /** The actions it proposes, the most viable first. */
  actionIds: string[];
  recommendations: RecommendationsNote["recommendations"];
  partialFailures: { failedDomain: string; detail: string }[];
  /** An operator's own words. */
  note?: string;
}

export interface Triage extends TriageFound {
  /** URN of who asked for it; the service's own for a new item. */
  by: string;
  at: Date;
}

export interface TriageEvent {
  type: "agent.triaged";
  data: Triage;
}

/** Triages of an item that were made at once are told one after the other: the last one stands. */
export const decideTriage = (_: Triage | undefined, command: Received): TriageEvent[] => [
  {
    type: "agent.triaged",
    data: { ...(command.data as TriageFound), by: command.principal.urn, at: command.now },
  },
];

export const evolveTriage = (_: Triage | undefined, { data }: TriageEvent): Triage => data;
