/** Owns the table of clients' addresses: through proxies of ours and of others, on paper and on a socket. */
import { once } from "node:events";
import { BlockList, connect } from "node:net";
import { text } from "node:stream/consumers";
import t from "tap";
import { proxiesOf } from "../../../config/limits.ts";
import { addressBlock, clientAddress } from "../../../gateway/http/address.ts";
import { listen } from "../../../gateway/http/exchange.ts";

t.test("which address is the client's", async (t) => {
  const proxies = proxiesOf("10.0.0.0/8, 192.0.2.7,fd00::/8");
  const table: [string, string, string, string][] = [
    ["nobody in between", "203.0.113.9", "", "203.0.113.9"],
    ["a stranger's header is not believed", "203.0.113.9", "198.51.100.1", "203.0.113.9"],
    ["through one proxy", "10.1.2.3", "198.51.100.1", "198.51.100.1"],
    ["what the client claims is left of it", "10.1.2.3", "1.1.1.1, 198.51.100.1", "198.51.100.1"],
    ["through two proxies of ours", "10.1.2.3", "1.1.1.1, 198.51.100.1, 192.0.2.7", "198.51.100.1"],
    ["all ours", "10.1.2.3", "10.9.9.9", "10.9.9.9"],
    ["a proxy that names nobody", "10.1.2.3", "", "10.1.2.3"],
    ["rubbish from a proxy", "10.1.2.3", "198.51.100.1, unknown", "10.1.2.3"],
    ["an obfuscated name", "10.1.2.3", "_hidden", "10.1.2.3"],
    ["with a port", "10.1.2.3", "198.51.100.1:4711", "198.51.100.1"],
    ["IPv6", "10.1.2.3", "2001:db8::1", "2001:0db8:0000:0000:0000:0000:0000:0001"],
    ["IPv6 with a port", "10.1.2.3", " [2001:DB8::1]:443 ", "2001:0db8:0000:0000:0000:0000:0000:0001"],
    ["IPv6 with dotted end", "10.1.2.3", "64:ff9b::192.0.2.33", "0064:ff9b:0000:0000:0000:0000:c000:0221"],
    ["IPv6 in full", "10.1.2.3", "1:2:3:4:5:6:7:8", "0001:0002:0003:0004:0005:0006:0007:0008"],
    ["IPv4 in IPv6", "10.1.2.3", "::ffff:198.51.100.1", "198.51.100.1"],
    ["a zone", "10.1.2.3", "fe80::1%eth0", "fe80:0000:0000:0000:0000:0000:0000:0001"],
    ["a proxy's IPv6", "fd00:0000:0000:0000:0000:0000:0000:0001", "198.51.100.1", "198.51.100.1"],
    ["empty hops", "10.1.2.3", "198.51.100.1,", "10.1.2.3"],
  ];
  for (const [what, peer, header, expected] of table)
    t.equal(clientAddress(peer, header, proxies), expected, what);
  t.equal(clientAddress("10.1.2.3", "198.51.100.1", new BlockList()), "10.1.2.3", "no proxies");
  t.equal(addressBlock("198.51.100.1"), "198.51.100.1");
  t.equal(addressBlock("2001:0db8:0001:0002:0000:0000:0000:0001"), "2001:0db8:0001:0002::/64");
  for (const wrong of [
    "10.0.0.0/33",
    "fd00::/129",
    "x",
    "10.0.0.0/8/8",
    "10.0.0.1,",
    "10.0.0.0/-1",
    "10.0.0.0/",
  ])
    t.throws(() => proxiesOf(wrong), TypeError, wrong);

  const server = await listen(
    "127.0.0.1",
    0,
    (exchange) => exchange.respond({ status: 200, headers: [], body: exchange.address() }),
    { proxies: proxiesOf("127.0.0.1") },
  );
  const asked = async (...headers: string[]): Promise<string | undefined> => {
    const socket = connect(server.port, "127.0.0.1");
    await once(socket, "connect");
    socket.end(
      `GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${headers.map((h) => `${h}\r\n`).join("")}\r\n`,
    );
    return (await text(socket)).split("\r\n\r\n")[1];
  };
  t.equal(await asked(), "127.0.0.1");
  t.equal(await asked("X-Forwarded-For: 198.51.100.1"), "198.51.100.1");
  t.equal(
    await asked("X-Forwarded-For: 203.0.113.66", "x-forwarded-for: 198.51.100.1"),
    "198.51.100.1",
    "a proxy's header of its own below the client's",
  );
  await server.close();
});
