// Which policy applies, what its blanks mean, and how one comes into force, as tables.
import fc from "fast-check";
import t from "tap";
import { decideContext, decidePolicy, type Spoken } from "../../../actors/policy/decide.ts";
import {
  type Candidate,
  matchPolicy,
  resolvePolicy,
  verdictsOn,
  weightsOf,
} from "../../../actors/policy/match.ts";
import {
  type ContextEvent,
  type ContextState,
  contextKeyOf,
  evolveContext,
  evolvePolicy,
  type PolicyEvent,
  type PolicyState,
  statusIn,
} from "../../../actors/policy/state.ts";
import { policyView } from "../../../actors/policy/view.ts";
import type { PolicyBody } from "../../../schemas/policy.ts";
import type { Tier } from "../../../schemas/vocabulary.ts";
import { evening, eventsOf, givenOf, received, secondsLater, supervisor } from "../../harness/given.ts";
import { policy } from "../../harness/policies.ts";

const xn = "urn:airline:XN";
const body = (more: Partial<PolicyBody> = {}): PolicyBody => ({
  name: "Any",
  context: {},
  tiers: ["ECONOMY"],
  ...more,
});
const stateOf = (text: PolicyBody): PolicyState => ({
  body: text,
  contextKey: contextKeyOf(text),
  createdAt: evening,
  createdBy: supervisor.urn,
  creation: "api:1",
});
const candidate = (policyId: string, text: Partial<PolicyBody>, activatedAt = evening): Candidate => ({
  policyId,
  version: 1,
  activatedAt,
  policy: stateOf(body(text)),
});

t.test("the first match wins, from the narrowest context to the widest", async (t) => {
  const everywhere = candidate("global", {});
  const airline = candidate("airline", { context: { airline: xn } });
  const airport = candidate("airport", { context: { airport: "JFK" } });
  const both = candidate("both", { context: { airport: "JFK", airline: xn } });
  const table: [string, Candidate[], string, Tier, string | undefined, string | undefined][] = [
    ["all four", [everywhere, airline, airport, both], "JFK", "ECONOMY", "both", "airport+airline+tier"],
    ["without that", [everywhere, airline, airport], "JFK", "ECONOMY", "airport", "airport+tier"],
    ["without the airport's", [everywhere, airline], "JFK", "ECONOMY", "airline", "airline+tier"],
    ["only the widest", [everywhere], "JFK", "ECONOMY", "global", "global by tier"],
    ["elsewhere", [both, airport, airline, everywhere], "LAX", "ECONOMY", "airline", "airline+tier"],
    ["nowhere", [both, airport], "LAX", "ECONOMY", undefined, undefined],
    ["another tier", [both, airport, airline, everywhere], "JFK", "FIRST", undefined, undefined],
    ["none at all", [], "JFK", "ECONOMY", undefined, undefined],
    [
      "a wide one of the tier beats a narrow one of another",
      [candidate("first", { context: { airport: "JFK" }, tiers: ["FIRST"] }), everywhere],
      "JFK",
      "ECONOMY",
      "global",
      "global by tier",
    ],
    [
      "of two alike the later",
      [candidate("old", {}), candidate("new", { tiers: ["ECONOMY", "CREW"] }, secondsLater(1))],
      "JFK",
      "ECONOMY",
      "new",
      "global by tier",
    ],
    [
      "however late a wider one is",
      [candidate("new", {}, secondsLater(9)), airport],
      "JFK",
      "ECONOMY",
      "airport",
      "airport+tier",
    ],
  ];
  for (const [what, candidates, where, tier, policyId, matchedBy] of table) {
    for (const order of [candidates, [...candidates].reverse()]) {
      const match = matchPolicy(order, where, tier);
      t.equal(match?.candidate.policyId, policyId, what);
      t.equal(match?.matchedBy, matchedBy, what);
    }
  }
});

t.test("weights sum to one", async (t) => {
  const third = 1 / 3;
  const table: [string, Partial<PolicyBody>, [number, number, number]][] = [
    ["the contract's defaults", {}, [0.6, 0.25, 0.15]],
    ["given", { allocationWeights: { cost: 0.5, distance: 0.5, consolidation: 0 } }, [0.5, 0.5, 0]],
    ["scaled", { allocationWeights: { cost: 1, distance: 1, consolidation: 1 } }, [third, third, third]],
    ["one alone, beside the others' defaults", { allocationWeights: { cost: 0.1 } }, [0.2, 0.5, 0.3]],
    ["consolidation replaced", { consolidationWeight: 0.65 }, [0.4, 0.25 / 1.5, 0.65 / 1.5]],
    [
      "replaced in given ones",
      { allocationWeights: { cost: 1, distance: 0, consolidation: 1 }, consolidationWeight: 0 },
      [1, 0, 0],
    ],
    [
      "all nought means nothing",
      { allocationWeights: { cost: 0, distance: 0, consolidation: 0 } },
      [0.6, 0.25, 0.15],
    ],
  ];
  for (const [what, text, [cost, distance, consolidation]] of table) {
    const found = weightsOf(body(text));
    const near = (a: number, b: number) => Math.abs(a - b) < 1e-9;
    t.ok(
      near(found.cost, cost) && near(found.distance, distance) && near(found.consolidation, consolidation),
      what,
    );
  }
  const share = fc.double({ min: 0, max: 1, noNaN: true });
  fc.assert(
    fc.property(
      share,
      share,
      share,
      fc.option(share, { nil: undefined }),
      (cost, distance, consolidation, consolidationWeight) => {
        const found = weightsOf(
          body({
            allocationWeights: { cost, distance, consolidation },
            ...(consolidationWeight === undefined ? {} : { consolidationWeight }),
          }),
        );
        const all = Object.values(found);
        return (
          all.every((weight) => weight >= 0) &&
          Math.abs(all.reduce((sum, weight) => sum + weight, 0) - 1) < 1e-9
        );
      },
    ),
  );
});

t.test("what a policy leaves out", async (t) => {
  const bare = resolvePolicy(candidate("p", {}), "USD", "USD");
  // In all other members the fixture is what the contract gives by default.
  t.strictSame(
    bare,
    policy({
      policyId: "p",
      version: 1,
      name: "Any",
      autoApproveDemand: false,
      maxAutomaticRoomsPerWave: 0,
    }),
  );
  const said: Partial<PolicyBody> = {
    constraints: {
      minStars: 4,
      maxDistanceKm: 20,
      requiredAmenities: ["WIFI"],
      acceptedPayments: ["CARD"],
      allowProviders: ["direct"],
    },
    buffers: { lateCheckoutMinutes: 60 },
    mode: "BATCH",
    batchIntervalMinutes: 30,
    autoApproveDemand: true,
    maxAutomaticRoomsPerWave: 40,
    autoBook: false,
    maxOccupancy: 3,
    transport: { mode: "PRIVATE_CAR", perTier: { FIRST: "PRIVATE_CAR" } },
  };
  t.match(resolvePolicy(candidate("p", said), "USD", "USD"), {
    minStars: 4,
    maxDistanceKm: 20,
    requiredAmenities: ["WIFI"],
    acceptedPayments: ["CARD"],
    allowProviders: ["direct"],
    lateCheckoutMinutes: 60,
    earlyCheckInMinutes: 0,
    mode: "BATCH",
    batchIntervalMinutes: 30,
    maxAutomaticRoomsPerWave: 40,
    autoBook: false,
    maxOccupancy: 3,
    transport: { mode: "PRIVATE_CAR", perTier: { FIRST: "PRIVATE_CAR" }, shuttleCapacity: 24 },
  });
});

t.test("the nightly limit, in the currency of the place", async (t) => {
  const table: [number, string, string, number][] = [
    [129.5, "EUR", "EUR", 12_950],
    [100, "EUR", "USD", 11_500],
    [115, "USD", "EUR", 10_000],
    [100, "EUR", "JPY", 17_600],
    [17_600, "JPY", "EUR", 10_000],
    [0.07, "USD", "USD", 7],
  ];
  for (const [maxNightlyRate, from, to, amountMinor] of table) {
    const { maxNightlyRate: limit } = resolvePolicy(
      candidate("p", { constraints: { maxNightlyRate } }),
      from,
      to,
    );
    t.strictSame(limit, { amountMinor, currency: to }, `${maxNightlyRate} ${from} in ${to}`);
  }
  t.strictSame(
    resolvePolicy(candidate("p", { constraints: { maxNightlyRate: 9 } }), "XYZ", "XYZ").maxNightlyRate,
    { amountMinor: 900, currency: "XYZ" },
    "no rate is needed at home",
  );
  for (const [from, to] of [
    ["EUR", "XYZ"],
    ["XYZ", "EUR"],
    ["XYZ", "QQQ"],
  ] as const)
    t.strictSame(
      resolvePolicy(candidate("p", { constraints: { maxNightlyRate: 9 } }), from, to).maxNightlyRate,
      { amountMinor: 900, currency: from },
      `without a rate from ${from} to ${to} the limit stays in its own currency`,
    );
});

t.test("contexts", async (t) => {
  const key = (context: PolicyBody["context"], ...tiers: Tier[]) => contextKeyOf({ context, tiers });
  t.equal(key({}, "FIRST", "ECONOMY"), key({}, "ECONOMY", "FIRST"), "the order of tiers says nothing");
  t.equal(
    key({ airline: "urn:stopover:airline:XN" }, "ECONOMY"),
    key({ airline: xn }, "ECONOMY"),
    "nor does the written form of the airline's URN",
  );
  const different = [
    key({}, "ECONOMY"),
    key({}, "ECONOMY", "FIRST"),
    key({ airport: "JFK" }, "ECONOMY"),
    key({ airline: xn }, "ECONOMY"),
    key({ airport: "JFK", airline: xn }, "ECONOMY"),
    key({ airport: "LAX" }, "ECONOMY"),
  ];
  t.equal(new Set(different).size, different.length);
});

t.test("a policy is written once", async (t) => {
  const given = givenOf(t, { decide: decidePolicy, evolve: evolvePolicy });
  const create = (more: Partial<PolicyBody>, airport?: string) =>
    received("policy.create", body(more), {
      principal: airport === undefined ? supervisor : { ...supervisor, airport },
    });
  const text = { context: { airport: "JFK" }, tiers: ["FIRST", "ECONOMY"] as Tier[] };
  given()
    .when(create(text))
    .then({
      type: "policy.created",
      data: { contextKey: "JFK|*|ECONOMY+FIRST", createdBy: supervisor.urn, createdAt: evening },
    });
  given({ type: "policy.created", data: stateOf(body()) })
    .when(create(text))
    .nothing();
  given()
    .when(create({ context: { airport: "QQQ" } }))
    .refused("validation/body");
  given().when(create(text, "LAX")).refused("auth/foreign-airport");
  given().when(create({}, "JFK")).refused("auth/foreign-airport");
  given().when(create(text, "JFK")).then({ type: "policy.created" });
  t.match(policyView("XN-P", stateOf(body(text)), 4, "DRAFT"), {
    urn: "urn:policy:XN-P",
    status: "DRAFT",
    version: 4,
    name: "Any",
  });
});

const created: PolicyEvent = { type: "policy.created", data: stateOf(body()) };
const fixed: PolicyEvent = { type: "policy.context-fixed", data: { at: evening } };

t.test("a patch is merged, and counts also when it says what stands", async (t) => {
  const given = givenOf(t, { decide: decidePolicy, evolve: evolvePolicy });
  const patch = (change: object, more: object = {}) =>
    received("policy.patch", change, { principal: { ...supervisor, ...more } });
  const before = body({
    constraints: { minStars: 3, maxDistanceKm: 10 },
    transport: { mode: "SHUTTLE", perTier: { FIRST: "PRIVATE_CAR" } },
  });
  const merged: [string, object, Partial<PolicyBody>][] = [
    ["one member", { constraints: { minStars: 4 } }, { constraints: { minStars: 4, maxDistanceKm: 10 } }],
    ["null takes away", { constraints: { minStars: null } }, { constraints: { maxDistanceKm: 10 } }],
    ["arrays are replaced", { tiers: ["CREW"] }, { tiers: ["CREW"] }],
    [
      "maps are merged",
      { transport: { perTier: { CREW: "SHUTTLE" } } },
      { transport: { mode: "SHUTTLE", perTier: { FIRST: "PRIVATE_CAR", CREW: "SHUTTLE" } } },
    ],
    ["what is said beside it", { name: "New", version: 3, fencingToken: 1, reason: "Snow" }, { name: "New" }],
    ["nothing", {}, {}],
  ];
  for (const [what, change, expected] of merged) {
    const [event] = decidePolicy(stateOf(before), patch(change));
    t.strictSame(event?.type === "policy.patched" && event.data.body, { ...before, ...expected }, what);
  }
  const [bare] = decidePolicy(stateOf(before), patch({ constraints: null }));
  t.notOk(bare?.type === "policy.patched" && "constraints" in bare.data.body, "an object at once");
  const unwhole = [{ transport: { mode: null } }, { tiers: [] }, { constraints: { maxDistanceKm: -1 } }];
  for (const change of [...unwhole, { allocationWeights: { cost: 2 } }, { context: { airport: "QQQ" } }])
    given(created).when(patch(change)).refused("validation/body");
  given()
    .when(patch({ name: "New" }))
    .refused("not-found/resource");
  given(created)
    .when(patch({ name: "New" }, { airport: "JFK" }))
    .refused("auth/foreign-airport");
  const moved = patch({ context: { airport: "JFK" } });
  given(created).when(moved).leads({ contextKey: "JFK|*|ECONOMY" });
  given(created, fixed).when(moved).refused("conflict/state", { state: "CONTEXT_FIXED" });
  given(created, fixed)
    .when(patch({ name: "New" }))
    .then({ type: "policy.patched" });
  const fix = received("policy.activate", {}, { principal: supervisor });
  given(created)
    .when(fix)
    .then({ type: "policy.context-fixed", data: { at: evening } });
  given(created, fixed).when(fix).nothing();
});

t.test("one policy of a context is in force", async (t) => {
  const rules = { decide: decideContext, evolve: evolveContext };
  const given = givenOf(t, rules);
  const activate = received("policy.activate", {}, { principal: supervisor });
  const deactivate = received("policy.deactivate", {}, { principal: supervisor });
  const spoken = (policyId: string): Spoken => ({
    named: { policyId, version: 2, policy: stateOf(body({ context: { airport: "JFK" } })) },
    standing: undefined,
  });
  const past = (...ids: string[]) =>
    eventsOf<ContextState, ContextEvent>(
      rules,
      [],
      ...ids.map((id) => [activate, spoken(id)] as [typeof activate, Spoken]),
    );
  given()
    .when(activate, spoken("A"))
    .then({
      type: "policy.activated",
      data: { policyId: "A", airport: "JFK", tiers: ["ECONOMY"], at: evening, from: "DRAFT" },
    })
    .leads({ activePolicyId: "A", archived: [], activatedAt: evening });
  given(...past("A"))
    .when(activate, spoken("A"))
    .refused("conflict/state", { state: "ACTIVE", version: 2 });
  given(...past("A"))
    .when(activate, spoken("B"))
    .then({ type: "policy.activated", data: { from: "DRAFT", replaced: "A" } })
    .leads({ activePolicyId: "B", archived: ["A"] });
  given(...past("A", "B"))
    .when(activate, spoken("A"))
    .then({ type: "policy.activated", data: { from: "ARCHIVED", replaced: "B" } })
    .leads({ activePolicyId: "A", archived: ["B"] });
  given(...past("A", "B", "A", "B"))
    .when(activate, spoken("C"))
    .leads({ archived: ["A", "B"] });
  given().when(activate, { named: undefined, standing: undefined }).refused("not-found/resource");
  given()
    .when({ ...activate, principal: { ...supervisor, airport: "LAX" } }, spoken("A"))
    .refused("auth/foreign-airport");
  given(...past("A", "B"))
    .when(deactivate, spoken("B"))
    .leads({ activePolicyId: undefined, archived: ["A", "B"] });
  const off = [...past("A"), { type: "policy.deactivated" as const, data: { policyId: "A" } }];
  given(...off)
    .when(deactivate, spoken("A"))
    .refused("conflict/state", { state: "ARCHIVED" });
  given(...off)
    .when(activate, spoken("A"))
    .then({ type: "policy.activated", data: { from: "ARCHIVED" } })
    .leads({ activePolicyId: "A", archived: [] });
  given().when(deactivate, spoken("A")).refused("conflict/state", { state: "DRAFT" });
  t.equal(statusIn(undefined, "A"), "DRAFT");
});

t.test("the preview says why each policy applies or doesn't", async (t) => {
  const all = [
    candidate("elsewhere", { name: "Elsewhere", context: { airport: "LAX" } }),
    candidate("first", { name: "Up front", tiers: ["FIRST"] }),
    candidate("old", { name: "Old", context: { airport: "JFK" } }),
    candidate("new", { name: "New", context: { airport: "JFK" } }, secondsLater(1)),
    candidate("wide", { name: "Wide" }, secondsLater(9)),
  ];
  const verdicts = (tier: Tier) =>
    verdictsOn(all, "JFK", tier).map(({ name, verdict }) => `${name} ${verdict}`);
  const others = "Elsewhere OTHER_AIRPORT, Old ACTIVATED_EARLIER, Up front OTHER_TIER, Wide WIDER_CONTEXT";
  t.equal(verdicts("ECONOMY").join(", "), `New APPLIES, ${others}`);
  t.notOk(verdicts("CREW").some((told) => told.includes("APPLIES")));
  const [first, , , , last] = verdictsOn(all, "JFK", "ECONOMY");
  t.match(first, { policyUrn: "urn:policy:new", version: 1, kind: "airport+tier", detail: /first match/ });
  t.equal(last?.detail, "airport+tier comes before it: New.");
});
