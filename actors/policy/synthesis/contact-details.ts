/**
 * Owns what of a prompt is kept and passed on: no mail address, and no number that looks like a telephone's or a card's. Numbers are
 * known by their length and the words beside them: one of eight digits or fewer, without a plus and with no word for calling before it,
 * stays, and so does all else by which somebody might be known (a name, a booking reference).
 */
import { currencyPattern } from "./money.ts";

const mask = "[masked]";
const mail = /[^\s@<>"(),;:]+@[^\s@<>"'(),;:]+/gu;
const callWords =
  "tel|tels|tfno|telephone|tel[eé]fono|telefone|phone|mobile|cell|m[oó]vil|celular|fax|sms|whats ?app|call|ring|dial|llame|llama|llamar|llamen|ligue|liga|ligar|liguem";
/** Seven digits or more after a plus or a word for calling; nine or more anywhere, however they are grouped. */
const number = new RegExp(
  [
    "\\+\\d(?:[ ()./-]{0,3}\\d){6,}",
    `(?<=(?<!\\p{L})(?:${callWords})(?!\\p{L})[^\\d\\n]{0,20})\\d(?:[ ()./-]{0,3}\\d){6,}`,
    "(?<![\\d.,])\\d(?:[ ()./-]{0,2}\\d){8,}",
  ].join("|"),
  "giu",
);

const called = new RegExp(`(?<!\\p{L})(?:${callWords})(?!\\p{L})[^\\d\\n]{0,20}$`, "iu");
/** One figure, or several, each of which a policy might hold: with signs between thousands, or short. A telephone's groups are so too. */
const figures = /^(?!0)\d{1,3}(?:(?:[.,]\d{3})+|(?:(?: ?- ?| )[1-9]\d{0,2})+)$/;
const unit =
  "kms?|kilomet(?:er|re|ro)s?|quil[oó]metros?|mi|miles?|millas?|milhas?|m|met(?:er|re|ro)s?|%|rooms?|habitaciones|quartos|(?:per|a|por|la|cada) (?:night|noche|noite)";
const unitAfter = new RegExp(`^(?:[.,]\\d{1,2})?\\s*(?:${currencyPattern}|(?:${unit})(?!\\p{L}))`, "iu");
const limitBefore = new RegExp(
  `(?:${currencyPattern}|(?<!\\p{L})(?:rates?|prices?|tarifas?|precios?|pre[cç]os?|di[aá]rias?)(?: (?:of|de|from|between|entre))?:?)\\s*$`,
  "iu",
);

/** What a currency, a unit or a word for rates stands beside is no telephone number. */
const isFigures = (found: string, before: string, after: string): boolean => {
  if (found.startsWith("+")) return false;
  if (called.test(before)) return /^\d[\d.,]*$/.test(found) && unitAfter.test(after);
  return figures.test(found) && (unitAfter.test(after) || limitBefore.test(before));
};

export const withoutContacts = (prompt: string): string =>
  prompt
    .replace(mail, mask)
    .replace(number, (found: string, at: number, text: string) =>
      isFigures(found, text.slice(Math.max(0, at - 60), at), text.slice(at + found.length)) ? found : mask,
    );
