/** Owns finding where an event stands in the log, by its URN: events carry no index, and their ULID tells when they arose. */
import { decodeTime } from "ulid";
import { idOf } from "../schemas/urn.ts";
import type { Streams } from "./connection.ts";
import { readLog } from "./read-log.ts";

/** Between the clocks of the processes and of the server. */
const skewMs = 5 * 60_000;
/** How long after it arose an event may have been published: an outage of the streams may have come in between. */
const publishedWithinMs = 86_400_000;
const windowMax = 1000;

/** Milliseconds since 1970, as the ULID in its id tells; undefined: no event of ours is called so. */
export const aroseAt = (eventUrn: string): number | undefined => {
  const id = idOf(eventUrn);
  const ulid = id.slice(id.indexOf("-") + 1);
  return /^[0-7][0-9A-HJKMNP-TV-Z]{25}$/.test(ulid) ? decodeTime(ulid) : undefined;
};

/** Its sequence in EVENTS; undefined: it is none of these subjects', or none at all, as every id from the future. */
export const placeOfEvent = async (
  streams: Streams,
  filterSubjects: string[],
  eventUrn: string,
): Promise<number | undefined> => {
  const arose = aroseAt(eventUrn);
  if (arose === undefined || filterSubjects.length === 0) return undefined;
  // Past the newest entry there is nothing; and a ULID may name years that no server takes for a time.
  const { state } = await streams.manager.streams.info("EVENTS");
  if (arose - skewMs > Date.parse(state.last_ts)) return undefined;
  const id = idOf(eventUrn);
  const part = { stream: "EVENTS", filterSubjects, after: new Date(arose - skewMs) } as const;
  for await (const { entries } of readLog(streams, part, windowMax)) {
    for (const entry of entries) {
      // Thousands are passed over for the one that is looked for: only what names it is parsed.
      if (entry.text().includes(id) && idOf((entry.json() as { urn: string }).urn) === id)
        return entry.sequence;
      if (entry.at.getTime() > arose + publishedWithinMs) return undefined;
    }
  }
  return undefined;
};
