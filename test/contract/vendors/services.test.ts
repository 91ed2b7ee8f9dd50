/** The payment, message and transport ports' contracts, run on each adapter against its sandbox process. */
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import t, { type Test } from "tap";
import { CardWorks } from "../../../actors/vendor-adapter/adapters/cardworks.ts";
import { RideFleet } from "../../../actors/vendor-adapter/adapters/ridefleet.ts";
import { SendWell } from "../../../actors/vendor-adapter/adapters/sendwell.ts";
import { StripeIssuing } from "../../../actors/vendor-adapter/adapters/stripe-issuing.ts";
import { Twilio } from "../../../actors/vendor-adapter/adapters/twilio.ts";
import { carryOut } from "../../../actors/vendor-adapter/calls.ts";
import type { VendorOptions } from "../../../actors/vendor-adapter/http.ts";
import type {
  CallContext,
  LookupOutcome,
  MessagePort,
  PaymentPort,
  TransportPort,
  WriteOutcome,
} from "../../../actors/vendor-adapter/ports.ts";
import { cardUsesOf } from "../../../actors/vendor-adapter/reconcile.ts";
import { closedPort, context, type Sandbox, startSandbox } from "./sandbox.ts";

const paymentAdapters: [string, new (options: VendorOptions) => PaymentPort][] = [
  ["cardworks", CardWorks],
  ["stripe-issuing", StripeIssuing],
];
const messageAdapters: [string, new (options: VendorOptions) => MessagePort][] = [
  ["sendwell", SendWell],
  ["twilio", Twilio],
];
const transportAdapters: [string, new (options: VendorOptions) => TransportPort][] = [
  ["ridefleet", RideFleet],
];

/** What the three ports have in common: something is made under a reference, and found by it. */
interface Making {
  /** The vendor's name for it in its ledger's requests. */
  operation: string;
  make(reference: string, variant?: "other"): Promise<WriteOutcome<object>>;
  find(reference: string): Promise<LookupOutcome<object>>;
  /** The vendor has no idempotency keys: this is how something is made again after a doubt. Absent: by making it. */
  again?(reference: string): Promise<object>;
}

interface Makings {
  port: Making;
  /** The same port, its calls given up by the signal. */
  until(signal: AbortSignal): Making;
  /** With a key that the vendor doesn't know. */
  stranger: Making;
  /** Where nobody listens. */
  nowhere: Making;
}

t.test("payment, message and transport ports", async (t) => {
  const names = [...paymentAdapters, ...messageAdapters, ...transportAdapters].map(([name]) => name);
  const sandbox = await startSandbox(t, t.testdir(), ["--only", names.join(",")]);
  const elsewhere = await closedPort();
  const each = async <Port>(
    adapters: [string, new (options: VendorOptions) => Port][],
    making: (port: Port, context: CallContext, name: string) => Making,
    own: (t: Test, port: Port, sandbox: Sandbox, name: string) => Promise<void>,
  ) => {
    for (const [name, Adapter] of adapters) {
      const options = { ...sandbox.vendor(name), timeoutMs: 20_000 };
      const on = (change: Partial<VendorOptions>, signal?: AbortSignal): Making =>
        making(new Adapter({ ...options, ...change }), { ...context, ...(signal && { signal }) }, name);
      await t.test(name, async (t) => {
        await shared(t, sandbox, name, {
          port: on({}),
          until: (signal) => on({}, signal),
          stranger: on({ apiKey: "wrong" }),
          nowhere: on({ baseUrl: elsewhere }),
        });
        await sandbox.reset();
        await own(t, new Adapter(options), sandbox, name);
      });
    }
  };
  await each(paymentAdapters, payment, ownPayment);
  await each(messageAdapters, message, ownMessage);
  await each(transportAdapters, transport, ownTransport);
});

const shared = async (
  t: Test,
  sandbox: Sandbox,
  name: string,
  { port, until, stranger, nowhere }: Makings,
): Promise<void> => {
  const fail = (kind: string, operation: string) =>
    sandbox.control({ [name]: { failNext: [{ operation, kind, times: 1 }] } });
  const made = async () => (await sandbox.ledger(name)).entries;
  t.beforeEach(() => sandbox.reset());

  await t.test("made once under a reference, and found by it", async (t) => {
    t.same(await port.find("one/1"), { outcome: "none" });
    if (port.again !== undefined) {
      const answer = await port.make("one/1");
      t.equal(answer.outcome, "done");
      t.match(await port.find("one/1"), answer);
      t.same(await port.find("one/2"), { outcome: "none" });
      return;
    }
    const answers = await Promise.all([1, 2, 3].map(() => port.make("one/1")));
    t.equal(answers[0]!.outcome, "done");
    for (const answer of answers) t.same(answer, answers[0]);
    t.match(await port.find("one/1"), answers[0]);
    t.match(await made(), [{ reference: "one/1", idempotencyKey: "one/1" }]);
    t.match(await port.make("one/1", "other"), { outcome: "refused", code: "REFERENCE_REUSED" });
  });

  for (const kind of ["lost-answer", "timeout", "malformed", "error-after"]) {
    await t.test(`${kind}: in doubt, then found, and made once`, async (t) => {
      await fail(kind, port.operation);
      const giveUp = new AbortController();
      const pending = until(giveUp.signal).make(kind);
      if (kind === "timeout") {
        while ((await made()).length === 0);
        giveUp.abort();
      }
      t.match(await pending, { outcome: "in-doubt" });
      t.match(await port.find(kind), { outcome: "done" });
      t.match(await (port.again ?? port.make)(kind), { outcome: "done" });
      t.equal((await made()).length, 1);
      const { requests } = await sandbox.ledger(name);
      t.match(
        requests.filter((request) => request.operation === port.operation),
        [
          ...(port.again === undefined ? [{ repeated: true, fault: null }] : []),
          { repeated: false, fault: kind },
        ],
      );
    });
  }

  await t.test("what was not done, and what is not to be", async (t) => {
    await fail("error", port.operation);
    t.match(await port.make("a"), { outcome: "in-doubt" });
    t.same(await port.find("a"), { outcome: "none" });
    await fail("unavailable", port.operation);
    t.match(await port.make("b"), { outcome: "unavailable", retryAfterMs: 1000 });
    await fail("refuse", port.operation);
    const refused = await port.make("c");
    t.equal(refused.outcome, "refused");
    if (port.again === undefined) t.same(await port.make("c"), refused);
    t.match(await stranger.make("d"), { outcome: "refused", code: "NOT_AUTHORISED" });
    t.match(await nowhere.make("e"), { outcome: "unavailable" });
    for (const kind of ["error", "malformed", "lost-answer"]) {
      await fail(kind, "lookup");
      t.match(await port.find("a"), { outcome: "unavailable" }, kind);
    }
    t.same(await made(), []);
  });
};

const payment = (port: PaymentPort, context: CallContext): Making => ({
  operation: "issueCard",
  make: (reference, variant) => {
    const balance = { amountMinor: variant === undefined ? 12_500 : 99_000, currency: "EUR" };
    return port.issueCard({ reference, balance, label: "XN 204" }, context);
  },
  find: (reference) => port.lookup({ reference }, context),
});

/** Stripe's cards don't tell what was spent; a charge ends its authorization unless more is to come, and then frees the rest by itself. */
const tellsLess = (name: string): boolean => name === "stripe-issuing";

const ownPayment = async (t: Test, port: PaymentPort, sandbox: Sandbox, name: string): Promise<void> => {
  const balance = { amountMinor: 9_000, currency: "JPY" };
  const card = await port.issueCard({ reference: "p", balance, label: "XN 204" }, context);
  if (card.outcome !== "done") return t.fail(JSON.stringify(card)) as never;
  t.match(card, { last4: /^\d{4}$/, balance });
  t.same(Object.keys(card).sort(), [
    "balance",
    "cardId",
    "expiryMonth",
    "expiryYear",
    "last4",
    "loaded",
    "outcome",
  ]);
  const load = (n: number, amountMinor: number) =>
    port.loadCard(
      {
        reference: `p.load.${n}`,
        issuedUnder: "p",
        cardId: card.cardId,
        loaded: { amountMinor, currency: balance.currency },
      },
      context,
    );
  const total = balance.amountMinor + 700;
  const loaded = await load(1, total);
  t.match(loaded, { outcome: "done", balance: { amountMinor: total }, loaded: { amountMinor: total } });
  t.same(await load(2, total), loaded, "the total is set, not added");
  t.match(await port.lookup({ reference: "p" }, context), { loaded: { amountMinor: total } });
  t.match(await load(3, 1), { outcome: "refused", code: "PAYMENT_DECLINED" });
  await usedAndShown(t, port, sandbox, name, card.cardId);
  const cancel = () => port.cancelCard({ reference: "p", cardId: card.cardId }, context);
  const spent = tellsLess(name) ? loaded : { ...loaded, balance: { ...balance, amountMinor: total - 450 } };
  t.same(await cancel(), spent);
  t.same(await cancel(), spent);
  t.match(await port.reveal({ cardId: card.cardId }, context), { outcome: "refused", code: "NOT_FOUND" });
  t.match(await port.cancelCard({ reference: "again", cardId: card.cardId }, context), { outcome: "done" });
  t.match(await port.lookup({ reference: "p" }, context), { state: "CANCELLED" });
  const unknown = await port.cancelCard({ reference: "q", cardId: "card_none" }, context);
  t.match(unknown, { outcome: "refused", code: "NOT_FOUND" });
  const nothing = { reference: "z", balance: { ...balance, amountMinor: 0 }, label: "x" };
  t.match(await port.issueCard(nothing, context), { outcome: "refused", code: "INVALID_REQUEST" });
  t.match((await sandbox.ledger(name)).counts, { issued: 1, cancelled: 1 });
  await sandbox.control({ [name]: { failNext: [{ operation: "issueCard", kind: "refuse", times: 1 }] } });
  const declined = await port.issueCard({ reference: "d", balance, label: "x" }, context);
  t.match(declined, { outcome: "refused", code: "PAYMENT_DECLINED" });
};

/** Of the card under the reference `p`. */
const usedAndShown = async (
  t: Test,
  port: PaymentPort,
  sandbox: Sandbox,
  name: string,
  cardId: string,
): Promise<void> => {
  await sandbox.control({ [name]: { ledgerPageSize: 2 } });
  const use = (more: object) => sandbox.spend(name, { cardId, occurred: 1_900_000_000, ...more });
  const held = await use({ type: "authorization", amountMinor: 500, merchant: "Bar\u0000 & \n Grill" });
  const more = { authorization: held.authorization, partial: tellsLess(name) };
  await use({ type: "capture", amountMinor: 450, ...more });
  await use({ type: "reversal", amountMinor: 50, authorization: held.authorization });
  const first = await port.transactions({}, context);
  if (first.outcome !== "done") return t.fail(JSON.stringify(first)) as never;
  const second = await port.transactions({ cursor: first.nextCursor ?? "" }, context);
  if (second.outcome !== "done") return t.fail(JSON.stringify(second)) as never;
  t.equal(second.nextCursor, undefined);
  const told = [...first.entries, ...second.entries].map(({ transaction }) => transaction);
  const all = ["AUTHORIZATION", "SETTLEMENT", "REVERSAL"].map((kind) =>
    told.find((one) => one?.kind === kind),
  );
  const one = { reference: "p", cardId, authorizationId: held.authorization, at: "2030-03-17T17:46:40.000Z" };
  t.match(all, [
    { ...one, kind: "AUTHORIZATION", amount: { amountMinor: 500, currency: "JPY" }, merchant: "Bar & Grill" },
    { ...one, kind: "SETTLEMENT", amount: { amountMinor: 450 } },
    { ...one, kind: "REVERSAL", amount: { amountMinor: 50 } },
  ]);
  t.equal(new Set(told.map((used) => used?.eventId)).size, 3);
  const since = await port.transactions({ since: "2999-01-01T00:00:00.000Z" }, context);
  t.same(since, { outcome: "done", entries: [] });
  t.match(await port.transactions({ cursor: "x" }, context), { outcome: "refused" });
  const shown = await port.reveal({ cardId }, context);
  t.match(shown, { outcome: "done", url: /^https:\/\//, expiresAt: /Z$/ });
  t.match(await port.reveal({ cardId: "none" }, context), { outcome: "refused", code: "NOT_FOUND" });
  for (const kind of ["lost-answer", "malformed", "error"]) {
    const fail = (operation: string) =>
      sandbox.control({ [name]: { failNext: [{ operation, kind, times: 1 }] } });
    await fail(tellsLess(name) ? "retrieveCard" : "reveal");
    t.match(await port.reveal({ cardId }, context), { outcome: "unavailable" }, kind);
    await fail("transactions");
    t.match(await port.transactions({}, context), { outcome: "unavailable" }, kind);
  }
};

const message = (port: MessagePort, context: CallContext, name: string): Making => {
  const to =
    name === "twilio"
      ? ({ channel: "SMS", recipient: "+351912345678" } as const)
      : ({ channel: "EMAIL", recipient: "ana@example.org", subject: "Your room" } as const);
  const requested = (reference: string, variant?: string) => {
    return { reference, ...to, text: variant ?? `Your room ${reference} is ready.`, language: "en" };
  };
  const again = (reference: string) => {
    const replyTo = { name: "a.b", entity: "" };
    const call = { reference, tries: 2, doubt: true, request: requested(reference), replyTo };
    return carryOut({ name, kind: "message", port }, "send", call, { ...context, attempt: 1 });
  };
  return {
    operation: "send",
    make: (reference, variant) => port.send(requested(reference, variant), context),
    find: (reference) => port.lookup(requested(reference), context),
    ...(name === "twilio" && { again }),
  };
};

const ownMessage = async (t: Test, port: MessagePort, sandbox: Sandbox, name: string): Promise<void> => {
  const texts: [channel: "SMS" | "WHATSAPP" | "EMAIL", recipient: string, outcome: string][] = [
    ["SMS", "+351912345678", "done"],
    ["WHATSAPP", "+5511987654321", "done"],
    ["SMS", "ana@example.org", "refused"],
    ["EMAIL", "+351912345678", "refused"],
  ];
  for (const [channel, recipient, outcome] of texts) {
    const reference = `${channel}:${recipient}`;
    const sent = await port.send(
      { reference, channel, recipient, text: "Olá, até já", language: "pt" },
      context,
    );
    t.match(sent, outcome === "done" ? { outcome } : { outcome, code: "RECIPIENT_REJECTED" }, reference);
  }
  const { counts, entries } = await sandbox.ledger(name);
  t.match(counts, { sent: 2 });
  const words = name === "twilio" ? {} : { channel: "sms", locale: "pt" };
  t.match(entries[0], { details: { to: "+351912345678", body: "Olá, até já", ...words } });
};

const ride = {
  direction: "AIRPORT_TO_HOTEL",
  vehicleType: "SHUTTLE",
  pickupAt: "2031-03-14T20:30:00Z",
  from: { label: "FRA, Terminal 1", coordinates: { latitude: 50.05, longitude: 8.57 } },
  to: { label: "Hartwell Inn", coordinates: { latitude: 50.02, longitude: 8.6 } },
  passengers: 12,
  specialRequirements: ["INFANT_COT"],
} as const;

const transport = (port: TransportPort, context: CallContext): Making => ({
  operation: "book",
  make: (reference, variant) =>
    port.book({ ...ride, reference, passengers: variant === undefined ? 12 : 13 }, context),
  find: (reference) => port.lookup({ reference }, context),
});

const ownTransport = async (t: Test, port: TransportPort, sandbox: Sandbox, name: string): Promise<void> => {
  const van = { ...ride, vehicleType: "WHEELCHAIR_VAN", passengers: 2 } as const;
  const booked = await port.book({ ...van, reference: "r" }, context);
  if (booked.outcome !== "done") return t.fail(JSON.stringify(booked)) as never;
  t.match(booked, { vehicleType: "WHEELCHAIR_VAN", pickupAt: ride.pickupAt, plate: String });
  const cancel = () => port.cancel({ reference: "r", rideId: booked.rideId }, context);
  t.same(await cancel(), booked);
  t.same(await cancel(), booked);
  t.match(await port.lookup({ reference: "r" }, context), { state: "CANCELLED", rideId: booked.rideId });
  const full = await port.book({ ...van, reference: "full", passengers: 40 }, context);
  t.match(full, { outcome: "refused", code: "CAPACITY_EXCEEDED" });
  const unknown = await port.cancel({ reference: "u", rideId: "rf-none" }, context);
  t.match(unknown, { outcome: "refused", code: "NOT_FOUND" });
  t.match((await sandbox.ledger(name)).counts, { booked: 1, cancelled: 1 });
};

t.test("one odd transaction does not stop the others", async (t) => {
  const good = { id: "t1", type: "capture", card: "c", external_id: "XN-1.card.1", authorization: "a" };
  const amount = { value: 450, currency: "JPY" };
  const noted = { ...good, amount, occurred: 1_900_000_000, created: 1_900_000_001 };
  const { external_id: _, ...unnamed } = noted;
  const odd = [
    { ...noted, type: "chargeback" },
    { ...noted, type: "constructor" },
    { ...noted, amount: { ...amount, value: 0 } },
    { ...unnamed, created: 1_900_000_009 },
    { ...noted, external_id: null },
    { ...noted, external_id: "" },
    { ...noted, external_id: "x".repeat(501) },
  ];
  let data: object[] = [noted, ...odd];
  const server = createServer((_, response) => response.end(JSON.stringify({ data, has_more: false })));
  await once(server.listen(0, "127.0.0.1"), "listening");
  t.teardown(() => server.close());
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const ask = cardUsesOf(new CardWorks({ baseUrl, apiKey: "k", timeoutMs: 20_000 }));
  const page = await ask({}, { ...context, signal: AbortSignal.timeout(20_000) });
  if (page.outcome !== "done") return t.fail(JSON.stringify(page)) as never;
  t.match(page.reports, [{ reference: "XN-1.card.1", cause: ["t1"], data: { kind: "SETTLEMENT" } }]);
  t.equal(page.reports.length, 1);
  t.equal(page.entries.length, 1 + odd.length);
  t.equal(page.entries[4]?.changedAt, "2030-03-17T17:46:49.000Z", "its time counts for the position");
  for (const wrong of [{ created: "today" }, { amount: { ...amount, value: -1 } }, { id: 7 }]) {
    data = [{ ...noted, ...wrong }];
    const refused = await ask({}, { ...context, signal: AbortSignal.timeout(20_000) });
    t.match(refused, { outcome: "unavailable" }, JSON.stringify(wrong));
  }
});
