/** Owns the rules of replays: one at a time for each subscription, each event counted once, and when one is over. */
import { Problem } from "../../schemas/problems.ts";
import { urn } from "../../schemas/urn.ts";
import { splitName } from "../../streams/subjects.ts";
import { freshId } from "../runtime/clock.ts";
import type { Decider, Outgoing, Received } from "../runtime/decider.ts";
import type { ReplayOutcome } from "./attempt.ts";
import { type Replay, replayIndexes, replays } from "./replay-queries.ts";
import {
  evolveReplay,
  type ReplayEvent,
  type ReplayRange,
  type ReplayState,
  replayView,
} from "./replay-state.ts";

/** A receiver that takes none of so many is not there: the rest of a week would only become retries. */
export const failuresInRowMax = 20;
/** One that takes some and not others would else get a week's events seven times. */
export const failuresMax = 100;

/** `webhook.note-replayed`: one event of the replay was told, or passed over. */
export interface NoteReplayed {
  sequence: number;
  eventUrn: string;
  outcome: ReplayOutcome;
  /** Nothing of the replay stands behind it. */
  isLast: boolean;
}

/** `webhook.end-replay`: nothing is left of it, or nothing of it may be told any more. */
export interface EndReplay {
  status: "COMPLETED" | "STOPPED";
}

export const decideReplay = (state: ReplayState | undefined, command: Received): ReplayEvent[] => {
  const [, verb] = splitName(command.name);
  if (verb === "start-replay") return start(state, command);
  if (state === undefined) throw new Problem("not-found/resource", "No such replay.");
  if (state.status !== "RUNNING") return [];
  if (verb === "note-replayed") return note(state, command);
  if (verb === "end-replay") {
    const { status } = command.data as EndReplay;
    return [{ type: "replay.ended", status, at: command.now }];
  }
  throw new TypeError(`not a replay's command: ${command.name}`);
};

/** Asked for again while it runs it is the same replay: clients and proxies repeat a GET. */
const start = (state: ReplayState | undefined, command: Received): ReplayEvent[] => {
  const range = command.data as ReplayRange;
  if (state === undefined) return [{ type: "replay.started", range, at: command.now }];
  if (isSameRange(state, range)) return [];
  throw anotherRuns(state);
};

type Asked = Pick<ReplayRange, "since" | "until">;

export const isSameRange = (one: Asked, other: Asked): boolean =>
  one.since === other.since && one.until === other.until;

const anotherRuns = (state: ReplayState): Problem =>
  new Problem(
    "conflict/state",
    `Another replay is under way: ${state.delivered + state.failed} events of about ${state.events} are told.`,
    { state: state.status },
  );

/** The same for whoever asked, with the one that runs. */
export const conflictWith = ({ id, state }: Replay): Problem => {
  const { code, message, members } = anotherRuns(state);
  const replay = replayView(state, id);
  return new Problem(code, `${message} It is ${replay.urn}.`, { ...members, replay });
};

/** The count of events ends nothing: it is as good as the moment it was made in. An event that comes again, because a process died before it acknowledged it, counts once. */
const note = (state: ReplayState & { status: "RUNNING" }, command: Received): ReplayEvent[] => {
  const { sequence, eventUrn, outcome, isLast } = command.data as NoteReplayed;
  if (sequence <= state.position) return [];
  const noted: ReplayEvent = { type: "replay.noted", sequence, eventUrn, outcome };
  const after = evolveReplay(state, noted);
  if (isLast || sequence >= state.upTo)
    return [noted, { type: "replay.ended", status: "COMPLETED", at: command.now }];
  if (after.failedInRow >= failuresInRowMax || after.failed >= failuresMax)
    return [noted, { type: "replay.ended", status: "STOPPED", at: command.now }];
  return [noted];
};

const replayOutgoing = (
  event: ReplayEvent,
  state: ReplayState,
  _command: Received,
  id: string,
): Outgoing[] => {
  if (event.type === "replay.noted") return [];
  const { clientId, subscriptionId, status } = state;
  const data = {
    replay: urn("replay", id),
    subscription: urn("subscription", subscriptionId),
    clientId,
    status,
  };
  return [{ to: "internal", type: "webhook.replay-changed", id, data }];
};

export const replayDecider: Decider<ReplayState, ReplayEvent> = {
  actor: "webhook",
  kind: "replay",
  ...replays,
  commands: ["start-replay", "note-replayed", "end-replay"],
  indexes: replayIndexes,
  technical: new Set(["replay.noted"]),
  idempotent: ({ name }) => name === "webhook.note-replayed",
  decide: decideReplay,
  evolve: evolveReplay,
  outgoing: replayOutgoing,
  locate: ({ data }) => {
    const { subscriptionId } = data as Partial<ReplayRange>;
    return subscriptionId === undefined ? undefined : { runningFor: subscriptionId };
  },
  create: ({ name, tenant, now }) => (name === "webhook.start-replay" ? freshId(tenant, now) : undefined),
  view: (state, { id }) => replayView(state, id),
  audit: ({ command, after }) =>
    command.name === "webhook.start-replay"
      ? {
          action: "webhook.replay",
          before: null,
          after: { since: after.since, until: after.until, events: after.events },
        }
      : undefined,
};
