/** Owns giving back the locks of an operator whose last live socket is gone. */
import type { Logger } from "pino";
import { systemPrincipal } from "../../schemas/command.ts";
import type { Dispatch } from "../dispatch.ts";
import { beginTrace } from "../trace.ts";

/** Then they lapse by themselves. */
const triesMax = 5;

/**
 * What was locked up to then. As often as it has to be: what was taken later stays, so that one that comes late, or by several
 * gateways, does no harm.
 */
export const createLockRelease =
  ({ dispatch, now, log }: { dispatch: Dispatch; now: () => Date; log: Logger }) =>
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
    for (let tries = 1; tries <= triesMax; tries++) {
      try {
        await dispatch.command(name, command);
        return;
      } catch (error) {
        log.warn({ tries, error: String(error) }, "locks of an operator who has left are not given back yet");
        await new Promise((resolve) => setTimeout(resolve, 1000 * tries).unref());
      }
    }
  };
