/** Owns which changes of a sub-case its passengers would see: what an edge keeps of their reads is then old. */
import type { Change, Outgoing } from "../runtime/decider.ts";
import { cachePurged } from "../runtime/purge.ts";
import type { SubCaseEvent, SubCaseState } from "./state.ts";
import { shown } from "./switch-state.ts";
import { meView, offerView } from "./view.ts";

/**
 * All that any of their reads is made of, whichever event has changed it. On its way to an offer a group that waits and one that is worked
 * for look alike: what comes of it is told at the end, of a thousand groups at once.
 */
const seen = (whole: SubCaseState): string => {
  const { voucher, reservation, card, offer } = shown(whole);
  const me = meView(whole);
  if (offer.state === "PENDING")
    return JSON.stringify([{ ...me, status: me.status === "PROCESSING" ? "PENDING" : me.status }]);
  return JSON.stringify([me, offerView(whole, 0, undefined), voucher, reservation, card]);
};

/** Who was in the group before reads another one now. */
export const purges = ({ before, after }: Change<SubCaseState, SubCaseEvent>): Outgoing[] => {
  if (before === undefined || seen(before) === seen(after)) return [];
  const urns = [...before.passengers, ...after.passengers].map(({ urn }) => urn);
  return [cachePurged(after.subCaseId, after, urns)];
};
