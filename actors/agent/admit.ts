/** Owns what is taken of a planner's answer: what names only things of the facts, within bounds, with cost and effect worked out from them. */
import { isDeepStrictEqual } from "node:util";
import { type ProposalKind, proposalKinds, type TriageCause, triageCauses } from "../../schemas/agent.ts";
import { RelaxedFields, relaxed } from "../../schemas/relaxation.ts";
import type { Money } from "../../schemas/vocabulary.ts";
import { fitting } from "../runtime/input.ts";
import { untried } from "./classify.ts";
import { type Facts, isFormer, type Search } from "./facts.ts";
import { type Placement, placementAt, relaxationsAt } from "./fit.ts";
import type { Draft, Plan } from "./planner.ts";

/** A proposal as it is kept. */
export interface Proposal {
  action: ProposalKind;
  hotelUrn: string;
  reason: string;
  value?: RelaxedFields;
  groupIds: string[];
  rooms: number;
  cost: Money;
  viability: number;
}

export interface AdmittedProposal extends Proposal {
  /** Who made it. */
  planner: string;
}

export interface Admitted {
  cause: TriageCause;
  confidence: number;
  evidence: string[];
  planner: string;
  /** The most viable first. */
  proposals: AdmittedProposal[];
}

const sentencesMax = 8;
const sentenceCharsMax = 240;
/** C0 and C1 control characters and line separators: a sentence is one line. */
const control = /[\p{Cc}\p{Zl}\p{Zp}]+/gu;

const sentence = (text: unknown): string =>
  [...String(text).replace(control, " ").trim().toWellFormed()].slice(0, sentenceCharsMax).join("");

const fraction = (value: unknown): number =>
  typeof value === "number" && value >= 0 ? Math.min(1, value) : 0;

const isRelaxation = fitting(RelaxedFields);

/** @throws Error for a cause that is none: the planner is broken, and the item is left as it is */
export const admit = (plan: Plan & { planner: string }, facts: Facts): Admitted => {
  if (!triageCauses.includes(plan.cause)) throw new Error("The planner names no cause that there is.");
  const proposals = plan.drafts.flatMap((draft) => {
    const proposal = admitted(draft, facts);
    return proposal === undefined ? [] : [{ ...proposal, planner: draft.planner ?? plan.planner }];
  });
  return {
    cause: plan.cause,
    confidence: fraction(plan.confidence),
    planner: plan.planner,
    evidence: plan.evidence
      .slice(0, sentencesMax)
      .map(sentence)
      .filter((text) => text !== ""),
    proposals: proposals.sort((a, b) => b.viability - a.viability || a.cost.amountMinor - b.cost.amountMinor),
  };
};

const admitted = (draft: Draft, facts: Facts): Proposal | undefined => {
  const { action, value } = draft;
  if (!proposalKinds.includes(action)) return undefined;
  if (action === "relaxPolicy" && !isRelaxation(value)) return undefined;
  const search = facts.searches.find(({ groups }) =>
    draft.groupIds.every((groupId) => groups.some((group) => group.groupId === groupId)),
  );
  const placed = search === undefined ? undefined : placedBy(draft, search, facts);
  if (placed === undefined || isFormer(facts, { action, hotelUrn: draft.hotelUrn, ...placed.value }))
    return undefined;
  const { placement, value: least } = placed;
  return {
    action,
    hotelUrn: draft.hotelUrn,
    reason: sentence(draft.reason),
    ...least,
    groupIds: placement.groupIds,
    rooms: placement.rooms,
    cost: placement.cost,
    viability: fraction(draft.viability),
  };
};

/**
 * What the hotel can do for the groups, and the value that a relaxation needs for it. Undefined: the hotel is not among what was found,
 * has refused before, would not take all of these groups even so, or could be had for less than the draft relaxes.
 */
const placedBy = (
  { hotelUrn, groupIds, value, action }: Draft,
  search: Search,
  facts: Facts,
): { placement: Placement; value: { value?: RelaxedFields } } | undefined => {
  const hotel = untried(facts, search.hotels).find((one) => one.hotelUrn === hotelUrn);
  const policy = facts.policies[search.tier];
  const groups = search.groups.filter(({ groupId }) => groupIds.includes(groupId));
  if (hotel === undefined || policy === undefined || groups.length === 0) return undefined;
  const loosest = action === "relaxPolicy" ? relaxed(policy, [{ fields: value ?? {} }]) : policy;
  const needed = relaxationsAt(hotel, groups, policy).find(({ value: least }) =>
    isDeepStrictEqual(relaxed(policy, [{ fields: least }]), loosest),
  );
  if (action === "relaxPolicy" && needed === undefined) return undefined;
  const placement = placementAt(hotel, groups, loosest);
  if (placement?.groupIds.length !== groups.length) return undefined;
  return {
    placement,
    value: action === "relaxPolicy" && needed !== undefined ? { value: needed.value } : {},
  };
};
