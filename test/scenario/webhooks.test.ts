import type { ServerResponse } from "node:http";
import { join } from "node:path";
import { pino } from "pino";
import t, { type Test } from "tap";
import { openDocuments } from "../../actors/runtime/documents.ts";
import type { Faults } from "../../actors/runtime/faults.ts";
import { retryDelaysMs } from "../../actors/webhook/schedule.ts";
import { readConfig } from "../../config/config.ts";
import type { EventRecord } from "../../schemas/command.ts";
import type { WebhookTestView } from "../../schemas/partner-api.ts";
import { ensureDevelopmentKeys, keyFiles } from "../../scripts/supervisor/keys.ts";
import { openStreams } from "../../streams/connection.ts";
import { follow } from "../../streams/follow.ts";
import { openTenantDirectory } from "../../streams/tenant-directory.ts";
import { duplicateWindowMs } from "../../streams/topology.ts";
import { startDocuments, startNatsServer, temporaryFolder } from "../harness/processes.ts";
import {
  commandOf,
  type DeliveryDocument,
  deliveriesOf,
  fail,
  isSigned,
  type Node,
  type Post,
  retryScale,
  Seen,
  secretOf,
  startNode,
  startReceiver,
  subscribe,
  subscriptionOf,
  tell,
  tellAgain,
  tenant,
  urnOf,
} from "./webhook-partners.ts";

t.test("webhooks", async (t) => {
  const whole = t;
  const [nats, documentServer] = await Promise.all([startNatsServer(t), startDocuments(t)]);
  const keys = temporaryFolder(t);
  await ensureDevelopmentKeys(keys);
  const config = readConfig({
    NATS_URL: nats.url,
    MONGODB_URL: documentServer.url,
    DATABASE_PREFIX: documentServer.databasePrefix,
    OPERATOR_ISSUER: "https://issuer.example/",
    OPERATOR_JWKS: join(keys, keyFiles.operatorJwks),
    PARTNER_SIGNING_KEY_FILE: join(keys, keyFiles.partner),
    PASSENGER_SIGNING_KEY_FILE: join(keys, keyFiles.passenger),
    SEAL_KEY_FILE: join(keys, keyFiles.seal),
    WEBHOOK_ALLOW_LOOPBACK: "true",
    WEBHOOK_RETRY_SCALE: String(retryScale),
    SWEEP_INTERVAL_MS: "60000",
  });
  const place = { config, natsUrl: nats.url };

  const streams = await openStreams(nats.url, "test");
  t.teardown(() => streams.close());
  const directory = await openTenantDirectory(streams, pino({ level: "silent" }));
  t.teardown(() => directory.close());
  await directory.announce({ code: tenant, name: "Test Air", passengerHosts: [], homeCountry: "US" });
  const internal = new Seen<EventRecord>();
  const following = await follow(streams, {
    stream: "INTERNAL",
    filterSubjects: ["int.*.webhook.>"],
    log: pino({ level: "silent" }),
    handle: (message) => internal.add(message.json() as EventRecord),
  });
  t.teardown(() => following.stop());

  const before = await tell(streams, "case.opened");
  let crashes = 0;
  const recorded = new Seen<string>();
  const crash: Faults = (point, what) => {
    if (point === "after-commit" && what === "webhook.record-attempt") recorded.add(what);
    if (crashes === 0 || point !== "after-vendor-answer" || what !== "webhook.post") return;
    crashes--;
    throw new Error("died between the answer and the record");
  };
  /** Looks again after each commit of a result. */
  const onRecord = async (
    event: EventRecord,
    matches: (record: DeliveryDocument) => boolean = () => true,
  ): Promise<void> => {
    const commits = recorded.items.length;
    if ((await deliveriesOf(one.documents, event.urn)).some(matches)) return;
    await recorded.until(commits + 1);
    return onRecord(event, matches);
  };
  const [one, two] = await Promise.all([
    startNode(t, place, "one", crash),
    startNode(t, place, "two", crash),
  ]);
  const nodes = [one, two];
  const quick = await startReceiver(t);
  /** What can be counted only when nothing moves any more. */
  const finalChecks: ((t: Test) => Promise<void>)[] = [];

  await t.test(
    "the first delivery carries the contract's headers and a signature that verifies",
    async (t) => {
      const receiver = await startReceiver(whole);
      await subscribe(one, "XN-tower", receiver.url);
      const event = await tell(streams, "subcase.offer-ready", { rooms: 2, note: "Zürich ✈" });
      await tell(streams, "voucher.issued");
      const [post] = (await receiver.posts.until(1)) as [Post];
      t.equal(urnOf(post), event.urn, "nothing from before the registration is sent");
      t.not(urnOf(post), before.urn);
      t.ok(isSigned(post, secretOf("XN-tower")));
      t.match(post.headers, {
        "content-type": "application/json",
        "user-agent": "Stopover-Webhook/1.0",
        "x-service-event-type": "subcase.offer-ready",
        "x-service-tenant": "urn:airline:XN",
        "x-service-correlation": "urn:correlation:night",
        traceparent: event.traceparent,
      });
      const { urn: _, traceparent: __, ...body } = event;
      t.same(JSON.parse(post.body), body);
      t.notOk("x-service-signature-previous" in post.headers);

      await subscribe(two, "XN-tower", receiver.url, { secret: "another-secret-0123" });
      await one.call(
        "webhook.put-subscription",
        commandOf("webhook.put-subscription", {
          clientId: "XN-tower",
          url: receiver.url,
          scopes: ["cases.events.subscribe"],
          contact: "ops@partner.example",
        }),
      );
      for (const { logged } of nodes) await logged.until(1, ({ msg }) => msg === "webhook lane changed");
      const second = await tell(streams, "case.resolved");
      const [rotated] = (await receiver.posts.until(1, (p) => urnOf(p) === second.urn)) as [Post];
      t.ok(isSigned(rotated, "another-secret-0123"), "the new secret signs");
      t.ok(
        isSigned(rotated, secretOf("XN-tower"), "x-service-signature-previous"),
        "the old one signs beside it",
      );
      const scopes = ["cases.events.subscribe", "wallet.events.subscribe"] as const;
      await subscribe(one, "XN-tower", receiver.url, { scopes: [...scopes], secret: "another-secret-0123" });
      // A wider filter holds from when it stands at the server.
      for (const { logged } of nodes) await logged.until(2, ({ msg }) => msg === "webhook lane open");
      const card = await tell(streams, "wallet.card-issued");
      await receiver.posts.until(1, (p) => urnOf(p) === card.urn);
      t.notMatch(
        JSON.stringify([one.logged.items, two.logged.items, internal.items]),
        /whsec|another-secret|ops@/,
      );
      const stored = await one.documents.tenant(tenant).collection("subscriptions").find({}).toArray();
      t.notMatch(JSON.stringify(stored), /whsec|another-secret/, "secrets are stored sealed");
    },
  );

  await t.test(
    "a failure is tried again: same URN and body, fresh timestamp, Retry-After honoured",
    async (t) => {
      const receiver = await startReceiver(whole);
      receiver.answer = (response, nth) => {
        if (nth === 1) response.writeHead(429, { "Retry-After": "1" }).end("slow down");
        else if (nth === 2) response.writeHead(307, { Location: `${receiver.url}/elsewhere` }).end();
        else response.writeHead(204).end();
      };
      await subscribe(one, "XN-retry", receiver.url);
      await tell(streams, "case.opened");
      const [first, second, third] = (await receiver.posts.until(3)) as [Post, Post, Post];
      t.same([urnOf(second), urnOf(third)], [urnOf(first), urnOf(first)]);
      t.same([second.body, third.body], [first.body, first.body]);
      t.ok([first, second, third].every((post) => isSigned(post, secretOf("XN-retry"))));
      const stamps = [first, second].map(({ headers }) => Number(headers["x-service-signature-timestamp"]));
      t.ok(stamps[1]! > stamps[0]!, "a fresh timestamp");
      t.ok(second.at - first.at >= 1000, "no sooner than the partner asked for");
    },
  );

  await t.test(
    "a death between the answer and the record repeats the attempt, and one event is one record",
    async (t) => {
      const receiver = await startReceiver(whole);
      // The only one with this scope, so that the crash is its own.
      await subscribe(two, "XN-twice", receiver.url, { scopes: ["vouchers.read"] });
      crashes = 1;
      const old = new Date(Date.now() - duplicateWindowMs);
      const event = await tell(streams, "voucher.issued", {}, old);
      const [first, again] = (await receiver.posts.until(2)) as [Post, Post];
      t.same([urnOf(first), urnOf(again)], [event.urn, event.urn]);
      t.equal(first.body, again.body);

      await onRecord(event);
      await tellAgain(streams, event, "told again outside the duplicate window");
      const marker = await tell(streams, "voucher.amended");
      await receiver.posts.until(1, (post) => urnOf(post) === marker.urn);
      t.equal(crashes, 0);
      // Counted once more when everything has stopped, at the end.
      t.equal(receiver.posts.items.filter((post) => urnOf(post) === event.urn).length, 2);
      finalChecks.push(async (t) => {
        t.equal(
          receiver.posts.items.filter((post) => urnOf(post) === event.urn).length,
          2,
          "not sent a third time",
        );
      });
    },
  );

  await t.test(
    "after attempt 7 the subscription pauses; a successful test brings the waiting events",
    async (t) => {
      const receiver = await startReceiver(whole);
      receiver.answer = fail;
      await subscribe(one, "XN-down", receiver.url);
      const ofDown = ({ type, data }: EventRecord, wanted: string) =>
        type === wanted && data.clientId === "XN-down";
      const doomed = await tell(streams, "subcase.failed");
      const [paused] = (await internal.until(1, (event) => ofDown(event, "webhook.paused"))) as [EventRecord];
      t.match(paused.data, { reason: "DELIVERY_EXHAUSTED" });
      t.equal(receiver.posts.items.length, 7);
      t.same(new Set(receiver.posts.items.map(urnOf)), new Set([doomed.urn]));
      t.equal(new Set(receiver.posts.items.map(({ body }) => body)).size, 1);

      for (const { logged } of nodes) {
        await logged.until(1, ({ msg, clientId }) => clientId === "XN-down" && /paused/.test(msg));
      }
      const [record] = (await deliveriesOf(one.documents, doomed.urn)).filter(
        ({ attempts }) => attempts.length > 1,
      );
      t.match(record, { status: "EXHAUSTED", attempts: Array.from({ length: 7 }, () => ({ status: 500 })) });
      t.notMatch(record?.attempts[0]?.excerpt, /ops@/);
      for (const [i, delayMs] of retryDelaysMs.entries()) {
        const failedAt = record!.attempts[i]!.at.getTime() + record!.attempts[i]!.latencyMs;
        t.ok(
          record!.attempts[i + 1]!.at.getTime() - failedAt >= Math.floor(delayMs * retryScale),
          `attempt ${i + 2}`,
        );
      }

      const waiting = await Promise.all([tell(streams, "case.resolved"), tell(streams, "case.opened")]);
      const test = (node: Node) =>
        node.call<WebhookTestView>("webhook.test", commandOf("webhook.test", null, "XN-down"));
      t.match(await test(one), { delivered: false, status: 500, detail: /500/ });
      t.match(await subscriptionOf(two, "XN-down"), { status: "PAUSED", pauseReason: "DELIVERY_EXHAUSTED" });
      t.equal(receiver.posts.items.length, 8, "the test alone was sent");
      t.match(receiver.posts.items[7]?.headers, { "x-service-event-type": "webhook.test" });
      t.ok(isSigned(receiver.posts.items[7]!, secretOf("XN-down")));

      receiver.answer = (response) => response.writeHead(200).end();
      t.same(await test(two), { delivered: true, status: 200 });
      await receiver.posts.until(2, (post) => waiting.some(({ urn }) => urn === urnOf(post)));
      t.match(await subscriptionOf(one, "XN-down"), { status: "ACTIVE", lastTest: { delivered: true } });
      await t.rejects(one.call("webhook.test", commandOf("webhook.test", null, "XN-nobody")), {
        code: "not-found/resource",
      });
    },
  );

  await t.test(
    "a retry that falls due while an operator has paused it waits for the test as well",
    async (t) => {
      const receiver = await startReceiver(whole);
      receiver.answer = (response) => response.writeHead(503, { "Retry-After": "2" }).end();
      await subscribe(one, "XN-held", receiver.url, { scopes: ["vouchers.read"] });
      const event = await tell(streams, "voucher.amended");
      await onRecord(event, ({ attempts }) => attempts[0]?.status === 503);
      const pause = { clientId: "XN-held", reason: "OPERATOR" };
      await two.call("webhook.pause", commandOf("webhook.pause", pause));
      for (const { logged } of nodes) {
        await logged.until(1, ({ msg, clientId }) => clientId === "XN-held" && /paused/.test(msg));
      }
      const record = (await deliveriesOf(one.documents, event.urn)).find(
        ({ status }) => status === "PENDING",
      );
      await internal.until(
        1,
        ({ type, data }) => type === "webhook.attempt-due" && data.deliveryId === record?._id,
      );
      t.equal(receiver.posts.items.length, 1, "nothing is sent to a paused subscription");
      receiver.answer = (response) => response.end();
      await one.call("webhook.test", commandOf("webhook.test", null, "XN-held"));
      const [, retried] = (await receiver.posts.until(2, (post) => urnOf(post) === event.urn)) as [
        Post,
        Post,
      ];
      t.ok(isSigned(retried, secretOf("XN-held")));
    },
  );

  await t.test("a partner that hangs delays no other, and its attempts survive a stop", async (t) => {
    const hanging = await startReceiver(whole);
    const held: ServerResponse[] = [];
    hanging.answer = (response) => held.push(response);
    await subscribe(one, "XN-hangs", hanging.url, { scopes: ["disruptions.events.subscribe"] });
    await subscribe(one, "XN-quick", quick.url, { scopes: ["disruptions.events.subscribe"] });
    const events = await Promise.all(Array.from({ length: 30 }, () => tell(streams, "disruption.detected")));
    await quick.posts.until(30);
    await hanging.posts.until(16);
    t.equal(held.length, 16, "8 per process and no more");

    const began = Date.now();
    await two.stop();
    t.ok(Date.now() - began < 5000, "a stop does not wait for a partner");
    hanging.answer = (response) => response.end();
    for (const response of held) response.end();
    await Promise.all(events.map(({ urn }) => hanging.posts.until(1, (post) => urnOf(post) === urn)));
    finalChecks.push(async (t) => {
      const documents = await openDocuments(config.MONGODB_URL, config.DATABASE_PREFIX);
      t.teardown(() => documents.close());
      const records = await Promise.all(events.map(({ urn }) => deliveriesOf(documents, urn)));
      t.equal(records.flat().length, 60, "one record per event and subscription");
      t.same(new Set(records.flat().map(({ status }) => status)), new Set(["DELIVERED"]));
      const noted = await documents
        .tenant(tenant)
        .collection("subscriptions")
        .findOne({ clientId: "XN-quick" });
      t.ok(noted?.lastSequence > 0, "the position stands in the document");
    });
  });

  await one.stop();
  for (const check of finalChecks) await check(t);

  await t.test("a consumer that the server has lost begins behind the noted position", async (t) => {
    const event = await tell(streams, "disruption.detected");
    await streams.manager.consumers.delete("EVENTS", "hook_XN-quick");
    const three = await startNode(whole, place, "three");
    await quick.posts.until(1, (post) => urnOf(post) === event.urn);
    const { config: consumer } = await streams.manager.consumers.info("EVENTS", "hook_XN-quick");
    const { lastSequence } = await subscriptionOf(three, "XN-quick");
    t.ok(lastSequence > 0);
    t.equal(consumer.opt_start_seq, lastSequence + 1);
    await three.stop();
    t.equal(quick.posts.items.length, 31, "and repeats nothing");
  });
});
