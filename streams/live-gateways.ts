/** Owns what gateways tell each other of the operators that have live sockets at them, and that they live themselves. What follows from it is theirs. */
import { createHash } from "node:crypto";
import type { Logger } from "pino";
import { watchBucket } from "./bucket.ts";
import type { Streams } from "./connection.ts";

const bucketName = "gateways";

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

export const liveGatewaysOver =
  (streams: Streams, log: Logger): WatchGateways =>
  async (watcher) => {
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
      onRemoved: (key) => {
        const [gateway, operator] = split(key);
        if (operator !== undefined) watcher.onAbsent(gateway, operator);
      },
      onUnreadable: (key, error) => log.error({ key, err: error }, "what a gateway told was not taken over"),
      onEnd: (error) => log.error({ err: error }, "other gateways are not heard of any more"),
    });
    const bucket = await streams.kv.create(bucketName, { history: 1 });
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
