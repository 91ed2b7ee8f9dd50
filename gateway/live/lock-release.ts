/** Owns giving back the locks of an operator whose last live socket is gone. */
import type { Logger } from "pino";
import { systemPrincipal } from "../../schemas/command.ts";
import type { Dispatch } from "../dispatch.ts";
import { beginTrace } from "../trace.ts";

const pauseMsMax = 5000;

export interface LockReleaseParts {
  dispatch: Dispatch;
  /** How long a lock lasts that nobody renews. */
  leaseMs: number;
  /** Whether somebody who had left is back. */
  isPresent(tenant: string, operatorUrn: string): boolean;
  now: () => Date;
  pause: (ms: number) => Promise<void>;
  log: Logger;
}

/**
 * What was locked up to then. As often as it has to be, until the last of it has lapsed by itself or its holder is back: what was
 * taken later stays, so that one that comes late, or by several gateways, does no harm.
 */
export const createLockRelease =
  ({ dispatch, leaseMs, isPresent, now, pause, log }: LockReleaseParts) =>
  async (tenant: string, operatorUrn: string, upTo: Date): Promise<void> => {
    const at = now();
    const trace = beginTrace("", at);
    const name = "sub-case.release-locks";
    const command = {
      ...trace,
      id: `live:${trace.correlationUrn}`,
      name,
      tenant,
      entity: "",
      principal: systemPrincipal(tenant, "gateway"),
      issuedAt: at.toISOString(),
      data: { holder: operatorUrn, upTo: upTo.toISOString() },
    };
    for (let tries = 1; ; tries++) {
      try {
        await dispatch.command(name, command);
        return;
      } catch (error) {
        log.warn({ tries, error: String(error) }, "locks of an operator who has left are not given back yet");
      }
      await pause(Math.min(1000 * tries, pauseMsMax));
      if (now().getTime() >= upTo.getTime() + leaseMs || isPresent(tenant, operatorUrn)) return;
    }
  };
