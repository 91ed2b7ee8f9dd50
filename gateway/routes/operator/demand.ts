/** Owns the operator rows about demand: asking for rooms, deciding, the queue and the summary. */
import Type from "typebox";
import {
  DemandDecisionBody,
  DemandRequestBody,
  DemandSummary,
  DemandView,
  PendingApproval,
} from "../../../schemas/demand.ts";
import { PageQuery, pageOf } from "../../../schemas/page.ts";
import { Urn } from "../../../schemas/urn.ts";
import type { Route } from "../../route.ts";

const caseParams = Type.Object({ caseUrn: Urn("case") });

/** No `entity`: the case that holds the demand is found by the demand's URN, which stays in the data. */
const decision = {
  surface: "operator",
  method: "post",
  prefixes: ["", "/v1"],
  role: "OPS_SUPERVISOR",
  rate: "write",
  idempotent: true,
  params: Type.Object({ demandUrn: Urn("demand") }),
  body: DemandDecisionBody,
  success: 200,
  response: DemandView,
  problems: ["auth/foreign-airport", "conflict/state", "conflict/version", "conflict/concurrent-write"],
} as const;

export const demandRoutes = [
  {
    id: "requestDemand",
    surface: "operator",
    method: "post",
    path: "/demand/case/{caseUrn}",
    prefixes: ["", "/v1"],
    summary: "Ask for rooms",
    description: "Approved at once where the policy allows it; else it waits for a supervisor.",
    role: "AIRPORT_OPERATOR",
    rate: "write",
    idempotent: true,
    params: caseParams,
    body: DemandRequestBody,
    command: "case.request-demand",
    entity: "caseUrn",
    success: 201,
    response: DemandView,
    problems: ["auth/foreign-airport", "conflict/state", "conflict/version", "conflict/concurrent-write"],
  },
  {
    ...decision,
    id: "approveDemand",
    path: "/demand/{demandUrn}/approve",
    summary: "Approve a demand",
    description:
      "Allocation follows at once. Who approved, when, why and under which policy version is kept.",
    command: "case.approve-demand",
  },
  {
    ...decision,
    id: "rejectDemand",
    path: "/demand/{demandUrn}/reject",
    summary: "Reject a demand",
    description: "Only while it is REQUESTED.",
    command: "case.reject-demand",
  },
  {
    id: "listPendingApprovals",
    surface: "operator",
    method: "get",
    path: "/demand/pending/approvals",
    prefixes: ["/v1"],
    summary: "List demands that wait for a decision",
    description: "Oldest first.",
    role: "OPS_SUPERVISOR",
    rate: "read",
    querystring: Type.Object(PageQuery),
    query: "case.pending-approvals",
    success: 200,
    response: pageOf(PendingApproval, "PendingApprovalPage"),
    problems: [],
  },
  {
    id: "getDemandSummary",
    surface: "operator",
    method: "get",
    path: "/demand/case/{caseUrn}/summary",
    prefixes: ["", "/v1"],
    summary: "Sum up a case's demand",
    description: "Rooms asked for, approved, allocated, booked, and why rooms are missing.",
    role: "AIRPORT_OPERATOR",
    rate: "read",
    params: caseParams,
    query: "case.demand-summary",
    success: 200,
    response: DemandSummary,
    problems: ["auth/foreign-airport"],
  },
] as const satisfies readonly Route[];
