/** Owns what of free text may travel on: nothing by which a person could be named or reached. What the text means is its reader's. */

const mask = "[masked]";
const eMail = /[^\s@<>"'(),;:]+@[^\s@<>"'(),;:]+/g;
/** Numbers of telephones, cards and documents, however they are grouped; a date is lost with them. */
const digits = /\+?\d(?:[\s()./-]{0,3}\d){4,}/g;

/** Longer text is cut before it is looked at. */
const readMax = 4000;

/**
 * @param text a vendor's words, or an operator's
 * @param sent the request that they answer: none of its texts is left in them, standing alone, in whatever case
 */
export const masked = (text: string, sent: unknown): string => {
  const read = text.slice(0, readMax);
  const values = [...new Set(textsIn(sent))]
    .filter((value) => value.length > 1 && value.length <= read.length)
    .sort((a, b) => b.length - a.length)
    .map((value) => value.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&"));
  const known = new RegExp(`(?<![\\p{L}\\p{N}])(?:${values.join("|")})(?![\\p{L}\\p{N}])`, "giu");
  const withoutKnown = values.length === 0 ? read : read.replace(known, mask);
  return withoutKnown.replace(eMail, mask).replace(digits, mask);
};

const textsIn = (value: unknown): string[] => {
  if (typeof value === "string") return [value.trim()];
  if (value instanceof URLSearchParams) return textsIn([...value.values()]);
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [];
};
