// Vendors' webhooks without a service: which signatures are believed and for whom, what the dialects make of a body, and which commands
// follow for which airline.
import t from "tap";
import { seal, unseal } from "../../../actors/runtime/seal.ts";
import { cardworksInbound } from "../../../actors/vendor-adapter/adapters/cardworks-inbound.ts";
import { sendwellInbound } from "../../../actors/vendor-adapter/adapters/sendwell-inbound.ts";
import type { Instance } from "../../../actors/vendor-adapter/dialects.ts";
import { findCard, hear } from "../../../actors/vendor-adapter/hear.ts";
import { type InboundRequest, vendorSignature } from "../../../actors/vendor-adapter/inbound.ts";
import type { LookupOutcome } from "../../../actors/vendor-adapter/ports.ts";
import { formerSecret, Senders } from "../../../actors/vendor-adapter/senders.ts";
import type { Command } from "../../../schemas/command.ts";
import { Problem } from "../../../schemas/problems.ts";
import type { ReceivedWebhook } from "../../../schemas/vendor-webhook.ts";
import { evening, received, secondsLater } from "../../harness/given.ts";
import { signedWebhook } from "../../harness/vendor-webhook.ts";

const sealKey = Buffer.alloc(32, 3);
const ulid = "01KAMVW9G0ABCDEFGHJKMNPQRS";

const requestOf = ({ raw, headers }: { raw: string; headers: Record<string, string> }): InboundRequest => ({
  headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])),
  rawBody: Buffer.from(raw),
  url: "https://api.example/v1/webhooks/vendors/x",
});
const signed = (body: unknown, secret = "s3cret", at = evening): InboundRequest =>
  requestOf(signedWebhook("x", secret, body, at));

t.test("which signatures are believed", async (t) => {
  const good = signed({ a: 1 });
  const header = good.headers["x-vendor-signature"] ?? "";
  const [time = "", v1 = ""] = header.split(",");
  const other = signed({ a: 1 }, "another").headers["x-vendor-signature"]?.split(",")[1] ?? "";
  const withHeader = (text: string): InboundRequest => ({ ...good, headers: { "x-vendor-signature": text } });
  const rows: [string, InboundRequest, boolean, Date?][] = [
    ["as it is", good, true],
    ["of two one fits", withHeader(`${time},${other},${v1}`), true],
    ["blanks between", withHeader(`${time}, ${v1}`), true],
    ["capitals", withHeader(`${time},v1=${v1.slice(3).toUpperCase()}`), true],
    ["300 s old", good, true, secondsLater(300)],
    ["301 s old", good, false, secondsLater(301)],
    ["300 s ahead", good, true, secondsLater(-300)],
    ["301 s ahead", good, false, secondsLater(-301)],
    ["none", { ...good, headers: {} }, false],
    ["empty", withHeader(""), false],
    ["by another secret", withHeader(`${time},${other}`), false],
    ["another body", { ...good, rawBody: Buffer.from('{"a":2}') }, false],
    ["the same body, written otherwise", { ...good, rawBody: Buffer.from('{ "a": 1 }') }, false],
    ["no time", withHeader(v1), false],
    ["two times", withHeader(`${time},t=1,${v1}`), false],
    ["another time", withHeader(`t=${Number(time.slice(2)) + 1},${v1}`), false],
    ["no number of a time", withHeader(`t=now,${v1}`), false],
    ["a time beyond all times", withHeader(`t=${"9".repeat(400)},${v1}`), false],
    ["half of it", withHeader(`${time},${v1.slice(0, 40)}`), false],
    ["no hex", withHeader(`${time},v1=${"z".repeat(64)}`), false],
    ["another version", withHeader(`${time},${v1.replace("v1", "v0")}`), false],
  ];
  for (const [name, request, expected, now = evening] of rows)
    t.equal(vendorSignature(request, "s3cret", now), expected, name);
});

const transaction = (more: object = {}) => ({
  ...{ id: "txn_1", type: "authorization", card: "card_1", external_id: `XN-${ulid}.card.1` },
  ...{ authorization: "auth_1", amount: { value: 1200, currency: "USD" }, partial: false },
  ...{ merchant_name: "JFK  Diner", occurred: 1_763_757_000, created: 1_763_757_001, ...more },
});
const event = (data: unknown, type = "transaction.created") => ({ id: "evt_1", type, data });
const told = (more: object = {}) => ({
  ...{ eventId: "E1", type: "delivered", channel: "sms", externalId: `XN-${ulid}.offer-notice.1.1` },
  ...{ recipient: "+12025550143", occurredAt: "2026-11-21T21:30:00Z", ...more },
});

const codeOf = (work: () => unknown): string => {
  try {
    work();
    return "none";
  } catch (error) {
    if (error instanceof Problem) return error.code;
    throw error;
  }
};

t.test("what CardWorks tells", async (t) => {
  const read = (body: unknown) => cardworksInbound.read(signed(body), evening);
  t.strictSame(read(event(transaction())), {
    notices: [
      {
        kind: "card",
        transaction: {
          ...{
            eventId: "txn_1",
            reference: `XN-${ulid}.card.1`,
            cardId: "card_1",
            authorizationId: "auth_1",
          },
          ...{ kind: "AUTHORIZATION", amount: { amountMinor: 1200, currency: "USD" } },
          ...{ merchant: "JFK Diner", at: "2025-11-21T20:30:00.000Z" },
        },
      },
    ],
    passedOver: 0,
  });
  for (const nothing of [
    event({}, "card.created"),
    event(transaction({ type: "dispute" })),
    event(transaction({ external_id: null })),
    event(transaction({ amount: { value: 0, currency: "USD" } })),
  ])
    t.strictSame(read(nothing), { notices: [], passedOver: 1 });
  for (const [body, code] of [
    ["{", "validation/malformed"],
    ["", "validation/malformed"],
    ["[]", "validation/body"],
    [{ id: "evt_1" }, "validation/body"],
    [event(null), "validation/body"],
    [event({ ...transaction(), amount: { value: -1, currency: "USD" } }), "validation/body"],
    [event({ ...transaction(), occurred: "yesterday" }), "validation/body"],
  ] as const)
    t.equal(
      codeOf(() => read(body)),
      code,
      JSON.stringify(body),
    );
  const bytes: InboundRequest = { ...signed(""), rawBody: Buffer.from([0x22, 0xff, 0x22]) };
  t.equal(
    codeOf(() => cardworksInbound.read(bytes, evening)),
    "validation/malformed",
    "no UTF-8",
  );
});

t.test("what SendWell tells", async (t) => {
  const read = (...events: unknown[]) => sendwellInbound.read(signed({ events }), evening);
  const of = (eventId: string, what: string, more: object = {}) => ({
    ...{ kind: "message", eventId, what, at: "2026-11-21T21:30:00Z" },
    ...{ reference: `XN-${ulid}.offer-notice.1.1`, ...more },
  });
  t.same(
    read(
      told(),
      told({ eventId: "E2", type: "bounced", reason: "no subscriber at +12025550143" }),
      told({ eventId: "E3", type: "opened" }),
      told({ eventId: "E4", channel: "pigeon" }),
      told({ eventId: "E5", type: "replied", externalId: undefined }),
      told({ eventId: "E6", type: "opted_out" }),
      told({ eventId: "E7", type: "opted_in" }),
      told({ eventId: "E8", type: "constructor" }),
    ),
    {
      notices: [
        of("E1", "delivered"),
        of("E2", "bounced", { detail: "no subscriber at [masked]" }),
        {
          ...{ kind: "message", eventId: "E5", what: "replied", at: "2026-11-21T21:30:00Z" },
          ...{ channel: "SMS", recipient: "+12025550143" },
        },
        of("E6", "opted-out"),
        of("E7", "opted-in"),
      ],
      passedOver: 3,
    },
  );
  const bad = told({ occurredAt: "soon" });
  t.equal(
    codeOf(() => read(bad, null)),
    "validation/body",
    "none that can be read",
  );
  t.same(
    read(bad, told(), null, told({ eventId: "E9", type: "opened" })),
    { notices: [of("E1", "delivered")], passedOver: 3, malformed: 2 },
    "one that can be read is",
  );
  t.same(read(), { notices: [], passedOver: 0 });
  for (const type of ["delivered", "bounced"])
    t.same(
      read(told({ type, externalId: undefined })),
      { notices: [], passedOver: 1 },
      "of a message that nobody can tell",
    );
  t.equal(
    codeOf(() => sendwellInbound.read(signed({ events: Array(1001).fill(told()) }), evening)),
    "validation/body",
  );
});

t.test("the secret before is good for fourteen days", async (t) => {
  const days = (n: number): Date => secondsLater(n * 86_400);
  const first = { webhookSecret: seal(sealKey, "first") };
  const kept = formerSecret(sealKey, first, "second", evening);
  t.equal(unseal(sealKey, kept.formerWebhookSecret ?? ""), "first");
  t.strictSame(kept.formerWebhookSecretUntil, days(14));
  t.strictSame(formerSecret(sealKey, null, "second", evening), {}, "the first one");
  t.strictSame(formerSecret(sealKey, first, undefined, evening), {}, "none any more");
  t.strictSame(formerSecret(sealKey, {}, "second", evening), {}, "after none");
  const second = { webhookSecret: seal(sealKey, "second"), ...kept };
  t.strictSame(formerSecret(sealKey, second, "second", days(3)), kept, "put again, it lasts no longer");
  const elsewhere = { webhookSecret: seal(Buffer.alloc(32, 9), "first") };
  t.strictSame(formerSecret(sealKey, elsewhere, "second", evening), {}, "nobody here can check by it");

  const senders = new Senders(sealKey);
  const document = { _id: "cards", dialect: "cardworks", ...second };
  // Announced, it has come as JSON.
  senders.learn("XN", JSON.parse(JSON.stringify(document)) as typeof document);
  const believes = (secret: string, at: Date) =>
    senders.of("cards").some((sender) => sender.hasSigned(signed({}, secret, at), at));
  t.ok(believes("second", evening));
  t.ok(believes("first", days(13)));
  t.notOk(believes("first", days(14)));
  t.ok(believes("second", days(14)));
  t.notOk(believes("third", evening));
  senders.learn("XN", { ...document, ...formerSecret(sealKey, elsewhere, "second", evening) });
  t.ok(believes("second", evening), "put again after the service's own key has changed");
  for (const without of [{ dialect: "cardworks" }, { dialect: "stayhub", ...first }]) {
    senders.learn("XN", { _id: "cards", ...without });
    t.strictSame(senders.of("cards"), [], "no secret, or a dialect that sends nothing");
  }
});

interface Sent {
  tenant: string;
  name: string;
  entity: string;
  id: string;
  data: Record<string, unknown>;
}

/** What is sent to the streams, and logged. @param keptMax with so many the process is gone */
const worldOf = (keptMax = Number.POSITIVE_INFINITY) => {
  const sent: Sent[] = [];
  const logged: unknown[] = [];
  const note = (facts: unknown) => logged.push(facts);
  const log = { info: note, warn: note, debug: () => {} };
  const publish = async (subject: string, payload: string, { msgID }: { msgID: string }) => {
    const { tenant, name, entity, id, data } = JSON.parse(payload) as Sent;
    t.equal(msgID, id, "the stream tells repeats by it");
    t.equal(subject, `cmd.${tenant}.${name}.${entity || "-"}`);
    if (sent.length >= keptMax) throw new Error("killed");
    sent.push({ tenant, name, entity, id, data });
    return { seq: sent.length };
  };
  const context = {
    clock: { now: () => evening },
    config: { sealKey },
    log: { ...log, child: () => log },
    streams: { jetstream: { publish } },
  } as unknown as Parameters<typeof hear>[0];
  return { context, sent, logged };
};

const senders = new Senders(sealKey);
const put = (tenant: string, name: string, dialect: string, secret: string): void =>
  senders.learn(tenant, { _id: name, dialect, webhookSecret: seal(sealKey, secret) });
put("XN", "cardworks", "cardworks", "of both");
put("QZ", "cardworks", "cardworks", "of both");
put("XN", "sendwell", "sendwell", "xn's own");
put("QZ", "sendwell", "sendwell", "qz's own");
put("XN", "mixed", "sendwell", "of both");
put("QZ", "mixed", "cardworks", "of both");

const arrived = (vendor: string, { headers, rawBody, url }: InboundRequest): Command<ReceivedWebhook> => ({
  ...received("vendor-adapter.receive-webhook"),
  data: { vendor, headers, url, rawBody: rawBody.toString("base64") },
  tenant: "",
  issuedAt: evening.toISOString(),
});
const hearing = async (vendor: string, request: InboundRequest) => {
  const world = worldOf();
  await hear(world.context, senders.of(vendor), arrived(vendor, request));
  return world;
};
const refusal = async (vendor: string, request: InboundRequest) => {
  const world = worldOf();
  const told = await hear(world.context, senders.of(vendor), arrived(vendor, request)).then(
    () => "believed",
    (error: Problem) => error.code,
  );
  t.strictSame(world.sent, [], "nothing follows");
  return told;
};

t.test("whom a webhook concerns", async (t) => {
  const ofCard = (tenant: string) => event(transaction({ external_id: `${tenant}-${ulid}.card.1` }));
  for (const tenant of ["XN", "QZ"])
    t.match((await hearing("cardworks", signed(ofCard(tenant), "of both"))).sent, [
      { tenant, name: "sub-case.record-card-transaction", entity: `${tenant}-${ulid}` },
    ]);
  const ofMessage = (tenant: string) => ({ events: [told({ externalId: `${tenant}-${ulid}.x.1` })] });
  t.match((await hearing("sendwell", signed(ofMessage("XN"), "xn's own"))).sent, [
    {
      ...{ tenant: "XN", name: "message.record-status", entity: "" },
      data: { vendor: "sendwell", state: "delivered", reference: `XN-${ulid}.x.1` },
    },
  ]);
  for (const [name, body, secret] of [
    ["another airline's", ofMessage("QZ"), "xn's own"],
    ["the first one's, by the other", ofMessage("XN"), "qz's own"],
    ["an airline that isn't", ofMessage("ZZ"), "xn's own"],
    ["nothing of ours", { events: [told({ externalId: "order 66" })] }, "xn's own"],
    ["a code alone", { events: [told({ externalId: `XN-${ulid}` })] }, "xn's own"],
  ] as const) {
    const { sent, logged } = await hearing("sendwell", signed(body, secret));
    t.strictSame(sent, [], name);
    t.match(logged, [{ unknown: 1 }], name);
  }
  const intermediate = { events: [told({ type: "opened" })] };
  t.strictSame((await hearing("sendwell", signed(intermediate, "xn's own"))).logged, [], "a step on the way");
  const half = { events: [told({ occurredAt: "soon" }), told({ externalId: `XN-${ulid}.x.1` })] };
  const { sent: rest, logged } = await hearing("sendwell", signed(half, "xn's own"));
  t.match(rest, [{ name: "message.record-status" }]);
  t.match(logged, [{ malformed: 1 }], "what cannot be read is seen");
  const byReader = { events: [told({ externalId: undefined, type: "opted_out" })] };
  t.match(
    (await hearing("mixed", signed(byReader, "of both"))).sent,
    [{ tenant: "XN", name: "message.record-status" }],
    "of two dialects under one name, that which can read it",
  );
  const [one] = (await hearing("sendwell", signed(byReader, "xn's own"))).sent;
  t.match(one, { tenant: "XN", data: { channel: "SMS", state: "opted-out" } });
  t.notMatch(JSON.stringify(one), "2025550143", "a number goes sealed");
  t.equal(unseal(sealKey, String(one?.data.sealedRecipient)), "+12025550143");
});

t.test("who is not believed learns nothing", async (t) => {
  const body = event(transaction());
  for (const [name, vendor, request] of [
    ["another secret", "cardworks", signed(body, "guessed")],
    ["the secret of the airline's other vendor", "sendwell", signed(body, "of both")],
    ["no such vendor", "nobody", signed(body, "of both")],
    ["the name of a member of objects", "constructor", signed(body, "of both")],
    ["too old", "cardworks", signed(body, "of both", secondsLater(-400))],
    ["not signed and not readable", "cardworks", { ...signed("{", "of both"), headers: {} }],
  ] as const)
    t.equal(await refusal(vendor, request), "auth/bad-signature", name);
  t.equal(await refusal("cardworks", signed("{", "of both")), "validation/malformed");
  t.equal(await refusal("cardworks", signed({}, "of both")), "validation/body");
});

t.test("told twice it is one command", async (t) => {
  const once = async (body: unknown, at = evening) =>
    (await hearing("cardworks", signed(body, "of both", at))).sent.map(({ id }) => id);
  const first = await once(event(transaction()));
  t.strictSame(await once(event(transaction())), first);
  t.strictSame(await once(event(transaction()), secondsLater(-60)), first, "signed anew");
  t.strictSame(
    await once({ ...event(transaction()), id: "evt_2" }),
    first,
    "as another event, of the same transaction",
  );
  t.strictNotSame(await once(event(transaction({ id: "txn_2" }))), first);
  const messages = async (...events: unknown[]) =>
    (await hearing("sendwell", signed({ events }, "xn's own"))).sent.map(({ id }) => id);
  const [a, b] = await messages(told(), told({ eventId: "E2" }));
  t.not(a, b);
  t.strictSame(await messages(told({ eventId: "E2" }), told()), [b, a]);
});

t.test("a process that dies before the vendor has its answer", async (t) => {
  const events = ["E1", "E2", "E3"].map((eventId) => told({ eventId }));
  const twice = arrived("sendwell", signed({ events }, "xn's own"));
  const idsOf = ({ sent }: { sent: Sent[] }) => sent.map(({ id }) => id);
  for (const kept of [0, 1, 2, 3]) {
    const dying = worldOf(kept);
    const end = await hear(dying.context, senders.of("sendwell"), twice).then(
      () => "answered",
      (error: Error) => error.message,
    );
    t.equal(end, kept < events.length ? "killed" : "answered", "never before all is kept");
    const next = worldOf();
    await hear(next.context, senders.of("sendwell"), twice);
    t.equal(next.sent.length, events.length);
    t.strictSame(idsOf(dying), idsOf(next).slice(0, kept), `${kept} of it had been kept, and is the same`);
  }
});

t.test("a card's transaction that does not say whose it is", async (t) => {
  const { transaction: used } = cardworksInbound.read(signed(event(transaction())), evening)
    .notices[0] as never as {
    transaction: Record<string, unknown>;
  };
  const { reference: _, ...unnamed } = used;
  const asked = { ...received("vendor-cards.find-card", unnamed), issuedAt: evening.toISOString() };
  const outcomes: [string, LookupOutcome<{ reference: string }>, unknown][] = [
    ["ours", { outcome: "done", reference: `XN-${ulid}.card.1` }, [{ tenant: "XN", data: used }]],
    ["another airline's", { outcome: "done", reference: `QZ-${ulid}.card.1` }, []],
    ["nobody's", { outcome: "none" }, []],
    ["a no", { outcome: "refused", code: "NOT_FOUND", detail: "" }, []],
  ];
  const instance = (found: LookupOutcome<{ reference: string }>) =>
    ({ name: "cards", kind: "payment", port: { referenceOf: async () => found } }) as unknown as Instance;
  for (const [name, found, expected] of outcomes) {
    const { context, sent } = worldOf();
    await findCard(context, instance(found), asked);
    t.match(sent, expected as never, name);
    t.equal(sent.length, (expected as unknown[]).length, name);
  }
  const away = findCard(worldOf().context, instance({ outcome: "unavailable", detail: "away" }), asked);
  await t.rejects(away, { code: "upstream/unavailable", retry: "later" }, "asked again later");
});
