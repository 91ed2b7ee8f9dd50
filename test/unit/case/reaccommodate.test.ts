// A changed next flight, as tables: what it means for a group in each state, whose rooms are asked for, and who hears of it.
import t from "tap";
import type { CaseEvent } from "../../../actors/case/state.ts";
import type { Received } from "../../../actors/runtime/decider.ts";
import { eventsOf, givenOf, received, secondsLater, supervisor } from "../../harness/given.ts";
import {
  asking,
  caseId,
  close,
  economy,
  groupIds,
  human,
  noteGroup,
  noteWave,
  pair,
  plannedCase,
  provisionedCase,
  reopen,
  reviewItem,
  rules,
  standingAt,
  stateOf,
  typesOf,
} from "./planned-case.ts";

/** As it was planned: one night, 21 to 22 November. */
const at = (progress: string, parties = [...progress].map(() => pair)): CaseEvent[] =>
  standingAt(plannedCase(parties, economy), progress);
const flight = (scheduledDeparture: string) => ({ number: "XN486", scheduledDeparture });
const dayLater = flight("2026-11-23T14:00:00.000Z");
const tonight = flight("2026-11-22T00:30:00.000Z");
const reaccommodate = (data: object): Received =>
  human("reaccommodate", { reason: "The next flight was cancelled, too", ...data });
const terms = { policies: economy };
const after = (events: CaseEvent[], data: object): CaseEvent[] =>
  eventsOf(rules, events, [reaccommodate(data), terms]).slice(events.length);

t.test("what becomes of a group at each letter", async (t) => {
  const table: [string, string, string, string, string][] = [
    // letter, then with another night: letter and effect; without any: letter and effect
    ["W", "W", "REPLANNED", "N", "LOCAL_RESIDENT"],
    ["H", "H", "REPLANNED", "N", "LOCAL_RESIDENT"],
    ["F", "F", "REPLANNED", "N", "LOCAL_RESIDENT"],
    ["A", "A", "AMENDING", "A", "LOCAL_RESIDENT"],
    ["B", "B", "AMENDING", "B", "LOCAL_RESIDENT"],
    ["R", "R", "AMENDING", "R", "LOCAL_RESIDENT"],
    ["U", "U", "AMENDING", "U", "LOCAL_RESIDENT"],
    ["D", "D", "NOTED", "D", "NOTED"],
    ["M", "M", "NOTED", "M", "NOTED"],
    ["X", "X", "NOTED", "X", "NOTED"],
  ];
  for (const [letter, longer, change, none, let_go] of table) {
    const events = at(`${letter}B`);
    const [group] = groupIds(events);
    const effectOf = (told: CaseEvent[]) => {
      const event = told.find(({ type }) => type === "case.reaccommodated") as Extract<
        CaseEvent,
        { type: "case.reaccommodated" }
      >;
      const one = event.data.groups.find(({ head }) => head.groupId === group);
      return [one?.letter, one?.effect];
    };
    t.same(effectOf(after(events, { nextFlight: dayLater })), [longer, change], `${letter}: another night`);
    t.same(effectOf(after(events, { nextFlight: tonight })), [none, let_go], `${letter}: no night`);
  }
});

t.test("who waits is placed for the new dates, who has a room asks the hotel", async (t) => {
  const events = at("WB");
  const command = reaccommodate({ nextFlight: dayLater });
  const told = after(events, { nextFlight: dayLater });
  t.same(typesOf(told), ["case.reaccommodated", "case.wave-requested"]);
  const state = stateOf([...events, ...told]);
  t.match(state.nextFlight, { number: "XN486" });
  for (const { stay, shape } of state.groups) {
    t.match(stay, { checkIn: "2026-11-21", checkOut: "2026-11-23", nights: 2 });
    t.equal(shape, 1);
  }
  const sent = rules.outgoing(told[0] as CaseEvent, state, command, caseId);
  t.match(sent, [
    {
      type: "case.amended",
      data: {
        change: "NEXT_FLIGHT",
        nextFlight: { number: "XN486" },
        groups: [{ effect: "REPLANNED" }, { effect: "AMENDING" }],
      },
    },
    { name: "sub-case.amend-stay", data: { shape: 1, stay: { nights: 2 }, nextFlight: { number: "XN486" } } },
    { name: "sub-case.amend-stay", data: { shape: 1, stay: { checkOut: "2026-11-23" } } },
  ]);
  givenOf(
    t,
    rules,
    caseId,
  )(...events, ...told)
    .when(noteWave([...events, ...told], groupIds(events).slice(0, 1)))
    .then({ type: "case.wave-noted" })
    .leads({ progress: "AB" });
  t.same(after([...events, ...told].slice(0, -1), { nextFlight: dayLater }), [], "as is known already");
});

t.test("no night: LOCAL_RESIDENT, desks are cleared, and the case may be done", async (t) => {
  const events = at("WH");
  const told = after(events, { nextFlight: tonight });
  t.same(typesOf(told), ["case.reaccommodated", "case.resolved"]);
  const state = stateOf([...events, ...told]);
  t.match(state, { progress: "NN", onDesk: [] });
  const sent = rules.outgoing(told[0] as CaseEvent, state, reaccommodate({}), caseId);
  t.match(
    sent.slice(-2).map((message) => ("data" in message ? message.data : {})),
    groupIds(events).map((groupId) => ({ groupId, resolution: "LOCAL_RESIDENT" })),
  );
  // Of one that has a room the case hears once all is given back.
  const housed = at("B");
  const letting = [...housed, ...after(housed, { nextFlight: tonight })];
  t.equal(stateOf(letting).progress, "B");
  givenOf(
    t,
    rules,
    caseId,
  )(...letting)
    .when(noteGroup(groupIds(housed)[0], "N"))
    .leads({ progress: "N" });
});

t.test("a night to bridge after all: rooms are asked for on top", async (t) => {
  const events = eventsOf(rules, at("WB"), [reaccommodate({ nextFlight: tonight }), terms]);
  t.equal(stateOf(events).progress, "NB");
  const told = after(events, { nextFlight: dayLater });
  t.equal(stateOf([...events, ...told]).progress, "WB");
  t.equal(typesOf(told).at(-1), "case.wave-requested", "its room was approved before");
  const first = plannedCase([pair], economy);
  const none = eventsOf(
    rules,
    provisionedCase([pair], { iataDesignator: "XN484", scheduledDeparture: "2026-11-22T00:30:00Z" }),
    [received("case.plan"), terms],
  );
  t.equal(stateOf(first).progress, "W");
  t.equal(stateOf(none).progress, "N");
  t.same(typesOf(after(none, { nextFlight: dayLater })), [
    "case.reaccommodated",
    "demand.requested",
    "demand.approved",
    "case.wave-requested",
  ]);
});

t.test("groups that fly otherwise, and stay so", async (t) => {
  const events = at("BBB");
  const [one = "", two = "", three = ""] = groupIds(events);
  const own = after(events, { groups: [{ groupId: two, nextFlight: dayLater }] });
  const state = stateOf([...events, ...own]);
  t.same(
    state.groups.map(({ stay }) => stay?.nights),
    [1, 2, 1],
  );
  t.match(state.nextFlight, { number: "XN484" });
  const all = after([...events, ...own], { nextFlight: flight("2026-11-24T14:00:00.000Z") });
  const changed = (all[0] as Extract<CaseEvent, { type: "case.reaccommodated" }>).data.groups;
  t.same(
    changed.map(({ head }) => head.groupId),
    [one, three],
  );
});

t.test("a first next flight settles the item that one was missing", async (t) => {
  const opened = provisionedCase([pair], undefined);
  const events = eventsOf(rules, opened, [received("case.plan"), terms]);
  const { nextFlight: _, awaiting: __, ...unknown } = stateOf(events);
  const without: CaseEvent[] = [{ type: "case.registered", data: { ...unknown, progress: "B" } }];
  const told = after(without, { nextFlight: dayLater });
  const sent = rules.outgoing(
    told[0] as CaseEvent,
    stateOf([...without, ...told]),
    reaccommodate({}),
    caseId,
  );
  t.match(sent.at(-1), { name: "review.note-housed", data: { resolution: "NEXT_FLIGHT_KNOWN" } });
});

t.test("refused: too early, in the middle of an allocation, and what says nothing", async (t) => {
  const early = provisionedCase([pair]);
  const waving = plannedCase([pair], economy);
  const waiting = plannedCase([pair], asking);
  const given = (events: CaseEvent[]) => givenOf(t, rules, caseId)(...events);
  const change = reaccommodate({ nextFlight: dayLater });
  given(early).when(change, terms).refused("conflict/state", { state: "PROVISIONING" });
  given(waving).when(change, terms).refused("conflict/state", { state: "ALLOCATING" });
  given(waiting).when(reaccommodate({}), terms).refused("validation/body");
  given(waiting)
    .when(reaccommodate({ groups: [{ groupId: "nobody", nextFlight: dayLater }] }), terms)
    .refused("validation/body");
});

t.test("others' groups cannot be named, the whole case is stopped by no lock", async (t) => {
  const events = at("BBB");
  const [one = "", two = "", three = ""] = groupIds(events);
  const lockOf = (groupId: string, by: string, fencingToken: number, expiresAt = secondsLater(60)) => ({
    groupId,
    lockedBy: by,
    fencingToken,
    expiresAt: expiresAt.toISOString(),
  });
  const bo = "urn:user:bo";
  const locks = [lockOf(one, bo, 7), lockOf(two, supervisor.urn, 4), lockOf(three, bo, 2, secondsLater(0))];
  const naming = (...ids: string[]) => ({
    groups: ids.map((groupId) => ({ groupId, nextFlight: dayLater })),
  });
  const [locked, stale] = ["conflict/sub-case-locked", "conflict/stale-fencing-token"] as const;
  const table: [string, object, number | undefined, typeof locked | typeof stale | undefined][] = [
    ["another's", naming(one), undefined, locked],
    ["another's among others", naming(two, one), 4, locked],
    ["one's own, without the token", naming(two), undefined, undefined],
    ["one's own, with the token", naming(two), 4, undefined],
    ["one's own, with an older token", naming(two), 3, stale],
    ["a lock that has lapsed", naming(three), undefined, undefined],
    ["the token of a group that is not named", naming(three), 4, stale],
    ["the whole case", { nextFlight: dayLater }, undefined, undefined],
    ["the whole case, with a token of one's own", { nextFlight: dayLater }, 4, undefined],
    ["the whole case, with another's token", { nextFlight: dayLater }, 7, stale],
    ["the whole case, and another's by name", { nextFlight: dayLater, ...naming(one) }, 4, locked],
    ["the whole case, and one more by name", { nextFlight: dayLater, ...naming(three) }, 4, undefined],
  ];
  for (const [what, data, fencingToken, expected] of table) {
    const command = {
      ...reaccommodate(data),
      ...(fencingToken === undefined ? {} : { fencingToken }),
    };
    if (expected === undefined)
      t.equal(
        eventsOf(rules, events, [command, { ...terms, locks }])[events.length]?.type,
        "case.reaccommodated",
        what,
      );
    else
      givenOf(
        t,
        rules,
        caseId,
      )(...events)
        .when(command, { ...terms, locks })
        .refused(expected, expected === locked ? { lockedBy: bo, expiresInSeconds: 60 } : {});
  }
  const known = eventsOf(rules, events, [reaccommodate(naming(one)), terms]);
  givenOf(
    t,
    rules,
    caseId,
  )(...known)
    .when(reaccommodate(naming(one)), { ...terms, locks })
    .nothing();
});

t.test("a group whose hotel cannot keep it is placed anew", async (t) => {
  const events = at("BR");
  const [one = "", two = ""] = groupIds(events);
  const replace = (groupId: string, shape = 0) => received("case.replace-group", { groupId, shape });
  const given = givenOf(t, rules, caseId);
  given(...events)
    .when(replace(two))
    .then(
      { type: "case.replacement-asked", data: { groupId: two } },
      { type: "case.wave-requested", data: { again: [two] } },
    )
    .leads({ toReplace: [two] });
  const first = eventsOf(rules, events, replace(one));
  given(...first)
    .when(replace(one))
    .nothing();
  given(...at("DX"))
    .when(replace(one))
    .nothing();
  given(...at("AB"))
    .when(replace(one))
    .notYet();
  // Its dates have changed again: the hotel is asked for those first.
  const changed = eventsOf(rules, events, [reaccommodate({ nextFlight: dayLater }), terms]);
  given(...changed)
    .when(replace(one))
    .nothing();
  given(...changed)
    .when(replace(one, 1))
    .then({ type: "case.replacement-asked" }, { type: "case.wave-requested" });
  t.same(stateOf(eventsOf(rules, [...changed, ...first.slice(-2)], noteWave(first, [one]))).toReplace, []);

  // Whoever asks during an allocation is in the next one, all of them together.
  const [a = "", b = "", c = ""] = groupIds(at("BBB"));
  const waiting = eventsOf(rules, at("BBB"), replace(a), replace(b), replace(c));
  t.same(typesOf(waiting).slice(-3), [
    "case.wave-requested",
    "case.replacement-asked",
    "case.replacement-asked",
  ]);
  given(...waiting)
    .when(noteWave(waiting, [a]))
    .then(
      { type: "case.wave-noted" },
      { type: "demand.settled" },
      { type: "case.wave-requested", data: { again: [b, c] } },
    )
    .leads({ toReplace: [b, c] });
  const second = eventsOf(rules, waiting, noteWave(waiting, [a]));
  const unmoved = given(...second).when(noteWave(second, [b]));
  unmoved.then({ type: "case.wave-noted", data: { unmoved: [c] } }).leads({ toReplace: [] });
  unmoved.sends(
    reviewItem("BOOKING_FAILED", [c], { origin: "amendment", occurrence: stateOf(second).waveId }) as never,
  );
  // A closed case hears of no wave; opened again it asks for another.
  given(...eventsOf(rules, second, close))
    .when(reopen)
    .then({ type: "case.reopened" }, { type: "case.wave-requested", data: { again: [b, c] } });
});

t.test("who was let go and is wanted again", async (t) => {
  const given = givenOf(t, rules, caseId);
  const events = eventsOf(rules, at("BB"), [reaccommodate({ nextFlight: tonight }), terms]);
  const [group = ""] = groupIds(events);
  const wanted = eventsOf(rules, events, [reaccommodate({ nextFlight: dayLater }), terms]);
  t.equal(stateOf(wanted).progress, "BB");
  const none = (shape: number) =>
    received("case.note-group", { groupId: group, stage: "N", round: 1, shape });
  given(...wanted)
    .when(none(1))
    .nothing();
  given(...eventsOf(rules, events, none(1)))
    .when(noteGroup(group, "W", 2))
    .then({ type: "case.group-noted", data: { progress: "WB" } }, { type: "case.wave-requested" });
  // What a saga came to that is over has been told.
  for (const stage of ["F", "B", "D"] as const)
    given(...eventsOf(rules, wanted, noteGroup(group, "W", 2)))
      .when(noteGroup(group, stage, 2))
      .nothing();
});
