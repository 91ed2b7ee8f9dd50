/** Owns a passenger's login by booking reference: captcha, the actor's look-up. What follows is every login's (`open-session.ts`). */
import type { Accepted } from "../../schemas/command.ts";
import type { PnrLoginBody } from "../../schemas/passenger-api.ts";
import { Problem } from "../../schemas/problems.ts";
import type { TenantDirectory } from "../../streams/tenant-directory.ts";
import type { VerifyCaptcha } from "../auth/captcha.ts";
import { commandOf, type Dispatch } from "../dispatch.ts";
import { addressBlock } from "../http/address.ts";
import type { Handler } from "./handlers.ts";
import type { Opened, OpenSession } from "./open-session.ts";

export const createLogIn =
  (dispatch: Dispatch, tenants: TenantDirectory, verifyCaptcha: VerifyCaptcha, open: OpenSession): Handler =>
  async (request) => {
    const { pnr, lastName, captcha } = request.body as PnrLoginBody;
    const address = request.address();
    const hosts = tenants.byCode(request.principal.tenant)?.passengerHosts ?? [];
    await verifyCaptcha(captcha, { address, hosts });
    const command = {
      ...commandOf(request, { name: "identity.pnr-login", entity: undefined }),
      data: { pnr, lastName, address: addressBlock(address) },
    };
    const { ok } = (await dispatch.command(command.name, command)) as Accepted<Opened>;
    const refusal = new Problem("auth/login-failed", "The case of this booking has just been closed.");
    return open(request, ok, refusal);
  };
