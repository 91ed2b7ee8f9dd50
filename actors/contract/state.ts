/** Owns what a contract is (its terms and the rooms taken of its block, in one document) and how its events change it. */
import type { ContractTerms } from "../../schemas/contract.ts";
import type { Money } from "../../schemas/vocabulary.ts";
import { isExpired } from "./rooms.ts";

interface Stay {
  /** Ours of the asker; one per entry. */
  reference: string;
  rooms: number;
  /** Of the rooms, those that must be accessible. */
  accessible: number;
  /** Local dates; check-out exclusive. */
  checkIn: string;
  checkOut: string;
  /** All rooms, all nights, as agreed when they were held. */
  total: Money;
  holdId: string;
  expiresAt: Date;
  changedAt: Date;
}

export type HeldRooms = Stay & {
  state: "HELD";
  /** Something was decided on these rooms being free again: only what is free then can bring them back. */
  lapsed?: true;
};
export type BookedRooms = Stay & {
  state: "BOOKED" | "CANCELLED";
  bookingId: string;
  confirmationNumber: string;
};
export type TakenRooms = HeldRooms | BookedRooms;

export interface ContractState {
  terms: ContractTerms;
  /** The command that made it: a creation that comes again finds its contract by this. */
  creation: string;
  createdAt: Date;
  createdBy: string;
  /** Of the terms. */
  changedAt: Date;
  /** The document that they were read from, and who stands by them. */
  provenance?: { analysisId: string; by: string; at: Date };
  /** At most one entry per reference. A hold past its time counts no more, and is dropped soon. */
  taken: TakenRooms[];
}

export type ContractEvent =
  | {
      type: "contract.put";
      data: { terms: ContractTerms; at: Date; by: string; creation: string; analysisId?: string };
    }
  | { type: "contract.rooms-held"; data: HeldRooms }
  | {
      type: "contract.rooms-booked";
      data: { reference: string; bookingId: string; confirmationNumber: string; at: Date };
    }
  | { type: "contract.rooms-released"; data: { reference: string; at: Date } };

const dayMs = 86_400_000;
/** As long as what the streams keep could ask for them. */
const releasedForMs = 8 * dayMs;
const pastForMs = 30 * dayMs;
/** Whoever asks for a hold of before is told that it has expired, which its id alone says. */
const expiredForMs = 3_600_000;

export const evolve = (state: ContractState | undefined, event: ContractEvent): ContractState => {
  if (event.type === "contract.put") {
    const { terms, at, by, creation, analysisId } = event.data;
    const read = analysisId === undefined ? {} : { provenance: { analysisId, by, at } };
    if (state === undefined)
      return { terms, creation, createdAt: at, createdBy: by, changedAt: at, taken: [], ...read };
    return { ...state, terms, changedAt: at, ...read };
  }
  if (state === undefined) throw new Error(`${event.type} of no contract`);
  switch (event.type) {
    case "contract.rooms-held": {
      const at = event.data.changedAt;
      return { ...state, taken: [...lapsed(kept(state.taken, at), at), event.data] };
    }
    case "contract.rooms-booked": {
      const { reference, bookingId, confirmationNumber, at } = event.data;
      const book = (entry: TakenRooms): TakenRooms => {
        const { lapsed: _, ...stay } = entry as HeldRooms;
        return { ...stay, state: "BOOKED", bookingId, confirmationNumber, changedAt: at };
      };
      return { ...state, taken: lapsed(replaced(state.taken, reference, book), at) };
    }
    case "contract.rooms-released": {
      const { reference, at } = event.data;
      const release = (entry: TakenRooms): TakenRooms =>
        entry.state === "HELD" ? entry : { ...entry, state: "CANCELLED", changedAt: at };
      return { ...state, taken: replaced(state.taken, reference, release) };
    }
    default:
      return event satisfies never;
  }
};

const replaced = (
  taken: readonly TakenRooms[],
  reference: string,
  change: (entry: TakenRooms) => TakenRooms,
): TakenRooms[] => taken.map((entry) => (entry.reference === reference ? change(entry) : entry));

/**
 * Each command has the time of its own process. What one of them has counted as free must not be held for another whose
 * clock is behind, so it is written down with the decision that it allowed.
 */
const lapsed = (taken: readonly TakenRooms[], at: Date): TakenRooms[] =>
  taken.map((entry) => (entry.state === "HELD" && isExpired(entry, at) ? { ...entry, lapsed: true } : entry));

/** Without what nobody will ask for again: the document grows with a month's nights, not with its years. */
const kept = (taken: readonly TakenRooms[], now: Date): TakenRooms[] => {
  const oldestNight = new Date(now.getTime() - pastForMs).toISOString().slice(0, 10);
  const ago = (ms: number): number => now.getTime() - ms;
  return taken.filter(({ state, checkOut, changedAt, expiresAt }) => {
    if (checkOut < oldestNight) return false;
    if (state === "CANCELLED") return changedAt.getTime() >= ago(releasedForMs);
    return state === "BOOKED" || expiresAt.getTime() >= ago(expiredForMs);
  });
};
