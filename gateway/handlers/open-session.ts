/** Owns what every login of a passenger ends with: the case that must stand open, the signed session, its cookie. Who it is is found out before. */
import { setTimeout as delay } from "node:timers/promises";
import type { PnrLoginView } from "../../schemas/passenger-api.ts";
import type { Problem } from "../../schemas/problems.ts";
import { idOf } from "../../schemas/urn.ts";
import type { ClosedCases } from "../../streams/closed-cases.ts";
import { type SignPassengerSession, sessionCookie } from "../auth/passenger-token.ts";
import { secondOf } from "../checks/case-standing.ts";
import type { CheckedRequest } from "../dispatch.ts";
import type { HttpAnswer } from "../http/exchange.ts";
import { answer } from "./handlers.ts";

/** What the identity actor has opened. */
export interface Opened {
  /** A UUID. */
  sessionId: string;
  caseUrn: string;
  groupId: string;
}

/** Answers a login. @param refusal of a case that has just been closed @throws Problem auth/login-failed: the refusal */
export type OpenSession = (request: CheckedRequest, opened: Opened, refusal: Problem) => Promise<HttpAnswer>;

/** A reopening is heard of within a second. */
const reopeningHeardWithinMs = 3000;

/**
 * A case that the actor finds open and this gateway still knows as closed has just been reopened, or just closed: the
 * session is made once its first request will not be refused, or not at all (false).
 */
const settled = async (closedCases: ClosedCases, caseUrn: string, now: Date): Promise<boolean> => {
  const caseId = idOf(caseUrn);
  if (!(await closedCases.untilOpen(caseId, reopeningHeardWithinMs))) return false;
  const standing = closedCases.standing(caseId);
  if (standing === undefined) return true;
  const countsFromMs = 1000 * (secondOf(standing.closedAt) + 1);
  if (now.getTime() < countsFromMs) await delay(countsFromMs - now.getTime());
  return true;
};

export const createOpenSession =
  (closedCases: ClosedCases, sign: SignPassengerSession): OpenSession =>
  async (request, opened, refusal) => {
    if (!(await settled(closedCases, opened.caseUrn, request.now))) throw refusal;
    const { token, expiresAt } = await sign({ ...opened, tenant: request.principal.tenant });
    const view: PnrLoginView = {
      sessionToken: token,
      caseUrn: opened.caseUrn,
      expiresAt: expiresAt.toISOString(),
    };
    const told = answer(request, { ok: view });
    return { ...told, headers: [...told.headers, ["Set-Cookie", sessionCookie(token)]] };
  };
