/** Owns a contract's decisions: its terms, and which rooms of its block are held, booked and given back. */
import { isDeepStrictEqual } from "node:util";
import type {
  BookRooms,
  CancelRooms,
  ContractBody,
  ContractRefusal,
  HoldRooms,
} from "../../schemas/contract.ts";
import { Problem } from "../../schemas/problems.ts";
import { idOf } from "../../schemas/urn.ts";
import { derivedId } from "../runtime/clock.ts";
import type { Received } from "../runtime/decider.ts";
import { requireAirport } from "../runtime/reach.ts";
import { isExpired, leftFor, nightlyRateOf, nightsOf, priceOf } from "./rooms.ts";
import type { ContractEvent, ContractState, TakenRooms } from "./state.ts";
import { termsOf } from "./terms.ts";

const holdMs = 10 * 60_000;
/** Longer than any disruption lasts. */
const nightsMax = 60;

/** @throws Problem conflict/state with a {@link ContractRefusal} for rooms; validation/body, auth/foreign-airport for terms */
export const decide = (state: ContractState | undefined, command: Received): ContractEvent[] => {
  switch (command.name) {
    case "contract.put":
      return put(state, command);
    case "contract.hold":
      return hold(existing(state), command);
    case "contract.book":
      return book(existing(state), command);
    case "contract.cancel":
      return cancel(existing(state), command);
    default:
      throw new Error(`contract takes no ${command.name}`);
  }
};

const existing = (state: ContractState | undefined): ContractState => {
  if (state === undefined) throw new Problem("not-found/resource", "No such contract.");
  return state;
};

/**
 * Terms are replaced as a whole. What was taken stays taken, whatever the block and the rates are now. A creation that
 * finds a contract is one that has come again, and changes nothing.
 */
const put = (state: ContractState | undefined, command: Received): ContractEvent[] => {
  const isCreation = command.entity === "";
  if (!isCreation) existing(state);
  if (isCreation && state !== undefined) return [];
  const terms = termsOf(command.data as ContractBody);
  requireAirport(command.principal, terms.airport);
  if (state !== undefined) requireAirport(command.principal, state.terms.airport);
  const { analysisUrn } = command.data as ContractBody;
  const read = analysisUrn === undefined ? {} : { analysisId: idOf(analysisUrn) };
  const isConfirmed = read.analysisId === undefined || state?.provenance?.analysisId === read.analysisId;
  if (state !== undefined && isConfirmed && isDeepStrictEqual(state.terms, terms)) return [];
  const { now: at, principal, id: creation } = command;
  return [{ type: "contract.put", data: { terms, at, by: principal.urn, creation, ...read } }];
};

/** The same request again gets the hold that it got, expired or not: booking looks at the rooms once more. */
const hold = (state: ContractState, command: Received): ContractEvent[] => {
  const { reference, rooms, accessible, checkIn, checkOut, ...offered } = command.data as HoldRooms;
  const before = state.taken.find((entry) => entry.reference === reference);
  if (before !== undefined) {
    const isSame =
      before.rooms === rooms &&
      before.accessible === accessible &&
      before.checkIn === checkIn &&
      before.checkOut === checkOut;
    if (isSame) return [];
    throw refusal("REFERENCE_REUSED", "This reference has other rooms already.");
  }
  const nights = nightsOf(checkIn, checkOut);
  if (rooms < 1 || accessible > rooms || nights.length < 1 || nights.length > nightsMax)
    throw refusal("INVALID_REQUEST", `A hold is of rooms, for 1 to ${nightsMax} nights.`);
  const price = priceOf(state.terms, nights);
  if (price === undefined) throw refusal("SOLD_OUT", "The contract doesn't reach over these nights.");
  const { currency } = state.terms;
  if (currency !== offered.currency || nightlyRateOf(price, nights) > offered.nightlyRateMinor)
    throw refusal("REFUSED", "The contract's rate has changed since it was offered.");
  const left = leftFor(state, nights, command.now);
  if (left.rooms < rooms || left.accessible < accessible)
    throw refusal("SOLD_OUT", `${left.rooms} rooms are left, ${left.accessible} of them accessible.`);
  const held: TakenRooms = {
    state: "HELD",
    reference,
    rooms,
    accessible,
    checkIn,
    checkOut,
    total: { amountMinor: price * rooms, currency },
    holdId: holdIdOf(command, reference),
    expiresAt: new Date(command.now.getTime() + holdMs),
    changedAt: command.now,
  };
  return [{ type: "contract.rooms-held", data: held }];
};

const book = (state: ContractState, command: Received): ContractEvent[] => {
  const { reference, holdId, payment } = command.data as BookRooms;
  const entry = state.taken.find((one) => one.reference === reference);
  if (entry === undefined && holdId === holdIdOf(command, reference))
    throw refusal("HOLD_EXPIRED", "The hold expired long ago.");
  if (entry === undefined || entry.holdId !== holdId)
    throw new Problem("not-found/resource", "No such hold.");
  if (entry.state === "BOOKED") return [];
  if (entry.state === "CANCELLED") throw refusal("HOLD_EXPIRED", "Its booking was cancelled.");
  if (!state.terms.acceptedPayments.includes(payment))
    throw refusal("PAYMENT_DECLINED", `The hotel does not take ${payment}.`);
  if (isExpired(entry, command.now) && !isFree(state, entry, command.now))
    throw refusal("HOLD_EXPIRED", "The hold has expired, and its rooms are taken.");
  const bookingId = idUnder(command, `booking ${reference}`);
  const confirmationNumber = bookingId.slice(-8);
  const at = command.now;
  return [{ type: "contract.rooms-booked", data: { reference, bookingId, confirmationNumber, at } }];
};

/** An expired or lapsed hold counts for nothing itself, so what is left is left for it too. */
const isFree = (state: ContractState, entry: TakenRooms, now: Date): boolean => {
  const left = leftFor(state, nightsOf(entry.checkIn, entry.checkOut), now);
  return left.rooms >= entry.rooms && left.accessible >= entry.accessible;
};

const cancel = (state: ContractState, command: Received): ContractEvent[] => {
  const { reference, bookingId } = command.data as CancelRooms;
  const entry = state.taken.find((one) => one.reference === reference);
  if (entry === undefined || entry.state === "HELD" || entry.bookingId !== bookingId)
    throw new Problem("not-found/resource", "No such booking.");
  if (entry.state === "CANCELLED") return [];
  return [{ type: "contract.rooms-released", data: { reference, at: command.now } }];
};

const refusal = (state: ContractRefusal, detail: string): Problem =>
  new Problem("conflict/state", detail, { state });

/** The same whenever it is asked for: it tells a hold that was forgotten from one that never was. */
const holdIdOf = (command: Received, reference: string): string => idUnder(command, `hold ${reference}`);

/** `<contract id>.<16 characters>`: whoever has a hold or a booking can say whose it is. */
const idUnder = (command: Received, seed: string): string =>
  `${command.entity}.${derivedId(command.tenant, `${command.entity} ${seed}`, command.now).slice(-16)}`;
