/** Owns how much one connection may send: a token bucket for each, forgotten with it. */
const perSecond = 20;
const burst = 60;

export class PacketRates {
  readonly #buckets = new WeakMap<object, { left: number; atMs: number }>();

  /** @param nowMs of a clock that never goes back; false: too much */
  take(connection: object, nowMs: number): boolean {
    const bucket = this.#buckets.get(connection) ?? { left: burst, atMs: nowMs };
    bucket.left = Math.min(burst, bucket.left + ((nowMs - bucket.atMs) / 1000) * perSecond);
    bucket.atMs = nowMs;
    this.#buckets.set(connection, bucket);
    if (bucket.left < 1) return false;
    bucket.left -= 1;
    return true;
  }
}
