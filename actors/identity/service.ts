/** Wires the identity actor: airlines, partner registrations, passengers' sessions. */
import { urn } from "../../schemas/urn.ts";
import { attemptIndexes } from "../runtime/attempt-limits.ts";
import type { Change, Decider, Outgoing } from "../runtime/decider.ts";
import type { Actor, ActorContext } from "../runtime/host.ts";
import { closingCommands } from "./closings.ts";
import { decideRegistration } from "./decide.ts";
import { createLinkAttempts, createLoginAttempts } from "./login-attempts.ts";
import { exchangeMagicLink } from "./magic-links.ts";
import { announceAllTiers, tierCommands } from "./partner-tiers.ts";
import { authenticatePartner, identityQueries } from "./queries.ts";
import { registrationCommands } from "./registration.ts";
import { alignAllRevocations, listRevocations, revocationCommands, revocations } from "./revocations.ts";
import { pnrLogin, sessionIndexes } from "./sessions.ts";
import { evolveRegistration, type RegistrationEvent, type RegistrationState } from "./state.ts";
import { TenantRegister } from "./tenants.ts";
import { partnerView } from "./view.ts";

export const registrations: Decider<RegistrationState, RegistrationEvent> = {
  actor: "identity",
  kind: "partner",
  collection: "partners",
  schemaVersion: 1,
  commands: [
    "begin-registration",
    "release-registration",
    "complete-registration",
    "store-client-secret",
    "note-webhook-secret",
    "store-changes",
    "note-limit-exceeded",
  ],
  indexes: [],
  decide: decideRegistration,
  evolve: evolveRegistration,
  view: (state, { id }) => partnerView(id, state),
  technical: new Set(["identity.partner-limit-met"]),
  outgoing: (event, state, _command, clientId) => {
    switch (event.type) {
      case "identity.partner-registered":
      case "identity.partner-changed":
        // Whatever came between: in the end the gateways and the subscription have what is registered.
        return [
          "identity.announce-tier",
          ...(state.webhookUrl === undefined ? [] : ["identity.align-webhook"]),
        ].map((name): Outgoing => ({ to: "command", name, entity: clientId, data: {} }));
      case "identity.webhook-secret-rotated":
        return [{ to: "command", name: "identity.align-webhook", entity: clientId, data: {} }];
      case "identity.partner-limit-met": {
        const { windowStartedAt, limit } = event.data;
        const data = {
          partner: urn("partner", clientId),
          windowStartedAt: windowStartedAt.toISOString(),
          limit,
        };
        return [{ to: "internal", type: "partner.limit-exceeded", id: clientId, data }];
      }
      default:
        return [];
    }
  },
  audit: (change) => auditNote(change),
};

/** What a person did, or the service to a partner, in a person's words: no digest, no contact, and of the webhook's address only the host. */
const auditNote = ({ id, before, after, events }: Change<RegistrationState, RegistrationEvent>) => {
  const shown = ({ name, status, scopes, tier, webhookUrl }: RegistrationState) => ({
    clientId: id,
    name,
    status,
    scopes,
    tier,
    ...(webhookUrl === undefined ? {} : { webhookHost: new URL(webhookUrl).host }),
  });
  const keysOf = (state: RegistrationState | undefined) => ({
    clientSecrets: (state?.status === "ACTIVE" ? state.keys : []).map(({ createdAt, expiresAt }) => ({
      createdAt: createdAt.toISOString(),
      ...(expiresAt === undefined ? {} : { expiresAt: expiresAt.toISOString() }),
    })),
  });
  switch (events[0]?.type) {
    case "identity.partner-registered":
      return { action: "identity.register-partner", before: null, after: shown(after) };
    case "identity.client-secret-rotated":
      return { action: "identity.rotate-client-secret", before: keysOf(before), after: keysOf(after) };
    case "identity.partner-changed": {
      const { contact } = events[0].data;
      return {
        action: "identity.change-partner",
        before: before === undefined ? null : shown(before),
        after: { ...shown(after), ...(contact === undefined ? {} : { contactChanged: true }) },
      };
    }
    case "identity.webhook-secret-rotated":
      return { action: "identity.rotate-webhook-secret", before: null, after: { clientId: id } };
    case "identity.partner-limit-met": {
      const { windowStartedAt, limit } = events[0].data;
      return {
        action: "identity.note-limit-exceeded",
        before: null,
        after: { clientId: id, windowStartedAt: windowStartedAt.toISOString(), limit },
      };
    }
    default:
      return undefined;
  }
};

export const identityActor = (context: ActorContext): Actor => {
  const register = new TenantRegister(context);
  const countAttempt = createLoginAttempts(context);
  const tryLink = createLinkAttempts(context);
  return {
    name: "identity",
    deciders: [registrations, revocations],
    collections: { sessions: sessionIndexes, loginAttempts: attemptIndexes },
    queries: {
      ...identityQueries(context, () => register.list()),
      revocations: listRevocations(context),
    },
    commands: {
      "register-tenant": (command) => register.register(command),
      "set-review-sla": (command) => register.setReviewSla(command),
      "authenticate-partner": async ({ data }) => ({
        ok: await authenticatePartner(context, data as { clientId: string; clientSecret: string }),
      }),
      "pnr-login": (command) => pnrLogin(context, countAttempt, command),
      "exchange-magic-link": (command) => exchangeMagicLink(context, tryLink, command),
      ...registrationCommands(context),
      ...closingCommands(context),
      ...tierCommands(context),
      ...revocationCommands(context),
    },
    start: async () => {
      await register.start();
      await alignAllRevocations(context);
      await announceAllTiers(context);
      return async () => undefined;
    },
  };
};
