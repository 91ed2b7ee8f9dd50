// Where a webhook may go, that the checked address is the one connected to, and what hostile receivers come to.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { type AddressInfo, createServer as createTcpServer, type Server } from "node:net";
import t, { type Test } from "tap";
import { systemClock } from "../../../actors/runtime/clock.ts";
import { systemResolve } from "../../../actors/webhook/connector.ts";
import { createSender, Interrupted, type SenderOptions } from "../../../actors/webhook/effects.ts";
import { classify, targetFault } from "../../../actors/webhook/target.ts";

t.test("addresses", async (t) => {
  const expected = {
    loopback: ["127.0.0.1", "127.255.255.254", "::1", "::ffff:127.0.0.1"],
    refused: [
      ..."0.0.0.0 10.0.0.1 10.255.255.255 100.64.0.1 100.100.100.200 100.127.255.255 169.254.169.254".split(
        " ",
      ),
      ..."172.16.0.1 172.31.255.255 192.0.0.192 192.0.2.1 192.168.1.1 198.18.0.1 198.51.100.7".split(" "),
      ..."203.0.113.9 224.0.0.1 240.0.0.1 255.255.255.255 168.63.129.16".split(" "),
      ...":: fe80::1 fe80::1%eth0 fc00::1 fd00:ec2::254 ff02::1 2001:db8::1 2001::1 2002:a00:1::1".split(" "),
      ..."::ffff:10.0.0.1 ::ffff:a9fe:a9fe ::ffff:192.168.0.1 ::10.0.0.1 64:ff9b::a00:1 100::1 3fff::1".split(
        " ",
      ),
      ..."localhost 1.2.3 example.com".split(" "),
      "",
    ],
    public: [
      ..."8.8.8.8 1.1.1.1 93.184.216.34 172.15.0.1 172.32.0.1 100.63.255.255 100.128.0.1 11.0.0.1".split(" "),
      ..."2606:4700:4700::1111 2a00:1450:4001::200e ::ffff:8.8.8.8".split(" "),
    ],
  };
  for (const [kind, addresses] of Object.entries(expected)) {
    for (const address of addresses) t.equal(classify(address), kind, `${address || "(empty)"} is ${kind}`);
  }
});

t.test("URLs", async (t) => {
  const cases: [string, boolean, boolean][] = [
    // url, allowed in production, allowed in development
    ["https://partner.example/hooks?k=1", true, true],
    ["https://partner.example:8443/", true, true],
    ["https://8.8.8.8/", true, true],
    ["https://[2606:4700:4700::1111]/", true, true],
    ["http://partner.example/", false, true], // in development only as far as it resolves to loopback
    ["http://8.8.8.8/", false, false],
    ["http://127.0.0.1:9000/", false, true],
    ["https://127.0.0.1/", false, true],
    ["https://0x7f.1/", false, true],
    ["https://2130706433/", false, true],
    ["https://[::1]/", false, true],
    ["https://[::ffff:127.0.0.1]/", false, true],
    ["https://10.0.0.1/", false, false],
    ["https://169.254.169.254/latest/meta-data/", false, false],
    ["https://[::ffff:169.254.169.254]/", false, false],
    ["https://[fd00:ec2::254]/", false, false],
    ["https://user:pass@partner.example/", false, false],
    ["https://partner.example/#x", false, false],
    ["ftp://partner.example/", false, false],
    ["file:///etc/passwd", false, false],
    ["partner.example", false, false],
    [`https://partner.example/${"x".repeat(500)}`, false, false],
    ["", false, false],
  ];
  for (const [url, production, development] of cases) {
    t.equal(targetFault(url, { allowLoopback: false }) === undefined, production, `${url} in production`);
    t.equal(targetFault(url, { allowLoopback: true }) === undefined, development, `${url} in development`);
  }
});

t.test("localhost is no name server's business", async (t) => {
  for (const name of ["localhost", "LOCALHOST.", "hooks.localhost"])
    t.same(await systemResolve(name), [
      { address: "127.0.0.1", family: 4 },
      { address: "::1", family: 6 },
    ]);
});

const listen = async (t: Test, server: Server): Promise<number> => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  t.teardown(() => new Promise((resolve) => server.close(resolve)));
  return (server.address() as AddressInfo).port;
};

const senderOf = (t: Test, options: Partial<SenderOptions> = {}) => {
  const sender = createSender({ rules: { allowLoopback: true }, clock: systemClock, ...options });
  t.teardown(() => sender.close());
  return (url: string) => sender.send({ url, headers: { "Content-Type": "application/json" }, body: "{}" });
};

t.test("a name is refused by what it resolves to, at the connection itself", async (t) => {
  let connections = 0;
  const port = await listen(
    t,
    createTcpServer((socket) => {
      connections++;
      socket.destroy();
    }),
  );
  const addresses =
    (...list: string[]) =>
    async () =>
      list.map((address) => ({ address, family: address.includes(":") ? 6 : 4 }));
  const cases: [string, string, string[], boolean][] = [
    ["rebound to loopback", "https", ["127.0.0.1"], false],
    ["rebound to loopback in IPv6 clothing", "https", ["::ffff:127.0.0.1"], false],
    ["one public address hides a private one", "https", ["8.8.8.8", "10.0.0.1"], false],
    ["metadata", "https", ["169.254.169.254"], false],
    ["no address", "https", [], false],
    ["plain http in production", "http", ["8.8.8.8"], false],
    ["plain http to the world in development", "http", ["8.8.8.8"], true],
    ["private in development", "https", ["192.168.0.1"], true],
  ];
  for (const [what, scheme, resolved, allowLoopback] of cases) {
    const send = senderOf(t, { rules: { allowLoopback }, resolve: addresses(...resolved) });
    t.match(await send(`${scheme}://hooks.example:${port}/`), { failure: "TARGET_REFUSED" }, what);
  }
  const literal = senderOf(t, { rules: { allowLoopback: false } });
  t.match(await literal(`https://127.0.0.1:${port}/`), { failure: "TARGET_REFUSED" });
  t.match(await literal(`https://[::ffff:7f00:1]:${port}/`), { failure: "TARGET_REFUSED" });
  t.equal(connections, 0, "nobody was connected to");

  let asked = 0;
  const changing = senderOf(t, {
    resolve: async () => [{ address: asked++ === 0 ? "127.0.0.1" : "10.0.0.1", family: 4 }],
  });
  t.match(await changing(`http://hooks.example:${port}/`), { failure: "CONNECTION" });
  t.same([asked, connections], [1, 1], "resolved once: the checked address is the one connected to");

  const unknown = senderOf(t, {
    resolve: async () => {
      throw Object.assign(new Error(), { code: "ENOTFOUND" });
    },
  });
  t.match(await unknown("https://hooks.example/"), { failure: "CONNECTION", excerpt: "ENOTFOUND" });
});

t.test("answers, honest and hostile", async (t) => {
  const hostile: Record<string, (request: IncomingMessage, response: ServerResponse) => void> = {
    "/ok": (_, response) => response.end("thanks"),
    "/empty": (_, response) => response.writeHead(204).end(),
    "/long": (_, response) => response.end("word ".repeat(40_000)),
    "/busy": (_, response) => response.writeHead(503, { "Retry-After": "90" }).end("try\nlater"),
    "/redirect": (_, response) => response.writeHead(302, { Location: "/ok" }).end(),
    "/slow": () => undefined,
    "/drip": (_, response) => {
      response.write("a");
      const drip = setInterval(() => response.write("a"), 20);
      response.on("close", () => clearInterval(drip));
    },
    "/endless": (_, response) => {
      const more = (): void => {
        while (response.write("x".repeat(65_536)));
        response.once("drain", more);
      };
      more();
    },
    "/headers": (_, response) => response.writeHead(200, { "X-Much": "y".repeat(100_000) }).end(),
    "/cut": (_, response) => {
      response.writeHead(200, { "Content-Length": "1000" });
      response.write("half of", () => response.destroy());
    },
  };
  const seen: string[] = [];
  const server = createServer((request, response) => {
    seen.push(`${request.method} ${request.url}`);
    response.on("error", () => undefined);
    hostile[request.url!]?.(request, response);
  });
  const port = await listen(t, server);
  const [patient, hasty] = [senderOf(t), senderOf(t, { timeoutMs: 300 })];
  const expected: Record<string, object> = {
    "/ok": { status: 200, failure: undefined, excerpt: "thanks" },
    "/empty": { status: 204, failure: undefined, excerpt: undefined },
    "/long": { status: 200, failure: undefined, excerpt: "word ".repeat(40) },
    "/busy": { status: 503, retryAfterMs: 90_000, excerpt: "try later" },
    "/redirect": { status: 302 },
    "/slow": { status: undefined, failure: "TIMEOUT" },
    "/drip": { status: 200, failure: "TIMEOUT" },
    "/endless": { status: 200, failure: "ANSWER_TOO_LONG" },
    "/headers": { status: undefined, failure: "CONNECTION", excerpt: "UND_ERR_HEADERS_OVERFLOW" },
    "/cut": { status: 200, failure: "CONNECTION" },
  };
  for (const [path, result] of Object.entries(expected)) {
    const send = path === "/slow" || path === "/drip" ? hasty : patient;
    const found = await send(`http://127.0.0.1:${port}${path}`);
    t.match({ status: undefined, failure: undefined, excerpt: undefined, ...found }, result, path);
    t.ok(found.latencyMs < 5000 && (found.excerpt?.length ?? 0) <= 200);
  }
  t.equal(seen.filter((line) => line === "POST /ok").length, 1, "the redirect was not followed");

  const closing = createSender({ rules: { allowLoopback: true }, clock: systemClock });
  const reached = new Promise((resolve) => server.once("request", resolve));
  const hanging = closing.send({ url: `http://127.0.0.1:${port}/slow`, headers: {}, body: "{}" });
  await reached;
  const [ended] = await Promise.allSettled([hanging, closing.close()]);
  t.ok(
    ended.status === "rejected" && ended.reason instanceof Interrupted,
    "a stop is no failure of the receiver",
  );
  const [after] = await Promise.allSettled([
    closing.send({ url: "http://127.0.0.1/", headers: {}, body: "" }),
  ]);
  t.ok(after.status === "rejected" && after.reason instanceof Interrupted);
});

t.test("nobody listens", async (t) => {
  const server = createTcpServer();
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  t.match(await senderOf(t)(`http://127.0.0.1:${port}/`), { failure: "CONNECTION", excerpt: "ECONNREFUSED" });
});
