// `scripts/admin check` at an instance after a real night, and after one thing at a time was put wrong in its documents, streams
// or vendors' books: silent about what is as it should be, and naming each fault, and nothing else.
import { join } from "node:path";
import { MongoClient } from "mongodb";
import t from "tap";
import { readSealKey } from "../../config/config.ts";
import { urn } from "../../schemas/urn.ts";
import { checkSubcommands } from "../../scripts/administration/check.ts";
import {
  type CheckOptions,
  type Consistency,
  checkConsistency,
} from "../../scripts/administration/consistency.ts";
import type { Reach } from "../../scripts/administration/subcommand.ts";
import { keyFiles } from "../../scripts/supervisor/keys.ts";
import type { Streams } from "../../streams/connection.ts";
import { dropDeadLetter } from "../../streams/dead-letters.ts";
import { publish } from "../../streams/publish.ts";
import { commandSubject, deadSubject } from "../../streams/subjects.ts";
import { type Ended, runScript } from "../harness/administration.ts";
import { takesLong } from "../harness/patience.ts";
import { type Corruption, startNight } from "./settled-night.ts";
import { wrongBooks } from "./wrong-books.ts";

takesLong(t);
const it = await startNight(t);
const { night, caseUrn, caseId, stored, declined, resolved, pair, one } = it;
const { change, restore, setLetter, restoreLetters, ofGroup, ofSubCase, publishEvent, eventOf, lose } = it;
const { streams } = night;
const longAgo = new Date(Date.now() - 120_000);

/** With nothing else in its environment: --data and the prefix alone say where. */
const check = (...args: string[]): Promise<Ended> => runScript("admin", night, ["check", ...args]);

const mongodb = await new MongoClient(night.instance.mongodbUrl).connect();
t.teardown(() => mongodb.close());
const vendors = { sealKey: readSealKey(join(night.instance.keysDir, keyFiles.seal)), timeoutMs: 8000 };
const reach: Reach = {
  client: async () => night.client,
  streams: async () => streams,
  documents: async () => ({ mongodb, databasePrefix: night.databasePrefix }),
  sealKey: async () => vendors.sealKey,
  operatorIssuer: () => night.instance.operatorIssuer,
};
const found = async (options: Partial<CheckOptions> = { vendors }): Promise<string[]> => {
  const { databasePrefix } = night;
  const { findings } = await checkConsistency({
    ...{ mongodb, databasePrefix, streams, now: new Date() },
    ...options,
  });
  return findings.map(({ kind, tenant, about, detail }) => `${kind} ${tenant} ${about}: ${detail}`).sort();
};

t.test("after a night that went well nothing is found", async (t) => {
  const { code, stdout } = await check("--json");
  const seen = { tenants: 2, openCases: 1, passengers: 11, vendors: 8, rooms: 7, offers: 6, unfinished: 0 };
  t.strictSame(JSON.parse(stdout) as Consistency, { findings: [], seen });
  t.equal(code, 0);
  t.match(await checkSubcommands.check?.run({ "no-vendors": true }, [], reach), {
    text: "consistent: 2 airlines, 1 open cases, 11 passengers, 0 vendors' books",
    failed: false,
  });
});

const failedEvent = () =>
  publishEvent(
    { ...eventOf("subcase.processing", one), type: "subcase.failed", occurred_at: new Date().toISOString() },
    "subcase.failed",
    "failed of the test",
  );

/** The group has failed, and its item is off the desk. */
const resolvedItem = (resolution: string, fault: string | undefined, underWay?: string): Corruption => ({
  what: `an item that was resolved as ${resolution}${underWay === undefined ? "" : `, and ${underWay}`}`,
  seed: async () => {
    const item = { caseId, status: "RESOLVED", resolution, affectedGroups: [one.groupId] };
    await change(one, { $set: { status: "FAILED" } });
    if (underWay !== undefined) {
      const message = { n: 999, subject: commandSubject("XN", underWay, caseId), payload: "{}" };
      await change(one, { $push: { outbox: message } });
    }
    await setLetter(one, "F");
    await failedEvent();
    await stored("reviewItems").insertOne({ _id: resolution, ...item });
    return async () => {
      await stored("reviewItems").deleteOne({ _id: resolution });
      await Promise.all([restore(one), restoreLetters()]);
    };
  },
  finding: () => (fault === undefined ? undefined : ofGroup("no-owner", one, fault)),
});

const documents: Corruption[] = [
  {
    what: "a sub-case is gone",
    seed: async () => {
      await stored("subCases").deleteOne({ _id: declined._id });
      return () => stored("subCases").insertOne({ ...declined });
    },
    finding: () =>
      ofGroup(
        "no-owner",
        declined,
        `${declined.passengers.length === 1 ? "1 passenger" : "2 passengers"}: handed over by the case, and no sub-case has them.`,
      ),
  },
  ofSubCase(
    "a group has failed, and nobody was told",
    one,
    { $set: { status: "FAILED" } },
    ofGroup("no-owner", one, "1 passenger: FAILED without a review item."),
    async () => {
      await setLetter(one, "F");
      await failedEvent();
    },
  ),
  ofSubCase(
    "an item on its way is an owner",
    one,
    {
      $set: { status: "FAILED" },
      $push: {
        outbox: {
          n: 999,
          subject: commandSubject("XN", "review.open", ""),
          payload: JSON.stringify({ data: { caseId, affectedGroups: [one.groupId] } }),
        },
      },
    },
    undefined,
    () => setLetter(one, "F"),
  ),
  ofSubCase(
    "a saga sleeps",
    one,
    { $set: { status: "PROCESSING" }, $unset: { nextDueAt: "" } },
    ofGroup("no-owner", one, "1 passenger: PROCESSING, and nothing will wake the sub-case."),
  ),
  ofSubCase(
    "a passenger is lost",
    pair,
    { $set: { passengers: pair.passengers.slice(0, 1) } },
    ofGroup("no-owner", pair, "2 passengers: the case counts 2, the sub-case 1."),
  ),
  ofSubCase(
    "a group waits for nobody",
    one,
    { $set: { status: "PENDING" }, $unset: { assignment: "" } },
    ofGroup(
      "no-owner",
      one,
      "1 passenger: PENDING, and neither planning, a demand, a wave nor a person is at work on it.",
    ),
    () => setLetter(one, "A"),
  ),
  ofSubCase(
    "an assigned group that no saga houses",
    one,
    { $set: { status: "PENDING" } },
    ofGroup(
      "no-owner",
      one,
      "1 passenger: PENDING with hotels allocated, and neither a saga nor a person is at work on it.",
    ),
    () => setLetter(one, "A"),
  ),
  {
    what: "an assigned group whose policy leaves the booking to a person",
    seed: async () => {
      const policy = `policies.${one.tier}.autoBook`;
      await change(one, { $set: { status: "PENDING" } });
      await stored("cases").updateOne({ _id: caseId }, { $set: { [policy]: false } });
      await setLetter(one, "A");
      return async () => {
        await stored("cases").updateOne({ _id: caseId }, { $set: { [policy]: true } });
        await Promise.all([restore(one), restoreLetters()]);
      };
    },
    finding: () => undefined,
  },
  resolvedItem("REBOOKED", undefined),
  resolvedItem("CASE_CLOSED", "1 passenger: FAILED without a review item."),
  resolvedItem("CASE_CLOSED", undefined, "review.reopen-case"),
  resolvedItem("HOUSED", "1 passenger: FAILED without a review item."),
  ofSubCase(
    "messages lie in an outbox",
    one,
    { $set: { pendingSince: longAgo } },
    `outbox XN subCases ${one._id}: messages wait in its outbox since ${longAgo.toISOString()}.`,
  ),
  ofSubCase(
    "a timer was slept through",
    one,
    { $set: { nextDueAt: longAgo } },
    `timer XN subCases ${one._id}: a timer was due at ${longAgo.toISOString()}.`,
  ),
  ofSubCase(
    "an offer has no room",
    declined,
    { $set: { "offer.state": "READY" }, $unset: { "offer.decidedAt": "" } },
    `disagreement XN ${urn("sub-case", declined._id)}: its offer is READY, and it has no room.`,
    async () => {
      await setLetter(declined, "D");
    },
  ),
  {
    what: "a case has it otherwise",
    seed: async () => {
      await setLetter(resolved, "D");
      return restoreLetters;
    },
    finding: () =>
      ofGroup("disagreement", resolved, "the case has it as declined, its sub-case is RESOLVED."),
  },
];

const waitingSubject = commandSubject("XN", "case.note-group", caseId);
/** A note that nobody takes off the stream. */
const noteLeft = async () => {
  const payload = JSON.stringify({ data: { groupId: resolved.groupId } });
  const sequence = await publish(streams, {
    subject: waitingSubject,
    payload,
    messageId: `left ${Math.floor(performance.now())}`,
  });
  return () => streams.manager.streams.deleteMessage("COMMANDS", sequence);
};

const onStreams: Corruption[] = [
  {
    what: "a group's event is gone",
    seed: () => lose("subcase.resolved", resolved),
    finding: () =>
      `event XN ${urn("sub-case", resolved._id)}: subcase.resolved of ${resolved.offer.decidedAt?.toISOString()} is not on the stream.`,
  },
  {
    what: "a card's event is gone",
    seed: () => lose("wallet.card-issued", one),
    finding: () =>
      `event XN ${urn("sub-case", one._id)}: wallet.card-issued of ${one.steps.find(({ name }) => name === "card")?.completedAt?.toISOString()} is not on the stream.`,
  },
  {
    what: "a case's event is gone",
    seed: () => lose("case.opened"),
    finding: () =>
      `event XN ${caseUrn}: case.opened of ${eventOf("case.opened").occurred_at} is not on the stream.`,
  },
  {
    what: "the note that settles it is on its way",
    seed: async () => {
      await setLetter(resolved, "B");
      const take = await noteLeft();
      return () => Promise.all([restoreLetters(), take()]);
    },
    finding: () => undefined,
  },
  {
    what: "a command is left behind",
    seed: noteLeft,
    options: { now: new Date(Date.now() + 180_000) },
    finding: () => `command XN ${waitingSubject}: nobody has carried it out since …`,
  },
  {
    what: "a dead letter",
    seed: async () => {
      await publish(streams, {
        subject: deadSubject("XN", "case", "note-group"),
        payload: "{}",
        messageId: "dead of the test",
        headers: {
          "Stopover-Subject": waitingSubject,
          "Stopover-Reason": "It is broken.",
          "Stopover-Consumer": "case",
        },
      });
      return () => dropDeadLetter(streams, 1);
    },
    finding: () => `dead-letter XN dead letter 1: case put aside ${waitingSubject}: It is broken.`,
  },
];

const closedAt = new Date();
/** Behind the back of the actors, so that no gateway hears of it but by the note of the test. */
const closedCase = (
  what: string,
  isKnown: boolean,
  note?: object,
  more?: () => Promise<unknown>,
): Corruption => ({
  what,
  seed: async () => {
    await stored("cases").updateOne({ _id: caseId }, { $set: { status: "CLOSED", closedAt } });
    const bucket = await streams.kv.open("closed-cases");
    const entry = { closedAt, open: false, changedAt: closedAt, ...note };
    if (note !== undefined) await bucket.put(caseId, JSON.stringify(entry));
    const undo = await more?.();
    return async () => {
      await stored("cases").updateOne(
        { _id: caseId },
        { $set: { status: "OPEN" }, $unset: { closedAt: "" } },
      );
      if (typeof undo === "function") await undo();
      await bucket.delete(caseId);
    };
  },
  finding: () =>
    isKnown
      ? undefined
      : `session XN ${caseUrn}: closed at ${closedAt.toISOString()}, and no gateway knows: its passengers' sessions go on.`,
});
const closingTold = async () => {
  const subject = commandSubject("XN", "identity.close-case", caseId);
  const sequence = await publish(streams, { subject, payload: "{}", messageId: "closing of the test" });
  return () => streams.manager.streams.deleteMessage("COMMANDS", sequence);
};
const earlier = new Date(closedAt.getTime() - 1000);
const sessions: Corruption[] = [
  closedCase("a closed case that the gateways were never told of", false),
  closedCase("one that they know of", true, { open: false }),
  closedCase("one of which they know an earlier closing", false, { closedAt: earlier, changedAt: earlier }),
  closedCase("one that they take for open again", false, {
    open: true,
    changedAt: new Date(Date.now() + 1000),
  }),
  closedCase("one of which they are about to hear", true, undefined, closingTold),
];

t.test("each fault is found and named by itself", async (t) => {
  const seen = async ({ what, seed, finding }: Corruption, options: Partial<CheckOptions>): Promise<void> => {
    const undo = await seed();
    const wanted = finding();
    const all = (await found(options)).map((text) => text.replace(/(?<=carried it out since ).*/, "…"));
    t.strictSame(all, wanted === undefined ? [] : [wanted], what);
    await undo();
  };
  // The vendors' books take longest to read, and are as they were.
  for (const fault of [...documents, ...onStreams, ...sessions]) await seen(fault, { ...fault.options });
  for (const fault of wrongBooks(it)) await seen(fault, { vendors, ...fault.options });
  t.strictSame(await found(), [], "all is as it was");
});

t.test("events that do not come are not missing events", async (t) => {
  const asked = { fetches: 0, deleted: 0 };
  const silent = {
    info: async () => ({ num_pending: 7 }),
    fetch: async () => {
      asked.fetches += 1;
      return [];
    },
    delete: async () => {
      asked.deleted += 1;
    },
  };
  const jetstream = { consumers: { get: async () => silent } };
  t.strictSame(await found({ streams: { ...streams, jetstream } as unknown as Streams }), [
    "stream-silent XN EVENTS: 7 of its events did not come in time, so that missing ones could not be told.",
  ]);
  t.strictSame(asked, { fetches: 3, deleted: 1 }, "the consumer does not stay");
});

t.test("the command tells them, and fails", async (t) => {
  await change(one, { $set: { pendingSince: longAgo } });
  await change(pair, { $set: { nextDueAt: longAgo } });
  const { code, stdout } = await check();
  t.equal(code, 1);
  t.match(stdout, /^WHAT +AIRLINE +WHERE +DETAIL\n/);
  t.match(stdout, /\n2 findings in 2 airlines, 1 open cases, 11 passengers, 8 vendors' books\n$/);
});
