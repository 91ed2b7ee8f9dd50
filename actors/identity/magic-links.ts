/** Owns exchanging the link of a message for a session (contract, "Passenger"): once, within seven days, while its case is open. */
import type { Command, Query, Reply } from "../../schemas/command.ts";
import { systemPrincipal } from "../../schemas/command.ts";
import {
  airlineOfMagicLink,
  digestOfMagicLink,
  type MagicLinkFound,
  magicLinkLifetimeMs,
  refusedLink,
} from "../../schemas/magic-link.ts";
import { urn } from "../../schemas/urn.ts";
import type { ActorContext } from "../runtime/host.ts";
import type { TryLink } from "./login-attempts.ts";
import { type OpenedSession, openSession } from "./sessions.ts";

/** Why a link opens nothing: told in the log alone. */
export type LinkRefusal = "malformed" | "foreign-airline" | "unknown" | "expired" | "case-closed" | "used";

/** What the gateway is answered with. */
export interface ExchangedLink extends OpenedSession {
  /** When the link was made, ISO 8601 UTC: a closing since then has ended it with the sessions. */
  madeAt: string;
}

/**
 * Whatever is wrong with a link, whoever holds it is told the same. What makes it good once is the session itself, which is written
 * with the digest of its token: of two at once, one cannot be written.
 * @throws Problem rate/exceeded; auth/login-failed
 */
export const exchangeMagicLink = async (
  context: ActorContext,
  tryLink: TryLink,
  command: Command,
): Promise<Reply<ExchangedLink>> => {
  const { tenant, correlationUrn } = command;
  const { token, address } = command.data as { token: string; address: string };
  const exchanged = await tryLink({ tenant, id: command.id, address }, async () => {
    const found = await exchange(context, command, token);
    if (typeof found !== "string") return found;
    context.log.info({ tenant, refusal: found, correlationUrn }, "a link was refused");
    throw refusedLink();
  });
  return { ok: exchanged };
};

const exchange = async (
  context: ActorContext,
  { tenant, correlationUrn, traceparent }: Command,
  token: string,
): Promise<ExchangedLink | LinkRefusal> => {
  const airline = airlineOfMagicLink(token);
  if (airline === undefined) return "malformed";
  if (airline !== tenant) return "foreign-airline";
  const query = (params: Record<string, unknown>): Query => ({
    ...{ tenant, correlationUrn, traceparent, params },
    principal: systemPrincipal(tenant, "identity"),
  });
  const digest = digestOfMagicLink(token);
  const found = await context.call<MagicLinkFound | null>("message.link", query({ digest }));
  if (found === null) return "unknown";
  const { caseId, groupId, passengerUrn, madeAt } = found;
  if (context.clock.now().getTime() >= Date.parse(madeAt) + magicLinkLifetimeMs) return "expired";
  const open = await context.call<string[]>("case.open-ones", query({ caseIds: [caseId] }));
  if (!open.includes(caseId)) return "case-closed";
  try {
    const sessionId = await openSession(context, tenant, { caseId, groupId, passengerUrn, link: digest });
    return { sessionId, caseUrn: urn("case", caseId), groupId, madeAt };
  } catch (error) {
    if ((error as { code?: number }).code === 11000) return "used";
    throw error;
  }
};
