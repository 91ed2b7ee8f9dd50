// What is done about an item, as tables: who may, what is asked of others first, what carrying it out sends, and what its outcome
// does to the item.
import t from "tap";
import { gatherTargets } from "../../../actors/review/actions.ts";
import { carryOut } from "../../../actors/review/carry-out.ts";
import { decideReview } from "../../../actors/review/decide.ts";
import { reviewItems } from "../../../actors/review/service.ts";
import { evolveReview, type ReviewEvent, type ReviewItem } from "../../../actors/review/state.ts";
import { reviewView } from "../../../actors/review/view.ts";
import type { Received } from "../../../actors/runtime/decider.ts";
import { NotYet } from "../../../actors/runtime/decider.ts";
import type { ActorContext } from "../../../actors/runtime/host.ts";
import type { Command, Query } from "../../../schemas/command.ts";
import { Problem } from "../../../schemas/problems.ts";
import { type ActionOutcome, reviewSlaDefault } from "../../../schemas/review.ts";
import {
  after,
  ana,
  ben,
  caseId,
  changed,
  claimed,
  command,
  done,
  failed,
  minutesLater,
  opened,
  resolved,
  withdraw,
} from "./review-item.ts";

const hotelUrn = "urn:hotel:by-the-sea";
const reason = "They cannot wait";
const verbs = {
  rebook: { hotelUrn, reason },
  override: { hotelUrn, providerOfferId: "o1", reason },
  relax: { fields: { maxDistanceKm: 30 }, reason },
  split: { into: [["urn:passenger:a"], ["urn:passenger:b"]], reason },
};
type Verb = keyof typeof verbs;
const does = (verb: Verb, more: object = {}, by = ana): Received =>
  command(verb, { ...verbs[verb], ...more }, by);
const targets = [
  { groupId: "G1", waveId: "XN-WAVE" },
  { groupId: "G2", waveId: "XN-WAVE" },
];
const terms = { sla: reviewSlaDefault, caseIsOpen: true, targets };
const moved = (state: ReviewItem, move: Received, gathered: unknown = terms): ReviewItem =>
  decideReview(state, move, gathered).reduce<ReviewItem>(evolveReview, state);
const mine = after(opened, claimed) as ReviewItem;
const codeOf = (decide: () => ReviewEvent[]): string => {
  try {
    return decide()[0]?.type ?? "nothing";
  } catch (error) {
    if (!(error instanceof Problem)) throw error;
    return `${error.code} ${error.members.state ?? ""} ${error.members.lockedBy ?? ""}`.trim();
  }
};

t.test("who may: the claimant of an item, and nobody else", async (t) => {
  for (const verb of Object.keys(verbs) as Verb[]) {
    const table: [ReviewItem | undefined, Received, string][] = [
      [mine, does(verb), "review.action-begun"],
      [after(opened), does(verb), "conflict/state OPEN"],
      [mine, does(verb, {}, ben), "conflict/state CLAIMED urn:user:ana"],
      [after(opened, resolved), does(verb), "conflict/state RESOLVED"],
      [undefined, does(verb), "not-found/resource"],
      [moved(mine, does(verb)), does(verb), "nothing"],
      [moved(mine, does(verb)), { ...does(verb), id: "another" }, "review.action-begun"],
    ];
    for (const [state, move, expected] of table)
      t.equal(
        codeOf(() => decideReview(state, move, terms)),
        expected,
        `${verb}: ${expected}`,
      );
    const refusal = new Problem("validation/body", "Not there.");
    t.throws(() => decideReview(mine, does(verb), { ...terms, targets: refusal }), refusal, "others refuse");
    const closed = { ...terms, caseIsOpen: false };
    t.match(
      codeOf(() => decideReview(mine, does(verb), closed)),
      /^conflict\/state CLOSED/,
    );
  }
});

t.test("what is asked of others before anything is kept", async (t) => {
  const asked: [string, object][] = [];
  const contextOf = (answers: Record<string, unknown>) =>
    ({
      call: async (name: string, query: Query) => {
        asked.push([name, query.params]);
        if (answers[name] instanceof Error) throw answers[name];
        return answers[name] ?? null;
      },
    }) as unknown as ActorContext;
  const members = [
    { groupId: "G1", passengers: [{ urn: "urn:passenger:a" }, { urn: "urn:passenger:b" }] },
    { groupId: "G9", passengers: [{ urn: "urn:passenger:z" }] },
  ];
  const context = contextOf({ "wave.choosable": targets, "sub-case.members": members });
  const groupIds = ["G1", "G2"];
  const table: [Received, [string, object][]][] = [
    [does("rebook"), [["wave.choosable", { caseId, groupIds, hotelUrn, reason, withinPolicy: true }]]],
    [does("rebook", { groupIds: ["G2"] }), [["wave.choosable", { groupIds: ["G2"] }]]],
    [does("override"), [["wave.choosable", { hotelUrn, providerOfferId: "o1", withinPolicy: undefined }]]],
    [
      does("relax"),
      [["case.rehearse", { entity: caseId, name: "case.relax", data: { ...verbs.relax, groupIds } }]],
    ],
    [
      does("split"),
      [
        ["sub-case.members", { caseId, passengerUrns: ["urn:passenger:a", "urn:passenger:b"] }],
        ["case.rehearse", { name: "case.split-group", data: { groupId: "G1" } }],
      ],
    ],
  ];
  for (const [move, expected] of table) {
    await gatherTargets(context, move, mine);
    t.match(asked.splice(0), expected, move.name);
  }
  const wrong: [Received, string][] = [
    [does("rebook", { groupIds: ["G1", "G9"] }), "/groupIds/1"],
    [does("split", { into: [["urn:passenger:z"], ["urn:passenger:b"]] }), "/into/0/0"],
    [does("split", { into: [["urn:passenger:x"], ["urn:passenger:b"]] }), "/into/0/0"],
  ];
  for (const [move, pointer] of wrong)
    t.match(await gatherTargets(context, move, mine), {
      code: "validation/body",
      members: { errors: [{ pointer }] },
    });
  const nobody = after(command("open", { ...failed, affectedGroups: [] }), claimed) as ReviewItem;
  t.match(await gatherTargets(context, does("rebook"), nobody), { members: { state: "NO_GROUPS" } });
  asked.length = 0;
  for (const [move, state] of [
    [does("rebook", {}, ben), mine],
    [does("rebook"), after(opened) as ReviewItem],
    [does("rebook", {}, { ...ana, airport: "LAX" }), mine],
    [does("rebook"), moved(mine, does("rebook"))],
  ] as const)
    t.same(await gatherTargets(context, move, state), []);
  t.same(asked, [], "nobody is asked for who may not, or has begun it already");
  const full = new Problem("conflict/state", "No rooms.", { state: "NO_ROOMS" });
  t.equal(await gatherTargets(contextOf({ "wave.choosable": full }), does("rebook"), mine), full);
  const bug = new TypeError("a bug");
  await t.rejects(gatherTargets(contextOf({ "wave.choosable": bug }), does("rebook"), mine), bug);
});

t.test("carrying out: orders in the person's name, the same however often", async (t) => {
  const sent: Command[] = [];
  const noted: Command[] = [];
  const run = async (state: ReviewItem | undefined, answer?: Error) => {
    const collection = {
      findOne: async () => (state === undefined ? null : { _id: "XN-I", schemaVersion: 1, ...state }),
    };
    const context = {
      documents: { tenant: () => ({ collection: () => collection }) },
      call: async (_: string, order: Command) => {
        sent.push(order);
        if (answer !== undefined) throw answer;
      },
    } as unknown as ActorContext;
    const actionId = state?.actions?.[0]?.actionId ?? "?";
    const move = { ...command("carry-out", { actionId }), entity: "XN-I" };
    await carryOut(context)(move, (async (_: string, each: Command) => {
      noted.push(each);
      return { ok: null };
    }) as never);
    return { orders: sent.splice(0), notes: noted.splice(0) };
  };
  const review = { reviewId: "XN-I" };
  const ordersOf: [Verb, object[]][] = [
    [
      "rebook",
      targets.map(({ groupId, waveId }) => ({
        name: "wave.override",
        entity: waveId,
        data: { groupId, hotelUrn, reason, withinPolicy: true, review },
      })),
    ],
    [
      "override",
      targets.map(({ groupId }) => ({
        data: { groupId, providerOfferId: "o1", withinPolicy: undefined, review },
      })),
    ],
    [
      "relax",
      [{ name: "case.relax", entity: caseId, data: { ...verbs.relax, groupIds: ["G1", "G2"], review } }],
    ],
    [
      "split",
      [{ name: "case.split-group", entity: caseId, data: { groupId: "G1", into: verbs.split.into } }],
    ],
  ];
  for (const [verb, orders] of ordersOf) {
    const state = moved(mine, does(verb));
    const first = await run(state);
    t.match(
      first.orders,
      orders.map((order) => ({ ...order, principal: ana })),
      verb,
    );
    const again = await run(state);
    t.same(
      again.orders.map(({ id }) => id),
      first.orders.map(({ id }) => id),
      `${verb} again`,
    );
    const done = verb === "split" ? [{ groupId: "G1", outcome: "DONE" }] : undefined;
    t.match(
      first.notes.map(({ data }) => (data as { groups: unknown }).groups)[0],
      done,
      "only a split is done at once",
    );
    const refused = await run(state, new Problem("conflict/state", "Not now."));
    t.match(refused.notes[0], {
      name: "review.note-action",
      entity: "XN-I",
      data: { groups: [{ outcome: "REFUSED", detail: "Not now." }] },
    });
    t.equal(refused.notes.length, orders.length);
    for (const passing of [
      new Problem("upstream/unavailable", "Away."),
      new Problem("conflict/concurrent-write", "Busy."),
      new TypeError("a bug"),
    ])
      await t.rejects(run(state, passing), passing, "what passes is tried again");
    sent.length = 0;
  }
  const noteDone = command("note-action", {
    actionId: moved(mine, does("rebook")).actions?.[0]?.actionId,
    groups: [{ groupId: "G1", outcome: "DONE" }],
  });
  const half = moved(moved(mine, does("rebook")), noteDone);
  t.match((await run(half)).orders, [{ data: { groupId: "G2" } }], "only what is left");
  await t.rejects(run(undefined), new NotYet("The item is not there yet."));
  await t.rejects(run(mine), new NotYet("The action is not there yet."));
});

t.test("how it went: kept, shown, and what it does to the item", async (t) => {
  const begun = moved(mine, does("rebook"));
  const actionId = begun.actions?.[0]?.actionId;
  const note = (...groups: [string, ActionOutcome][]) =>
    command("note-action", {
      actionId,
      groups: groups.map(([groupId, outcome]) => ({ groupId, outcome, detail: `It was ${outcome}.` })),
    });
  const closed = { ...terms, caseIsOpen: false };
  const shown = (state: ReviewItem) => reviewView("XN-I", state, 1, minutesLater(5));
  t.match(shown(begun), {
    actions: [
      {
        action: "REBOOK",
        state: "UNDER_WAY",
        by: ana.urn,
        reason,
        hotelUrn,
        groups: [{ groupId: "G1" }, {}],
      },
    ],
    overdue: false,
  });
  t.notOk("waveId" in (shown(begun).actions[0]?.groups[0] ?? {}));
  const table: [Received[], string, number][] = [
    [[note(["G1", "DONE"])], "UNDER_WAY", 0],
    [[note(["G1", "DONE"], ["G2", "DONE"])], "DONE", 0],
    [[note(["G1", "DONE"]), note(["G2", "FAILED"])], "PARTIAL", 1],
    [[note(["G1", "REFUSED"], ["G2", "FAILED"])], "FAILED", 1],
    [[note(["G1", "DONE"], ["G2", "DONE"]), note(["G1", "FAILED"])], "DONE", 0],
    [[note(["G9", "FAILED"])], "UNDER_WAY", 0],
  ];
  for (const [notes, state, attempted] of table) {
    const then = notes.reduce((at, move) => moved(at, move), begun);
    t.match(shown(then), { state: "CLAIMED", actions: [{ state }] }, state);
    t.equal(then.attemptedHotels.length, 1 + attempted, `${state}: hotels tried`);
  }
  t.same(decideReview(mine, note(["G1", "DONE"]), terms), [], "of an action that is not its own");

  t.equal(
    codeOf(() => decideReview(begun, resolved, terms)),
    "conflict/state UNDER_WAY",
    "there is a room: not before the action has ended",
  );
  for (const outcome of ["DONE", "FAILED", "REFUSED"] as const)
    t.match(moved(moved(begun, note(["G1", outcome], ["G2", outcome])), resolved), { status: "RESOLVED" });
  const settled = moved(begun, command("resolve", { ...done, resolution: "SETTLED" }, ana));
  t.match(settled, { status: "RESOLVED" }, "none is needed: at any time");
  const late = decideReview(settled, note(["G1", "FAILED"]), terms);
  t.match(late, [
    { type: "review.action-noted" },
    { type: "review.reinstated", data: { dueAt: minutesLater(15) } },
  ]);
  t.match(late.reduce<ReviewItem>(evolveReview, settled), { status: "OPEN" }, "nobody is left to nobody");
  const calm: [string, ReviewItem, Received][] = [
    ["done after all", settled, note(["G1", "DONE"])],
    ["refused: nothing was tried", settled, note(["G1", "REFUSED"])],
    ["the case was closed", moved(begun, withdraw, closed), note(["G1", "FAILED"])],
  ];
  for (const [what, state, move] of calm)
    t.same(
      decideReview(state, move, terms).map(({ type }) => type),
      ["review.action-noted"],
      what,
    );

  for (const [verb, state] of [
    ["relax", "FAILED"],
    ["rebook", "UNDER_WAY"],
  ] as const) {
    const reopened = moved(moved(moved(mine, does(verb)), withdraw, closed), changed("reinstate", 30));
    t.match(shown(reopened), { state: "OPEN", actions: [{ state }] }, `${verb} over a closing`);
  }

  const elsewhere = command("open", { ...failed, origin: "amendment" });
  const changing = moved(after(elsewhere, claimed) as ReviewItem, does("rebook"));
  const all = command("note-action", {
    ...(note(["G1", "DONE"], ["G2", "DONE"]).data as object),
    actionId: changing.actions?.[0]?.actionId,
  });
  t.match(
    moved(changing, all),
    { status: "RESOLVED", resolution: "HOUSED" },
    "another hotel was all that was missing",
  );
});

t.test("an item is given, left and escalated", async (t) => {
  const sue = { ...ana, urn: "urn:user:sue", role: "OPS_SUPERVISOR" as const };
  const assign = (userUrn: string) => command("assign", { userUrn, reason }, sue);
  t.match(moved(after(opened) as ReviewItem, assign(ben.urn)), { status: "CLAIMED", assignedTo: ben.urn });
  t.match(moved(mine, assign(ben.urn)), { assignedTo: ben.urn }, "also what another has claimed");
  t.same(decideReview(mine, assign(ana.urn), terms), []);
  t.throws(() => decideReview(after(opened, resolved), assign(ben.urn), terms), { code: "conflict/state" });
  const left = moved(mine, command("release", {}, ana));
  t.match(left, { status: "OPEN" });
  t.notOk("assignedTo" in left || "claimedAt" in left);
  t.same(decideReview(left, command("release", {}, ana), terms), []);
  t.equal(
    codeOf(() => decideReview(mine, command("release", {}, ben), terms)),
    "conflict/state CLAIMED urn:user:ana",
  );

  const low = after(command("open", { ...failed, priority: "LOW" })) as ReviewItem;
  const escalate = (minutes: number, sla = reviewSlaDefault) =>
    [command("escalate", { reason }, sue, minutesLater(minutes)), { ...terms, sla }] as const;
  /** Minutes since it was opened, then priority and minute of the deadline. */
  const table: [number, string, number][] = [
    [0, "MEDIUM", 60],
    [100, "MEDIUM", 160],
    [220, "MEDIUM", 240],
  ];
  for (const [at, priority, due] of table)
    t.match(moved(low, ...escalate(at)), { priority, dueAt: minutesLater(due), breaches: 0 }, `at ${at}`);
  /** Also of a deadline that has passed, which is missed. */
  for (const [at, due] of [
    [240, 300],
    [250, 300],
    [301, 300],
  ] as const)
    t.match(
      moved(low, ...escalate(at)),
      { priority: "MEDIUM", dueAt: minutesLater(due), breaches: 1, overdue: false },
      `at ${at}`,
    );
  t.match(decideReview(low, ...escalate(250)), [
    { type: "review.escalated", data: { by: sue.urn, raised: { priority: "MEDIUM" } } },
    { type: "review.sla-breached" },
  ]);
  const own = escalate(0, { HIGH: 1, MEDIUM: 2, LOW: 3 });
  t.match(moved(low, ...own), { dueAt: minutesLater(2) }, "by the airline's own minutes");
  const high = moved(moved(low, ...escalate(0)), ...escalate(1));
  t.match(high, { priority: "HIGH", dueAt: minutesLater(16) });
  const again = decideReview(high, ...escalate(2));
  t.match(again, [{ type: "review.escalated", data: { by: sue.urn, reason, raised: undefined } }]);
  t.match(moved(high, ...escalate(2)), { priority: "HIGH", dueAt: minutesLater(16) });
  const pages = reviewItems.outgoing?.(again[0] as ReviewEvent, high, escalate(2)[0], "XN-I");
  t.match(pages, [{ to: "internal", type: "review.escalated", data: { priority: "HIGH", raised: false } }]);
  t.throws(() => decideReview(after(opened, resolved), ...escalate(1)), { code: "conflict/state" });
});
