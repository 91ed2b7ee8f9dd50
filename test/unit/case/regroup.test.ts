// Splits, merges and groups formed by name, as tables: who is where afterwards, which rooms are asked for, who hears of it.
import t from "tap";
import { namedIn } from "../../../actors/case/regroup-wanted.ts";
import type { CaseEvent } from "../../../actors/case/state.ts";
import type { Received } from "../../../actors/runtime/decider.ts";
import type { Passenger } from "../../../schemas/passenger.ts";
import type { GroupMembers } from "../../../schemas/regroup.ts";
import type { SubCaseStatus } from "../../../schemas/vocabulary.ts";
import { eventsOf, givenOf } from "../../harness/given.ts";
import { policy } from "../../harness/policies.ts";
import {
  asking,
  caseId,
  economy,
  groupIds,
  human,
  noteReview,
  type Party,
  type Policies,
  plannedCase,
  provisionedCase,
  reviewItem,
  rules,
  standingAt,
  stateOf,
  typesOf,
} from "./planned-case.ts";

const person = (name: string, cabinClass = "ECONOMY"): Passenger => ({
  urn: `urn:passenger:XN-${name}`,
  pnr: "P0",
  lastName: name,
  cabinClass,
  loyaltyTier: "STANDARD",
  specialRequirements: [],
  contact: { email: "a@example.com" },
});

const four: Party = [4, "ECONOMY"];
const two: Party = [2, "ECONOMY"];
const [ana, ben, cem, dia, eva, fay] = ["ana", "ben", "cem", "dia", "eva", "fay"].map((name) =>
  person(name),
) as [Passenger, Passenger, Passenger, Passenger, Passenger, Passenger];

/** A planned case whose groups stand at these letters, with demand for all of them approved. */
const at = (progress: string, parties: Party[], policies: Policies = economy): CaseEvent[] =>
  standingAt(plannedCase(parties, policies), progress);

const membersOf = (
  events: CaseEvent[],
  groups: Passenger[][],
  status: SubCaseStatus = "PENDING",
): GroupMembers[] =>
  stateOf(events).groups.map(({ groupId, subCaseId, shape = 0 }, i) => ({
    groupId,
    subCaseId,
    status,
    shape,
    passengers: groups[i] ?? [],
  }));

const urns = (...passengers: Passenger[]) => passengers.map(({ urn }) => urn);
const reason = "They asked for it";
const split = (groupId: string, ...into: Passenger[][]): Received =>
  human("split-group", { groupId, into: into.map((part) => urns(...part)), reason });
const merge = (...ids: string[]): Received => human("merge-groups", { groupIds: ids, reason });
const form = (...sets: Passenger[][]): Received =>
  human("group-passengers", { groups: sets.map((set) => ({ passengerUrns: urns(...set) })), reason });

const terms = (members: GroupMembers[], policies: Policies = economy) => ({ members, policies });
const after = (events: CaseEvent[], command: Received, gathered: unknown): CaseEvent[] =>
  eventsOf(rules, events, [command, gathered]).slice(events.length);

t.test(
  "a split: the first part keeps its sub-case, the others are new, more rooms are asked for",
  async (t) => {
    const events = at("W", [four]);
    const [group = ""] = groupIds(events);
    const [head] = stateOf(events).groups;
    const members = membersOf(events, [[ana, ben, cem, dia]]);
    const command = split(group, [ana], [ben, cem], [dia]);
    const told = after(events, command, terms(members));
    t.same(typesOf(told), ["case.regrouped", "demand.requested", "demand.approved", "case.wave-requested"]);
    t.match(told[1], { data: { type: "INCREMENTAL", roomsRequested: 1 } });
    const state = stateOf([...events, ...told]);
    t.same(
      state.groups.map(({ passengers, stay, shape }) => [passengers, stay?.rooms, shape]),
      [
        [1, 1, 1],
        [2, 1, undefined],
        [1, 1, undefined],
      ],
    );
    t.equal(state.groups[0]?.groupId, group);
    t.equal(state.groups[0]?.subCaseId, head?.subCaseId);
    t.equal(new Set(state.groups.map(({ subCaseId }) => subCaseId)).size, 3);
    t.match(state, { progress: "WWW", rooms: "111", rounds: "100", provisioned: 3 });
    const [event] = told as [CaseEvent];
    const sent = rules.outgoing(event, state, command, caseId);
    t.match(sent, [
      {
        to: "public",
        type: "case.amended",
        data: {
          groups: [{ passengerUrns: urns(ana) }, { passengerUrns: urns(ben, cem) }, {}],
          mergedAway: [],
        },
      },
      {
        name: "sub-case.regroup",
        entity: head?.subCaseId,
        data: {
          shape: 1,
          passengers: [ana],
          moved: [{ passengerUrns: urns(ben, cem), subCaseId: state.groups[1]?.subCaseId }, {}],
        },
      },
      {
        name: "sub-case.open-many",
        entity: caseId,
        data: { from: -1, groups: [{ passengers: [ben, cem] }, { passengers: [dia] }] },
      },
    ]);
    t.equal(sent.length, 3);
    t.notMatch(JSON.stringify(state), "urn:passenger:", "the case keeps no passenger");
  },
);

t.test("a split of a group with room to spare asks for nothing", async (t) => {
  const events = at("W", [four]);
  const [group = ""] = groupIds(events);
  const told = after(
    events,
    split(group, [ana, ben], [cem, dia]),
    terms(membersOf(events, [[ana, ben, cem, dia]])),
  );
  t.same(typesOf(told), ["case.regrouped", "case.wave-requested"]);
});

t.test("a group of two cabins is settled by a split into parts of one", async (t) => {
  const first = person("first", "BUSINESS");
  const events = plannedCase([[2, "ECONOMY", "BUSINESS"]], economy);
  const [group = ""] = groupIds(events);
  t.equal(stateOf(events).progress, "H");
  const members = membersOf(events, [[ana, first]]);
  const both: Policies = { ...economy, BUSINESS: policy({ policyId: "XN-BUSINESS" }) };
  const given = givenOf(t, rules, caseId)(...events);
  given
    .when(split(group, [ana], [first]), terms(members, both))
    .then(
      { type: "case.regrouped", data: { unmixed: [group], status: "OPEN" } },
      { type: "demand.requested", data: { type: "INITIAL", roomsRequested: 2 } },
      { type: "demand.approved" },
      { type: "case.wave-requested" },
    )
    .leads({ progress: "WW", onDesk: [group] });
  const state = stateOf(eventsOf(rules, events, [split(group, [ana], [first]), terms(members, both)]));
  t.same(
    state.groups.map(({ tier }) => tier),
    ["ECONOMY", "BUSINESS"],
  );
  const told = after(events, split(group, [ana], [first]), terms(members, both));
  const sent = rules.outgoing(told[0] as CaseEvent, state, split(group, [ana], [first]), caseId);
  t.match(sent.at(-1), { name: "review.note-housed", data: { groupId: group, resolution: "SPLIT" } });
  // Without a policy for one of the cabins its part is held, and the case waits for one.
  given
    .when(split(group, [ana], [first]), terms(members, { ...economy, BUSINESS: null }))
    .leads({ progress: "WH", status: "MANUAL_REVIEW" });
  const held = after(events, split(group, [ana], [first]), terms(members, { ...economy, BUSINESS: null }));
  const part = (held[0] as { data: { shaped: { head: { groupId: string } }[] } }).data.shaped[1]?.head
    .groupId;
  const items = rules
    .outgoing(held[0] as CaseEvent, stateOf([...events, ...held]), split(group, [ana], [first]), caseId)
    .filter(({ to }) => to === "command");
  t.match(
    items.find((message) => "name" in message && message.name === "review.open"),
    reviewItem("POLICY_VIOLATION", [part ?? ""]),
  );
});

t.test("a merge: the first named stays, nobody is left in the others", async (t) => {
  const events = at("WFH", [two, two, two]);
  const ids = groupIds(events);
  const [one = "", other = "", third = ""] = ids;
  const members = membersOf(events, [
    [ana, ben],
    [cem, dia],
    [eva, fay],
  ]);
  const command = merge(other, one);
  const told = after(events, command, terms(members));
  const state = stateOf([...events, ...told]);
  t.match(state.groups, [
    { groupId: one, passengers: 0, mergedInto: other, shape: 1 },
    { groupId: other, passengers: 4, stay: { rooms: 2 }, shape: 1 },
    { groupId: third, passengers: 2 },
  ]);
  t.notOk(state.groups[2]?.shape, "who is not concerned is as before");
  t.equal(state.progress.slice(0, 2), "NW");
  t.equal(state.rooms, "021");
  const sent = rules.outgoing(told[0] as CaseEvent, state, command, caseId);
  t.match(sent, [
    { type: "case.amended", data: { mergedAway: [{ groupId: one, mergedInto: other }] } },
    { name: "sub-case.regroup", data: { passengers: [cem, dia, ana, ben] } },
    {
      name: "sub-case.regroup",
      data: { passengers: [], mergedInto: { groupId: other }, moved: [{ passengerUrns: urns(ana, ben) }] },
    },
    { name: "review.note-housed", data: { groupId: one, resolution: "MERGED" } },
  ]);
});

t.test("groups by name: a set with a whole group keeps its id, who is not named stays", async (t) => {
  const events = at("WW", [four, two]);
  const [big = "", small = ""] = groupIds(events);
  const members = membersOf(events, [
    [ana, ben, cem, dia],
    [eva, fay],
  ]);
  const state = stateOf(eventsOf(rules, events, [form([eva, fay, ana], [ben]), terms(members)]));
  t.match(
    state.groups.map(({ groupId, passengers }) => [groupId, passengers]),
    [
      [big, 2],
      [small, 3],
      [/^G[A-Z0-9]+$/, 1],
    ],
  );
  t.same(namedIn(form([eva], [ben])).passengerUrns, urns(eva, ben));
  t.same(after(events, form([eva, fay], [ana, ben, cem, dia]), terms(members)), [], "as it is already");
});

/** Of a refusal that names this field; what it says of it is for people. */
const named = (pointer: string) => ({ errors: [{ pointer }] as { pointer: string; detail: string }[] });

t.test("refused: in the wrong moment, and what is no grouping", async (t) => {
  const moments: [string, string][] = [
    ["A", "ALLOCATED"],
    ["B", "BOOKED"],
    ["R", "RESOLVED"],
    ["U", "ROLLBACK_STUCK"],
    ["D", "DECLINED"],
    ["N", "NOT_REQUIRED"],
    ["M", "HOUSED_BY_HAND"],
  ];
  for (const [letter, state] of moments) {
    const events = at(letter, [four]);
    const members = membersOf(events, [[ana, ben, cem, dia]]);
    givenOf(
      t,
      rules,
      caseId,
    )(...events)
      .when(split(groupIds(events)[0] ?? "", [ana], [ben, cem, dia]), terms(members))
      .refused("conflict/state", { state });
  }
  const provisioned = provisionedCase([four]);
  const waving = plannedCase([four], economy);
  const waiting = plannedCase([four], asking);
  for (const [events, state] of [
    [provisioned, "PROVISIONING"],
    [waving, "ALLOCATING"],
  ] as const)
    givenOf(
      t,
      rules,
      caseId,
    )(...events)
      .when(
        split(groupIds(events)[0] ?? "", [ana], [ben, cem, dia]),
        terms(membersOf(events, [[ana, ben, cem, dia]])),
      )
      .refused("conflict/state", { state });
  const given = givenOf(t, rules, caseId)(...waiting);
  const [group = ""] = groupIds(waiting);
  const members = membersOf(waiting, [[ana, ben, cem, dia]]);
  const wrong: [Received, string][] = [
    [split(group, [ana], [ben]), "/into"],
    [split(group, [ana, ben], [ben, cem, dia]), "/into/1/0"],
    [split(group, [ana, eva], [ben, cem, dia]), "/into/0/1"],
    [merge(group, "nobody"), "/groupIds/1"],
    [merge(group, group), "/groupIds"],
    [form([ana, eva]), "/groups/0/passengerUrns/1"],
  ];
  for (const [command, pointer] of wrong)
    given.when(command, terms(members)).refused("validation/body", named(pointer));
  given.when(split("nobody", [ana], [ben]), terms([])).refused("not-found/resource");
  given
    .when(
      split(group, [ana], [ben, cem, dia]),
      terms(membersOf(waiting, [[ana, ben, cem, dia]], "PROCESSING")),
    )
    .refused("conflict/state", { state: "PROCESSING" });
  const business = person("rich", "BUSINESS");
  const mixed = plannedCase([two, [2, "BUSINESS"]], { ...asking, BUSINESS: policy() });
  givenOf(
    t,
    rules,
    caseId,
  )(...mixed)
    .when(merge(...groupIds(mixed)), terms(membersOf(mixed, [[ana], [business]])))
    .refused("validation/body", named("/groupIds"));
});

t.test("two operators: whoever has seen the groups before the other's change is told so", async (t) => {
  const events = plannedCase([four], asking);
  const [group = ""] = groupIds(events);
  const before = membersOf(events, [[ana, ben, cem, dia]]);
  const first = eventsOf(rules, events, [split(group, [ana], [ben, cem, dia]), terms(before)]);
  const given = givenOf(t, rules, caseId)(...first);
  const second = split(group, [ana, ben], [cem, dia]);
  given.when(second, terms(before.slice(0, 1))).refused("conflict/state", { state: "REGROUPING" });
  const heard = membersOf(first, [[ana], [ben, cem, dia]]);
  given.when(second, terms(heard.slice(0, 1))).refused("conflict/state", { state: "REGROUPING" });
  // A group that the first change has made, whose sub-case does not stand yet.
  const made = groupIds(first)[1] ?? "";
  given.when(merge(group, made), terms(heard.slice(0, 1))).refused("conflict/state", { state: "REGROUPING" });
  const back = stateOf(eventsOf(rules, first, [merge(group, made), terms(heard)]));
  t.match(back.groups, [
    { groupId: group, passengers: 4, shape: 2 },
    { mergedInto: group, passengers: 0 },
  ]);
  t.match(
    back.demands,
    [{ roomsRequested: 2 }, { roomsRequested: 1 }],
    "what was asked for is not taken back",
  );
});

t.test("an item that a split has settled is nothing to the case any more", async (t) => {
  const events = at("W", [two]);
  const [group = ""] = groupIds(events);
  givenOf(
    t,
    rules,
    caseId,
  )(...events)
    .when(noteReview("MIXED_TIER_GROUP", "SPLIT", [group]))
    .nothing();
});
