/** Owns what a sub-case keeps of what its passengers set going themselves, and of their cards' use. */
import type { ProblemCategory } from "../../schemas/passenger-problem.ts";
import { type CardUseEvent, evolveCardUse } from "./card-use.ts";
import type { PassengerCard } from "./cards.ts";
import type { SubCaseState } from "./state.ts";

/** That something was reported, not what: the words stand on the review item alone. */
export interface ReportedProblem {
  at: Date;
  category: ProblemCategory;
  /** Of its words. */
  digest: string;
}

export interface PassengersOwn {
  /** Of earlier rounds, oldest first. Absent: none. */
  formerCards?: PassengerCard[];
  /** What they have reported in the last day, oldest first. Absent: nothing. */
  problems?: ReportedProblem[];
}

export type PassengerEvent =
  | CardUseEvent
  | { type: "subcase.card-revealed"; data: { at: Date } }
  | {
      type: "subcase.problem-reported";
      data: { problems: ReportedProblem[]; text: string; passengerUrn?: string };
    };

/** Where the vendor shows a card, and what passengers say of a problem, is kept nowhere here. */
export const evolvePassenger = (state: SubCaseState, event: PassengerEvent): SubCaseState => {
  switch (event.type) {
    case "subcase.card-used":
      return evolveCardUse(state, event);
    case "subcase.card-revealed":
      return { ...state };
    case "subcase.problem-reported":
      return { ...state, problems: event.data.problems };
    default:
      return event satisfies never;
  }
};
