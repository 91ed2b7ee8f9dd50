/** Owns what a case keeps of partners' priority requests, and what leaves with one. */
import type { PriorityReason } from "../../schemas/partner-priority.ts";
import type { Outgoing } from "../runtime/decider.ts";
import type { CaseState, GroupHead } from "./state.ts";

export interface Prioritised {
  commandId: string;
  /** What it has added. */
  groupIds: string[];
  reason: PriorityReason;
  /** The partner's URN. */
  by: string;
  at: Date;
}

export interface Priorities {
  /** In order. Absent: none. */
  priorities?: Prioritised[];
}

export interface PriorityEvent {
  type: "case.priority-requested";
  data: Prioritised;
}

export const evolvePriority = (state: CaseState, { data }: PriorityEvent): CaseState => ({
  ...state,
  priorities: [...(state.priorities ?? []), data],
});

/** The request that a group was named in, or one that has been merged into it. */
export const priorityOfGroups = ({
  priorities = [],
  groups,
}: Pick<CaseState, "priorities" | "groups">): Map<string, Prioritised> => {
  const found = new Map<string, Prioritised>();
  if (priorities.length === 0) return found;
  const into = new Map(groups.map(({ groupId, mergedInto }: GroupHead) => [groupId, mergedInto]));
  for (const request of priorities)
    for (const named of request.groupIds) {
      let groupId = named;
      // A merge points forward to one that is merged no further, or is later: it never comes back.
      for (let next = into.get(groupId); next !== undefined; next = into.get(groupId)) groupId = next;
      if (!found.has(groupId)) found.set(groupId, request);
    }
  return found;
};

/** Its open items go one level up, and whoever watches the case hears it. */
export const priorityRequested = ({ type, data }: PriorityEvent, caseId: string): Outgoing[] => {
  const { groupIds, reason, by, at } = data;
  return [
    { to: "internal", type, id: caseId, caseId, data: { groupIds, reason, by, at } },
    { to: "command", name: "review.hurry-case", entity: caseId, data: { groupIds, reason, by } },
  ];
};
