/** Owns what every command is given and how it reads its fields; the commands themselves are elsewhere. */
import type { Document } from "bson";
import type { Catalog } from "./catalog.ts";
import type { Collection } from "./collection.ts";
import type { Cursors } from "./cursors.ts";
import { CommandError, notSupported } from "./errors.ts";
import { isDocument } from "./values.ts";
import type { Reply, Request } from "./wire.ts";

/** What a command may use. */
export interface CommandContext {
  catalog: Catalog;
  cursors: Cursors;
  /** `host:port` as clients reach it. */
  address: string;
  connectionId: number;
  nowMs: number;
  database: string;
  body: Document;
  sequences: Request["sequences"];
}

export interface Command {
  /** The fields it takes beside those that any command may have; undefined: any (a handshake grows with drivers). */
  fields: readonly string[] | undefined;
  /** Whether it may change the store, and so runs in a transaction. */
  writes?: boolean;
  /** Whether a driver may send it again with the same transaction number. */
  retryable?: boolean;
  run(context: CommandContext): Reply;
}

export const commandNameOf = (body: Document): string => Object.keys(body)[0] ?? "";

/** Refuses fields outside `allowed`, save those that are switched off. */
export function refuseOtherFields(fields: Document, allowed: ReadonlySet<string>, where: string): void {
  for (const [field, value] of Object.entries(fields)) {
    const isOff = value === undefined || value === null || value === false;
    if (!allowed.has(field) && !isOff) throw notSupported(`the field '${field}' of ${where}`);
  }
}

/** The namespace that a command names in its first field. */
export function namespaceOf({ body, database }: CommandContext): string {
  const collection = body[commandNameOf(body)];
  if (typeof collection !== "string" || collection === "")
    throw new CommandError(73, "Invalid namespace specified");
  return `${database}.${collection}`;
}

export const collectionOf = (context: CommandContext): Collection | undefined =>
  context.catalog.get(namespaceOf(context));

/** A count that a client sent: a whole number of at least `minimum`; undefined stays undefined. */
export function countOf(value: unknown, field: string, minimum = 0): number | undefined {
  if (value === undefined || value === null) return undefined;
  const count = Number(value);
  if (Number.isSafeInteger(count) && count >= minimum) return count;
  throw new CommandError(2, `The field '${field}' must be a whole number of at least ${minimum}`);
}

/** An optional document that a client sent. */
export function documentOf(value: unknown, field: string): Document | undefined {
  if (value === undefined || value === null) return undefined;
  if (isDocument(value)) return value;
  throw new CommandError(14, `The field '${field}' must be a document`);
}

/** An index's name or key. */
export function hintOf(value: unknown): string | Document | undefined {
  return typeof value === "string" ? value : documentOf(value, "hint");
}

/** Write concerns stronger than one member can give would never be met. */
export function checkWriteConcern(body: Document): void {
  const { w } = body.writeConcern ?? {};
  if (w === undefined || w === "majority" || w === 0 || w === 1) return;
  throw notSupported(`the write concern ${JSON.stringify(w)}`);
}
