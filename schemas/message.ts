/**
 * Owns what actors tell each other of messages to passengers: orders, which facts each template needs, whom a group can be written to,
 * and what carriers tell later.
 */
import type { CaseKind } from "./drill.ts";
import type { NotificationTemplate } from "./notification.ts";
import type { Channel, VehicleType } from "./vocabulary.ts";

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
}

/** Those that show whether two messages tell the same. */
export const noticeFactNames = [
  "flight",
  "hotel",
  "address",
  "checkIn",
  "checkOut",
  "code",
  "pickupAt",
  "vehicleType",
] as const satisfies readonly (keyof NoticeFacts)[];

export const factsNeeded: Readonly<Record<NotificationTemplate, readonly (keyof NoticeFacts | "host")[]>> = {
  "offer-ready": ["hotel", "checkIn", "checkOut", "code"],
  "voucher-issued": ["hotel", "checkIn", "checkOut", "code"],
  "stay-changed": ["hotel", "checkIn", "checkOut", "code"],
  "hotel-changed": ["hotel", "checkIn", "checkOut", "code"],
  "transport-updated": ["pickupAt", "vehicleType", "hotel"],
  "offer-withdrawn": [],
  welcome: ["host"],
  "magic-link": ["host"],
};

const factWords: Readonly<Partial<Record<keyof NoticeFacts | "host", string>>> = {
  hotel: "a room",
  checkIn: "the dates of a stay",
  checkOut: "the dates of a stay",
  code: "a voucher",
  pickupAt: "a ride",
  vehicleType: "a ride",
  host: "a page for the airline's passengers",
};

/** Why the template has nothing to tell of these facts; undefined: it has. @param facts `host`: of the airline's page for passengers */
export const untellable = (
  template: NotificationTemplate,
  facts: NoticeFacts & { host?: string },
): string | undefined => {
  const missing = factsNeeded[template].find((name) => facts[name] === undefined);
  if (missing !== undefined) return `There is not ${factWords[missing]} to tell of.`;
  return template === "offer-withdrawn" && facts.hotel !== undefined
    ? "The group has a room: nothing is withdrawn."
    : undefined;
};

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

/** A party as it is now: of a message that is to be written by hand, or goes on to another number. */
export interface NoticeRecipients extends NoticeParty {
  passengerUrns: string[];
  /** What it is told of the hotel that it is on the way to; absent: it changes to none. */
  upcoming?: NoticeFacts;
  /** It had a voucher before the one that it has now. */
  hotelChanged: boolean;
  /** Its room has been given other dates. */
  stayChanged: boolean;
  /** What it was offered is withdrawn or declined, or it could be offered nothing. */
  withdrawn: boolean;
}

/** How somebody can be written to. It stays in the group's document: whoever asks keeps it sealed, or not at all. */
export interface PassengerContact {
  passengerUrn: string;
  phone?: string;
  email?: string;
  /** As the airline has it. */
  language?: string;
}

export const messageStates = ["delivered", "bounced", "replied", "opted-out", "opted-in"] as const;
export type MessageState = (typeof messageStates)[number];
/** What readers say of themselves; the rest carriers tell of a message. */
export const readersWords: ReadonlySet<MessageState> = new Set(["replied", "opted-out", "opted-in"]);
/** By so much a carrier's clock may be ahead of ours, or behind it, and its times still count for the order of things. */
export const carrierSkewMsMax = 300_000;

/** The data of `message.record-status`: what a carrier tells of a message that it has taken, in any order, late or twice. */
export interface MessageStatusReport {
  /** Who tells it: nobody else's messages are theirs to tell of. */
  vendor: string;
  /** Ours, under which the carrier has taken it. */
  reference?: string;
  /** The carrier's own id of it, where it does not name ours. */
  carrierId?: string;
  /** Where neither is there: a reader says so of themselves (`readersWords`), in this channel. */
  channel?: Channel;
  /** Their number or address, sealed. */
  sealedRecipient?: string;
  state: MessageState;
  /** ISO 8601 UTC, by the carrier's clock. */
  at: string;
  /** Why it did not arrive, without what is personal. */
  detail?: string;
}
