// The sandbox's own webhooks: signed as our dialects check them, sent until they are taken, twice and out of order where it is asked for,
// also by a sandbox that was started again.
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import t from "tap";
import { CardWorks } from "../../../actors/vendor-adapter/adapters/cardworks.ts";
import { cardworksInbound } from "../../../actors/vendor-adapter/adapters/cardworks-inbound.ts";
import { SendWell } from "../../../actors/vendor-adapter/adapters/sendwell.ts";
import { sendwellInbound } from "../../../actors/vendor-adapter/adapters/sendwell-inbound.ts";
import type {
  InboundDialect,
  InboundRequest,
  MessageNotice,
} from "../../../actors/vendor-adapter/inbound.ts";
import { eventually } from "../../harness/patience.ts";
import { context, done, startSandbox } from "./sandbox.ts";

/** What comes, by its address; the first `refuseFirst` of each are not taken: no answer, then 500, then no answer… */
const listen = async () => {
  const arrived: { path: string; request: InboundRequest; taken: boolean }[] = [];
  const state = { refuseFirst: 0 };
  const server = createServer(async (incoming, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const path = incoming.url ?? "";
    const headers = Object.fromEntries(
      Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]),
    );
    const taken = state.refuseFirst <= 0;
    state.refuseFirst -= 1;
    arrived.push({ path, request: { headers, rawBody: Buffer.concat(chunks), url }, taken });
    if (taken) response.writeHead(204).end();
    else if (state.refuseFirst % 2 === 0) response.destroy();
    else response.writeHead(500).end();
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url, arrived, state };
};
const client = await listen();

const dir = t.testdir();
const parts = ["--only", "cardworks,sendwell", "--latency", "1"];
const sandbox = await startSandbox(t, dir, parts);
const secretOf = (name: string): string => {
  const { webhookSecret = "" } = sandbox.announcement.vendors.find((vendor) => vendor.name === name) ?? {};
  return webhookSecret;
};
const dialects: Record<string, InboundDialect> = { cardworks: cardworksInbound, sendwell: sendwellInbound };
const settingsOf = (name: string, more: object = {}) => ({
  ...{ webhooks: [{ url: `${client.url}/${name}`, secret: secretOf(name) }], webhookDelayMs: 0, ...more },
});
/** Once so many have been taken: all that was told, as the dialect reads it. */
const told = async (name: string, count: number) => {
  const of = () => client.arrived.filter(({ path, taken }) => taken && path === `/${name}`);
  await eventually(`${count} of ${name}`, async () => (of().length >= count ? undefined : of().length));
  const dialect = dialects[name] as InboundDialect;
  return of().flatMap(({ request }) => {
    t.ok(dialect.verify(request, secretOf(name), new Date()), `${name}: signed`);
    t.notOk(dialect.verify(request, "another", new Date()));
    return dialect.read(request, new Date()).notices;
  });
};
const accountOf = (from: typeof sandbox, name: string) => ({
  ...{ baseUrl: from.vendor(name).baseUrl, apiKey: from.vendor(name).apiKey, timeoutMs: 20_000, account: {} },
});

t.test("what happens to a card is told until somebody takes it", async (t) => {
  const cards = new CardWorks(accountOf(sandbox, "cardworks"));
  const balance = { amountMinor: 5000, currency: "USD" };
  const { cardId } = done(
    await cards.issueCard({ reference: "XN-1.card.1", balance, label: "Test" }, context),
  );
  await sandbox.spend("cardworks", { cardId, type: "authorization", amountMinor: 100 });
  const changed = await sandbox.control({ cardworks: settingsOf("cardworks") });
  t.equal(changed.status, 200);
  t.notMatch(JSON.stringify(changed.body), secretOf("cardworks"), "a secret is not answered back");
  client.state.refuseFirst = 3;
  await sandbox.spend("cardworks", { cardId, type: "capture", amountMinor: 60, authorization: "A" });
  t.match(await told("cardworks", 1), [
    {
      kind: "card",
      transaction: {
        ...{ reference: "XN-1.card.1", cardId, kind: "SETTLEMENT", authorizationId: "A" },
        amount: { amountMinor: 60, currency: "USD" },
      },
    },
  ]);
  t.equal(client.arrived.filter(({ path }) => path === "/cardworks").length, 4, "three times not taken");
  t.equal(client.arrived.length, 4, "what nobody wanted to hear of then is told to nobody");
});

t.test("what becomes of messages, and what their readers say", async (t) => {
  const carrier = new SendWell(accountOf(sandbox, "sendwell"));
  await sandbox.control({ sendwell: settingsOf("sendwell", { duplicateRate: 1, reorderRate: 0.5 }) });
  const send = (n: number, recipient = "+12025550143") =>
    carrier.send(
      { reference: `XN-1.m.${n}`, channel: "SMS", recipient, text: "hello", language: "en" },
      context,
    );
  const sent = Array.from({ length: 16 }, (_, i) => i + 101);
  for (const n of sent) done(await send(n));
  const heard = (await told("sendwell", 32)) as MessageNotice[];
  const references = heard.map(({ reference }) => reference);
  t.equal(new Set(references).size, 16);
  for (const reference of new Set(references))
    t.equal(references.filter((one) => one === reference).length, 2, `${reference} twice`);
  t.strictNotSame(
    [...new Set(references)],
    sent.map((n) => `XN-1.m.${n}`),
    "out of order",
  );
  await sandbox.control({ sendwell: { duplicateRate: 0, reorderRate: 0, bounceRate: 1 } });
  done(await send(7));
  const reply = async (body: object): Promise<number> => {
    const url = `${sandbox.announcement.controlUrl}/reply/sendwell`;
    return (await fetch(url, { method: "POST", body: JSON.stringify(body) })).status;
  };
  t.equal(await reply({ reference: "XN-1.m.101", text: "Thanks" }), 200);
  t.equal(await reply({ recipient: "+12025550143", text: "stop" }), 200);
  t.equal(await reply({ text: "stop" }), 400, "whose word?");
  t.equal(await reply({ reference: "XN-1.m.101" }), 400);
  t.match(await send(8), { outcome: "refused", code: "OPTED_OUT" });
  t.match(done(await send(9, "+12025550144")), {}, "somebody else's number");
  t.equal(await reply({ recipient: "+12025550143", text: "START" }), 200);
  const later = ((await told("sendwell", 37)) as MessageNotice[]).slice(32);
  const shapes = later.map(({ what, reference, recipient, detail }) => [what, reference, recipient, detail]);
  t.strictSame(
    shapes.sort(),
    [
      ["bounced", "XN-1.m.7", undefined, "unknown subscriber"],
      ["bounced", "XN-1.m.9", undefined, "unknown subscriber"],
      ["opted-in", undefined, "+12025550143", undefined],
      ["opted-out", undefined, "+12025550143", undefined],
      ["replied", "XN-1.m.101", undefined, undefined],
    ].sort(),
  );
});

t.test("a sandbox that is started again still tells what was not taken", async (t) => {
  client.state.refuseFirst = 1_000;
  const cards = new CardWorks(accountOf(sandbox, "cardworks"));
  const { cardId } = done(
    await cards.issueCard(
      { reference: "XN-2.card.1", balance: { amountMinor: 500, currency: "USD" }, label: "Test" },
      context,
    ),
  );
  const before = client.arrived.length;
  await sandbox.spend("cardworks", { cardId, type: "authorization", amountMinor: 70 });
  await eventually("an attempt", async () => (client.arrived.length > before ? undefined : "none"));
  sandbox.process.kill("SIGKILL");
  await once(sandbox.process, "exit");
  client.state.refuseFirst = 0;
  const again = await startSandbox(t, dir, parts);
  const notices = await told("cardworks", 2);
  t.match(notices[1], { transaction: { reference: "XN-2.card.1", kind: "AUTHORIZATION" } });
  await again.spend("cardworks", { cardId, type: "reversal", amountMinor: 70, authorization: "B" });
  t.match((await told("cardworks", 3))[2], { transaction: { kind: "REVERSAL" } }, "to the same address");
});
