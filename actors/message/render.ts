/** Owns a message's content on its channel: the words of its language, and values that cannot break out of them. */
import { escapedHtml } from "../../schemas/html.ts";
import type { NotificationTemplate } from "../../schemas/notification.ts";
import type { Channel, Language } from "../../schemas/vocabulary.ts";
import { type Copy, joined, type Value } from "./copy.ts";
import type { Told } from "./facts.ts";
import { de } from "./wording/de.ts";
import { en } from "./wording/en.ts";
import { es } from "./wording/es.ts";
import { fr } from "./wording/fr.ts";
import { pt } from "./wording/pt.ts";
import type { Words } from "./wording/wording.ts";

const languages: Readonly<Record<Language, Words>> = { en, es, pt, fr, de };

/** What goes out. */
export interface Content {
  /** E-mail alone has one. */
  subject?: string;
  text: string;
  /** Of an e-mail; the same as the text. */
  html?: string;
}

/** One line of visible text: values come from hotels and manifests, and may hold line ends, or marks that turn the text round. */
const plain = ({ text }: Value): string =>
  text
    .normalize("NFC")
    .replace(/[\p{C}\p{Zl}\p{Zp}]+/gu, " ")
    .replace(/\s+/gu, " ")
    .trim();

const cutTo = (text: string, characters: number): string => {
  const all = [...text];
  return all.length <= characters ? text : `${all.slice(0, characters - 1).join("")}…`;
};

/** What turns text bold, italic or struck through in WhatsApp; a link keeps its meaning with them encoded (RFC 3986, 2.1). */
const markup = /[*_~`]/g;
const encoded = (mark: string): string => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`;
const forWhatsApp = (value: Value): string =>
  value.isLink ? plain(value).replace(markup, encoded) : plain(value).replace(markup, " ").trim();

const forHtml = (value: Value): string =>
  value.isLink
    ? `<a href="${escapedHtml(plain(value))}">${escapedHtml(plain(value))}</a>`
    : escapedHtml(plain(value));

/** 3GPP TS 23.038, 6.2.1: the default alphabet; signs of its extension count twice. */
const gsm7 =
  "@£$¥èéùìòÇ\nØø\rÅåΔ_ΦΓΛΩΠΨΣΘΞÆæßÉ !\"#¤%&'()*+,-./0123456789:;<=>?¡ABCDEFGHIJKLMNOPQRSTUVWXYZÄÖÑÜ§¿abcdefghijklmnopqrstuvwxyzäöñüà";
const gsm7Twice = "^{}\\[~]|€\f";
const gsm7Cost = new Map<string, number>([
  ...[...gsm7].map((sign) => [sign, 1] as const),
  ...[...gsm7Twice].map((sign) => [sign, 2] as const),
]);

/** Parts that a text takes as SMS: 160 signs of the default alphabet, 153 each in several; 70 and 67 where one sign is none of it. */
export const smsParts = (text: string): number => {
  const costs = [...text].map((sign) => gsm7Cost.get(sign));
  const isGsm7 = costs.every((cost) => cost !== undefined);
  const [length, one, more] = isGsm7
    ? [costs.reduce<number>((sum, cost) => sum + (cost ?? 0), 0), 160, 153]
    : [text.length, 70, 67];
  return length <= one ? 1 : Math.ceil(length / more);
};

const smsPartsMax = 3;
/** What values are cut to until the whole fits; links are left out last, as one cut short leads nowhere. */
const smsCuts = [40, 24, 12, 6];
const smsLinkCharactersMax = 160;

/** Dashes and the like that cost the whole text its alphabet. */
const inGsm7 = (text: string): string =>
  text
    .replace(/[‘’ʼ]/g, "'")
    .replace(/[“”]/g, '"')
    .replace(/[–—]/g, "-")
    .replace(/…/g, ".")
    .replace(/[\u00a0\u202f]/g, " ");

/** Letters that have one there without their accent: a text may have twice as many then. */
const withoutAccents = (text: string): string =>
  [...text]
    .map((sign) => (gsm7Cost.has(sign) ? sign : sign.normalize("NFD").replace(/\p{M}/gu, "")))
    .join("");

const smsOf = (copy: Copy): string => {
  const withValues = (characters: number, links: boolean): string =>
    inGsm7(
      joined(copy, (value) =>
        value.isLink
          ? links && plain(value).length <= smsLinkCharactersMax
            ? plain(value)
            : ""
          : cutTo(plain(value), characters),
      ),
    ).trim();
  const whole = withValues(smsCuts[0] ?? 40, true);
  const cut = smsCuts.map((characters) => withoutAccents(withValues(characters, true)));
  const tries = [whole, ...cut, withValues(smsCuts.at(-1) ?? 6, false)];
  return tries.find((text) => smsParts(text) <= smsPartsMax) ?? (tries.at(-1) as string);
};

const subjectCharactersMax = 150;

/** @param told of the same language */
export const render = (
  template: NotificationTemplate,
  language: Language,
  channel: Channel,
  told: Told,
): Content => {
  const { templates, signature } = languages[language];
  const { sms, subject, body } = templates[template];
  if (channel === "SMS") return { text: smsOf(sms(told)) };
  const paragraphs = body(told).filter((paragraph) => paragraph !== undefined);
  if (channel === "WHATSAPP")
    // Its first line takes the place of a subject.
    return { text: [subject(told), ...paragraphs].map((copy) => joined(copy, forWhatsApp)).join("\n\n") };
  return mailOf(language, subject(told), [...paragraphs, signature(told)]);
};

/** An e-mail: a title, and paragraphs as text and as HTML. */
export const mailOf = (language: Language, subject: Copy, whole: readonly Copy[]): Content => {
  const title = cutTo(joined(subject, plain), subjectCharactersMax);
  const html = whole.map((copy) => `<p>${joined(copy, forHtml, escapedHtml)}</p>`).join("\n");
  return {
    subject: title,
    text: `${whole.map((copy) => joined(copy, plain)).join("\n\n")}\n`,
    html: `<!doctype html>\n<html lang="${language}">\n<head><meta charset="utf-8"><title>${escapedHtml(title)}</title></head>\n<body>\n${html}\n</body>\n</html>\n`,
  };
};
