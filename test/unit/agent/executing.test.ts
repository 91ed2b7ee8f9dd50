// How an agent action ends that nobody tells the end of: its item is asked, and the item's resolution ends what is left of its actions.
import t from "tap";
import { type AgentAction, type AgentActionEvent, evolveAction } from "../../../actors/agent/action-state.ts";
import { checkOutcome } from "../../../actors/agent/check-outcome.ts";
import { expireOfItem } from "../../../actors/agent/execute.ts";
import { agentActions } from "../../../actors/agent/service.ts";
import { type AgentActionState, agentActionStates, executionIdOf } from "../../../schemas/agent.ts";
import { Problem } from "../../../schemas/problems.ts";
import { urn } from "../../../schemas/urn.ts";
import { on, states, told } from "./action-states.ts";
import { command, contextOf, id, now, reviewId, system } from "./night.ts";

t.test(
  "an execution that nobody tells the outcome of: the item is asked, first after 15 minutes, then each hour",
  async (t) => {
    const minutes = (of: AgentAction) =>
      agentActions.timers?.(of).map(({ name, dueAt }) => [name, (dueAt.getTime() - now.getTime()) / 60_000]);
    t.same(minutes(states.EXECUTING), [["check-outcome", 15]]);
    t.same(minutes({ ...states.EXECUTING, checkedAt: now }), [["check-outcome", 60]]);
    for (const state of agentActionStates.filter((one) => one !== "EXECUTING"))
      t.same(minutes(states[state]), []);

    const later = new Date(now.getTime() + 15 * 60_000);
    const asked = { reviewUrn: urn("review", reviewId), commandId: executionIdOf(id) };
    const check = async (answer: unknown, at = later) => {
      const dispatched: unknown[] = [];
      const called: string[] = [];
      const { context, sent } = contextOf(states.EXECUTING, async (name) => {
        called.push(name);
        if (answer instanceof Error) throw answer;
        return (name === "review.action-of" ? answer : null) as never;
      });
      const then = { ...context, clock: { ...context.clock, now: () => at } };
      await checkOutcome(then)(command("check-outcome", {}, system), async (verb, { data }) => {
        dispatched.push([verb, data]);
        return { ok: null };
      });
      const [query] = sent as unknown as { params: unknown }[];
      if (query !== undefined) t.same(query.params, asked);
      return { called, dispatched };
    };
    const checked = ["note-check", {}];
    const noted = (data: object) => [["note-outcome", data], checked];
    const tell = (state: string, itemState = "CLAIMED", groups: object[] = []) => ({
      itemState,
      action: { state, groups },
    });
    const table: [string, unknown, string[], unknown[]][] = [
      ["it was done", tell("DONE"), [], noted({ outcome: "EXECUTED" })],
      ["for some", tell("PARTIAL", "RESOLVED"), [], noted({ outcome: "EXECUTED" })],
      [
        "it failed",
        tell("FAILED", "OPEN", [{ detail: "No room." }]),
        [],
        noted({ outcome: "FAILED", detail: "No room." }),
      ],
      ["it is under way", tell("UNDER_WAY"), [], [checked]],
      [
        "nobody will tell",
        tell("UNDER_WAY", "RESOLVED"),
        [],
        noted({ outcome: "FAILED", detail: "Its review item was resolved before it had an outcome." }),
      ],
      ["the order was lost", { itemState: "CLAIMED", action: null }, ["review.rebook"], [checked]],
      [
        "no item",
        new Problem("not-found/resource", "No such review item."),
        [],
        noted({ outcome: "FAILED", detail: "Its review item is not there any more." }),
      ],
    ];
    for (const [what, answer, orders, wanted] of table)
      t.same(await check(answer), { called: ["review.action-of", ...orders], dispatched: wanted }, what);
    t.same(await check(tell("DONE"), now), { called: [], dispatched: [] }, "not before it is due");
    await t.rejects(check(new Problem("upstream/unavailable", "review is not reachable")), {
      code: "upstream/unavailable",
    });

    const [event] = on(states.EXECUTING, command("note-check", {}, system)) as [AgentActionEvent];
    const after = evolveAction(states.EXECUTING, event);
    t.same(agentActions.outgoing?.(event, after, command("note-check"), id), [], "it is told to nobody");
    t.ok(agentActions.technical?.has(event.type), "and is no new version");
    const change = { id, command: command("note-check"), before: states.EXECUTING, after, events: [event] };
    t.equal(agentActions.audit?.(change), null);
  },
);

t.test("an item's resolution ends its actions, also those of a triage that overlapped it", async (t) => {
  const run = async (state: AgentActionState, itemState: string, data: object) => {
    const { context } = contextOf(states[state], async () => ({ state: itemState }) as never);
    const seen: unknown[] = [];
    const clock = { ...context.clock, now: () => new Date(now.getTime() + 60_000) };
    const handle = expireOfItem({ ...context, clock });
    await handle(
      command("expire-of-item", data, system, { entity: reviewId }),
      async (_, { entity, data }) => {
        seen.push([entity, (data as { at: string }).at]);
        return { ok: null };
      },
    );
    return seen;
  };
  const late = "2026-11-21T22:01:00.000Z";
  t.same(await run("PROPOSED", "RESOLVED", told), [[id, late]], "as it stands now");
  t.same(await run("APPROVED", "OPEN", told), [[id, told.at]], "it is back: only what was there before");
  t.same(await run("EXECUTING", "RESOLVED", told), [], "its outcome ends it");
  t.same(await run("EXECUTING", "RESOLVED", { ...told, caseClosed: true }), [[id, late]]);
  t.same(await run("EXECUTED", "RESOLVED", { ...told, caseClosed: true }), []);
});
