// Airlines, partners, sessions, the audit trail and review items on real servers, as their callers meet them.
import t, { type Test } from "tap";
import { auditActor } from "../../actors/audit/service.ts";
import { attemptMs } from "../../actors/identity/decide.ts";
import { dualKeyWindowMs } from "../../actors/identity/secrets.ts";
import { identityActor } from "../../actors/identity/service.ts";
import { reviewActor } from "../../actors/review/service.ts";
import { hostActor } from "../../actors/runtime/host.ts";
import { sendCommand } from "../../actors/runtime/send.ts";
import type { AuditEntryView } from "../../schemas/audit.ts";
import type { Command, EventRecord, Page, Principal, Query, Reply } from "../../schemas/command.ts";
import type { AuthenticatedPartner, RegisteredPartner } from "../../schemas/partner-registration.ts";
import { Problem } from "../../schemas/problems.ts";
import type { OpenReview, ReviewItemView } from "../../schemas/review.ts";
import { dropDeadLetter, listDeadLetters } from "../../streams/dead-letters.ts";
import { publish } from "../../streams/publish.ts";
import { administrator, isAck, startActorsUnderTest, trace, watch } from "../harness/actors.ts";

/** The neighbours that identity asks: what the webhook actor was told, and the one booking that there is. */
const subscriptions: { clientId: string; scopes: string[]; secret: string }[] = [];
let webhookRefuses = false;
const webhook = {
  name: "webhook",
  actions: {
    "put-subscription": ({ params }: { params: Command<(typeof subscriptions)[number]> }): Reply => {
      if (webhookRefuses) return { problem: new Problem("validation/body", "Only https.").record() };
      // Those without a secret only bring it in line with what is registered.
      if (params.data.secret !== undefined) subscriptions.push(params.data);
      return { ok: {} };
    },
    subscription: (): Reply => ({ ok: {} }),
  },
};
const caseId = "XN-01KAMVW9G0ABCDEFGHJKMNPQRS";
const caseUrn = `urn:case:${caseId}`;
const subCase = {
  name: "sub-case",
  actions: {
    "find-by-pnr": ({ params }: { params: Query<{ pnr: string; lastName: string }> }): Reply => {
      const { pnr, lastName } = params.params;
      const isThere = params.tenant === "XN" && pnr === "K7QX2M" && lastName === "Lovelace";
      return {
        ok: isThere
          ? { caseUrn, groupId: "G1", passengerUrn: "urn:passenger:XN-01JD0000000000000000000009" }
          : null,
      };
    },
  },
};

/** Every case is open, and one that the reader may see. */
const cases = { name: "case", actions: { head: () => ({ ok: {} }), "is-closed": () => ({ ok: false }) } };

const { context, broker, advance, commandOf, send, ask } = await startActorsUnderTest(
  t,
  [identityActor, auditActor, reviewActor],
  [webhook, subCase, cases],
);
const { documents, streams, tenants } = context;
const internal = await watch(streams.connection, "int.>");
const auditAcks = await watch(streams.connection, "$JS.ACK.INTERNAL.audit.>");

/** What was published of a type. The sweeper may send one twice, which the stream takes once: URNs count. */
const eventsOf = (type: string): EventRecord[] => {
  const records = internal.seen.map(({ text }) => JSON.parse(text) as EventRecord);
  const byUrn = new Map(
    records.filter((record) => record.type === type).map((record) => [record.urn, record]),
  );
  return [...byUrn.values()];
};

/** Every change of this kind was reported, and every report so far taken. */
async function audited(action: string, count = 1): Promise<void> {
  const reports = () => eventsOf("audit.recorded");
  await internal.until(() => reports().filter(({ data }) => data.action === action).length >= count);
  await auditAcks.until((acks) => acks.filter(isAck).length >= reports().length);
}

const ana: Principal = { surface: "operator", tenant: "XN", urn: "urn:user:ana", role: "AIRPORT_OPERATOR" };
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
    unaudited: { before: null, at: new Date(), principal: administrator, ...trace },
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
    { attributes, attempt: "of a process that died", by: administrator.urn },
    { entity: "XN-tower" },
  );
  await refused(t, send("identity.register-partner", tower), "conflict/concurrent-write", "it may still run");
  advance(attemptMs);
  const made = await send<RegisteredPartner>("identity.register-partner", tower);
  t.match(made, { clientId: "XN-tower", partnerUrn: "urn:partner:XN-tower", status: "ACTIVE", tier: 1 });
  t.equal(Buffer.from(made.clientSecret, "base64url").length, 32);
  t.strictSame(
    subscriptions.map(({ clientId, scopes, secret }) => [clientId, scopes, secret]),
    [["XN-tower", [], made.webhookSecret]],
    "the webhook has the secret that was shown, and hears nothing before it is registered",
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
  advance(dualKeyWindowMs);
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
      { pnr, lastName: "Lovelace", address: "198.51.100.1" },
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
  await sendCommand(streams, commandOf("review.open", failed));
  await internal.until(() => eventsOf("review.opened").length === 1);
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

  advance(60 * 60_000);
  await internal.until(() => eventsOf("review.sla-breached").length === 1);
  t.match(await list({ category: "PAYMENT_FAILED" }), { items: [{ priority: "HIGH", state: "OPEN" }] });
  t.match(eventsOf("review.sla-breached")[0], {
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
    send("review.resolve", done, { ...by(ana), expectedVersion: 1 }),
    "conflict/version",
    "an old look",
  );
  t.match(await send("review.resolve", done, by(ana)), { state: "RESOLVED", assignedTo: "urn:user:ana" });
  await audited("review.open", 5);
  t.equal(eventsOf("review.opened").length, 5, "no repeat was announced");

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
  const takenBefore = auditAcks.seen.filter(isAck).length;
  const deadBefore = (await listDeadLetters(streams, { limit: 10 })).length;
  const dead = await watch(streams.connection, "dead.>");
  await publish(streams, { subject: report.subject, payload: report.text, messageId: "sent-again" });
  await publish(streams, {
    subject: report.subject,
    payload: '{"type":"audit.recorded"}',
    messageId: "broken",
  });
  await dead.until((letters) => letters.length === 1);
  await auditAcks.until((acks) => acks.filter(isAck).length > takenBefore);
  t.equal(await count(), before);
  const [letter] = (await listDeadLetters(streams, { tenant: "XN", limit: 10 })).slice(deadBefore);
  t.match(letter, { actor: "audit", consumer: "audit", subject: report.subject, reason: /no report/ });
  t.ok(await dropDeadLetter(streams, letter?.sequence ?? 0));
  t.notOk(await dropDeadLetter(streams, letter?.sequence ?? 0), "once");
});
