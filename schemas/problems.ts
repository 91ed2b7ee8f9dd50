/** Owns the one catalogue of problems: code → status, title, and whether trying again can help. */

import type { ReplayView } from "./replay.ts";

/**
 * `never`: the same request fails again. `after_reload`: read the current state first. `later`: wait, then repeat.
 * HTTP answers, consumers and the dead letter all read it.
 */
export type Retry = "never" | "after_reload" | "later";

interface ProblemKind {
  status: number;
  title: string;
  retry: Retry;
}

const kind = (status: number, title: string, retry: Retry = "never"): ProblemKind => ({
  status,
  title,
  retry,
});

export const problems = {
  "auth/missing-token": kind(401, "No access token"),
  "auth/invalid-token": kind(401, "The access token is not valid"),
  "auth/expired-token": kind(401, "The access token has expired", "after_reload"),
  "auth/invalid-client": kind(401, "Unknown client or wrong secret"),
  "auth/login-failed": kind(401, "This login opens no session"),
  "auth/bad-signature": kind(401, "The webhook signature is not valid"),
  "auth/insufficient-role": kind(403, "Your role does not allow this"),
  "auth/insufficient-scope": kind(403, "The token lacks the required scope"),
  "auth/foreign-tenant": kind(403, "This belongs to another airline"),
  "auth/foreign-airport": kind(403, "You are scoped to another airport"),
  "auth/foreign-case": kind(403, "This session belongs to another case"),
  "auth/foreign-origin": kind(403, "The request comes from another site"),
  "auth/case-closed": kind(403, "The case is closed"),
  "validation/malformed": kind(400, "The request cannot be read"),
  "validation/query": kind(400, "A query parameter is not valid"),
  "validation/captcha": kind(400, "The captcha was not accepted", "after_reload"),
  "validation/body": kind(422, "The body is not valid"),
  "validation/kpi": kind(422, "Not in the catalogue of figures"),
  "validation/replay-window": kind(422, "The event is too old to be replayed"),
  "validation/too-large": kind(413, "The body is too large"),
  "validation/not-acceptable": kind(406, "None of the accepted media types is produced here"),
  "validation/media-type": kind(415, "This media type is not taken here"),
  "not-found/route": kind(404, "No such route"),
  "not-found/method": kind(405, "This method is not allowed here"),
  "not-found/resource": kind(404, "No such resource"),
  "not-found/host": kind(404, "No airline serves passengers at this host"),
  "conflict/state": kind(409, "The current state does not allow this", "after_reload"),
  "conflict/version": kind(409, "It was changed meanwhile", "after_reload"),
  "conflict/concurrent-write": kind(409, "Others changed it at the same moment", "after_reload"),
  "conflict/duplicate": kind(409, "It exists already", "after_reload"),
  "conflict/offer-decided": kind(409, "The offer was already decided", "after_reload"),
  "conflict/demand-not-approved": kind(409, "No approved demand yet", "after_reload"),
  "conflict/sub-case-locked": kind(409, "Another operator holds the lock", "after_reload"),
  "conflict/stale-fencing-token": kind(409, "The lock has ended", "after_reload"),
  "conflict/in-flight": kind(409, "The same request is under way", "later"),
  "idempotency/payload-differs": kind(422, "The idempotency key names another request"),
  "rate/exceeded": kind(429, "Too many requests", "later"),
  "upstream/unavailable": kind(503, "A service behind this one is not reachable", "later"),
  "internal/unexpected": kind(500, "Something went wrong on our side", "later"),
} as const satisfies Record<string, ProblemKind>;

export type ProblemCode = keyof typeof problems;

/** Where in the input something is wrong: an RFC 6901 pointer into the body, or `?name` for a query parameter. */
export interface FieldError {
  pointer: string;
  detail: string;
  /** Of a spreadsheet's cell: its row, from 1, and the header of its column. */
  row?: number;
  column?: string;
}

/** The extension members that the contract and we use beside RFC 7807's own. */
export interface ProblemMembers {
  errors?: FieldError[];
  version?: number;
  state?: string;
  lockedBy?: string;
  expiresInSeconds?: number;
  failedDomain?: string;
  retryAfterSeconds?: number;
  allow?: string[];
  /** What a refused body should have been: told in `Accept` and `Accept-Encoding`. */
  accept?: string;
  acceptEncoding?: string;
  scope?: string;
  /** The replay that is under way. */
  replay?: ReplayView;
}

/** A problem as plain data: how one travels between processes. */
export interface ProblemRecord {
  code: ProblemCode;
  detail: string;
  members: ProblemMembers;
}

/** An expected refusal. Everything else that is thrown is a bug and becomes `internal/unexpected`. */
export class Problem extends Error {
  readonly code: ProblemCode;
  readonly members: ProblemMembers;

  /** @param detail one or two sentences: what was wrong and what to do. Never a secret or a contact detail. */
  constructor(code: ProblemCode, detail: string, members: ProblemMembers = {}) {
    super(detail);
    this.name = "Problem";
    this.code = code;
    this.members = members;
  }

  get status(): number {
    return problems[this.code].status;
  }

  get retry(): Retry {
    return problems[this.code].retry;
  }

  record(): ProblemRecord {
    return { code: this.code, detail: this.message, members: this.members };
  }

  static from(record: ProblemRecord): Problem {
    return new Problem(record.code, record.detail, record.members);
  }
}
