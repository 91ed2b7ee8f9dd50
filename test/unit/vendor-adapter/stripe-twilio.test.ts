// What Stripe and Twilio send us, in our words, against their own SDKs: amounts, signatures, the states of authorizations, callbacks.
import Stripe from "stripe";
import t from "tap";
import { getExpectedTwilioSignature } from "twilio/lib/webhooks/webhooks.js";
import { type CardUse, figuresOf } from "../../../actors/sub-case/card-use.ts";
import { fromStripeAmount, toStripeAmount } from "../../../actors/vendor-adapter/adapters/stripe-amounts.ts";
import { usesOfAuthorization } from "../../../actors/vendor-adapter/adapters/stripe-events.ts";
import { stripeInbound } from "../../../actors/vendor-adapter/adapters/stripe-inbound.ts";
import { twilioInbound } from "../../../actors/vendor-adapter/adapters/twilio-inbound.ts";
import type { InboundRequest } from "../../../actors/vendor-adapter/inbound.ts";
import { Problem } from "../../../schemas/problems.ts";
import { evening, secondsLater } from "../../harness/given.ts";

const codeOf = (work: () => unknown): string => {
  try {
    work();
    return "none";
  } catch (error) {
    if (error instanceof Problem) return error.code;
    throw error;
  }
};

t.test("Stripe's units", async (t) => {
  const rows: [currency: string, ours: number, theirs: number][] = [
    ["USD", 1234, 1234],
    ["JPY", 1234, 1234],
    ["KRW", 5, 5],
    ["BHD", 12_340, 12_340],
    ["ISK", 1234, 123_400],
    ["UGX", 7, 700],
    ["HUF", 1234, 1234],
    ["MGA", 1200, 12],
    ["IQD", 12_340, 1234],
  ];
  for (const [currency, amountMinor, theirs] of rows) {
    t.equal(toStripeAmount({ amountMinor, currency }), theirs, currency);
    t.same(fromStripeAmount(theirs, currency.toLowerCase()), { amountMinor, currency }, currency);
  }
  t.equal(toStripeAmount({ amountMinor: 12_341, currency: "KWD" }), 12_350, "up to the next ten thousandths");
  t.equal(toStripeAmount({ amountMinor: 1201, currency: "MGA" }), 13, "up: what was asked for can be spent");
});

const seconds = Math.floor(evening.getTime() / 1000);
const reference = "XN-01KAMVW9G0ABCDEFGHJKMNPQRS.card.1";
const authorization = (more: object = {}) => ({
  ...{ id: "iauth_1", approved: true, amount: 5000, created: seconds, currency: "usd", status: "pending" },
  card: { id: "ic_1", metadata: { reference } },
  merchant_data: { name: "JFK  Diner\n" },
  request_history: [{ amount: 5000, approved: true, created: seconds }],
  transactions: [] as object[],
  ...more,
});
const charge = (id: string, amount: number, after = 60) => ({ id, amount, created: seconds + after });

t.test("an authorization's states, however many of them are heard, and in whatever order", async (t) => {
  const partly = { transactions: [charge("ipi_1", -2000)] };
  const both = { transactions: [charge("ipi_1", -2000), charge("ipi_2", -2500, 120)] };
  const refunded = { transactions: [...both.transactions, charge("ipi_3", 500, 240)] };
  const asked = {
    request_history: [
      { amount: 9000, approved: false, created: seconds - 5 },
      { amount: 5000, approved: true, created: seconds },
    ],
  };
  const grown = {
    request_history: [
      ...authorization().request_history,
      { amount: 700, approved: true, created: seconds + 5 },
    ],
  };
  const lessened = {
    request_history: [
      ...authorization().request_history,
      { amount: -700, approved: true, created: seconds + 5 },
    ],
  };
  const rows: [name: string, states: object[], held: number, spent: number][] = [
    ["held", [{}], 5000, 0],
    ["held for more", [{}, grown], 5700, 0],
    ["held for less, which is told at the end", [{}, lessened], 5000, 0],
    ["held for less, and over", [{}, lessened, { ...lessened, status: "reversed" }], 0, 0],
    ["refused", [{ approved: false, status: "closed", request_history: [] }], 0, 0],
    ["refused at first", [asked], 5000, 0],
    ["charged in part", [{}, partly], 3000, 2000],
    ["charged in parts, and over", [{}, partly, { ...both, status: "closed" }], 0, 4500],
    ["charged less, and over", [{}, { ...partly, status: "closed" }], 0, 2000],
    ["charged more", [{}, { transactions: [charge("ipi_1", -6000)], status: "closed" }], 0, 6000],
    ["given back", [{}, { status: "reversed", amount: 0 }], 0, 0],
    ["run out after a part", [{}, partly, { ...partly, status: "expired" }], 0, 2000],
    ["refunded", [{}, { ...both, status: "closed" }, { ...refunded, status: "closed" }], 0, 4000],
  ];
  for (const [name, states, held, spent] of rows) {
    const told = states.map((state, i) =>
      usesOfAuthorization(authorization(state) as never, seconds + 60 * i),
    );
    t.ok(
      told.flat().every(({ amount }) => amount.amountMinor > 0),
      name,
    );
    for (const heard of [told, told.toReversed(), [told.at(-1) ?? []], [...told, ...told]]) {
      const uses = new Map<string, CardUse>();
      for (const { eventId, amount, at, ...use } of heard.flat())
        if (!uses.has(eventId))
          uses.set(eventId, {
            ...use,
            eventId,
            amountMinor: amount.amountMinor,
            at: new Date(at),
          } as CardUse);
      const card = { loadedMinor: 20_000, balanceMinor: 20_000, status: "ACTIVE", uses: [...uses.values()] };
      t.match(
        figuresOf(card as never),
        { heldMinor: held, balanceMinor: 20_000 - spent, availableMinor: 20_000 - spent - held },
        name,
      );
    }
  }
  const [use] = usesOfAuthorization(authorization() as never, seconds);
  t.match(use, { reference, cardId: "ic_1", merchant: "JFK Diner", amount: { currency: "USD" } });
  const foreign = authorization({ card: { id: "ic_2", metadata: {} } });
  t.same(usesOfAuthorization(foreign as never, seconds), [], "a card of somebody else's on the account");
});

const stripe = new Stripe("sk_test_x");
const stripeRequest = (body: object, { secret = "whsec_1", at = evening } = {}): InboundRequest => {
  const payload = JSON.stringify(body);
  const timestamp = Math.floor(at.getTime() / 1000);
  const header = stripe.webhooks.generateTestHeaderString({ payload, secret, timestamp });
  return {
    headers: { "stripe-signature": header },
    rawBody: Buffer.from(payload),
    url: "https://x.example/",
  };
};
const stripeEvent = (type: string, object: unknown) => ({
  id: "evt_1",
  type,
  created: seconds,
  data: { object },
});

t.test("Stripe's webhooks, signed by its SDK", async (t) => {
  const body = stripeEvent("issuing_authorization.created", authorization());
  const good = stripeRequest(body);
  t.ok(stripeInbound.verify(good, "whsec_1", evening));
  t.notOk(stripeInbound.verify(good, "whsec_2", evening));
  t.ok(stripeInbound.verify(good, "whsec_1", secondsLater(300)));
  t.notOk(stripeInbound.verify(good, "whsec_1", secondsLater(301)), "Stripe's own tolerance");
  const read = (type: string, object: unknown) =>
    stripeInbound.read(stripeRequest(stripeEvent(type, object)), evening);
  t.match(read("issuing_authorization.created", authorization()), {
    notices: [{ kind: "card", transaction: { eventId: "iauth_1:0", kind: "AUTHORIZATION", reference } }],
    passedOver: 0,
  });
  const bare = {
    ...charge("ipi_9", -900),
    authorization: null,
    card: "ic_1",
    currency: "usd",
    merchant_data: {},
  };
  const { notices } = read("issuing_transaction.created", bare);
  t.match(notices, [
    { transaction: { eventId: "ipi_9", authorizationId: "ipi_9", kind: "SETTLEMENT", cardId: "ic_1" } },
  ]);
  t.notOk(
    notices.some((one) => one.kind === "card" && "reference" in one.transaction),
    "whose card, is asked",
  );
  t.same(read("issuing_card.updated", { id: "ic_1" }), { notices: [], passedOver: 1 });
  t.same(read("charge.succeeded", {}), { notices: [], passedOver: 1 });
  const malformed: [string, unknown][] = [
    ["issuing_authorization.updated", { ...authorization(), card: "ic_1" }],
    ["issuing_authorization.updated", { ...authorization(), request_history: null }],
    ["issuing_transaction.created", { ...bare, amount: "900" }],
    ["issuing_transaction.created", null],
  ];
  for (const [type, object] of malformed)
    t.equal(
      codeOf(() => read(type, object)),
      "validation/body",
      type,
    );
  t.equal(
    codeOf(() => stripeInbound.read(stripeRequest([]), evening)),
    "validation/body",
  );
});

const sid = `SM${"a".repeat(32)}`;
const callback = "https://api.example/v1/webhooks/vendors/twilio";
const form = (fields: Record<string, string>, url = callback): InboundRequest => ({
  headers: { "x-twilio-signature": getExpectedTwilioSignature("token", url, fields) },
  rawBody: Buffer.from(new URLSearchParams(fields).toString()),
  url,
});

t.test("of Twilio's forms no more is taken apart than a true one has, whoever has signed it", async (t) => {
  const believed = (fields: Record<string, string | string[]>) => {
    const rawBody = Object.entries(fields)
      .flatMap(([name, values]) => [values].flat().map((value) => `${name}=${value}`))
      .join("&");
    return twilioInbound.verify(
      {
        headers: { "x-twilio-signature": getExpectedTwilioSignature("token", callback, fields) },
        rawBody: Buffer.from(rawBody),
        url: callback,
      },
      "token",
      evening,
    );
  };
  const names = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [`n${i}`, "1"]));
  t.ok(believed(names(201)), "200 ampersands");
  t.notOk(believed(names(202)));
  t.ok(believed({ Body: "x".repeat(65_536 - 5) }), "64 KiB");
  t.notOk(believed({ Body: "x".repeat(65_536 - 4) }));
  t.ok(believed({ MediaUrl: ["b", "a", "c"], To: "1" }), "several of a name");
  const { headers, ...good } = form({ MessageSid: sid });
  const signature = headers["x-twilio-signature"] ?? "";
  for (const other of ["", "x", `${signature}=`, `${signature.slice(0, -1)}A`, ` ${signature}`]) {
    let isRead = false;
    const request = {
      headers: { "x-twilio-signature": other },
      url: good.url,
      get rawBody() {
        isRead = true;
        return good.rawBody;
      },
    };
    t.notOk(twilioInbound.verify(request, "token", evening), other);
    t.notOk(isRead, "what is no signature has nothing read");
  }
});

t.test("Twilio's callbacks, signed by its SDK", async (t) => {
  const fields = { MessageSid: sid, MessageStatus: "delivered", To: "+351912345678", Body: "Olá & até já" };
  const good = form(fields);
  t.ok(twilioInbound.verify(good, "token", evening));
  t.notOk(twilioInbound.verify(good, "another", evening));
  t.notOk(twilioInbound.verify({ ...good, url: `${callback}?a=1` }, "token", evening));
  t.notOk(twilioInbound.verify({ ...good, rawBody: Buffer.from("MessageSid=x") }, "token", evening));
  t.notOk(twilioInbound.verify({ ...good, headers: {} }, "token", evening));
  const at = evening.toISOString();
  const status = (MessageStatus: string, more: object = {}, url = `${callback}?reference=XN-1.a`) =>
    twilioInbound.read(form({ MessageSid: sid, MessageStatus, To: "+351912345678", ...more }, url), evening)
      .notices;
  const reply = (Body: string, more: object = {}) =>
    twilioInbound.read(
      form({ MessageSid: sid, SmsStatus: "received", From: "whatsapp:+351912345678", Body, ...more }),
      evening,
    ).notices;
  const fate = { kind: "message", at, reference: "XN-1.a" } as const;
  const said = {
    kind: "message",
    eventId: sid,
    at,
    channel: "WHATSAPP",
    recipient: "+351912345678",
  } as const;
  t.strictSame(status("delivered"), [{ ...fate, eventId: `${sid}:delivered`, what: "delivered" }]);
  t.match(status("read"), [{ eventId: `${sid}:read`, what: "delivered" }]);
  t.match(status("undelivered", { ErrorCode: "30005" }), [
    { what: "bounced", detail: "Twilio's error 30005" },
  ]);
  t.match(status("failed", { ErrorCode: "63016" }), [{ what: "bounced", detail: "Twilio's error 63016" }]);
  t.match(status("failed", { ErrorCode: "21610" }), [
    { what: "bounced" },
    { eventId: `${sid}:opted-out`, what: "opted-out" },
  ]);
  for (const nothing of ["queued", "sending", "sent", "constructor"]) t.same(status(nothing), [], nothing);
  const unnamed = status("delivered", {}, callback);
  t.strictSame(
    unnamed,
    [{ kind: "message", at, eventId: `${sid}:delivered`, messageId: sid, what: "delivered" }],
    "without a reference: by Twilio's own id, never by the number",
  );
  t.strictSame(
    status("undelivered", { ErrorCode: "21610" }, callback),
    [
      {
        ...{ kind: "message", eventId: `${sid}:undelivered`, at, messageId: sid, what: "bounced" },
        detail: "Twilio's error 21610",
      },
      {
        ...{ kind: "message", eventId: `${sid}:opted-out`, at, channel: "SMS" },
        ...{ recipient: "+351912345678", what: "opted-out" },
      },
    ],
    "but that its owner wants nothing more",
  );
  for (const word of ["STOP", " stop ", "Unsubscribe"])
    t.match(reply(word), [{ ...said, what: "opted-out" }], word);
  for (const word of ["START", "unstop"]) t.match(reply(word), [{ what: "opted-in" }], word);
  for (const word of ["yes", "When does it leave?", "", "toString"])
    t.match(reply(word), [{ what: "replied" }], word);
  t.match(reply("ARRET", { OptOutType: "STOP" }), [{ what: "opted-out" }], "the account's own words");
  t.match(reply("STOP", { OptOutType: "HELP" }), [{ what: "replied" }]);
  t.same(reply("STOP", { From: "messenger:12345" }), [], "a channel that is not used");
  t.notMatch(
    JSON.stringify(reply("My card is 4242 4242 4242 4242")),
    /4242/,
    "what they write goes no further",
  );
  t.equal(
    codeOf(() => twilioInbound.read(form({ hello: "you" }), evening)),
    "validation/body",
  );
});
