/** Owns bodies too large for a message: kept in the tenant's database in pieces until their command is handled. */
import type { ServiceSchema } from "moleculer";
import type { Collection } from "mongodb";
import type { StagedRef } from "../../schemas/command.ts";
import type { Clock } from "./clock.ts";
import { NotYet } from "./decider.ts";
import type { Documents, TenantDocuments } from "./documents.ts";

/** Longer than any command waits, shorter than anybody would want passengers' details to lie about. */
const keptForSeconds = 86_400;

interface Piece {
  _id: string;
  text: string;
  stagedAt: Date;
}

const collectionOf = (documents: TenantDocuments): Collection<Piece> => documents.collection<Piece>("staged");

const stagingIndexes = [{ name: "ttl", key: { stagedAt: 1 }, expireAfterSeconds: keptForSeconds }] as const;

/** Keeps one piece of a body's JSON text; the same piece again changes nothing. */
const putPiece = async (
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
  const ids = idsOf(ref);
  const pieces = await collectionOf(documents)
    .find({ _id: { $in: ids } })
    .toArray();
  if (pieces.length < ref.pieces) throw new NotYet("A staged body is not complete.");
  const byId = new Map(pieces.map((piece) => [piece._id, piece.text]));
  return JSON.parse(ids.map((id) => byId.get(id)).join(""));
};

/** For what is not a command's own data: nobody asks for it again. */
export const dropStaged = async (documents: TenantDocuments, ref: StagedRef): Promise<void> => {
  await collectionOf(documents).deleteMany({ _id: { $in: idsOf(ref) } });
};

const idsOf = ({ stagedId, pieces }: StagedRef): string[] =>
  Array.from({ length: pieces }, (_, i) => `${stagedId}/${i}`);

/** What one call to `staging.put` carries. */
export interface StagePiece {
  tenant: string;
  stagedId: string;
  index: number;
  text: string;
}

/** The service through which a gateway without a database of its own stages a body. Every actors' process has it. */
export const stagingService = (documents: Documents, clock: Clock): ServiceSchema => {
  const prepared = new Set<string>();
  return {
    name: "staging",
    actions: {
      put: async ({ params }: { params: StagePiece }) => {
        const tenant = documents.tenant(params.tenant);
        if (!prepared.has(params.tenant)) {
          await collectionOf(tenant).createIndexes([...stagingIndexes]);
          prepared.add(params.tenant);
        }
        await putPiece(tenant, params.stagedId, params.index, params.text, clock.now());
      },
    },
  };
};
