/**
 * Owns walking an airline's audit trail: each chain from its first entry to its head, holding one entry at a time. Safe on a
 * live system: heads are read before the entries that they must not be ahead of.
 */
import type { Db } from "mongodb";
import { breakAfter, type ChainHead, origin, type Tip } from "../../../actors/audit/chain.ts";
import type { AuditEntry } from "../../../actors/audit/entry.ts";
import type { Trail } from "../../../actors/audit/trail.ts";
import { urn } from "../../../schemas/urn.ts";
import { type Break, breakAt, diagnose, type Fault } from "./breaks.ts";

/** Of the broken chains, those that are told one by one. */
const toldMax = 20;

export interface Walked {
  chains: number;
  entries: number;
  /** Chains whose newest entries their heads do not know of yet: an append is under way, or a death in it about to heal. */
  underWay: number;
  broken: number;
  /** The first break of each chain, of the first {@link toldMax} chains. */
  breaks: Break[];
}

export interface WalkOptions {
  database: Db;
  /** Only this chain. */
  chain?: string;
  /** Whether reports are on their way to the trail; while there are none, every head must be where its chain ends. */
  isUnderWay: () => Promise<boolean>;
}

/** One chain as far as it was read. */
interface Progress {
  chain: string;
  tip: Tip;
  fault?: Fault;
}

export const walkTrail = async ({ database, chain, isUnderWay }: WalkOptions): Promise<Walked> => {
  const trail: Trail = {
    entries: database.collection<AuditEntry>("audit"),
    heads: database.collection<ChainHead>("auditHeads"),
  };
  const walked: Walked = { chains: 0, entries: 0, underWay: 0, broken: 0, breaks: [] };
  const tell = (found: Break | undefined): void => {
    if (found === undefined) return;
    walked.broken += 1;
    if (walked.breaks.length < toldMax) walked.breaks.push(found);
  };
  const end = async (progress: Progress): Promise<void> => {
    walked.chains += 1;
    tell(await endOf(trail, progress, walked, isUnderWay));
  };

  let progress: Progress | undefined;
  const one = chain === undefined ? {} : { chain };
  const entries = trail.entries.find(one, { sort: { chain: 1, sequence: 1 }, hint: "chain", batchSize: 100 });
  for await (const entry of entries) {
    if (progress?.chain !== entry.chain) {
      if (progress !== undefined) await end(progress);
      progress = { chain: entry.chain, tip: origin };
    }
    goOn(progress, entry);
    walked.entries += 1;
  }
  if (progress !== undefined) await end(progress);

  for await (const head of trail.heads.find(chain === undefined ? {} : { _id: chain }, {
    sort: { _id: 1 },
  })) {
    if ((await trail.entries.findOne({ chain: head._id }, { hint: "chain" })) !== null) continue;
    walked.chains += 1;
    const detail = `of ${head.sequence} entries none is left`;
    tell(breakAt("truncated", head._id, 1, undefined, detail));
  }
  for await (const missing of chainless(database, trail, chain, isUnderWay)) tell(missing);
  return walked;
};

const goOn = (progress: Progress, entry: AuditEntry): void => {
  if (progress.fault !== undefined) return;
  const how = breakAfter(progress.tip, entry);
  if (how === undefined) progress.tip = { sequence: entry.sequence, digest: entry.digest };
  else progress.fault = { tip: progress.tip, entry, how };
};

/** What is wrong with a chain whose entries were read, its end included; undefined: it is whole. */
const endOf = async (
  trail: Trail,
  progress: Progress,
  walked: Walked,
  isUnderWay: WalkOptions["isUnderWay"],
): Promise<Break | undefined> => {
  const { chain } = progress;
  const head = await trail.heads.findOne({ _id: chain });
  // What was appended since the reading came by.
  const newer = { chain, sequence: { $gt: progress.tip.sequence } };
  if (progress.fault === undefined)
    for await (const entry of trail.entries.find(newer, { sort: { sequence: 1 }, hint: "chain" })) {
      goOn(progress, entry);
      walked.entries += 1;
    }
  if (progress.fault !== undefined) return diagnose(trail, chain, progress.fault);
  const { tip } = progress;
  if (head !== null && head.sequence > tip.sequence)
    return breakAt(
      "truncated",
      chain,
      tip.sequence + 1,
      undefined,
      `its head counts ${head.sequence} entries`,
    );
  const told = head === null ? null : await trail.entries.findOne({ chain, sequence: head.sequence });
  if (head !== null && told?.digest !== head.digest)
    return breakAt("changed", chain, head.sequence, told, "it is not the entry that its head names");
  if (head?.sequence === tip.sequence) return undefined;
  if (await isUnderWay()) {
    walked.underWay += 1;
    return undefined;
  }
  const now = await trail.heads.findOne({ _id: chain });
  if (now !== null && now.sequence >= tip.sequence) return undefined;
  if (now === null) return breakAt("headless", chain, 1, undefined, "its head is gone");
  const beyond = await trail.entries.findOne({ chain, sequence: now.sequence + 1 });
  return breakAt("inserted", chain, now.sequence + 1, beyond, `its head counts ${now.sequence} entries`);
};

/** Cases that have told all they had to tell, and of which the trail knows nothing: a whole chain was taken out. */
async function* chainless(
  database: Db,
  { heads }: Trail,
  chain: string | undefined,
  isUnderWay: WalkOptions["isUnderWay"],
): AsyncGenerator<Break> {
  const told = { outbox: { $size: 0 } };
  for await (const { _id } of database.collection<{ _id: string }>("cases").find(told, {
    projection: { _id: 1 },
  })) {
    const name = urn("case", _id);
    if (chain !== undefined && chain !== name) continue;
    const isKnown = async (): Promise<boolean> => (await heads.findOne({ _id: name })) !== null;
    if ((await isKnown()) || (await isUnderWay()) || (await isKnown())) continue;
    yield breakAt("removed", name, 1, undefined, "a case without a trail");
  }
}
