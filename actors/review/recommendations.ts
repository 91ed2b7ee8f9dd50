/** Owns what an item keeps of the agent's proposals: the newest ones, three at most, while somebody can still act on them. */
import { isDeepStrictEqual } from "node:util";
import type { RecommendationsNote } from "../../schemas/agent.ts";
import type { Received } from "../runtime/decider.ts";
import type { ReviewItem } from "./state.ts";

/** Contract, "Manual review item": the agent's top three. */
const recommendationsMax = 3;

export interface RecommendationEvent {
  type: "review.recommended";
  /** `unchanged`: it only says that they still hold. */
  data: { recommendations: RecommendationsNote["recommendations"]; at: Date; unchanged?: true };
}

/** They may come twice, or after newer ones: the time of the newest is kept even where it says the same again. */
export const noteRecommendations = (state: ReviewItem, { data }: Received): RecommendationEvent[] => {
  const note = data as RecommendationsNote;
  const at = new Date(note.at);
  const recommendations = note.recommendations.slice(0, recommendationsMax);
  if (state.status === "RESOLVED") return [];
  if (state.recommendedAt !== undefined && at <= state.recommendedAt) return [];
  const isSame = isDeepStrictEqual(recommendations, state.recommendations ?? []);
  return [
    { type: "review.recommended", data: { recommendations, at, ...(isSame ? { unchanged: true } : {}) } },
  ];
};
