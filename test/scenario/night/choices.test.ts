// What supervisors change in the middle of a night: policies, an airport's freeze of demand, what is booked when, and who goes where;
// each also by fifty at once, of whom one wins.
import t from "tap";
import type { AuditEntryView } from "../../../schemas/audit.ts";
import type { BookingStarted, CaseView } from "../../../schemas/case.ts";
import type { Page } from "../../../schemas/command.ts";
import type { DemandFreezeView, DemandView } from "../../../schemas/demand.ts";
import type { PolicyBody, PolicyMatch, PolicyView } from "../../../schemas/policy.ts";
import type { WaveView } from "../../../schemas/wave.ts";
import { type Call, startClients, type ToldProblem } from "../../harness/clients.ts";
import { smallFlight } from "../../harness/instance.ts";
import { realHotels } from "./real-hotels.ts";

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
const activate = (policyUrn: string, body?: object) =>
  night.call<PolicyView & Partial<Omit<ToldProblem, "status">>>("activatePolicy", {
    token: admin,
    params: { policyUrn },
    body,
  });
const inForce = async (policy: Partial<PolicyBody>): Promise<PolicyView> =>
  (await activate((await created(policy)).urn)).body;
const patch = (policyUrn: string, body: object) =>
  night.call<PolicyView & Partial<Omit<ToldProblem, "status">>>("patchPolicy", {
    token: supervisor,
    params: { policyUrn },
    body,
  });
const pushAt = async (airport: string, name: string, bookings: number): Promise<string> => {
  const body = smallFlight("XN", name, bookings);
  const flight = { ...body.flight, originAirport: airport };
  return (await night.pushed(xn, { ...body, flight })).body.caseUrn;
};
const detail = async (caseUrn: string): Promise<CaseView> =>
  (await night.call<CaseView>("getCase", { token: agent, params: { caseUrn } })).body;
const wave = async (waveUrn: string): Promise<WaveView> =>
  (await night.call<WaveView>("getWave", { token: agent, params: { waveUrn } })).body;
const trailOf = async (entityUrn: string, count: number): Promise<AuditEntryView[]> =>
  night.eventually(
    "the audit trail",
    async () =>
      (await night.call<Page<AuditEntryView>>("getEntityAudit", { token: supervisor, params: { entityUrn } }))
        .body.items,
    (entries) => entries.length >= count,
  );

/** The same from fifty at once: one wins, and the others hear what stands. */
const fifty = async (routeId: string, call: (i: number) => Call) => {
  const told = await Promise.all(
    Array.from({ length: 50 }, (_, i) => night.call<ToldProblem & { version?: number }>(routeId, call(i))),
  );
  const won = told.filter(({ status }) => status < 300);
  const lost = told.filter(({ status }) => status === 409);
  t.equal(won.length, 1, `${routeId}: one wins`);
  t.equal(lost.length, 49, `${routeId}: the others hear that they have lost`);
  t.ok(
    lost.every(({ body }) => body.state !== undefined || body.version !== undefined),
    `${routeId}: and what stands`,
  );
  return won[0]?.body as unknown;
};

t.test("a policy is asked for in words, and is a draft until somebody puts it in force", async (t) => {
  const description =
    "Ejecutiva en ARN: mínimo 4 estrellas, a menos de 12,5 km, tarifa hasta 1.900 coronas, junto al mar; avisar a ana@xn.example";
  const key = { "Idempotency-Key": "a-night-in-words" };
  const call = { token: supervisor, body: { description }, headers: key };
  const told = await night.call<PolicyView>("generatePolicy", call);
  t.equal(told.status, 201);
  t.match(told.body, {
    status: "DRAFT",
    version: 1,
    context: { airport: "ARN" },
    tiers: ["BUSINESS"],
    constraints: { minStars: 4, maxDistanceKm: 12.5, maxNightlyRate: 1900 },
    provenance: { source: "ai", prompt: /junto al mar; avisar a \[masked\]/, reader: /^rules@/ },
    unclear: [{ text: "junto al" }, { text: "mar" }, { text: /avisar/ }],
  });
  t.ok((told.body.provenance?.confidence ?? 1) < 0.7, "some of it is open");
  const again = await night.call<PolicyView>("generatePolicy", call);
  t.equal(again.body.urn, told.body.urn, "the same key is the same draft");
  const params = { policyUrn: told.body.urn };
  const read = await night.call<PolicyView>("getPolicy", { token: agent, params });
  t.same(read.body, told.body, "read as it was told");
  const query = { airport: "ARN", tier: "BUSINESS" };
  t.equal((await night.refused("resolvePolicy", { token: agent, query })).status, 404, "it has no effect");
  const [entry] = await trailOf(told.body.urn, 1);
  t.match(entry, { action: "policy.synthesize", before: null, after: { tiers: ["BUSINESS"] } });
  t.notMatch(JSON.stringify([told.body, entry]), /ana@/, "nobody's address is kept");

  const settled = await patch(told.body.urn, { constraints: { maxNightlyRate: 1800 }, version: 1 });
  t.match(settled.body, { version: 2, status: "DRAFT", provenance: { source: "ai" } });
  t.match((await activate(told.body.urn)).body, { status: "ACTIVE", constraints: { maxNightlyRate: 1800 } });

  const caseUrn = await pushAt("ARN", "in-words", 1);
  const ofCase = { token: supervisor, body: { description: "at least 3 stars within 5 miles", caseUrn } };
  const forIt = await night.call<PolicyView>("synthesizePolicy", ofCase);
  t.match(forIt.body, {
    context: { airport: "ARN", airline: xn.urn },
    tiers: ["ECONOMY"],
    constraints: { minStars: 3, maxDistanceKm: 8.05 },
    provenance: { caseUrn },
    unclear: [],
  });
  const atMiami = await night.scopedToken(xn.urn, "OPS_SUPERVISOR", "MIA");
  const own = { token: atMiami, body: { description: "Crew, 3 stars" } };
  t.match((await night.call<PolicyView>("synthesizePolicy", own)).body, { context: { airport: "MIA" } });
  const refusals = [
    [{ ...ofCase, token: agent }, 403],
    [{ ...ofCase, token: atMiami }, 403],
    [{ token: atMiami, body: { description: "Crew at ARN, 3 stars" } }, 403],
    [{ token: supervisor, body: { description: "Good evening to you all" } }, 422],
    [{ token: supervisor, body: { description: "x".repeat(2001) } }, 422],
    [{ token: supervisor, body: { description: " " } }, 422],
    [
      {
        token: supervisor,
        body: { description: "3 stars", caseUrn: "urn:case:QZ-01JD0000000000000000000000" },
      },
      403,
    ],
    [
      {
        token: supervisor,
        body: { description: "3 stars", caseUrn: "urn:case:XN-01JD0000000000000000000000" },
      },
      404,
    ],
  ] as const;
  for (const [each, status] of refusals)
    t.equal((await night.refused("synthesizePolicy", each)).status, status, JSON.stringify(each.body));
});

t.test("a policy is patched, put out of force and back, and one of fifty wins", async (t) => {
  const draft = await created({
    context: { airport: "OSL" },
    constraints: { minStars: 3, maxDistanceKm: 9 },
  });
  const refusals = [
    ["patchPolicy", { token: agent, body: {} }, 403],
    ["patchPolicy", { token: supervisor, body: { constraints: { minStars: 7 } } }, 422],
    ["patchPolicy", { token: supervisor, body: { transport: { perTier: {} } } }, 422],
    ["patchPolicy", { token: supervisor, body: { tiers: null } }, 422],
    ["deactivatePolicy", { token: supervisor }, 403],
    ["deactivatePolicy", { token: admin }, 409],
  ] as const;
  for (const [id, call, status] of refusals)
    t.equal((await night.refused(id, { ...call, params: { policyUrn: draft.urn } })).status, status, id);
  const change = { constraints: { minStars: null }, mode: "BATCH", batchIntervalMinutes: 30, reason: "Snow" };
  const { body: patched } = await patch(draft.urn, { ...change, version: 1 });
  t.match(patched, { urn: draft.urn, status: "DRAFT", version: 2, mode: "BATCH", batchIntervalMinutes: 30 });
  t.same(patched.constraints, { maxDistanceKm: 9 });
  await fifty("patchPolicy", (i) => ({
    token: supervisor,
    params: { policyUrn: draft.urn },
    body: { name: `No. ${i}`, version: 2 },
  }));
  await fifty("activatePolicy", () => ({ token: admin, params: { policyUrn: draft.urn }, body: {} }));
  const read = await night.call<PolicyView>("getPolicy", { token: agent, params: { policyUrn: draft.urn } });
  t.match(read.body, { status: "ACTIVE", version: 3 });
  const moved = await patch(draft.urn, { context: { airport: "ARN" } });
  t.match(moved, { status: 409, body: { state: "CONTEXT_FIXED" } });
  t.match((await patch(draft.urn, { name: "Oslo" })).body, { status: "ACTIVE", version: 4, name: "Oslo" });
  const wide = await inForce({ tiers: ["ECONOMY", "CREW"], name: "Everywhere" });
  const resolve = (tier: string) =>
    night.call<PolicyMatch>("resolvePolicy", { token: agent, query: { airport: "OSL", tier } });
  const { body: match } = await resolve("ECONOMY");
  t.match(match, { matchedBy: "airport+tier", policy: { urn: draft.urn } });
  t.match(match.candidates[0], { policyUrn: draft.urn, verdict: "APPLIES" });
  const passedOver = match.candidates.find(({ policyUrn }) => policyUrn === wide.urn);
  t.match(passedOver, { verdict: "WIDER_CONTEXT", detail: /Oslo/ });
  t.match((await resolve("FIRST")).body, {
    status: 404,
    detail: /Oslo: It covers ECONOMY, not FIRST/,
  } as never);
  await fifty("deactivatePolicy", () => ({ token: admin, params: { policyUrn: draft.urn } }));
  t.equal((await resolve("ECONOMY")).body.policy.urn, wide.urn);
  t.match((await activate(draft.urn)).body, { status: "ACTIVE", version: 4 }, "the way back");
  const trail = await trailOf(draft.urn, 7);
  t.same(trail.map(({ action }) => action).reverse(), [
    "policy.create",
    "policy.patch",
    "policy.patch",
    "policy.activate",
    "policy.patch",
    "policy.deactivate",
    "policy.activate",
  ]);
  t.match(trail.at(-2), {
    reason: "Snow",
    before: { constraints: { minStars: 3 } },
    after: { constraints: { maxDistanceKm: 9 }, mode: "BATCH" },
  });
  await night.call("deactivatePolicy", { token: admin, params: { policyUrn: wide.urn } });
});

t.test("while an airport is frozen its demand is rejected, and somebody is told", async (t) => {
  await inForce({ context: { airport: "GVA" } });
  const pending = await pushAt("GVA", "pending", 2);
  await events.untilCount("demand.requested", 1, { caseUrn: pending });
  const reason = "The runways are closed.";
  const frozen = (await fifty("freezeDemand", () => ({
    token: supervisor,
    body: { airport: "GVA", reason },
  }))) as DemandFreezeView;
  t.match(frozen, { airport: "GVA", reason, status: "ACTIVE" });
  const [told] = await events.untilCount("demand.rejected", 1, { caseUrn: pending });
  t.match(told?.data, { reason, by: "urn:user:system-case" });
  const late = await pushAt("GVA", "late", 2);
  await events.untilCount("demand.rejected", 1, { caseUrn: late });
  for (const caseUrn of [pending, late]) {
    await events.untilCount("review.opened", 1, { caseUrn });
    const { manualReviewItems, passengerGroups } = await detail(caseUrn);
    t.match(manualReviewItems, [{ category: "ALLOCATION_FAILED" }]);
    t.equal(manualReviewItems[0]?.affectedGroups.length, passengerGroups.length, "every group has an owner");
  }
  const ask = (caseUrn: string) => ({
    token: supervisor,
    params: { caseUrn },
    body: { type: "INITIAL", roomsRequested: 2 },
  });
  const refused = await night.call<DemandView>("requestDemand", ask(late));
  t.match(refused.body, { state: "REJECTED", reason });
  const listed = await night.call<Page<DemandFreezeView>>("listDemandFreezes", { token: agent });
  t.same(
    listed.body.items.map(({ urn }) => urn),
    [frozen.urn],
  );
  const params = { freezeUrn: frozen.urn };
  t.equal((await night.refused("liftDemandFreeze", { token: agent, params })).status, 403);
  await fifty("liftDemandFreeze", () => ({ token: supervisor, params }));
  const again = await night.call<DemandView>("requestDemand", ask(late));
  t.equal(again.body.state, "REQUESTED");
  const approve = {
    token: supervisor,
    params: { demandUrn: again.body.urn },
    body: { reason: "Open again" },
  };
  t.match((await night.call<DemandView>("approveDemand", approve)).body, {
    state: "APPROVED",
    policyVersion: 1,
  });
  await events.untilCount("subcase.offer-ready", 2, { caseUrn: late });
  const trail = await trailOf(frozen.urn, 2);
  t.same(trail.map(({ action }) => action).sort(), ["case.freeze-demand", "case.lift-freeze"]);
});

t.test("allocated rooms wait to be booked, and a hotel is chosen over the wave's", async (t) => {
  const policy = await inForce({
    context: { airport: "VIE" },
    autoApproveDemand: true,
    maxAutomaticRoomsPerWave: 20,
    autoBook: false,
  });
  const caseUrn = await pushAt("VIE", "choices", 3);
  const { wave: first } = await night.eventually(
    "the wave",
    () => detail(caseUrn),
    (seen) => (seen.wave?.allocations.length ?? 0) === 3,
  );
  const [moving, ...others] = first?.allocations ?? [];
  const params = { waveUrn: first?.urn ?? "" };
  const booked = await night.eventually(
    "the booking",
    () =>
      night.sent("bookRooms", {
        token: supervisor,
        params: { caseUrn },
        body: { groupIds: [others[0]?.groupId] },
      }),
    ({ status }) => status === 202,
  );
  t.match(booked.body, {
    groups: [{ groupId: others[0]?.groupId, hotelUrn: others[0]?.hotelUrn }],
    partialFailures: [],
  });
  const rest = (await fifty("bookRooms", () => ({
    token: supervisor,
    params: { caseUrn },
    body: {},
  }))) as BookingStarted;
  t.equal(rest.groups.length, 2);
  await events.untilCount("subcase.offer-ready", 3, { caseUrn });
  const before = await detail(caseUrn);

  const seen = await wave(params.waveUrn);
  const other = seen.rankingInputs.find(
    ({ candidate }) => candidate.hotelUrn !== moving?.hotelUrn && candidate.roomsLeft > 3,
  );
  const chosen = {
    groupId: moving?.groupId ?? "",
    hotelUrn: other?.candidate.hotelUrn ?? "",
    reason: "Near her",
  };
  const wrong = [
    [{ token: agent, body: chosen }, 403],
    [{ token: supervisor, body: { ...chosen, groupId: "nobody" } }, 422],
    [{ token: supervisor, body: { ...chosen, hotelUrn: "urn:hotel:nowhere" } }, 422],
    [{ token: supervisor, body: { ...chosen, hotelUrn: moving?.hotelUrn } }, 409],
  ] as const;
  for (const [call, status] of wrong)
    t.equal((await night.refused("overrideWave", { ...call, params })).status, status);
  await fifty("overrideWave", () => ({ token: supervisor, params, body: chosen }));
  await events.untilCount("voucher.amended", 1, { caseUrn });
  const after = await detail(caseUrn);
  const reservationOf = (view: CaseView, groupId: string | undefined) =>
    view.reservations.find((reservation) => reservation.groupId === groupId);
  t.match(reservationOf(after, moving?.groupId), { status: "CONFIRMED", hotelUrn: chosen.hotelUrn });
  for (const { groupId } of others)
    t.same(reservationOf(after, groupId), reservationOf(before, groupId), "other groups are not touched");
  const overridden = await night.eventually(
    "the override",
    () => wave(params.waveUrn),
    ({ overrides }) => overrides?.[0]?.state === "DONE",
  );
  t.match(
    overridden.allocations.find(({ groupId }) => groupId === moving?.groupId),
    {
      hotelUrn: chosen.hotelUrn,
      reason: "Override: Near her",
    },
  );
  const hotels = await Promise.all(["stayhub", "roomlink"].map((name) => night.ledger(name)));
  const sum = (name: string) => hotels.reduce((all, { counts }) => all + (counts[name] ?? 0), 0);
  t.equal(sum("cancelled"), 1, "the former room is given back");
  const [entry] = await trailOf(params.waveUrn, 1);
  t.match(entry, {
    action: "wave.override",
    reason: "Near her",
    before: { hotelUrn: moving?.hotelUrn },
    after: { hotelUrn: chosen.hotelUrn },
  });

  await patch(policy.urn, { autoBook: true, constraints: { minStars: 1 } });
  const rerun = (await fifty("rerunWave", () => ({
    token: supervisor,
    params,
    body: { reason: "Later" },
  }))) as {
    waveUrn: string;
  };
  const second = await night.eventually(
    "the second wave",
    () => wave(rerun.waveUrn),
    ({ status }) => status === "COMPLETED",
  );
  t.match(second, { caseUrn, allocations: [], policies: [{ policyUrn: policy.urn, version: 2 }] });
  t.equal((await wave(params.waveUrn)).allocations.length, 3, "the old one stays readable");
  t.same((await detail(caseUrn)).reservations, after.reservations, "who has a room keeps it");
  const stale = await night.refused("rerunWave", { token: supervisor, params, body: {} });
  t.match(stale, { status: 409, state: "SUPERSEDED" });

  // Its hotel is too far for the policy by now, and somebody asks for this group.
  const [asked] = others;
  const distanceOf = (hotelUrn: string | undefined) =>
    seen.rankingInputs.find(({ candidate }) => candidate.hotelUrn === hotelUrn)?.candidate.distanceKm ?? 0;
  const maxDistanceKm = distanceOf(asked?.hotelUrn) - 0.01;
  await patch(policy.urn, { constraints: { maxDistanceKm } });
  const again = await night.call<{ waveUrn: string }>("rerunWave", {
    token: supervisor,
    params: { waveUrn: rerun.waveUrn },
    body: { groupIds: [asked?.groupId] },
  });
  await events.untilCount("voucher.amended", 2, { caseUrn });
  const nearer = (await wave(again.body.waveUrn)).allocations;
  t.match(nearer, [{ groupId: asked?.groupId }]);
  t.ok(distanceOf(nearer[0]?.hotelUrn) < maxDistanceKm);
  const end = await detail(caseUrn);
  t.match(reservationOf(end, asked?.groupId), { status: "CONFIRMED", hotelUrn: nearer[0]?.hotelUrn });
  t.same(reservationOf(end, others[1]?.groupId), reservationOf(before, others[1]?.groupId));

  const body = { reason: "All are in bed" };
  await fifty("closeCase", () => ({ token: agent, params: { caseUrn }, body }));
  await fifty("reopenCase", () => ({ token: admin, params: { caseUrn }, body }));
});

// The last one: from here on the airline has two hotel vendors more.
t.test("hotels of real vendors' dialects", (t) => realHotels(t, night));
