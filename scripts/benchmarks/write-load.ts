/** Owns loading an HTTP address with writes, each with a key of its own, from this process. */
import { randomUUID } from "node:crypto";
import { Agent, request } from "node:http";
import { performance } from "node:perf_hooks";
import { rounded } from "./benchmark.ts";
import type { Round, Target } from "./load.ts";
import { cpuSeconds } from "./process-figures.ts";

const connections = 32;

const post = (agent: Agent, { url, headers }: Target, body: string): Promise<number> =>
  new Promise((resolve, reject) => {
    const sent = request(
      url,
      {
        method: "POST",
        agent,
        headers: { ...headers, "Content-Type": "application/json", "Idempotency-Key": randomUUID() },
      },
      (response) => {
        response.resume();
        response.on("end", () => resolve(response.statusCode ?? 0));
      },
    );
    sent.on("error", reject);
    sent.end(body);
  });

/** As many at once as there are connections, for so long. */
export const writeForSeconds = async (target: Target, body: string, seconds: number): Promise<Round> => {
  const agent = new Agent({ keepAlive: true, maxSockets: connections });
  const latencies: number[] = [];
  let failures = 0;
  const cpuBefore = cpuSeconds(target.pid);
  const startedAt = performance.now();
  const until = startedAt + seconds * 1000;
  const writer = async (): Promise<void> => {
    while (performance.now() < until) {
      const sentAt = performance.now();
      const status = await post(agent, target, body);
      latencies.push(performance.now() - sentAt);
      if (status >= 300) failures += 1;
    }
  };
  await Promise.all(Array.from({ length: connections }, writer));
  const tookSeconds = (performance.now() - startedAt) / 1000;
  agent.destroy();
  const sorted = latencies.toSorted((a, b) => a - b);
  return {
    requestsPerSecond: sorted.length / tookSeconds,
    p99Ms: sorted[Math.floor(sorted.length * 0.99)] ?? 0,
    cpuMicroseconds: rounded(((cpuSeconds(target.pid) - cpuBefore) * 1e6) / Math.max(1, sorted.length), 1),
    failures,
  };
};
