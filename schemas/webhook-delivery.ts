/** Owns the wire shape of the webhooks' delivery log: what was attempted, how each attempt ended, and how the log is searched. */
import Type, { type Static } from "typebox";
import { PageQuery } from "./page.ts";
import { Urn } from "./urn.ts";
import { Timestamp } from "./vocabulary.ts";

export const deliveryStatuses = ["PENDING", "DUE", "DELIVERED", "EXHAUSTED"] as const;

const DeliveryStatus = Type.Enum([...deliveryStatuses], {
  description:
    "`PENDING`: tried again at `nextAttemptAt`; `DUE`: it is its turn, or it waits for a paused subscription; `DELIVERED`: a 2xx answer; `EXHAUSTED`: given up.",
});

const AttemptView = Type.Object(
  {
    attempt: Type.Integer({ minimum: 1, maximum: 7, examples: [1] }),
    at: Timestamp,
    latencyMs: Type.Integer({
      minimum: 0,
      description: "From its beginning to the answer's end.",
      examples: [84],
    }),
    status: Type.Optional(
      Type.Integer({ description: "What the receiver answered; absent: nothing.", examples: [503] }),
    ),
    failure: Type.Optional(
      Type.Enum(["TIMEOUT", "CONNECTION", "TARGET_REFUSED", "ANSWER_TOO_LONG"], {
        description: "Why no complete answer came.",
      }),
    ),
    excerpt: Type.Optional(
      Type.String({
        maxLength: 200,
        description:
          "The beginning of the answer in one line, without what looks like a contact or a secret; of no answer, the error's name. Text that a receiver wrote: to be shown as text only.",
        examples: ["upstream is busy"],
      }),
    ),
  },
  { title: "WebhookAttempt" },
);

export const DeliveryView = Type.Object(
  {
    urn: Urn("delivery"),
    clientId: Type.String({ description: "Whose webhook it goes to.", examples: ["XN-tower"] }),
    eventUrn: Urn("event"),
    eventType: Type.String({ examples: ["subcase.offer-ready"] }),
    caseUrn: Type.Optional(Urn("case")),
    replayUrn: Type.Optional(Urn("replay")),
    status: DeliveryStatus,
    firstAttemptAt: Timestamp,
    nextAttemptAt: Type.Optional(Timestamp),
    settledAt: Type.Optional(Timestamp),
    attempts: Type.Array(AttemptView, { maxItems: 7, description: "In their order." }),
  },
  { title: "WebhookDelivery" },
);
export type DeliveryView = Static<typeof DeliveryView>;

/** All optional, and all that are given must hold. */
const filters = {
  caseUrn: Type.Optional(Urn("case")),
  status: Type.Optional(DeliveryStatus),
  from: Type.Optional(
    Type.String({ ...Timestamp, description: "Of events that occurred at this moment and after." }),
  ),
  to: Type.Optional(
    Type.String({
      ...Timestamp,
      description: "Of events that occurred before this moment.",
      examples: ["2026-11-22T21:30:00Z"],
    }),
  ),
};

export const PartnerDeliverySearch = Type.Object({ ...filters, ...PageQuery });
export const DeliverySearch = Type.Object({
  clientId: Type.Optional(
    Type.String({
      pattern: "^[A-Za-z0-9_-]{1,64}$",
      description: "A partner's client id, or `alerts_<airline code>` for the airline's alert channel.",
      examples: ["XN-tower"],
    }),
  ),
  ...filters,
  ...PageQuery,
});
export type DeliverySearch = Static<typeof DeliverySearch>;
