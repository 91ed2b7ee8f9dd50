// How a refusal reaches a caller, as a table: a conflict carries the version that stands, and one met on an older version is told as that.
import type { Document } from "mongodb";
import { pino } from "pino";
import t from "tap";
import type { Decider } from "../../../actors/runtime/decider.ts";
import type { TenantDocuments } from "../../../actors/runtime/documents.ts";
import { createHandler } from "../../../actors/runtime/handle.ts";
import type { Relay } from "../../../actors/runtime/relay.ts";
import { Problem } from "../../../schemas/problems.ts";
import { evening, received, supervisor } from "../../harness/given.ts";

interface Thing {
  status: string;
}

/** What the thing's decision comes to. */
type Outcome = { refuses: Problem } | { events: number };

/** A handler of one thing, which stands at version 4 or isn't there, and the writes that it makes. */
const handlerOf = (outcome: Outcome, stands = true, handled: object[] = []) => {
  const writes: Document[] = [];
  const document = {
    _id: "XN-1",
    revision: 9,
    version: 4,
    schemaVersion: 1,
    handled,
    outbox: [],
    outboxCount: 0,
    status: "DONE",
  };
  const collection = {
    findOne: async () => (stands ? document : null),
    updateOne: async (_filter: Document, update: Document) => {
      writes.push(update);
      return { matchedCount: 1 };
    },
  };
  const decider: Decider<Thing, { type: string }> = {
    actor: "thing",
    kind: "wave",
    collection: "things",
    schemaVersion: 1,
    commands: ["do"],
    indexes: [],
    decide: () => {
      if ("refuses" in outcome) throw outcome.refuses;
      return Array.from({ length: outcome.events }, () => ({ type: "thing.done" }));
    },
    evolve: (state) => ({ ...(state as Thing) }),
    view: (state) => state,
  };
  const handle = createHandler<Thing, { type: string }>({
    decider,
    documents: () => ({ collection: () => collection }) as unknown as TenantDocuments,
    relay: () => ({ relay: async () => true }) as unknown as Relay,
    scheduleTimers: () => undefined,
    clock: { now: () => evening },
    faults: () => undefined,
    log: pino({ level: "silent" }),
  });
  return { handle, writes };
};

const command = (expectedVersion?: number) =>
  received(
    "thing.do",
    {},
    {
      entity: "XN-1",
      principal: supervisor,
      ...(expectedVersion === undefined ? {} : { expectedVersion }),
    },
  );

t.test("a refusal", async (t) => {
  const conflict = new Problem("conflict/state", "It is done.", { state: "DONE" });
  const named = new Problem("conflict/state", "It is done.", { version: 77 });
  const body = new Problem("validation/body", "Not this.", { errors: [] });
  /** What is decided, the version that the caller has seen, and what the caller is told. */
  const table: [string, Problem, number | undefined, string, object][] = [
    ["no version seen", conflict, undefined, "conflict/state", { state: "DONE", version: 4 }],
    ["the version that stands", conflict, 4, "conflict/state", { state: "DONE", version: 4 }],
    ["an older version", conflict, 3, "conflict/version", { version: 4 }],
    ["a version named by the refusal itself", named, undefined, "conflict/state", { version: 77 }],
    ["not a conflict, no version seen", body, undefined, "validation/body", { errors: [] }],
    ["not a conflict, an older version", body, 3, "validation/body", { errors: [] }],
  ];
  for (const [what, refuses, seen, code, members] of table) {
    const { handle, writes } = handlerOf({ refuses });
    const told = await handle(command(seen)).then(
      () => undefined,
      (error: unknown) => error,
    );
    if (!(told instanceof Problem)) throw told;
    t.equal(told.code, code, what);
    t.match(told.members, members, `${what}: what it says`);
    if (code === "validation/body") t.notOk("version" in told.members, `${what}: no version`);
    if (code === refuses.code) t.equal(told.message, refuses.message, `${what}: in its own words`);
    t.strictSame(writes, [], `${what}: nothing is written`);
  }
  const absent = handlerOf({ refuses: conflict }, false);
  await t.rejects(absent.handle(command(3)), { code: "conflict/state", members: { state: "DONE" } });
  const broken = new Error("a bug");
  const { handle } = handlerOf({ refuses: broken as Problem });
  await t.rejects(handle(command(3)), broken, "what is no refusal is thrown as it is");
});

t.test("the version that was seen counts only for a change", async (t) => {
  const changing = handlerOf({ events: 1 });
  await t.rejects(changing.handle(command(3)), { code: "conflict/version", members: { version: 4 } });
  t.strictSame(changing.writes, []);
  t.match(await changing.handle(command(4)), { version: 5, repeated: false });
  t.equal(changing.writes.length, 1);
  const settled = handlerOf({ events: 0 });
  t.match(await settled.handle(command(3)), { version: 4 }, "what is done already is answered");
  t.strictSame(settled.writes, []);
});

t.test("a command that comes again", async (t) => {
  const ago = (hours: number) => new Date(evening.getTime() - hours * 3_600_000);
  /** Its id, when it was handled, whether that still counts. */
  const table: [string, Date, boolean][] = [
    ["api:1", ago(0), true],
    ["api:1", ago(24), true],
    ["api:1", ago(24.01), false],
    ["event:1", ago(0), true],
    ["event:1", ago(30), true],
    ["api:2", ago(0), false],
  ];
  for (const [id, at, repeated] of table) {
    const { handle, writes } = handlerOf({ events: 1 }, true, [{ id, at, version: 3 }]);
    const asked = { ...command(), id: id === "api:2" ? "api:1" : id };
    t.match(await handle(asked), { repeated }, `${id}, ${at.toISOString()}`);
    t.equal(writes.length, repeated ? 0 : 1);
  }
});
