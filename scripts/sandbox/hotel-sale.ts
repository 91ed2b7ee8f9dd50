/** Owns what a hotel vendor has sold: the sale with its dates and amounts, and what cancelling it costs when. */
import type { Entry } from "./ledger.ts";

export interface Stay {
  /** Local dates, `YYYY-MM-DD`; check-out exclusive. */
  checkIn: string;
  checkOut: string;
}

/** Until then (ISO 8601 UTC, itself included) cancelling costs so much; null: from the step before on, for good. */
export interface CancellationStep {
  until: string | null;
  feeMinor: number;
}

export interface SaleDetails {
  rateKey: string;
  hotelCode: string;
  hotelName: string;
  rooms: number;
  accessible: number;
  checkIn: string;
  checkOut: string;
  nightlyRateMinor: number;
  totalMinor: number;
  currency: string;
  freeCancellationUntil: string | null;
  ladder: CancellationStep[];
  /** Of a hold. */
  expiresAt?: string;
  bookingId?: string;
  /** Of a booking. */
  holdId?: string;
  confirmationNumber?: string;
  leadGuest?: string;
  guests?: number;
  payment?: string;
  cancellationFeeMinor?: number;
  /** ISO 8601 UTC: then the hotel finds that it has no room for this booking. */
  oversoldAt?: string;
  [other: string]: unknown;
}
export type Sale = Entry<SaleDetails>;

export interface HoldRequest extends Stay {
  reference: string;
  idempotencyKey: string;
  rateKey: string;
  rooms: number;
  accessible: number;
  /** What the rate has become since it was told, times what it was. */
  priceFactor?: number;
  /** What else this dialect keeps of a hold. */
  also?: Record<string, unknown>;
  nowMs: number;
}

export interface BookRequest {
  reference: string;
  idempotencyKey: string;
  holdId: string;
  /** The booking's; absent: one of its own. */
  id?: string;
  leadGuest: string;
  guests: number;
  payment: string;
  /** What else this dialect keeps of a booking. */
  also?: Record<string, unknown>;
  /** Confirmed, though the hotel has no room. */
  oversold?: boolean;
  nowMs: number;
}

const nightsMax = 30;
export const dayMs = 86_400_000;

/** Each night by the date of its evening; empty when the dates make no stay. */
export const nightsOf = ({ checkIn, checkOut }: Stay): string[] => {
  const first = Date.parse(`${checkIn}T00:00:00Z`);
  const count = (Date.parse(`${checkOut}T00:00:00Z`) - first) / dayMs;
  if (!Number.isInteger(count) || count < 1 || count > nightsMax) return [];
  return Array.from({ length: count }, (_, night) =>
    new Date(first + night * dayMs).toISOString().slice(0, 10),
  );
};

export const iso = (ms: number): string => new Date(ms).toISOString();

/** Free until four in the afternoon where it is free at all, the first night until ten in the evening, then the whole stay. */
export const ladderOf = (stay: Stay, nightlyMinor: number, isFree: boolean): CancellationStep[] => {
  const nights = nightsOf(stay).length;
  return [
    ...(isFree ? [{ until: `${stay.checkIn}T16:00:00.000Z`, feeMinor: 0 }] : []),
    ...(nights > 1 ? [{ until: `${stay.checkIn}T22:00:00.000Z`, feeMinor: nightlyMinor }] : []),
    { until: null, feeMinor: nightlyMinor * nights },
  ];
};

/** What cancelling costs at that moment. */
export const feeAt = (ladder: readonly CancellationStep[], nowMs: number): number =>
  ladder.find(({ until }) => until === null || nowMs <= Date.parse(until))?.feeMinor ?? 0;
