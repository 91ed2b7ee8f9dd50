/** Owns a passenger's login by booking reference: captcha, the actor's look-up, the signed session. */
import { setTimeout as delay } from "node:timers/promises";
import type { Accepted } from "../../schemas/command.ts";
import type { PnrLoginBody, PnrLoginView } from "../../schemas/passenger-api.ts";
import { Problem } from "../../schemas/problems.ts";
import { idOf } from "../../schemas/urn.ts";
import type { ClosedCases } from "../../streams/closed-cases.ts";
import type { VerifyCaptcha } from "../auth/captcha.ts";
import { type SignPassengerSession, sessionCookie } from "../auth/passenger-token.ts";
import { secondOf } from "../checks/case-standing.ts";
import { commandOf, type Dispatch } from "../dispatch.ts";
import { addressBlock } from "../http/address.ts";
import { answer, type Handler } from "./handlers.ts";

/** What `identity.pnr-login` answers with. */
interface LoggedIn {
  /** A UUID. */
  sessionId: string;
  caseUrn: string;
  groupId: string;
}

/** A reopening is heard of within a second. */
const reopeningHeardWithinMs = 3000;

/**
 * A case that the actor finds open and this gateway still knows as closed has just been reopened, or just closed: the
 * session is made once its first request will not be refused, or not at all.
 * @throws Problem auth/login-failed
 */
const settled = async (closedCases: ClosedCases, caseUrn: string, now: Date): Promise<void> => {
  const caseId = idOf(caseUrn);
  if (!(await closedCases.untilOpen(caseId, reopeningHeardWithinMs)))
    throw new Problem("auth/login-failed", "The case of this booking has just been closed.");
  const standing = closedCases.standing(caseId);
  if (standing === undefined) return;
  const countsFromMs = 1000 * (secondOf(standing.closedAt) + 1);
  if (now.getTime() < countsFromMs) await delay(countsFromMs - now.getTime());
};

export const createLogIn =
  (
    dispatch: Dispatch,
    closedCases: ClosedCases,
    verifyCaptcha: VerifyCaptcha,
    sign: SignPassengerSession,
  ): Handler =>
  async (request) => {
    const { pnr, lastName, captcha } = request.body as PnrLoginBody;
    const address = request.address();
    await verifyCaptcha(captcha, address);
    const command = {
      ...commandOf(request, { name: "identity.pnr-login", entity: undefined }),
      data: { pnr, lastName, address: addressBlock(address) },
    };
    const { ok } = (await dispatch.command(command.name, command)) as Accepted<LoggedIn>;
    await settled(closedCases, ok.caseUrn, request.now);
    const { tenant } = request.principal;
    const { token, expiresAt } = await sign({ ...ok, tenant });
    const view: PnrLoginView = {
      sessionToken: token,
      caseUrn: ok.caseUrn,
      expiresAt: expiresAt.toISOString(),
    };
    const told = answer(request, { ok: view });
    return { ...told, headers: [...told.headers, ["Set-Cookie", sessionCookie(token)]] };
  };
