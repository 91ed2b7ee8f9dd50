/** Wires the message actor: what is written to passengers, by sagas and by hand, and what carriers tell of it later. */
import { smtpVendor } from "../../schemas/vendor-call.ts";
import { attemptIndexes } from "../runtime/attempt-limits.ts";
import { derivedId } from "../runtime/clock.ts";
import type { Decider, Received } from "../runtime/decider.ts";
import type { Actor, ActorContext } from "../runtime/host.ts";
import { gatherFor } from "./compose.ts";
import { messages } from "./messages.ts";
import { notifyAttempts, notifyPassenger } from "./notify-passenger.ts";
import { mailPatience, partnerNoticeQueries, partnerNotices } from "./partner-notices.ts";
import { contacts } from "./preferences.ts";
import { messageQueries } from "./queries.ts";
import { recordStatus } from "./record-status.ts";
import { sendManually } from "./send-manually.ts";
import type { MessageEvent, MessageState } from "./state.ts";

/** Mail servers keep no books to look into: each doubtful try may be one more mail, under the same Message-ID; three in all. */
const doubtfulMailsMax = 2;

const idOf = ({ tenant, now, data }: Received): string =>
  derivedId(tenant, `message/${(data as { reference: string }).reference}`, now);

const decider = (context: ActorContext): Decider<MessageState, MessageEvent> => ({
  ...messages(
    {
      stepDeadlineMs: context.config.STEP_DEADLINE_MS,
      sealKey: context.config.sealKey,
      doubtfulTriesMax: (vendor) => (vendor === smtpVendor ? doubtfulMailsMax : Number.POSITIVE_INFINITY),
      patience: (vendor) => (vendor === smtpVendor ? mailPatience : 1),
    },
    idOf,
  ),
  gather: (command, state) => gatherFor(context, command, state),
});

export const messageActor = (context: ActorContext): Actor => ({
  name: "message",
  deciders: [decider(context), contacts, partnerNotices(context)],
  queries: { ...messageQueries(context), ...partnerNoticeQueries(context) },
  commands: {
    "record-status": recordStatus(context),
    "send-manually": sendManually(context),
    "notify-passenger": notifyPassenger(context),
  },
  collections: { [notifyAttempts]: attemptIndexes },
  concurrency: 64,
});
