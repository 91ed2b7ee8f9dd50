/** Owns which groups somebody follows on this process, and what each has heard and not yet told. */
import { type Heard, heardOf, passengerHeardTypes, subCaseOf } from "./passenger-mapping.ts";
import type { PassengerStream } from "./passenger-stream.ts";
import type { LiveEntry } from "./ring.ts";

export interface GroupName {
  tenant: string;
  caseId: string;
  subCaseId: string;
}

/** An entry of the log with what a group's passengers hear of it. */
export interface HeardEntry {
  entry: LiveEntry;
  heard: Heard;
}

export interface Group extends GroupName {
  streams: Set<PassengerStream>;
  /** In the order of the log; told in turn. */
  waiting: HeardEntry[];
  telling: boolean;
}

const types: ReadonlySet<string> = new Set(passengerHeardTypes);

/** What of these a group hears. */
export const heardBy = (entries: readonly LiveEntry[], { subCaseId }: GroupName): HeardEntry[] =>
  entries
    .filter((entry) => types.has(entry.type) && subCaseOf(entry.event()) === subCaseId)
    .map((entry) => ({ entry, heard: heardOf(entry.event()) }));

export class Groups {
  readonly #byId = new Map<string, Group>();
  /** How many groups of each case are followed. */
  readonly #cases = new Map<string, number>();

  enter(stream: PassengerStream, name: GroupName): void {
    const known = this.#byId.get(name.subCaseId);
    if (known !== undefined) {
      known.streams.add(stream);
      return;
    }
    this.#byId.set(name.subCaseId, { ...name, streams: new Set([stream]), waiting: [], telling: false });
    this.#cases.set(name.caseId, (this.#cases.get(name.caseId) ?? 0) + 1);
  }

  leave(stream: PassengerStream): void {
    const group = this.#byId.get(stream.subCaseId);
    if (group === undefined || !group.streams.delete(stream) || group.streams.size > 0) return;
    this.#byId.delete(stream.subCaseId);
    const left = (this.#cases.get(group.caseId) ?? 1) - 1;
    if (left > 0) this.#cases.set(group.caseId, left);
    else this.#cases.delete(group.caseId);
  }

  /** The stream's group, once it has entered one. */
  of(stream: PassengerStream): Group | undefined {
    const group = this.#byId.get(stream.subCaseId);
    return group?.streams.has(stream) ? group : undefined;
  }

  /** Lets the entry wait with the group that it is about; undefined: nobody follows that, as with nearly all that happens. */
  hear(entry: LiveEntry): Group | undefined {
    if (entry.caseId === undefined || !this.#cases.has(entry.caseId) || !types.has(entry.type))
      return undefined;
    const group = this.#byId.get(subCaseOf(entry.event()) ?? "");
    group?.waiting.push({ entry, heard: heardOf(entry.event()) });
    return group;
  }
}
