/**
 * Owns asking vendors what has changed with them: hotels at their desks and transport vendors of their rides (they send no webhooks;
 * contract, "Vendor webhooks"), payment vendors of the use of cards, should their word have been lost. Each at its interval, by one process
 * at a time. What a report means is for its sub-case or run.
 */
import type { Command } from "../../schemas/command.ts";
import type { ReconciledVendor } from "../../schemas/reconciliation.ts";
import { type RideReport, runOfReference } from "../../schemas/transport.ts";
import { urn } from "../../schemas/urn.ts";
import {
  type BookingOddity,
  type OddBooking,
  type StandingBooking,
  type StandingBookings,
  type StayReport,
  subCaseOf,
} from "../../schemas/vendor-call.ts";
import { causedId, freshUuid, mintTraceparent } from "../runtime/clock.ts";
import type { ActorContext } from "../runtime/host.ts";
import { sendCommand, systemCommand } from "../runtime/send.ts";
import type {
  HotelPort,
  LedgerEntry,
  LedgerRequest,
  PaymentPort,
  ReadOutcome,
  TransportPort,
} from "./ports.ts";
import { Position, type Reconciliation } from "./position.ts";

/** Something that a group, or vehicles that groups share, has to know of. */
export interface Report {
  /** Ours. */
  reference: string;
  /** Absent: the sub-case of the reference. */
  entity?: string;
  /** Tells it from all others of this vendor. */
  cause: readonly string[];
  name: string;
  data: unknown;
  changedAt: string;
}

export interface ReportPage {
  /** Of every change, also those that nobody has to know of: the position goes by them. */
  entries: readonly { changedAt: string }[];
  reports: readonly Report[];
  /** The vendor's ids of what could not be read; absent: nothing. */
  unreadable?: readonly string[];
  nextCursor?: string;
}

/** One airline's vendor. */
export interface Source {
  tenant: string;
  name: string;
  ask: (request: LedgerRequest, context: AskContext) => Promise<ReadOutcome<ReportPage>>;
  /** Its pages are our own list: a round that fails begins anew, so that no page keeps those before it from being asked for again. */
  beginsAnew?: true | undefined;
  intervalMs: number;
}

interface AskContext {
  traceparent: string;
  signal: AbortSignal;
}

const reported: readonly string[] = ["CHECKED_IN", "CHECKED_OUT", "NO_SHOW", "CANCELLED"];
const isReported = (state: string): state is StayReport["state"] => reported.includes(state);

const stayReport = ({ kind, id: bookingId, reference, state, changedAt }: LedgerEntry): Report[] => {
  if (kind !== "booking" || !isReported(state)) return [];
  const data: StayReport = { reference, bookingId, state, at: changedAt };
  return [{ reference, cause: [bookingId, state], name: "sub-case.record-stay", data, changedAt }];
};

/** What the group may not know that it has. */
const oddityReport = (
  vendor: string,
  { id: bookingId, reference, changedAt }: LedgerEntry,
  oddity: BookingOddity | undefined,
): Report[] => {
  if (oddity === undefined) return [];
  const data: OddBooking = { vendor, reference, bookingId, oddity };
  return [{ reference, cause: [bookingId, oddity], name: "sub-case.note-oddity", data, changedAt }];
};

/** What is asked of the groups, where a vendor's word alone is not enough. */
interface GroupsAsked {
  /** A page of what stands with a vendor that lists no changes itself. */
  standing?: (after: string | undefined) => Promise<StandingBookings>;
  /** Which of these nobody knows of, of a vendor that may book late what we took for lost. */
  oddAmong?: (bookings: readonly StandingBooking[]) => Promise<OddBooking[]>;
}

/** What a hotel vendor tells of stays. @param vendor the instance's name */
export const staysOf =
  (
    port: Pick<HotelPort, "reconcile">,
    vendor: string,
    { standing, oddAmong }: GroupsAsked = {},
  ): Source["ask"] =>
  async (request, context) => {
    const known = await standing?.(request.cursor);
    const page = await port.reconcile(
      known === undefined ? request : { standing: known.references },
      context,
    );
    if (page.outcome !== "done") return page;
    const next = known?.next === undefined ? {} : { nextCursor: known.next };
    // What is cancelled already is nothing to look into.
    const bookings = page.entries.flatMap(({ kind, id: bookingId, reference, state }) =>
      kind === "booking" && state !== "CANCELLED" ? [{ reference, bookingId }] : [],
    );
    const odd = bookings.length === 0 ? [] : ((await oddAmong?.(bookings)) ?? []);
    const oddities = new Map(odd.map(({ bookingId, oddity }) => [bookingId, oddity]));
    const reports = page.entries.flatMap((entry) => [
      ...stayReport(entry),
      ...oddityReport(vendor, entry, oddities.get(entry.id) ?? entry.oddity),
    ]);
    return { ...page, ...next, reports };
  };

/** What a payment vendor tells of the use of cards. */
export const cardUsesOf =
  (port: Pick<PaymentPort, "transactions">): Source["ask"] =>
  async (request, context) => {
    const page = await port.transactions(request, context);
    if (page.outcome !== "done") return page;
    const reports = page.entries.flatMap(({ changedAt, transaction: data }): Report[] => {
      if (data === undefined) return [];
      const { reference, eventId } = data;
      return [{ reference, cause: [eventId], name: "sub-case.record-card-transaction", data, changedAt }];
    });
    return { ...page, reports };
  };

/** What a transport vendor tells of rides that it does not drive; those that we gave back are among them, and their runs know. */
export const ridesOf =
  (port: Pick<TransportPort, "reconcile">): Source["ask"] =>
  async (request, context) => {
    const page = await port.reconcile(request, context);
    if (page.outcome !== "done") return page;
    const reports = page.entries.flatMap(({ kind, id: rideId, reference, state, changedAt }): Report[] => {
      const entity = runOfReference(reference);
      if (kind !== "ride" || state !== "CANCELLED" || entity === undefined) return [];
      const data: RideReport = { reference, rideId, state, at: changedAt };
      return [{ reference, entity, cause: [rideId, state], name: "transport.record-ride", data, changedAt }];
    });
    return { ...page, reports };
  };

export type PollContext = Pick<ActorContext, "clock" | "config" | "documents" | "log" | "streams">;

interface Polling {
  signal: AbortSignal;
  /** 0: it is due, whenever it was asked last. */
  intervalMs: number;
  following: { correlationUrn: string; traceparent: string };
  /** Nothing is told afterwards. Absent: of what has come all is. */
  tellUntil?: AbortSignal;
  /** Whoever has to know of it does when it returns, or surely will. */
  tell(report: Report, command: Command): Promise<void>;
}

/** How it came out. Under way: another process is at it, or it is not due. */
type PollEnd = Pick<ReconciledVendor, "outcome" | "detail">;

/** Of a claim, beside the time that a page's call may take: publishing what it brings. */
const tellingMs = 30_000;
/** What is beyond them comes with the next poll, from where this one ended. */
const pagesMax = 500;

/**
 * From now on each vendor is asked when it is due; vendors don't wait for each other.
 * @param sources those of the moment
 * @returns the way to stop, which breaks off what is under way
 */
export const startReconciling = (context: PollContext, sources: () => Source[]): (() => Promise<void>) => {
  const { RECONCILE_INTERVAL_MS, SWEEP_INTERVAL_MS } = context.config;
  const stopping = new AbortController();
  const polls = new Map<string, Promise<unknown>>();
  const look = (): void => {
    for (const source of sources()) {
      const key = `${source.tenant}.${source.name}`;
      if (polls.has(key)) continue;
      const log = context.log.child({ tenant: source.tenant, vendor: source.name });
      const polling = {
        signal: stopping.signal,
        intervalMs: source.intervalMs,
        following: { correlationUrn: urn("correlation", freshUuid()), traceparent: mintTraceparent() },
        tell: (_: Report, command: Command) => sendCommand(context.streams, command),
      };
      const underWay = poll({ ...context, log }, source, polling)
        .catch((error) =>
          log.warn({ err: error }, "reconciliation broken off; it goes on from where it stood"),
        )
        .finally(() => polls.delete(key));
      polls.set(key, underWay);
    }
  };
  const looking = setInterval(look, Math.min(RECONCILE_INTERVAL_MS, SWEEP_INTERVAL_MS));
  look();
  return async () => {
    clearInterval(looking);
    stopping.abort();
    await Promise.all(polls.values());
  };
};

/** Page by page, until there is no more; whoever cannot finish goes on from there the next time. */
export const poll = async (context: PollContext, source: Source, polling: Polling): Promise<PollEnd> => {
  const { clock, config, documents, log } = context;
  const collection = documents.tenant(source.tenant).collection<Reconciliation>("reconciliations");
  const claimMs = config.VENDOR_TIMEOUT_MS + tellingMs;
  const { intervalMs, following, signal } = polling;
  const position = await Position.claim(collection, source.name, { clock, intervalMs, claimMs });
  if (position === undefined) return { outcome: "under-way" };
  for (let pages = 1; pages <= pagesMax; pages++) {
    const { request } = position;
    const page = await source.ask(request, { traceparent: following.traceparent, signal });
    const isCircle =
      page.outcome === "done" && page.nextCursor !== undefined && page.nextCursor === request.cursor;
    if (page.outcome !== "done" || isCircle) {
      const detail = page.outcome === "done" ? "its pages go round in a circle" : page.detail;
      if (!signal.aborted)
        log.warn({ outcome: page.outcome, detail }, "the vendor could not be reconciled with");
      // One that it refuses it has forgotten, or never gave.
      await position.release({ forgetCursor: page.outcome !== "unavailable" || source.beginsAnew === true });
      if (signal.aborted) return { outcome: "unfinished" };
      return { outcome: page.outcome === "done" ? "unavailable" : page.outcome, detail };
    }
    if (page.unreadable !== undefined) {
      const [first] = page.unreadable;
      log.warn({ count: page.unreadable.length, first }, "what the vendor tells cannot be read: passed over");
    }
    const told = await tell(context, source, polling, position, page.reports);
    // What is left of the page comes again with all of it, under the same ids.
    if (told === undefined) {
      await position.release({ forgetCursor: false });
      return { outcome: "unfinished" };
    }
    if (!(await position.move(page, told))) {
      log.warn("another process has taken this reconciliation over");
      return { outcome: "under-way" };
    }
    if (page.nextCursor === undefined) return { outcome: "done" };
  }
  await position.release({ forgetCursor: false });
  return { outcome: "unfinished" };
};

/** What begins so is under a reference of this airline's. */
export const ownReferences = (tenant: string): RegExp => new RegExp(`^${tenant}-[0-9A-HJKMNP-TV-Z]{26}\\.`);

/** Sends what the groups have to know of; one and all confirmed when it returns. Undefined: broken off. */
const tell = async (
  { clock, log }: PollContext,
  { tenant, name }: Source,
  { following, tellUntil, tell: tellOne }: Polling,
  position: Position,
  reports: readonly Report[],
): Promise<{ id: string; at: Date }[] | undefined> => {
  const own = ownReferences(tenant);
  const told: { id: string; at: Date }[] = [];
  const foreign: string[] = [];
  for (const report of reports) {
    if (tellUntil?.aborted) return undefined;
    const { reference, entity = subCaseOf(reference), cause, name: verb, data, changedAt } = report;
    if (!own.test(reference)) {
      foreign.push(cause[0] ?? "");
      continue;
    }
    const id = causedId(`${tenant}.${name}`, ...cause);
    if (position.isTold(id)) continue;
    const command = { id, name: verb, entity, data, now: clock.now() };
    await tellOne(report, systemCommand("vendor-adapter", { tenant, ...following }, command));
    told.push({ id, at: new Date(changedAt) });
  }
  if (foreign.length > 0)
    log.info({ count: foreign.length, first: foreign[0] }, "told under no reference of this airline");
  return told;
};
