// What is kept of triages of one item that follow each other, overlap or come twice, on deciders as they are and documents in memory:
// what is recommended can be acted on, and what cannot be has expired.
import t from "tap";
import type { Plan, Planner } from "../../../actors/agent/planner.ts";
import { NotYet } from "../../../actors/runtime/decider.ts";
import type { TriageView } from "../../../schemas/agent.ts";
import type { Command } from "../../../schemas/command.ts";
import { Problem } from "../../../schemas/problems.ts";
import { urn } from "../../../schemas/urn.ts";
import { agentOf, type Told } from "./agent-in-memory.ts";
import { answers, reviewId, sue, system, tenantId } from "./night.ts";

const reviewUrn = urn("review", reviewId);
const rebooks = "urn:hotel:b";
const relaxes = "urn:hotel:far";
const proposedBy = ({ proposals }: TriageView) => proposals.map(({ hotelUrn }) => hotelUrn);
const without = (told: Told, ...gone: string[]): unknown => {
  const search = told["wave.search-hotels"] as { hotels: { hotelUrn: string }[] };
  return { ...search, hotels: search.hotels.filter(({ hotelUrn }) => !gone.includes(hotelUrn)) };
};

t.test("a later, whole look: what it no longer proposes has expired before the item is told", async (t) => {
  const agent = agentOf(answers("x"));
  t.same(proposedBy(await agent.run("c1")), [rebooks, relaxes]);
  t.same(agent.recommended(), [rebooks, relaxes]);
  agent.told["wave.search-hotels"] = without(agent.told, rebooks);
  agent.verbs.length = 0;
  t.same(proposedBy(await agent.run("c2")), [relaxes]);
  t.same(agent.states(), { [rebooks]: "EXPIRED", [relaxes]: "PROPOSED" });
  t.same(agent.recommended(), [relaxes]);
  t.same(agent.verbs, ["propose", "expire", "record-triage"]);
});

t.test("a look that is not whole recommends what still stands of earlier ones", async (t) => {
  const agent = agentOf(answers("x"));
  await agent.run("c1");
  await agent.act(rebooks, "reject", { reason: "Under repair" });
  agent.told["wave.search-hotels"] = new Problem("upstream/unavailable", "wave is not reachable right now.");
  const partial = await agent.run("c2");
  t.match(partial, { proposals: [], partialFailures: [{ failedDomain: "hotels" }] });
  t.same(agent.recommended(), [relaxes], "not what was rejected");
  await agent.act(relaxes, "approve");
  await agent.run("c3");
  t.same(agent.recommended(), [relaxes], "what was approved can be executed");
  t.same(agent.states(), { [rebooks]: "REJECTED", [relaxes]: "APPROVED" });
});

t.test("the same command again answers from the record, and expires nothing", async (t) => {
  const agent = agentOf(answers("x"));
  agent.told["wave.search-hotels"] = without(agent.told, rebooks);
  const first = await agent.run("api:1");
  agent.told["wave.search-hotels"] = without(answers("x"), relaxes);
  agent.verbs.length = 0;
  t.same(await agent.run("api:1"), first);
  t.same(agent.verbs, []);
  t.same(agent.states(), { [relaxes]: "PROPOSED" });
  await agent.run("evt:1", system);
  const seen = agent.verbs.length;
  await agent.run("evt:1", system);
  t.equal(agent.verbs.length, seen, "nor does an opening that is told twice");

  const raced = agentOf(answers("x"));
  raced.told["wave.search-hotels"] = without(raced.told, relaxes);
  await raced.run("c0");
  raced.told["wave.search-hotels"] = without(answers("x"), rebooks);
  // Another process has had the command at the same moment, saw the first hotel, and was quicker.
  let isFirst = true;
  await raced.run("c1", sue, { reviewUrn }, async (verb, one) => {
    const reply = await raced.dispatch(verb, one);
    if (isFirst) {
      isFirst = false;
      const other = agentOf({ ...raced.told });
      other.told["wave.search-hotels"] = without(answers("x"), relaxes);
      let record: Command | undefined;
      await other.run("c1", sue, { reviewUrn }, async (name, sent) => {
        if (name === "record-triage") record = sent;
        return other.dispatch(name, sent);
      });
      await raced.dispatch("record-triage", record as Command);
    }
    return reply;
  });
  t.same(raced.recommended(), [rebooks]);
  t.equal(raced.states()[rebooks], "PROPOSED", "what the item recommends has not expired");
});

t.test("an item that is resolved while it is looked into, and an action that is decided on", async (t) => {
  for (const by of [sue, system]) {
    const agent = agentOf(answers("x"));
    const open = agent.told["review.item"] as object;
    let reads = 0;
    agent.told["review.item"] = () =>
      reads++ === 0 ? open : { ...open, state: "RESOLVED", resolution: "HOUSED" };
    const wanted = { code: "conflict/state", members: { state: "RESOLVED" } };
    if (by === sue) await t.rejects(agent.run("c1", by), wanted);
    else t.equal(await agent.run("c1", by), null);
    t.same(agent.states(), { [rebooks]: "EXPIRED", [relaxes]: "EXPIRED" });
    t.equal(agent.recorded(), undefined, "nothing is recommended");
  }
  const agent = agentOf(answers("x"));
  let isFirst = true;
  const answer = await agent.run("c1", sue, { reviewUrn }, async (verb, one) => {
    const reply = await agent.dispatch(verb, one);
    if (isFirst) await agent.act(rebooks, "reject", { reason: "No" });
    isFirst = false;
    return reply;
  });
  t.same(proposedBy(answer), [relaxes]);
  t.same(agent.recommended(), [relaxes]);
});

t.test(
  "of one item one at a time; of many that nobody waits for eight; a person waits for none",
  async (t) => {
    const plan: Plan = { cause: "OTHER", confidence: 1, evidence: [], drafts: [] };
    let running = 0;
    let most = 0;
    const turn = () => new Promise<void>((resolve) => setImmediate(resolve));
    const slow: Planner = {
      name: "slow",
      plan: async () => {
        running += 1;
        most = Math.max(most, running);
        for (let i = 0; i < 5; i++) await turn();
        running -= 1;
        return plan;
      },
    };
    const told = answers("x");
    const item = told["review.item"] as object;
    told["review.item"] = ({ reviewUrn }: { reviewUrn: string }) => ({ ...item, urn: reviewUrn });
    const mostOf = async (runs: Promise<unknown>[]) => {
      most = 0;
      await Promise.all(runs);
      return most;
    };
    const agent = agentOf(told, slow);
    t.equal(await mostOf(["a", "b", "c"].map((id, i) => agent.run(id, i === 0 ? system : sue))), 1);
    const others = Array.from({ length: 24 }, (_, i) => ({
      reviewUrn: urn("review", tenantId(`${"ABC"[i % 3]}${i % 8}`)),
    }));
    t.equal(await mostOf(others.map((asked, i) => agent.run(`s${i}`, system, asked))), 8);

    const { promise: blocked, resolve: unblock } = Promise.withResolvers<void>();
    const held = agentOf(told, {
      name: "held",
      plan: async (facts) => (facts.note === undefined ? blocked.then(() => plan) : plan),
    });
    const waiting = others.map((asked, i) =>
      held.run(`s${i}`, system, asked).catch((error: unknown) => error),
    );
    const theirs = await held.run("mine", sue, {
      reviewUrn: urn("review", tenantId("Z9")),
      note: "She waits",
    });
    t.equal(theirs.classification.cause, "OTHER");
    held.turns.stop();
    unblock();
    const ended = await Promise.all(waiting);
    t.equal(
      ended.filter((one) => one instanceof NotYet).length,
      16,
      "what has no place yet is another process's",
    );
  },
);
