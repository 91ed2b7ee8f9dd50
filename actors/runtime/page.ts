/** Owns cursor pages: keyset over an immutable key, so a page stays as it is while items are added. */
import type { Collection, Document, Filter } from "mongodb";
import type { Page } from "../../schemas/command.ts";
import { pageLimitMax } from "../../schemas/page.ts";
import { Problem } from "../../schemas/problems.ts";

const defaultLimit = 50;

/** Cursors are opaque to clients: the key of the last item, in base64url. */
export const encodeCursor = (key: string): string => Buffer.from(key).toString("base64url");

/** @throws Problem validation/query for a text that no page gave out */
export const decodeCursor = (cursor: string): string => {
  const key = Buffer.from(cursor, "base64url").toString();
  if (key.length === 0 || key.length > 300 || encodeCursor(key) !== cursor || !/^[\x21-\x7e]+$/.test(key)) {
    throw notACursor();
  }
  return key;
};

/** The refusal of a cursor that no page gave out. */
export const notACursor = (): Problem =>
  new Problem("validation/query", "This cursor was not given out by a page. Start again without one.", {
    errors: [{ pointer: "?cursor", detail: "not a cursor" }],
  });

/** 1 to {@link pageLimitMax}; above it is clamped. */
export const limitOf = (params: { limit?: unknown }): number =>
  Math.min(typeof params.limit === "number" ? params.limit : defaultLimit, pageLimitMax);

export interface PageOptions {
  filter: Filter<Document>;
  params: { limit?: unknown; cursor?: unknown };
  /** The immutable, unique key that orders the list; default `_id`. */
  key?: string;
  /** 1: oldest first; -1 (default): newest first. */
  direction?: 1 | -1;
  projection?: Document;
  /** Name of the index to read by, where the reader knows better than a planner. */
  hint?: string | undefined;
}

/** One page of documents in the key's order. */
export const readPage = async <Item>(
  collection: Collection<Document>,
  options: PageOptions,
  map: (document: Document) => Item,
): Promise<Page<Item>> => {
  const { filter, params, key = "_id", direction = -1, projection, hint } = options;
  const limit = limitOf(params);
  const after = typeof params.cursor === "string" ? decodeCursor(params.cursor) : undefined;
  const beyond = after === undefined ? {} : { [key]: direction === 1 ? { $gt: after } : { $lt: after } };
  const bounded = after === undefined ? filter : { $and: [filter, beyond] };
  const found = await collection
    .find(bounded, {
      ...(projection === undefined ? {} : { projection }),
      ...(hint === undefined ? {} : { hint }),
    })
    .sort({ [key]: direction })
    .limit(limit + 1)
    .toArray();
  return slicePage(found, limit, (document) => String(document[key]), map);
};

/**
 * One page of a list that stands in one piece, in its order, and that nothing is ever taken out of.
 * @param keyOf immutable and unique
 */
export const pageOf = <Found, Item>(
  all: Found[],
  params: { limit?: unknown; cursor?: unknown },
  keyOf: (item: Found) => string,
  map: (item: Found) => Item,
): Page<Item> => {
  const after = typeof params.cursor === "string" ? decodeCursor(params.cursor) : undefined;
  const last = after === undefined ? -1 : all.findIndex((item) => keyOf(item) === after);
  if (after !== undefined && last === -1) throw notACursor();
  const limit = limitOf(params);
  return slicePage(all.slice(last + 1, last + 2 + limit), limit, keyOf, map);
};

/** Turns up to `limit + 1` items into a page: one more than asked for tells that there is a next. */
export const slicePage = <Found, Item>(
  found: Found[],
  limit: number,
  keyOf: (item: Found) => string,
  map: (item: Found) => Item,
): Page<Item> => {
  const shown = found.slice(0, limit);
  const last = shown.at(-1);
  const hasMore = found.length > limit;
  return {
    items: shown.map(map),
    nextCursor: hasMore && last !== undefined ? encodeCursor(keyOf(last)) : null,
    hasMore,
  };
};
