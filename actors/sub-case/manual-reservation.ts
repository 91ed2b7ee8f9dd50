/** Owns a room that a person has booked past every vendor: what makes it whole, and the group's saga going on from it. */
import { createHash } from "node:crypto";
import type { HotelCandidate, SagaTerms, TermsAsked } from "../../schemas/assignment.ts";
import type { Command } from "../../schemas/command.ts";
import { isCurrency } from "../../schemas/currency.ts";
import { distanceKmBetween } from "../../schemas/distance.ts";
import type { HotelFacts } from "../../schemas/hotel.ts";
import { hotelId } from "../../schemas/hotel-identity.ts";
import { dateAfter } from "../../schemas/local-day.ts";
import { requireUnlocked } from "../../schemas/lock.ts";
import { needsOf } from "../../schemas/passenger.ts";
import { type FieldError, Problem } from "../../schemas/problems.ts";
import { byHandVendor, type ManualReservationBody } from "../../schemas/reservation.ts";
import { idOf, urn } from "../../schemas/urn.ts";
import { derivedId } from "../runtime/clock.ts";
import type { Received } from "../runtime/decider.ts";
import type { ActorContext } from "../runtime/host.ts";
import { groupLock } from "./lock.ts";
import { roomReference } from "./requests.ts";
import { runFrom, type Story } from "./saga.ts";
import type { Reservation, SubCaseState } from "./state.ts";

export const manualReservation = "sub-case.reserve-manually";

/** What is read for it: the hotel as the catalogue has it, and what the saga works by. */
export interface ManualFacts {
  /** Null: the catalogue doesn't know it, or none was named. */
  known: HotelFacts | null;
  terms: SagaTerms;
}

/** Without a room, and none under way: a room that is booked now is the group's only one. */
const isFree = ({ status }: SubCaseState): boolean => status === "PENDING" || status === "FAILED";

/** Undefined for a group that takes no room: its refusal needs none of this. */
export const gatherManualFacts = async (
  context: ActorContext,
  command: Received,
  state: SubCaseState | undefined,
): Promise<ManualFacts | undefined> => {
  if (command.name !== manualReservation || state === undefined || !isFree(state)) return undefined;
  const { hotelUrn, nights, currency } = command.data as ManualReservationBody;
  const asked: TermsAsked = {
    airport: state.airport,
    tier: state.tier,
    passengers: state.passengers.length,
    nights,
    needs: needsOf(state.passengers),
    currency,
    drill: state.kind !== undefined,
  };
  const [known, terms] = await Promise.all([
    hotelUrn === undefined
      ? null
      : context.call<HotelFacts | null>("vendor-adapter.hotel", { ...command, params: { hotelUrn } }),
    context.call<SagaTerms>("wave.terms", { ...command, params: { ...asked } }),
  ]);
  return { known, terms };
};

const wrong = (...errors: FieldError[]): Problem =>
  new Problem("validation/body", "Correct the fields named in `errors` and send the body again.", { errors });

/**
 * How the command finds its group: by the sub-case, else by case and group.
 * @throws Problem validation/body when it names neither
 */
export const namedBy = ({
  data,
}: Pick<Command, "data">): { entity: string } | { caseId: string; groupId: string } => {
  const { subCaseUrn, caseUrn, groupId } = data as ManualReservationBody;
  if (subCaseUrn !== undefined) return { entity: idOf(subCaseUrn) };
  if (caseUrn === undefined) throw wrong({ pointer: "/caseUrn", detail: "is required, or `subCaseUrn`" });
  if (groupId === undefined) throw wrong({ pointer: "/groupId", detail: "is required, or `subCaseUrn`" });
  return { caseId: idOf(caseUrn), groupId };
};

/**
 * The room counts as booked, and the saga goes on from the voucher. No vendor is ever asked about it.
 * @throws Problem conflict/state for a group that has a room or whose saga is under way, validation/body, and of its lock
 */
export const reserveManually = (story: Story, command: Received, gathered: unknown): void => {
  const { state, id, now } = story;
  const body = command.data as ManualReservationBody;
  requireUnlocked([groupLock(state)], command, now);
  if (!isFree(state) || gathered === undefined)
    throw new Problem(
      "conflict/state",
      state.reservation?.status === "CONFIRMED"
        ? "The group has a room. Cancel it before you book another one."
        : `The group is ${state.status}; a room is booked by hand for one that is PENDING or FAILED.`,
      { state: state.status },
    );
  mustFit(state, body);
  const { known, terms } = gathered as ManualFacts;
  const checkOut = dateAfter(body.checkIn, body.nights);
  const stay = { checkIn: body.checkIn, checkOut, nights: body.nights };
  const candidate = candidateOf(state, body, known, terms);
  // A later wave's choice is for a group that has lost this room after all.
  const waveId = state.assignment?.waveId ?? "";
  story.tell({
    type: "subcase.assigned",
    data: { assignment: { waveId, stay, candidates: [candidate], terms } },
  });
  story.tell({ type: "subcase.processing", data: { candidate: 0 } });
  const tenant = id.slice(0, id.indexOf("-"));
  const stepId = derivedId(tenant, `${id}/book/${story.state.steps.length}`, now);
  story.tell({ type: "subcase.step-started", data: { record: { stepId, name: "book", startedAt: now } } });
  const reference = roomReference(id, story.state);
  const reservationId = derivedId(tenant, reference, now);
  const reservation: Reservation = {
    reservationId,
    status: "CONFIRMED",
    hotelUrn: candidate.hotelUrn,
    vendor: byHandVendor,
    reference,
    rooms: body.rooms,
    bookingId: reservationId,
    confirmationNumber: body.confirmationNumber,
    totalMinor: body.totalMinor,
    currency: body.currency,
    byHand: {
      by: command.principal.urn,
      at: now,
      reason: body.reason,
      ...(body.hotel?.phone === undefined ? {} : { phone: body.hotel.phone }),
    },
  };
  story.tell({ type: "subcase.step-completed", data: { step: "book", at: now, gained: { reservation } } });
  runFrom(story, "voucher");
};

/** @throws Problem validation/body */
const mustFit = (state: SubCaseState, { caseUrn, groupId, currency }: ManualReservationBody): void => {
  const errors: FieldError[] = [
    ...(caseUrn === undefined || idOf(caseUrn) === state.caseId
      ? []
      : [{ pointer: "/caseUrn", detail: "is not the sub-case's case" }]),
    ...(groupId === undefined || groupId === state.groupId
      ? []
      : [{ pointer: "/groupId", detail: "is not the sub-case's group" }]),
    ...(isCurrency(currency)
      ? []
      : [{ pointer: "/currency", detail: `${currency} is not an ISO 4217 currency` }]),
  ];
  if (errors.length > 0) throw wrong(...errors);
};

/** What is said in the body counts before what the catalogue has. */
const candidateOf = (
  state: SubCaseState,
  { hotelUrn, hotel, rooms, nights, totalMinor, currency }: ManualReservationBody,
  known: HotelFacts | null,
  { airport }: SagaTerms,
): HotelCandidate => {
  const { phone: _phone, ...named } = hotel ?? {};
  const facts = { ...known, ...named };
  const { name, address, coordinates, stars, chain } = facts;
  if (name === undefined || address === undefined)
    throw wrong(
      hotelUrn === undefined
        ? { pointer: "/hotel", detail: "is required, or `hotelUrn`" }
        : { pointer: "/hotelUrn", detail: "is no hotel of the catalogue; describe it in `hotel`" },
    );
  const ownId = `${byHandVendor}-${createHash("sha256").update(`${name}\n${address}`).digest("hex").slice(0, 16)}`;
  return {
    hotelUrn: hotelUrn ?? urn("hotel", hotelId(ownId)),
    offer: {
      vendor: byHandVendor,
      providerOfferId: ownId,
      providerHotelId: ownId,
      name,
      address,
      ...(coordinates === undefined ? {} : { coordinates }),
      ...(stars === undefined ? {} : { stars }),
      ...(chain === undefined ? {} : { chain }),
      amenities: known?.amenities ?? [],
      acceptedPayments: ["GUARANTEE"],
      nightlyRateMinor: Math.floor(totalMinor / (rooms * nights)),
      currency,
      roomsLeft: rooms,
      maxOccupancy: Math.ceil(state.passengers.length / rooms),
      accessibleRooms: 0,
    },
    rooms,
    ...(coordinates === undefined
      ? {}
      : { distanceKm: Math.round(10 * distanceKmBetween(airport.coordinates, coordinates)) / 10 }),
    payment: "GUARANTEE",
  };
};
