/** Owns what an item keeps of what its claimants have done about it, and how that changes; the rules are in `actions.ts`. */
import type { Principal } from "../../schemas/command.ts";
import type { RelaxedFields } from "../../schemas/relaxation.ts";
import type { ActionNote, ActionOutcome, ReviewActionKind } from "../../schemas/review.ts";
import type { ReviewItem } from "./state.ts";

/** What was asked for; which members there are depends on the kind. */
export interface Asked {
  hotelUrn?: string;
  providerOfferId?: string;
  fields?: RelaxedFields;
  into?: string[][];
}

export interface ReviewAction {
  actionId: string;
  /** Of the command that began it: whoever sent it tells its outcome from others' by that. Absent: not noted at the time. */
  commandId?: string;
  kind: ReviewActionKind;
  /** In whose name other actors are asked to carry it out. */
  by: Principal;
  at: Date;
  reason: string;
  asked: Asked;
  /** Without `outcome`: under way. `waveId`: the wave that knows the group. */
  groups: { groupId: string; waveId?: string; outcome?: ActionOutcome; detail?: string }[];
}

export type ActionEvent =
  | { type: "review.action-begun"; data: ReviewAction }
  | { type: "review.action-noted"; data: ActionNote };

/** More than anybody does about one item by hand; the oldest go first. */
const actionsMax = 50;

export const evolveAction = (state: ReviewItem, event: ActionEvent): ReviewItem => {
  const { actions = [] } = state;
  if (event.type === "review.action-begun")
    return { ...state, actions: [...actions, event.data].slice(-actionsMax) };
  const { actionId, groups } = event.data;
  const told = new Map(groups.map((group) => [group.groupId, group]));
  const noted = actions.map((action) =>
    action.actionId === actionId
      ? { ...action, groups: action.groups.map((group) => ({ ...group, ...told.get(group.groupId) })) }
      : action,
  );
  return {
    ...state,
    actions: noted,
    attemptedHotels: [...state.attemptedHotels, ...refusedHotel(state, event.data)],
  };
};

/** A hotel that was chosen in vain was attempted like those before it. */
const refusedHotel = (state: ReviewItem, { actionId, groups }: ActionNote): ReviewItem["attemptedHotels"] => {
  const hotelUrn = state.actions?.find((action) => action.actionId === actionId)?.asked.hotelUrn;
  const failed = groups.find(({ outcome }) => outcome === "FAILED");
  return hotelUrn === undefined || failed === undefined
    ? []
    : [{ hotelUrn, reason: failed.detail ?? "No room." }];
};

/** UNDER_WAY as long as one of its groups is. */
export const stateOf = ({ groups }: ReviewAction): "UNDER_WAY" | "DONE" | "PARTIAL" | "FAILED" => {
  if (groups.some(({ outcome }) => outcome === undefined)) return "UNDER_WAY";
  const done = groups.filter(({ outcome }) => outcome === "DONE").length;
  return done === groups.length ? "DONE" : done === 0 ? "FAILED" : "PARTIAL";
};
