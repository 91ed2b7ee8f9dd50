/** Owns what actors tell each other of messages to passengers: orders, whom a group can be written to, and what carriers tell later. */
import type { CaseKind } from "./drill.ts";
import type { NotificationTemplate } from "./notification.ts";
import type { VehicleType } from "./vocabulary.ts";

/** What templates tell of a group. What is absent is not so, or not known. */
export interface NoticeFacts {
  /** The flight that strands the group. */
  flight: string;
  /** Of a room that stands. */
  hotel?: string;
  address?: string;
  /** `YYYY-MM-DD`, local dates. */
  checkIn?: string;
  checkOut?: string;
  /** Of a voucher that is good. */
  code?: string;
  /** ISO 8601 UTC, of the ride to the hotel. */
  pickupAt?: string;
  vehicleType?: VehicleType;
  /** Sealed: whoever has this link is logged in. */
  sealedLink?: string;
}

/** A group as a message is written to it; without a number or address. */
export interface NoticeParty {
  caseId: string;
  subCaseId: string;
  groupId: string;
  /** Set: of a drill or shadow case. */
  kind?: CaseKind;
  /** The case's. */
  airport: string;
  facts: NoticeFacts;
}

/** What a saga asks of `message.send`: the request of its `VendorCall`. */
export interface NoticeOrder extends NoticeParty {
  template: NotificationTemplate;
}

/** A party of a message that is to be written by hand. */
export interface NoticeRecipients extends NoticeParty {
  passengerUrns: string[];
}

/** How somebody can be written to. It stays in the group's document: whoever asks keeps it sealed, or not at all. */
export interface PassengerContact {
  passengerUrn: string;
  phone?: string;
  email?: string;
  /** As the airline has it. */
  language?: string;
}

export const messageStates = ["delivered", "bounced", "replied", "opted-out"] as const;
export type MessageState = (typeof messageStates)[number];

/** The data of `message.record-status`: what a carrier tells of a message that it has taken, in any order, late or twice. */
export interface MessageStatusReport {
  /** Ours, under which the carrier has taken it. */
  reference: string;
  state: MessageState;
  /** ISO 8601 UTC, by the carrier's clock. */
  at: string;
}
