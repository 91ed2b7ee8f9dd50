/** Owns the control address: ledgers, settings, stays, spending, predictions, reset and health of all parts, wherever each of them runs. */
import { createServer, type IncomingMessage } from "node:http";
import { type Listening, listenOnLoopback, readBody } from "./loopback-http.ts";
import { announcementOf } from "./remote-part.ts";
import type { SandboxPart } from "./sandbox-part.ts";

/** What happens at a vendor's without a client: at its desk, to its cards, by its readers, in its data. */
type Happening = "stay" | "spend" | "reply" | "predict";

interface Answer {
  status: number;
  body: unknown;
}

const bodyBytesMax = 1024 * 1024;
const wrong = (status: number, detail: string): Answer => ({ status, body: { detail } });

const readJson = async (request: IncomingMessage): Promise<unknown> => {
  const text = await readBody(request, bodyBytesMax);
  if (text === undefined) throw new TypeError("The body is too large.");
  if (text.trim() === "") return {};
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    throw new TypeError("The body is no JSON.", { cause: error });
  }
};

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** `{ "<vendor>": { settings }, "*": { settings for every vendor but the receiver } }` → the settings then in force. */
const change = async (parts: SandboxPart[], body: unknown): Promise<Answer> => {
  if (!isObject(body)) throw new TypeError("An object of settings by vendor is needed.");
  const unknown = Object.keys(body).find((name) => name !== "*" && !parts.some((part) => part.name === name));
  if (unknown !== undefined) return wrong(404, `There is no vendor ${unknown}.`);
  const settings: Record<string, unknown> = {};
  for (const part of parts) {
    const own = body[part.name] ?? (part.kind === "receiver" ? undefined : body["*"]);
    if (own !== undefined) settings[part.name] = await part.control(own);
  }
  return { status: 200, body: settings };
};

/** `{ "vendors": ["stayhub"] }`; without a list all. */
const reset = async (parts: SandboxPart[], body: unknown): Promise<Answer> => {
  const names = isObject(body) ? body.vendors : undefined;
  const chosen = parts.filter((part) => !Array.isArray(names) || names.includes(part.name));
  await Promise.all(chosen.map((part) => part.reset()));
  return { status: 200, body: { reset: chosen.map((part) => part.name) } };
};

const health = async (parts: SandboxPart[]): Promise<Answer> => {
  const entries = await Promise.all(parts.map(async (part) => [part.name, await part.healthy()] as const));
  const all = entries.every(([, healthy]) => healthy);
  return { status: all ? 200 : 503, body: Object.fromEntries(entries) };
};

const answer = async (
  parts: SandboxPart[],
  controlUrl: string,
  request: IncomingMessage,
): Promise<Answer> => {
  const { pathname } = new URL(request.url ?? "/", "http://control");
  const asked = `${request.method} ${pathname}`;
  const vendor = /^GET \/ledger\/([\w-]+)$/.exec(asked)?.[1];
  if (vendor !== undefined) {
    const part = parts.find((one) => one.name === vendor);
    return part === undefined
      ? wrong(404, `There is no vendor ${vendor}.`)
      : { status: 200, body: await part.ledger() };
  }
  const [, happening, where] = /^POST \/(stay|spend|reply|predict)\/([\w-]+)$/.exec(asked) ?? [];
  if (happening !== undefined) {
    const part = parts.find((one) => one.name === where);
    if (part === undefined) return wrong(404, `There is no vendor ${where}.`);
    return { status: 200, body: await part[happening as Happening](await readJson(request)) };
  }
  if (asked === "GET /") return { status: 200, body: announcementOf(controlUrl, parts) };
  if (asked === "POST /control") return change(parts, await readJson(request));
  if (asked === "POST /reset") return reset(parts, await readJson(request));
  if (asked === "GET /health") return health(parts);
  return wrong(
    404,
    "GET /, GET /ledger/<name>, POST /control, POST /stay/<name>, POST /spend/<name>, POST /predict/<name>, POST /reply/<name>, POST /reset, GET /health",
  );
};

/** @param port 0: any free one. */
export const startControl = async (parts: SandboxPart[], port: number): Promise<Listening> => {
  let url = "";
  const server = createServer((request, response) => {
    const failed = (error: unknown): Answer => {
      if (error instanceof TypeError) return wrong(400, error.message);
      console.error(error);
      return wrong(502, "The vendor's process did not answer; see the sandbox's own output.");
    };
    void answer(parts, url, request)
      .catch(failed)
      .then(({ status, body }) => {
        response.writeHead(status, { "Content-Type": "application/json" }).end(JSON.stringify(body));
      });
  });
  const listening = await listenOnLoopback(server, port);
  url = listening.url;
  return listening;
};
