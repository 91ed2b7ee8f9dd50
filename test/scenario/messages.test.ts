// What passengers are written: by the night itself and by hand, in their language, by SMS, WhatsApp and real e-mail; who has opted out, what
// comes back, what is asked for twice, and (at first) what a process leaves that dies in between.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import type { AuditEntryView } from "../../schemas/audit.ts";
import type { CaseView } from "../../schemas/case.ts";
import type { Page } from "../../schemas/command.ts";
import type { MessageState } from "../../schemas/message.ts";
import type { NotificationRecord, NotificationsSent, NotificationView } from "../../schemas/notification.ts";
import type { PassengerInput } from "../../schemas/passenger.ts";
import { idOf } from "../../schemas/urn.ts";
import { openClient } from "../../scripts/administration/client.ts";
import { startClients } from "../harness/clients.ts";
import { isFullSize } from "../harness/environment.ts";
import { smallFlight } from "../harness/instance.ts";
import { startMailServer } from "../harness/mail-server.ts";
import { takesLong } from "../harness/patience.ts";
import { temporaryFolder } from "../harness/processes.ts";

takesLong(t);
const mail = await startMailServer(t);
const caFile = join(temporaryFolder(t), "mail-ca.pem");
writeFileSync(caFile, mail.ca);
/** The service begins with the first of them, as a start costs more than all else here. */
const deaths = [
  "after-commit@message.send",
  ...(isFullSize ? ["after-vendor-answer@*.send", "before-ack@message.record-answer"] : []),
];
const night = await startClients(t, {
  settings: {
    KILL_POINT: deaths[0] ?? "",
    SMTP_URL: `smtp://stopover:secret@localhost:${mail.port}/?requireTLS=true`,
    SMTP_FROM: "care@northern-cross.example",
    SMTP_CA_FILE: caFile,
    ...{ STEP_DEADLINE_MS: "1500", SWEEP_INTERVAL_MS: "300", ACK_WAIT_MS: "2000", VENDOR_TIMEOUT_MS: "1000" },
  },
});
let client = night.client;
t.teardown(() => client.close());
const [xn] = night.airlines;
const { events } = night;
const host = xn.passengerHost;
const operator = await night.operatorToken(xn.urn, "AIRPORT_OPERATOR");
const supervisor = await night.operatorToken(xn.urn, "OPS_SUPERVISOR");
const reason = "The passenger has lost it";

let people = 0;
const traveller = (lastName: string, more: Partial<PassengerInput["contact"]> = {}): PassengerInput => {
  people += 1;
  const pnr = `MSG${String(people).padStart(3, "0")}`;
  const phone = `+1202555${String(1000 + people)}`;
  const contact = {
    phone,
    email: `${lastName.toLowerCase()}.${people}@mail.example`,
    language: "pt",
    ...more,
  };
  return { pnr, firstName: "Ana", lastName, cabinClass: "ECONOMY", contact };
};
const offered = async (name: string, passengers: PassengerInput[]): Promise<string> => {
  const { caseUrn } = (await night.pushed(xn, { ...smallFlight("XN", name, 0), passengers })).body;
  const groups = new Set(passengers.map(({ pnr }) => pnr)).size;
  await events.untilCount("subcase.offer-ready", groups, { caseUrn });
  return caseUrn;
};
const logOf = async (caseUrn: string, token = operator): Promise<NotificationRecord[]> =>
  (
    await night.call<Page<NotificationRecord>>("listNotifications", {
      token,
      params: { caseUrn },
      query: { limit: 200 },
    })
  ).body.items;
/** Once the newest message is no longer on its way. */
const newest = async (caseUrn: string, count: number, status: string): Promise<NotificationRecord> => {
  const log = await night.eventually(
    `${count} messages, the newest ${status}`,
    () => logOf(caseUrn),
    (items) => items.length === count && items[0]?.status === status,
  );
  return log[0] as NotificationRecord;
};
const sendTo = (caseUrn: string, body: object, headers: Record<string, string> = {}) =>
  night.call<NotificationsSent>("sendNotification", {
    token: operator,
    params: { caseUrn },
    body: { reason, ...body },
    headers,
  });
const carried = async (caseUrn: string) => {
  const detail = (await night.call<CaseView>("getCase", { token: supervisor, params: { caseUrn } })).body;
  const ids = detail.passengerGroups.map(({ subCaseUrn = "" }) => idOf(subCaseUrn));
  const { entries } = await night.ledger("sendwell");
  return entries.filter(({ reference }) => ids.some((id) => reference.startsWith(`${id}.`)));
};
/** What a carrier's webhook will bring. */
const tell = async (reference: string, state: MessageState, vendor = "sendwell"): Promise<void> => {
  const data = { vendor, reference, state, at: new Date().toISOString() };
  await client.command("message.record-status", { tenant: "XN", data });
};
const mailsTo = (address: string | undefined) => mail.mails.filter(({ to }) => to[0] === address);
/** Our reference, which a mail's Message-ID is made of. */
const messageIdOf = (raw = ""): string => /^Message-ID:\s+<(.+)@/im.exec(raw)?.[1] ?? "none";
const mine = async (token: string) =>
  (await night.call<Page<NotificationView>>("listMyNotifications", { token, host })).body.items;

t.test("a process dies between a commit and what follows from it", async (t) => {
  const [service] = night.services;
  for (const [i, point] of deaths.entries()) {
    Object.assign(service?.settings ?? {}, { KILL_POINT: point });
    if (i > 0) await service?.restart();
    const passengers = [traveller("Faria")];
    const flight = { ...smallFlight("XN", `die${i}`, 0), passengers };
    await night.pushed(xn, flight).catch(() => undefined);
    t.equal((await service?.exited)?.signal, "SIGKILL", point);
    Object.assign(service?.settings ?? {}, { KILL_POINT: "" });
    await service?.restart();
    const { caseUrn } = (await night.pushed(xn, flight)).body;
    await events.untilCount("subcase.offer-ready", 1, { caseUrn });
    await newest(caseUrn, 1, "SENT");
    t.equal((await carried(caseUrn)).length, 1, `${point}: one message at the carrier`);
  }
  // The instance's own would call the dead processes for half a minute.
  client = await openClient(night.instance.natsUrl);
});

t.test("a night's message, one by hand, and what carriers tell of them", async (t) => {
  const ana = traveller("Sousa");
  const { pnr = "", lastName = "" } = ana;
  const caseUrn = await offered("log", [ana]);
  const first = await newest(caseUrn, 1, "SENT");
  t.match(first, {
    ...{ caseUrn, templateId: "offer-ready", language: "pt", channel: "SMS", status: "SENT" },
    recipient: `•••${ana.contact?.phone?.slice(-4)}`,
    attempts: [{ channel: "SMS", status: "SENT" }],
    requestedBy: undefined,
  });
  const [sms] = await carried(caseUrn);
  t.match(sms?.details, {
    channel: "sms",
    to: ana.contact?.phone,
    locale: "pt",
    body: /^Voo XN482: há um quarto/,
  });
  const token = await night.passengerToken(xn, { pnr, lastName });
  t.match(await mine(token), [{ channel: "SMS", template: "offer-ready", status: "SENT", sentAt: /Z$/ }]);

  const answer = await sendTo(caseUrn, {
    templateId: "voucher-issued",
    channels: ["WHATSAPP"],
    text: "free words",
  });
  t.equal(answer.status, 202);
  t.match(answer.body, {
    caseUrn,
    ...{ messageCount: 1, skippedCount: 0 },
    messages: [{ status: "QUEUED", channel: "WHATSAPP", templateId: "voucher-issued", reason }],
  });
  await newest(caseUrn, 2, "SENT");
  const whatsapp = (await carried(caseUrn)).find(({ details }) => details.channel === "whatsapp");
  t.match(whatsapp?.details.body, /^O seu voucher de hotel, voo XN482\n\nEste é o seu voucher de hotel: /);
  t.notMatch(JSON.stringify(whatsapp), "free words");
  t.match((await mine(token))[0], { channel: "WHATSAPP", template: "voucher-issued", status: "SENT" });
  const dispatched = await events.untilCount("notification.dispatched", 2, { caseUrn });
  t.match(dispatched.at(-1)?.data, { caseUrn, channel: "WHATSAPP", recipient: /^•••\d{4}$/ });

  await tell(whatsapp?.reference ?? "", "delivered");
  await newest(caseUrn, 2, "DELIVERED");
  t.match((await mine(token))[0], { status: "DELIVERED" });
  // Doubled, out of order, late.
  for (const state of ["replied", "delivered", "delivered"] as const)
    await tell(whatsapp?.reference ?? "", state);
  t.match((await logOf(caseUrn))[0], { status: "DELIVERED", attempts: [{ repliedAt: /Z$/ }] });

  const trail = await night.eventually(
    "the trail",
    async () =>
      (
        await night.call<Page<AuditEntryView>>("getCaseAudit", { token: supervisor, params: { caseUrn } })
      ).body.items.filter(({ action }) => action === "message.send-manually"),
    (items) => items.length === 1,
  );
  t.match(trail, [{ reason, after: { templateId: "voucher-issued", channels: ["WHATSAPP"] } }]);

  // Opted out of SMS: in this case and in every later one, in that channel alone.
  await tell(sms?.reference ?? "", "opted-out");
  await events.untilCount("notification.opted-out", 1, { caseUrn });
  await night.eventually(
    "the opt-out is known",
    () => night.documents.tenant("XN").collection("contacts").countDocuments({}),
    (count) => count === 1,
  );
  await sendTo(caseUrn, { templateId: "voucher-issued" });
  const third = await newest(caseUrn, 3, "SENT");
  t.match(third, {
    channel: "WHATSAPP",
    attempts: [
      { channel: "SMS", status: "SUPPRESSED", detail: /opted out/ },
      { channel: "WHATSAPP", status: "SENT" },
    ],
  });
  const again = await offered("another", [{ ...ana, pnr: "AGAIN1" }]);
  t.match(await newest(again, 1, "SENT"), { channel: "WHATSAPP", attempts: [{ status: "SUPPRESSED" }, {}] });
  await sendTo(caseUrn, { templateId: "voucher-issued", channels: ["SMS"] });
  const nowhere = await newest(caseUrn, 4, "SUPPRESSED");
  t.match(nowhere.attempts, [{ channel: "SMS", status: "SUPPRESSED" }]);
  t.equal(events.of("review.opened", caseUrn).length, 0, "whoever has sent it knows");

  // Bounced: the next channel, which is real e-mail.
  const entries = await carried(again);
  await tell(entries[0]?.reference ?? "", "bounced");
  const mailed = await night.eventually(
    "an e-mail has left",
    () => logOf(again),
    ([one]) => one?.status === "SENT" && one.channel === "EMAIL",
  );
  t.match(mailed[0]?.attempts, [
    { channel: "SMS", status: "SUPPRESSED" },
    { channel: "WHATSAPP", status: "BOUNCED" },
    { channel: "EMAIL", status: "SENT", recipient: /^s•••@mail\.example$/ },
  ]);
  const [letter, ...others] = mailsTo(ana.contact?.email);
  t.same(others, []);
  t.match(letter, { from: "care@northern-cross.example", secure: true, user: "stopover" });
  t.match(letter?.raw, /^From: Northern Cross <care@northern-cross\.example>\r?$/m);
  t.match(letter?.raw, /quarto para esta noite/);
  await tell(messageIdOf(letter?.raw), "bounced", "smtp");
  await events.untilCount("review.opened", 1, { caseUrn: again });
  const seen = (await night.call<CaseView>("getCase", { token: supervisor, params: { caseUrn: again } }))
    .body;
  t.match(seen.manualReviewItems, [
    { category: "PARTIAL_FULFILLMENT", origin: "notify", detail: /offer-ready/ },
  ]);
  t.match(seen.passengerGroups, [{ operationalStatus: "OFFER_READY" }], "and the room stands");
});

t.test("fifty identical sends at once are one message", async (t) => {
  const caseUrn = await offered("fifty", [traveller("Alves")]);
  const headers = { "Idempotency-Key": "resend-once" };
  const asked = {
    token: operator,
    params: { caseUrn },
    body: { templateId: "voucher-issued", reason },
    headers,
  };
  const told = await Promise.all(Array.from({ length: 50 }, () => night.sent("sendNotification", asked)));
  t.ok(told.every(({ status }) => status === 202 || status === 409));
  const made = new Set(
    told
      .flatMap(({ status, body }) => (status === 202 ? (body as NotificationsSent).messages : []))
      .map(({ urn }) => urn),
  );
  t.equal(made.size, 1);
  await newest(caseUrn, 2, "SENT");
  t.equal((await carried(caseUrn)).length, 2, "the offer's and this one");
});

t.test("whom it is for, and what is refused", async (t) => {
  const [eva, rui, noah] = [
    traveller("Reis"),
    traveller("Costa", { language: "de" }),
    traveller("Lima", { language: "xx" }),
  ];
  const caseUrn = await offered("whom", [eva, { ...rui, pnr: eva.pnr as string }, noah]);
  const seen = (await night.call<CaseView>("getCase", { token: supervisor, params: { caseUrn } })).body;
  const passengers = seen.passengerGroups.flatMap((group) => group.passengers);
  const urnOf = (lastName: string) => passengers.find((one) => one.lastName === lastName)?.urn ?? "";
  const groupOf = (lastName: string) =>
    seen.passengerGroups.find((group) => group.passengers.some((one) => one.lastName === lastName))
      ?.groupId ?? "";
  t.match(
    (await logOf(caseUrn)).map(({ groupId, language }) => `${groupId} ${language}`).sort(),
    [`${groupOf("Reis")} pt`, `${groupOf("Lima")} en`].sort(),
  );
  const alone = await sendTo(caseUrn, { templateId: "voucher-issued", passengerUrns: [urnOf("Costa")] });
  t.match(alone.body.messages, [{ passengerUrn: urnOf("Costa"), language: "de", groupId: groupOf("Reis") }]);
  const tokenOf = (lastName: string) => night.passengerToken(xn, { pnr: eva.pnr as string, lastName });
  const vouchersOf = async (token: string) =>
    (await mine(token)).filter(({ template }) => template === "voucher-issued").length;
  const costa = await tokenOf("Costa");
  await night.eventually(
    "Costa's own",
    () => vouchersOf(costa),
    (count) => count === 1,
  );
  t.equal(await vouchersOf(await tokenOf("Reis")), 0, "nobody else's");
  const group = await sendTo(caseUrn, { templateId: "transport-updated", groupIds: [groupOf("Lima")] });
  t.match(group.body.messages, [
    { groupId: groupOf("Lima"), language: "en", templateId: "transport-updated" },
  ]);
  const { code, name, passengerHost } = xn;
  const data = { code, name, homeCountry: "US", passengerHosts: [passengerHost], language: "es" };
  await client.command("identity.register-tenant", { tenant: "XN", data });
  const all = await sendTo(caseUrn, { templateId: "voucher-issued" });
  t.same(
    all.body.messages.map(({ groupId, language }) => `${groupId} ${language}`).sort(),
    [`${groupOf("Reis")} pt`, `${groupOf("Lima")} es`].sort(),
    "who has no language of ours is written to in the airline's",
  );
  t.match(all.body, { messageCount: 2, skippedCount: 0 });
  const again = await sendTo(caseUrn, { templateId: "voucher-issued" });
  t.match(again.body, { messageCount: 0, messages: [], skippedCount: 2 });
  t.match(again.body.skipped, [{ detail: /less than a minute/ }, { detail: /less than a minute/ }]);
  const changed = await sendTo(caseUrn, { templateId: "hotel-changed", groupIds: [groupOf("Lima")] });
  t.match(changed.body.skipped, [{ groupId: groupOf("Lima"), detail: /no other hotel/ }]);
  const none = await sendTo(caseUrn, { templateId: "offer-withdrawn" });
  t.match(none.body, { messageCount: 0, skipped: [{ detail: /has a room/ }, { detail: /has a room/ }] });

  const body = { templateId: "voucher-issued", reason };
  const refused = async (wrong: object, token = operator) =>
    (await night.refused("sendNotification", { token, params: { caseUrn }, body: { ...body, ...wrong } }))
      .status;
  t.equal(await refused({ templateId: "magic-link" }), 422);
  t.equal(await refused({ templateId: undefined }), 422);
  t.equal(await refused({ reason: undefined }), 422);
  t.equal(await refused({ groupIds: ["NOBODY"] }), 422);
  t.equal(await refused({ passengerUrns: ["urn:passenger:XN-01JD0000000000000000000000"] }), 422);
  t.equal(await refused({ passengerUrns: ["urn:passenger:QZ-01JD0000000000000000000000"] }), 403);
  t.equal(await refused({ groupIds: [groupOf("Lima")], passengerUrns: [urnOf("Lima")] }), 422);
  t.equal(await refused({}, await night.scopedToken(xn.urn, "AIRPORT_OPERATOR", "LAX")), 403);
  t.equal(await refused({}, await night.operatorToken(xn.urn, "FINANCE_AUDIT")), 403);
  const elsewhere = await night.scopedToken(xn.urn, "AIRPORT_OPERATOR", "LAX");
  t.equal((await night.refused("listNotifications", { token: elsewhere, params: { caseUrn } })).status, 403);
  const pages: string[] = [];
  for (let cursor: string | null = ""; cursor !== null; ) {
    const query = { limit: 2, ...(cursor === "" ? {} : { cursor }) } as Record<string, string | number>;
    const { items, nextCursor }: Page<NotificationRecord> = (
      await night.call<Page<NotificationRecord>>("listNotifications", {
        token: operator,
        params: { caseUrn },
        query,
      })
    ).body;
    pages.push(...items.map(({ urn }) => urn));
    cursor = nextCursor;
  }
  t.same(pages, [...new Set(pages)].sort().reverse(), "newest first, each once");
  t.equal(pages.length, 6);
  await night.call("closeCase", { token: supervisor, params: { caseUrn }, body: { reason: "All done" } });
  t.equal(await refused({}), 409);
  t.equal((await logOf(caseUrn)).length, 6, "the log stays");
});

t.test("carriers refuse, fall silent, and lose what they have said", async (t) => {
  const fail = (kind: string, times = 1) =>
    night.control({ sendwell: { failNext: [{ operation: "send", kind, times }] } });
  await fail("refuse");
  const refused = await offered("refused", [traveller("Rocha")]);
  t.match(await newest(refused, 1, "SENT"), {
    attempts: [
      { channel: "SMS", status: "SUPPRESSED" },
      { channel: "WHATSAPP", status: "SENT" },
    ],
  });
  await fail("lost-answer");
  // A mail server that drops the line once it has the mail: nobody can ask it, so the mail comes again as the same one.
  mail.faults.push({ at: "hang-up", times: 1 });
  const ivo = traveller("Nunes", { phone: undefined as never });
  const [lost, doubtful] = await Promise.all([
    offered("lost", [traveller("Pinto")]),
    offered("doubtful", [ivo]),
  ]);
  await newest(lost, 1, "SENT");
  t.equal((await carried(lost)).length, 1, "looked up, not sent again");
  await newest(doubtful, 1, "SENT");
  const letters = mailsTo(ivo.contact?.email);
  t.equal(letters.length, 2);
  const ids = letters.map(({ raw }) => messageIdOf(raw));
  t.match(ids[0], /^XN-.+\.offer-notice\.1\.1$/);
  t.equal(ids[1], ids[0]);

  mail.faults.push({ at: "RCPT", code: 550, times: 1 });
  const gone = await offered("gone", [traveller("Melo", { phone: undefined as never })]);
  t.match((await newest(gone, 1, "FAILED")).attempts, [{ channel: "EMAIL", status: "FAILED", detail: /\S/ }]);
  await events.untilCount("review.opened", 1, { caseUrn: gone });
  const texted = await sendTo(gone, { templateId: "voucher-issued", channels: ["SMS"] });
  t.match(texted.body.messages, [{ status: "FAILED", attempts: [], reasonCode: "NO_CONTACT" }]);
  const seen = (await night.call<CaseView>("getCase", { token: supervisor, params: { caseUrn: gone } })).body;
  t.match(seen.manualReviewItems, [{ category: "PARTIAL_FULFILLMENT", origin: "notify" }]);
  t.match(seen.passengerGroups, [{ operationalStatus: "OFFER_READY" }]);
  // As a saga of before templates has asked.
  const id = idOf(seen.passengerGroups[0]?.subCaseUrn ?? "");
  const replyTo = { name: "sub-case.record-answer", entity: id };
  const order = { reference: `${id}.old.1`, tries: 1, doubt: false, request: { channel: "SMS" }, replyTo };
  await client.command("message.send", { tenant: "XN", data: order }).catch(() => undefined);
  t.equal((await logOf(gone)).length, 2, "nothing is kept of it");
});

t.test("no number and no address outside the documents", async (t) => {
  const told = JSON.stringify(events.all);
  t.notMatch(told, /\+1202555\d{4}|[a-z]{2,}\.\d+@mail\.example/);
  const kept = JSON.stringify(await night.documents.tenant("XN").collection("messages").find({}).toArray());
  t.notMatch(kept, /\+?1202555\d{4}|[a-z]{2,}\.\d+@mail\.example/);
  const contacts = JSON.stringify(
    await night.documents.tenant("XN").collection("contacts").find({}).toArray(),
  );
  t.notMatch(contacts, /202555|@/);
});
