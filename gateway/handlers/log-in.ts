/** Owns a passenger's login by booking reference: captcha, the actor's look-up, the signed session. */
import type { Accepted } from "../../schemas/command.ts";
import type { PnrLoginBody, PnrLoginView } from "../../schemas/passenger-api.ts";
import type { VerifyCaptcha } from "../auth/captcha.ts";
import { type SignPassengerSession, sessionCookie } from "../auth/passenger-token.ts";
import { commandOf, type Dispatch } from "../dispatch.ts";
import { answer, type Handler } from "./handlers.ts";

/** What `identity.pnr-login` answers with. */
interface LoggedIn {
  /** A UUID. */
  sessionId: string;
  caseUrn: string;
  groupId: string;
}

export const createLogIn =
  (dispatch: Dispatch, verifyCaptcha: VerifyCaptcha, sign: SignPassengerSession): Handler =>
  async (request) => {
    const { pnr, lastName, captcha } = request.body as PnrLoginBody;
    const address = request.address();
    await verifyCaptcha(captcha, address);
    const command = {
      ...commandOf(request, { name: "identity.pnr-login", entity: undefined }),
      data: { pnr, lastName, address },
    };
    const { ok } = (await dispatch.command(command.name, command)) as Accepted<LoggedIn>;
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
