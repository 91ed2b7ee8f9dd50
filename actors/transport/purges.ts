/** Owns which changes of a group's rides its passengers would see: what an edge keeps of their reads is then old. */
import type { Change, Outgoing } from "../runtime/decider.ts";
import { cachePurged } from "../runtime/purge.ts";
import type { TransferEvent, TransferState } from "./transfer-state.ts";
import { myTransport } from "./view.ts";

/** While the saga waits for a ride an offer is on its way, and what purges that purges the rides, too. */
const isAwaited = (state: TransferState | undefined): boolean => state?.asked?.verb === "book-ride";

export const purges = ({
  before,
  after,
  command: { now },
}: Change<TransferState, TransferEvent>): Outgoing[] => {
  if (isAwaited(before) || isAwaited(after)) return [];
  if (JSON.stringify(myTransport(before, now)) === JSON.stringify(myTransport(after, now))) return [];
  const urns = after.orders.flatMap(({ passengerUrns = [] }) => passengerUrns);
  return [cachePurged(after.transferId, after, urns)];
};
