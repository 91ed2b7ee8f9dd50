/**
 * Owns asking vendors what has changed with them: hotels at their desks (they send no webhooks; contract, "Vendor webhooks"), payment
 * vendors of the use of cards, should their word have been lost. Each at its interval, by one process at a time. What a report means for
 * a group is its sub-case's.
 */
import { urn } from "../../schemas/urn.ts";
import { type StayReport, subCaseOf } from "../../schemas/vendor-call.ts";
import { causedId, freshUuid, mintTraceparent } from "../runtime/clock.ts";
import type { ActorContext } from "../runtime/host.ts";
import { sendCommand, systemCommand } from "../runtime/send.ts";
import type { HotelPort, LedgerEntry, LedgerRequest, PaymentPort, ReadOutcome } from "./ports.ts";
import { Position, type Reconciliation } from "./position.ts";

/** Something that a sub-case has to know of. */
interface Report {
  /** Ours. */
  reference: string;
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
  nextCursor?: string;
}

/** One airline's vendor. */
export interface Source {
  tenant: string;
  name: string;
  ask: (request: LedgerRequest, context: AskContext) => Promise<ReadOutcome<ReportPage>>;
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

/** What a hotel vendor tells of stays. */
export const staysOf =
  (port: Pick<HotelPort, "reconcile">): Source["ask"] =>
  async (request, context) => {
    const page = await port.reconcile(request, context);
    return page.outcome === "done" ? { ...page, reports: page.entries.flatMap(stayReport) } : page;
  };

/** What a payment vendor tells of the use of cards. */
export const cardUsesOf =
  (port: Pick<PaymentPort, "transactions">): Source["ask"] =>
  async (request, context) => {
    const page = await port.transactions(request, context);
    if (page.outcome !== "done") return page;
    const reports = page.entries.map(({ changedAt, ...data }): Report => {
      const { reference, eventId } = data;
      return { reference, cause: [eventId], name: "sub-case.record-card-transaction", data, changedAt };
    });
    return { ...page, reports };
  };

type Context = Pick<ActorContext, "clock" | "config" | "documents" | "log" | "streams">;

/** Of a claim, beside the time that a page's call may take: publishing what it brings. */
const tellingMs = 30_000;
/** What is beyond them comes with the next poll, from where this one ended. */
const pagesMax = 500;

/**
 * From now on each vendor is asked when it is due; vendors don't wait for each other.
 * @param sources those of the moment
 * @returns the way to stop, which breaks off what is under way
 */
export const startReconciling = (context: Context, sources: () => Source[]): (() => Promise<void>) => {
  const { RECONCILE_INTERVAL_MS, SWEEP_INTERVAL_MS } = context.config;
  const stopping = new AbortController();
  const polls = new Map<string, Promise<void>>();
  const look = (): void => {
    for (const source of sources()) {
      const key = `${source.tenant}.${source.name}`;
      if (polls.has(key)) continue;
      const log = context.log.child({ tenant: source.tenant, vendor: source.name });
      const poll = pollIfDue({ ...context, log }, source, stopping.signal)
        .catch((error) =>
          log.warn({ err: error }, "reconciliation broken off; it goes on from where it stood"),
        )
        .finally(() => polls.delete(key));
      polls.set(key, poll);
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

const pollIfDue = async (context: Context, source: Source, signal: AbortSignal): Promise<void> => {
  const { clock, config, documents, log } = context;
  const collection = documents.tenant(source.tenant).collection<Reconciliation>("reconciliations");
  const claimMs = config.VENDOR_TIMEOUT_MS + tellingMs;
  const { intervalMs } = source;
  const position = await Position.claim(collection, source.name, { clock, intervalMs, claimMs });
  if (position === undefined) return;
  const poll = { correlationUrn: urn("correlation", freshUuid()), traceparent: mintTraceparent() };
  for (let pages = 1; pages <= pagesMax; pages++) {
    const { request } = position;
    const page = await source.ask(request, { ...poll, signal });
    const isCircle =
      page.outcome === "done" && page.nextCursor !== undefined && page.nextCursor === request.cursor;
    if (page.outcome !== "done" || isCircle) {
      const detail = page.outcome === "done" ? "its pages go round in a circle" : page.detail;
      if (!signal.aborted)
        log.warn({ outcome: page.outcome, detail }, "the vendor could not be reconciled with");
      // One that it refuses it has forgotten, or never gave.
      await position.release({ forgetCursor: page.outcome !== "unavailable" });
      return;
    }
    const told = await tell(context, source, poll, position, page.reports);
    if (!(await position.move(page, told))) {
      log.warn("another process has taken this reconciliation over");
      return;
    }
    if (page.nextCursor === undefined) return;
  }
  await position.release({ forgetCursor: false });
};

/** Sends what the groups have to know of; one and all confirmed when it returns. */
const tell = async (
  { clock, log, streams }: Context,
  { tenant, name }: Source,
  poll: { correlationUrn: string; traceparent: string },
  position: Position,
  reports: readonly Report[],
): Promise<{ id: string; at: Date }[]> => {
  const own = new RegExp(`^${tenant}-[0-9A-HJKMNP-TV-Z]{26}\\.`);
  const told: { id: string; at: Date }[] = [];
  const foreign: string[] = [];
  for (const { reference, cause, name: verb, data, changedAt } of reports) {
    if (!own.test(reference)) {
      foreign.push(cause[0] ?? "");
      continue;
    }
    const id = causedId(`${tenant}.${name}`, ...cause);
    if (position.isTold(id)) continue;
    const command = { id, name: verb, entity: subCaseOf(reference), data, now: clock.now() };
    await sendCommand(streams, systemCommand("vendor-adapter", { tenant, ...poll }, command));
    told.push({ id, at: new Date(changedAt) });
  }
  if (foreign.length > 0)
    log.info({ count: foreign.length, first: foreign[0] }, "told under no reference of this airline");
  return told;
};
