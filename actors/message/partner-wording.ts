/** Owns the words of e-mails to partners' contacts, in English: what happened, and what brings things back in order. */
import type { PartnerNoticeTemplate } from "../../schemas/partner-notice.ts";
import { type Copy, say, type Value } from "./copy.ts";

/** What these e-mails can tell; nothing of it is a secret. */
export interface PartnerFacts {
  airline: string;
  clientId: string;
  /** When it happened, ISO 8601 UTC. */
  at: string;
  /** Of `webhook-paused`: an operator of the airline wanted it. */
  byOperator?: boolean;
  /** Of `webhook-paused`: where deliveries went; only the host, as the rest of an address may hold a token. */
  host?: string;
  /** Of `limit-met`: in words, as the partner was told. */
  limit?: string;
}

export interface PartnerCopy {
  subject: Copy;
  paragraphs: Copy[];
}

const value = (text = ""): Value => ({ text });

const inWords = (at: string): Value => value(`${at.slice(0, 10)} ${at.slice(11, 16)} UTC`);

const webhookPaused = ({ airline, clientId, at, byOperator, host }: PartnerFacts): PartnerCopy => ({
  subject: say`${value(airline)}: deliveries to your webhook are paused (${value(clientId)})`,
  paragraphs: [
    byOperator
      ? say`An operator paused deliveries to your webhook at ${value(host)} on ${inWords(at)}.`
      : say`Deliveries to your webhook at ${value(host)} were paused on ${inWords(at)}: one of them failed seven times in a row.`,
    say`Events are kept for 7 days and delivered once deliveries resume. Nothing is sent to your webhook before that.`,
    say`To resume, send a test delivery: POST /partner/v1/webhooks/test. Deliveries resume when your webhook answers it with a 2xx status within 10 seconds.`,
    say`What each attempt came to is in your delivery log: GET /partner/v1/webhooks/deliveries.`,
  ],
});

const limitMet = ({ airline, clientId, at, limit }: PartnerFacts): PartnerCopy => ({
  subject: say`${value(airline)}: your rate limit was reached (${value(clientId)})`,
  paragraphs: [
    say`Requests of ${value(clientId)} were refused with status 429 from ${inWords(at)} on. The limit: ${value(limit)}.`,
    say`Refused requests were not carried out. Each answer says in Retry-After when the next one may come.`,
    say`You get this message once an hour at most, however often the limit is reached.`,
  ],
});

const words: Readonly<Record<PartnerNoticeTemplate, (facts: PartnerFacts) => PartnerCopy>> = {
  "webhook-paused": webhookPaused,
  "limit-met": limitMet,
};

export const partnerCopy = (template: PartnerNoticeTemplate, facts: PartnerFacts): PartnerCopy => {
  const { subject, paragraphs } = words[template](facts);
  const signature = say`${value(facts.airline)}. This message was sent automatically to the contact of your registration ${value(facts.clientId)}; answers are not read.`;
  return { subject, paragraphs: [...paragraphs, signature] };
};
