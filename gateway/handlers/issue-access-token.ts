/** Owns the partners' token endpoint (contract, "Token endpoint"): the grant is checked here, the secret by the identity actor. */
import { type Accepted, systemPrincipal } from "../../schemas/command.ts";
import type { TokenRequestBody, TokenView } from "../../schemas/partner-api.ts";
import { Problem } from "../../schemas/problems.ts";
import { tenantOfId } from "../../schemas/urn.ts";
import type { TenantDirectory } from "../../streams/tenant-directory.ts";
import {
  type PartnerClient,
  partnerTokenLifetimeSeconds,
  type SignPartnerToken,
} from "../auth/partner-token.ts";
import { commandOf, type Dispatch } from "../dispatch.ts";
import { answer, type Handler } from "./handlers.ts";

export const createIssueAccessToken =
  (dispatch: Dispatch, tenants: TenantDirectory, audience: string, sign: SignPartnerToken): Handler =>
  async (request) => {
    const body = request.body as TokenRequestBody;
    if (body.grant_type !== "client_credentials") throw refused("grant_type", "must be client_credentials");
    if (body.audience !== audience) throw refused("audience", `must be ${audience}`);
    // A client id names its airline (`<code>-…`): an unknown airline is an unknown client.
    const tenant = tenantOfId(body.client_id);
    if (tenants.byCode(tenant) === undefined)
      throw new Problem("auth/invalid-client", "Check the client id and secret of this registration.");
    const command = {
      ...commandOf(request, { name: "identity.authenticate-partner", entity: undefined }),
      tenant,
      principal: systemPrincipal(tenant, "gateway"),
      data: { clientId: body.client_id, clientSecret: body.client_secret },
    };
    const { ok } = (await dispatch.command(command.name, command)) as Accepted<PartnerClient>;
    const view: TokenView = {
      access_token: await sign(ok),
      token_type: "Bearer",
      expires_in: partnerTokenLifetimeSeconds,
    };
    return answer(request, { ok: view });
  };

const refused = (member: string, detail: string): Problem =>
  new Problem("validation/malformed", `The member ${member} ${detail}.`, {
    errors: [{ pointer: `/${member}`, detail }],
  });
