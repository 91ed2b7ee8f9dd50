/** Owns how an answer leaves a vendor. */
import type { ServerResponse } from "node:http";
import type { VendorAnswer } from "./vendor-server.ts";

export const sendText = (
  response: ServerResponse,
  status: number,
  text: string,
  more: Record<string, string> = {},
): void => {
  const headers: Record<string, string> = { "Content-Type": "application/json", ...more };
  if (status === 503 || status === 429) headers["Retry-After"] = "1";
  response.writeHead(status, headers).end(text);
};

export const send = (response: ServerResponse, { status, body, headers }: VendorAnswer): void =>
  sendText(response, status, JSON.stringify(body), headers);
