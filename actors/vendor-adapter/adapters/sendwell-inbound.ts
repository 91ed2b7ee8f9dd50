/** Owns the webhooks that SendWell sends: what became of messages, and what their readers say, several in one. */
import Type, { type Static } from "typebox";
import { type MessageState, readersWords } from "../../../schemas/message.ts";
import type { Channel } from "../../../schemas/vocabulary.ts";
import { masked } from "../../runtime/masking.ts";
import { validatorOf, wordFor } from "../http.ts";
import { checked, type InboundDialect, jsonOf, type MessageNotice, vendorSignature } from "../inbound.ts";

const Told = Type.Object({
  eventId: Type.String({ minLength: 1, maxLength: 200 }),
  type: Type.String({ maxLength: 200 }),
  channel: Type.String({ maxLength: 200 }),
  /** Ours; a reader who writes by themselves names none. */
  externalId: Type.Optional(Type.String({ minLength: 1, maxLength: 500 })),
  recipient: Type.String({ minLength: 1, maxLength: 320 }),
  occurredAt: Type.String({ format: "date-time", maxLength: 40 }),
  reason: Type.Optional(Type.String({ maxLength: 2000 })),
});

const isBody = validatorOf(Type.Object({ events: Type.Array(Type.Unknown(), { maxItems: 1000 }) }));
const isTold = validatorOf(Told);

const stateOfType: Readonly<Record<string, MessageState>> = {
  delivered: "delivered",
  bounced: "bounced",
  replied: "replied",
  opted_out: "opted-out",
  opted_in: "opted-in",
};
const channelOfWord: Readonly<Record<string, Channel>> = {
  sms: "SMS",
  email: "EMAIL",
  whatsapp: "WHATSAPP",
};

const detailCharactersMax = 300;

/** None: of a type or in a channel that is nothing to us, or of a message that nobody can tell. */
const noticesOf = (told: Static<typeof Told>): MessageNotice[] => {
  const { eventId, externalId: reference, recipient, occurredAt: at, reason } = told;
  const what = wordFor(told.type, stateOfType);
  const channel = wordFor(told.channel, channelOfWord);
  if (what === undefined || channel === undefined) return [];
  if (reference === undefined && !readersWords.has(what)) return [];
  const detail =
    reason === undefined ? {} : { detail: masked(reason, { recipient }).slice(0, detailCharactersMax) };
  const whose = reference === undefined ? { channel, recipient } : { reference };
  return [{ kind: "message", eventId, what, at, ...whose, ...detail }];
};

export const sendwellInbound: InboundDialect = {
  signatureHeader: "x-vendor-signature",
  verify: vendorSignature,
  /** One that cannot be read stops no other; 422 only where none can. */
  read: (request) => {
    const { events } = checked(jsonOf(request), isBody);
    const good = events.filter((one) => isTold(one));
    if (good.length === 0 && events.length > 0) checked(events[0], isTold);
    const notices = good.flatMap(noticesOf);
    const malformed = events.length - good.length;
    return { notices, passedOver: events.length - notices.length, ...(malformed > 0 && { malformed }) };
  },
};
