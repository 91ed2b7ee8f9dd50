/** Owns the forms of partner registrations: what one is made with, and what administrators see of it. */
import Type, { type Static } from "typebox";
import { type Scope, scopes } from "./vocabulary.ts";

/** 1 has the highest limits (contract, "Limits"). */
export type PartnerTier = 1 | 2 | 3;

export const RegisterPartner = Type.Object({
  clientId: Type.String({
    pattern: "^[a-z0-9][a-z0-9-]{0,39}$",
    description: "Its own part; the client id is `<airline code>-<this>`.",
  }),
  name: Type.String({ minLength: 1, maxLength: 100 }),
  scopes: Type.Array(Type.Enum([...scopes]), { minItems: 1, uniqueItems: true }),
  tier: Type.Integer({ minimum: 1, maximum: 3 }),
  /** Which targets are allowed is the webhook actor's to say. Absent: nothing is delivered. */
  webhookUrl: Type.Optional(Type.String({ format: "uri", maxLength: 500 })),
  contact: Type.String({
    format: "email",
    maxLength: 200,
    description: "Told of a paused subscription and of a limit that was met.",
  }),
});
export type RegisterPartner = Static<typeof RegisterPartner>;

export interface PartnerView {
  clientId: string;
  partnerUrn: string;
  /** The airline's code. */
  tenant: string;
  name: string;
  status: "PROVISIONING" | "ACTIVE";
  scopes: Scope[];
  tier: PartnerTier;
  webhookUrl?: string;
  contact: string;
  createdAt: string;
  /** The last minute in which the partner was refused for its rate, of which its contact is told. */
  limitMet?: { at: string; limit: string };
  /** Newest first. One that expires is accepted until then. */
  clientSecrets: { createdAt: string; expiresAt?: string }[];
  /** When the newest client secret is to be replaced (contract, "Secrets": every 90 days). */
  rotateBy?: string;
}

/** The only time that these secrets are shown. */
export interface RegisteredPartner extends PartnerView {
  clientSecret: string;
  /** Absent without a webhook. */
  webhookSecret?: string;
}

/** A client that has proved its secret. */
export interface AuthenticatedPartner {
  clientId: string;
  partnerUrn: string;
  /** The airline's code. */
  tenant: string;
  scopes: Scope[];
  tier: PartnerTier;
}
