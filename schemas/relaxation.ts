/** Owns policy limits loosened for one case: their form, what counts as loosening, and a policy with them applied. */
import Type, { type Static } from "typebox";
import { convertMinor } from "./exchange-rates.ts";
import { patchFormOf } from "./merge-patch.ts";
import { PolicyConstraints, type ResolvedPolicy } from "./policy.ts";
import type { FieldError } from "./problems.ts";

type Constraints = Static<typeof PolicyConstraints>;

/** As a policy's constraints; null lifts a limit altogether. */
export type RelaxedFields = { [Name in keyof Constraints]?: Constraints[Name] | null };

export const RelaxedFields = Type.Unsafe<RelaxedFields>({
  ...patchFormOf(PolicyConstraints),
  additionalProperties: false,
  minProperties: 1,
  title: "RelaxedFields",
  description:
    "Constraints of the policy with a looser value, for this case alone; null lifts a limit. `maxNightlyRate` is in the currency that rooms at the case's airport are paid in.",
  examples: [{ maxDistanceKm: 30 }],
});

const isWithin = <T>(wider: readonly T[], narrower: readonly T[]): boolean =>
  narrower.every((one) => wider.includes(one));

const lowerOf = (a: number | undefined, b: number | null): number | undefined =>
  a === undefined || b === null ? undefined : Math.min(a, b);
const higherOf = (a: number | undefined, b: number | null): number | undefined =>
  a === undefined || b === null ? undefined : Math.max(a, b);

/** Of the policy's value and the relaxed one the looser, so that a policy that is loosened later still counts. */
const loosened: {
  [Name in keyof RelaxedFields]-?: (
    policy: ResolvedPolicy,
    value: Exclude<RelaxedFields[Name], undefined>,
  ) => Partial<ResolvedPolicy>;
} = {
  minStars: ({ minStars }, value) => ({ minStars: lowerOf(minStars, value) }),
  maxDistanceKm: ({ maxDistanceKm }, value) => ({ maxDistanceKm: higherOf(maxDistanceKm, value) }),
  maxNightlyRate: ({ maxNightlyRate }, value) => {
    if (maxNightlyRate === undefined || value === null) return { maxNightlyRate: undefined };
    const { amountMinor, currency } = maxNightlyRate;
    const wanted = convertMinor(value, currency, currency) ?? 0;
    return { maxNightlyRate: { amountMinor: Math.max(amountMinor, wanted), currency } };
  },
  requiredAmenities: ({ requiredAmenities }, value) => ({
    requiredAmenities: requiredAmenities.filter((one) => (value as string[] | null)?.includes(one)),
  }),
  excludedChains: ({ excludedChains }, value) => {
    const kept = (value ?? []).map((chain) => chain.toLowerCase());
    return { excludedChains: excludedChains.filter((chain) => kept.includes(chain.toLowerCase())) };
  },
  acceptedPayments: ({ acceptedPayments }, value) => ({
    acceptedPayments: [...new Set([...acceptedPayments, ...(value ?? [])])],
  }),
  allowProviders: ({ allowProviders }, value) => ({
    allowProviders:
      allowProviders === undefined || value === null
        ? undefined
        : [...new Set([...allowProviders, ...value])],
  }),
};

type Loosen = (policy: ResolvedPolicy, value: unknown) => Partial<ResolvedPolicy>;

const applied = (policy: ResolvedPolicy, fields: RelaxedFields): ResolvedPolicy => {
  let loose = policy;
  for (const [name, value] of Object.entries(fields))
    loose = { ...loose, ...(loosened[name as keyof RelaxedFields] as Loosen)(loose, value) };
  return loose;
};

/** The policy with all of these in the order in which they were given; the policy itself is left as it is. */
export const relaxed = (
  policy: ResolvedPolicy,
  relaxations: readonly { fields: RelaxedFields }[] = [],
): ResolvedPolicy => relaxations.reduce((loose, { fields }) => applied(loose, fields), policy);

/** What a tier's policy says of these fields. */
export const valuesOf = (policy: ResolvedPolicy, fields: RelaxedFields): Record<string, unknown> =>
  Object.fromEntries(Object.keys(fields).map((name) => [name, policy[name as keyof ResolvedPolicy] ?? null]));

/** Whether a list leaves out what the policy allows, or asks for more than it does. */
const narrows = (policy: ResolvedPolicy, name: keyof RelaxedFields, value: unknown): boolean => {
  if (value === null || policy[name] === undefined) return false;
  switch (name) {
    case "acceptedPayments":
    case "allowProviders":
      return !isWithin(value as string[], policy[name] as string[]);
    case "requiredAmenities":
    case "excludedChains":
      return !isWithin(policy[name], value as string[]);
    default:
      return false;
  }
};

/**
 * The fields that loosen nothing for any of these policies, each with why; empty: all of them do. No field at all is none, too.
 * @param policies of the tiers concerned, as they are with what was relaxed before
 */
export const notLooser = (policies: readonly ResolvedPolicy[], fields: RelaxedFields): FieldError[] => {
  const names = Object.keys(fields) as (keyof RelaxedFields)[];
  if (names.length === 0) return [{ pointer: "/fields", detail: "names no constraint of a policy" }];
  return names.flatMap((name) => faultOf(policies, name, fields[name]) ?? []);
};

const faultOf = (
  policies: readonly ResolvedPolicy[],
  name: keyof RelaxedFields,
  value: unknown,
): FieldError | undefined => {
  const pointer = `/fields/${name}`;
  if (policies.some((policy) => narrows(policy, name, value)))
    return { pointer, detail: "allows less, or asks for more, than what holds" };
  const said = (policy: ResolvedPolicy): string => JSON.stringify(policy[name] ?? null);
  if (policies.some((policy) => said(applied(policy, { [name]: value })) !== said(policy))) return undefined;
  return {
    pointer,
    detail: `is no looser than what holds: ${policies.map(said).join(", ")} (null: no limit)`,
  };
};
