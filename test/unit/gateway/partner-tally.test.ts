// What a gateway counts of partners' requests, and what it tells of it.
import pino from "pino";
import t from "tap";
import type { Dispatch } from "../../../gateway/dispatch.ts";
import { createPartnerTally } from "../../../gateway/rates/partner-tally.ts";
import type { AvailabilityNote } from "../../../schemas/availability.ts";
import type { Command, Principal } from "../../../schemas/command.ts";

const at = (second: number): Date => new Date(Date.UTC(2026, 10, 21, 21, 0, second));
const partner = (clientId: string): Principal => ({
  ...{ surface: "partner", tenant: clientId.slice(0, 2), urn: `urn:partner:${clientId}`, clientId },
});

t.test("requests count by airline, minute, tier and class; only 5xx are failures", async (t) => {
  const told: Command<AvailabilityNote>[] = [];
  const dispatch = {
    command: async (_name: string, command: Command<AvailabilityNote>) => {
      told.push(command);
      return { ok: null };
    },
  } as unknown as Dispatch;
  const tiers = { of: (clientId: string) => (clientId === "XN-first" ? (1 as const) : undefined) };
  let now = at(0);
  const tally = createPartnerTally({
    dispatch,
    tiers,
    self: "g1",
    now: () => now,
    log: pino({ level: "silent" }),
  });
  for (const [who, rate, status, second] of [
    ["XN-first", "read", 200, 1],
    ["XN-first", "read", 503, 2],
    ["XN-first", "read", 429, 3],
    ["XN-first", "write", 500, 4],
    ["XN-late", "read", 404, 5],
    ["XN-first", "read", 304, 61],
    ["QZ-other", "read", 200, 62],
  ] as const) {
    now = at(second);
    tally.note(partner(who), rate, status);
  }
  await tally.close();
  const [xn, qz] = [told.find(({ tenant }) => tenant === "XN"), told.find(({ tenant }) => tenant === "QZ")];
  t.equal(told.length, 2, "one note an airline");
  t.strictSame(xn?.data, {
    gateway: "g1",
    minutes: [
      {
        at: "2026-11-21T21:00:00.000Z",
        counts: [
          { tier: 1, rate: "read", requests: 3, failed: 1 },
          { tier: 1, rate: "write", requests: 1, failed: 1 },
          { tier: 3, rate: "read", requests: 1, failed: 0 },
        ],
      },
      { at: "2026-11-21T21:01:00.000Z", counts: [{ tier: 1, rate: "read", requests: 1, failed: 0 }] },
    ],
  });
  t.strictSame(qz?.data.minutes[0]?.counts, [{ tier: 3, rate: "read", requests: 1, failed: 0 }]);
  await tally.close();
  t.equal(told.length, 2, "what was taken is told once");
});

t.test("what nobody has taken is told again, with what has come since", async (t) => {
  const sizes: number[] = [];
  const dispatch = {
    command: async (_name: string, { data }: Command<AvailabilityNote>) => {
      sizes.push(data.minutes.length);
      if (sizes.length === 1) throw new Error("nobody there");
      return { ok: null };
    },
  } as unknown as Dispatch;
  const log = pino({ level: "silent" });
  let now = at(1);
  const tally = createPartnerTally({ dispatch, tiers: { of: () => 2 }, self: "g1", now: () => now, log });
  tally.note(partner("XN-a"), "read", 200);
  await tally.close();
  now = at(61);
  tally.note(partner("XN-a"), "read", 200);
  await tally.close();
  t.strictSame(sizes, [1, 2]);
});
