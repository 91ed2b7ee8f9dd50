/** Owns getting as much value placed as possible: filling, chains of ejected items, repacking one bin exactly. Cost is secondary here. */
import { type Packing, unplaced } from "./packing.ts";

const chainDepthMax = 4;
/** Moves tried for one item, and in one repair: bounds on work, not on time, so a run repeats exactly. */
const chainMovesMax = 2_000;
const repairMovesMax = 60_000;
const repackCellsMax = 4_000_000;

/** Places more value until none of the ways knows any; never places less than before. */
export const repair = (packing: Packing): void => {
  let movesLeft = repairMovesMax;
  let better = true;
  fill(packing);
  while (better && couldImprove(packing)) {
    better = false;
    for (let bin = 0; bin < packing.binCount; bin++) if (repack(packing, bin)) better = true;
    const done = chains(packing, movesLeft);
    better ||= done.better;
    movesLeft -= done.moves;
  }
};

/** Tries a chain for each unplaced item, hardest first; of a kind that found none only the first. */
export const chains = (packing: Packing, movesMax: number): { better: boolean; moves: number } => {
  let moves = 0;
  let better = false;
  const hopeless = new Set<number>();
  for (const item of packing.unplacedByDifficulty()) {
    if (moves >= movesMax || hopeless.has(packing.kindOf[item]!)) continue;
    const chain = new Chain(packing, Math.min(chainMovesMax, movesMax - moves));
    if (chain.place(item)) better = true;
    else hopeless.add(packing.kindOf[item]!);
    moves += chain.moves;
  }
  return { better, moves };
};

/** Puts each unplaced item into the cheapest bin that can take it, hardest first. */
export const fill = (packing: Packing): void => {
  // Bins only get fuller here: what one item of a kind has not found the next won't either.
  const hopeless = new Set<number>();
  for (const item of packing.unplacedByDifficulty()) {
    const kind = packing.kindOf[item]!;
    if (hopeless.has(kind)) continue;
    const bin = packing.cheapestBin(item);
    if (bin === unplaced) hopeless.add(kind);
    else packing.move(item, bin);
  }
};

export const byDifficulty = (packing: Packing, items: number[]): number[] =>
  items.sort((a, b) => packing.difficulty[a]! - packing.difficulty[b]!);

/** False when all is placed, or no bin that an unplaced item may use has a room left. */
const couldImprove = (packing: Packing): boolean => {
  if (packing.unplacedItems().length === 0) return false;
  // A bin without a free room can still hold more value where an item takes more rooms there than it is worth.
  return packing.freeRooms.some(
    (rooms, bin) => packing.barred[packing.siteOf[bin]!] === 0 && (rooms > 0 || isWasteful(packing, bin)),
  );
};

const isWasteful = (packing: Packing, bin: number): boolean =>
  packing.members[bin]!.some((item) => packing.needAt(item, bin) > packing.values[item]!);

/** Makes room for one item by moving others on, depth-first; nobody loses a place. */
class Chain {
  moves = 0;
  readonly #packing: Packing;
  readonly #movesMax: number;
  readonly #locked = new Set<number>();

  constructor(packing: Packing, movesMax: number) {
    this.#packing = packing;
    this.#movesMax = movesMax;
  }

  place(item: number): boolean {
    this.#locked.add(item);
    for (let bin = 0; bin < this.#packing.binCount; bin++) {
      if (!this.#packing.allowed(item, bin)) continue;
      const mark = this.#packing.mark();
      this.#packing.move(item, bin);
      if (this.#settle(bin, chainDepthMax)) return true;
      this.#packing.undo(mark);
    }
    return false;
  }

  /** Moves items out of an overfull bin until it is within its capacity. */
  #settle(bin: number, depth: number): boolean {
    const packing = this.#packing;
    if (packing.freeRooms[bin]! >= 0 && packing.freeAccessible[bin]! >= 0) return true;
    if (depth === 0) return false;
    const tried = new Set<number>();
    for (const item of [...packing.members[bin]!]) {
      const kind = packing.kindOf[item]!;
      if (this.#locked.has(item) || tried.has(kind)) continue;
      tried.add(kind);
      if (packing.freeRooms[bin]! >= 0 && packing.accessible[item] === 0) continue;
      this.#locked.add(item);
      // Where it fits at once first: most chains are one move long.
      for (const overfull of [false, true])
        for (let to = 0; to < packing.binCount; to++) {
          if (to === bin || !packing.allowed(item, to) || packing.fits(item, to) === overfull) continue;
          if (++this.moves > this.#movesMax) break;
          const mark = packing.mark();
          packing.move(item, to);
          if (this.#settle(to, depth - 1) && this.#settle(bin, depth - 1)) return true;
          packing.undo(mark);
        }
      this.#locked.delete(item);
    }
    return false;
  }
}

/**
 * Chooses anew, exactly, which of a bin's items and of the unplaced ones it holds (a knapsack over rooms and
 * accessible rooms); true if that placed more value.
 */
const repack = (packing: Packing, bin: number): boolean => {
  if (packing.barred[packing.siteOf[bin]!] === 1) return false;
  const members = [...packing.members[bin]!];
  const rooms = packing.freeRooms[bin]! + members.reduce((sum, item) => sum + packing.needAt(item, bin), 0);
  const waiting = candidates(packing, bin, rooms);
  if (waiting.length === 0) return false;
  const items = [...members, ...waiting];
  const accessible = Math.min(
    packing.freeAccessible[bin]! + members.reduce((sum, item) => sum + packing.accessible[item]!, 0),
    items.reduce((sum, item) => sum + packing.accessible[item]!, 0),
  );
  if (items.length * (rooms + 1) * (accessible + 1) > repackCellsMax) return false;
  const chosen = knapsack(packing, bin, items, rooms, accessible);
  const value = (of: number[]): number => of.reduce((sum, item) => sum + packing.values[item]!, 0);
  if (value(chosen) <= value(members)) return false;
  const kept = new Set(chosen);
  for (const item of members) if (!kept.has(item)) packing.move(item, unplaced);
  for (const item of chosen) if (packing.binOf[item] !== bin) packing.move(item, bin);
  fill(packing);
  return true;
};

/** Unplaced items that may go to the bin; of each kind no more than it could hold. */
const candidates = (packing: Packing, bin: number, rooms: number): number[] => {
  const taken = new Map<number, number>();
  return packing.unplacedItems().filter((item) => {
    if (!packing.allowed(item, bin)) return false;
    const sum = (taken.get(packing.kindOf[item]!) ?? 0) + packing.needAt(item, bin);
    taken.set(packing.kindOf[item]!, sum);
    return sum <= rooms;
  });
};

/** The items of most value within both capacities; of equal ones, those listed first. */
const knapsack = (
  packing: Packing,
  bin: number,
  items: number[],
  rooms: number,
  accessible: number,
): number[] => {
  const width = accessible + 1;
  const best = new Int32Array((rooms + 1) * width);
  const taken = items.map((item) => {
    const row = new Uint8Array(best.length);
    const [need, needAccessible, value] = [
      packing.needAt(item, bin),
      packing.accessible[item]!,
      packing.values[item]!,
    ];
    for (let r = rooms; r >= need; r--)
      for (let a = accessible; a >= needAccessible; a--) {
        const cell = r * width + a;
        const withItem = best[(r - need) * width + a - needAccessible]! + value;
        if (withItem <= best[cell]!) continue;
        best[cell] = withItem;
        row[cell] = 1;
      }
    return row;
  });
  const chosen: number[] = [];
  let cell = best.length - 1;
  for (let index = items.length - 1; index >= 0; index--) {
    if (taken[index]![cell] === 0) continue;
    const item = items[index]!;
    chosen.push(item);
    cell -= packing.needAt(item, bin) * width + packing.accessible[item]!;
  }
  return chosen.reverse();
};
