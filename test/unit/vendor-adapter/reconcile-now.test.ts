// Reconciliation on demand without a service: whatever breaks off, what differed until then is told; and nothing is told after the time.
import t from "tap";
import type { CardTransactionPage, LedgerEntry, ReadOutcome } from "../../../actors/vendor-adapter/ports.ts";
import { cardUsesOf, poll, ridesOf, type Source } from "../../../actors/vendor-adapter/reconcile.ts";
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
const group = "XN-01KAMVW9G0ABCDEFGHJKMNPQ01";
const run = (n: number) => `XN-01KAMVW9G0RVNRVNRVNRVNRV0${n}`;
const ride = (n: number) => `${group}.ride.${run(n)}.${n}`;
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

/** One airline's documents, sub-cases and vehicles, in memory. @param fails before what is told of this card is put on record */
const worldOf = (fails?: (command: Command) => void) => {
  const positions = new Map<string, { _id: string; revision: number; since?: Date }>();
  const uses = new Map<string, string[]>();
  const rides = new Map<string, string>();
  const commands: Command[] = [];
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
    if (name === "transport.on-record") {
      const ride = rides.get(asked.params?.reference ?? "");
      return ride === undefined ? {} : { ride };
    }
    fails?.(asked);
    commands.push(asked);
    if (name === "transport.record-ride") {
      const { reference } = asked.data as { reference: string };
      if (rides.has(reference)) rides.set(reference, "CANCELLED");
      if (asked.entity === run(2)) rides.delete(reference);
      return null;
    }
    const { reference, eventId } = asked.data as { reference: string; eventId: string };
    uses.set(reference, [...(uses.get(reference) ?? []), eventId]);
    return null;
  };
  const context = {
    ...{ clock: { now: () => evening }, config: { VENDOR_TIMEOUT_MS: 1000 }, call },
    documents: { tenant: () => ({ collection: () => collection }) },
    log: { info: note, warn: note },
  } as unknown as Parameters<typeof reconcileNow>[0];
  return { context, positions, uses, rides, commands, logged };
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

t.test("rides that a vendor cancels go to their runs, and who asks sees which had been booked", async (t) => {
  const { context, rides, commands } = worldOf();
  const at = evening.toISOString();
  const told = (reference: string, state = "CANCELLED"): LedgerEntry => {
    return { kind: "ride", id: `rf-${reference}`, reference, state, changedAt: at };
  };
  const ours = [1, 2, 3, 4].map(ride);
  const [lost = "", forgotten = "", givenBack = "", unknown = ""] = ours;
  for (const [reference, status] of [
    [lost, "BOOKED"],
    [forgotten, "BOOKED"],
    [givenBack, "CANCELLING"],
  ] as const)
    rides.set(reference, status);
  const foreign = [ride(1).replaceAll("XN-", "QZ-"), `${group}.ride.1`, `${group}.ride.no run.1`, "else"];
  const entries = [...ours, ...foreign].map((one) => told(one));
  const page = { outcome: "done" as const, entries: [...entries, told(ride(5), "BOOKED")] };
  const ask = ridesOf({ reconcile: async () => page });
  const fleet: Source = { tenant: "XN", name: "fleet", intervalMs: 60_000, ask };
  const from = "BOOKED";
  t.strictSame(await reconcileNow(context, [fleet], trace), [
    {
      ...{ vendor: "fleet", outcome: "done", told: 4 },
      differences: [lost, forgotten].map((reference) => {
        return { reference, subCaseUrn: `urn:sub-case:${group}`, from, to: "CANCELLED", at };
      }),
    },
  ]);
  t.strictSame(
    commands.map(({ name, entity, data }) => ({ name, entity, data })),
    ours.map((reference, i) => {
      const data = { reference, rideId: `rf-${reference}`, state: "CANCELLED", at };
      return { name: "transport.record-ride", entity: run(i + 1), data };
    }),
  );
  t.equal(unknown, ride(4), "what nobody knows is told, and is no difference");
  t.match(await reconcileNow(context, [fleet], trace), [{ told: 0, differences: [] }], "once");
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

t.test("what is wrong with a vendor that is put is said before anybody is asked", async (t) => {
  const dir = t.testdir({ key: "k3y\n", empty: "\n" });
  const sent: unknown[] = [];
  const reach = {
    client: async () => ({ command: async (_: string, { data }: { data: unknown }) => sent.push(data) }),
  } as unknown as Reach;
  const whole = {
    airline: "XN",
    name: "a",
    dialect: "twilio",
    "base-url": "u",
    "api-key-file": `${dir}/key`,
  };
  const put = (more: object) => vendorSubcommands["vendor put"]?.run({ ...whole, ...more }, [], reach);
  for (const [more, message] of [
    [{ "api-key-file": `${dir}/none` }, /none cannot be read \(ENOENT\)/],
    [{ "api-secret-file": `${dir}/empty` }, /empty holds no secret/],
    [{ account: ["from=+1", "secret"] }, "--account takes <name>=<value>"],
    [{ "reconcile-minutes": "soon" }, "--reconcile-minutes takes a number, not soon"],
    [{ airline: undefined }, "--airline is needed"],
  ] as const)
    await t.rejects(put(more) as Promise<unknown>, Object.assign(new StartFailure(""), { message }));
  t.strictSame(sent, []);
  await put({ account: ["from=+1=2"], "calls-per-second": "2" });
  t.match(sent, [{ apiKey: "k3y", account: { from: "+1=2" }, callsPerSecond: 2 }]);
});
