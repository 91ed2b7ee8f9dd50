/** Owns the operator rows by which a policy is asked for in words; what becomes of the draft is `policies.ts`'s. */
import { PolicyView, SynthesizePolicyBody } from "../../../schemas/policy.ts";
import type { Route } from "../../route.ts";

const synthesis = {
  surface: "operator",
  method: "post",
  description:
    "From a description in English, Spanish or Portuguese: a DRAFT with its `provenance`, which has no effect until somebody activates it. What the description leaves open, contradicts or can't be said by a policy is listed in `unclear`, and not guessed. A description that says nothing of a policy is refused. Mail addresses and long numbers in it are masked before it is kept.",
  role: "OPS_SUPERVISOR",
  rate: "write",
  body: SynthesizePolicyBody,
  command: "policy.synthesize",
  success: 201,
  response: PolicyView,
  problems: ["auth/foreign-airport", "not-found/resource"],
} as const;

export const policySynthesisRoutes = [
  {
    ...synthesis,
    id: "generatePolicy",
    path: "/policies/generate-ai",
    prefixes: ["/v1"],
    summary: "Draft a policy from natural language",
  },
  {
    ...synthesis,
    id: "synthesizePolicy",
    path: "/policies/synthesize",
    prefixes: ["", "/v1"],
    summary: "Synthesize a policy from a description",
  },
] as const satisfies readonly Route[];
