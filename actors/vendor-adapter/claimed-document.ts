/** Owns the document that says how far a process has come with a vendor: one for each, written by compare-and-set. What stands in it is its owner's. */
import type { Collection, Filter, OptionalUnlessRequiredId, WithoutId } from "mongodb";

export interface ClaimedDocument {
  /** The vendor's name. */
  _id: string;
  /** Counts every write: of two processes that would claim or move it, one does. */
  revision: number;
  /** Set while a process is at it; once it is past, that process is dead. */
  claimedUntil?: Date;
}

/** As it stands; where there is none yet, as it is at first. */
export const documentOf = async <Document extends ClaimedDocument>(
  collection: Collection<Document>,
  first: Document,
): Promise<Document> => {
  const found = await collection.findOne({ _id: first._id } as Filter<Document>);
  if (found !== null) return found as Document;
  try {
    await collection.insertOne(first as OptionalUnlessRequiredId<Document>);
  } catch (error) {
    // Another process has made it meanwhile, and perhaps claimed it: the claim's compare-and-set tells.
    if ((error as { code?: number }).code !== 11000) throw error;
  }
  return first;
};

/** @returns as it stands then; undefined: another process has written it since */
export const rewritten = async <Document extends ClaimedDocument>(
  collection: Collection<Document>,
  { _id, revision }: Document,
  next: Document,
): Promise<Document | undefined> => {
  const written = { ...next, revision: revision + 1 };
  const { matchedCount } = await collection.replaceOne(
    { _id, revision } as Filter<Document>,
    written as WithoutId<Document>,
  );
  return matchedCount === 1 ? written : undefined;
};
