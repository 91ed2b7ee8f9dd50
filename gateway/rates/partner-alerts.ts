/** Owns telling that a partner has met its hard limit (contract, "Errors"): once a minute and gateway here, once a minute in all at the identity actor. */
import { LRUCache } from "lru-cache";
import type { Logger } from "pino";
import { type Principal, systemPrincipal, type Trace } from "../../schemas/command.ts";
import { urn } from "../../schemas/urn.ts";
import type { Dispatch } from "../dispatch.ts";

/** The rates are per minute. */
const windowMs = 60_000;
/** Far more partners than refused ones at once. */
const clientsMax = 10_000;

/**
 * Nobody waits for it, and it never throws.
 * @param limit in words, as the partner was told
 */
export type AlertPartner = (partner: Principal, limit: string, now: Date, trace: Trace) => void;

export const createPartnerAlerts = (dispatch: Dispatch, log: Logger): AlertPartner => {
  const toldWindows = new LRUCache<string, number>({ max: clientsMax });
  return ({ clientId, tenant }, limit, now, trace) => {
    if (clientId === undefined) return;
    const window = Math.floor(now.getTime() / windowMs);
    if (toldWindows.get(clientId) === window) return;
    toldWindows.set(clientId, window);
    const partner = urn("partner", clientId);
    log.warn({ partner, limit }, "partner met its limit: its contact is to be told");
    const name = "identity.note-limit-exceeded";
    const command = {
      ...trace,
      // The same on every gateway, so that the alert of a window is one.
      id: `limit:${clientId}:${window}`,
      name,
      tenant,
      entity: clientId,
      principal: systemPrincipal(tenant, "gateway"),
      issuedAt: now.toISOString(),
      data: { windowStartedAt: new Date(window * windowMs).toISOString(), limit },
    };
    dispatch.command(name, command).catch((error: unknown) => {
      // The next refusal tries again.
      toldWindows.delete(clientId);
      log.warn({ partner, err: error }, "limit alert not recorded");
    });
  };
};
