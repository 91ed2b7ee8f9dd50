/**
 * Owns listening to flight-data vendors (contract, "Vendor webhooks": a long-poll stream): for each airline and vendor one process, which
 * publishes what concerns the airline's own flights. What a prediction means is the flight actor's.
 */
import { setTimeout as delay } from "node:timers/promises";
import { type FlightPrediction, isFlownBy, type NotePrediction } from "../../schemas/flight.ts";
import { urn } from "../../schemas/urn.ts";
import { causedId, freshUuid, mintTraceparent } from "../runtime/clock.ts";
import type { ActorContext } from "../runtime/host.ts";
import { sendCommand, systemCommand } from "../runtime/send.ts";
import { jitteredMs, retryDelayMs } from "../runtime/vendor-call.ts";
import { FeedClaim, type HeardFeed } from "./feed-claim.ts";
import type { FlightFeedPort, FlightPage, ReadOutcome } from "./ports.ts";

export const feedCollection = "flightFeeds";

/** One airline's vendor. */
export interface Feed {
  tenant: string;
  name: string;
  port: FlightFeedPort;
}

type Context = Pick<ActorContext, "clock" | "config" | "documents" | "faults" | "log" | "streams">;

/** How long the vendor may hold a call. */
const waitMs = 25_000;
/** A dead process's feed is taken over within this, and `lookMs`. */
const claimMs = 15_000;
const renewMs = 4_000;
const lookMs = 5_000;
/** A vendor that is no further and answers sooner doesn't hold calls, whatever it tells: it is asked as if it failed. */
const shortMs = 500;
/** A vendor that asks for longer is asked all the same: who is stranded meanwhile nobody would hear of. */
const retryAfterMsMax = 300_000;
/** What is told of flights that should have left so long ago is told of nobody who is stranded now. */
const staleMs = 48 * 3_600_000;
/** No airline sells seats on flights that leave later: such a day is a mistake, and would be kept until it comes. */
const aheadMs = 400 * 86_400_000;

/**
 * From now on each feed is listened to, here or in another process.
 * @param feeds those of the moment
 * @returns the way to stop, which breaks off what is under way and lets another process go on at once
 */
export const startFlightFeeds = (context: Context, feeds: () => Feed[]): (() => Promise<void>) => {
  const stopping = new AbortController();
  const listening = new Map<string, Promise<void>>();
  const look = (): void => {
    for (const { tenant, name } of feeds()) {
      const key = `${tenant}.${name}`;
      if (listening.has(key)) continue;
      const log = context.log.child({ tenant, vendor: name });
      const port = () => feeds().find((feed) => feed.tenant === tenant && feed.name === name)?.port;
      const heard = listenIfFree({ ...context, log }, { tenant, name, port }, stopping.signal)
        .catch((error) => log.warn({ err: error }, "feed broken off; it goes on from where it stood"))
        .finally(() => listening.delete(key));
      listening.set(key, heard);
    }
  };
  const looking = setInterval(look, Math.min(lookMs, context.config.SWEEP_INTERVAL_MS));
  look();
  return async () => {
    clearInterval(looking);
    stopping.abort();
    await Promise.all(listening.values());
  };
};

/** A feed by whatever port it has at the moment: its configuration may change while it is listened to. */
interface Source extends Pick<Feed, "tenant" | "name"> {
  port(): FlightFeedPort | undefined;
}

const listenIfFree = async (context: Context, source: Source, signal: AbortSignal): Promise<void> => {
  const { clock, documents, log } = context;
  const collection = documents.tenant(source.tenant).collection<HeardFeed>(feedCollection);
  const claim = await FeedClaim.take(collection, source.name, { clock, claimMs });
  if (claim === undefined) return;
  const lost = new AbortController();
  const renew = (): void => {
    claim.renew().then(
      (isHeld) => isHeld || lost.abort(),
      (error) => {
        log.warn({ err: error }, "the feed's claim is not renewed");
        if (!claim.isLive) lost.abort();
      },
    );
  };
  const renewing = setInterval(renew, renewMs);
  try {
    await listen(context, source, claim, AbortSignal.any([signal, lost.signal]));
  } finally {
    clearInterval(renewing);
    await claim.release();
  }
};

const listen = async (
  context: Context,
  source: Source,
  claim: FeedClaim,
  signal: AbortSignal,
): Promise<void> => {
  let failures = 0;
  while (!signal.aborted) {
    const port = source.port();
    if (port === undefined) return;
    const poll = { correlationUrn: urn("correlation", freshUuid()), traceparent: mintTraceparent() };
    const { cursor } = claim;
    const askedMs = performance.now();
    const asked = { ...(cursor !== undefined && { cursor }), waitMs };
    const page = await port.poll(asked, { traceparent: poll.traceparent, signal });
    if (signal.aborted) return;
    if (page.outcome === "done") {
      await tell(context, source, poll, page);
      context.faults("after-publish", "flight-feed");
      if (!(await claim.move(page.cursor))) return;
      if (page.cursor === cursor && performance.now() - askedMs < shortMs) failures += 1;
      // No sign of success yet: the cursor that came with the beginning may be forgotten like the one before.
      else if (cursor === undefined) continue;
      else failures = 0;
    } else if (isForgotten(page) && cursor !== undefined) {
      failures += 1;
      context.log.warn({ detail: page.detail, failures }, "the feed begins anew: its cursor is too old");
      if (!(await claim.move(undefined))) return;
    } else {
      failures += 1;
      context.log.warn({ outcome: page.outcome, detail: page.detail, failures }, "the feed does not answer");
    }
    if (failures > 0) await pause(pauseMs(`${source.tenant}.${source.name}`, failures, page), signal);
  }
};

const isForgotten = (page: ReadOutcome<FlightPage>): page is Extract<typeof page, { outcome: "refused" }> =>
  page.outcome === "refused" && page.code === "NOT_FOUND";

/** Half a second, one, two … a minute, or as long as the vendor asks for, if that is longer; and up to a fifth more: it asks all its airlines for the same. */
export const pauseMs = (feed: string, failures: number, page: ReadOutcome<FlightPage>): number => {
  const askedMs = page.outcome === "unavailable" ? (page.retryAfterMs ?? 0) : 0;
  return Math.max(
    retryDelayMs(feed, failures),
    jitteredMs(Math.min(askedMs, retryAfterMsMax), feed, failures),
  );
};

const pause = async (ms: number, signal: AbortSignal): Promise<void> => {
  try {
    await delay(ms, undefined, { signal });
  } catch (error) {
    // The end of listening is what the loop looks at next.
    if (!signal.aborted) throw error;
  }
};

/** Sends what concerns the airline's own flights; one and all confirmed when it returns. */
const tell = async (
  { clock, log, streams }: Context,
  { tenant, name }: Source,
  poll: { correlationUrn: string; traceparent: string },
  { predictions, passedOver }: FlightPage,
): Promise<void> => {
  if (passedOver > 0) log.warn({ count: passedOver }, "the vendor has told what cannot be read");
  const now = clock.now();
  const isOwn = ({ flight }: FlightPrediction): boolean => {
    const inMs = Date.parse(flight.scheduledDeparture) - now.getTime();
    return isFlownBy(tenant, flight.number) && inMs > -staleMs && inMs < aheadMs;
  };
  await Promise.all(
    predictions.filter(isOwn).map((prediction) => {
      const data: NotePrediction = { ...prediction, vendor: name };
      const id = causedId(`${tenant}.${name}`, "prediction", prediction.eventId);
      const command = { id, name: "flight.note-prediction", entity: "", data, now };
      return sendCommand(streams, systemCommand("vendor-adapter", { tenant, ...poll }, command));
    }),
  );
};
