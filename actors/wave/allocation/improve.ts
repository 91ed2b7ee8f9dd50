/** Owns making a packing cheaper without placing less: moves and swaps of items, opening, closing and exchanging sites. */
import { costEpsilon, type Packing, unplaced } from "./packing.ts";
import { byDifficulty, chains, fill } from "./repair.ts";

/** Rounds of the whole neighbourhood; each ends early when nothing gets better. */
const roundsMax = 12;
const shakeRoundsMax = 3;
/** Closing is tried for each site again and again: a shorter repair than the one that places people. */
const closingMovesMax = 500;

/** A local optimum of all neighbourhoods, or what `roundsMax` rounds or the packing's steps reach. Deterministic: first improvement in index order. */
export const improve = (packing: Packing): void => {
  for (let round = 0; round < roundsMax; round++) {
    let better = settle(packing);
    if (closeSites(packing)) better = true;
    if (openSites(packing)) better = true;
    if (exchangeSites(packing)) better = true;
    if (!better || packing.isTired) return;
  }
};

/**
 * Leaves a local optimum by way of a worse packing: closes or opens each site against its interest, lets everything
 * else settle around that, and keeps it when the whole is better. Only for problems small enough to try each site.
 */
export const shake = (packing: Packing): void => {
  let better = true;
  for (let round = 0; better && round < shakeRoundsMax; round++) {
    better = false;
    for (let site = 0; site < packing.siteItems.length; site++) {
      const done = packing.attempt(() => {
        if (packing.isOpen(site)) doWithout(packing, site);
        else insistOn(packing, site);
      });
      better ||= done;
    }
  }
};

const doWithout = (packing: Packing, site: number): void => {
  const housed = packing.value;
  moveOut(packing, site, packing.itemsOfSite(site));
  if (packing.value < housed) return;
  packing.barred[site] = 1;
  settle(packing);
  if (openSites(packing)) settle(packing);
  packing.barred[site] = 0;
  closeSites(packing);
  settle(packing);
};

const insistOn = (packing: Packing, site: number): void => {
  draw(packing, site, Number.NEGATIVE_INFINITY);
  if (!packing.isOpen(site)) return;
  closeSites(packing);
  settle(packing);
};

/** Moves and swaps of items to a local optimum; which sites are open changes only as items come and go. */
export const settle = (packing: Packing): boolean => {
  let any = false;
  for (let round = 0; round < roundsMax; round++) {
    const moved = relocate(packing);
    const swapped = swap(packing);
    if (!replace(packing) && !moved && !swapped) return any;
    any = true;
  }
  return any;
};

const relocate = (packing: Packing): boolean => {
  let better = false;
  for (let item = 0; item < packing.itemCount; item++) {
    if (packing.binOf[item] === unplaced) continue;
    if (packing.isTired) return better;
    const bin = packing.cheapestBin(item);
    if (bin === unplaced || packing.delta(item, bin) >= -costEpsilon) continue;
    packing.move(item, bin);
    better = true;
  }
  return better;
};

/** Two items of different bins change places, the best pair of two bins first. */
const swap = (packing: Packing): boolean => {
  let better = false;
  for (let one = 0; one < packing.binCount; one++)
    for (let other = one + 1; other < packing.binCount; other++)
      while (!packing.isTired && swapBest(packing, one, other)) better = true;
  return better;
};

const swapBest = (packing: Packing, one: number, other: number): boolean => {
  packing.stepsLeft -= 1;
  if (packing.members[one]!.length === 0 || packing.members[other]!.length === 0) return false;
  const partners = packing.kindsIn(other).filter((item) => packing.allowed(item, one));
  let best: [number, number] | undefined;
  let least = -costEpsilon;
  for (const item of packing.kindsIn(one)) {
    if (!packing.allowed(item, other)) continue;
    const loss = packing.costAt(item, other) - packing.costAt(item, one);
    packing.stepsLeft -= partners.length;
    for (const partner of partners) {
      const change = loss + packing.costAt(partner, one) - packing.costAt(partner, other);
      if (change >= least || !canSwap(packing, item, partner)) continue;
      best = [item, partner];
      least = change;
    }
  }
  if (best === undefined) return false;
  packing.move(best[0], other);
  packing.move(best[1], one);
  return true;
};

const canSwap = (packing: Packing, item: number, partner: number): boolean => {
  const [one, other] = [packing.binOf[item]!, packing.binOf[partner]!];
  const accessible = packing.accessible[item]! - packing.accessible[partner]!;
  return (
    packing.needAt(partner, one) <= packing.freeRooms[one]! + packing.needAt(item, one) &&
    packing.needAt(item, other) <= packing.freeRooms[other]! + packing.needAt(partner, other) &&
    accessible <= packing.freeAccessible[other]! &&
    -accessible <= packing.freeAccessible[one]!
  );
};

/** An unplaced item takes the place of one worth as much that costs more there. */
const replace = (packing: Packing): boolean => {
  let better = false;
  const tried = new Set<number>();
  for (const item of packing.unplacedItems()) {
    if (tried.has(packing.kindOf[item]!)) continue;
    tried.add(packing.kindOf[item]!);
    for (let bin = 0; bin < packing.binCount; bin++) if (replaceIn(packing, item, bin)) better = true;
  }
  return better;
};

const replaceIn = (packing: Packing, item: number, bin: number): boolean => {
  if (packing.binOf[item] !== unplaced || !packing.allowed(item, bin)) return false;
  return packing.kindsIn(bin).some(
    (other) =>
      packing.values[other] === packing.values[item] &&
      packing.costAt(item, bin) < packing.costAt(other, bin) - costEpsilon &&
      packing.attempt(() => {
        packing.move(other, unplaced);
        if (packing.fits(item, bin)) packing.move(item, bin);
      }),
  );
};

/** Empties a site and houses its items elsewhere, by chains where need be. */
const closeSites = (packing: Packing): boolean => {
  let better = false;
  for (let site = 0; site < packing.siteItems.length; site++) {
    if (packing.isTired) return better;
    if (!packing.isOpen(site) || packing.openingCost[site] === 0) continue;
    const items = packing.itemsOfSite(site);
    if (!couldMoveOut(packing, site, items)) continue;
    const done = packing.attempt(() => {
      moveOut(packing, site, items);
      relocate(packing);
    });
    better ||= done;
  }
  return better;
};

/** Whether the other sites have the rooms at all; most closings of a tight packing end here. */
const couldMoveOut = (packing: Packing, site: number, items: number[]): boolean => {
  let rooms = items.reduce((sum, item) => sum + packing.values[item]!, 0);
  let accessible = items.reduce((sum, item) => sum + packing.accessible[item]!, 0);
  for (let bin = 0; bin < packing.binCount; bin++) {
    if (packing.siteOf[bin] === site) continue;
    rooms -= packing.freeRooms[bin]!;
    accessible -= packing.freeAccessible[bin]!;
  }
  return rooms <= 0 && accessible <= 0;
};

const moveOut = (packing: Packing, site: number, items: number[]): void => {
  const housed = packing.value;
  packing.barred[site] = 1;
  for (const item of items) packing.move(item, unplaced);
  fill(packing);
  if (packing.value < housed) chains(packing, closingMovesMax);
  packing.barred[site] = 0;
};

/** Opens a site for the items that gain most by it, then closes what that left half empty. */
const openSites = (packing: Packing): boolean => {
  let better = false;
  for (let site = 0; site < packing.siteItems.length; site++) {
    if (packing.isTired) return better;
    if (packing.isOpen(site)) continue;
    const done = packing.attempt(() => {
      draw(packing, site, 0);
      if (packing.isOpen(site)) relocate(packing);
    });
    better ||= done;
  }
  return better;
};

/** Moves to the site whoever gains more than `gainMin` there, the most gain per room first. */
const draw = (packing: Packing, site: number, gainMin: number): void => {
  for (const bin of packing.binsOfSite[site]!) {
    packing.stepsLeft -= packing.itemCount;
    const gaining: { item: number; gain: number; perRoom: number }[] = [];
    for (let item = 0; item < packing.itemCount; item++) {
      const from = packing.binOf[item]!;
      if (from === unplaced || packing.siteOf[from] === site || !packing.allowed(item, bin)) continue;
      const gain = packing.costAt(item, from) - packing.costAt(item, bin);
      if (gain > gainMin) gaining.push({ item, gain, perRoom: gain / packing.needAt(item, bin) });
    }
    gaining.sort((a, b) => b.perRoom - a.perRoom || b.gain - a.gain || a.item - b.item);
    for (const { item } of gaining) if (packing.fits(item, bin)) packing.move(item, bin);
  }
};

/** One site closes and another opens in its stead. */
const exchangeSites = (packing: Packing): boolean => {
  let better = false;
  for (let closing = 0; closing < packing.siteItems.length; closing++)
    for (let opening = 0; opening < packing.siteItems.length; opening++) {
      if (packing.isTired) return better;
      if (!packing.isOpen(closing)) break;
      if (packing.isOpen(opening)) continue;
      const done = packing.attempt(() => exchange(packing, closing, opening));
      better ||= done;
    }
  return better;
};

const exchange = (packing: Packing, closing: number, opening: number): void => {
  const housed = packing.value;
  const items = byDifficulty(packing, packing.itemsOfSite(closing));
  packing.barred[closing] = 1;
  for (const item of items) packing.move(item, unplaced);
  for (const item of items)
    for (const bin of packing.binsOfSite[opening]!)
      if (packing.binOf[item] === unplaced && packing.fits(item, bin)) packing.move(item, bin);
  fill(packing);
  packing.barred[closing] = 0;
  if (packing.value < housed) return;
  draw(packing, opening, costEpsilon);
};
