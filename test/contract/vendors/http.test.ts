/** What the end of a call to a vendor means, against a server that answers byte for byte what a case says. */
import { once } from "node:events";
import { type AddressInfo, createServer, type Socket } from "node:net";
import t, { type Test } from "tap";
import Type from "typebox";
import { VendorHttp, validatorOf } from "../../../actors/vendor-adapter/http.ts";
import { closedPort, context } from "./sandbox.ts";

const success = validatorOf(Type.Object({ id: Type.Integer() }));
const problem = validatorOf(Type.Object({ code: Type.String() }));
const call = { method: "POST", path: "/things", body: { a: 1 }, headers: {}, success, problem } as const;

/** Answers every request on the address with these bytes; `undefined` closes without any, `null` stays silent. */
const serve = async (test: Test, bytes: string | undefined | null) => {
  const sockets = new Set<Socket>();
  let received = "";
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on("data", (chunk) => {
      received += chunk;
      if (bytes === undefined) socket.destroy();
      else if (bytes !== null) socket.end(bytes);
    });
    // A client that gives up resets the connection: that is what some cases are about.
    socket.on("error", () => socket.destroy());
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  test.teardown(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return { baseUrl, received: () => received };
};

const answer = (status: string, body: string, headers = ""): string =>
  `HTTP/1.1 ${status}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n${headers}connection: close\r\n\r\n${body}`;

const cases: [what: string, bytes: string | undefined | null, write: string, read: string][] = [
  ["a good answer", answer("200 OK", '{"id":1}'), "success", "success"],
  ["the vendor's no", answer("409 Conflict", '{"code":"no"}'), "problem", "problem"],
  ["a no in words we don't know", answer("409 Conflict", "<html>"), "in-doubt", "unavailable"],
  ["our key refused", answer("401 Unauthorized", "<html>"), "refused", "refused"],
  ["too many requests", answer("429 Too Many Requests", ""), "unavailable", "unavailable"],
  ["busy, come back", answer("503 Busy", "", "retry-after: 7\r\n"), "unavailable", "unavailable"],
  ["503 from who knows where", answer("503 Busy", ""), "in-doubt", "unavailable"],
  ["a crash", answer("500 Oops", '{"code":"x"}'), "in-doubt", "unavailable"],
  ["a gateway's timeout", answer("504 Timeout", ""), "in-doubt", "unavailable"],
  ["a redirect", answer("302 Found", "", "location: /else\r\n"), "in-doubt", "unavailable"],
  ["half a body", answer("200 OK", '{"id":'), "in-doubt", "unavailable"],
  ["another body", answer("200 OK", '{"id":"one"}'), "in-doubt", "unavailable"],
  ["a body without end", answer("200 OK", `{"id":1,"x":"${"x".repeat(2000)}"}`), "in-doubt", "unavailable"],
  ["less than promised", "HTTP/1.1 200 OK\r\ncontent-length: 99\r\n\r\n{", "in-doubt", "unavailable"],
  ["a closed connection", undefined, "in-doubt", "unavailable"],
  ["silence", null, "in-doubt", "unavailable"],
];

t.test("each end of a call", async (t) => {
  for (const [what, bytes, write, read] of cases) {
    await t.test(what, async (t) => {
      const { baseUrl, received } = await serve(t, bytes);
      const http = new VendorHttp({
        baseUrl,
        apiKey: "",
        timeoutMs: bytes === null ? 100 : 10_000,
        answerBytesMax: 1000,
      });
      const [written, asked] = await Promise.all([
        http.write(call, "XN-1", context),
        http.read(call, context),
      ]);
      t.equal(written.outcome, write, JSON.stringify(written));
      t.equal(asked.outcome, read, JSON.stringify(asked));
      // Silence may end before a busy machine has taken the request in.
      if (bytes === null) return;
      t.match(received(), /idempotency-key: XN-1\r\n/);
      t.match(received(), `traceparent: ${context.traceparent}`);
    });
  }
});

t.test("nobody there: surely not done", async (t) => {
  const http = new VendorHttp({ baseUrl: await closedPort(), apiKey: "", timeoutMs: 1000 });
  t.match(await http.write(call, "XN-1", context), { outcome: "unavailable", detail: /ECONNREFUSED/ });
});

t.test("the wait that the vendor asks for", async (t) => {
  const { baseUrl } = await serve(t, answer("429 Slow", "", "retry-after: 30\r\n"));
  const http = new VendorHttp({ baseUrl, apiKey: "", timeoutMs: 1000 });
  t.match(await http.read(call, context), { outcome: "unavailable", retryAfterMs: 30_000 });
});

t.test("giving up: a write under way is in doubt; a request that cannot be made is a bug", async (t) => {
  const { baseUrl, received } = await serve(t, null);
  const http = new VendorHttp({ baseUrl, apiKey: "", timeoutMs: 60_000 });
  const giveUp = new AbortController();
  const pending = http.write(call, "XN-1", { ...context, signal: giveUp.signal });
  while (received() === "") await new Promise((resolve) => setImmediate(resolve));
  giveUp.abort();
  t.match(await pending, { outcome: "in-doubt" });
  await t.rejects(http.write(call, "no\nheader", context), TypeError);
});

t.test("more calls than the vendor allows are not made when their turn is too far away", async (t) => {
  const { baseUrl, received } = await serve(t, answer("200 OK", '{"id":1}'));
  const http = new VendorHttp({ baseUrl, apiKey: "", timeoutMs: 900, callsPerSecond: 1 });
  const [first, second] = await Promise.all([
    http.write(call, "XN-1", context),
    http.write(call, "XN-2", context),
  ]);
  t.equal(first.outcome, "success", JSON.stringify(first));
  t.match(
    second,
    { outcome: "unavailable", detail: /more calls wait/, retryAfterMs: 900 },
    "surely not done",
  );
  t.notMatch(received(), /XN-2/);
});
