// Activations that meet: with a patch between their two writes, and with another one in the same moment. And what those in force say
// of a disruption that is only predicted.
import t from "tap";
import { detectionTerms, matchPolicy } from "../../../actors/policy/match.ts";
import { policyActor } from "../../../actors/policy/service.ts";
import { contextKeyOf, type PolicyState } from "../../../actors/policy/state.ts";
import type { ActorContext } from "../../../actors/runtime/host.ts";
import type { PolicyBody } from "../../../schemas/policy.ts";
import { evening, received, supervisor } from "../../harness/given.ts";

const policyState = (name: string): PolicyState => {
  const body: PolicyBody = { name, context: {}, tiers: ["ECONOMY"] };
  const contextKey = contextKeyOf(body);
  return { body, contextKey, createdAt: evening, createdBy: supervisor.urn, creation: "api:1" };
};

t.test("what an activation answers is one text with its own version", async (t) => {
  const inForce = { text: "Any", version: 1 };
  const documentOf = () => ({
    _id: "XN-P",
    revision: inForce.version,
    version: inForce.version,
    schemaVersion: 1,
    ...policyState(inForce.text),
  });
  const documents = { tenant: () => ({ collection: () => ({ findOne: async () => documentOf() }) }) };
  const { commands = {} } = policyActor({ documents } as unknown as ActorContext);
  const command = received("policy.activate", {}, { entity: "XN-P", principal: supervisor });
  const reply = await commands.activate?.({ ...command, expectedVersion: 1 }, async (verb) => {
    // Between the two writes somebody patches it.
    if (verb === "fix-context") Object.assign(inForce, { text: "Snow", version: 2 });
    return { ok: null };
  });
  t.match(reply, { ok: { name: "Snow", version: 2, status: "ACTIVE" }, version: 2 });
});

t.test(
  "of two that came into force in one moment the one made later applies, in whatever order they are read",
  async (t) => {
    const candidate = (policyId: string) => ({
      policyId,
      version: 1,
      activatedAt: evening,
      policy: policyState("Any"),
    });
    const both = [candidate("XN-B"), candidate("XN-A")];
    for (const candidates of [both, [...both].reverse()])
      t.equal(matchPolicy(candidates, "JFK", "ECONOMY")?.candidate.policyId, "XN-B");
  },
);

t.test("from when on a predicted disruption counts is said by each cabin's policy", async (t) => {
  const inForce = (policyId: string, more: Partial<PolicyBody>) => {
    const policy = policyState(policyId);
    const body: PolicyBody = { ...policy.body, ...more };
    return { policyId, version: 1, activatedAt: evening, policy: { ...policy, body } };
  };
  const crew = inForce("crew", { tiers: ["CREW"], detectionThreshold: 0.95 });
  const jfk = inForce("jfk", {
    context: { airport: "JFK" },
    tiers: ["ECONOMY", "BUSINESS"],
    detectionThreshold: 0.6,
    openOnDetection: true,
  });
  const silent = inForce("silent", {});
  const table: [string, ReturnType<typeof inForce>[], string, object[]][] = [
    ["nobody's", [], "JFK", []],
    ["one that says nothing", [silent], "JFK", [{ policyId: "silent", threshold: 0.8, opens: false }]],
    ["elsewhere", [jfk], "LAX", []],
    [
      "the first match of each cabin, once",
      [silent, jfk, crew],
      "JFK",
      [
        { policyId: "jfk", threshold: 0.6, opens: true },
        { policyId: "crew", threshold: 0.95, opens: false },
      ],
    ],
  ];
  for (const [what, candidates, airport, terms] of table)
    t.match(detectionTerms(candidates, airport), terms, what);
  t.equal(detectionTerms([silent, jfk, crew], "JFK").length, 2);
});
