/** Owns what a group's passengers can be told of it, and by which numbers and addresses; the words, and the sending, are the message actor's. */
import type { NoticeFacts, NoticeOrder, NoticeRecipients, PassengerContact } from "../../schemas/message.ts";
import type { NotificationTemplate } from "../../schemas/notification.ts";
import { currentCandidate } from "./requests.ts";
import type { SubCaseState } from "./state.ts";
import { shown } from "./switch-state.ts";

/** A room is told of while it stands. */
const standing: ReadonlySet<string> = new Set(["CONFIRMED", "CHECKED_IN"]);

const factsOf = (state: SubCaseState): NoticeFacts => {
  const { flight, assignment, reservation, voucher, ride } = state;
  const hotel = standing.has(reservation?.status ?? "") ? currentCandidate(state) : undefined;
  const isDriven = hotel !== undefined && ride?.status === "booked" && ride.pickupAt !== undefined;
  return {
    flight: flight.number,
    ...(hotel === undefined || assignment === undefined
      ? {}
      : {
          hotel: hotel.offer.name,
          address: hotel.offer.address,
          checkIn: assignment.stay.checkIn,
          checkOut: assignment.stay.checkOut,
        }),
    ...(hotel === undefined || voucher?.status !== "ISSUED" ? {} : { code: voucher.code }),
    ...(isDriven
      ? {
          pickupAt: ride.pickupAt?.toISOString(),
          vehicleType: ride.vehicleType as NoticeFacts["vehicleType"],
        }
      : {}),
  } as NoticeFacts;
};

/** As the group is now, on the way to another hotel with the new one. */
export const noticeOrder = (state: SubCaseState, template: NotificationTemplate): NoticeOrder => {
  const { caseId, subCaseId, groupId, kind, airport } = state;
  return {
    ...{ caseId, subCaseId, groupId, airport, template },
    ...(kind === undefined ? {} : { kind }),
    facts: factsOf(state),
  };
};

/** As its passengers see it; none of a group that was merged away. */
export const noticeRecipients = (whole: SubCaseState): NoticeRecipients[] => {
  if (whole.mergedInto !== undefined) return [];
  const { template: _, ...party } = noticeOrder(shown(whole), "welcome");
  return [{ ...party, passengerUrns: whole.passengers.map(({ urn }) => urn) }];
};

export const contactsOf = ({ passengers }: Pick<SubCaseState, "passengers">): PassengerContact[] =>
  passengers.map(({ urn, contact }) => ({
    passengerUrn: urn,
    ...(contact.phone === undefined ? {} : { phone: contact.phone }),
    ...(contact.email === undefined ? {} : { email: contact.email }),
    ...(contact.language === undefined ? {} : { language: contact.language }),
  }));
