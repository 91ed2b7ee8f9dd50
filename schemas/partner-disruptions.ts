/** Owns the shapes of the disruption feed: the events that tell partners of disruptions, read in place of being pushed. */
import Type, { type Static } from "typebox";
import { PageQuery } from "./page.ts";
import { isUrnOf, Urn } from "./urn.ts";
import { Timestamp } from "./vocabulary.ts";

/** Contract, "Scopes": what `disruptions.events.subscribe` tells of. A corrected manifest needs `cases.events.subscribe` as well. */
export const disruptionFeedTypes = ["disruption.detected", "case.opened", "case.amended"] as const;

/** How far back the feed goes: as far as events can be replayed (contract, "Limits"). */
export const feedWindowDays = 7;

export const DisruptionFeedQuery = Type.Object({
  since: Type.Optional(
    Type.Union([Urn("event"), Timestamp], {
      examples: ["2026-11-21T21:30:00Z"],
      description: `A time: what was published from then on. Or the URN of an event: what came after it, so that a reader goes on behind the last one that it has seen. At most ${feedWindowDays} days ago, which is also where the feed begins without it. Beside a \`cursor\` it says nothing.`,
    }),
  ),
  ...PageQuery,
});
export type DisruptionFeedQuery = Static<typeof DisruptionFeedQuery>;

/** As in a webhook's body, with the URN that stands in its header there. */
export const DisruptionEvent = Type.Object(
  {
    urn: Urn("event"),
    type: Type.Enum([...disruptionFeedTypes]),
    occurred_at: Timestamp,
    tenant: Urn("airline"),
    case_urn: Type.Optional(Urn("case")),
    correlation_urn: Urn("correlation"),
    data: Type.Object({}, { additionalProperties: true, description: "As in the webhook of this type." }),
  },
  { title: "DisruptionEvent" },
);
export type DisruptionEvent = Static<typeof DisruptionEvent>;

export const DisruptionFeed = Type.Object(
  {
    items: Type.Array(DisruptionEvent, {
      description:
        "In the order in which they were published: what is published late comes late, and never before what has been read. An event may be told twice; its URN is the same.",
    }),
    nextCursor: Type.Union([Type.String(), Type.Null()], { description: "Opaque; null on the last page." }),
    hasMore: Type.Boolean(),
    resumeCursor: Type.String({
      description:
        "Where this page ends: asked for with it later, the feed goes on with what has come since. Good for as long as the feed goes back.",
      examples: ["MTA0Mjc"],
    }),
  },
  { title: "DisruptionFeed" },
);
export type DisruptionFeed = Static<typeof DisruptionFeed>;

/** Of a `since` that fits its schema. */
export const sinceOf = (text: string): { eventUrn: string } | { at: Date } =>
  isUrnOf(text, ["event"]) ? { eventUrn: text } : { at: new Date(text) };
