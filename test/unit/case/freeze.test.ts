// A freeze of demand at an airport: how it is declared and lifted, and what it does to demand that is pending or being asked for.
import t from "tap";
import { decideFreeze, evolveFreeze, freezes, freezeView } from "../../../actors/case/freeze.ts";
import type { CaseEvent } from "../../../actors/case/state.ts";
import type { Received } from "../../../actors/runtime/decider.ts";
import { evening, eventsOf, givenOf, received, secondsLater, supervisor } from "../../harness/given.ts";
import { policy } from "../../harness/policies.ts";
import {
  approve,
  asking,
  caseId,
  economy,
  groupIds,
  noteReview,
  pair,
  plan,
  plannedCase,
  provisionedCase,
  requestDemand,
  reviewItem,
  rules,
  standingAt,
  stateOf,
} from "./planned-case.ts";

const freeze = { reason: "Snow closes the runways.", at: evening, by: supervisor.urn };
const frozen = (policies: object = economy) => ({ policies, freeze });
const applied = received("case.apply-freeze");
const rejection = {
  type: "demand.rejected",
  data: { by: "urn:user:system-case", reason: freeze.reason, frozen: true },
} as const;

t.test("declared and lifted", async (t) => {
  const given = givenOf(
    t,
    { decide: decideFreeze, evolve: evolveFreeze, outgoing: freezes.outgoing! },
    "XN-F",
  );
  const declare = (data: object, more: Partial<Received> = {}) =>
    received(
      "case.freeze-demand",
      { airport: "JFK", reason: "Snow", ...data },
      { principal: supervisor, ...more },
    );
  const lift = received("case.lift-freeze", {}, { principal: supervisor, now: secondsLater(50) });
  const until = secondsLater(100).toISOString();
  const standing = { type: "demand.frozen", data: { airport: "JFK", declared: freeze } } as const;
  given()
    .when(declare({ until }))
    .then({ type: "demand.frozen", data: { airport: "JFK", declared: { until: secondsLater(100) } } })
    .sends(
      { to: "internal", type: "demand.frozen", id: "XN-F" },
      { to: "command", name: "case.spread-freeze", entity: "XN-F", data: { airport: "JFK" } },
    );
  given(standing).when(declare({})).refused("conflict/state", { state: "ACTIVE" });
  given(standing)
    .when(lift)
    .then({ type: "demand.unfrozen", data: { airport: "JFK", at: secondsLater(50), by: supervisor.urn } })
    .sends({ to: "internal", type: "demand.unfrozen" });
  const lifted = { type: "demand.unfrozen", data: { airport: "JFK", at: evening, by: "ana" } } as const;
  given(standing, lifted).when(lift).refused("conflict/state", { state: "LIFTED" });
  given(standing, lifted)
    .when(declare({ reason: "Ice" }))
    .leads({ lifted: undefined, declared: { reason: "Ice" } });
  const timed = eventsOf({ decide: decideFreeze, evolve: evolveFreeze }, [], declare({ until }));
  const late = { now: secondsLater(100) };
  given(...timed)
    .when({ ...lift, ...late })
    .refused("conflict/state", { state: "EXPIRED" });
  given(...timed)
    .when(declare({}, late))
    .then({ type: "demand.frozen" });
  given().when(lift).refused("not-found/resource");
  given()
    .when(declare({ airport: "QQQ" }))
    .refused("validation/body");
  given()
    .when(declare({ until: evening.toISOString() }))
    .refused("validation/body");
  const elsewhere = { principal: { ...supervisor, airport: "LAX" } };
  given().when(declare({}, elsewhere)).refused("auth/foreign-airport");
  given(standing)
    .when({ ...lift, ...elsewhere })
    .refused("auth/foreign-airport");
  t.strictSame(freezeView("XN-F", standing.data, 3, evening), {
    urn: "urn:demand-freeze:XN-F",
    airport: "JFK",
    reason: freeze.reason,
    status: "ACTIVE",
    frozenAt: evening.toISOString(),
    frozenBy: supervisor.urn,
    version: 3,
  });
});

t.test("while demand is frozen it is rejected with the reason, and its groups have an owner", async (t) => {
  const given = givenOf(t, rules, caseId);
  const provisioned = provisionedCase([pair, pair]);
  const groups = groupIds(provisioned);
  for (const policies of [economy, asking]) {
    const told = given(...provisioned)
      .when(plan, frozen(policies))
      .then({ type: "case.planned" }, { type: "demand.requested" }, rejection, {
        type: "case.groups-stranded",
        data: { groups, progress: "HH" },
      })
      .leads({ demands: [{ state: "REJECTED", reason: freeze.reason, frozen: true }] });
    const item = reviewItem("ALLOCATION_FAILED", groups, {
      detail:
        "Demand at JFK is frozen: Snow closes the runways. Ask for rooms again once it is lifted, or settle these groups by hand.",
    });
    told.sends({ to: "internal" }, { to: "internal", type: "demand.rejected" }, item);
  }
  const pending = plannedCase([pair, pair], asking);
  given(...pending)
    .when(applied, frozen())
    .then(rejection, { type: "case.groups-stranded" });
  given(...pending)
    .when(applied, { policies: {} })
    .nothing();
  given(...pending)
    .when(approve(pending), frozen())
    .refused("conflict/state", { state: "FROZEN" });
  const after = eventsOf(rules, pending, [applied, frozen()] as [Received, unknown]);
  given(...after)
    .when(applied, frozen())
    .nothing();
  given(...after)
    .when(requestDemand(2, "INITIAL"), frozen())
    .then({ type: "demand.requested" }, rejection);
  given(...after)
    .when(requestDemand(2, "INITIAL"), { policies: { ECONOMY: policy({ version: 4 }) } })
    .then(
      { type: "case.policies-renewed" },
      { type: "demand.requested" },
      { type: "demand.approved" },
      { type: "case.wave-requested", data: { progress: "WW" } },
    );
  const unruled = plannedCase([pair], { ECONOMY: null });
  given(...unruled)
    .when(noteReview("POLICY_VIOLATION", "RETRIED", groupIds(unruled)), frozen())
    .then(
      { type: "case.replanned" },
      { type: "case.review-noted" },
      { type: "demand.requested" },
      rejection,
      {
        type: "case.groups-stranded",
      },
    );
});

t.test("what is approved stays approved, whatever comes after it", async (t) => {
  const given = givenOf(t, rules, caseId);
  const approved = standingAt(plannedCase([pair, pair], economy), "BR");
  const before = stateOf(approved);
  given(...approved)
    .when(applied, frozen())
    .nothing();
  for (const terms of [frozen(), { policies: economy }, { policies: asking }])
    for (const rooms of [1, 40]) {
      const told = eventsOf<typeof before, CaseEvent>(rules, approved, [requestDemand(rooms), terms]);
      const { demands, progress } = stateOf(told);
      t.strictSame(
        demands.slice(0, 1),
        before.demands,
        "an INCREMENTAL demand leaves the others as they were",
      );
      t.equal(progress, before.progress, "and takes nobody's room");
      t.equal(demands.length, 2);
    }
});

t.test("a demand is decided by the policies in force, which are then the case's", async (t) => {
  const given = givenOf(t, rules, caseId);
  const pending = plannedCase([pair], asking);
  const patched = { ECONOMY: policy({ version: 9, autoBook: false }) };
  given(...pending)
    .when(approve(pending), { policies: patched })
    .then(
      { type: "case.policies-renewed", data: { policies: { ECONOMY: { version: 9, autoBook: false } } } },
      { type: "demand.approved", data: { policyId: "XN-POLICY", policyVersion: 9 } },
      { type: "case.wave-requested" },
    );
  const gone = { ECONOMY: null };
  given(...pending)
    .when(approve(pending), { policies: gone })
    .then({ type: "demand.approved", data: { policyVersion: 3 } }, { type: "case.wave-requested" });
});
