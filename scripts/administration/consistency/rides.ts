/**
 * Owns comparing the vehicles that groups share with what the transport vendors list, with their seats, and with the groups that
 * have seats in them. What a vendor's books say is read elsewhere.
 */
import type { Collection, Document } from "mongodb";
import type { RunState, Vehicle } from "../../../actors/transport/run-state.ts";
import type { TransferState } from "../../../actors/transport/transfer-state.ts";
import type { LedgerEntry } from "../../../actors/vendor-adapter/ports.ts";
import { urn } from "../../../schemas/urn.ts";

/** Of drills nobody has books. */
export interface Fleet {
  runs: (Pick<RunState, "vendor" | "kind" | "pickupAt" | "vehicles"> & { _id: string })[];
  transfers: (Pick<TransferState, "kind" | "segments" | "leaving"> & { _id: string })[];
}

/** An airline's database. */
interface Collections {
  collection<T extends Document>(name: string): Collection<T>;
}

/** Groups first: they ask for seats before they have them. */
export const readFleet = async (database: Collections): Promise<Fleet> => {
  const real = { kind: { $exists: false } };
  const transfers = database
    .collection<Fleet["transfers"][number]>("transfers")
    .find(real, { projection: { segments: 1, leaving: 1 } });
  const groups = await transfers.toArray();
  const runs = database
    .collection<Fleet["runs"][number]>("transportRuns")
    .find(real, { projection: { vendor: 1, pickupAt: 1, vehicles: 1 } });
  return { transfers: groups, runs: await runs.toArray() };
};

export const vendorsOf = ({ runs }: Fleet): string[] => [...new Set(runs.map(({ vendor }) => vendor))];

interface RideDifference {
  /** Names the same difference at both looks. */
  key: string;
  about: string;
  detail: string;
}

/** @param books rides of one airline's references, by vendor */
export const rideDifferences = (
  books: readonly { vendor: string; entries: readonly LedgerEntry[] }[],
  fleet: Fleet,
  now: Date,
): RideDifference[] => [
  ...books.flatMap(({ vendor, entries }) => atVendor(vendor, entries, fleet)),
  ...inVehicles(fleet, now),
  ...ofGroups(fleet),
];

const standing: ReadonlySet<string> = new Set(["BOOKED", "STUCK"]);

const atVendor = (vendor: string, entries: readonly LedgerEntry[], { runs }: Fleet): RideDifference[] => {
  const rides = new Map(entries.filter(({ kind }) => kind === "ride").map((entry) => [entry.id, entry]));
  const vehicles = runs.filter((run) => run.vendor === vendor).flatMap((run) => run.vehicles);
  const settled = vehicles.filter(({ call }) => call === undefined);
  const underWay = new Set(
    vehicles.filter(({ call }) => call !== undefined).map(({ reference }) => reference),
  );
  const known = new Set(settled.filter(({ status }) => standing.has(status)).map(({ rideId }) => rideId));
  return [
    ...settled.flatMap((vehicle) => absent(vendor, vehicle, rides)),
    ...[...rides.values()]
      .filter(
        ({ id, state, reference }) => state !== "CANCELLED" && !known.has(id) && !underWay.has(reference),
      )
      .map(({ id, state, reference }) => ({
        key: `stray ${vendor} ${id}`,
        about: `${vendor} ride ${id}`,
        detail: `it stands (${state}) under ${reference}, and no run knows of it.`,
      })),
  ];
};

const absent = (
  vendor: string,
  { rideId, reference, status }: Vehicle,
  rides: ReadonlyMap<string, LedgerEntry>,
): RideDifference[] => {
  if (!standing.has(status) || rideId === undefined) return [];
  const entry = rides.get(rideId);
  if (entry !== undefined && entry.state !== "CANCELLED") return [];
  const there = entry === undefined ? "the vendor does not" : `at the vendor it is ${entry.state}`;
  const detail = `a run has it under ${reference}, ${there}.`;
  return [{ key: `absent ${vendor} ${rideId}`, about: `${vendor} ride ${rideId}`, detail }];
};

/** Nobody sits on another's lap, and no vehicle that could be given back goes empty. */
const inVehicles = ({ runs }: Fleet, now: Date): RideDifference[] =>
  runs.flatMap(({ _id, vendor, pickupAt, vehicles }) =>
    vehicles.flatMap(({ number, seats, riders, status }) => {
      const taken = riders.reduce((sum, { passengers }) => sum + passengers, 0);
      const isIdle = status === "BOOKED" && taken === 0 && pickupAt > now;
      if (taken <= seats && !isIdle) return [];
      const detail = isIdle ? "nobody rides in it." : `${taken} ride in it, and it has ${seats} seats.`;
      return [{ key: `vehicle ${_id} ${number}`, about: `${vendor} run ${_id} vehicle ${number}`, detail }];
    }),
  );

/** Who has seats sits in them, and who sits somewhere has asked for it. */
const ofGroups = ({ runs, transfers }: Fleet): RideDifference[] => {
  const seated = new Map<string, number>();
  for (const { _id, vehicles } of runs)
    for (const { riders } of vehicles)
      for (const { segmentId, attempt, passengers } of riders) {
        const key = `${segmentId}.${attempt}@${_id}`;
        seated.set(key, (seated.get(key) ?? 0) + passengers);
      }
  const asked = new Set<string>();
  const missing = transfers.flatMap(({ segments, leaving }) => {
    for (const { segmentId, attempt, runId } of leaving) asked.add(`${segmentId}.${attempt}@${runId}`);
    return segments.flatMap(({ segmentId, seat, sought, passengers }) => {
      if (sought !== undefined) asked.add(`${segmentId}.${sought.attempt}@${sought.runId}`);
      if (seat === undefined) return [];
      const key = `${segmentId}.${seat.attempt}@${seat.runId}`;
      asked.add(key);
      const found = seated.get(key) ?? 0;
      if (found === passengers) return [];
      const detail = `${passengers} have seats, and ${found} sit in their vehicles.`;
      return [{ key: `segment ${key}`, about: urn("segment", segmentId), detail }];
    });
  });
  const strangers = [...seated.keys()].filter((key) => !asked.has(key));
  return [
    ...missing,
    ...strangers.map((key) => ({
      key: `rider ${key}`,
      about: urn("segment", key.slice(0, key.lastIndexOf("."))),
      detail: "it has seats in a vehicle that it does not know of.",
    })),
  ];
};
