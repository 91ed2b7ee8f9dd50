/** Owns giving back all locks that one operator holds: when they close their session, or have left. One lock's rules stand in `lock.ts`. */
import type { Document } from "mongodb";
import type { Command, EventRecord } from "../../schemas/command.ts";
import type { SessionClosed, UnlockedView } from "../../schemas/lock.ts";
import { urn } from "../../schemas/urn.ts";
import { publish } from "../../streams/publish.ts";
import { internalSubject } from "../../streams/subjects.ts";
import { causedId, freshId } from "../runtime/clock.ts";
import type { Reactions } from "../runtime/decider.ts";
import type { ActorContext, CommandFunction, Dispatch } from "../runtime/host.ts";
import type { Release } from "./lock.ts";
import { collection } from "./queries.ts";

const releasedAtOnce = 32;

/**
 * Gives back whatever the operator holds, one commit each, and tells whose locks are free now; sent again it finds what is left.
 * Locks at airports that the operator is no longer scoped to are theirs all the same.
 */
const releaseHeld = async (
  context: ActorContext,
  command: Command<Release>,
  dispatch: Dispatch,
): Promise<SessionClosed> => {
  const { airport: _, ...principal } = command.principal;
  const held = await context.documents
    .tenant(command.tenant)
    .collection<Document>(collection)
    .find({ "lock.held.by": command.data.holder }, { projection: { _id: 1 } })
    .sort({ _id: 1 })
    .toArray();
  const ids = held.map(({ _id }) => String(_id));
  const released: string[] = [];
  for (let from = 0; from < ids.length; from += releasedAtOnce) {
    const some = ids.slice(from, from + releasedAtOnce).map(async (entity) => {
      const id = causedId(command.id, entity);
      const release = { ...command, id, name: "sub-case.release-lock", entity, principal };
      const reply = await dispatch("release-lock", release);
      const isFree = "ok" in reply && (reply.ok as UnlockedView).lockedBy === null;
      return isFree ? [urn("sub-case", entity)] : [];
    });
    released.push(...(await Promise.all(some)).flat());
  }
  return { released };
};

/** Contract, "Logout order", as an operator's client begins it. */
export const closeSession =
  (context: ActorContext): CommandFunction =>
  async ({ expectedVersion: _, ...command }, dispatch) => {
    const data: Release = { holder: command.principal.urn };
    const closed = await releaseHeld(context, { ...command, data }, dispatch);
    await tellClosed(context, command);
    return { ok: closed };
  };

/** For whoever has the operator's live sockets. Sent again it is the same message. */
const tellClosed = async (context: ActorContext, command: Command): Promise<void> => {
  const { id, tenant, correlationUrn, traceparent, principal } = command;
  const type = "operator.session-closed";
  const now = context.clock.now();
  const event: EventRecord = {
    urn: urn("event", freshId(tenant, now)),
    type,
    occurred_at: now.toISOString(),
    tenant: urn("airline", tenant),
    correlation_urn: correlationUrn,
    traceparent,
    data: { operatorUrn: principal.urn },
  };
  const subject = internalSubject(tenant, type, "");
  await publish(context.streams, { subject, payload: JSON.stringify(event), messageId: `${id}:${type}` });
};

/** The holder has left, as somebody else has noticed. */
export const releaseLocks =
  (context: ActorContext): CommandFunction =>
  async (command, dispatch) => ({
    ok: await releaseHeld(context, command as Command<Release>, dispatch),
  });

/** The issuer tells of a logout before it revokes the tokens. */
export const afterLogout: Reactions = {
  "operator.logged-out": ({ occurred_at, data: { subject, operatorUrn } }) => {
    const data: Release = { holder: String(operatorUrn), upTo: occurred_at };
    return [{ name: "sub-case.release-locks", entity: String(subject), data }];
  },
};
