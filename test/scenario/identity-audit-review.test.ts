// Airlines, partners, sessions, the audit trail, review items and dead letters on real servers, as their callers meet them.
import { execFile } from "node:child_process";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import type { NatsConnection } from "@nats-io/transport-node";
import { decodeJwt } from "jose";
import { ServiceBroker } from "moleculer";
import pino from "pino";
import t, { type Test } from "tap";
import { auditActor } from "../../actors/audit/service.ts";
import { attemptMs } from "../../actors/identity/decide.ts";
import { dualKeyWindowMs } from "../../actors/identity/secrets.ts";
import { identityActor } from "../../actors/identity/service.ts";
import { reviewActor } from "../../actors/review/service.ts";
import { openDocuments } from "../../actors/runtime/documents.ts";
import { type ActorContext, callThrough, hostActor } from "../../actors/runtime/host.ts";
import { sendCommand } from "../../actors/runtime/send.ts";
import { readConfig } from "../../config/config.ts";
import { createOperatorVerifier } from "../../gateway/auth/operator-token.ts";
import { createPartnerVerifier } from "../../gateway/auth/partner-token.ts";
import { createPassengerVerifier } from "../../gateway/auth/passenger-token.ts";
import type { AuditEntryView } from "../../schemas/audit.ts";
import type { Command, EventRecord, Page, Principal, Query, Reply } from "../../schemas/command.ts";
import type { AuthenticatedPartner, RegisteredPartner } from "../../schemas/partner-registration.ts";
import { Problem } from "../../schemas/problems.ts";
import type { OpenReview, ReviewItemView } from "../../schemas/review.ts";
import {
  developmentInstance,
  serviceEnvironment,
  writeInstance,
} from "../../scripts/supervisor/environment.ts";
import { ensureDevelopmentKeys } from "../../scripts/supervisor/keys.ts";
import { openStreams } from "../../streams/connection.ts";
import { consume, done } from "../../streams/consume.ts";
import {
  dropDeadLetter,
  getDeadLetter,
  listDeadLetters,
  retryDeadLetter,
} from "../../streams/dead-letters.ts";
import { publish } from "../../streams/publish.ts";
import { openTenantDirectory } from "../../streams/tenant-directory.ts";
import { startDocuments, startNatsServer, temporaryFolder } from "../harness/processes.ts";

const run = promisify(execFile);
const root = resolve(import.meta.dirname, "../..");
const [nats, documentServer] = await Promise.all([startNatsServer(t), startDocuments(t)]);
const dataDir = temporaryFolder(t);
const instance = developmentInstance({
  baseUrl: "http://127.0.0.1:8080",
  dataDir,
  natsUrl: nats.url,
  mongodbUrl: documentServer.url,
});
await ensureDevelopmentKeys(instance.keysDir);
writeInstance(dataDir, instance);
const config = readConfig({
  ...serviceEnvironment(instance, { host: "127.0.0.1", port: 8080, role: "all" }),
  DATABASE_PREFIX: documentServer.databasePrefix,
  SWEEP_INTERVAL_MS: "100",
});

/** Real time, and what a test adds to it. */
let aheadMs = 0;
const clock = { now: () => new Date(Date.now() + aheadMs) };
const log = pino({ level: "silent" });
const streams = await openStreams(nats.url, "test");
const documents = await openDocuments(documentServer.url, documentServer.databasePrefix);
const tenants = await openTenantDirectory(streams);
const broker = new ServiceBroker({
  nodeID: "under-test",
  transporter: { type: "NATS", options: { servers: [nats.url] } },
  logger: false,
  skipProcessEventRegistration: true,
});
const context: ActorContext = {
  config,
  documents,
  streams,
  tenants,
  clock,
  faults: () => undefined,
  log,
  call: callThrough(broker),
};

/** The neighbours that identity asks: what the webhook actor was told, and the one booking that there is. */
const subscriptions: { clientId: string; secret: string }[] = [];
let webhookRefuses = false;
broker.createService({
  name: "webhook",
  actions: {
    "put-subscription": ({ params }: { params: Command<{ clientId: string; secret: string }> }): Reply => {
      if (webhookRefuses) return { problem: new Problem("validation/body", "Only https.").record() };
      subscriptions.push(params.data);
      return { ok: {} };
    },
  },
});
const caseId = "XN-01KAMVW9G0ABCDEFGHJKMNPQRS";
const caseUrn = `urn:case:${caseId}`;
broker.createService({
  name: "sub-case",
  actions: {
    "find-by-pnr": ({ params }: { params: Query<{ pnr: string; lastName: string }> }): Reply => {
      const { pnr, lastName } = params.params;
      const isThere = params.tenant === "XN" && pnr === "K7QX2M" && lastName === "Lovelace";
      return { ok: isThere ? { caseUrn, groupId: "G1" } : null };
    },
  },
});

const actors = [identityActor, auditActor, reviewActor].map((factory) =>
  hostActor(context, factory(context)),
);
for (const actor of actors) broker.createService(actor.schema);
await broker.start();
await Promise.all(actors.map((actor) => actor.start()));
t.teardown(async () => {
  await Promise.all(actors.map((actor) => actor.stop()));
  await broker.stop();
  tenants.close();
  await streams.close();
  await documents.close();
});

/** All messages on a subject from now on; `until` resolves with them once they are as wanted. */
async function watch(connection: NatsConnection, subject: string) {
  const seen: { subject: string; text: string }[] = [];
  const looking = new Set<() => void>();
  connection.subscribe(subject, {
    callback: (_, message) => {
      seen.push({ subject: message.subject, text: message.string() });
      for (const look of looking) look();
    },
  });
  await connection.flush();
  return {
    seen,
    until: (isEnough: (messages: typeof seen) => boolean): Promise<typeof seen> =>
      new Promise((found) => {
        const look = () => {
          if (!isEnough(seen)) return;
          looking.delete(look);
          found(seen);
        };
        looking.add(look);
        look();
      }),
  };
}
const internal = await watch(streams.connection, "int.>");
const auditAcks = await watch(streams.connection, "$JS.ACK.INTERNAL.audit.>");
const isTaken = ({ text }: { text: string }) => text === "+ACK";
/** Every change of this kind was reported, and every report so far taken. A relay may send one twice: URNs count. */
async function audited(action: string, count = 1): Promise<void> {
  const reports = (part: string): number =>
    new Set(
      internal.seen
        .filter(({ subject, text }) => subject.includes(".audit.recorded.") && text.includes(part))
        .map(({ text }) => (JSON.parse(text) as EventRecord).urn),
    ).size;
  await internal.until(() => reports(`"action":"${action}"`) >= count);
  await auditAcks.until((acks) => acks.filter(isTaken).length >= reports(""));
}

const trace = {
  correlationUrn: "urn:correlation:test",
  traceparent: `00-${"1".repeat(32)}-${"2".repeat(16)}-01`,
};
const admin: Principal = { surface: "system", tenant: "XN", urn: "urn:user:admin-ana" };
const ana: Principal = { surface: "operator", tenant: "XN", urn: "urn:user:ana", role: "AIRPORT_OPERATOR" };
let commands = 0;
const commandOf = (name: string, data: unknown, more: Partial<Command> = {}): Command => ({
  id: `command-${++commands}`,
  name,
  tenant: "XN",
  entity: "",
  principal: admin,
  ...trace,
  issuedAt: clock.now().toISOString(),
  data,
  ...more,
});
const send = <View>(name: string, data: unknown, more: Partial<Command> = {}): Promise<View> =>
  context.call<View>(name, commandOf(name, data, more));
const ask = <View>(name: string, params: Record<string, unknown>, principal = admin): Promise<View> =>
  context.call<View>(name, { tenant: "XN", principal, ...trace, params });
const refused = (t: Test, doing: Promise<unknown>, code: string, what: string) =>
  t.rejects(doing, { name: "Problem", code }, what);

const xenia = { name: "Xenia Air", passengerHosts: ["xn.localhost"], homeCountry: "US" };

t.test("airlines", async (t) => {
  await send("identity.register-tenant", xenia);
  t.match(tenants.byPassengerHost("xn.localhost"), { code: "XN", name: "Xenia Air", homeCountry: "US" });
  const again = await broker.call<Reply, Command>(
    "identity.register-tenant",
    commandOf("identity.register-tenant", xenia),
  );
  t.match(again, { ok: { code: "XN" }, version: 1 }, "the same again changes nothing");
  await refused(
    t,
    send("identity.register-tenant", { ...xenia, name: "Quark" }, { tenant: "QT" }),
    "conflict/duplicate",
    "a passenger host belongs to one airline",
  );
  await refused(
    t,
    send("identity.register-tenant", xenia, { tenant: "nope" }),
    "validation/body",
    "a bad code",
  );
  await refused(t, send("identity.register-tenant", { name: "" }), "validation/body", "a bad body");
  await send("identity.register-tenant", { ...xenia, passengerHosts: [] }, { tenant: "QT" });
  await send("identity.register-tenant", { ...xenia, passengerHosts: [] }, { tenant: "ZZ" });
  await send("identity.register-tenant", { ...xenia, name: "Xenia" });
  await audited("identity.register-tenant", 4);
  const trail = await ask<Page<AuditEntryView>>("audit.of-entity", { entityUrn: "urn:airline:XN" });
  t.match(trail.items, [
    { action: "identity.register-tenant", before: { name: "Xenia Air" }, after: { name: "Xenia" } },
    { action: "identity.register-tenant", actor: "urn:user:admin-ana", after: { name: "Xenia Air" } },
  ]);

  // As a process leaves it that died right after the write.
  await documents.platform.collection<{ _id: string }>("tenants").insertOne({
    _id: "LM",
    name: "Lumen",
    homeCountry: "DE",
    revision: 1,
    unaudited: { before: null, at: new Date(), principal: admin, ...trace },
  } as never);
  const next = hostActor(context, identityActor(context));
  await next.start();
  await next.stop();
  t.match(tenants.byCode("LM"), { name: "Lumen", passengerHosts: [] }, "the next start announces it");
  await audited("identity.register-tenant", 5);
  t.notOk(await documents.platform.collection("tenants").findOne({ unaudited: { $exists: true } }));
});

const tower = {
  clientId: "tower",
  name: "Tower Systems",
  scopes: ["cases.read", "disruptions.events.publish"],
  tier: 1,
  webhookUrl: "https://tower.example/hooks",
  contact: "duty@tower.example",
};
const authenticate = (clientId: string, clientSecret: string) =>
  send<AuthenticatedPartner>("identity.authenticate-partner", { clientId, clientSecret });

t.test("partners", async (t) => {
  webhookRefuses = true;
  await refused(
    t,
    send("identity.register-partner", tower),
    "validation/body",
    "the webhook's refusal is told",
  );
  webhookRefuses = false;
  const attributes = { ...tower, clientId: undefined };
  await send(
    "identity.begin-registration",
    { attributes, attempt: "of a process that died", by: admin.urn },
    { entity: "XN-tower" },
  );
  await refused(t, send("identity.register-partner", tower), "conflict/concurrent-write", "it may still run");
  aheadMs += attemptMs;
  const made = await send<RegisteredPartner>("identity.register-partner", tower);
  t.match(made, { clientId: "XN-tower", partnerUrn: "urn:partner:XN-tower", status: "ACTIVE", tier: 1 });
  t.equal(Buffer.from(made.clientSecret, "base64url").length, 32);
  t.strictSame(
    subscriptions.map(({ clientId, secret }) => [clientId, secret]),
    [["XN-tower", made.webhookSecret]],
    "the webhook has the secret that was shown",
  );
  await refused(t, send("identity.register-partner", tower), "conflict/duplicate", "once it stands");
  t.equal(subscriptions.length, 1, "and its webhook is left alone");
  await refused(
    t,
    send("identity.register-partner", { ...tower, scopes: ["everything"] }),
    "validation/body",
    "an unknown scope",
  );

  t.strictSame(await authenticate("XN-tower", made.clientSecret), {
    clientId: "XN-tower",
    partnerUrn: "urn:partner:XN-tower",
    tenant: "XN",
    scopes: tower.scopes,
    tier: 1,
  });
  const failures = await Promise.all(
    [
      ["XN-tower", "wrong"],
      ["XN-nobody", made.clientSecret],
      ["AA-tower", made.clientSecret],
      ["XN", made.clientSecret],
    ].map(async ([clientId = "", secret = ""]) => {
      const command = commandOf("identity.authenticate-partner", { clientId, clientSecret: secret });
      return broker.call<Reply, Command>("identity.authenticate-partner", command);
    }),
  );
  for (const failure of failures) t.strictSame(failure, failures[0], "all failures are the same");
  t.match(failures[0], { problem: { code: "auth/invalid-client" } });

  const rotation = commandOf("identity.rotate-client-secret", {}, { entity: "XN-tower" });
  const rotatedTo = await context.call<RegisteredPartner>("identity.rotate-client-secret", rotation);
  await refused(
    t,
    context.call("identity.rotate-client-secret", rotation),
    "conflict/duplicate",
    "the same command again shows no secret that isn't stored",
  );
  await authenticate("XN-tower", rotatedTo.clientSecret);
  await authenticate("XN-tower", made.clientSecret);
  aheadMs += dualKeyWindowMs;
  await authenticate("XN-tower", rotatedTo.clientSecret);
  await refused(t, authenticate("XN-tower", made.clientSecret), "auth/invalid-client", "its window is over");
  const renewed = await send<{ webhookSecret: string }>(
    "identity.rotate-webhook-secret",
    {},
    { entity: "XN-tower" },
  );
  t.equal(subscriptions.at(-1)?.secret, renewed.webhookSecret);

  await audited("identity.rotate-webhook-secret");
  const trail = await ask<Page<AuditEntryView>>("audit.of-entity", { entityUrn: "urn:partner:XN-tower" });
  t.strictSame(
    trail.items.map(({ action }) => action),
    ["identity.rotate-webhook-secret", "identity.rotate-client-secret", "identity.register-partner"],
  );
  const secrets = [made.clientSecret, rotatedTo.clientSecret, made.webhookSecret, renewed.webhookSecret];
  const stored = await documents.tenant("XN").collection("partners").find().toArray();
  const everything = JSON.stringify([stored, internal.seen, trail]);
  t.notOk(
    secrets.some((secret) => secret !== undefined && everything.includes(secret)),
    "no secret is kept",
  );
});

t.test("a passenger's login", async (t) => {
  const passenger: Principal = { surface: "passenger", tenant: "XN", urn: "urn:passenger-session:none" };
  const login = (pnr: string, tenant = "XN") =>
    send<{ sessionId: string }>(
      "identity.pnr-login",
      { pnr, lastName: "Lovelace" },
      { principal: passenger, tenant },
    );
  const session = await login("K7QX2M");
  t.match(session, { caseUrn, groupId: "G1", sessionId: /^[0-9a-f-]{36}$/ });
  const kept = await documents.tenant("XN").collection<{ _id: string }>("sessions").find().toArray();
  t.match(kept, [{ _id: session.sessionId, caseId, groupId: "G1" }]);
  await refused(t, login("AAAAAA"), "auth/login-failed", "an unknown booking");
  await refused(t, login("K7QX2M", "QT"), "auth/login-failed", "another airline's booking");
});

t.test("review items", async (t) => {
  const failed: OpenReview = {
    caseId,
    airport: "JFK",
    category: "PAYMENT_FAILED",
    origin: "card",
    detail: "The card was refused.",
    attemptedHotels: [],
    affectedGroups: ["G1"],
  };
  const reviewEvents = (type: string) =>
    internal.seen.filter(({ subject }) => subject.includes(`.review.${type}.`));
  await sendCommand(streams, commandOf("review.open", failed));
  await internal.until(() => reviewEvents("opened").length === 1);
  await sendCommand(streams, commandOf("review.open", failed));
  const repeated = await send<ReviewItemView>("review.open", failed);
  const [item] = await ask<ReviewItemView[]>("review.of-case", { caseUrn });
  t.match(item, { caseUrn, state: "OPEN", priority: "MEDIUM", affectedGroups: ["G1"], version: 1 });
  t.equal(repeated.urn, item?.urn, "a repeat is the same item");
  const entity = (item?.urn ?? "").replace("urn:review:", "");

  for (let i = 0; i < 3; i++) {
    await send("review.open", { ...failed, airport: "LAX", category: "DATA_INCOMPLETE", occurrence: i });
  }
  const list = (params: Record<string, unknown>, principal = ana) =>
    ask<Page<ReviewItemView>>("review.list", params, principal);
  const first = await list({ airport: "LAX", limit: 2 });
  await send("review.open", { ...failed, airport: "LAX", category: "DATA_INCOMPLETE", occurrence: 3 });
  const second = await list({ airport: "LAX", limit: 2, cursor: first.nextCursor });
  const pages = [...first.items, ...second.items].map(({ createdAt }) => createdAt);
  t.strictSame([pages.length, second.hasMore], [3, false], "a page stays as it is while items are added");
  t.strictSame(pages, [...pages].sort().reverse(), "newest first");
  const counts: [Record<string, string>, number][] = [
    [{}, 5],
    [{ state: "OPEN", category: "PAYMENT_FAILED" }, 1],
    [{ priority: "LOW" }, 4],
    [{ state: "RESOLVED" }, 0],
  ];
  for (const [filter, count] of counts)
    t.equal((await list(filter)).items.length, count, JSON.stringify(filter));
  t.equal(
    (await list({}, { ...ana, airport: "JFK" })).items.length,
    1,
    "one airport's operator sees its own",
  );
  await refused(
    t,
    list({ airport: "LAX" }, { ...ana, airport: "JFK" }),
    "auth/foreign-airport",
    "and no other's",
  );

  aheadMs += 60 * 60_000;
  await internal.until(() => reviewEvents("sla-breached").length === 1);
  t.match(await list({ category: "PAYMENT_FAILED" }), { items: [{ priority: "HIGH", state: "OPEN" }] });
  t.match(JSON.parse(reviewEvents("sla-breached")[0]?.text ?? "") as EventRecord, {
    case_urn: caseUrn,
    data: { reviewUrn: item?.urn, priority: "HIGH", raised: true },
  });

  const by = (principal: Principal) => ({ entity, principal });
  const done = { resolution: "REBOOKED", reason: "Paid at the desk" };
  await send("review.claim", {}, by(ana));
  await refused(
    t,
    send("review.resolve", done, by({ ...ana, urn: "urn:user:ben" })),
    "conflict/state",
    "another's item",
  );
  await refused(
    t,
    send("review.claim", {}, { ...by(ana), expectedVersion: 1 }),
    "conflict/version",
    "an old look",
  );
  t.match(await send("review.resolve", done, by(ana)), { state: "RESOLVED", assignedTo: "urn:user:ana" });
  t.equal(reviewEvents("opened").length, 5, "no repeat was announced");

  await audited("review.resolve");
  const trail = await ask<Page<AuditEntryView>>("audit.of-case", { caseUrn, limit: 3 });
  t.match(trail, {
    hasMore: true,
    items: [
      { action: "review.resolve", actor: "urn:user:ana", reason: "Paid at the desk", entityUrn: item?.urn },
      { action: "review.claim", actor: "urn:user:ana", caseUrn },
      { action: "review.breach-sla", before: { priority: "MEDIUM" }, after: { priority: "HIGH" } },
    ],
  });
  const rest = await ask<Page<AuditEntryView>>("audit.of-case", { caseUrn, cursor: trail.nextCursor });
  t.equal(rest.items.length, 5, "and one entry for each item opened");
});

t.test("an audit report that comes twice is one entry, one that cannot be read is put aside", async (t) => {
  const report = internal.seen.find(({ text }) => text.includes('"review.resolve"'));
  if (report === undefined) throw new Error("the report was not seen");
  const count = () => documents.tenant("XN").collection("audit").countDocuments();
  const before = await count();
  const takenBefore = auditAcks.seen.filter(isTaken).length;
  const deadBefore = (await listDeadLetters(streams, { limit: 10 })).length;
  const dead = await watch(streams.connection, "dead.>");
  await publish(streams, { subject: report.subject, payload: report.text, messageId: "sent-again" });
  await publish(streams, {
    subject: report.subject,
    payload: '{"type":"audit.recorded"}',
    messageId: "broken",
  });
  await dead.until((letters) => letters.length === 1);
  await auditAcks.until((acks) => acks.filter(isTaken).length > takenBefore);
  t.equal(await count(), before);
  const [letter] = (await listDeadLetters(streams, { tenant: "XN", limit: 10 })).slice(deadBefore);
  t.match(letter, { actor: "audit", consumer: "audit", subject: report.subject, reason: /no report/ });
  t.ok(await dropDeadLetter(streams, letter?.sequence ?? 0));
  t.notOk(await dropDeadLetter(streams, letter?.sequence ?? 0), "once");
});

t.test("dead letters are listed, sent once more, and dropped", async (t) => {
  let isBroken = true;
  const handled: string[] = [];
  const dead = await watch(streams.connection, "dead.ZZ.>");
  const acks = await watch(streams.connection, "$JS.ACK.COMMANDS.probe.>");
  const consuming = await consume(streams, {
    stream: "COMMANDS",
    durable: "probe",
    filterSubjects: ["cmd.ZZ.probe.>"],
    owner: "probe",
    concurrency: 1,
    log,
    handle: async (delivery) => {
      if (isBroken) return { kind: "dead", reason: "It is broken." };
      handled.push(JSON.stringify(delivery.json()));
      return done;
    },
  });
  for (const n of [1, 2, 3]) {
    await publish(streams, { subject: "cmd.ZZ.probe.try.-", payload: `{"n":${n}}`, messageId: `probe-${n}` });
  }
  await dead.until((letters) => letters.length === 3);
  t.strictSame(await listDeadLetters(streams, { tenant: "LM", limit: 10 }), [], "an airline's own only");
  const letters = await listDeadLetters(streams, { tenant: "ZZ", limit: 10 });
  t.match(letters, [
    { tenant: "ZZ", actor: "probe", subject: "cmd.ZZ.probe.try.-", reason: "It is broken.", body: '{"n":1}' },
    { body: '{"n":2}' },
    { body: '{"n":3}' },
  ]);
  const [one = 0, two = 0, three = 0] = letters.map(({ sequence }) => sequence);
  t.strictSame(
    (await listDeadLetters(streams, { tenant: "ZZ", from: two, limit: 1 })).map(({ sequence }) => sequence),
    [two],
  );
  isBroken = false;
  t.ok(await retryDeadLetter(streams, one));
  await acks.until((all) => all.some(({ text }) => text === "+ACK"));
  t.strictSame(handled, ['{"n":1}']);
  t.notOk(await retryDeadLetter(streams, one), "it is gone");

  const cli = await adminCli("dead", "list", "--airline", "ZZ");
  t.match(
    cli.stdout,
    new RegExp(`^NUMBER .*REASON\\n${two} .*It is broken\\.\\n${three} .*It is broken\\.\\n$`, "s"),
  );
  t.match(await adminCli("dead", "show", String(two)), { stdout: /\{"n":2\}/ });
  t.match(await adminCli("dead", "drop", "--all", "--airline", "ZZ"), {
    stdout: /^dropped \d+\ndropped \d+\n$/,
  });
  t.equal(await getDeadLetter(streams, three), undefined);
  t.match(await adminCli("dead", "retry", String(two)), { code: 1, stdout: /^no dead letter/ });
  await consuming.stop();
});

interface Ended {
  code: number;
  stdout: string;
  stderr: string;
}
/** With an empty environment: --data alone says where, and the test runner's loader, of 1 s, stays out. */
async function script(name: string, args: string[]): Promise<Ended> {
  const file = join(root, "scripts", `${name}.ts`);
  try {
    const { stdout, stderr } = await run("/usr/bin/env", [
      "-i",
      process.execPath,
      file,
      ...args,
      "--data",
      dataDir,
    ]);
    return { code: 0, stdout, stderr };
  } catch (error) {
    return error as unknown as Ended;
  }
}
const adminCli = (...args: string[]) => script("admin", args);

t.test("scripts/admin provisions at the running instance", async (t) => {
  const [tenant, again, list, refusedOne, help, unknown, option] = await Promise.all([
    adminCli("tenant", "create", "--code", "NX", "--name", "Nox", "--country", "FR", "--host", "nx.localhost"),
    adminCli("partner", "create", "--airline", "XN", "--client", "tower", "--name", "T", "--scope", "cases.read",
      "--tier", "1", "--contact", "duty@tower.example"),
    adminCli("partner", "list", "--airline", "urn:airline:XN", "--json"),
    adminCli("tenant", "create", "--code", "NY", "--name", "Nyx", "--country", "france", "--host", "ny.localhost"),
    adminCli("--help"),
    adminCli("tenant", "burn"),
    adminCli("tenant", "list", "--loud"),
  ]); // biome-ignore format: one command a line
  t.match(tenant, { code: 0, stdout: /^code +NX\nname +Nox\n/ });
  t.equal(tenants.byPassengerHost("nx.localhost")?.code, "NX");
  t.match(again, { code: 1, stderr: /^error: This partner is registered already/ });
  t.match(JSON.parse(list.stdout), [{ clientId: "XN-tower", status: "ACTIVE" }]);
  t.match(refusedOne, { code: 1, stderr: /^error: .*homeCountry.*\n {2}\/homeCountry: / });
  t.match(help, { code: 0, stdout: /tenant create.*partner rotate.*dead retry/s });
  t.match(unknown, { code: 2, stderr: /^error: there is no command 'tenant burn'/ });
  t.match(option, { code: 2, stderr: /--loud/ });
});

t.test("scripts/token mints what each surface takes", async (t) => {
  const now = () => new Date();
  const [operator, passenger, partner, wrong] = await Promise.all([
    script("token", [
      "operator",
      "--airline",
      "urn:airline:XN",
      "--role",
      "OPS_SUPERVISOR",
      "--airport",
      "JFK",
      "--sub",
      "ana",
    ]),
    script("token", ["passenger", "--case", caseUrn, "--group", "G1"]),
    script("token", ["partner", "--client", "XN-tower"]),
    script("token", ["operator", "--airline", "urn:airline:XN", "--role", "KING"]),
  ]);
  const tokenOf = ({ stdout }: Ended) => stdout.trimEnd().split("\n").at(-1) ?? "";
  t.strictSame(await createOperatorVerifier(config, now)(tokenOf(operator)), {
    surface: "operator",
    tenant: "XN",
    urn: "urn:user:ana",
    role: "OPS_SUPERVISOR",
    airport: "JFK",
  });
  t.match(await createPassengerVerifier(config, now)(tokenOf(passenger)), {
    caseId,
    groupId: "G1",
    tenant: "XN",
  });
  t.match(await createPartnerVerifier(config, now)(tokenOf(partner)), {
    clientId: "XN-tower",
    urn: "urn:partner:XN-tower",
    scopes: tower.scopes,
  });
  const namespaced = (name: string) => `${config.CLAIM_NAMESPACE}/${name}`;
  const claims: [Ended, string[], number][] = [
    [
      operator,
      [
        "iss",
        "sub",
        "aud",
        "exp",
        "iat",
        "scope",
        ...["airline", "role", "operator_urn", "airport"].map(namespaced),
      ],
      900,
    ],
    [passenger, ["iss", "sub", "aud", "exp", "case_urn", "group_id", "tenant"], 7 * 86_400],
    [
      partner,
      ["iss", "sub", "aud", "exp", "iat", "scope", "gty", ...["partner_urn", "tenant_urn"].map(namespaced)],
      3600,
    ],
  ];
  for (const [ended, names, lifetimeSeconds] of claims) {
    const payload = decodeJwt(tokenOf(ended));
    t.strictSame(Object.keys(payload).sort(), names.sort(), "exactly the contract's claims");
    const left = (payload.exp ?? 0) - Date.now() / 1000;
    t.ok(left > lifetimeSeconds - 60 && left <= lifetimeSeconds, "for the contract's time");
  }
  t.match(wrong, { code: 1, stderr: /^error: --role KING: one of ADMIN/ });
});
