/** Owns what an answered step puts into the group's record: reservation, cards, ride, messages. */
import { derivedId } from "../runtime/clock.ts";
import { currentCandidate } from "./requests.ts";
import type { Call, Gained, SubCaseState } from "./state.ts";

/** What a call's answer brought or took back. @param result of the vendor's adapter, checked by it */
export const gainedBy = (
  { id, state, now }: { id: string; state: SubCaseState; now: Date },
  call: Call,
  result: Record<string, unknown>,
): Gained => {
  const total = result.total as { amountMinor: number; currency: string } | undefined;
  switch (call.step) {
    case "hold": {
      const candidate = currentCandidate(state);
      return {
        reservation: {
          reservationId: derivedId(id.slice(0, id.indexOf("-")), call.reference, now),
          status: "PENDING",
          hotelUrn: candidate?.hotelUrn ?? "",
          vendor: call.vendor,
          reference: call.reference,
          rooms: candidate?.rooms ?? 0,
          holdId: String(result.holdId),
          ...(total === undefined ? {} : { totalMinor: total.amountMinor, currency: total.currency }),
        },
      };
    }
    case "book":
      return {
        reservation: {
          ...(state.reservation as NonNullable<SubCaseState["reservation"]>),
          status: "CONFIRMED",
          bookingId: String(result.bookingId),
          confirmationNumber: String(result.confirmationNumber),
          ...(total === undefined ? {} : { totalMinor: total.amountMinor, currency: total.currency }),
        },
      };
    case "pay":
      return {
        payment: {
          cardId: String(result.cardId),
          vendor: call.vendor,
          reference: call.reference,
          status: "ACTIVE",
        },
      };
    case "card": {
      const balance = result.balance as { amountMinor: number; currency: string };
      return {
        card: {
          cardId: String(result.cardId),
          vendor: call.vendor,
          reference: call.reference,
          last4: String(result.last4),
          status: "ACTIVE",
          balanceMinor: balance.amountMinor,
          currency: balance.currency,
        },
      };
    }
    case "transport":
      return {
        ride: {
          rideId: String(result.rideId),
          vendor: call.vendor,
          reference: call.reference,
          status: "booked",
          vehicleType: String(result.vehicleType),
          pickupAt: new Date(String(result.pickupAt)),
        },
      };
    case "notify":
      return {
        notices: [
          ...state.notices,
          { channel: String(call.request.channel), messageId: String(result.messageId), at: now },
        ],
      };
    case "cancel-room":
      return {
        reservation: {
          ...(state.reservation as NonNullable<SubCaseState["reservation"]>),
          status: "CANCELLED",
        },
      };
    case "cancel-payment":
      return {
        payment: { ...(state.payment as NonNullable<SubCaseState["payment"]>), status: "CANCELLED" },
      };
    case "cancel-card":
      return { card: { ...(state.card as NonNullable<SubCaseState["card"]>), status: "CANCELLED" } };
    case "cancel-transport":
      return { ride: { ...(state.ride as NonNullable<SubCaseState["ride"]>), status: "cancelled" } };
    default:
      return {};
  }
};
