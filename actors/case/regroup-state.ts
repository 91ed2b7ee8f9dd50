/** Owns what a case keeps of groups that were split, merged or formed anew. */
import type { Stage } from "../../schemas/group-note.ts";
import type { Passenger } from "../../schemas/passenger.ts";
import type { Regrouped } from "../../schemas/regroup.ts";
import { withGroups } from "./group-rooms.ts";
import type { CaseState, GroupHead } from "./state.ts";

/** A group as a regrouping leaves or makes it. */
export interface ShapedGroup {
  head: GroupHead;
  letter: Stage;
  /** For its sub-case; the case keeps none of it. */
  passengers: Passenger[];
  isNew: boolean;
  moved: Regrouped["moved"];
}

export interface EmptiedGroup {
  head: GroupHead;
  mergedInto: { groupId: string; subCaseId: string };
  moved: Regrouped["moved"];
}

export interface RegroupEvent {
  type: "case.regrouped";
  data: {
    policies: CaseState["policies"];
    shaped: ShapedGroup[];
    emptied: EmptiedGroup[];
    /** Groups whose cabins were the trouble, and are no longer. */
    unmixed: string[];
    status: CaseState["status"];
    /** Of the command: tells the items that it opens from earlier ones. */
    occurrence: string;
  };
}

export const evolveRegroup = (state: CaseState, { data }: RegroupEvent): CaseState => {
  const { policies, shaped, emptied, status } = data;
  const changed = new Map<string, { head: GroupHead; letter: Stage }>([
    ...shaped.map((group) => [group.head.groupId, group] as const),
    ...emptied.map(({ head }) => [head.groupId, { head, letter: "N" as const }] as const),
  ]);
  const made = shaped.filter(({ isNew }) => isNew);
  const groups = [
    ...state.groups.map((group) => changed.get(group.groupId)?.head ?? group),
    ...made.map(({ head }) => head),
  ];
  const letters = state.groups.map(({ groupId }, i) => changed.get(groupId)?.letter ?? state.progress[i]);
  const gone = new Set(emptied.map(({ head }) => head.groupId));
  return {
    ...withGroups(state, groups),
    policies,
    status,
    progress: letters.join("") + made.map(({ letter }) => letter).join(""),
    rounds: state.rounds + "0".repeat(made.length),
    provisioned: groups.length,
    onDesk: state.onDesk.filter((groupId) => !gone.has(groupId)),
  };
};
