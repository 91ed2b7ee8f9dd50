// What is Stripe's and Twilio's alone, against the sandbox that speaks them: failures kept under a key, look-ups through lists, cards
// shown by the airline's page, error codes, and webhooks as their own SDKs sign them.
import { once } from "node:events";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { jwtVerify } from "jose";
import Stripe from "stripe";
import t, { type Test } from "tap";
import { validateRequest } from "twilio/lib/webhooks/webhooks.js";
import { stripeInbound } from "../../../actors/vendor-adapter/adapters/stripe-inbound.ts";
import { StripeIssuing } from "../../../actors/vendor-adapter/adapters/stripe-issuing.ts";
import { Twilio } from "../../../actors/vendor-adapter/adapters/twilio.ts";
import { twilioInbound } from "../../../actors/vendor-adapter/adapters/twilio-inbound.ts";
import { context, done, startSandbox } from "./sandbox.ts";

/** Where nothing but these answers is heard. */
const listening = async (t: Test, listener: RequestListener): Promise<string> => {
  const server = createServer(listener).listen(0, "127.0.0.1");
  await once(server, "listening");
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};

interface Heard {
  headers: Record<string, string>;
  rawBody: Buffer;
  url: string;
}

/** A client's own address for webhooks: what came, in order. */
const webhooks = async (t: Test): Promise<{ url: string; until(n: number): Promise<Heard[]> }> => {
  const heard: Heard[] = [];
  const waiting: { n: number; resolve(all: Heard[]): void }[] = [];
  let base = "";
  base = await listening(t, async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk);
    heard.push({
      headers: request.headers as Record<string, string>,
      rawBody: Buffer.concat(chunks),
      url: base + request.url,
    });
    response.writeHead(204).end();
    for (const one of waiting) if (heard.length >= one.n) one.resolve([...heard]);
  });
  return {
    url: `${base}/hooks`,
    until: (n) =>
      new Promise((resolve) => {
        if (heard.length >= n) resolve([...heard]);
        else waiting.push({ n, resolve });
      }),
  };
};

const sandbox = await startSandbox(t, t.testdir(), ["--only", "stripe-issuing,twilio", "--latency", "1"]);
const balance = { amountMinor: 12_000, currency: "USD" };
const group = "XN-01KAMVW9G0ABCDEFGHJKMNPQRS";
const stripeOf = () => new StripeIssuing({ ...sandbox.vendor("stripe-issuing"), timeoutMs: 20_000 });

t.test("Stripe", async (t) => {
  const port = stripeOf();
  const fail = (operation: string, kind: string, times = 1) =>
    sandbox.control({ "stripe-issuing": { failNext: [{ operation, kind, times }] } });
  const keys = async () => {
    const { requests } = await sandbox.ledger("stripe-issuing");
    return requests
      .filter(({ operation }) => operation === "issueCard")
      .map((one) => one.idempotencyKey)
      .reverse();
  };
  t.beforeEach(() => sandbox.reset());

  await t.test("a failure that Stripe keeps for a day is looked up, and asked for once more", async (t) => {
    const reference = `${group}.card.1`;
    const issue = () => port.issueCard({ reference, balance, label: "XN 204" }, context);
    await fail("issueCard", "error");
    t.match(await issue(), { outcome: "in-doubt" });
    t.match(await issue(), { outcome: "done" }, "under another key, as there is none");
    t.same(await keys(), [reference, reference, `${reference}.2`]);
    t.match(await issue(), { outcome: "done" });
    t.equal((await sandbox.ledger("stripe-issuing")).counts.issued, 1);
    await fail("issueCard", "error-after");
    const lost = () => port.issueCard({ reference: "lost", balance, label: "x" }, context);
    t.match(await lost(), { outcome: "in-doubt" });
    t.match(await lost(), { outcome: "done" }, "it was made");
    t.equal((await sandbox.ledger("stripe-issuing")).counts.issued, 2);
    const again = { ...context, again: 1 };
    await fail("issueCard", "refuse");
    t.match(await port.issueCard({ reference: "no", balance, label: "x" }, context), {
      code: "PAYMENT_DECLINED",
    });
    t.match(await port.issueCard({ reference: "no", balance, label: "x" }, context), {
      code: "PAYMENT_DECLINED",
    });
    t.match(await port.issueCard({ reference: "no", balance, label: "x" }, again), { outcome: "done" });
  });

  await t.test("among many cards, by pages", async (t) => {
    await sandbox.control({ "stripe-issuing": { ledgerPageSize: 2 } });
    for (const n of [1, 2, 3, 4, 5])
      await port.issueCard({ reference: `r${n}`, balance, label: "x" }, context);
    for (const n of [1, 3, 5])
      t.match(await port.lookup({ reference: `r${n}` }, context), { outcome: "done" });
    t.same(await port.lookup({ reference: "r6" }, context), { outcome: "none" });
    t.same(await port.lookup({ reference: `XN-7ZZZZZZZZZABCDEFGHJKMNPQRS.card.1` }, context), {
      outcome: "none",
    });
    const all: string[] = [];
    for (let cursor: string | undefined; ; ) {
      const page = done(await port.reconcile(cursor === undefined ? {} : { cursor }, context));
      all.push(...page.entries.map((entry) => `${entry.reference} ${entry.state}`));
      if (page.nextCursor === undefined) break;
      cursor = page.nextCursor;
    }
    t.same(all, ["r5 ACTIVE", "r4 ACTIVE", "r3 ACTIVE", "r2 ACTIVE", "r1 ACTIVE"]);
    t.match(await port.reconcile({ cursor: "x" }, context), { outcome: "refused", code: "INVALID_REQUEST" });
  });

  await t.test("amounts that Stripe's units cannot hold are kept beside them", async (t) => {
    const kuwait = { amountMinor: 12_341, currency: "KWD" };
    const card = done(await port.issueCard({ reference: "kwd", balance: kuwait, label: "x" }, context));
    t.same(card.loaded, kuwait);
    const { entries } = await sandbox.ledger("stripe-issuing");
    t.match(entries, [{ details: { limit: 12_350, metadata: { reference: "kwd", loaded_minor: "12341" } } }]);
    t.match(await port.lookup({ reference: "kwd" }, context), { loaded: kuwait });
  });

  await t.test("a card is shown by the airline's own page, for five minutes", async (t) => {
    const now = new Date("2031-03-14T20:00:00Z");
    const { account, apiSecret = "" } = sandbox.vendor("stripe-issuing");
    const shown = new StripeIssuing(
      { ...sandbox.vendor("stripe-issuing"), timeoutMs: 20_000 },
      { now: () => now },
    );
    const { cardId } = done(await port.issueCard({ reference: "s", balance, label: "x" }, context));
    const { url, expiresAt } = done(await shown.reveal({ cardId }, context));
    t.equal(expiresAt, "2031-03-14T20:05:00.000Z");
    const [page, token = ""] = url.split("#");
    t.equal(page, account?.revealPage);
    const check = (currentDate: Date, secret = apiSecret) =>
      jwtVerify(token, Buffer.from(secret), { currentDate, audience: new URL(page ?? "").origin });
    t.match((await check(now)).payload, { sub: cardId });
    await t.rejects(check(new Date(now.getTime() + 301_000)), { code: "ERR_JWT_EXPIRED" });
    await t.rejects(check(now, "another"), { code: "ERR_JWS_SIGNATURE_VERIFICATION_FAILED" });
  });

  await t.test("the use of cards: webhooks and polls tell the same", async (t) => {
    const hooks = await webhooks(t);
    await sandbox.control({ "stripe-issuing": { webhooks: [{ url: hooks.url, secret: "whsec_x" }] } });
    const reference = `${group}.card.1`;
    const { cardId } = done(await port.issueCard({ reference, balance, label: "x" }, context));
    const use = (more: object) => sandbox.spend("stripe-issuing", { cardId, merchant: "Diner", ...more });
    const { authorization } = await use({ type: "authorization", amountMinor: 500 });
    await use({ type: "capture", amountMinor: 450, authorization });
    await use({ type: "reversal", amountMinor: 100, authorization });
    await use({ type: "capture", amountMinor: 70 });
    const heard = await hooks.until(6);
    const sdk = new Stripe("sk_test_x");
    const events = heard.map(({ rawBody, headers }) =>
      sdk.webhooks.constructEvent(rawBody, headers["stripe-signature"] ?? "", "whsec_x"),
    );
    t.equal(new Set(events.map(({ id }) => id)).size, 6);
    const now = new Date();
    const notices = heard.flatMap((request) => {
      t.ok(stripeInbound.verify(request, "whsec_x", now));
      return stripeInbound.read(request, now).notices;
    });
    const byId = new Map(
      notices.flatMap((one) =>
        one.kind === "card" ? [[one.transaction.eventId, one.transaction] as const] : [],
      ),
    );
    t.equal(byId.size, 5);
    const polled = done(await port.transactions({}, context)).entries.map(({ transaction }) => transaction);
    t.equal(new Set(polled.map((one) => one?.eventId)).size, 5);
    for (const one of polled) {
      t.equal(one?.reference, reference);
      const told = byId.get(one?.eventId ?? "");
      const { reference: _, ...same } = one ?? {};
      t.match(told, same, "alike, but that a bare charge names no reference");
    }
    const kinds = [...byId.values()].map(({ kind, amount }) => `${kind} ${amount.amountMinor}`).sort();
    t.same(kinds, ["AUTHORIZATION 500", "REVERSAL 100", "REVERSAL 50", "SETTLEMENT 450", "SETTLEMENT 70"]);
    t.match(await port.referenceOf({ cardId }, context), { outcome: "done", reference });
    t.same(await stripeOf().referenceOf({ cardId: "ic_none" }, context), { outcome: "none" });
    await fail("retrieveCard", "error");
    t.match(
      await stripeOf().transactions({}, context),
      { outcome: "unavailable" },
      "whose it is, is not known",
    );
  });
});

t.test("what Stripe's SDK is not let do, and what its errors mean", async (t) => {
  let requests = 0;
  let answer: { status: number; body: string; headers?: Record<string, string> } | undefined;
  const baseUrl = await listening(t, (request, response) => {
    requests += 1;
    if (answer === undefined) request.socket.resetAndDestroy();
    else response.writeHead(answer.status, answer.headers).end(answer.body);
  });
  const account = { cardholder: "ich_1", revealPage: "https://x.example/show" };
  const port = new StripeIssuing({ baseUrl, apiKey: "sk", apiSecret: "s", account, timeoutMs: 20_000 });
  const issue = () => port.issueCard({ reference: "r", balance, label: "x" }, context);
  t.match(await issue(), { outcome: "in-doubt" });
  t.equal(requests, 1, "a connection that breaks is not asked on a second time");
  const error = (type: string, message = "no", code?: string) =>
    JSON.stringify({ error: { type, message, code } });
  const ours = {
    ...{ id: "ic_1", created: 2, currency: "usd", exp_month: 1, exp_year: 2032, last4: "4242" },
    ...{ status: "active", metadata: { reference: "r" }, spending_controls: { spending_limits: null } },
  };
  const rows: [status: number, body: string, outcome: object, headers?: Record<string, string>][] = [
    [
      429,
      error("invalid_request_error", "slow", "rate_limit"),
      { outcome: "unavailable", retryAfterMs: 7000 },
      { "retry-after": "7" },
    ],
    [429, "<html>", { outcome: "unavailable" }],
    [401, error("invalid_request_error"), { outcome: "refused", code: "NOT_AUTHORISED" }],
    [403, error("invalid_request_error"), { outcome: "refused", code: "NOT_AUTHORISED" }],
    [400, error("idempotency_error"), { outcome: "refused", code: "REFERENCE_REUSED" }],
    [400, error("invalid_request_error"), { outcome: "refused", code: "INVALID_REQUEST" }],
    [400, error("invalid_request_error", "x", "resource_missing"), { outcome: "refused", code: "NOT_FOUND" }],
    [402, error("card_error"), { outcome: "refused", code: "PAYMENT_DECLINED" }],
    [409, error("invalid_request_error", "x", "idempotency_key_in_use"), { outcome: "in-doubt" }],
    [500, error("api_error"), { outcome: "in-doubt" }],
    [503, error("api_error"), { outcome: "in-doubt" }, { "retry-after": "1" }],
    [502, "<html>", { outcome: "in-doubt" }],
    [302, "{}", { outcome: "in-doubt" }, { location: "/elsewhere" }],
    [302, JSON.stringify(ours), { outcome: "in-doubt" }, { location: "/elsewhere" }],
    [200, JSON.stringify(ours), { outcome: "done", cardId: "ic_1" }],
    [200, "{}", { outcome: "in-doubt" }],
    [200, "null", { outcome: "in-doubt" }],
    [200, "[]", { outcome: "in-doubt" }],
    [200, '{"id":', { outcome: "in-doubt" }],
    [404, "{}", { outcome: "in-doubt" }],
  ];
  for (const [status, body, outcome, headers] of rows) {
    answer = { status, body, ...(headers && { headers }) };
    requests = 0;
    t.match(await issue(), outcome, `${status} ${body}`);
    t.equal(requests, 1, "one call, one request");
  }
  answer = { status: 400, body: error("invalid_request_error", "No such ana@example.org, +351912345678") };
  const refused = await issue();
  t.notMatch(JSON.stringify(refused), /ana|91234/, "nothing personal of its words travels on");
  const event = { id: "evt_1", type: "issuing_authorization.created", created: 1, data: { object: {} } };
  const authorization = {
    ...{ id: "iauth_1", approved: true, currency: "usd", status: "pending", merchant_data: {} },
    card: { id: "ic_1", metadata: { reference: "r" } },
    request_history: [{ amount: 500, approved: true, created: 2 }],
    transactions: [],
  };
  const good = { ...event, id: "evt_2", created: 2, data: { object: authorization } };
  answer = { status: 200, body: JSON.stringify({ data: [good, event], has_more: false }) };
  t.match(
    await port.transactions({}, context),
    {
      ...{ outcome: "done", unreadable: ["evt_1"] },
      entries: [{ changedAt: "1970-01-01T00:00:01.000Z" }, { transaction: { eventId: "iauth_1:0" } }],
    },
    "one that cannot be read stops no other",
  );
  answer = { status: 200, body: JSON.stringify({ data: [], has_more: true }) };
  t.match(await port.transactions({}, context), { outcome: "unavailable" });
  t.match(await port.reconcile({}, context), { outcome: "unavailable" });
  t.match(await port.lookup({ reference: "r" }, context), { outcome: "unavailable" });
  // The cardholder's other cards are the airline's own matter, whatever they are.
  const foreign = { id: "ic_2", metadata: {}, status: "paused", spending_controls: null };
  const listed = (...data: object[]) => JSON.stringify({ data, has_more: false });
  answer = { status: 200, body: listed(foreign, ours) };
  t.match(await port.lookup({ reference: "r" }, context), { outcome: "done", loaded: { amountMinor: 0 } });
  const ledger = await port.reconcile({}, context);
  t.strictSame(ledger.outcome === "done" && ledger.entries.map(({ id }) => id), ["ic_1"]);
  answer = { status: 200, body: listed(foreign, { ...ours, status: "paused" }) };
  t.match(
    await port.lookup({ reference: "r" }, context),
    { outcome: "unavailable" },
    "ours is one to know of",
  );
  t.match(await port.reconcile({}, context), { outcome: "unavailable" });
  answer = { status: 200, body: JSON.stringify({ ...ours, id: "ic_2", metadata: {} }) };
  requests = 0;
  for (const _ of [1, 2]) t.same(await port.referenceOf({ cardId: "ic_2" }, context), { outcome: "none" });
  t.equal(requests, 1, "each of their uses would ask anew");
  const gone = AbortSignal.abort();
  requests = 0;
  t.match(await port.issueCard({ reference: "r", balance, label: "x" }, { ...context, signal: gone }), {
    outcome: "unavailable",
  });
  t.equal(requests, 0);
});

t.test("Twilio", async (t) => {
  const hooks = await webhooks(t);
  const vendor = sandbox.vendor("twilio");
  const portOf = (more: object = {}) =>
    new Twilio({ ...vendor, timeoutMs: 20_000, account: { ...vendor.account, ...more } });
  const port = portOf({ statusCallback: hooks.url });
  const secret = vendor.webhookSecret ?? "";
  const message = (reference: string, more: object = {}) =>
    ({
      ...{ reference, channel: "SMS", recipient: "+351912345678", text: `Room ${reference}`, language: "pt" },
      ...more,
    }) as const as Parameters<Twilio["send"]>[0];
  const send = (reference: string, more: object = {}) => port.send(message(reference, more), context);

  const codes: [more: object, code: string][] = [
    [{ recipient: "+15005550001" }, "RECIPIENT_REJECTED"],
    [{ recipient: "+15005550009" }, "RECIPIENT_REJECTED"],
    [{ text: "x".repeat(1601) }, "INVALID_REQUEST"],
    [{ channel: "EMAIL", recipient: "ana@example.org" }, "RECIPIENT_REJECTED"],
  ];
  for (const [more, code] of codes)
    t.match(await send("c", more), { outcome: "refused", code }, JSON.stringify(more));
  const silent = await portOf({ whatsappFrom: undefined }).send(
    message("w", { channel: "WHATSAPP" }),
    context,
  );
  t.match(silent, { outcome: "refused", code: "RECIPIENT_REJECTED" }, "the account has no such sender");
  t.match(await portOf({ accountSid: `AC${"9".repeat(32)}` }).send(message("x"), context), {
    code: "NOT_AUTHORISED",
  });

  const { messageId } = done(await send("XN-1.n.1.1"));
  t.match(messageId, /^SM[0-9a-f]{32}$/);
  const [sent, delivered] = await hooks.until(2);
  for (const one of [sent, delivered]) {
    const fields = Object.fromEntries(new URLSearchParams(one?.rawBody.toString()));
    t.ok(validateRequest(secret, one?.headers["x-twilio-signature"] ?? "", one?.url ?? "", fields));
  }
  const now = new Date();
  t.ok(delivered && twilioInbound.verify(delivered, secret, now));
  t.same(twilioInbound.read(sent as Heard, now), { notices: [], passedOver: 1 });
  t.match(twilioInbound.read(delivered as Heard, now), {
    notices: [{ what: "delivered", reference: "XN-1.n.1.1", eventId: `${messageId}:delivered` }],
  });

  await sandbox.control({ twilio: { webhooks: [{ url: hooks.url, secret }] } });
  const reply = (text: string) =>
    fetch(`${sandbox.announcement.controlUrl}/reply/twilio`, {
      method: "POST",
      body: JSON.stringify({ reference: "XN-1.n.1.1", text }),
    });
  t.equal((await reply("Stop")).status, 200);
  const stopped = (await hooks.until(3))[2] as Heard;
  t.ok(twilioInbound.verify(stopped, secret, now));
  const from = { channel: "SMS", recipient: "+351912345678" };
  t.match(twilioInbound.read(stopped, now).notices, [{ what: "opted-out", ...from }]);
  t.match(await send("after"), { outcome: "refused", code: "OPTED_OUT" });
  await reply("Start");
  t.match(await send("later"), { outcome: "done" });

  await t.test("a look-up by recipient and words", async (t) => {
    const found = (reference: string, more: object = {}) => port.lookup(message(reference, more), context);
    t.match(await found("later"), { outcome: "done", messageId: /^SM/ });
    t.same(await found("never"), { outcome: "none" });
    t.same(await found("later", { recipient: "+351912345679" }), { outcome: "none" });
    t.same(await found("later", { channel: "WHATSAPP" }), { outcome: "none" }, "another channel's address");
    const tomorrow = new Date(Date.now() + 86_400_000 + 60_000);
    const late = new Twilio({ ...vendor, timeoutMs: 20_000 }, { now: () => tomorrow });
    t.same(await late.lookup(message("later"), context), { outcome: "none" }, "a day later it is another");
    let body: unknown;
    let status = 200;
    const baseUrl = await listening(t, (_, response) => {
      response.writeHead(status).end(JSON.stringify(body));
    });
    const impostor = new Twilio({ ...vendor, baseUrl, timeoutMs: 20_000 });
    const one = { sid: "SM1", body: "x", direction: "outbound-api", date_created: new Date().toUTCString() };
    for (const [what, answered] of [
      ["a page of many", { messages: [one], next_page_uri: "/2010-04-01/more" }],
      ["a time that is none", { messages: [{ ...one, date_created: "soon" }] }],
      ["no list", { messages: one }],
    ] as const) {
      body = answered;
      t.match(await impostor.lookup(message("r"), context), { outcome: "unavailable" }, what);
    }
    const { text } = message("r");
    const theirs = { ...one, body: text, direction: "inbound" };
    body = { messages: [theirs] };
    t.same(await impostor.lookup(message("r"), context), { outcome: "none" }, "their own words");
    body = { messages: [theirs, { ...one, body: text, sid: "SM2" }] };
    t.match(await impostor.lookup(message("r"), context), { outcome: "done", messageId: "SM2" });
    body = { ...one, date_created: "soon" };
    t.match(await impostor.send(message("r"), context), { outcome: "in-doubt" });
    [status, body] = [429, { code: 20429, message: "Too many requests" }];
    t.match(await impostor.send(message("r"), context), { outcome: "unavailable" });
    [status, body] = [400, { code: 21611, message: "The sender's queue is full" }];
    const full = { outcome: "unavailable", retryAfterMs: 30_000 };
    t.match(await impostor.send(message("r"), context), full, "nothing was taken");
  });
});
