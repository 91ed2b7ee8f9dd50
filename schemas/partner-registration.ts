/** Owns the forms of partner registrations: what one is made with, and what administrators see of it. */
import Type, { type Static } from "typebox";
import { Problem } from "./problems.ts";
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

/** What an administrator may change of a registration; what is left out stays. */
export const ChangePartner = Type.Object(
  {
    scopes: Type.Optional(RegisterPartner.properties.scopes),
    tier: Type.Optional(RegisterPartner.properties.tier),
    webhookUrl: Type.Optional(Type.String({ format: "uri", maxLength: 500 })),
    contact: Type.Optional(RegisterPartner.properties.contact),
  },
  { minProperties: 1, additionalProperties: false },
);
export type ChangePartner = Static<typeof ChangePartner>;

/**
 * What a rotation ends. `PLAIN`: nothing, the newest becomes the former and is good for 14 days more; refused while there is a
 * former. `REPLACE_NEWEST`: the newest, which nobody has seen; the former keeps its end. `END_FORMER`: the former; the newest
 * becomes it. `REVOKE_FORMER`: all there are, as they may have leaked.
 */
const rotationModes = ["PLAIN", "REPLACE_NEWEST", "END_FORMER", "REVOKE_FORMER"] as const;
export type RotationMode = (typeof rotationModes)[number];

const rotationOf = <Mode extends RotationMode>(modes: readonly Mode[]) =>
  Type.Object({ mode: Type.Optional(Type.Enum([...modes])) }, { additionalProperties: false });

/** Without a mode: `PLAIN`. */
export const RotateClientSecret = rotationOf(rotationModes);
export const RotateWebhookSecret = rotationOf(["PLAIN", "REPLACE_NEWEST", "END_FORMER"]);

/** While two secrets are good: when they were made, and when the former's time is over. */
export interface RotationWindow {
  newestAt: Date;
  /** Absent: not known any more. */
  formerAt?: Date;
  until: Date;
}

/**
 * Whoever lost the answer to a rotation must not end, by rotating again, the only secret that the partner has.
 * @param window undefined: one secret alone is good
 * @throws Problem conflict/state naming what can be done
 */
export const mustAllowRotation = (mode: RotationMode, window: RotationWindow | undefined): void => {
  if (mode === "REPLACE_NEWEST" && window === undefined)
    throw new Problem(
      "conflict/state",
      "One secret alone is good, and to replace it would cut the partner off. Rotate plainly: both are good for 14 days then.",
    );
  if (mode !== "PLAIN" || window === undefined) return;
  const { newestAt, formerAt, until } = window;
  const former = formerAt === undefined ? "made before it" : `made at ${formerAt.toISOString()}`;
  throw new Problem(
    "conflict/state",
    `Two secrets are good: the newest, made at ${newestAt.toISOString()}, and the former, ${former}, until ${until.toISOString()}. ` +
      "Say which one this rotation ends: --replace-newest the newest, where its answer was lost and nobody has it; " +
      "--end-former the former, where the partner uses the newest.",
  );
};

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
  /** Absent without a webhook. */
  webhookSecretCreatedAt?: string;
  webhookRotateBy?: string;
  /** Of the one before it, whether it still signs or not; absent: there was none, or it is not known. */
  formerWebhookSecretCreatedAt?: string;
}

/** The only time that these secrets are shown. */
export interface RegisteredPartner extends PartnerView {
  clientSecret: string;
  /** Absent without a webhook. */
  webhookSecret?: string;
}

/** What a rotation has made: shown this once. */
export interface RotatedPartner extends PartnerView {
  clientSecret?: string;
  webhookSecret?: string;
  /** Until then the former secret is good, too; absent where it was ended at once. */
  formerUntil?: string;
  /** Of the former secret, where the rotation has ended it: it was good until then, and is not any more. */
  endedEarly?: string;
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
