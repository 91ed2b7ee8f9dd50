/** Owns what a partner may see of a sub-case (the decisions stand with the shapes, in `schemas/partner-reads.ts`). */
import type {
  PartnerBooking,
  PartnerPassenger,
  PartnerServices,
  PartnerVoucher,
} from "../../schemas/partner-reads.ts";
import type { SegmentView } from "../../schemas/transport.ts";
import { urn } from "../../schemas/urn.ts";
import { currentCandidate } from "./requests.ts";
import type { SubCaseState } from "./state.ts";
import { shown } from "./switch-state.ts";
import { reservationView, statusShown } from "./view.ts";

/** What {@link partnerPassengers} is made of. */
export type Travellers = Pick<SubCaseState, "groupId" | "subCaseId" | "status" | "mergedInto" | "passengers">;

/** What of a passenger partners see; whatever else there is, or will be, they do not. */
const shownMembers = [
  "pnr",
  "firstName",
  "lastName",
  "cabinClass",
  "loyaltyTier",
  "passengerType",
] as const satisfies readonly (keyof PartnerPassenger)[];

/** In the order of their URNs, which stays as the group changes; each once, however often a manifest has named them. */
export const partnerPassengers = (state: Travellers): PartnerPassenger[] => {
  const { groupId, subCaseId, passengers } = state;
  const each = new Map(passengers.map((passenger) => [passenger.urn, passenger]));
  return [...each.values()]
    .sort((a, b) => (a.urn < b.urn ? -1 : 1))
    .map((passenger) => ({
      urn: passenger.urn,
      groupId,
      subCaseUrn: urn("sub-case", subCaseId),
      ...Object.fromEntries(
        shownMembers.flatMap((name) => (passenger[name] === undefined ? [] : [[name, passenger[name]]])),
      ),
      operationalStatus: statusShown(state),
    }));
};

/** The room that stands; undefined: no hotel has been asked yet. */
const stayOf = (state: SubCaseState): Omit<NonNullable<PartnerServices["booking"]>, "urn"> | undefined => {
  const reservation = reservationView(state);
  const candidate = currentCandidate(state);
  const { assignment } = state;
  if (reservation === undefined || candidate === undefined || assignment === undefined) return undefined;
  const { name, address, stars } = candidate.offer;
  return {
    status: reservation.status,
    hotel: {
      hotelUrn: candidate.hotelUrn,
      name,
      address,
      ...(stars === undefined ? {} : { stars }),
      ...(candidate.distanceKm === undefined ? {} : { distanceKm: candidate.distanceKm }),
    },
    checkIn: reservation.checkIn,
    checkOut: reservation.checkOut,
    nights: assignment.stay.nights,
    rooms: reservation.rooms,
  };
};

const voucherHead = ({ voucherId, status, issuedAt }: NonNullable<SubCaseState["voucher"]>) => ({
  urn: urn("voucher", voucherId),
  status,
  issuedAt: issuedAt.toISOString(),
});

const whose = ({ caseId, subCaseId, groupId, passengers }: SubCaseState) => ({
  caseUrn: urn("case", caseId),
  subCaseUrn: urn("sub-case", subCaseId),
  groupId,
  passengerUrns: passengers.map((passenger) => passenger.urn),
});

/** @param rides of the whole case */
export const partnerServices = (whole: SubCaseState, rides: readonly SegmentView[]): PartnerServices => {
  const state = shown(whole);
  const { groupId, subCaseId, tier, passengers, reservation, voucher } = state;
  const stay = stayOf(state);
  const subCaseUrn = urn("sub-case", subCaseId);
  return {
    groupId,
    subCaseUrn,
    tier,
    passengers: passengers.length,
    operationalStatus: statusShown(state),
    ...(stay === undefined || reservation === undefined
      ? {}
      : { booking: { urn: urn("booking", reservation.reservationId), ...stay } }),
    ...(voucher === undefined ? {} : { voucher: voucherHead(voucher) }),
    rides: rides
      .filter((ride) => ride.subCaseUrn === subCaseUrn)
      .map(({ urn: segmentUrn, direction, status, vehicleType, scheduledAt }) => ({
        urn: segmentUrn,
        direction,
        status,
        vehicleType,
        scheduledAt,
      })),
  };
};

/** Undefined: it is not the booking that stands for the group. */
export const partnerBooking = (whole: SubCaseState, reservationId: string): PartnerBooking | undefined => {
  const state = shown(whole);
  const stay = stayOf(state);
  const { reservation, voucher } = state;
  if (stay === undefined || reservation?.reservationId !== reservationId) return undefined;
  const { confirmationNumber } = reservation;
  return {
    urn: urn("booking", reservationId),
    ...whose(state),
    ...stay,
    ...(confirmationNumber === undefined ? {} : { confirmationNumber }),
    ...(voucher === undefined ? {} : { voucherUrn: urn("voucher", voucher.voucherId) }),
  };
};

/** Undefined: none is issued. */
export const partnerVoucher = (whole: SubCaseState): PartnerVoucher | undefined => {
  const state = shown(whole);
  const stay = stayOf(state);
  const { reservation, voucher } = state;
  if (stay === undefined || reservation === undefined || voucher === undefined) return undefined;
  const { hotel, checkIn, checkOut, rooms } = stay;
  return {
    ...voucherHead(voucher),
    code: voucher.code,
    ...whose(state),
    bookingUrn: urn("booking", reservation.reservationId),
    hotel,
    checkIn,
    checkOut,
    rooms,
  };
};
