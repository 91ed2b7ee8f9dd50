/** Owns the tests of the address for vendors' webhooks: what of a request reaches the actor, and whom its refusals count for. */
import { once } from "node:events";
import { connect } from "node:net";
import t from "tap";
import type { Command } from "../../../schemas/command.ts";
import { Problem } from "../../../schemas/problems.ts";
import { type ReceivedWebhook, signatureHeaders, webhookBytesMax } from "../../../schemas/vendor-webhook.ts";
import { type Asked, startTestGateway } from "./fixture.ts";

const startedAt = Date.now();
const gateway = await startTestGateway({ RATE_ADDRESS: "4x1" }, [], { now: () => new Date(startedAt) });
t.teardown(() => gateway.close());

const path = "/v1/webhooks/vendors/cardworks";
const name = "vendor-adapter.receive-webhook";
const signed = { "X-Vendor-Signature": "t=1,v1=2" };
const post = ({ headers, ...asked }: Asked = {}, at = path) =>
  gateway.ask(at, { method: "POST", headers: { ...signed, ...headers }, ...asked });
const last = (): Command<ReceivedWebhook> => gateway.received.at(-1)?.envelope as Command<ReceivedWebhook>;
const refuse = (): void =>
  gateway.act(name, () => ({ problem: new Problem("auth/bad-signature", "No signature of ours.").record() }));
const believe = (): void => gateway.act(name, () => ({ ok: null }));

t.test("it reaches the actor as it came", async (t) => {
  believe();
  const form = "MessageSid=SM1&Body=na%C3%AFve+%22quotes%22&To=%2B12025550143";
  const answer = await post(
    {
      body: form,
      headers: {
        "Content-Type": "application/x-www-form-urlencoded",
        "X-Vendor-Signature": "t=1,v1=2",
        "X-Twilio-Signature": "abc=",
        Accept: "*/*",
      },
    },
    `${path}?reference=XN-1.x%2E1&again=%20`,
  );
  t.equal(answer.status, 204);
  t.equal(answer.text, "");
  t.notOk(answer.headers["content-type"]);
  t.match(last(), { name, tenant: "", entity: "", principal: { surface: "system", tenant: "" } });
  const { vendor, headers, rawBody, url } = last().data;
  t.equal(vendor, "cardworks");
  t.equal(Buffer.from(rawBody, "base64").toString(), form);
  t.match(headers, {
    "content-type": "application/x-www-form-urlencoded",
    "x-vendor-signature": "t=1,v1=2",
    "x-twilio-signature": "abc=",
  });
  t.equal(url, `https://stopover.test${path}?reference=XN-1.x%2E1&again=%20`, "as vendors know this service");
  const bytes = Buffer.from([0x7b, 0xff, 0x00, 0x7d]);
  await post({ body: bytes, headers: { "Content-Type": "application/octet-stream" } });
  t.strictSame(Buffer.from(last().data.rawBody, "base64"), bytes, "whatever they are");
  await post();
  t.equal(last().data.rawBody, "", "none");
  await post({ body: "{}", headers: { "Transfer-Encoding": "chunked" } });
  t.equal(Buffer.from(last().data.rawBody, "base64").toString(), "{}", "in chunks");
  await post({ body: "{}" }, "/v1/webhooks/vendors/no%20such%2Fvendor");
  t.equal(last().data.vendor, "no such/vendor", "the actor knows which there are");
});

t.test("what is too large, and what cannot be served", async (t) => {
  believe();
  const before = gateway.received.length;
  t.equal((await post({ body: Buffer.alloc(webhookBytesMax + 1, "a") })).status, 413);
  t.equal((await post({}, `/v1/webhooks/vendors/${"v".repeat(65)}`)).status, 404);
  t.equal((await gateway.ask(path)).status, 405);
  t.equal(gateway.received.length, before);
  t.equal((await post({ body: Buffer.alloc(webhookBytesMax, "a") })).status, 204, "as large as it may be");
  const actor = await startTestGateway({}, ["vendor-adapter"]);
  t.teardown(() => actor.close());
  const answer = await actor.ask(path, { method: "POST", body: "{}", headers: signed });
  t.match(answer.json, { status: 503, failedDomain: "vendor-adapter" }, "the vendor sends it again");
  t.equal(answer.headers["retry-after"], "30");
});

t.test("only what is not signed counts, for its address", async (t) => {
  believe();
  for (let i = 0; i < 20; i++) t.equal((await post({ body: "{}" })).status, 204);
  refuse();
  const told: number[] = [];
  for (let i = 0; i < 6; i++) {
    const answer = await post({ body: "{}" });
    told.push(answer.status);
    if (answer.status !== 401) continue;
    t.match(answer.json.type, /\/auth\/bad-signature$/);
    t.match(answer.headers["www-authenticate"], /^Bearer/);
  }
  // The 405 of before has counted, too.
  t.strictSame(told, [401, 401, 401, 429, 429, 429]);
  believe();
  t.equal((await post({ body: "{}" })).status, 204, "who has signed is not held back by others");
  gateway.act(name, () => ({ problem: new Problem("validation/body", "Not ours.").record() }));
  t.equal((await post({ body: "{}" })).status, 422, "nor by mistakes of its own");
});

/** A request whose body never comes. @returns what it is answered all the same */
const halfSent = async (port: number, headers: Record<string, string> = {}): Promise<string> => {
  const socket = connect(port, "127.0.0.1");
  const lines = Object.entries({ Host: "x", "Content-Length": "400000", ...headers });
  const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join("");
  socket.write(`POST ${path} HTTP/1.1\r\n${head}\r\nhalf`);
  const [first] = (await once(socket, "data")) as [Buffer];
  socket.destroy();
  return first.toString();
};

t.test("without any signature nothing is waited for, or reaches the actor", async (t) => {
  const another = await startTestGateway({ RATE_ADDRESS: "4x1" }, [], { now: () => new Date(startedAt) });
  t.teardown(() => another.close());
  another.act(name, () => ({ ok: null }));
  const half = (headers?: Record<string, string>) => halfSent(another.port, headers);
  const told = await half();
  t.match(told, /^HTTP\/1\.1 401 /);
  t.match(told, "auth/bad-signature");
  t.match(await half({ Authorization: "Bearer x", "X-Signature": "t=1,v1=2" }), /^HTTP\/1\.1 401 /);
  t.match(await half({ "X-Vendor-Signature": "" }), /^HTTP\/1\.1 401 /);
  t.match(await half(), /^HTTP\/1\.1 401 /);
  t.match(await half(), /^HTTP\/1\.1 429 /, "and it counts");
  t.equal(another.received.length, 0);
  for (const header of signatureHeaders) {
    const answer = await another.ask(path, { method: "POST", body: "{}", headers: { [header]: "x" } });
    t.equal(answer.status, 204, header);
  }
});
