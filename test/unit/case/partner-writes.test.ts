// What partners write to a case that stands, as tables: late passengers, next flights in any order, and priority within its bounds.
import t from "tap";
import { placeable } from "../../../actors/case/capacity.ts";
import { groupsOfPatch } from "../../../actors/case/manifest.ts";
import type { CaseEvent } from "../../../actors/case/state.ts";
import type { Principal } from "../../../schemas/command.ts";
import type { PassengerInput } from "../../../schemas/passenger.ts";
import type { GroupMembers } from "../../../schemas/regroup.ts";
import { eventsOf, givenOf, received } from "../../harness/given.ts";
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
    { policies: {}, members: [], requestsToday: 0, bounds: { share: 0.05, daily: 2 }, ...terms },
  ] as [ReturnType<typeof received>, unknown];

t.test("priority is for few groups, without a room, and so often a day", async (t) => {
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
      data: { groupIds: [a, b], by: partner.urn, mark: "urn:partner:XN-tower/2026-11-21" },
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
    .when(...ask({ groupIds: [a] }, { requestsToday: 2 }))
    .refused("rate/exceeded", { retryAfterSeconds: 3 * 3600 });
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
