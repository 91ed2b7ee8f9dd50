/** Owns what a reader of policies sees. */

import type { PartnerPolicy } from "../../schemas/partner-reads.ts";
import { urn } from "../../schemas/urn.ts";
import type { PolicyStatus } from "../../schemas/vocabulary.ts";
import type { PolicyState } from "./state.ts";

export const policyView = (policyId: string, policy: PolicyState, version: number, status: PolicyStatus) => ({
  urn: urn("policy", policyId),
  ...policy.body,
  status,
  version,
  createdAt: policy.createdAt.toISOString(),
  ...(policy.provenance === undefined ? {} : { provenance: policy.provenance }),
  ...(policy.unclear === undefined ? {} : { unclear: policy.unclear }),
});

/** What passengers are entitled to (`schemas/partner-reads.ts` says why no more). */
export const partnerPolicy = (policyId: string, { body }: PolicyState, version: number): PartnerPolicy => {
  const { name, context, tiers, constraints, buffers, maxOccupancy, transport } = body;
  return {
    urn: urn("policy", policyId),
    name,
    context,
    tiers,
    ...(constraints === undefined
      ? {}
      : { constraints: only(constraints, ["minStars", "maxDistanceKm", "requiredAmenities"]) }),
    ...(buffers === undefined ? {} : { buffers }),
    ...(maxOccupancy === undefined ? {} : { maxOccupancy }),
    ...(transport === undefined
      ? {}
      : { transport: only(transport, ["mode", "perTier", "minutesBeforePickup"]) }),
    version,
  };
};

const only = <T extends object, K extends keyof T>(all: T, names: readonly K[]): Pick<T, K> =>
  Object.fromEntries(names.filter((name) => name in all).map((name) => [name, all[name]])) as Pick<T, K>;
