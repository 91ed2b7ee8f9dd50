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

const tierOf = (cabin: string | undefined): Tier =>
  (cabins as readonly string[]).includes(cabin ?? "") ? (cabin as Tier) : "ECONOMY";

const passengerOf = (tenant: string, input: PassengerInput, position: string): Passenger => {
  const pnr = input.pnr === undefined || input.pnr.trim() === "" ? undefined : normalPnr(input.pnr);
  const person = [
    pnr ?? position,
    input.lastName ?? "",
    input.firstName ?? "",
    pnr === undefined ? "" : position,
  ];
  const seed = shortHash([tenant, ...person].join("\n"));
  return {
    urn: input.passengerUrn ?? urn("passenger", `${tenant}-${seed}`),
    ...(pnr === undefined ? {} : { pnr }),
    ...(input.firstName === undefined ? {} : { firstName: input.firstName }),
    ...(input.lastName === undefined ? {} : { lastName: input.lastName }),
    cabinClass: input.cabinClass?.trim().toUpperCase() ?? "ECONOMY",
    loyaltyTier: input.loyaltyTier?.trim().toUpperCase() ?? "STANDARD",
    ...(input.passengerType === undefined ? {} : { passengerType: input.passengerType.toUpperCase() }),
    specialRequirements: input.specialRequirements ?? [],
    contact: input.contact ?? {},
  };
};

const missingOf = (input: PassengerInput): string[] => {
  const wanted = ["pnr", "lastName", "cabinClass"] as const;
  const missing: string[] = wanted.filter((field) => (input[field] ?? "").trim() === "");
  if (input.contact?.email === undefined && input.contact?.phone === undefined) missing.push("contact");
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
    const key = (input.pnr ?? "").trim() === "" ? `#${i}` : normalPnr(input.pnr as string);
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
  const tiers = new Set(passengers.map(({ cabinClass }) => tierOf(cabinClass)));
  const missing = new Set(members.flatMap(missingOf));
  const contactable = members.some(
    ({ contact }) => contact?.email !== undefined || contact?.phone !== undefined,
  );
  if (contactable) missing.delete("contact");
  return { groupId, tier: tiers.size === 1 ? [...tiers][0] : undefined, passengers, missing: [...missing] };
};

/** Two members of one name (a father and a son) are told apart by their order among namesakes. */
const memberPosition = (members: readonly PassengerInput[], index: number, seed: string): string => {
  const name = (input: PassengerInput | undefined) => `${input?.lastName ?? ""}/${input?.firstName ?? ""}`;
  const before = members.slice(0, index).filter((input) => name(input) === name(members[index])).length;
  return (members[index]?.pnr ?? "").trim() === "" ? `${seed}/${index}` : String(before);
};
