/** Owns how the demo's crowd, on one machine and deciding at once, gets along with the limits on real passengers. */

type Settings = Record<string, string>;

/** Linux has the whole of 127.0.0.0/8: a passenger can come from an address of the loopback's own. */
const hasManyAddresses = (baseUrl: string): boolean =>
  process.platform === "linux" && new URL(baseUrl).hostname === "127.0.0.1";

const loginsPerAddress = 5;

/** Where the demo's n-th passenger comes from, as no more than five do from one address; undefined: from the only one there is. */
export const passengerAddress = (baseUrl: string, index: number): string | undefined =>
  hasManyAddresses(baseUrl) ? `127.0.0.${2 + Math.floor(index / loginsPerAddress)}` : undefined;

/** Settings (`config/config.ts`) of an instance for the demo, as far as the person has not set them. */
export const demoLimits = (host: string, given: Readonly<Record<string, string | undefined>>): Settings => {
  const wanted: Settings = {
    // A hundred groups decide in two seconds on one route, where the default lets through sixty and then one every two seconds.
    RATE_PASSENGER: "300/60x2",
    ...(hasManyAddresses(`http://${host.includes(":") ? `[${host}]` : host}`)
      ? {}
      : { LOGIN_ATTEMPTS_ADDRESS: "200/15m" }),
  };
  return Object.fromEntries(Object.entries(wanted).filter(([name]) => !given[name]));
};
