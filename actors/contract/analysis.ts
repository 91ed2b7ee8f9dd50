/** Owns an analysis' decisions, and what is seen of it. Reading the document is `read-document.ts`'s. */

import type { Principal } from "../../schemas/command.ts";
import type {
  AnalyzeDocument,
  ContractAnalysisView,
  ReadingOutcome,
  ReadingProgress,
} from "../../schemas/contract-analysis.ts";
import { Problem } from "../../schemas/problems.ts";
import { urn } from "../../schemas/urn.ts";
import { freshId } from "../runtime/clock.ts";
import type { Change, Decider, Received } from "../runtime/decider.ts";
import {
  type AnalysisEvent,
  type AnalysisState,
  analysisTimers,
  evolveAnalysis,
  isUnread,
} from "./analysis-state.ts";

export const analysesCollection = "contractAnalyses";
export const analysisSchemaVersion = 1;
const attemptsMax = 3;

/** Data of `contract.note-confirmed`. */
export interface ConfirmationNote {
  contractId: string;
}

/** Each is settled by the state: what is told late, or twice, changes nothing. */
export const decideAnalysis = (state: AnalysisState | undefined, command: Received): AnalysisEvent[] => {
  const { name, now: at } = command;
  if (name === "contract.analyze") return state === undefined ? [requested(command)] : [];
  if (state === undefined) throw new Problem("not-found/resource", "No such analysis.");
  switch (name) {
    case "contract.begin-reading":
      if (!isUnread(state)) return [];
      if (state.attempts < attemptsMax) return [{ type: "contract.reading-begun", data: { at } }];
      return [{ type: "contract.reading-ended", data: { refusal: givenUp, at } }];
    case "contract.note-progress":
      return isUnread(state)
        ? [{ type: "contract.reading-progressed", data: { ...(command.data as ReadingProgress), at } }]
        : [];
    case "contract.note-reading":
      return isUnread(state)
        ? [{ type: "contract.reading-ended", data: { ...(command.data as ReadingOutcome), at } }]
        : [];
    case "contract.note-confirmed": {
      const { contractId } = command.data as ConfirmationNote;
      if (isUnread(state) || state.status === "REFUSED" || state.contractIds.includes(contractId)) return [];
      return [{ type: "contract.analysis-confirmed", data: { contractId, at } }];
    }
    default:
      throw new Error(`an analysis takes no ${name}`);
  }
};

const givenUp = {
  reason: "LOST",
  detail: `The document was begun ${attemptsMax} times and never read to its end: hand it in again, or another copy of it.`,
} as const;

const requested = ({ data, principal, id: creation, now: at }: Received): AnalysisEvent => {
  const { file, document } = data as AnalyzeDocument;
  const { urn: by, airport } = principal;
  const scope = airport === undefined ? {} : { airport };
  return { type: "contract.analysis-requested", data: { file, document, by, ...scope, creation, at } };
};

/** @throws Problem auth/foreign-airport */
export const requireReach = (principal: Principal, { airport }: AnalysisState): void => {
  if (principal.airport === undefined || principal.airport === airport) return;
  throw new Problem(
    "auth/foreign-airport",
    `You are scoped to ${principal.airport}; this document was handed in for ${airport ?? "the whole airline"}.`,
  );
};

export const analysisView = (id: string, state: AnalysisState, version: number): ContractAnalysisView => ({
  urn: urn("contract-analysis", id),
  status: state.status,
  file: state.file,
  progress: { pages: state.pages, pagesRead: state.pagesRead },
  ...(state.refusal === undefined ? {} : { refusal: state.refusal }),
  ...(state.extraction === undefined ? {} : { extraction: state.extraction }),
  contractUrns: state.contractIds.map((contractId) => urn("contract", contractId)),
  requestedAt: state.requestedAt.toISOString(),
  version,
});

const trailOf = ({ status, file, refusal }: AnalysisState) => ({
  status,
  file,
  ...(refusal === undefined ? {} : { refusal: refusal.reason }),
});

/** Handing in and the outcome; that a contract was made of it stands in the contract's own entry. */
const auditNote = ({ command, before, after, events }: Change<AnalysisState, AnalysisEvent>) => {
  const isTold = events.some(({ type }) => type !== "contract.analysis-confirmed" && !technical.has(type));
  if (!isTold) return null;
  return {
    action: command.name,
    before: before === undefined ? null : trailOf(before),
    after: trailOf(after),
  };
};

const technical: ReadonlySet<string> = new Set(["contract.reading-begun", "contract.reading-progressed"]);

export const analyses: Decider<AnalysisState, AnalysisEvent> = {
  actor: "contract",
  kind: "contract-analysis",
  collection: analysesCollection,
  schemaVersion: analysisSchemaVersion,
  commands: ["analyze", "begin-reading", "note-progress", "note-reading", "note-confirmed"],
  indexes: [{ name: "creation", key: { creation: 1 }, unique: true }],
  technical,
  decide: decideAnalysis,
  evolve: evolveAnalysis,
  timers: analysisTimers,
  outgoing: (event, _state, _command, id) =>
    event.type === "contract.analysis-requested"
      ? [{ to: "command", name: "contract.read-document", entity: id, data: {} }]
      : [],
  locate: ({ id }) => ({ creation: id }),
  create: ({ name, tenant, now }) => (name === "contract.analyze" ? freshId(tenant, now) : undefined),
  view: (state, { id, version }) => analysisView(id, state, version),
  audit: auditNote,
};
