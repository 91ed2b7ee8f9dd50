// E-mail by a real mail server: what arrives, how it is secured, and what each of the server's ends means to who has sent it.
import t from "tap";
import { Smtp, type SmtpOptions } from "../../../actors/vendor-adapter/adapters/smtp.ts";
import type { MessageRequest } from "../../../actors/vendor-adapter/ports.ts";
import { mailServerOf } from "../../../config/mail-server.ts";
import { type MailFault, type MailServer, startMailServer } from "../../harness/mail-server.ts";

const context = { traceparent: `00-${"1".repeat(32)}-${"2".repeat(16)}-01` };
const portTo = (server: MailServer, more: Partial<SmtpOptions> = {}): Smtp =>
  new Smtp({
    ...{ host: "localhost", port: server.port, secure: false, requireTls: true, ca: server.ca },
    ...{ login: undefined, from: "no-reply@xenon.example", senderName: 'Xenon "Air", Ltd', timeoutMs: 2000 },
    now: () => new Date("2026-11-21T21:00:00Z"),
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
  t.same(await portTo(server).lookup(), { outcome: "none" });
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
    t.notMatch(JSON.stringify(end), /ada@mail/, "no address in what the server says");
    t.equal(server.mails.length - before, kept);
  }
  const closed = portTo({ ...server, port: 1 }, { timeoutMs: 500 });
  t.match(await closed.send(request("z"), context), { outcome: "unavailable" });
  const nowhere = portTo(server, { host: "mail.invalid", timeoutMs: 1000 });
  t.match(await nowhere.send(request("z"), context), { outcome: "unavailable" });
  t.match(await portTo(server).send(request("after"), context), { outcome: "done" });
});

t.test("how it is configured", async (t) => {
  const of = (url: string) => mailServerOf(url, "care@xenon.example", undefined);
  t.match(of("smtp://mail.example"), { host: "mail.example", port: 587, secure: false, login: undefined });
  t.match(of("smtps://mail.example"), { port: 465, secure: true, requireTls: false });
  t.match(of("smtp://u%40x:p%3Aw@[::1]:2525/?requireTLS=true"), {
    ...{ host: "::1", port: 2525, requireTls: true, from: "care@xenon.example" },
    login: { user: "u@x", pass: "p:w" },
  });
  for (const wrong of ["smtp://", "smtp://host:port"]) t.throws(() => of(wrong), TypeError, wrong);
});
