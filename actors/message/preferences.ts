/** Owns what an airline's passengers have said of being written to: per number or address and channel, never the number or address itself. */
import type { Document } from "mongodb";
import { type Channel, channels } from "../../schemas/vocabulary.ts";
import type { Decider } from "../runtime/decider.ts";
import type { TenantDocuments } from "../runtime/documents.ts";
import { fingerprint } from "../runtime/seal.ts";
import { comparable } from "./contact.ts";
import { optOutKey } from "./decide.ts";

export const contactCollection = "contacts";

/** Its id is the airline's code and the contact's mark. The latest of both is what its owner wants: told in any order it is the same. */
interface ContactState {
  /** When its owner last wanted nothing in a channel any more. */
  optedOut: Partial<Record<Channel, Date>>;
  /** And when they last wanted to be written to again. */
  optedIn?: Partial<Record<Channel, Date>>;
}

/** The data of `message.opt-out` and `message.opt-in`. */
export interface Preference {
  channel: Channel;
  /** ISO 8601 UTC; by the carrier's clock, not ahead of ours. */
  at: string;
}

type ContactEvent = {
  type: "contact.opted-out" | "contact.opted-in";
  data: { channel: Channel; at: Date };
};

/** The same for the same number or address of one airline; nobody reads it back from there. */
export const markOf = (key: Buffer, tenant: string, channel: Channel, contact: string): string =>
  fingerprint(key, `contact of ${tenant}\n${comparable(channel, contact)}`);

export const contactIdOf = (tenant: string, mark: string): string => `${tenant}-${mark}`;

export const contacts: Decider<ContactState, ContactEvent> = {
  actor: "message",
  kind: "contact",
  collection: contactCollection,
  schemaVersion: 1,
  commands: ["opt-out", "opt-in"],
  indexes: [],
  create: ({ entity }) => entity,
  decide: (state, { name, data }) => {
    const { channel, at: told } = data as Preference;
    const at = new Date(told);
    const isOut = name === "message.opt-out";
    const before = (isOut ? state?.optedOut : state?.optedIn)?.[channel];
    if (before !== undefined && before >= at) return [];
    return [{ type: isOut ? "contact.opted-out" : "contact.opted-in", data: { channel, at } }];
  },
  evolve: (state, { type, data: { channel, at } }) => {
    const { optedOut, optedIn } = state ?? { optedOut: {} };
    return type === "contact.opted-out"
      ? { ...state, optedOut: { ...optedOut, [channel]: at } }
      : { optedOut, optedIn: { ...optedIn, [channel]: at } };
  },
  view: () => null,
};

/** At the same moment: out. */
export const hasOptedOut = ({ optedOut, optedIn }: Partial<ContactState>, channel: Channel): boolean => {
  const [out, back] = [optedOut?.[channel], optedIn?.[channel]];
  return out !== undefined && (back === undefined || back <= out);
};

/** Who of these has opted out of what, by `optOutKey`. */
export const optedOutOf = async (
  documents: TenantDocuments,
  marks: readonly string[],
): Promise<ReadonlySet<string>> => {
  if (marks.length === 0) return new Set();
  const ids = [...new Set(marks)].map((mark) => contactIdOf(documents.tenant, mark));
  const found = await documents
    .collection<Document>(contactCollection)
    .find({ _id: { $in: ids as never[] } }, { projection: { optedOut: 1, optedIn: 1 } })
    .toArray();
  return new Set(
    found.flatMap(({ _id, ...contact }) => {
      const mark = String(_id).slice(documents.tenant.length + 1);
      return channels.filter((channel) => hasOptedOut(contact, channel)).map((one) => optOutKey(one, mark));
    }),
  );
};
