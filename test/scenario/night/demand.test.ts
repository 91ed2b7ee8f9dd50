// Rooms are asked for and decided before anybody searches, under the policy that matches, and a wave says why each hotel was
// taken or left; told by what supervisors see, and by how often the vendors were asked.
import t from "tap";
import type { AuditEntryView } from "../../../schemas/audit.ts";
import type { CaseView } from "../../../schemas/case.ts";
import type { Page } from "../../../schemas/command.ts";
import type { DemandSummary, DemandView, PendingApproval } from "../../../schemas/demand.ts";
import type { PolicyBody, PolicyView } from "../../../schemas/policy.ts";
import type { WaveView } from "../../../schemas/wave.ts";
import { startClients } from "../../harness/clients.ts";
import { smallFlight } from "../../harness/instance.ts";

const night = await startClients(t);
const [xn] = night.airlines;
const { events } = night;
const [admin, supervisor, agent] = await Promise.all(
  ["ADMIN", "OPS_SUPERVISOR", "AIRPORT_OPERATOR"].map((role) => night.operatorToken(xn.urn, role)),
);

const created = async (policy: Partial<PolicyBody>): Promise<PolicyView> => {
  const body = { name: "A policy", context: {}, tiers: ["ECONOMY"], ...policy };
  return (await night.call<PolicyView>("createPolicy", { token: supervisor, body })).body;
};
const activate = (policyUrn: string) =>
  night.call<PolicyView>("activatePolicy", { token: admin, params: { policyUrn } });
const inForce = async (policy: Partial<PolicyBody>): Promise<PolicyView> => {
  const { urn } = await created(policy);
  return (await activate(urn)).body;
};

const pushAt = async (airport: string, name: string, bookings: number): Promise<string> => {
  const body = smallFlight("XN", name, bookings);
  const flight = { ...body.flight, originAirport: airport };
  return (await night.pushed(xn, { ...body, flight })).body.caseUrn;
};
const planned = async (caseUrn: string): Promise<string> => {
  const [event] = await events.untilCount("demand.requested", 1, { caseUrn });
  return `urn:demand:${event?.data.demandId}`;
};
const decide = (verb: "approve" | "reject", demandUrn: string, reason = "Agreed with the duty manager") =>
  night.call<DemandView>(`${verb}Demand`, { token: supervisor, params: { demandUrn }, body: { reason } });
const ask = (caseUrn: string, type: string, roomsRequested: number) =>
  night.call<DemandView>("requestDemand", {
    token: agent,
    params: { caseUrn },
    body: { type, roomsRequested },
  });
const summary = async (caseUrn: string): Promise<DemandSummary> =>
  (await night.call<DemandSummary>("getDemandSummary", { token: agent, params: { caseUrn } })).body;
const detail = async (caseUrn: string): Promise<CaseView> =>
  (await night.call<CaseView>("getCase", { token: agent, params: { caseUrn } })).body;
const pending = async (): Promise<string[]> => {
  const list = await night.call<Page<PendingApproval>>("listPendingApprovals", { token: supervisor });
  return list.body.items.map(({ urn }) => urn);
};
const trailOf = (
  routeId: string,
  params: Record<string, string>,
  isWhole: (entries: AuditEntryView[]) => boolean,
): Promise<AuditEntryView[]> =>
  night.eventually(
    "the audit trail",
    async () => (await night.call<Page<AuditEntryView>>(routeId, { token: supervisor, params })).body.items,
    isWhole,
  );
const searches = async (): Promise<number> => {
  const ledgers = await Promise.all(["stayhub", "roomlink"].map((name) => night.ledger(name)));
  return ledgers.reduce((sum, { counts }) => sum + (counts.searched ?? 0), 0);
};
const waveOf = async (caseUrn: string): Promise<WaveView> => {
  const { wave } = await detail(caseUrn);
  const params = { waveUrn: wave?.urn ?? "" };
  return (await night.call<WaveView>("getWave", { token: agent, params })).body;
};

await inForce({
  name: "Two rooms without asking",
  context: { airport: "LHR" },
  autoApproveDemand: true,
  maxAutomaticRoomsPerWave: 2,
  incrementalRequiresApproval: true,
});

t.test("above the threshold a supervisor decides, and nobody searches before", async (t) => {
  const before = await searches();
  const caseUrn = await pushAt("LHR", "decide", 5);
  const demandUrn = await planned(caseUrn);
  t.same(await pending(), [demandUrn]);
  for (const [id, call] of [
    ["allocateCase", { params: { caseUrn }, body: {} }],
    ["allocate", { body: { caseUrn } }],
  ] as const) {
    const problem = await night.refused(id, { token: supervisor, ...call });
    t.match(problem, { status: 409, type: /conflict\/demand-not-approved$/, state: "REQUESTED" });
  }
  t.match(await summary(caseUrn), { totalRequested: 5, totalApproved: 0, totalAllocated: 0, shortfall: 0 });
  const refusals = [
    [{ token: agent, body: { reason: "me" } }, 403],
    [{ token: supervisor, body: {} }, 422],
    [{ token: supervisor, body: { reason: "" } }, 422],
  ] as const;
  for (const [call, status] of refusals) {
    const problem = await night.refused("approveDemand", { ...call, params: { demandUrn } });
    t.equal(problem.status, status);
  }
  t.equal(await searches(), before, "no vendor was asked");
  await night.control({ stayhub: { latencyMs: 1500 } });
  const { body: approved } = await decide("approve", demandUrn);
  t.match(approved, {
    state: "APPROVED",
    reason: "Agreed with the duty manager",
    decidedBy: /^urn:user:/,
    policyVersion: 1,
  });
  const running = await waveOf(caseUrn);
  t.match(running, { status: "RUNNING", caseUrn, demandUrn, allocations: [] });
  t.equal(
    (await night.refused("allocateCase", { token: supervisor, params: { caseUrn }, body: {} })).status,
    409,
  );
  await events.untilCount("subcase.offer-ready", 5, { caseUrn });
  await night.control({ stayhub: { latencyMs: 50 } });
  t.equal((await waveOf(caseUrn)).status, "COMPLETED");
  t.equal(await searches(), before + 2, "each hotel vendor once");
  t.same(await pending(), []);
  t.match(await summary(caseUrn), {
    totalRequested: 5,
    totalApproved: 5,
    totalAllocated: 5,
    totalBooked: 5,
    shortfall: 0,
    shortfallReasons: [],
  });
  const [settled] = await events.untilCount("demand.settled", 1, { caseUrn });
  t.equal(settled?.data.state, "FULFILLED");
  for (const verb of ["approve", "reject"] as const) {
    const params = { demandUrn };
    const problem = await night.refused(`${verb}Demand`, {
      token: supervisor,
      params,
      body: { reason: "x" },
    });
    t.match(problem, { status: 409, state: "FULFILLED" });
  }
  const trail = await trailOf("getCaseAudit", { caseUrn }, (entries) =>
    entries.some(({ action }) => action === "case.approve-demand"),
  );
  const entry = trail.find(({ action }) => action === "case.approve-demand");
  t.match(entry, {
    actor: approved.decidedBy,
    reason: "Agreed with the duty manager",
    after: { demands: [{ policyVersion: 1, state: "APPROVED" }] },
  });
  const second = await night.refused("requestDemand", {
    token: agent,
    params: { caseUrn },
    body: { type: "INITIAL", roomsRequested: 1 },
  });
  t.match(second, { status: 409, state: "FULFILLED" });
  const allocated = (await detail(caseUrn)).wave;
  const { body: more } = await ask(caseUrn, "INCREMENTAL", 1);
  t.equal(more.state, "REQUESTED", "within the threshold, but the policy wants incremental demand approved");
  t.equal((await decide("approve", more.urn)).body.state, "APPROVED");
  t.same(
    (await detail(caseUrn)).wave,
    allocated,
    "nobody waits: nothing is searched and nothing overwritten",
  );
  t.match(await summary(caseUrn), { totalRequested: 6, totalApproved: 6, totalBooked: 5, shortfall: 1 });
  t.equal(await searches(), before + 2);
});

t.test("rejected, asked again smaller, then the rest", async (t) => {
  const caseUrn = await pushAt("LHR", "smaller", 5);
  const first = await planned(caseUrn);
  t.match((await decide("reject", first, "Airport freeze")).body, {
    state: "REJECTED",
    reason: "Airport freeze",
  });
  const params = { caseUrn };
  t.match(await night.refused("allocateCase", { token: supervisor, params, body: {} }), {
    status: 409,
    state: "REJECTED",
  });
  t.match(await summary(caseUrn), { totalRequested: 0, totalApproved: 0 });
  t.equal((await ask(caseUrn, "INITIAL", 2)).body.state, "APPROVED", "two rooms need nobody");
  await events.untilCount("subcase.offer-ready", 2, { caseUrn });
  await events.untilCount("demand.settled", 1, { caseUrn });
  t.match(await summary(caseUrn), { totalApproved: 2, totalAllocated: 2, totalBooked: 2, shortfall: 0 });
  t.equal((await detail(caseUrn)).passengerGroups.filter((g) => g.operationalStatus === "PENDING").length, 3);
  t.match(await night.refused("allocateCase", { token: supervisor, params, body: {} }), {
    status: 409,
    state: "FULFILLED",
  });
  const { body: rest } = await ask(caseUrn, "INCREMENTAL", 3);
  await decide("approve", rest.urn);
  await events.untilCount("subcase.offer-ready", 5, { caseUrn });
  await events.untilCount("demand.settled", 2, { caseUrn });
  const seen = await detail(caseUrn);
  t.equal(seen.wave?.allocations.length, 5, "what both waves assigned");
  t.equal(seen.reservations.length, 5);
  t.match(await summary(caseUrn), { totalRequested: 5, totalApproved: 5, totalBooked: 5, shortfall: 0 });
});

t.test("fifty supervisors at once: one decides", async (t) => {
  const older = await planned(await pushAt("LHR", "older", 3));
  const caseUrn = await pushAt("LHR", "fifty", 4);
  const demandUrn = await planned(caseUrn);
  t.same(await pending(), [older, demandUrn], "the oldest first");
  const stale = { token: supervisor, params: { demandUrn: older }, body: { reason: "x", version: 1 } };
  t.match(await night.refused("approveDemand", stale), {
    status: 409,
    type: /conflict\/version$/,
    version: 3,
  });
  await decide("reject", older);
  const told = await Promise.all(
    Array.from({ length: 50 }, (_, i) => decide(i % 5 === 4 ? "reject" : "approve", demandUrn, `No. ${i}`)),
  );
  const won = told.filter(({ status }) => status === 200);
  t.equal(won.length, 1);
  const winner = won[0]?.body.state;
  const lost = told.filter(({ status }) => status === 409).map(({ body }) => body.state);
  t.equal(lost.length, 49);
  t.ok(lost.every((state) => state === winner || state === "FULFILLED"));
  if (winner === "APPROVED") await events.untilCount("subcase.offer-ready", 4, { caseUrn });
});

t.test("a policy is a draft until it is activated; the nearest context wins", async (t) => {
  const resolve = async () => {
    const query = { airport: "CDG", tier: "FIRST" };
    const told = await night.call<{ matchedBy: string; policy: PolicyView }>("resolvePolicy", {
      token: agent,
      query,
    });
    return told.status === 404 ? undefined : told.body;
  };
  const contexts: [PolicyBody["context"], string][] = [
    [{}, "global by tier"],
    [{ airline: xn.urn }, "airline+tier"],
    [{ airport: "CDG" }, "airport+tier"],
    [{ airport: "CDG", airline: xn.urn }, "airport+airline+tier"],
  ];
  t.equal(await resolve(), undefined);
  for (const [context, matchedBy] of contexts) {
    const before = await resolve();
    const draft = await created({ context, tiers: ["FIRST"], name: matchedBy });
    t.match(draft, { status: "DRAFT", version: 1 });
    t.same(await resolve(), before, "a draft has no effect");
    t.match((await activate(draft.urn)).body, { status: "ACTIVE", createdAt: draft.createdAt });
    t.match(await resolve(), {
      matchedBy,
      policy: { urn: draft.urn, status: "ACTIVE", createdAt: draft.createdAt },
    });
  }
  const elsewhere = await night.call<{ matchedBy: string }>("resolvePolicy", {
    token: agent,
    query: { airport: "MAD", tier: "FIRST" },
  });
  t.equal(elsewhere.body.matchedBy, "airline+tier");
});

t.test("activation replaces in one move, also when many are activated at once", async (t) => {
  const active = async () =>
    (
      await night.call<Page<PolicyView>>("listActivePolicies", { token: agent, query: { limit: 200 } })
    ).body.items
      .filter(({ context }) => context.airport === "FRA")
      .map(({ urn }) => urn);
  const context = { airport: "FRA" };
  const old = await inForce({ context, tiers: ["BUSINESS", "FIRST"] });
  t.same(await active(), [old.urn]);
  const drafts = await Promise.all(
    Array.from({ length: 50 }, () => created({ context, tiers: ["FIRST", "BUSINESS"] })),
  );
  const told = await Promise.all(drafts.map(({ urn }) => activate(urn)));
  t.same([...new Set(told.map(({ status }) => status))], [200]);
  const [winner, ...others] = await active();
  t.equal(others.length, 0);
  t.ok(drafts.some(({ urn }) => urn === winner));
  t.equal((await activate(old.urn)).body.status, "ACTIVE", "the way back");
  t.same(await active(), [old.urn]);
  t.equal((await activate(old.urn)).status, 409, "it is in force");
  const trail = await trailOf("getEntityAudit", { entityUrn: old.urn }, (entries) => entries.length >= 4);
  t.match(trail, [
    { action: "policy.activate", before: { status: "ARCHIVED" }, after: { status: "ACTIVE", context } },
    { action: "policy.archive", before: { status: "ACTIVE" }, after: { status: "ARCHIVED" } },
    { action: "policy.activate", before: { status: "DRAFT" }, after: { status: "ACTIVE" } },
  ]);
  const refusals = [
    ["createPolicy", { token: agent, body: {} }, 403],
    [
      "createPolicy",
      { token: supervisor, body: { name: "x", context: { airport: "QQQ" }, tiers: ["CREW"] } },
      422,
    ],
    ["createPolicy", { token: supervisor, body: { name: "x", context: {}, tiers: [] } }, 422],
    [
      "createPolicy",
      { token: supervisor, body: { name: "x", context: { airline: "urn:airline:QZ" }, tiers: ["CREW"] } },
      403,
    ],
    ["activatePolicy", { token: supervisor, params: { policyUrn: old.urn } }, 403],
    [
      "activatePolicy",
      { token: admin, params: { policyUrn: "urn:policy:XN-01JD0000000000000000000000" } },
      404,
    ],
    ["resolvePolicy", { token: agent, query: { airport: "CDG" } }, 400],
  ] as const;
  for (const [id, call, status] of refusals) t.equal((await night.refused(id, call)).status, status, id);
});

type Candidate = WaveView["rankingInputs"][number]["candidate"];

/** As far as a candidate shows. */
const passes = (
  { stars, distanceKm, nightlyRateMinor, vendor }: Candidate,
  { minStars, maxDistanceKm, maxNightlyRate, allowProviders }: NonNullable<PolicyBody["constraints"]>,
): boolean =>
  (minStars === undefined || (stars ?? 0) >= minStars) &&
  (maxDistanceKm === undefined || distanceKm <= maxDistanceKm) &&
  (maxNightlyRate === undefined || nightlyRateMinor <= maxNightlyRate * 100) &&
  (allowProviders === undefined || allowProviders.includes(vendor));

t.test("every constraint is a gate with a reason of its own", async (t) => {
  const gates: [airport: string, PolicyBody["constraints"], reasons: string[]][] = [
    ["MUC", { minStars: 3 }, ["BELOW_MIN_STARS", "UNRATED"]],
    ["AMS", { maxDistanceKm: 6 }, ["TOO_FAR"]],
    ["MAD", { maxNightlyRate: 90 }, ["RATE_TOO_HIGH"]],
    ["BCN", { requiredAmenities: ["AIRPORT_SHUTTLE", "24H_RECEPTION"] }, ["MISSING_AMENITY"]],
    ["ZRH", { excludedChains: ["parkway_lodge", "CASA_NORTE"] }, ["EXCLUDED_CHAIN"]],
    ["VIE", { acceptedPayments: ["CARD"] }, ["PAYMENT_NOT_ACCEPTED"]],
    ["CPH", { allowProviders: ["roomlink"] }, ["PROVIDER_NOT_ALLOWED"]],
  ];
  const waves = await Promise.all(
    gates.map(async ([airport, constraints]) => {
      await inForce({
        context: { airport },
        constraints,
        autoApproveDemand: true,
        maxAutomaticRoomsPerWave: 50,
      });
      const caseUrn = await pushAt(airport, `gate${airport}`, 3);
      await events.until(
        `${airport} is placed or held`,
        () =>
          events.of("subcase.offer-ready", caseUrn).length === 3 ||
          events.of("review.opened", caseUrn).length > 0,
      );
      return waveOf(caseUrn);
    }),
  );
  for (const [i, wave] of waves.entries()) {
    const [airport, constraints = {}, reasons] = gates[i] as (typeof gates)[number];
    const seen = new Set(wave.rankingInputs.map(({ reason }) => reason as string));
    for (const reason of reasons) t.ok(seen.has(reason), `${airport}: ${reason} among ${[...seen]}`);
    // Payment is a gate without any word in the policy: GUARANTEE alone is the contract's default.
    const gate = new Set([...reasons, "PAYMENT_NOT_ACCEPTED"]);
    const wrong = wave.rankingInputs.filter((input) => {
      const isGated = gate.has(input.reason);
      const told =
        input.detail.length > 10 && (input.outcome === "SELECTED") === (input.reason === "SELECTED");
      const scored = input.scores !== undefined && input.finalScore !== undefined;
      return !told || scored === isGated || (!isGated && !passes(input.candidate, constraints));
    });
    t.same(wrong, [], `${airport}: gated without a score, or within the constraints with one`);
    const rates = wave.rankingInputs
      .filter(({ outcome }) => outcome === "SELECTED")
      .map(({ candidate }) => `${candidate.hotelUrn} ${candidate.nightlyRateMinor}`);
    for (const { hotelUrn, totalMinor, rooms, nights } of wave.allocations)
      t.ok(
        rates.includes(`${hotelUrn} ${totalMinor / rooms / nights}`),
        "the price of a hotel that was taken",
      );
    t.equal(wave.allocations.length, 3);
    const total = wave.allocations.reduce((sum, { totalMinor }) => sum + totalMinor, 0);
    t.same(wave.totalCost, [{ currency: wave.allocations[0]?.currency, amountMinor: total }]);
  }
});

t.test("no hotel passes: held for a person, with the gate that kept them out", async (t) => {
  await inForce({
    context: { airport: "LIN" },
    constraints: { minStars: 5, maxNightlyRate: 20 },
    autoApproveDemand: true,
    maxAutomaticRoomsPerWave: 50,
  });
  const caseUrn = await pushAt("LIN", "nohotel", 2);
  await events.untilCount("review.opened", 1, { caseUrn });
  const seen = await detail(caseUrn);
  t.match(seen.manualReviewItems, [{ category: "ALLOCATION_FAILED", priority: "HIGH" }]);
  t.equal(seen.manualReviewItems[0]?.affectedGroups.length, 2);
  t.equal((await waveOf(caseUrn)).unplaced.length, 2);
  const told = await summary(caseUrn);
  t.match(told, { totalApproved: 2, totalAllocated: 0, totalBooked: 0, shortfall: 2 });
  t.match(told.shortfallReasons, [{ category: "ALLOCATION_FAILED", rooms: 2 }]);
});
