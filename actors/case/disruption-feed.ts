/**
 * Owns the feed of disruption events (contract, GET disruptions): read from the events' own log in the order of publishing, so that
 * a reader who goes on behind what it has seen misses nothing, however late it was committed. Whose events they are is in the subject.
 */
import type { EventRecord, Query } from "../../schemas/command.ts";
import { typesFor } from "../../schemas/events.ts";
import {
  type DisruptionEvent,
  type DisruptionFeed,
  type DisruptionFeedQuery,
  disruptionFeedTypes,
  feedWindowDays,
  sinceOf,
} from "../../schemas/partner-disruptions.ts";
import { Problem } from "../../schemas/problems.ts";
import { aroseAt, placeOfEvent } from "../../streams/event-place.ts";
import { readLog } from "../../streams/read-log.ts";
import { typeFilter } from "../../streams/subjects.ts";
import type { ActorContext } from "../runtime/host.ts";
import { decodeCursor, encodeCursor, limitOf, notACursor } from "../runtime/page.ts";

const windowMs = feedWindowDays * 86_400_000;

const tooOld = (pointer: string): Problem =>
  new Problem(
    "validation/replay-window",
    `The feed goes back ${feedWindowDays} days. Begin again with a time.`,
    {
      errors: [{ pointer, detail: `is more than ${feedWindowDays} days ago` }],
    },
  );

/** GET /partner/v1/disruptions. */
export const disruptionFeed =
  (context: ActorContext) =>
  async ({ tenant, principal, params }: Query): Promise<DisruptionFeed> => {
    const asked = params as DisruptionFeedQuery;
    const allowed = new Set<string>(typesFor(principal.scopes ?? []));
    const filterSubjects = disruptionFeedTypes
      .filter((type) => allowed.has(type))
      .map((type) => typeFilter("evt", type, tenant));
    const { streams } = context;
    // Read before the log is: whatever stands up to here, and is this reader's, is on this page or a later one.
    const { state } = await streams.manager.streams.info("EVENTS");
    const after = await beginning(context, filterSubjects, asked, state.first_seq);
    const limit = limitOf(asked);
    if (typeof after === "number" && after >= state.last_seq) return emptyAt(after);
    const items: DisruptionEvent[] = [];
    let last = typeof after === "number" ? after : 0;
    let left = 0;
    for await (const window of readLog(streams, { stream: "EVENTS", filterSubjects, after }, limit)) {
      const shownNow = window.entries.slice(0, limit - items.length);
      for (const entry of shownNow) {
        items.push(shown(entry.json() as EventRecord));
        last = entry.sequence;
      }
      // A window may hold more than this page has room for: that is left, too.
      left = window.left + window.entries.length - shownNow.length;
      if (items.length >= limit) break;
    }
    const nextCursor = left > 0 ? encodeCursor(String(last)) : null;
    const end = left > 0 ? last : Math.max(last, state.last_seq);
    return { items, nextCursor, hasMore: left > 0, resumeCursor: encodeCursor(String(end)) };
  };

const emptyAt = (sequence: number): DisruptionFeed => ({
  items: [],
  nextCursor: null,
  hasMore: false,
  resumeCursor: encodeCursor(String(sequence)),
});

/**
 * Behind which sequence, or from which time of publishing on, the page begins.
 * @throws Problem validation/replay-window for what the log may no longer hold, not-found/resource, validation/query
 */
const beginning = async (
  { streams, clock }: ActorContext,
  filterSubjects: string[],
  { since, cursor }: DisruptionFeedQuery,
  firstSequence: number,
): Promise<number | Date> => {
  const opens = new Date(clock.now().getTime() - windowMs);
  if (cursor !== undefined) {
    const text = decodeCursor(cursor);
    if (!/^\d{1,15}$/.test(text)) throw notACursor();
    if (Number(text) < firstSequence - 1) throw tooOld("?cursor");
    return Number(text);
  }
  if (since === undefined) return opens;
  const from = sinceOf(since);
  if ("at" in from) {
    if (from.at < opens) throw tooOld("?since");
    return from.at;
  }
  const arose = aroseAt(from.eventUrn);
  if (arose !== undefined && arose < opens.getTime()) throw tooOld("?since");
  const place = await placeOfEvent(streams, filterSubjects, from.eventUrn);
  if (place === undefined)
    throw new Problem("not-found/resource", `${from.eventUrn} is no event of this feed.`);
  return place;
};

const shown = ({ traceparent: _, ...event }: EventRecord): DisruptionEvent => event as DisruptionEvent;
