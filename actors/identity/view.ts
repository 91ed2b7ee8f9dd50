/** Owns what administrators see of a registration. No secret and no digest of one is in it. */
import type { PartnerView } from "../../schemas/partner-registration.ts";
import { tenantOfId, urn } from "../../schemas/urn.ts";
import { rotationDueMs } from "./secrets.ts";
import type { RegistrationState } from "./state.ts";

const rotateBy = (createdAt: Date): string => new Date(createdAt.getTime() + rotationDueMs).toISOString();

export const partnerView = (clientId: string, state: RegistrationState): PartnerView => {
  const keys = state.status === "ACTIVE" ? state.keys : [];
  const [newest] = keys;
  const webhookSince = state.status === "ACTIVE" ? state.webhookSecretCreatedAt : undefined;
  const formerSince = state.status === "ACTIVE" ? state.formerWebhookSecretCreatedAt : undefined;
  return {
    clientId,
    partnerUrn: urn("partner", clientId),
    tenant: tenantOfId(clientId),
    name: state.name,
    status: state.status,
    scopes: state.scopes,
    tier: state.tier,
    ...(state.webhookUrl === undefined ? {} : { webhookUrl: state.webhookUrl }),
    contact: state.contact,
    createdAt: state.createdAt.toISOString(),
    ...(state.limitMet === undefined
      ? {}
      : {
          limitMet: {
            at: state.limitMet.windowStartedAt.toISOString(),
            limit: state.limitMet.limit,
          },
        }),
    clientSecrets: keys.map(({ createdAt, expiresAt }) => ({
      createdAt: createdAt.toISOString(),
      ...(expiresAt === undefined ? {} : { expiresAt: expiresAt.toISOString() }),
    })),
    ...(newest === undefined ? {} : { rotateBy: rotateBy(newest.createdAt) }),
    ...(webhookSince === undefined
      ? {}
      : { webhookSecretCreatedAt: webhookSince.toISOString(), webhookRotateBy: rotateBy(webhookSince) }),
    ...(formerSince === undefined ? {} : { formerWebhookSecretCreatedAt: formerSince.toISOString() }),
  };
};
