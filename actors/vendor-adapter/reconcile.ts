/**
 * Owns asking hotel vendors what has changed at their desks (they send no webhooks; contract, "Vendor webhooks"): each at
 * its interval, by one process at a time. What a report means for a group is its sub-case's.
 */
import { urn } from "../../schemas/urn.ts";
import { type StayReport, subCaseOf } from "../../schemas/vendor-call.ts";
import { causedId, freshUuid, mintTraceparent } from "../runtime/clock.ts";
import type { ActorContext } from "../runtime/host.ts";
import { sendCommand, systemCommand } from "../runtime/send.ts";
import type { HotelPort, LedgerEntry } from "./ports.ts";
import { Position, type Reconciliation } from "./position.ts";

/** One airline's hotel vendor. */
export interface Source {
  tenant: string;
  name: string;
  port: Pick<HotelPort, "reconcile">;
  intervalMs: number;
}

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
    const page = await source.port.reconcile(request, { ...poll, signal });
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
    const told = await tell(context, source, poll, position, page.entries);
    if (!(await position.move(page, told))) {
      log.warn("another process has taken this reconciliation over");
      return;
    }
    if (page.nextCursor === undefined) return;
  }
  await position.release({ forgetCursor: false });
};

const reported: readonly string[] = ["CHECKED_IN", "CHECKED_OUT", "NO_SHOW", "CANCELLED"];
const isReported = (state: string): state is StayReport["state"] => reported.includes(state);

/** Sends what the groups have to know of; one and all confirmed when it returns. */
const tell = async (
  { clock, log, streams }: Context,
  { tenant, name }: Source,
  poll: { correlationUrn: string; traceparent: string },
  position: Position,
  entries: readonly LedgerEntry[],
): Promise<{ id: string; at: Date }[]> => {
  const own = new RegExp(`^${tenant}-[0-9A-HJKMNP-TV-Z]{26}\\.`);
  const told: { id: string; at: Date }[] = [];
  const foreign: string[] = [];
  for (const { kind, id: bookingId, reference, state, changedAt } of entries) {
    if (kind !== "booking" || !isReported(state)) continue;
    if (!own.test(reference)) {
      foreign.push(bookingId);
      continue;
    }
    const id = causedId(`${tenant}.${name}`, bookingId, state);
    if (position.isTold(id)) continue;
    const data: StayReport = { reference, bookingId, state, at: changedAt };
    const command = {
      id,
      name: "sub-case.record-stay",
      entity: subCaseOf(reference),
      data,
      now: clock.now(),
    };
    await sendCommand(streams, systemCommand("vendor-adapter", { tenant, ...poll }, command));
    told.push({ id, at: new Date(changedAt) });
  }
  if (foreign.length > 0)
    log.info({ count: foreign.length, first: foreign[0] }, "bookings under no reference of this airline");
  return told;
};
