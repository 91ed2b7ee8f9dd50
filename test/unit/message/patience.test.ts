// How long a message is tried: carriers that are away, who waits for an answer, what is no longer so, and whom it is not for any more.
import t from "tap";
import type { Gathered, Present } from "../../../actors/message/decide.ts";
import { optOutKey } from "../../../actors/message/decide.ts";
import { tellSame, untrue } from "../../../actors/message/facts.ts";
import { markOf } from "../../../actors/message/preferences.ts";
import type { Attempt, MessageEvent, MessageState } from "../../../actors/message/state.ts";
import { messageRecord } from "../../../actors/message/view.ts";
import { seal, unseal } from "../../../actors/runtime/seal.ts";
import { type NoticeFacts, type NoticeRecipients, untellable } from "../../../schemas/message.ts";
import { markOfPassenger } from "../../../schemas/passenger-session.ts";
import type { VendorCall } from "../../../schemas/vendor-call.ts";
import { evening, eventsOf, givenOf, received, secondsLater, supervisor } from "../../harness/given.ts";
import {
  answer,
  answered,
  asks,
  attempt,
  attempts,
  begun,
  byHand,
  calls,
  event,
  item,
  messageId,
  ordered,
  outOf,
  reissue,
  rules,
  sealKey,
  seen,
  stateOf,
  status,
  story,
  told,
  tried,
} from "./written.ts";

const given = (events: MessageEvent[]) => givenOf(t, rules, messageId)(...events);
const requested = { by: supervisor.urn, reason: "Lost it" };
const alone = (...some: Attempt[]) => ordered({ begun: begun({ attempts: some }) });
const { host: _, ...facts } = begun()?.facts ?? { flight: "" };
const present = (more: Partial<Present> = {}): Partial<Gathered> => ({
  present: {
    passengerUrns: new Set(["urn:passenger:XN-ADA"]),
    contacts: new Set(attempts.map(({ channel, mark }) => optOutKey(channel, mark))),
    facts: [facts],
    ...more,
  },
});

/** The carrier cannot take it, again and again. @returns how often it was asked, and the seconds until then */
const away = (from: MessageEvent[], n: number) => {
  let events = from;
  let seconds = 0;
  let times = 0;
  for (;;) {
    const tries = stateOf(events).call?.tries ?? 0;
    times += 1;
    const [command, gathered] = answer(n, "unavailable", { tries });
    events = eventsOf(rules, events, [{ ...command, now: secondsLater(seconds) }, gathered]);
    const { call } = stateOf(events);
    if (call?.n !== n - 1) return { events, times, seconds };
    seconds = (call.dueAt.getTime() - evening.getTime()) / 1000;
    events = eventsOf(rules, events, reissue(seconds));
  }
};

t.test("a carrier that is away is waited for where nobody else can take its place", async (t) => {
  const soon = away(story(ordered()), 1);
  t.match({ ...soon, events: [] }, { times: 3 }, "another carrier is there");
  t.ok(soon.seconds >= 1.5 && soon.seconds <= 1.5 * 1.2 + 0.001, `${soon.seconds} s`);
  const last = away(story(alone(attempt("EMAIL"))), 1);
  t.match({ ...last, events: [] }, { times: 10 });
  t.ok(last.seconds >= 120 && last.seconds <= 300, `some minutes: ${last.seconds} s`);
  t.equal(status(last.events), "FAILED");
  const both = away(story(alone(attempt("SMS"), attempt("WHATSAPP"))), 1);
  t.equal(both.times, 10);
  t.equal(away(both.events, 2).times, 1, "a carrier that has been waited for is not waited for again");
  const [busy, gathered] = answer(1, "unavailable");
  const later = (retryAfterMs: number) => ({ ...busy, data: { ...(busy.data as object), retryAfterMs } });
  const due = (retryAfterMs: number, reference = begun()?.reference ?? "") => {
    const from = story([asks(), seen({ begun: begun({ reference }) })]);
    const command = later(retryAfterMs);
    const data = { ...(command.data as object), reference: `${reference}.1` };
    const { call } = stateOf(eventsOf(rules, from, [{ ...command, data }, gathered]));
    t.match(call, { postponed: true, doubt: false });
    return ((call?.dueAt.getTime() ?? 0) - evening.getTime()) / 1000;
  };
  for (const [askedMs, seconds] of [
    [45_000, 45],
    [86_400_000, 300],
  ] as const) {
    const all = Array.from({ length: 50 }, (_, i) => due(askedMs, `XN-01KAMVW9G0ABCDEFGHJKMNPQRS.n.${i}`));
    t.ok(Math.min(...all) >= seconds && Math.max(...all) <= seconds * 1.2, `${seconds} s`);
    t.ok(new Set(all).size > 45, "asked to come back after the same time, they don't come together");
  }
});

t.test("a call says until when it may be sent; mail has minutes", async (t) => {
  const notAfter = (events: MessageEvent[]) => {
    const [call] = rules.outgoing?.(events.at(-1) as MessageEvent, stateOf(events), asks(), messageId) ?? [];
    return (call as { data: VendorCall }).data.notAfter;
  };
  t.equal(notAfter(story(ordered())), secondsLater(30).toISOString());
  t.equal(notAfter(story(alone(attempt("EMAIL")))), secondsLater(300).toISOString());
});

t.test("who waits is answered within minutes, and it is tried on", async (t) => {
  const timers = (events: MessageEvent[]) => rules.timers?.(stateOf(events));
  const first = story(alone(attempt("EMAIL")));
  t.same(timers(first), [{ name: "reissue-call", dueAt: secondsLater(300) }]);
  const doubtful = story(ordered(), reissue(30), reissue(90), reissue(210));
  given(doubtful)
    .when(...reissue(300))
    .then({ type: "message.overdue" }, { type: "message.answered" })
    .sends(answered("refused", { code: "UNAVAILABLE" }))
    .leads({ call: { n: 0, doubt: true } });
  const overdue = eventsOf(rules, doubtful, reissue(300));
  t.same(timers(overdue), [{ name: "reissue-call", dueAt: secondsLater(450) }]);
  given(overdue)
    .when(...answer(1, "done"))
    .sends(event("dispatched", "SMS"));
  const ended = eventsOf(rules, overdue, answer(1, "refused"), answer(2, "refused"));
  given(ended)
    .when(...answer(3, "refused"))
    .sends(event("failed", "EMAIL"));
  t.same(timers(story(byHand())), [{ name: "reissue-call", dueAt: secondsLater(30) }], "nobody waits");
});

t.test("nothing is told that is no longer so, to nobody who has left, and not the next day", async () => {
  const sent = story(ordered(), answer(1, "done"));
  const bounced = (more: Partial<Gathered>) => told(1, "bounced", 5, more);
  given(sent)
    .when(...bounced(present()))
    .sends(event("bounced", "SMS"), calls(2));
  const old: NoticeFacts[] = [
    { ...facts, hotel: "Ritz" },
    { ...facts, checkOut: "2026-11-23" },
    { ...facts, code: "ANOTHER1" },
    { flight: "XN482" },
  ];
  for (const now of old)
    given(sent)
      .when(...bounced(present({ facts: [now] })))
      .then({ type: "attempt.noted" }, { type: "message.given-up", data: { code: "OUTDATED", silent: true } })
      .sends(event("bounced", "SMS"));
  given(sent)
    .when(...bounced(present({ facts: [{ ...facts, hotel: "Ritz" }, facts] })))
    .sends(event("bounced", "SMS"), calls(2));
  given(sent)
    .when(...bounced({ present: null }))
    .sends(event("bounced", "SMS"));
  const [, , mail] = attempts;
  const another = new Set([optOutKey("EMAIL", mail?.mark ?? "")]);
  given(sent)
    .when(...bounced(present({ contacts: another })))
    .sends(event("bounced", "SMS"), event("failed", "WHATSAPP"), calls(3, "smtp"));
  given(sent)
    .when(...bounced(present({ passengerUrns: new Set() })))
    .sends(event("bounced", "SMS"), event("failed", "WHATSAPP"), event("failed", "EMAIL"), item);
  const late = { ...bounced(present())[0], now: secondsLater(12 * 3600 + 1) };
  given(sent)
    .when(late, seen(present()))
    .then({ type: "attempt.noted" }, { type: "message.given-up", data: { code: "EXPIRED", silent: true } });
  const postponed = story(ordered(), answer(1, "unavailable", { tries: 1 }));
  given(postponed)
    .when(...reissue(60, present({ facts: [] })))
    .sends(event("failed", "SMS"), answered("refused", { code: "OUTDATED" }));
});

t.test("who opts out while it waits to be sent again is not written to", async () => {
  const postponed = story(ordered(), answer(1, "unavailable", { tries: 1 }));
  given(postponed)
    .when(...reissue(60, { optedOut: outOf("SMS") }))
    .sends(event("suppressed", "SMS"), calls(2));
  given(story(ordered()))
    .when(...reissue(60, { optedOut: outOf("SMS") }))
    .then({ type: "attempt.reissued", data: { call: { doubt: true } } });
});

t.test("once somebody has it nobody else is written to", async (t) => {
  const doubtful = eventsOf(
    rules,
    story(ordered()),
    ...[1, 2, 3, 4, 5, 6].map((i) => reissue(1000 * i)),
    answer(1, "done"),
  );
  t.same(tried(doubtful), ["SMS SENT", "WHATSAPP QUEUED"]);
  given(doubtful)
    .when(...answer(2, "refused"))
    .sends(event("failed", "WHATSAPP"))
    .leads({ endedAt: evening });
  const refused = eventsOf(rules, doubtful, answer(2, "refused"));
  given(refused)
    .when(...told(1, "bounced", 5))
    .sends(event("bounced", "SMS"), calls(3, "smtp"));
  const waiting = eventsOf(
    rules,
    story(ordered()),
    ...[1, 2, 3, 4, 5, 6].map((i) => reissue(1000 * i, { optedOut: outOf("WHATSAPP") })),
    answer(3, "unavailable", { tries: 1 }),
    answer(1, "done"),
  );
  t.same(tried(waiting), ["SMS SENT", "WHATSAPP SUPPRESSED", "EMAIL QUEUED"]);
  given(waiting)
    .when(...reissue(9000))
    .sends(event("failed", "EMAIL"));
});

t.test("what is nothing to tell, and a closed case, begin nothing", async (t) => {
  const nothing = ordered({ untellable: "There is not a room to tell of." });
  given([])
    .when(...nothing)
    .sends(answered("refused", { code: "NOTHING_TO_TELL" }));
  given([])
    .when(...ordered({ caseIsClosed: true }))
    .sends(answered("refused", { code: "CASE_CLOSED" }));
  t.match(messageRecord(stateOf(story(nothing))), { status: "FAILED", reasonCode: "NOTHING_TO_TELL" });
  const nobody = byHand({ begun: begun({ attempts: [], requested }) });
  t.match(messageRecord(stateOf(story(nobody))), { status: "FAILED", reasonCode: "NO_CONTACT" });
  t.equal(messageRecord(stateOf(story(ordered()))).reasonCode, undefined);
});

t.test("each in their own language; and no number or address longer than it is needed", async (t) => {
  const german: Attempt = {
    ...attempt("SMS"),
    language: "de",
    passengerUrn: "urn:passenger:XN-RUI",
    contact: seal(sealKey, "+12025550199"),
    mark: markOf(sealKey, "XN", "SMS", "+12025550199"),
  };
  const two = story(alone(attempt("SMS"), german), answer(1, "refused"));
  const [call] = rules.outgoing?.(two.at(-1) as MessageEvent, stateOf(two), asks(), messageId) ?? [];
  const { request } = (call as { data: VendorCall }).data as unknown as {
    request: { language: string; sealed: string };
  };
  t.equal(request.language, "de");
  t.match(JSON.parse(unseal(sealKey, request.sealed)), { recipient: "+12025550199", text: /^Flug XN482/ });
  t.match(messageRecord(stateOf(two)), {
    language: "de",
    attempts: [{ language: "pt" }, { language: "de" }],
  });
  const kept = (events: MessageEvent[]) =>
    stateOf(events)
      .attempts.map(({ contact }) => (contact === undefined ? "-" : "kept"))
      .join(" ");
  t.equal(kept(story(ordered())), "kept kept kept");
  t.equal(kept(story(ordered(), answer(1, "refused"))), "- kept kept");
  const done = story(ordered(), answer(1, "done"));
  t.equal(kept(done), "- kept kept", "it may come back");
  t.same(stateOf(done).endedAt, evening);
  t.equal(stateOf(story(ordered(), answer(1, "done"), told(1, "bounced", 5))).endedAt, undefined);
  t.equal(kept(story(ordered(), answer(1, "refused"), answer(2, "refused"), answer(3, "refused"))), "- - -");
  const out = { caseIsClosed: true };
  t.equal(kept(story(ordered(), answer(1, "refused", { more: out }))), "- - -");
});

t.test("what may be told of a group", async (t) => {
  const party: NoticeRecipients = {
    ...{ caseId: "c", subCaseId: "s", groupId: "g", airport: "JFK", passengerUrns: [], facts },
    ...{ hotelChanged: false, stayChanged: false, withdrawn: false },
  };
  const none = { ...party, facts: { flight: "XN482" } };
  t.equal(untrue("voucher-issued", party, undefined), undefined);
  t.match(untrue("hotel-changed", party, undefined), /no other hotel/);
  t.equal(untrue("hotel-changed", { ...party, hotelChanged: true }, undefined), undefined);
  t.match(untrue("stay-changed", party, undefined), /dates/);
  t.equal(untrue("stay-changed", { ...party, stayChanged: true }, undefined), undefined);
  t.match(untrue("offer-withdrawn", none, undefined), /Nothing/);
  t.match(untrue("offer-withdrawn", { ...party, withdrawn: true }, undefined), /has a room/);
  t.equal(untrue("offer-withdrawn", { ...none, withdrawn: true }, undefined), undefined);
  t.match(untrue("welcome", party, undefined), /page/);
  t.equal(untrue("welcome", party, "xenon.example"), undefined);
  t.match(untellable("hotel-changed", none.facts), /a room/);
  t.ok(tellSame("welcome", facts, none.facts));
  t.notOk(tellSame("offer-withdrawn", none.facts, facts));
  t.notOk(tellSame("transport-updated", facts, { ...facts, pickupAt: evening.toISOString() }));
});

t.test(
  "whoever it was written to is named to edges, wherever their sessions say that they are",
  async (t) => {
    const before = story(ordered());
    const keysOf = (
      command: Parameters<typeof story>[0],
      template: MessageState["template"] = "stay-changed",
    ) => {
      const after = story(ordered(), command);
      const of = (events: MessageEvent[]) => ({ ...stateOf(events), template });
      const change = { id: messageId, before: of(before), after: of(after), events: after };
      return (rules.changed?.({ ...change, command: received("x") }) ?? []).flatMap((message) =>
        message.to === "internal" ? (message.data.surrogateKeys as string[]) : [],
      );
    };
    t.same(keysOf(answer(1, "done")), [
      "group/XN-01KAMVW9G0CASECASECASECASE/K7QX2M",
      `passenger/${markOfPassenger("urn:passenger:XN-ADA")}`,
    ]);
    t.same(keysOf(answer(1, "refused")), [], "nobody's list has another line");
    t.same(keysOf(answer(1, "done"), "offer-ready"), [], "the offer that waits for it purges the list");
  },
);
