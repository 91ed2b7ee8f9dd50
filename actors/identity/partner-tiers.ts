/** Owns telling the gateways which tier each partner has: after its registration, and of all at every start. */
import type { Document } from "mongodb";
import { Problem } from "../../schemas/problems.ts";
import { announceTier } from "../../streams/partner-tiers.ts";
import type { ActorContext, CommandFunction } from "../runtime/host.ts";
import { showPartner } from "./queries.ts";

/** The entity is the client id. Tells what is registered now: late or twice does no harm. An outage is waited out. */
export const tierCommands = (context: ActorContext): Readonly<Record<string, CommandFunction>> => ({
  "announce-tier": async ({ tenant, entity }) => {
    const { status, tier } = await showPartner(context, tenant, entity);
    if (status !== "ACTIVE") throw new Problem("conflict/state", "No partner is registered there yet.");
    await announceTier(context.streams, entity, tier);
    return { ok: null };
  },
});

/** Heals what a lost bucket, or one from before there were tiers in it, leaves the gateways without. */
export const announceAllTiers = async ({ tenants, documents, streams }: ActorContext): Promise<void> => {
  for (const { code } of tenants.all()) {
    const partners = documents.tenant(code).collection<Document>("partners");
    const registered = partners.find({ status: "ACTIVE" }, { projection: { tier: 1 } });
    for await (const { _id, tier } of registered) await announceTier(streams, String(_id), tier);
  }
};
