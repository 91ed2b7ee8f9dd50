/** Owns an operator's hotel search: offers of the vendors put together by hotel, and held against a policy; what vendors offer is theirs. */
import { type Airport, airport as airportOf } from "../../schemas/airports.ts";
import type { CaseListItem } from "../../schemas/case.ts";
import type { Query } from "../../schemas/command.ts";
import { currencyOfCountry } from "../../schemas/currency.ts";
import { distanceKmBetween } from "../../schemas/distance.ts";
import { convertMinor, minorIn } from "../../schemas/exchange-rates.ts";
import type { HotelOffer, HotelSearch, RecentOffers } from "../../schemas/hotel.ts";
import { hotelsAmong, ordinal } from "../../schemas/hotel-identity.ts";
import {
  type HotelFound,
  type HotelSearchBody,
  type HotelSearchView,
  hotelsShown,
} from "../../schemas/hotel-search.ts";
import { dateAfter, isoDate, localDay } from "../../schemas/local-day.ts";
import type { ResolvedPolicy } from "../../schemas/policy.ts";
import { Problem } from "../../schemas/problems.ts";
import { urn } from "../../schemas/urn.ts";
import type { Tier } from "../../schemas/vocabulary.ts";
import type { ActorContext } from "../runtime/host.ts";
import { requireAirport } from "../runtime/reach.ts";
import { type Gates, policyRefusal } from "./allocation/gates.ts";
import { radiusKmDefault } from "./gather.ts";

type OfferFound = HotelFound["offers"][number];

/**
 * POST /v1/hotels/search. Nothing is held: what is shown may be gone when it is booked.
 * @throws Problem validation/body, not-found/resource for an unknown case or a tier that no policy covers, auth/foreign-airport
 */
export const searchHotels = async (context: ActorContext, query: Query): Promise<HotelSearchView> => {
  const asked = query.params as HotelSearchBody;
  const { airport, drill } = await placeOfSearch(context, query, asked);
  checkDates(asked, airport, context.clock.now());
  const policy = await policyOfSearch(context, query, asked, airport);
  const gates = gatesOf(asked, airport, policy);
  const search: HotelSearch = {
    airport: airport.code,
    coordinates: { latitude: airport.latitude, longitude: airport.longitude },
    radiusKm: Math.max(radiusKmDefault, gates?.maxDistanceKm ?? 0),
    checkIn: asked.checkIn,
    checkOut: dateAfter(asked.checkIn, asked.nights),
    rooms: asked.rooms,
  };
  const found = await context.call<RecentOffers>("vendor-adapter.recent-offers", {
    ...query,
    params: { search, drill },
  });
  const hotels = hotelsFound(found.offers, airport, asked, gates);
  return {
    airport: airport.code,
    checkIn: search.checkIn,
    checkOut: search.checkOut,
    rooms: asked.rooms,
    ...(policy === undefined ? {} : { policyUrn: urn("policy", policy.policyId) }),
    ...(gates?.maxNightlyRate === undefined ? {} : { maxNightlyRate: gates.maxNightlyRate }),
    hotelCount: hotels.length,
    hotels: hotels.slice(0, hotelsShown(asked.limit)),
    vendors: found.vendors,
    partialFailures: found.partialFailures,
  };
};

const refusedField = (pointer: string, detail: string): Problem =>
  new Problem("validation/body", "Correct the fields named in `errors` and send the body again.", {
    errors: [{ pointer, detail }],
  });

const nightsAheadMax = 365;

/** The night that began yesterday may still be slept. */
const checkDates = ({ checkIn }: HotelSearchBody, { timeZone }: Airport, now: Date): void => {
  const today = isoDate(localDay(now.getTime(), timeZone, 0));
  if (checkIn < dateAfter(today, -1))
    throw refusedField("/checkIn", `is past: it is ${today} at the airport`);
  if (checkIn > dateAfter(today, nightsAheadMax))
    throw refusedField("/checkIn", `is more than ${nightsAheadMax} days ahead`);
};

/** For a drill's case no real vendor is asked. */
const placeOfSearch = async (
  context: ActorContext,
  query: Query,
  { airport, caseUrn }: HotelSearchBody,
): Promise<{ airport: Airport; drill: boolean }> => {
  if (caseUrn === undefined && airport === undefined)
    throw refusedField("/airport", "is required, or `caseUrn`");
  const head =
    caseUrn === undefined
      ? undefined
      : await context.call<CaseListItem>("case.head", { ...query, params: { caseUrn } });
  if (head !== undefined && airport !== undefined && head.airport !== airport)
    throw refusedField("/airport", `the case is at ${head.airport}`);
  const code = head?.airport ?? (airport as string);
  const found = airportOf(code);
  if (found === undefined) throw refusedField("/airport", `${code} is not a known IATA airport code`);
  requireAirport(query.principal, code);
  return { airport: found, drill: head?.kind !== undefined };
};

const policyOfSearch = async (
  context: ActorContext,
  query: Query,
  { tier }: HotelSearchBody,
  { code: airport }: Airport,
): Promise<ResolvedPolicy | undefined> => {
  if (tier === undefined) return undefined;
  const found = await context.call<Partial<Record<Tier, ResolvedPolicy | null>>>("policy.resolve-tiers", {
    ...query,
    params: { airport, tiers: [tier] },
  });
  const policy = found[tier];
  if (!policy)
    throw new Problem(
      "not-found/resource",
      `No active policy applies to ${tier} at ${airport}. Activate one first.`,
    );
  return policy;
};

/** What refuses nothing. */
const open: Gates = {
  minStars: undefined,
  maxDistanceKm: undefined,
  maxNightlyRate: undefined,
  requiredAmenities: [],
  excludedChains: [],
  acceptedPayments: ["GUARANTEE", "CARD"],
  allowProviders: undefined,
};

/** Undefined: offers are held against nothing. */
export const gatesOf = (
  { constraints }: Pick<HotelSearchBody, "constraints">,
  { country }: Pick<Airport, "country">,
  policy: ResolvedPolicy | undefined,
): Gates | undefined => {
  if (constraints === undefined) return policy;
  const { maxNightlyRate, ...others } = constraints;
  const gates: Gates = { ...open, ...policy, ...others };
  if (maxNightlyRate === undefined) return gates;
  const currency = currencyOfCountry(country) ?? "USD";
  return {
    ...gates,
    maxNightlyRate: { amountMinor: convertMinor(maxNightlyRate, currency, currency) as number, currency },
  };
};

/** Each hotel once: those with an allowed offer first, then the cheapest in the airport's currency, then the nearest. */
export const hotelsFound = (
  offers: readonly HotelOffer[],
  airport: Pick<Airport, "latitude" | "longitude" | "country">,
  { rooms, nights }: Pick<HotelSearchBody, "rooms" | "nights">,
  gates: Gates | undefined,
): HotelFound[] => {
  const bestFirst = bestIn(currencyOfCountry(airport.country) ?? "USD");
  const hotels = hotelsAmong(offers).map(({ masterHotelId: _, offers: members, ...facts }): HotelFound => {
    const distanceKm = distanceKmBetween(airport, facts.coordinates);
    const found = members.map((offer) => offerFound(offer, { rooms, nights, distanceKm, gates }));
    return { ...facts, distanceKm: Math.round(10 * distanceKm) / 10, offers: found.sort(bestFirst) };
  });
  return hotels.sort(
    (a, b) =>
      bestFirst(a.offers[0] as OfferFound, b.offers[0] as OfferFound) ||
      a.distanceKm - b.distanceKm ||
      ordinal(a.hotelUrn, b.hotelUrn),
  );
};

const offerFound = (
  offer: HotelOffer,
  stay: { rooms: number; nights: number; distanceKm: number; gates: Gates | undefined },
): OfferFound => {
  const { gates, distanceKm } = stay;
  const refusal = gates && policyRefusal(offer, gates, distanceKm);
  const { freeCancellationUntil } = offer;
  return {
    vendor: offer.vendor,
    providerOfferId: offer.providerOfferId,
    nightlyRateMinor: offer.nightlyRateMinor,
    totalMinor: offer.nightlyRateMinor * stay.rooms * stay.nights,
    currency: offer.currency,
    roomsLeft: offer.roomsLeft,
    accessibleRooms: offer.accessibleRooms,
    maxOccupancy: offer.maxOccupancy,
    acceptedPayments: offer.acceptedPayments,
    ...(freeCancellationUntil === undefined ? {} : { freeCancellationUntil }),
    ...(gates === undefined
      ? {}
      : { policy: refusal === undefined ? { allowed: true } : { allowed: false, ...refusal } }),
  };
};

/** What there is no rate for counts as the dearest. */
const rateIn = (currency: string, { nightlyRateMinor, currency: from }: OfferFound): number =>
  minorIn(currency, { amountMinor: nightlyRateMinor, currency: from }) ?? Number.MAX_SAFE_INTEGER;

const bestIn =
  (currency: string) =>
  (a: OfferFound, b: OfferFound): number =>
    Number(a.policy?.allowed === false) - Number(b.policy?.allowed === false) ||
    rateIn(currency, a) - rateIn(currency, b) ||
    Number(a.vendor !== "direct") - Number(b.vendor !== "direct") ||
    ordinal(a.vendor, b.vendor) ||
    ordinal(a.providerOfferId, b.providerOfferId);
