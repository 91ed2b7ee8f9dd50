/** Owns reading a manifest: passengers as they are sent become groups (contract: one PNR, one group) with what is missing named. */
import { createHash } from "node:crypto";
import {
  bookingPassengersMax,
  normalName,
  normalPnr,
  type Passenger,
  type PassengerInput,
} from "../../schemas/passenger.ts";
import { urn } from "../../schemas/urn.ts";
import { cabins, type Tier } from "../../schemas/vocabulary.ts";

export interface ManifestGroup {
  groupId: string;
  /** Undefined: its passengers travel in different cabins. */
  tier: Tier | undefined;
  passengers: Passenger[];
  /** What the manifest left out, as JSON-pointer-like paths of the passengers' fields; empty: nothing. */
  missing: string[];
}

export const groupPassengersMax = bookingPassengersMax;

const shortHash = (text: string): string =>
  createHash("sha256").update(text).digest("hex").slice(0, 16).toUpperCase();

/** `premium economy` and `PREMIUM-ECONOMY` are the same cabin. */
const normalCabin = (cabin: string | undefined): string =>
  (cabin ?? "")
    .trim()
    .toUpperCase()
    .replace(/[\s-]+/g, "_");

/** Undefined: nothing was said, or nothing that we know. */
const tierOf = (cabin: string | undefined): Tier | undefined =>
  (cabins as readonly string[]).includes(normalCabin(cabin)) ? (normalCabin(cabin) as Tier) : undefined;

/** Who has no known cabin travels in that of the booking, a whole booking without one in economy. */
const tiersOf = (members: readonly PassengerInput[]): Tier[] => {
  const known = new Set(members.flatMap(({ cabinClass }) => tierOf(cabinClass) ?? []));
  return known.size === 0 ? ["ECONOMY"] : [...known];
};

/** Undefined for what is not said or only blank. */
const said = (text: string | undefined): string | undefined => (text?.trim() ? text.trim() : undefined);

/** Normalised; undefined for one of which nothing is left (`-`): it would put strangers into one room. */
const pnrOf = ({ pnr }: PassengerInput): string | undefined => normalPnr(pnr ?? "") || undefined;

const fields = <T extends Record<string, string | undefined>>(all: T): { [K in keyof T]?: string } =>
  Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)) as never;

/** The same for the same person of a booking in every case; who has no booking is who stood there. */
const urnOf = (tenant: string, input: PassengerInput, position: string): string => {
  const pnr = pnrOf(input);
  const person = [pnr ?? position, personOf(input), pnr === undefined ? "" : position];
  return urn("passenger", `${tenant}-${shortHash([tenant, ...person].join("\n"))}`);
};

const passengerOf = (tenant: string, input: PassengerInput, position: string): Passenger => {
  const pnr = pnrOf(input);
  const { email, phone, language } = input.contact ?? {};
  return {
    urn: input.passengerUrn ?? urnOf(tenant, input, position),
    ...fields({
      pnr,
      firstName: said(input.firstName),
      lastName: said(input.lastName),
      cabinClass: normalCabin(input.cabinClass) || undefined,
      passengerType: said(input.passengerType)?.toUpperCase(),
    }),
    loyaltyTier: said(input.loyaltyTier)?.toUpperCase() ?? "STANDARD",
    specialRequirements: input.specialRequirements ?? [],
    contact: fields({ email: said(email), phone: said(phone), language: said(language) }),
  };
};

const contactable = ({ contact }: PassengerInput): boolean =>
  said(contact?.email) !== undefined || said(contact?.phone) !== undefined;

const missingOf = (input: PassengerInput): string[] => {
  const missing: string[] = [];
  if (pnrOf(input) === undefined) missing.push("pnr");
  if (said(input.lastName) === undefined) missing.push("lastName");
  if (tierOf(input.cabinClass) === undefined) missing.push("cabinClass");
  if (!contactable(input)) missing.push("contact");
  return missing;
};

/** One group per PNR in the order of first mention; a passenger without one is a group alone. */
export const groupByPnr = (
  tenant: string,
  caseSeed: string,
  inputs: readonly PassengerInput[],
): ManifestGroup[] => {
  const byPnr = new Map<string, PassengerInput[]>();
  for (const [i, input] of inputs.entries()) {
    const key = pnrOf(input) ?? `#${i}`;
    const members = byPnr.get(key);
    if (members === undefined) byPnr.set(key, [input]);
    else members.push(input);
  }
  return [...byPnr].map(([key, members]) =>
    groupOf(tenant, `G${shortHash(`${caseSeed}\n${key}`)}`, `${caseSeed}/${key}`, members),
  );
};

/** A group whose members are given: by a manual declaration, a split or a merge. */
export const groupOf = (
  tenant: string,
  groupId: string,
  seed: string,
  members: readonly PassengerInput[],
): ManifestGroup => {
  const positions = positionsOf(members, seed);
  const passengers = members.map((input, i) => passengerOf(tenant, input, positions[i] as string));
  const tiers = tiersOf(members);
  const missing = new Set(members.flatMap(missingOf));
  if (members.some(contactable)) missing.delete("contact");
  return { groupId, tier: tiers.length === 1 ? tiers[0] : undefined, passengers, missing: [...missing] };
};

/** Who somebody is inside a booking, however the name is written this time. */
const personOf = ({ lastName, firstName }: PassengerInput): string =>
  `${normalName(lastName ?? "")}/${normalName(firstName ?? "")}`;

/** Two of one name in one booking (a father and a son) are told apart by their order. */
const positionsOf = (members: readonly PassengerInput[], seed: string): string[] => {
  const namesakes = new Map<string, number>();
  return members.map((member, i) => {
    const pnr = pnrOf(member);
    if (pnr === undefined) return `${seed}/${i}`;
    const key = `${pnr}/${personOf(member)}`;
    const before = namesakes.get(key) ?? 0;
    namesakes.set(key, before + 1);
    return String(before);
  });
};

/** Bookings whose groups are made at once: some milliseconds of work. */
const bookingsAtOnceMax = 300;

/** Of passengers who come with a patch: the groups that the push would have made of them, some at a time, for a patch may be huge. */
export function* groupsOfPatch(
  tenant: string,
  caseSeed: string,
  all: readonly PassengerInput[],
): Generator<ManifestGroup[]> {
  const bookings = new Map<string, PassengerInput[]>();
  const alone: PassengerInput[] = [];
  for (const input of all) {
    const pnr = pnrOf(input);
    const members = pnr === undefined ? alone : bookings.get(pnr);
    if (members === undefined) bookings.set(pnr as string, [input]);
    else members.push(input);
  }
  const parties = [...bookings.values()];
  for (let from = 0; from < parties.length; from += bookingsAtOnceMax)
    yield groupByPnr(tenant, caseSeed, parties.slice(from, from + bookingsAtOnceMax).flat());
  for (let from = 0; from < alone.length; from += bookingsAtOnceMax)
    yield alone.slice(from, from + bookingsAtOnceMax).map((input) => unnamedGroup(tenant, caseSeed, input));
}

/**
 * Who has no booking reference is alone, and the same again by name and contact. Their place in the list would name somebody else in
 * the next one.
 */
const unnamedGroup = (tenant: string, caseSeed: string, input: PassengerInput): ManifestGroup => {
  const { email, phone } = input.contact ?? {};
  const mark = shortHash(JSON.stringify([input.passengerUrn, personOf(input), said(email), said(phone)]));
  const passengerUrn =
    input.passengerUrn ?? urn("passenger", `${tenant}-${shortHash(`${caseSeed}+${mark}`)}`);
  const groupId = `G${shortHash(`${caseSeed}\n+${mark}`)}`;
  return groupOf(tenant, groupId, `${caseSeed}/+${mark}`, [{ ...input, passengerUrn }]);
};

/** For those who come to a booking whose group can take nobody in any more. */
export const lateGroupId = (groupId: string, passengers: readonly Passenger[]): string =>
  `G${shortHash([groupId, ...passengers.map((passenger) => passenger.urn).sort()].join("\n"))}`;
