// The subcommands about dead letters, straight from the streams: they work while no actor runs.

import type { Streams } from "../../streams/connection.ts";
import {
  type DeadLetter,
  dropDeadLetter,
  getDeadLetter,
  listDeadLetters,
  retryDeadLetter,
} from "../../streams/dead-letters.ts";
import { StartFailure } from "../supervisor/start-failure.ts";
import { type Answer, airlineOf, type Subcommand, type Values } from "./subcommand.ts";
import { facts, table } from "./table.ts";

const shownMax = 200;

export const deadLetterSubcommands: Record<string, Subcommand> = {
  "dead list": {
    usage: "dead list [--airline XN]",
    summary: `lists dead letters with their reasons, oldest first, ${shownMax} at most`,
    options: { airline: { type: "string" } },
    async run(values, _, reach) {
      const letters = await lettersOf(await reach.streams(), values);
      const rows = letters.map(({ sequence, at, tenant, actor, subject, reason }) => [
        String(sequence),
        at.toISOString(),
        tenant,
        actor,
        subject,
        reason,
      ]);
      const head = ["NUMBER", "AT", "AIRLINE", "ACTOR", "SUBJECT", "REASON"];
      // A body may hold passengers' details: `dead show` shows it.
      return { json: letters.map(({ body: _body, ...letter }) => letter), text: table(head, rows) };
    },
  },
  "dead show": {
    usage: "dead show <number>",
    summary: "shows a dead letter with its body",
    options: {},
    async run(_, positionals, reach) {
      const [sequence = 0] = numbersOf(positionals);
      const letter = await getDeadLetter(await reach.streams(), sequence);
      if (letter === undefined) throw new StartFailure(`there is no dead letter ${sequence}`);
      const { body, at, ...rest } = letter;
      return { json: letter, text: `${facts({ ...rest, at: at.toISOString() })}\n\n${body}` };
    },
  },
  "dead retry": {
    usage: "dead retry <number>… | --all [--airline XN]",
    summary: "publishes dead letters where they came from, and removes them",
    options: { all: { type: "boolean" }, airline: { type: "string" } },
    run: (values, positionals, reach) =>
      each(values, positionals, reach.streams(), "retried", retryDeadLetter),
  },
  "dead drop": {
    usage: "dead drop <number>… | --all [--airline XN]",
    summary: "removes dead letters for good",
    options: { all: { type: "boolean" }, airline: { type: "string" } },
    run: (values, positionals, reach) =>
      each(values, positionals, reach.streams(), "dropped", dropDeadLetter),
  },
};

function numbersOf(positionals: string[]): number[] {
  if (positionals.length === 0) throw new StartFailure("the number of a dead letter is needed");
  const wrong = positionals.find((text) => !/^[1-9]\d{0,14}$/.test(text));
  if (wrong !== undefined) throw new StartFailure(`${wrong} is no number of a dead letter`);
  return positionals.map(Number);
}

const lettersOf = (streams: Streams, values: Values, from = 1): Promise<DeadLetter[]> =>
  listDeadLetters(streams, {
    ...(values.airline === undefined ? {} : { tenant: airlineOf(values) }),
    from,
    limit: shownMax,
  });

async function each(
  values: Values,
  positionals: string[],
  opening: Promise<Streams>,
  done: string,
  act: (streams: Streams, sequence: number) => Promise<boolean>,
): Promise<Answer> {
  const streams = await opening;
  const sequences = values.all === true ? await everySequence(streams, values) : numbersOf(positionals);
  const results: { sequence: number; found: boolean }[] = [];
  for (const sequence of sequences) results.push({ sequence, found: await act(streams, sequence) });
  const lines = results.map(({ sequence, found }) =>
    found ? `${done} ${sequence}` : `no dead letter ${sequence}`,
  );
  return {
    json: results,
    text: lines.join("\n") || "none",
    failed: results.some(({ found }) => !found) && values.all !== true,
  };
}

/** Those that are there now: a retried letter that dies again comes in behind them, and is left. */
async function everySequence(streams: Streams, values: Values): Promise<number[]> {
  const all: number[] = [];
  while (true) {
    const page = await lettersOf(streams, values, (all.at(-1) ?? 0) + 1);
    all.push(...page.map(({ sequence }) => sequence));
    if (page.length < shownMax) return all;
  }
}
