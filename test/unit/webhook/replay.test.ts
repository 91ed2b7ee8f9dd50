// The rules of replays, pure: one at a time, each event counted once, and when one is over; and no filter lets everything through.
import { pino } from "pino";
import t, { type Test } from "tap";
import type { Received } from "../../../actors/runtime/decider.ts";
import {
  type AttemptParts,
  attemptAgain,
  attemptFirst,
  attemptReplayed,
  type Recipient,
} from "../../../actors/webhook/attempt.ts";
import { decideDelivery, deliveryOutgoing } from "../../../actors/webhook/decide.ts";
import { messageOf } from "../../../actors/webhook/message.ts";
import {
  decideReplay,
  failuresInRowMax,
  failuresMax,
  type NoteReplayed,
  replayDecider,
} from "../../../actors/webhook/replay-decide.ts";
import {
  evolveReplay,
  type ReplayRange,
  type ReplayState,
  replayView,
} from "../../../actors/webhook/replay-state.ts";
import { attemptsMax } from "../../../actors/webhook/schedule.ts";
import { type DeliveryState, evolveDelivery } from "../../../actors/webhook/state.ts";
import { type Command, systemPrincipal } from "../../../schemas/command.ts";
import { Problem } from "../../../schemas/problems.ts";
import type { Streams } from "../../../streams/connection.ts";
import { type Consumption, consume, type Delivery, done } from "../../../streams/consume.ts";
import { countLog, readLog } from "../../../streams/read-log.ts";
import { duplicateWindowMs } from "../../../streams/topology.ts";
import { event, later, now } from "./offer-ready.ts";

const command = (verb: string, data: unknown, when: Date = now): Received => ({
  id: "c1",
  name: `webhook.${verb}`,
  tenant: "XN",
  entity: "XN-R",
  principal: systemPrincipal("XN", "webhook"),
  correlationUrn: "urn:correlation:c",
  traceparent: "00-0-0-01",
  issuedAt: when.toISOString(),
  data,
  now: when,
});

const range: ReplayRange = {
  subscriptionId: "XN-SUB",
  clientId: "XN-tower",
  since: "urn:event:XN-A",
  types: ["case.opened"],
  from: 11,
  upTo: 99,
  events: 3,
};

const after = (state: ReplayState | undefined, ...commands: Received[]): ReplayState =>
  commands.reduce<ReplayState | undefined>(
    (before, received) =>
      decideReplay(before, received).reduce<ReplayState | undefined>(evolveReplay, before),
    state,
  ) as ReplayState;

const noted = (sequence: number, more: Partial<NoteReplayed> = {}): Received => {
  const data: NoteReplayed = {
    ...{ sequence, eventUrn: `urn:event:XN-${sequence}`, outcome: "delivered", isLast: false },
    ...more,
  };
  return command("note-replayed", data, later(sequence));
};
const notTaken = { outcome: "failed" } as const;
const isLast = { isLast: true } as const;

const running = after(undefined, command("start-replay", range));

const refused = (t: Test, run: () => unknown, code: string): void => {
  try {
    run();
    t.fail(`expected ${code}`);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    t.equal(error.code, code);
  }
};

t.test("of a subscription one replay runs", async (t) => {
  t.match(running, { status: "RUNNING", runningFor: "XN-SUB", position: 10, delivered: 0, startedAt: now });
  t.same(replayDecider.locate?.(command("start-replay", range)), { runningFor: "XN-SUB" });
  t.same(decideReplay(running, command("start-replay", range)), [], "the same again is the one that runs");
  refused(
    t,
    () => decideReplay(running, command("start-replay", { ...range, since: "urn:event:XN-B" })),
    "conflict/state",
  );
  refused(
    t,
    () => decideReplay(running, command("start-replay", { ...range, until: "urn:event:XN-B" })),
    "conflict/state",
  );
  for (const verb of ["note-replayed", "end-replay"])
    refused(t, () => decideReplay(undefined, command(verb, {})), "not-found/resource");
  t.throws(() => decideReplay(running, command("nothing", {})), TypeError);
});

t.test("each event counts once, and the last one ends it", async (t) => {
  const two = after(running, noted(11), noted(11), noted(14, notTaken), noted(12));
  t.match(two, { delivered: 1, failed: 1, position: 14, lastEventUrn: "urn:event:XN-14", status: "RUNNING" });
  const many = after(two, noted(15), noted(16), noted(17));
  t.match(many, { delivered: 4, status: "RUNNING" }, "the count at the beginning ends nothing");
  const passed = after(two, noted(15, { outcome: "skipped" }));
  t.match(passed, { skipped: 1, failedInRow: 1, position: 15, lastEventUrn: "urn:event:XN-14" });
  t.match(after(two, noted(20, { outcome: "skipped", ...isLast })), { status: "COMPLETED", skipped: 1 });
  const ended = after(two, noted(20, isLast));
  t.match(ended, { status: "COMPLETED", delivered: 2, endedAt: later(20) });
  t.notOk("runningFor" in ended, "another one may begin");
  t.same(decideReplay(ended, noted(30)), [], "what comes late changes nothing");
  t.same(decideReplay(ended, command("end-replay", { status: "STOPPED" })), []);
  t.match(after(running, noted(99)), { status: "COMPLETED" }, "the range's end is the end");
  for (const status of ["COMPLETED", "STOPPED"])
    t.match(after(running, command("end-replay", { status }, later(5))), { status, endedAt: later(5) });
  t.same(replayView(ended, "XN-R"), {
    urn: "urn:replay:XN-R",
    status: "COMPLETED",
    since: "urn:event:XN-A",
    events: 3,
    delivered: 2,
    failed: 1,
    skipped: 0,
    lastEventUrn: "urn:event:XN-20",
    startedAt: now.toISOString(),
    endedAt: later(20).toISOString(),
  });
});

t.test(
  "many failures in a row stop it, a success in between does not; nor do many more in all",
  async (t) => {
    const long = { ...running, events: 100, upTo: 1000 };
    const failures = (from: number, count: number) =>
      Array.from({ length: count }, (_, i) => noted(from + i, notTaken));
    const almost = after(long, ...failures(11, failuresInRowMax - 1));
    t.equal(almost.status, "RUNNING");
    t.equal(after(almost, noted(500, notTaken)).status, "STOPPED");
    t.equal(after(almost, noted(500), ...failures(501, failuresInRowMax - 1)).status, "RUNNING");
    const everySecond = Array.from({ length: 2 * failuresMax - 1 }, (_, i) =>
      noted(11 + i, i % 2 === 0 ? notTaken : {}),
    );
    t.match(after(long, ...everySecond.slice(0, -1)), { status: "RUNNING", failed: failuresMax - 1 });
    t.match(after(long, ...everySecond), { status: "STOPPED", failed: failuresMax });
  },
);

t.test("a delivery of a replay is given up like any other, and pauses nobody", async (t) => {
  const result = { at: now.toISOString(), latencyMs: 1, status: 500 };
  for (const replayId of [undefined, "XN-R"]) {
    const opening = {
      subscriptionId: "XN-SUB",
      ...(replayId === undefined ? {} : { replayId }),
      sequence: 5,
      message: messageOf(event),
    };
    const sent: unknown[] = [];
    let state: DeliveryState | undefined;
    for (let attempt = 1; attempt <= attemptsMax; attempt++) {
      const received = command("record-attempt", { attempt, result, ...(attempt === 1 ? { opening } : {}) });
      for (const happened of decideDelivery(1)(state, received)) {
        state = evolveDelivery(state, happened);
        sent.push(...deliveryOutgoing(happened, state, received, "XN-D"));
      }
    }
    t.match(state, { status: "EXHAUSTED", ...(replayId === undefined ? {} : { replayId }) });
    t.match(sent, replayId === undefined ? [{ name: "webhook.pause" }] : []);
    t.equal(sent.length, replayId === undefined ? 1 : 0);
  }
});

t.test("an empty filter, which a server takes for everything, is refused before it is asked", async (t) => {
  const streams = {} as Streams;
  const part = { stream: "EVENTS", filterSubjects: [], after: 0 } as const;
  const consumption: Consumption = {
    ...{ stream: "EVENTS", durable: "d", filterSubjects: [], owner: "webhook", concurrency: 1 },
    handle: async () => done,
    log: pino({ level: "silent" }),
  };
  const empty = { name: "TypeError", message: /empty filter/ };
  await t.rejects(consume(streams, consumption), empty);
  await t.rejects(countLog(streams, { ...part, filterSubjects: [] }), empty);
  await t.rejects(readLog(streams, { ...part, filterSubjects: [] }, 10).next(), empty);
});

t.test("no attempt is made of a type that is not allowed any more", async (t) => {
  const document = {
    ...{ _id: "XN-D", kind: "delivery", schemaVersion: 1, status: "DUE", attempts: [{ attempt: 1 }] },
    ...{ type: event.type, message: messageOf(event) },
  };
  let found: typeof document | null = null;
  const called: unknown[] = [];
  const parts = {
    call: async (name: string, { entity }: Command) => called.push([name, entity]),
    documents: { tenant: () => ({ collection: () => ({ findOne: async () => found }) }) },
    clock: { now: () => now },
    sender: {
      send: async () => {
        throw new Error("posted");
      },
    },
  } as unknown as AttemptParts;
  const allowing = (...types: string[]): Recipient => ({
    ...{ id: "XN-SUB", tenant: "XN", clientId: "XN-tower", url: "https://x.example/", secret: "s" },
    types,
  });
  const told = (json: unknown): Delivery => ({
    ...{ subject: "evt", json: () => json, sequence: 5, ageMs: 0, attempt: 1, left: 0 },
  });
  const due = told({ ...event, data: { deliveryId: "XN-D", attempt: 2 } });
  const at = { replayId: "XN-R", sequence: 5 };
  const none = allowing("case.opened");
  const some = allowing("case.opened", event.type);

  t.same(await attemptFirst(parts, none, told(event), false), done);
  t.same(await attemptReplayed(parts, none, event, at), { disposition: done, outcome: "skipped" });
  await t.rejects(attemptFirst(parts, some, told(event), false), { message: "posted" });
  await t.rejects(attemptReplayed(parts, some, event, at), { message: "posted" });
  const another = { ...event, tenant: "urn:airline:YY" };
  t.match(await attemptFirst(parts, some, told(another), false), { kind: "dead" });
  t.match(await attemptReplayed(parts, some, another, at), {
    ...{ disposition: { kind: "dead" }, outcome: "skipped" },
  });
  found = document;
  t.same(await attemptAgain(parts, none, due), done);
  t.same(called, [["webhook.withdraw", "XN-D"]], "and the delivery is over");
  const open = found as unknown as DeliveryState;
  const [over] = decideDelivery(1)(open, command("withdraw", {}));
  t.same(over, { type: "delivery.expired", at: now });
  if (over === undefined) throw new Error("nothing was decided");
  const expired = evolveDelivery(open, over);
  t.match(expired, { status: "EXHAUSTED", settledAt: now });
  t.same(deliveryOutgoing(over, expired, command("withdraw", {}), "XN-D"), [], "which pauses nobody");
  t.same(decideDelivery(1)(expired, command("withdraw", {})), []);
  await t.rejects(attemptAgain(parts, some, due), { message: "posted" });
});

t.test("whether an event was attempted before is looked for only where it may have been", async (t) => {
  const table: [what: string, givenOutFirst: boolean, ageMs: number, looks: number][] = [
    ["given out for the first time, and told just now", true, 0, 0],
    ["given out again", false, 0, 1],
    ["told so long ago that the stream may hold it twice", true, duplicateWindowMs / 2, 1],
  ];
  for (const [what, givenOutFirst, ageMs, looks] of table) {
    let looked = 0;
    const posted = new Error("posted");
    const findOne = async () => {
      looked++;
      return null;
    };
    const parts = {
      documents: { tenant: () => ({ collection: () => ({ findOne }) }) },
      clock: { now: () => new Date(Date.parse(event.occurred_at) + ageMs) },
      sender: { send: () => Promise.reject(posted) },
    } as unknown as AttemptParts;
    const recipient: Recipient = {
      ...{ id: "XN-SUB", tenant: "XN", clientId: "XN-tower", url: "https://x.example/", secret: "s" },
      types: [event.type],
    };
    const delivery: Delivery = {
      ...{ subject: "evt", json: () => event, sequence: 5, ageMs: 0, attempt: 1, left: 0 },
    };
    await t.rejects(attemptFirst(parts, recipient, delivery, givenOutFirst), posted, what);
    t.equal(looked, looks, what);
  }
});
