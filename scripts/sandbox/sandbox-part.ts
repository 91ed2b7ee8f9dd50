/** Owns what the control address can ask of each part of the sandbox, in this process or in another. */

export interface SandboxPart {
  readonly name: string;
  /** `hotel`, `payment`, `message`, `transport`, `flight` or `receiver`. */
  readonly kind: string;
  readonly baseUrl: string;
  /** What a client sends to be let in; empty for the receiver. */
  readonly apiKey: string;
  /** What else it signs with; undefined: its dialect has no second secret. */
  readonly apiSecret?: string | undefined;
  /** What it signs its webhooks with; undefined: it sends none. */
  readonly webhookSecret?: string | undefined;
  /** What else a client configures, by the names of the service's dialect; undefined: nothing. */
  readonly account?: Record<string, string> | undefined;
  /** Plain data for `GET /ledger/<name>`. */
  ledger(): Promise<unknown>;
  /** Applies a change of settings and answers all of them. @throws TypeError naming what is wrong with the change. */
  control(change: unknown): Promise<unknown>;
  /** Marks bookings at a hotel's front desk, or rides at a fleet's. @throws TypeError naming what is wrong with the marking, or that it has no desk */
  stay(marking: unknown): Promise<unknown>;
  /** Uses a card. @throws TypeError naming what is wrong with the spending, or that it issues no cards */
  spend(spending: unknown): Promise<unknown>;
  /** Puts in what a flight-data vendor tells. @throws TypeError naming what is wrong with it, or that it predicts nothing */
  predict(prediction: unknown): Promise<unknown>;
  /** A reader answers. @throws TypeError naming what is wrong with the reply, or that it carries no messages */
  reply(reply: unknown): Promise<unknown>;
  /** Forgets all that was sold, sent and received, and the faults; keeps keys, ports, seed and secrets. */
  reset(): Promise<void>;
  healthy(): Promise<boolean>;
  stop(): Promise<void>;
}
