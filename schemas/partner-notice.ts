/** Owns what is told of e-mails to partners' contacts: which there are, and how each ended. */

/** `webhook-paused`: all attempts of a delivery failed, or an operator wanted it; `limit-met`: requests were refused for their rate. */
export const partnerNoticeTemplates = ["webhook-paused", "limit-met"] as const;
export type PartnerNoticeTemplate = (typeof partnerNoticeTemplates)[number];

/** One e-mail, without its address and words; times are ISO 8601 UTC. */
export interface PartnerNoticeView {
  urn: string;
  clientId: string;
  template: PartnerNoticeTemplate;
  status: "QUEUED" | "SENT" | "FAILED";
  queuedAt: string;
  sentAt?: string;
  /** Of a failed one: why. */
  detail?: string;
}
