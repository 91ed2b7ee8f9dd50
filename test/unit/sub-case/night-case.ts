// The case of the random model's group: it hears of waves and of its group in any order, is closed and opened again, and what it sends
// to the group is under way until it is delivered.

import { placeable } from "../../../actors/case/capacity.ts";
import type { CaseState } from "../../../actors/case/state.ts";
import type { Received } from "../../../actors/runtime/decider.ts";
import type { GroupNote } from "../../../schemas/group-note.ts";
import { Problem } from "../../../schemas/problems.ts";
import { evening, eventsOf, folded, received, supervisor } from "../../harness/given.ts";
import * as cases from "../case/planned-case.ts";

/** A case of two groups, the second of which keeps it from being settled. */
const ofTwo = cases.plannedCase([cases.pair, cases.pair], cases.economy);
const [groupId = "", other = ""] = cases.groupIds(ofTwo);
const [group] = cases.stateOf(ofTwo).groups;

export class NightCase {
  state: CaseState = cases.stateOf(eventsOf(cases.rules, ofTwo, cases.note(other, "B")));
  /** What is on its way to the case, and from it to the group. */
  readonly toCase: Received[] = [];
  readonly toGroup: Received[] = [];
  /** Waves that were asked for and have not run yet. */
  readonly waves: string[] = [this.state.waveId as string];
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

  /** A wave that was asked for runs. @returns whether it has a place for the group; undefined: none was asked for */
  runWave(): boolean | undefined {
    const waveId = this.waves.shift();
    if (waveId === undefined) return undefined;
    const allocated = placeable(this.state).map((i) => this.state.groups[i]?.groupId as string);
    this.toCase.push(received("case.note-wave", { waveId, allocated, unplaced: [] }));
    return allocated.includes(groupId);
  }

  hear({ stage, round }: GroupNote): void {
    this.toCase.push(cases.noteGroup(groupId, stage, round));
  }

  deliver(which: number): void {
    const [command] = this.toCase.splice(which % this.toCase.length, 1);
    if (command !== undefined) this.#tell(command);
  }

  /** @throws when the group does not stand where it is, or nobody sees to it. @param expected undefined: it has left, or never came */
  check(expected: string | undefined): void {
    const [letter = ""] = this.state.progress;
    if (expected !== undefined && letter !== expected)
      throw new Error(`the case thinks ${letter}, and it is ${expected}`);
    const { awaiting } = this.state;
    const comes = awaiting?.step === "wave" && this.waves.includes(awaiting.waveId as string);
    if ("WA".includes(letter) && !comes) throw new Error(`${letter}, and no wave is awaited`);
  }
}

/** Where the case stands after these notes alone, in this order. */
export const letterAfter = (notes: GroupNote[]): string | undefined => {
  const told = notes.map(({ stage, round }) => cases.noteGroup(groupId, stage, round));
  return cases.stateOf(eventsOf(cases.rules, ofTwo, ...told)).progress[0];
};
