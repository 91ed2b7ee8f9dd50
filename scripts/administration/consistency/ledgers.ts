/**
 * Owns comparing what an airline believes to have of its vendors with what each vendor's reconciliation interface lists, and
 * the airline's own contracts: all of it there, exactly once, and nothing there that nobody knows of.
 */
import type { Db } from "mongodb";
import { mintTraceparent } from "../../../actors/runtime/clock.ts";
import type { Instance } from "../../../actors/vendor-adapter/dialects.ts";
import { instanceOf, type VendorDocument } from "../../../actors/vendor-adapter/instances.ts";
import type { LedgerEntry, Reconciling } from "../../../actors/vendor-adapter/ports.ts";
import { directVendor } from "../../../schemas/contract.ts";
import { subCaseOf } from "../../../schemas/vendor-call.ts";
import { hasRoom, readSubCases, type SubCaseRow } from "./airline.ts";
import { readBlocks, rememberedFrom } from "./blocks.ts";
import type { Finding } from "./finding.ts";
import { readFleet, rideDifferences, vendorsOf } from "./rides.ts";

/** How vendors are reached. */
export interface VendorAccess {
  /** Opens the vendors' API keys. */
  sealKey: Buffer;
  /** Of each page. */
  timeoutMs: number;
  signal?: AbortSignal;
}

export interface LedgerCheck {
  findings: Finding[];
  /** Vendors whose books were read to the end. The airline's own contracts are none. */
  vendors: number;
}

/** @param access undefined: only the airline's own contracts are compared */
export const checkLedgers = async (
  database: Db,
  tenant: string,
  first: readonly SubCaseRow[],
  { access, now }: { access: VendorAccess | undefined; now: Date },
): Promise<LedgerCheck> => {
  const fleet = await readFleet(database);
  const named = [...subCaseVendors(first), ...vendorsOf(fleet)];
  const vendors = access === undefined ? none : await readVendors(database, tenant, named, access, first);
  const { entries, findings: oversold } = await readBlocks(database, tenant, now);
  const read = [...vendors.read, { vendor: directVendor, entries }];
  const findings = [...vendors.findings, ...oversold];
  const compared = { books: read, now };
  const suspects = compare(compared, first);
  // What was under way while the books were read has moved on: only what differs from both looks is a difference.
  const ids = [...new Set(suspects.map(({ subCaseId }) => subCaseId))];
  const second = ids.length === 0 ? [] : await readSubCases(database, ids);
  const standing = new Set(compare(compared, second, ids).map(({ key }) => key));
  for (const { key, about, detail } of suspects)
    if (standing.has(key)) findings.push({ kind: "ledger", tenant, about, detail });
  const rides = rideDifferences(vendors.read, fleet, now);
  const still = rides.length === 0 ? [] : rideDifferences(vendors.read, await readFleet(database), now);
  const lasting = new Set(still.map(({ key }) => key));
  for (const { key, about, detail } of rides)
    if (lasting.has(key)) findings.push({ kind: "ledger", tenant, about, detail });
  return { findings, vendors: vendors.read.length };
};

interface VendorBooks {
  read: ReadBook[];
  findings: Finding[];
}
const none: VendorBooks = { read: [], findings: [] };

const readVendors = async (
  database: Db,
  tenant: string,
  named: readonly string[],
  access: VendorAccess,
  subCases: readonly SubCaseRow[],
): Promise<VendorBooks> => {
  const documents = await database.collection<VendorDocument>("vendors").find().sort({ _id: 1 }).toArray();
  const books = await Promise.all(documents.map((document) => bookOf(document, tenant, access, subCases)));
  const silent = (vendor: string, detail: string): Finding => ({
    kind: "vendor-silent",
    tenant,
    about: vendor,
    detail,
  });
  const gone = "it is not configured any more, and something stands there.";
  return {
    read: books.filter((book): book is ReadBook => book.entries !== undefined),
    findings: [
      ...books.flatMap((book) => (book.silent === undefined ? [] : [silent(book.vendor, book.silent)])),
      ...unconfigured(named, documents).map((vendor) => silent(vendor, gone)),
    ],
  };
};

interface Book {
  vendor: string;
  /** What was checked out of longer ago is not listed; absent: all is. */
  listsDays?: number;
  /** Under this airline's references, however many pages. Undefined: not read to the end. */
  entries?: LedgerEntry[];
  /** Why it was not. */
  silent?: string;
}
type ReadBook = Book & { entries: LedgerEntry[] };

/** A vendor of messages or flight data sells nothing that stands. */
const bookOf = async (
  document: VendorDocument,
  tenant: string,
  access: VendorAccess,
  subCases: readonly SubCaseRow[],
): Promise<Book> => {
  const { _id: vendor } = document;
  let instance: Instance;
  try {
    instance = instanceOf(document, access);
  } catch (error) {
    return { vendor, silent: `it cannot be asked: ${(error as Error).message}` };
  }
  if (instance.kind === "message" || instance.kind === "flight") return { vendor };
  const { port } = instance;
  const lists = port.listsDays !== undefined && { listsDays: port.listsDays };
  if (!port.needsStanding) return { vendor, ...lists, ...(await allPages(port, tenant, access)) };
  const known = [
    ...new Set(
      subCases.flatMap(({ reservation, left, givenUp = [] }) =>
        [reservation, left?.reservation, ...givenUp].flatMap((one) =>
          one?.vendor === vendor ? (one.reference ?? []) : [],
        ),
      ),
    ),
  ];
  return { vendor, ...(await askedAfter(port, known, access)) };
};

const askedAtOnce = 50;

/** A vendor that lists nothing: what is under references that we know, those of attempts that were given up among them. */
const askedAfter = async (
  port: Reconciling,
  references: readonly string[],
  { signal }: VendorAccess,
): Promise<Pick<Book, "entries" | "silent">> => {
  const context = { traceparent: mintTraceparent(), ...(signal && { signal }) };
  const entries: LedgerEntry[] = [];
  for (let from = 0; from < references.length; from += askedAtOnce) {
    const standing = references.slice(from, from + askedAtOnce);
    const page = await port.reconcile({ standing }, context);
    if (page.outcome !== "done") return { silent: `${page.outcome}: ${page.detail}` };
    entries.push(...page.entries);
  }
  return { entries };
};

const pagesMax = 10_000;

const allPages = async (
  port: Reconciling,
  tenant: string,
  { signal }: VendorAccess,
): Promise<Pick<Book, "entries" | "silent">> => {
  const context = { traceparent: mintTraceparent(), ...(signal && { signal }) };
  const latest = new Map<string, LedgerEntry>();
  let cursor: string | undefined;
  for (let pages = 0; pages < pagesMax; pages++) {
    const page = await port.reconcile(cursor === undefined ? {} : { cursor }, context);
    if (page.outcome !== "done") return { silent: `${page.outcome}: ${page.detail}` };
    // An entry that changed while pages were read has come again, as it is now.
    for (const entry of page.entries)
      if (entry.reference.startsWith(`${tenant}-`)) latest.set(entry.id, entry);
    if (page.nextCursor === undefined) return { entries: [...latest.values()] };
    if (page.nextCursor === cursor) break;
    cursor = page.nextCursor;
  }
  return { silent: "its pages have no end" };
};

/** The airline's own contracts are books of ours, not a vendor's. */
const unconfigured = (named: readonly string[], documents: readonly VendorDocument[]): string[] => {
  const known = new Set([directVendor, ...documents.map(({ _id }) => _id)]);
  return [...new Set(named)].filter((vendor) => !known.has(vendor)).sort();
};

const subCaseVendors = (subCases: readonly SubCaseRow[]): string[] =>
  subCases.flatMap((subCase) => believed(subCase).map(({ vendor }) => vendor));

/** Something that a sub-case says it has. Its rides are its transfer's. */
interface Believed {
  vendor: string;
  kind: LedgerEntry["kind"];
  id: string;
  reference: string | undefined;
}

const believed = (subCase: SubCaseRow): Believed[] => {
  const { reservation, payment, card } = subCase;
  const all: Believed[] = [];
  // What a person has booked by phone stands in no vendor's book.
  if (reservation?.bookingId !== undefined && reservation.byHand === undefined && hasRoom(subCase)) {
    const { vendor, bookingId: id, reference } = reservation;
    all.push({ vendor, kind: "booking", id, reference });
  }
  if (payment !== undefined && payment.status !== "CANCELLED")
    all.push({ vendor: payment.vendor, kind: "card", id: payment.cardId, reference: payment.reference });
  if (card !== undefined && card.status !== "CANCELLED")
    all.push({ vendor: card.vendor, kind: "card", id: card.cardId, reference: card.reference });
  return all;
};

interface Difference {
  /** Names the same difference at both looks. */
  key: string;
  subCaseId: string;
  about: string;
  detail: string;
}

const isLive = ({ state }: LedgerEntry): boolean => state !== "CANCELLED";

/** @param only the sub-cases to look at; default all */
const compare = (
  { books, now }: { books: readonly ReadBook[]; now: Date },
  subCases: readonly SubCaseRow[],
  only?: readonly string[],
): Difference[] => {
  const byId = new Map(subCases.map((subCase) => [subCase._id, subCase]));
  const looked = only && new Set(only);
  return books.flatMap(({ vendor, entries, listsDays }) => {
    const theirs = new Map(entries.map((entry) => [entry.id, entry]));
    return [
      ...subCases.flatMap((subCase) => absent(subCase, { vendor, listsDays }, theirs, now)),
      ...entries
        .filter(
          (entry) =>
            entry.kind !== "ride" && isLive(entry) && (looked?.has(subCaseOf(entry.reference)) ?? true),
        )
        .flatMap((entry) => stray(entry, vendor, byId.get(subCaseOf(entry.reference)))),
    ];
  });
};

/** What the sub-case has and the vendor hasn't. A call under way may be what takes it back. */
const absent = (
  subCase: SubCaseRow,
  book: Pick<ReadBook, "vendor"> & { listsDays: number | undefined },
  theirs: ReadonlyMap<string, LedgerEntry>,
  now: Date,
): Difference[] =>
  believed(subCase)
    .filter((one) => one.vendor === book.vendor && (one.reference ?? "") !== subCase.call?.reference)
    .flatMap(({ kind, id }) => {
      const entry = theirs.get(id);
      if (entry === undefined && isForgotten(subCase, book, now)) return [];
      if (entry !== undefined && isLive(entry)) return [];
      const detail =
        entry === undefined
          ? `sub-case ${subCase._id} has it, the vendor does not.`
          : `sub-case ${subCase._id} has it, at the vendor it is ${entry.state}.`;
      return [
        {
          key: `absent ${book.vendor} ${id}`,
          subCaseId: subCase._id,
          about: `${book.vendor} ${kind} ${id}`,
          detail,
        },
      ];
    });

/** Of a stay that was over before what the book goes back to. */
export const isForgotten = (
  { assignment }: Pick<SubCaseRow, "assignment">,
  { vendor, listsDays }: { vendor: string; listsDays: number | undefined },
  now: Date,
): boolean => {
  if (assignment === undefined) return false;
  const { checkOut } = assignment.stay;
  if (vendor === directVendor) return checkOut < rememberedFrom(now);
  return listsDays !== undefined && checkOut < dayBefore(now, listsDays);
};

const dayBefore = (now: Date, days: number): string =>
  new Date(now.getTime() - days * 86_400_000).toISOString().slice(0, 10);

/** Between a rollback's or failed saga's steps a card may stand alone: it is being taken back, or on a person's desk. */
const unsettled: readonly string[] = ["PROCESSING", "ROLLING_BACK", "COMPENSATION_FAILED"];

/** What stands at the vendor and is nobody's, or serves nobody. */
const stray = (entry: LedgerEntry, vendor: string, subCase: SubCaseRow | undefined): Difference[] => {
  const subCaseId = subCaseOf(entry.reference);
  const about = `${vendor} ${entry.kind} ${entry.id}`;
  const difference = (detail: string): Difference[] => [
    { key: `stray ${vendor} ${entry.id}`, subCaseId, about, detail },
  ];
  const under = `it stands (${entry.state}) under ${entry.reference}`;
  if (subCase === undefined) return difference(`${under}, and there is no such sub-case.`);
  const { call, reservation } = subCase;
  const inDoubt = reservation?.status === "IN_DOUBT" && reservation.reference === entry.reference;
  if (call?.reference === entry.reference || inDoubt) return [];
  if (!believed(subCase).some((one) => one.vendor === vendor && one.id === entry.id))
    return difference(`${under}, and the sub-case does not know of it.`);
  const alone = entry.kind === "card" && !hasRoom(subCase) && call === undefined;
  return alone && !unsettled.includes(subCase.status)
    ? difference(`${under}, and the group has no booking.`)
    : [];
};
