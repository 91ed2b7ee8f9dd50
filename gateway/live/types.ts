/** Owns which types of events the live channels read of the log; a type may serve both. */
import type { TailStream } from "../../streams/tail.ts";

type Types = Readonly<Record<TailStream, readonly string[]>>;

/** What the operators' channel shows. What a drill or shadow case would tell in public stands on INTERNAL. */
const operatorTypes: Types = {
  EVENTS: ["case.opened", "case.amended", "case.resolved"],
  INTERNAL: [
    "case.opened",
    "case.amended",
    "case.resolved",
    "case.closed",
    "case.reopened",
    "case.status-changed",
    "demand.requested",
    "demand.approved",
    "demand.rejected",
    "demand.settled",
    "subcase.state-changed",
    "subcase.lock-changed",
    "graph.step-started",
    "graph.step-completed",
    "graph.step-progress",
    "notification.dispatched",
    "operator.logged-out",
    "operator.session-closed",
  ],
};

/** What the passengers' streams show. */
const passengerTypes: Types = {
  EVENTS: ["voucher.issued", "voucher.amended", "wallet.card-issued", "wallet.card-tx"],
  INTERNAL: [
    "voucher.issued",
    "voucher.amended",
    "wallet.card-issued",
    "wallet.card-tx",
    "subcase.state-changed",
    "subcase.offer-changed",
    "subcase.members-changed",
    "graph.step-completed",
    "segment.sought",
    "segment.booked",
    "segment.declined",
    "segment.kept",
    "segment.cancelled",
    "notification.dispatched",
  ],
};

const both = (stream: TailStream): readonly string[] => [
  ...new Set([...operatorTypes[stream], ...passengerTypes[stream]]),
];

export const liveTypes: Types = { EVENTS: both("EVENTS"), INTERNAL: both("INTERNAL") };
