/** Owns how connections to webhook targets are made: to the very address that was checked. */
import { Resolver } from "node:dns/promises";
import { isIP, type LookupFunction } from "node:net";
import { buildConnector } from "undici";
import { bare, checkAddress, TargetRefused, type TargetRules } from "./target.ts";

/** All addresses of a name. */
export type Resolve = (hostname: string) => Promise<{ address: string; family: number }[]>;

const resolver = new Resolver({ timeout: 5000, tries: 1 });

/**
 * Asks the name servers by itself (c-ares). The system's `getaddrinfo` would hold one of libuv's four threads for as long as
 * a partner's name server is silent, and with them everybody's files and names. The hosts file and search domains don't
 * count: a target is a public name, or `localhost` (RFC 6761, section 6.3).
 */
export const systemResolve: Resolve = async (hostname) => {
  const name = hostname.toLowerCase().replace(/\.$/, "");
  if (name === "localhost" || name.endsWith(".localhost"))
    return [
      { address: "127.0.0.1", family: 4 },
      { address: "::1", family: 6 },
    ];
  const [four, six] = await Promise.allSettled([resolver.resolve4(hostname), resolver.resolve6(hostname)]);
  const addresses = [
    ...(four.status === "fulfilled" ? four.value.map((address) => ({ address, family: 4 })) : []),
    ...(six.status === "fulfilled" ? six.value.map((address) => ({ address, family: 6 })) : []),
  ];
  if (addresses.length === 0 && four.status === "rejected") throw four.reason;
  return addresses;
};

/** One refused address refuses the name: who controls it controls which one we would come to. */
const checkedLookup =
  (secure: boolean, rules: TargetRules, resolve: Resolve): LookupFunction =>
  (hostname, options, callback) => {
    resolve(hostname).then(
      (addresses) => {
        const [first] = addresses;
        try {
          if (first === undefined) throw new TargetRefused("The target's name has no address.");
          for (const { address } of addresses) checkAddress(address, secure, rules);
        } catch (error) {
          callback(error as NodeJS.ErrnoException, "", 0);
          return;
        }
        if (options.all) callback(null, addresses);
        else callback(null, first!.address, first!.family);
      },
      (error) => callback(error, "", 0),
    );
  };

/**
 * How connections are made: the address that was checked is the address connected to, so a name that changes in
 * between gains nothing. A literal address is never looked up and is checked here.
 */
export const checkedConnector = (
  rules: TargetRules,
  timeoutMs: number,
  resolve: Resolve = systemResolve,
): buildConnector.connector => {
  const connectorOf = (secure: boolean) =>
    buildConnector({ timeout: timeoutMs, allowH2: false, lookup: checkedLookup(secure, rules, resolve) });
  const secureConnector = connectorOf(true);
  const plainConnector = connectorOf(false);
  return (options, callback) => {
    const secure = options.protocol === "https:";
    try {
      if (!secure && !rules.allowLoopback) throw new TargetRefused("The target must be reached over https.");
      const host = bare(options.hostname);
      if (isIP(host) !== 0) checkAddress(host, secure, rules);
    } catch (error) {
      callback(error as Error, null);
      return;
    }
    (secure ? secureConnector : plainConnector)(options, callback);
  };
};
