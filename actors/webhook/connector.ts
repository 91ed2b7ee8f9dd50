/** Owns how connections to webhook targets are made: to the very address that was checked. */
import { lookup } from "node:dns/promises";
import { isIP, type LookupFunction } from "node:net";
import { buildConnector } from "undici";
import { bare, checkAddress, TargetRefused, type TargetRules } from "./target.ts";

/** All addresses of a name. */
export type Resolve = (hostname: string) => Promise<{ address: string; family: number }[]>;

export const systemResolve: Resolve = (hostname) => lookup(hostname, { all: true, verbatim: true });

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
