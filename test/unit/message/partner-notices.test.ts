// E-mails to partners' contacts: which events ask for one, once; how a call to the carrier ends; and what stands in the words.
import t from "tap";
import {
  afterLimit,
  afterPause,
  decideNotice,
  evolveNotice,
  noticeOutgoing,
  noticeView,
  type PartnerNoticeState,
} from "../../../actors/message/partner-notices.ts";
import { partnerCopy } from "../../../actors/message/partner-wording.ts";
import { mailOf } from "../../../actors/message/render.ts";
import type { Received } from "../../../actors/runtime/decider.ts";
import { seal, unseal } from "../../../actors/runtime/seal.ts";
import { type EventRecord, systemPrincipal } from "../../../schemas/command.ts";
import type { VendorAnswer, VendorCall } from "../../../schemas/vendor-call.ts";

const sealKey = Buffer.alloc(32, 7);
const start = new Date("2026-11-21T21:40:00.000Z");
const later = (ms: number) => new Date(start.getTime() + ms);
const eventOf = (type: string, data: Record<string, unknown>, n = 1): EventRecord => ({
  urn: `urn:event:XN-${n}`,
  type,
  occurred_at: start.toISOString(),
  tenant: "urn:airline:XN",
  correlation_urn: "urn:correlation:c",
  traceparent: "00-1-1-01",
  data,
});

t.test("one for each pause, one an hour for limits, none for the airline's own alert channel", async (t) => {
  const paused = (at: Date, more: object = {}) =>
    afterPause(
      eventOf("webhook.paused", {
        ...{ clientId: "XN-dock", at: at.toISOString(), reason: "DELIVERY_EXHAUSTED" },
        ...more,
      }),
      "XN",
    );
  const [one] = paused(start);
  t.match(one, {
    name: "message.write-to-partner",
    entity: /^XN-[0-9A-Z]{26}$/,
    data: { clientId: "XN-dock", template: "webhook-paused", byOperator: false },
  });
  t.same(paused(start), [one], "told again it is the same");
  t.not(paused(later(1))[0]?.entity, one?.entity, "another pause is another");
  t.match(paused(start, { reason: "OPERATOR" }), [{ data: { byOperator: true } }]);
  t.same(paused(start, { clientId: "alerts_XN" }), []);

  const met = (at: Date, partner = "XN-dock") =>
    afterLimit(
      eventOf("partner.limit-exceeded", {
        ...{
          partner: `urn:partner:${partner}`,
          windowStartedAt: at.toISOString(),
          limit: "4 writes a minute",
        },
      }),
      "XN",
    )[0]?.entity;
  t.equal(met(start), met(later(19 * 60_000)), "the same hour");
  t.not(met(start), met(later(20 * 60_000)), "the next");
  t.not(met(start), met(start, "XN-other"));
});

const command = (name: string, data: unknown, now: Date): Received => ({
  ...{
    id: "c1",
    name: `message.${name}`,
    tenant: "XN",
    entity: "XN-N",
    principal: systemPrincipal("XN", "message"),
  },
  ...{
    correlationUrn: "urn:correlation:c",
    traceparent: "00-1-1-01",
    issuedAt: now.toISOString(),
    data,
    now,
  },
});
const decide = decideNotice({ stepDeadlineMs: 60_000 });
const gathered = (vendor: string) => ({
  facts: { airline: "Xenia Air", clientId: "XN-dock", at: start.toISOString(), host: "dock.example" },
  contact: seal(sealKey, "duty@dock.example"),
  vendor,
});
const write = command("write-to-partner", { clientId: "XN-dock", template: "webhook-paused" }, start);
const grown = (state: PartnerNoticeState | undefined, move: Received, vendor = "smtp") => {
  const events = decide(state, move, gathered(vendor));
  return { events, state: events.reduce<PartnerNoticeState | undefined>(evolveNotice, state) };
};
const answer = (outcome: VendorAnswer["outcome"], tries: number, at: Date, detail?: string) =>
  command(
    "record-partner-answer",
    { verb: "send", vendor: "smtp", reference: "XN-N.partner", tries, outcome, ...(detail && { detail }) },
    at,
  );

t.test("how it goes on", async (t) => {
  const begun = grown(undefined, write).state;
  t.match(begun, { status: "QUEUED", vendor: "smtp", call: { tries: 1, doubt: false } });
  t.same(grown(begun, write).events, [], "asked for twice");
  t.same(grown(undefined, answer("done", 1, start)).events, [], "an answer to nothing");
  const sent = grown(begun, answer("done", 1, later(100))).state as PartnerNoticeState;
  t.match(noticeView("XN-N", sent), {
    ...{ urn: "urn:partner-notice:XN-N", clientId: "XN-dock", template: "webhook-paused", status: "SENT" },
    sentAt: later(100).toISOString(),
  });
  t.same(grown(sent, answer("done", 1, later(200))).events, []);
  t.same(
    grown(sent, command("reissue-partner-call", {}, later(90_000))).events,
    [],
    "nothing is due any more",
  );

  const refused = grown(begun, answer("refused", 1, later(1), "550 no such user")).state;
  t.match(refused, { status: "FAILED", detail: "550 no such user" });
  let away = begun;
  for (let tries = 1; tries < 60; tries++) {
    away = grown(away, answer("unavailable", tries, later(tries * 120_000))).state;
    t.same(grown(away, command("reissue-partner-call", {}, later(tries * 120_000))).events, [], "not yet");
    away = grown(away, command("reissue-partner-call", {}, later(tries * 120_000 + 72_000))).state;
  }
  t.match(
    away,
    { status: "QUEUED", call: { tries: 60, doubt: false } },
    "a mail server may be away for an hour",
  );

  let silent = begun;
  for (let n = 1; n <= 3; n++)
    silent = grown(silent, command("reissue-partner-call", {}, later(n * 600_000))).state;
  t.match(silent, { status: "FAILED", detail: "Nobody knows whether it was sent." });
  t.match(grown(undefined, write, "").state, { status: "FAILED", detail: /SMTP_URL/ });
});

t.test("what leaves: everything that could be read stays sealed", async (t) => {
  const { events, state } = grown(undefined, write);
  const sent = events.flatMap((event) =>
    noticeOutgoing(sealKey)(event, state as PartnerNoticeState, write, "XN-N"),
  );
  t.match(sent, [{ to: "command", name: "vendor-smtp.send", data: { reference: "XN-N.partner", tries: 1 } }]);
  t.notMatch(JSON.stringify(sent), /dock\.example|paused/);
  const { request } = (sent[0] as { data: VendorCall }).data;
  const content = JSON.parse(unseal(sealKey, String(request.sealed)));
  t.match(content, {
    recipient: "duty@dock.example",
    subject: "Xenia Air: deliveries to your webhook are paused (XN-dock)",
    text: /at dock\.example were paused on 2026-11-21 21:40 UTC: one of them failed seven times/,
  });
  const failed = grown(undefined, write, "");
  const told = failed.events.flatMap((event) =>
    noticeOutgoing(sealKey)(event, failed.state as PartnerNoticeState, write, "XN-N"),
  );
  t.match(told, [
    { type: "operator.alerted", data: { kind: "partner-not-told", partner: "urn:partner:XN-dock" } },
  ]);
});

t.test("values cannot break out of the words", async (t) => {
  const facts = {
    airline: "<b>Xenia</b>\r\nBcc: all@x.example",
    clientId: "XN-dock",
    at: start.toISOString(),
    limit: "4 writes a minute <script>",
  };
  for (const template of ["webhook-paused", "limit-met"] as const) {
    const { subject, paragraphs } = partnerCopy(template, facts);
    const mail = mailOf("en", subject, paragraphs);
    t.notMatch(mail.subject, /[\r\n]/);
    t.notMatch(mail.html, /<b>|<script>/);
  }
  const { subject, paragraphs } = partnerCopy("limit-met", facts);
  t.match(
    mailOf("en", subject, paragraphs).text,
    /refused with status 429 from 2026-11-21 21:40 UTC on\. The limit: 4 writes/,
  );
});
