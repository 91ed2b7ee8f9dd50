/** Owns bodies too large for a message: kept in the tenant's database in pieces until their command is handled. */
import type { Collection } from "mongodb";
import { NotYet } from "./decider.ts";
import type { TenantDocuments } from "./documents.ts";

/** Longer than any command waits, shorter than anybody would want passengers' details to lie about. */
const keptForSeconds = 86_400;

interface Piece {
  _id: string;
  text: string;
  stagedAt: Date;
}

/** Stands in a command in place of its data. */
export interface StagedRef {
  stagedId: string;
  pieces: number;
}

const collectionOf = (documents: TenantDocuments): Collection<Piece> => documents.collection<Piece>("staged");

export const stagingIndexes = [
  { name: "ttl", key: { stagedAt: 1 }, expireAfterSeconds: keptForSeconds },
] as const;

/** Keeps one piece of a body's JSON text; the same piece again changes nothing. */
export const putPiece = async (
  documents: TenantDocuments,
  stagedId: string,
  index: number,
  text: string,
  now: Date,
): Promise<void> => {
  await collectionOf(documents).updateOne(
    { _id: `${stagedId}/${index}` },
    { $setOnInsert: { text, stagedAt: now } },
    { upsert: true },
  );
};

/** @throws NotYet when a piece is missing: it may still be on its way */
export const fetchStaged = async (documents: TenantDocuments, ref: StagedRef): Promise<unknown> => {
  const ids = Array.from({ length: ref.pieces }, (_, i) => `${ref.stagedId}/${i}`);
  const pieces = await collectionOf(documents)
    .find({ _id: { $in: ids } })
    .toArray();
  if (pieces.length < ref.pieces) throw new NotYet("A staged body is not complete.");
  const byId = new Map(pieces.map((piece) => [piece._id, piece.text]));
  return JSON.parse(ids.map((id) => byId.get(id)).join(""));
};
