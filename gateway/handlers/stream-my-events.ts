/** Owns the answer to GET /v1/me/events: a stream in the form of Server-Sent Events. What is on it is `live/passenger-streams.ts`'s. */
import { noneServed } from "../live/passenger-places.ts";
import type { PassengerStreams } from "../live/passenger-streams.ts";
import type { Handler } from "./handlers.ts";

/** @param streams undefined: this gateway reads no log, and serves none */
export const createStreamMyEvents =
  (streams: PassengerStreams | undefined): Handler =>
  async ({ route, principal, presented, lastEventId, query }) => {
    if (streams === undefined || presented === undefined) throw noneServed();
    const { lastEventId: asked = "" } = query as { lastEventId?: string };
    const { queue } = await streams.open({ principal, presented }, lastEventId || asked);
    return {
      status: route.success,
      // nginx, and what has learnt it from there, would hold events back until a buffer is full.
      headers: [...route.headers, ["X-Accel-Buffering", "no"]],
      body: undefined,
      stream: queue,
      onGone: () => void queue.return(),
    };
  };
