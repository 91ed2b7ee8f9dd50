/** Owns the shapes of a replay of events to a partner's webhook: how it is asked for, and how far it is. */
import Type, { type Static } from "typebox";
import { Urn } from "./urn.ts";
import { Timestamp } from "./vocabulary.ts";

/** Contract, "Limits": event replay window. */
export const replayWindowDays = 7;

export const ReplayQuery = Type.Object({
  since: Type.Unsafe<string>({
    ...Urn("event"),
    description: `URN of the first event to be told again, as it stood in \`X-Service-Event-Urn\`; at most ${replayWindowDays} days old.`,
  }),
  until: Type.Optional(
    Type.Unsafe<string>({
      ...Urn("event"),
      description:
        "URN of the last event to be told again. Left out: up to the newest when the replay begins.",
    }),
  ),
});
export type ReplayQuery = Static<typeof ReplayQuery>;

/** RUNNING waits while the subscription is paused. STOPPED: the receiver failed too often, or may hear none of it any more. */
export const replayStatuses = ["RUNNING", "COMPLETED", "STOPPED"] as const;

export const ReplayView = Type.Object(
  {
    urn: Urn("replay"),
    status: Type.Enum([...replayStatuses], {
      description:
        "`RUNNING` waits while the subscription is paused. `STOPPED`: too many events were refused, or your scopes allow none of these types any more; begin again behind `lastEventUrn`.",
    }),
    since: Urn("event"),
    until: Type.Optional(Urn("event")),
    events: Type.Integer({
      minimum: 0,
      description: "About how many there were to be told when it began; a replay may end with fewer or more.",
      examples: [120],
    }),
    delivered: Type.Integer({ minimum: 0, description: "Told, and taken at once.", examples: [41] }),
    failed: Type.Integer({
      minimum: 0,
      description: "Told, and not taken at once: each is tried again by the schedule of every delivery.",
      examples: [1],
    }),
    skipped: Type.Integer({
      minimum: 0,
      description: "Passed over: of a type that your scopes have not allowed any more since it began.",
      examples: [0],
    }),
    lastEventUrn: Type.Optional(
      Type.Unsafe<string>({
        ...Urn("event"),
        description: "The last one that was told; absent before the first.",
      }),
    ),
    startedAt: Timestamp,
    endedAt: Type.Optional(Timestamp),
  },
  {
    title: "Replay",
    description:
      "Events told again under their own URNs, with their own bodies, in the order in which they arose; timestamps and signatures are fresh.",
  },
);
export type ReplayView = Static<typeof ReplayView>;
