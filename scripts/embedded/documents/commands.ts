/** Owns the table of commands: which exist, and what they may be given; everything outside it is refused. */
import type { Document } from "bson";
import { adminCommands } from "./admin-commands.ts";
import { type Command, commandNameOf, refuseOtherFields } from "./command-context.ts";
import { notSupported } from "./errors.ts";
import { readCommands } from "./read-commands.ts";
import { writeCommands } from "./write-commands.ts";

export const COMMANDS: ReadonlyMap<string, Command> = new Map(
  Object.entries({ ...adminCommands, ...readCommands, ...writeCommands }),
);

const COMMON_FIELDS = new Set([
  "$db",
  "$readPreference",
  "$clusterTime",
  "lsid",
  "txnNumber",
  "comment",
  "maxTimeMS",
  "readConcern",
  "writeConcern",
]);
const READ_CONCERNS = new Set([undefined, "local", "available", "majority", "linearizable"]);

/** The command that a request names; refuses unknown ones, transactions and fields outside the promise. */
export function commandFor(body: Document): Command {
  const name = commandNameOf(body);
  const command = COMMANDS.get(name);
  if (!command) throw notSupported(`the command '${name}'`);
  if (body.startTransaction !== undefined || body.autocommit !== undefined)
    throw notSupported("transactions");
  if (!READ_CONCERNS.has(body.readConcern?.level))
    throw notSupported(`the read concern '${body.readConcern.level}'`);
  if (command.fields) refuseOtherFields(body, new Set([name, ...command.fields, ...COMMON_FIELDS]), name);
  return command;
}
