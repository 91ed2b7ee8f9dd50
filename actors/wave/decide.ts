/** Owns a wave's decision, and what it sends: an assignment to each group, the case's note, a review of who was not placed. */
import type { Allocation, AllocationResult, GroupNeed, Market } from "../../schemas/allocation.ts";
import type { Assignment, HotelCandidate } from "../../schemas/assignment.ts";
import { distanceKmBetween } from "../../schemas/distance.ts";
import type { HotelOffer } from "../../schemas/hotel.ts";
import type { ResolvedPolicy } from "../../schemas/policy.ts";
import type { ActionNote, ForReview } from "../../schemas/review.ts";
import type { Tier } from "../../schemas/vocabulary.ts";
import type { Outgoing, Received } from "../runtime/decider.ts";
import { roomsNeeded } from "./allocation/gates.ts";
import { allocateStays } from "./allocation/stays.ts";
import type { WaveInput, WaveTerms } from "./gather.ts";
import { marketOf } from "./savings.ts";
import { keptResult, type WaveEvent, type WaveState } from "./state.ts";
import { termsOf } from "./terms.ts";

/** Made once; a repeated command finds the wave there. The messages are worked out beside the state and kept by nobody. */
export interface DecidedWave {
  event: Extract<WaveEvent, { type: "wave.completed" }>;
  assignments: { subCaseId: string; assignment: Assignment }[];
  /** Groups that have a room. */
  again: string[];
  /** Set: run about this review item, which hears of its groups and stands for those that found no place. */
  review?: WaveReview;
}

export type WaveReview = ForReview & { groupIds: string[] };

export const decideWave = (command: Received, input: WaveInput): DecidedWave => {
  const { caseId, demandId, review } = command.data as {
    caseId: string;
    demandId: string;
    review?: WaveReview;
  };
  const { latitude, longitude } = input.airport;
  const airport = { latitude, longitude };
  const results = input.results ?? allocateStays({ ...input, airport });
  const groups = new Map(input.stays.flatMap((stay) => stay.groups).map((group) => [group.groupId, group]));
  const result = merged(results);
  const failures = new Map(
    input.stays.flatMap(({ search }) => search.partialFailures).map((f) => [f.failedDomain, f]),
  );
  const markets = new Map(results.flatMap((one) => [...marketOf(one.allocations, one.rankingInputs)]));
  const state: WaveState = {
    caseId,
    demandId,
    airport: input.airport.code,
    ...(input.kind === undefined ? {} : { kind: input.kind }),
    policies: Object.entries(input.policies).map(([tier, policy]) => ({
      tier: tier as Tier,
      policyId: policy.policyId,
      version: policy.version,
    })),
    ...(input.relaxed === undefined ? {} : { relaxed: input.relaxed }),
    ...keptResult(result, markets),
    partialFailures: [...failures.values()],
    stays: input.stays.length,
    createdAt: new Date(command.issuedAt),
    completedAt: command.now,
  };
  return {
    event: { type: "wave.completed", data: state },
    assignments: result.allocations.map((allocation) => ({
      subCaseId: allocation.subCaseId,
      assignment: assignmentOf(
        command.entity,
        groups.get(allocation.groupId) as GroupNeed,
        [compared(allocation, markets.get(allocation.groupId)), ...allocation.alternatives],
        input,
      ),
    })),
    again: input.again,
    ...(review === undefined ? {} : { review }),
  };
};

/** With the market's rate for a room and night, where a contract was compared with one. */
const compared = (allocation: Allocation, market: Market | undefined) => {
  const { rooms, nights } = allocation;
  return market === undefined
    ? allocation
    : { ...allocation, marketNightlyMinor: market.marketTotalMinor / (rooms * nights) };
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
    ...gapOf(results),
  };
};

const gapOf = (results: AllocationResult[]): { gap?: number } => {
  const gaps = results.flatMap(({ gap }) => gap ?? []);
  return gaps.length < results.length ? {} : { gap: gaps.reduce((sum, gap) => sum + gap, 0) };
};

type ChosenHotel = Pick<HotelCandidate, "hotelUrn" | "marketNightlyMinor"> & { offer: HotelOffer };

/** @param hotels best first, never empty */
export const assignmentOf = (
  waveId: string,
  group: GroupNeed,
  hotels: readonly ChosenHotel[],
  input: WaveTerms,
): Assignment => {
  const [first] = hotels as [ChosenHotel];
  const policy = input.policies[group.tier] as ResolvedPolicy;
  const candidate = ({ hotelUrn, offer, marketNightlyMinor }: ChosenHotel): HotelCandidate => ({
    hotelUrn,
    offer,
    ...(marketNightlyMinor === undefined ? {} : { marketNightlyMinor }),
    rooms: roomsNeeded(group, offer),
    distanceKm: Math.round(10 * distanceKmBetween(input.airport, offer.coordinates)) / 10,
    ...(policy.maxNightlyRate === undefined ? {} : { nightlyMax: policy.maxNightlyRate }),
    payment: paymentOf(policy, offer),
  });
  return {
    waveId,
    ...(group.shape === undefined ? {} : { shape: group.shape }),
    stay: { checkIn: group.checkIn, checkOut: group.checkOut, nights: group.nights },
    candidates: hotels.map(candidate),
    terms: termsOf(group, policy, first.offer.currency, input),
    book: policy.autoBook,
  };
};

const paymentOf = (policy: ResolvedPolicy, offer: HotelOffer): "GUARANTEE" | "CARD" =>
  policy.acceptedPayments.includes("GUARANTEE") && offer.acceptedPayments.includes("GUARANTEE")
    ? "GUARANTEE"
    : "CARD";

/** What follows a wave, in an order that lets the case know before its groups report. */
export const outgoingOf = (
  waveId: string,
  { event, assignments, again, review }: DecidedWave,
): Outgoing[] => {
  const wave = event.data;
  const housed = new Set(again);
  const unplaced = wave.unplaced.filter(({ groupId }) => !housed.has(groupId));
  const unbooked = new Set(
    assignments.filter(({ assignment }) => !assignment.book).map(({ subCaseId }) => subCaseId),
  );
  const note: Outgoing = {
    to: "command",
    name: "case.note-wave",
    entity: wave.caseId,
    data: {
      waveId,
      allocated: wave.allocations.map(({ groupId }) => groupId),
      unplaced: unplaced.map(({ groupId }) => groupId),
      unbooked: wave.allocations
        .filter(({ groupId, subCaseId }) => unbooked.has(subCaseId) && !housed.has(groupId))
        .map(({ groupId }) => groupId),
    },
  };
  const moving = new Set(
    wave.allocations.filter(({ groupId }) => housed.has(groupId)).map(({ subCaseId }) => subCaseId),
  );
  const assigned = assignments.map(
    ({ subCaseId, assignment }): Outgoing =>
      moving.has(subCaseId)
        ? { to: "command", name: "sub-case.override", entity: subCaseId, data: { assignment } }
        : { to: "command", name: "sub-case.assign", entity: subCaseId, data: assignment },
  );
  const onDesk = new Set(review?.groupIds);
  const others = unplaced.filter(({ groupId }) => !onDesk.has(groupId));
  return [note, ...assigned, ...reviewNote(wave, review), ...unplacedItem(waveId, wave, others)];
};

/** The item that the wave was run about hears of each of its groups. */
const reviewNote = (wave: WaveState, review: WaveReview | undefined): Outgoing[] => {
  if (review === undefined) return [];
  const { reviewId, actionId, groupIds } = review;
  const placed = new Map(wave.allocations.map((one) => [one.groupId, one]));
  const unplaced = new Map(wave.unplaced.map((one) => [one.groupId, one]));
  const groups = groupIds.map((groupId): ActionNote["groups"][number] => {
    const at = placed.get(groupId);
    return at === undefined
      ? {
          groupId,
          outcome: "FAILED",
          detail: unplaced.get(groupId)?.reason ?? "It waited for no room any more.",
        }
      : { groupId, outcome: "DONE", detail: `Placed at ${wave.offers[at.offer]?.name ?? at.hotelUrn}.` };
  });
  const data: ActionNote = { actionId, groups };
  return [{ to: "command", name: "review.note-action", entity: reviewId, data }];
};

const unplacedItem = (waveId: string, wave: WaveState, unplaced: WaveState["unplaced"]): Outgoing[] => {
  if (unplaced.length === 0) return [];
  const reasons = [...new Set(unplaced.map(({ reason }) => reason))].slice(0, 3).join(" ");
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
        ...(wave.kind === undefined ? {} : { kind: wave.kind }),
        category: "ALLOCATION_FAILED",
        origin: "allocation",
        detail: `${reasons}${late}`,
        attemptedHotels: [],
        affectedGroups: unplaced.map(({ groupId }) => groupId),
        // The item of an earlier wave may be resolved: each wave's is its own.
        occurrence: waveId,
      },
    },
  ];
};
