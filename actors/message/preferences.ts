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
  /** The ids of the last {@link toldMax} wishes that were heard, oldest first: a carrier's webhook that is replayed is no new wish. */
  told?: readonly string[];
}

const toldMax = 50;

/** The data of `message.opt-out` and `message.opt-in`. */
export interface Preference {
  channel: Channel;
  /** ISO 8601 UTC; by the carrier's clock, at most `carrierSkewMsMax` ahead of ours. */
  at: string;
  /** The same whenever the same wish is told again. Absent: a carrier's refusal to write there. */
  toldId?: string;
}

type ContactEvent =
  | { type: "contact.opted-out" | "contact.opted-in"; data: { channel: Channel; at: Date; toldId?: string } }
  /** A wish from before the one that counts. */
  | { type: "contact.told"; data: { toldId: string } };

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
    const { channel, at: saidAt, toldId } = data as Preference;
    if (toldId !== undefined && state?.told?.includes(toldId)) return [];
    const at = new Date(saidAt);
    const heard = toldId === undefined ? {} : { toldId };
    const isOut = name === "message.opt-out";
    const before = (isOut ? state?.optedOut : state?.optedIn)?.[channel];
    if (before !== undefined && before >= at)
      return toldId === undefined ? [] : [{ type: "contact.told", data: { toldId } }];
    const type = isOut ? "contact.opted-out" : "contact.opted-in";
    return [{ type, data: { channel, at, ...heard } }];
  },
  evolve: (before, { type, data }) => {
    const state: ContactState = before ?? { optedOut: {} };
    const { toldId } = data;
    const told = toldId === undefined ? {} : { told: [...(state.told ?? []), toldId].slice(-toldMax) };
    if (type === "contact.told") return { ...state, ...told };
    const { channel, at } = data;
    return type === "contact.opted-out"
      ? { ...state, ...told, optedOut: { ...state.optedOut, [channel]: at } }
      : { ...state, ...told, optedIn: { ...state.optedIn, [channel]: at } };
  },
  technical: new Set(["contact.told"]),
  view: () => null,
  /** Whose wish it was, nobody reads from there: the entry's entity is the contact's mark. */
  audit: ({ command, before, after, events }) => {
    const [event] = events;
    if (event === undefined || event.type === "contact.told") return null;
    const { channel } = event.data;
    return {
      action: command.name,
      before: before === undefined ? null : { channel, optedOut: hasOptedOut(before, channel) },
      after: { channel, optedOut: hasOptedOut(after, channel) },
    };
  },
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
