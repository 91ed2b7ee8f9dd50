/** Owns what a partner registration is, and how its events change it. */
import type { PartnerTier, RotationMode } from "../../schemas/partner-registration.ts";
import type { Scope } from "../../schemas/vocabulary.ts";
import { type ClientKey, rotated } from "./secrets.ts";

/** What a registration is made with; the client id is the entity's id. */
export interface Attributes {
  name: string;
  scopes: Scope[];
  tier: PartnerTier;
  webhookUrl?: string;
  contact: string;
}

interface Registration extends Attributes {
  createdAt: Date;
  createdBy: string;
  limitMet?: LimitMet;
}

/** The last time that the partner was refused for its rate. */
export interface LimitMet {
  /** Of the minute in which it happened; each is told of once. */
  windowStartedAt: Date;
  /** In words, as the partner was told. */
  limit: string;
}

/** Begun, but its webhook may not stand yet: no secret was shown to anyone, so the whole may be done again. */
export interface Provisioning extends Registration {
  status: "PROVISIONING";
  attempt: string;
  /** Until then the attempt may still be under way; afterwards another may take over. */
  attemptUntil: Date;
}

export interface Active extends Registration {
  status: "ACTIVE";
  /** Newest first. */
  keys: ClientKey[];
  webhookSecretCreatedAt?: Date;
  /** Of the one before it, whether it still signs or not. */
  formerWebhookSecretCreatedAt?: Date;
}

export type RegistrationState = Provisioning | Active;

export type RegistrationEvent =
  | {
      type: "identity.registration-begun";
      data: { attributes: Attributes; attempt: string; attemptUntil: Date; at: Date; by: string };
    }
  | { type: "identity.registration-released"; data: { at: Date } }
  | { type: "identity.partner-registered"; data: { hash: string; at: Date } }
  | { type: "identity.client-secret-rotated"; data: { hash: string; mode: RotationMode; at: Date } }
  | { type: "identity.webhook-secret-rotated"; data: { at: Date; formerAt?: Date } }
  /** `webhookSecretAt`: it has a webhook from now on, whose secret is as old as that. */
  | { type: "identity.partner-changed"; data: Partial<Attributes> & { webhookSecretAt?: Date } }
  | { type: "identity.partner-limit-met"; data: LimitMet };

export const evolveRegistration = (
  state: RegistrationState | undefined,
  event: RegistrationEvent,
): RegistrationState => {
  switch (event.type) {
    case "identity.registration-begun": {
      const { attributes, attempt, attemptUntil, at, by } = event.data;
      return {
        status: "PROVISIONING",
        ...attributes,
        createdAt: at,
        createdBy: by,
        attempt,
        attemptUntil,
      };
    }
    case "identity.registration-released":
      return { ...(state as Provisioning), attemptUntil: event.data.at };
    case "identity.partner-registered": {
      const { attempt: _attempt, attemptUntil: _until, ...registration } = state as Provisioning;
      const { hash, at } = event.data;
      return {
        ...registration,
        status: "ACTIVE",
        keys: [{ hash, createdAt: at }],
        ...(registration.webhookUrl === undefined ? {} : { webhookSecretCreatedAt: at }),
      };
    }
    case "identity.client-secret-rotated": {
      const active = state as Active;
      const { hash, mode, at } = event.data;
      return { ...active, keys: rotated(active.keys, hash, at, mode) };
    }
    case "identity.webhook-secret-rotated": {
      const { formerWebhookSecretCreatedAt: _, ...active } = state as Active;
      const { at, formerAt } = event.data;
      const former = formerAt === undefined ? {} : { formerWebhookSecretCreatedAt: formerAt };
      return { ...active, webhookSecretCreatedAt: at, ...former };
    }
    case "identity.partner-changed": {
      const { webhookSecretAt, ...changed } = event.data;
      const since = webhookSecretAt === undefined ? {} : { webhookSecretCreatedAt: webhookSecretAt };
      return { ...(state as Active), ...changed, ...since };
    }
    case "identity.partner-limit-met":
      return { ...(state as Active), limitMet: event.data };
  }
};
