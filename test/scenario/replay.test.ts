// Events told again: what a partner asks for, in which order it comes, what is refused, and what a dead process leaves behind.
import { join } from "node:path";
import { pino } from "pino";
import t, { type Test } from "tap";
import { derivedId, freshId } from "../../actors/runtime/clock.ts";
import type { Faults } from "../../actors/runtime/faults.ts";
import { readConfig } from "../../config/config.ts";
import type { EventRecord } from "../../schemas/command.ts";
import { Problem, type ProblemCode } from "../../schemas/problems.ts";
import type { ReplayView } from "../../schemas/replay.ts";
import { verifyWebhook } from "../../schemas/webhook-signature.ts";
import { ensureDevelopmentKeys, keyFiles } from "../../scripts/supervisor/keys.ts";
import { openStreams } from "../../streams/connection.ts";
import { leftOf } from "../../streams/consume.ts";
import { follow } from "../../streams/follow.ts";
import { openTenantDirectory } from "../../streams/tenant-directory.ts";
import { startDocuments, startNatsServer, temporaryFolder } from "../harness/processes.ts";
import {
  commandOf,
  deliveriesOf,
  fail,
  type Node,
  type Post,
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

const isTrue = ({ headers, body }: Post, clientId: string): boolean =>
  verifyWebhook({ headers, rawBody: body, secrets: { current: secretOf(clientId) } }).verified;

const replay = (node: Node, clientId: string, range: { since: string; until?: string }) =>
  node.call<ReplayView>("webhook.replay-events", commandOf("webhook.replay-events", range, clientId));

const progress = (node: Node, clientId: string, replayUrn: string) =>
  node.call<ReplayView>("webhook.replay", {
    ...commandOf("webhook.replay", {}, clientId),
    params: { replayUrn },
  });

const durableOf = (replayUrn: string): string => `hookreplay_${replayUrn.slice("urn:replay:".length)}`;

/** From now on the receiver is slow: the first one to come waits for what is returned, the others are taken. */
const holdFirst = (receiver: Awaited<ReturnType<typeof startReceiver>>): (() => Promise<() => void>) => {
  const waiting = new Seen<() => void>();
  receiver.answer = (response) => waiting.add(() => response.end("ok"));
  return async () => {
    const [answer] = (await waiting.until(1)) as [() => void];
    receiver.answer = (next) => next.end("ok");
    return answer;
  };
};

const refused = async (t: Test, asked: Promise<unknown>, code: ProblemCode): Promise<Problem> => {
  const problem = await asked.then(
    () => undefined,
    (error: unknown) => error,
  );
  if (!(problem instanceof Problem)) throw new Error(`expected ${code}, got ${problem}`);
  t.equal(problem.code, code);
  return problem;
};

t.test("replay", async (t) => {
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
    // The schedule's seven attempts within a second.
    WEBHOOK_RETRY_SCALE: "4e-6",
    SWEEP_INTERVAL_MS: "60000",
    ACK_WAIT_MS: "1000",
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
  const ended = (replayUrn: string, status: ReplayView["status"]) =>
    internal.until(1, ({ data }) => data.replay === replayUrn && data.status === status);

  let crashes = 0;
  const crash: Faults = (point, what) => {
    if (crashes === 0 || point !== "after-vendor-answer" || what !== "webhook.post") return;
    crashes--;
    throw new Error("died between the answer and the record");
  };
  const [one, two] = await Promise.all([
    startNode(t, place, "one", crash),
    startNode(t, place, "two", crash),
  ]);

  const lanesClosed = (clientId: string) =>
    Promise.all(
      [one, two].map(({ logged }) =>
        logged.until(1, (line) => line.msg === "replay lane closed" && line.clientId === clientId),
      ),
    );

  // Told before anybody had subscribed; and one that this partner may not hear of in their midst.
  const told: EventRecord[] = [];
  const types = "case.opened subcase.processing subcase.offer-ready subcase.resolved case.resolved";
  for (const type of types.split(" ")) told.push(await freshly(type, { data: { note: `Zürich ✈ ${type}` } }));
  const notTheirs = await freshly("wallet.card-issued");
  async function freshly(type: string, more: Partial<EventRecord> = {}): Promise<EventRecord> {
    const now = new Date();
    const event: EventRecord = {
      urn: `urn:event:${freshId(tenant, now)}`,
      type,
      occurred_at: now.toISOString(),
      tenant: `urn:airline:${tenant}`,
      case_urn: `urn:case:${freshId(tenant, now)}`,
      correlation_urn: "urn:correlation:night",
      traceparent: "00-1-1-01",
      data: {},
      ...more,
    };
    await tellAgain(streams, event, event.urn);
    return event;
  }
  const urns = told.map(({ urn }) => urn);
  const [first, second, third, fourth, last] = urns as [string, string, string, string, string];

  const receiver = await startReceiver(t);
  await subscribe(one, "XN-tower", receiver.url);
  await one.logged.until(1, ({ msg, clientId }) => msg === "webhook lane open" && clientId === "XN-tower");

  await t.test("all since an event, in order, with their own URNs and bodies, signed anew", async (t) => {
    const begun = await replay(one, "XN-tower", { since: first });
    t.match(begun, { status: "RUNNING", since: first, events: 5, delivered: 0, failed: 0 });
    await ended(begun.urn, "COMPLETED");
    const posts = receiver.posts.items;
    t.same(posts.map(urnOf), urns, "in the stream's order, each once");
    t.ok(posts.every((post) => isTrue(post, "XN-tower")));
    for (const [i, { urn: _, traceparent: __, ...body }] of told.entries())
      t.same(JSON.parse(posts[i]?.body ?? ""), body);
    t.match(await progress(two, "XN-tower", begun.urn), {
      status: "COMPLETED",
      delivered: 5,
      failed: 0,
      lastEventUrn: last,
      endedAt: String,
    });
    const [record] = await deliveriesOf(one.documents, third);
    t.match(record, { status: "DELIVERED", attempts: [{ status: 200 }] });
    await refused(t, progress(one, "XN-other", begun.urn), "not-found/resource");
    await lanesClosed("XN-tower");
    t.equal(await leftOf(streams, "EVENTS", durableOf(begun.urn)), undefined, "its durable is gone");
  });

  await t.test("a part of them, and a single one; live events come meanwhile", async (t) => {
    const before = receiver.posts.items.length;
    const part = await replay(two, "XN-tower", { since: second, until: fourth });
    t.equal(part.events, 3);
    await ended(part.urn, "COMPLETED");
    const single = await replay(two, "XN-tower", { since: third, until: third });
    t.equal(single.events, 1);
    const live = await tell(streams, "case.amended");
    await Promise.all([
      ended(single.urn, "COMPLETED"),
      receiver.posts.until(1, (post) => urnOf(post) === live.urn),
    ]);
    const got = receiver.posts.items.slice(before).map(urnOf);
    t.same(got.slice(0, 3), [second, third, fourth]);
    t.same(got.slice(3).sort(), [third, live.urn].sort());
  });

  await t.test("what is refused", async (t) => {
    const ask = (since: string, until?: string) =>
      replay(one, "XN-tower", { since, ...(until === undefined ? {} : { until }) });
    const old = `urn:event:${derivedId(tenant, "old", new Date(Date.now() - 8 * 86_400_000))}`;
    await refused(t, ask(old), "validation/replay-window");
    await refused(t, ask(first, old), "validation/replay-window");
    await refused(t, ask(`urn:event:${freshId(tenant, new Date())}`), "not-found/resource");
    await refused(t, ask("urn:event:XN-no-ulid"), "not-found/resource");
    const inAnHour = derivedId(tenant, "future", new Date(Date.now() + 3_600_000));
    await refused(t, ask(`urn:event:${inAnHour}`), "not-found/resource");
    await refused(t, ask(`urn:event:XN-7${"Z".repeat(25)}`), "not-found/resource");
    await refused(t, ask(notTheirs.urn), "not-found/resource");
    t.match((await refused(t, ask(fourth, second), "validation/query")).members, {
      errors: [{ pointer: "?until" }],
    });
    await refused(t, replay(one, "XN-nobody", { since: first }), "not-found/resource");
    const pause = { clientId: "XN-tower", reason: "OPERATOR" };
    await one.call("webhook.pause", commandOf("webhook.pause", pause));
    const paused = await refused(t, ask(first), "conflict/state");
    t.match(paused.message, /test delivery/);
    t.same(paused.members, { state: "PAUSED" });
    await one.call("webhook.test", commandOf("webhook.test", null, "XN-tower"));
    t.match(await subscriptionOf(one, "XN-tower"), { status: "ACTIVE" });
  });

  await t.test(
    "one at a time; it waits while its subscription is paused, and goes on behind what is done",
    async (t) => {
      const held = await startReceiver(t);
      await subscribe(one, "XN-held", held.url);
      const waiting = holdFirst(held);
      const begun = await replay(one, "XN-held", { since: first });
      const answer = await waiting();
      const again = await replay(two, "XN-held", { since: first });
      t.equal(again.urn, begun.urn, "the same range is the running one");
      const known = await replay(one, "XN-held", { since: first });
      t.equal(known.urn, begun.urn);
      const other = await refused(t, replay(two, "XN-held", { since: second }), "conflict/state");
      t.match(other.members, { state: "RUNNING", replay: { urn: begun.urn, events: 6, delivered: 0 } });
      await one.call(
        "webhook.pause",
        commandOf("webhook.pause", { clientId: "XN-held", reason: "OPERATOR" }),
      );
      answer();
      await lanesClosed("XN-held");
      t.match(await progress(one, "XN-held", begun.urn), { status: "RUNNING", delivered: 1 });
      await one.call("webhook.test", commandOf("webhook.test", null, "XN-held"));
      await ended(begun.urn, "COMPLETED");
      const got = held.posts.items.filter(
        ({ headers }) => headers["x-service-event-type"] !== "webhook.test",
      );
      t.same(got.slice(0, 5).map(urnOf), urns, "nothing twice, nothing left out");
    },
  );

  await t.test("a process that dies in the midst: at least once, in order, and counted once", async (t) => {
    const receiver = await startReceiver(t);
    await subscribe(one, "XN-twice", receiver.url);
    crashes = 2;
    const begun = await replay(one, "XN-twice", { since: first, until: last });
    await ended(begun.urn, "COMPLETED");
    t.equal(crashes, 0);
    t.same([...new Set(receiver.posts.items.map(urnOf))], urns);
    t.equal(receiver.posts.items.length, 7, "what was not recorded is told again");
    t.match(await progress(one, "XN-twice", begun.urn), { events: 5, delivered: 5, failed: 0 });
  });

  await t.test("what fails is tried again by the schedule, and pauses nobody", async (t) => {
    const receiver = await startReceiver(t);
    await subscribe(one, "XN-poor", receiver.url);
    receiver.answer = fail;
    const begun = await replay(one, "XN-poor", { since: first, until: second });
    await ended(begun.urn, "COMPLETED");
    t.match(await progress(one, "XN-poor", begun.urn), { delivered: 0, failed: 2 });
    for (const urn of [first, second]) await receiver.posts.until(7, (post) => urnOf(post) === urn);
    const marker = await startReceiver(t);
    await subscribe(one, "XN-marker", marker.url);
    t.match(await subscriptionOf(one, "XN-poor"), { status: "ACTIVE" });
    receiver.answer = (response) => response.end("ok");
    const live = await tell(streams, "case.opened");
    await receiver.posts.until(1, (post) => urnOf(post) === live.urn);
  });

  await t.test("a receiver that takes nothing any more is not sent a week's events", async (t) => {
    const receiver = await startReceiver(t);
    await subscribe(one, "XN-gone", receiver.url, { scopes: ["vouchers.read"] });
    const vouchers: EventRecord[] = [];
    receiver.answer = (response) => response.writeHead(503, { "Retry-After": "3600" }).end();
    for (let i = 0; i < 25; i++) vouchers.push(await freshly("voucher.issued"));
    const begun = await replay(one, "XN-gone", { since: vouchers[0]?.urn ?? "" });
    t.equal(begun.events, 25);
    await ended(begun.urn, "STOPPED");
    t.match(await progress(one, "XN-gone", begun.urn), {
      status: "STOPPED",
      failed: 20,
      lastEventUrn: vouchers[19]?.urn,
    });
  });

  await t.test("what the stream no longer keeps ends it, and is not told", async (t) => {
    const receiver = await startReceiver(t);
    const { clientId } = await subscribe(one, "XN-expired", receiver.url, { scopes: ["vouchers.read"] });
    const vouchers = [];
    for (let i = 0; i < 3; i++) vouchers.push(await freshly("voucher.amended"));
    await receiver.posts.until(3);
    const waiting = holdFirst(receiver);
    const begun = await replay(one, clientId, { since: vouchers[0]?.urn ?? "" });
    const answer = await waiting();
    for (const { case_urn = "" } of vouchers.slice(1))
      await streams.manager.streams.purge("EVENTS", { filter: `evt.*.*.*.${case_urn.slice(9)}` });
    await one.call("webhook.pause", commandOf("webhook.pause", { clientId, reason: "OPERATOR" }));
    answer();
    await lanesClosed(clientId);
    await one.call("webhook.test", commandOf("webhook.test", null, clientId));
    await ended(begun.urn, "COMPLETED");
    t.match(await progress(one, clientId, begun.urn), { events: 3, delivered: 1, failed: 0 });
  });

  await t.test("two asked for at once are begun one after another", async (t) => {
    const receiver = await startReceiver(t);
    const { clientId } = await subscribe(one, "XN-hasty", receiver.url);
    const waiting = holdFirst(receiver);
    const [begun, same] = await Promise.all([
      replay(one, clientId, { since: first, until: second }),
      replay(one, clientId, { since: first, until: second }),
      refused(t, replay(one, clientId, { since: first }), "conflict/state"),
    ]);
    t.equal(same.urn, begun.urn);
    (await waiting())();
    await ended(begun.urn, "COMPLETED");
    t.same(receiver.posts.items.map(urnOf), [first, second]);
  });

  await t.test("what the scopes don't allow any more is passed over, and another airline's", async (t) => {
    const receiver = await startReceiver(t);
    const vouchers = [await freshly("voucher.issued")];
    await freshly("wallet.card-issued");
    await freshly("voucher.issued", { tenant: "urn:airline:YY" });
    vouchers.push(await freshly("voucher.issued"));
    const { clientId } = await subscribe(one, "XN-narrowed", receiver.url, {
      scopes: ["vouchers.read", "wallet.events.subscribe"],
    });
    const waiting = holdFirst(receiver);
    const begun = await replay(one, clientId, { since: vouchers[0]?.urn ?? "" });
    t.equal(begun.events, 4);
    const answer = await waiting();
    await subscribe(one, clientId, receiver.url, { scopes: ["vouchers.read"] });
    answer();
    await ended(begun.urn, "COMPLETED");
    t.same(receiver.posts.items.map(urnOf), [vouchers[0]?.urn, vouchers[1]?.urn]);
    t.match(await progress(one, clientId, begun.urn), { delivered: 2, failed: 0, skipped: 2 });
  });

  await t.test("without any scope left it stops, and nothing begins", async (t) => {
    const receiver = await startReceiver(t);
    const { clientId } = await subscribe(one, "XN-silenced", receiver.url);
    const waiting = holdFirst(receiver);
    const begun = await replay(one, clientId, { since: first });
    const answer = await waiting();
    await subscribe(one, clientId, receiver.url, { scopes: [] });
    await ended(begun.urn, "STOPPED");
    answer();
    await lanesClosed(clientId);
    t.same(receiver.posts.items.map(urnOf), [first]);
    await refused(t, replay(one, clientId, { since: first }), "not-found/resource");
  });

  await t.test("a durable that the server has forgotten is made anew behind what is done", async (t) => {
    const receiver = await startReceiver(t);
    const { clientId } = await subscribe(one, "XN-forgotten", receiver.url);
    const waiting = new Seen<() => void>();
    receiver.answer = (response, nth) => {
      if (nth === 2) waiting.add(() => response.end("ok"));
      else response.end("ok");
    };
    const begun = await replay(one, clientId, { since: first, until: last });
    const [answer] = (await waiting.until(1)) as [() => void];
    await streams.manager.consumers.delete("EVENTS", durableOf(begun.urn));
    answer();
    // Any change has the lanes looked at, as the sweep has.
    await subscribe(one, clientId, receiver.url, { contact: "new@partner.example" });
    await ended(begun.urn, "COMPLETED");
    t.same([...new Set(receiver.posts.items.map(urnOf))], urns);
    t.match(await progress(one, clientId, begun.urn), { delivered: 5, failed: 0 });
  });

  await t.test("all processes gone: another one goes on where they were", async (t) => {
    const receiver = await startReceiver(t);
    await subscribe(one, "XN-later", receiver.url);
    const waiting = new Seen<() => void>();
    receiver.answer = (response, nth) => {
      if (nth < 3) response.end("ok");
      else waiting.add(() => response.destroy());
    };
    const begun = await replay(one, "XN-later", { since: first, until: last });
    await waiting.until(1);
    await Promise.all([one.stop(), two.stop()]);
    await streams.manager.consumers.delete("EVENTS", durableOf(begun.urn));
    receiver.answer = (response) => response.end("ok");
    const three = await startNode(t, place, "three");
    await ended(begun.urn, "COMPLETED");
    t.same(receiver.posts.items.map(urnOf), [first, second, third, third, fourth, last]);
    t.match(await progress(three, "XN-later", begun.urn), { delivered: 5, failed: 0 });
  });
});
