/** Owns one call for another actor: a doubtful one is looked up first, then the port is asked, and the outcome put into an answer. */
import type { VendorAnswer, VendorCall, VendorVerb } from "../../schemas/vendor-call.ts";
import type { Money } from "../../schemas/vocabulary.ts";
import type { Instance } from "./dialects.ts";
import {
  bookedStates,
  type CallContext,
  type Hold,
  type HoldRequest,
  type LookupOutcome,
  type Refused,
  type Unavailable,
  type WriteOutcome,
} from "./ports.ts";
import { refusedForPrice } from "./price-recheck.ts";

type Outcome = Omit<VendorAnswer, "verb" | "vendor" | "reference">;
type Fields = Record<string, unknown>;

/** How one verb is asked, and which state of a look-up means that it was done. */
interface Operation {
  ask(request: never, context: CallContext): Promise<WriteOutcome<object>>;
  lookup(request: Fields & { reference: string }, context: CallContext): Promise<LookupOutcome<object>>;
  /** Undefined: a look-up finds nothing else than the thing itself. */
  doneStates?: readonly string[];
  /** What it is looked up by, and whether it is as the request wants it; undefined: by its own reference, and by its state alone. */
  changes?: { reference(request: Fields): string; isDone(found: Fields, request: Fields): boolean };
}

/** A change is found in what it has changed. */
const modification: NonNullable<Operation["changes"]> = {
  reference: ({ bookedUnder }) => String(bookedUnder),
  isDone: ({ stay }, { checkIn, checkOut }) => {
    const dates = stay as { checkIn: string; checkOut: string } | undefined;
    return dates?.checkIn === checkIn && dates?.checkOut === checkOut;
  },
};

/** Undefined: this kind of vendor doesn't take the verb. */
const operationOf = (instance: Instance, verb: VendorVerb): Operation | undefined => {
  // It is listened to, and called for nothing.
  if (instance.kind === "flight") return undefined;
  const { kind, port } = instance;
  const operation = (ask: unknown, doneStates?: readonly string[]): Operation => ({
    ask: (ask as Operation["ask"]).bind(port),
    lookup: (port.lookup as Operation["lookup"]).bind(port),
    ...(doneStates === undefined ? {} : { doneStates }),
  });
  switch (kind) {
    case "hotel":
      if (verb === "hold") return operation(port.hold, ["HELD"]);
      if (verb === "book") return operation(port.book, bookedStates);
      if (verb === "modify")
        return { ...operation(port.modify, ["BOOKED", "CHECKED_IN"]), changes: modification };
      return verb === "cancel" ? operation(port.cancel, ["CANCELLED"]) : undefined;
    case "payment":
      if (verb === "issue-card") return operation(port.issueCard, ["ACTIVE"]);
      if (verb === "load-card") return { ...operation(port.loadCard, ["ACTIVE"]), changes: loading };
      return verb === "cancel-card" ? operation(port.cancelCard, ["CANCELLED"]) : undefined;
    case "transport":
      if (verb === "book-ride") return operation(port.book, ["BOOKED"]);
      return verb === "cancel-ride" ? operation(port.cancel, ["CANCELLED"]) : undefined;
    case "message":
      return verb === "send" ? operation(port.send) : undefined;
    default:
      return instance satisfies never;
  }
};

const loading: NonNullable<Operation["changes"]> = {
  reference: ({ issuedUnder }) => String(issuedUnder),
  isDone: ({ loaded }, { loaded: wanted }) =>
    (loaded as Money | undefined)?.amountMinor === (wanted as Money).amountMinor,
};

interface Carrying extends CallContext {
  /** Which delivery of the command this is, from 1. */
  attempt: number;
  /** Absent: no call comes too late. */
  now?: Date;
}

/**
 * Carries a call out. Asking again under the same reference is safe (it is the vendor's idempotency key); the look-up
 * comes first all the same, because a vendor forgets keys sooner than bookings.
 *
 * A command that was delivered before is only looked up, never asked again: its sender may have had the first answer and
 * gone on to another hotel. One that still waits hears of the doubt and asks by a command of its own. One that comes later than it
 * should is not asked either.
 */
export const carryOut = async (
  instance: Instance,
  verb: VendorVerb,
  call: VendorCall,
  { attempt, now, ...carrying }: Carrying,
): Promise<VendorAnswer> => {
  const { reference, tries, again } = call;
  const asked = again === undefined ? {} : { again };
  const notAfter = call.notAfter === undefined ? undefined : new Date(call.notAfter);
  const firstAskedAt = call.firstAskedAt === undefined ? undefined : new Date(call.firstAskedAt);
  const context: CallContext = {
    ...carrying,
    ...asked,
    ...(notAfter === undefined ? {} : { notAfter }),
    ...(call.doubt && { doubt: true as const }),
    ...(firstAskedAt === undefined ? {} : { firstAskedAt }),
  };
  const answer = { verb, vendor: instance.name, reference, tries, ...asked };
  const operation = operationOf(instance, verb);
  if (operation === undefined) {
    return {
      ...answer,
      outcome: "refused",
      code: "INVALID_REQUEST",
      detail: `${instance.name} takes no ${verb}.`,
    };
  }
  const redelivered = attempt > 1;
  const found = call.doubt || redelivered ? await lookedUp(operation, call, context) : undefined;
  if (found !== undefined) return { ...answer, ...(await atItsPrice(instance, verb, call, found, context)) };
  if (redelivered)
    return { ...answer, outcome: "in-doubt", detail: "Delivered before; nothing is there yet." };
  if (call.doubt && isSettling(instance, verb, firstAskedAt, now))
    return { ...answer, outcome: "in-doubt", detail: "Nothing is there yet; the vendor may still be at it." };
  if (notAfter !== undefined && now !== undefined && now > notAfter)
    return { ...answer, outcome: call.doubt ? "in-doubt" : "unavailable", detail: "Its turn came too late." };
  const request = { ...call.request, reference: call.reference };
  const outcome = outcomeOf(await operation.ask(request as never, context));
  return { ...answer, ...(await atItsPrice(instance, verb, call, outcome, context)) };
};

/** So soon after the first try "nothing there" teaches nothing: asked again now, a slow vendor would do it twice. */
const isSettling = (
  instance: Instance,
  verb: VendorVerb,
  firstAskedAt: Date | undefined,
  now: Date | undefined,
): boolean => {
  if (instance.kind !== "hotel" || (verb !== "hold" && verb !== "book")) return false;
  const settlesMs = instance.port.settlesMs?.[verb];
  if (settlesMs === undefined || firstAskedAt === undefined || now === undefined) return false;
  return now.getTime() - firstAskedAt.getTime() < settlesMs;
};

/** Rooms that have become dearer than the policy allows are not kept. */
const atItsPrice = async (
  instance: Instance,
  verb: VendorVerb,
  { request, reference }: VendorCall,
  outcome: Outcome,
  context: CallContext,
): Promise<Outcome> => {
  if (instance.kind !== "hotel" || verb !== "hold" || outcome.outcome !== "done") return outcome;
  const held = { ...request, reference } as unknown as HoldRequest;
  const hold = outcome.result as unknown as Hold;
  const refusal = await refusedForPrice(instance.port, held, hold, context);
  return refusal === undefined ? outcome : outcomeOf(refusal);
};

/** Undefined: surely not done, ask now. */
const lookedUp = async (
  operation: Operation,
  call: VendorCall,
  context: CallContext,
): Promise<Outcome | undefined> => {
  const { changes } = operation;
  const reference = changes?.reference(call.request) ?? call.reference;
  const found = await operation.lookup({ ...call.request, reference }, context);
  if (found.outcome === "none") return undefined;
  if (found.outcome !== "done") return { outcome: "in-doubt", detail: found.detail, ...patienceOf(found) };
  const { outcome: _, state, ...result } = found as Fields;
  const stands = operation.doneStates === undefined || operation.doneStates.includes(String(state));
  return stands && (changes?.isDone(result, call.request) ?? true) ? { outcome: "done", result } : undefined;
};

/** What the vendor asked us to wait. */
const patienceOf = (outcome: Refused | Unavailable): Pick<Outcome, "retryAfterMs"> =>
  outcome.outcome === "refused" || outcome.retryAfterMs === undefined
    ? {}
    : { retryAfterMs: outcome.retryAfterMs };

const outcomeOf = (outcome: WriteOutcome<object>): Outcome => {
  switch (outcome.outcome) {
    case "done": {
      const { outcome: _, ...result } = outcome as Fields;
      return { outcome: "done", result };
    }
    case "refused":
      return { outcome: "refused", code: outcome.code, detail: outcome.detail };
    case "unavailable":
      return { outcome: "unavailable", detail: outcome.detail, ...patienceOf(outcome) };
    case "in-doubt":
      return { outcome: "in-doubt", detail: outcome.detail };
    default:
      return outcome satisfies never;
  }
};
