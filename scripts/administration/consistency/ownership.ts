/** Owns finding passengers of open cases whom nobody looks after: no sub-case, no saga under way, nobody's desk. */
import type { Db } from "mongodb";
import type { CaseState, GroupHead } from "../../../actors/case/state.ts";
import type { ReviewItem } from "../../../actors/review/state.ts";
import type { Meta, OutboxEntry } from "../../../actors/runtime/store.ts";
import type { SubCaseState } from "../../../actors/sub-case/state.ts";
import type { OpenReview } from "../../../schemas/review.ts";
import { urn } from "../../../schemas/urn.ts";
import type { Streams } from "../../../streams/connection.ts";
import { commandFilter, parseSubject } from "../../../streams/subjects.ts";
import { groupsNoted, type Waiting, waitingCommands } from "./airline.ts";
import type { Finding } from "./finding.ts";

type CaseRow = Pick<Meta, "_id" | "nextDueAt" | "outbox"> &
  Pick<CaseState, "groups" | "progress" | "provisioned" | "demands" | "policies">;

type SubCaseRow = Pick<Meta, "_id" | "nextDueAt" | "outbox"> &
  Pick<SubCaseState, "caseId" | "groupId" | "status" | "passengers" | "tier"> & { assignment?: object };

type ReviewRow = Pick<ReviewItem, "caseId" | "status" | "affectedGroups"> & {
  _id: string;
  resolution?: string;
};

const caseFields = {
  groups: 1,
  progress: 1,
  provisioned: 1,
  demands: 1,
  policies: 1,
  nextDueAt: 1,
  outbox: 1,
};
const subCaseFields = {
  caseId: 1,
  groupId: 1,
  status: 1,
  passengers: 1,
  tier: 1,
  "assignment.waveId": 1,
  nextDueAt: 1,
  outbox: 1,
};

/** Everything about one airline that ownership is told from. */
interface Picture {
  subCases: Map<string, SubCaseRow>;
  /** Sub-cases to which a wave's assignment or an operator's compensation is on its way. */
  assigned: Set<string>;
  /** Sub-cases that are about to be made, or to hear who is in their group now. */
  regrouped: Set<string>;
  /** `<case id>/<group id>` with an item on a person's desk, or with one on its way there. */
  onDesk: Set<string>;
  /** `<case id>/<group id>` of whom their case is about to hear. */
  noted: ReadonlySet<string>;
  /** `<case id>/<group id>` whose item a person has resolved. */
  settledByHand: Set<string>;
}

interface Owned {
  findings: Finding[];
  openCases: number;
  passengers: number;
}

/**
 * Work also travels back: a group whose room others took tells its case, which looks for another. Whom nobody seems to have
 * is therefore looked at twice, and what was on its way back in between counts.
 */
export const checkOwnership = async (database: Db, streams: Streams, tenant: string): Promise<Owned> => {
  const first = await look(database, streams, tenant, new Set());
  if (first.findings.length === 0) return first;
  const noted = groupsNoted(await waitingCommands(streams, commandFilter(tenant, "case")));
  const second = await look(database, streams, tenant, noted);
  const standing = new Set(second.findings.map(({ about, detail }) => `${about}: ${detail}`));
  const findings = first.findings.filter(({ about, detail }) => standing.has(`${about}: ${detail}`));
  return { ...first, findings };
};

/**
 * Reads in the order in which work travels (case → wave → streams → sub-case → streams → review), so that what moves on
 * meanwhile is met again further down and never missed.
 * @param noted `<case id>/<group id>` of groups of whom their case is about to hear
 */
const look = async (
  database: Db,
  streams: Streams,
  tenant: string,
  noted: ReadonlySet<string>,
): Promise<Owned> => {
  const cases = await database
    .collection<CaseRow>("cases")
    .find({ status: { $in: ["OPEN", "MANUAL_REVIEW"] } }, { projection: caseFields })
    .toArray();
  const waves = await database
    .collection<{ outbox: OutboxEntry[] }>("waves")
    .find({ pendingSince: { $exists: true } }, { projection: { outbox: 1 } })
    .toArray();
  const assigns = await waitingCommands(streams, commandFilter(tenant, "sub-case"));
  const found: SubCaseRow[] = [];
  for (const { _id: caseId } of cases) {
    const cursor = database
      .collection<SubCaseRow>("subCases")
      .find({ caseId }, { projection: subCaseFields });
    for await (const subCase of cursor) found.push(subCase as SubCaseRow);
  }
  const outboxes = [...cases, ...waves, ...found].flatMap(({ outbox }) => outbox ?? []);
  const opens = await waitingCommands(streams, commandFilter(tenant, "review"));
  const reviews = await reviewsOf(database, cases);
  const picture = pictureOf({ found, outboxes, assigns, opens, reviews, noted });
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
      .find({ caseId }, { projection: { caseId: 1, status: 1, resolution: 1, affectedGroups: 1 } });
    for await (const row of cursor) rows.push(row);
  }
  return rows;
};

/** Resolutions that actors/review gives by itself: the case was closed or changed, or another wave has found rooms. */
const nobodysWord: ReadonlySet<string> = new Set([
  "CASE_CLOSED",
  "HOUSED",
  "SPLIT",
  "MERGED",
  "LOCAL_RESIDENT",
  "NEXT_FLIGHT_KNOWN",
]);

const pictureOf = (read: {
  found: SubCaseRow[];
  outboxes: OutboxEntry[];
  assigns: Waiting[];
  opens: Waiting[];
  reviews: ReviewRow[];
  noted: ReadonlySet<string>;
}): Picture => {
  const onDesk = new Set<string>();
  const settledByHand = new Set<string>();
  const assigned = new Set<string>();
  const regrouped = new Set<string>();
  /** Reopened cases, and items of theirs, that are about to be on a desk again. */
  const reinstated = new Set<string>();
  const note = (groups: Set<string>, caseId: string, affected: readonly string[]): void => {
    for (const groupId of affected) groups.add(`${caseId}/${groupId}`);
  };
  for (const { subject, payload } of [...read.outboxes, ...read.assigns, ...read.opens]) {
    const parsed = parseSubject(subject);
    const name = parsed?.root === "cmd" ? `${parsed.owner}.${parsed.what}` : "";
    const setsGoing = name === "sub-case.assign" || name === "sub-case.compensate";
    if (setsGoing && parsed?.id !== undefined) assigned.add(parsed.id);
    if (name === "sub-case.regroup" && parsed?.id !== undefined) regrouped.add(parsed.id);
    if (name === "sub-case.open-many") {
      const { groups } = (JSON.parse(payload) as { data: { groups: { subCaseId: string }[] } }).data;
      for (const { subCaseId } of groups) regrouped.add(subCaseId);
    }
    const bringsBack = name === "review.reopen-case" || name === "review.reinstate";
    if (bringsBack && parsed?.id !== undefined) reinstated.add(parsed.id);
    if (name !== "review.open") continue;
    const { caseId, affectedGroups } = (JSON.parse(payload) as { data: OpenReview }).data;
    note(onDesk, caseId, affectedGroups);
  }
  for (const { _id, caseId, status, resolution = "", affectedGroups } of read.reviews) {
    if (status !== "RESOLVED" || reinstated.has(caseId) || reinstated.has(_id))
      note(onDesk, caseId, affectedGroups);
    else if (!nobodysWord.has(resolution)) note(settledByHand, caseId, affectedGroups);
  }
  const noted = new Set([...read.noted, ...groupsNoted(read.outboxes)]);
  return {
    subCases: new Map(read.found.map((row) => [row._id, row])),
    assigned,
    regrouped,
    onDesk,
    noted,
    settledByHand,
  };
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
  if (picture.regrouped.has(group.subCaseId)) return undefined;
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
    expected: picture.assigned.has(subCase._id) || picture.noted.has(key),
    settled: picture.settledByHand.has(key),
  });
};

/** With hotels and automatic booking a saga begins in the very decision that takes the assignment. */
const waitsForOperator = (
  { one, group }: { one: CaseRow; group: GroupHead },
  { tier }: SubCaseRow,
): boolean => one.policies[group.tier ?? tier]?.autoBook === false;

const statusFault = (
  about: { one: CaseRow; group: GroupHead; stage: string },
  subCase: SubCaseRow,
  { expected, settled }: { expected: boolean; settled: boolean },
): string | undefined => {
  const { one, stage } = about;
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
      if (expected || (settled && "MX".includes(stage))) return undefined;
      if (subCase.assignment !== undefined && waitsForOperator(about, subCase)) return undefined;
      if (subCase.assignment !== undefined && stage === "A")
        return "PENDING with hotels allocated, and neither a saga nor a person is at work on it.";
      const decidable = one.demands.some(({ state }) => state === "REQUESTED");
      const isUnderWay = one.nextDueAt !== undefined || one.outbox.length > 0;
      if (decidable || isUnderWay) return undefined;
      return stage === "H"
        ? "held for a review, and no item is open."
        : "PENDING, and neither planning, a demand, a wave nor a person is at work on it.";
    }
    default:
      return subCase.status satisfies never;
  }
};
