// What becomes of a proposal, as tables: who may decide on it and when, what executing sends and in whose name, what word of the
// item does to it.
import t from "tap";
import type { AgentAction, AgentActionEvent, Proposed } from "../../../actors/agent/action-state.ts";
import { agentActionIdOf } from "../../../actors/agent/decide.ts";
import { carryOut, gathersFor, gatherTerms } from "../../../actors/agent/execute.ts";
import { actionReactions, triageReactions } from "../../../actors/agent/reactions.ts";
import { agentActions, agentTriages } from "../../../actors/agent/service.ts";
import { NotYet } from "../../../actors/runtime/decider.ts";
import type { ActorContext } from "../../../actors/runtime/host.ts";
import {
  type AgentActionState,
  agentActionStates,
  executedActionOf,
  executionIdOf,
} from "../../../schemas/agent.ts";
import type { Command, EventRecord, Principal } from "../../../schemas/command.ts";
import { Problem } from "../../../schemas/problems.ts";
import { urn } from "../../../schemas/urn.ts";
import { on, proposed, states, told } from "./action-states.ts";
import { atLax, caseId, command, contextOf, id, now, reviewId, sue, system, tenantId } from "./night.ts";

const relaxing: Proposed = {
  ...proposed,
  proposal: { ...proposed.proposal, action: "relaxPolicy", value: { maxDistanceKm: 31 } },
};
const outcome = (decide: () => AgentActionEvent[]): string => {
  try {
    return decide()[0]?.type.slice("agent.action-".length) ?? "nothing";
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return `${error.status} ${error.members.state ?? error.code}`;
  }
};

t.test("each command in each state", async (t) => {
  const table: Record<
    string,
    [object, Principal, Partial<Record<AgentActionState, string>>, "409" | "nothing"]
  > = {
    approve: [{}, sue, { PROPOSED: "approved" }, "409"],
    reject: [{ reason: "No" }, sue, { PROPOSED: "rejected" }, "409"],
    execute: [{}, sue, { APPROVED: "begun" }, "409"],
    "note-outcome": [{ outcome: "EXECUTED" }, system, { EXECUTING: "executed" }, "nothing"],
    "note-check": [{}, system, { EXECUTING: "checked" }, "nothing"],
    expire: [told, system, { PROPOSED: "expired", APPROVED: "expired" }, "nothing"],
    propose: [proposed, system, {}, "nothing"],
  };
  for (const [verb, [data, by, moves, otherwise]] of Object.entries(table))
    for (const state of agentActionStates) {
      t.equal(states[state].status, state);
      const wanted = moves[state] ?? (otherwise === "409" ? `409 ${state}` : "nothing");
      t.equal(
        outcome(() => on(states[state], command(verb, data, by))),
        wanted,
        `${verb} of ${state}`,
      );
    }
  for (const verb of ["approve", "reject", "execute"]) {
    t.equal(
      outcome(() => on(undefined, command(verb))),
      "404 not-found/resource",
    );
    t.equal(
      outcome(() => on(states.PROPOSED, command(verb, {}, atLax))),
      "403 auth/foreign-airport",
    );
  }
  t.throws(() => on(states.PROPOSED, command("book")), /takes no command/);
});

t.test("an item that was resolved meanwhile, and one that would refuse", async (t) => {
  for (const [verb, state] of [
    ["approve", states.PROPOSED],
    ["execute", states.APPROVED],
  ] as const)
    t.equal(
      outcome(() => on(state, command(verb), { item: "RESOLVED" })),
      "409 EXPIRED",
    );
  const refusal = new Problem("conflict/state", "Claim it first.", { state: "OPEN" });
  t.equal(
    outcome(() => on(states.APPROVED, command("execute"), { item: "OPEN", refusal })),
    "409 OPEN",
  );
  t.equal(
    outcome(() => on(states.APPROVED, command("execute"), { item: "CLAIMED" })),
    "begun",
  );
  const older = { ...told, at: "2026-11-21T21:59:59.000Z" };
  t.same(on(states.PROPOSED, command("expire", older)), [], "what was proposed since is not meant");
  t.same(
    on(states.APPROVED, command("expire", { ...told, proposedOnly: true })),
    [],
    "nor what a person has approved",
  );
  const closed = { ...told, caseClosed: true };
  t.match(on(states.EXECUTING, command("expire", closed)), [{ type: "agent.action-expired" }]);
  t.same(
    on(states.EXECUTING, command("expire", { ...closed, at: older.at })),
    [],
    "nor what was begun since",
  );
  t.same(on(states.EXECUTED, command("expire", closed)), []);
});

t.test("the same content is the same action", async (t) => {
  const known = agentActionIdOf(proposed);
  const with_ = (more: Partial<Proposed["proposal"]>, rest: Partial<Proposed> = {}) =>
    agentActionIdOf({ ...proposed, ...rest, proposal: { ...proposed.proposal, ...more } });
  t.match(known, /^XN-[0-9A-Z]{26}$/);
  t.equal(
    with_({ reason: "Said otherwise", viability: 0.1, cost: { amountMinor: 1, currency: "USD" } }),
    known,
  );
  for (const [what, other] of [
    ["hotel", with_({ hotelUrn: "urn:hotel:other" })],
    ["groups", with_({ groupIds: ["G2"] })],
    ["kind", with_({ action: "relaxPolicy", value: { minStars: 1 } })],
    ["round", with_({}, { round: 1 })],
    ["item", with_({}, { reviewId: tenantId("R2") })],
  ])
    t.not(other, known, String(what));
});

t.test("what leaves with an event, and what the trail keeps", async (t) => {
  const names = (events: AgentActionEvent[], state: AgentAction) =>
    events
      .flatMap((event) => agentActions.outgoing?.(event, state, command("x"), id) ?? [])
      .map((one) => ("type" in one ? one.type : one.name));
  t.same(names(on(states.APPROVED, command("execute")), states.EXECUTING), [
    "agent.action-begun",
    "agent.carry-out",
  ]);
  t.same(names(on(states.PROPOSED, command("approve")), states.APPROVED), ["agent.action-approved"]);
  t.same(names(on(states.PROPOSED, command("reject", { reason: "No" })), states.REJECTED), [
    "agent.action-rejected",
    "agent.triage",
  ]);
  const note = agentActions.audit?.({
    id,
    command: command("approve"),
    before: states.PROPOSED,
    after: states.APPROVED,
    events: [],
  });
  t.match(note, {
    action: "agent.approve",
    caseId,
    before: { state: "PROPOSED" },
    after: { state: "APPROVED", proposal: { hotelUrn: "urn:hotel:near", cost: { amountMinor: 10_000 } } },
  });
  const found = {
    caseId,
    airport: "JFK",
    category: "BOOKING_FAILED",
    cause: "OTHER",
    confidence: 0.3,
  } as const;
  const record = {
    ...found,
    evidence: [],
    planner: "rules-1",
    actionIds: [],
    by: sue.urn,
    at: now,
    note: "Ada's dog",
  };
  const outgoing = (recommendations: object[], partialFailures: object[]) => {
    const data = { ...record, recommendations, partialFailures } as never;
    return (agentTriages.outgoing?.({ type: "agent.triaged", data }, data, command("x"), reviewId) ?? [])
      .length;
  };
  const failure = { failedDomain: "hotels", detail: "late" };
  t.equal(outgoing([], []), 2, "nothing to recommend is told, too");
  t.equal(outgoing([], [failure]), 2, "after half a look with what still stands of earlier ones");
  t.equal(outgoing([{ action: "rebook" }], [failure]), 2);
  const whole = { ...record, recommendations: [], partialFailures: [] };
  const trail = agentTriages.audit?.({
    id: reviewId,
    command: command("x"),
    before: undefined,
    after: whole,
    events: [],
  });
  t.notMatch(JSON.stringify(trail), /Ada/, "an operator's note stays out of the trail");
});

t.test("an execution sends the item's own command, in the operator's name, under one id", async (t) => {
  const dispatched: Command[] = [];
  const dispatch = async (_: string, one: Command) => {
    dispatched.push(one);
    return { ok: null };
  };
  const move = command("carry-out", {}, system);
  for (const [what, name, data] of [
    [proposed, "review.rebook", { hotelUrn: "urn:hotel:near", groupIds: ["G1"] }],
    [relaxing, "review.relax", { fields: { maxDistanceKm: 31 }, groupIds: ["G1"] }],
  ] as const) {
    const standing = { ...states.EXECUTING, proposal: what.proposal };
    const { context, sent } = contextOf(standing, async () => null as never);
    await carryOut(context)(move, dispatch);
    await carryOut(context)(move, dispatch);
    const wanted = { id: executionIdOf(id), name, entity: reviewId, principal: sue };
    t.match(sent, [wanted, wanted], name);
    t.same(sent[0]?.data, { ...data, reason: "Nothing else is left" });
    t.equal(executedActionOf(sent[0]?.id), id);
  }
  t.same(dispatched, [], "its outcome the item tells");
  const refusing = contextOf(states.EXECUTING, async () => {
    throw new Problem("conflict/state", "Another operator has claimed this item.");
  });
  await carryOut(refusing.context)(move, dispatch);
  t.match(dispatched, [
    { name: "agent.note-outcome", data: { outcome: "FAILED", detail: /Another operator/ } },
  ]);
  const away = contextOf(states.EXECUTING, async () => {
    throw new Problem("upstream/unavailable", "review is not reachable");
  });
  await t.rejects(carryOut(away.context)(move, dispatch), { name: "Problem", code: "upstream/unavailable" });
  for (const state of agentActionStates.filter((one) => one !== "EXECUTING")) {
    const { context, sent } = contextOf(states[state], async () => null as never);
    await carryOut(context)(move, dispatch);
    t.same(sent, [], `nothing is sent for ${state}`);
  }
  const { context } = contextOf(null, async () => null as never);
  await t.rejects(carryOut(context)(move, dispatch), new NotYet("The action is not there yet."));
});

t.test("before somebody decides, the item is asked", async (t) => {
  const answering = (state: string, refusal?: Problem) =>
    contextOf(null, (async (name: string) => {
      if (name === "review.item") return { state };
      if (refusal !== undefined) throw refusal;
      return null;
    }) as ActorContext["call"]);
  const refusal = new Problem("conflict/state", "Claim it first.", { state: "OPEN" });
  const gather = (verb: string, state: AgentAction | undefined, { context } = answering("OPEN", refusal)) =>
    gatherTerms(context, command(verb, {}, sue, { fencingToken: 7 }), state);
  t.same(await gather("approve", states.PROPOSED), { item: "OPEN" });
  t.same(await gather("execute", states.APPROVED), { item: "OPEN", refusal });
  t.same(await gather("execute", states.APPROVED, answering("CLAIMED")), { item: "CLAIMED" });
  t.same(await gather("execute", states.APPROVED, answering("RESOLVED", refusal)), { item: "RESOLVED" });
  for (const [verb, state] of [
    ["execute", "PROPOSED"],
    ["approve", "EXPIRED"],
    ["reject", "PROPOSED"],
  ] as const)
    t.equal(await gather(verb, states[state]), undefined, `${verb} of ${state} asks nobody`);
  t.equal(await gather("approve", undefined), undefined);
  t.same(
    agentActions.commands.filter((verb) => gathersFor({ name: `agent.${verb}` })),
    ["approve", "execute"],
  );
  const asked = answering("CLAIMED");
  await gather("execute", states.APPROVED, asked);
  const [, rehearsal] = asked.sent as unknown as [unknown, { params: unknown }];
  t.match(rehearsal, {
    principal: sue,
    fencingToken: 7,
    params: { entity: reviewId, name: "review.rebook", data: { hotelUrn: "urn:hotel:near" } },
  });
});

t.test("word of an item", async (t) => {
  const event = (type: string, data: object): EventRecord => ({
    urn: `urn:event:${tenantId("E1")}`,
    type,
    occurred_at: now.toISOString(),
    tenant: "urn:airline:XN",
    correlation_urn: "urn:correlation:x",
    traceparent: "00-0-0-01",
    data: { reviewUrn: urn("review", reviewId), ...data },
  });
  const react = (type: string, data: object = {}) =>
    ({ ...triageReactions, ...actionReactions })[type]?.(event(type, data), "XN");
  const toTriage = [{ name: "agent.triage", entity: reviewId, data: { reviewUrn: urn("review", reviewId) } }];
  t.same(react("review.opened"), toTriage);
  t.same(react("review.reinstated"), toTriage);
  const expiry = (data: object) => [{ name: "agent.expire-of-item", entity: reviewId, data }];
  t.same(react("review.resolved", { resolution: "HOUSED" }), expiry(told));
  t.same(react("review.resolved", { resolution: "CASE_CLOSED" }), expiry({ ...told, caseClosed: true }));
  const commandId = executionIdOf(id);
  const noted = (data: object) => react("review.action-noted", data);
  const note = (data: object) => [{ name: "agent.note-outcome", entity: id, data }];
  t.same(noted({ commandId, state: "DONE" }), note({ outcome: "EXECUTED" }));
  t.same(noted({ commandId, state: "PARTIAL" }), note({ outcome: "EXECUTED" }));
  const groups = [{ detail: "No room." }, { detail: "No room." }, {}];
  t.same(noted({ commandId, state: "FAILED", groups }), note({ outcome: "FAILED", detail: "No room." }));
  t.same(noted({ commandId, state: "UNDER_WAY" }), []);
  for (const other of [
    undefined,
    "api:1",
    `api:${commandId}`,
    `${commandId}:x`,
    "urn:agent-action:x:execute",
  ])
    t.same(noted({ commandId: other, state: "DONE" }), [], `${other} is somebody else's`);
});
