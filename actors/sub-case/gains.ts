/** Owns what an answered step puts into the group's record: reservation, cards, ride. */
import type { Stay } from "../../schemas/assignment.ts";
import { derivedId } from "../runtime/clock.ts";
import type { Assigned } from "./amend-state.ts";
import { currentCandidate } from "./requests.ts";
import { feeIn, termsAnew, termsIn } from "./room-terms.ts";
import type { Call, Gained, LeaveStep, SubCaseState } from "./state.ts";
import type { Left } from "./switch-state.ts";

const dayMs = 86_400_000;

const stayOf = (checkIn: string, checkOut: string): Stay => ({
  checkIn,
  checkOut,
  nights: (Date.parse(checkOut) - Date.parse(checkIn)) / dayMs,
});

/** The terms stay what they were, with the nights that they were for: amounts are never worked out from amounts worked out before. */
const amendedTo = (state: SubCaseState, stay: Stay): Assigned => {
  const assignment = state.assignment as Assigned;
  return { ...assignment, stay, termsNights: assignment.termsNights ?? assignment.stay.nights };
};

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
          ...termsIn(result),
          ...(total === undefined ? {} : { totalMinor: total.amountMinor, currency: total.currency }),
        },
      };
    case "modify":
      return {
        reservation: {
          ...termsAnew(state.reservation as NonNullable<SubCaseState["reservation"]>, result),
          amended: (state.reservation?.amended ?? 0) + 1,
          confirmationNumber: String(result.confirmationNumber),
          ...(total === undefined ? {} : { totalMinor: total.amountMinor, currency: total.currency }),
        },
        assignment: amendedTo(state, stayOf(String(call.request.checkIn), String(call.request.checkOut))),
        untold: state.shape ?? 0,
      };
    case "load-payment": {
      const { amountMinor } = call.request.loaded as { amountMinor: number };
      const payment = state.payment as NonNullable<SubCaseState["payment"]>;
      return { payment: { ...payment, loadedMinor: amountMinor } };
    }
    case "load-card": {
      const { amountMinor } = call.request.loaded as { amountMinor: number };
      const card = state.card as NonNullable<SubCaseState["card"]>;
      const balance = result.balance as { amountMinor: number };
      return { card: { ...card, loadedMinor: amountMinor, balanceMinor: balance.amountMinor } };
    }
    case "pay":
      return {
        payment: {
          cardId: String(result.cardId),
          vendor: call.vendor,
          reference: call.reference,
          status: "ACTIVE",
          loadedMinor: (call.request.balance as { amountMinor: number }).amountMinor,
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
          loadedMinor: balance.amountMinor,
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
    case "leave-room":
    case "leave-payment":
    case "leave-ride":
      return { left: leftAfter(state.left as Left, call.step, result) };
    case "cancel-room":
      return {
        reservation: {
          ...(state.reservation as NonNullable<SubCaseState["reservation"]>),
          status: "CANCELLED",
          ...feeIn(result),
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

const leftAfter = (left: Left, step: LeaveStep, result: Record<string, unknown>): Left => {
  const { reservation, payment, ride } = left;
  if (step === "leave-room" && reservation !== undefined)
    return { ...left, reservation: { ...reservation, status: "CANCELLED", ...feeIn(result) } };
  if (step === "leave-payment" && payment !== undefined)
    return { ...left, payment: { ...payment, status: "CANCELLED" } };
  return ride === undefined ? left : { ...left, ride: { ...ride, status: "cancelled" } };
};
