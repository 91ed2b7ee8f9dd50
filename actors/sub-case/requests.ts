/** Owns what each step of a saga asks of which vendor, in the words of the vendors' ports. */
import type { HotelCandidate } from "../../schemas/assignment.ts";
import { untellable } from "../../schemas/message.ts";
import type { NotificationTemplate } from "../../schemas/notification.ts";
import { needsOf, type Passenger } from "../../schemas/passenger.ts";
import type { VendorVerb } from "../../schemas/vendor-call.ts";
import { type Assigned, isUnmet } from "./amend-state.ts";
import { noticeOrder } from "./notices.ts";
import { rideOrderOf } from "./ride.ts";
import type { LeaveStep, Step, SubCaseState } from "./state.ts";

export interface VendorRequest {
  verb: VendorVerb;
  vendor: string;
  reference: string;
  request: Record<string, unknown>;
}

export const currentCandidate = (state: SubCaseState): HotelCandidate | undefined =>
  state.assignment?.candidates[state.candidate];

/** One attempt at one hotel has one reference for its hold, booking and cancellation. References begin with the group's id. */
export const roomReference = (subCaseId: string, state: SubCaseState): string =>
  `${subCaseId}.room.${state.round}.${state.candidate + 1}`;

const nameOf = ({ firstName, lastName }: Passenger) => ({
  givenName: firstName ?? "Guest",
  familyName: lastName ?? "Guest",
});

const standingRoom: ReadonlySet<string> = new Set(["CONFIRMED", "CHECKED_IN", "CHECKED_OUT", "NO_SHOW"]);

/** Undefined: there is nothing to ask for, the step is left out. */
export const requestOf = (
  subCaseId: string,
  state: SubCaseState,
  step: Step,
  now: Date,
): VendorRequest | undefined => {
  const { assignment, reservation, payment, card, ride } = state;
  const candidate = currentCandidate(state);
  if (assignment === undefined) return undefined;
  switch (step) {
    case "hold":
      return candidate && holdRequest(subCaseId, state, candidate);
    case "pay":
      return candidate?.payment === "CARD" ? paymentRequest(subCaseId, state) : undefined;
    case "book":
      return reservation && bookRequest(state);
    case "card":
      return cardRequest(subCaseId, state);
    case "transport":
      return rideRequest(subCaseId, state);
    case "notify":
      return noticeRequest(
        state,
        `${subCaseId}.offer-notice.${state.round}`,
        state.left?.offer.readyAt === undefined ? "offer-ready" : "hotel-changed",
      );
    case "notify-stay":
      return state.untold === undefined
        ? undefined
        : noticeRequest(state, `${subCaseId}.stay-notice.${state.untold}`, "stay-changed");
    case "modify":
      return modifyRequest(state);
    case "load-payment":
      return loadRequest(state, state.payment, reservation?.totalMinor);
    case "load-card":
      return loadRequest(state, card, incidentalsOf(assignment));
    case "cancel-room":
      // One made by hand is a person's to cancel.
      return reservation?.bookingId === undefined ||
        reservation.status !== "CONFIRMED" ||
        reservation.byHand !== undefined
        ? undefined
        : {
            verb: "cancel",
            vendor: reservation.vendor,
            reference: reservation.reference,
            request: { bookingId: reservation.bookingId },
          };
    case "cancel-payment":
      // A room that stands is paid with it.
      return payment?.status !== "ACTIVE" || standingRoom.has(reservation?.status ?? "")
        ? undefined
        : {
            verb: "cancel-card",
            vendor: payment.vendor,
            reference: payment.reference,
            request: { cardId: payment.cardId },
          };
    case "cancel-card":
      return card?.status !== "ACTIVE"
        ? undefined
        : {
            verb: "cancel-card",
            vendor: card.vendor,
            reference: card.reference,
            request: { cardId: card.cardId },
          };
    case "cancel-transport":
      return ride === undefined || ride.status === "cancelled"
        ? undefined
        : {
            verb: "cancel-ride",
            vendor: ride.vendor,
            reference: ride.reference,
            request: { rideId: ride.rideId },
          };
    case "leave-ride":
    case "leave-room":
    case "leave-payment":
      return leaveRequest(subCaseId, state, step, now);
    default:
      return undefined;
  }
};

const givesBack = {
  "leave-ride": "cancel-transport",
  "leave-room": "cancel-room",
  "leave-payment": "cancel-payment",
} as const satisfies Record<LeaveStep, Step>;

/** The same as in a rollback, of what is left behind. */
const leaveRequest = (
  subCaseId: string,
  { left, ...state }: SubCaseState,
  step: LeaveStep,
  now: Date,
): VendorRequest | undefined => {
  if (left === undefined) return undefined;
  const { reservation: _r, payment: _p, ride: _i, ...rest } = state;
  return requestOf(subCaseId, { ...rest, ...left }, givesBack[step], now);
};

const holdRequest = (subCaseId: string, state: SubCaseState, candidate: HotelCandidate): VendorRequest => ({
  verb: "hold",
  vendor: candidate.offer.vendor,
  reference: roomReference(subCaseId, state),
  request: {
    offer: candidate.offer,
    rooms: candidate.rooms,
    checkIn: state.assignment?.stay.checkIn,
    checkOut: state.assignment?.stay.checkOut,
    needs: needsOf(state.passengers),
    ...(candidate.nightlyMax === undefined ? {} : { nightlyMax: candidate.nightlyMax }),
    ...guestsOf(state.passengers),
  },
});

/** The first one's name is the booking's. */
const guestsOf = ([lead, ...others]: readonly Passenger[]) =>
  lead === undefined ? {} : { leadGuest: nameOf(lead), guests: others.map(nameOf) };

const bookRequest = (state: SubCaseState): VendorRequest | undefined => {
  const { reservation, passengers } = state;
  const payment = currentCandidate(state)?.payment === "CARD" ? state.payment : undefined;
  const [lead, ...others] = passengers;
  if (reservation?.holdId === undefined || lead === undefined) return undefined;
  return {
    verb: "book",
    vendor: reservation.vendor,
    reference: reservation.reference,
    request: {
      holdId: reservation.holdId,
      leadGuest: nameOf(lead),
      guests: others.map(nameOf),
      payment: payment === undefined ? { method: "GUARANTEE" } : { method: "CARD", cardId: payment.cardId },
    },
  };
};

/** Each change of dates is a work of its own at the vendor; the booking is found by its own reference. */
const modifyRequest = (state: SubCaseState): VendorRequest | undefined => {
  const { reservation, wanted, shape = 0 } = state;
  if (!isUnmet(state)) return undefined;
  if (reservation?.bookingId === undefined || wanted === undefined || reservation.byHand !== undefined)
    return undefined;
  if (reservation.status !== "CONFIRMED" && reservation.status !== "CHECKED_IN") return undefined;
  const { bookingId, vendor, reference } = reservation;
  const { checkIn, checkOut } = wanted;
  const { nightlyMax } = currentCandidate(state) ?? {};
  return {
    verb: "modify",
    vendor,
    reference: `${reference}.stay.${shape}`,
    request: {
      ...{ bookedUnder: reference, bookingId, checkIn, checkOut },
      ...(nightlyMax === undefined ? {} : { nightlyMax }),
    },
  };
};

/** So much a night, for the nights that the room is had for: minor units in the terms' currency. */
const incidentalsOf = ({ stay, terms, termsNights = stay.nights }: Assigned): number =>
  Math.round((terms.incidentalsMinor / termsNights) * stay.nights);

/** What is missing to the amount that a longer stay takes; a card is never emptied for a shorter one. */
const loadRequest = (
  { shape = 0, loadRefused, reservation, assignment }: SubCaseState,
  card: SubCaseState["payment"] | SubCaseState["card"],
  wantedMinor = 0,
): VendorRequest | undefined => {
  if (card?.status !== "ACTIVE" || loadRefused === shape || wantedMinor <= (card.loadedMinor ?? 0))
    return undefined;
  const { cardId, vendor, reference } = card;
  const currency = "currency" in card ? card.currency : (reservation?.currency ?? assignment?.terms.currency);
  return {
    verb: "load-card",
    vendor,
    reference: `${reference}.load.${shape}`,
    request: { issuedUnder: reference, cardId, loaded: { amountMinor: wantedMinor, currency } },
  };
};

/** Exactly what the held rooms cost: a card for one stay is worth nothing elsewhere. */
const paymentRequest = (subCaseId: string, state: SubCaseState): VendorRequest | undefined => {
  const { assignment, reservation, round, candidate, flight } = state;
  if (assignment?.terms.vendors.payment === undefined) return undefined;
  return {
    verb: "issue-card",
    vendor: assignment.terms.vendors.payment,
    reference: `${subCaseId}.payment.${round}.${candidate + 1}`,
    request: {
      balance: {
        amountMinor: reservation?.totalMinor ?? 0,
        currency: reservation?.currency ?? assignment.terms.currency,
      },
      label: `${assignment.terms.airlineName} ${flight.number} hotel`.slice(0, 100),
    },
  };
};

const cardRequest = (subCaseId: string, state: SubCaseState): VendorRequest | undefined => {
  if (state.assignment === undefined) return undefined;
  const { terms } = state.assignment;
  const amountMinor = incidentalsOf(state.assignment);
  if (terms.vendors.payment === undefined || amountMinor === 0) return undefined;
  // Who changes hotels keeps the card.
  if (state.left !== undefined && state.card?.status === "ACTIVE") return undefined;
  return {
    verb: "issue-card",
    vendor: terms.vendors.payment,
    reference: `${subCaseId}.card.${state.round}`,
    request: {
      balance: { amountMinor, currency: terms.currency },
      label: `${terms.airlineName} ${state.flight.number}`.slice(0, 100),
    },
  };
};

/** Both ways, with one reference: the transport actor answers for the way to the hotel. */
const rideRequest = (subCaseId: string, state: SubCaseState): VendorRequest | undefined => {
  const order = rideOrderOf(state);
  if (order === undefined) return undefined;
  const reference = `${subCaseId}.ride.${state.round}`;
  return { verb: "book-ride", vendor: order.vendor, reference, request: { ...order } };
};

/**
 * Whom it goes to, and by whom, is the message actor's; a group with neither number nor address finds its offer by PNR. Of a room that
 * the hotel has taken back nothing is told.
 */
const noticeRequest = (
  state: SubCaseState,
  reference: string,
  template: NotificationTemplate,
): VendorRequest | undefined => {
  const { message, email } = state.assignment?.terms.vendors ?? {};
  const vendor = message ?? email;
  const isReached = state.passengers.some(
    ({ contact }) => contact.email !== undefined || (message !== undefined && contact.phone !== undefined),
  );
  const order = noticeOrder(state, template);
  if (vendor === undefined || !isReached || untellable(template, order.facts) !== undefined) return undefined;
  return { verb: "send", vendor, reference, request: { ...order } };
};
