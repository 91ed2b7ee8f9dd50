/** Owns the public catalogue of events: what partners may hear of, and the scope that each needs (contract, "Outbound webhooks"). */
import type { Scope } from "./vocabulary.ts";

export const publicEvents = {
  "disruption.detected": ["disruptions.events.subscribe"],
  "case.opened": ["cases.events.subscribe", "disruptions.events.subscribe"],
  "case.amended": ["cases.events.subscribe"],
  "subcase.processing": ["cases.events.subscribe"],
  "subcase.offer-ready": ["cases.events.subscribe"],
  "subcase.resolved": ["cases.events.subscribe"],
  "subcase.declined": ["cases.events.subscribe"],
  "subcase.failed": ["cases.events.subscribe"],
  "subcase.compensation-failed": ["cases.events.subscribe"],
  "case.resolved": ["cases.events.subscribe"],
  "voucher.issued": ["vouchers.read"],
  "voucher.amended": ["vouchers.read"],
  "wallet.card-issued": ["wallet.events.subscribe"],
  "wallet.card-tx": ["wallet.events.subscribe"],
} as const satisfies Record<string, readonly Scope[]>;

export type PublicEventType = keyof typeof publicEvents;

export const publicEventTypes: ReadonlySet<string> = new Set(Object.keys(publicEvents));

/** The event types that any of these scopes lets a partner hear; empty when none does. */
export const typesFor = (scopes: readonly Scope[]): PublicEventType[] =>
  (Object.keys(publicEvents) as PublicEventType[]).filter((type) =>
    publicEvents[type].some((scope) => scopes.includes(scope)),
  );
