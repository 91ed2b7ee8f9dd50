/** Owns what a reader of policies sees. */

import { urn } from "../../schemas/urn.ts";
import type { PolicyStatus } from "../../schemas/vocabulary.ts";
import type { PolicyState } from "./state.ts";

export const policyView = (policyId: string, policy: PolicyState, version: number, status: PolicyStatus) => ({
  urn: urn("policy", policyId),
  ...policy.body,
  status,
  version,
  createdAt: policy.createdAt.toISOString(),
});
