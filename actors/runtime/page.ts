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
    throw new Problem(
      "validation/query",
      "This cursor was not given out by a page. Start again without one.",
      {
        errors: [{ pointer: "?cursor", detail: "not a cursor" }],
      },
    );
  }
  return key;
};

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
}

/** One page of documents in the key's order. */
export const readPage = async <Item>(
  collection: Collection<Document>,
  options: PageOptions,
  map: (document: Document) => Item,
): Promise<Page<Item>> => {
  const { filter, params, key = "_id", direction = -1, projection } = options;
  const limit = limitOf(params);
  const after = typeof params.cursor === "string" ? decodeCursor(params.cursor) : undefined;
  const beyond = after === undefined ? {} : { [key]: direction === 1 ? { $gt: after } : { $lt: after } };
  const bounded = after === undefined ? filter : { $and: [filter, beyond] };
  const found = await collection
    .find(bounded, projection === undefined ? {} : { projection })
    .sort({ [key]: direction })
    .limit(limit + 1)
    .toArray();
  return slicePage(found, limit, (document) => String(document[key]), map);
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
