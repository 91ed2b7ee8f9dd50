/** Owns finding closed cases that the gateways do not know as closed: their passengers' sessions go on. */
import type { Db } from "mongodb";
import type { CaseState } from "../../../actors/case/state.ts";
import type { Meta, OutboxEntry } from "../../../actors/runtime/store.ts";
import { urn } from "../../../schemas/urn.ts";
import type { Streams } from "../../../streams/connection.ts";
import { commandFilter, parseSubject } from "../../../streams/subjects.ts";
import { waitingCommands } from "./airline.ts";
import type { Finding } from "./finding.ts";

/** A passenger's session ends by itself after as long (streams/closed-cases.ts). */
const sessionMs = 7 * 86_400_000;

type ClosedRow = Pick<Meta, "_id" | "outbox"> & Required<Pick<CaseState, "closedAt">>;

/** As streams/closed-cases.ts notes it. */
interface Noted {
  closedAt: string;
  open: boolean;
}

/** Read in the order in which the note travels: case, commands, bucket. */
export const unknownClosings = async (
  database: Db,
  streams: Streams,
  tenant: string,
  now: Date,
): Promise<Finding[]> => {
  const since = new Date(now.getTime() - sessionMs);
  const closed = (): Promise<ClosedRow[]> =>
    database
      .collection<ClosedRow>("cases")
      .find({ status: "CLOSED", closedAt: { $gt: since } }, { projection: { closedAt: 1, outbox: 1 } })
      .sort({ _id: 1 })
      .toArray() as Promise<ClosedRow[]>;
  const first = await closed();
  if (first.length === 0) return [];
  const waiting = await waitingCommands(streams, commandFilter(tenant, "identity"));
  const onTheirWay = told([...first.flatMap(({ outbox }) => outbox ?? []), ...waiting]);
  const bucket = await streams.kv.open("closed-cases");
  const unknown = new Map<string, Date>();
  for (const { _id, closedAt } of first) {
    if (onTheirWay.has(_id)) continue;
    const entry = await bucket.get(_id);
    const noted = entry?.operation === "PUT" ? entry.json<Noted>() : undefined;
    if (noted === undefined || noted.open || new Date(noted.closedAt) < closedAt) unknown.set(_id, closedAt);
  }
  if (unknown.size === 0) return [];
  // One that was opened again meanwhile was rightly noted as open.
  return (await closed())
    .filter(({ _id, closedAt }) => unknown.get(_id)?.getTime() === closedAt.getTime())
    .map(({ _id, closedAt }) => ({
      kind: "session",
      tenant,
      about: urn("case", _id),
      detail: `closed at ${closedAt.toISOString()}, and no gateway knows: its passengers' sessions go on.`,
    }));
};

/** The cases of which identity is about to hear. */
const told = (messages: readonly Pick<OutboxEntry, "subject">[]): Set<string | undefined> =>
  new Set(
    messages.flatMap(({ subject }) => {
      const parsed = parseSubject(subject);
      return parsed?.root === "cmd" && parsed.owner === "identity" ? [parsed.id] : [];
    }),
  );
