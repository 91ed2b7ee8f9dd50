/** Owns what the suite of kept answers sets up: two gateways over one bucket that can be listened to, a write to send, and a gate in an actor's way. */
import t, { type Test } from "tap";
import type { Command } from "../../../schemas/command.ts";
import { openStreams } from "../../../streams/connection.ts";
import { type KeptAnswers, type KeptEntry, openKeptAnswers } from "../../../streams/kept-answers.ts";
import { startNatsServer } from "../../harness/processes.ts";
import { type Answered, bearer, operatorToken, startTestGateway, type TestGateway, ulid } from "./fixture.ts";

export const nats = await startNatsServer(t);
export const streams = await openStreams(nats.url, "test");
t.teardown(() => streams.close());
const kept = await openKeptAnswers(streams);

/** What the first gateway has asked of the bucket in this test, in order. */
export const calls: string[] = [];
/** Called before a write, which it fails by throwing, and after it. */
export const listener: { onWrite?(entry: KeptEntry): void; onWritten?(entry: KeptEntry): void } = {};
export const watched: KeptAnswers = {
  read: (key) => {
    calls.push("read");
    return kept.read(key);
  },
  write: async (key, entry, revision) => {
    calls.push("answer" in entry ? "keep" : entry.leaseUntilMs === 0 ? "release" : "begin");
    listener.onWrite?.(entry);
    const written = await kept.write(key, entry, revision);
    listener.onWritten?.(entry);
    return written;
  },
};

export const gateway = await startTestGateway({}, [], { keptAnswers: watched });
export const other = await startTestGateway({}, [], { keptAnswers: await openKeptAnswers(streams) });
t.teardown(() => Promise.all([gateway.close(), other.close()]));
t.beforeEach(() => {
  calls.length = 0;
  delete listener.onWrite;
  delete listener.onWritten;
  for (const each of [gateway, other]) {
    each.received.length = 0;
    each.act("case.close", succeed);
  }
});

export const succeed = () => ({ ok: { closed: true }, version: 3 });
/** An administrator's. */
export const token = await operatorToken(gateway);
export const caseUrn = `urn:case:XN-${ulid}`;
export const path = `/v1/cases/${caseUrn}/close`;
export const body = { reason: "all housed", version: 2 };

let keys = 0;
export const freshKey = (): string => {
  keys += 1;
  return `key ${keys}`;
};

/** How a write differs from the usual one. */
export interface Write {
  at?: TestGateway;
  path?: string;
  body?: unknown;
  headers?: Record<string, string>;
}

export const send = (key: string, write: Write = {}): Promise<Answered> =>
  (write.at ?? gateway).ask(write.path ?? path, {
    method: "POST",
    body: "body" in write ? write.body : body,
    headers: { ...bearer(token), "Idempotency-Key": key, ...write.headers },
  });

export const isReplay = (t: Test, again: Answered, first: Answered): void => {
  t.equal(again.headers["idempotency-replayed"], "true", again.text);
  t.equal(again.status, first.status);
  t.equal(again.text, first.text);
  for (const name of ["content-type", "etag", "cache-control", "x-content-type-options"])
    t.equal(again.headers[name], first.headers[name], name);
  t.not(again.headers.traceparent, first.headers.traceparent, "followed under a name of its own");
};

/** Tells when a command has come to the actor, and lets it go on. */
export const gate = () => {
  const reached = Promise.withResolvers<Command>();
  const opened = Promise.withResolvers<void>();
  const act = async (command: Command) => {
    reached.resolve(command);
    await opened.promise;
    return succeed();
  };
  return { act, reached: reached.promise, open: opened.resolve };
};
