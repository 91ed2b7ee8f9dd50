/** Owns the airline's own contracts as a hotel vendor: the port's words for what the contract actor decides. */
import { type Command, type Query, systemPrincipal } from "../../../schemas/command.ts";
import {
  type BookRooms,
  type CancelRooms,
  type ContractLedgerPage,
  contractRefusals,
  type HoldRooms,
  type RoomsTaken,
} from "../../../schemas/contract.ts";
import type { HotelOffer, HotelSearch } from "../../../schemas/hotel.ts";
import { pageLimitMax } from "../../../schemas/page.ts";
import { Problem } from "../../../schemas/problems.ts";
import { urn } from "../../../schemas/urn.ts";
import { causedId } from "../../runtime/clock.ts";
import type { ActorContext } from "../../runtime/host.ts";
import { systemCommand } from "../../runtime/send.ts";
import {
  accessibleRoomsOf,
  type Booking,
  type BookingCancellation,
  type BookRequest,
  type CallContext,
  type Hold,
  type HoldRequest,
  type HotelPort,
  type HotelState,
  type LedgerPage,
  type LedgerRequest,
  type LookupOutcome,
  type ReadOutcome,
  type RefusalCode,
  type Refused,
  type WriteOutcome,
} from "../ports.ts";

type Way = Pick<ActorContext, "call" | "clock">;
type Verb = "hold" | "book" | "cancel";

/** One airline's. The contract actor is the vendor: whatever it has under a reference is what was done. */
export class Direct implements HotelPort {
  readonly #tenant: string;
  readonly #way: Way;

  constructor(tenant: string, way: Way) {
    this.#tenant = tenant;
    this.#way = way;
  }

  async search(search: HotelSearch, context: CallContext): Promise<ReadOutcome<{ offers: HotelOffer[] }>> {
    const found = await this.#read<HotelOffer[]>("offers", { search }, context);
    return found.outcome === "done" ? { outcome: "done", offers: found.view } : found;
  }

  async hold(request: HoldRequest, context: CallContext): Promise<WriteOutcome<Hold>> {
    const { reference, offer, rooms, checkIn, checkOut } = request;
    const { nightlyRateMinor, currency } = offer;
    const accessible = accessibleRoomsOf(request);
    const data: HoldRooms = { reference, rooms, accessible, checkIn, checkOut, nightlyRateMinor, currency };
    const end = await this.#write("hold", offer.providerOfferId, data, context);
    return end.outcome === "done" ? { outcome: "done", ...holdOf(end.taken) } : end;
  }

  async book(request: BookRequest, context: CallContext): Promise<WriteOutcome<Booking>> {
    const { reference, holdId, payment } = request;
    const data: BookRooms = { reference, holdId, payment: payment.method };
    const end = await this.#write("book", contractIdOf(holdId), data, context);
    return end.outcome === "done" ? { outcome: "done", ...bookingOf(end.taken) } : end;
  }

  /** Nights of a block are taken one by one and may be gone or closed: other dates are another booking. */
  async modify(): Promise<WriteOutcome<Booking>> {
    return {
      outcome: "refused",
      code: "REFUSED",
      detail: "A contract's rooms are booked anew for other dates.",
    };
  }

  async cancel(
    { reference, bookingId }: { reference: string; bookingId: string },
    context: CallContext,
  ): Promise<WriteOutcome<BookingCancellation>> {
    const data: CancelRooms = { reference, bookingId };
    const end = await this.#write("cancel", contractIdOf(bookingId), data, context);
    return end.outcome === "done" ? { outcome: "done", ...cancellationOf(end.taken) } : end;
  }

  async lookup(
    { reference }: { reference: string },
    context: CallContext,
  ): Promise<LookupOutcome<HotelState>> {
    const found = await this.#read<RoomsTaken | null>("lookup", { reference }, context);
    if (found.outcome !== "done") return found;
    return found.view === null ? { outcome: "none" } : { outcome: "done", ...stateOf(found.view) };
  }

  async reconcile(request: LedgerRequest, context: CallContext): Promise<ReadOutcome<LedgerPage>> {
    const found = await this.#read<ContractLedgerPage>(
      "ledger",
      { ...request, limit: pageLimitMax },
      context,
    );
    if (found.outcome !== "done") return found;
    const { entries, ...more } = found.view;
    return {
      outcome: "done",
      entries: entries.map(({ bookingId: id, ...entry }) => ({ kind: "booking", id, ...entry })),
      ...more,
    };
  }

  /** The contract actor logs what went wrong in it; a read that failed has taught nothing. */
  async #read<View>(
    name: string,
    params: Record<string, unknown>,
    context: CallContext,
  ): Promise<ReadOutcome<{ view: View }>> {
    const following = this.#following(context);
    const query: Query = { ...following, principal: systemPrincipal(this.#tenant, "vendor-adapter"), params };
    try {
      const view = await unlessAborted(this.#way.call<View>(`contract.${name}`, query), context.signal);
      return { outcome: "done", view };
    } catch (error) {
      if (error instanceof Problem && error.retry !== "later") return refusedBy(error);
      return { outcome: "unavailable", detail: "No answer from the contracts." };
    }
  }

  /**
   * Out of reach may mean that only the answer was lost. What is no problem is a bug: thrown, so that the command comes
   * again and is looked up.
   */
  async #write(
    verb: Verb,
    contractId: string,
    data: HoldRooms | BookRooms | CancelRooms,
    context: CallContext,
  ): Promise<WriteOutcome<{ taken: RoomsTaken }>> {
    const command = this.#command(verb, contractId, data, context);
    try {
      const taken = await unlessAborted(this.#way.call<RoomsTaken>(command.name, command), context.signal);
      return { outcome: "done", taken };
    } catch (error) {
      if (context.signal?.aborted === true || (error instanceof Problem && error.retry === "later"))
        return { outcome: "in-doubt", detail: "No answer from the contracts." };
      if (!(error instanceof Problem)) throw error;
      if (error.code === "conflict/concurrent-write")
        return { outcome: "unavailable", detail: error.message };
      return refusedBy(error);
    }
  }

  /** The port carries no correlation URN of the case: the trace stands for it. */
  #following({ traceparent }: CallContext): Pick<Command, "tenant" | "correlationUrn" | "traceparent"> {
    const correlationUrn = urn("correlation", traceparent.split("-")[1] ?? "none");
    return { tenant: this.#tenant, correlationUrn, traceparent };
  }

  /** Each asking is a command of its own: what stands under the reference decides, not an earlier answer to it. */
  #command(verb: Verb, contractId: string, data: { reference: string }, context: CallContext): Command {
    const now = this.#way.clock.now();
    return systemCommand("vendor-adapter", this.#following(context), {
      id: causedId(data.reference, "direct", verb, now.toISOString()),
      name: `contract.${verb}`,
      entity: contractId,
      data,
      now,
    });
  }
}

/** Holds and bookings carry their contract's id in front. */
const contractIdOf = (id: string): string => id.split(".", 1)[0] as string;

const isRefusal = (state: string | undefined): state is RefusalCode =>
  (contractRefusals as readonly (string | undefined)[]).includes(state);

const refusedBy = ({ code, message, members }: Problem): Refused => {
  if (code === "not-found/resource") return { outcome: "refused", code: "NOT_FOUND", detail: message };
  return { outcome: "refused", code: isRefusal(members.state) ? members.state : "REFUSED", detail: message };
};

const holdOf = ({ holdId, expiresAt, total }: RoomsTaken): Hold => ({ holdId, expiresAt, total });

/** @throws Error for rooms that are only held: the contract actor answers a booking with a booking */
const bookingOf = (taken: RoomsTaken): Booking => {
  if (taken.state === "HELD" || taken.state === "EXPIRED") throw new Error("rooms that were never booked");
  return { bookingId: taken.bookingId, confirmationNumber: taken.confirmationNumber, total: taken.total };
};

/** @throws Error for a booking that stands */
const cancellationOf = (taken: RoomsTaken): BookingCancellation => {
  if (taken.state !== "CANCELLED") throw new Error(`cancelled, and yet ${taken.state}`);
  return { cancelledAt: taken.cancelledAt, fee: taken.fee };
};

const stateOf = (taken: RoomsTaken): HotelState => {
  switch (taken.state) {
    case "HELD":
    case "EXPIRED":
      return { state: taken.state, ...holdOf(taken) };
    case "BOOKED":
      return { state: "BOOKED", ...bookingOf(taken) };
    case "CANCELLED":
      return { state: "CANCELLED", ...bookingOf(taken), ...cancellationOf(taken) };
    default:
      return taken satisfies never;
  }
};

/** A call through the broker can't be called back; past the signal its answer is not waited for. */
const unlessAborted = async <View>(answer: Promise<View>, signal: AbortSignal | undefined): Promise<View> => {
  if (signal === undefined) return answer;
  const aborted = Promise.withResolvers<never>();
  const abort = (): void => aborted.reject(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  try {
    if (signal.aborted) abort();
    return await Promise.race([answer, aborted.promise]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
};
