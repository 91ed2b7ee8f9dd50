/**
 * Owns finding public events that should stand on their stream and don't: what a sub-case's or case's state says has
 * happened, partners were to be told of.
 */
import { DeliverPolicy } from "@nats-io/jetstream";
import type { Db } from "mongodb";
import type { CaseState } from "../../../actors/case/state.ts";
import type { Meta, OutboxEntry } from "../../../actors/runtime/store.ts";
import type { EventRecord } from "../../../schemas/command.ts";
import { type PublicEventType, publicEventTypes } from "../../../schemas/events.ts";
import { urn } from "../../../schemas/urn.ts";
import type { Streams } from "../../../streams/connection.ts";
import { parseSubject, typeFilter } from "../../../streams/subjects.ts";
import type { SubCaseRow } from "./airline.ts";
import type { Finding } from "./finding.ts";

/** The stream keeps eight days (streams/topology.ts); what is about to leave it may have left. */
const keptMs = 8 * 86_400_000 - 3_600_000;
/** An event is dated by the clock of the command that caused it, as the state is. */
const slackMs = 1000;

const batchMax = 1000;
/** Of one fetch. */
const fetchMs = 5000;
/** Fetches in a row that bring nothing of what is there. */
const emptyFetchesMax = 3;

interface Expected {
  type: PublicEventType;
  /** URN of the sub-case, or of the case for its own. */
  of: string;
  at: Date;
}

export const missingEvents = async (
  database: Db,
  streams: Streams,
  tenant: string,
  options: { subCases: readonly SubCaseRow[]; now: Date },
): Promise<Finding[]> => {
  const cases = await database.collection<CaseRow>("cases").find({}, { projection: caseFields }).toArray();
  const since = options.now.getTime() - keptMs;
  const expected = [...options.subCases.flatMap(ofSubCase), ...cases.flatMap(ofCase)].filter(
    ({ at }) => at.getTime() > since,
  );
  if (expected.length === 0) return [];
  // States before streams, outboxes with the states: what isn't on the stream by then was never on its way.
  const { seen, left } = await eventsOnStream(streams, tenant);
  if (left > 0) {
    const detail = `${left} of its events did not come in time, so that missing ones could not be told.`;
    return [{ kind: "stream-silent", tenant, about: "EVENTS", detail }];
  }
  for (const { outbox } of [...options.subCases, ...cases])
    for (const entry of outbox) noteEntry(seen, entry);
  return expected
    .filter(({ type, of, at }) => (seen.get(`${type} ${of}`) ?? 0) < at.getTime() - slackMs)
    .map(({ type, of, at }) => ({
      kind: "event",
      tenant,
      about: of,
      detail: `${type} of ${at.toISOString()} is not on the stream.`,
    }));
};

type CaseRow = Pick<Meta, "_id" | "outbox"> &
  Pick<CaseState, "source" | "createdAt" | "provisionedAt" | "resolvedAt">;
const caseFields = { source: 1, createdAt: 1, provisionedAt: 1, resolvedAt: 1, outbox: 1 };

/** One that the flight feed has opened is told of at once, and its passengers as an amendment. */
const ofCase = ({ _id, source, createdAt, provisionedAt, resolvedAt }: CaseRow): Expected[] => {
  const of = urn("case", _id);
  const openedAt = source === "FEED" ? createdAt : provisionedAt;
  return [
    ...(openedAt === undefined ? [] : [{ type: "case.opened", of, at: openedAt } as const]),
    ...(resolvedAt === undefined ? [] : [{ type: "case.resolved", of, at: resolvedAt } as const]),
  ];
};

/** The newest happening of each type: of a group whose saga ran twice, the second run's. */
const ofSubCase = ({ _id, status, offer, steps, card }: SubCaseRow): Expected[] => {
  const expected: Expected[] = [];
  const expect = (type: PublicEventType, at: Date | undefined): void => {
    if (at !== undefined) expected.push({ type, of: urn("sub-case", _id), at });
  };
  expect("subcase.processing", steps[0]?.startedAt);
  expect("subcase.offer-ready", offer.readyAt);
  expect("voucher.issued", offer.readyAt);
  if (card !== undefined)
    expect(
      "wallet.card-issued",
      steps.findLast(({ name, result }) => name === "card" && result === "DONE")?.completedAt,
    );
  if (offer.state === "ACCEPTED") expect("subcase.resolved", offer.decidedAt);
  if (offer.state === "DECLINED") expect("subcase.declined", offer.decidedAt);
  const endedAt = steps.at(-1)?.completedAt;
  if (status === "FAILED") expect("subcase.failed", endedAt);
  if (status === "COMPENSATION_FAILED") expect("subcase.compensation-failed", endedAt);
  return expected;
};

/** `<type> <URN of its sub-case, else of its case>` → when it happened last, epoch ms. */
type Seen = Map<string, number>;

const note = (seen: Seen, { type, case_urn, occurred_at, data }: EventRecord): void => {
  const of = type.startsWith("case.") ? case_urn : (data as { subCaseUrn?: string }).subCaseUrn;
  const key = `${type} ${of}`;
  seen.set(key, Math.max(seen.get(key) ?? 0, Date.parse(occurred_at)));
};

const noteEntry = (seen: Seen, { subject, payload }: OutboxEntry): void => {
  if (parseSubject(subject)?.root === "evt") note(seen, JSON.parse(payload) as EventRecord);
};

/** @returns `left`: how many events are there that could not be had; 0: it was read to the end */
const eventsOnStream = async (streams: Streams, tenant: string): Promise<{ seen: Seen; left: number }> => {
  const seen: Seen = new Map();
  const consumer = await streams.jetstream.consumers.get("EVENTS", {
    filter_subjects: [...publicEventTypes].map((type) => typeFilter("evt", type, tenant)),
    deliver_policy: DeliverPolicy.All,
  });
  try {
    let { num_pending: left } = await consumer.info();
    for (let empty = 0; left > 0 && empty < emptyFetchesMax; ) {
      const batch = await consumer.fetch({ max_messages: Math.min(left, batchMax), expires: fetchMs });
      let brought = 0;
      for await (const message of batch) {
        note(seen, message.json<EventRecord>());
        left = message.info.pending;
        brought += 1;
      }
      empty = brought === 0 ? empty + 1 : 0;
      // What was left may have grown too old, and be gone.
      if (brought === 0) left = (await consumer.info()).num_pending;
    }
    return { seen, left };
  } finally {
    await consumer.delete();
  }
};
