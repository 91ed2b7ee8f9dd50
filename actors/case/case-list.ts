/** Owns the lists of cases: their filters, their two orders, and the indexes that serve them. */
import type { Collection, Document } from "mongodb";
import type { Page } from "../../schemas/command.ts";
import { decodeCursor, limitOf, notACursor, readPage, slicePage } from "../runtime/page.ts";
import { type Loaded, loadedOf } from "../runtime/store.ts";
import { type CaseState, schemaVersion } from "./state.ts";
import type { CaseHead } from "./view.ts";

const departure = "flight.scheduledDeparture";

/** Each filter, and each two together, with the order that its page is read in: none reads what it does not show. */
export const caseListIndexes = [
  { name: "status", key: { status: 1, _id: -1 } },
  { name: "airport", key: { airport: 1, _id: -1 } },
  { name: "airport-status", key: { airport: 1, status: 1, _id: -1 } },
  { name: "departure", key: { [departure]: -1, _id: -1 } },
  { name: "status-departure", key: { status: 1, [departure]: -1, _id: -1 } },
  { name: "airport-departure", key: { airport: 1, [departure]: -1, _id: -1 } },
  { name: "airport-status-departure", key: { airport: 1, status: 1, [departure]: -1, _id: -1 } },
] as const;

/** What a list shows of a case; of the groups it only counts the letters. */
export type ListedCase = CaseHead & Pick<CaseState, "progress">;

export const listProjection: Record<keyof ListedCase | "version" | "schemaVersion", 1> = {
  version: 1,
  schemaVersion: 1,
  externalEventId: 1,
  kind: 1,
  status: 1,
  airport: 1,
  flight: 1,
  nextFlight: 1,
  disruption: 1,
  detection: 1,
  progress: 1,
  createdAt: 1,
  resolvedAt: 1,
  closedAt: 1,
};

/**
 * A page of the cases in this standing, of the range and cursor in `params`: the newest first, or, where `from` or `to` names a
 * range of scheduled departures (`to` is exclusive), the latest to leave first. Neither id nor departure ever changes.
 * @param standing `status`, `airport`, or what few cases don't meet
 * @throws Problem validation/query
 */
export const caseList = async <Item>(
  cases: Collection<Document>,
  standing: Document,
  params: Record<string, unknown>,
  map: (loaded: Loaded<ListedCase>) => Item,
): Promise<Page<Item>> => {
  const read = (document: Document): Item => map(loadedOf<ListedCase>(document, { schemaVersion }));
  if (params.from !== undefined || params.to !== undefined)
    return departurePage(cases, standing, params, read);
  if (typeof params.cursor === "string" && decodeCursor(params.cursor).includes(separator))
    throw notACursor();
  return readPage(cases, { filter: standing, params, projection: listProjection }, read);
};

interface Range {
  from?: string;
  to?: string;
}

const departurePage = async <Item>(
  cases: Collection<Document>,
  standing: Document,
  params: Record<string, unknown>,
  read: (document: Document) => Item,
): Promise<Page<Item>> => {
  const { from, to } = params as Range;
  const limit = limitOf(params);
  const after = typeof params.cursor === "string" ? departureKeyOf(params.cursor) : undefined;
  const bounds = {
    ...(from === undefined ? {} : { $gte: new Date(from) }),
    ...(to === undefined ? {} : { $lt: new Date(to) }),
    ...(after === undefined ? {} : { $lte: after.at }),
  };
  // The bounds are where an index is entered; of those that leave at the cursor's very time some were shown.
  const beyond =
    after === undefined
      ? {}
      : { $or: [{ [departure]: { $lt: after.at } }, { _id: { $lt: after.id as never } }] };
  const found = await cases
    .find({ ...standing, [departure]: bounds, ...beyond }, { projection: listProjection })
    .sort({ [departure]: -1, _id: -1 })
    .limit(limit + 1)
    .toArray();
  return slicePage(found, limit, departureKey, read);
};

/** No id has it. */
const separator = "|";

const departureKey = ({ _id, flight }: Document): string =>
  `${(flight.scheduledDeparture as Date).toISOString()}${separator}${_id}`;

/** @throws Problem validation/query */
const departureKeyOf = (cursor: string): { at: Date; id: string } => {
  const [time = "", id = ""] = decodeCursor(cursor).split(separator);
  const at = new Date(time);
  if (Number.isNaN(at.getTime()) || id === "") throw notACursor();
  return { at, id };
};
