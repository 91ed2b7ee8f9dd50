/** Owns the demo's requests: any Host header, JSON in and out, and a plain word when an answer is not the expected one. */
import { request as send } from "node:http";

export interface Answer {
  status: number;
  body: unknown;
}

export interface Asked {
  method: "GET" | "POST";
  path: string;
  token?: string;
  /** Names the airline of a passenger's request. */
  host?: string;
  /** Address of this machine to come from; any where it is left out. */
  localAddress?: string | undefined;
  body?: unknown;
}

/** `fetch` would not let the Host header be set. */
export const request = (baseUrl: string, asked: Asked): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const body = asked.body === undefined ? undefined : JSON.stringify(asked.body);
    const headers: Record<string, string> = {
      ...(asked.token === undefined ? {} : { Authorization: `Bearer ${asked.token}` }),
      ...(asked.host === undefined ? {} : { Host: asked.host }),
      ...(body === undefined
        ? {}
        : { "Content-Type": "application/json", "Content-Length": String(Buffer.byteLength(body)) }),
    };
    const { method, localAddress } = asked;
    const options = { method, headers, ...(localAddress === undefined ? {} : { localAddress }) };
    const sent = send(new URL(asked.path, baseUrl), options, (response) => {
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", reject);
      response.on("end", () => {
        const text = Buffer.concat(chunks).toString();
        const json = /json/.test(response.headers["content-type"] ?? "");
        resolve({ status: response.statusCode ?? 0, body: json ? JSON.parse(text) : text });
      });
    });
    sent.on("error", reject);
    sent.end(body);
  });

/** @throws Error saying what was being done and what came back */
export const expectStatus = (answer: Answer, status: number, doing: string): Answer => {
  if (answer.status === status) return answer;
  throw new Error(
    `${doing}: ${answer.status} instead of ${status}: ${JSON.stringify(answer.body).slice(0, 300)}`,
  );
};
