// The operators' live channel without its sockets: what each packet stands for, whoever sends it, in whichever order the streams arrive.
import specs from "@asyncapi/specs";
import { Ajv, type AnySchema } from "ajv";
import addFormats from "ajv-formats";
import fc from "fast-check";
import t from "tap";
import { describeOperatorChannel } from "../../../gateway/asyncapi-operator.ts";
import { Cases } from "../../../gateway/live/cases.ts";
import { Fanout, type Joined } from "../../../gateway/live/fanout.ts";
import type { LiveLog } from "../../../gateway/live/log.ts";
import { offsetText, readOffset } from "../../../gateway/live/offset.ts";
import { PacketRates } from "../../../gateway/live/packet-rates.ts";
import { type Position, positionText, readPosition } from "../../../gateway/live/position.ts";
import { Presence } from "../../../gateway/live/presence.ts";
import { inOrder, type LiveEntry, Ring } from "../../../gateway/live/ring.ts";
import { namedBy } from "../../../gateway/live/rooms.ts";
import type { LiveEvent } from "../../../scripts/soaking/live-client.ts";
import { entriesOf, type LoggedEvent, untold, wrongIn } from "../../../scripts/soaking/live-told.ts";
import { operatorKey, type PresentOperator } from "../../../streams/live-gateways.ts";
import type { TailEntry, TailStream } from "../../../streams/tail.ts";
import { checkLiveEvent } from "../../harness/live-events.ts";

const start: Position = { EVENTS: 0, INTERNAL: 0 };
const caseIdOf = (n: number): string => `XN-0000000000000000000000000${n}`;

interface Happening {
  stream: TailStream;
  caseNo: number;
  /** After the one before it. */
  afterMs: number;
  what: "state" | "lock" | "step" | "case";
}

const typeOf = {
  state: "subcase.state-changed",
  lock: "subcase.lock-changed",
  step: "graph.step-started",
  case: "case.amended",
};

/** The log: both streams, each in its order. */
const logOf = (happenings: readonly Happening[]): { logged: LoggedEvent[]; entries: TailEntry[] } => {
  const sequences = { EVENTS: 0, INTERNAL: 0 };
  let atMs = 1_000_000;
  const logged: LoggedEvent[] = [];
  const entries = happenings.map(({ stream: wanted, caseNo, afterMs, what }, n): TailEntry => {
    const stream = what === "case" ? wanted : "INTERNAL";
    atMs += afterMs;
    const sequence = ++sequences[stream];
    const caseUrn = `urn:case:${caseIdOf(caseNo)}`;
    const subCaseUrn = `urn:sub-case:XN-${n % 3}`;
    const event: LoggedEvent = {
      urn: `urn:event:XN-${n}`,
      type: typeOf[what],
      occurred_at: new Date(atMs).toISOString(),
      tenant: "urn:airline:XN",
      case_urn: caseUrn,
      correlation_urn: "",
      traceparent: "",
      data: { caseUrn, subCaseUrn, groupId: `G${n}`, status: "PENDING", lockedBy: null, airport: "JFK", n },
      stream,
      sequence,
    };
    logged.push(event);
    return { stream, sequence, atMs, tenant: "XN", type: event.type, id: "", event: () => event };
  });
  return { logged, entries };
};

/** A gateway's part that tells: entries are told to it one by one, and it keeps what it published. */
class Gateway {
  readonly ring = new Ring({ keptMs: 90_000, entriesMax: 10_000 });
  readonly packets: LiveEvent[] = [];
  readonly fanout: Fanout;
  #hear: (entry: LiveEntry) => void = () => undefined;

  constructor() {
    this.ring.beginAt(start);
    const log: LiveLog = {
      ring: this.ring,
      onEntry: (hear) => {
        this.#hear = hear;
        return () => undefined;
      },
      onCountedAnew: () => () => undefined,
      after: (caseId, position) => this.ring.after(caseId, position),
      position: () => this.ring.position,
      reached: async () => true,
      live: () => true,
      close: async () => undefined,
    };
    const dispatch = { command: async () => ({ ok: null }), query: async () => ({ ok: null }) };
    this.fanout = new Fanout(log, new Cases(dispatch, () => new Date(0)), {
      publish: (topic, text) => void (topic.endsWith("1") && this.packets.push(eventOf(text))),
      hasListeners: () => true,
    });
  }

  tell(entries: readonly TailEntry[]): this {
    for (const entry of entries)
      this.#hear(this.ring.add(entry, entry.event().case_urn?.slice("urn:case:".length)));
    return this;
  }
}

const eventOf = (text: string): LiveEvent => {
  const [event, payload, offset] = JSON.parse(text.slice(2)) as [string, Record<string, unknown>, string];
  return { event, payload, offset };
};

/** In another order of arrival, each stream in its own. */
const interleaved = (entries: readonly TailEntry[], choices: readonly boolean[]): TailEntry[] => {
  const rest = {
    EVENTS: entries.filter(({ stream }) => stream === "EVENTS"),
    INTERNAL: entries.filter(({ stream }) => stream === "INTERNAL"),
  };
  const told: TailEntry[] = [];
  for (let i = 0; told.length < entries.length; i++) {
    const wanted = choices[i % choices.length] ? "EVENTS" : "INTERNAL";
    const stream = rest[wanted].length > 0 ? wanted : wanted === "EVENTS" ? "INTERNAL" : "EVENTS";
    told.push(rest[stream].shift() as TailEntry);
  }
  return told;
};

/** So late that every window of before is over. */
const theEnd: Happening = { stream: "INTERNAL", caseNo: 9, afterMs: 10_000, what: "case" };

const happening = fc.record({
  stream: fc.constantFrom<TailStream>("EVENTS", "INTERNAL"),
  caseNo: fc.constantFrom(1, 1, 2, 3),
  afterMs: fc.constantFrom(0, 1, 30, 90, 250),
  what: fc.constantFrom<Happening["what"]>("state", "state", "lock", "step", "case"),
});

t.test("whoever comes back, wherever, after any packet, is told the rest once", (t) => {
  const choices = fc.array(fc.boolean(), { minLength: 1, maxLength: 12 });
  fc.assert(
    fc.property(
      fc.array(happening, { minLength: 1, maxLength: 40 }),
      choices,
      choices,
      fc.nat(),
      fc.nat(),
      (happenings, here, there, firstCut, secondCut) => {
        const { logged, entries } = logOf([...happenings, theEnd]);
        const room = { kind: "case", caseId: caseIdOf(1), airport: "JFK" } as const;
        const joined: Joined[] = [{ room, since: { updates: start, told: start } }];
        const end = entries.slice(-1);
        const one = new Gateway().tell(interleaved(entries.slice(0, -1), here)).tell(end);
        const other = new Gateway().tell(interleaved(entries.slice(0, -1), there)).tell(end);
        const from = offsetText({ updates: start, told: start });
        const told = one.packets.slice(0, firstCut % (one.packets.length + 1));
        const resume = (gateway: Gateway): LiveEvent[] =>
          gateway.fanout
            .missed(joined, readOffset(told.at(-1)?.offset ?? from))
            .map(({ text }) => eventOf(text));
        // Cut off once more in the middle of what was missed.
        const missed = resume(other);
        told.push(...missed.slice(0, secondCut % (missed.length + 1)));
        told.push(...resume(one));
        const ofCase = entriesOf(logged, `urn:case:${caseIdOf(1)}`);
        const { faults, last } = wrongIn(ofCase, from, told);
        for (const gateway of [one, other]) gateway.fanout.close();
        return faults.length === 0 && untold(ofCase, last).length === 0;
      },
    ),
    { numRuns: 150 },
  );
  t.end();
});

t.test("a case's changes within a window are one update, and cases of a window share a position", (t) => {
  const state = (caseNo: number, afterMs: number): Happening => ({
    stream: "INTERNAL",
    caseNo,
    afterMs,
    what: "state",
  });
  const { entries } = logOf([state(1, 0), state(1, 50), state(2, 10), state(1, 100), theEnd]);
  const { packets, fanout } = new Gateway().tell(entries);
  const updates = packets.filter(({ event }) => event === "case:updated");
  t.match(updates, [
    { payload: { subCasesChanged: 2, caseUrn: /1$/ }, offset: "0.0_0.3_0.3_XN-00000000000000000000000001" },
    { payload: { subCasesChanged: 1 }, offset: "0.4_0.4" },
  ]);
  fanout.close();
  t.end();
});

t.test("the ring keeps a minute and no more than it may, and knows what it has let go", (t) => {
  const { entries } = logOf(
    Array.from({ length: 8 }, (): Happening => ({ stream: "EVENTS", caseNo: 1, afterMs: 10, what: "case" })),
  );
  const ring = new Ring({ keptMs: 45, entriesMax: 4 });
  ring.beginAt(start);
  for (const entry of entries) ring.add(entry, caseIdOf(1));
  t.equal(ring.size, 4);
  t.equal(ring.crowdedOut, 4);
  t.strictSame(
    ring.after(caseIdOf(1), { EVENTS: 6, INTERNAL: 0 }).entries.map(({ sequence }) => sequence),
    [7, 8],
  );
  t.ok(ring.reachesBackTo({ EVENTS: 4, INTERNAL: 0 }));
  t.notOk(ring.reachesBackTo({ EVENTS: 3, INTERNAL: 0 }), "what has left");
  t.notOk(ring.reachesBackTo({ EVENTS: 9, INTERNAL: 0 }), "what is of another log");
  const at = (stream: TailStream, atMs: number) => ({ stream, atMs }) as TailEntry;
  const heard = {
    EVENTS: [at("EVENTS", 1), at("EVENTS", 5)],
    INTERNAL: [at("INTERNAL", 2), at("INTERNAL", 5)],
  };
  t.strictSame(
    inOrder(heard).map(({ stream, atMs }) => `${stream[0]}${atMs}`),
    ["E1", "I2", "E5", "I5"],
  );
  t.end();
});

t.test("positions and offsets are read as they were written, and nothing else is", (t) => {
  const partial = { next: { EVENTS: 7, INTERNAL: 9 }, upToCase: "XN-01JD" };
  for (const offset of [
    { updates: { EVENTS: 1, INTERNAL: 2 }, told: { EVENTS: 3, INTERNAL: 4 } },
    { updates: { EVENTS: 1, INTERNAL: 2 }, told: { EVENTS: 3, INTERNAL: 4 }, partial },
  ])
    t.strictSame(readOffset(offsetText(offset)), offset);
  for (const text of [
    undefined,
    7,
    "",
    "1.2",
    "1.2_3",
    "1.2_3.4_5.6",
    "1.2_3.4_5.6_X Y",
    "-1.2_3.4",
    "1.2_3.4x",
  ])
    t.equal(readOffset(text), undefined, String(text));
  t.strictSame(readPosition(positionText({ EVENTS: 5, INTERNAL: 0 })), { EVENTS: 5, INTERNAL: 0 });
  t.end();
});

t.test("a room is named by one thing", (t) => {
  const who = { surface: "operator", tenant: "XN", urn: "urn:user:a" } as const;
  const caseUrn = "urn:case:XN-01JD0000000000000000000000";
  t.match(namedBy({ caseUrn }, who), { caseId: "XN-01JD0000000000000000000000" });
  t.match(namedBy({ airport: "JFK" }, { ...who, airport: "JFK" }), { airport: "JFK" });
  const refused: [unknown, string, object][] = [
    [{ caseUrn: "urn:case:QZ-01JD0000000000000000000000" }, "auth/foreign-tenant", {}],
    [{ airport: "LAX" }, "auth/foreign-airport", { airport: "JFK" }],
    [{ caseUrn, airport: "JFK" }, "validation/body", {}],
    [{ airport: "__proto__" }, "validation/body", {}],
    [null, "validation/body", {}],
    [[caseUrn], "validation/body", {}],
  ];
  for (const [payload, code, more] of refused)
    t.throws(() => namedBy(payload, { ...who, ...more }), { code } as never);
  t.end();
});

t.test("a connection may send some at once, and then so many a second", (t) => {
  const rates = new PacketRates();
  const connection = {};
  const taken = (nowMs: number, count: number) =>
    Array.from({ length: count }, () => rates.take(connection, nowMs));
  t.equal(taken(0, 100).filter(Boolean).length, 60);
  t.equal(taken(500, 100).filter(Boolean).length, 10);
  t.ok(rates.take({}, 0), "each by itself");
  t.end();
});

t.test("locks are given back when the last gateway has lost an operator, and not before", async (t) => {
  const released: string[] = [];
  const now = new Date("2026-11-22T06:00:00.000Z");
  const presence = new Presence({
    self: "here",
    beatMs: 1000,
    release: (_tenant, operatorUrn, upTo) => void released.push(`${operatorUrn} ${upTo.toISOString()}`),
    onChanged: () => undefined,
    now: () => now,
    log: undefined as never,
  });
  const ana = { tenant: "XN", operatorUrn: "urn:user:ana" };
  const key = operatorKey(ana.tenant, ana.operatorUrn);
  const there: PresentOperator = { ...ana, since: "2026-11-22T05:00:00.000Z", cases: ["XN-1"] };
  presence.enter(ana);
  presence.watch(ana, "XN-1");
  t.match(presence.of("XN-1"), { watcherCount: 1, watchers: [{ since: now.toISOString() }] });
  presence.onPresent("there", key, there, now);
  t.match(
    presence.of("XN-1"),
    { watcherCount: 1, watchers: [{ since: there.since }] },
    "one operator, since the first",
  );
  presence.enter(ana);
  presence.leave(ana);
  presence.leave(ana);
  t.strictSame(released, [], "they are at the other gateway");
  t.equal(presence.of("XN-1").watcherCount, 1);
  presence.onAbsent("there", key);
  t.strictSame(released, [`urn:user:ana ${now.toISOString()}`]);
  t.equal(presence.of("XN-1").watcherCount, 0);
  presence.onAbsent("there", key);
  t.equal(released.length, 1);
  await presence.stop();
});

t.test("the published description is valid AsyncAPI, and its examples are what it says", (t) => {
  const document = describeOperatorChannel("https://stopover.test") as {
    components: {
      messages: Record<string, { name: string; payload: AnySchema; examples: { payload: unknown }[] }>;
    };
  };
  const ajv = addFormats.default(new Ajv({ strict: false, meta: false, validateSchema: false }));
  const isValid = ajv.compile(specs.schemas["3.0.0"] as AnySchema);
  t.ok(isValid(document), JSON.stringify(isValid.errors?.slice(0, 3)));
  const text = JSON.stringify(document);
  t.notMatch(text, /"urn":\[/, "our own keyword stays ours");
  const at = (pointer: string): unknown =>
    pointer
      .slice(2)
      .split("/")
      .reduce<unknown>((node, part) => (node as Record<string, unknown> | undefined)?.[part], document);
  for (const [, pointer = ""] of text.matchAll(/"\$ref":"(#[^"]+)"/g)) t.ok(at(pointer), pointer);
  const payloads = addFormats.default(new Ajv({ strict: false }));
  for (const { name, payload, examples } of Object.values(document.components.messages))
    for (const example of examples) {
      t.ok(payloads.validate(payload, example.payload), `${name}: ${payloads.errorsText()}`);
      if (name.includes(":")) checkLiveEvent(name, example.payload);
    }
  const contract = ["case:updated", "subcase:state-changed", "graph:step:started", "graph:step:completed"];
  contract.push("graph:step:progress", "notification:dispatched", "presence:changed");
  const names = Object.values(document.components.messages).map(({ name }) => name);
  t.strictSame(
    contract.filter((name) => !names.includes(name)),
    [],
  );
  t.end();
});
