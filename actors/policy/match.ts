/** Owns which policy applies to a tier at an airport (contract, "Policy": the first match wins), and its defaults. */
import { convertMinor } from "../../schemas/exchange-rates.ts";
import { type DetectionTerm, detectionThresholdDefault } from "../../schemas/flight.ts";
import type { PolicyBody, PolicyCandidate, ResolvedPolicy } from "../../schemas/policy.ts";
import { urn } from "../../schemas/urn.ts";
import { cabins, type Tier } from "../../schemas/vocabulary.ts";
import type { PolicyState } from "./state.ts";

export interface Candidate {
  policyId: string;
  version: number;
  activatedAt: Date;
  policy: PolicyState;
}

/** The contract's order; the first kind that has a policy wins. */
export const matchOrder = ["airport+airline+tier", "airport+tier", "airline+tier", "global by tier"] as const;
export type MatchedBy = (typeof matchOrder)[number];

const kindOf = ({ context }: PolicyBody): MatchedBy =>
  context.airport !== undefined
    ? context.airline !== undefined
      ? "airport+airline+tier"
      : "airport+tier"
    : context.airline !== undefined
      ? "airline+tier"
      : "global by tier";

export interface Match {
  candidate: Candidate;
  matchedBy: MatchedBy;
}

/** Of two policies of the same kind, the one activated last wins, and of two in one moment the one made later. Undefined when nothing applies. */
export const matchPolicy = (
  candidates: readonly Candidate[],
  airport: string,
  tier: Tier,
): Match | undefined => {
  const fitting = candidates
    .filter(({ policy: { body } }) => body.tiers.includes(tier))
    .filter(({ policy: { body } }) => body.context.airport === undefined || body.context.airport === airport)
    .map((candidate) => ({ candidate, matchedBy: kindOf(candidate.policy.body) }));
  return fitting.sort(
    (a, b) =>
      matchOrder.indexOf(a.matchedBy) - matchOrder.indexOf(b.matchedBy) ||
      b.candidate.activatedAt.getTime() - a.candidate.activatedAt.getTime() ||
      (a.candidate.policyId < b.candidate.policyId ? 1 : -1),
  )[0];
};

/** All of them as the preview shows them (contract, "Policy": matching): the one that applies first, the others with what keeps them from it. */
export const verdictsOn = (
  candidates: readonly Candidate[],
  airport: string,
  tier: Tier,
): PolicyCandidate[] => {
  const match = matchPolicy(candidates, airport, tier);
  const verdicts = candidates.map((candidate): PolicyCandidate => {
    const { policyId, version, policy } = candidate;
    return {
      policyUrn: urn("policy", policyId),
      name: policy.body.name,
      version,
      kind: kindOf(policy.body),
      ...verdictOn(candidate, match, airport, tier),
    };
  });
  const rank = ({ verdict, kind }: PolicyCandidate): number =>
    (verdict === "APPLIES" ? 0 : 10) + matchOrder.indexOf(kind as MatchedBy);
  return verdicts.sort((a, b) => rank(a) - rank(b) || (a.policyUrn < b.policyUrn ? -1 : 1));
};

const verdictOn = (
  candidate: Candidate,
  match: Match | undefined,
  airport: string,
  tier: Tier,
): Pick<PolicyCandidate, "verdict" | "detail"> => {
  const { context, tiers } = candidate.policy.body;
  if (context.airport !== undefined && context.airport !== airport)
    return { verdict: "OTHER_AIRPORT", detail: `It is for ${context.airport} alone.` };
  if (!tiers.includes(tier))
    return { verdict: "OTHER_TIER", detail: `It covers ${tiers.join(", ")}, not ${tier}.` };
  if (match === undefined || match.candidate === candidate)
    return { verdict: "APPLIES", detail: `It is the first match: ${kindOf(candidate.policy.body)}.` };
  const { matchedBy } = match;
  const { name } = match.candidate.policy.body;
  if (matchedBy !== kindOf(candidate.policy.body))
    return { verdict: "WIDER_CONTEXT", detail: `${matchedBy} comes before it: ${name}.` };
  return { verdict: "ACTIVATED_EARLIER", detail: `${name}, of the same kind, was activated after it.` };
};

const defaultWeights = { cost: 0.6, distance: 0.25, consolidation: 0.15 };

/** `consolidationWeight` replaces the weight of the same name; the three are then scaled to sum 1. */
export const weightsOf = (body: PolicyBody): ResolvedPolicy["weights"] => {
  const raw = { ...defaultWeights, ...body.allocationWeights };
  if (body.consolidationWeight !== undefined) raw.consolidation = body.consolidationWeight;
  const sum = raw.cost + raw.distance + raw.consolidation;
  if (sum === 0) return defaultWeights;
  return { cost: raw.cost / sum, distance: raw.distance / sum, consolidation: raw.consolidation / sum };
};

/**
 * Where no rate is known the limit stays in its own currency: every offer is then refused for its currency, with that
 * reason, and a person decides.
 */
const limitIn = (limit: number, own: string, local: string): { amountMinor: number; currency: string } => {
  const converted = convertMinor(limit, own, local);
  return converted === undefined
    ? { amountMinor: convertMinor(limit, own, own) as number, currency: own }
    : { amountMinor: converted, currency: local };
};

/**
 * A policy with its defaults, for a case at an airport where rooms are paid in `localCurrency`.
 * @param policyCurrency what the policy's amounts are in: of its own airport's country, else of the airline's home
 */
export const resolvePolicy = (
  candidate: Candidate,
  policyCurrency: string,
  localCurrency: string,
): ResolvedPolicy => {
  const { body } = candidate.policy;
  const { constraints = {}, buffers = {}, transport } = body;
  return {
    policyId: candidate.policyId,
    version: candidate.version,
    name: body.name,
    minStars: constraints.minStars,
    maxDistanceKm: constraints.maxDistanceKm,
    maxNightlyRate:
      constraints.maxNightlyRate === undefined
        ? undefined
        : limitIn(constraints.maxNightlyRate, policyCurrency, localCurrency),
    requiredAmenities: constraints.requiredAmenities ?? [],
    excludedChains: constraints.excludedChains ?? [],
    acceptedPayments: constraints.acceptedPayments ?? ["GUARANTEE"],
    allowProviders: constraints.allowProviders,
    lateCheckoutMinutes: buffers.lateCheckoutMinutes ?? 0,
    earlyCheckInMinutes: buffers.earlyCheckInMinutes ?? 0,
    mode: body.mode ?? "ON_DEMAND",
    batchIntervalMinutes: body.batchIntervalMinutes ?? 15,
    autoApproveDemand: body.autoApproveDemand ?? false,
    maxAutomaticRoomsPerWave: body.maxAutomaticRoomsPerWave ?? 0,
    incrementalRequiresApproval: body.incrementalRequiresApproval ?? false,
    weights: weightsOf(body),
    transport: {
      mode: transport?.mode ?? "SHUTTLE",
      perTier: transport?.perTier ?? {},
      minutesBeforePickup: transport?.minutesBeforePickup ?? 180,
      shuttleCapacity: transport?.shuttleCapacity ?? 24,
      onDemand: transport?.onDemand ?? false,
    },
    autoBook: body.autoBook ?? true,
    maxOccupancy: body.maxOccupancy ?? 2,
    incidentalsMinor: body.incidentalsMinor ?? 0,
  };
};

/** From when on a predicted disruption at an airport counts: who will be stranded is not known yet, so each cabin's policy has its say. */
export const detectionTerms = (candidates: readonly Candidate[], airport: string): DetectionTerm[] => {
  const matched = cabins.flatMap((tier) => matchPolicy(candidates, airport, tier)?.candidate ?? []);
  return [...new Set(matched)].map(({ policyId, version, policy: { body } }) => ({
    policyId,
    version,
    threshold: body.detectionThreshold ?? detectionThresholdDefault,
    opens: body.openOnDetection ?? false,
  }));
};
