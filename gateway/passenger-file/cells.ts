/** Owns what each field's cell may hold, and how it is written in a manifest. */
import { parsePhoneNumberFromString } from "libphonenumber-js/min";
import { normalPnr } from "../../schemas/manifest-rules.ts";
import { isPrintable } from "../checks/read-json.ts";
import type { Field } from "./headers.ts";
import type { Cell } from "./table.ts";
import { cabinWords, languageWords, needWords, tierWords, typeWords, wordIn, yesOrNo } from "./words.ts";

/** `fault` completes "this cell …". */
export type Reading<Value> = { value: Value } | { fault: string };

const bad = (fault: string): { fault: string } => ({ fault });
const ok = <Value>(value: Value): { value: Value } => ({ value });

/** Begins like a formula, and was marked as none: exports of ours and of others put an apostrophe there. */
const marked = /^'(?=[=+\-@])/;
const name = /^[\p{Letter}\p{Mark}'’`][\p{Letter}\p{Mark}\p{Number}\p{Space_Separator}'’`.,()-]*$/u;
const nameCharactersMax = 100;
const titles = / (?:mr|mrs|ms|miss|mstr|dr|prof|chd|inf)\.?$/i;
const reference = /^[A-Z0-9]{3,20}$/;
const mailAddress = /^[^\s@<>()[\]\\,;:"]+@[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?\.[a-z]{2,63}$/i;
const languageTag = /^[a-z]{2,3}(?:[-_][a-z0-9]{2,8})*$/i;
const needCharactersMax = 40;
/** In one cell. */
const wordsMax = 40;

/** The text that all readers begin with. */
export const textOf = ({ text, kind }: Cell): Reading<string> => {
  if (kind === "fault") return bad(text);
  return isPrintable(text)
    ? ok(text.normalize("NFC").replace(marked, ""))
    : bad("holds control characters or broken Unicode");
};

const nameOf = (text: string): Reading<string> => {
  const joined = text.replaceAll(/\s+/g, " ");
  if (joined.length > nameCharactersMax) return bad(`is longer than ${nameCharactersMax} characters`);
  return name.test(joined) ? ok(joined) : bad("is no name");
};

/** `LOVELACE/ADA MS`, `Lovelace, Ada`: only then it is plain which is which. */
export const namesOf = (text: string): Reading<{ lastName: string; firstName: string }> => {
  const joined = text.replaceAll(/\s+/g, " ");
  const [last = "", first = "", ...more] = joined.split(joined.includes("/") ? "/" : ",");
  if (first.trim() === "" || more.length > 0)
    return bad("does not tell the last name from the first: write LAST/FIRST");
  const [lastName, firstName] = [nameOf(last.trim()), nameOf(first.trim().replace(titles, ""))];
  if ("fault" in lastName) return lastName;
  if ("fault" in firstName) return firstName;
  return ok({ lastName: lastName.value, firstName: firstName.value });
};

const oneOf =
  <Value>(words: ReadonlyMap<string, Value>, what: string) =>
  (text: string): Reading<Value> => {
    const value = wordIn(words, text);
    return value === undefined ? bad(what) : ok(value);
  };

const phoneOf = (text: string): Reading<string> => {
  const international = text
    .replace(/^00(?=[1-9])/, "+")
    .replace(/^\(\+/, "+")
    .replace(/\(0\)/, "");
  if (!international.startsWith("+"))
    return bad("names no country: write the number with + and the country's code");
  const phone = parsePhoneNumberFromString(international);
  return phone?.isPossible() ? ok(phone.number) : bad("is no telephone number");
};

const languageIn = (text: string): Reading<string> => {
  const known = wordIn(languageWords, text);
  if (known !== undefined) return ok(known);
  return languageTag.test(text) && text.length <= 20
    ? ok(text.replaceAll("_", "-"))
    : bad("is no language: write its code, such as en or pt-BR");
};

/** Several in one cell; codes and words that are not ours stay as they are, and gate nothing. */
export const needsIn = (text: string): Reading<string[]> => {
  const parts = text.split(/[,;/|\r\n+]+/, wordsMax + 1);
  if (parts.length > wordsMax) return bad(`names more than ${wordsMax} needs`);
  const words = parts.map((word) => word.trim()).filter(saysSomething);
  if (words.some((word) => word.length > needCharactersMax))
    return bad(`names a need in more than ${needCharactersMax} characters`);
  return ok(words.map((word) => wordIn(needWords, word) ?? word));
};

const saysSomething = (word: string): boolean =>
  /[\p{Letter}\p{Number}]/u.test(word) && wordIn(yesOrNo, word) !== false;

/** Yes or no; where the column asks for a kind of need, its code or its word is a yes. */
export const isNeeded = (text: string): Reading<string | boolean> => {
  const said = wordIn(yesOrNo, text);
  if (said !== undefined) return ok(said);
  if (text === "✓" || text === "✔") return ok(true);
  if (text === "-") return ok(false);
  const need = wordIn(needWords, text);
  if (need !== undefined) return ok(need);
  return /^[A-Z]{4}$/.test(text) ? ok(text) : bad("is neither yes nor no");
};

/** Of the fields that one text becomes one text of. */
export const readers: Readonly<Partial<Record<Field, (text: string) => Reading<string>>>> = {
  pnr: (text) => {
    const pnr = normalPnr(text);
    return reference.test(pnr) ? ok(pnr) : bad("is no booking reference");
  },
  lastName: nameOf,
  firstName: nameOf,
  cabinClass: oneOf(cabinWords, "is no cabin: write ECONOMY, PREMIUM_ECONOMY, BUSINESS, FIRST or CREW"),
  loyaltyTier: (text) =>
    text.length > 40
      ? bad("is longer than 40 characters")
      : ok(wordIn(tierWords, text) ?? text.toUpperCase()),
  passengerType: oneOf(typeWords, "is no type of passenger: write ADULT, CHILD or INFANT"),
  email: (text) => {
    const address = text.replace(/^mailto:/i, "");
    return mailAddress.test(address) && address.length <= 254 ? ok(address) : bad("is no e-mail address");
  },
  phone: phoneOf,
  language: languageIn,
};
