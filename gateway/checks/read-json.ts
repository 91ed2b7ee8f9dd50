/** Owns turning a request's bytes into a value: media type, encoding, JSON, and what no schema looks at (depth, keys, characters). */
import { setImmediate as nextTurn } from "node:timers/promises";
import { Problem } from "../../schemas/problems.ts";
import type { Exchange } from "../http/exchange.ts";

/** Nested deeper than any body of ours; a bound for every recursion that follows. */
const depthMax = 32;
/** They reach an object's prototype when a value is merged carelessly. */
const prototypeKeys: ReadonlySet<string> = new Set(["__proto__", "constructor", "prototype"]);
/** Control characters other than tab, line feed and carriage return, and halves of surrogate pairs. */
const unprintable = /[^\P{Cc}\t\n\r]|\p{Cs}/u;
/** `application/json` or a type built on it (RFC 6839 §3.1); it has no parameter, but many clients name the one encoding. */
const jsonMediaType =
  /^application\/(?:[\w!#$&^.-]+\+)?json[ \t]*(?:;[ \t]*charset=(?:utf-8|"utf-8")[ \t]*)?$/i;
const utf8 = new TextDecoder("utf-8", { fatal: true });

/** A body as it came: the value, and how many bytes it was. */
export interface ReadBody {
  value: unknown;
  bytes: number;
  /** Of a form: what came with it. */
  file?: UploadedFile;
}

export interface UploadedFile {
  /** As its sender calls it; only good for being looked at. */
  name: string;
  bytes: Buffer;
  /** In hexadecimal. */
  sha256: string;
}

/**
 * The request's JSON. Without a body the value is undefined.
 * @throws Problem validation/too-large, validation/media-type, validation/malformed, validation/body
 */
export const readJson = async (exchange: Exchange): Promise<ReadBody> => {
  if (!exchange.hasBody) return { value: undefined, bytes: 0 };
  const { contentType, contentEncoding } = exchange.headers;
  // Size before media type: a body that is declared too large is refused by the exchange at once.
  const body = await exchange.body();
  if (!jsonMediaType.test(contentType))
    throw new Problem("validation/media-type", "Send `Content-Type: application/json`, in UTF-8.", {
      accept: "application/json",
    });
  if (!/^(identity)?$/i.test(contentEncoding))
    throw new Problem("validation/media-type", "Send the body without a Content-Encoding.", {
      acceptEncoding: "identity",
    });
  const value = parseJson(body);
  if (body.length <= atOnceBytesMax) inspect(value, []);
  else await inspectInTurns(value);
  return { value, bytes: body.length };
};

/** Some milliseconds of work. */
const atOnceBytesMax = 256 * 1024;
const atOnceItemsMax = 500;

/** The same, a list of a large body bit by bit: whoever else waits for this process is heard in between. */
const inspectInTurns = async (value: unknown): Promise<void> => {
  await nextTurn();
  const isObject = value !== null && typeof value === "object" && !Array.isArray(value);
  for (const [key, member] of isObject ? Object.entries(value) : []) {
    if (!Array.isArray(member)) continue;
    for (let from = 0; from < member.length; from += atOnceItemsMax) {
      const upTo = Math.min(from + atOnceItemsMax, member.length);
      for (let i = from; i < upTo; i++) inspect(member[i], [key, i]);
      await nextTurn();
    }
  }
  const rest = isObject
    ? Object.fromEntries(
        Object.entries(value).map(([key, member]) => [key, Array.isArray(member) ? [] : member]),
      )
    : value;
  inspect(rest, []);
};

const parseJson = (body: Buffer): unknown => {
  let text: string;
  try {
    text = utf8.decode(body);
  } catch {
    throw new Problem("validation/malformed", "The body is not UTF-8.");
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    const position = /position \d+/.exec((error as Error).message)?.[0];
    throw new Problem("validation/malformed", `The body is not JSON${position ? ` (at ${position})` : ""}.`);
  }
};

/** Whether a text holds only what can be printed, stored and sent on. */
export const isPrintable = (text: string): boolean => !unprintable.test(text);

const inspect = (value: unknown, path: (string | number)[]): void => {
  if (path.length > depthMax)
    throw new Problem("validation/malformed", `The body is nested deeper than ${depthMax} levels.`);
  if (typeof value === "string") {
    if (!isPrintable(value)) throw refused(path, "must not hold control characters or broken Unicode");
  } else if (typeof value === "number") {
    if (Math.abs(value) > Number.MAX_SAFE_INTEGER) throw refused(path, "is too large to be kept exactly");
  } else if (Array.isArray(value)) {
    for (let i = 0; i < value.length; i++) inspectAt(value[i], path, i);
  } else if (value !== null && typeof value === "object") {
    for (const [key, member] of Object.entries(value)) {
      if (prototypeKeys.has(key) || !isPrintable(key))
        throw refused([...path, key], "is not taken as a name here");
      inspectAt(member, path, key);
    }
  }
};

const inspectAt = (value: unknown, path: (string | number)[], key: string | number): void => {
  path.push(key);
  inspect(value, path);
  path.pop();
};

const refused = (path: readonly (string | number)[], detail: string): Problem =>
  new Problem("validation/body", "The body holds something that cannot be taken; see `errors`.", {
    errors: [{ pointer: pointerOf(path), detail }],
  });

/** RFC 6901. */
export const pointerOf = (path: readonly (string | number)[]): string =>
  path.map((part) => `/${String(part).replaceAll("~", "~0").replaceAll("/", "~1")}`).join("");
