/** Owns on what terms a group's room is booked: what cancelling it costs when, and what it did cost. Pure. */
import {
  type CancellationLadder,
  cancellationPriceAt,
  cheapestCancellation,
  freeCancellationUntil,
} from "../../schemas/cancellation.ts";
import type { ReservationView } from "../../schemas/case.ts";
import type { ReservationDetail } from "../../schemas/reservation.ts";
import type { Money } from "../../schemas/vocabulary.ts";

export interface RoomTerms {
  /** As the vendor has last told it. Absent: it doesn't. */
  cancellation?: CancellationLadder;
  /** What the vendor charged for the cancellation. Absent: it stands, or the hotel took the room back. */
  cancellationFee?: Money;
}

/** @param result of a booking, checked by the vendor's adapter */
export const termsIn = ({ cancellation }: Record<string, unknown>): Pick<RoomTerms, "cancellation"> =>
  cancellation === undefined ? {} : { cancellation: cancellation as CancellationLadder };

/** With other dates the ladder is another: one that isn't told anew is not known any more. @param result of a change of dates */
export const termsAnew = <Room extends RoomTerms>(
  { cancellation: _, ...room }: Room,
  result: Record<string, unknown>,
): Omit<Room, "cancellation"> & Pick<RoomTerms, "cancellation"> => ({ ...room, ...termsIn(result) });

/** @param result of a cancellation */
export const feeIn = ({ fee }: Record<string, unknown>): Pick<RoomTerms, "cancellationFee"> =>
  fee === undefined ? {} : { cancellationFee: fee as Money };

type Shown = Pick<ReservationView, "freeCancellationUntil" | "cancellation" | "cancellationFee">;

export const termsShown = ({ cancellation, cancellationFee }: RoomTerms): Shown => {
  const until = freeCancellationUntil(cancellation ?? []);
  return {
    ...(until === undefined ? {} : { freeCancellationUntil: until }),
    ...(cancellation === undefined ? {} : { cancellation: [...cancellation] }),
    ...(cancellationFee === undefined ? {} : { cancellationFee }),
  };
};

/** What may still be cancelled: nothing of a room that was. */
export const cancellingNow = (
  { cancellation = [], status }: RoomTerms & { status: string },
  now: Date,
): Pick<ReservationDetail, "cancellingNow" | "cheapestCancellation"> => {
  if (status !== "CONFIRMED") return {};
  const price = cancellationPriceAt(cancellation, now);
  const cheapest = cheapestCancellation(cancellation, now);
  return {
    ...(price === undefined ? {} : { cancellingNow: price }),
    ...(cheapest === undefined ? {} : { cheapestCancellation: cheapest }),
  };
};
