/** Owns the operator rows about policies: creating, activating, and asking which one counts. */
import Type from "typebox";
import { PageQuery, pageOf } from "../../../schemas/page.ts";
import { PolicyBody, PolicyView } from "../../../schemas/policy.ts";
import { Urn } from "../../../schemas/urn.ts";
import { AirportCode, cabins } from "../../../schemas/vocabulary.ts";
import type { Route } from "../../route.ts";

export const policyRoutes = [
  {
    id: "createPolicy",
    surface: "operator",
    method: "post",
    path: "/policies",
    prefixes: ["", "/v1"],
    summary: "Create a policy",
    description: "As a DRAFT, which has no effect until it is activated.",
    role: "OPS_SUPERVISOR",
    rate: "write",
    idempotent: true,
    body: PolicyBody,
    command: "policy.create",
    success: 201,
    response: PolicyView,
    problems: ["auth/foreign-airport"],
  },
  {
    id: "activatePolicy",
    surface: "operator",
    method: "post",
    path: "/policies/{policyUrn}/activate",
    prefixes: ["", "/v1"],
    summary: "Activate a policy",
    description: "The policy active until now in the same context becomes ARCHIVED in the same moment.",
    role: "ADMIN",
    rate: "write",
    idempotent: true,
    params: Type.Object({ policyUrn: Urn("policy") }),
    command: "policy.activate",
    entity: "policyUrn",
    success: 200,
    response: PolicyView,
    problems: ["auth/foreign-airport", "conflict/state", "conflict/version", "conflict/concurrent-write"],
  },
  {
    id: "listActivePolicies",
    surface: "operator",
    method: "get",
    path: "/policies/active",
    prefixes: ["/v1"],
    summary: "List active policies",
    description: "All that are active for the airline.",
    role: "AIRPORT_OPERATOR",
    rate: "read",
    querystring: Type.Object(PageQuery),
    query: "policy.active",
    success: 200,
    response: pageOf(PolicyView, "PolicyPage"),
    problems: [],
  },
  {
    id: "resolvePolicy",
    surface: "operator",
    method: "get",
    path: "/policies/resolve",
    prefixes: ["/v1"],
    summary: "Preview which policy applies",
    description:
      "The first match in the order airport and airline and tier, airport and tier, airline and tier, tier alone.",
    role: "AIRPORT_OPERATOR",
    rate: "read",
    querystring: Type.Object({ airport: AirportCode, tier: Type.Enum([...cabins]) }),
    query: "policy.resolve",
    success: 200,
    response: Type.Object(
      { matchedBy: Type.String({ description: "Which kind of context matched." }), policy: PolicyView },
      { title: "PolicyMatch" },
    ),
    problems: ["not-found/resource"],
  },
] as const satisfies readonly Route[];
