/** Owns the operator rows that look over the work: reservations, the review queue, the audit trail. */
import Type from "typebox";
import { AuditEntryView, AuditQuery } from "../../../schemas/audit.ts";
import { ReservationView } from "../../../schemas/case.ts";
import { PageQuery, pageOf } from "../../../schemas/page.ts";
import { ResolveReviewBody, ReviewItemView, ReviewListQuery } from "../../../schemas/review.ts";
import { Urn, urnKinds } from "../../../schemas/urn.ts";
import type { Route } from "../../route.ts";

const caseParams = Type.Object({ caseUrn: Urn("case") });

const auditTrail = {
  surface: "operator",
  method: "get",
  prefixes: ["/v1"],
  // FINANCE_AUDIT is parallel to the operators' line (contract, "Operator").
  role: ["FINANCE_AUDIT", "OPS_SUPERVISOR"],
  rate: "read",
  querystring: AuditQuery,
  success: 200,
  response: pageOf(AuditEntryView, "AuditPage"),
  problems: ["auth/foreign-airport"],
} as const;

const reviewParams = Type.Object({ reviewUrn: Urn("review") });

/** Contract, role rules: an operator works the items of their airport; the booking desk's address takes a supervisor. */
const reviewWrite = {
  surface: "operator",
  method: "post",
  rate: "write",
  params: reviewParams,
  entity: "reviewUrn",
  success: 200,
  response: ReviewItemView,
  problems: ["auth/foreign-airport", "conflict/state", "conflict/version", "conflict/concurrent-write"],
} as const;

const resolution = {
  ...reviewWrite,
  summary: "Resolve a manual review item",
  description:
    "The case returns to its flow. REBOOKED: a room was found by hand. SETTLED, DISMISSED: none is needed any more. RETRIED: automation tries again. Any other value says in your words that it has been seen to.",
  body: ResolveReviewBody,
  command: "review.resolve",
} as const;

export const deskRoutes = [
  {
    id: "listManualReview",
    surface: "operator",
    method: "get",
    path: "/booking/manual-review",
    prefixes: ["/v1"],
    summary: "List the manual review queue",
    description: "What automation could not resolve.",
    role: "OPS_SUPERVISOR",
    rate: "read",
    querystring: ReviewListQuery,
    query: "review.list",
    success: 200,
    response: pageOf(ReviewItemView, "ReviewPage"),
    problems: ["auth/foreign-airport"],
  },
  {
    ...reviewWrite,
    id: "claimReview",
    path: "/manual-review/{reviewUrn}/claim",
    prefixes: ["", "/v1"],
    summary: "Claim a manual review item",
    description: "It is yours until it is resolved; others are refused with your name.",
    role: "AIRPORT_OPERATOR",
    command: "review.claim",
  },
  {
    ...resolution,
    id: "resolveReview",
    path: "/manual-review/{reviewUrn}/resolve",
    prefixes: ["", "/v1"],
    role: "AIRPORT_OPERATOR",
  },
  {
    ...resolution,
    id: "resolveReviewAtDesk",
    path: "/booking/manual-review/{reviewUrn}/resolve",
    prefixes: ["/v1"],
    role: "OPS_SUPERVISOR",
  },
  {
    id: "listReservations",
    surface: "operator",
    method: "get",
    path: "/booking/cases/{caseUrn}/reservations",
    prefixes: ["/v1"],
    summary: "List a case's reservations",
    description: "One per housed group.",
    role: "AIRPORT_OPERATOR",
    rate: "read",
    params: caseParams,
    querystring: Type.Object(PageQuery),
    query: "sub-case.reservations",
    success: 200,
    response: pageOf(ReservationView, "ReservationPage"),
    problems: ["auth/foreign-airport"],
  },
  {
    ...auditTrail,
    id: "getCaseAudit",
    path: "/audit/case/{caseUrn}",
    summary: "Read a case's audit trail",
    description: "Who did what, when and why, with the state before and after.",
    params: caseParams,
    query: "audit.of-case",
  },
  {
    ...auditTrail,
    id: "getEntityAudit",
    path: "/audit/entity/{entityUrn}",
    summary: "Read one entity's audit trail",
    description: "Of any kind that a URN can name.",
    params: Type.Object({ entityUrn: Urn(...urnKinds) }),
    query: "audit.of-entity",
  },
] as const satisfies readonly Route[];
