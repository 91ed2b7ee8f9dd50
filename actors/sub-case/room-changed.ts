/** Owns what the house hears of a group's room when it is booked, has other dates, or is given back: what figures of rooms are made of. */
import { directVendor } from "../../schemas/contract.ts";
import { urn } from "../../schemas/urn.ts";
import type { Outgoing } from "../runtime/decider.ts";
import { currentCandidate } from "./requests.ts";
import type { Reservation, SubCaseEvent, SubCaseState } from "./state.ts";

/** The room as it stands by then, so that whoever hears of it late, or not of what came before, needs no more; null: given back. */
export const roomChanged = (event: SubCaseEvent, state: SubCaseState): Outgoing[] => {
  const reservation = changedBy(event, state);
  if (reservation === undefined) return [];
  const data = {
    subCaseUrn: urn("sub-case", state.subCaseId),
    groupId: state.groupId,
    bookingUrn: urn("booking", reservation.reservationId),
    room: reservation.status === "CANCELLED" ? null : roomOf(reservation, state),
  };
  const { caseId, subCaseId: id } = state;
  return [{ to: "internal", type: "subcase.room-changed", id, caseId, data }];
};

/** As the event left it: the group may have gone on to another room in the same decision. */
const changedBy = (event: SubCaseEvent, state: SubCaseState): Reservation | undefined => {
  if (event.type === "subcase.stay-noted") {
    if (event.data.status !== "CANCELLED") return undefined;
    const told = event.data.ofLeft ? state.left?.reservation : state.reservation;
    return told && { ...told, status: "CANCELLED" };
  }
  if (event.type !== "subcase.step-completed") return undefined;
  const { step, gained } = event.data;
  if (step === "leave-room") return gained.left?.reservation;
  return step === "book" || step === "modify" || step === "cancel-room" ? gained.reservation : undefined;
};

const roomOf = ({ rooms, vendor, totalMinor, currency, amended = 0 }: Reservation, state: SubCaseState) => {
  const { marketNightlyMinor } = currentCandidate(state) ?? {};
  const nights = state.assignment?.stay.nights ?? 0;
  const compared = vendor === directVendor && marketNightlyMinor !== undefined;
  return {
    rooms,
    amended,
    ...(totalMinor === undefined || currency === undefined ? {} : { totalMinor, currency }),
    ...(compared ? { marketMinor: marketNightlyMinor * rooms * nights } : {}),
  };
};
