// What partners are told of their webhooks: every event type described and sent as described, a valid AsyncAPI document, and a
// receiver's kit that makes of each published vector what it must.
import { createHmac } from "node:crypto";
import { cpSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Readable } from "node:stream";
import { pathToFileURL } from "node:url";
import specs from "@asyncapi/specs";
import { Ajv, type AnySchema } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";
import t from "tap";
import { headersOf, messageOf } from "../../../actors/webhook/message.ts";
import { describeWebhooks, webhookExample } from "../../../gateway/asyncapi.ts";
import type { EventRecord } from "../../../schemas/command.ts";
import { type PublicEventType, publicEvents } from "../../../schemas/events.ts";
import { eventsDescribed } from "../../../schemas/events-described.ts";
import { readRawBody, refusals, verifyWebhook } from "../../../schemas/webhook-signature.ts";
import type { Reach } from "../../../scripts/administration/subcommand.ts";
import { webhookSubcommands } from "../../../scripts/administration/webhooks.ts";
import { eventFault } from "../../../scripts/soaking/described-events.ts";
import { temporaryFolder } from "../../harness/processes.ts";

/** Contract, "Outbound webhooks": the table of event types with their scopes. */
const catalogue = `
  disruption.detected disruptions.events.subscribe
  case.opened cases.events.subscribe disruptions.events.subscribe
  case.amended cases.events.subscribe
  subcase.processing cases.events.subscribe
  subcase.offer-ready cases.events.subscribe
  subcase.resolved cases.events.subscribe
  subcase.declined cases.events.subscribe
  subcase.failed cases.events.subscribe
  subcase.compensation-failed cases.events.subscribe
  case.resolved cases.events.subscribe
  voucher.issued vouchers.read
  voucher.amended vouchers.read
  wallet.card-issued wallet.events.subscribe
  wallet.card-tx wallet.events.subscribe`
  .trim()
  .split("\n")
  .map((line) => line.trim().split(" ") as [PublicEventType, ...string[]]);

const document = describeWebhooks("https://stopover.test") as {
  channels: { webhook: { messages: Record<string, { $ref: string }> } };
  operations: Record<string, { action: string; messages: { $ref: string }[] }>;
  components: {
    messages: Record<
      string,
      { name: string; headers: object; payload: object; "x-scopes": string[]; examples: object[] }
    >;
  };
};
const messages = Object.values(document.components.messages);

t.test("every event type of the contract", async (t) => {
  t.same(Object.keys(publicEvents).sort(), catalogue.map(([type]) => type).sort());
  const ajv = addFormats.default(new Ajv2020({ strict: false }));
  for (const [type, ...scopes] of catalogue) {
    t.same(publicEvents[type], scopes, `${type}: its scopes`);
    const message = messages.find(({ name }) => name === type);
    if (message === undefined) throw new Error(`${type} is not described`);
    t.same(message["x-scopes"], scopes);
    const { headers, payload } = webhookExample(type);
    t.match(message.examples, [{ headers, payload }]);
    t.ok(ajv.validate(message.payload, payload), `${type}: ${ajv.errorsText()}`);
    t.ok(ajv.validate(message.headers, headers), `${type}: ${ajv.errorsText()}`);
    t.notMatch(JSON.stringify([payload, headers]), /"text"/, `${type}: each member tells something`);
    t.ok(eventsDescribed[type].when.length > 10);

    const event: EventRecord = {
      ...(payload as unknown as Omit<EventRecord, "urn" | "traceparent">),
      urn: headers["X-Service-Event-Urn"] ?? "",
      traceparent: headers.traceparent ?? "",
    };
    t.equal(eventFault(event), undefined, `${type}: what is described is no fault`);
    t.match(eventFault({ ...event, data: { ...event.data, more: 1 } }), /additional/, "more is");
    const sent = messageOf(event);
    t.equal(sent.body, JSON.stringify(payload), `${type}: its body on the wire is the example, byte by byte`);
    const at = new Date(Number(headers["X-Service-Signature-Timestamp"]) * 1000);
    t.same(
      headersOf(sent, { current: "whsec-of-the-examples" }, at),
      headers,
      `${type}: its headers are the example's, its signature too`,
    );
  }
});

t.test("the AsyncAPI document is valid", async (t) => {
  const schema = specs.schemas["3.0.0"] as AnySchema;
  const ajv = addFormats.default(new Ajv({ strict: false, meta: false, validateSchema: false }));
  const isValid = ajv.compile(schema);
  t.ok(isValid(document), JSON.stringify(isValid.errors?.slice(0, 3)));
  t.notOk(isValid({ ...document, operations: { x: { action: "throw" } } }), "the validator sees faults");
  const text = JSON.stringify(document);
  t.notMatch(text, /"urn":\[/, "our own keyword stays ours");
  const at = (pointer: string): unknown =>
    pointer
      .slice(2)
      .split("/")
      .reduce<unknown>((node, part) => (node as Record<string, unknown> | undefined)?.[part], document);
  const pointers = [...text.matchAll(/"\$ref":"(#[^"]+)"/g)].map(([, pointer = ""]) => pointer);
  t.ok(pointers.length >= 3 * catalogue.length);
  for (const pointer of pointers) t.ok(at(pointer), pointer);
  for (const operation of Object.values(document.operations)) t.equal(operation.action, "send");
});

interface Vector {
  name: string;
  secrets: { current: string; previous?: string } | null;
  now: number;
  headers: Record<string, string>;
  body: string;
  expected: { verified: boolean; secret?: string; header?: string; reason?: string };
}

const verifyCommand = async (values: Record<string, string | string[]>) => {
  const unreachable = new Proxy({} as Reach, {
    get: () => {
      throw new Error("the command reaches for an instance");
    },
  });
  const command = webhookSubcommands["webhook verify"];
  if (command === undefined) throw new Error("no such command");
  return command.run(values, [], unreachable);
};

const kit = new URL("../../../schemas/webhook-signature.ts", import.meta.url);
const { vectors } = JSON.parse(
  readFileSync(new URL("../../../schemas/webhook-test-vectors.json", import.meta.url), "utf8"),
) as { vectors: Vector[] };

t.test("the receiver's kit and its vectors", async (t) => {
  t.same(
    Object.keys(refusals).filter((reason) => !vectors.some(({ expected }) => expected.reason === reason)),
    [],
    "every refusal has its vector",
  );
  for (const { name, secrets, now, headers, body, expected } of vectors) {
    for (const [as, rawBody] of [
      ["text", body],
      ["bytes", Buffer.from(body)],
    ] as const)
      for (const given of [headers, new Headers(headers)]) {
        const verdict = verifyWebhook({
          headers: given,
          rawBody,
          secrets: secrets ?? undefined,
          nowMs: now * 1000,
        });
        const told = verdict.verified
          ? { verified: true, ...verdict.by }
          : { verified: false, reason: verdict.reason };
        t.same(told, expected, `${name}, ${as}`);
        if (!verdict.verified) t.equal(verdict.detail, refusals[verdict.reason]);
      }
    if (!expected.verified || secrets === null) continue;
    // Made without the kit.
    const secret = secrets[expected.secret as "current" | "previous"] ?? "";
    const timestamp = new Headers(headers).get("X-Service-Signature-Timestamp");
    const digest = createHmac("sha256", secret).update(`${timestamp}.${body}`, "utf8").digest("base64");
    t.equal(new Headers(headers).get(expected.header ?? ""), `sha256=${digest}`, name);
  }
  const [valid] = vectors as [Vector];
  const verify = (headers: Record<string, string | string[]>) =>
    verifyWebhook({
      headers,
      rawBody: valid.body,
      secrets: { current: valid.secrets?.current ?? "" },
      nowMs: valid.now * 1000,
    });
  const { "X-Service-Signature": signature = "", ...others } = valid.headers;
  const forged = `sha256=${Buffer.alloc(32).toString("base64")}`;
  t.notOk(verify({ ...others, "X-Service-Signature": [forged, signature] }).verified, "two at once are none");
  t.notOk(verify({ ...valid.headers, "x-service-signature": forged }).verified);
  t.notOk(
    verifyWebhook({
      headers: {},
      rawBody: "",
      secrets: { current: "", previous: "" },
      nowMs: 0,
    }).verified,
    "an empty secret verifies nothing",
  );
  const asIs = { headers: valid.headers, rawBody: valid.body };
  const secrets = { current: valid.secrets?.current ?? "" };
  const nowMs = valid.now * 1000;
  t.match(verifyWebhook({ ...asIs, secrets: null, nowMs }), { reason: "no-secret" });
  t.match(verifyWebhook({ ...asIs, secrets: undefined, nowMs }), { reason: "no-secret" });
  t.match(verifyWebhook({ ...asIs, secrets: { ...secrets, previous: null }, nowMs }), { verified: true });
  t.match(
    verifyWebhook({ ...asIs, secrets, nowMs: Number.NaN }),
    { reason: "timestamp-skew" },
    "a clock that tells no time lets nothing through",
  );
});

t.test("scripts/admin webhook verify", async (t) => {
  const folder = temporaryFolder(t);
  const file = (name: string, text: string): string => {
    writeFileSync(`${folder}/${name}`, text);
    return `${folder}/${name}`;
  };
  for (const { name, secrets, now, headers, body, expected } of vectors) {
    // The command cannot be asked without one.
    if (secrets === null) continue;
    const values = {
      "secret-file": file("secret", `${secrets.current}\n`),
      ...(secrets.previous === undefined
        ? {}
        : { "previous-secret-file": file("previous", secrets.previous) }),
      header: Object.entries(headers).map(([header, value]) => `${header}: ${value}`),
      "body-file": file("body", body),
      at: new Date(now * 1000).toISOString(),
    };
    const { json, text, failed } = await verifyCommand(values);
    t.match(json, { verified: expected.verified }, name);
    t.equal(failed, !expected.verified, `${name}: the exit code`);
    t.match(text, expected.reason ?? expected.header ?? "", name);
    t.notMatch(JSON.stringify([json, text]), /whsec/, "no secret is shown");
  }
  const bad: [Record<string, string | string[]>, RegExp][] = [
    [{}, /--body-file is needed/],
    [{ "body-file": `${folder}/none`, "secret-file": `${folder}/secret` }, /cannot be read \(ENOENT\)/],
    [{ "body-file": `${folder}/body`, "secret-file": file("empty", "\n") }, /holds no secret/],
    [{ "body-file": `${folder}/body`, header: ["nonsense"] }, /--header takes/],
    [{ "body-file": `${folder}/body`, "secret-file": `${folder}/secret`, at: "soon" }, /--at takes/],
  ];
  for (const [values, message] of bad) await t.rejects(verifyCommand(values), { message });
});

t.test("copied alone it does its work in a receiver", async (t) => {
  const folder = temporaryFolder(t);
  cpSync(kit, `${folder}/webhook-signature.ts`);
  const copied = (await import(pathToFileURL(`${folder}/webhook-signature.ts`).href)) as {
    verifyWebhook: typeof verifyWebhook;
    readRawBody: typeof readRawBody;
  };
  const imports = [...readFileSync(kit, "utf8").matchAll(/from "([^"]+)"/g)].map(([, name]) => name);
  t.same(imports, ["node:crypto"], "it depends on nothing");
  const vector = vectors.find(({ name }) => /ASCII/.test(name)) as Vector;
  const server = createServer(async (request, response) => {
    const rawBody = await copied.readRawBody(request);
    if (rawBody === undefined) return response.destroy();
    const { verified } = copied.verifyWebhook({
      headers: request.headers,
      rawBody,
      secrets: vector.secrets ?? undefined,
      nowMs: vector.now * 1000,
    });
    return response.writeHead(verified ? 200 : 401).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.teardown(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const post = async (body: string): Promise<number> =>
    (await fetch(url, { method: "POST", headers: vector.headers, body })).status;
  t.equal(await post(vector.body), 200);
  t.equal(await post(vector.body.replace("Zürcher", "Zurcher")), 401);
  t.equal(await readRawBody(Readable.from([Buffer.alloc(7), Buffer.alloc(8)]), 14), undefined, "a limit");
  t.equal((await readRawBody(Readable.from([Buffer.alloc(7), Buffer.alloc(7)]), 14))?.length, 14);
});
