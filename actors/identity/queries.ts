/** Owns the reads of registrations and the check of a client's secret. */
import type { Document } from "mongodb";
import type { Page, Query } from "../../schemas/command.ts";
import type { AuthenticatedPartner, PartnerView } from "../../schemas/partner-registration.ts";
import { Problem } from "../../schemas/problems.ts";
import { tenantOfId, urn } from "../../schemas/urn.ts";
import type { ActorContext } from "../runtime/host.ts";
import { readPage } from "../runtime/page.ts";
import { loadedOf } from "../runtime/store.ts";
import { accepts } from "./secrets.ts";
import type { RegistrationState } from "./state.ts";
import { partnerView } from "./view.ts";

const current = { schemaVersion: 1 };
const stateOf = (document: Document): RegistrationState =>
  loadedOf<RegistrationState>(document, current).state;

/** @throws Problem not-found/resource */
export const showPartner = async (
  context: ActorContext,
  tenant: string,
  clientId: string,
): Promise<PartnerView> => {
  const partners = context.documents.tenant(tenant).collection<Document>("partners");
  const found = await partners.findOne({ _id: clientId as never });
  if (found === null) throw new Problem("not-found/resource", "No such partner.");
  return partnerView(clientId, stateOf(found));
};

export const identityQueries = (context: ActorContext, listTenants: () => Promise<unknown>) => ({
  /** Every airline, by code. */
  tenants: () => listTenants(),

  /** An airline's registrations, by client id. */
  partners: ({ tenant, params }: Query): Promise<Page<PartnerView>> =>
    readPage(
      context.documents.tenant(tenant).collection<Document>("partners"),
      { filter: {}, params, direction: 1 },
      (document) => partnerView(String(document._id), stateOf(document)),
    ),

  partner: ({ tenant, params }: Query): Promise<PartnerView> =>
    showPartner(context, tenant, (params as { clientId: string }).clientId),
});

/**
 * The client id names its airline. An unknown client, an unknown airline and a wrong secret get the same answer after
 * the same work: one read, and the same comparisons.
 * @throws Problem auth/invalid-client
 */
export const authenticatePartner = async (
  context: ActorContext,
  { clientId, clientSecret }: { clientId: string; clientSecret: string },
): Promise<AuthenticatedPartner> => {
  const tenant = context.tenants.byCode(tenantOfId(clientId))?.code;
  const collection =
    tenant === undefined
      ? context.documents.platform.collection<Document>("tenants")
      : context.documents.tenant(tenant).collection<Document>("partners");
  const found = await collection.findOne({ _id: clientId as never });
  const state = tenant === undefined || found === null ? undefined : stateOf(found);
  const keys = state?.status === "ACTIVE" ? state.keys : [];
  const accepted = accepts(keys, clientSecret, context.clock.now());
  if (!accepted || tenant === undefined || state === undefined) {
    throw new Problem("auth/invalid-client", "Check the client id and the client secret.");
  }
  return {
    clientId,
    partnerUrn: urn("partner", clientId),
    tenant,
    scopes: state.scopes,
    tier: state.tier,
  };
};
