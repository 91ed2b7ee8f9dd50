/**
 * Owns how much of the log one client of the operators' channel has been told, as text that it hands back when it reconnects. Any
 * gateway process can tell from it, entry by entry, what that client lacks.
 */
import { isBehind, type Position, positionText, readPosition } from "./position.ts";
import type { LiveEntry } from "./ring.ts";

export interface Offset {
  /** Every change up to here was told by a case:updated. */
  updates: Position;
  /** Of the changes from there up to `next`, those of cases up to this id, too: cases are told one after another. */
  partial?: { next: Position; upToCase: string };
  /** Everything else up to here was told. */
  told: Position;
}

const form = /^([\d.]{3,31})_([\d.]{3,31})(?:_([\d.]{3,31})_([A-Za-z0-9-]{1,60}))?$/;

export const offsetText = ({ updates, partial, told }: Offset): string => {
  const whole = `${positionText(updates)}_${positionText(told)}`;
  return partial === undefined ? whole : `${whole}_${positionText(partial.next)}_${partial.upToCase}`;
};

/** Undefined: none of ours. */
export const readOffset = (text: unknown): Offset | undefined => {
  const [, first, second, third, upToCase] = (typeof text === "string" ? form.exec(text) : null) ?? [];
  const updates = readPosition(first ?? "");
  const told = readPosition(second ?? "");
  if (updates === undefined || told === undefined) return undefined;
  if (third === undefined || upToCase === undefined) return { updates, told };
  const next = readPosition(third);
  return next === undefined ? undefined : { updates, told, partial: { next, upToCase } };
};

/** Whether a case:updated has told of it. */
export const isUpdated = (entry: LiveEntry, { updates, partial }: Offset): boolean =>
  isBehind(entry, updates) ||
  (partial !== undefined && isBehind(entry, partial.next) && (entry.caseId ?? "") <= partial.upToCase);

export const isTold = (entry: LiveEntry, { told }: Offset): boolean => isBehind(entry, told);
