/** Owns the reads of waves, each beside the index that serves it. */
import type { Document } from "mongodb";
import { decodeTime } from "ulid";
import type { AllocationView } from "../../schemas/case.ts";
import type { Query } from "../../schemas/command.ts";
import { Problem } from "../../schemas/problems.ts";
import { idOf, urn } from "../../schemas/urn.ts";
import type { WaveView } from "../../schemas/wave.ts";
import type { ActorContext } from "../runtime/host.ts";
import { requireAirport } from "../runtime/reach.ts";
import { loadedOf } from "../runtime/store.ts";
import { choosable } from "./choosable.ts";
import { searchHotels } from "./hotel-search.ts";
import { overrideView } from "./override.ts";
import { type KeptOverride, standingOverrides } from "./override-state.ts";
import { savingsOf } from "./savings.ts";
import type { WaveState } from "./state.ts";
import { termsNow } from "./terms.ts";

export const schemaVersion = 1;
export const collection = "waves";
export const waveIndexes = [{ name: "case", key: { caseId: 1, _id: 1 } }] as const;

/** As the wave has decided, and with the hotels that people have chosen since in its place. */
const allocationViews = (wave: WaveState): AllocationView[] => {
  const chosen = standingOverrides(wave);
  const own = wave.allocations.filter(({ groupId }) => !chosen.has(groupId));
  return [...ownViews(wave, own), ...[...chosen.values()].map(overriddenView)];
};

/** Of each group what was decided last: a hotel chosen over an earlier wave's may be newer than a later wave. */
export const newestOfEach = (waves: readonly WaveState[]): AllocationView[] => {
  const newest = new Map<string, { at: Date; view: AllocationView }>();
  for (const wave of waves) {
    const chosen = standingOverrides(wave);
    for (const view of allocationViews(wave)) {
      const at = chosen.get(view.groupId)?.at ?? wave.completedAt;
      const known = newest.get(view.groupId);
      if (known === undefined || at >= known.at) newest.set(view.groupId, { at, view });
    }
  }
  return [...newest.values()].map(({ view }) => view);
};

const overriddenView = ({ subCaseId, reason, ...chosen }: KeptOverride): AllocationView => ({
  groupId: chosen.groupId,
  subCaseUrn: urn("sub-case", subCaseId),
  tier: chosen.tier,
  hotelUrn: chosen.hotelUrn,
  hotelName: chosen.hotelName,
  rooms: chosen.rooms,
  nights: chosen.nights,
  totalMinor: chosen.totalMinor,
  currency: chosen.currency,
  reason: `Override: ${reason}`,
});

const totalsOf = (views: AllocationView[]): WaveView["totalCost"] => {
  const totals = new Map<string, number>();
  for (const { currency, totalMinor } of views)
    totals.set(currency, (totals.get(currency) ?? 0) + totalMinor);
  return [...totals].map(([currency, amountMinor]) => ({ currency, amountMinor }));
};

const ownViews = (wave: WaveState, allocations: WaveState["allocations"]): AllocationView[] =>
  allocations.map((allocation) => ({
    groupId: allocation.groupId,
    subCaseUrn: urn("sub-case", allocation.subCaseId),
    tier: allocation.tier,
    hotelUrn: allocation.hotelUrn,
    hotelName: wave.offers[allocation.offer]?.name ?? "",
    rooms: allocation.rooms,
    nights: allocation.nights,
    totalMinor: allocation.totalMinor,
    currency: allocation.currency,
    ...(allocation.marketTotalMinor === undefined ? {} : marketOfAllocation(allocation)),
    reason: allocation.reason,
  }));

const marketOfAllocation = ({ marketTotalMinor, marketBasis }: WaveState["allocations"][number]) => ({
  marketTotalMinor,
  marketBasis,
});

/** Of what stands: a room that somebody has chosen another hotel over saves nothing. Absent rather than nothing: a wave without contracts has not saved zero. */
export const savingsView = (wave: WaveState): Pick<WaveView, "savingsVersusMarket"> => {
  const chosen = standingOverrides(wave);
  const saved = savingsOf(wave.allocations.filter(({ groupId }) => !chosen.has(groupId)));
  return saved.length === 0 ? {} : { savingsVersusMarket: saved };
};

const rankingViews = (wave: WaveState): WaveView["rankingInputs"] =>
  wave.rankingInputs.flatMap(({ offer: index, hotelUrn, distanceKm, ...ranking }) => {
    const offer = wave.offers[index];
    if (offer === undefined) return [];
    const { name, vendor, providerOfferId, stars, nightlyRateMinor, currency, roomsLeft } = offer;
    const candidate = {
      hotelUrn,
      name,
      vendor,
      providerOfferId,
      nightlyRateMinor,
      currency,
      roomsLeft,
      distanceKm,
    };
    return [{ ...ranking, candidate: stars === undefined ? candidate : { ...candidate, stars } }];
  });

const forAllocations = { outbox: 0, handled: 0, rankingInputs: 0 };

/** What the case knows of a wave that has not decided yet. */
interface WaveUnderWay {
  caseUrn: string;
  demandUrn: string;
  airport: string;
}

export const waveQueries = (context: ActorContext) => {
  const waves = (tenant: string) => context.documents.tenant(tenant).collection<Document>(collection);

  const load = async (tenant: string, waveUrn: string) => {
    const found = await waves(tenant).findOne(
      { _id: idOf(waveUrn) as never },
      { projection: { outbox: 0, handled: 0 } },
    );
    return found === null ? undefined : loadedOf<WaveState>(found, { schemaVersion });
  };

  /** A wave stands once it has decided; until then its case tells that it runs. */
  const underWay = async (query: Query, waveUrn: string): Promise<WaveView> => {
    const found = await context.call<WaveUnderWay | null>("case.wave-under-way", query);
    if (found === null) throw new Problem("not-found/resource", "No such wave.");
    const { airport, ...names } = found;
    requireAirport(query.principal, airport);
    const nothingYet = {
      rankingInputs: [],
      allocations: [],
      unplaced: [],
      totalCost: [],
      partialFailures: [],
    };
    const createdAt = new Date(decodeTime(idOf(waveUrn).slice(-26))).toISOString();
    return { urn: waveUrn, ...names, status: "RUNNING", ...nothingYet, createdAt };
  };

  return {
    /** For a wave that is run again: that it has decided. @throws Problem conflict/state while it runs */
    decided: async (query: Query): Promise<{ caseId: string; airport: string; version: number }> => {
      const { waveUrn } = query.params as { waveUrn: string };
      const loaded = await load(query.tenant, waveUrn);
      if (loaded === undefined) {
        await underWay(query, waveUrn);
        throw new Problem("conflict/state", "The wave is still running.", { state: "RUNNING" });
      }
      const { state, meta } = loaded;
      requireAirport(query.principal, state.airport);
      return { caseId: state.caseId, airport: state.airport, version: meta.version };
    },

    /** GET /v1/allocation/wave/{waveUrn}. */
    detail: async (query: Query): Promise<WaveView> => {
      const { tenant, principal, params } = query;
      const { waveUrn } = params as { waveUrn: string };
      const loaded = await load(tenant, waveUrn);
      if (loaded === undefined) return underWay(query, waveUrn);
      const { state, meta } = loaded;
      requireAirport(principal, state.airport);
      const allocations = allocationViews(state);
      const chosen = standingOverrides(state);
      return {
        urn: waveUrn,
        caseUrn: urn("case", state.caseId),
        demandUrn: urn("demand", state.demandId),
        status: "COMPLETED",
        policies: state.policies.map(({ tier, policyId, version }) => ({
          tier,
          policyUrn: urn("policy", policyId),
          version,
        })),
        ...(state.relaxed === undefined ? {} : { relaxed: state.relaxed }),
        rankingInputs: rankingViews(state),
        allocations,
        unplaced: state.unplaced
          .filter(({ groupId }) => !chosen.has(groupId))
          .map(({ groupId, rooms, reason }) => ({ groupId, rooms, reason })),
        ...(state.overrides === undefined ? {} : { overrides: state.overrides.map(overrideView) }),
        totalCost: totalsOf(allocations),
        objective: state.objective,
        ...(state.gap === undefined ? {} : { gap: state.gap }),
        ...savingsView(state),
        partialFailures: state.partialFailures,
        createdAt: state.createdAt.toISOString(),
        completedAt: state.completedAt.toISOString(),
        version: meta.version,
      };
    },

    /** For whoever asks why groups have no room: the newest wave that has looked for one for any of them; null: none has. */
    "newest-of": async ({ tenant, params }: Query): Promise<string | null> => {
      const { caseId, groupIds } = params as { caseId: string; groupIds: string[] };
      const [found] = await waves(tenant)
        .find(
          {
            caseId,
            $or: [{ "allocations.groupId": { $in: groupIds } }, { "unplaced.groupId": { $in: groupIds } }],
          },
          { projection: { _id: 1 }, hint: "case" },
        )
        .sort({ _id: -1 })
        .limit(1)
        .toArray();
      return found === undefined ? null : urn("wave", String(found._id));
    },

    choosable: choosable(context, waves, (document) => loadedOf<WaveState>(document, { schemaVersion })),

    /** For a room booked by hand: what its saga works by. */
    terms: (query: Query) => termsNow(context, query),

    /** POST /v1/hotels/search. */
    "search-hotels": (query: Query) => searchHotels(context, query),

    /** For the case's detail: what all its waves have assigned, of each group the newest; empty while the first one runs. */
    allocations: async ({ tenant, params }: Query): Promise<AllocationView[]> => {
      const found = await waves(tenant)
        .find({ caseId: idOf((params as { caseUrn: string }).caseUrn) }, { projection: forAllocations })
        .sort({ _id: 1 })
        .toArray();
      return newestOfEach(found.map((document) => loadedOf<WaveState>(document, { schemaVersion }).state));
    },
  };
};
