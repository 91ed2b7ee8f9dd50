/** Owns what a group's passengers can be told of it, and by which numbers and addresses; the words, and the sending, are the message actor's. */
import type { NoticeFacts, NoticeOrder, NoticeRecipients, PassengerContact } from "../../schemas/message.ts";
import type { NotificationTemplate } from "../../schemas/notification.ts";
import { currentCandidate } from "./requests.ts";
import type { SubCaseState } from "./state.ts";
import { shown } from "./switch-state.ts";

/** A room is told of while it stands. */
const standing: ReadonlySet<string> = new Set(["CONFIRMED", "CHECKED_IN"]);

/** What such a group still has is being given back. */
const givingBack: ReadonlySet<string> = new Set([
  "ROLLING_BACK",
  "DECLINED",
  "COMPENSATION_FAILED",
  "NOT_REQUIRED",
]);

const factsOf = (state: SubCaseState): NoticeFacts => {
  const { flight, assignment, reservation, voucher, ride, status } = state;
  const hasRoom = standing.has(reservation?.status ?? "") && !givingBack.has(status);
  const hotel = hasRoom ? currentCandidate(state) : undefined;
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
  return [
    {
      ...party,
      passengerUrns: whole.passengers.map(({ urn }) => urn),
      ...(whole.left === undefined || whole.status !== "PROCESSING" ? {} : { upcoming: factsOf(whole) }),
      hotelChanged: vouchersIssued(whole) > 1,
      stayChanged: (shown(whole).reservation?.amended ?? 0) > 0,
      withdrawn: withdrawn.has(shown(whole).offer.state) || lost.has(whole.status),
    },
  ];
};

/** Those that count: on the way to another hotel the new one does not yet. */
const vouchersIssued = ({ steps, left }: SubCaseState): number => {
  const issued = steps.filter(({ name, result }) => name === "voucher" && result === "DONE").length;
  return left === undefined ? issued : issued - 1;
};

const withdrawn: ReadonlySet<string> = new Set(["WITHDRAWN", "DECLINED"]);
const lost: ReadonlySet<string> = new Set(["DECLINED", "FAILED", "COMPENSATION_FAILED"]);

export const contactsOf = ({ passengers }: Pick<SubCaseState, "passengers">): PassengerContact[] =>
  passengers.map(({ urn, contact }) => ({
    passengerUrn: urn,
    ...(contact.phone === undefined ? {} : { phone: contact.phone }),
    ...(contact.email === undefined ? {} : { email: contact.email }),
    ...(contact.language === undefined ? {} : { language: contact.language }),
  }));
