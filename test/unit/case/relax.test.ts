// Policy limits that are loosened for one case: what is refused, the wave that follows, and what then binds the case.
import t from "tap";
import { bindingPolicies, relaxationAudit } from "../../../actors/case/relax.ts";
import type { CaseState } from "../../../actors/case/state.ts";
import { relaxationsView } from "../../../actors/case/view.ts";
import type { Problem } from "../../../schemas/problems.ts";
import { eventsOf, givenOf, secondsLater } from "../../harness/given.ts";
import { policy } from "../../harness/policies.ts";
import { caseId, groupIds, human, pair, plannedCase, rules, standingAt, stateOf } from "./planned-case.ts";

const policies = { ECONOMY: policy({ maxDistanceKm: 10, autoApproveDemand: true }) };
const three = plannedCase([pair, pair, pair], policies);
const [a = "", b = "", c = ""] = groupIds(three);
const review = { reviewId: "XN-REVIEW", actionId: "XN-ACTION" };
const relax = (groups: string[], fields: object = { maxDistanceKm: 30 }, more: object = {}) =>
  human("relax", { fields, groupIds: groups, reason: "Snow", review }, more);

t.test("those who wait get another wave, the others nothing", async (t) => {
  const given = givenOf(t, rules, caseId);
  const held = standingAt(three, "HFB");
  given(...held)
    .when(relax([a, b, c]), policies)
    .then(
      {
        type: "case.policy-relaxed",
        data: { fields: { maxDistanceKm: 30 }, groupIds: [a, b, c], reason: "Snow", by: "urn:user:ana" },
      },
      { type: "case.wave-requested", data: { progress: "WWB", review: { ...review, groupIds: [a, b, c] } } },
    )
    .sends({ to: "command", name: "wave.run", data: { caseId, review: { ...review, groupIds: [a, b, c] } } })
    .leads({ progress: "WWB", awaiting: { step: "wave" }, policies });
  const [, asked] = eventsOf(rules, held, [relax([a]), policies]).slice(-2);
  t.match(asked, { data: { progress: "WFB" } }, "only whom it is for");
  const relaxed = eventsOf(rules, held, [relax([a]), policies]);
  given(...relaxed)
    .when(relax([a]), policies)
    .nothing();
  const reissue = human("reissue", {}, { now: secondsLater(1000) });
  given(...relaxed)
    .when(reissue)
    .sends({ to: "command", name: "wave.run", data: { review: { ...review, groupIds: [a] } } });
});

const at = (pointer: string) => ({ errors: [{ pointer }] }) as unknown as Problem["members"];

t.test("what is refused", async (t) => {
  const given = givenOf(t, rules, caseId);
  const held = standingAt(three, "HFB");
  const running = eventsOf(rules, held, [relax([a]), policies]);
  given(...held)
    .when(relax(["nobody"]), policies)
    .refused("validation/body", at("/groupIds/0"));
  given(...held)
    .when(relax([c]), policies)
    .refused("conflict/state");
  given(...held)
    .when(relax([a], { maxDistanceKm: 9 }), policies)
    .refused("validation/body", at("/fields/maxDistanceKm"));
  given(...running)
    .when({ ...relax([b]), id: "another" }, policies)
    .refused("conflict/state", { state: "RUNNING" });
  given(...standingAt(running, "HFB"))
    .when({ ...relax([a], { maxDistanceKm: 30 }), id: "another" }, policies)
    .refused("validation/body", at("/fields/maxDistanceKm"));
  const unasked = plannedCase([pair], { ECONOMY: policy({ maxDistanceKm: 10, autoApproveDemand: false }) });
  given(...standingAt(unasked, "H"))
    .when(relax(groupIds(unasked)), policies)
    .refused("conflict/demand-not-approved");
  const { awaiting: _, ...state } = stateOf(held);
  const spent = state.demands.map((demand) => ({ ...demand, roomsRequested: 1 }));
  given({ type: "case.registered", data: { ...state, demands: spent } as CaseState })
    .when(relax([a]), policies)
    .refused("conflict/state", { state: "APPROVED" });
});

t.test("it binds the tiers that it is for, and no others", async (t) => {
  const two = {
    ECONOMY: policy({ maxDistanceKm: 10, autoApproveDemand: true }),
    BUSINESS: policy({ maxDistanceKm: 5, autoApproveDemand: true }),
  };
  const after = stateOf(eventsOf(rules, standingAt(three, "HFB"), [relax([a]), policies]));
  t.match(after.relaxations, [{ tiers: ["ECONOMY"] }]);
  const kept = after.relaxations ?? [];
  t.match(bindingPolicies(two, kept), { ECONOMY: { maxDistanceKm: 30 }, BUSINESS: { maxDistanceKm: 5 } });
  const former = kept.map(({ tiers: _, ...one }) => one);
  t.match(
    bindingPolicies(two, former),
    { ECONOMY: { maxDistanceKm: 30 }, BUSINESS: { maxDistanceKm: 30 } },
    "kept before tiers were told apart",
  );
  t.same(bindingPolicies(two, undefined), two);
});

t.test("what is shown and audited", async (t) => {
  const held = standingAt(three, "HFB");
  const before = stateOf(held);
  const after = stateOf(eventsOf(rules, held, [relax([a]), policies]));
  t.same(relaxationAudit(before, after), {
    before: { ECONOMY: { maxDistanceKm: 10 } },
    after: { ECONOMY: { maxDistanceKm: 30 }, groupIds: [a] },
  });
  t.same(relaxationsView(before), {});
  t.match(relaxationsView(after), {
    relaxations: [{ fields: { maxDistanceKm: 30 }, groupIds: [a], reason: "Snow", by: "urn:user:ana" }],
  });
});
