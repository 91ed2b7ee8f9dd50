/** Owns a supervisor's choice of a hotel over a wave's: what is read for it, whether it can be, and what the group is sent. */
import type { GroupNeed } from "../../schemas/allocation.ts";
import type { Assignment } from "../../schemas/assignment.ts";
import type { Query } from "../../schemas/command.ts";
import { directVendor } from "../../schemas/contract.ts";
import { distanceKmBetween } from "../../schemas/distance.ts";
import type { GroupStanding } from "../../schemas/group-note.ts";
import type { HotelOffer } from "../../schemas/hotel.ts";
import { hotelUrns, providerCode } from "../../schemas/hotel-identity.ts";
import { requireUnlocked } from "../../schemas/lock.ts";
import type { OverrideNote } from "../../schemas/override-note.ts";
import { Problem } from "../../schemas/problems.ts";
import type { ActionNote, ForReview } from "../../schemas/review.ts";
import { urn } from "../../schemas/urn.ts";
import { derivedId } from "../runtime/clock.ts";
import type { Outgoing, Received } from "../runtime/decider.ts";
import type { ActorContext } from "../runtime/host.ts";
import { requireAirport } from "../runtime/reach.ts";
import { canHold, policyRefusal, roomsNeeded, stockOf } from "./allocation/gates.ts";
import { assignmentOf } from "./decide.ts";
import { type CaseInput, gatherTerms, offersFor, type WaveTerms } from "./gather.ts";
import type { KeptOverride } from "./override-state.ts";
import type { WaveEvent, WaveState } from "./state.ts";

/** What the vendors offered may be gone after this long: they are asked again. */
const offersFreshMs = 15 * 60_000;

interface Choice {
  groupId: string;
  hotelUrn: string;
  /** The exact offer; absent: the cheapest that has the rooms. */
  providerOfferId?: string;
  /** Set: the policy's gates bind this choice, too. */
  withinPolicy?: boolean;
  reason: string;
  review?: ForReview;
}

/** What is read before a choice is decided on. */
export interface OverrideFacts {
  closed: boolean;
  /** Undefined: the case has no such group, or no policy for it. */
  need: GroupNeed | undefined;
  standing: GroupStanding | null;
  terms: WaveTerms;
  /** Of the hotel. */
  offers: HotelOffer[];
}

/** What rides beside the event to the same commit. */
export interface Order {
  subCaseId: string;
  overrideId: string;
  /** The operator's URN: the group may be locked by somebody else when it hears. */
  by?: string;
  assignment: Assignment;
}

const inWave = ({ allocations, unplaced }: WaveState, groupId: string) =>
  [...allocations, ...unplaced].find((group) => group.groupId === groupId);

/** @throws Problem auth/foreign-airport, validation/body for a group that the wave does not know */
export const gatherOverride = async (
  context: ActorContext,
  command: Received,
  wave: WaveState,
): Promise<OverrideFacts> => {
  const { groupId, hotelUrn, providerOfferId } = command.data as Choice;
  requireAirport(command.principal, wave.airport);
  const placed = inWave(wave, groupId);
  if (placed === undefined) throw wrong("/groupId", "is no group of this wave");
  const query = (params: Record<string, unknown>): Query => ({ ...command, params });
  const { caseId, demandId } = wave;
  const [needed, standing] = await Promise.all([
    context.call<CaseInput>("case.allocation-input", query({ caseId, demandId, groupIds: [groupId] })),
    context.call<GroupStanding | null>("sub-case.standing", query({ subCaseId: placed.subCaseId })),
  ]);
  const terms = await gatherTerms(context, command, needed);
  const [need] = needed.groups;
  const known = offersOf(wave, hotelUrn);
  const isFresh = command.now.getTime() - wave.completedAt.getTime() <= offersFreshMs && wave.stays === 1;
  const isKnown = known.some(
    (offer) => providerOfferId === undefined || offer.providerOfferId === providerOfferId,
  );
  if (need === undefined || (isFresh && isKnown))
    return { closed: needed.closed, need, standing, terms, offers: known };
  const found = await offersFor(context, command, needed, [need]);
  return { closed: needed.closed, need, standing, terms, offers: sameHotel(found.offers, hotelUrn, known) };
};

const offersOf = ({ rankingInputs, offers }: WaveState, hotelUrn: string): HotelOffer[] => {
  const places = new Set(rankingInputs.filter((one) => one.hotelUrn === hotelUrn).map(({ offer }) => offer));
  return offers.filter((_, at) => places.has(at));
};

/** By its URN, or by what its vendors called it in the wave: a vendor that is missing now can change the URN. */
const sameHotel = (found: HotelOffer[], hotelUrn: string, known: HotelOffer[]): HotelOffer[] => {
  const codes = new Set(known.map(providerCode));
  const urns = hotelUrns(found);
  return found.filter((offer, i) => urns[i] === hotelUrn || codes.has(providerCode(offer)));
};

const wrong = (pointer: string, detail: string): Problem =>
  new Problem("validation/body", "Correct the fields named in `errors` and send the body again.", {
    errors: [{ pointer, detail }],
  });

const conflict = (detail: string, state: string): Problem => new Problem("conflict/state", detail, { state });

/** What can become of a group by such a choice; in any other state nothing can. */
const changeable: ReadonlySet<string> = new Set(["PENDING", "FAILED", "OFFER_READY", "RESOLVED"]);

const refuseState = (wave: WaveState, { groupId, hotelUrn }: Choice, facts: OverrideFacts): void => {
  const { closed, standing } = facts;
  if (closed) throw conflict("A closed case takes no further change.", "CLOSED");
  const pending = wave.overrides?.some((one) => one.groupId === groupId && one.outcome === undefined);
  if (pending) throw conflict("A choice for this group is being carried out.", "UNDER_WAY");
  if (standing === null) throw conflict("The group is not known yet.", "PENDING");
  const { status, settled, reservation } = standing;
  if (settled || !changeable.has(status))
    throw conflict(`The group is ${settled ? "settled by hand" : status}.`, settled ? "SETTLED" : status);
  if (status !== "OFFER_READY" && status !== "RESOLVED") return;
  if (reservation?.status !== "CONFIRMED")
    throw conflict(`The group's stay is ${reservation?.status}.`, reservation?.status ?? status);
  if (reservation.hotelUrn === hotelUrn)
    throw conflict("The group has its room at this hotel already.", "BOOKED_THERE");
};

/**
 * A person may choose past the policy's gates; what no hotel can help (rooms, accessible rooms) stays a gate.
 * @throws Problem conflict/state, validation/body, conflict/sub-case-locked, conflict/stale-fencing-token
 */
export const decideOverride = (
  wave: WaveState,
  command: Received,
  facts: OverrideFacts,
): { event: WaveEvent; order: Order } => {
  const choice = command.data as Choice;
  const { groupId, hotelUrn, reason, review } = choice;
  requireUnlocked([facts.standing?.lock], command, command.now);
  refuseState(wave, choice, facts);
  const { need, offers, terms } = facts;
  if (need === undefined) throw conflict("No policy covers the group.", "MANUAL_REVIEW");
  if (offers.length === 0) throw wrong("/hotelUrn", "is a hotel that no vendor offers for these nights");
  const able = offersMeant(choice, facts, need)
    .filter((offer) => canHold(need, offer, stockOf(offer)))
    .sort((a, b) => totalOf(need, a) - totalOf(need, b) || directFirst(a) - directFirst(b));
  const [best] = able;
  if (best === undefined) throw conflict("The hotel has not the rooms that the group needs.", "NO_ROOMS");
  const { allocations } = wave;
  const former = allocations.find((allocation) => allocation.groupId === groupId)?.hotelUrn;
  const overrideId = derivedId(command.tenant, seedOf(command), command.now);
  const kept: KeptOverride = {
    overrideId,
    groupId,
    subCaseId: need.subCaseId,
    tier: need.tier,
    hotelUrn,
    hotelName: best.name,
    ...(former === undefined ? {} : { formerHotelUrn: former }),
    rooms: roomsNeeded(need, best),
    nights: need.nights,
    totalMinor: totalOf(need, best),
    currency: best.currency,
    reason,
    by: command.principal.urn,
    at: command.now,
    ...(review === undefined ? {} : { review }),
  };
  const named = able.map((offer) => ({ hotelUrn, offer }));
  const assignment = assignmentOf(command.entity, need, named, terms);
  // Whoever was to be booked by itself is; who has failed was booked before, so a person has said so already.
  const book = assignment.book || facts.standing?.status === "FAILED";
  return {
    event: { type: "wave.overridden", data: kept },
    order: {
      subCaseId: need.subCaseId,
      overrideId,
      ...(command.principal.surface === "operator" ? { by: command.principal.urn } : {}),
      assignment: { ...assignment, book },
    },
  };
};

/** @throws Problem validation/body when the offer is on no more, or a gate of the policy refuses all of the hotel's */
const offersMeant = (
  { providerOfferId, withinPolicy }: Choice,
  { offers, terms }: OverrideFacts,
  need: GroupNeed,
): HotelOffer[] => {
  const named =
    providerOfferId === undefined
      ? offers
      : offers.filter((offer) => offer.providerOfferId === providerOfferId);
  if (named.length === 0) throw wrong("/providerOfferId", "is no offer of this hotel any more");
  const policy = terms.policies[need.tier];
  if (withinPolicy !== true || policy === undefined) return named;
  const held = named.map((offer) => ({
    offer,
    refusal: policyRefusal(offer, policy, distanceKmBetween(terms.airport, offer.coordinates)),
  }));
  const allowed = held.filter(({ refusal }) => refusal === undefined).map(({ offer }) => offer);
  if (allowed.length > 0) return allowed;
  throw wrong(
    "/hotelUrn",
    `is outside the policy: ${held[0]?.refusal?.detail} Relax it, or have a supervisor override.`,
  );
};

const totalOf = (need: GroupNeed, offer: HotelOffer): number =>
  offer.nightlyRateMinor * roomsNeeded(need, offer) * need.nights;

const directFirst = ({ vendor }: HotelOffer): number => (vendor === directVendor ? 0 : 1);

const seedOf = ({ id }: Pick<Received, "id">): string => `${id}/override`;

/** The choice that this very command made: the id's random part is the command's. */
export const overrideMadeBy = (
  command: Pick<Received, "id" | "tenant">,
  { overrides = [] }: WaveState,
): KeptOverride | undefined => {
  const mark = derivedId(command.tenant, seedOf(command), new Date(0)).slice(-16);
  return overrides.find(({ overrideId }) => overrideId.endsWith(mark));
};

export const overrideOrder = ({ subCaseId, ...data }: Order, { review }: KeptOverride): Outgoing => ({
  to: "command",
  name: "sub-case.override",
  entity: subCaseId,
  data: { ...data, ...(review === undefined ? {} : { onDesk: true }) },
});

const endings: Readonly<Record<OverrideNote["outcome"], string>> = {
  DONE: "The hotel was chosen for it.",
  FAILED: "The hotel had no room for it after all.",
  REFUSED: "The group was in no state for it any more",
};

/** The item for which the hotel was chosen hears how it ended. */
export const toReview = (wave: WaveState, { overrideId, outcome, state }: OverrideNote): Outgoing[] => {
  const { review, groupId } = wave.overrides?.find((one) => one.overrideId === overrideId) ?? {};
  if (review === undefined || groupId === undefined) return [];
  const { reviewId, actionId } = review;
  const detail = outcome === "REFUSED" ? `${endings[outcome]}: ${state}.` : endings[outcome];
  const data: ActionNote = { actionId, groups: [{ groupId, outcome, detail }] };
  return [{ to: "command", name: "review.note-action", entity: reviewId, data }];
};

/** What the group has made of it; heard once. */
export const decideNoteOverride = (wave: WaveState, command: Received): WaveEvent[] => {
  const note = command.data as OverrideNote;
  const found = wave.overrides?.find(({ overrideId }) => overrideId === note.overrideId);
  if (found === undefined || found.outcome !== undefined) return [];
  return [{ type: "wave.override-ended", data: { ...note, at: command.now } }];
};

export const overrideView = (override: KeptOverride) => {
  const { overrideId: _, review: _r, subCaseId, at, by, outcome, endedAt, groupState, ...told } = override;
  return {
    ...told,
    subCaseUrn: urn("sub-case", subCaseId),
    state: outcome ?? ("UNDER_WAY" as const),
    overriddenBy: by,
    overriddenAt: at.toISOString(),
    ...(endedAt === undefined ? {} : { endedAt: endedAt.toISOString() }),
    ...(groupState === undefined ? {} : { groupState }),
  };
};
