/** Owns the operator rows about policies: creating, changing, putting in and out of force, and asking which one counts. */
import Type from "typebox";
import { PageQuery, pageOf } from "../../../schemas/page.ts";
import {
  CreatePolicyBody,
  PatchPolicyBody,
  PolicyMatch,
  PolicyStandingBody,
  PolicyView,
} from "../../../schemas/policy.ts";
import { Urn } from "../../../schemas/urn.ts";
import { AirportCode, cabins } from "../../../schemas/vocabulary.ts";
import type { Route } from "../../route.ts";

const policyParams = Type.Object({ policyUrn: Urn("policy") });

/** Of one policy: who may is on the row. */
const change = {
  surface: "operator",
  method: "post",
  rate: "write",
  params: policyParams,
  entity: "policyUrn",
  success: 200,
  response: PolicyView,
  problems: ["auth/foreign-airport", "conflict/state", "conflict/version", "conflict/concurrent-write"],
} as const;

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
    body: CreatePolicyBody,
    command: "policy.create",
    success: 201,
    response: PolicyView,
    problems: ["auth/foreign-airport"],
  },
  {
    ...change,
    id: "patchPolicy",
    path: "/policies/{policyUrn}/patch",
    prefixes: ["", "/v1"],
    summary: "Patch a policy",
    description:
      "A JSON Merge Patch: what is named changes, null puts back a default. It stays the same policy with the same status, one version on. Of an ACTIVE policy it counts from the next decision on: cases under way ask for demand and run waves by it from then on, while rooms, approvals and waves that stand keep the version they were made under. A policy that has been in force keeps its airport, airline and tiers.",
    role: "OPS_SUPERVISOR",
    body: PatchPolicyBody,
    command: "policy.patch",
  },
  {
    ...change,
    id: "activatePolicy",
    path: "/policies/{policyUrn}/activate",
    prefixes: ["", "/v1"],
    summary: "Activate a policy",
    description:
      "A DRAFT, or an ARCHIVED one again. The policy active until now in the same context becomes ARCHIVED in the same moment. One that is ACTIVE already is refused with its state.",
    role: "ADMIN",
    body: PolicyStandingBody,
    command: "policy.activate",
  },
  {
    ...change,
    id: "deactivatePolicy",
    path: "/policies/{policyUrn}/deactivate",
    prefixes: ["", "/v1"],
    summary: "Take a policy out of force",
    description:
      "It becomes ARCHIVED and can be activated again. Cases that were planned under it keep it; new ones are matched with what is left.",
    role: "ADMIN",
    body: PolicyStandingBody,
    command: "policy.deactivate",
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
      "The first match in the order airport and airline and tier, airport and tier, airline and tier, tier alone; with every active policy and why it applies or doesn't.",
    role: "AIRPORT_OPERATOR",
    rate: "read",
    querystring: Type.Object({ airport: AirportCode, tier: Type.Enum([...cabins]) }),
    query: "policy.resolve",
    success: 200,
    response: PolicyMatch,
    problems: ["not-found/resource"],
  },
  {
    id: "getPolicy",
    surface: "operator",
    method: "get",
    path: "/policies/{policyUrn}",
    prefixes: ["/v1"],
    summary: "Read a policy",
    description: "In any status; its changes are in the audit trail.",
    role: "AIRPORT_OPERATOR",
    rate: "read",
    params: policyParams,
    query: "policy.one",
    success: 200,
    response: PolicyView,
    problems: [],
  },
] as const satisfies readonly Route[];
