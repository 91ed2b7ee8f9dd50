/** Owns what each audience may see of a sub-case. */
import type { CaseView, CompensationStarted, ManifestItem, ReservationView } from "../../schemas/case.ts";
import { type MeView, type OfferView, stayStatuses } from "../../schemas/passenger-api.ts";
import type { ReservationDetail } from "../../schemas/reservation.ts";
import { urn } from "../../schemas/urn.ts";
import type { Language } from "../../schemas/vocabulary.ts";
import { lockFacts } from "./lock.ts";
import { currentCandidate } from "./requests.ts";
import { cancellingNow, termsShown } from "./room-terms.ts";
import type { SubCaseState } from "./state.ts";
import { shown } from "./switch-state.ts";

/** A sub-case as the manifest lists it. */
export const manifestItem = (state: SubCaseState, version: number, now: Date): ManifestItem => ({
  subCaseUrn: urn("sub-case", state.subCaseId),
  groupId: state.groupId,
  tier: state.tier,
  status: state.status,
  offerState: state.offer.state,
  ...lockFacts(state, now),
  version,
  passengers: state.passengers,
  ...(state.mergedInto === undefined ? {} : { mergedInto: state.mergedInto.groupId }),
});

/** The answer to a compensation: the saga runs on its own. */
export const compensationView = (
  state: SubCaseState,
  version: number,
  correlationUrn: string,
): CompensationStarted => ({
  subCaseUrn: urn("sub-case", state.subCaseId),
  status: state.status,
  correlationUrn,
  version,
});

/** How far a group is, in the contract's words: who has no night to bridge is a LOCAL_RESIDENT. */
export const statusShown = ({
  status,
  mergedInto,
}: Pick<SubCaseState, "status" | "mergedInto">): CaseView["passengerGroups"][number]["operationalStatus"] =>
  status === "NOT_REQUIRED" && mergedInto === undefined ? "LOCAL_RESIDENT" : status;

export const groupView = (state: SubCaseState, now: Date): CaseView["passengerGroups"][number] => ({
  groupId: state.groupId,
  subCaseUrn: urn("sub-case", state.subCaseId),
  tier: state.tier,
  operationalStatus: statusShown(state),
  passengers: state.passengers,
  ...(state.mergedInto === undefined ? {} : { mergedInto: state.mergedInto.groupId }),
  ...lockFacts(state, now),
});

/** Undefined: no hotel has been asked yet. */
export const reservationView = (whole: SubCaseState): ReservationView | undefined => {
  const state = shown(whole);
  const { reservation, assignment } = state;
  if (reservation === undefined || assignment === undefined) return undefined;
  const { confirmationNumber, totalMinor, currency } = reservation;
  return {
    urn: urn("reservation", reservation.reservationId),
    bookingUrn: urn("booking", reservation.reservationId),
    caseUrn: urn("case", state.caseId),
    subCaseUrn: urn("sub-case", state.subCaseId),
    groupId: state.groupId,
    status: state.call?.doubt === true && state.call.step === "book" ? "IN_DOUBT" : reservation.status,
    vendor: reservation.vendor,
    hotelUrn: reservation.hotelUrn,
    hotelName: currentCandidate(state)?.offer.name ?? "",
    checkIn: assignment.stay.checkIn,
    checkOut: assignment.stay.checkOut,
    rooms: reservation.rooms,
    ...(confirmationNumber === undefined ? {} : { confirmationNumber }),
    ...(totalMinor === undefined || currency === undefined ? {} : { totalMinor, currency }),
    ...termsShown(reservation),
  };
};

/** Undefined: no hotel has been asked yet. */
export const reservationDetail = (
  whole: SubCaseState,
  version: number,
  now: Date,
): ReservationDetail | undefined => {
  const state = shown(whole);
  const head = reservationView(state);
  const candidate = currentCandidate(state);
  const { reservation, assignment, voucher } = state;
  if (head === undefined || candidate === undefined || assignment === undefined) return undefined;
  const { name, address, coordinates, stars } = candidate.offer;
  const { byHand } = reservation ?? {};
  return {
    ...head,
    hotel: {
      hotelUrn: candidate.hotelUrn,
      name,
      address,
      ...(byHand?.phone === undefined ? {} : { phone: byHand.phone }),
      ...(coordinates === undefined ? {} : { coordinates }),
      ...(stars === undefined ? {} : { stars }),
      ...(candidate.distanceKm === undefined ? {} : { distanceKm: candidate.distanceKm }),
    },
    nights: assignment.stay.nights,
    passengers: meView(state).passengers,
    payment: candidate.payment,
    ...(reservation === undefined ? {} : cancellingNow(reservation, now)),
    ...(voucher === undefined
      ? {}
      : {
          voucher: {
            urn: urn("voucher", voucher.voucherId),
            code: voucher.code,
            status: voucher.status,
            issuedAt: voucher.issuedAt.toISOString(),
          },
        }),
    ...(byHand === undefined
      ? {}
      : { byHand: { bookedBy: byHand.by, bookedAt: byHand.at.toISOString(), reason: byHand.reason } }),
    version,
  };
};

export const meView = (whole: SubCaseState): MeView => ofShown(shown(whole));

const ofShown = (state: SubCaseState): MeView => ({
  caseUrn: urn("case", state.caseId),
  groupId: state.groupId,
  tier: state.tier,
  language: state.language satisfies Language,
  status: state.status,
  passengers: state.passengers.map(({ urn: passengerUrn, firstName, lastName }) => ({
    urn: passengerUrn,
    ...(firstName === undefined ? {} : { firstName }),
    ...(lastName === undefined ? {} : { lastName }),
  })),
  flight: { ...state.flight, scheduledDeparture: state.flight.scheduledDeparture.toISOString() },
  ...(state.nextFlight === undefined
    ? {}
    : {
        nextFlight: {
          ...state.nextFlight,
          scheduledDeparture: state.nextFlight.scheduledDeparture.toISOString(),
        },
      }),
});

/** What a passenger sees. Before it is ready an offer has only its state; a declined one keeps what was offered. */
export const offerView = (whole: SubCaseState, version: number, voucherQr: string | undefined): OfferView => {
  const state = shown(whole);
  const hotel = currentCandidate(state);
  const { voucher, card, assignment, offer } = state;
  if (offer.state === "PENDING" || hotel === undefined || assignment === undefined)
    return { state: offer.state, version };
  const { stars } = hotel.offer;
  return {
    state: offer.state,
    hotel: {
      urn: hotel.hotelUrn,
      name: hotel.offer.name,
      address: hotel.offer.address,
      ...(stars === undefined ? {} : { stars }),
      ...(hotel.distanceKm === undefined ? {} : { distanceKm: hotel.distanceKm }),
    },
    checkIn: assignment.stay.checkIn,
    checkOut: assignment.stay.checkOut,
    nights: assignment.stay.nights,
    rooms: state.reservation?.rooms ?? hotel.rooms,
    ...stayStatusOf(state),
    ...(voucher === undefined || voucherQr === undefined
      ? {}
      : { voucher: { urn: urn("voucher", voucher.voucherId), code: voucher.code, qr: voucherQr } }),
    ...transportView(state),
    ...(card?.status === "ACTIVE" ? { walletCardUrl: "/v1/me/wallet" } : {}),
    version,
  };
};

const stayStatusOf = ({ reservation }: SubCaseState): Pick<OfferView, "stayStatus"> => {
  const stayStatus = stayStatuses.find((status) => status === reservation?.status);
  return stayStatus === undefined ? {} : { stayStatus };
};

/** Of the way to the hotel; without a ride vendor nobody is promised one. */
const transportView = ({ ride, assignment }: SubCaseState): Pick<OfferView, "transport"> => {
  if (ride === undefined)
    return assignment?.terms.vendors.transport === undefined ? {} : { transport: { status: "pending" } };
  if (ride.status === "declined" || ride.status === "cancelled") return { transport: { status: "declined" } };
  return {
    transport: {
      status: ride.status,
      vehicleType: ride.vehicleType,
      ...(ride.pickupAt === undefined ? {} : { pickupAt: ride.pickupAt.toISOString() }),
    },
  };
};
