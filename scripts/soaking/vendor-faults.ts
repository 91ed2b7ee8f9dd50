/** Owns how badly the sandbox's vendors behave in a soak: one request in ten goes wrong, in every way there is. */

/** Share of all requests to every vendor, look-ups and searches included; together a tenth. */
const rates = {
  refusalRate: 0.02,
  unavailableRate: 0.02,
  /** Half of them after the work. */
  errorRate: 0.02,
  timeoutRate: 0.01,
  lostAnswerRate: 0.015,
  malformedRate: 0.015,
};

/** For the sandbox's control address; which requests go wrong follows from the seed. */
export const unreliableVendors = (seed: number) => ({ "*": { ...rates, seed: `soak-${seed}` } });

/** What was bad enough is over: the rest is settled, and the vendors' books can be read. */
export const reliableVendors = { "*": Object.fromEntries(Object.keys(rates).map((rate) => [rate, 0])) };

/** For the service: a vendor's silence costs little time. */
export const shortVendorPatience = { VENDOR_TIMEOUT_MS: "1000" };
