/** Owns the beat at which a gateway shares its counts and forgets what is full: one timer. What is told is `sharing.ts`'s. */
import type { Logger } from "pino";
import type { GatewayLine, OpenGatewayLine } from "../../streams/gateway-line.ts";
import type { Rates } from "./rates.ts";
import { RateSharing } from "./sharing.ts";

/** The others let through at most what comes in this time before they are told (and the way to them). */
const tellEveryMs = 100;

export interface ShareParts {
  rates: Rates;
  /** Undefined: this gateway is alone. */
  openLine: OpenGatewayLine | undefined;
  /** Unlike every other gateway's. */
  self: string;
  now: () => Date;
  log: Logger;
}

/** Returns what stops it, after telling what is left to tell. */
export const shareRates = ({ rates, openLine, self, now, log }: ShareParts): (() => void) => {
  const sharing = new RateSharing(rates, self, (text) => line?.tell(text));
  const line: GatewayLine | undefined = openLine?.((text) => {
    try {
      sharing.hear(text, now().getTime());
    } catch (error) {
      log.warn({ err: error }, "counts of another gateway were not taken over");
    }
  });
  if (line !== undefined) sharing.join();
  const tell = (): void => {
    if (line?.isUp() === true) sharing.tell();
    else sharing.dropUntold();
  };
  const beat = setInterval(() => {
    tell();
    rates.forgetFull(now().getTime());
  }, tellEveryMs);
  beat.unref();
  return () => {
    clearInterval(beat);
    tell();
    line?.close();
  };
};
