// Says that the instance's NATS server doesn't answer, without the password that may stand in its address.
import { StartFailure } from "../supervisor/start-failure.ts";

export const unreachable = (natsUrl: string, error: unknown): StartFailure =>
  new StartFailure(
    `no NATS server answers at ${withoutPassword(natsUrl)} (${(error as Error).message}): is the instance running?`,
  );

export const withoutPassword = (url: string): string => url.replace(/\/\/[^@/]*@/g, "//");
