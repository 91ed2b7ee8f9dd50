/** Owns the tests of how often a keyed write may be sent again: outside the quota, and not without an end. Over HTTP, on a clock that stands. */
import t, { type Test } from "tap";
import type { KeptAnswers, KeptEntry } from "../../../streams/kept-answers.ts";
import {
  type Answered,
  bearer,
  operatorToken,
  partnerToken,
  passengerHost,
  passengerToken,
  startTestGateway,
  ulid,
} from "../../contract/gateway/fixture.ts";

const startedAt = Date.now();
const path = `/v1/cases/urn:case:XN-${ulid}/close`;

/** One gateway with three writes at once, and as many retries; `lookUps` counts what its keys cost. */
const start = async (t: Test) => {
  const held = new Map<string, { entry: KeptEntry; revision: number }>();
  const lookUps = { reads: 0, writes: 0 };
  const keptAnswers: KeptAnswers = {
    read: async (key) => {
      lookUps.reads += 1;
      return held.get(key);
    },
    write: async (key, entry, revision) => {
      lookUps.writes += 1;
      if ((held.get(key)?.revision ?? 0) !== revision) return undefined;
      held.set(key, { entry, revision: revision + 1 });
      return revision + 1;
    },
  };
  let nowMs = startedAt;
  const settings = { RATE_OPERATOR: "6/3x1", RATE_SESSION: "6/3x1", RATE_PARTNER_TIER3: "6/3x1" };
  const gateway = await startTestGateway(settings, [], { keptAnswers, now: () => new Date(nowMs) });
  t.teardown(() => gateway.close());
  const token = bearer(await operatorToken(gateway));
  const send = (key: string, body: object = { reason: "housed" }): Promise<Answered> =>
    gateway.ask(path, { method: "POST", body, headers: { ...token, "Idempotency-Key": key } });
  return {
    gateway,
    send,
    lookUps,
    passed: (ms: number) => {
      nowMs += ms;
    },
  };
};

const replayed = (t: Test, answer: Answered, left: string, what: string): void =>
  void t.match(
    answer,
    { status: 200, headers: { "idempotency-replayed": "true", "x-ratelimit-remaining": left } },
    what,
  );
const retries = /^The limit is 3 retried writes a minute for this airline and route\. Come back in 20 s\.$/;
const quota = /^The limit is 3 writes a minute for this airline and route\. Come back in 20 s\.$/;
const refused = (t: Test, answer: Answered, detail: RegExp, what: string): void =>
  void t.match(
    answer,
    { status: 429, json: { detail }, headers: { "retry-after": "20", "x-ratelimit-remaining": "0" } },
    what,
  );

t.test("replays leave the quota alone, up to a limit of their own", async (t) => {
  const { send, passed, lookUps, gateway } = await start(t);
  t.match(await send("one"), { status: 200, headers: { "x-ratelimit-remaining": "2" } });
  for (let i = 0; i < 3; i++) replayed(t, await send("one"), "2", "exempt");
  refused(t, await send("one"), retries, "past the limit of retries");
  t.match(await send("two"), { status: 200, headers: { "x-ratelimit-remaining": "0" } }, "it has counted");
  passed(20_000);
  replayed(t, await send("one"), "1", "one retry flows in, as one write does");
  t.match(await send("three"), { status: 200 });
  const before = { ...lookUps };
  for (let i = 0; i < 5; i++) refused(t, await send("one"), quota, "past both");
  t.same(lookUps, before, "is looked up no more");
  t.equal(gateway.received.length, 3, "each write was done once");
});

t.test("past the quota replays are answered, and each look counts", async (t) => {
  const { send, passed, lookUps } = await start(t);
  for (const key of ["a", "b", "c"]) t.equal((await send(key)).status, 200);
  replayed(t, await send("a"), "0", "known before");
  refused(t, await send("new"), quota, "a new one");
  refused(t, await send("a", { reason: "other" }), quota, "another body under the key");
  const before = lookUps.reads;
  for (const key of ["a", "new"]) refused(t, await send(key), quota, "three looks were all");
  t.equal(lookUps.reads, before);
  passed(20_000);
  t.match(await send("new"), { status: 200 }, "the key was still free");
});

t.test("a retry of what is under way counts as one too", async (t) => {
  const { gateway, send } = await start(t);
  const reached = Promise.withResolvers<void>();
  const opened = Promise.withResolvers<void>();
  gateway.act("case.close", async () => {
    reached.resolve();
    await opened.promise;
    return { ok: { closed: true }, version: 3 };
  });
  const running = send("slow");
  await reached.promise;
  const underWay = { status: 409, headers: { "x-ratelimit-remaining": "2" } };
  for (let i = 0; i < 3; i++) t.match(await send("slow"), underWay, "told, and exempt");
  refused(t, await send("slow"), retries, "not without an end");
  opened.resolve();
  t.equal((await running).status, 200);
});

t.test("sessions and partners have such limits of their own", async (t) => {
  const { gateway } = await start(t);
  const write = (path: string, headers: Record<string, string>) => () =>
    gateway.ask(path, { method: "POST", headers: { ...headers, "Idempotency-Key": "k" } });
  const session = { ...bearer(await passengerToken(gateway)), Host: passengerHost };
  const partner = bearer(await partnerToken(gateway, "cases.events.subscribe"));
  for (const [send, whose] of [
    [write("/v1/me/offer/accept", session), /^The limit is 3 retried writes a minute for this session\./],
    [
      write("/partner/v1/webhooks/test", partner),
      /^The limit is 3 retried writes a minute for a partner of tier 3\./,
    ],
  ] as const) {
    const first = await send();
    for (let i = 0; i < 3; i++) t.match(await send(), { status: first.status, text: first.text });
    refused(t, await send(), whose, "past it");
  }
  const alerts = gateway.received.filter(({ name }) => name === "identity.note-limit-exceeded");
  t.match(
    alerts.map(({ envelope }) => envelope.data),
    [{ limit: "3 retried writes a minute for a partner of tier 3" }],
    "a partner's contact is told",
  );
});
