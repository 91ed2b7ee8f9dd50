/** Owns whether the client takes what a route produces: `Accept` (RFC 9110 §12.5.1). Problems are told whatever it says. */
import { LRUCache } from "lru-cache";
import Negotiator from "negotiator";
import { Problem } from "../../schemas/problems.ts";
import { mediaTypes } from "../route.ts";

/** A client sends the same text with each of its requests: a few dozen cover nearly all of them. */
const knownTextsMax = 500;
/** Longer ones are read each time: nobody may fill the memory with them. */
const knownTextLengthMax = 300;

/** Every parameter but the quality: many clients name a charset or a profile, and none of ours differ by one. */
const parameter = /;\s*(?!q\s*=)[\w!#$&^.+-]+\s*=\s*(?:"(?:[^"\\]|\\.)*"|[^;,]*)/gi;

const known = new LRUCache<string, ReadonlySet<string>>({ max: knownTextsMax });

/** Which of our media types a header's text takes; wildcards and `q=0` count. */
const acceptable = (text: string): ReadonlySet<string> => {
  const before = known.get(text);
  if (before !== undefined) return before;
  const accept = text.replaceAll(parameter, "");
  const taken = new Set(new Negotiator({ headers: { accept } }).mediaTypes([...mediaTypes]));
  if (text.length <= knownTextLengthMax) known.set(text, taken);
  return taken;
};

/**
 * Without the header anything is taken.
 * @throws Problem validation/not-acceptable
 */
export const requireAcceptable = (produces: string, accept: string): void => {
  if (accept === "" || accept === "*/*" || acceptable(accept).has(produces)) return;
  throw new Problem(
    "validation/not-acceptable",
    `This route answers with ${produces}; name it in Accept, or send none.`,
  );
};
