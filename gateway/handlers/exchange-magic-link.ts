/** Owns a passenger's login by the link in a message: the actor's exchange. What follows is every login's (`open-session.ts`). */
import type { Logger } from "pino";
import type { Accepted } from "../../schemas/command.ts";
import { refusedLink } from "../../schemas/magic-link.ts";
import type { MagicLinkBody } from "../../schemas/passenger-api.ts";
import { idOf } from "../../schemas/urn.ts";
import type { ClosedCases } from "../../streams/closed-cases.ts";
import { commandOf, type Dispatch } from "../dispatch.ts";
import { addressBlock } from "../http/address.ts";
import type { Handler } from "./handlers.ts";
import type { Opened, OpenSession } from "./open-session.ts";

export const createExchangeMagicLink =
  (dispatch: Dispatch, closedCases: ClosedCases, open: OpenSession, log: Logger): Handler =>
  async (request) => {
    const { token } = request.body as MagicLinkBody;
    const command = {
      ...commandOf(request, { name: "identity.exchange-magic-link", entity: undefined }),
      data: { token, address: addressBlock(request.address()) },
    };
    const { ok } = (await dispatch.command(command.name, command)) as Accepted<Opened & { madeAt: string }>;
    const { madeAt, ...opened } = ok;
    // As with tokens: those of before a closing stay dead after the reopening.
    const standing = closedCases.standing(idOf(opened.caseUrn));
    if (standing !== undefined && Date.parse(madeAt) <= standing.closedAt.getTime()) {
      const { correlationUrn } = request.trace;
      const { tenant } = request.principal;
      log.info({ tenant, refusal: "case-closed", correlationUrn }, "a link was refused");
      throw refusedLink();
    }
    return open(request, opened, refusedLink());
  };
