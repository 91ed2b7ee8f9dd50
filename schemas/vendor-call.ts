/** Owns how an actor asks a vendor's adapter for something, and how the answer comes back; both travel as commands. */
import type { VehicleType } from "./vocabulary.ts";

export const vendorVerbs = [
  "hold",
  "book",
  "modify",
  "cancel",
  "issue-card",
  "load-card",
  "cancel-card",
  "book-ride",
  "cancel-ride",
  "send",
] as const;
export type VendorVerb = (typeof vendorVerbs)[number];

export type VendorKind = "hotel" | "payment" | "transport" | "message" | "flight";

/** The data of the command `vendor-<name>.<verb>`. */
export interface VendorCall {
  /** Ours, stable over retries: the vendor's idempotency key, and what an unknown outcome is looked up by. */
  reference: string;
  /** Which try this is, from 1. */
  tries: number;
  /** An earlier try has no known outcome: look the reference up before asking again. */
  doubt: boolean;
  /** ISO 8601 UTC: when its sender began to ask for it. Absent: nobody reckons with it. */
  firstAskedAt?: string;
  /** How often a person has had it asked again after a refusal, which the vendor would else only repeat. Absent: never. */
  again?: number;
  /** ISO 8601 UTC: later than this it is not carried out any more, as its sender has asked again or gone on. Absent: it always is. */
  notAfter?: string;
  /** What the port of this kind takes for the verb, without the reference. */
  request: Record<string, unknown>;
  /** The command that takes the answer, `<actor>.<verb>`, and its entity. */
  replyTo: { name: string; entity: string };
}

/** The data of the command that takes the answer. `in-doubt`: done or not, nobody knows. */
export interface VendorAnswer {
  verb: VendorVerb;
  vendor: string;
  reference: string;
  /** Which try it answers. Absent: the one under way. */
  tries?: number;
  /** That of the call. */
  again?: number;
  outcome: "done" | "refused" | "unavailable" | "in-doubt";
  /** Of `done`. */
  result?: Record<string, unknown>;
  /** Of `refused`. */
  code?: string;
  detail?: string;
  /** Of `unavailable` and `in-doubt`: what the vendor asked us to wait. */
  retryAfterMs?: number;
}

/** Which vendor an airline uses for what is not searched for. Absent: that step is left out. */
export interface VendorChoice {
  payment?: string;
  transport?: string;
  /** The most passengers in one vehicle of the transport vendor's. */
  vehicleSeats?: Record<VehicleType, number>;
  message?: string;
  /** Who carries e-mail, where it is not `message`. */
  email?: string;
}

/** Built in where a mail server is configured: carries e-mail, and nothing else. */
export const smtpVendor = "smtp";

/** A configured vendor as administrators see it: never its key. */
export interface VendorView {
  name: string;
  dialect: string;
  baseUrl: string;
  changedAt: string;
  /** Between two reconciliations; absent: the service's default. */
  reconcileMinutes?: number;
  /** From each process; absent: as many as there are. */
  callsPerSecond?: number;
  /** Whether there is a secret that it signs its webhooks with; without one none is believed. */
  webhooks: boolean;
  /** As its dialect names it; none of it is secret. */
  account?: Readonly<Record<string, string>>;
}

/** A page of our references of bookings that stand with a vendor. */
export interface StandingBookings {
  references: string[];
  /** Where the next page begins; absent: this is the last one. */
  next?: string;
}

/** The data of `sub-case.record-stay`: what a hotel tells of a booking after it was made. */
export interface StayReport {
  /** Ours, of the booking. */
  reference: string;
  bookingId: string;
  state: "CHECKED_IN" | "CHECKED_OUT" | "NO_SHOW" | "CANCELLED";
  /** ISO 8601 UTC, by the vendor's clock. */
  at: string;
}

/** What is wrong with a booking that stands with a vendor. TWIN: the group has another one under the same reference; STRAY: it has none under it. */
export type BookingOddity = "TWIN" | "STRAY" | "PARTLY_CANCELLED";

/** What stands with a vendor. */
export interface StandingBooking {
  /** Ours. */
  reference: string;
  bookingId: string;
}

/** The data of `sub-case.note-oddity`: a booking of which the group may know nothing, or not all. */
export interface OddBooking extends StandingBooking {
  vendor: string;
  oddity: BookingOddity;
}

/** The sub-case that a reference of ours belongs to: references begin with its id and a dot. */
export const subCaseOf = (reference: string): string => reference.split(".", 1)[0] as string;
