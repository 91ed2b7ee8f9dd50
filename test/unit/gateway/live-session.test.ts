// Connections of the operators' live channel without the streams: who comes in, what is kept of each, what it is told when it comes
// back, and what is left of it when it is gone.
import { once } from "node:events";
import { BlockList } from "node:net";
import t, { type Test } from "tap";
import { WebSocket } from "ws";
import { listen } from "../../../gateway/http/exchange.ts";
import { type ChannelParts, openChannel } from "../../../gateway/live/channel.ts";
import { admit, type HandshakeParts } from "../../../gateway/live/handshake.ts";
import { createLockRelease } from "../../../gateway/live/lock-release.ts";
import { Newcomers } from "../../../gateway/live/newcomers.ts";
import { type RequestParts, Requests } from "../../../gateway/live/requests.ts";
import { Rounds } from "../../../gateway/live/rounds.ts";
import { createProblemTeller } from "../../../gateway/problem-response.ts";
import { connectRaw } from "../../../scripts/soaking/live-client.ts";
import type { LiveSessions } from "../../../streams/live-sessions.ts";
import { WithdrawalHearers } from "../../../streams/revocations.ts";
import { eventually } from "../../harness/patience.ts";
import { caseIdOf, connect, Memory, now, presented, principal, start } from "./live-memory.ts";

const roomOf = (n: number) => ({ kind: "case", caseId: caseIdOf(n), airport: "JFK" }) as const;
const silent = { info: () => undefined, warn: () => undefined, error: () => undefined } as never;

const token = `e30.${Buffer.from(JSON.stringify({ exp: 2_000_000_000 })).toString("base64url")}.x`;

t.test("access that is withdrawn while a handshake lasts is no access", async (t) => {
  const { cases, fanout } = new Memory();
  let withdrawn = false;
  const parts = {
    verify: async () => ({ principal, presented }),
    tenants: { byCode: () => ({}) },
    revocations: {
      withdrawalOf: () => (withdrawn ? "revoked" : undefined),
      onWithdrawal: () => () => undefined,
    },
    sessions: {
      read: async () => {
        withdrawn = true;
        return undefined;
      },
    },
    ...{ cases, fanout, freshId: () => "fresh", onOutage: () => undefined },
  } as unknown as HandshakeParts;
  t.match(await admit({ token }, parts), { id: "fresh" }, "nothing is read, nothing is withdrawn");
  await t.rejects(admit({ token, pid: "an-id-of-a-session" }, parts), { code: "auth/invalid-token" });
  fanout.close();
});

t.test("a session takes back what it has told of itself, once", async (t) => {
  const { fanout } = new Memory();
  const offset = { updates: start, told: start };
  const joined = [1, 2].map((n) => ({ room: roomOf(n), since: offset }));
  const whole = connect(t);
  const [session, admitted] = whole.open(fanout, { joined });
  await session.begin(admitted);
  session.leave(roomOf(2));
  whole.close(session);
  const told = ["watches 1", "watches 2", "leaves 2", "leaves 1"];
  t.strictSame(whole.done, told);
  session.leave(roomOf(1));
  session.leave(roomOf(2));
  t.strictSame(whole.done, told, "what was still to be done changes nothing");
  const timers = () => process.getActiveResourcesInfo().filter((what) => what === "Timeout").length;
  const before = timers();
  t.notOk(session.renew({ ...admitted.identity, expiresAtMs: now().getTime() + 3_600_000 }));
  t.equal(timers(), before, "and nothing holds it any more");

  const broken = connect(t);
  const replay = new Memory();
  replay.tell(1, "graph.step-started");
  broken.takeNothing();
  const [other, admittedToo] = broken.open(replay.fanout, { joined, offset });
  const begun = other.begin(admittedToo);
  broken.close(other);
  await begun;
  t.strictSame(broken.done, [], "gone before it was anywhere");
  for (const memory of [fanout, replay.fanout]) memory.close();
});

t.test("what a client asks is done in turn, and nothing once it is gone", async (t) => {
  const { fanout } = new Memory();
  const { open, close } = connect(t);
  const [session] = open(fanout);
  const done: string[] = [];
  const { promise: first, resolve: goOn } = Promise.withResolvers<void>();
  const { promise: last, resolve: end } = Promise.withResolvers<void>();
  session.inTurn(async () => {
    await first;
    done.push("first");
  });
  session.inTurn(async () => {
    done.push("second");
    close(session);
    end();
  });
  session.inTurn(async () => void done.push("third"));
  goOn();
  await last;
  await new Promise(setImmediate);
  t.strictSame(done, ["first", "second"]);
  fanout.close();
});

t.test("what was missed is encoded as it is taken, and looked at so often as there is of it", (t) => {
  const memory = new Memory();
  const { fanout } = memory;
  const count = 800;
  for (let n = 0; n < count; n++) memory.tell(1, n % 2 === 0 ? "graph.step-started" : "case.amended");
  Object.assign(memory, { looked: 0, encoded: 0 });
  const missed = fanout.missed([{ room: roomOf(1), since: { updates: start, told: start } }], {
    updates: start,
    told: start,
  });
  t.notOk(missed.next().done);
  t.equal(memory.encoded, 1, "one is taken, one is encoded");
  t.equal([...missed].length + 1, count - 1, "the last window is not over");
  t.ok(memory.looked < 20 * count, `${memory.looked} looks at ${count} entries`);
  fanout.close();
  t.end();
});

t.test(
  "who takes slowly what was missed is told it once, and nothing of a room that was left meanwhile",
  async (t) => {
    const memory = new Memory();
    const { fanout } = memory;
    const count = 200;
    for (let n = 0; n < count; n++) memory.tell(1 + (n % 2), "graph.step-started");
    const offset = { updates: start, told: start };
    const joined = [1, 2].map((n) => ({ room: roomOf(n), since: offset }));
    const steps = (sent: readonly string[], caseNo: number): number =>
      sent.filter((text) => text.includes("graph:step") && text.includes(caseIdOf(caseNo))).length;
    memory.encoded = 0;
    const patient = connect(t);
    patient.takeSlowly();
    const [session, admitted] = patient.open(fanout, { joined, offset });
    await session.begin(admitted);
    t.strictSame(
      [1, 2].map((n) => steps(patient.sent, n)),
      [count / 2, count / 2],
    );
    t.equal(memory.encoded, count, "each is encoded once");
    t.match(patient.sent.at(-1), /session:ready/);

    const leaving = connect(t);
    leaving.takeSlowly();
    const [other, admittedToo] = leaving.open(fanout, { joined, offset });
    const begun = other.begin(admittedToo);
    other.leave(roomOf(1));
    await begun;
    t.strictSame(
      [1, 2].map((n) => steps(leaving.sent, n)),
      [1, count / 2],
    );
    fanout.close();
  },
);

t.test("a case that is opened while an airport's are read is among them", async (t) => {
  const [listed, closed] = [1, 2].map((n) => ({
    urn: `urn:case:${caseIdOf(n)}`,
    airport: "JFK",
    status: "OPEN",
  }));
  let reads = 0;
  const memory: Memory = new Memory((_name, { params }) => {
    if (reads++ === 1) {
      memory.tell(3, "case.opened", { airport: "JFK", status: "OPEN" });
      memory.tell(4, "case.opened", { airport: "LAX", status: "OPEN" });
      memory.tell(5, "case.opened", { airport: "JFK", status: "CLOSED" });
    }
    return { items: params.status === "OPEN" ? [listed, closed] : [], nextCursor: null };
  });
  memory.tell(6, "case.opened", { airport: "JFK", status: "OPEN" });
  const { fanout, cases, log: live } = memory;
  let isElsewhere = false;
  const sessions: LiveSessions = {
    read: async () => undefined,
    write: async (_id, session) => (isElsewhere ? undefined : { session, revision: 1 }),
  };
  const requests = new Requests({
    ...{ cases, fanout, live, sessions, now, log: silent },
  } as unknown as RequestParts);
  const { done, open } = connect(t);
  const [session] = open(fanout);
  const answer = (await requests.subscribe(session, { airport: "JFK" }))();
  t.strictSame(
    (answer.cases as { caseUrn: string }[]).map(({ caseUrn }) => caseUrn.slice(-1)),
    ["1", "2", "3"],
  );
  t.match(session.kept, {
    revision: 1,
    session: { rooms: [{ room: { kind: "airport" } }], connection: "one" },
  });
  isElsewhere = true;
  await t.rejects(requests.keep(session), { code: "upstream/unavailable" });
  t.strictSame(done, ["ended 1012"], "whose client has gone on elsewhere is over");
  fanout.close();
});

t.test("locks are given back as soon as they can be, while they last and nobody is back", async (t) => {
  const leaseMs = 300_000;
  const tries = async (
    failures: number,
    isBackAfterMs = Number.POSITIVE_INFINITY,
  ): Promise<[number, number]> => {
    let atMs = 0;
    let asked = 0;
    const clock = () => new Date(now().getTime() + atMs);
    const release = createLockRelease({
      dispatch: {
        command: async () => {
          if (asked++ < failures) throw new Error("nobody answers");
          return { ok: null };
        },
      } as never,
      leaseMs,
      isPresent: () => atMs >= isBackAfterMs,
      now: clock,
      pause: async (ms) => {
        atMs += ms;
      },
      log: silent,
    });
    await release("XN", principal.urn, now());
    return [asked, atMs];
  };
  t.strictSame(await tries(20), [21, 90_000], "away for a minute and a half");
  const [, untilMs] = await tries(1000);
  t.ok(untilMs >= leaseMs && untilMs < leaseMs + 5000, "then they have lapsed");
  t.strictSame(await tries(1000, 10_000), [4, 10_000], "back at work");
});

/** A channel that is listened to. @param withdrawn whether the token is, at the nth look */
const channelOf = async (t: Test, withdrawn: (look: number) => boolean, more: Partial<ChannelParts> = {}) => {
  const { log: live, dispatch } = new Memory();
  let looks = 0;
  const nothing = async () => undefined;
  const channel = await openChannel({
    verify: async () => ({ principal, presented }),
    tenants: { byCode: () => ({}) },
    revocations: {
      withdrawalOf: () => (withdrawn(++looks) ? "revoked" : undefined),
      onWithdrawal: () => () => undefined,
    },
    watchGateways: async () => ({
      ...{ beat: nothing, tellPresent: nothing, tellAbsent: nothing, forget: nothing },
      ...{ live: () => true, close: () => undefined },
    }),
    tellProblem: createProblemTeller("https://problems.example"),
    ...{ dispatch, live, sessions: { read: nothing }, origins: new Set<string>(), proxies: undefined },
    ...{ beatMs: 60_000, leaseMs: 60_000, now, log: silent, ...more },
  } as unknown as ChannelParts);
  const server = await listen("127.0.0.1", 0, () => undefined, { attach: channel.attach, closeGraceMs: 0 });
  t.teardown(async () => {
    await channel.close();
    await server.close();
  });
  return `http://127.0.0.1:${server.port}`;
};

t.test("access that is withdrawn between the handshake and the connection ends it", async (t) => {
  const baseUrl = await channelOf(t, (look) => look === 3);
  const client = await connectRaw({ baseUrl, token });
  t.match(await client.until("session:ended"), { reason: "access-withdrawn" });
  t.equal(await client.closed, 4401);
});

t.test("connections that do not say who they are shut nobody else out", async (t) => {
  const proxies = new BlockList();
  proxies.addAddress("127.0.0.1");
  const baseUrl = await channelOf(t, () => false, { proxies, newcomers: new Newcomers(1) });
  const at = (address: string) => ({ headers: { "X-Forwarded-For": address } });
  const enter = (address: string) => connectRaw({ baseUrl, token, ...at(address) });
  const known = await enter("203.0.113.1");
  const mute = new WebSocket(`${baseUrl}/ws/cases?EIO=4&transport=websocket`, at("203.0.113.1"));
  await once(mute, "message");
  await t.rejects(enter("203.0.113.1"), { message: /403/ });
  const other = await enter("203.0.113.2");
  mute.terminate();
  await eventually("its place is free", () => enter("203.0.113.1").then(({ drop }) => drop(), String));
  for (const client of [known, other]) client.drop();

  const newcomers = new Newcomers(2);
  const on = (line: number, device: number) => `2001:0db8:0000:${line}000:0000:0000:0000:000${device}`;
  const [one, two] = [1, 2].map((device) => newcomers.enter(on(1, device)));
  const rows: [string, () => unknown, string, boolean][] = [
    ["of one line", () => undefined, on(1, 3), false],
    ["of another", () => undefined, on(2, 1), true],
    ["once one is known", () => one?.(), on(1, 3), true],
    ["which counts once", () => [one?.(), newcomers.enter(on(1, 4))], on(1, 3), false],
    ["once another is gone", () => two?.(), on(1, 3), true],
  ];
  for (const [what, act, address, admitted] of rows) {
    act();
    t.equal(newcomers.admits(address), admitted, what);
  }
});

t.test("in a round everyone has a turn, few at a time", (t) => {
  for (const [count, steps, most] of [
    [0, 3, 0],
    [1, 3, 1],
    [7, 3, 3],
    [1000, 150, 7],
  ] as const) {
    const rounds = new Rounds<number>(steps);
    const all = new Set(Array.from({ length: count }, (_, i) => i));
    const late = count;
    for (const expected of [count, count + 1]) {
      const parts = Array.from({ length: steps }, (_, step) => {
        const part = rounds.next(() => all);
        if (step === 0) all.add(late);
        return part;
      });
      t.strictSame(
        parts.flat(),
        Array.from({ length: expected }, (_, i) => i),
        `${count} in ${steps} parts, and who comes meanwhile in the next round`,
      );
      t.ok(Math.max(...parts.map(({ length }) => length)) <= most + 1);
    }
  }
  t.end();
});

t.test(
  "withdrawals that are learnt together are told once, to each whatever another makes of it",
  async (t) => {
    const told: string[] = [];
    const hearers = new WithdrawalHearers(silent);
    hearers.add(() => {
      told.push("one");
      throw new Error("broken");
    });
    const stop = hearers.add(() => void told.push("two"));
    for (let i = 0; i < 100; i++) hearers.tell();
    t.strictSame(told, []);
    await new Promise(setImmediate);
    t.strictSame(told, ["one", "two"]);
    stop();
    hearers.tell();
    await new Promise(setImmediate);
    t.strictSame(told, ["one", "two", "one"], "and once more for what comes later");
    hearers.tell();
    hearers.close();
    await new Promise(setImmediate);
    t.equal(told.length, 3);
  },
);
