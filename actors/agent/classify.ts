/** Owns the rules by which the embedded planner tells an item's cause, how sure it is of it, and what speaks for it. */
import type { TriageCause } from "../../schemas/agent.ts";
import { policyGates } from "../../schemas/allocation.ts";
import type { Facts, HotelFacts } from "./facts.ts";
import { placementAt, relaxationsAt } from "./fit.ts";
import type { Plan } from "./planner.ts";

type Classification = Pick<Plan, "cause" | "confidence" | "evidence">;

/** What the step that raised an item says of its cause by itself. */
const byOrigin: Readonly<Record<string, readonly [TriageCause, string]>> = {
  "in-doubt": ["OUTCOME_IN_DOUBT", "A vendor does not say what became of a call; it is still being asked."],
  amendment: ["STAY_NOT_CHANGED", "The hotel did not give the group the dates that it needs now."],
  rollback: [
    "ROLLBACK_STUCK",
    "Undoing a booking has come to a halt; it has to be reconciled with the vendor.",
  ],
  "former-hotel": ["ROLLBACK_STUCK", "Something at the group's former hotel could not be undone."],
  "manual-cancellation": ["ROLLBACK_STUCK", "A room that was booked by hand has to be cancelled by hand."],
  payment: ["ROLLBACK_STUCK", "A card of a hotel that refused could not be cancelled."],
  vehicle: ["ROLLBACK_STUCK", "A vehicle that nobody needs could not be cancelled."],
  capacity: [
    "DEMAND_NOT_COVERED",
    "No approved demand has rooms for these groups: ask for an INCREMENTAL one.",
  ],
  transport: ["TRANSPORT_MISSING", "Nobody drives the group: order a ride by hand, or ask for another one."],
  notify: ["MESSAGE_NOT_SENT", "The passengers could not be told of their offer."],
  "notify-stay": ["MESSAGE_NOT_SENT", "The passengers could not be told of their changed stay."],
};

const byCategory: Readonly<Partial<Record<Facts["category"], readonly [TriageCause, string]>>> = {
  PAYMENT_FAILED: ["PAYMENT_REJECTED", "The payment service rejected a card or would not load it."],
  POLICY_VIOLATION: ["NO_POLICY", "No active policy covers these groups: activate one, then allocate."],
  MIXED_TIER_GROUP: ["MIXED_CABINS", "A group's passengers travel in different cabins: split it."],
  DATA_INCOMPLETE: ["DATA_MISSING", "The manifest leaves out what is needed: have it completed."],
};

/** The item says it all itself. */
const sure = 0.95;

export const classify = (facts: Facts): Classification => {
  const known = byOrigin[facts.origin] ?? byCategory[facts.category];
  if (known !== undefined)
    return { cause: known[0], confidence: sure, evidence: [known[1], ...aboutRooms(facts)] };
  return (
    refused(facts) ??
    outOfRooms(facts) ?? { cause: "OTHER", confidence: 0.3, evidence: [...whatIsKnown(facts)] }
  );
};

const whatIsKnown = (facts: Facts): string[] => {
  const evidence = aboutRooms(facts);
  return evidence.length > 0
    ? evidence
    : [`${facts.category}, raised by ${originOf(facts)}; nothing else is known.`];
};

/** An origin is a word of the service's own; anything else is not repeated. */
const originOf = ({ origin }: Facts): string => (/^[a-z-]{1,30}$/.test(origin) ? origin : "another step");

/** Every hotel that was booked has said no. */
const refused = (facts: Facts): Classification | undefined => {
  if (facts.category !== "BOOKING_FAILED" || facts.attempted.length === 0) return undefined;
  return { cause: "HOTELS_REFUSED", confidence: 0.9, evidence: [tried(facts), ...aboutRooms(facts, false)] };
};

const outOfRooms = (facts: Facts): Classification | undefined => {
  const { wave, searches } = facts;
  if (searches.length === 0 && wave === undefined) return undefined;
  const evidence = aboutRooms(facts);
  const silent = silentOf(facts);
  const stands = searches.map((search) => standingOf(facts, search));
  const told = searches.some(({ hotels }) => hotels.length > 0);
  if (silent.length > 0 && !told && !(wave?.reasons.length ?? 0))
    return { cause: "VENDOR_OUTAGE", confidence: 0.9, evidence };
  const confidence = silent.length > 0 ? 0.6 : 0.9;
  if (stands.some(({ fits }) => fits > 0)) {
    const now = "There are rooms within the policy by now.";
    const cause = silentIn(wave) ? "VENDOR_OUTAGE" : "NO_INVENTORY";
    return { cause, confidence: 0.7, evidence: [now, ...evidence] };
  }
  if (stands.some(({ relaxable }) => relaxable > 0) || (searches.length === 0 && refusedByPolicy(facts)))
    return { cause: "POLICY_TOO_STRICT", confidence, evidence };
  return { cause: "NO_INVENTORY", confidence, evidence };
};

const silentIn = (wave: Facts["wave"]): boolean => (wave?.silent.length ?? 0) > 0;

/** Hotels with rooms, by whether the policy takes them. */
const standingOf = (facts: Facts, search: Facts["searches"][number]): { fits: number; relaxable: number } => {
  const policy = facts.policies[search.tier];
  if (policy === undefined) return { fits: 0, relaxable: 0 };
  const count = (holds: (hotel: HotelFacts) => boolean): number =>
    untried(facts, search.hotels).filter(holds).length;
  return {
    fits: count((hotel) => placementAt(hotel, search.groups, policy) !== undefined),
    relaxable: count((hotel) => relaxationsAt(hotel, search.groups, policy).length > 0),
  };
};

/** A hotel that has refused the group is not tried again by itself. */
export const untried = ({ attempted }: Facts, hotels: readonly HotelFacts[]): HotelFacts[] => {
  const refusing = new Set(attempted.map(({ hotelUrn }) => hotelUrn));
  return hotels.filter(({ hotelUrn }) => !refusing.has(hotelUrn));
};

const byPolicy: ReadonlySet<string> = new Set(policyGates);

const refusedByPolicy = ({ wave }: Facts): boolean =>
  wave?.reasons.some(({ reason }) => byPolicy.has(reason)) ?? false;

const silentOf = ({ wave, searches }: Facts): string[] => [
  ...new Set([...(wave?.silent ?? []), ...searches.flatMap(({ silent }) => silent)]),
];

const counted = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? "" : "s"}`;

const tried = ({ attempted }: Facts): string => {
  const codes = [...new Set(attempted.flatMap(({ code }) => code ?? []))].sort().slice(0, 3);
  const said = codes.length === 0 ? "" : ` (${codes.join(", ")})`;
  return `${counted(attempted.length, "hotel")} ${attempted.length === 1 ? "was" : "were"} tried and refused${said}.`;
};

/** From the hotels tried, the wave's gates and what is on offer now. @param withTried false: said already */
const aboutRooms = (facts: Facts, withTried = true): string[] => {
  const { wave, searches, attempted } = facts;
  const silent = silentOf(facts).filter((name) => /^[a-z][a-z0-9-]{0,39}$/.test(name));
  return [
    ...(withTried && attempted.length > 0 ? [tried(facts)] : []),
    ...searches.map((search) => onOffer(facts, search)),
    ...(wave?.reasons ?? [])
      .filter(
        ({ reason }) => reason !== "SELECTED" && reason !== "NOT_CHOSEN" && reason !== "DUPLICATE_DEARER",
      )
      .slice(0, 3)
      .map(({ reason, hotels }) => `The newest wave left out ${counted(hotels, "hotel")}: ${reason}.`),
    ...(silent.length === 0 ? [] : [`No answer from ${silent.join(", ")}.`]),
  ];
};

const onOffer = (facts: Facts, search: Facts["searches"][number]): string => {
  const { fits, relaxable } = standingOf(facts, search);
  const of = `${search.tier} from ${search.checkIn}`;
  return `For ${counted(search.groups.length, "group")} in ${of}: ${counted(fits, "hotel")} within the policy, ${counted(relaxable, "more hotel")} past it.`;
};
