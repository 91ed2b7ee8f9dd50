/** Owns the envelope of every list: its query parameters and the page it answers with (contract, "Common envelopes" and "Limits"). */
import Type, { type Static, type TSchema } from "typebox";
import type { Page } from "./command.ts";

/** A higher `limit` is clamped to this, not refused. */
export const pageLimitMax = 200;

export const PageQuery = {
  limit: Type.Optional(
    Type.Integer({
      minimum: 1,
      default: 50,
      description: `Items on the page; above ${pageLimitMax} it counts as ${pageLimitMax}.`,
    }),
  ),
  cursor: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 500,
      description: "`nextCursor` of the page before; absent: the first page.",
    }),
  ),
};

/** What the schema checks, as a type: `Page` of the item's own type. */
export const pageOf = <Item extends TSchema>(item: Item, title: string) =>
  Type.Unsafe<Page<Static<Item>>>(
    Type.Object(
      {
        items: Type.Array(item),
        nextCursor: Type.Union([Type.String(), Type.Null()], {
          description: "Opaque; null on the last page.",
        }),
        hasMore: Type.Boolean(),
      },
      { title },
    ),
  );
