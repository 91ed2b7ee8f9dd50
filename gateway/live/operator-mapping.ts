/** Owns what an event of the log means to the operators' channel: what is told of it at once, and what changes of its case. */
import type { OperatorEvent } from "../../schemas/live.ts";
import type { CaseStatus } from "../../schemas/vocabulary.ts";
import type { TailEntry } from "../../streams/tail.ts";

export interface Told {
  event: OperatorEvent;
  payload: Record<string, unknown>;
  /** To who watches the airport as well; else to who watches the case alone. */
  wide: boolean;
}

/** What a case:updated is made of. */
export interface CaseChange {
  /** The case's status since; undefined: this event does not tell. */
  status?: CaseStatus;
  /** Before; undefined likewise. */
  from?: CaseStatus;
  subCase?: { subCaseUrn: string; groupId: string; status: string };
}

const steps = {
  "graph.step-started": "graph:step:started",
  "graph.step-completed": "graph:step:completed",
  "graph.step-progress": "graph:step:progress",
} as const;

/** Undefined: nothing is told at once. One entry is told once at most: a position names it. */
export const toldOf = (entry: TailEntry): Told | undefined => {
  const { data } = entry.event();
  switch (entry.type) {
    case "subcase.state-changed":
    case "subcase.lock-changed": {
      const { subCaseUrn, caseUrn, groupId, status, lockedBy } = data;
      const payload = { subCaseUrn, caseUrn, groupId, status, lockedBy, ...kindOf(data) };
      return { event: "subcase:state-changed", payload, wide: true };
    }
    case "graph.step-started":
    case "graph.step-completed":
    case "graph.step-progress":
      return { event: steps[entry.type], payload: data, wide: false };
    case "notification.dispatched": {
      const { caseUrn, subCaseUrn, messageUrn, templateId, channel, recipient } = data;
      const payload = { caseUrn, subCaseUrn, messageUrn, templateId, channel, recipient, ...kindOf(data) };
      return { event: "notification:dispatched", payload, wide: false };
    }
    default:
      return undefined;
  }
};

export const kindOf = ({ kind }: Record<string, unknown>): { kind?: unknown } =>
  kind === undefined ? {} : { kind };

/** Undefined: the case is as it was. */
export const changeOf = (entry: TailEntry): CaseChange | undefined => {
  const { type } = entry;
  if (type === "subcase.state-changed") {
    const { subCaseUrn, groupId, status } = entry.event().data as NonNullable<CaseChange["subCase"]>;
    return { subCase: { subCaseUrn, groupId, status } };
  }
  if (type === "case.status-changed") {
    const { from, to } = entry.event().data as { from: CaseStatus; to: CaseStatus };
    return { from, status: to };
  }
  if (type === "case.opened") return { status: entry.event().data.status as CaseStatus };
  return type.startsWith("case.") || type.startsWith("demand.") ? {} : undefined;
};

/** Where the event says it; a case keeps the airport that it was opened at. */
export const airportOf = (entry: TailEntry): string | undefined => {
  const { airport } = entry.event().data;
  return typeof airport === "string" ? airport : undefined;
};
