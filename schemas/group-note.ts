/** Owns what a sub-case tells its case and its waves of where it stands: the data of `case.note-group`, the answer of `sub-case.standing`. */
import type { GroupLock } from "./lock.ts";
import type { ReservationStatus, SubCaseStatus } from "./vocabulary.ts";

/**
 * Where a group stands, one letter. W waiting, H held for a review, A allocated, B room booked, F no room to be had,
 * U rollback stuck, R resolved, D declined, C checked out, O not shown up, M housed by hand, X settled by hand without a
 * room, N no room required.
 */
export type Stage = "W" | "H" | "A" | "B" | "F" | "U" | "R" | "D" | "C" | "O" | "M" | "X" | "N";

export interface GroupNote {
  groupId: string;
  stage: Extract<Stage, "W" | "A" | "B" | "F" | "U" | "R" | "D" | "C" | "O" | "N">;
  /** Of the group's sagas, from 1: notes of an earlier one are late. */
  round: number;
  /** With N: how often the group had been changed. Who needed no room before a later change may need one after it. */
  shape?: number;
}

/** Where a case thinks that a group stands, when it is opened again: part of the data of `sub-case.resume`. */
export interface KnownStage {
  stage: Stage;
  round: number;
  /** How often the group has been changed. */
  shape: number;
  /** Allocated, and waiting for a person to have it booked. */
  toBook: boolean;
}

/** What a choice by hand is decided by. */
export interface GroupStanding {
  status: SubCaseStatus;
  /** A person has seen to the group. */
  settled: boolean;
  reservation?: { status: ReservationStatus; hotelUrn: string };
  /** Absent: nobody holds one. */
  lock?: GroupLock;
}
