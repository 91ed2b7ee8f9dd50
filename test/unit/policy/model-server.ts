// A server that speaks OpenAI's chat completions, and does as a test says: over real HTTP, on a port of its own.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { json } from "node:stream/consumers";
import type { Test } from "tap";
import type { ModelServer } from "../../../config/model-server.ts";

/** What it was asked. */
export interface Asked {
  path: string | undefined;
  headers: IncomingMessage["headers"];
  body: { model: string; messages: { role: string; content: string }[]; max_completion_tokens: number };
}

type Answer = (response: ServerResponse, asked: Asked) => void;

/** What the model says, as its server puts it. */
export const saying =
  (content: unknown): Answer =>
  (response) => {
    const text = typeof content === "string" ? content : JSON.stringify(content);
    response.setHeader("content-type", "application/json");
    response.end(
      JSON.stringify({
        id: "chatcmpl-1",
        object: "chat.completion",
        created: 1,
        model: "reader-1",
        choices: [{ index: 0, finish_reason: "stop", message: { role: "assistant", content: text } }],
      }),
    );
  };

export const failingWith =
  (status: number, body = "{}"): Answer =>
  (response) => {
    response.writeHead(status, { "content-type": "application/json" }).end(body);
  };

/** @param answers one after the other; the last from then on */
export const openModelServer = async (
  t: Test,
  ...answers: readonly Answer[]
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
