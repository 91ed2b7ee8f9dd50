/** Owns what gateways tell each other of the operators that have live sockets at them, and that they live themselves. What follows from it is theirs. */
import { createHash } from "node:crypto";
import type { Logger } from "pino";
import { type RemovalMark, takeMark, watchBucket } from "./bucket.ts";
import type { Streams } from "./connection.ts";

const bucketName = "gateways";
/** Whoever is cut off for less learns of every removal when they come back. */
const markKeptForMs = 86_400_000;

/** An operator with live sockets at one gateway. */
export interface PresentOperator {
  /** The airline's code. */
  tenant: string;
  operatorUrn: string;
  /** ISO 8601 UTC: when the first of them was opened. */
  since: string;
  /** Cases that they watch there. */
  cases: string[];
}

export interface GatewayWatcher {
  /** It lives. @param toldAt by the server's clock */
  onBeat(gateway: string, toldAt: Date): void;
  /** @param key the same for an operator at every gateway */
  onPresent(gateway: string, key: string, operator: PresentOperator, toldAt: Date): void;
  onAbsent(gateway: string, key: string): void;
}

export interface LiveGateways {
  beat(gateway: string): Promise<void>;
  tellPresent(gateway: string, operator: PresentOperator): Promise<void>;
  tellAbsent(gateway: string, key: string): Promise<void>;
  /** Nothing is known of it any more. */
  forget(gateway: string): Promise<void>;
  /** False while others are not heard. */
  live(): boolean;
  close(): void;
}

export type WatchGateways = (watcher: GatewayWatcher) => Promise<LiveGateways>;

/** Subjects hold characters that no key can. */
export const operatorKey = (tenant: string, operatorUrn: string): string =>
  `${tenant}-${createHash("sha256").update(operatorUrn).digest("base64url")}`;

/** @param now says of which removals the marks are taken out: each gateway's start and each operator's leave one. */
export const liveGatewaysOver =
  (streams: Streams, log: Logger, now = () => new Date()): WatchGateways =>
  async (watcher) => {
    const old = new Map<string, RemovalMark>();
    const split = (key: string): [string, string | undefined] => {
      const [gateway = "", operator] = key.split(".");
      return [gateway, operator];
    };
    const watched = await watchBucket<PresentOperator>(streams, bucketName, {
      onValue: (key, value, toldAt) => {
        const [gateway, operator] = split(key);
        if (operator === undefined) watcher.onBeat(gateway, toldAt);
        else watcher.onPresent(gateway, operator, value, toldAt);
      },
      onRemoved: (key, mark) => {
        if (now().getTime() - mark.at.getTime() > markKeptForMs) old.set(key, mark);
        const [gateway, operator] = split(key);
        if (operator !== undefined) watcher.onAbsent(gateway, operator);
      },
      onUnreadable: (key, error) => log.error({ key, err: error }, "what a gateway told was not taken over"),
      onEnd: (error) => log.error({ err: error }, "other gateways are not heard of any more"),
    });
    const bucket = await streams.kv.create(bucketName, { history: 1 });
    void takeMarks(streams, old, log);
    return {
      beat: async (gateway) => {
        await bucket.put(gateway, "{}");
      },
      tellPresent: async (gateway, operator) => {
        const key = operatorKey(operator.tenant, operator.operatorUrn);
        await bucket.put(`${gateway}.${key}`, JSON.stringify(operator));
      },
      tellAbsent: (gateway, key) => bucket.delete(`${gateway}.${key}`),
      forget: (gateway) => bucket.purge(gateway),
      live: () => watched.live(),
      close: () => watched.close(),
    };
  };

/** One after the other, beside all else: there may be many where gateways have come and gone for months. Never rejects. */
const takeMarks = async (streams: Streams, marks: Map<string, RemovalMark>, log: Logger): Promise<void> => {
  try {
    for (const [key, mark] of marks) {
      await takeMark(streams, bucketName, key, mark);
      marks.delete(key);
    }
  } catch (error) {
    log.warn({ err: error }, "marks of gateways and operators that are gone stay until the next start");
  }
};
