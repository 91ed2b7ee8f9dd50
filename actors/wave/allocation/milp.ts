/** Owns the assignment problem as a mixed-integer linear program: columns, rows, and the way back; solving it is `actors/wave/solver`'s. */
import { type Assignment, type AssignmentProblem, evaluate, Packing, unplaced } from "./packing.ts";

/** Minimise `cost · x` within `lower ≤ x ≤ upper` and `rows · x ≤ limit`; all columns are whole numbers. Rows are packed. */
export interface Milp {
  cost: number[];
  upper: number[];
  limit: number[];
  rows: { starts: number[]; columns: number[]; values: number[] };
  /** What a placed room is worth: more than all costs together, so that places come first. */
  worth: number;
}

/** How many items of a kind go to a bin. */
interface Share {
  kind: number;
  bin: number;
  rooms: number;
  most: number;
}

/**
 * Items alike in everything are one kind, and a column counts how many of it a bin holds: for a full flight hundreds of
 * columns instead of thousands. A site that costs something to open has a column of its own.
 */
export class AssignmentMilp {
  readonly milp: Milp;
  readonly #problem: AssignmentProblem;
  readonly #packing: Packing;
  readonly #shares: Share[] = [];
  readonly #columnOfSite = new Map<number, number>();
  readonly #itemsOfKind = new Map<number, number[]>();

  constructor(problem: AssignmentProblem) {
    this.#problem = problem;
    this.#packing = new Packing(problem);
    problem.items.forEach((_, item) => {
      const kind = this.#packing.kindOf[item] as number;
      this.#itemsOfKind.set(kind, [...(this.#itemsOfKind.get(kind) ?? []), item]);
    });
    this.milp = this.#columnsAndRows();
  }

  #columnsAndRows(): Milp {
    const { items, bins, openingCost } = this.#problem;
    const dearest = items.map(({ options }) => Math.max(0, ...options.map(({ cost }) => cost)));
    const worth = 1 + [...dearest, ...openingCost].reduce((sum, cost) => sum + cost, 0);
    const milp: Milp = {
      cost: [],
      upper: [],
      limit: [],
      rows: { starts: [0], columns: [], values: [] },
      worth,
    };
    for (const [kind, alike] of this.#itemsOfKind) {
      const item = items[alike[0] as number] as AssignmentProblem["items"][number];
      for (const { bin, rooms, cost } of item.options) {
        const most = Math.min(alike.length, Math.floor((bins[bin]?.rooms ?? 0) / Math.max(1, rooms)));
        if (most === 0) continue;
        this.#shares.push({ kind, bin, rooms, most });
        milp.cost.push(cost - worth * item.value);
        milp.upper.push(most);
      }
    }
    openingCost.forEach((cost, site) => {
      if (cost === 0) return;
      this.#columnOfSite.set(site, milp.cost.push(cost) - 1);
      milp.upper.push(1);
    });
    this.#addRows(milp);
    return milp;
  }

  #addRows({ limit, rows }: Milp): void {
    const { items, bins } = this.#problem;
    const add = (entries: [column: number, value: number][], most: number): void => {
      for (const [column, value] of entries) {
        rows.columns.push(column);
        rows.values.push(value);
      }
      rows.starts.push(rows.columns.length);
      limit.push(most);
    };
    const sharesWhere = (holds: (share: Share) => boolean): [Share, number][] =>
      this.#shares.flatMap((share, column) => (holds(share) ? [[share, column] as [Share, number]] : []));
    for (const [kind, alike] of this.#itemsOfKind)
      add(
        sharesWhere((share) => share.kind === kind).map(([, column]) => [column, 1]),
        alike.length,
      );
    const accessibleOf = (kind: number): number =>
      items[this.#itemsOfKind.get(kind)?.[0] as number]?.accessible ?? 0;
    bins.forEach(({ rooms, accessible }, bin) => {
      const here = sharesWhere((share) => share.bin === bin);
      add(
        here.map(([share, column]) => [column, share.rooms]),
        rooms,
      );
      const needy = here.filter(([share]) => accessibleOf(share.kind) > 0);
      if (needy.length > 0)
        add(
          needy.map(([share, column]) => [column, accessibleOf(share.kind)]),
          accessible,
        );
    });
    for (const [share, column] of sharesWhere(() => true)) {
      const opened = this.#columnOfSite.get(bins[share.bin]?.site ?? -1);
      if (opened !== undefined)
        add(
          [
            [column, 1],
            [opened, -share.most],
          ],
          0,
        );
    }
  }

  /** What an assignment comes to in the program's own terms. */
  objectiveOf(assignment: Assignment): number {
    const { value, cost } = evaluate(this.#problem, assignment);
    return cost - this.milp.worth * value;
  }

  /** An assignment as a point of the program. */
  pointOf(assignment: Assignment): number[] {
    const point = this.milp.cost.map(() => 0);
    assignment.forEach((bin, item) => {
      if (bin === unplaced) return;
      const kind = this.#packing.kindOf[item];
      const column = this.#shares.findIndex((share) => share.kind === kind && share.bin === bin);
      if (column >= 0) point[column] = (point[column] ?? 0) + 1;
      const opened = this.#columnOfSite.get(this.#problem.bins[bin]?.site ?? -1);
      if (opened !== undefined) point[opened] = 1;
    });
    return point;
  }

  /** Undefined for a point that is no assignment after all: whole numbers come out of arithmetic with a tolerance. */
  assignmentOf(point: ArrayLike<number>): Assignment | undefined {
    const packing = new Packing(this.#problem);
    const left = new Map([...this.#itemsOfKind].map(([kind, alike]) => [kind, [...alike]]));
    for (const [column, { kind, bin }] of this.#shares.entries()) {
      for (let n = Math.round(point[column] ?? 0); n > 0; n--) {
        const item = left.get(kind)?.shift();
        if (item === undefined || !packing.fits(item, bin)) return undefined;
        packing.move(item, bin);
      }
    }
    return [...packing.binOf];
  }
}
