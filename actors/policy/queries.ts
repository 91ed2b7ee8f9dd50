/** Owns the reads of policies, each beside the index that serves it. */
import type { Document } from "mongodb";
import { airport as airportOf } from "../../schemas/airports.ts";
import type { Page, Query } from "../../schemas/command.ts";
import { currencyOfCountry } from "../../schemas/currency.ts";
import type { DetectionTerm } from "../../schemas/flight.ts";
import type { PartnerPolicy } from "../../schemas/partner-reads.ts";
import type { PolicyMatch, PolicyView, ResolvedPolicy } from "../../schemas/policy.ts";
import { Problem } from "../../schemas/problems.ts";
import { idOf } from "../../schemas/urn.ts";
import type { PolicyStatus, Tier } from "../../schemas/vocabulary.ts";
import type { TenantDocuments } from "../runtime/documents.ts";
import type { ActorContext } from "../runtime/host.ts";
import { decodeCursor, limitOf, slicePage } from "../runtime/page.ts";
import { loadedOf } from "../runtime/store.ts";
import type { PolicyAsRead } from "./decide.ts";
import { type Candidate, detectionTerms, matchPolicy, resolvePolicy, verdictsOn } from "./match.ts";
import { type ContextState, contextKeyOf, type PolicyState, statusIn } from "./state.ts";
import { partnerPolicy, policyView } from "./view.ts";

const current = { schemaVersion: 1 };

export const contextIndexes = [
  { name: "context", key: { contextKey: 1 }, unique: true },
  { name: "active", key: { activePolicyId: 1 }, sparse: true },
] as const;

export const loadPolicy = async (
  documents: TenantDocuments,
  policyId: string,
): Promise<PolicyAsRead | undefined> => {
  const found = await documents.collection<Document>("policies").findOne({ _id: policyId as never });
  if (found === null) return undefined;
  const { state, meta } = loadedOf<PolicyState>(found, current);
  return { policyId, policy: state, version: meta.version };
};

/** What the pointer of its context makes of a policy. */
export const statusOf = async (
  documents: TenantDocuments,
  policyId: string,
  text: Pick<PolicyView, "context" | "tiers">,
): Promise<PolicyStatus> => {
  const found = await documents
    .collection<Document>("policyContexts")
    .findOne({ contextKey: contextKeyOf(text) });
  return statusIn(found === null ? undefined : loadedOf<ContextState>(found, current).state, policyId);
};

/** Policies in force, by the `active` index; a tenant has at most some dozens. */
const activeCandidates = async (documents: TenantDocuments): Promise<Candidate[]> => {
  const contexts = await documents
    .collection<Document>("policyContexts")
    .find({ activePolicyId: { $exists: true } })
    .toArray();
  const states = contexts.map((context) => loadedOf<ContextState>(context, current).state);
  const ids = states.flatMap(({ activePolicyId }) => activePolicyId ?? []);
  const policies = await documents
    .collection<Document>("policies")
    .find({ _id: { $in: ids as never[] } })
    .toArray();
  return policies.map((document) => {
    const { state, meta } = loadedOf<PolicyState>(document, current);
    const activatedAt =
      states.find(({ activePolicyId }) => activePolicyId === meta._id)?.activatedAt ?? state.createdAt;
    return { policyId: meta._id, version: meta.version, activatedAt, policy: state };
  });
};

/** The code has the form of one. */
const noSuchAirport = (code: string): Problem =>
  new Problem("validation/query", "Correct the query parameters named in `errors`.", {
    errors: [{ pointer: "?airport", detail: `${code} is not a known IATA airport code` }],
  });

const localCurrency = (airport: string): string =>
  currencyOfCountry(airportOf(airport)?.country ?? "") ?? "USD";

const resolveFor = (
  context: ActorContext,
  tenant: string,
  candidates: Candidate[],
  airport: string,
  tier: Tier,
) => {
  const match = matchPolicy(candidates, airport, tier);
  if (match === undefined) return undefined;
  const own = match.candidate.policy.body.context.airport;
  const home = currencyOfCountry(context.tenants.byCode(tenant)?.homeCountry ?? "") ?? "USD";
  const policyCurrency = own === undefined ? home : localCurrency(own);
  return { match, policy: resolvePolicy(match.candidate, policyCurrency, localCurrency(airport)) };
};

/** In the order of their ids. @throws Problem validation/query */
const activePage = async <Item>(
  documents: TenantDocuments,
  params: Query["params"],
  map: (candidate: Candidate) => Item,
): Promise<Page<Item>> => {
  const after = typeof params.cursor === "string" ? decodeCursor(params.cursor) : "";
  const rest = (await activeCandidates(documents))
    .filter(({ policyId }) => policyId > after)
    .sort((a, b) => (a.policyId < b.policyId ? -1 : 1));
  return slicePage(rest, limitOf(params), ({ policyId }) => policyId, map);
};

export const policyQueries = (context: ActorContext) => ({
  /** GET /v1/policies/active. */
  active: ({ tenant, params }: Query): Promise<Page<PolicyView>> =>
    activePage(
      context.documents.tenant(tenant),
      params,
      ({ policyId, version, policy }) => policyView(policyId, policy, version, "ACTIVE") as PolicyView,
    ),

  /** GET /partner/v1/policies. */
  "partner-active": ({ tenant, params }: Query): Promise<Page<PartnerPolicy>> =>
    activePage(context.documents.tenant(tenant), params, ({ policyId, version, policy }) =>
      partnerPolicy(policyId, policy, version),
    ),

  /** GET /v1/policies/{policyUrn}. */
  one: async ({ tenant, params }: Query): Promise<PolicyView> => {
    const documents = context.documents.tenant(tenant);
    const policyId = idOf((params as { policyUrn: string }).policyUrn);
    const found = await loadPolicy(documents, policyId);
    if (found === undefined) throw new Problem("not-found/resource", "No such policy.");
    const status = await statusOf(documents, policyId, found.policy.body);
    return policyView(policyId, found.policy, found.version, status) as PolicyView;
  },

  /** GET /v1/policies/resolve: which policy applies to a tier at an airport, and why the others don't. */
  resolve: async ({ tenant, params }: Query): Promise<PolicyMatch> => {
    const { airport, tier } = params as { airport: string; tier: Tier };
    if (airportOf(airport) === undefined) throw noSuchAirport(airport);
    const active = await activeCandidates(context.documents.tenant(tenant));
    const candidates = verdictsOn(active, airport, tier);
    const found = matchPolicy(active, airport, tier);
    if (found === undefined) {
      const others = candidates.slice(0, 5).map(({ name, detail }) => ` ${name}: ${detail}`);
      throw new Problem(
        "not-found/resource",
        `No active policy applies to ${tier} at ${airport}. Activate one first.${others.join("")}`,
      );
    }
    const { policyId, policy, version } = found.candidate;
    return {
      matchedBy: found.matchedBy,
      policy: policyView(policyId, policy, version, "ACTIVE") as PolicyView,
      candidates,
    };
  },

  /** For flights: from when on a predicted disruption counts at an airport. Empty: no policy is in force there. */
  "detection-terms": async ({ tenant, params }: Query): Promise<DetectionTerm[]> => {
    const { airport } = params as { airport: string };
    return detectionTerms(await activeCandidates(context.documents.tenant(tenant)), airport);
  },

  /** For other actors: the policy of each tier, null where none applies. */
  "resolve-tiers": async ({
    tenant,
    params,
  }: Query): Promise<Partial<Record<Tier, ResolvedPolicy | null>>> => {
    const { airport, tiers } = params as { airport: string; tiers: Tier[] };
    const candidates = await activeCandidates(context.documents.tenant(tenant));
    return Object.fromEntries(
      tiers.map((tier) => [tier, resolveFor(context, tenant, candidates, airport, tier)?.policy ?? null]),
    );
  },
});
