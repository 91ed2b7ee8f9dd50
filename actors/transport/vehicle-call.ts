/** Owns a vehicle's call to its vendor: which verbs there are, and how long each is insisted on. The rest is any vendor call's. */
import type { VendorAnswer } from "../../schemas/vendor-call.ts";
import * as calls from "../runtime/vendor-call.ts";

export { type CallSettings, deadlineAfter, reissued } from "../runtime/vendor-call.ts";

/** A vehicle waits for at most one. */
export interface VehicleCall extends calls.PendingCall {
  verb: "book-ride" | "cancel-ride";
}

/** A vendor that cannot take it is asked so often; giving back is insisted on for longer. */
const triesMax = { "book-ride": 3, "cancel-ride": 8 } as const;

export const firstCall = (
  verb: VehicleCall["verb"],
  now: Date,
  settings: calls.CallSettings,
): VehicleCall => ({ verb, ...calls.firstCall(now, settings) });

/** What an answer means to the call under way. */
export const endOf = (
  call: VehicleCall | undefined,
  again: number,
  answer: VendorAnswer,
  now: Date,
): calls.CallEnd<VehicleCall> =>
  call === undefined || call.verb !== answer.verb
    ? { end: "nothing" }
    : calls.endOf(call, again, answer, { now, triesMax: triesMax[call.verb] });
