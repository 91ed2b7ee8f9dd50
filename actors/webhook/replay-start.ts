/** Owns beginning a replay: whether it may begin, where in the stream it does, and how many events it has. */
import type { Command, Reply } from "../../schemas/command.ts";
import { Problem } from "../../schemas/problems.ts";
import { type ReplayQuery, replayWindowDays } from "../../schemas/replay.ts";
import { aroseAt, placeOfEvent } from "../../streams/event-place.ts";
import { countLog } from "../../streams/read-log.ts";
import { typeFilter } from "../../streams/subjects.ts";
import type { ActorContext, CommandFunction } from "../runtime/host.ts";
import { typesOf } from "./attempt.ts";
import { loadSubscription, type Subscription } from "./queries.ts";
import { conflictWith, isSameRange } from "./replay-decide.ts";
import { loadRunningReplay } from "./replay-queries.ts";
import { type ReplayRange, replayView } from "./replay-state.ts";

const dayMs = 86_400_000;

/** A beginning under way: it may read a day of the stream. */
interface Beginning {
  range: ReplayQuery;
  reply: Promise<Reply>;
}

/**
 * GET /partner/v1/events/replay: the caller's own events, to the caller's own webhook. Of each subscription one is begun at
 * a time by this process: the same again waits for it and has its answer, another is refused.
 */
export const startReplay = (context: ActorContext): CommandFunction => {
  const beginnings = new Map<string, Beginning>();
  return async (command, dispatch) => {
    const documents = context.documents.tenant(command.tenant);
    const { clientId } = command.principal;
    const found = clientId === undefined ? undefined : await loadSubscription(documents, { clientId });
    if (found === undefined) throw new Problem("not-found/resource", "You have no webhook subscription.");
    const range = command.data as ReplayQuery;
    const other = beginnings.get(found.id);
    if (other !== undefined) {
      if (isSameRange(other.range, range)) return other.reply;
      throw new Problem("conflict/state", "Another replay of yours is just beginning.", { state: "RUNNING" });
    }
    const reply = begin(context, found, command, dispatch);
    beginnings.set(found.id, { range, reply });
    try {
      return await reply;
    } finally {
      beginnings.delete(found.id);
    }
  };
};

/** What a look at the documents tells comes first: the stream is read only for what may begin. */
const begin = async (
  context: ActorContext,
  { id: subscriptionId, state }: Subscription,
  command: Command,
  dispatch: Parameters<CommandFunction>[1],
): Promise<Reply> => {
  const { since, until } = command.data as ReplayQuery;
  if (state.status === "PAUSED")
    throw new Problem("conflict/state", "Your subscription is paused. Make a test delivery first.", {
      state: "PAUSED",
    });
  const documents = context.documents.tenant(command.tenant);
  const running = await loadRunningReplay(documents, subscriptionId);
  if (running !== undefined) {
    if (!isSameRange(running.state, { since, until })) throw conflictWith(running);
    return { ok: replayView(running.state, running.id) };
  }
  const data: ReplayRange = {
    ...{ subscriptionId, clientId: state.clientId, since },
    ...(until === undefined ? {} : { until }),
    ...(await rangeOf(context, command.tenant, typesOf(state), { since, until })),
  };
  try {
    return await dispatch("start-replay", { ...command, name: "webhook.start-replay", entity: "", data });
  } catch (error) {
    // Another process was faster.
    if (!(error instanceof Problem) || error.code !== "conflict/state") throw error;
    const faster = await loadRunningReplay(documents, subscriptionId);
    throw faster === undefined ? error : conflictWith(faster);
  }
};

const rangeOf = async (
  context: ActorContext,
  tenant: string,
  types: readonly string[],
  { since, until }: ReplayQuery,
): Promise<Pick<ReplayRange, "types" | "from" | "upTo" | "events">> => {
  const filterSubjects = types.map((type) => typeFilter("evt", type, tenant));
  const from = await sequenceOf(context, filterSubjects, since);
  const last = until === undefined ? undefined : await sequenceOf(context, filterSubjects, until);
  if (last !== undefined && last < from)
    throw new Problem("validation/query", "The range ends before it begins.", {
      errors: [{ pointer: "?until", detail: "is an earlier event than `since`" }],
    });
  const upTo = last ?? (await context.streams.manager.streams.info("EVENTS")).state.last_seq;
  const count = (after: number): Promise<number> =>
    countLog(context.streams, { stream: "EVENTS", filterSubjects, after });
  // What is published in between counts in the second alone: rather too many than too few.
  const behind = await count(upTo);
  const events = Math.max(0, (await count(from - 1)) - behind);
  return { types, from, upTo, events };
};

/**
 * Where an event stands that the partner hears of.
 * @throws Problem validation/replay-window, not-found/resource
 */
const sequenceOf = async (
  { streams, clock }: ActorContext,
  filterSubjects: string[],
  eventUrn: string,
): Promise<number> => {
  const arose = aroseAt(eventUrn);
  if (arose !== undefined && clock.now().getTime() - arose > replayWindowDays * dayMs)
    throw new Problem("validation/replay-window", `${eventUrn} is more than ${replayWindowDays} days old.`);
  const place = await placeOfEvent(streams, filterSubjects, eventUrn);
  if (place === undefined)
    throw new Problem("not-found/resource", `${eventUrn} is no event that you hear of.`);
  return place;
};
