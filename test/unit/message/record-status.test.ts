// Which message a carrier's word is about: by our reference, by the carrier's own id, or, of a reader's own word alone, by the number.
import { isDeepStrictEqual } from "node:util";
import t from "tap";
import { recordStatus, spokenOf } from "../../../actors/message/record-status.ts";
import type { Attempt, MessageState } from "../../../actors/message/state.ts";
import type { ActorContext } from "../../../actors/runtime/host.ts";
import { seal } from "../../../actors/runtime/seal.ts";
import type { Command } from "../../../schemas/command.ts";
import { messageStates, readersWords } from "../../../schemas/message.ts";
import type { Problem } from "../../../schemas/problems.ts";
import { evening, received, secondsLater } from "../../harness/given.ts";
import { answer, attempt, messageId, ordered, reference, sealKey, stateOf, story } from "./written.ts";

const at = (second: number): string => secondsLater(second).toISOString();
const sentAt = (id: string, second: number, more: Partial<Attempt> = {}): MessageState => ({
  ...stateOf(story(ordered())),
  messageId: id,
  attempts: [{ ...attempt("SMS"), sentAt: secondsLater(second), ...more }],
});

t.test("a reader's word is about what they had been sent when they said it", async (t) => {
  const { mark } = attempt("SMS");
  const [a, b] = [sentAt("A", 0), sentAt("B", 3600)];
  const twilios = sentAt("C", 7200, { vendor: "twilio" });
  const drill: MessageState = { ...sentAt("D", 7200), kind: "DRILL" };
  const word = { mark, channel: "SMS", vendor: "sendwell", state: "replied", at: at(4000) } as const;
  const rows: [string, MessageState[], Partial<Parameters<typeof spokenOf>[1]>, string | undefined][] = [
    ["the newest", [b, a], {}, "B"],
    ["a reply to A that is told late", [b, a], { at: at(1800) }, "A"],
    ["said before B was sent, by a clock that may be behind", [b, a], { at: at(3500) }, "A"],
    ["the same, with nothing before it", [b], { at: at(3500) }, "B"],
    ["before anything", [b, a], { at: at(-301) }, undefined],
    ["at most five minutes behind", [a], { at: at(-300) }, "A"],
    ["a reply to who carries it", [twilios, b, a], { at: at(9000) }, "B"],
    ["none of this vendor's", [twilios], { at: at(9000) }, undefined],
    ["a wish holds for all carriers", [twilios, b], { at: at(9000), state: "opted-out" }, "C"],
    ["nobody has had a drill's", [drill, b], { at: at(9000) }, "B"],
    ["of which nobody wants anything, either", [drill], { at: at(9000), state: "opted-out" }, undefined],
    ["another channel", [b], { channel: "WHATSAPP" }, undefined],
    ["another number", [b], { mark: "x" }, undefined],
    ["one that was never sent", [stateOf(story(ordered()))], {}, undefined],
  ];
  for (const [name, messages, more, expected] of rows)
    t.equal(spokenOf(messages, { ...word, ...more })?.message.messageId, expected, name);
});

const commandId = "XN-TOLD";
/** Asks for whoever has heard this before. */
const isAboutRepeats = (filter: object): boolean => "handled.id" in filter;

/** What is dispatched, or refused with, where these are the messages. */
const recorded = async (data: object, found: (filter: object) => MessageState[]) => {
  const dispatched: { verb: string; command: Command }[] = [];
  const documentsOf = (filter: object) =>
    found(filter).map(({ messageId: _id, ...state }) => ({
      ...{ _id, schemaVersion: 1, version: 1, handled: [], outbox: [], messageId: _id, ...state },
    }));
  const collection = {
    findOne: async (filter: object) => documentsOf(filter)[0] ?? null,
    find: (filter: object) => {
      const cursor = { sort: () => cursor, limit: () => cursor, toArray: async () => documentsOf(filter) };
      return cursor;
    },
  };
  const context = {
    ...{ config: { sealKey }, clock: { now: () => evening } },
    documents: { tenant: () => ({ collection: () => collection }) },
  } as unknown as ActorContext;
  const command = received("message.record-status", data, { id: commandId });
  const dispatch = async (verb: string, sent: Command) => {
    dispatched.push({ verb, command: sent });
    return { ok: null };
  };
  const code = await recordStatus(context)(command, dispatch as never).then(
    () => "done",
    (error: Problem) => error.code,
  );
  return { code, dispatched, command };
};

t.test("a message's fate is never told by a number", async (t) => {
  const sealedRecipient = seal(sealKey, "+12025550143");
  const mine = stateOf(story(ordered(), answer(1, "done")));
  const ours = (filter: object) => (isAboutRepeats(filter) ? [] : [mine]);
  const word = { vendor: "sendwell", channel: "SMS", sealedRecipient, at: at(60) };
  for (const state of messageStates) {
    const { code, dispatched } = await recorded({ ...word, state }, ours);
    const isFate = state === "delivered" || state === "bounced";
    t.equal(code, isFate ? "validation/body" : "done", state);
    const data = { vendor: "sendwell", reference: `${reference}.1`, state };
    t.match(dispatched, isFate ? [] : [{ verb: "note-status", command: { entity: messageId, data } }]);
  }
  t.match(await recorded({ ...word, vendor: undefined, state: "replied" }, ours), {
    code: "validation/body",
  });
  t.match(
    await recorded({ ...word, vendor: "twilio", state: "replied" }, ours),
    { code: "not-found/resource", dispatched: [] },
    "another vendor's reader has not answered this",
  );
  t.match(
    (await recorded({ ...word, vendor: "twilio", state: "opted-out" }, ours)).dispatched,
    [{ verb: "note-status", command: { data: { vendor: "sendwell" } } }],
    "but what they want holds for it, too",
  );
  const gone = await recorded({ ...word, state: "opted-in", at: at(9_999) }, () => []);
  const data = { channel: "SMS", at: at(300), toldId: gone.command.id };
  t.match(gone.dispatched, [{ verb: "opt-in", command: { data } }], "counts without any message");
});

t.test("a reader's word that is told again is about no message that came since", async (t) => {
  const first = stateOf(story(ordered(), answer(1, "done")));
  const since = sentAt("XN-01KAMVW9G0MESSAGEMESSAGE01", 7200);
  const { mark } = attempt("SMS");
  const word = { vendor: "sendwell", channel: "SMS", sealedRecipient: seal(sealKey, "+12025550143") };
  // Twilio signs no time: a replay is dated when it is heard.
  for (const state of readersWords) {
    const again = await recorded({ ...word, state, at: at(9000) }, (filter) =>
      isAboutRepeats(filter)
        ? [first].filter(() => isDeepStrictEqual(filter, { "attempts.mark": mark, "handled.id": commandId }))
        : [since, first],
    );
    t.strictSame([again.code, again.dispatched], ["done", []], state);
  }
});

t.test("by the carrier's own id", async (t) => {
  const ours = stateOf(story(ordered(), answer(1, "done")));
  const told = (carrierId: string, vendor = "sendwell") =>
    recorded({ vendor, carrierId, state: "delivered", at: at(60) }, (filter) => {
      const { $elemMatch: asked } = (filter as { attempts: { $elemMatch: Partial<Attempt> } }).attempts;
      const isIt = ours.attempts.some(
        (one) => one.carrierId === asked.carrierId && one.vendor === asked.vendor,
      );
      return isIt ? [ours] : [];
    });
  t.match((await told("M1")).dispatched, [
    {
      verb: "note-status",
      command: { entity: messageId, data: { vendor: "sendwell", reference: `${reference}.1` } },
    },
  ]);
  t.match(await told("M9"), { code: "not-found/resource", dispatched: [] }, "somebody else's on the account");
  t.match(await told("M1", "twilio"), { code: "not-found/resource" });
});
