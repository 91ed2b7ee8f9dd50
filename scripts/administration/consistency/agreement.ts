/**
 * Owns finding what documents of ours say differently: a case and a sub-case of one group, with nothing on its way that would
 * settle it, and an offer of its own sub-case's room.
 */
import type { Db } from "mongodb";
import type { CaseState } from "../../../actors/case/state.ts";
import type { Meta, OutboxEntry } from "../../../actors/runtime/store.ts";
import type { Stage } from "../../../schemas/group-note.ts";
import { urn } from "../../../schemas/urn.ts";
import type { SubCaseStatus } from "../../../schemas/vocabulary.ts";
import type { Streams } from "../../../streams/connection.ts";
import { commandFilter, parseSubject } from "../../../streams/subjects.ts";
import { groupsNoted, hasRoom, readSubCases, type SubCaseRow, waitingCommands } from "./airline.ts";
import type { Finding } from "./finding.ts";

/** The letters that a group in this status may have in its case. M and X are a person's word, whatever became of the saga. */
const lettersOf: Readonly<Record<SubCaseStatus, string>> = {
  PENDING: "WHAMX",
  PROCESSING: "WHAB",
  OFFER_READY: "BO",
  RESOLVED: "RCO",
  ROLLING_BACK: "ABRUMXN",
  DECLINED: "DMX",
  FAILED: "FMX",
  COMPENSATION_FAILED: "UMX",
  NOT_REQUIRED: "N",
};

const meaningOf: Readonly<Record<Stage, string>> = {
  W: "waiting",
  H: "held for a review",
  A: "allocated",
  B: "booked",
  F: "without a room",
  U: "stuck in its rollback",
  R: "resolved",
  D: "declined",
  C: "checked out",
  O: "not shown up",
  M: "housed by hand",
  X: "settled by hand",
  N: "in no need of a room",
};

type CaseRow = Pick<Meta, "_id" | "outbox"> & Pick<CaseState, "groups" | "progress">;
const caseFields = { groups: 1, progress: 1, outbox: 1 };

/**
 * Looked at twice: a group counts only if neither side has moved in between, and nothing was on its way to either. Of a
 * closed case the two may differ: what came late is on the group's record alone.
 */
export const disagreements = async (
  database: Db,
  streams: Streams,
  tenant: string,
  first: readonly SubCaseRow[],
): Promise<Finding[]> => {
  const suspects = differing(await openCases(database), new Map(first.map((row) => [row._id, row])));
  if (suspects.size === 0) return [];
  const second = await readSubCases(database, [...suspects.keys()]);
  const underWay = await movements(database, streams, tenant, second);
  const again = differing(await openCases(database), new Map(second.map((row) => [row._id, row])));
  return [...again].flatMap(([subCaseId, now]) => {
    const before = suspects.get(subCaseId);
    const stands = before?.revision === now.revision && before.letter === now.letter;
    if (!stands || underWay.has(subCaseId) || underWay.has(now.group)) return [];
    const says = meaningOf[now.letter as Stage] ?? now.letter;
    return [
      {
        kind: "disagreement",
        tenant,
        about: `${urn("case", now.caseId)} group ${now.groupId}`,
        detail: `the case has it as ${says}, its sub-case is ${now.status}.`,
      } as const,
    ];
  });
};

/** An offer and its room are one document's: nothing can be on its way between them. */
export const offersWithoutRoom = (tenant: string, subCases: readonly SubCaseRow[]): Finding[] =>
  subCases
    .filter((subCase) => subCase.offer.state === "READY" && !hasRoom(subCase))
    .map(({ _id }) => ({
      kind: "disagreement",
      tenant,
      about: urn("sub-case", _id),
      detail: "its offer is READY, and it has no room.",
    }));

const openCases = (database: Db): Promise<CaseRow[]> =>
  database
    .collection<CaseRow>("cases")
    .find({ status: { $in: ["OPEN", "MANUAL_REVIEW"] } }, { projection: caseFields })
    .sort({ _id: 1 })
    .toArray();

interface Suspect {
  caseId: string;
  groupId: string;
  /** `<case id>/<group id>`. */
  group: string;
  letter: string;
  status: SubCaseStatus;
  revision: number;
}

/** By sub-case. One that is not there is the ownership check's. */
const differing = (
  cases: readonly CaseRow[],
  subCases: ReadonlyMap<string, SubCaseRow>,
): Map<string, Suspect> => {
  const suspects = new Map<string, Suspect>();
  for (const { _id: caseId, groups, progress } of cases) {
    for (const [i, { groupId, subCaseId }] of groups.entries()) {
      const subCase = subCases.get(subCaseId);
      const letter = progress[i];
      if (subCase === undefined || letter === undefined) continue;
      const { status, revision } = subCase;
      if (lettersOf[status].includes(letter)) continue;
      suspects.set(subCaseId, { caseId, groupId, group: `${caseId}/${groupId}`, letter, status, revision });
    }
  }
  return suspects;
};

/** Sub-cases and `<case id>/<group id>`s that a command on its way is about: sub-cases tell cases, and waves and cases them. */
const movements = async (
  database: Db,
  streams: Streams,
  tenant: string,
  subCases: readonly SubCaseRow[],
): Promise<Set<string>> => {
  const cases = await openCases(database);
  const waiting = [
    ...subCases.flatMap(({ outbox }) => outbox),
    ...cases.flatMap(({ outbox }) => outbox),
    ...(await waitingCommands(streams, commandFilter(tenant, "sub-case"))),
    ...(await waitingCommands(streams, commandFilter(tenant, "case"))),
  ];
  return new Set([...subCasesAddressed(waiting), ...groupsNoted(waiting)]);
};

const subCasesAddressed = (messages: readonly Pick<OutboxEntry, "subject">[]): string[] =>
  messages.flatMap(({ subject }) => {
    const parsed = parseSubject(subject);
    return parsed?.root === "cmd" && parsed.owner === "sub-case" && parsed.id !== undefined
      ? [parsed.id]
      : [];
  });
