// A process that serves passengers' streams without a server: its log, its groups, what it knows of closings and withdrawals; and clients that
// take what comes. What makes a story is the tests'.
import { setImmediate as turn } from "node:timers/promises";
import { pino } from "pino";
import type { PastEntry } from "../../gateway/live/passenger-past.ts";
import { PassengerStreams } from "../../gateway/live/passenger-streams.ts";
import { covers } from "../../gateway/live/position.ts";
import { type LiveEntry, Ring } from "../../gateway/live/ring.ts";
import type { EventRecord } from "../../schemas/command.ts";
import type { PassengerSnapshot } from "../../schemas/passenger-events.ts";
import { sessionIdOf } from "../../schemas/passenger-session.ts";
import { Problem } from "../../schemas/problems.ts";
import type { KnownClosing } from "../../streams/closed-cases.ts";

export const caseId = "XN-01KAMVW9G0CASECASECASECASE";
export const group = "XN-01KAMVW9G0GR0PGR0PGR0PGR01";
export const other = "XN-01KAMVW9G0GR0PGR0PGR0PGR02";
export const ada = "urn:passenger:XN-01KAMVW9G0ADAADAADAADAADA1";
export const bob = "urn:passenger:XN-01KAMVW9G0B0BB0BB0BB0BB0B1";
export const at = "2026-11-21T22:00:00.000Z";

export const eventOf = (type: string, data: Record<string, unknown> = {}, subCaseId = group): EventRecord =>
  ({
    ...{ urn: "urn:event:XN-1", type, occurred_at: at, tenant: "urn:airline:XN", traceparent: "" },
    ...{ case_urn: `urn:case:${caseId}`, correlation_urn: "urn:correlation:1" },
    data: { subCaseUrn: `urn:sub-case:${subCaseId}`, groupId: "K7QX2M", airport: "JFK", ...data },
  }) as EventRecord;

export interface Frame {
  id?: string;
  event: string;
  data: Record<string, unknown>;
}

const framesOf = (text: string): Frame[] =>
  text
    .split("\n\n")
    .filter((one) => one.includes("event: "))
    .map((one) => {
      const field = (name: string) => new RegExp(`^${name}: (.*)$`, "m").exec(one)?.[1];
      const id = field("id");
      return {
        ...(id === undefined ? {} : { id }),
        event: field("event") ?? "",
        data: JSON.parse(field("data") ?? ""),
      };
    });

/** A process: its log, its groups, and what it knows of closings and withdrawals. */
export const aProcess = (limits = { ofSession: 5, ofProcess: 100 }, now = Date.parse(at)) => {
  const ring = new Ring({ keptMs: 90_000, entriesMax: 1000 });
  const hearing = new Set<(entry: LiveEntry) => void>();
  const closings = new Map<string, KnownClosing>();
  const hears = { change: (_: string) => {}, withdrawal: () => {} };
  const withdrawn = new Set<string>();
  const reads: string[] = [];
  let version = 0;
  let members: Record<string, string> = { [ada]: group, [bob]: group };
  let past: PastEntry[] | undefined;
  let held: Promise<void> | undefined;
  const sequences = { EVENTS: 0, INTERNAL: 0 };
  const view = (subCaseId: string): PassengerSnapshot =>
    ({
      subCaseId,
      me: { groupId: subCaseId },
      offer: { state: "READY", version },
    }) as unknown as PassengerSnapshot;
  const streams = new PassengerStreams({
    live: {
      ring,
      onEntry: (hear) => {
        hearing.add(hear);
        return () => hearing.delete(hear);
      },
      onCountedAnew: () => () => {},
      after: (id, position) => ring.after(id, position),
      position: () => ring.position,
      reached: async (position) => covers(ring.position, position),
      live: () => true,
      close: async () => {},
    },
    readPast: async () => past,
    readGroup: async (_tenant, whose) => {
      reads.push("subCaseId" in whose ? whose.subCaseId : "own");
      await held;
      if ("subCaseId" in whose) return view(whose.subCaseId);
      const [, urn] = /^(.*) \d+$/.exec(whose.presented.tokenId) ?? [];
      const found = members[urn ?? ""];
      if (found === undefined) throw new Problem("not-found/resource", "gone");
      return view(found);
    },
    closedCases: {
      standing: (id) => closings.get(id),
      untilOpen: async () => true,
      onChange: (hear) => {
        hears.change = hear;
        return () => {};
      },
    },
    revocations: {
      withdrawalOf: ({ tokenId }) => (withdrawn.has(tokenId) ? "revoked" : undefined),
      onWithdrawal: (hear) => {
        hears.withdrawal = hear;
        return () => {};
      },
    },
    limits,
    now: () => new Date(now),
    log: pino({ level: "silent" }),
  });
  let sessions = 0;
  const uuid = () => `00000000-0000-4000-9000-${String(++sessions).padStart(12, "0")}`;
  const session = (urn = ada, issuedMs = now) => ({
    principal: {
      ...{ surface: "passenger" as const, tenant: "XN", caseId, groupId: "K7QX2M" },
      urn: `urn:passenger-session:${sessionIdOf(urn, uuid())}`,
      tokenIssuedAt: Math.floor(issuedMs / 1000),
    },
    presented: { tenant: "XN", subjects: [], tokenId: `${urn} ${sessions}`, issuedAt: 0 },
  });
  return {
    ...{ streams, session, reads, closings, withdrawn, hears, ring },
    tell: (stream: "EVENTS" | "INTERNAL", event: EventRecord, atMs = now) => {
      const sequence = ++sequences[stream];
      const entry = {
        stream,
        sequence,
        atMs,
        tenant: "XN",
        type: event.type,
        id: caseId,
        event: () => event,
      };
      const added = ring.add(entry, caseId);
      version++;
      for (const hear of hearing) hear(added);
    },
    moveTo: (to: Record<string, string>) => {
      members = to;
    },
    remember: (entries: PastEntry[] | undefined) => {
      past = entries;
    },
    /** Reads wait until this is called. */
    hold: () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      held = promise;
      return () => {
        held = undefined;
        resolve();
      };
    },
  };
};
export type Process = ReturnType<typeof aProcess>;

/** What a client has received by now, and is left to receive. */
const received = async (stream: AsyncIterator<string>): Promise<{ frames: Frame[]; ended: boolean }> => {
  for (let turns = 0; turns < 20; turns++) await turn();
  const nothing = Symbol();
  const next = stream.next();
  const taken = await Promise.race([next, turn(nothing)]);
  if (taken === nothing || typeof taken === "symbol") {
    // The pending take is the next one's first piece.
    pendingOf.set(stream, next);
    return { frames: [], ended: false };
  }
  if (taken.done) return { frames: [], ended: true };
  const rest = await received(stream);
  return { frames: [...framesOf(taken.value), ...rest.frames], ended: rest.ended };
};
const pendingOf = new WeakMap<AsyncIterator<string>, Promise<IteratorResult<string>>>();
/** One client of a stream; a take that found nothing is waited for by the next. */
export const clientOf = (queue: AsyncIterator<string>) => {
  const taking: AsyncIterator<string> = {
    next: () => {
      const pending = pendingOf.get(taking);
      pendingOf.delete(taking);
      return pending ?? queue.next();
    },
  };
  return () => received(taking);
};
export const names = (frames: Frame[]) => frames.map(({ event }) => event);

export const changed = (offer = "READY", subCaseId = group) =>
  eventOf("subcase.state-changed", { offer, offerBefore: "PENDING" }, subCaseId);

export const opened = async (it: Process, urn = ada, lastEventId = "") =>
  clientOf((await it.streams.open(it.session(urn), lastEventId)).queue);

export { turn };
