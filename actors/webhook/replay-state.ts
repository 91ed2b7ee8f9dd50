/** Owns what a replay is, how its events change it, and what its partner sees of it. */
import type { ReplayView } from "../../schemas/replay.ts";
import { urn } from "../../schemas/urn.ts";
import type { ReplayOutcome } from "./attempt.ts";

/** What is told again, settled when the replay begins. */
export interface ReplayRange {
  subscriptionId: string;
  clientId: string;
  /** URNs as the partner gave them. */
  since: string;
  until?: string;
  /** What its subscription could hear of then: nothing that is allowed later comes in between. */
  types: readonly string[];
  /** Sequences in EVENTS: the first one, and where the stream or the range ended. */
  from: number;
  upTo: number;
  /** About how many of them the partner hears, to be shown: what is told decides on the end. */
  events: number;
}

interface ReplayCommon extends ReplayRange {
  delivered: number;
  failed: number;
  /** Passed over without a POST. */
  skipped: number;
  /** Failures since the last one that was taken. */
  failedInRow: number;
  /** Everything up to here is done; one before the first at the beginning. */
  position: number;
  lastEventUrn?: string;
  startedAt: Date;
}

/** `runningFor` is the subscription's id under a unique index: of a subscription one replay runs at a time. */
export type ReplayState =
  | (ReplayCommon & { status: "RUNNING"; runningFor: string })
  | (ReplayCommon & { status: "COMPLETED" | "STOPPED"; endedAt: Date });

export type ReplayEvent =
  | { type: "replay.started"; range: ReplayRange; at: Date }
  | { type: "replay.noted"; sequence: number; eventUrn: string; outcome: ReplayOutcome }
  | { type: "replay.ended"; status: "COMPLETED" | "STOPPED"; at: Date };

/** Undefined before the first event only. */
export const evolveReplay = (state: ReplayState | undefined, event: ReplayEvent): ReplayState => {
  if (event.type === "replay.started") {
    const { range, at } = event;
    return {
      ...range,
      status: "RUNNING",
      runningFor: range.subscriptionId,
      delivered: 0,
      failed: 0,
      skipped: 0,
      failedInRow: 0,
      position: range.from - 1,
      startedAt: at,
    };
  }
  if (state?.status !== "RUNNING") throw new TypeError(`${event.type} of a replay that is not running`);
  if (event.type === "replay.ended") {
    const { runningFor: _, ...rest } = state;
    return { ...rest, status: event.status, endedAt: event.at };
  }
  const { sequence: position, eventUrn: lastEventUrn, outcome } = event;
  switch (outcome) {
    case "skipped":
      return { ...state, position, skipped: state.skipped + 1 };
    case "delivered":
      return { ...state, position, lastEventUrn, delivered: state.delivered + 1, failedInRow: 0 };
    case "failed": {
      const { failed, failedInRow } = state;
      return { ...state, position, lastEventUrn, failed: failed + 1, failedInRow: failedInRow + 1 };
    }
  }
};

export const replayView = (state: ReplayState, id: string): ReplayView => ({
  urn: urn("replay", id),
  status: state.status,
  since: state.since,
  ...(state.until === undefined ? {} : { until: state.until }),
  events: state.events,
  delivered: state.delivered,
  failed: state.failed,
  skipped: state.skipped,
  ...(state.lastEventUrn === undefined ? {} : { lastEventUrn: state.lastEventUrn }),
  startedAt: state.startedAt.toISOString(),
  ...(state.status === "RUNNING" ? {} : { endedAt: state.endedAt.toISOString() }),
});
