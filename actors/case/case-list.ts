/** Owns the lists of cases, newest first: their filters, and which index a page is read by. */
import type { Collection, Document } from "mongodb";
import type { Page } from "../../schemas/command.ts";
import { isoDate } from "../../schemas/local-day.ts";
import { decodeCursor, limitOf, readPage, slicePage } from "../runtime/page.ts";
import { type Loaded, loadedOf } from "../runtime/store.ts";
import { type CaseState, schemaVersion } from "./state.ts";

/** Lists leave out what grows with the passengers, but for the count. */
export const listProjection = { manifest: 0, policies: 0, handled: 0, outbox: 0, demands: 0, groups: 0 };

/** `from` and `to` are of the flight's scheduled departure; `to` is exclusive. */
interface Range {
  from?: string;
  to?: string;
}

const departureFilter = ({ from, to }: Range): Document => {
  const bounds = {
    ...(from === undefined ? {} : { $gte: new Date(from) }),
    ...(to === undefined ? {} : { $lt: new Date(to) }),
  };
  return Object.keys(bounds).length === 0 ? {} : { "flight.scheduledDeparture": bounds };
};

const dayMs = 86_400_000;
const daysMax = 8;

/** UTC days that a range touches; undefined: it is open, or too long to be read day by day. */
const daysOf = ({ from, to }: Range): string[] | undefined => {
  if (from === undefined || to === undefined) return undefined;
  const first = Math.floor(Date.parse(from) / dayMs);
  const count = Math.ceil(Date.parse(to) / dayMs) - first;
  return count > daysMax
    ? undefined
    : Array.from({ length: Math.max(0, count) }, (_, i) => isoDate(first + i));
};

/**
 * A page of the cases in this standing, of the range and cursor in `params`. The list is ordered by `_id`, a range is of the
 * departure: no index serves both, but one of each day's cases in their order does, and of a few days the newest are put
 * together. Of a long range the first page's worth is soon met among all cases.
 */
export const caseList = async <Item>(
  cases: Collection<Document>,
  standing: Document,
  params: Record<string, unknown>,
  map: (loaded: Loaded<CaseState>) => Item,
): Promise<Page<Item>> => {
  const filter = { ...standing, ...departureFilter(params) };
  const read = (document: Document): Item => map(loadedOf<CaseState>(document, { schemaVersion }));
  const days = daysOf(params);
  if (days === undefined) {
    const isFree = standing.status === undefined && standing.airport === undefined;
    const hint = isFree ? "_id_" : undefined;
    return readPage(cases, { filter, params, projection: listProjection, hint }, read);
  }
  const limit = limitOf(params);
  const beyond =
    typeof params.cursor === "string" ? { _id: { $lt: decodeCursor(params.cursor) as never } } : {};
  const found = await Promise.all(
    days.map((departureDay) =>
      cases
        .find({ ...filter, ...beyond, departureDay }, { projection: listProjection, hint: "departure-day" })
        .sort({ _id: -1 })
        .limit(limit + 1)
        .toArray(),
    ),
  );
  const newest = found.flat().sort((a, b) => (String(a._id) < String(b._id) ? 1 : -1));
  return slicePage(newest.slice(0, limit + 1), limit, ({ _id }) => String(_id), read);
};
