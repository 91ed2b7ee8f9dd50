// E-mail by a real mail server: what arrives, how it is secured, and what each of the server's ends means to who has sent it.
import pLimit from "p-limit";
import t from "tap";
import { Smtp, type SmtpOptions } from "../../../actors/vendor-adapter/adapters/smtp.ts";
import { carryOut } from "../../../actors/vendor-adapter/calls.ts";
import type { MessagePort, MessageRequest } from "../../../actors/vendor-adapter/ports.ts";
import { mailServerOf } from "../../../config/mail-server.ts";
import { type MailFault, type MailServer, startMailServer } from "../../harness/mail-server.ts";

const context = { traceparent: `00-${"1".repeat(32)}-${"2".repeat(16)}-01` };
const portTo = (server: MailServer, more: Partial<SmtpOptions> = {}): Smtp =>
  new Smtp({
    ...{ host: "localhost", port: server.port, secure: false, requireTls: true, ca: server.ca },
    ...{ login: undefined, from: "no-reply@xenon.example", senderName: 'Xenon "Air", Ltd', timeoutMs: 2000 },
    ...{ connections: pLimit(10), now: () => new Date("2026-11-21T21:00:00Z") },
    ...more,
  });
const request = (reference: string, more: Partial<MessageRequest> = {}): MessageRequest => ({
  ...{ reference, channel: "EMAIL", recipient: "ada@mail.example", subject: "O seu quarto – voo XN482" },
  ...{
    text: "Há um quarto para si: Astor.\n",
    html: "<p>Há um quarto para si: <b>Astor</b></p>",
    language: "pt",
  },
  ...more,
});

t.test("what arrives", async (t) => {
  const server = await startMailServer(t);
  const sent = await portTo(server).send(request("XN-1.offer-notice.1.3"), context);
  t.match(sent, {
    outcome: "done",
    messageId: "<XN-1.offer-notice.1.3@xenon.example>",
    acceptedAt: "2026-11-21T21:00:00.000Z",
  });
  const [mail] = server.mails;
  t.match(mail, { from: "no-reply@xenon.example", to: ["ada@mail.example"], secure: true });
  t.match(mail?.raw, /^Message-ID: <XN-1\.offer-notice\.1\.3@xenon\.example>\r?$/im);
  t.match(mail?.raw, /^Auto-Submitted: auto-generated\r?$/im);
  t.match(mail?.raw, /^From: "Xenon \\"Air\\", Ltd" <no-reply@xenon\.example>\r?$/m);
  t.match(mail?.raw, /^Subject: =\?UTF-8\?/m);
  t.match(mail?.raw, /^Date: Sat, 21 Nov 2026 21:00:00 \+0000\r?$/m);
  t.match(mail?.raw, /Content-Type: multipart\/alternative/);
  t.match(mail?.raw, /H=C3=A1 um quarto para si/);
  await portTo(server).send(request("XN-1.offer-notice.1.3"), context);
  t.equal(server.mails.length, 2);
  t.match(server.mails[1]?.raw, "<XN-1.offer-notice.1.3@xenon.example>", "asked again it is the same mail");
  t.same(await portTo(server).lookup({ reference: "XN-1.offer-notice.1.3" }), { outcome: "none" });
  t.match(await portTo(server).send(request("x", { channel: "SMS", recipient: "+12025550143" }), context), {
    outcome: "refused",
    code: "INVALID_REQUEST",
  });
  const evil = request("evil", {
    recipient: "a@b.example>\r\nRCPT TO:<c@d.example",
    subject: "x\r\nBcc: e@f.example",
  });
  await portTo(server).send(evil, context);
  for (const { to, raw } of server.mails.slice(2)) {
    t.equal(to.length, 1);
    t.notMatch(raw, /^Bcc:/m);
  }
  t.notOk(server.mails.some(({ to }) => to.includes("c@d.example")));
});

t.test("what it knows of what it has sent, and how much it sends at once", async (t) => {
  const server = await startMailServer(t, { maxClients: 2 });
  const port = portTo(server, { connections: pLimit(2) });
  const references = Array.from({ length: 8 }, (_, i) => `XN-2.${i}`);
  const twice = [...references, ...references];
  const sent = await Promise.all(twice.map((reference) => port.send(request(reference), context)));
  t.ok(
    sent.every(({ outcome }) => outcome === "done"),
    "the server takes two at once and turns others away",
  );
  t.equal(server.mails.length, 8, "the same mail twice at once is one");
  t.match(await port.lookup({ reference: "XN-2.3" }), {
    outcome: "done",
    messageId: "<XN-2.3@xenon.example>",
    acceptedAt: "2026-11-21T21:00:00.000Z",
  });
  t.same(await port.lookup({ reference: "XN-2.9" }), { outcome: "none" });
  server.faults.push({ at: "RCPT", code: 550, times: 1 });
  await port.send(request("XN-2.9"), context);
  t.same(await port.lookup({ reference: "XN-2.9" }), { outcome: "none" }, "a refused one is not there");
  const late = { ...context, notAfter: new Date("2026-11-21T20:59:59Z") };
  t.match(await port.send(request("XN-2.10"), late), { outcome: "unavailable" });
  t.equal(server.mails.length, 8, "whoever has asked has gone on");
});

t.test("a call that comes late, or twice", async (t) => {
  const server = await startMailServer(t);
  const instance = { name: "smtp", kind: "message", port: portTo(server) } as const;
  const { reference, ...asked } = request("XN-3.1");
  const notAfter = "2026-11-21T21:00:00.000Z";
  const call = {
    reference,
    tries: 1,
    doubt: false,
    notAfter,
    request: asked,
    replyTo: { name: "", entity: "" },
  };
  const at = (time: string, attempt = 1) => ({ ...context, attempt, now: new Date(`2026-11-21T${time}Z`) });
  t.match(await carryOut(instance, "send", call, at("21:00:01")), { outcome: "unavailable", tries: 1 });
  const doubtful = { ...call, doubt: true };
  t.match(await carryOut(instance, "send", doubtful, at("21:00:01")), { outcome: "in-doubt" });
  t.equal(server.mails.length, 0);
  t.match(await carryOut(instance, "send", call, at("21:00:00")), { outcome: "done" });
  t.match(await carryOut(instance, "send", doubtful, at("21:00:01")), { outcome: "done" });
  t.match(await carryOut(instance, "send", call, at("21:00:01", 2)), { outcome: "done" }, "redelivered");
  t.equal(server.mails.length, 1);
  const busy: MessagePort = {
    send: async () => ({ outcome: "unavailable", detail: "busy", retryAfterMs: 45_000 }),
    lookup: async () => ({ outcome: "unavailable", detail: "busy", retryAfterMs: 30_000 }),
  };
  const away = { name: "sendwell", kind: "message", port: busy } as const;
  t.match(await carryOut(away, "send", call, at("21:00:00")), {
    outcome: "unavailable",
    retryAfterMs: 45_000,
  });
  t.match(await carryOut(away, "send", doubtful, at("21:00:00")), {
    outcome: "in-doubt",
    retryAfterMs: 30_000,
  });
});

t.test("who it is and by what it is secured", async (t) => {
  const server = await startMailServer(t);
  const login = { user: "stopover", pass: "secret" };
  t.match(await portTo(server, { login }).send(request("a"), context), { outcome: "done" });
  t.equal(server.mails.at(-1)?.user, "stopover");
  const wrong = { user: "stopover", pass: "guessed" };
  const refused = await portTo(server, { login: wrong }).send(request("b"), context);
  t.match(refused, { outcome: "refused", code: "NOT_AUTHORISED" });
  t.notMatch(JSON.stringify(refused), /guessed/);
  t.match(await portTo(server, { ca: undefined }).send(request("c"), context), { outcome: "unavailable" });
  t.match(
    await portTo(server, { ca: undefined, requireTls: false }).send(request("c"), context),
    { outcome: "unavailable" },
    "a certificate that nobody knows ends it also where TLS is no must",
  );
  const bare = await startMailServer(t, { disabledCommands: ["STARTTLS"] });
  t.match(await portTo(bare).send(request("d"), context), { outcome: "unavailable" });
  t.match(await portTo(bare, { requireTls: false }).send(request("d"), context), { outcome: "done" });
  t.equal(bare.mails[0]?.secure, false);
  const wrapped = await startMailServer(t, { secure: true });
  t.match(await portTo(wrapped, { secure: true }).send(request("e"), context), { outcome: "done" });
  t.equal(wrapped.mails[0]?.secure, true);
});

t.test("what each end means", async (t) => {
  const server = await startMailServer(t);
  const table: [MailFault, object, number][] = [
    [{ at: "RCPT", code: 550, times: 1 }, { outcome: "refused", code: "RECIPIENT_REJECTED" }, 0],
    [{ at: "RCPT", code: 450, times: 1 }, { outcome: "unavailable" }, 0],
    [{ at: "DATA", code: 554, times: 1 }, { outcome: "refused", code: "REFUSED" }, 0],
    [{ at: "DATA", code: 451, times: 1 }, { outcome: "unavailable" }, 0],
    [{ at: "hang-up", times: 1 }, { outcome: "in-doubt" }, 1],
    [{ at: "silence", times: 1 }, { outcome: "in-doubt" }, 1],
  ];
  for (const [fault, expected, kept] of table) {
    const before = server.mails.length;
    server.faults.push({ ...fault });
    const end = await portTo(server, { timeoutMs: 500 }).send(request(`${fault.at}.${fault.code}`), context);
    t.match(end, expected, `${fault.at} ${fault.code ?? ""}`);
    t.notMatch(JSON.stringify(end), /ada/, "no address in what the server says, nor the mailbox alone");
    t.equal(server.mails.length - before, kept);
  }
  const talker = await startMailServer(t, {
    onRcptTo: (_, __, done) => done(Object.assign(new Error("no mailbox Ada here"), { responseCode: 550 })),
  });
  const known = await portTo(talker).send(request("y"), context);
  t.match(known, { outcome: "refused", detail: /^550 no mailbox \[masked\] here/ });
  const closed = portTo({ ...server, port: 1 }, { timeoutMs: 500 });
  t.match(await closed.send(request("z"), context), { outcome: "unavailable" });
  const nowhere = portTo(server, { host: "mail.invalid", timeoutMs: 1000 });
  t.match(await nowhere.send(request("z"), context), { outcome: "unavailable" });
  t.match(await portTo(server).send(request("after"), context), { outcome: "done" });
});

t.test("how it is configured", async (t) => {
  const of = (url: string) => mailServerOf(url, "care@xenon.example", undefined);
  t.match(of("smtp://mail.example"), { host: "mail.example", port: 587, secure: false, login: undefined });
  t.match(of("smtps://mail.example"), { port: 465, secure: true, requireTls: true, connectionsMax: 10 });
  const tls: [string, boolean][] = [
    ["smtp://mail.example", true],
    ["smtp://u:p@localhost", true],
    ["smtp://127.0.0.1:25", false],
    ["smtp://[::1]:25", false],
    ["smtp://localhost?requireTLS=true", true],
    ["smtp://u:p@mail.example?requireTLS=false", false],
    ["smtp://127.0.0.1.example", true],
  ];
  for (const [url, requireTls] of tls) t.equal(of(url).requireTls, requireTls, url);
  t.equal(of("smtp://mail.example?connections=3").connectionsMax, 3);
  t.match(of("smtp://u%40x:p%3Aw@[::1]:2525/?requireTLS=true"), {
    ...{ host: "::1", port: 2525, requireTls: true, from: "care@xenon.example" },
    login: { user: "u@x", pass: "p:w" },
  });
  const wrongs = ["", "host:port", "host?connections=0", "host?connections=x", "host?requireTLS=no"];
  for (const wrong of wrongs.map((rest) => `smtp://${rest}`)) t.throws(() => of(wrong), TypeError, wrong);
});
