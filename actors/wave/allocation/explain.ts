/** Owns the words of a wave: why a candidate was taken or left, and why a group has no room. */
import type { DiscardReason, GroupNeed, RankingInput } from "../../../schemas/allocation.ts";
import { accessibleRoomsNeeded, count, money } from "./gates.ts";
import type { Audience, Ranked } from "./pass.ts";
import { roomsOf } from "./scores.ts";

/** Every candidate of the pass, once per policy; where a pass has several policies the sentence says for whom. */
export const rankingOf = (pass: string, audiences: readonly Audience[]): RankingInput[] =>
  audiences.flatMap((audience) => {
    const chosen = audience.ranked.filter(({ groupsTaken }) => groupsTaken > 0);
    const lowest = chosen.length === 0 ? undefined : Math.min(...chosen.map(({ score }) => score));
    const prefix = audiences.length > 1 ? `${audience.tiers.join(", ")}: ` : "";
    return audience.ranked.map((ranked): RankingInput => {
      const verdict = verdictOn(ranked, lowest);
      return {
        pass,
        hotelUrn: ranked.hotelUrn,
        offer: ranked.offer,
        distanceKm: Math.round(ranked.distanceKm * 1000) / 1000,
        ...(ranked.scores !== undefined && { scores: ranked.scores, finalScore: ranked.score }),
        outcome: verdict.reason === "SELECTED" ? "SELECTED" : "DISCARDED",
        reason: verdict.reason,
        detail: prefix + verdict.detail,
      };
    });
  });

const verdictOn = (
  ranked: Ranked,
  lowestChosen: number | undefined,
): { reason: DiscardReason | "SELECTED"; detail: string } => {
  if (ranked.refusal !== undefined) return ranked.refusal;
  const { offer, score, winner } = ranked;
  if (ranked.groupsTaken > 0) {
    const taken = `${count(ranked.groupsTaken, "group")}, ${count(ranked.roomsTaken, "room")}; score ${score.toFixed(2)}`;
    return {
      reason: "SELECTED",
      detail:
        winner === undefined ? `${taken}.` : `${taken}. The offer of ${winner.vendor} had too few rooms.`,
    };
  }
  if (winner !== undefined)
    return {
      reason: "DUPLICATE_DEARER",
      detail: `${offerWords(ranked.offer)}; the same hotel from ${winner.vendor} (${winner.providerOfferId}) costs ${money(winner.nightlyRateMinor, winner.currency)}.`,
    };
  if (lowestChosen === undefined)
    return { reason: "NOT_CHOSEN", detail: `Score ${score.toFixed(2)}; no group of the pass fitted here.` };
  return {
    reason: "NOT_CHOSEN",
    detail:
      score < lowestChosen
        ? `Score ${score.toFixed(2)}, the lowest hotel chosen has ${lowestChosen.toFixed(2)}; ${offerWords(offer)}.`
        : `Score ${score.toFixed(2)}, the lowest hotel chosen has ${lowestChosen.toFixed(2)}, but the hotels chosen suit all groups together better.`,
  };
};

const offerWords = ({ nightlyRateMinor, currency, vendor }: Ranked["offer"]): string =>
  `${money(nightlyRateMinor, currency)} a night from ${vendor}`;

/** Why a group was held, for the review item: the gate that removed most, or how far the rooms went. */
export const unplacedReason = (group: GroupNeed, audiences: readonly Audience[]): string => {
  const audience = audiences.find(({ groups }) => groups.includes(group))!;
  const passing = audience.ranked.filter(({ refusal }) => refusal === undefined);
  if (audience.ranked.length === 0) return "No vendor offered a hotel.";
  if (passing.length === 0) return gateReason(audience);
  const needed = accessibleRoomsNeeded(group);
  const accessible = Math.max(...passing.map(({ stock }) => stock.accessible));
  if (needed > accessible)
    return `It needs ${count(needed, "accessible room")}; no hotel that passes the policy has more than ${accessible} left.`;
  const most = Math.max(...passing.map(({ stock }) => stock.rooms));
  const left = `of the ${count(passing.length, "offer")} that pass the policy none has more than ${count(most, "room")} left`;
  return `Not enough rooms: it needs ${roomsOf(group)} in one hotel, ${left}.`;
};

const gateReason = (audience: Audience): string => {
  const byReason = new Map<DiscardReason, Ranked[]>();
  for (const ranked of audience.ranked) {
    const reason = ranked.refusal!.reason;
    byReason.set(reason, [...(byReason.get(reason) ?? []), ranked]);
  }
  const [most, ...others] = [...byReason].sort(([, a], [, b]) => b.length - a.length);
  const words = ([reason, refused]: [DiscardReason, Ranked[]]): string =>
    `${refused.length} ${reasonWords[reason]}`;
  const rest = others.length === 0 ? "" : `; ${others.map(words).join(", ")}`;
  return `None of ${count(audience.ranked.length, "offer")} passes: ${words(most!)} (for example ${most![1][0]!.offer.name}: ${most![1][0]!.refusal!.detail.replace(/\.$/, "")})${rest}.`;
};

const reasonWords: Record<DiscardReason, string> = {
  BELOW_MIN_STARS: "below the policy's stars",
  UNRATED: "unrated",
  TOO_FAR: "too far from the airport",
  RATE_TOO_HIGH: "above the policy's rate",
  CURRENCY_MISMATCH: "priced in another currency",
  MISSING_AMENITY: "without a required amenity",
  EXCLUDED_CHAIN: "of an excluded chain",
  PAYMENT_NOT_ACCEPTED: "not taking the policy's payment",
  PROVIDER_NOT_ALLOWED: "from a provider that the policy leaves out",
  NO_ROOMS: "without enough rooms",
  NO_ACCESSIBLE_ROOM: "without an accessible room",
  DUPLICATE_DEARER: "dearer duplicates",
  NOT_CHOSEN: "not chosen",
};
