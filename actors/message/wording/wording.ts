/** Owns the form of a language's words: each template short for SMS, and in paragraphs for e-mail and WhatsApp. */
import type { NotificationTemplate } from "../../../schemas/notification.ts";
import type { Copy } from "../copy.ts";
import type { Told } from "../facts.ts";

export interface Wording {
  /** Fits three parts of an SMS with values cut to what `render.ts` allows them. */
  sms(told: Told): Copy;
  /** Of the e-mail. */
  subject(told: Told): Copy;
  /** Paragraphs; undefined ones are left out. */
  body(told: Told): (Copy | undefined)[];
}

/** One language. */
export interface Words {
  /** Under an e-mail. */
  signature(told: Told): Copy;
  templates: Readonly<Record<NotificationTemplate, Wording>>;
}
