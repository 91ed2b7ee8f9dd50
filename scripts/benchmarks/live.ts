/** Owns the benchmark of operators' live channel: from an event's commit to the sockets, beside plain Socket.IO; from a lost holder to the watchers; memory of an idle socket. */
import { setTimeout as delay } from "node:timers/promises";
import type { EventRecord } from "../../schemas/command.ts";
import { idOf, urn } from "../../schemas/urn.ts";
import { publish } from "../../streams/publish.ts";
import { internalSubject } from "../../streams/subjects.ts";
import { table } from "../administration/table.ts";
import { expectStatus, request } from "../demonstration/http.ts";
import { percentile as percentileOf } from "../soaking/deliveries-rig.ts";
import { connectRaw } from "../soaking/live-client.ts";
import type { LiveStage } from "../soaking/live-crowd.ts";
import { stageOf, startGateways } from "../soaking/live-sockets.ts";
import { type Benchmark, type BenchmarkRun, rounded } from "./benchmark.ts";
import { OwnInstance } from "./instance.ts";
import { closeAll, connectAll } from "./live-probe.ts";
import { startLivePeer } from "./peers.ts";
import { cpuSeconds, loadAverage, memoryOf } from "./process-figures.ts";

/** Sockets, and events a second: what is delivered a second stays far from what either delivers at most. */
const loads = [
  { sockets: 100, perSecond: 20 },
  { sockets: 1000, perSecond: 5 },
  { sockets: 5000, perSecond: 1 },
];
const eventsTold = 40;
const warmUpEvents = 5;
const operators = 200;
const withinMs = 60_000;
const releases = 100;
const watchers = 20;
const restMs = 2000;

interface Measured {
  server: "stopover" | "socket.io";
  sockets: number;
  p50Ms: number;
  p99Ms: number;
  /** Of the server's processor time, for each event at each socket: two messages. */
  cpuMicroseconds: number;
  /** The same of case:updated, which waits for its window of 100 ms. */
  updatedP50Ms?: number;
  updatedP99Ms?: number;
}

const percentile = (values: readonly number[], share: number): number =>
  percentileOf(
    values.toSorted((a, b) => a - b),
    share,
  );

const measure = async (
  stage: LiveStage,
  { server, baseUrl, pid }: { server: Measured["server"]; baseUrl: string; pid: number },
  { sockets, perSecond }: (typeof loads)[number],
): Promise<Measured> => {
  const sentAt = new Map<string, number>();
  const told: number[] = [];
  const updated: number[] = [];
  const { cases, tokens } = stage;
  const watched = cases[0] as LiveStage["cases"][number];
  const open = await connectAll(baseUrl, { sockets, tokens, caseUrn: watched.caseUrn }, (event, groupId) => {
    const at = sentAt.get(groupId);
    if (at !== undefined) (event === "told" ? told : updated).push(performance.now() - at);
  });
  await delay(restMs);
  const tell = async (events: number): Promise<void> => {
    for (let i = 0; i < events; i++) {
      const groupId = `G${sentAt.size}`;
      sentAt.set(groupId, performance.now());
      await publishChange(stage, watched, groupId);
      await delay(1000 / perSecond);
    }
  };
  const all = async (events: number): Promise<void> => {
    await tell(events);
    const deadline = performance.now() + withinMs;
    while (told.length < sockets * events) {
      if (performance.now() > deadline)
        throw new Error(`${server}: ${told.length} of ${sockets * events} told`);
      await delay(20);
    }
  };
  await all(warmUpEvents);
  told.length = 0;
  updated.length = 0;
  const busy = cpuSeconds(pid);
  await all(eventsTold);
  await delay(restMs);
  const cpuMicroseconds = ((cpuSeconds(pid) - busy) * 1e6) / (sockets * eventsTold);
  await closeAll(open);
  return {
    server,
    sockets,
    p50Ms: rounded(percentile(told, 0.5), 2),
    p99Ms: rounded(percentile(told, 0.99), 2),
    cpuMicroseconds: rounded(cpuMicroseconds, 1),
    ...(updated.length === 0
      ? {}
      : {
          updatedP50Ms: rounded(percentile(updated, 0.5), 1),
          updatedP99Ms: rounded(percentile(updated, 0.99), 1),
        }),
  };
};

/** Settled once the stream has it. */
const publishChange = async (
  { streams, tenant }: LiveStage,
  { caseUrn, subCaseUrn }: LiveStage["cases"][number],
  groupId: string,
): Promise<void> => {
  const type = "subcase.state-changed";
  const event: EventRecord = {
    urn: urn("event", `${tenant}-${groupId}`),
    type,
    occurred_at: new Date().toISOString(),
    tenant: urn("airline", tenant),
    case_urn: caseUrn,
    correlation_urn: urn("correlation", groupId),
    traceparent: "",
    data: {
      caseUrn,
      subCaseUrn,
      groupId,
      airport: "JFK",
      status: "PROCESSING",
      offer: "PENDING",
      lockedBy: null,
    },
  };
  await publish(streams, {
    subject: internalSubject(tenant, type, idOf(subCaseUrn)),
    payload: JSON.stringify(event),
    messageId: `live-bench:${performance.now()}:${groupId}`,
  });
};

/** From the moment that the holder's only socket is cut to when each watcher hears that the lock is free. */
const measureReleases = async (stage: LiveStage, baseUrl: string): Promise<number[]> => {
  const { cases, tokens } = stage;
  const { caseUrn, subCaseUrn } = cases[1] as LiveStage["cases"][number];
  const [holderToken = "", ...others] = tokens;
  const watching = await Promise.all(
    others.slice(0, watchers).map(async (token) => {
      const client = await connectRaw({ baseUrl, token });
      await client.ask("subscribe", { caseUrn });
      return client;
    }),
  );
  const tookMs: number[] = [];
  for (let i = 0; i < releases; i++) {
    const holder = await connectRaw({ baseUrl, token: holderToken });
    await holder.until("session:ready");
    const path = `/v1/subcases/${encodeURIComponent(subCaseUrn)}/lock`;
    expectStatus(await request(baseUrl, { method: "POST", path, token: holderToken, body: {} }), 200, path);
    const isFree = (client: (typeof watching)[number], since: number): Promise<number> =>
      client
        .untilHeard(() => client.events.slice(since).some(({ payload }) => payload.lockedBy === null))
        .then(() => performance.now());
    await Promise.all(
      watching.map((client) =>
        client.untilHeard(() => client.of("subcase:state-changed").at(-1)?.lockedBy !== null),
      ),
    );
    const freed = watching.map((client) => isFree(client, client.events.length));
    const cutAt = performance.now();
    holder.drop();
    for (const at of await Promise.all(freed)) tookMs.push(at - cutAt);
  }
  for (const client of watching) client.drop();
  return tookMs;
};

const idleBytes = async (stage: LiveStage, baseUrl: string, pid: number): Promise<number> => {
  const before = memoryOf(pid).anonymousBytes;
  const { tokens, cases } = stage;
  const sockets = 5000;
  const { caseUrn = "" } = cases[2] ?? {};
  const open = await connectAll(baseUrl, { sockets, tokens, caseUrn }, () => undefined);
  await delay(restMs);
  const after = memoryOf(pid).anonymousBytes;
  await closeAll(open);
  return (after - before) / sockets;
};

const run = async ({ say, signal }: BenchmarkRun) => {
  const own = await OwnInstance.start({ vendorLatencyMs: 20, say, signal });
  const gateways = await startGateways(own, signal);
  const peer = await startLivePeer(own, signal);
  try {
    const [gateway] = gateways as [(typeof gateways)[number]];
    const stage = await stageOf(own, gateways, { cases: 3, operators, random: Math.random });
    say("a gateway process of its own for the sockets, the peer likewise; the clients on the same machine");
    const released = await measureReleases(stage, gateway.url);
    const idle = await idleBytes(stage, gateway.url, gateway.pid ?? 0);
    const peerIdle = await idleBytes(stage, peer.url, peer.pid);
    const measured: Measured[] = [];
    for (const load of loads)
      for (const [server, baseUrl, pid] of [
        ["stopover", gateway.url, gateway.pid ?? 0],
        ["socket.io", peer.url, peer.pid],
      ] as const) {
        say(`${server}: ${load.sockets} sockets, ${load.perSecond} events a second to all of them`);
        measured.push(await measure(stage, { server, baseUrl, pid }, load));
      }
    const releasedMs = {
      p50: rounded(percentile(released, 0.5), 1),
      p99: rounded(percentile(released, 0.99), 1),
    };
    const figures = {
      measured,
      releasedMs,
      idleSocketBytes: { stopover: Math.round(idle), socketIo: Math.round(peerIdle) },
      loadAverage: loadAverage(),
    };
    return { figures, text: textOf(figures) };
  } finally {
    await peer.stop(1000);
    for (const one of gateways) await one.stop();
    await own.stop();
  }
};

interface Figures {
  measured: Measured[];
  releasedMs: { p50: number; p99: number };
  idleSocketBytes: { stopover: number; socketIo: number };
}

const textOf = ({ measured, releasedMs, idleSocketBytes }: Figures): string =>
  [
    table(
      ["server", "sockets", "p50 ms", "p99 ms", "CPU µs each", "case:updated p50", "p99"],
      measured.map(
        ({ server, sockets, p50Ms, p99Ms, cpuMicroseconds, updatedP50Ms = "", updatedP99Ms = "" }) =>
          [server, sockets, p50Ms, p99Ms, cpuMicroseconds, updatedP50Ms, updatedP99Ms].map(String),
      ),
    ),
    "Both broadcast subcase:state-changed at once and a case:updated for each 100 ms; CPU is of both messages together.",
    `A holder's last socket is cut → ${watchers} watchers hear that the lock is free: p50 ${releasedMs.p50} ms, p99 ${releasedMs.p99} ms.`,
    `An idle socket: ${(idleSocketBytes.stopover / 1024).toFixed(1)} KiB, of plain Socket.IO ${(idleSocketBytes.socketIo / 1024).toFixed(1)} KiB.`,
  ].join("\n");

export const live: Benchmark = {
  summary:
    "operators' sockets: commit → socket beside plain Socket.IO, lost holder → watchers, memory of an idle one",
  run,
};
