// What a case asks for, as tables: stays and rooms per tier, who is held, demand with its decisions, allocation by hand.
import t from "tap";
import type { CaseEvent } from "../../../actors/case/state.ts";
import type { ResolvedPolicy } from "../../../schemas/policy.ts";
import { urn } from "../../../schemas/urn.ts";
import {
  evening,
  eventsOf,
  givenOf,
  received,
  secondsLater,
  supervisor,
  system,
} from "../../harness/given.ts";
import { policy } from "../../harness/policies.ts";
import {
  approve,
  asking,
  caseId,
  economy,
  groupIds,
  human,
  next,
  noteGroup,
  noteWave,
  open,
  type Party,
  type Policies,
  pair,
  plan,
  plannedCase,
  provisionedCase,
  reject,
  requestDemand,
  reviewItem,
  rules,
  stateOf,
  tomorrow,
  typesOf,
} from "./planned-case.ts";

t.test("stays and rooms, per tier", async (t) => {
  const nights: [string, unknown, number, string][] = [
    ["until tomorrow", tomorrow, 1, "W"],
    ["until the day after", next("2026-11-23T14:00:00Z"), 2, "W"],
    ["no next flight is one night", undefined, 1, "W"],
    ["two hours later is no night", next("2026-11-21T23:30:00Z"), 0, "N"],
  ];
  for (const [what, nextFlight, count, progress] of nights) {
    const state = stateOf(eventsOf(rules, provisionedCase([pair], nextFlight ?? null), [plan, economy]));
    t.equal(state.groups[0]?.stay?.nights, nextFlight === undefined ? 1 : count, what);
    t.equal(state.progress, progress, what);
  }
  const rooms: [number, number, number][] = [
    [1, 2, 1],
    [2, 2, 1],
    [3, 2, 2],
    [5, 4, 2],
    [3, 1, 3],
  ];
  for (const [passengers, maxOccupancy, wanted] of rooms) {
    const events = plannedCase([[passengers, "ECONOMY"]], { ECONOMY: policy({ maxOccupancy }) });
    t.equal(stateOf(events).demands[0]?.roomsRequested, wanted, `${passengers} by ${maxOccupancy}`);
  }
  const buffered = { ECONOMY: policy({ lateCheckoutMinutes: 1100 }) };
  t.equal(stateOf(plannedCase([pair], buffered)).groups[0]?.stay?.nights, 2, "the policy's buffers count");
});

t.test("what planning asks for", async (t) => {
  const given = givenOf(t, rules, caseId);
  const one = provisionedCase([pair, [3, "ECONOMY"]]);
  given(...one)
    .when(plan, economy)
    .then(
      { type: "case.planned", data: { at: evening, progress: "WW", violated: false } },
      {
        type: "demand.requested",
        data: { type: "INITIAL", roomsRequested: 3, state: "REQUESTED", requestedBy: system.urn },
      },
      { type: "demand.approved", data: { by: system.urn, policyId: "XN-POLICY", policyVersion: 3 } },
      { type: "case.wave-requested", data: { dueAt: secondsLater(20) } },
    )
    .leads({ status: "OPEN", plannedAt: evening, awaiting: { step: "wave", dueAt: secondsLater(20) } })
    .sends(
      { to: "internal", type: "demand.requested", caseId },
      { to: "internal", type: "demand.approved", caseId },
      { to: "command", name: "wave.run", data: { caseId } },
    );
  given(...one)
    .when(plan, asking)
    .then({ type: "case.planned" }, { type: "demand.requested" });
  given(...plannedCase([pair], economy))
    .when(plan, economy)
    .nothing();
  given(...eventsOf(rules, [] as CaseEvent[], open([pair])))
    .when(plan, economy)
    .nothing();
  given().when(plan).notYet();

  const automatic: [string, Party[], Policies, boolean][] = [
    ["as many as may be", [[20, "ECONOMY"]], economy, true],
    ["one room more", [[21, "ECONOMY"]], economy, false],
    [
      "each tier's share is its own",
      [
        [20, "ECONOMY"],
        [20, "FIRST"],
      ],
      { ...economy, FIRST: policy() },
      true,
    ],
    [
      "one tier's share is too large",
      [
        [2, "ECONOMY"],
        [21, "FIRST"],
      ],
      { ...economy, FIRST: policy() },
      false,
    ],
    [
      "one tier asks a human",
      [pair, [2, "FIRST"]],
      { ...economy, FIRST: policy({ autoApproveDemand: false }) },
      false,
    ],
    ["a held tier doesn't count", [pair, [2, "FIRST"]], { ...economy, FIRST: null }, true],
  ];
  for (const [what, parties, policies, approved] of automatic)
    t.equal(typesOf(plannedCase(parties, policies)).includes("demand.approved"), approved, what);
});

t.test("who is held, and who needs nothing", async (t) => {
  const given = givenOf(t, rules, caseId);
  const parties: Party[] = [pair, [2, "ECONOMY", "FIRST"], [2, "BUSINESS"]];
  const three = provisionedCase(parties);
  const [, mixed = "", unmatched = ""] = groupIds(three);
  const review = (category: string, affectedGroups: string[]) => ({
    to: "command" as const,
    name: "review.open",
    data: { caseId, airport: "JFK", category, origin: "planning", affectedGroups },
  });
  given(...three)
    .when(plan, { ECONOMY: policy({ autoApproveDemand: false }), BUSINESS: null })
    .then(
      { type: "case.planned", data: { progress: "WHH", violated: true } },
      { type: "demand.requested", data: { roomsRequested: 1 } },
    )
    .leads({ status: "MANUAL_REVIEW" })
    .sends(
      review("MIXED_TIER_GROUP", [mixed]),
      review("POLICY_VIOLATION", [unmatched]),
      { to: "internal" },
      { to: "command", name: "case.apply-freeze", entity: caseId, data: {} },
    );
  given(...provisionedCase([[2, "ECONOMY", "FIRST"]]))
    .when(plan, { ECONOMY: policy(), FIRST: policy() })
    .then({ type: "case.planned", data: { progress: "H", violated: false } })
    .leads({ status: "OPEN", demands: [] });
  given(...provisionedCase([pair]))
    .when(plan, { ECONOMY: null })
    .then({ type: "case.planned", data: { progress: "H", violated: true, policies: {} } });

  const waiting = provisionedCase([pair], next("2026-11-21T23:30:00Z"));
  given(...waiting)
    .when(plan, economy)
    .then({ type: "case.planned", data: { progress: "N" } }, { type: "case.resolved", data: { at: evening } })
    .sends(
      {
        to: "command",
        name: "sub-case.mark-not-required",
        entity: stateOf(waiting).groups[0]?.subCaseId as string,
      },
      {
        to: "public",
        type: "case.resolved",
        data: { outcomes: { resolved: 0, declined: 0, notRequired: 1 } } as never,
      },
    );
  given(...provisionedCase([]))
    .when(plan, {})
    .then({ type: "case.planned" }, { type: "case.resolved" });
});

t.test("demand: every move and every refusal", async (t) => {
  const given = givenOf(t, rules, caseId);
  const waiting = plannedCase([pair], asking);
  const approved = eventsOf(rules, waiting, approve(waiting));
  const rejected = eventsOf(rules, waiting, reject(waiting));
  given(...waiting)
    .when(approve(waiting))
    .then(
      { type: "demand.approved", data: { by: supervisor.urn, reason: "Full house", policyVersion: 3 } },
      { type: "case.wave-requested" },
    )
    .leads({ demands: [{ state: "APPROVED", decidedBy: supervisor.urn, decidedAt: evening }] });
  given(...waiting)
    .when(reject(waiting))
    .then(
      { type: "demand.rejected", data: { by: supervisor.urn, reason: "Airport closed" } },
      { type: "case.groups-stranded", data: { progress: "H", groups: groupIds(waiting) } },
    )
    .leads({ demands: [{ state: "REJECTED" }], progress: "H", onDesk: groupIds(waiting) })
    .sends(
      { to: "internal", type: "demand.rejected" },
      reviewItem("ALLOCATION_FAILED", groupIds(waiting), {
        origin: "capacity",
        occurrence: reject(waiting).id,
      }),
    );
  for (const [events, state] of [
    [approved, "APPROVED"],
    [rejected, "REJECTED"],
  ] as const) {
    given(...events)
      .when(approve(events))
      .refused("conflict/state", { state });
    given(...events)
      .when(reject(events))
      .refused("conflict/state", { state });
  }
  given(...waiting)
    .when(human("approve-demand", { demandUrn: urn("demand", "XN-NONE"), reason: "x" }))
    .refused("not-found/resource");
  given().when(requestDemand(1)).refused("not-found/resource");
  given(...provisionedCase([pair]))
    .when(requestDemand(1))
    .refused("conflict/state");
  given(...waiting)
    .when(requestDemand(1, "INITIAL"))
    .refused("conflict/state", { state: "REQUESTED" });
  given(...approved)
    .when(requestDemand(1, "INITIAL"))
    .refused("conflict/state", { state: "APPROVED" });
  given(...rejected)
    .when(requestDemand(1, "INITIAL"))
    .then({ type: "demand.requested", data: { type: "INITIAL" } });
  given(...waiting)
    .when(requestDemand(4))
    .then({ type: "demand.requested", data: { roomsRequested: 4 } });
  const elsewhere = { principal: { ...supervisor, airport: "LAX" } };
  given(...waiting)
    .when(requestDemand(1, "INCREMENTAL", elsewhere))
    .refused("auth/foreign-airport");
  given(...waiting)
    .when(requestDemand(1, "INCREMENTAL", { principal: { ...supervisor, airport: "JFK" } }))
    .then({ type: "demand.requested" });

  const more: [string, Partial<ResolvedPolicy>, number, boolean][] = [
    ["as many as may be", {}, 10, true],
    ["one room more", {}, 11, false],
    ["the policy wants a human for more rooms", { incrementalRequiresApproval: true }, 1, false],
    ["the policy wants a human for all", { autoApproveDemand: false }, 1, false],
  ];
  for (const [what, terms, rooms, automatic] of more) {
    const standing = plannedCase([pair], { ECONOMY: policy(terms) });
    const told = eventsOf(rules, standing, requestDemand(rooms)).slice(standing.length);
    t.equal(typesOf(told).includes("demand.approved"), automatic, what);
  }
  const unruled = plannedCase([pair], { ECONOMY: null });
  given(...unruled)
    .when(requestDemand(1))
    .then({ type: "demand.requested" });
});

t.test("allocation by hand", async (t) => {
  const given = givenOf(t, rules, caseId);
  const waiting = plannedCase([pair, pair], asking);
  const approved = eventsOf(rules, waiting, approve(waiting));
  const [first = "", second = ""] = groupIds(approved);
  const allocate = human("allocate", {});
  given(...waiting)
    .when(allocate)
    .refused("conflict/demand-not-approved", { state: "REQUESTED" });
  given(...plannedCase([pair], { ECONOMY: null }))
    .when(allocate)
    .refused("conflict/demand-not-approved", { state: "none" });
  given(...approved)
    .when(allocate)
    .refused("conflict/state", { state: "RUNNING" });
  const half = eventsOf(rules, approved, noteWave(approved, [first], [second]));
  given(...half)
    .when(allocate)
    .then({
      type: "case.wave-requested",
      data: { demandId: stateOf(approved).demands[0]?.demandId as string, progress: "AW" },
    })
    .sends({ to: "command", name: "wave.run" });
  given(...eventsOf(rules, half, noteGroup(first, "F")))
    .when(allocate)
    .then({ type: "case.wave-requested", data: { progress: "WW" } });
  for (const [letter, round] of [
    ["B", 1],
    ["U", 1],
    ["D", 1],
  ] as const)
    given(...eventsOf(rules, half, noteGroup(first, letter, round), noteGroup(second, letter, round)))
      .when(allocate)
      .refused("conflict/state");
  const full = eventsOf(rules, approved, noteWave(approved, [first, second]), noteGroup(second, "R"));
  given(...eventsOf(rules, full, noteGroup(first, "R"), noteGroup(first, "F")))
    .when(allocate)
    .leads({ progress: "WR", demands: [{ state: "FULFILLED" }], awaiting: { step: "wave" } });
});

t.test("a closed case takes nothing more", async (t) => {
  const events = plannedCase([pair], asking);
  const closed: CaseEvent = { type: "case.registered", data: { ...stateOf(events), status: "CLOSED" } };
  const given = givenOf(t, rules, caseId);
  for (const command of [approve(events), reject(events), requestDemand(1), human("allocate", {})])
    given(closed).when(command).refused("conflict/state", { state: "CLOSED" });
  const silent = [plan, noteWave(events, []), noteGroup(groupIds(events)[0], "B"), received("case.reissue")];
  for (const command of silent) given(closed).when(command).nothing();
});
