// Reconciliation on demand without a service: whatever breaks off, what differed until then is told; and nothing is told after the time.
import t from "tap";
import type { CardTransactionPage, ReadOutcome } from "../../../actors/vendor-adapter/ports.ts";
import { cardUsesOf, poll, type Source } from "../../../actors/vendor-adapter/reconcile.ts";
import { reconcileNow } from "../../../actors/vendor-adapter/reconcile-now.ts";
import type { Command } from "../../../schemas/command.ts";
import { Problem } from "../../../schemas/problems.ts";
import type { ReconciledVendor } from "../../../schemas/reconciliation.ts";
import { reconcileSubcommands } from "../../../scripts/administration/reconcile.ts";
import type { Reach } from "../../../scripts/administration/subcommand.ts";
import { vendorSubcommands } from "../../../scripts/administration/vendors.ts";
import { StartFailure } from "../../../scripts/supervisor/start-failure.ts";
import { evening, secondsLater, trace } from "../../harness/given.ts";

const card = (n: number) => `XN-01KAMVW9G0ABCDEFGHJKMNPQ0${n}.card.1`;
const page = (...ns: number[]): ReadOutcome<CardTransactionPage> => ({
  outcome: "done",
  entries: ns.map((n) => ({
    changedAt: secondsLater(n).toISOString(),
    transaction: {
      ...{ eventId: `txn_${n}`, reference: card(n), cardId: "c", authorizationId: "a", kind: "SETTLEMENT" },
      ...{ amount: { amountMinor: 100, currency: "USD" }, at: secondsLater(n).toISOString() },
    },
  })),
});
const source = (name: string, transactions: () => Promise<ReadOutcome<CardTransactionPage>>): Source => ({
  ...{ tenant: "XN", name, intervalMs: 60_000 },
  ask: cardUsesOf({ transactions }),
});

/** One airline's documents and sub-cases, in memory. @param fails before what is told of this card is put on record */
const worldOf = (fails?: (command: Command) => void) => {
  const positions = new Map<string, { _id: string; revision: number; since?: Date }>();
  const uses = new Map<string, string[]>();
  const logged: object[] = [];
  const note = (facts: object) => logged.push(facts);
  const collection = {
    findOne: async ({ _id }: { _id: string }) => positions.get(_id) ?? null,
    insertOne: async (one: { _id: string; revision: number }) => positions.set(one._id, one),
    replaceOne: async ({ _id, revision }: { _id: string; revision: number }, next: object) => {
      const isMet = positions.get(_id)?.revision === revision;
      if (isMet) positions.set(_id, { _id, ...next } as never);
      return { matchedCount: isMet ? 1 : 0 };
    },
  };
  const call = async (name: string, asked: Command & { params?: { reference: string } }) => {
    if (name === "sub-case.on-record") return { cardUses: uses.get(asked.params?.reference ?? "") ?? [] };
    fails?.(asked);
    const { reference, eventId } = asked.data as { reference: string; eventId: string };
    uses.set(reference, [...(uses.get(reference) ?? []), eventId]);
    return null;
  };
  const context = {
    ...{ clock: { now: () => evening }, config: { VENDOR_TIMEOUT_MS: 1000 }, call },
    documents: { tenant: () => ({ collection: () => collection }) },
    log: { info: note, warn: note },
  } as unknown as Parameters<typeof reconcileNow>[0];
  return { context, positions, uses, logged };
};

t.test("what differed before it broke off is told, and the other vendors' too", async (t) => {
  const { context, logged } = worldOf(({ entity }) => {
    if (entity.endsWith("2")) throw new Error("no connection to the database");
  });
  const sources = [source("cards", async () => page(1, 2, 3)), source("others", async () => page(4))];
  const [first, other] = await reconcileNow(context, sources, trace);
  t.match(first, {
    ...{ vendor: "cards", outcome: "unavailable", detail: "no connection to the database", told: 2 },
    differences: [{ reference: card(1) }],
  });
  t.match(other, { vendor: "others", outcome: "done", told: 1, differences: [{ reference: card(4) }] });
  t.match(logged, [{ vendor: "cards", err: Error }]);
});

t.test("nothing is told once nobody waits any more", async (t) => {
  const { context, positions } = worldOf();
  const over = new AbortController();
  const told: string[] = [];
  const polling = (signal: AbortSignal) => ({
    ...{ signal, tellUntil: signal, intervalMs: 0, following: trace },
    tell: async ({ reference }: { reference: string }) => {
      told.push(reference);
      if (told.length === 2) over.abort();
    },
  });
  const cards = source("cards", async () => page(1, 2, 3));
  t.strictSame(await poll(context, cards, polling(over.signal)), { outcome: "unfinished" });
  t.strictSame(told, [card(1), card(2)]);
  t.equal(positions.get("cards")?.since, undefined, "the page comes again");
  t.strictSame(await poll(context, cards, polling(new AbortController().signal)), { outcome: "done" });
  t.strictSame(told.slice(2), [card(1), card(2), card(3)], "at once: nobody holds it");
});

t.test("what a vendor tells that cannot be read is logged by its id, and the rest is told", async (t) => {
  const { context, uses, logged } = worldOf();
  const cards = source("cards", async () => ({ ...page(1), unreadable: ["evt_7"] }) as never);
  t.match(await reconcileNow(context, [cards], trace), [{ outcome: "done", told: 1 }]);
  t.equal(uses.size, 1);
  t.match(logged, [{ count: 1, first: "evt_7" }]);
});

t.test("a round through our own list begins anew after a page that fails", async (t) => {
  for (const [beginsAnew, again] of [
    [true, undefined],
    [undefined, "2"],
  ] as const) {
    const { context } = worldOf();
    const asked: (string | undefined)[] = [];
    const own: Source = {
      ...{ tenant: "XN", name: "own", intervalMs: 60_000, beginsAnew },
      ask: async ({ cursor }) => {
        asked.push(cursor);
        return cursor === undefined
          ? { outcome: "done", entries: [], reports: [], nextCursor: "2" }
          : { outcome: "unavailable", detail: "one that is for ever malformed" };
      },
    };
    for (const _ of [1, 2]) await reconcileNow(context, [own], trace);
    t.strictSame(asked.slice(0, 3), [undefined, "2", again]);
  }
});

t.test("in the shell, one airline that fails silences no other", async (t) => {
  const differed: ReconciledVendor = {
    ...{ vendor: "cards", outcome: "done", told: 1 },
    differences: [{ reference: card(1), subCaseUrn: "urn:sub-case:x", to: "SETTLEMENT", at: "now" }],
  };
  const run = (failure: Error) => {
    const client = {
      query: async () => [{ code: "QZ" }, { code: "XN" }],
      command: async (_: string, { tenant }: { tenant: string }) => {
        if (tenant === "QZ") throw failure;
        return [differed];
      },
    };
    const reach = { client: async () => client } as unknown as Reach;
    return reconcileSubcommands.reconcile?.run({}, [], reach);
  };
  const away = new Problem("upstream/unavailable", "The vendor-adapter does not answer.");
  t.match(await run(away), {
    json: [
      { airline: "QZ", outcome: "unavailable" },
      { airline: "XN", differences: [{}] },
    ],
    text: /SETTLEMENT[\s\S]*QZ all: unavailable, The vendor-adapter does not answer/,
    failed: true,
  });
  await t.rejects(async () => run(new StartFailure("no instance")), StartFailure, "nobody is there at all");
});

t.test("whose webhooks are believed is seen in the list", async (t) => {
  const vendors = [
    { name: "a", dialect: "twilio", baseUrl: "u", changedAt: "c", webhooks: true, account: { from: "+1" } },
    { name: "b", dialect: "stayhub", baseUrl: "u", changedAt: "c", webhooks: false },
  ];
  const reach = { client: async () => ({ query: async () => vendors }) } as unknown as Reach;
  const shown = await vendorSubcommands["vendor list"]?.run({ airline: "XN" }, [], reach);
  t.match(shown?.text, /WEBHOOKS[\s\S]*a +twilio +u +yes[\s\S]*b +stayhub +u +no/);
  t.strictSame(shown?.json, vendors);
});
