/** Owns the book of the airline's own contracts: what is booked of their blocks, and that no night has more than its block. */
import type { Db } from "mongodb";
import { blockOf, nightsOf } from "../../../actors/contract/rooms.ts";
import type { ContractState, TakenRooms } from "../../../actors/contract/state.ts";
import type { LedgerEntry } from "../../../actors/vendor-adapter/ports.ts";
import type { Finding } from "./finding.ts";

/** From a hold to its `expiresAt`, which booking keeps. */
const holdMs = 10 * 60_000;
/** A contract forgets rooms 30 days after their check-out; a day more for the time zones. */
const keptDays = 29;

export interface Blocks {
  /** As a vendor's reconciliation interface would list them. */
  entries: LedgerEntry[];
  findings: Finding[];
}

type ContractRow = ContractState & { _id: string };

export const readBlocks = async (database: Db, tenant: string, now: Date): Promise<Blocks> => {
  const contracts = await database.collection<ContractRow>("contracts").find().sort({ _id: 1 }).toArray();
  return {
    entries: contracts.flatMap(({ taken }) => taken).flatMap(listed),
    findings: contracts.flatMap((contract) => oversold(contract, tenant, now)),
  };
};

/** Rooms with an earlier check-out may have been forgotten. */
export const rememberedFrom = (now: Date): string =>
  new Date(now.getTime() - keptDays * 86_400_000).toISOString().slice(0, 10);

const listed = (entry: TakenRooms): LedgerEntry[] => {
  if (!("bookingId" in entry)) return [];
  const { bookingId: id, reference, state, changedAt } = entry;
  return [{ kind: "booking", id, reference, state, changedAt: changedAt.toISOString() }];
};

/**
 * Not by the contract's own count, which is what is being checked: lapsed and expired holds have given their rooms back. A night with rooms that were taken
 * under earlier terms is left out: their block may have been larger.
 */
const oversold = ({ _id, terms, taken, changedAt }: ContractRow, tenant: string, now: Date): Finding[] => {
  // The last decision may be younger than `now`: what had expired by then made room for it.
  const at = Math.max(now.getTime(), ...taken.map((entry) => entry.changedAt.getTime()));
  const standing = taken.filter(
    ({ state, expiresAt }) => state === "BOOKED" || (state === "HELD" && expiresAt.getTime() > at),
  );
  const nights = new Set(standing.flatMap(({ checkIn, checkOut }) => nightsOf(checkIn, checkOut)));
  return [...nights].sort().flatMap((night) => {
    const tonight = standing.filter(({ checkIn, checkOut }) => checkIn <= night && night < checkOut);
    const isOlder = tonight.some(({ expiresAt }) => expiresAt.getTime() - holdMs < changedAt.getTime());
    const rooms = tonight.reduce((sum, entry) => sum + entry.rooms, 0);
    const block = blockOf(terms, night);
    if (isOlder || rooms <= block) return [];
    const detail = `${rooms} rooms are taken in the night of ${night}, and its block has ${block}.`;
    return [{ kind: "ledger", tenant, about: `direct contract ${_id}`, detail } as const];
  });
};
