/** Owns the assignment problem in bare numbers and the state of a search on it: moves, what they cost, and undo. */

/** Where one item may go and what it takes there; a bin that is not listed is not allowed. */
export interface AssignmentOption {
  bin: number;
  rooms: number;
  /** ≥ 0; the objective is the sum of these and of the opening costs. */
  cost: number;
}

/** Single-source assignment with capacities and an opening cost per site. Items are groups, bins offers, sites hotels. */
export interface AssignmentProblem {
  bins: { site: number; rooms: number; accessible: number }[];
  /** Per site; 0 where the hotel is in use already. */
  openingCost: number[];
  /** `value` is what placing the item is worth (rooms); `accessible` of the rooms it takes must be accessible. */
  items: { value: number; accessible: number; options: AssignmentOption[] }[];
}

/** The bin of each item, or `unplaced`. */
export type Assignment = number[];
export const unplaced = -1;

/** The one signature that every solver has: most value first, then least cost; pure and deterministic. */
export type Assign = (problem: AssignmentProblem) => Assignment;

/** A solver that starts from an assignment: one at least as good, and how much better another one may be at most. */
export type Prove = (
  problem: AssignmentProblem,
  found: Assignment,
) => { assignment: Assignment; gap: number } | undefined;

/** Differences below this are rounding. */
export const costEpsilon = 1e-9;

/** Value placed, and the cost of that; recomputed from scratch, so solvers can be compared and checked by it. */
export const evaluate = (
  problem: AssignmentProblem,
  assignment: Assignment,
): { value: number; cost: number } => {
  let value = 0;
  let cost = 0;
  const open = new Set<number>();
  assignment.forEach((bin, index) => {
    if (bin === unplaced) return;
    const item = problem.items[index]!;
    value += item.value;
    cost += item.options.find((option) => option.bin === bin)!.cost;
    open.add(problem.bins[bin]!.site);
  });
  for (const site of open) cost += problem.openingCost[site]!;
  return { value, cost };
};

export const isBetter = (
  one: { value: number; cost: number },
  other: { value: number; cost: number },
): boolean => one.value > other.value || (one.value === other.value && one.cost < other.cost - costEpsilon);

/** A partial assignment under change. Moves are O(1) and journalled; capacity is the mover's to check by `fits`. */
export class Packing {
  readonly itemCount: number;
  readonly binCount: number;
  readonly values: Int32Array;
  readonly accessible: Int32Array;
  /** Rooms by item × bin; -1: not allowed. */
  readonly need: Int32Array;
  readonly costs: Float64Array;
  readonly siteOf: Int32Array;
  readonly openingCost: Float64Array;
  /** Items alike in value, needs and costs everywhere share a kind: a search looks at one of them. */
  readonly kindOf: Int32Array;
  readonly binsOfSite: number[][];
  /** Place of each item among all, hardest first: accessible rooms are the scarcer kind, large groups fit fewest places. */
  readonly difficulty: Int32Array;
  readonly #hardestFirst: number[];

  readonly binOf: Int32Array;
  readonly freeRooms: Int32Array;
  readonly freeAccessible: Int32Array;
  readonly members: number[][];
  readonly siteItems: Int32Array;
  readonly barred: Uint8Array;
  value = 0;
  cost = 0;
  /** How many more items and bins a search may look at; it ends where it is when none is left. No clock: a run repeats exactly. */
  stepsLeft = Number.POSITIVE_INFINITY;
  readonly #place: Int32Array;
  readonly #journal: number[] = [];

  constructor(problem: AssignmentProblem) {
    this.itemCount = problem.items.length;
    this.binCount = problem.bins.length;
    this.values = Int32Array.from(problem.items, (item) => item.value);
    this.accessible = Int32Array.from(problem.items, (item) => item.accessible);
    this.siteOf = Int32Array.from(problem.bins, (bin) => bin.site);
    this.openingCost = Float64Array.from(problem.openingCost);
    this.need = new Int32Array(this.itemCount * this.binCount).fill(-1);
    this.costs = new Float64Array(this.itemCount * this.binCount);
    problem.items.forEach((item, index) => {
      for (const option of item.options) {
        this.need[index * this.binCount + option.bin] = option.rooms;
        this.costs[index * this.binCount + option.bin] = option.cost;
      }
    });
    const kinds = new Map<string, number>();
    this.kindOf = Int32Array.from(problem.items, (item) => {
      const options = item.options.map(({ bin, rooms, cost }) => `${bin}:${rooms}:${cost}`);
      const key = `${item.value}/${item.accessible}/${options.join()}`;
      if (!kinds.has(key)) kinds.set(key, kinds.size);
      return kinds.get(key)!;
    });
    this.binsOfSite = problem.openingCost.map(() => []);
    problem.bins.forEach((bin, index) => {
      this.binsOfSite[bin.site]!.push(index);
    });
    this.#hardestFirst = problem.items
      .map((_, item) => item)
      .sort(
        (a, b) => this.accessible[b]! - this.accessible[a]! || this.values[b]! - this.values[a]! || a - b,
      );
    this.difficulty = new Int32Array(this.itemCount);
    this.#hardestFirst.forEach((item, place) => {
      this.difficulty[item] = place;
    });
    this.binOf = new Int32Array(this.itemCount).fill(unplaced);
    this.#place = new Int32Array(this.itemCount);
    this.freeRooms = Int32Array.from(problem.bins, (bin) => bin.rooms);
    this.freeAccessible = Int32Array.from(problem.bins, (bin) => bin.accessible);
    this.members = problem.bins.map(() => []);
    this.siteItems = new Int32Array(problem.openingCost.length);
    this.barred = new Uint8Array(problem.openingCost.length);
  }

  needAt(item: number, bin: number): number {
    return this.need[item * this.binCount + bin]!;
  }

  costAt(item: number, bin: number): number {
    return this.costs[item * this.binCount + bin]!;
  }

  allowed(item: number, bin: number): boolean {
    return this.needAt(item, bin) >= 0 && this.barred[this.siteOf[bin]!] === 0;
  }

  fits(item: number, bin: number): boolean {
    return (
      this.allowed(item, bin) &&
      this.needAt(item, bin) <= this.freeRooms[bin]! &&
      this.accessible[item]! <= this.freeAccessible[bin]!
    );
  }

  /** Change of cost when the item goes from where it is to the bin. */
  delta(item: number, bin: number): number {
    const from = this.binOf[item]!;
    if (from === bin) return 0;
    const site = this.siteOf[bin]!;
    let change = this.costAt(item, bin);
    if (this.siteItems[site] === 0) change += this.openingCost[site]!;
    if (from === unplaced) return change;
    change -= this.costAt(item, from);
    const left = this.siteOf[from]!;
    if (left !== site && this.siteItems[left] === 1) change -= this.openingCost[left]!;
    return change;
  }

  move(item: number, bin: number): void {
    this.#journal.push(item, this.binOf[item]!);
    this.#set(item, bin);
  }

  mark(): number {
    return this.#journal.length;
  }

  undo(mark: number): void {
    while (this.#journal.length > mark) {
      const bin = this.#journal.pop()!;
      this.#set(this.#journal.pop()!, bin);
    }
  }

  /** Keeps what `change` did if it made the packing better, else takes it back. */
  attempt(change: () => void): boolean {
    const mark = this.mark();
    const before = { value: this.value, cost: this.cost };
    change();
    if (isBetter(this, before)) return true;
    this.undo(mark);
    // The sums are restored too, so that rounding does not build up over thousands of attempts.
    this.value = before.value;
    this.cost = before.cost;
    return false;
  }

  /** The bin where the item costs least now, or `unplaced` when it fits nowhere; ties go to the fullest bin. */
  cheapestBin(item: number): number {
    let best = unplaced;
    let bestCost = Number.POSITIVE_INFINITY;
    this.stepsLeft -= this.binCount;
    for (let bin = 0; bin < this.binCount; bin++) {
      if (!this.fits(item, bin)) continue;
      const cost = this.delta(item, bin);
      const tie = best !== unplaced && Math.abs(cost - bestCost) <= costEpsilon;
      if (tie ? this.freeRooms[bin]! < this.freeRooms[best]! : cost < bestCost) {
        best = bin;
        bestCost = cost;
      }
    }
    return best;
  }

  unplacedItems(): number[] {
    const items: number[] = [];
    for (let item = 0; item < this.itemCount; item++) if (this.binOf[item] === unplaced) items.push(item);
    return items;
  }

  /** Hardest first; equal ones in input order. */
  unplacedByDifficulty(): number[] {
    return this.#hardestFirst.filter((item) => this.binOf[item] === unplaced);
  }

  get isTired(): boolean {
    return this.stepsLeft <= 0;
  }

  isOpen(site: number): boolean {
    return this.siteItems[site]! > 0;
  }

  /** One item of each kind in the bin. */
  kindsIn(bin: number): number[] {
    const first = new Map<number, number>();
    for (const item of this.members[bin]!)
      if (!first.has(this.kindOf[item]!)) first.set(this.kindOf[item]!, item);
    return [...first.values()];
  }

  itemsOfSite(site: number): number[] {
    return this.binsOfSite[site]!.flatMap((bin) => this.members[bin]!);
  }

  #set(item: number, bin: number): void {
    const from = this.binOf[item]!;
    if (from === bin) return;
    if (from !== unplaced) this.#leave(item, from);
    this.binOf[item] = bin;
    if (bin !== unplaced) this.#enter(item, bin);
  }

  #leave(item: number, bin: number): void {
    const site = this.siteOf[bin]!;
    this.freeRooms[bin]! += this.needAt(item, bin);
    this.freeAccessible[bin]! += this.accessible[item]!;
    this.value -= this.values[item]!;
    this.cost -= this.costAt(item, bin);
    if (--this.siteItems[site]! === 0) this.cost -= this.openingCost[site]!;
    const members = this.members[bin]!;
    const last = members.pop()!;
    if (last === item) return;
    members[this.#place[item]!] = last;
    this.#place[last] = this.#place[item]!;
  }

  #enter(item: number, bin: number): void {
    const site = this.siteOf[bin]!;
    this.freeRooms[bin]! -= this.needAt(item, bin);
    this.freeAccessible[bin]! -= this.accessible[item]!;
    this.value += this.values[item]!;
    this.cost += this.costAt(item, bin);
    if (this.siteItems[site]!++ === 0) this.cost += this.openingCost[site]!;
    this.#place[item] = this.members[bin]!.push(item) - 1;
  }
}
