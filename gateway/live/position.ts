/** Owns places in the event log as clients carry them: one sequence for each of the two streams, opaque text on the wire. */
import { type TailStream, tailStreams } from "../../streams/tail.ts";

/** Everything of each stream up to and including these sequences is behind it. */
export type Position = Readonly<Record<TailStream, number>>;

const form = /^(\d{1,15})\.(\d{1,15})$/;

export const positionText = ({ EVENTS, INTERNAL }: Position): string => `${EVENTS}.${INTERNAL}`;

/** Undefined: none of ours. */
export const readPosition = (text: string): Position | undefined => {
  const [, events, internal] = form.exec(text) ?? [];
  return events === undefined ? undefined : { EVENTS: Number(events), INTERNAL: Number(internal) };
};

/** Whether all that is behind `from` is behind `position`, too. */
export const covers = (position: Position, from: Position): boolean =>
  tailStreams.every((stream) => position[stream] >= from[stream]);

/** Whether the entry is behind the position. */
export const isBehind = (
  { stream, sequence }: { stream: TailStream; sequence: number },
  position: Position,
): boolean => sequence <= position[stream];
