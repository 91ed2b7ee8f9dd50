/** Owns a wave's decision, and what it sends: an assignment to each group, the case's note, a review of who was not placed. */
import type { Allocation, AllocationResult, GroupNeed } from "../../schemas/allocation.ts";
import type { Assignment, HotelCandidate, SagaTerms } from "../../schemas/assignment.ts";
import { distanceKmBetween } from "../../schemas/distance.ts";
import type { HotelOffer } from "../../schemas/hotel.ts";
import type { ResolvedPolicy } from "../../schemas/policy.ts";
import type { Tier, VehicleType } from "../../schemas/vocabulary.ts";
import type { Outgoing, Received } from "../runtime/decider.ts";
import { allocate } from "./allocation/allocate.ts";
import { roomsNeeded } from "./allocation/gates.ts";
import type { WaveInput } from "./gather.ts";
import { keptResult, type WaveEvent, type WaveState } from "./state.ts";

/** Made once; a repeated command finds the wave there. The messages are worked out beside the state and kept by nobody. */
export interface DecidedWave {
  event: WaveEvent;
  assignments: { subCaseId: string; assignment: Assignment }[];
}

export const decideWave = (command: Received, input: WaveInput): DecidedWave => {
  const { caseId, demandId } = command.data as { caseId: string; demandId: string };
  const airport = { latitude: input.airport.latitude, longitude: input.airport.longitude };
  const results = input.stays.map(({ groups, search }) =>
    allocate({ groups, offers: search.offers, policyOf: (tier) => input.policies[tier], airport }),
  );
  const groups = new Map(input.stays.flatMap((stay) => stay.groups).map((group) => [group.groupId, group]));
  const result = merged(results);
  const failures = new Map(
    input.stays.flatMap(({ search }) => search.partialFailures).map((f) => [f.failedDomain, f]),
  );
  const state: WaveState = {
    caseId,
    demandId,
    airport: input.airport.code,
    policies: Object.entries(input.policies).map(([tier, policy]) => ({
      tier: tier as Tier,
      policyId: policy.policyId,
      version: policy.version,
    })),
    ...keptResult(result),
    partialFailures: [...failures.values()],
    createdAt: new Date(command.issuedAt),
    completedAt: command.now,
  };
  return {
    event: { type: "wave.completed", data: state },
    assignments: result.allocations.map((allocation) => ({
      subCaseId: allocation.subCaseId,
      assignment: assignmentOf(
        command.entity,
        allocation,
        groups.get(allocation.groupId) as GroupNeed,
        input,
      ),
    })),
  };
};

const merged = (results: AllocationResult[]): AllocationResult => {
  const totals = new Map<string, number>();
  for (const { currency, amountMinor } of results.flatMap(({ totals: t }) => t)) {
    totals.set(currency, (totals.get(currency) ?? 0) + amountMinor);
  }
  return {
    allocations: results.flatMap(({ allocations }) => allocations),
    unplaced: results.flatMap(({ unplaced }) => unplaced),
    rankingInputs: results.flatMap(({ rankingInputs }) => rankingInputs),
    totals: [...totals].map(([currency, amountMinor]) => ({ currency, amountMinor })),
    objective: results.reduce((sum, { objective }) => sum + objective, 0),
  };
};

const assignmentOf = (
  waveId: string,
  allocation: Allocation,
  group: GroupNeed,
  input: WaveInput,
): Assignment => {
  const policy = input.policies[group.tier] as ResolvedPolicy;
  const candidate = ({ hotelUrn, offer }: { hotelUrn: string; offer: HotelOffer }): HotelCandidate => ({
    hotelUrn,
    offer,
    rooms: roomsNeeded(group, offer),
    distanceKm: Math.round(10 * distanceKmBetween(input.airport, offer.coordinates)) / 10,
    payment: paymentOf(policy, offer),
  });
  return {
    waveId,
    stay: { checkIn: group.checkIn, checkOut: group.checkOut, nights: group.nights },
    candidates: [allocation, ...allocation.alternatives].map(candidate),
    terms: termsOf(group, policy, allocation.offer, input),
    book: policy.autoBook,
  };
};

const termsOf = (
  group: GroupNeed,
  policy: ResolvedPolicy,
  offer: HotelOffer,
  input: WaveInput,
): SagaTerms => ({
  airport: {
    code: input.airport.code,
    name: input.airport.name,
    coordinates: { latitude: input.airport.latitude, longitude: input.airport.longitude },
  },
  airlineName: input.airlineName,
  passengerHost: input.passengerHost,
  vehicleType: vehicleOf(group, policy),
  incidentalsMinor: policy.incidentalsMinor * group.passengers * group.nights,
  currency: offer.currency,
  vendors: input.vendors,
});

/** A wheelchair decides before the tier, the tier before the policy's mode. */
const vehicleOf = (group: GroupNeed, { transport }: ResolvedPolicy): VehicleType =>
  group.needs.includes("WHEELCHAIR")
    ? "WHEELCHAIR_VAN"
    : ((transport.perTier[group.tier] ?? transport.mode) as VehicleType);

const paymentOf = (policy: ResolvedPolicy, offer: HotelOffer): "GUARANTEE" | "CARD" =>
  policy.acceptedPayments.includes("GUARANTEE") && offer.acceptedPayments.includes("GUARANTEE")
    ? "GUARANTEE"
    : "CARD";

/** What follows a wave, in an order that lets the case know before its groups report. */
export const outgoingOf = (waveId: string, { event, assignments }: DecidedWave): Outgoing[] => {
  const wave = event.data;
  const note: Outgoing = {
    to: "command",
    name: "case.note-wave",
    entity: wave.caseId,
    data: {
      waveId,
      allocated: wave.allocations.map(({ groupId }) => groupId),
      unplaced: wave.unplaced.map(({ groupId }) => groupId),
    },
  };
  const assigned = assignments.map(
    ({ subCaseId, assignment }): Outgoing => ({
      to: "command",
      name: "sub-case.assign",
      entity: subCaseId,
      data: assignment,
    }),
  );
  return [note, ...assigned, ...unplacedItem(waveId, wave)];
};

const unplacedItem = (waveId: string, wave: WaveState): Outgoing[] => {
  if (wave.unplaced.length === 0) return [];
  const reasons = [...new Set(wave.unplaced.map(({ reason }) => reason))].slice(0, 3).join(" ");
  const missing = wave.partialFailures.map(({ failedDomain }) => failedDomain);
  const late = missing.length === 0 ? "" : ` No answer from ${missing.join(", ")}.`;
  return [
    {
      to: "command",
      name: "review.open",
      entity: "",
      data: {
        caseId: wave.caseId,
        airport: wave.airport,
        category: "ALLOCATION_FAILED",
        origin: "allocation",
        detail: `${reasons}${late}`,
        attemptedHotels: [],
        affectedGroups: wave.unplaced.map(({ groupId }) => groupId),
        // The item of an earlier wave may be resolved: each wave's is its own.
        occurrence: waveId,
      },
    },
  ];
};
