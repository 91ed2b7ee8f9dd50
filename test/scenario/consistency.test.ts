// `scripts/admin check` at an instance after a real night, and after one thing at a time was put wrong in its documents, streams
// or vendors' books: silent about what is as it should be, and naming each fault, and nothing else.
import { execFile } from "node:child_process";
import { join, resolve } from "node:path";
import { promisify } from "node:util";
import { type Document, MongoClient } from "mongodb";
import t from "tap";
import { readSealKey } from "../../config/config.ts";
import { urn } from "../../schemas/urn.ts";
import {
  type CheckOptions,
  type Consistency,
  checkConsistency,
} from "../../scripts/administration/consistency.ts";
import { keyFiles } from "../../scripts/supervisor/keys.ts";
import { dropDeadLetter } from "../../streams/dead-letters.ts";
import { publish } from "../../streams/publish.ts";
import { commandSubject, deadSubject } from "../../streams/subjects.ts";
import { bookRoom, context as call } from "../contract/vendors/sandbox.ts";
import { type SubCase, startNight } from "./settled-night.ts";

const run = promisify(execFile);
const program = resolve(import.meta.dirname, "../../scripts/admin.ts");
const it = await startNight(t);
const { night, caseUrn, caseId, stored, declined, resolved, pair, one, other } = it;
const { change, restore, setLetter, restoreLetters, ofGroup, publishEvent, eventOf, lose, hotelOf } = it;
const { streams } = night;
const longAgo = new Date(Date.now() - 120_000);

interface Checked {
  code: number;
  stdout: string;
}
/** With nothing else in its environment: --data and the prefix alone say where. */
const check = async (...args: string[]): Promise<Checked> => {
  const environment = ["-i", `DATABASE_PREFIX=${night.databasePrefix}`];
  const command = [...environment, process.execPath, program, "check", "--data", night.dataDir, ...args];
  try {
    return { code: 0, stdout: (await run("/usr/bin/env", command)).stdout };
  } catch (error) {
    if (typeof (error as Checked).code !== "number") throw error;
    return error as Checked;
  }
};

const mongodb = await new MongoClient(night.instance.mongodbUrl).connect();
t.teardown(() => mongodb.close());
const vendors = { sealKey: readSealKey(join(night.instance.keysDir, keyFiles.seal)), timeoutMs: 8000 };
const found = async (options: Partial<CheckOptions> = {}): Promise<string[]> => {
  const { databasePrefix } = night;
  const { findings } = await checkConsistency({
    ...{ mongodb, databasePrefix, streams, vendors, now: new Date() },
    ...options,
  });
  return findings.map(({ kind, tenant, about, detail }) => `${kind} ${tenant} ${about}: ${detail}`).sort();
};

t.test("after a night that went well nothing is found", async (t) => {
  const { code, stdout } = await check("--json");
  const seen = { tenants: 2, openCases: 1, passengers: 11, vendors: 8, rooms: 7, offers: 6, unfinished: 0 };
  t.strictSame(JSON.parse(stdout) as Consistency, { findings: [], seen });
  t.equal(code, 0);
  t.strictSame(await check("--no-vendors"), {
    code: 0,
    stdout: "consistent: 2 airlines, 1 open cases, 11 passengers, 0 vendors' books\n",
  });
});

interface Corruption {
  what: string;
  /** Gives the way back. */
  seed(): Promise<() => Promise<unknown>>;
  options?: Partial<CheckOptions>;
  /** Undefined: it is not a fault. */
  finding(): string | undefined;
}

const ofSubCase = (
  what: string,
  subCase: SubCase,
  update: Document,
  finding: string | undefined,
  more?: () => Promise<unknown>,
): Corruption => ({
  what,
  seed: async () => {
    await change(subCase, update);
    await more?.();
    return async () => {
      await restore(subCase);
      await restoreLetters();
    };
  },
  finding: () => finding,
});

const failedEvent = () =>
  publishEvent(
    { ...eventOf("subcase.processing", one), type: "subcase.failed", occurred_at: new Date().toISOString() },
    "subcase.failed",
    "failed of the test",
  );

const documents: Corruption[] = [
  {
    what: "a sub-case is gone",
    seed: async () => {
      await stored("subCases").deleteOne({ _id: declined._id });
      return () => stored("subCases").insertOne(declined as unknown as Document & { _id: string });
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

const strayReference = "XN-01KAMVW9G0ABCDEFGHJKMNPQRS.room.1.1";
let strayId = "";
const { reservation, card, ride } = other;
const { vendor: hotelName = "", bookingId = "", reference = "" } = reservation ?? {};
const inVendorsBooks: Corruption[] = [
  {
    what: "a booking is nobody's",
    seed: async () => {
      const port = hotelOf("stayhub");
      strayId = await bookRoom(port, strayReference);
      return () => port.cancel({ reference: strayReference, bookingId: strayId }, call);
    },
    finding: () =>
      `ledger XN stayhub booking ${strayId}: it stands (BOOKED) under ${strayReference}, and there is no such sub-case.`,
  },
  ofSubCase(
    "a ride is nobody's",
    other,
    { $unset: { ride: "" } },
    `ledger XN ridefleet ride ${ride?.rideId}: it stands (BOOKED) under ${ride?.reference}, and the sub-case does not know of it.`,
  ),
  ofSubCase(
    "a ride that is being booked",
    other,
    { $unset: { ride: "" }, $set: { call: { step: "transport", reference: ride?.reference } } },
    undefined,
  ),
  {
    what: "a vendor does not answer",
    seed: async () => {
      await night.control({
        stayhub: { failNext: [{ operation: "reconcile", kind: "unavailable", times: 1 }] },
      });
      return async () => undefined;
    },
    finding: () => "vendor-silent QZ stayhub: unavailable: the vendor answered 503",
  },
  {
    what: "a reservation is not at the hotel",
    seed: async () => {
      await hotelOf(hotelName).cancel({ reference, bookingId }, call);
      return async () => undefined;
    },
    finding: () =>
      `ledger XN ${hotelName} booking ${bookingId}: sub-case ${other._id} has it, at the vendor it is CANCELLED.`,
  },
  {
    what: "so that its card stands alone",
    seed: async () => {
      const cancelled = { "reservation.status": "CANCELLED", "offer.state": "WITHDRAWN" };
      await change(other, { $set: cancelled });
      return async () => {
        const { cardId = "", reference = "" } = card ?? {};
        await it.cards.cancelCard({ reference, cardId }, call);
        await change(other, { $set: { "card.status": "CANCELLED" } });
      };
    },
    finding: () =>
      `ledger XN cardworks card ${card?.cardId}: it stands (ACTIVE) under ${card?.reference}, and the group has no booking.`,
  },
];

t.test("each fault is found and named by itself", async (t) => {
  for (const { what, seed, options, finding } of [...documents, ...onStreams, ...inVendorsBooks]) {
    const undo = await seed();
    const wanted = finding();
    const all = (await found(options)).map((text) => text.replace(/(?<=carried it out since ).*/, "…"));
    t.strictSame(all, wanted === undefined ? [] : [wanted], what);
    await undo();
  }
  t.strictSame(await found(), [], "all is as it was");
});

t.test("the command tells them, and fails", async (t) => {
  await change(one, { $set: { pendingSince: longAgo } });
  await change(pair, { $set: { nextDueAt: longAgo } });
  const { code, stdout } = await check();
  t.equal(code, 1);
  t.match(stdout, /^WHAT +AIRLINE +WHERE +DETAIL\n/);
  t.match(stdout, /\n2 findings in 2 airlines, 1 open cases, 11 passengers, 8 vendors' books\n$/);
});
