// Every command a second time, under another message id and after random others: what a work queue does that has forgotten what
// it delivered. That nothing comes of it is the caller's to assert.
import type { Msg } from "@nats-io/transport-node";
import type { Test } from "tap";
import { randomFrom } from "../../scripts/soaking/scenario.ts";
import type { Streams } from "../../streams/connection.ts";
import { publish } from "../../streams/publish.ts";
import { repetition } from "../harness/environment.ts";

/** This many commands are held back; the next to be repeated is drawn from among them. */
const heldBack = 30;
const mark = "Stopover-Repeated";

/**
 * Begins with the next command.
 * @returns repeats what is still held back, and what that leads to; `quiet` waits until every command is handled
 */
export const repeatCommands = async (
  t: Test,
  streams: Streams,
  quiet: () => Promise<void>,
): Promise<() => Promise<void>> => {
  const random = randomFrom(repetition.seed);
  const held: Msg[] = [];
  const sent: Promise<number>[] = [];
  let seen = 0;
  const repeatOne = (): void => {
    const [message] = held.splice(Math.floor(random() * held.length), 1);
    if (message === undefined) return;
    const { subject, headers } = message;
    const messageId = `${headers?.get("Nats-Msg-Id")}:repeated:${sent.length}`;
    sent.push(publish(streams, { subject, payload: message.string(), messageId, headers: { [mark]: "1" } }));
  };
  const subscription = streams.connection.subscribe("cmd.>", {
    callback: (_, message) => {
      if (message.headers?.has(mark)) return;
      seen += 1;
      held.push(message);
      if (held.length > heldBack) repeatOne();
    },
  });
  await streams.connection.flush();
  return async () => {
    while (held.length > 0) {
      while (held.length > 0) repeatOne();
      await Promise.all(sent);
      await quiet();
    }
    subscription.unsubscribe();
    t.equal(sent.length, seen, `each of ${seen} commands came twice (REPEAT_SEED=${repetition.seed})`);
  };
};
