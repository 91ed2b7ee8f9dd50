/** Owns the line between gateways: what one tells, all others hear that are there, and nothing is kept (core NATS, no JetStream). */
import type { Streams } from "./connection.ts";

/** No subject of the streams' grammar: no stream may ever keep it. */
const subject = "gateways.counted";

export interface GatewayLine {
  /** Also heard by whoever tells it. */
  tell(text: string): void;
  /** False while the server is away: what is told then would be heard late, all at once. */
  isUp(): boolean;
  close(): void;
}

/** Calls back for every text told by any gateway from now on. */
export type OpenGatewayLine = (hear: (text: string) => void) => GatewayLine;

export const gatewayLineOver =
  ({ connection }: Streams): OpenGatewayLine =>
  (hear) => {
    const subscription = connection.subscribe(subject, {
      callback: (error, message) => {
        if (error === null) hear(message.string());
      },
    });
    let isUp = true;
    const statuses = connection.status();
    void (async () => {
      for await (const { type } of statuses) {
        if (type === "disconnect") isUp = false;
        if (type === "reconnect") isUp = true;
      }
    })();
    return {
      tell: (text) => connection.publish(subject, text),
      isUp: () => isUp && !connection.isClosed(),
      close: () => subscription.unsubscribe(),
    };
  };
