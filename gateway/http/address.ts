/** Owns how a client's address is written, and which of those that a request names is the client's own. */
import { type BlockList, isIP } from "node:net";

/** From 4 or 16 bytes: dotted for IPv4 (also when mapped into IPv6, RFC 4291 §2.5.5.2), else eight groups in hexadecimal. */
export const readableAddress = (bytes: Buffer): string => {
  if (bytes.length === 4) return bytes.join(".");
  const mapped =
    bytes.length === 16 && bytes.readUInt16BE(10) === 0xffff && bytes.subarray(0, 10).every((b) => b === 0);
  if (mapped) return bytes.subarray(12).join(".");
  return (bytes.toString("hex").match(/.{4}/g) ?? []).join(":");
};

/**
 * The last address of the way that is none of ours: whoever connected, unless that is a proxy of ours, which appends whom it
 * speaks for. What stands further left was sent by the client and may be anything.
 * @param peer as `readableAddress` gives it
 * @param forwardedFor all values of `X-Forwarded-For`, in order, joined by commas
 */
export const clientAddress = (peer: string, forwardedFor: string, proxies: BlockList): string => {
  let client = peer;
  const hops = forwardedFor === "" ? [] : forwardedFor.split(",");
  while (hops.length > 0 && proxies.check(client, client.includes(":") ? "ipv6" : "ipv4")) {
    const next = readAddress(hops.pop()!);
    // A proxy of ours that names nobody is as far as can be seen.
    if (next === undefined) return client;
    client = next;
  }
  return client;
};

/** What one client holds: an IPv4 address, of IPv6 the /64 that a single line is given, or more of them. */
export const addressBlock = (address: string): string =>
  address.includes(":") ? `${address.split(":", 4).join(":")}::/64` : address;

/** As `readableAddress` writes it; undefined for what is no address. Proxies may add the port, and brackets with it. */
const readAddress = (text: string): string | undefined => {
  const [, bracketed, plain = ""] = /^\s*(?:\[([^\]]*)\](?::\d+)?|(.*?))\s*$/.exec(text) ?? [];
  const address = bracketed ?? (/^[\d.]+:\d+$/.test(plain) ? plain.slice(0, plain.indexOf(":")) : plain);
  switch (isIP(address)) {
    case 4:
      return address;
    case 6:
      return readableAddress(bytesOfIpv6(address));
    default:
      return undefined;
  }
};

/** @param address valid; a zone (RFC 4007 §11) is left out */
const bytesOfIpv6 = (address: string): Buffer => {
  const [withoutZone = ""] = address.split("%");
  // The URL parser writes every form in the shortest one, and the last four bytes in hexadecimal too.
  const [head = "", tail] = new URL(`http://[${withoutZone}]`).hostname.slice(1, -1).split("::");
  const groups = (part: string): string[] => (part === "" ? [] : part.split(":"));
  const [before, after] = [groups(head), groups(tail ?? "")];
  const zeros = Array<string>(8 - before.length - after.length).fill("0");
  const bytes = Buffer.alloc(16);
  for (const [i, group] of [...before, ...zeros, ...after].entries())
    bytes.writeUInt16BE(Number.parseInt(group, 16), 2 * i);
  return bytes;
};
