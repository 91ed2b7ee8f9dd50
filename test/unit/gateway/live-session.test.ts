// One connection of the operators' live channel without its socket: who comes in, what is kept of it, what it is told when it comes
// back, and what is left of it when it is gone.
import t, { type Test } from "tap";
import { Cases } from "../../../gateway/live/cases.ts";
import { Fanout } from "../../../gateway/live/fanout.ts";
import { admit, type HandshakeParts } from "../../../gateway/live/handshake.ts";
import { createLockRelease } from "../../../gateway/live/lock-release.ts";
import type { LiveLog } from "../../../gateway/live/log.ts";
import { type RequestParts, Requests } from "../../../gateway/live/requests.ts";
import { type LiveEntry, Ring } from "../../../gateway/live/ring.ts";
import { type Admitted, Session } from "../../../gateway/live/session.ts";
import type { LiveSessions } from "../../../streams/live-sessions.ts";
import type { TailEntry } from "../../../streams/tail.ts";

const now = () => new Date("2026-11-22T06:00:00.000Z");
const caseIdOf = (n: number): string => `XN-0000000000000000000000000${n}`;
const roomOf = (n: number) => ({ kind: "case", caseId: caseIdOf(n), airport: "JFK" }) as const;
const start = { EVENTS: 0, INTERNAL: 0 };
const principal = {
  surface: "operator",
  tenant: "XN",
  urn: "urn:user:ana",
  role: "AIRPORT_OPERATOR",
} as const;
const presented = { tenant: "XN", subjects: ["ana"], tokenId: "t", issuedAt: 0 };
const silent = { info: () => undefined, warn: () => undefined, error: () => undefined } as never;

/** A gateway's memory of the log, and what it tells. */
class Memory {
  readonly ring = new Ring({ keptMs: 90_000, entriesMax: 10_000 });
  readonly log: LiveLog;
  readonly cases: Cases;
  readonly fanout: Fanout;
  #hear: (entry: LiveEntry) => void = () => undefined;
  #sequence = 0;
  /** How often an entry's type was looked at, and its data was encoded. */
  looked = 0;
  encoded = 0;

  constructor(query: (name: string, command: { params: Record<string, unknown> }) => unknown = () => null) {
    const { ring } = this;
    ring.beginAt(start);
    this.log = {
      ring,
      onEntry: (hear) => {
        this.#hear = hear;
        return () => undefined;
      },
      onCountedAnew: () => () => undefined,
      after: (caseId, position) => ring.after(caseId, position),
      position: () => ring.position,
      reached: async () => true,
      live: () => true,
      close: async () => undefined,
    };
    const dispatch = {
      command: async () => ({ ok: null }),
      query: async (name: string, command: never) => ({ ok: query(name, command) }),
    };
    this.cases = new Cases(dispatch as never, now);
    this.fanout = new Fanout(this.log, this.cases, { publish: () => undefined, hasListeners: () => true });
  }

  tell(caseNo: number, type: string, more: Record<string, unknown> = {}): void {
    const sequence = ++this.#sequence;
    const caseUrn = `urn:case:${caseIdOf(caseNo)}`;
    const encode = (): void => void this.encoded++;
    const look = (): void => void this.looked++;
    const data = {
      caseUrn,
      subCaseUrn: `urn:sub-case:XN-${sequence}`,
      ...more,
      // Only what is sent is ever made text.
      toJSON: () => {
        encode();
        return { caseUrn };
      },
    };
    const event = () => ({ data, case_urn: caseUrn, occurred_at: now().toISOString() }) as never;
    const entry: TailEntry = {
      ...{
        stream: "INTERNAL",
        sequence,
        atMs: 1_000_000 + sequence * 100,
        tenant: "XN",
        id: "",
        event,
        type,
      },
    };
    const added = this.ring.add(entry, caseIdOf(caseNo));
    Object.defineProperty(added, "type", {
      get: () => {
        look();
        return type;
      },
    });
    this.#hear(added);
  }
}

/** A socket that keeps what was done with it. */
const connect = (t: Test) => {
  const done: string[] = [];
  const closing: (() => void)[] = [];
  const sent: string[] = [];
  let unsent = 0;
  let isSlow = false;
  const raw = {
    send: (text: string) => {
      sent.push(text);
      if (isSlow) unsent = 1_000_000;
    },
    subscribe: () => undefined,
    unsubscribe: () => undefined,
    getBufferedAmount: () => unsent,
    end: (code: number) => void done.push(`ended ${code}`),
  };
  const conn = {
    readyState: "open",
    transport: { socket: raw },
    on: (_event: string, hear: () => void) => {
      closing.push(hear);
      // What waits for a client goes on when it has taken all.
      if (isSlow)
        queueMicrotask(() => {
          unsent = 0;
          hear();
        });
    },
    off: () => undefined,
  };
  const open = (fanout: Fanout, more: Partial<Admitted> = {}): [Session, Admitted] => {
    const identity = { principal, presented, expiresAtMs: now().getTime() + 60_000 };
    const fresh = { joined: [], kept: undefined, offset: undefined, complete: true, resumed: false };
    const admitted: Admitted = { id: "an-id-of-a-session", identity, ...fresh, ...more };
    const session = new Session({ id: "one", conn } as never, admitted, {
      fanout,
      now,
      hears: {
        onWatch: (_session, caseId) => void done.push(`watches ${caseId.slice(-1)}`),
        onUnwatch: (_session, caseId) => void done.push(`leaves ${caseId.slice(-1)}`),
        onTopic: () => undefined,
      },
    });
    t.teardown(() => session.close());
    return [session, admitted];
  };
  const close = (session: Session): void => {
    conn.readyState = "closed";
    session.close();
    for (const hear of closing) hear();
  };
  const takeNothing = (): void => {
    unsent = 1_000_000;
  };
  const takeSlowly = (): void => {
    isSlow = true;
  };
  return { done, sent, open, close, takeNothing, takeSlowly };
};

t.test("access that is withdrawn while a handshake lasts is no access", async (t) => {
  const { cases, fanout } = new Memory();
  const token = `e30.${Buffer.from(JSON.stringify({ exp: 2_000_000_000 })).toString("base64url")}.x`;
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
