/** Owns a call to a vendor that an entity waits for: when it is sent again, when it is in doubt, and when it is over. The rules are a saga's. */
import { createHash } from "node:crypto";
import type { VendorAnswer } from "../../schemas/vendor-call.ts";

export interface PendingCall {
  /** Times it has been sent. */
  tries: number;
  /** An earlier try may have been carried out: it is looked up first. */
  doubt: boolean;
  /** True: not under way; it is sent again when due. False: a missing answer puts it in doubt when due. */
  postponed: boolean;
  dueAt: Date;
}

export interface CallSettings {
  /** Without an answer for this long a call is looked up and sent again. */
  stepDeadlineMs: number;
}

const deadlineMsMax = 600_000;

/** Doubled with each try that nobody has answered. */
export const deadlineAfter = (now: Date, tries: number, { stepDeadlineMs }: CallSettings): Date =>
  new Date(now.getTime() + Math.min(stepDeadlineMs * 2 ** (tries - 1), deadlineMsMax));

export const firstCall = (now: Date, settings: CallSettings): PendingCall => ({
  tries: 1,
  doubt: false,
  postponed: false,
  dueAt: deadlineAfter(now, 1, settings),
});

/** Sent again: as doubtful, where nothing was heard. */
export const reissued = <C extends PendingCall>(call: C, now: Date, settings: CallSettings): C => ({
  ...call,
  tries: call.tries + 1,
  doubt: call.doubt || !call.postponed,
  postponed: false,
  dueAt: deadlineAfter(now, call.tries + 1, settings),
});

export type CallEnd<C extends PendingCall> =
  | { end: "done" }
  | { end: "refused"; code: string; detail: string }
  | { end: "later"; call: C }
  /** Late, or repeated: of an earlier try only its success counts. */
  | { end: "nothing" };

/**
 * What an answer means to the call under way.
 * @param again how often a person has had it asked again after a refusal; 0: never
 * @param triesMax a vendor that cannot take it is asked so often; one in doubt is never given up here
 */
export const endOf = <C extends PendingCall>(
  call: C,
  again: number,
  answer: VendorAnswer,
  { now, triesMax }: { now: Date; triesMax: number },
): CallEnd<C> => {
  if (answer.outcome === "done") return { end: "done" };
  const isOfThisTry =
    answer.tries === undefined || (answer.tries === call.tries && (answer.again ?? 0) === again);
  if (!isOfThisTry) return { end: "nothing" };
  const dueAt = new Date(now.getTime() + retryDelayMs(answer.reference, call.tries));
  if (answer.outcome === "in-doubt")
    return { end: "later", call: { ...call, doubt: true, postponed: true, dueAt } };
  if (answer.outcome === "unavailable" && (call.doubt || call.tries < triesMax))
    return { end: "later", call: { ...call, postponed: true, dueAt } };
  return {
    end: "refused",
    code: answer.code ?? "UNAVAILABLE",
    detail: answer.detail ?? "The vendor could not be reached.",
  };
};

const retryMsMin = 500;
const retryMsMax = 60_000;
/** Of the wait, at most so much is added: calls that one outage has failed don't come back all at once. */
const jitterMax = 0.2;

/**
 * How long a call waits that could not be made, or is in doubt: 0.5 s, 1 s, 2 s … a minute, and up to a fifth more. Every call that is
 * asked again has a reference that the vendor sees, or is looked up by first, so asking twice does nothing twice.
 *
 * @param reference the call's own; the same one waits alike in every try to decide it
 * @param tries how often it has been sent, from 1
 */
export const retryDelayMs = (reference: string, tries: number): number => {
  const plainMs = Math.min(retryMsMin * 2 ** (tries - 1), retryMsMax);
  return jitteredMs(plainMs, reference, tries);
};

/** Up to a fifth longer, for the same try of the same call alike: for waits that a vendor has asked for, too, as it asks many for the same. */
export const jitteredMs = (plainMs: number, reference: string, tries: number): number => {
  const draw = createHash("sha256").update(`${reference}:${tries}`).digest().readUInt32BE() / 0xffff_ffff;
  return Math.round(plainMs * (1 + jitterMax * draw));
};
