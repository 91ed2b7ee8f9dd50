// A server that speaks OpenAI's chat completions, and does as a test says: over real HTTP, on a port of its own.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import type { Test } from "tap";
import type { ModelServer } from "../../config/model-server.ts";

/** What it was asked. */
export interface Asked {
  path: string | undefined;
  headers: IncomingMessage["headers"];
  body: {
    model: string;
    /** Of the tools' answers: in the order of the calls. */
    messages: { role: string; content: string | null; tool_calls?: { function: Call }[] }[];
    tools?: { function: { name: string } }[];
    tool_choice?: string;
    max_completion_tokens: number;
  };
}

interface Call {
  name: string;
  arguments: string;
}

export type ModelAnswer = (response: ServerResponse, asked: Asked) => void;

const completed = (message: object, tokens: number | undefined): ModelAnswer =>
  ((response) => {
    response.setHeader("content-type", "application/json");
    response.end(
      JSON.stringify({
        id: "chatcmpl-1",
        object: "chat.completion",
        created: 1,
        model: "reader-1",
        choices: [{ index: 0, finish_reason: "stop", message: { role: "assistant", ...message } }],
        ...(tokens === undefined ? {} : { usage: { total_tokens: tokens } }),
      }),
    );
  }) satisfies ModelAnswer;

/** What the model says, as its server puts it. @param tokens that the server counted. Undefined: it doesn't tell */
export const saying = (content: unknown, tokens?: number): ModelAnswer =>
  completed({ content: typeof content === "string" ? content : JSON.stringify(content) }, tokens);

/** @param calls of tools; arguments that are no text go as JSON */
export const calling = (...calls: readonly { name: string; arguments: unknown }[]): ModelAnswer =>
  completed(
    {
      content: null,
      tool_calls: calls.map(({ name, arguments: given }, i) => ({
        id: `call-${i}`,
        type: "function",
        function: { name, arguments: typeof given === "string" ? given : JSON.stringify(given) },
      })),
    },
    undefined,
  );

export const failingWith =
  (status: number, body = "{}"): ModelAnswer =>
  (response) => {
    response.writeHead(status, { "content-type": "application/json" }).end(body);
  };

/** Never an answer. */
export const silent: ModelAnswer = () => {};

/** @param answers one after the other; the last from then on */
export const openModelServer = async (
  t: Pick<Test, "teardown">,
  ...answers: readonly ModelAnswer[]
): Promise<{ server: ModelServer; asked: Asked[] }> => {
  const asked: Asked[] = [];
  const http = createServer(async (request, response) => {
    const body = (await json(request)) as Asked["body"];
    const one = { path: request.url, headers: request.headers, body };
    asked.push(one);
    answers[Math.min(asked.length, answers.length) - 1]?.(response, one);
  });
  await new Promise<void>((listening) => http.listen(0, "127.0.0.1", listening));
  t.teardown(() => {
    http.closeAllConnections();
    return new Promise((closed) => http.close(closed));
  });
  const { port } = http.address() as AddressInfo;
  return { server: { url: `http://127.0.0.1:${port}/v1`, name: "reader-1", key: "key-of-the-test" }, asked };
};
