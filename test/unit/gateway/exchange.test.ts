/** Owns the tests of the HTTP exchange on real sockets: bodies, aborts, keep-alive, slow readers, stopping. */
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import t, { type Test } from "tap";
import { BodyRoom } from "../../../gateway/http/body-room.ts";
import { type Exchange, ListenError, listen, RequestAborted } from "../../../gateway/http/exchange.ts";
import { Problem } from "../../../schemas/problems.ts";

const host = "127.0.0.1";
const limitBytes = 1000;

/** Answers with what it was sent; tells of what went wrong by its name. */
const echo = async (exchange: Exchange): Promise<void> => {
  exchange.collectBody(limitBytes);
  try {
    const body = await exchange.body();
    exchange.respond({ status: 200, headers: [["X-Path", exchange.path]], body: `got ${body.length}` });
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    exchange.respond({ status: error.status, headers: [], body: error.code });
  }
};

const serve = async (t: Test, handle: (exchange: Exchange) => void | Promise<void>) => {
  const server = await listen(host, 0, handle);
  t.teardown(() => server.close());
  return server;
};

/** A raw connection whose received text can be waited for. */
class Client {
  readonly socket: Socket;
  /** The first 64 KiB of what came. */
  text = "";
  receivedBytes = 0;
  closed = false;
  #changed: () => void = () => {};

  constructor(port: number) {
    this.socket = connect(port, host);
    this.socket.on("data", (chunk) => {
      this.receivedBytes += chunk.length;
      if (this.text.length < 65_536) this.text += chunk.toString("latin1");
      this.#changed();
    });
    this.socket.on("close", () => {
      this.closed = true;
      this.#changed();
    });
    // A reset is one of the ways a server ends a connection; `closed` tells of it.
    this.socket.on("error", () => {});
  }

  send(text: string): this {
    this.socket.write(text);
    return this;
  }

  async until(condition: (client: Client) => boolean): Promise<string> {
    while (!condition(this)) {
      await new Promise<void>((resolve) => {
        this.#changed = resolve;
      });
    }
    return this.text;
  }

  says(text: string): Promise<string> {
    return this.until((client) => client.text.includes(text));
  }
}

const post = (path: string, length: number): string =>
  `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Length: ${length}\r\n\r\n`;

t.test("bodies", async (t) => {
  const { port } = await serve(t, echo);
  const client = new Client(port);
  t.teardown(() => client.socket.destroy());
  await client.send(post("/a", 5)).send("hello").says("got 5");
  t.match(client.text, "X-Path: /a");
  client.text = "";
  // In pieces, with a turn of both sides between them.
  client.send(post("/slow", 6));
  for (const piece of ["ab", "cd", "ef"]) {
    client.send(piece);
    await new Promise(setImmediate);
  }
  await client.says("got 6");
  client.text = "";
  await client
    .send("POST /chunked HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n")
    .send("3\r\nabc\r\n")
    .send("0\r\n\r\n")
    .says("got 3");
  client.text = "";
  await client.send("GET /none HTTP/1.1\r\nHost: x\r\n\r\n").says("got 0");
  t.notOk(client.closed, "one connection for all of it");
});

t.test("bodies over the limit", async (t) => {
  const { port } = await serve(t, echo);
  const declared = new Client(port);
  t.teardown(() => declared.socket.destroy());
  await declared.send(post("/big", 5000)).says("validation/too-large");
  declared.text = "";
  await declared.send("x".repeat(5000)).send("GET /next HTTP/1.1\r\nHost: x\r\n\r\n").says("got 0");
  t.notOk(declared.closed, "told before a byte was read; the rest is drained and the connection lives on");
  const chunked = new Client(port);
  chunked.send("POST /big HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
  chunked.send(`${(2000).toString(16)}\r\n${"x".repeat(2000)}\r\n`);
  const text = await chunked.until((client) => client.closed);
  t.match(text, /^HTTP\/1.1 413 Payload Too Large/);
  t.match(text, "Connection: close", "nobody reads without an end");
  const endless = new Client(port);
  const told = await endless.send(post("/endless", 2 ** 33)).until((client) => client.closed);
  t.match(told, /^HTTP\/1.1 413/);
});

t.test("bodies that share a room", async (t) => {
  const room = new BodyRoom(1000);
  const arrived: Exchange[] = [];
  const { port } = await serve(t, async (exchange) => {
    exchange.collectBody(limitBytes, room);
    arrived.push(exchange);
    try {
      const body = await exchange.body();
      // Kept until it is answered: whoever reads it has it.
      if (exchange.path.startsWith("/held")) await held[exchange.path]?.promise;
      exchange.respond({ status: 200, headers: [], body: `got ${body.length}` });
    } catch (error) {
      if (!(error instanceof Problem)) return;
      exchange.respond({ status: error.status, headers: [], body: JSON.stringify(error.record()) });
    }
  });
  const held: Record<string, PromiseWithResolvers<void>> = {
    "/held": Promise.withResolvers(),
    "/held-of-nobody": Promise.withResolvers(),
  };
  const client = () => {
    const one = new Client(port);
    t.teardown(() => one.socket.destroy());
    return one;
  };
  const isFree = (bytes: number): boolean => {
    const free = room.take(bytes);
    if (free) room.giveBack(bytes);
    return free;
  };
  const until = async (condition: () => boolean): Promise<void> => {
    while (!condition()) await new Promise(setImmediate);
  };
  // Half of it has come, and waits.
  const slow = client().send(post("/slow", 800)).send("x".repeat(600));
  await until(() => !isFree(401));
  const refused = await client().send(post("/", 500)).send("y".repeat(500)).says("upstream/unavailable");
  t.match(refused, /^HTTP\/1\.1 503 .*"retryAfterSeconds":5/s);
  t.ok(isFree(400), "what is refused keeps nothing");
  await client().send(post("/", 400)).send("y".repeat(400)).says("got 400");
  slow.send("x".repeat(200));
  await slow.says("got 800");
  t.ok(isFree(1000), "answered");
  const gone = client().send(post("/gone", 900)).send("z".repeat(700));
  await until(() => !isFree(301));
  gone.socket.destroy();
  await until(() => isFree(1000));
  t.pass("gone");
  const reading = client().send(post("/held", 700)).send("z".repeat(700));
  await until(() => !isFree(301));
  await client().send(post("/", 400)).send("y".repeat(400)).says("upstream/unavailable");
  held["/held"]?.resolve();
  await reading.says("got 700");
  const left = client().send(post("/held-of-nobody", 700)).send("z".repeat(700));
  await until(() => !isFree(301));
  left.socket.destroy();
  await until(() => arrived.at(-1)?.address() === "");
  t.notOk(isFree(301), "who went away, but its reader has it still");
  held["/held-of-nobody"]?.resolve();
  await until(() => isFree(1000));
  const large = client().send("POST /big HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n");
  large.send(`${(600).toString(16)}\r\n${"x".repeat(600)}\r\n`);
  await until(() => !isFree(401));
  large.send(`${(600).toString(16)}\r\n${"x".repeat(600)}\r\n`);
  await large.says("validation/too-large");
  t.ok(isFree(1000), "too large");
});

t.test("an answer before the body has come", async (t) => {
  const { port } = await serve(t, (exchange) => {
    exchange.collectBody(limitBytes);
    exchange.respond({ status: 401, headers: [], body: "no" });
    exchange.respond({ status: 200, headers: [], body: "a second answer is not sent" });
  });
  const client = new Client(port);
  t.teardown(() => client.socket.destroy());
  await client.send(post("/", 600)).send("x".repeat(300)).says("no");
  client.text = "";
  await client.send("y".repeat(300)).send(post("/", 0)).says("no");
  t.equal(client.text.match(/HTTP\/1.1/g)?.length, 1);
});

t.test("a client that goes away", async (t) => {
  const failed = Promise.withResolvers<unknown>();
  const waiting = Promise.withResolvers<Exchange>();
  const { port } = await serve(t, async (exchange) => {
    exchange.collectBody(limitBytes);
    waiting.resolve(exchange);
    await exchange.body().catch(failed.resolve);
  });
  const client = new Client(port).send(post("/", 600)).send("half");
  const exchange = await waiting.promise;
  client.socket.destroy();
  t.type(await failed.promise, RequestAborted);
  exchange.respond({ status: 200, headers: [], body: "nobody is left" });
  t.equal(exchange.address(), "");
  await t.rejects(exchange.body(), { name: "RequestAborted" });
});

t.test("HEAD, 204 and 304 on a kept connection", async (t) => {
  const { port } = await serve(t, (exchange) => {
    const status = Number(exchange.path.slice(1));
    exchange.respond({
      status,
      headers: [["X-Method", exchange.method]],
      body: status === 200 ? "héllo" : undefined,
    });
  });
  const client = new Client(port);
  t.teardown(() => client.socket.destroy());
  const ask = async (method: string, path: string): Promise<string> => {
    client.text = "";
    return client.send(`${method} ${path} HTTP/1.1\r\nHost: x\r\n\r\n`).says("\r\n\r\n");
  };
  const head = await ask("HEAD", "/200");
  t.match(head, "Content-Length: 6");
  t.match(head, /\r\n\r\n$/, "no body");
  t.match(await ask("OPTIONS", "/204"), /^HTTP\/1.1 204 No Content(?!.*Content-Length)/s);
  t.match(await ask("HEAD", "/204"), /^HTTP\/1.1 204/);
  t.match(await ask("GET", "/304"), /^HTTP\/1.1 304 Not Modified(?!.*Content-Length)/s);
  t.match(await ask("GET", "/200"), "X-Method: GET");
  t.match(await ask("PROPFIND", "/200"), "X-Method: PROPFIND");
});

t.test("a large answer to a slow reader", async (t) => {
  const body = Buffer.alloc(12_000_000, "s");
  const { port } = await serve(t, (exchange) => {
    exchange.respond({ status: 200, headers: [], body: exchange.query === "text" ? body.toString() : body });
  });
  for (const kind of ["bytes", "text"]) {
    const client = new Client(port);
    client.send(`GET /?${kind} HTTP/1.1\r\nHost: x\r\n\r\n`);
    const head = (await client.says("\r\n\r\n")).split("\r\n\r\n")[0] ?? "";
    t.match(head, "Content-Length: 12000000");
    client.socket.pause();
    await new Promise(setImmediate);
    client.socket.resume();
    await client.until(({ receivedBytes }) => receivedBytes >= head.length + 4 + body.length);
    client.text = "";
    client.receivedBytes = 0;
    await client.send(`GET /?${kind} HTTP/1.1\r\nHost: x\r\n\r\n`).says("Content-Length: 12000000");
    await client.until(({ receivedBytes }) => receivedBytes >= head.length + 4 + body.length);
    t.equal(client.receivedBytes, head.length + 4 + body.length, `${kind}, on the kept connection`);
    client.socket.destroy();
  }
});

t.test("a streamed answer holds no more than its reader has room for", async (t) => {
  const chunk = Buffer.alloc(200_000, "s");
  const totalBytes = 200 * 1024 * 1024;
  let producedBytes = 0;
  async function* source() {
    while (producedBytes < totalBytes) {
      producedBytes += chunk.length;
      yield chunk;
    }
  }
  const { port } = await serve(t, async (exchange) => {
    if (exchange.path !== "/table") return void exchange.respond({ status: 200, headers: [], body: "pong" });
    await exchange.respond({ status: 200, headers: [], body: undefined, stream: source() });
  });
  const slow = new Client(port);
  slow.send("GET /table HTTP/1.1\r\nHost: x\r\n\r\n");
  await slow.says("\r\n\r\n");
  t.match(slow.text, /^HTTP\/1.1 200 OK.*Transfer-Encoding: chunked/is);
  slow.socket.pause();
  // While it reads nothing the server has many turns in which it could produce all of it.
  const other = new Client(port);
  t.teardown(() => other.socket.destroy());
  for (let turn = 0; turn < 1000; turn++) {
    other.text = "";
    await other.send("GET /ping HTTP/1.1\r\nHost: x\r\n\r\n").says("pong");
  }
  let keptBytesMax = producedBytes - slow.receivedBytes;
  slow.socket.on("data", () => {
    keptBytesMax = Math.max(keptBytesMax, producedBytes - slow.receivedBytes);
  });
  slow.socket.resume();
  await slow.until(({ receivedBytes }) => receivedBytes >= totalBytes);
  t.ok(
    keptBytesMax < 16 * 1024 * 1024,
    `${keptBytesMax} bytes were on their way at most, the kernel's own included`,
  );
  let tail = "";
  slow.socket.on("data", (bytes) => {
    tail = (tail + bytes.toString("latin1")).slice(-5);
  });
  slow.text = "";
  await slow.send("GET /ping HTTP/1.1\r\nHost: x\r\n\r\n").until(() => tail === "\npong" || slow.closed);
  t.equal(slow.closed, false, "and the connection lives on");
  slow.socket.destroy();
});

t.test("a streamed answer that is not read to its end", async (t) => {
  const ended: string[] = [];
  const changed = { tell: () => {} };
  async function* source(name: string) {
    try {
      for (let i = 0; ; i++) {
        if (name === "/broken" && i === 3) throw new Error("out of rows");
        yield name === "/aborted" ? Buffer.alloc(100_000) : "row\r\n";
        if (name === "/short") return;
      }
    } finally {
      ended.push(name);
      changed.tell();
    }
  }
  const failures: unknown[] = [];
  const { port } = await serve(t, async (exchange) => {
    const answer = { status: 200, headers: [], body: undefined, stream: source(exchange.path) };
    await exchange.respond(answer)?.catch((error) => failures.push(error));
    changed.tell();
  });
  const until = async (holds: () => boolean): Promise<void> => {
    while (!holds()) await new Promise<void>((resolve) => (changed.tell = resolve));
  };
  const ask = (method: string, path: string) =>
    new Client(port).send(`${method} ${path} HTTP/1.1\r\nHost: x\r\n\r\n`);
  const whole = ask("GET", "/short");
  t.match(await whole.says("0\r\n\r\n"), "\r\n5\r\nrow\r\n\r\n0\r\n\r\n");
  whole.text = "";
  const head = await whole.send("HEAD /head HTTP/1.1\r\nHost: x\r\n\r\n").says("\r\n\r\n");
  t.notMatch(head, "row");
  await until(() => ended.includes("/head"));
  const aborted = ask("GET", "/aborted");
  await aborted.says("\r\n\r\n");
  aborted.socket.destroy();
  await until(() => ended.includes("/aborted"));
  const broken = ask("GET", "/broken");
  const text = await broken.until(({ closed }) => closed);
  t.notMatch(text, "\r\n0\r\n\r\n", "no end is told where there was none");
  await until(() => failures.length > 0);
  t.match(failures, [{ message: "out of rows" }]);
  t.strictSame(ended, ["/short", "/head", "/aborted", "/broken"]);
  whole.socket.destroy();
});

t.test("a taken port is an error", async (t) => {
  const { port } = await serve(t, echo);
  await t.rejects(
    listen(host, port, echo),
    new ListenError(`Cannot listen on ${host}:${port}: the port is taken or the address is not local`),
  );
});

t.test("a stop finishes what is under way", async (t) => {
  const asked = Promise.withResolvers<Exchange>();
  const server = await serve(t, (exchange) => {
    if (exchange.path === "/late") asked.resolve(exchange);
    else exchange.respond({ status: 200, headers: [], body: "at once" });
  });
  const idle = new Client(server.port);
  await idle.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n").says("at once");
  const late = new Client(server.port).send("GET /late HTTP/1.1\r\nHost: x\r\n\r\n");
  const exchange = await asked.promise;
  const closing = server.close();
  const refused = connect(server.port, host);
  const [error] = (await once(refused, "error")) as [NodeJS.ErrnoException];
  t.equal(error.code, "ECONNREFUSED", "nobody new is let in");
  exchange.respond({ status: 200, headers: [], body: "just in time" });
  await closing;
  await late.until((client) => client.closed);
  t.match(late.text, "just in time");
  t.match(late.text, "Connection: close");
  await idle.until((client) => client.closed);
  await server.close();
});

t.test("a stop does not wait for ever", async (t) => {
  const asked = Promise.withResolvers<Exchange>();
  const server = await listen(host, 0, asked.resolve, { closeGraceMs: 50 });
  const client = new Client(server.port).send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  const exchange = await asked.promise;
  await server.close();
  exchange.respond({ status: 200, headers: [], body: "too late" });
  t.equal(await client.until(({ closed }) => closed), "", "cut off");
});
