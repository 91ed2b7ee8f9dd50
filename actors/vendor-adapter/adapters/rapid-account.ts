/** Owns what Expedia Rapid asks of who books, beside the key: the airline's own contact and billing address, never a passenger's. */
import type { GuestName, HoldRequest } from "../ports.ts";

export interface Account {
  email: string;
  /** Digits alone, of the country and of what follows. */
  phoneCountryCode: string;
  phone: string;
  customerIp: string;
  /** ISO 3166-1 alpha-2: the point of sale, and of the billing address. */
  countryCode: string;
  /** ISO 4217: that prices are asked in. What is billed may be in another one. */
  currency: string;
  city: string;
  addressLine: string;
  postalCode?: string;
  stateProvinceCode?: string;
}

/** For the table of dialects; all but the last two must be given. */
export const rapidAccount = {
  email: {
    required: true,
    pattern: /^[^\s@<>()&]{1,64}@[^\s@<>()&]{1,180}$/,
    description: "the address of the airline's duty desk, under which all bookings stand",
  },
  phoneCountryCode: {
    required: true,
    pattern: /^[1-9]\d{0,2}$/,
    description: "of the duty desk's number, digits",
  },
  phone: { required: true, pattern: /^\d{4,14}$/, description: "the duty desk's number, digits" },
  customerIp: {
    required: true,
    pattern: /^[0-9a-f.:]{3,45}$/i,
    description: "the address that we book from",
  },
  countryCode: { required: true, pattern: /^[A-Z]{2}$/, description: "the country of sale and billing" },
  currency: { required: true, pattern: /^[A-Z]{3}$/, description: "the currency that prices are asked in" },
  city: { required: true, pattern: /^[^<>()&]{1,100}$/, description: "the city of the billing address" },
  addressLine: {
    required: true,
    pattern: /^[^<>()&]{1,200}$/,
    description: "street and number of the billing address",
  },
  postalCode: { pattern: /^[\w -]{2,12}$/, description: "of the billing address (GB, CA, US)" },
  stateProvinceCode: { pattern: /^[A-Z]{2,3}$/, description: "of the billing address (AU, CA, US)" },
} as const;

/** @throws Error naming a setting that is missing: such a vendor is not put */
export const accountOf = (settings: Readonly<Record<string, string>>): Account => {
  const missing = Object.entries(rapidAccount).find(
    ([name, one]) => "required" in one && settings[name] === undefined,
  );
  if (missing !== undefined) throw new Error(`the account lacks ${missing[0]}`);
  return { ...settings } as unknown as Account;
};

/** What the vendor re-encodes or refuses in names and texts. */
const plain = (text: string, most: number): string => text.replaceAll(/[<>()&]/g, " ").slice(0, most);

const unnamed: GuestName = { givenName: "Guest", familyName: "Guest" };

/** One name for each room: the lead guest's where there are fewer guests than rooms. */
const roomsOf = ({ rooms, leadGuest, guests = [], needs }: HoldRequest) => {
  const lead = leadGuest ?? unnamed;
  return Array.from({ length: rooms }, (_, i) => {
    const { givenName, familyName } = [lead, ...guests][i] ?? lead;
    return {
      given_name: plain(givenName, 60),
      family_name: plain(familyName, 60),
      smoking: false,
      ...(needs.length > 0 && { special_request: plain(needs.join(", "), 200) }),
    };
  });
};

/** "Create Booking", on hold, billed to the airline. Our whole reference travels in the metadata, which every retrieval gives back. */
export const itineraryBody = (account: Account, request: HoldRequest, affiliateReference: string) => {
  const { email, phoneCountryCode, phone, countryCode, city, addressLine, postalCode, stateProvinceCode } =
    account;
  const address = {
    ...{ line_1: addressLine, city, country_code: countryCode },
    ...(postalCode !== undefined && { postal_code: postalCode }),
    ...(stateProvinceCode !== undefined && { state_province_code: stateProvinceCode }),
  };
  const { givenName, familyName } = request.leadGuest ?? unnamed;
  const billing = { given_name: plain(givenName, 60), family_name: plain(familyName, 60), address };
  return {
    affiliate_reference_id: affiliateReference,
    hold: true,
    email,
    phone: { country_code: phoneCountryCode, number: phone },
    rooms: roomsOf(request),
    payments: [{ type: "affiliate_collect", billing_contact: billing }],
    affiliate_metadata: `reference:${request.reference}`,
  };
};

/** "Get property room rates and availability", of one occupancy in each room. @param ratePlans of each property, the cheapest first */
export const availabilityQuery = (
  { countryCode, currency }: Account,
  ids: readonly string[],
  { checkIn, checkOut }: { checkIn: string; checkOut: string },
  { rooms, adults, ratePlans }: { rooms: number; adults: number; ratePlans: number },
): URLSearchParams => {
  const query = new URLSearchParams({
    ...{ checkin: checkIn, checkout: checkOut, currency, country_code: countryCode, language: "en-US" },
    ...{ rate_plan_count: String(ratePlans), sales_channel: "agent_tool", sales_environment: "hotel_only" },
    ...{ filter: "expedia_collect", include: "rooms.rates.holdable" },
  });
  for (const id of ids) query.append("property_id", id);
  for (let room = 0; room < rooms; room += 1) query.append("occupancy", String(adults));
  return query;
};
