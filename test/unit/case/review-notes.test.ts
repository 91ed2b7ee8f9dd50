// What a resolved review item does to its case, as a table of categories, letters and resolutions: who is settled, who is tried again, and
// who gets another item.
import t from "tap";
import { caseActor } from "../../../actors/case/service.ts";
import type { CaseEvent } from "../../../actors/case/state.ts";
import type { Outgoing } from "../../../actors/runtime/decider.ts";
import type { ActorContext } from "../../../actors/runtime/host.ts";
import { evening, eventsOf, givenOf, type Like, received } from "../../harness/given.ts";
import { policy } from "../../harness/policies.ts";
import {
  approve,
  caseId,
  economy,
  groupIds,
  next,
  note,
  noteReview,
  type Policies,
  pair,
  plan,
  plannedCase,
  provisionedCase,
  reject,
  requestDemand,
  reviewItem,
  rules,
  standingAt,
  stateOf,
} from "./planned-case.ts";

const two = plannedCase([pair, pair], economy);
const [a = "", b = ""] = groupIds(two);
const wave: Like<Outgoing> = { to: "command", name: "wave.run" };

t.test("what a resolution means for each letter", async (t) => {
  const given = givenOf(t, rules, caseId);
  const compensated: Like<Outgoing> = {
    to: "command",
    name: "sub-case.compensate",
    entity: stateOf(two).groups[0]?.subCaseId as string,
    data: {},
  };
  const settled: Like<Outgoing> = {
    to: "command",
    name: "sub-case.settle",
    entity: stateOf(two).groups[0]?.subCaseId as string,
  };
  /** Category, origin, the letter it finds, the resolution, the letter that it leaves, and what leaves with it. */
  const table: [string, string, string, string, string, Like<Outgoing>[]][] = [
    ["BOOKING_FAILED", "booking", "F", "REBOOKED", "M", [settled]],
    ["BOOKING_FAILED", "booking", "F", "SETTLED", "X", [settled]],
    ["BOOKING_FAILED", "booking", "F", "DISMISSED", "X", [settled]],
    ["BOOKING_FAILED", "booking", "F", "PHONED", "X", [settled]],
    ["BOOKING_FAILED", "booking", "F", "RETRIED", "W", [wave]],
    ["BOOKING_FAILED", "rollback", "U", "REBOOKED", "M", [settled]],
    ["BOOKING_FAILED", "rollback", "U", "SETTLED", "X", [settled]],
    ["BOOKING_FAILED", "rollback", "U", "RECONCILED", "X", [settled]],
    ["BOOKING_FAILED", "rollback", "U", "RETRIED", "U", [compensated]],
    ["ALLOCATION_FAILED", "allocation", "H", "REBOOKED", "M", [settled]],
    ["ALLOCATION_FAILED", "allocation", "H", "SETTLED", "X", [settled]],
    ["ALLOCATION_FAILED", "allocation", "H", "DISMISSED", "X", [settled]],
    // A wave may be looking for a room meanwhile.
    ["ALLOCATION_FAILED", "allocation", "W", "REBOOKED", "M", [settled]],
    ["ALLOCATION_FAILED", "capacity", "W", "DISMISSED", "X", [settled]],
    ["BOOKING_FAILED", "booking", "W", "SETTLED", "X", [settled]],
    ["BOOKING_FAILED", "rollback", "W", "REBOOKED", "M", [settled]],
    ["MIXED_TIER_GROUP", "planning", "W", "REBOOKED", "M", [settled]],
    ["ALLOCATION_FAILED", "capacity", "H", "SETTLED", "X", [settled]],
    ["ALLOCATION_FAILED", "allocation", "H", "RETRIED", "W", [wave]],
    ["ALLOCATION_FAILED", "allocation", "H", "RELAXED", "W", [wave]],
  ];
  for (const [category, origin, letter, resolution, becomes, messages] of table)
    given(...standingAt(two, `${letter}A`))
      .when(noteReview(category, resolution, [a], origin))
      .leads({ progress: `${becomes}A`, status: "OPEN" })
      .sends(...messages);

  const nothing: [string, string, string][] = [
    ["BOOKING_FAILED", "in-doubt", "F"],
    ["BOOKING_FAILED", "booking", "B"],
    ["BOOKING_FAILED", "booking", "U"],
    ["BOOKING_FAILED", "booking", "A"],
    ["BOOKING_FAILED", "rollback", "F"],
    ["BOOKING_FAILED", "rollback", "D"],
    ["ALLOCATION_FAILED", "allocation", "F"],
    ["ALLOCATION_FAILED", "allocation", "R"],
    ["MIXED_TIER_GROUP", "planning", "F"],
    ["POLICY_VIOLATION", "planning", "B"],
    ["PAYMENT_FAILED", "card", "F"],
    ["PARTIAL_FULFILLMENT", "demand", "F"],
    ["PARTIAL_FULFILLMENT", "transport", "R"],
    ["DATA_INCOMPLETE", "manifest", "H"],
  ];
  for (const [category, origin, letter] of nothing)
    for (const resolution of ["REBOOKED", "SETTLED", "RETRIED", "PHONED"])
      given(...standingAt(two, `${letter}A`))
        .when(noteReview(category, resolution, [a], origin), economy)
        .nothing();
  given(...standingAt(two, "FF"))
    .when(noteReview("BOOKING_FAILED", "REBOOKED", [b]))
    .leads({ progress: "FM" });
  given(...standingAt(two, "HH"))
    .when(noteReview("ALLOCATION_FAILED", "REBOOKED", [a, b, "nobody"]))
    .leads({ progress: "MM" });
  given(...standingAt(two, "HB"))
    .when(noteReview("ALLOCATION_FAILED", "REBOOKED", [a, b]))
    .leads({ progress: "MB" });
  given()
    .when(noteReview("BOOKING_FAILED", "REBOOKED", [a]))
    .notYet();
});

t.test("what follows when the last one is settled", async (t) => {
  const given = givenOf(t, rules, caseId);
  given(...standingAt(two, "FR"))
    .when(noteReview("BOOKING_FAILED", "REBOOKED", [a]))
    .then(
      { type: "case.review-noted" },
      { type: "demand.settled", data: { state: "FULFILLED" } },
      { type: "case.resolved" },
    )
    .sends(
      { to: "command", name: "sub-case.settle" },
      { to: "internal", type: "demand.settled" },
      {
        to: "public",
        type: "case.resolved",
        data: { outcomes: { resolved: 1, declined: 0, notRequired: 0, settledByHand: 1 } } as never,
      },
    );
  given(...standingAt(two, "FD"))
    .when(noteReview("BOOKING_FAILED", "SETTLED", [a]))
    .then(
      { type: "case.review-noted" },
      { type: "demand.settled", data: { state: "PARTIAL", lacking: [] } },
      { type: "case.resolved" },
    );
  given(...standingAt(two, "MX"))
    .when(noteReview("BOOKING_FAILED", "SETTLED", [a]))
    .nothing();
  const retried = eventsOf(rules, standingAt(two, "FA"), noteReview("BOOKING_FAILED", "RETRIED", [a]));
  given(...retried)
    .when(note(a, "B2"))
    .leads({ progress: "BA" });
  given(...eventsOf(rules, standingAt(two, "FA"), noteReview("BOOKING_FAILED", "REBOOKED", [a])))
    .when(note(a, "R"))
    .nothing();
  const running = eventsOf(rules, two, note(a, "F"));
  given(...running)
    .when(noteReview("BOOKING_FAILED", "RETRIED", [a]))
    .then({ type: "case.review-noted" })
    .leads({ progress: "WW", awaiting: { waveId: stateOf(two).waveId as string } });
});

t.test("a group that spans tiers stays held until somebody housed it", async (t) => {
  const given = givenOf(t, rules, caseId);
  const held = plannedCase([[2, "ECONOMY", "FIRST"], pair], { ...economy, FIRST: policy() });
  const [mixed = "", other = ""] = groupIds(held);
  for (const resolution of ["RETRIED", "SPLIT"])
    given(...held)
      .when(noteReview("MIXED_TIER_GROUP", resolution, [mixed]))
      .then({ type: "case.review-noted" })
      .leads({ progress: "HW" })
      .sends(reviewItem("MIXED_TIER_GROUP", [mixed], { origin: "planning", occurrence: "XN-REVIEW" }));
  for (const [resolution, letter] of [
    ["REBOOKED", "M"],
    ["SETTLED", "X"],
  ] as const)
    given(...held)
      .when(noteReview("MIXED_TIER_GROUP", resolution, [mixed]))
      .leads({ progress: `${letter}W` })
      .sends({
        to: "command",
        name: "sub-case.settle",
        entity: stateOf(held).groups[0]?.subCaseId as string,
      });
  given(...held)
    .when(noteReview("MIXED_TIER_GROUP", "SETTLED", [mixed, other]))
    .then({ type: "case.review-noted" }, { type: "case.resolved" })
    .leads({ progress: "XX" });
});

t.test("a policy that was missing", async (t) => {
  const given = givenOf(t, rules, caseId);
  const item = (events: CaseEvent[], resolution = "RETRIED") =>
    noteReview("POLICY_VIOLATION", resolution, groupIds(events));
  const held = plannedCase([[3, "ECONOMY"]], { ECONOMY: null });
  given(...held)
    .when(item(held), economy)
    .then(
      { type: "case.replanned", data: { progress: "H" } },
      { type: "case.review-noted", data: { progress: "W", status: "OPEN" } },
      { type: "demand.requested", data: { type: "INITIAL", roomsRequested: 2 } },
      { type: "demand.approved" },
      { type: "case.wave-requested" },
    )
    .leads({ status: "OPEN", progress: "W", groups: [{ stay: { nights: 1, rooms: 2 } }] });
  given(...held)
    .when(item(held), { ECONOMY: policy({ autoApproveDemand: false }) })
    .then({ type: "case.replanned" }, { type: "case.review-noted" }, { type: "demand.requested" })
    .leads({ status: "OPEN", progress: "W" });
  for (const found of [{ ECONOMY: null }, {}] as Policies[])
    given(...held)
      .when(item(held), found)
      .then({ type: "case.review-noted" })
      .leads({ status: "MANUAL_REVIEW", progress: "H" })
      .sends(reviewItem("POLICY_VIOLATION", groupIds(held), { occurrence: "XN-REVIEW", origin: "planning" }));
  given(...held)
    .when(item(held, "REBOOKED"), { ECONOMY: null })
    .then({ type: "case.review-noted" }, { type: "case.resolved" })
    .leads({ status: "OPEN", progress: "M" });
  given(...held)
    .when(item(held, "SETTLED"), { ECONOMY: null })
    .leads({ status: "OPEN", progress: "X" });

  const mixed = plannedCase([pair, [2, "FIRST"], [2, "BUSINESS"]], {
    ...economy,
    FIRST: null,
    BUSINESS: null,
  });
  const [, first = "", business = ""] = groupIds(mixed);
  given(...mixed)
    .when(noteReview("POLICY_VIOLATION", "RETRIED", [first, business]), {
      ECONOMY: policy({ maxOccupancy: 1 }),
      FIRST: policy(),
      BUSINESS: null,
    })
    .then(
      { type: "case.replanned" },
      {
        type: "case.review-noted",
        data: { remaining: { category: "POLICY_VIOLATION", groups: [business] } },
      },
      { type: "demand.requested", data: { type: "INCREMENTAL", roomsRequested: 1 } },
      { type: "demand.approved" },
    )
    .leads({ status: "MANUAL_REVIEW", progress: "WWH", groups: [{ stay: { rooms: 1 } }, {}, {}] })
    .sends(
      reviewItem("POLICY_VIOLATION", [business], { occurrence: "XN-REVIEW" }),
      { to: "internal", type: "demand.requested" },
      { to: "internal", type: "demand.approved" },
    );
  const rejected = plannedCase([pair, [2, "FIRST"]], {
    ECONOMY: policy({ autoApproveDemand: false }),
    FIRST: null,
  });
  given(...eventsOf(rules, rejected, reject(rejected)))
    .when(noteReview("POLICY_VIOLATION", "RETRIED", [groupIds(rejected)[1] as string]), { FIRST: policy() })
    .then(
      { type: "case.replanned" },
      { type: "case.review-noted" },
      { type: "demand.requested", data: { type: "INITIAL", roomsRequested: 1 } },
    );
  const bothTiers = eventsOf(rules, rejected, approve(rejected), [
    noteReview("POLICY_VIOLATION", "RETRIED", [groupIds(rejected)[1] as string]),
    { FIRST: policy() },
  ]);
  t.match(stateOf(bothTiers).demands, [{ type: "INITIAL" }, { type: "INCREMENTAL", state: "REQUESTED" }]);
  t.equal(stateOf(bothTiers).status, "OPEN");

  const short = eventsOf(rules, provisionedCase([pair], next("2026-11-21T23:30:00Z")), [
    plan,
    { ECONOMY: null },
  ]);
  given(...short)
    .when(item(short), economy)
    .then(
      { type: "case.replanned", data: { progress: "N" } },
      { type: "case.review-noted" },
      { type: "case.resolved" },
    )
    .leads({ status: "OPEN", progress: "N" })
    .sends(
      {
        to: "command",
        name: "sub-case.mark-not-required",
        entity: stateOf(short).groups[0]?.subCaseId as string,
      },
      { to: "public", type: "case.resolved" },
    );
  const other = plannedCase([pair, [2, "FIRST"]], { ...economy, FIRST: null });
  given(...standingAt(other, "HM"))
    .when(noteReview("POLICY_VIOLATION", "SETTLED", [groupIds(other)[1] as string]), {})
    .then({ type: "case.review-noted" })
    .leads({ status: "OPEN", progress: "HM" });
});

t.test("policies are asked for where the decision needs them", async (t) => {
  const asked: unknown[] = [];
  const freezeOf = async (filter: unknown) => {
    asked.push(["freeze", filter]);
    return { airport: "JFK", declared: { reason: "Snow", at: evening, by: "ana" }, schemaVersion: 1 };
  };
  const context = {
    call: async (action: string, query: { params: unknown }) => asked.push([action, query.params]),
    clock: { now: () => evening },
    documents: { tenant: () => ({ collection: () => ({ findOne: freezeOf }) }) },
  } as unknown as ActorContext;
  const [decider] = caseActor(context).deciders ?? [];
  const held = plannedCase([pair, [2, "FIRST"], [2, "ECONOMY", "FIRST"], pair], { ECONOMY: null });
  const groups = groupIds(held);
  const freeze = ["freeze", { airport: "JFK" }];
  const violated = noteReview("POLICY_VIOLATION", "RETRIED", groups);
  for (const command of [plan, violated, requestDemand(1), approve(held)]) {
    t.match(await decider?.gather?.(command, stateOf(held)), { freeze: { reason: "Snow" } });
    t.strictSame(asked.splice(0), [
      ["policy.resolve-tiers", { airport: "JFK", tiers: ["ECONOMY", "FIRST"] }],
      freeze,
    ]);
  }
  await decider?.gather?.(received("case.apply-freeze"), stateOf(held));
  t.strictSame(asked.splice(0), [freeze]);
  for (const command of [noteReview("BOOKING_FAILED", "RETRIED", groups), note(groups[0], "B")])
    t.equal(await decider?.gather?.(command, stateOf(held)), undefined);
  t.equal(await decider?.gather?.(plan, undefined), undefined, "nor for a case that isn't there");
  t.strictSame(asked, []);
});
