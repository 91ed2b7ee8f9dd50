// A sub-case's lock as tables: taken, renewed, given back, broken, lapsed to the millisecond; tokens that only grow. Whom it keeps
// from writing is fenced-writes.test.ts.
import fc from "fast-check";
import t from "tap";
import type { Received } from "../../../actors/runtime/decider.ts";
import type { ActorContext } from "../../../actors/runtime/host.ts";
import { closeSession } from "../../../actors/sub-case/held-locks.ts";
import { groupLock, lockFacts, lockTimers, lockView } from "../../../actors/sub-case/lock.ts";
import { subCaseActor } from "../../../actors/sub-case/service.ts";
import { type SubCaseEvent, technicalEvents } from "../../../actors/sub-case/state.ts";
import { groupView, manifestItem } from "../../../actors/sub-case/view.ts";
import type { Principal } from "../../../schemas/command.ts";
import {
  evening,
  eventsOf,
  folded,
  givenOf,
  received,
  secondsLater,
  supervisor,
} from "../../harness/given.ts";
import { caseId, lockLeaseMs, rules, stateOf, subCaseId } from "./group-story.ts";
import { bo, by, cy, held, lapse, lapsesAt, leaseSeconds, msLater, operator, waiting } from "./lock-story.ts";

const changed = (how: string, fencingToken: number, holder?: Principal, expiresAt = lapsesAt) => ({
  type: "subcase.lock-changed" as const,
  data: {
    how: how as never,
    lock: { fencingToken, ...(holder === undefined ? {} : { held: { by: holder.urn, expiresAt } }) },
  },
});
const told = (fencingToken: number, lockedBy: string | null, expiresAt: Date | null = null) => ({
  to: "internal" as const,
  type: "subcase.lock-changed",
  id: subCaseId,
  caseId,
  data: {
    caseUrn: `urn:case:${caseId}`,
    subCaseUrn: `urn:sub-case:${subCaseId}`,
    status: "PENDING",
    lockedBy,
    fencingToken,
    expiresAt: expiresAt?.toISOString() ?? null,
  },
});

t.test("taken, renewed and given back", async (t) => {
  const given = givenOf(t, rules, subCaseId);
  given(...waiting)
    .when(by(bo, "lock"))
    .then(changed("TAKEN", 1, bo))
    .sends(told(1, bo.urn, lapsesAt));
  const renewedTo = secondsLater(2 * leaseSeconds - 1);
  given(...held)
    .when(by(bo, "lock", { now: secondsLater(leaseSeconds - 1) }))
    .then(changed("RENEWED", 1, bo, renewedTo))
    .sends(told(1, bo.urn, renewedTo));
  given(...held)
    .when(by(bo, "unlock", { fencingToken: 1 }))
    .then(changed("GIVEN_BACK", 1))
    .sends(told(1, null))
    .leads({ lock: { fencingToken: 1 } });
  given(...held)
    .when(by(bo, "unlock"))
    .then(changed("GIVEN_BACK", 1));
  given(...waiting)
    .when(by(bo, "unlock"))
    .nothing();
  const free = eventsOf(rules, held, by(bo, "unlock"));
  given(...free)
    .when(by(bo, "unlock", { fencingToken: 1 }))
    .nothing();
  given(...free)
    .when(by(bo, "lock"))
    .then(changed("TAKEN", 2, bo));
});

t.test("another operator's", async (t) => {
  const given = givenOf(t, rules, subCaseId);
  const rows: [afterMs: number, expiresInSeconds: number][] = [
    [0, leaseSeconds],
    [1, leaseSeconds],
    [1000, leaseSeconds - 1],
    [lockLeaseMs - 1001, 2],
    [lockLeaseMs - 1000, 1],
    [lockLeaseMs - 1, 1],
  ];
  for (const [afterMs, expiresInSeconds] of rows)
    for (const verb of ["lock", "unlock"])
      given(...held)
        .when(by(cy, verb, { now: msLater(afterMs) }))
        .refused("conflict/sub-case-locked", { lockedBy: bo.urn, expiresInSeconds });
  given(...held)
    .when(by(cy, "lock", { now: lapsesAt }))
    .then(changed("TAKEN", 2, cy, secondsLater(2 * leaseSeconds)));
  given(...held)
    .when(by(bo, "lock", { now: lapsesAt }))
    .then(changed("TAKEN", 2, bo, secondsLater(2 * leaseSeconds)));
  given(...held)
    .when(by(cy, "unlock", { now: lapsesAt }))
    .nothing();
});

t.test("a supervisor breaks it with a reason, and nobody else", async (t) => {
  const given = givenOf(t, rules, subCaseId);
  const reason = { reason: "Went home with it" };
  for (const role of ["OPS_SUPERVISOR", "ADMIN"] as const) {
    const senior = operator("dee", { role });
    given(...held)
      .when(by(senior, "unlock", { data: reason }))
      .then(changed("BROKEN", 1))
      .sends(told(1, null));
    given(...held)
      .when(by(senior, "unlock"))
      .refused("conflict/sub-case-locked", { lockedBy: bo.urn });
    given(...held)
      .when(by(senior, "lock"))
      .refused("conflict/sub-case-locked");
  }
  given(...held)
    .when(by(cy, "unlock", { data: reason }))
    .refused("conflict/sub-case-locked");
  const broken = eventsOf(rules, held, by(supervisor, "unlock", { data: reason }));
  given(...broken)
    .when(by(bo, "compensate", { fencingToken: 1 }))
    .refused("conflict/stale-fencing-token");
  given(...broken)
    .when(by(supervisor, "lock"))
    .then(changed("TAKEN", 2, supervisor));
});

t.test("it lapses by its own timer", async (t) => {
  const given = givenOf(t, rules, subCaseId);
  t.strictSame(lockTimers(stateOf(held)), [{ name: "lapse-lock", dueAt: lapsesAt }]);
  t.strictSame(lockTimers(stateOf(waiting)), []);
  given(...held)
    .when(lapse(lapsesAt))
    .then(changed("LAPSED", 1))
    .sends(told(1, null));
  given(...held)
    .when(lapse(lapsesAt, msLater(lockLeaseMs - 1)))
    .notYet();
  const renewed = eventsOf(rules, held, by(bo, "lock", { now: secondsLater(60) }));
  given(...renewed)
    .when(lapse(lapsesAt))
    .nothing();
  const lapsed = eventsOf(rules, held, lapse(lapsesAt));
  t.strictSame(lockTimers(stateOf(lapsed)), []);
  given(...lapsed)
    .when(lapse(lapsesAt))
    .nothing();
  given(...lapsed)
    .when(by(bo, "lock", { now: lapsesAt }))
    .then(changed("TAKEN", 2, bo, secondsLater(2 * leaseSeconds)));
});

t.test("its holder has left", async (t) => {
  const given = givenOf(t, rules, subCaseId);
  const left = (holder: Principal, upTo?: Date) => {
    const until = upTo === undefined ? {} : { upTo: upTo.toISOString() };
    return received("sub-case.release-lock", { holder: holder.urn, ...until });
  };
  given(...held)
    .when(left(bo))
    .then(changed("GIVEN_BACK", 1))
    .sends(told(1, null));
  given(...held)
    .when(left(bo, evening))
    .then(changed("GIVEN_BACK", 1));
  given(...held)
    .when(left(bo, msLater(-1)))
    .nothing();
  const renewed = eventsOf(rules, held, by(bo, "lock", { now: secondsLater(5) }));
  given(...renewed)
    .when(left(bo, secondsLater(4)))
    .nothing();
  given(...held)
    .when(left(cy))
    .nothing();
  given(...waiting)
    .when(left(bo))
    .nothing();
  const suspend = received("sub-case.suspend", { changedAt: evening.toISOString() });
  given(...eventsOf(rules, held, suspend))
    .when(left(bo))
    .then(changed("GIVEN_BACK", 1));

  const decider = subCaseActor({ config: {} } as ActorContext).deciders[0];
  const data = { subject: "4711", operatorUrn: bo.urn };
  const event = { type: "operator.logged-out", occurred_at: "2026-11-21T21:00:00.000Z", data };
  t.strictSame(
    decider?.reactions?.["operator.logged-out"]?.(event as never, "XN"),
    [
      {
        name: "sub-case.release-locks",
        entity: "4711",
        data: { holder: bo.urn, upTo: event.occurred_at },
      },
    ],
    "the issuer tells of a logout",
  );
});

t.test("a session is closed whether or not anybody can be told of it", async (t) => {
  const [waits, warned]: [unknown[], object[]] = [[], []];
  const publish = async (
    _subject: string,
    _payload: string,
    { timeout, retries }: Record<string, unknown>,
  ) => {
    waits.push({ timeout, retries });
    throw new Error("no server");
  };
  const find = () => ({ sort: () => ({ toArray: async () => [] }) });
  const context = {
    documents: { tenant: () => ({ collection: () => ({ find }) }) },
    clock: { now: () => evening },
    streams: { jetstream: { publish } },
    log: { warn: (told: object) => warned.push(told) },
  } as unknown as ActorContext;
  const close = received("sub-case.close-session", {}, { principal: bo });
  const reply = await closeSession(context)(close, async () => ({ ok: null }));
  t.strictSame(reply, { ok: { released: [] } });
  t.strictSame(waits, [{ timeout: 1000, retries: 1 }], "nobody who logs out waits longer");
  t.match(warned, [{ err: { message: "no server" } }]);
});

t.test("while the case is closed it can be given back and lapse, not be taken", async (t) => {
  const given = givenOf(t, rules, subCaseId);
  const suspend = received("sub-case.suspend", { changedAt: evening.toISOString() });
  const closed = eventsOf(rules, held, suspend);
  given(...closed)
    .when(by(bo, "lock"))
    .refused("conflict/state", { state: "CLOSED" });
  given(...closed)
    .when(by(bo, "unlock"))
    .then(changed("GIVEN_BACK", 1));
  given(...closed)
    .when(lapse(lapsesAt))
    .then(changed("LAPSED", 1));
});

t.test("what reads show, and what a command answers that comes again", async (t) => {
  const state = stateOf(held);
  const facts = { lockedBy: bo.urn, lockExpiresAt: lapsesAt.toISOString() };
  const nobody = { lockedBy: null, lockExpiresAt: null };
  for (const [now, expected] of [
    [evening, facts],
    [msLater(lockLeaseMs - 1), facts],
    [lapsesAt, nobody],
  ] as const) {
    t.strictSame(lockFacts(state, now), expected);
    t.match(manifestItem(state, 1, now), expected);
    t.match(groupView(state, now), expected);
  }
  t.strictSame(lockFacts(stateOf(waiting), evening), nobody);
  t.equal(groupLock(stateOf(waiting)), undefined);

  const asked = (principal: Principal, now: Date, events = held) =>
    lockView(stateOf(events), { principal, version: 3, now });
  t.strictSame(asked(bo, msLater(1)), {
    subCaseUrn: `urn:sub-case:${subCaseId}`,
    lockedBy: bo.urn,
    fencingToken: 1,
    expiresAt: lapsesAt.toISOString(),
    expiresInSeconds: leaseSeconds - 1,
    version: 3,
  });
  t.throws(() => asked(bo, lapsesAt), { code: "conflict/stale-fencing-token" });
  t.throws(() => asked(cy, evening), { code: "conflict/sub-case-locked" });
});

t.test("the audit trail and the version", async (t) => {
  const clock = { now: () => evening };
  const config = { STEP_DEADLINE_MS: 1000, LOCK_LEASE_MS: lockLeaseMs };
  const decider = subCaseActor({ config, clock } as ActorContext).deciders[0];
  t.ok(technicalEvents.has("subcase.lock-changed"), "it makes nobody's version outdated");
  const noted = (before: SubCaseEvent[], command: Received) => {
    const events = eventsOf(rules, before, command).slice(before.length);
    const after = folded(rules, events, stateOf(before));
    return decider?.audit?.({ id: subCaseId, command, before: stateOf(before), after, events } as never);
  };
  const none = { lockedBy: null };
  const bos = { lockedBy: bo.urn };
  t.match(noted(waiting, by(bo, "lock")), { action: "sub-case.lock", before: none, after: bos });
  t.equal(noted(held, by(bo, "lock")), null, "a renewal is no entry");
  const broken = by(supervisor, "unlock", { data: { reason: "Asleep" } });
  t.match(noted(held, broken), { action: "sub-case.unlock", before: bos, after: none });
  t.equal(noted(held, lapse(lapsesAt)), undefined, "nobody has done it");
});

t.test("whatever operators do, one at most holds it, and each lease has a token of its own", async () => {
  const who = fc.constantFrom(bo, cy, supervisor);
  const step = fc.record({
    principal: who,
    verb: fc.constantFrom("lock", "unlock", "lapse"),
    waitMs: fc.oneof(fc.nat(lockLeaseMs + 2), fc.constantFrom(0, lockLeaseMs - 1, lockLeaseMs)),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      let events = waiting;
      let atMs = 0;
      const tokens: number[] = [];
      for (const { principal, verb, waitMs } of steps) {
        atMs += waitMs;
        const now = msLater(atMs);
        const before = stateOf(events);
        const standing = lockFacts(before, now).lockedBy;
        const command =
          verb === "lapse" ? lapse(before.lock?.held?.expiresAt ?? now, now) : by(principal, verb, { now });
        try {
          events = eventsOf(rules, events, command);
        } catch {
          if (verb !== "lapse" && (standing === null || standing === principal.urn)) return false;
          continue;
        }
        const { lock } = stateOf(events);
        if (verb !== "lock") continue;
        if (standing !== null && standing !== principal.urn) return false;
        if (lock?.held?.by !== principal.urn) return false;
        const last = tokens.at(-1) ?? 0;
        const isRenewal = standing === principal.urn;
        if (isRenewal ? lock.fencingToken !== last : lock.fencingToken <= last) return false;
        if (!isRenewal) tokens.push(lock.fencingToken);
      }
      return true;
    }),
    { seed: 20261122, numRuns: 200 },
  );
});
