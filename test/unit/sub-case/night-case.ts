// The case of the random model's group: it hears of waves and of its group in any order, is closed and opened again, and what it sends
// to the group is under way until it is delivered.

import { toBePlaced } from "../../../actors/case/booking.ts";
import type { CaseState } from "../../../actors/case/state.ts";
import { NotYet, type Received } from "../../../actors/runtime/decider.ts";
import type { Stay } from "../../../schemas/assignment.ts";
import type { GroupNote } from "../../../schemas/group-note.ts";
import { Problem } from "../../../schemas/problems.ts";
import type { OpenReview } from "../../../schemas/review.ts";
import { evening, eventsOf, folded, received, supervisor } from "../../harness/given.ts";
import * as cases from "../case/planned-case.ts";

/** A case of two groups, the second of which keeps it from being settled. */
const ofTwo = cases.plannedCase([cases.pair, cases.pair], cases.economy);
const [groupId = "", other = ""] = cases.groupIds(ofTwo);
const [group] = cases.stateOf(ofTwo).groups;

/** A next flight for which the group needs a room for so many nights. */
const flightAfter = (nights: number): { number: string; scheduledDeparture: string } => ({
  number: "XN486",
  scheduledDeparture: nights === 0 ? "2026-11-22T00:30:00Z" : `2026-11-${21 + nights}T14:00:00Z`,
});

/** What a wave is to give the group. */
export interface Placing {
  /** It has a room, and is to have another one. */
  moves: boolean;
  waveId: string;
  shape: number;
  stay: Stay;
}

export class NightCase {
  state: CaseState = cases.stateOf(eventsOf(cases.rules, ofTwo, cases.note(other, "B")));
  /** What is on its way to the case, and from it to the group. */
  readonly toCase: Received[] = [];
  readonly toGroup: Received[] = [];
  /** Waves that were asked for and have not run yet. */
  readonly waves: string[] = [this.state.waveId as string];
  /** What its own review items were opened about. */
  readonly reviews: string[] = [];
  readonly groupId = groupId;
  #commands = 0;
  /** Closings and openings, and waves, are at least a millisecond apart. */
  #now = evening;

  #tell(command: Received): void {
    this.#now = new Date(this.#now.getTime() + 1);
    const numbered = { ...command, id: `case ${++this.#commands}`, now: this.#now };
    const events = cases.rules.decide(this.state, numbered, undefined);
    this.state = folded(cases.rules, events, this.state) as CaseState;
    for (const message of events.flatMap((event) =>
      cases.rules.outgoing(event, this.state, numbered, cases.caseId),
    )) {
      if (message.to !== "command") continue;
      if (message.name === "wave.run") this.waves.push(message.entity as string);
      if (message.name === "review.open") this.reviews.push((message.data as OpenReview).origin);
      if (message.entity === group?.subCaseId)
        this.toGroup.push(received(message.name, JSON.parse(JSON.stringify(message.data))));
    }
  }

  /** What a person does; what does not fit the case's state is refused. */
  decide(command: Received): void {
    try {
      this.#tell({ ...command, principal: { ...supervisor, role: "ADMIN" } });
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
    }
  }

  reaccommodate(nights: number): void {
    this.decide(cases.human("reaccommodate", { nextFlight: flightAfter(nights), reason: "Snow" }));
  }

  /** As it is to be now: what a choice by hand is worked out from. */
  get need(): Omit<Placing, "moves" | "waveId"> {
    const { shape = 0, stay } = this.state.groups[0] ?? {};
    return { shape, stay: stay as Stay };
  }

  /**
   * A wave that was asked for runs. @param finds whether there is another hotel for a group that has a room
   * @param books whether those placed are booked at once
   * @returns what it has for the group; undefined: nothing, or no wave was asked for
   */
  runWave(finds: boolean, books: boolean): Placing | undefined {
    const waveId = this.waves.shift();
    // A wave of a closed case is refused.
    if (waveId === undefined || this.state.status === "CLOSED") return undefined;
    const { waiting, again } = toBePlaced(this.state);
    const ids = (places: number[]) => places.map((i) => this.state.groups[i]?.groupId as string);
    const moving = finds ? ids(again) : [];
    const allocated = [...ids(waiting), ...moving];
    const unbooked = books ? [] : ids(waiting);
    this.toCase.push(received("case.note-wave", { waveId, allocated, unplaced: [], unbooked }));
    if (!allocated.includes(groupId)) return undefined;
    return { moves: moving.includes(groupId), waveId, ...this.need };
  }

  hear(note: GroupNote): void {
    this.toCase.push(received("case.note-group", { ...note, groupId }));
  }

  /** What cannot be decided yet comes again. */
  deliver(which: number): void {
    const [command] = this.toCase.splice(which % this.toCase.length, 1);
    if (command === undefined) return;
    try {
      this.#tell(command);
    } catch (error) {
      if (!(error instanceof NotYet)) throw error;
      this.toCase.push(command);
    }
  }

  /** Allocated, and waiting for a person. */
  get waitsForBooking(): boolean {
    return this.state.toBook?.some((entry) => entry.groupId === groupId) ?? false;
  }

  get letter(): string {
    return this.state.progress[0] as string;
  }

  /** The wave that it waits for comes, and takes up whoever waits. */
  get isToBePlaced(): boolean {
    const { awaiting } = this.state;
    return awaiting?.step === "wave" && this.waves.includes(awaiting.waveId as string);
  }

  /** @throws when the group does not stand where it is, or nobody sees to it. @param expected undefined: it has left, or never came */
  check(expected: string | undefined): void {
    const { letter } = this;
    const isTriedAgain = letter === "W" && expected === "F" && this.isToBePlaced;
    const isLoose = letter === "A" && expected === "W" && this.waitsForBooking;
    if (expected !== undefined && letter !== expected && !isTriedAgain && !isLoose)
      throw new Error(`the case thinks ${letter}, and it is ${expected}`);
    if ("WA".includes(letter) && !isLoose && !this.isToBePlaced)
      throw new Error(`${letter}, and no wave is awaited`);
  }
}

/** Where the case stands after these notes alone, in this order. */
export const letterAfter = (notes: GroupNote[]): string | undefined => {
  const told = notes.map(({ stage, round }) => cases.noteGroup(groupId, stage, round));
  return cases.stateOf(eventsOf(cases.rules, ofTwo, ...told)).progress[0];
};

/** Where the case must think a group stands that has come to rest; a wave tells the case itself whom it has placed. */
export const letters: Readonly<Record<string, string>> = {
  PENDING: "W",
  OFFER_READY: "B",
  RESOLVED: "R",
  DECLINED: "D",
  FAILED: "F",
  COMPENSATION_FAILED: "U",
  NOT_REQUIRED: "N",
};
