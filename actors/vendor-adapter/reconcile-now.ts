/**
 * Owns reconciliation on demand: the vendors are asked at once, due or not, and what they tell is put on record while somebody waits, so
 * that they see what differed. When vendors are asked otherwise is `reconcile.ts`'s.
 */
import { type Command, type Query, systemPrincipal } from "../../schemas/command.ts";
import { Problem } from "../../schemas/problems.ts";
import type { Difference, OnRecord, ReconciledVendor } from "../../schemas/reconciliation.ts";
import type { RideReport } from "../../schemas/transport.ts";
import { urn } from "../../schemas/urn.ts";
import { type StayReport, subCaseOf } from "../../schemas/vendor-call.ts";
import type { CardTransaction } from "../../schemas/wallet.ts";
import { splitName } from "../../streams/subjects.ts";
import type { ActorContext } from "../runtime/host.ts";
import { sendCommand } from "../runtime/send.ts";
import { type PollContext, poll, type Report, type Source } from "./reconcile.ts";

/** Whoever waits is answered by then; what is left goes on by itself. */
const answerMsMax = 10_000;

type Context = PollContext & Pick<ActorContext, "call">;

/** One after the other in the vendor's order; vendors don't wait for each other. */
export const reconcileNow = (
  context: Context,
  sources: readonly Source[],
  following: Pick<Command, "correlationUrn" | "traceparent">,
): Promise<ReconciledVendor[]> =>
  Promise.all(sources.map((source) => reconciledWith(context, source, following)));

const reconciledWith = async (
  context: Context,
  source: Source,
  following: Pick<Command, "correlationUrn" | "traceparent">,
): Promise<ReconciledVendor> => {
  const signal = AbortSignal.timeout(answerMsMax);
  const differences: Difference[] = [];
  let told = 0;
  const tell = async (report: Report, command: Command): Promise<void> => {
    told += 1;
    const before = await onRecord(context, command, report);
    await applied(context, command);
    const difference = differenceOf(report, before, await onRecord(context, command, report));
    if (difference !== undefined) differences.push(difference);
  };
  try {
    const end = await poll(context, source, {
      ...{ signal, tellUntil: signal, intervalMs: 0 },
      ...{ following, tell },
    });
    return { vendor: source.name, ...end, told, differences };
  } catch (error) {
    // What differed is on record by now: whoever waits has to hear of it. The rest goes on from where it stood.
    context.log.warn({ tenant: source.tenant, vendor: source.name, err: error }, "reconciliation broken off");
    const detail = error instanceof Error ? error.message : String(error);
    return { vendor: source.name, outcome: "unavailable", detail, told, differences };
  }
};

/** A command that cannot be carried out now stands on the stream, under the same id, as it would have otherwise. */
const applied = async (context: Context, command: Command): Promise<void> => {
  try {
    await context.call(command.name, command);
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    await sendCommand(context.streams, command);
  }
};

const onRecord = (
  { call }: Context,
  { tenant, correlationUrn, traceparent }: Command,
  { name, reference }: Report,
): Promise<OnRecord> => {
  const principal = systemPrincipal(tenant, "vendor-adapter");
  const query: Query = { tenant, principal, correlationUrn, traceparent, params: { reference } };
  return call<OnRecord>(`${splitName(name)[0]}.on-record`, query);
};

/** Undefined: it was known, or came too late to count. */
const differenceOf = (
  { name, reference, data, changedAt }: Report,
  before: OnRecord,
  after: OnRecord,
): Difference | undefined => {
  const subCaseUrn = urn("sub-case", subCaseOf(reference));
  if (name === "sub-case.record-stay") {
    if (after.room === undefined || after.room === before.room) return undefined;
    const { at } = data as StayReport;
    return { reference, subCaseUrn, ...(before.room && { from: before.room }), to: after.room, at };
  }
  if (name === "transport.record-ride") {
    const { state: to, at } = data as RideReport;
    const isLost = before.ride === "BOOKED" && (after.ride === undefined || after.ride === to);
    return isLost ? { reference, subCaseUrn, from: before.ride as string, to, at } : undefined;
  }
  // A person's item tells of it.
  if (name === "sub-case.note-oddity") return undefined;
  const { eventId, kind, amount } = data as CardTransaction;
  const isNew = after.cardUses?.includes(eventId) && !before.cardUses?.includes(eventId);
  return isNew ? { reference, subCaseUrn, to: kind, amount, at: changedAt } : undefined;
};
