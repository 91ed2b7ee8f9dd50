/** Owns how somebody can be written to: in which order numbers and addresses are tried, how they compare, and what may be shown of them. */
import type { PassengerContact } from "../../schemas/message.ts";
import type { VendorChoice } from "../../schemas/vendor-call.ts";
import { type Channel, channels } from "../../schemas/vocabulary.ts";

/** The last four digits of a number; an address's first letter and its domain. Shorter than that: nothing of it. */
export const maskedRecipient = (recipient: string): string => {
  const at = recipient.lastIndexOf("@");
  if (at > 0) return `${recipient.slice(0, 1)}•••${recipient.slice(at)}`;
  return `•••${recipient.length > 6 ? recipient.slice(-4) : ""}`;
};

/** As carriers take it: E.164 without blanks and dashes, an address without blanks around it. */
export const normalContact = (channel: Channel, contact: string): string =>
  channel === "EMAIL" ? contact.trim() : contact.replace(/[\s().-]+/g, "").replace(/^00/, "+");

/** How one passenger is written to in a channel; undefined: not at all. */
export const contactIn = (channel: Channel, { phone, email }: PassengerContact): string | undefined => {
  const given = channel === "EMAIL" ? email : phone;
  const contact = given === undefined ? "" : normalContact(channel, given);
  return contact === "" ? undefined : contact;
};

/** What tells contacts apart: addresses differ by no capital. */
export const comparable = (channel: Channel, contact: string): string =>
  channel === "EMAIL" ? contact.toLowerCase() : contact;

/** One number or address in one channel. */
export interface Way {
  channel: Channel;
  /** Who carries it. */
  vendor: string;
  passengerUrn: string;
  contact: string;
}

/** In the order in which channels are tried. */
export const channelOrder: readonly Channel[] = ["SMS", "WHATSAPP", "EMAIL"];

/** So many numbers and addresses are tried for one message: somebody of the group, or nobody. */
const waysMax = 6;

const carrierOf = (channel: Channel, { message, email }: VendorChoice): string | undefined =>
  channel === "EMAIL" ? (email ?? message) : message;

/**
 * One passenger after the other, those with a telephone first; each by SMS, WhatsApp, e-mail. The same number in the same
 * channel is tried once, whoever gave it.
 */
export const waysTo = (
  contacts: readonly PassengerContact[],
  choice: VendorChoice,
  wanted: readonly Channel[] = channels,
): Way[] => {
  const seen = new Set<string>();
  const withPhone = contacts.filter(({ phone }) => phone !== undefined);
  const without = contacts.filter(({ phone }) => phone === undefined);
  const all = [...withPhone, ...without].flatMap((passenger) =>
    channelOrder.flatMap((channel) => {
      const contact = contactIn(channel, passenger);
      const vendor = carrierOf(channel, choice);
      if (contact === undefined || vendor === undefined || !wanted.includes(channel)) return [];
      const key = `${channel} ${comparable(channel, contact)}`;
      if (seen.has(key)) return [];
      seen.add(key);
      return [{ channel, vendor, passengerUrn: passenger.passengerUrn, contact }];
    }),
  );
  return all.slice(0, waysMax);
};
