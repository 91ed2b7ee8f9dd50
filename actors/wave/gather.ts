/** Owns what a wave reads before it decides: who needs rooms, what the vendors offer, and the terms of each tier. */
import { decodeTime } from "ulid";
import { type Airport, airport as airportOf } from "../../schemas/airports.ts";
import type { AllocationResult, GroupNeed } from "../../schemas/allocation.ts";
import type { Query } from "../../schemas/command.ts";
import type { CaseKind } from "../../schemas/drill.ts";
import type { HotelSearch, HotelSearchResult } from "../../schemas/hotel.ts";
import type { ResolvedPolicy } from "../../schemas/policy.ts";
import { Problem } from "../../schemas/problems.ts";
import type { RelaxedFields } from "../../schemas/relaxation.ts";
import type { VendorChoice } from "../../schemas/vendor-call.ts";
import type { Tier } from "../../schemas/vocabulary.ts";
import type { Received } from "../runtime/decider.ts";
import type { ActorContext } from "../runtime/host.ts";

/** Without a limit in a policy, hotels further away than this are of no use to anybody with a morning flight. */
export const radiusKmDefault = 50;

export interface WaveInput {
  airport: { code: string; name: string; latitude: number; longitude: number };
  airlineName: string;
  passengerHost: string;
  /** With what is relaxed for the case. */
  policies: Partial<Record<Tier, ResolvedPolicy>>;
  /** What that is. */
  relaxed?: RelaxedFields[];
  vendors: VendorChoice;
  /** Groups by the dates of their stay, each with the offers for these dates. */
  stays: { groups: GroupNeed[]; search: HotelSearchResult }[];
  /** Set: a drill's or shadow case's. */
  kind?: CaseKind;
  /** Groups that have a room: they change hotels, or keep the one that they have. */
  again: string[];
  /** By stay, where an exact solver has been asked. Absent: it is worked out with the decision. */
  results?: AllocationResult[];
}

/** What a saga works by, whichever hotel its group gets. */
export type WaveTerms = Omit<WaveInput, "stays" | "again" | "results">;

/** What the case tells of those whom it wants placed. */
export interface CaseInput {
  airport: string;
  /** Set: no real vendor is asked. */
  kind?: CaseKind;
  closed: boolean;
  policies: WaveInput["policies"];
  relaxed?: RelaxedFields[];
  groups: GroupNeed[];
  again: string[];
}

/**
 * @param expect told how many groups there are before the vendors are asked
 * @throws Problem conflict/demand-not-approved before the approval: nothing is searched then
 */
export const gatherWave = async (
  context: ActorContext,
  command: Received,
  expect: (groups: number) => void = () => undefined,
): Promise<WaveInput> => {
  const { caseId, demandId } = command.data as { caseId: string; demandId: string };
  const query = (params: Record<string, unknown>): Query => ({ ...command, params });
  const needed = await context.call<CaseInput>("case.allocation-input", query({ caseId, demandId }));
  if (needed.closed) throw new Problem("conflict/state", "The case is closed.", { state: "CLOSED" });
  expect(needed.groups.length);
  const [terms, stays] = await Promise.all([
    gatherTerms(context, command, needed),
    Promise.all(
      byStay(needed.groups).map(async (groups) => ({
        groups,
        search: await offersFor(context, command, needed, groups),
      })),
    ),
  ]);
  waitOutVendors(command, stays, context.config.HOTEL_SILENCE_MS);
  return { ...terms, stays, again: needed.again };
};

const airportKnown = ({ airport }: CaseInput): Airport => {
  const found = airportOf(airport);
  if (found === undefined) throw new Error(`a case is at the unknown airport ${airport}`);
  return found;
};

/** What the vendors offer now for groups of one stay. */
export const offersFor = (
  context: ActorContext,
  command: Received,
  needed: CaseInput,
  groups: GroupNeed[],
): Promise<HotelSearchResult> => {
  const search = searchFor(airportKnown(needed), needed, groups);
  const params = { search, drill: needed.kind !== undefined };
  return context.call<HotelSearchResult>("vendor-adapter.search", { ...command, params });
};

export const gatherTerms = async (
  context: ActorContext,
  command: Received,
  needed: CaseInput,
): Promise<WaveTerms> => {
  const tenant = context.tenants.byCode(command.tenant);
  const drill = needed.kind !== undefined;
  const vendors = await context.call<VendorChoice>("vendor-adapter.choice", {
    ...command,
    params: { drill },
  });
  return {
    airport: airportKnown(needed),
    airlineName: tenant?.name ?? command.tenant,
    passengerHost: tenant?.passengerHosts[0] ?? "",
    policies: drill ? forAnyVendor(needed.policies) : needed.policies,
    ...(needed.relaxed === undefined ? {} : { relaxed: needed.relaxed }),
    vendors,
    ...(needed.kind === undefined ? {} : { kind: needed.kind }),
  };
};

/** A drill's hotels are no provider that a policy could name. */
const forAnyVendor = (policies: WaveInput["policies"]): WaveInput["policies"] =>
  Object.fromEntries(
    Object.entries(policies).map(([tier, policy]) => [tier, { ...policy, allowProviders: undefined }]),
  );

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
