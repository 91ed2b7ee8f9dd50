// What partners write to a case that stands, as tables: late passengers, next flights in any order, and priority within its bounds;
// and that the feed loses nothing of a stream that brings it in pieces.
import t from "tap";
import { placeable } from "../../../actors/case/capacity.ts";
import { disruptionFeed } from "../../../actors/case/disruption-feed.ts";
import { groupsOfPatch } from "../../../actors/case/manifest.ts";
import type { CaseEvent } from "../../../actors/case/state.ts";
import type { ActorContext } from "../../../actors/runtime/host.ts";
import { partnerPassengers } from "../../../actors/sub-case/partner-view.ts";
import type { Principal } from "../../../schemas/command.ts";
import type { DisruptionFeed, DisruptionFeedQuery } from "../../../schemas/partner-disruptions.ts";
import type { Passenger, PassengerInput } from "../../../schemas/passenger.ts";
import type { GroupMembers } from "../../../schemas/regroup.ts";
import { evening, eventsOf, givenOf, received, supervisor, trace } from "../../harness/given.ts";
import {
  approve,
  asking,
  caseId,
  economy,
  groupIds,
  noteWave,
  open,
  pair,
  plan,
  plannedCase,
  provisioned,
  provisionedCase,
  rules,
  standingAt,
  stateOf,
} from "./planned-case.ts";

const partner: Principal = {
  surface: "partner",
  tenant: "XN",
  urn: "urn:partner:XN-tower",
  clientId: "XN-tower",
};
const early = "2026-11-21T20:50:00Z";
const late = "2026-11-21T20:55:00Z";
const somebody = (pnr: string, lastName: string): PassengerInput => ({
  ...{ pnr, lastName, cabinClass: "ECONOMY" },
  contact: { email: "a@example.com" },
});

let patches = 0;
const patch = (
  data: { decidedAt?: string; passengers?: PassengerInput[]; nextFlight?: object },
  members: GroupMembers[] = [],
): [ReturnType<typeof received>, unknown] => {
  const { passengers = [] } = data;
  const named = [...groupsOfPatch("XN", "XN/E1", passengers)].flat();
  const more = { id: `patch-${++patches}`, principal: partner };
  const command = received("case.amend-manifest", { decidedAt: early, ...data }, more);
  return [command, { policies: economy, members, named }];
};
/** As its sub-case tells of a group, with the passengers of the case's own push. */
const memberOf = (events: CaseEvent[], at: number, more: Partial<GroupMembers> = {}): GroupMembers => {
  const {
    groupId,
    subCaseId,
    shape = 0,
    passengers,
  } = stateOf(events).groups[at] as (typeof state)["groups"][number];
  const all = Array.from({ length: passengers }, (_, i) => somebody(`P${at}`, `N${i}`));
  const [made] = [...groupsOfPatch("XN", "XN/E1", all)].flat();
  return { groupId, subCaseId, shape, status: "PENDING", passengers: made?.passengers ?? [], ...more };
};
const state = stateOf(plannedCase([pair], economy));
const shapes = (events: CaseEvent[]) => stateOf(events).groups.map(({ passengers }) => passengers);
const newest = (events: CaseEvent[]) => stateOf(events).amendments?.at(-1);
const flight = (n: number, day: number) => ({
  iataDesignator: `XN${n}`,
  scheduledDeparture: `2026-11-${day}T14:00:00Z`,
});

t.test("a newcomer is owned whatever is under way", async (t) => {
  const ada = patch({ passengers: [somebody("LATE", "Ada")] });
  const registered = eventsOf(rules, [] as CaseEvent[], open([pair, pair]));
  const during = eventsOf(rules, registered, ada);
  t.strictSame(
    stateOf(during).manifest.map(({ passengers }) => passengers.length),
    [2, 2, 1],
  );
  const opened = eventsOf(
    rules,
    during,
    provisioned(2),
    received("case.note-provisioned", { from: 2, count: 1 }),
  );
  t.equal(opened.at(-1)?.type, "case.opened", "it goes with the chunks");
  const before = eventsOf(rules, provisionedCase([pair]), ada, [plan, economy]);
  t.equal(stateOf(before).progress, "WW", "and is planned with the others");
  const waiting = eventsOf(rules, plannedCase([pair], economy), ada);
  t.equal(stateOf(waiting).awaiting?.step, "wave");
  const noted = eventsOf(rules, waiting, noteWave(waiting, groupIds(waiting).slice(0, 1)));
  t.equal(stateOf(noted).progress, "AW", "a wave that did not know it leaves it waiting");
  t.equal(stateOf(noted).awaiting?.step, "wave", "for the next one");
  const given = givenOf(t, rules, caseId);
  given(...standingAt(plannedCase([pair], economy), "B"))
    .when(...ada)
    .then(
      { type: "case.manifest-amended" },
      { type: "demand.requested", data: { type: "INCREMENTAL", roomsRequested: 1 } },
      { type: "demand.approved" },
      { type: "demand.settled", data: { state: "FULFILLED" } },
      { type: "case.wave-requested" },
    );
});

t.test("whoever is known is not added again, and a booking that waits takes its newcomers in", async (t) => {
  const standing = standingAt(plannedCase([pair, pair], asking), "WB");
  const [first, second] = [memberOf(standing, 0), memberOf(standing, 1)];
  const same = eventsOf(
    rules,
    standing,
    patch({ passengers: [somebody("P0", "N0"), somebody("P0", "N1")] }, [first]),
  );
  t.match(newest(same), { passengersAdded: 0, passengersKnown: 2, groupsAdded: 0, groupsJoined: 0 });
  const child = eventsOf(rules, standing, patch({ passengers: [somebody("P0", "Kid")] }, [first]));
  t.match(newest(child), { passengersAdded: 1, groupsAdded: 0, groupsJoined: 1 });
  t.strictSame(shapes(child), [3, 2]);
  t.equal(stateOf(child).groups[0]?.shape, 1, "its sub-case hears it in turn");
  for (const [why, members] of [
    ["it has its room", [second]],
    ["its sub-case has begun to book", [{ ...second, status: "PROCESSING" as const }]],
  ] as const) {
    const apart = eventsOf(rules, standing, patch({ passengers: [somebody("P1", "Kid")] }, [...members]));
    t.match(newest(apart), { groupsAdded: 1, groupsJoined: 0 }, why);
    t.strictSame(shapes(apart), [2, 2, 1], why);
    t.equal(new Set(groupIds(apart)).size, 3, why);
  }
  const outOfStep = { ...first, shape: 4 };
  const changing = eventsOf(rules, standing, patch({ passengers: [somebody("P0", "Kid")] }, [outOfStep]));
  t.match(newest(changing), { groupsAdded: 1, groupsJoined: 0 }, "while another change is on its way");
  const held = { lockedBy: "urn:user:ana", fencingToken: 3, expiresAt: "2026-11-21T21:05:00Z" };
  const locked = eventsOf(
    rules,
    standing,
    patch({ passengers: [somebody("P0", "Kid")] }, [{ ...first, lock: held }]),
  );
  t.match(newest(locked), { groupsAdded: 1, groupsJoined: 0 }, "while somebody works on it");
  const nameless = [{ lastName: "Solo" }, { lastName: "Solo", contact: { phone: "+12025550143" } }];
  const solo = eventsOf(
    rules,
    standing,
    patch({ passengers: nameless }),
    patch({ passengers: nameless.toReversed() }),
  );
  t.match(newest(solo), { groupsAdded: 0 }, "who has no booking reference is known by what is said of them");
  t.equal(stateOf(solo).groups.length, 4);
});

t.test("who comes twice in a row is added once, before any sub-case has heard of them", async (t) => {
  const standing = standingAt(plannedCase([pair, pair], asking), "WB");
  const first = memberOf(standing, 0);
  const [lone, kid] = [somebody("LATE", "Ada"), somebody("P0", "Kid")];
  const once = eventsOf(rules, standing, patch({ passengers: [lone, kid] }, [first]));
  t.match(newest(once), { passengersAdded: 2, groupsAdded: 1, groupsJoined: 1 });
  // The group as it was, and nobody yet of the new one; with somebody more.
  const more = { passengers: [somebody("LATE", "Bob"), kid, lone] };
  const twice = eventsOf(rules, once, patch(more, [first]));
  t.match(newest(twice), { passengersAdded: 1, passengersKnown: 2 });
  t.strictSame(shapes(twice), [3, 2, 1, 1]);
  const joined = { ...memberOf(standing, 0), shape: 1 };
  const all = [
    ...joined.passengers,
    ...[...groupsOfPatch("XN", "XN/E1", [kid, lone])].flat().flatMap((group) => group.passengers),
  ];
  const seen = eventsOf(rules, twice, patch(more, [{ ...joined, passengers: all }]));
  t.match(newest(seen), { passengersAdded: 0, passengersKnown: 3 });
  t.equal(stateOf(seen).arriving?.length, 1, "who is seen in a group is kept no longer");
});

t.test("drills don't exist for partners, closed ones neither", async (t) => {
  const given = givenOf(t, rules, caseId);
  const drill = plannedCase([pair], asking).map(
    (event): CaseEvent =>
      event.type === "case.registered" ? { ...event, data: { ...event.data, kind: "DRILL" } } : event,
  );
  const close = received("case.close", { reason: "Over" }, { principal: supervisor });
  for (const standing of [drill, eventsOf(rules, drill, close)])
    for (const asked of [
      patch({ passengers: [somebody("LATE", "Ada")] }),
      ask({ groupIds: groupIds(drill) }),
    ])
      given(...standing)
        .when(...asked)
        .refused("not-found/resource");
});

t.test("of next flights the one that was decided last stands, whenever it comes", async (t) => {
  const standing = standingAt(plannedCase([pair], economy), "W");
  const told = eventsOf(rules, standing, patch({ decidedAt: late, nextFlight: flight(700, 24) }));
  t.match(newest(told)?.nextFlight, "APPLIED");
  t.equal(stateOf(told).groups[0]?.stay?.nights, 3);
  const stale = eventsOf(rules, told, patch({ decidedAt: early, nextFlight: flight(701, 23) }));
  t.equal(newest(stale)?.nextFlight, "SUPERSEDED");
  t.equal(stateOf(stale).nextFlight?.number, "XN700");
  const again = eventsOf(
    rules,
    told,
    patch({ decidedAt: "2026-11-21T20:57:00Z", nextFlight: flight(700, 24) }),
  );
  t.equal(newest(again)?.nextFlight, "UNCHANGED");
  const between = eventsOf(
    rules,
    again,
    patch({ decidedAt: "2026-11-21T20:56:00Z", nextFlight: flight(702, 25) }),
  );
  t.equal(newest(between)?.nextFlight, "SUPERSEDED", "said once more it counts from then on");
  const beforeAll = eventsOf(
    rules,
    standing,
    patch({ decidedAt: "2026-11-21T20:00:00Z", nextFlight: flight(703, 23) }),
  );
  t.equal(newest(beforeAll)?.nextFlight, "SUPERSEDED", "older than the disruption's own");

  const given = givenOf(t, rules, caseId);
  const waiting = eventsOf(
    rules,
    plannedCase([pair], economy),
    patch({ decidedAt: late, nextFlight: flight(700, 24) }),
  );
  t.equal(newest(waiting)?.nextFlight, "DEFERRED", "a wave is under way");
  const noted = eventsOf(rules, waiting, noteWave(waiting, groupIds(waiting)));
  t.equal(stateOf(noted).nextFlight?.number, "XN484");
  const apply = received("case.apply-correction");
  const applied = eventsOf(rules, noted, [apply, { policies: economy }]);
  t.equal(stateOf(applied).nextFlight?.number, "XN700");
  t.equal(stateOf(applied).pendingNextFlight, undefined);
  given(...applied)
    .when(apply, { policies: economy })
    .nothing();
  given(...waiting)
    .when(apply, { policies: economy })
    .nothing();
  given(...standing)
    .when(...patch({ decidedAt: "2026-11-21T22:00:00Z", nextFlight: flight(700, 24) }))
    .refused("validation/body");
  given(...standing)
    .when(...patch({}))
    .refused("validation/body");
});

const ask = (data: object, terms: object = {}) =>
  [
    received("case.prioritise", { reason: "MEDICAL", ...data }, { principal: partner }),
    { policies: {}, members: [], share: 0.05, ...terms },
  ] as [ReturnType<typeof received>, unknown];

t.test("priority is for few groups, without a room", async (t) => {
  const given = givenOf(t, rules, caseId);
  const standing = standingAt(
    plannedCase(
      Array.from({ length: 40 }, () => pair),
      asking,
    ),
    `WWWB${"W".repeat(36)}`,
  );
  const [a = "", b = "", c = "", housed = ""] = groupIds(standing);
  given(...standing)
    .when(...ask({ groupIds: [a, b] }))
    .then({
      type: "case.priority-requested",
      data: { groupIds: [a, b], by: partner.urn },
    })
    .sends({ to: "internal" }, { to: "command", name: "review.hurry-case", data: { groupIds: [a, b] } });
  const granted = eventsOf(rules, standing, ask({ groupIds: [a, b] }));
  given(...granted)
    .when(...ask({ groupIds: [a] }))
    .nothing();
  given(...granted)
    .when(...ask({ groupIds: [a, c] }))
    .refused("conflict/state", { state: "PRIORITY_USED_UP" });
  given(...standing)
    .when(...ask({ groupIds: [a, b, c] }))
    .refused("conflict/state", { state: "PRIORITY_USED_UP" });
  given(...standing)
    .when(...ask({ groupIds: [housed] }))
    .refused("conflict/state", { state: "BOOKED" });
  given(...standing)
    .when(...ask({ groupIds: ["nobody"] }))
    .refused("validation/body");
  given(...standing)
    .when(...ask({}))
    .refused("validation/body");
  const [member] = memberOf(standing, 2).passengers;
  given(...standing)
    .when(...ask({ passengerUrns: [member?.urn] }, { members: [memberOf(standing, 2)] }))
    .then({ type: "case.priority-requested", data: { groupIds: [c] } });
  given(...standing)
    .when(...ask({ passengerUrns: [member?.urn] }))
    .refused("validation/body");
});

t.test("who goes first has the approved rooms before the others", async (t) => {
  const whole = plannedCase([pair, pair, pair], asking);
  const [initial] = stateOf(whole).demands;
  const two = whole.map(
    (event): CaseEvent =>
      event.type === "demand.requested" && initial !== undefined
        ? { type: "demand.requested", data: { ...initial, roomsRequested: 2 } }
        : event,
  );
  const approved = eventsOf(rules, two, approve(two));
  const placed = (events: CaseEvent[]) => placeable(stateOf(events)).map((i) => groupIds(events)[i]);
  const [first = "", , third = ""] = groupIds(whole);
  t.strictSame(placed(eventsOf(rules, approved, ask({ groupIds: [third] }))), [third, first]);
});

t.test("the feed tells what a page has no room for on the next one", async (t) => {
  const told = Array.from({ length: 5 }, (_, i) => ({
    ...{ seq: i + 1, subject: "", timestampNanos: 0n },
    ...{ json: () => ({ urn: `urn:event:XN-${i + 1}` }), info: { pending: 4 - i } },
  }));
  /** A server that hands over two at first, then whatever is left. */
  const streams = {
    manager: { streams: { info: async () => ({ state: { first_seq: 1, last_seq: 5 } }) } },
    jetstream: {
      consumers: {
        get: async (_stream: string, { opt_start_seq = 1 }: { opt_start_seq?: number }) => {
          const rest = told.slice(opt_start_seq - 1);
          let size = 2;
          return {
            info: async () => ({ num_pending: rest.length }),
            delete: async () => true,
            fetch: async () => {
              const some = rest.splice(0, size);
              size = rest.length;
              return some;
            },
          };
        },
      },
    },
  };
  const context = { streams, clock: { now: () => evening } } as unknown as ActorContext;
  const feed = (params: DisruptionFeedQuery): Promise<DisruptionFeed> =>
    disruptionFeed(context)({
      ...{ ...trace, tenant: "XN", params },
      principal: { ...partner, scopes: ["disruptions.events.subscribe"] },
    });
  const first = await feed({ limit: 4 });
  t.match(first, { items: { length: 4 }, hasMore: true });
  const second = await feed({ limit: 4, cursor: first.nextCursor ?? "" });
  t.match(second, { items: [{ urn: "urn:event:XN-5" }], hasMore: false });
});

t.test("partners see of a passenger what is named, and nothing that is kept beside it", async (t) => {
  const passenger = { ...somebody("K7QX2M", "Ada"), urn: "urn:passenger:XN-A", secret: "of later days" };
  const [told] = partnerPassengers({
    ...{ groupId: "K7QX2M", subCaseId: "XN-S", status: "PENDING" },
    passengers: [{ ...passenger, specialRequirements: ["WCHR"] } as Passenger],
  });
  t.match(told, { urn: passenger.urn, pnr: "K7QX2M", lastName: "Ada" });
  t.notMatch(Object.keys(told ?? {}).join(), /contact|specialRequirements|secret/);
});
