/** Owns a real sandbox process for tests: its own folder and ports, quick answers, stopped with the test. */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { createInterface } from "node:readline";
import type { Test } from "tap";
import type { HotelPort } from "../../../actors/vendor-adapter/ports.ts";
import { airport } from "../../../schemas/airports.ts";
import type { Announcement } from "../../../scripts/sandbox/remote-part.ts";
import type { LedgerEntry } from "../../harness/instance.ts";

const main = new URL("../../../scripts/sandbox/main.ts", import.meta.url).pathname;

export interface LedgerAnswer {
  counts: Record<string, number>;
  entries: LedgerEntry[];
  requests: { operation: string; idempotencyKey: string | null; fault: string | null; repeated: boolean }[];
  deliveries: Record<string, unknown>[];
}

export interface Sandbox {
  announcement: Announcement;
  process: ChildProcess;
  vendor(name: string): Announcement["vendors"][number];
  control(change: unknown): Promise<{ status: number; body: unknown }>;
  ledger(name: string): Promise<LedgerAnswer>;
  /** Uses a card. */
  spend(name: string, spending: object): Promise<{ authorization: string }>;
  reset(): Promise<void>;
}

/** @param args beside `--dir`; latency is 5 ms unless they say otherwise. */
export const startSandbox = async (t: Test, dir: string, args: string[] = []): Promise<Sandbox> => {
  const child = spawn(process.execPath, [main, "--dir", dir, "--latency", "5", "--with-parent", ...args], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  t.teardown(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    child.kill("SIGTERM");
    await once(child, "exit");
  });
  const lines = createInterface({ input: child.stdout });
  const ready = (async () => {
    for await (const line of lines) {
      if (line.startsWith("sandbox ")) return JSON.parse(line.slice(8)) as Announcement;
    }
    throw new Error("the sandbox ended before it served");
  })();
  const announcement = await ready;
  const call = async (method: string, path: string, body?: unknown) => {
    const response = await fetch(announcement.controlUrl + path, {
      method,
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    return { status: response.status, body: (await response.json()) as unknown };
  };
  return {
    announcement,
    process: child,
    vendor: (name) => announcement.vendors.find((vendor) => vendor.name === name)!,
    control: (change) => call("POST", "/control", change),
    ledger: async (name) => (await call("GET", `/ledger/${name}`)).body as LedgerAnswer,
    spend: async (name, spending) =>
      (await call("POST", `/spend/${name}`, spending)).body as { authorization: string },
    reset: async () => {
      await call("POST", "/reset");
    },
  };
};

export const context = { traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01" };

/** A result that the vendor must have given. @throws Error with what it was instead */
export const done = <Result extends { outcome: string }>(
  result: Result,
): Extract<Result, { outcome: "done" }> => {
  if (result.outcome !== "done") throw new Error(JSON.stringify(result));
  return result as Extract<Result, { outcome: "done" }>;
};

/** Books one room for one guest and night at JFK; the booking's id. */
export const bookRoom = async (port: HotelPort, reference: string): Promise<string> => {
  const { latitude, longitude } = airport("JFK")!;
  const stay = { checkIn: "2031-03-14", checkOut: "2031-03-15", rooms: 1 };
  const search = { airport: "JFK", coordinates: { latitude, longitude }, radiusKm: 60, ...stay };
  const [offer] = done(await port.search(search, context)).offers;
  const { holdId } = done(await port.hold({ reference, offer: offer!, needs: [], ...stay }, context));
  const guest = { leadGuest: { givenName: "Ana", familyName: "Silva" }, guests: [] };
  const payment = { method: "GUARANTEE" } as const;
  return done(await port.book({ reference, holdId, payment, ...guest }, context)).bookingId;
};

/** An address where nobody listens any more. */
export const closedPort = async (): Promise<string> => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return `http://127.0.0.1:${port}`;
};
