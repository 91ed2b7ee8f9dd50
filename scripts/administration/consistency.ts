/**
 * Owns the consistency check of a running instance, read straight from documents and streams: that every passenger of an
 * open case has an owner, and that nothing is left lying (outboxes, timers, dead letters). Putting it right is a person's.
 */
import type { Db, Document, MongoClient } from "mongodb";
import type { CaseState, GroupHead } from "../../actors/case/state.ts";
import type { ReviewItem } from "../../actors/review/state.ts";
import type { Meta, OutboxEntry } from "../../actors/runtime/store.ts";
import type { SubCaseState } from "../../actors/sub-case/state.ts";
import type { OpenReview } from "../../schemas/review.ts";
import { urn } from "../../schemas/urn.ts";
import type { Streams } from "../../streams/connection.ts";
import { listDeadLetters } from "../../streams/dead-letters.ts";
import { commandFilter, parseSubject } from "../../streams/subjects.ts";

export type FindingKind = "no-owner" | "outbox" | "timer" | "dead-letter";

export interface Finding {
  kind: FindingKind;
  /** The airline's code; `none` where a dead letter had none. */
  tenant: string;
  /** URN of the case, or what else it is about. */
  about: string;
  /** One sentence for a person. */
  detail: string;
}

export interface Consistency {
  findings: Finding[];
  /** What was looked at: a check that saw nothing proves nothing. */
  seen: { tenants: number; openCases: number; passengers: number };
}

export interface CheckOptions {
  mongodb: MongoClient;
  databasePrefix: string;
  streams: Streams;
  now: Date;
  /** Outboxes and timers younger than this are work under way. Default a minute. */
  overdueAfterMs?: number;
}

const deadLettersShownMax = 200;

/** Reads only. Safe on a live system: what is on its way is followed in the direction in which it travels. */
export const checkConsistency = async (options: CheckOptions): Promise<Consistency> => {
  const platform = options.mongodb.db(`${options.databasePrefix}_platform`);
  const tenants = await platform.collection<{ _id: string }>("tenants").find().sort({ _id: 1 }).toArray();
  const seen = { tenants: tenants.length, openCases: 0, passengers: 0 };
  const findings: Finding[] = [];
  for (const { _id: tenant } of tenants) {
    const database = options.mongodb.db(`${options.databasePrefix}_${tenant}`);
    const owned = await checkOwnership(database, options.streams, tenant);
    seen.openCases += owned.openCases;
    seen.passengers += owned.passengers;
    findings.push(...owned.findings, ...(await leftLying(database, tenant, options)));
  }
  for (const letter of await listDeadLetters(options.streams, { limit: deadLettersShownMax })) {
    findings.push({
      kind: "dead-letter",
      tenant: letter.tenant,
      about: `dead letter ${letter.sequence}`,
      detail: `${letter.actor} put aside ${letter.subject}: ${letter.reason}`,
    });
  }
  return { findings, seen };
};

type CaseRow = Pick<Meta, "_id" | "nextDueAt" | "outbox"> &
  Pick<CaseState, "groups" | "progress" | "provisioned" | "demands">;

type SubCaseRow = Pick<Meta, "_id" | "nextDueAt" | "outbox"> &
  Pick<SubCaseState, "caseId" | "groupId" | "status" | "passengers"> & { assignment?: object };

type ReviewRow = Pick<ReviewItem, "caseId" | "status" | "affectedGroups">;

const caseFields = { groups: 1, progress: 1, provisioned: 1, demands: 1, nextDueAt: 1, outbox: 1 };
const subCaseFields = {
  caseId: 1,
  groupId: 1,
  status: 1,
  passengers: 1,
  "assignment.waveId": 1,
  nextDueAt: 1,
  outbox: 1,
};

/** Everything about one airline that ownership is told from. */
interface Picture {
  subCases: Map<string, SubCaseRow>;
  /** Sub-cases to which a wave's assignment is on its way. */
  assigned: Set<string>;
  /** `<case id>/<group id>` with an item on a person's desk, or with one on its way there. */
  onDesk: Set<string>;
  /** `<case id>/<group id>` whose item a person has resolved. */
  settledByHand: Set<string>;
}

/**
 * Reads in the order in which work travels (case → wave → streams → sub-case → streams → review), so that what moves on
 * meanwhile is met again further down and never missed.
 */
const checkOwnership = async (
  database: Db,
  streams: Streams,
  tenant: string,
): Promise<{ findings: Finding[]; openCases: number; passengers: number }> => {
  const cases = await database
    .collection<CaseRow>("cases")
    .find({ status: { $in: ["OPEN", "MANUAL_REVIEW"] } }, { projection: caseFields })
    .toArray();
  const waves = await database
    .collection<{ outbox: OutboxEntry[] }>("waves")
    .find({ pendingSince: { $exists: true } }, { projection: { outbox: 1 } })
    .toArray();
  const assigns = await waitingCommands(streams, tenant, "sub-case");
  const found: SubCaseRow[] = [];
  for (const { _id: caseId } of cases) {
    const cursor = database
      .collection<SubCaseRow>("subCases")
      .find({ caseId }, { projection: subCaseFields });
    for await (const subCase of cursor) found.push(subCase as SubCaseRow);
  }
  const outboxes = [...cases, ...waves, ...found].flatMap(({ outbox }) => outbox ?? []);
  const opens = await waitingCommands(streams, tenant, "review");
  const reviews = await reviewsOf(database, cases);
  const picture = pictureOf({ found, outboxes, assigns, opens, reviews });
  return {
    findings: cases.flatMap((one) => unowned(one, picture, tenant)),
    openCases: cases.length,
    passengers: cases.flatMap(({ groups }) => groups).reduce((sum, { passengers }) => sum + passengers, 0),
  };
};

const reviewsOf = async (database: Db, cases: readonly { _id: string }[]): Promise<ReviewRow[]> => {
  const rows: ReviewRow[] = [];
  for (const { _id: caseId } of cases) {
    const cursor = database
      .collection<ReviewRow>("reviewItems")
      .find({ caseId }, { projection: { caseId: 1, status: 1, affectedGroups: 1 } });
    for await (const row of cursor) rows.push(row);
  }
  return rows;
};

/** A command that is stored and not yet acknowledged. */
interface Waiting {
  subject: string;
  payload: string;
}

const waitingCommands = async (streams: Streams, tenant: string, actor: string): Promise<Waiting[]> => {
  const waiting: Waiting[] = [];
  const next_by_subj = commandFilter(tenant, actor);
  for (let seq = 1; ; ) {
    const message = await streams.manager.direct.getMessage("COMMANDS", { seq, next_by_subj });
    if (message === null) return waiting;
    waiting.push({ subject: message.subject, payload: message.string() });
    seq = message.seq + 1;
  }
};

const pictureOf = (read: {
  found: SubCaseRow[];
  outboxes: OutboxEntry[];
  assigns: Waiting[];
  opens: Waiting[];
  reviews: ReviewRow[];
}): Picture => {
  const onDesk = new Set<string>();
  const settledByHand = new Set<string>();
  const assigned = new Set<string>();
  const note = (groups: Set<string>, caseId: string, affected: readonly string[]): void => {
    for (const groupId of affected) groups.add(`${caseId}/${groupId}`);
  };
  for (const { subject, payload } of [...read.outboxes, ...read.assigns, ...read.opens]) {
    const parsed = parseSubject(subject);
    const name = parsed?.root === "cmd" ? `${parsed.owner}.${parsed.what}` : "";
    if (name === "sub-case.assign" && parsed?.id !== undefined) assigned.add(parsed.id);
    if (name !== "review.open") continue;
    const { caseId, affectedGroups } = (JSON.parse(payload) as { data: OpenReview }).data;
    note(onDesk, caseId, affectedGroups);
  }
  for (const { caseId, status, affectedGroups } of read.reviews)
    note(status === "RESOLVED" ? settledByHand : onDesk, caseId, affectedGroups);
  return { subCases: new Map(read.found.map((row) => [row._id, row])), assigned, onDesk, settledByHand };
};

/** Who has no owner among a case's passengers, group by group. */
const unowned = (one: CaseRow, picture: Picture, tenant: string): Finding[] => {
  return one.groups.flatMap((group, i) => {
    const about = { one, group, stage: one.progress[i] ?? "W", atCase: i >= one.provisioned };
    const detail = faultOf(about, picture);
    if (detail === undefined) return [];
    const where = `${urn("case", one._id)} group ${group.groupId}`;
    return [
      {
        kind: "no-owner",
        tenant,
        about: where,
        detail: `${passengersOf(group.passengers)} ${detail}`,
      } as const,
    ];
  });
};

const passengersOf = (count: number): string => (count === 1 ? "1 passenger:" : `${count} passengers:`);

const faultOf = (
  about: { one: CaseRow; group: GroupHead; stage: string; atCase: boolean },
  picture: Picture,
): string | undefined => {
  const { one, group, atCase } = about;
  const subCase = picture.subCases.get(group.subCaseId);
  if (atCase || subCase === undefined) {
    if (!atCase) return "handed over by the case, and no sub-case has them.";
    return one.nextDueAt === undefined ? "still with the case, which is not providing sub-cases." : undefined;
  }
  if (subCase.passengers.length !== group.passengers)
    return `the case counts ${group.passengers}, the sub-case ${subCase.passengers.length}.`;
  const key = `${one._id}/${group.groupId}`;
  if (picture.onDesk.has(key)) return undefined;
  return statusFault(about, subCase, {
    assigned: picture.assigned.has(subCase._id),
    settled: picture.settledByHand.has(key),
  });
};

const statusFault = (
  { one, stage }: { one: CaseRow; stage: string },
  subCase: SubCaseRow,
  { assigned, settled }: { assigned: boolean; settled: boolean },
): string | undefined => {
  switch (subCase.status) {
    case "OFFER_READY":
    case "RESOLVED":
    case "DECLINED":
    case "NOT_REQUIRED":
      return undefined;
    case "PROCESSING":
    case "ROLLING_BACK":
      return subCase.nextDueAt === undefined
        ? `${subCase.status}, and nothing will wake the sub-case.`
        : undefined;
    case "FAILED":
    case "COMPENSATION_FAILED":
      return settled ? undefined : `${subCase.status} without a review item.`;
    case "PENDING": {
      const decidable = one.demands.some(({ state }) => state === "REQUESTED");
      const isUnderWay = one.nextDueAt !== undefined || one.outbox.length > 0;
      if (assigned || subCase.assignment !== undefined || decidable || isUnderWay) return undefined;
      return stage === "H"
        ? "held for a review, and no item is open."
        : "PENDING, and neither planning, a demand, a wave nor a person is at work on it.";
    }
    default:
      return subCase.status satisfies never;
  }
};

/** What the sweeps should have found long ago, in every collection that has their indexes. */
const leftLying = async (
  database: Db,
  tenant: string,
  { now, overdueAfterMs = 60_000 }: CheckOptions,
): Promise<Finding[]> => {
  const findings: Finding[] = [];
  const before = new Date(now.getTime() - overdueAfterMs);
  for (const { name } of await database.listCollections().toArray()) {
    const collection = database.collection<Document & { _id: string }>(name);
    const indexes = new Set((await collection.indexes()).map((index) => index.name));
    const finding = (kind: FindingKind, id: string, detail: string): void => {
      findings.push({ kind, tenant, about: `${name} ${id}`, detail });
    };
    if (indexes.has("pending")) {
      const waiting = collection.find(
        { pendingSince: { $lte: before } },
        { projection: { pendingSince: 1, outboxCount: 1 } },
      );
      for await (const { _id, pendingSince } of waiting)
        finding("outbox", _id, `messages wait in its outbox since ${pendingSince.toISOString()}.`);
    }
    if (indexes.has("due")) {
      const overdue = collection.find({ nextDueAt: { $lte: before } }, { projection: { nextDueAt: 1 } });
      for await (const { _id, nextDueAt } of overdue)
        finding("timer", _id, `a timer was due at ${nextDueAt.toISOString()}.`);
    }
  }
  return findings;
};
