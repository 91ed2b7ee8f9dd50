/** Owns the bodies by which people work on a review item (contract, "Manual review item"); the item itself is `review.ts`. */
import Type from "typebox";
import { Concurrency } from "./concurrency.ts";
import { SplitGroupBody } from "./regroup.ts";
import { RelaxedFields } from "./relaxation.ts";
import { Urn } from "./urn.ts";
import { Reason } from "./vocabulary.ts";

/** The item's groups that it is for, of those still without what they need. */
const Groups = Type.Optional(
  Type.Array(Type.String({ minLength: 1, maxLength: 80 }), {
    minItems: 1,
    maxItems: 1500,
    uniqueItems: true,
    examples: [["G1"]],
    description: "Of the item's groups; default: all that it still stands open for.",
  }),
);

export const RebookReviewBody = Type.Object({
  hotelUrn: Urn("hotel"),
  groupIds: Groups,
  reason: Reason,
  ...Concurrency,
});

export const RelaxReviewBody = Type.Object({
  fields: RelaxedFields,
  groupIds: Groups,
  reason: Reason,
  ...Concurrency,
});

export const SplitReviewBody = Type.Object(SplitGroupBody.properties);

export const OverrideReviewBody = Type.Object({
  hotelUrn: Urn("hotel"),
  providerOfferId: Type.String({
    minLength: 1,
    maxLength: 200,
    examples: ["offer-1"],
    description: "The exact offer, as a wave or a hotel search shows it.",
  }),
  groupIds: Groups,
  reason: Reason,
  ...Concurrency,
});

export const AssignReviewBody = Type.Object({
  userUrn: Urn("user", "operator"),
  reason: Reason,
  ...Concurrency,
});

export const EscalateReviewBody = Type.Object({ reason: Reason, ...Concurrency });
export const ReleaseReviewBody = Type.Object({ reason: Type.Optional(Reason), ...Concurrency });
