// Receivers that mean harm, as bytes on real sockets: each attempt at one ends in its time, holds neither memory nor connection, and is
// a failure wherever the contract's 2xx answer is not complete.
// In a process of its own: it measures memory.
import { createServer as createTlsServer } from "node:https";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { gzipSync } from "node:zlib";
import t, { type Test } from "tap";
import { systemClock } from "../../../actors/runtime/clock.ts";
import { createSender, type SenderOptions } from "../../../actors/webhook/effects.ts";
import type { CallResult } from "../../../actors/webhook/state.ts";
import { certified } from "../../harness/mail-server.ts";

const timeoutMs = 1000;
const mebibyte = 1_048_576;
const ok = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n";

/** Writes as fast as the other side reads, until it has gone or `more` has nothing more. */
const pour = (socket: Socket, more: () => string | Buffer | undefined): void => {
  for (;;) {
    if (socket.destroyed) return;
    const next = more();
    if (next === undefined) {
      socket.end();
      return;
    }
    if (!socket.write(next)) break;
  }
  socket.once("drain", () => pour(socket, more));
};

/** One more piece each 20 ms, for as long as the other side is there. */
const drip = (socket: Socket, piece: string): void => {
  const dripping = setInterval(() => socket.write(piece), 20);
  socket.once("close", () => clearInterval(dripping));
};

/** 4 MiB that would be 4 GiB: the same member over and over (RFC 1952, 2.2). */
const bomb = (() => {
  const member = gzipSync(Buffer.alloc(16 * mebibyte));
  return Buffer.concat(Array.from({ length: Math.ceil((4 * mebibyte) / member.length) }, () => member));
})();
const ofLength = (body: Buffer): string => `Content-Length: ${body.length}\r\n\r\n`;
const smallBomb = bomb.subarray(0, mebibyte / 2);

type Answer = (socket: Socket) => void;
const receivers: Record<string, { answer: Answer; expected: Partial<CallResult> & { delivered?: true } }> = {
  "says nothing": { answer: () => undefined, expected: { failure: "TIMEOUT" } },
  "sends its headers drop by drop": {
    answer: (socket) => {
      socket.write(ok);
      drip(socket, "X");
    },
    expected: { failure: "TIMEOUT" },
  },
  "sends its body drop by drop": {
    answer: (socket) => {
      socket.write(`${ok}Transfer-Encoding: chunked\r\n\r\n2\r\na \r\n`);
      drip(socket, "2\r\na \r\n");
    },
    expected: { status: 200, failure: "TIMEOUT", excerpt: /^(a )*a$/ as never },
  },
  "goes on telling that it has only begun (RFC 9110, 15.2)": {
    answer: (socket) => pour(socket, () => "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n".repeat(100)),
    expected: { failure: "TIMEOUT" },
  },
  "sends a megabyte of headers": {
    answer: (socket) => {
      const lines = Array.from({ length: 1024 }, (_, n) => `X-${n}: ${"y".repeat(1000)}\r\n`);
      socket.end(`${ok}${lines.join("")}\r\n`);
    },
    expected: { failure: "CONNECTION", excerpt: "UND_ERR_HEADERS_OVERFLOW" },
  },
  "sends one endless header": {
    answer: (socket) => {
      socket.write(`${ok}X-Endless: `);
      pour(socket, () => "y".repeat(65_536));
    },
    expected: { failure: "CONNECTION", excerpt: "UND_ERR_HEADERS_OVERFLOW" },
  },
  "sends a body without end": {
    answer: (socket) => {
      socket.write(`${ok}\r\n`);
      pour(socket, () => "x".repeat(65_536));
    },
    expected: { status: 200, failure: "ANSWER_TOO_LONG" },
  },
  "sends two megabytes in crumbs of one byte": {
    answer: (socket) => {
      let crumbs = 0;
      socket.write(`${ok}Transfer-Encoding: chunked\r\n\r\n`);
      pour(socket, () => {
        crumbs += 8192;
        return crumbs > 2 * mebibyte ? "0\r\n\r\n" : "1\r\na\r\n".repeat(8192);
      });
    },
    expected: { status: 200, failure: /^(ANSWER_TOO_LONG|TIMEOUT)$/ as never },
  },
  "sends a bomb": {
    answer: (socket) => {
      socket.write(`${ok}Content-Encoding: gzip\r\n${ofLength(bomb)}`);
      socket.write(bomb);
    },
    expected: { status: 200, failure: "ANSWER_TOO_LONG", excerpt: undefined as never },
  },
  "sends a bomb that would fit unopened": {
    answer: (socket) => {
      socket.write(`${ok}Content-Encoding: gzip\r\n${ofLength(smallBomb)}`);
      socket.write(smallBomb);
    },
    // A complete 2xx answer, of which nobody opens the body.
    expected: { status: 200, failure: undefined as never, excerpt: undefined as never, delivered: true },
  },
  "closes in the middle of its body": {
    answer: (socket) => socket.end(`${ok}Content-Length: 1000\r\n\r\nhalf of`),
    expected: { status: 200, failure: "CONNECTION" },
  },
  "closes in the middle of a chunk": {
    answer: (socket) => socket.end(`${ok}Transfer-Encoding: chunked\r\n\r\n64\r\nhalf of`),
    expected: { status: 200, failure: "CONNECTION" },
  },
  "resets the connection": {
    answer: (socket) => socket.resetAndDestroy(),
    expected: { failure: "CONNECTION" },
  },
  "speaks no HTTP": {
    answer: (socket) => socket.end("220 mail.example ESMTP\r\n"),
    expected: { failure: "CONNECTION" },
  },
  "gives two lengths": {
    answer: (socket) => socket.end(`${ok}Content-Length: 2\r\nContent-Length: 3\r\n\r\nabc`),
    expected: { failure: "CONNECTION" },
  },
  "leads to the metadata service": {
    answer: (socket) =>
      socket.end(
        "HTTP/1.1 307 Temporary Redirect\r\nLocation: http://169.254.169.254/\r\nContent-Length: 0\r\n\r\n",
      ),
    expected: { status: 307, failure: undefined as never },
  },
  "answers before it has heard": {
    answer: (socket) => socket.end("HTTP/1.1 500 No\r\nContent-Length: 4\r\n\r\nbusy"),
    expected: { status: 500, excerpt: "busy" },
  },
};

const senderOf = (t: Test, options: Partial<SenderOptions> = {}) => {
  const sender = createSender({ rules: { allowLoopback: true }, clock: systemClock, timeoutMs, ...options });
  t.teardown(() => sender.close());
  return (url: string) => sender.send({ url, headers: {}, body: "{}" });
};

/** A server that treats everybody so. */
const hostile = async (t: Test, answer: Answer) => {
  const open = new Set<Socket>();
  let emptied: () => void = () => undefined;
  const server = createServer((socket) => {
    open.add(socket);
    socket.on("error", () => undefined);
    socket.once("close", () => {
      open.delete(socket);
      if (open.size === 0) emptied();
    });
    socket.once("data", () => answer(socket));
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  t.teardown(() => {
    for (const socket of open) socket.destroy();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  /** Resolves once nobody is connected. */
  const left = () =>
    new Promise<void>((gone) => {
      emptied = gone;
      if (open.size === 0) gone();
    });
  return { url: `http://127.0.0.1:${port}/`, left };
};

/** Of what JavaScript and its buffers hold. */
const heldBytes = (): number => {
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
};

for (const [does, { answer, expected }] of Object.entries(receivers)) {
  t.test(`a receiver that ${does}`, async (t) => {
    const { url, left } = await hostile(t, answer);
    const send = senderOf(t);
    let [heldMax, turnMs, last] = [0, 0, performance.now()];
    const began = performance.now();
    const before = heldBytes();
    const watching = setInterval(() => {
      turnMs = Math.max(turnMs, performance.now() - last);
      last = performance.now();
      heldMax = Math.max(heldMax, heldBytes() - before);
    }, 10);
    const { delivered, ...wanted } = expected;
    const results = await Promise.all(Array.from({ length: 4 }, () => send(url)));
    clearInterval(watching);
    for (const result of results) {
      t.match({ status: undefined, failure: undefined, ...result }, wanted);
      const isSuccess = result.failure === undefined && result.status === 200;
      t.equal(isSuccess, delivered === true, "what counts as delivered");
      t.ok((result.excerpt?.length ?? 0) <= 200);
    }
    const tookMs = performance.now() - began;
    t.ok(tookMs < 5 * timeoutMs, `over in its time (${Math.round(tookMs)} ms)`);
    t.ok(heldMax < 96 * mebibyte, `memory is not held (${Math.round(heldMax / mebibyte)} MiB)`);
    if (results.every(({ failure }) => failure !== undefined)) await left();
    t.comment(`${Math.round(tookMs)} ms, longest turn ${Math.round(turnMs)} ms`);
  });
}

t.test("a name that nobody resolves takes no longer, either", async (t) => {
  const send = senderOf(t, { resolve: () => new Promise(() => undefined) });
  const result = await send("http://hooks.example/");
  t.match(result, { failure: "TIMEOUT" });
  t.ok(result.latencyMs < 5 * timeoutMs);
});

t.test("a certificate that nobody vouches for", async (t) => {
  const server = createTlsServer(await certified(), (_, response) => response.end());
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  t.teardown(() => server.close());
  const { port } = server.address() as AddressInfo;
  t.match(await senderOf(t)(`https://localhost:${port}/`), {
    failure: "CONNECTION",
    excerpt: /SELF_SIGNED|UNABLE_TO_VERIFY/,
  });
});

t.test("a name whose address changes between the check and the connection", async (t) => {
  // Asked again it would tell another one: it is asked once, and what was checked is what would be connected to.
  const told: string[] = [];
  const rebinding = (...addresses: string[]) =>
    senderOf(t, {
      rules: { allowLoopback: false },
      resolve: async () => {
        const address = addresses[told.length] ?? "169.254.169.254";
        told.push(address);
        return [{ address, family: address.includes(":") ? 6 : 4 }];
      },
    });
  const private4 = ["10.0.0.1", "127.0.0.1", "0.0.0.0", "100.64.0.1", "169.254.169.254", "192.168.1.1"];
  for (const address of [...private4, "fd00::1", "fe80::1", "::ffff:10.0.0.1", "::1", "::"]) {
    told.length = 0;
    t.match(await rebinding(address)("https://hooks.example/"), { failure: "TARGET_REFUSED" }, address);
    t.same(told, [address], "asked once");
  }
});
