// A partner's registration as administrators keep it: both secrets through their windows at the real token endpoint and in real
// deliveries, what is due, a webhook that fails until it pauses, who is written to of it, how it resumes, and what the log tells.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import type { Page } from "../../schemas/command.ts";
import type { RegisteredPartner, RotatedPartner } from "../../schemas/partner-registration.ts";
import type { SubscriptionView } from "../../schemas/webhook.ts";
import type { DeliveryView } from "../../schemas/webhook-delivery.ts";
import { partnerSubcommands } from "../../scripts/administration/partners.ts";
import { type DueRotation, partnerSecretSubcommands } from "../../scripts/administration/partners-secrets.ts";
import { partnerWebhookSubcommands } from "../../scripts/administration/partners-webhook.ts";
import { openAdministration, runScript } from "../harness/administration.ts";
import { startClients } from "../harness/clients.ts";
import { smallFlight } from "../harness/instance.ts";
import { startMailServer } from "../harness/mail-server.ts";
import { takesLong } from "../harness/patience.ts";
import { temporaryFolder } from "../harness/processes.ts";
import { isSigned, type Post, startReceiver, urnOf } from "./webhook-partners.ts";

takesLong(t);
const mail = await startMailServer(t);
const caFile = join(temporaryFolder(t), "mail-ca.pem");
writeFileSync(caFile, mail.ca);
const night = await startClients(t, {
  sandbox: false,
  settings: {
    SMTP_URL: `smtp://stopover:secret@localhost:${mail.port}/?requireTLS=true`,
    SMTP_FROM: "care@northern-cross.example",
    SMTP_CA_FILE: caFile,
    WEBHOOK_RETRY_SCALE: "4e-6",
    RATE_PARTNER_TIER3: "60/4x1",
    ...{ STEP_DEADLINE_MS: "1500", SWEEP_INTERVAL_MS: "300", VENDOR_TIMEOUT_MS: "1000" },
  },
});
const [xn, qz] = night.airlines;
const place = { dataDir: night.dataDir, databasePrefix: night.databasePrefix };
const administer = openAdministration(t, place, {
  ...partnerSubcommands,
  ...partnerSecretSubcommands,
  ...partnerWebhookSubcommands,
});
const clientId = "XN-dock";
const contact = "duty@dock.example";
const ofDock = async <Json>(command: string, ...more: string[]) => {
  const { json, text, failed } = await administer("partner", command, "--client", clientId, ...more);
  return { json: json as Json, text, failed };
};
const receiver = await startReceiver(t);
const partners = night.documents.tenant("XN").collection("partners");
const dayMs = 86_400_000;

let flights = 0;
/** One event that every subscriber to cases hears of. */
const caseOpened = async (): Promise<string> =>
  (await night.pushed(xn, smallFlight("XN", `dock-${++flights}`, 1))).body.caseUrn;
const postOf = async (caseUrn: string): Promise<Post> =>
  (
    await receiver.posts.until(1, ({ body }) => body.includes(caseUrn) && body.includes("case.opened"))
  )[0] as Post;
const tokenOf = (clientSecret: string) =>
  night.sent("issueAccessToken", {
    body: {
      grant_type: "client_credentials",
      client_id: clientId,
      client_secret: clientSecret,
      audience: night.instance.audiences.partner,
    },
  });
const accessToken = async (clientSecret: string): Promise<string> =>
  ((await tokenOf(clientSecret)).body as { access_token: string }).access_token;
const secrets: string[] = [];
/** While two secrets are good. */
const refusedPlainly = {
  code: "conflict/state",
  message: /newest, made at .*Z, and the former, made at .*Z, until .*--replace-newest.*--end-former/,
};
let firstCase = "";

t.test(
  "a registration grows: created, its webhook later, its scopes, tier and contact changed",
  async (t) => {
    const { json } = await administer(
      ...["partner", "create", "--airline", "XN", "--client", "dock", "--name", "Dock Systems"],
      ...["--scope", "cases.read", "--tier", "1", "--contact", "first@dock.example"],
    );
    const { clientSecret, webhookSecret } = json as RegisteredPartner;
    t.equal(webhookSecret, undefined, "no webhook, no secret of one");
    secrets.push(clientSecret);
    const token = await accessToken(clientSecret);
    const scopeless = await night.refused("listMyWebhookDeliveries", { token });
    t.equal(scopeless.status, 403, "its scopes bring none");

    await t.rejects(ofDock("set-webhook", "--url", "https://10.0.0.1/hooks"), { code: "validation/body" });
    const { json: asBefore } = await ofDock<RotatedPartner>("show");
    t.equal(asBefore.webhookUrl, undefined, "a refused target changes nothing");
    const first = (await ofDock<RotatedPartner>("set-webhook", "--url", `${receiver.url}?key=hidden`)).json;
    t.match(first, { webhookSecret: /^[\w-]{43}$/, webhookRotateBy: /Z$/ });
    secrets.push(first.webhookSecret ?? "");
    const moved = await ofDock<RotatedPartner>("set-webhook", "--url", `${receiver.url}?key=hidden-too`);
    t.equal(moved.json.webhookSecret, undefined, "another address keeps its secret");
    await ofDock("set-scopes", "--scope", "cases.read,cases.events.subscribe");
    await ofDock("set-contact", "--contact", contact);
    await t.rejects(ofDock("set-contact", "--contact", "nobody"), { code: "validation/body" });
    await t.rejects(ofDock("set-scopes", "--scope", "cases.destroy"), { code: "validation/body" });
    await t.rejects(ofDock("set-tier", "--tier", "4"), { code: "validation/body" });
    await t.rejects(administer("partner", "set-tier", "--client", "XN-nobody", "--tier", "1"), {
      code: "not-found/resource",
    });
    const shown = await night.eventually(
      "the subscription follows",
      () => ofDock<{ webhook: SubscriptionView }>("show"),
      ({ json: { webhook } }) => webhook.contact === contact && webhook.eventTypes.length > 0,
    );
    t.match(shown.json, {
      contact,
      scopes: ["cases.read", "cases.events.subscribe"],
      webhook: { url: /hidden-too$/, status: "ACTIVE", eventTypes: ["case.opened", "case.amended"] },
    });
    for (const secret of secrets) t.notOk(shown.text.includes(secret), "no secret is shown again");

    const changes = ["a", "b", "c", "d"].map((name) =>
      ofDock("set-contact", "--contact", `${name}@dock.example`),
    );
    await Promise.all(changes);
    await night.eventually(
      "changes at once end with one contact",
      async () => (await ofDock<{ contact: string; webhook: SubscriptionView }>("show")).json,
      (shownNow) => shownNow.contact === shownNow.webhook.contact && shownNow.contact !== contact,
    );
    await ofDock("set-contact", "--contact", contact);

    firstCase = await caseOpened();
    const post = await postOf(firstCase);
    t.ok(isSigned(post, secrets[1] ?? ""), "delivered to the new address, signed by its secret");
  },
);

t.test("the client secret: old and new for 14 days, and of three two at most", async (t) => {
  const [first = ""] = secrets;
  const second = await ofDock<RotatedPartner>("rotate-client-secret");
  t.match(second.json, { clientSecret: /^[\w-]{43}$/, endedEarly: undefined });
  const untilMs = Date.parse(second.json.formerUntil ?? "");
  t.ok(Math.abs(untilMs - Date.now() - 14 * dayMs) < 60_000, "the window");
  t.match(second.text, /not shown again\.\nThe former secret is accepted until /);
  for (const secret of [first, second.json.clientSecret ?? ""]) t.equal((await tokenOf(secret)).status, 200);

  await t.rejects(ofDock("rotate-client-secret"), refusedPlainly, "neither is ended by mistake");
  for (const secret of [first, second.json.clientSecret ?? ""]) t.equal((await tokenOf(secret)).status, 200);
  await t.rejects(ofDock("rotate", "--replace-newest", "--end-former"), /one of them alone/);
  const replaced = await ofDock<RotatedPartner>("rotate-client-secret", "--replace-newest");
  t.match(replaced.json, { formerUntil: second.json.formerUntil, endedEarly: undefined });
  t.match(replaced.text, /made last before this ended/);
  t.equal((await tokenOf(second.json.clientSecret ?? "")).status, 401, "whose answer was lost");
  for (const secret of [first, replaced.json.clientSecret ?? ""])
    t.equal((await tokenOf(secret)).status, 200);

  const third = await ofDock<RotatedPartner>("rotate-client-secret", "--end-former");
  t.equal(third.json.endedEarly, second.json.formerUntil);
  t.match(third.text, new RegExp(`The one before it, which was good until ${third.json.endedEarly}, ended`));
  t.equal((await tokenOf(first)).status, 401, "the oldest ended at once");
  for (const { json } of [replaced, third]) t.equal((await tokenOf(json.clientSecret ?? "")).status, 200);

  // The window's end, as the document will have it in 14 days.
  const found = await partners.findOne({ _id: clientId as never });
  const kept = (found?.keys ?? []) as { expiresAt?: Date }[];
  const keys = kept.map((key) =>
    key.expiresAt === undefined ? key : { ...key, expiresAt: new Date(Date.now() - 1000) },
  );
  await partners.updateOne({ _id: clientId as never }, { $set: { keys } });
  t.equal((await tokenOf(replaced.json.clientSecret ?? "")).status, 401, "the window ends by itself");
  await t.rejects(ofDock("rotate", "--replace-newest"), { code: "conflict/state" }, "the only one stays");
  t.equal((await tokenOf(third.json.clientSecret ?? "")).status, 200);
  const leaked = await ofDock<RotatedPartner>("rotate", "--revoke-former");
  t.match(leaked.text, /Every former secret is refused from now on/);
  t.equal((await tokenOf(third.json.clientSecret ?? "")).status, 401);
  secrets.push(...[second, third, leaked, replaced].map(({ json }) => json.clientSecret ?? ""));
});

t.test("the webhook secret: both sign while the window is open", async (t) => {
  const [, first = ""] = secrets;
  const second = await ofDock<RotatedPartner>("rotate-webhook-secret");
  t.match(second.json, { webhookSecret: /^[\w-]{43}$/, endedEarly: undefined, clientSecret: undefined });
  const both = await postOf(await caseOpened());
  t.ok(isSigned(both, second.json.webhookSecret ?? ""));
  t.ok(isSigned(both, first, "x-service-signature-previous"));
  await t.rejects(ofDock("rotate", "--webhook"), refusedPlainly);
  const replaced = await ofDock<RotatedPartner>("rotate-webhook-secret", "--replace-newest");
  t.match(replaced.json, { formerUntil: second.json.formerUntil, endedEarly: undefined });
  const stillFirst = await postOf(await caseOpened());
  t.ok(isSigned(stillFirst, replaced.json.webhookSecret ?? ""), "in place of the one whose answer was lost");
  t.ok(isSigned(stillFirst, first, "x-service-signature-previous"), "the partner's own signs on");
  const third = await ofDock<RotatedPartner>("rotate", "--webhook", "--end-former");
  t.equal(third.json.endedEarly, second.json.formerUntil);
  const after = await postOf(await caseOpened());
  t.ok(isSigned(after, third.json.webhookSecret ?? ""));
  t.ok(isSigned(after, replaced.json.webhookSecret ?? "", "x-service-signature-previous"));
  secrets.push(...[second, replaced, third].map(({ json }) => json.webhookSecret ?? ""));

  const subscriptions = night.documents.tenant("XN").collection("subscriptions");
  const until = new Date(Date.now() - 1000);
  await subscriptions.updateOne({ clientId }, { $set: { "previousSecret.until": until } });
  // Processes look at the document when it changes.
  await ofDock("set-contact", "--contact", "second@dock.example");
  await ofDock("set-webhook", "--url", `${receiver.url}?key=hidden`);
  await ofDock("set-contact", "--contact", contact);
  await night.eventually(
    "the window ends by itself",
    async () => postOf(await caseOpened()),
    ({ headers }) => !("x-service-signature-previous" in headers),
  );
  t.notMatch((await ofDock("show")).text, /signed twice/);
});

t.test("what is to be rotated, and what is overdue", async (t) => {
  const rotations = async (...more: string[]) =>
    ((await administer("partner", "rotations", "--airline", "XN", ...more)).json as DueRotation[]).filter(
      (one) => one.clientId === clientId,
    );
  t.same(await rotations(), [], "nothing of a new one is due within 14 days");
  t.match(await rotations("--within", "90"), [
    { secret: "client", overdue: false },
    { secret: "webhook", overdue: false },
  ]);
  const found = await partners.findOne({ _id: clientId as never });
  const [newest] = (found?.keys ?? []) as object[];
  await partners.updateOne(
    { _id: clientId as never },
    {
      $set: {
        keys: [{ ...newest, createdAt: new Date(Date.now() - 95.5 * dayMs) }],
        webhookSecretCreatedAt: new Date(Date.now() - 80.5 * dayMs),
      },
    },
  );
  t.match(await rotations(), [
    { secret: "client", overdue: true, days: -6, rotateBy: /Z$/ },
    { secret: "webhook", overdue: false, days: 9 },
  ]);
  t.match(await rotations("--within", "0"), [{ secret: "client" }]);
  const { text } = await administer("partner", "rotations", "--airline", "XN");
  t.match(text, /XN-dock +client +\d{4}-\d\d-\d\d +overdue for 6 days\nXN-dock +webhook .* due in 9 days/);
  await t.rejects(rotations("--within", "soon"), /--within soon/);
});

const mailsTo = (address: string) => mail.mails.filter(({ to }) => to.includes(address));

t.test(
  "a webhook that fails seven times pauses; its contact is told once; a test alone resumes it",
  async (t) => {
    receiver.answer = (response) => response.writeHead(500).end("down <b>today</b> ask ops@dock.example");
    const caseUrn = await caseOpened();
    await receiver.posts.until(7, ({ body }) => body.includes(caseUrn));
    await night.eventually(
      "the contact has mail",
      async () => mailsTo(contact),
      (mails) => mails.length > 0,
    );
    const [{ raw = "" } = {}] = mailsTo(contact);
    const words = raw.replace(/=\r\n/g, "");
    t.match(words, /Subject: .*deliveries to your webhook are paused/s);
    t.match(words, /POST \/partner\/v1\/webhooks\/test/);
    t.match(words, new URL(receiver.url).host);
    for (const secret of [...secrets, "hidden"])
      t.notOk(words.includes(secret), "no secret, no whole address");
    const isNoted = ({ json }: { json: unknown }) => JSON.stringify(json).includes('"SENT"');
    const shown = await night.eventually("the mail is noted", () => ofDock("show"), isNoted);
    t.match(shown, {
      json: {
        webhook: { status: "PAUSED", pauseReason: "DELIVERY_EXHAUSTED" },
        contactTold: { template: "webhook-paused", status: "SENT" },
      },
      text: /PAUSED since .*: events wait until a test delivery succeeds\n.*contact told +webhook-paused: SENT/s,
    });

    const waiting = await caseOpened();
    const refused = await ofDock("resume");
    t.ok(refused.failed, "a test that fails resumes nothing");
    t.match(refused.text, /^not delivered: .*500.*\n.*PAUSED/s);
    const sent = receiver.posts.items.some(({ body }) => body.includes(waiting));
    t.notOk(sent, "nothing is sent while it is paused");
    receiver.answer = (response) => response.end("ok");
    const resumed = await ofDock<{ webhook: SubscriptionView }>("resume");
    t.match(resumed, { failed: false, json: { webhook: { status: "ACTIVE" } } });
    t.ok(await postOf(waiting), "what waited is delivered");
    await t.rejects(ofDock("resume"), { code: "conflict/state" });
    t.equal(mailsTo(contact).length, 1, "once for each pause");

    // The mail server has no time for it at first.
    mail.faults.push({ at: "DATA", code: 451, times: 2 });
    await ofDock("pause");
    const again = await night.eventually(
      "the contact is told of this pause, too",
      async () => mailsTo(contact),
      (mails) => mails.length === 2,
    );
    t.match(again[1]?.raw.replace(/=\r\n/g, ""), /An operator paused deliveries/);
    t.match(await ofDock("test"), { failed: false, text: /^delivered: .* 200$/ });
    t.match((await ofDock<{ webhook: SubscriptionView }>("show")).json.webhook, { status: "ACTIVE" });
  },
);

t.test("the delivery log: for operators of the airline, and for the partner its own", async (t) => {
  const supervisor = await night.operatorToken(xn.urn, "OPS_SUPERVISOR");
  const finance = await night.operatorToken(xn.urn, "FINANCE_AUDIT");
  const token = await accessToken(secrets[4] ?? "");
  const log = async (query: Record<string, string | number> = {}, as = supervisor) =>
    (await night.call<Page<DeliveryView>>("listWebhookDeliveries", { token: as, query })).body;
  const mine = async (query: Record<string, string | number> = {}) =>
    (await night.call<Page<DeliveryView>>("listMyWebhookDeliveries", { token, query })).body;

  const [failed] = (await log({ clientId, status: "EXHAUSTED" })).items as [DeliveryView];
  t.match(failed, { clientId, eventType: "case.opened", status: "EXHAUSTED", settledAt: /Z$/ });
  t.equal(failed.attempts.length, 7);
  for (const attempt of failed.attempts)
    t.match(attempt, { status: 500, excerpt: "down <b>today</b> ask …" });
  // The demo's partner was well then: its receiver is not there in this world, and it pauses, too.
  const caseUrn = firstCase;
  const ofCase = (await log({ caseUrn }, finance)).items;
  t.same(new Set(ofCase.map((one) => one.clientId)), new Set([clientId, xn.partners[0]?.clientId]));
  const own = (await mine({ caseUrn })).items;
  const expected = ofCase.filter((one) => one.clientId === clientId);
  t.same(own, expected);

  const all = (await mine({ limit: 200 })).items;
  t.ok(all.length >= 6 && all.every((one) => one.clientId === clientId), "nobody else's");
  const urns = all.map(({ urn }) => urn);
  t.same(urns, urns.toSorted().toReversed(), "newest first");
  const walked: DeliveryView[] = [];
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page: Page<DeliveryView> = await mine({ limit: 2, ...(cursor ? { cursor } : {}) });
    t.ok(page.items.length <= 2);
    walked.push(...page.items);
    cursor = page.nextCursor;
  }
  t.same(walked, all);
  const atMs = Date.parse(own[0]?.firstAttemptAt ?? "");
  const [dayBefore = "", dayLater = ""] = [-dayMs, dayMs].map((ms) => new Date(atMs + ms).toISOString());
  const urnsOf = async (query: Record<string, string>) => (await mine(query)).items.map(({ urn }) => urn);
  t.ok((await urnsOf({ from: dayBefore, to: dayLater })).includes(own[0]?.urn ?? ""));
  t.same(await Promise.all([urnsOf({ from: dayLater }), urnsOf({ to: dayBefore })]), [[], []]);
  t.same(await mine({ status: "DUE" }), { items: [], nextCursor: null, hasMore: false });

  const denied = (as: string, query = {}) => night.refused("listWebhookDeliveries", { token: as, query });
  const foreign = await denied(supervisor, { clientId: "QZ-ops" });
  t.match(foreign, { status: 403, type: /foreign-tenant$/ });
  t.same((await log({ clientId: "XN-nobody" })).items, []);
  const elsewhere = await night.operatorToken(qz.urn, "ADMIN");
  t.match(await denied(elsewhere, { caseUrn }), { status: 403 });
  const low = await night.operatorToken(xn.urn, "AIRPORT_OPERATOR");
  t.match(await denied(low), { status: 403 });
  const atJfk = await night.scopedToken(xn.urn, "OPS_SUPERVISOR", "JFK");
  t.match(await denied(atJfk), { status: 403, type: /foreign-airport$/ });
  t.ok((await log({ caseUrn }, atJfk)).items.length > 0, "of a case at its airport");
  const atLhr = await night.scopedToken(xn.urn, "OPS_SUPERVISOR", "LHR");
  t.match(await denied(atLhr, { caseUrn }), { status: 403 });
  const wrong: Record<string, string | number>[] = [
    ...[{ status: "LOST" }, { from: "yesterday" }, { cursor: "x" }, { limit: 0 }],
  ];
  for (const query of wrong)
    t.match(await night.refused("listMyWebhookDeliveries", { token, query }), { status: 400 });
});

t.test("a hard limit that is met is told to the contact, once an hour", async (t) => {
  const told = mailsTo(contact).length;
  const token = await accessToken(secrets[4] ?? "");
  await ofDock("set-tier", "--tier", "3");
  const write = () => night.sent("testWebhook", { token });
  await night.eventually("the limit of its tier", write, ({ status }) => status === 429);
  const mails = await night.eventually(
    "the contact is told",
    async () => mailsTo(contact),
    (all) => all.length > told,
  );
  t.match(mails.at(-1)?.raw.replace(/=\r\n/g, ""), /your rate limit was reached.*status 429/s);
});

t.test("each command explains itself, and the trail tells who did what, without secrets", async (t) => {
  const help = await runScript("admin", place, ["partner", "rotations", "--help"]);
  t.match(help, { code: 0, stdout: /partner rotations --airline XN.*\n +lists the secrets/ });
  t.notMatch(help.stdout, /partner create/, "of this one alone");
  const admin = await night.operatorToken(xn.urn, "ADMIN");
  const { body } = await night.call<Page<{ action: string }>>("getEntityAudit", {
    token: admin,
    params: { entityUrn: `urn:partner:${clientId}` },
    query: { limit: 200 },
  });
  const actions = new Set(body.items.map(({ action }) => action));
  const expected = ["register-partner", "change-partner", "rotate-client-secret", "rotate-webhook-secret"];
  for (const action of expected) t.ok(actions.has(`identity.${action}`), action);
  const kept = JSON.stringify([
    body,
    await night.documents.tenant("XN").collection("partnerNotices").find({}).toArray(),
    night.services.map(({ logFile }) => readFileSync(logFile, "utf8")),
  ]);
  for (const secret of [...secrets, "@dock.example", "key=hidden"])
    t.notOk(kept.includes(secret), "neither in the trail nor in documents and logs");
  t.ok(receiver.posts.items.every((post) => urnOf(post) !== undefined));
});
