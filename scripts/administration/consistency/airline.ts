/** Owns reading what several checks need of one airline: its sub-cases, and the commands that wait on the stream. */
import type { Db } from "mongodb";
import type { Meta, OutboxEntry } from "../../../actors/runtime/store.ts";
import type { SubCaseState } from "../../../actors/sub-case/state.ts";
import type { Streams } from "../../../streams/connection.ts";
import { parseSubject } from "../../../streams/subjects.ts";

export type SubCaseRow = Pick<Meta, "_id" | "revision" | "outbox"> &
  Pick<
    SubCaseState,
    "caseId" | "groupId" | "status" | "reservation" | "payment" | "card" | "offer" | "steps" | "givenUp"
  > &
  Partial<Pick<SubCaseState, "call" | "left">> & { assignment?: { stay: { checkOut: string } } };

const subCaseFields = {
  caseId: 1,
  groupId: 1,
  status: 1,
  reservation: 1,
  left: 1,
  givenUp: 1,
  payment: 1,
  card: 1,
  offer: 1,
  "steps.name": 1,
  "steps.result": 1,
  "steps.startedAt": 1,
  "steps.completedAt": 1,
  "call.reference": 1,
  "call.step": 1,
  "assignment.stay.checkOut": 1,
  revision: 1,
  outbox: 1,
};

/** All, of open and of closed cases; with ids only those. In the order of their ids. */
export const readSubCases = async (database: Db, ids?: readonly string[]): Promise<SubCaseRow[]> => {
  const filter = ids === undefined ? {} : { _id: { $in: [...ids] } };
  return database
    .collection<SubCaseRow>("subCases")
    .find(filter, { projection: subCaseFields })
    .sort({ _id: 1 })
    .toArray() as Promise<SubCaseRow[]>;
};

const sold: readonly string[] = ["CONFIRMED", "CHECKED_IN", "CHECKED_OUT", "NO_SHOW"];

/** Booked and not taken back, whether the guests have come or not. */
export const hasRoom = ({ reservation }: Pick<SubCaseRow, "reservation">): boolean =>
  reservation?.bookingId !== undefined && sold.includes(reservation.status);

/** A command that is stored and not yet acknowledged. */
export interface Waiting {
  subject: string;
  payload: string;
  storedAt: Date;
}

/** Oldest first. @param filter a subject filter of `COMMANDS` */
export const waitingCommands = async (streams: Streams, filter: string): Promise<Waiting[]> => {
  const waiting: Waiting[] = [];
  for (let seq = 1; ; ) {
    const message = await streams.manager.direct.getMessage("COMMANDS", { seq, next_by_subj: filter });
    if (message === null) return waiting;
    waiting.push({ subject: message.subject, payload: message.string(), storedAt: message.time });
    seq = message.seq + 1;
  }
};

/** `<case id>/<group id>` of each group that one of these messages tells its case of. */
export const groupsNoted = (messages: readonly Pick<OutboxEntry, "subject" | "payload">[]): Set<string> =>
  new Set(
    messages.flatMap(({ subject, payload }) => {
      const parsed = parseSubject(subject);
      if (parsed?.root !== "cmd" || parsed.owner !== "case") return [];
      const { groupId } = (JSON.parse(payload) as { data: { groupId?: string } }).data;
      return groupId === undefined ? [] : [`${parsed.id}/${groupId}`];
    }),
  );
