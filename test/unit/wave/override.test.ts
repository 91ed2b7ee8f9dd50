// A hotel chosen over a wave's own: what is read for it, what it is refused for, what it sends, and what the wave then shows; and what a
// wave that was run again sends to groups that have a room.
import t from "tap";
import type { ActorContext } from "../../../actors/runtime/host.ts";
import { decideWave, outgoingOf } from "../../../actors/wave/decide.ts";
import type { WaveInput } from "../../../actors/wave/gather.ts";
import {
  decideNoteOverride,
  decideOverride,
  gatherOverride,
  type OverrideFacts,
  overrideMadeBy,
  overrideOrder,
  overrideView,
  toReview,
} from "../../../actors/wave/override.ts";
import { standingOverrides } from "../../../actors/wave/override-state.ts";
import { newestOfEach, savingsView } from "../../../actors/wave/queries.ts";
import { evolve, type WaveState } from "../../../actors/wave/state.ts";
import type { GroupStanding } from "../../../schemas/group-note.ts";
import type { HotelOffer } from "../../../schemas/hotel.ts";
import { Problem } from "../../../schemas/problems.ts";
import { received, secondsLater, supervisor } from "../../harness/given.ts";
import { group } from "../../harness/group-needs.ts";
import { policy } from "../../harness/policies.ts";
import { airport as jfk, north, offer } from "../allocation/hotels-at-jfk.ts";

const near = offer({ providerHotelId: "near", masterHotelId: "near", nightlyRateMinor: 9_000 });
const far = offer({ providerHotelId: "far", masterHotelId: "far", coordinates: north(30) });
const farElsewhere = { ...far, vendor: "roomlink", providerOfferId: "rl", nightlyRateMinor: 9_500 };
const full = offer({ providerHotelId: "full", masterHotelId: "full", roomsLeft: 0, coordinates: north(9) });
const input = (again: string[] = []): WaveInput => ({
  airport: { code: "JFK", name: "John F Kennedy", ...jfk },
  airlineName: "Xenon",
  passengerHost: "",
  policies: { ECONOMY: policy({ maxDistanceKm: 20 }) },
  vendors: {},
  stays: [
    {
      groups: [group("G1"), group("G2"), group("G3", { rooms: 30 })],
      search: { offers: [near, far, farElsewhere, full], partialFailures: [] },
    },
  ],
  again,
});
const run = received(
  "wave.run",
  { caseId: "XN-CASE", demandId: "XN-DEMAND" },
  { entity: "XN-WAVE", now: secondsLater(2) },
);
const decided = decideWave(run, input());
const wave = evolve(undefined, decided.event);
const hotelOf = (name: string): string =>
  wave.rankingInputs.find(({ offer: at }) => wave.offers[at]?.providerHotelId === name)?.hotelUrn ?? "";

const chosen = (data: object = {}, more: object = {}) =>
  received(
    "wave.override",
    { groupId: "G1", hotelUrn: hotelOf("far"), reason: "Near her", ...data },
    { principal: supervisor, entity: "XN-WAVE", now: secondsLater(60), ...more },
  );
const pending: GroupStanding = { status: "PENDING", settled: false };
const { stays: _s, again: _a, ...terms } = input();
const facts = (more: Partial<OverrideFacts> = {}): OverrideFacts => ({
  closed: false,
  need: group("G1"),
  standing: pending,
  terms,
  offers: [far, farElsewhere],
  ...more,
});
const refusal = (over: WaveState, command: ReturnType<typeof chosen>, read: OverrideFacts) => {
  try {
    decideOverride(over, command, read);
    return "taken";
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return `${error.code} ${error.members.state ?? error.members.errors?.[0]?.pointer ?? ""}`.trim();
  }
};

t.test("past the policy's gates, at the cheapest vendor that has the rooms", async (t) => {
  const { event, order } = decideOverride(wave, chosen(), facts());
  t.match(event, {
    type: "wave.overridden",
    data: { groupId: "G1", hotelName: far.name, formerHotelUrn: hotelOf("near"), totalMinor: 9_500 },
  });
  t.match(order.assignment, {
    waveId: "XN-WAVE",
    book: true,
    candidates: [{ offer: { vendor: "roomlink" } }, { offer: { vendor: "stayhub" } }],
  });
  const after = evolve(wave, event);
  t.equal(standingOverrides(after).size, 0, "not before it is carried out");
  t.equal(overrideMadeBy(chosen({}, { now: secondsLater(999) }), after)?.groupId, "G1", "found again later");
  const note = (overrideId: string) =>
    received("wave.note-override", { overrideId, outcome: "DONE", state: "PROCESSING" });
  const ended = decideNoteOverride(after, note(order.overrideId));
  const shown = ended.reduce<WaveState>(evolve, after);
  t.equal(standingOverrides(shown).get("G1")?.hotelUrn, hotelOf("far"));
  t.strictSame(decideNoteOverride(shown, note(order.overrideId)), [], "told again it is nothing");
  t.strictSame(decideNoteOverride(after, note("XN-OTHER")), []);
  t.equal(refusal(shown, chosen(), facts()), "taken", "and another choice may follow");

  const byHand = { ...terms, policies: { ECONOMY: policy({ autoBook: false }) } };
  t.equal(decideOverride(wave, chosen(), facts({ terms: byHand })).order.assignment.book, false);
  const failed = facts({ terms: byHand, standing: { status: "FAILED", settled: false } });
  t.equal(decideOverride(wave, chosen(), failed).order.assignment.book, true);
});

/** This wave after the choice was carried out. */
const carriedOut = (over: WaveState, command: ReturnType<typeof chosen>): WaveState => {
  const { event, order } = decideOverride(over, command, facts());
  const { overrideId } = order;
  const note = received("wave.note-override", { overrideId, outcome: "DONE", state: "OFFER_READY" });
  return decideNoteOverride(evolve(over, event), note).reduce<WaveState>(evolve, evolve(over, event));
};

t.test("of two waves and a choice the last one is shown", async (t) => {
  const later = { ...wave, completedAt: secondsLater(120) };
  const hotelNow = (waves: WaveState[]) =>
    newestOfEach(waves).find(({ groupId }) => groupId === "G1")?.hotelUrn;
  const choiceAt = (seconds: number) => chosen({}, { id: `choice ${seconds}`, now: secondsLater(seconds) });
  const table: [string, WaveState[], string][] = [
    ["the first wave's", [wave], "near"],
    ["the choice over it", [carriedOut(wave, choiceAt(60))], "far"],
    ["another wave since", [carriedOut(wave, choiceAt(60)), later], "near"],
    ["a choice over the first wave since", [carriedOut(wave, choiceAt(180)), later], "far"],
    ["a choice over the second", [wave, carriedOut(later, choiceAt(180))], "far"],
  ];
  for (const [what, waves, hotel] of table) t.equal(hotelNow(waves), hotelOf(hotel), what);
  t.equal(newestOfEach([wave, later]).length, 2, "each group once");
});

t.test("a contract's room that somebody has chosen another hotel over saves nothing", async (t) => {
  const sold = wave.allocations.map((one) => ({
    ...one,
    marketTotalMinor: one.totalMinor + 1000,
    marketBasis: "SAME_STARS" as const,
  }));
  const saving = { ...wave, allocations: sold };
  const saved = (over: WaveState) => savingsView(over).savingsVersusMarket;
  t.strictSame(saved(saving), [{ currency: "USD", amountMinor: 2000 }]);
  t.strictSame(saved(carriedOut(saving, chosen())), [{ currency: "USD", amountMinor: 1000 }]);
  t.strictSame(saved(wave), undefined);
});

t.test("what it is refused for", async (t) => {
  const underWay = evolve(wave, decideOverride(wave, chosen(), facts()).event);
  const booked = (status: GroupStanding["status"], hotelUrn: string, stay = "CONFIRMED"): GroupStanding => ({
    status,
    settled: false,
    reservation: { status: stay as "CONFIRMED", hotelUrn },
  });
  const table: [string, WaveState, Partial<OverrideFacts>, string][] = [
    ["free", wave, {}, "taken"],
    ["elsewhere", wave, { standing: booked("RESOLVED", hotelOf("near")) }, "taken"],
    ["there", wave, { standing: booked("OFFER_READY", hotelOf("far")) }, "conflict/state BOOKED_THERE"],
    ["arrived", wave, { standing: booked("RESOLVED", "x", "CHECKED_IN") }, "conflict/state CHECKED_IN"],
    ["under way", wave, { standing: booked("PROCESSING", "x") }, "conflict/state PROCESSING"],
    ["declined", wave, { standing: booked("DECLINED", "x") }, "conflict/state DECLINED"],
    ["settled", wave, { standing: { ...pending, settled: true } }, "conflict/state SETTLED"],
    ["another choice", underWay, {}, "conflict/state UNDER_WAY"],
    ["closed", wave, { closed: true }, "conflict/state CLOSED"],
    ["no group", wave, { standing: null }, "conflict/state PENDING"],
    ["no policy", wave, { need: undefined }, "conflict/state MANUAL_REVIEW"],
    ["no such hotel", wave, { offers: [] }, "validation/body /hotelUrn"],
    ["no rooms", wave, { offers: [full] }, "conflict/state NO_ROOMS"],
    ["no accessible room", wave, { need: group("G1", { needs: ["WHEELCHAIR"] }) }, "conflict/state NO_ROOMS"],
  ];
  for (const [what, over, more, expected] of table)
    t.equal(refusal(over, chosen(), facts(more)), expected, what);
});

t.test("the wave's own offers are taken while they are fresh", async (t) => {
  const asked: string[] = [];
  const contextWith = (found: HotelOffer[]) =>
    ({
      tenants: { byCode: () => undefined },
      call: async (name: string) => {
        asked.push(name);
        if (name === "case.allocation-input")
          return {
            airport: "JFK",
            closed: false,
            policies: terms.policies,
            groups: [group("G1")],
            again: [],
          };
        if (name === "vendor-adapter.search") return { offers: found, partialFailures: [] };
        return name === "sub-case.standing" ? pending : {};
      },
    }) as unknown as ActorContext;
  const context = contextWith([near, { ...farElsewhere, masterHotelId: "other" }]);
  const fresh = await gatherOverride(context, chosen(), wave);
  t.same(fresh.offers.map(({ vendor }) => vendor).sort(), ["roomlink", "stayhub"]);
  t.notOk(asked.includes("vendor-adapter.search"));
  const late = await gatherOverride(context, chosen({}, { now: secondsLater(3600) }), wave);
  t.ok(asked.includes("vendor-adapter.search"));
  t.same(
    late.offers.map(({ vendor }) => vendor),
    ["roomlink"],
    "by what its vendor calls it, though its URN has changed with the offers",
  );
  t.equal((await gatherOverride(context, chosen({ hotelUrn: "urn:hotel:none" }), wave)).offers.length, 0);
  await t.rejects(gatherOverride(context, chosen({ groupId: "G9" }), wave), { code: "validation/body" });
  const elsewhere = { principal: { ...supervisor, airport: "LAX" } };
  await t.rejects(gatherOverride(context, chosen({}, elsewhere), wave), { code: "auth/foreign-airport" });
});

t.test("who has a room changes hotels, or keeps the one that it has", async (t) => {
  const sent = outgoingOf("XN-WAVE", decideWave(run, input(["G1", "G3"])));
  t.match(sent, [
    { name: "case.note-wave", data: { allocated: ["G1", "G2"], unplaced: [], unbooked: [] } },
    { name: "sub-case.override", entity: "XN-SUB-G1", data: { assignment: { waveId: "XN-WAVE" } } },
    { name: "sub-case.assign", entity: "XN-SUB-G2" },
  ]);
  t.equal(sent.length, 3, "nobody is told that a group keeps its room");
  const unbooked = { ...input(), policies: { ECONOMY: policy({ autoBook: false }) } };
  const [note] = outgoingOf("XN-WAVE", decideWave(run, unbooked));
  t.match(note, { data: { unbooked: ["G1", "G2"], unplaced: ["G3"] } });
});

t.test(
  "chosen about a review item: within the policy, by the exact offer, and the item hears of it",
  async (t) => {
    const review = { reviewId: "XN-REVIEW", actionId: "XN-ACTION" };
    const table: [object, Partial<OverrideFacts>, string][] = [
      [{ withinPolicy: true }, {}, "validation/body /hotelUrn"],
      [{ withinPolicy: true, hotelUrn: hotelOf("near") }, { offers: [near] }, "taken"],
      [{ providerOfferId: "rl" }, {}, "taken"],
      [{ providerOfferId: "gone" }, {}, "validation/body /providerOfferId"],
    ];
    for (const [data, read, expected] of table)
      t.equal(refusal(wave, chosen(data), facts(read)), expected, JSON.stringify(data));
    const relaxed = { ...terms, policies: { ECONOMY: policy({ maxDistanceKm: 50 }) } };
    t.equal(
      refusal(wave, chosen({ withinPolicy: true }), facts({ terms: relaxed })),
      "taken",
      "relaxed for the case",
    );
    const exact = chosen({ providerOfferId: "rl", review });
    const { event, order } = decideOverride(wave, exact, facts());
    t.match(order.assignment.candidates, [{ offer: { providerOfferId: "rl" } }]);
    t.equal(order.assignment.candidates.length, 1);
    const kept = evolve(wave, event);
    const override = kept.overrides?.[0];
    if (override === undefined) throw new Error("no override is kept");
    t.match(overrideOrder(order, override), { name: "sub-case.override", data: { onDesk: true } });
    t.notOk("review" in overrideView(override), "whose item it was stays in the house");
    const plain = decideOverride(wave, chosen(), facts());
    if (plain.event.type !== "wave.overridden") throw new Error("nothing was chosen");
    t.notOk("onDesk" in (overrideOrder(plain.order, plain.event.data) as { data: object }).data);
    for (const outcome of ["DONE", "FAILED", "REFUSED"] as const) {
      const note = { overrideId: order.overrideId, outcome, state: "CLOSED" };
      t.match(toReview(kept, note), [
        {
          name: "review.note-action",
          entity: review.reviewId,
          data: { actionId: review.actionId, groups: [{ groupId: "G1", outcome, detail: /\S/ }] },
        },
      ]);
      const other = evolve(wave, plain.event);
      t.same(toReview(other, { ...note, overrideId: plain.order.overrideId }), [], "nobody's item");
    }
  },
);

t.test(
  "a wave that is run about a review item tells it of its groups, and opens no other for them",
  async (t) => {
    const review = { reviewId: "XN-REVIEW", actionId: "XN-ACTION", groupIds: ["G1", "G3", "G9"] };
    const about = { ...run, data: { ...(run.data as object), review } };
    const stays = input().stays.map((stay) => ({
      ...stay,
      groups: [...stay.groups, group("G4", { rooms: 40 })],
    }));
    const sent = outgoingOf(
      "XN-WAVE",
      decideWave(about, { ...input(), stays, relaxed: [{ maxDistanceKm: 20 }] }),
    );
    const dataOf = (name: string) =>
      sent.flatMap((one) => (one.to === "command" && one.name === name ? one.data : []));
    t.match(dataOf("review.note-action"), [
      {
        actionId: "XN-ACTION",
        groups: [
          { groupId: "G1", outcome: "DONE", detail: `Placed at ${near.name}.` },
          { groupId: "G3", outcome: "FAILED", detail: /\S/ },
          { groupId: "G9", outcome: "FAILED", detail: /\S/ },
        ],
      },
    ]);
    t.match(dataOf("review.open"), [{ affectedGroups: ["G4"] }]);
    t.match(decideWave(about, { ...input(), relaxed: [{ maxDistanceKm: 20 }] }).event.data.relaxed, [
      { maxDistanceKm: 20 },
    ]);
    t.notOk("relaxed" in wave);
  },
);
