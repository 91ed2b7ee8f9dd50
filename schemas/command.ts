/** Owns the envelopes that cross the broker and the streams: who acts, a command, a query, and their replies. */
import type { ProblemRecord } from "./problems.ts";
import type { Role, Scope } from "./vocabulary.ts";

/** Who acts. `urn` is what an audit entry names: an operator, a partner, a passenger session, or the service itself. */
export interface Principal {
  surface: "operator" | "passenger" | "partner" | "system";
  /** The airline's code. */
  tenant: string;
  urn: string;
  /** An operator's `sub` at the issuer, where it is another than the id in `urn`. */
  subject?: string;
  role?: Role;
  /** Set: an operator scoped to this one airport. */
  airport?: string;
  scopes?: Scope[];
  /** A passenger's case and group. */
  caseId?: string;
  groupId?: string;
  /** When a passenger's token was issued, in whole seconds since 1970: a session ends with the closing of its case. */
  tokenIssuedAt?: number;
  /** The partner registration's client id. */
  clientId?: string;
}

/** The service acting by itself: timers, reactions, sagas. */
export const systemPrincipal = (tenant: string, actor: string): Principal => ({
  surface: "system",
  tenant,
  urn: `urn:user:system-${actor}`,
});

/** Carried through every hop so that one request can be followed from the gateway to the last vendor call. */
export interface Trace {
  correlationUrn: string;
  /** W3C Trace Context `traceparent`. */
  traceparent: string;
}

/**
 * One imperative to one entity. Its id is derived (never random on a retry), so the same command twice is told
 * from two commands: an API command's id from its idempotency key or request, a reaction's from the event, a
 * timer's from the entity and the due time.
 */
export interface Command<Data = unknown> extends Trace {
  id: string;
  /** `<actor>.<verb>`, the one name on the wire, in code and in metrics. */
  name: string;
  tenant: string;
  /** The entity's id without `urn:<kind>:`; empty where the actor finds or creates it by a natural key. */
  entity: string;
  principal: Principal;
  /** When the command was first issued, ISO 8601 UTC; decisions read no other clock. */
  issuedAt: string;
  /** The version the caller has seen; a business change since then refuses the command. */
  expectedVersion?: number;
  fencingToken?: number;
  /** Set: the data was too large for a message and stands in the tenant's database. */
  staged?: StagedRef;
  data: Data;
}

/** Where a staged body's pieces are. */
export interface StagedRef {
  stagedId: string;
  pieces: number;
}

/** A read, answered from documents; it changes nothing. */
export interface Query<Params = Record<string, unknown>> extends Trace {
  tenant: string;
  principal: Principal;
  params: Params;
}

/** A command's answer to a synchronous caller: the audience's view of the entity after it. */
export interface Accepted<View = unknown> {
  ok: View;
  /** The entity's business version: ETag, and what clients send back. */
  version?: number;
  /** True when this very command had been handled before. */
  repeated?: boolean;
  /** False: a command that may also create has changed what was there. */
  created?: boolean;
}

/** Plain data in both cases, so that an answer is the same from this process and from another. */
export type Reply<View = unknown> = Accepted<View> | { problem: ProblemRecord };

/** One page of a list (contract, "Common envelopes"). */
export interface Page<Item> {
  items: Item[];
  nextCursor: string | null;
  hasMore: boolean;
}

/** What stands on EVENTS and INTERNAL (and, without `urn`, what a partner's webhook carries as its body). */
export interface EventRecord<Data = Record<string, unknown>> {
  urn: string;
  /** `<entity>.<what>`, past tense. */
  type: string;
  occurred_at: string;
  /** The airline's URN. */
  tenant: string;
  case_urn?: string;
  correlation_urn: string;
  traceparent: string;
  data: Data;
}
