/** Owns reaching the probe inside the service process (`service-probe.ts`): how it is loaded, and asking it. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { OwnInstance } from "./instance.ts";
import type { ProbeReport } from "./service-probe.ts";

const probeFile = "probe.url";

/** Environment of a service that is to be probed. `countDocuments` makes the driver tell of each command, which costs a little. */
export const probedEnvironment = (
  { folder, instance }: Pick<OwnInstance, "folder" | "instance">,
  { countDocuments }: { countDocuments: boolean },
): Record<string, string> => ({
  NODE_OPTIONS: `${process.env.NODE_OPTIONS ?? ""} --import=${new URL("./service-probe.ts", import.meta.url)}`,
  BENCH_PROBE_FILE: join(folder, probeFile),
  ...(countDocuments ? { MONGODB_URL: withMonitoring(instance.mongodbUrl) } : {}),
});

const withMonitoring = (address: string): string => {
  const url = new URL(address);
  url.searchParams.set("monitorCommands", "true");
  if (url.pathname === "") url.pathname = "/";
  return url.href;
};

const ask = async ({ folder }: Pick<OwnInstance, "folder">, action: string): Promise<unknown> => {
  const answer = await fetch(new URL(action, readFileSync(join(folder, probeFile), "utf8")));
  if (!answer.ok) throw new Error(`the probe answered ${answer.status} to ${action}`);
  return answer.json();
};

/** What has happened since the last reset. */
export const probeReport = async (own: Pick<OwnInstance, "folder">): Promise<ProbeReport> =>
  (await ask(own, "/report")) as ProbeReport;

export const resetProbe = async (own: Pick<OwnInstance, "folder">): Promise<void> => {
  await ask(own, "/reset");
};

export const collectGarbage = async (own: Pick<OwnInstance, "folder">): Promise<void> => {
  await ask(own, "/collect-garbage");
};

export const startProfile = async (own: Pick<OwnInstance, "folder">): Promise<void> => {
  await ask(own, "/profile/start");
};

/** A profile that Chrome's and VS Code's viewers open (`.cpuprofile`). */
export const stopProfile = (own: Pick<OwnInstance, "folder">): Promise<unknown> => ask(own, "/profile/stop");
