/** Owns the limits of instances that serve one client a load which the contract's would not let through: far higher, and still counted. */

/** Settings (`config/config.ts`). A few thousand times the defaults: none is met by any load that a test or benchmark makes. */
export const raisedRates: Readonly<Record<string, string>> = {
  RATE_OPERATOR: "9000000/9000000x1",
  RATE_PASSENGER: "9000000/9000000x1",
  RATE_SESSION: "9000000/9000000x1",
  RATE_PARTNER_TIER1: "9000000/9000000x1",
  RATE_PARTNER_TIER2: "9000000/9000000x1",
  RATE_PARTNER_TIER3: "9000000/9000000x1",
  RATE_ADDRESS: "9000000x1",
  // Every passenger logs in from the one address of the load's own machine.
  LOGIN_ATTEMPTS_ADDRESS: "999/1s",
  LOGIN_ATTEMPTS_PNR: "999/1m",
  LOGIN_LINKS_ADDRESS: "999/1s",
};

/** As a benchmark or soak names what it overrides. */
export const raisedRatesText = Object.entries(raisedRates)
  .map(([name, value]) => `${name}=${value}`)
  .join(" ");
