/** Owns which addresses a webhook may go to: public ones over https. Where they are checked is the connector's business. */
import { BlockList, isIP } from "node:net";

/** The target is not one that we connect to. The message names no address: it is shown to partners. */
export class TargetRefused extends Error {}

export interface TargetRules {
  /** Development: http and loopback are allowed, http to loopback only. */
  allowLoopback: boolean;
}

const blockList = (subnets: string[]): BlockList => {
  const list = new BlockList();
  for (const subnet of subnets) {
    const [address = "", prefix] = subnet.split("/");
    list.addSubnet(address, Number(prefix), isIP(address) === 6 ? "ipv6" : "ipv4");
  }
  return list;
};

const loopback = blockList(["127.0.0.0/8", "::1/128"]);

/** What IANA's IPv4 special-purpose registry (RFC 6890) keeps from the public network, and clouds' metadata services. */
const specialIpv4 = blockList([
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/4",
  "240.0.0.0/4",
  // A cloud's metadata service on an address that looks public.
  "168.63.129.16/32",
]);

/** Global unicast is all that IANA has given out of IPv6; everything outside it is special. */
const globalIpv6 = blockList(["2000::/3"]);
/** Inside it: protocol assignments with Teredo, documentation, and 6to4, which carries any IPv4 address. */
const specialIpv6 = blockList(["2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"]);
const mappedIpv4 = blockList(["::ffff:0:0/96"]);

/** Whether an address is loopback, and whether it is public. IPv4 inside IPv6 (`::ffff:a.b.c.d`) counts as IPv4. */
export const classify = (address: string): "loopback" | "public" | "refused" => {
  const version = isIP(address);
  if (version === 0 || address.includes("%")) return "refused";
  const family = version === 6 ? "ipv6" : "ipv4";
  if (loopback.check(address, family)) return "loopback";
  // A BlockList looks a mapped address up among its IPv4 rules.
  if (version === 4 || mappedIpv4.check(address, "ipv6")) {
    return specialIpv4.check(address, family) ? "refused" : "public";
  }
  return globalIpv6.check(address, family) && !specialIpv6.check(address, family) ? "public" : "refused";
};

/**
 * @param secure over https
 * @throws TargetRefused
 */
export const checkAddress = (address: string, secure: boolean, rules: TargetRules): void => {
  const kind = classify(address);
  if (kind === "loopback" && rules.allowLoopback) return;
  if (kind !== "public") throw new TargetRefused("The target's address is not a public one.");
  if (!secure) throw new TargetRefused("The target must be reached over https.");
};

/** Without the brackets that a URL puts around IPv6. */
export const bare = (hostname: string): string => hostname.replace(/^\[(.*)\]$/, "$1");

/** Why a text cannot be a target; undefined when it can as far as that is known without resolving it. */
export const targetFault = (text: string, rules: TargetRules): string | undefined => {
  const url = URL.parse(text);
  if (url === null || text.length > 500) return "not an absolute URL of at most 500 characters";
  const secure = url.protocol === "https:";
  if (!secure && !(url.protocol === "http:" && rules.allowLoopback)) return "must be an https URL";
  if (url.username !== "" || url.password !== "") return "must not carry a user or password";
  if (url.hash !== "") return "must not have a fragment";
  const host = bare(url.hostname);
  if (isIP(host) === 0) return undefined;
  try {
    checkAddress(host, secure, rules);
  } catch (error) {
    return (error as Error).message;
  }
  return undefined;
};
