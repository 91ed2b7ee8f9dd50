/** Owns reading a manifest: passengers as they are sent become groups (contract: one PNR, one group) with what is missing named. */
import { createHash } from "node:crypto";
import { normalPnr, type Passenger, type PassengerInput } from "../../schemas/passenger.ts";
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

const fields = <T extends Record<string, string | undefined>>(all: T): { [K in keyof T]?: string } =>
  Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined)) as never;

const passengerOf = (tenant: string, input: PassengerInput, position: string): Passenger => {
  const pnr = said(input.pnr) && normalPnr(input.pnr as string);
  const person = [
    pnr ?? position,
    input.lastName ?? "",
    input.firstName ?? "",
    pnr === undefined ? "" : position,
  ];
  const seed = shortHash([tenant, ...person].join("\n"));
  const { email, phone, language } = input.contact ?? {};
  return {
    urn: input.passengerUrn ?? urn("passenger", `${tenant}-${seed}`),
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
  const wanted = ["pnr", "lastName"] as const;
  const missing: string[] = wanted.filter((field) => said(input[field]) === undefined);
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
    const key = said(input.pnr) === undefined ? `#${i}` : normalPnr(input.pnr as string);
    byPnr.set(key, [...(byPnr.get(key) ?? []), input]);
  }
  return [...byPnr].map(([key, members]) =>
    groupOf(tenant, `G${shortHash(`${caseSeed}\n${key}`)}`, key, members),
  );
};

/** A group whose members are given: by a manual declaration, a split or a merge. */
export const groupOf = (
  tenant: string,
  groupId: string,
  seed: string,
  members: readonly PassengerInput[],
): ManifestGroup => {
  const passengers = members.map((input, i) => passengerOf(tenant, input, memberPosition(members, i, seed)));
  const tiers = tiersOf(members);
  const missing = new Set(members.flatMap(missingOf));
  if (members.some(contactable)) missing.delete("contact");
  return { groupId, tier: tiers.length === 1 ? tiers[0] : undefined, passengers, missing: [...missing] };
};

/** Two members of one name (a father and a son) are told apart by their order among namesakes. */
const memberPosition = (members: readonly PassengerInput[], index: number, seed: string): string => {
  const name = (input: PassengerInput | undefined) => `${input?.lastName ?? ""}/${input?.firstName ?? ""}`;
  const before = members.slice(0, index).filter((input) => name(input) === name(members[index])).length;
  return said(members[index]?.pnr) === undefined ? `${seed}/${index}` : String(before);
};
