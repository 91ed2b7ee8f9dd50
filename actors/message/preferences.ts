/** Owns what an airline's passengers have said of being written to: per number or address and channel, never the number or address itself. */
import type { Document } from "mongodb";
import { type Channel, channels } from "../../schemas/vocabulary.ts";
import type { Decider } from "../runtime/decider.ts";
import type { TenantDocuments } from "../runtime/documents.ts";
import { fingerprint } from "../runtime/seal.ts";
import { comparable } from "./contact.ts";
import { optOutKey } from "./decide.ts";

export const contactCollection = "contacts";

/** Its id is the airline's code and the contact's mark. */
interface ContactState {
  /** Since when, in each channel that its owner wants nothing in any more. */
  optedOut: Partial<Record<Channel, Date>>;
}

/** The data of `message.opt-out`. */
export interface OptOut {
  channel: Channel;
  /** ISO 8601 UTC. */
  at: string;
}

type ContactEvent = { type: "contact.opted-out"; data: { channel: Channel; at: Date } };

/** The same for the same number or address of one airline; nobody reads it back from there. */
export const markOf = (key: Buffer, tenant: string, channel: Channel, contact: string): string =>
  fingerprint(key, `contact of ${tenant}\n${comparable(channel, contact)}`);

export const contactIdOf = (tenant: string, mark: string): string => `${tenant}-${mark}`;

export const contacts: Decider<ContactState, ContactEvent> = {
  actor: "message",
  kind: "contact",
  collection: contactCollection,
  schemaVersion: 1,
  commands: ["opt-out"],
  indexes: [],
  create: ({ entity }) => entity,
  decide: (state, { data }) => {
    const { channel, at } = data as OptOut;
    return state?.optedOut[channel] === undefined
      ? [{ type: "contact.opted-out", data: { channel, at: new Date(at) } }]
      : [];
  },
  evolve: (state, { data: { channel, at } }) => ({ optedOut: { ...state?.optedOut, [channel]: at } }),
  view: () => null,
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
    .find({ _id: { $in: ids as never[] } }, { projection: { optedOut: 1 } })
    .toArray();
  return new Set(
    found.flatMap(({ _id, optedOut }) => {
      const mark = String(_id).slice(documents.tenant.length + 1);
      const of = (optedOut ?? {}) as ContactState["optedOut"];
      return channels.filter((channel) => of[channel] !== undefined).map((one) => optOutKey(one, mark));
    }),
  );
};
