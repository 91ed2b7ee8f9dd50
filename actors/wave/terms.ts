/** Owns the terms that a group's saga works by: who rides in what, what the card holds, which vendors do it. */
import { airport as airportOf } from "../../schemas/airports.ts";
import type { GroupNeed } from "../../schemas/allocation.ts";
import type { SagaTerms, TermsAsked } from "../../schemas/assignment.ts";
import type { Query } from "../../schemas/command.ts";
import type { ResolvedPolicy } from "../../schemas/policy.ts";
import type { VendorChoice } from "../../schemas/vendor-call.ts";
import type { Tier, VehicleType } from "../../schemas/vocabulary.ts";
import type { ActorContext } from "../runtime/host.ts";
import type { WaveInput } from "./gather.ts";

type Traveller = Pick<GroupNeed, "tier" | "passengers" | "nights" | "needs">;

/** @param policy undefined: none covers the tier; then there is no card, and a shuttle unless a wheelchair needs more */
export const termsOf = (
  group: Traveller,
  policy: Pick<ResolvedPolicy, "incidentalsMinor" | "transport"> | undefined,
  currency: string,
  input: Pick<WaveInput, "airport" | "airlineName" | "passengerHost" | "vendors">,
): SagaTerms => ({
  airport: {
    code: input.airport.code,
    name: input.airport.name,
    coordinates: { latitude: input.airport.latitude, longitude: input.airport.longitude },
  },
  airlineName: input.airlineName,
  passengerHost: input.passengerHost,
  vehicleType: vehicleOf(group, policy),
  rides: ridesOf(policy, input.vendors),
  incidentalsMinor: (policy?.incidentalsMinor ?? 0) * group.passengers * group.nights,
  currency,
  vendors: input.vendors,
});

/** What the policies give as their own defaults (actors/policy). */
const minutesBeforePickupDefault = 180;
const shuttleCapacityDefault = 24;

/** A shuttle holds what the policy allows, and no more than the vendor's vehicles take. */
const ridesOf = (
  policy: Pick<ResolvedPolicy, "transport"> | undefined,
  { vehicleSeats }: VendorChoice,
): SagaTerms["rides"] => {
  const {
    minutesBeforePickup = minutesBeforePickupDefault,
    shuttleCapacity = shuttleCapacityDefault,
    onDemand = false,
  } = policy?.transport ?? {};
  const { SHUTTLE = shuttleCapacity, PRIVATE_CAR = 4, WHEELCHAIR_VAN = 6 } = vehicleSeats ?? {};
  const seats = { SHUTTLE: Math.min(shuttleCapacity, SHUTTLE), PRIVATE_CAR, WHEELCHAIR_VAN };
  return { minutesBeforePickup, seats, onDemand };
};

/** A wheelchair decides before the tier, the tier before the policy's mode. */
const vehicleOf = (group: Traveller, policy: Pick<ResolvedPolicy, "transport"> | undefined): VehicleType => {
  if (group.needs.includes("WHEELCHAIR")) return "WHEELCHAIR_VAN";
  const transport = policy?.transport;
  return (transport?.perTier[group.tier] ?? transport?.mode ?? "SHUTTLE") as VehicleType;
};

/** For a room that no wave has found: the terms under the policy in force now. */
export const termsNow = async (context: ActorContext, query: Query): Promise<SagaTerms> => {
  const { airport: code, currency, drill, ...group } = query.params as unknown as TermsAsked;
  const airport = airportOf(code);
  if (airport === undefined) throw new Error(`a group is at the unknown airport ${code}`);
  const [policies, vendors] = await Promise.all([
    context.call<Partial<Record<Tier, ResolvedPolicy | null>>>("policy.resolve-tiers", {
      ...query,
      params: { airport: code, tiers: [group.tier] },
    }),
    context.call<VendorChoice>("vendor-adapter.choice", { ...query, params: { drill } }),
  ]);
  const tenant = context.tenants.byCode(query.tenant);
  return termsOf(group, policies[group.tier] ?? undefined, currency, {
    airport,
    airlineName: tenant?.name ?? query.tenant,
    passengerHost: tenant?.passengerHosts[0] ?? "",
    vendors,
  });
};
