/** Owns what the control address can ask of each part of the sandbox, in this process or in another. */

export interface SandboxPart {
  readonly name: string;
  /** `hotel`, `payment`, `message`, `transport` or `receiver`. */
  readonly kind: string;
  readonly baseUrl: string;
  /** What a client sends to be let in; empty for the receiver. */
  readonly apiKey: string;
  /** Plain data for `GET /ledger/<name>`. */
  ledger(): Promise<unknown>;
  /** Applies a change of settings and answers all of them. @throws TypeError naming what is wrong with the change. */
  control(change: unknown): Promise<unknown>;
  /** Marks bookings at a hotel's front desk. @throws TypeError naming what is wrong with the marking, or that it is no hotel */
  stay(marking: unknown): Promise<unknown>;
  /** Uses a card. @throws TypeError naming what is wrong with the spending, or that it issues no cards */
  spend(spending: unknown): Promise<unknown>;
  /** Forgets all that was sold, sent and received, and the faults; keeps keys, ports, seed and secrets. */
  reset(): Promise<void>;
  healthy(): Promise<boolean>;
  stop(): Promise<void>;
}
