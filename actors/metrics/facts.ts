/**
 * Owns what an event says of a case's figures. Facts are joined: the same one twice, late or in another order comes to the same, so
 * nothing needs to remember which events were counted.
 */
import { decodeTime } from "ulid";
import type { EventRecord } from "../../schemas/command.ts";
import { parseUrn } from "../../schemas/urn.ts";

/** A room as its group told of it last; null once it is given back, which it stays. */
export type RoomFact = {
  rooms: number;
  /** How often the hotel has changed the booking's dates: the later word counts. */
  amended: number;
  totalMinor?: number;
  currency?: string;
  /** What the market asked for the same, where a wave has compared it. */
  marketMinor?: number;
} | null;

/** Of one case, and in one hour: each is absent where nothing was heard of it. */
export interface Facts {
  opened?: true;
  resolvedAt?: Date;
  /** The first change by an operator. */
  touchedAt?: Date;
  /** Rooms by demand. */
  demands?: Record<string, number>;
  /** By booking. */
  rooms?: Record<string, RoomFact>;
  /** By group, when its first offer was ready. */
  offers?: Record<string, Date>;
  /** By booking, what its passengers have answered. */
  answers?: Record<string, "ACCEPTED" | "DECLINED">;
  /** Missed deadlines, by the event that told of each. */
  breaches?: Record<string, true>;
}

/** What an event adds, and to which bucket. */
export interface Noted {
  caseId: string;
  /** The bucket's: UTC, a whole hour. */
  hour: Date;
  /** Known from some events only. */
  airport?: string;
  facts: Facts;
}

/** What figures are made of: of the public catalogue, and of the house's own. */
export const publicSources = [
  "case.opened",
  "case.resolved",
  "subcase.offer-ready",
  "subcase.resolved",
  "subcase.declined",
] as const;
export const internalSources = [
  "demand.requested",
  "subcase.room-changed",
  "audit.recorded",
  "review.sla-breached",
] as const;

const hourMs = 3_600_000;
const ulidPattern = /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/;

export const hourOf = (at: Date): Date => new Date(Math.floor(at.getTime() / hourMs) * hourMs);

/** When the case came in: its id says so. Undefined for what is no id of a case. */
export const cameInAt = (caseId: string): Date | undefined => {
  const ulid = caseId.slice(caseId.indexOf("-") + 1);
  return ulidPattern.test(ulid) ? new Date(decodeTime(ulid)) : undefined;
};

const idIn = (text: unknown): string | undefined =>
  typeof text === "string" ? parseUrn(text)?.id : undefined;

/** Undefined: nothing that figures are made of; of drills and shadow cases nothing ever is. */
export const notedOf = (event: EventRecord): Noted | undefined => {
  const caseId = idIn(event.case_urn);
  const cameIn = caseId === undefined ? undefined : cameInAt(caseId);
  const at = new Date(event.occurred_at);
  if (caseId === undefined || cameIn === undefined || Number.isNaN(at.getTime())) return undefined;
  if (event.data.kind !== undefined) return undefined;
  const facts = factsOf(event, at);
  if (facts === undefined) return undefined;
  const { airport } = event.data;
  return {
    caseId,
    hour: hourOf(facts.breaches === undefined ? cameIn : at),
    ...(typeof airport === "string" ? { airport } : {}),
    facts,
  };
};

const factsOf = (event: EventRecord, at: Date): Facts | undefined => {
  const { data } = event;
  const group = idIn(data.subCaseUrn);
  const booking = idIn(data.bookingUrn);
  switch (event.type) {
    case "case.opened":
      return { opened: true };
    case "case.resolved":
      return { resolvedAt: at };
    case "demand.requested": {
      const { demandId, roomsRequested } = data;
      return typeof demandId === "string" && typeof roomsRequested === "number"
        ? { demands: { [demandId]: roomsRequested } }
        : undefined;
    }
    case "subcase.offer-ready":
      return group === undefined ? undefined : { offers: { [group]: at } };
    case "subcase.resolved":
      return booking === undefined ? undefined : { answers: { [booking]: "ACCEPTED" } };
    case "subcase.declined":
      return booking === undefined ? undefined : { answers: { [booking]: "DECLINED" } };
    case "subcase.room-changed":
      return booking === undefined
        ? undefined
        : { rooms: { [booking]: (data as { room: RoomFact }).room ?? null } };
    case "audit.recorded":
      return data.surface === "operator" && data.action !== "case.open-manually"
        ? { touchedAt: at }
        : undefined;
    case "review.sla-breached": {
      const id = idIn(event.urn);
      return id === undefined ? undefined : { breaches: { [id]: true } };
    }
    default:
      return undefined;
  }
};

const earlier = (a: Date | undefined, b: Date | undefined): Date | undefined =>
  a === undefined || (b !== undefined && b < a) ? b : a;

const laterWord = (a: RoomFact, b: RoomFact): RoomFact => {
  if (a === null || b === null) return null;
  if (a.amended !== b.amended) return a.amended > b.amended ? a : b;
  return (a.totalMinor ?? 0) >= (b.totalMinor ?? 0) ? a : b;
};

const joined = <T>(
  a: Record<string, T> | undefined,
  b: Record<string, T> | undefined,
  both: (x: T, y: T) => T,
): Record<string, T> | undefined => {
  if (a === undefined || b === undefined) return a ?? b;
  const all = { ...a };
  for (const [key, value] of Object.entries(b))
    all[key] = Object.hasOwn(a, key) ? both(a[key] as T, value) : value;
  return all;
};

/** Commutative, associative and idempotent: what makes figures indifferent to how often and in which order they are told. */
export const join = (a: Facts, b: Facts): Facts => {
  const all = {
    opened: a.opened ?? b.opened,
    resolvedAt: earlier(a.resolvedAt, b.resolvedAt),
    touchedAt: earlier(a.touchedAt, b.touchedAt),
    demands: joined(a.demands, b.demands, Math.max),
    rooms: joined(a.rooms, b.rooms, laterWord),
    offers: joined(a.offers, b.offers, (x, y) => earlier(x, y) as Date),
    answers: joined(a.answers, b.answers, (x, y) => (x === "ACCEPTED" ? x : y)),
    breaches: joined(a.breaches, b.breaches, (x) => x),
  };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)) as Facts;
};
