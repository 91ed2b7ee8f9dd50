/** Owns what a wave reads before it decides: who needs rooms, what the vendors offer, and the terms of each tier. */
import { decodeTime } from "ulid";
import { airport as airportOf } from "../../schemas/airports.ts";
import type { GroupNeed } from "../../schemas/allocation.ts";
import type { Query } from "../../schemas/command.ts";
import type { HotelSearch, HotelSearchResult } from "../../schemas/hotel.ts";
import type { ResolvedPolicy } from "../../schemas/policy.ts";
import { Problem } from "../../schemas/problems.ts";
import type { VendorChoice } from "../../schemas/vendor-call.ts";
import type { Tier } from "../../schemas/vocabulary.ts";
import type { Received } from "../runtime/decider.ts";
import type { ActorContext } from "../runtime/host.ts";

/** Without a limit in a policy, hotels further away than this are of no use to anybody with a morning flight. */
const radiusKmDefault = 50;

export interface WaveInput {
  airport: { code: string; name: string; latitude: number; longitude: number };
  airlineName: string;
  passengerHost: string;
  policies: Partial<Record<Tier, ResolvedPolicy>>;
  vendors: VendorChoice;
  /** Groups by the dates of their stay, each with the offers for these dates. */
  stays: { groups: GroupNeed[]; search: HotelSearchResult }[];
}

interface CaseInput {
  airport: string;
  closed: boolean;
  policies: WaveInput["policies"];
  groups: GroupNeed[];
}

/** @throws Problem conflict/demand-not-approved before the approval: nothing is searched then */
export const gatherWave = async (context: ActorContext, command: Received): Promise<WaveInput> => {
  const { caseId, demandId } = command.data as { caseId: string; demandId: string };
  const query = (params: Record<string, unknown>): Query => ({ ...command, params });
  const needed = await context.call<CaseInput>("case.allocation-input", query({ caseId, demandId }));
  if (needed.closed) throw new Problem("conflict/state", "The case is closed.", { state: "CLOSED" });
  const airport = airportOf(needed.airport);
  if (airport === undefined) throw new Error(`case ${caseId} is at an unknown airport`);
  const tenant = context.tenants.byCode(command.tenant);
  const [vendors, stays] = await Promise.all([
    context.call<VendorChoice>("vendor-adapter.choice", query({})),
    Promise.all(
      byStay(needed.groups).map(async (groups) => ({
        groups,
        search: await context.call<HotelSearchResult>(
          "vendor-adapter.search",
          query({ search: searchFor(airport, needed, groups) }),
        ),
      })),
    ),
  ]);
  waitOutVendors(command, stays, context.config.HOTEL_SILENCE_MS);
  return {
    airport,
    airlineName: tenant?.name ?? command.tenant,
    passengerHost: tenant?.passengerHosts[0] ?? "",
    policies: needed.policies,
    vendors,
    stays,
  };
};

/** @throws Problem upstream/unavailable for a while, when every vendor asked has failed: the wave is then tried again */
const waitOutVendors = (command: Received, stays: WaveInput["stays"], silenceMs: number): void => {
  const silent = stays.filter(
    ({ search }) => search.offers.length === 0 && search.partialFailures.length > 0,
  );
  const askedAt = decodeTime(command.entity.slice(-26));
  if (stays.length === 0 || silent.length < stays.length) return;
  if (command.now.getTime() - askedAt > silenceMs) return;
  throw new Problem("upstream/unavailable", "No hotel vendor answers; the search is repeated.", {
    failedDomain: "hotels",
  });
};

const byStay = (groups: GroupNeed[]): GroupNeed[][] => {
  const stays = new Map<string, GroupNeed[]>();
  for (const group of groups) {
    const key = `${group.checkIn}/${group.checkOut}`;
    stays.set(key, [...(stays.get(key) ?? []), group]);
  }
  return [...stays.values()];
};

/**
 * As wide as the widest policy among these groups allows, and at least the default: a hotel just beyond a policy's limit
 * is then on record with that reason, which tells what relaxing the limit would bring.
 */
const searchFor = (
  airport: { code: string; latitude: number; longitude: number },
  { policies }: CaseInput,
  groups: GroupNeed[],
): HotelSearch => {
  const radii = groups.map(({ tier }) => policies[tier]?.maxDistanceKm ?? radiusKmDefault);
  const first = groups[0] as GroupNeed;
  return {
    airport: airport.code,
    coordinates: { latitude: airport.latitude, longitude: airport.longitude },
    radiusKm: Math.max(radiusKmDefault, ...radii),
    checkIn: first.checkIn,
    checkOut: first.checkOut,
    rooms: groups.reduce((sum, { rooms }) => sum + rooms, 0),
  };
};
