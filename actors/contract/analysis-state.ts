/** Owns what an analysis of a contract document is, and how its events change it. */

import type { StagedRef } from "../../schemas/command.ts";
import type {
  AnalyzeDocument,
  DocumentFacts,
  DocumentRefusal,
  Extraction,
  ReadingOutcome,
} from "../../schemas/contract-analysis.ts";
import type { Timer } from "../runtime/decider.ts";

export interface AnalysisState {
  status: "QUEUED" | "READING" | "READY" | "REFUSED" | "CONFIRMED";
  file: DocumentFacts;
  /** Where the document itself is kept until it has been read, a day at most. */
  document: StagedRef;
  /** Of the supervisor who has handed it in, if scoped to one: nobody scoped to another sees it. */
  airport?: string;
  /** The command that made it: one that comes again finds its analysis by this. */
  creation: string;
  requestedBy: string;
  requestedAt: Date;
  changedAt: Date;
  /** Readings begun: a document that no process survives is given up in the end. */
  attempts: number;
  pages: number;
  pagesRead: number;
  extraction?: Extraction;
  refusal?: { reason: DocumentRefusal; detail: string };
  /** Contracts that were made of it, with somebody's name under each. */
  contractIds: string[];
}

export type AnalysisEvent =
  | {
      type: "contract.analysis-requested";
      data: AnalyzeDocument & { by: string; airport?: string; creation: string; at: Date };
    }
  | { type: "contract.reading-begun"; data: { at: Date } }
  | { type: "contract.reading-progressed"; data: { pages: number; pagesRead: number; at: Date } }
  | { type: "contract.reading-ended"; data: ReadingOutcome & { at: Date } }
  | { type: "contract.analysis-confirmed"; data: { contractId: string; at: Date } };

export const evolveAnalysis = (state: AnalysisState | undefined, event: AnalysisEvent): AnalysisState => {
  if (event.type === "contract.analysis-requested") {
    const { file, document, by, airport, creation, at } = event.data;
    return {
      status: "QUEUED",
      file,
      document,
      ...(airport === undefined ? {} : { airport }),
      creation,
      requestedBy: by,
      requestedAt: at,
      changedAt: at,
      attempts: 0,
      pages: 0,
      pagesRead: 0,
      contractIds: [],
    };
  }
  if (state === undefined) throw new Error(`${event.type} of no analysis`);
  const changedAt = event.data.at;
  switch (event.type) {
    case "contract.reading-begun":
      return { ...state, changedAt, status: "READING", attempts: state.attempts + 1 };
    case "contract.reading-progressed":
      return { ...state, changedAt, pages: event.data.pages, pagesRead: event.data.pagesRead };
    case "contract.reading-ended": {
      if ("refusal" in event.data)
        return { ...state, changedAt, status: "REFUSED", refusal: event.data.refusal };
      const { extraction, pages } = event.data;
      return { ...state, changedAt, status: "READY", extraction, pages, pagesRead: pages };
    }
    case "contract.analysis-confirmed":
      return {
        ...state,
        changedAt,
        status: "CONFIRMED",
        contractIds: [...new Set([...state.contractIds, event.data.contractId])],
      };
    default:
      return event satisfies never;
  }
};

/** Longer than a page takes. Nobody who reads tells more often than page by page. */
const silenceMs = 3 * 60_000;

export const isUnread = ({ status }: AnalysisState): boolean => status === "QUEUED" || status === "READING";

/** A reading that nothing has been heard of is begun again: the process that had it may be gone. */
export const analysisTimers = (state: AnalysisState): Timer[] =>
  isUnread(state) ? [{ name: "read-document", dueAt: new Date(state.changedAt.getTime() + silenceMs) }] : [];
