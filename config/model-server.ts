/** Owns how the language model behind an OpenAI-compatible address is written in the configuration. */
import Type from "typebox";

/** Where the model is asked, and as whom. */
export interface ModelServer {
  /** Of the API, as `https://host/v1`. */
  readonly url: string;
  /** What the server calls it. */
  readonly name: string;
  /** Undefined: the server asks for none. */
  readonly key: string | undefined;
}

export const modelSettings = {
  MODEL_URL: Type.Optional(
    Type.String({
      format: "uri",
      pattern: "^https?://",
      maxLength: 500,
      description:
        "Of an API that speaks OpenAI's chat completions, as `https://host/v1`: what rules leave open in a policy asked for in words is put to it, and which of the hotels found for a review item it would rather have. Default: rules alone.",
    }),
  ),
  MODEL_NAME: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 100,
      description: "What that server calls the model. Needed with MODEL_URL.",
    }),
  ),
  MODEL_KEY_FILE: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 1000,
      description: "The key for that server; it is sent over https, or to this machine.",
    }),
  ),
};

/** Whoever can listen in on it could read everything else as well. */
const isLoopback = (host: string): boolean =>
  host === "localhost" || host === "[::1]" || /^127(?:\.\d{1,3}){3}$/.test(host);

/**
 * @param key undefined: there is none
 * @throws TypeError beginning with the setting's name, when half of it is set, or the key would travel in the open
 */
export const modelServerOf = (
  { MODEL_URL: url, MODEL_NAME: name }: { MODEL_URL?: string; MODEL_NAME?: string },
  key: string | undefined,
): ModelServer | undefined => {
  if (url === undefined && name === undefined && key === undefined) return undefined;
  if (key !== undefined && !/^[\x21-\x7e]+$/.test(key))
    throw new TypeError("MODEL_KEY_FILE: must hold one word of visible ASCII");
  if (url === undefined) throw new TypeError("MODEL_URL: is missing");
  if (name === undefined) throw new TypeError("MODEL_NAME: is missing");
  const { protocol, hostname, username, password } = new URL(url);
  if (username !== "" || password !== "")
    throw new TypeError("MODEL_URL: holds no password; use MODEL_KEY_FILE");
  if (key !== undefined && protocol === "http:" && !isLoopback(hostname))
    throw new TypeError("MODEL_URL: a key is sent over https only");
  return { url, name, key };
};
