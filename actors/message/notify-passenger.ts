/** Owns what partners have sent (contract, POST notify): to one passenger, so often, from a template; the sending is that of every message by hand. */
import type { Reply } from "../../schemas/command.ts";
import type { NotificationsSent, SendNotificationBody } from "../../schemas/notification.ts";
import type { NotifyPassengerBody, NotSentReason, PassengerNotified } from "../../schemas/partner-notify.ts";
import { Problem } from "../../schemas/problems.ts";
import {
  type AttemptCounter,
  type AttemptsDocument,
  countAttempt,
  takeAttemptBack,
} from "../runtime/attempt-limits.ts";
import type { ActorContext, CommandFunction } from "../runtime/host.ts";
import { KeyedQueue } from "../runtime/serial.ts";
import { sendManually } from "./send-manually.ts";

export const notifyAttempts = "notifyAttempts";

const dayMs = 86_400_000;

/** Counted before it is sent, so that all processes share the bounds; what is not sent is taken back. */
export const notifyPassenger = (context: ActorContext): CommandFunction => {
  const { config, documents, clock } = context;
  const send = sendManually(context);
  const queue = new KeyedQueue();
  return (command, dispatch) => {
    const { tenant, principal, id, correlationUrn } = command;
    const { passengerUrn, templateId, channels } = command.data as NotifyPassengerBody & {
      passengerUrn: string;
    };
    const counters: AttemptCounter[] = [
      {
        key: principal.urn,
        limit: { max: config.PARTNER_NOTIFY_DAILY, windowMs: dayMs },
        what: "messages of one partner",
      },
      {
        key: passengerUrn,
        limit: { max: config.PARTNER_NOTIFY_PASSENGER_DAILY, windowMs: dayMs },
        what: "messages of partners to one passenger",
      },
    ];
    const attempts = documents.tenant(tenant).collection<AttemptsDocument>(notifyAttempts);
    return queue.run(`${tenant}/${principal.urn}`, async (): Promise<Reply<PassengerNotified>> => {
      const { caseUrn } = await context.call<{ caseUrn: string }>("sub-case.open-case-of", {
        ...command,
        params: { passengerUrn },
      });
      await countAttempt(attempts, id, counters, () => clock.now());
      try {
        const data: SendNotificationBody & { caseUrn: string } = {
          ...{ caseUrn, templateId, passengerUrns: [passengerUrn], reason: "Asked for by a partner." },
          ...(channels === undefined ? {} : { channels }),
        };
        const reply = await send({ ...command, data }, dispatch);
        if ("problem" in reply) throw Problem.from(reply.problem);
        const outcome = outcomeOf(reply.ok as NotificationsSent);
        if (outcome.status === "NOT_SENT") await takeAttemptBack(attempts, id, counters);
        return { ok: { caseUrn, passengerUrn, templateId, ...outcome, correlationUrn } };
      } catch (error) {
        // After an outage nobody knows whether it was sent.
        if (error instanceof Problem && error.status < 500) await takeAttemptBack(attempts, id, counters);
        throw error;
      }
    });
  };
};

type Outcome = Pick<PassengerNotified, "status" | "reasonCode" | "messageUrn">;

/** Of the one message that was asked for: made, or passed over. */
const outcomeOf = ({ messages: [message], skipped: [passedOver] }: NotificationsSent): Outcome => {
  if (message === undefined)
    return { status: "NOT_SENT", reasonCode: passedOver?.reasonCode ?? "NOTHING_TO_TELL" };
  const { urn: messageUrn, reasonCode } = message;
  if (reasonCode === undefined) return { status: "QUEUED", messageUrn };
  const told: Partial<Record<typeof reasonCode, NotSentReason>> = {
    NO_CONTACT: "NO_CONTACT",
    SUPPRESSED: "OPTED_OUT",
    NOTHING_TO_TELL: "NOTHING_TO_TELL",
  };
  const reason = told[reasonCode];
  // Given up later, of a request that is sent again: it was sent.
  return reason === undefined
    ? { status: "QUEUED", messageUrn }
    : { status: "NOT_SENT", reasonCode: reason, messageUrn };
};
