/** Hotelbeds' and Rapid's dialects over HTTP, before a server that says what it is told to. */
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import type { Test } from "tap";
import { Hotelbeds } from "../../actors/vendor-adapter/adapters/hotelbeds.ts";
import { Rapid } from "../../actors/vendor-adapter/adapters/rapid.ts";
import type { VendorOptions } from "../../actors/vendor-adapter/http.ts";
import type { HotelSearch } from "../../schemas/hotel.ts";

export const now = new Date("2026-11-20T12:00:00Z");
export const jfk = { latitude: 40.6398, longitude: -73.7789 };
export const stay = { checkIn: "2026-11-21", checkOut: "2026-11-23" };
export const search: HotelSearch = { airport: "JFK", coordinates: jfk, radiusKm: 50, ...stay, rooms: 9 };
const desk = {
  ...{ email: "desk@xn.example", phoneCountryCode: "1", phone: "2125550143", customerIp: "192.0.2.7" },
  ...{ countryCode: "US", currency: "USD", city: "New York", addressLine: "1 Station Road" },
};

export interface Said {
  status?: number;
  headers?: Record<string, string>;
  body?: unknown;
  /** In place of the rest: by what is asked. */
  answer?: (url: string) => Said;
}

/** Answers by the longest beginning of `METHOD /path` that there is a word for. */
export const toldVendor = async (t: Test, clock: { now(): Date } = { now: () => now }) => {
  let says: Record<string, Said> = {};
  const asked: { at: string; headers: IncomingHttpHeaders; body: string }[] = [];
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const at = `${request.method} ${request.url}`;
      asked.push({ at, headers: request.headers, body: Buffer.concat(chunks).toString() });
      const known = Object.keys(says).filter((begin) => at.startsWith(begin));
      const said = says[known.sort((a, b) => b.length - a.length)[0] ?? ""] ?? {};
      const { status = 200, headers = {}, body } = said.answer?.(request.url ?? "/") ?? said;
      response.writeHead(status, headers).end(body === undefined ? undefined : JSON.stringify(body));
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const options = { baseUrl, apiKey: "key", apiSecret: "secret", timeoutMs: 20_000 };
  return {
    hotelbeds: (more: Partial<VendorOptions> = {}) => new Hotelbeds("beds", { ...options, ...more }, clock),
    rapid: () => new Rapid("rapid", { ...options, account: desk }, clock),
    says: (what: Record<string, Said>) => {
      says = what;
      asked.length = 0;
    },
    asked,
  };
};
