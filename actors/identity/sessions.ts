/** Owns passengers' sessions: a booking reference and a name become one, and so does a link (`magic-links.ts`). Signing the token is the gateway's. */
import type { Command, Query, Reply } from "../../schemas/command.ts";
import { systemPrincipal } from "../../schemas/command.ts";
import { normalPnr } from "../../schemas/passenger.ts";
import { sessionIdOf } from "../../schemas/passenger-session.ts";
import { Problem } from "../../schemas/problems.ts";
import { idOf } from "../../schemas/urn.ts";
import { freshUuid } from "../runtime/clock.ts";
import type { ActorContext } from "../runtime/host.ts";
import type { CountLoginAttempt } from "./login-attempts.ts";

const lifetimeSeconds = 7 * 86_400;

interface SessionDocument {
  _id: string;
  caseId: string;
  groupId: string;
  createdAt: Date;
  /** Digest of the token of the link that it was opened with. Absent: with a booking reference. */
  link?: string;
}

export const sessionIndexes = [
  // What makes a link good once: of two sessions that it would open, one cannot be written.
  { name: "link", key: { link: 1 }, unique: true, sparse: true },
  { name: "ttl", key: { createdAt: 1 }, expireAfterSeconds: lifetimeSeconds },
] as const;

/** `sessionId` is a UUID. */
export interface OpenedSession {
  sessionId: string;
  caseUrn: string;
  groupId: string;
}

/**
 * Opens a session on the newest open case of the booking. Every attempt counts before anything is looked up, whatever
 * becomes of it, so that neither answers nor their times tell more than the limits allow.
 * @throws Problem rate/exceeded; auth/login-failed, the same for an unknown booking, a wrong name and a closed case
 */
export const pnrLogin = async (
  context: ActorContext,
  countAttempt: CountLoginAttempt,
  command: Command,
): Promise<Reply<OpenedSession>> => {
  const { tenant, correlationUrn, traceparent } = command;
  const { pnr, lastName, address } = command.data as { pnr: string; lastName: string; address: string };
  await countAttempt({ tenant, id: command.id, address, pnr: normalPnr(pnr) });
  const query: Query = {
    tenant,
    principal: systemPrincipal(tenant, "identity"),
    correlationUrn,
    traceparent,
    params: { pnr, lastName },
  };
  const found = await context.call<{ caseUrn: string; groupId: string; passengerUrn: string } | null>(
    "sub-case.find-by-pnr",
    query,
  );
  if (found === null) {
    throw new Problem(
      "auth/login-failed",
      "Check the booking reference and the last name as they stand on the booking.",
    );
  }
  const { caseUrn, groupId, passengerUrn } = found;
  const sessionId = await openSession(context, tenant, { caseId: idOf(caseUrn), groupId, passengerUrn });
  return { ok: { sessionId, caseUrn, groupId } };
};

/** Whose session, and by which link. */
interface Opening {
  caseId: string;
  groupId: string;
  passengerUrn: string;
  link?: string;
}

/** @throws Error with code 11000 when the link has opened one already */
export const openSession = async (
  context: ActorContext,
  tenant: string,
  { passengerUrn, ...whose }: Opening,
): Promise<string> => {
  const sessionId = sessionIdOf(passengerUrn, freshUuid());
  await context.documents
    .tenant(tenant)
    .collection<SessionDocument>("sessions")
    .insertOne({ _id: sessionId, ...whose, createdAt: context.clock.now() });
  return sessionId;
};
