// Who wants nothing more in a channel, as tables: what is sent all the same, and what counts of wishes that are told in any order.
import t from "tap";
import { contactIdOf, contacts, hasOptedOut, markOf } from "../../../actors/message/preferences.ts";
import type { MessageEvent } from "../../../actors/message/state.ts";
import type { Received } from "../../../actors/runtime/decider.ts";
import type { Channel } from "../../../schemas/vocabulary.ts";
import { evening, eventsOf, folded, givenOf, received, secondsLater } from "../../harness/given.ts";
import {
  answer,
  answered,
  attempt,
  byHand,
  calls,
  event,
  item,
  messageId,
  ordered,
  outOf,
  rules,
  sealKey,
  seen,
  status,
  story,
  told,
} from "./written.ts";

const given = (events: MessageEvent[]) => givenOf(t, rules, messageId)(...events);

t.test("who has opted out is not written to", async (t) => {
  given([])
    .when(...ordered({ optedOut: outOf("SMS") }))
    .sends(event("suppressed", "SMS"), calls(2));
  const nobody = ordered({ optedOut: outOf("SMS", "WHATSAPP", "EMAIL") });
  given([])
    .when(...nobody)
    .sends(
      event("suppressed", "SMS"),
      event("suppressed", "WHATSAPP"),
      event("suppressed", "EMAIL"),
      answered("refused", { code: "SUPPRESSED" }),
    );
  t.equal(status(story(nobody)), "SUPPRESSED");
  const hand = byHand({ optedOut: outOf("SMS", "WHATSAPP", "EMAIL") });
  given([])
    .when(...hand)
    .sends({ to: "internal" }, { to: "internal" }, { to: "internal" });
  // A person who has sent it sees that in the answer; what comes back later they don't.
  const one = story(byHand({ optedOut: outOf("WHATSAPP", "EMAIL") }));
  given(one)
    .when(...answer(1, "refused", { more: { optedOut: outOf("WHATSAPP", "EMAIL") } }))
    .sends(event("failed", "SMS"), event("suppressed", "WHATSAPP"), event("suppressed", "EMAIL"), item);
  given(story(ordered()))
    .when(...answer(1, "refused", { more: { optedOut: outOf("WHATSAPP") } }))
    .sends(event("failed", "SMS"), event("suppressed", "WHATSAPP"), calls(3, "smtp"));
  const sent = story(ordered(), answer(1, "done"));
  const entity = contactIdOf("XN", attempt("SMS").mark);
  given(sent)
    .when(...told(1, "opted-out", 5))
    .sends(event("opted-out", "SMS"), {
      to: "command",
      name: "message.opt-out",
      entity,
      data: { channel: "SMS", at: secondsLater(5).toISOString() },
    });
  t.equal(status(story(ordered(), answer(1, "done"), told(1, "opted-out", 5))), "SENT");
  const [word] = told(1, "opted-out", 5);
  given(sent)
    .when(word, seen())
    .sends(event("opted-out", "SMS"), { data: { toldId: word.id } });
  const out = received("message.opt-out", { channel: "SMS", at: secondsLater(5).toISOString() }, { entity });
  const contact = givenOf(t, contacts, entity);
  contact()
    .when(out)
    .leads({ optedOut: { SMS: secondsLater(5) } });
  const once = eventsOf(contacts, [], out);
  contact(...once)
    .when(out)
    .nothing();
  contact(...once)
    .when(received("message.opt-out", { channel: "EMAIL", at: evening.toISOString() }, { entity }))
    .leads({ optedOut: { SMS: secondsLater(5), EMAIL: evening } });
  given(sent)
    .when(...told(1, "opted-in", 5))
    .sends(event("opted-in", "SMS"), { name: "message.opt-in", entity, data: { channel: "SMS" } });
  t.equal(
    markOf(sealKey, "XN", "EMAIL", "Ada@Example.com"),
    markOf(sealKey, "XN", "EMAIL", "ada@example.com"),
    "an address differs by no capital",
  );
  t.not(markOf(sealKey, "XN", "SMS", "+12025550143"), markOf(sealKey, "QZ", "SMS", "+12025550143"));
  t.not(
    markOf(sealKey, "XN", "SMS", "+12025550143"),
    markOf(Buffer.alloc(32, 8), "XN", "SMS", "+12025550143"),
  );
});

const entityOfSms = contactIdOf("XN", attempt("SMS").mark);
const wishAt = (name: "opt-out" | "opt-in", second: number, toldId?: string) =>
  received(
    `message.${name}`,
    { channel: "SMS", at: secondsLater(second).toISOString(), ...(toldId !== undefined && { toldId }) },
    { entity: entityOfSms },
  );
const wanted = (...wishes: Received[]) => {
  const contact = folded(contacts, eventsOf(contacts, [], ...wishes)) ?? { optedOut: {} };
  return { isOut: hasOptedOut(contact, "SMS"), told: contact.told };
};

t.test("what is told again, as if it were new, is no new wish", async (t) => {
  const start = wishAt("opt-in", 1, "E1");
  const stop = wishAt("opt-out", 2, "E2");
  // Twilio signs no time: a replay is dated when it is heard.
  const replayed = wishAt("opt-in", 900, "E1");
  t.match(wanted(start, stop, replayed), { isOut: true, told: ["E1", "E2"] });
  t.match(wanted(start, stop, wishAt("opt-in", 900, "E3")), { isOut: false }, "another one is");
  const late = wishAt("opt-in", 0, "E0");
  t.match(wanted(start, stop, late, { ...late, data: { ...(replayed.data as object), toldId: "E0" } }), {
    isOut: true,
    told: ["E1", "E2", "E0"],
  });
  const many = Array.from({ length: 60 }, (_, i) => wishAt(i % 2 ? "opt-in" : "opt-out", i, `M${i}`));
  t.equal(wanted(...many).told?.length, 50, "so many are remembered");
  t.equal(wanted(...many).told?.at(-1), "M59");
});

t.test("each wish that changes something is in the trail, without the number", async (t) => {
  const noteOf = (before: Received[], command: Received) => {
    const were = eventsOf(contacts, [], ...before);
    const events = eventsOf(contacts, were, command).slice(were.length);
    const state = folded(contacts, were);
    const after = folded(contacts, [...were, ...events]) as NonNullable<typeof state>;
    return contacts.audit?.({ id: entityOfSms, command, before: state, after, events });
  };
  t.strictSame(noteOf([], wishAt("opt-out", 1, "E1")), {
    ...{ action: "message.opt-out", before: null },
    after: { channel: "SMS", optedOut: true },
  });
  t.strictSame(noteOf([wishAt("opt-out", 1, "E1")], wishAt("opt-in", 2, "E2")), {
    action: "message.opt-in",
    before: { channel: "SMS", optedOut: true },
    after: { channel: "SMS", optedOut: false },
  });
  t.equal(
    noteOf([wishAt("opt-out", 2, "E1")], wishAt("opt-out", 1, "E2")),
    null,
    "heard late, it is nothing",
  );
});

t.test("the latest wish counts, in whatever order they are heard", async (t) => {
  const entity = contactIdOf("XN", attempt("SMS").mark);
  const wish = (name: "opt-out" | "opt-in", second: number, channel: Channel = "SMS") =>
    received(`message.${name}`, { channel, at: secondsLater(second).toISOString() }, { entity });
  const rows: [string, Received[], boolean][] = [
    ["out", [wish("opt-out", 1)], true],
    ["in again", [wish("opt-out", 1), wish("opt-in", 2)], false],
    ["out once more", [wish("opt-out", 1), wish("opt-in", 2), wish("opt-out", 3)], true],
    ["both at once", [wish("opt-out", 1), wish("opt-in", 1)], true],
    ["in, and never out", [wish("opt-in", 1)], false],
    ["in elsewhere", [wish("opt-out", 1), wish("opt-in", 2, "WHATSAPP")], true],
  ];
  const asDocument = (wishes: Received[]) => folded(contacts, eventsOf(contacts, [], ...wishes));
  for (const [name, wishes, expected] of rows)
    for (const [order, told] of [
      ["", wishes],
      [", backwards", wishes.toReversed()],
      [", twice", [...wishes, ...wishes.toReversed()]],
    ] as const)
      t.equal(hasOptedOut(asDocument([...told]) ?? {}, "SMS"), expected, name + order);
});
