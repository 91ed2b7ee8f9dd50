/** Owns what the passengers' streams hear of a group beside its state, which `state-changed.ts` tells: its members, and what its offer shows. */
import { urn } from "../../schemas/urn.ts";
import type { Change, Outgoing } from "../runtime/decider.ts";
import type { SubCaseEvent, SubCaseState } from "./state.ts";
import { shown } from "./switch-state.ts";
import { offerView } from "./view.ts";

const members = ({ passengers, mergedInto }: SubCaseState): string =>
  [...passengers.map((passenger) => passenger.urn), mergedInto?.subCaseId ?? ""].join(" ");

/** Hotel, dates, ride, stay, voucher; before there is an offer nothing of it is shown. */
const offer = (whole: SubCaseState): string => {
  const state = shown(whole);
  return JSON.stringify([offerView(state, 0, undefined), state.voucher?.code, state.voucher?.status]);
};

/** Whichever event has changed it. */
export const passengersTold = ({ before, after }: Change<SubCaseState, SubCaseEvent>): Outgoing[] => {
  if (before === undefined) return [];
  const told = (type: string): Outgoing => {
    const { caseId, subCaseId, groupId } = after;
    const data = { subCaseUrn: urn("sub-case", subCaseId), groupId };
    return { to: "internal", type, id: subCaseId, caseId, data };
  };
  const isToldOfState = before.status !== after.status || before.offer.state !== after.offer.state;
  const isOffered = shown(after).offer.state !== "PENDING";
  return [
    ...(members(before) === members(after) ? [] : [told("subcase.members-changed")]),
    ...(isToldOfState || !isOffered || offer(before) === offer(after) ? [] : [told("subcase.offer-changed")]),
  ];
};
