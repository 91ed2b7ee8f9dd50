// What becomes of a message, as tables: number by number, what carriers answer and tell later in whatever order, who has opted out,
// and what leaves for whom.
import fc from "fast-check";
import t from "tap";
import { keptLink } from "../../../actors/message/login-links.ts";
import { contactIdOf } from "../../../actors/message/preferences.ts";
import { type Attempt, attemptReference, type MessageEvent } from "../../../actors/message/state.ts";
import { messageRecord, notificationView } from "../../../actors/message/view.ts";
import { unseal } from "../../../actors/runtime/seal.ts";
import { airlineOfMagicLink, digestOfMagicLink } from "../../../schemas/magic-link.ts";
import { type MessageState as CarrierState, messageStates } from "../../../schemas/message.ts";
import type { VendorCall } from "../../../schemas/vendor-call.ts";
import { evening, eventsOf, givenOf, secondsLater, supervisor } from "../../harness/given.ts";
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
  reference,
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

t.test("a saga's message: one carrier after the other until one has taken it", async (t) => {
  given([])
    .when(...ordered())
    .sends(calls(1));
  const first = story(ordered());
  t.equal(status(first), "QUEUED");
  given(first)
    .when(...answer(1, "done"))
    .then({ type: "attempt.sent" }, { type: "message.answered" })
    .leads({ sentAt: evening, outcome: { outcome: "done", channel: "SMS", recipient: "•••0143" } })
    .sends(event("dispatched", "SMS"), answered("done"));
  given(first)
    .when(...answer(1, "refused"))
    .sends(event("failed", "SMS"), calls(2));
  given(first)
    .when(...answer(1, "refused", { code: "OPTED_OUT" }))
    .sends(
      event("suppressed", "SMS"),
      {
        ...{ to: "command", name: "message.opt-out", entity: contactIdOf("XN", attempt("SMS").mark) },
        data: { channel: "SMS", at: evening.toISOString() },
      },
      calls(2),
    );
  const last = story(ordered(), answer(1, "refused"), answer(2, "refused"));
  t.same(tried(last), ["SMS FAILED", "WHATSAPP FAILED", "EMAIL QUEUED"]);
  given(last)
    .when(...answer(3, "done"))
    .sends(event("dispatched", "EMAIL"), answered("done"));
  given(last)
    .when(...answer(3, "refused"))
    .then({ type: "attempt.failed" }, { type: "message.given-up" }, { type: "message.answered" })
    // The saga opens the item.
    .sends(event("failed", "EMAIL"), answered("refused", { code: "FAILED" }));
  t.match(
    stateOf(story(ordered(), answer(1, "refused"), answer(2, "refused"), answer(3, "refused"))).outcome,
    {
      detail: "SMS: 1 is refused WHATSAPP: 2 is refused EMAIL: 3 is refused",
    },
  );
  given([])
    .when(asks(), seen({ begun: begun({ attempts: [] }) }))
    .sends(answered("refused", { code: "NO_CONTACT" }));
  t.equal(messageRecord(stateOf(story([asks(), seen({ begun: begun({ attempts: [] }) })]))).status, "FAILED");
});

t.test("what travels is sealed, and says what it should", async (t) => {
  const first = story(ordered());
  const state = stateOf(first);
  const messageTo = (events: MessageEvent[]) =>
    rules.outgoing?.(events.at(-1) as MessageEvent, stateOf(events), asks(), messageId)[0];
  const sms = messageTo(first);
  const text = JSON.stringify(sms);
  t.notMatch(text, /2025550143|Astor|J8K2M4PQ/);
  t.notMatch(JSON.stringify(state), /2025550143|ada@/, "nor does the document tell");
  const request = (sms as { data: VendorCall }).data.request as { sealed: string; channel: string };
  t.match(JSON.parse(unseal(sealKey, request.sealed)), {
    recipient: "+12025550143",
    text: /^Voo XN482: há um quarto para si\. Astor, .*J8K2M4PQ.*https:\/\/xenon\.example$/,
  });
  t.equal(request.channel, "SMS");
  const mail = messageTo(story(ordered({ optedOut: outOf("SMS", "WHATSAPP") })));
  t.equal((mail as { name: string }).name, "vendor-smtp.send");
  const content = JSON.parse(
    unseal(sealKey, ((mail as { data: VendorCall }).data.request as { sealed: string }).sealed),
  );
  t.match(content, {
    recipient: "ada@example.com",
    subject: /XN482/,
    html: /<html lang="pt">/,
    text: /Astor/,
  });
  const drill = story([asks(), seen({ begun: begun({ kind: "DRILL" }) })]);
  t.match(messageTo(drill), { name: "vendor-drill.send" });
});

t.test(
  "a link that logs its reader in: the same whenever it is sent again, and in no document",
  async (t) => {
    const kept = (n: number) =>
      keptLink(sealKey, "XN", "offer-ready", "xenon.example", attemptReference({ reference }, n));
    const linked = attempts.map((one, n) => ({ ...one, link: kept(n) as string }));
    const written = (events: MessageEvent[]): string => {
      const [call] =
        rules.outgoing?.(events.at(-1) as MessageEvent, stateOf(events), asks(), messageId) ?? [];
      const { sealed } = (call as { data: VendorCall }).data.request as { sealed: string };
      t.notMatch(JSON.stringify([call, stateOf(events)]), /token=/);
      return JSON.parse(unseal(sealKey, sealed)).text;
    };
    const tokenIn = (text: string): string =>
      /https:\/\/xenon\.example\?token=(XN-[\w-]{43})\s*$/.exec(decodeURIComponent(text))?.[1] ?? "none";
    const first = story(ordered({ begun: begun({ attempts: linked }) }));
    const token = tokenIn(written(first));
    t.equal(digestOfMagicLink(token), kept(0), "what is kept is its digest");
    t.equal(airlineOfMagicLink(token), "XN");
    t.notMatch(JSON.stringify(stateOf(first)), token);
    const again = story(ordered({ begun: begun({ attempts: linked }) }), reissue(31));
    t.equal(again.at(-1)?.type, "attempt.reissued");
    t.equal(tokenIn(written(again)), token, "what is sent again has the same link");
    const next = story(ordered({ begun: begun({ attempts: linked }) }), answer(1, "refused"));
    t.equal(digestOfMagicLink(tokenIn(written(next))), kept(1), "another number has a link of its own");
    t.not(kept(0), kept(1));
    t.not(
      kept(0),
      keptLink(sealKey, "QZ", "offer-ready", "xenon.example", attemptReference({ reference }, 0)),
    );
    t.equal(keptLink(sealKey, "XN", "welcome", "xenon.example", "r.1"), undefined, "no offer, no link");
    t.equal(keptLink(sealKey, "XN", "offer-ready", undefined, "r.1"), undefined, "no page, no link");
    for (const text of ["", "XN-abc", `${token}=`, ` ${token}`, token.slice(3)])
      t.equal(airlineOfMagicLink(text), undefined, text);
  },
);

t.test("what carriers tell later", async (t) => {
  const sent = story(ordered(), answer(1, "done"));
  given(sent)
    .when(...told(1, "delivered", 5))
    .sends(event("delivered", "SMS"));
  t.equal(status(story(ordered(), answer(1, "done"), told(1, "delivered", 5))), "DELIVERED");
  given(sent)
    .when(...told(1, "bounced", 5))
    .sends(event("bounced", "SMS"), calls(2));
  const replied = story(ordered(), answer(1, "done"), told(1, "replied", 9));
  t.match(messageRecord(stateOf(replied)), {
    status: "DELIVERED",
    attempts: [{ repliedAt: secondsLater(9).toISOString() }],
  });
  for (const state of messageStates) {
    const heard = story(ordered(), answer(1, "done"), told(1, state, 5));
    given(heard)
      .when(...told(1, state, 5))
      .nothing();
    given(heard)
      .when(...told(1, state, 4))
      .nothing();
    given(sent)
      .when(...told(3, state, 5))
      .nothing();
    given(sent)
      .when(...told(9, state, 5))
      .nothing();
  }
  // Another vendor of the airline's, which may sign, has not carried it.
  const [word, more] = told(1, "bounced", 5);
  given(sent)
    .when({ ...word, data: { ...(word.data as object), vendor: "twilio" } }, more)
    .nothing();
  // Before the adapter's own answer is heard.
  const early = story(ordered());
  given(early)
    .when(...told(1, "delivered", 5))
    .then({ type: "attempt.sent" }, { type: "message.answered" }, { type: "attempt.noted" })
    .leads({ outcome: { outcome: "done" } });
  given(story(ordered(), told(1, "delivered", 5)))
    .when(...answer(1, "done"))
    .nothing();
  given(early)
    .when(...told(1, "bounced", 5))
    .sends(event("dispatched", "SMS"), answered("done"), event("bounced", "SMS"), calls(2));
  for (const wish of ["opted-out", "opted-in"] as const)
    given(early)
      .when(...told(1, wish, 5))
      // Whether they have had this one, it does not say.
      .then({ type: "attempt.noted" });
  const atOnce = story(ordered(), answer(1, "done"), told(1, "delivered", 5), told(1, "bounced", 5));
  t.same(tried(atOnce), ["SMS BOUNCED", "WHATSAPP QUEUED"], "both at the same time");
  const all = story(
    ordered(),
    answer(1, "done"),
    told(1, "bounced", 5),
    answer(2, "done"),
    told(2, "bounced", 9),
  );
  t.same(tried(all), ["SMS BOUNCED", "WHATSAPP BOUNCED", "EMAIL QUEUED"]);
  given(all)
    .when(...answer(3, "refused"))
    .sends(event("failed", "EMAIL"), item);
  given(story(ordered(), answer(1, "done"), told(1, "bounced", 5)))
    .when(...told(1, "delivered", 8))
    .then({ type: "attempt.noted" });
  t.match(notificationView(stateOf(all)), {
    channel: "WHATSAPP",
    status: "BOUNCED",
    template: "offer-ready",
  });
  // Of a closed case nobody is written to any more.
  given(sent)
    .when(...told(1, "bounced", 5, { caseIsClosed: true }))
    .sends(event("bounced", "SMS"));
});

t.test("a carrier's clock that is ahead of ours: its order counts, our time is shown", async (t) => {
  const heard = (state: CarrierState, second: number, now: number): ReturnType<typeof told> => {
    const [command, gathered] = told(1, state, second);
    return [{ ...command, now: secondsLater(now) }, gathered];
  };
  const shown = (...words: ReturnType<typeof told>[]) => {
    const state = stateOf(story(ordered(), answer(1, "done"), ...words));
    const [record] = messageRecord(state).attempts;
    t.equal(notificationView(state).at, record?.at);
    return record;
  };
  const second = (n: number) => secondsLater(n).toISOString();
  // Two minutes ahead: bounced at 130, and delivered at 125, heard at 10 and 11.
  for (const [first, last] of [
    [heard("bounced", 130, 10), heard("delivered", 125, 11)],
    [heard("delivered", 125, 10), heard("bounced", 130, 11)],
  ] as const)
    t.match(shown(first, last), { status: "BOUNCED" });
  t.match(shown(heard("delivered", 130, 10)), { status: "DELIVERED", at: second(10) });
  t.match(shown(heard("bounced", 130, 10)), { status: "BOUNCED", at: second(10) });
  t.match(shown(heard("replied", 130, 10)), { status: "DELIVERED", at: second(10), repliedAt: second(10) });
  t.match(shown(heard("replied", 130, 10), heard("replied", 135, 200)), { repliedAt: second(135) });
  const { attempts: far } = stateOf(story(ordered(), answer(1, "done"), heard("delivered", 9_999, 10)));
  t.same(far[0]?.told?.delivered, secondsLater(310), "never more than five minutes");
});

t.test("in whatever order it is told, however often, it comes to the same", async (t) => {
  const report = fc.record({
    state: fc.constantFrom(...messageStates),
    second: fc.integer({ min: 1, max: 4 }),
  });
  const shape = (reports: { state: CarrierState; second: number }[]) => {
    const events = story(
      ordered(),
      answer(1, "done"),
      ...reports.map(({ state, second }) => told(1, state, second)),
    );
    const { told: heard, status: now } = stateOf(events).attempts[0] as Attempt;
    return JSON.stringify([Object.entries(heard ?? {}).sort(), now]);
  };
  const property = fc.property(
    fc
      .array(report, { minLength: 1, maxLength: 6 })
      .chain((all) =>
        fc.tuple(fc.constant(all), fc.shuffledSubarray([...all, ...all], { minLength: all.length * 2 })),
      ),
    ([all, shuffled]) => shape(all) === shape(shuffled),
  );
  t.doesNotThrow(() => fc.assert(property, { numRuns: 200, seed: 1 }));
});

t.test("carriers that are away, silent, or in doubt", async (t) => {
  const first = story(ordered());
  const away = (tries: number) => answer(1, "unavailable", { tries });
  given(first)
    .when(...away(1))
    .then({ type: "attempt.postponed", data: { call: { n: 0, postponed: true, doubt: false } } });
  const thrice = story(ordered(), away(1), reissue(60), away(2), reissue(600));
  given(thrice)
    .when(...away(3))
    .sends(event("failed", "SMS"), calls(2));
  given(thrice)
    .when(...away(2))
    .nothing();
  given(first)
    .when(...reissue(10))
    .nothing();
  given(first)
    .when(...reissue(30))
    .then({ type: "attempt.reissued", data: { call: { tries: 2, doubt: true } } });
  const doubtful = (times: number, from: MessageEvent[], seconds = 700) => {
    let events = from;
    for (let i = 1; i <= times; i++) events = eventsOf(rules, events, reissue(seconds * i));
    return events;
  };
  t.match(stateOf(doubtful(5, first)).call, { n: 0, tries: 6, doubt: true, doubtfulTries: 5 });
  t.same(tried(doubtful(6, first)), ["SMS FAILED", "WHATSAPP QUEUED"], "there is another way");
  const requested = { by: supervisor.urn, reason: "Lost it" };
  const alone = story(byHand({ begun: begun({ attempts: [attempt("SMS")], requested }) }));
  t.match(stateOf(doubtful(4, alone)).call, { n: 0, tries: 5, doubt: true }, "who can be asked is asked on");
  t.equal(status(doubtful(5, alone, 10_000)), "FAILED", "not for ever: twelve hours");
  const mail = story(ordered({ optedOut: outOf("SMS", "WHATSAPP") }));
  given(mail)
    .when(...reissue(299))
    .nothing();
  t.match(stateOf(doubtful(2, mail)).call, { n: 2, tries: 3, doubt: true });
  const given3 = doubtful(3, mail);
  t.equal(status(given3), "FAILED", "a mail may be doubled, not multiplied");
  given(given3)
    .when(...answer(3, "done"))
    .then({ type: "attempt.sent" })
    .sends(event("dispatched", "EMAIL"));
  given(first)
    .when(...reissue(30, { caseIsClosed: true }))
    .then(
      { type: "attempt.failed" },
      { type: "message.given-up", data: { silent: true } },
      { type: "message.answered" },
    );
});

t.test("a saga that asks again is told again; a person's repeat is nothing", async (t) => {
  const queued = story(ordered());
  given(queued).when(asks(2)).then({ type: "message.asked" }).sends();
  given(story(ordered(), asks(2)))
    .when(...answer(1, "done"))
    .sends(event("dispatched", "SMS"), answered("done", { tries: 2 }));
  const sent = story(ordered(), answer(1, "done"));
  given(sent)
    .when(asks(3))
    .sends(answered("done", { tries: 3 }));
  given(story(ordered(), asks(3)))
    .when(asks(2))
    .nothing();
  const hand = story(byHand());
  given(hand).when(byHand()[0]).nothing();
  given(hand)
    .when(...answer(1, "done"))
    .then({ type: "attempt.sent" });
  t.match(messageRecord(stateOf(hand)), {
    requestedBy: supervisor.urn,
    reason: "Lost it",
    passengerUrn: "urn:passenger:XN-ADA",
  });
});

t.test("nobody sees a whole number or address", async (t) => {
  const all = story(
    byHand(),
    answer(1, "done"),
    told(1, "bounced", 5),
    answer(2, "refused"),
    answer(3, "done"),
  );
  const state = stateOf(all);
  const views = [messageRecord(state), notificationView(state)];
  const command = byHand()[0];
  const note = rules.audit?.({ id: messageId, command, before: undefined, after: state, events: all });
  const messagesOut = all.flatMap(
    (one, i) => rules.outgoing?.(one, stateOf(all.slice(0, i + 1)), command, messageId) ?? [],
  );
  t.notMatch(JSON.stringify([views, note, messagesOut]), /2025550143|ada@/);
  t.match(note, {
    action: "message.send-manually",
    after: { templateId: "offer-ready", channels: ["SMS", "WHATSAPP", "EMAIL"] },
  });
  t.notMatch(JSON.stringify(views), new RegExp(attempt("SMS").mark));
});
