/** Owns the operator rows about manual review: the queue, whose an item is, and what its claimant does about it. */
import Type, { type TObject } from "typebox";
import { pageOf } from "../../../schemas/page.ts";
import { ResolveReviewBody, ReviewItemView, ReviewListQuery } from "../../../schemas/review.ts";
import {
  AssignReviewBody,
  EscalateReviewBody,
  OverrideReviewBody,
  RebookReviewBody,
  RelaxReviewBody,
  ReleaseReviewBody,
  SplitReviewBody,
} from "../../../schemas/review-actions.ts";
import { Urn } from "../../../schemas/urn.ts";
import type { Route } from "../../route.ts";

const params = Type.Object({ reviewUrn: Urn("review") });

const conflicts = ["conflict/state", "conflict/version", "conflict/concurrent-write"] as const;

/** Contract, role rules: an operator works the items of their airport; the booking desk's address takes a supervisor. */
const write = {
  surface: "operator",
  method: "post",
  rate: "write",
  params,
  entity: "reviewUrn",
  success: 200,
  response: ReviewItemView,
  problems: ["auth/foreign-airport", ...conflicts],
} as const;

const atDesk = { prefixes: ["/v1"], role: "OPS_SUPERVISOR" } as const;
const inField = { prefixes: ["", "/v1"], role: "AIRPORT_OPERATOR" } as const;

const resolution = {
  ...write,
  summary: "Resolve a manual review item",
  description:
    "The case returns to its flow. REBOOKED: a room was found by hand. SETTLED, DISMISSED: none is needed any more. RETRIED: automation tries again. Any other value says in your words that it has been seen to.",
  body: ResolveReviewBody,
  command: "review.resolve",
} as const;

const queue = {
  surface: "operator",
  method: "get",
  summary: "List the manual review queue",
  description: "What automation could not resolve, the newest first, each item with its SLA's clock.",
  rate: "read",
  querystring: ReviewListQuery,
  query: "review.list",
  success: 200,
  response: pageOf(ReviewItemView, "ReviewPage"),
  problems: ["auth/foreign-airport"],
} as const;

const runsOn =
  "The item has to be yours. What would be refused is refused at once, and nothing is done; what is begun runs on its own: `actions` tells how it went, and the item is resolved as HOUSED once each of its groups has a room. When it fails the item is still yours.";

/** What its claimant sets going. Locks of groups hold here as anywhere. */
const action = <Body extends TObject>(body: Body) =>
  ({
    ...write,
    body,
    success: 202,
    problems: [
      "auth/foreign-airport",
      "conflict/demand-not-approved",
      "conflict/sub-case-locked",
      "conflict/stale-fencing-token",
      ...conflicts,
    ],
  }) as const;

export const reviewRoutes = [
  { ...queue, ...atDesk, id: "listManualReview", path: "/booking/manual-review" },
  { ...queue, ...inField, id: "listReviewItems", path: "/manual-review" },
  {
    ...inField,
    id: "getReviewItem",
    surface: "operator",
    method: "get",
    path: "/manual-review/{reviewUrn}",
    summary: "Read a manual review item",
    description: "With its SLA's clock, and what was done about it.",
    rate: "read",
    params,
    query: "review.item",
    success: 200,
    response: ReviewItemView,
    problems: ["auth/foreign-airport"],
  },
  {
    ...write,
    ...inField,
    id: "claimReview",
    path: "/manual-review/{reviewUrn}/claim",
    summary: "Claim a manual review item",
    description: "It is yours until it is resolved or released; others are refused with your name.",
    command: "review.claim",
  },
  {
    ...write,
    ...inField,
    id: "releaseReview",
    path: "/manual-review/{reviewUrn}/release",
    summary: "Leave a claimed item to others",
    description: "It is OPEN again. What you have set going runs on.",
    body: ReleaseReviewBody,
    command: "review.release",
  },
  {
    ...action(RebookReviewBody),
    ...inField,
    id: "rebookReview",
    path: "/manual-review/{reviewUrn}/rebook",
    summary: "Book a hotel for an item's groups",
    description: `A hotel within the policy, with what is relaxed for the case; past the policy goes an override. A group with a room elsewhere changes hotels. ${runsOn}`,
    command: "review.rebook",
  },
  {
    ...action(RelaxReviewBody),
    ...inField,
    id: "relaxReview",
    path: "/manual-review/{reviewUrn}/relax",
    summary: "Loosen the policy for this case",
    description: `For this case alone: the policy stays as it is. Only what is looser than what holds is taken. The groups that wait are then allocated again. ${runsOn}`,
    command: "review.relax",
  },
  {
    ...action(SplitReviewBody),
    ...inField,
    id: "splitReview",
    path: "/manual-review/{reviewUrn}/split",
    summary: "Split a group of an item",
    description: `\`into\` holds all passengers of one of its groups, part by part; the first part keeps the group's id. A group that spans cabins is settled once each part has one. ${runsOn}`,
    command: "review.split",
  },
  {
    ...action(OverrideReviewBody),
    id: "overrideReview",
    path: "/manual-review/{reviewUrn}/override",
    prefixes: ["", "/v1"],
    role: "OPS_SUPERVISOR",
    summary: "Book an exact offer for an item's groups",
    description: `Also past the policy's limits; rooms enough, and accessible ones where they are needed, it must have. An offer that is on no more is refused. ${runsOn}`,
    command: "review.override",
  },
  { ...resolution, ...inField, id: "resolveReview", path: "/manual-review/{reviewUrn}/resolve" },
  { ...resolution, ...atDesk, id: "resolveReviewAtDesk", path: "/booking/manual-review/{reviewUrn}/resolve" },
  {
    ...write,
    ...atDesk,
    id: "assignReview",
    path: "/booking/manual-review/{reviewUrn}/assign",
    summary: "Give an item to somebody",
    description: "It is claimed in their name, also when another had claimed it.",
    body: AssignReviewBody,
    command: "review.assign",
  },
  {
    ...write,
    ...atDesk,
    id: "escalateReview",
    path: "/booking/manual-review/{reviewUrn}/escalate",
    summary: "Escalate an item",
    description:
      "Its priority is raised one level, with that level's clock where it ends earlier, and on-call is paged. At HIGH it only pages.",
    body: EscalateReviewBody,
    command: "review.escalate",
  },
] as const satisfies readonly Route[];
