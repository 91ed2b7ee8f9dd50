// What lies on the review desk in a night, worked through HTTP: claimed by one of fifty, booked, relaxed, split, overridden, given
// to somebody and escalated; carried out although the service died in between (in the soak).
import type { Test } from "tap";
import type { CaseView } from "../../schemas/case.ts";
import type { Page } from "../../schemas/command.ts";
import type { PolicyView } from "../../schemas/policy.ts";
import type { ReviewItemView } from "../../schemas/review.ts";
import type { WaveView } from "../../schemas/wave.ts";
import { isFullSize } from "../harness/environment.ts";
import { type ReviewNight, reason, traveller } from "./review-night.ts";

/** What the policy refuses a hotel for. */
const gates = new Set<string>(["BELOW_MIN_STARS", "UNRATED", "TOO_FAR", "RATE_TOO_HIGH", "MISSING_AMENITY"]);
/** Candidates that have rooms, by what the wave said of them. */
const candidates = ({ rankingInputs }: WaveView, outcome: string, not: readonly string[] = []) =>
  rankingInputs
    .filter((one) => one.outcome === outcome || one.reason === outcome)
    .map(({ candidate }) => candidate)
    .filter(({ hotelUrn, roomsLeft }) => roomsLeft > 3 && !not.includes(hotelUrn));

export const reviewDesk = (
  t: Test,
  { night, ana, ben, sue, admin, lax, operator, ...desk }: ReviewNight,
): void => {
  const { push, detail, itemOf, read, until, act, refused, fail, waveOf, trailOf, failedItem } = desk;
  const { events } = night;

  t.test("fifty reach for an item, one has it, and it books the hotel that refuses at first", async (t) => {
    const { caseUrn, urn } = await failedItem("Rebook", "REBOO1");
    const before = await read(urn);
    t.match(before, { state: "OPEN", priority: "HIGH", overdue: false, breaches: 0, actions: [] });
    t.equal(Date.parse(before.dueAt ?? "") - Date.parse(before.createdAt), 15 * 60_000);
    const fifty = await Promise.all(Array.from({ length: 50 }, (_, i) => operator(`racer-${i}`)));
    const claims = await Promise.all(
      fifty.map((token) =>
        night.call<ReviewItemView & { lockedBy?: string }>("claimReview", {
          token,
          params: { reviewUrn: urn },
        }),
      ),
    );
    const winners = claims.flatMap(({ status }, i) => (status === 200 ? i : []));
    t.equal(winners.length, 1);
    const winner = fifty[winners[0] ?? 0] as string;
    const holder = claims[winners[0] ?? 0]?.body.assignedTo;
    const losers = claims.filter(({ status }) => status === 409);
    t.equal(losers.length, 49);
    t.ok(losers.every(({ body }) => body.lockedBy === holder));

    const wave = await waveOf(caseUrn);
    const [hotel] = candidates(wave, "SELECTED").concat(candidates(wave, "DISCARDED"));
    const tooFar = wave.rankingInputs.find((one) => one.reason === "TOO_FAR")?.candidate.hotelUrn;
    const hotelUrn = hotel?.hotelUrn ?? "";
    const groupIds = before.affectedGroups;
    const into = [
      ["urn:passenger:XN-01JD0000000000000000000000"],
      ["urn:passenger:XN-01JD0000000000000000000001"],
    ];
    const bodies = {
      rebookReview: { hotelUrn, reason },
      relaxReview: { fields: { maxDistanceKm: 60 }, reason },
      splitReview: { into, reason },
      overrideReview: { hotelUrn, providerOfferId: hotel?.providerOfferId, reason },
      resolveReview: { resolution: "SETTLED", reason },
      releaseReview: { reason },
    };
    for (const [id, body] of Object.entries(bodies))
      t.match(await refused(id, urn, sue, body), { status: 409, lockedBy: holder }, `${id} of another's`);
    t.equal((await refused("overrideReview", urn, winner, bodies.overrideReview)).status, 403);
    const wrong = [
      ["rebookReview", { ...bodies.rebookReview, groupIds: ["nobody"] }, "/groupIds/0"],
      ["rebookReview", { hotelUrn: "urn:hotel:nowhere", reason }, "/hotelUrn"],
      ...(tooFar === undefined ? [] : [["rebookReview", { hotelUrn: tooFar, reason }, "/hotelUrn"] as const]),
      ["relaxReview", { fields: { maxDistanceKm: 10 }, reason }, "/fields/maxDistanceKm"],
      ["relaxReview", { fields: { maxDistanceKm: "far" }, reason }, "/fields/maxDistanceKm"],
      ["relaxReview", { fields: { autoBook: false }, reason }, "/fields"],
      ["relaxReview", { fields: {}, reason }, "/fields"],
      ["splitReview", bodies.splitReview, "/into/0/0"],
    ] as const;
    for (const [id, body, pointer] of wrong)
      t.match(
        await refused(id, urn, winner, body),
        { status: 422, errors: [{ pointer }] },
        `${id} ${pointer}`,
      );
    t.same((await read(urn)).actions, [], "what is refused is not done");

    // The hotel refuses: the item says so, is still its claimant's, and no second one is opened.
    await fail({ operation: "hold", kind: "refuse", times: 10 });
    const begun = await act("rebookReview", urn, winner, { hotelUrn, groupIds, reason });
    t.match(begun.actions, [{ action: "REBOOK", state: "UNDER_WAY", hotelUrn, by: holder, reason }]);
    const failed = await until(urn, "the refusal", ({ actions }) => actions[0]?.state === "FAILED");
    await fail();
    t.match(failed, {
      state: "CLAIMED",
      assignedTo: holder,
      actions: [{ groups: [{ groupId: groupIds[0], outcome: "FAILED", detail: /no room/ }] }],
    });
    t.match(failed.attemptedHotels.at(-1), { hotelUrn });
    const open = ({ manualReviewItems }: CaseView) =>
      manualReviewItems.filter(
        ({ state, category }) => state !== "RESOLVED" && category === "BOOKING_FAILED",
      );
    t.equal(open(await detail(caseUrn)).length, 1);

    await act("rebookReview", urn, winner, { hotelUrn, reason });
    const done = await until(
      urn,
      "the room",
      ({ state, actions }) => state === "RESOLVED" && actions[1]?.state === "DONE",
    );
    t.match(done, { resolution: "HOUSED", overdue: false });
    t.match((await detail(caseUrn)).reservations, [{ status: "CONFIRMED", hotelUrn }]);
    t.match(await trailOf(urn, "review.rebook"), { reason, after: { action: { kind: "REBOOK", hotelUrn } } });
    t.match(await trailOf(urn, "review.claim"), { after: { state: "CLAIMED", assignedTo: holder } });
    const waveUrn = wave.urn;
    t.match(await trailOf(waveUrn, "wave.override"), { actor: holder, reason }, "in the claimant's name");
  });

  t.test("no hotel is near enough: for this case the policy is relaxed, and they sleep", async (t) => {
    const post = async <Body>(id: string, params: Record<string, string>, body: object) =>
      (await night.call<Body>(id, { token: admin, params, body })).body;
    const constraints = { maxDistanceKm: 0.1, maxNightlyRate: 20_000 };
    const policy = {
      name: "Walkable",
      context: { airport: "VIE" },
      tiers: ["ECONOMY"],
      constraints,
      autoApproveDemand: true,
      maxAutomaticRoomsPerWave: 10,
    };
    const { urn: policyUrn } = await post<PolicyView>("createPolicy", {}, policy);
    await post("activatePolicy", { policyUrn }, {});
    const caseUrn = await push("loosened", [traveller("RELAX1", "Far"), traveller("RELAX2", "Away")], "VIE");
    const { urn } = await itemOf(caseUrn, "ALLOCATION_FAILED");
    t.match(await refused("relaxReview", urn, ana, { fields: { maxDistanceKm: 30 }, reason }), {
      status: 409,
      state: "OPEN",
    });
    await act("claimReview", urn, ana);
    t.match(await refused("relaxReview", urn, ana, { fields: { minStars: 1, maxDistanceKm: 30 }, reason }), {
      status: 422,
      errors: [{ pointer: "/fields/minStars" }],
    });
    // Not far enough: nothing is placed, the item stays, and no other is opened for the same groups.
    await act("relaxReview", urn, ana, { fields: { maxDistanceKm: 0.2 }, reason });
    const still = await until(urn, "the vain wave", ({ actions }) => actions[0]?.state === "FAILED");
    t.match(still, { state: "CLAIMED", actions: [{ action: "RELAX", fields: { maxDistanceKm: 0.2 } }] });
    t.ok(still.actions[0]?.groups.every(({ detail }) => detail !== undefined));
    t.equal((await detail(caseUrn)).manualReviewItems.filter(({ state }) => state !== "RESOLVED").length, 1);

    await act("relaxReview", urn, ana, { fields: { maxDistanceKm: 45 }, reason });
    await until(urn, "everybody housed", ({ state }) => state === "RESOLVED");
    t.match(await read(urn), { resolution: "HOUSED", actions: [{}, { state: "DONE" }] });
    const seen = await detail(caseUrn);
    t.equal(seen.reservations.filter(({ status }) => status === "CONFIRMED").length, 2);
    t.match(seen.relaxations, [
      { fields: { maxDistanceKm: 0.2 } },
      { fields: { maxDistanceKm: 45 }, reason },
    ]);
    t.match(await waveOf(caseUrn), { relaxed: [{ maxDistanceKm: 0.2 }, { maxDistanceKm: 45 }] });
    const params = { policyUrn };
    const kept = await night.call<PolicyView>("getPolicy", { token: admin, params });
    t.match(kept.body, { version: 1, constraints }, "the policy stands as it was");
    t.match(await trailOf(caseUrn, "case.relax"), {
      before: { ECONOMY: { maxDistanceKm: 0.2 } },
      after: { ECONOMY: { maxDistanceKm: 45 } },
      reason,
    });
    const other = await push("unrelaxed", [traveller("RELAX3", "Other")], "VIE");
    t.match(await itemOf(other, "ALLOCATION_FAILED"), { state: "OPEN" }, "another case is bound as before");
  });

  t.test("two cabins in one booking are split on the desk", async (t) => {
    const caseUrn = await push("split", [
      traveller("SPLIT1", "Eco"),
      traveller("SPLIT1", "Biz", { cabinClass: "BUSINESS" }),
    ]);
    const { urn } = await itemOf(caseUrn, "MIXED_TIER_GROUP");
    const [group] = (await detail(caseUrn)).passengerGroups;
    const urns = group?.passengers.map((passenger) => passenger.urn) ?? [];
    await act("claimReview", urn, ana);
    const left = await refused("splitReview", urn, ana, { into: [[urns[0]], [urns[0]]], reason });
    t.equal(left.status, 422);
    await act("splitReview", urn, ana, { into: urns.map((one) => [one]), reason });
    const done = await until(
      urn,
      "the split",
      ({ state, actions }) => state === "RESOLVED" && actions[0]?.state === "DONE",
    );
    t.match(done, { resolution: "SPLIT", actions: [{ action: "SPLIT", state: "DONE" }] });
    await events.untilCount("subcase.offer-ready", 2, { caseUrn });
    t.match(await trailOf(urn, "review.split"), { reason, after: { action: { kind: "SPLIT" } } });
  });

  t.test("a supervisor takes the exact offer, past the policy", async (t) => {
    const { caseUrn, urn } = await failedItem("Override", "OVERR1");
    const wave = await waveOf(caseUrn);
    const passes = new Set(
      wave.rankingInputs.filter((one) => !gates.has(one.reason)).map(({ candidate }) => candidate.hotelUrn),
    );
    const far = wave.rankingInputs.find(
      ({ candidate }) => !passes.has(candidate.hotelUrn) && candidate.roomsLeft > 3,
    )?.candidate;
    const hotelUrn = far?.hotelUrn ?? "";
    const providerOfferId = far?.providerOfferId ?? "";
    await act("claimReview", urn, sue);
    t.match(
      await refused("rebookReview", urn, sue, { hotelUrn, reason }),
      { status: 422 },
      "no rebooking there",
    );
    const gone = { hotelUrn, providerOfferId: "gone", reason };
    t.match(await refused("overrideReview", urn, sue, gone), {
      status: 422,
      errors: [{ pointer: "/providerOfferId" }],
    });
    await act("overrideReview", urn, sue, { hotelUrn, providerOfferId, reason });
    await until(urn, "the room", ({ state }) => state === "RESOLVED");
    t.match((await detail(caseUrn)).reservations, [{ status: "CONFIRMED", hotelUrn, vendor: far?.vendor }]);
  });

  t.test("an item is given to somebody, released, found in the queue, and escalated", async (t) => {
    const caseUrn = await push(
      "queue",
      [{ ...traveller("QUEUE1", "Queue"), lastName: undefined } as never],
      "LHR",
    );
    const { urn } = await itemOf(caseUrn, "DATA_INCOMPLETE");
    const before = await read(urn);
    await act("claimReview", urn, ana);
    const { assignedTo: anasUrn } = await read(urn);
    const bens = await act("assignReview", urn, sue, { userUrn: "urn:user:ben", reason });
    t.match(bens, { state: "CLAIMED", assignedTo: "urn:user:ben" });
    t.match(await refused("releaseReview", urn, ana), { status: 409, lockedBy: "urn:user:ben" });
    t.equal((await refused("assignReview", urn, ana, { userUrn: anasUrn, reason })).status, 403);
    t.match(await trailOf(urn, "review.assign"), { reason, before: { assignedTo: anasUrn } });
    const listed = async (token: string, query: Record<string, string>) =>
      (await night.call<Page<ReviewItemView>>("listReviewItems", { token, query })).body.items.map(
        (one) => one.urn,
      );
    const of = { caseUrn };
    t.same(await listed(ben, { ...of, assignedTo: "me" }), [urn]);
    t.same(await listed(ana, { ...of, assignedTo: "me" }), []);
    t.same(await listed(ana, { ...of, assignedTo: "urn:user:ben", state: "CLAIMED", airport: "LHR" }), [urn]);
    t.same(await listed(ana, { ...of, overdue: "true" }), []);
    t.ok((await listed(ana, { ...of, overdue: "false", category: "DATA_INCOMPLETE" })).includes(urn));
    t.same(await listed(lax, of), [], "another airport's operator does not see it");
    t.equal((await refused("getReviewItem", urn, lax)).status, 403);
    t.equal(
      (await night.refused("listManualReview", { token: ana })).status,
      403,
      "the desk's queue is a supervisor's",
    );
    await act("releaseReview", urn, ben, { reason });
    t.match(await read(urn), { state: "OPEN", assignedTo: undefined });

    t.equal(before.priority, "LOW");
    const once = await act("escalateReview", urn, sue, { reason });
    t.match(once, { priority: "MEDIUM", state: "OPEN" });
    t.ok(Date.parse(once.dueAt ?? "") <= Date.now() + 3_600_000);
    t.match(await act("escalateReview", urn, sue, { reason }), { priority: "HIGH" });
    const thrice = await act("escalateReview", urn, sue, { reason });
    t.match(thrice, { priority: "HIGH" });
    const told = await events.untilCount("review.escalated", 3, { caseUrn });
    t.same(
      told.map(({ data }) => data.raised),
      [true, true, false],
    );
  });

  if (isFullSize)
    t.test(
      "the service dies with a rebooking written down and nobody told: it is carried out all the same",
      async (t) => {
        const { caseUrn, urn } = await failedItem("Killed", "KILLE1");
        const [service] = night.services;
        if (service === undefined) throw new Error("no service runs");
        await act("claimReview", urn, ana);
        const [hotel] = candidates(await waveOf(caseUrn), "SELECTED").concat(
          candidates(await waveOf(caseUrn), "DISCARDED"),
        );
        /** One that dies before it serves has found its point in what the last death left. */
        const startUntil = async (point: string) => {
          service.settings.KILL_POINT = point;
          await service.restart().catch((error) => {
            if (point === "") throw error;
          });
        };
        await startUntil("after-commit@review.rebook");
        await t.rejects(act("rebookReview", urn, ana, { hotelUrn: hotel?.hotelUrn, reason }));
        t.equal((await service.exited).signal, "SIGKILL", "nobody was told");
        await startUntil("after-commit@wave.override");
        t.equal((await service.exited).signal, "SIGKILL", "the group was not told");
        await startUntil("");
        const done = await until(
          urn,
          "the room",
          ({ state, actions }) => state === "RESOLVED" && actions[0]?.state === "DONE",
        );
        t.equal(done.actions.length, 1);
        t.match((await detail(caseUrn)).reservations, [{ status: "CONFIRMED", hotelUrn: hotel?.hotelUrn }]);
        t.equal((await waveOf(caseUrn)).overrides?.length, 1, "and once");
      },
    );
};
