// Whom a lock keeps from writing on a group, with or without a fencing token, as tables.
import t from "tap";
import type { Received } from "../../../actors/runtime/decider.ts";
import type { SubCaseEvent } from "../../../actors/sub-case/state.ts";
import type { Principal } from "../../../schemas/command.ts";
import { type GroupLock, requireUnlocked } from "../../../schemas/lock.ts";
import { Problem } from "../../../schemas/problems.ts";
import { evening, eventsOf, givenOf, received, supervisor, system } from "../../harness/given.ts";
import { assign, bookedByPhone, lockLeaseMs, rules, subCaseId, terms } from "./group-story.ts";
import { bo, by, cy, held, lapsesAt, leaseSeconds, msLater, type Sent, waiting } from "./lock-story.ts";

t.test("who may write beside it", async (t) => {
  const lock: GroupLock = { lockedBy: bo.urn, fencingToken: 7, expiresAt: lapsesAt.toISOString() };
  const own = (fencingToken: number): GroupLock => ({ ...lock, lockedBy: cy.urn, fencingToken });
  const before = msLater(lockLeaseMs - 1);
  const passenger: Principal = { surface: "passenger", tenant: "XN", urn: "urn:passenger-session:1" };
  const partner: Principal = { surface: "partner", tenant: "XN", urn: "urn:partner:1" };
  const [locked, stale] = ["conflict/sub-case-locked", "conflict/stale-fencing-token"];
  const rows: [string, (GroupLock | undefined)[], Principal, number | undefined, Date, string | undefined][] =
    [
      ["nobody holds one", [undefined], bo, undefined, evening, undefined],
      ["a token where nobody holds one", [undefined], bo, 7, evening, stale],
      ["its holder, without a token", [lock], bo, undefined, evening, undefined],
      ["its holder, with the token", [lock], bo, 7, before, undefined],
      ["its holder, with an older token", [lock], bo, 6, evening, stale],
      ["its holder, with one that nobody was given", [lock], bo, 8, evening, stale],
      ["another", [lock], cy, undefined, before, locked],
      ["another, with the holder's token", [lock], cy, 7, evening, locked],
      ["another, with an older token", [lock], cy, 6, evening, locked],
      ["another supervisor", [lock], supervisor, undefined, evening, locked],
      ["another, once it has lapsed", [lock], cy, undefined, lapsesAt, undefined],
      ["its holder, once it has lapsed", [lock], bo, undefined, lapsesAt, undefined],
      ["its holder's token, once it has lapsed", [lock], bo, 7, lapsesAt, stale],
      ["a passenger", [lock], passenger, 3, evening, undefined],
      ["a partner", [lock], partner, undefined, evening, undefined],
      ["the service itself", [lock], system, undefined, evening, undefined],
      ["several groups, one of them another's", [own(1), undefined, lock], cy, 1, evening, locked],
      ["several groups, with the token of one", [own(1), own(4), undefined], cy, 4, evening, undefined],
      ["several groups, with a token of none", [own(1), own(4), undefined], cy, 2, evening, stale],
    ];
  for (const [what, locks, principal, fencingToken, now, expected] of rows) {
    const write = { principal, ...(fencingToken === undefined ? {} : { fencingToken }) };
    let found: string | undefined;
    try {
      requireUnlocked(locks, write, now);
    } catch (error) {
      found = error instanceof Problem ? error.code : String(error);
    }
    t.equal(found, expected, what);
  }
});

t.test("compensation and a room booked by hand are kept from others", async (t) => {
  const given = givenOf(t, rules, subCaseId);
  const writes: [string, (principal: Principal, more: Sent) => [Received, unknown]][] = [
    ["compensate", (principal, more) => [by(principal, "compensate", more), undefined]],
    [
      "reserve-manually",
      (principal, more) => [
        by(principal, "reserve-manually", { data: bookedByPhone(), ...more }),
        { known: null, terms },
      ],
    ],
  ];
  for (const [what, write] of writes) {
    const begins = (events: SubCaseEvent[], command: [Received, unknown]): string[] =>
      eventsOf(rules, events, command)
        .slice(events.length)
        .map(({ type }) => type);
    given(...held)
      .when(...write(cy, {}))
      .refused("conflict/sub-case-locked", { lockedBy: bo.urn, expiresInSeconds: leaseSeconds });
    given(...held)
      .when(...write(bo, { fencingToken: 2 }))
      .refused("conflict/stale-fencing-token");
    given(...waiting)
      .when(...write(bo, { fencingToken: 1 }))
      .refused("conflict/stale-fencing-token");
    for (const more of [{}, { fencingToken: 1 }])
      t.ok(begins(held, write(bo, more)).includes("subcase.processing"), `${what}: its holder`);
    t.ok(
      begins(held, write(cy, { now: lapsesAt })).includes("subcase.processing"),
      `${what}: once it has lapsed`,
    );
  }
  const order = by(bo, "compensate");
  const underWay = eventsOf(rules, held, order);
  const taken = eventsOf(rules, underWay, by(bo, "unlock"), by(cy, "lock"));
  given(...taken)
    .when({ ...order, id: "api:again" })
    .nothing();
  const ofCase = received("sub-case.compensate", {}, { principal: system });
  t.ok(eventsOf(rules, held, ofCase).length > held.length, "the case's own order is not stopped");
});

t.test("a hotel chosen by hand, when another has taken the lock since", async (t) => {
  const given = givenOf(t, rules, subCaseId);
  const { data } = assign();
  const order = (more: object) =>
    received("sub-case.override", { overrideId: "XN-CHOICE", assignment: data, ...more });
  given(...held)
    .when(order({ by: cy.urn }))
    .then({ type: "subcase.override-refused", data: { state: "LOCKED" } });
  for (const [what, events, by] of [
    ["the holder's own", held, bo.urn],
    [
      "the holder's, who has given it back",
      eventsOf(rules, held, received("sub-case.unlock", {}, { principal: bo })),
      bo.urn,
    ],
    ["nobody's", held, undefined],
  ] as const) {
    const [first] = eventsOf(rules, events, order(by === undefined ? {} : { by })).slice(events.length);
    t.equal(first?.type, "subcase.overridden", what);
  }
});
