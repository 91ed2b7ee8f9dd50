/** Owns the suite of answers kept under an `Idempotency-Key`, on a NATS server of its own and two gateways that share it. */
import { once } from "node:events";
import { connect } from "node:net";
import t from "tap";
import type { ProblemCode } from "../../../schemas/problems.ts";
import {
  bearer,
  operatorToken,
  partnerToken,
  passengerHost,
  passengerToken,
  startTestGateway,
  ulid,
} from "./fixture.ts";
import {
  body,
  calls,
  caseUrn,
  freshKey,
  gate,
  gateway,
  isReplay,
  listener,
  nats,
  other,
  path,
  send,
  streams,
  succeed,
  token,
  type Write,
  watched,
} from "./keyed-writes.ts";
import { problemCheck } from "./problem-answers.ts";

const isProblem = problemCheck(gateway);

t.test("the same again gets the kept answer, from any gateway", async (t) => {
  const key = freshKey();
  const first = await send(key);
  t.match(first, { status: 200, json: { closed: true }, headers: { etag: '"3"' } });
  t.notOk(first.headers["idempotency-replayed"]);
  t.strictSame(calls, ["begin", "keep"]);
  const same: [string, Write][] = [
    ["there", {}],
    ["at another gateway", { at: other }],
    ["members in another order", { body: { version: 2, reason: "all housed" } }],
    ["other white space", { body: JSON.stringify(body, null, 2) }],
    ["without the prefix", { path: `/cases/${caseUrn}/close` }],
    ["the long form of the URN", { path: `/v1/cases/urn:stopover:case:XN-${ulid}/close` }],
  ];
  for (const [how, write] of same) {
    t.comment(how);
    isReplay(t, await send(key, write), first);
  }
  t.equal(gateway.received.length + other.received.length, 1, "the actor was asked once");
  for (const at of [gateway, other]) at.skewMs(23 * 3_600_000);
  const lasting = bearer(
    await operatorToken(gateway, "ADMIN", { exp: Math.floor(Date.now() / 1000) + 86_400 }),
  );
  isReplay(t, await send(key, { headers: lasting }), first);
  isReplay(t, await send(key, { at: other, headers: lasting }), first);
  for (const at of [gateway, other]) at.skewMs(0);
  const bucket = await streams.kv.open("kept-answers");
  t.equal((await bucket.status()).ttl, 24 * 3_600_000, "for a day (contract, Limits)");
});

t.test("a key names a write of one principal on one route and path", async (t) => {
  const key = freshKey();
  await send(key);
  const others: [string, Write][] = [
    ["another case", { path: `/v1/cases/urn:case:XN-${ulid.slice(0, -1)}1/close` }],
    ["another route", { path: `/v1/cases/${caseUrn}/reopen` }],
    [
      "another operator",
      { headers: bearer(await operatorToken(gateway, "ADMIN", operatorClaims("8", "XN"))) },
    ],
  ];
  for (const [what, write] of others) {
    const answer = await send(key, write);
    t.equal(answer.headers["idempotency-replayed"], undefined, what);
    t.equal(answer.status, 200, `${what}: ${answer.text}`);
  }
  const foreign = bearer(await operatorToken(gateway, "ADMIN", operatorClaims("7", "YB")));
  isProblem(t, await send(key, { headers: foreign }), "auth/foreign-tenant");
  t.equal(gateway.received.length, 4);
});

const operatorClaims = (operator: string, airline: string): Record<string, string> => ({
  "https://stopover.example/claims/operator_urn": `urn:operator:${operator}`,
  "https://stopover.example/claims/airline": `urn:airline:${airline}`,
});

t.test("another payload under a key is refused, under way or answered", async (t) => {
  const key = freshKey();
  const { act, reached, open } = gate();
  gateway.act("case.close", act);
  const different: [string, Write][] = [
    ["another value", { body: { ...body, reason: "other" } }],
    ["a further member", { body: { ...body, more: 1 } }],
    ["another If-Match", { headers: { "If-Match": '"7"' } }],
    ["another query", { path: `${path}?a=1` }],
    ["another gateway", { at: other, body: { ...body, version: 9 } }],
  ];
  const refused = async (): Promise<void> => {
    for (const [what, write] of different) {
      const answer = await send(key, write);
      isProblem(t, answer, "idempotency/payload-differs");
      t.notOk(answer.headers["idempotency-replayed"], what);
    }
  };
  const first = send(key);
  await reached;
  await refused();
  const early = await send(key, { at: other });
  isProblem(t, early, "conflict/in-flight");
  t.equal(early.headers["retry-after"], "1");
  open();
  await first;
  await refused();
  isReplay(t, await send(key), await first);
  t.equal(gateway.received.length, 1);
});

t.test("of twenty at once one runs", async (t) => {
  const key = freshKey();
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, i) => send(key, { at: i % 2 === 0 ? gateway : other })),
  );
  t.equal(gateway.received.length + other.received.length, 1, "the actor was asked once");
  const ran = answers.filter(({ status, headers }) => status === 200 && !headers["idempotency-replayed"]);
  t.equal(ran.length, 1);
  for (const answer of answers.filter((each) => each !== ran[0]))
    if (answer.status === 200) isReplay(t, answer, ran[0]!);
    else isProblem(t, answer, "conflict/in-flight");
  const replays = await Promise.all(Array.from({ length: 20 }, () => send(key)));
  for (const replay of replays) isReplay(t, replay, ran[0]!);
});

t.test("what is kept, and what may be sent again", async (t) => {
  const kinds: [string, ProblemCode, boolean][] = [
    ["a refusal of the state", "conflict/state", true],
    ["a missing resource", "not-found/resource", true],
    ["another airport", "auth/foreign-airport", true],
    ["too many", "rate/exceeded", false],
    ["an outage", "upstream/unavailable", false],
    ["lost races", "conflict/concurrent-write", false],
  ];
  for (const [what, code, isKept] of kinds) {
    await t.test(what, async (t) => {
      const key = freshKey();
      gateway.act("case.close", () => ({ problem: { code, detail: "So.", members: { state: "OPEN" } } }));
      const first = await send(key);
      isProblem(t, first, code);
      gateway.act("case.close", succeed);
      const again = await send(key);
      if (isKept) isReplay(t, again, first);
      else t.equal(again.status, 200, "at once");
      t.notOk(isKept ? undefined : again.headers["idempotency-replayed"]);
      t.equal(gateway.received.at(-1)?.envelope.id, gateway.received[0]?.envelope.id, "the same command");
      isProblem(t, await send(key, { body: { ...body, version: 9 } }), "idempotency/payload-differs");
      gateway.received.length = 0;
    });
  }
  await t.test("a bug", async (t) => {
    const key = freshKey();
    gateway.act("case.close", () => {
      throw new Error("broken");
    });
    isProblem(t, await send(key), "internal/unexpected");
    isProblem(t, await send(key, { body: { ...body, version: 9 } }), "idempotency/payload-differs");
    gateway.act("case.close", succeed);
    t.equal((await send(key)).status, 200);
  });
  await t.test("a refusal of the schema", async (t) => {
    const key = freshKey();
    const first = await send(key, { body: {} });
    isProblem(t, first, "validation/body");
    isReplay(t, await send(key, { body: {} }), first);
  });
  await t.test("an answer too long to be kept", async (t) => {
    const key = freshKey();
    gateway.act("case.close", () => ({ ok: { text: '"'.repeat(300_000) }, version: 3 }));
    t.equal((await send(key)).status, 200);
    const again = await send(key);
    t.equal(again.status, 200, "is made again, under the same command");
    t.notOk(again.headers["idempotency-replayed"]);
    gateway.act("case.close", () => ({ ok: { text: '"'.repeat(230_000) }, version: 3 }));
    t.equal((await send(key)).status, 200);
    t.ok((await send(key)).headers["idempotency-replayed"], "the longest fits a message");
  });
});

t.test("what never comes to the bucket", async (t) => {
  const key = freshKey();
  const refusals: [ProblemCode, Write][] = [
    ["auth/missing-token", { headers: { Authorization: "" } }],
    ["auth/insufficient-role", { headers: bearer(await operatorToken(gateway, "FINANCE_AUDIT")) }],
    ["validation/malformed", { headers: { "If-Match": "7" } }],
  ];
  for (const [code, write] of refusals) isProblem(t, await send(key, write), code);
  t.strictSame(calls, []);
  const unreadable: [ProblemCode, Write][] = [
    ["validation/malformed", { body: "{" }],
    ["validation/media-type", { headers: { "Content-Type": "text/plain" } }],
    ["validation/too-large", { body: Buffer.alloc(2 ** 21, 32) }],
  ];
  for (const [code, write] of unreadable) isProblem(t, await send(key, write), code);
  t.notOk(calls.includes("begin"), "a body that cannot be read says nothing of what is asked for");
  const answered = await send(key);
  t.equal(answered.status, 200, "so the key is still free");
  for (const [code, write] of unreadable) isProblem(t, await send(key, write), code);
  calls.length = 0;
  await gateway.ask(path, { method: "POST", body, headers: bearer(token) });
  await gateway.ask("/v1/cases", { headers: { ...bearer(token), "Idempotency-Key": key } });
  t.strictSame(calls, [], "nor do writes without a key, and reads");
});

t.test("a replay is not counted, and what is over the rate leaves nothing behind", async (t) => {
  const now = new Date();
  // As many retries as writes: the five replays below, two looks past the rate, and one replay then.
  const tight = await startTestGateway({ RATE_OPERATOR: "8/8x1" }, [], {
    keptAnswers: watched,
    now: () => now,
  });
  t.teardown(() => tight.close());
  const key = freshKey();
  const first = await send(key, { at: tight });
  t.match(first, { status: 200, headers: { "x-ratelimit-remaining": "7" } });
  for (let i = 0; i < 5; i++) {
    const again = await send(key, { at: tight });
    isReplay(t, again, first);
    t.equal(again.headers["x-ratelimit-remaining"], "7");
  }
  for (let i = 0; i < 7; i++) t.equal((await send(freshKey(), { at: tight })).status, 200);
  calls.length = 0;
  const late = freshKey();
  isProblem(t, await send(late, { at: tight }), "rate/exceeded");
  isProblem(t, await send(late, { at: tight, body: "{" }), "rate/exceeded");
  t.strictSame(calls, ["read", "read"]);
  isReplay(t, await send(key, { at: tight }), first);
  isProblem(t, await send(key, { at: tight, body: {} }), "rate/exceeded");
  t.equal((await send(late)).status, 200, "the key is still free");
});

t.test("a write that a gateway left behind", async (t) => {
  const key = freshKey();
  // The answer is told and not kept: as after the death of the process in between, but for the client's knowing it.
  listener.onWrite = (entry) => {
    if ("answer" in entry) throw Object.assign(new Error("away"), { name: "TimeoutError" });
  };
  gateway.logged.length = 0;
  t.equal((await send(key)).status, 200, "what has been done is told all the same");
  t.match(gateway.logged.join(), "is not kept");
  isProblem(t, await send(key, { at: other }), "conflict/in-flight");
  other.skewMs(29_000);
  isProblem(t, await send(key, { at: other }), "conflict/in-flight");
  other.skewMs(31_000);
  isProblem(t, await send(key, { at: other, body: { ...body, version: 9 } }), "idempotency/payload-differs");
  const { act, reached, open } = gate();
  other.act("case.close", act);
  const taken = send(key, { at: other });
  t.equal((await reached).id, gateway.received[0]?.envelope.id, "the same command: nothing is done twice");
  delete listener.onWrite;
  isProblem(t, await send(key), "conflict/in-flight");
  open();
  const done = await taken;
  other.skewMs(0);
  isReplay(t, await send(key), done);
});

t.test("a slow write that was taken over keeps no second answer", async (t) => {
  const key = freshKey();
  const slow = gate();
  gateway.act("case.close", slow.act);
  const first = send(key);
  await slow.reached;
  other.skewMs(31_000);
  other.act("case.close", () => ({ ok: { closed: "by the other" }, version: 4 }));
  const second = await send(key, { at: other });
  other.skewMs(0);
  slow.open();
  t.match(await first, { status: 200, json: { closed: true } });
  isReplay(t, await send(key), second);
});

t.test("a client that goes away finds the answer when it comes back", async (t) => {
  const key = freshKey();
  const { act, reached, open } = gate();
  gateway.act("case.close", act);
  const keptAnswer = new Promise<void>((resolve) => {
    listener.onWritten = (entry) => void ("answer" in entry && resolve());
  });
  const leaving = connect(gateway.port, "127.0.0.1");
  const lines = Object.entries({ ...bearer(token), "Idempotency-Key": key }).map((pair) => pair.join(": "));
  leaving.write([`POST ${path} HTTP/1.1`, "Host: x", ...lines, jsonOf(body)].join("\r\n"));
  await reached;
  leaving.destroy();
  await once(leaving, "close");
  open();
  await keptAnswer;
  const back = await send(key, { at: other });
  t.match(back, { status: 200, json: { closed: true }, headers: { "idempotency-replayed": "true" } });
  t.equal(gateway.received.length, 1);
});

const jsonOf = (value: unknown): string => {
  const text = JSON.stringify(value);
  return ["Content-Type: application/json", `Content-Length: ${text.length}`, "", text].join("\r\n");
};

t.test("partners and passengers", async (t) => {
  const headers = {
    ...bearer(await partnerToken(gateway, "cases.events.subscribe")),
    "Idempotency-Key": freshKey(),
  };
  const test = () => gateway.ask("/partner/v1/webhooks/test", { method: "POST", headers });
  const tested = await test();
  isReplay(t, await test(), tested);
  const passenger = {
    ...bearer(await passengerToken(gateway)),
    Host: passengerHost,
    "Idempotency-Key": freshKey(),
  };
  const accept = () => gateway.ask("/v1/me/offer/accept", { method: "POST", headers: passenger });
  const first = await accept();
  const again = await accept();
  isReplay(t, again, first);
  t.equal(again.headers["clear-site-data"], '"cache"');
});

t.test("without NATS a keyed write is refused, and soon", async (t) => {
  const before = freshKey();
  const first = await send(before);
  const key = freshKey();
  await nats.kill();
  const startedAt = performance.now();
  const answer = await send(key);
  const tookMs = performance.now() - startedAt;
  t.comment(`${Math.round(tookMs)} ms`);
  t.ok(tookMs < 4500, "not only after the client's own 5 s");
  isProblem(t, answer, "upstream/unavailable");
  t.match(answer, { json: { failedDomain: "streams" }, headers: { "retry-after": "30" } });
  const unkeyed = await gateway.ask(path, { method: "POST", body, headers: bearer(token) });
  t.equal(unkeyed.status, 200, "one without a key needs no NATS for it");
  t.equal(gateway.received.length, 2, "and nothing was done");
  const back = reconnected();
  await nats.restart();
  await back;
  isReplay(t, await send(before), first);
  t.equal((await send(key)).status, 200);
});

const reconnected = async (): Promise<void> => {
  for await (const { type } of streams.connection.status()) if (type === "reconnect") return;
};

t.test("an answer that NATS does not take is told all the same", async (t) => {
  const { act, reached, open } = gate();
  gateway.act("case.close", act);
  const running = send(freshKey());
  await reached;
  nats.suspend();
  open();
  t.equal((await running).status, 200);
  nats.resume();
});
