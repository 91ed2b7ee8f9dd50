// The rules of manual review items, as tables: what opens one, who may work it, what a missed deadline does.
import t from "tap";
import { decideReview, reviewIdOf } from "../../../actors/review/decide.ts";
import { reviewActor, reviewItems } from "../../../actors/review/service.ts";
import { evolveReview, type ReviewEvent, type ReviewItem } from "../../../actors/review/state.ts";
import type { Received } from "../../../actors/runtime/decider.ts";
import type { ActorContext } from "../../../actors/runtime/host.ts";
import { messagesOf } from "../../../actors/runtime/messages.ts";
import type { Command } from "../../../schemas/command.ts";
import { Problem } from "../../../schemas/problems.ts";
import { type OpenReview, reviewSlaDefault } from "../../../schemas/review.ts";
import { parseUrn } from "../../../schemas/urn.ts";
import {
  after,
  ana,
  atJfk,
  atLax,
  ben,
  caseId,
  changed,
  claimed,
  command,
  done,
  failed,
  housed,
  minutesLater,
  opened,
  resolved,
  start,
  system,
  withdraw,
} from "./review-item.ts";

t.test("what an item is", async (t) => {
  const item = after(opened);
  t.match(item, { status: "OPEN", priority: "HIGH", breaches: 0, dueAt: minutesLater(15) });
  t.equal(after(command("open", { ...failed, category: "PAYMENT_FAILED" }))?.priority, "MEDIUM");
  t.equal(after(command("open", { ...failed, priority: "LOW" }))?.priority, "LOW", "the sender may set it");

  const id = reviewIdOf(failed);
  t.equal(parseUrn(`urn:review:${id}`)?.tenant, "XN");
  t.equal(id.slice(0, 13), caseId.slice(0, 13), "its time is the case's");
  const same: [string, OpenReview, boolean][] = [
    ["groups in another order", { ...failed, affectedGroups: ["G2", "G1"] }, true],
    ["another detail", { ...failed, detail: "Again.", attemptedHotels: [] }, true],
    ["another origin", { ...failed, origin: "rollback" }, false],
    ["another category", { ...failed, category: "PAYMENT_FAILED" }, false],
    ["other groups", { ...failed, affectedGroups: ["G1"] }, false],
    ["groups that read alike", { ...failed, affectedGroups: ["G1,G2"] }, false],
    ["another occurrence", { ...failed, occurrence: 2 }, false],
    ["another case", { ...failed, caseId: `${caseId.slice(0, -1)}T` }, false],
  ];
  for (const [what, data, isSame] of same) t.equal(reviewIdOf(data) === id, isSame, what);
});

t.test("which moves are taken", async (t) => {
  const table: [string, ReviewItem | undefined, Received, ReviewEvent["type"] | "nothing" | string][] = [
    ["open again", after(opened), opened, "nothing"],
    ["open again once resolved", after(opened, resolved), opened, "nothing"],
    ["open for another airline's case", undefined, { ...opened, tenant: "QT" }, "auth/foreign-tenant"],
    ["claim", after(opened), claimed, "review.claimed"],
    ["claim again", after(opened, claimed), claimed, "nothing"],
    ["claim another's", after(opened, claimed), command("claim", {}, ben), "conflict/state"],
    ["claim a resolved one", after(opened, resolved), claimed, "conflict/state"],
    ["resolve unclaimed", after(opened), resolved, "review.resolved"],
    ["resolve one's own", after(opened, claimed), resolved, "review.resolved"],
    ["resolve another's", after(opened, claimed), command("resolve", done, ben), "conflict/state"],
    ["resolve again alike", after(opened, resolved), resolved, "nothing"],
    [
      "resolve again otherwise",
      after(opened, resolved),
      command("resolve", { ...done, resolution: "CLOSED" }, ana),
      "conflict/state",
    ],
    ["resolve at one's airport", after(opened), command("resolve", done, atJfk), "review.resolved"],
    ["resolve elsewhere", after(opened), command("resolve", done, atLax), "auth/foreign-airport"],
    ["claim elsewhere", after(opened), command("claim", {}, atLax), "auth/foreign-airport"],
    ["resolve nothing", undefined, resolved, "not-found/resource"],
  ];
  for (const [what, state, move, expected] of table) {
    let outcome: string;
    try {
      outcome = decideReview(state, move)[0]?.type ?? "nothing";
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      outcome = error.code;
    }
    t.equal(outcome, expected, what);
  }
  t.throws(
    () => decideReview(after(opened, claimed), command("claim", {}, ben)),
    new Problem("conflict/state", "Another operator has claimed this item.", {
      state: "CLAIMED",
      lockedBy: "urn:user:ana",
    }),
  );
});

t.test("missed deadlines", async (t) => {
  const breach = (minutes: number, dueMinutes = minutes) =>
    command("breach-sla", { dueAt: minutesLater(dueMinutes).toISOString() }, system, minutesLater(minutes));
  const low = command("open", { ...failed, priority: "LOW" });
  t.match(after(low), { priority: "LOW", dueAt: minutesLater(240) });
  const once = after(low, breach(240));
  t.match(once, {
    priority: "MEDIUM",
    dueAt: minutesLater(300),
    breaches: 1,
    overdue: false,
    status: "OPEN",
  });
  t.match(after(low, breach(400, 240)), { dueAt: minutesLater(300) }, "counted from the missed deadline");
  const thrice = after(low, breach(240), breach(300), breach(315));
  t.match(thrice, { priority: "HIGH", breaches: 3, overdue: true });

  const timers = (item: ReviewItem | undefined) => reviewItems.timers?.(item as ReviewItem) ?? [];
  t.strictSame(timers(once), [{ name: "breach-sla", dueAt: minutesLater(300) }]);
  t.strictSame(timers(thrice), [], "nothing is left to raise");
  t.strictSame(timers(after(low, resolved)), [], "resolved in time");
  t.equal(timers(after(low, claimed)).length, 1, "a claimed item has its deadline too");

  t.strictSame(decideReview(after(low), breach(240, 15)), [], "a timer of an older deadline is nothing");
  t.strictSame(decideReview(after(low), breach(239, 240)), [], "early");
  t.strictSame(decideReview(after(low, resolved), breach(240)), [], "resolved");
  t.strictSame(decideReview(thrice, breach(315)), [], "overdue already");

  const closed = { sla: reviewSlaDefault, caseIsOpen: false };
  t.match(
    decideReview(after(low), breach(240), closed),
    [{ type: "review.resolved", data: { resolution: "CASE_CLOSED", by: system.urn } }],
    "opened while its case was being closed",
  );
  t.strictSame(decideReview(after(low), breach(239, 240), closed), []);
});

t.test("a room found after all ends the items about rooms", async (t) => {
  const item = (more: Partial<OpenReview>) => after(command("open", { ...failed, ...more }));
  /** Category and origin, and whether a room settles it. */
  const table: [OpenReview["category"], string, boolean][] = [
    ["BOOKING_FAILED", "booking", true],
    ["ALLOCATION_FAILED", "allocation", true],
    ["PARTIAL_FULFILLMENT", "demand", true],
    ["BOOKING_FAILED", "rollback", false],
    ["BOOKING_FAILED", "in-doubt", false],
    ["PARTIAL_FULFILLMENT", "transport", false],
    ["PARTIAL_FULFILLMENT", "notify", false],
    ["PAYMENT_FAILED", "card", false],
    ["POLICY_VIOLATION", "planning", false],
    ["MIXED_TIER_GROUP", "planning", false],
    ["DATA_INCOMPLETE", "manifest", false],
  ];
  for (const [category, origin, about] of table) {
    const events = decideReview(item({ category, origin, affectedGroups: ["G1"] }), housed("G1"));
    t.strictSame(
      events.map(({ type }) => type),
      about ? ["review.group-housed", "review.resolved"] : [],
      `${category} by ${origin}`,
    );
  }
  const two = item({});
  t.strictSame(decideReview(two, housed("G1")), [{ type: "review.group-housed", data: { groupId: "G1" } }]);
  const half = after(opened, housed("G1"));
  t.match(half, { status: "OPEN", housedGroups: ["G1"] }, "somebody still has none");
  t.strictSame(decideReview(half, housed("G1")), [], "told twice is told once");
  t.strictSame(decideReview(half, housed("G9")), [], "a group of somebody else's");
  t.match(after(opened, housed("G2"), housed("G1")), {
    status: "RESOLVED",
    resolution: "HOUSED",
    assignedTo: system.urn,
    resolvedAt: start,
    housedGroups: ["G2", "G1"],
  });
  t.match(after(opened, claimed, housed("G1"), housed("G2")), { status: "RESOLVED" }, "a claimed one, too");
  t.strictSame(decideReview(after(opened, resolved), housed("G1")), [], "a resolved one stands");
  t.throws(() => decideReview(undefined, housed("G1")), { code: "not-found/resource" });
});

t.test("a room is news to an item only if it is younger", async (t) => {
  const at = (minutes: number) => minutesLater(minutes).toISOString();
  const arisen = { ...command("open", { ...failed, affectedGroups: ["G1"] }), issuedAt: at(10) };
  const reopened = [
    { ...changed("withdraw", 20), issuedAt: at(20) },
    { ...changed("reinstate", 30), issuedAt: at(30) },
  ];
  const told = (more: object, issuedAt: string) => ({
    ...command("note-group-housed", { groupId: "G1", ...more }),
    issuedAt,
  });
  /** What had happened, what is told, and whether it counts. */
  const table: [string, Received[], Received, boolean][] = [
    ["of an earlier try", [arisen], told({ at: at(9) }, at(9)), false],
    ["of an earlier try, heard late by the case", [arisen], told({ at: at(9) }, at(11)), false],
    ["of a later one", [arisen], told({ at: at(11) }, at(12)), true],
    ["of the same moment", [arisen], told({ at: at(10) }, at(10)), true],
    ["before a reopening", [arisen, ...reopened], told({ at: at(29) }, at(40)), false],
    ["after a reopening", [arisen, ...reopened], told({ at: at(31) }, at(31)), true],
    ["merged away before", [arisen], told({ resolution: "MERGED" }, at(9)), false],
    ["merged away since", [arisen], told({ resolution: "MERGED" }, at(11)), true],
  ];
  for (const [what, moves, note, counts] of table)
    t.equal(decideReview(after(...moves), note).length > 0, counts, what);
  const { arisenAt: _, ...before } = after(arisen) as ReviewItem;
  t.equal(
    decideReview(before as ReviewItem, told({ at: at(9) }, at(9))).length,
    2,
    "kept before it was noted",
  );
});

t.test("who has a room when the item comes to the desks needs nobody", async (t) => {
  const sla = reviewSlaDefault;
  const types = (state: ReviewItem | undefined, move: Received, housed: string[]) =>
    decideReview(state, move, { sla, caseIsOpen: true, housed }).map(({ type }) => type);
  t.strictSame(types(undefined, opened, []), ["review.opened"]);
  t.strictSame(types(undefined, opened, ["G1"]), ["review.opened", "review.group-housed"]);
  const all = ["review.group-housed", "review.group-housed", "review.resolved"];
  t.strictSame(types(undefined, opened, ["G2", "G1"]), ["review.opened", ...all]);
  const back = ["review.case-noted", "review.reinstated"];
  t.strictSame(types(after(opened, withdraw), changed("reinstate", 30), ["G1", "G2"]), [...back, ...all]);
  t.strictSame(types(after(opened), opened, ["G1"]), [], "once opened it is settled");
});

t.test("a housed group, a closed or a reopened case reaches each item concerned", async (t) => {
  const asked: unknown[] = [];
  const collection = {
    find: (filter: unknown) => {
      asked.push(filter);
      return { toArray: async () => [{ _id: "XN-I1" }, { _id: "XN-I2" }] };
    },
  };
  const documents = { tenant: () => ({ collection: () => collection }) };
  const { commands = {} } = reviewActor({ documents } as unknown as ActorContext);
  const changedAt = start.toISOString();
  const onDesk = { status: { $in: ["OPEN", "CLAIMED"] } };
  const reached = ["XN-I1", "XN-I2"];
  const table: [string, object, object, string][] = [
    ["note-housed", { groupId: "G1" }, { ...onDesk, affectedGroups: "G1" }, "note-group-housed"],
    [
      "note-manifest",
      {},
      { ...onDesk, origin: "flight-feed", category: "DATA_INCOMPLETE", affectedGroups: [] },
      "note-manifest-come",
    ],
    ["close-case", { reason: "All are home", changedAt }, onDesk, "withdraw"],
    ["reopen-case", { changedAt }, { $or: [onDesk, { resolution: "CASE_CLOSED" }] }, "reinstate"],
  ];
  for (const [name, data, filter, verb] of table) {
    const sent: Command[] = [];
    const dispatch = async (to: string, each: Command) => {
      t.equal(to, verb);
      sent.push(each);
    };
    const move = { ...command(name, data), entity: caseId };
    for (let time = 0; time < 2; time++) await commands[name]?.(move, dispatch as never);
    t.strictSame(asked.pop(), { caseId, ...filter }, name);
    const half = sent.slice(0, reached.length);
    t.match(
      half,
      reached.map((entity) => ({ name: `review.${verb}`, entity, data })),
      name,
    );
    const ids = sent.map(({ id }) => id);
    t.strictSame(ids.slice(reached.length), ids.slice(0, reached.length), "a repeat sends the same commands");
    t.equal(new Set(ids).size, reached.length, "each item has its own");
  }
});

t.test("nobody need ask for passengers who are known by now", async (t) => {
  const come = command("note-manifest-come");
  t.match(after(opened, claimed, come), { status: "RESOLVED", resolution: "MANIFEST_RECEIVED" });
  t.match(after(opened, resolved, come), { resolution: done.resolution }, "a person's word stands");
});

t.test("a person's resolution sends the case back to its flow, automation's doesn't", async (t) => {
  const sent = (before: ReviewItem | undefined, move: Received) => {
    const events = decideReview(before, move);
    const state = events.reduce<ReviewItem | undefined>(evolveReview, before) as ReviewItem;
    return events.flatMap((event) =>
      (reviewItems.outgoing?.(event, state, move, reviewIdOf(failed)) ?? []).filter(
        ({ to }) => to === "command",
      ),
    );
  };
  t.strictSame(sent(after(opened), resolved), [
    {
      to: "command",
      name: "case.note-review",
      entity: caseId,
      data: {
        reviewId: reviewIdOf(failed),
        category: "BOOKING_FAILED",
        origin: "booking",
        affectedGroups: ["G1", "G2"],
        resolution: "REBOOKED",
      },
    },
  ]);
  const nothing: [string, ReviewItem | undefined, Received][] = [
    ["opened", undefined, opened],
    ["claimed", after(opened), claimed],
    ["resolved again alike", after(opened, resolved), resolved],
    ["housed", after(opened, housed("G1")), housed("G2")],
    ["withdrawn", after(opened), withdraw],
    ["reinstated", after(opened, withdraw), changed("reinstate", 30)],
  ];
  for (const [what, state, move] of nothing) t.strictSame(sent(state, move), [], what);
});

t.test("what a change tells: one event, one audit entry, both naming the case", async (t) => {
  const told = (before: ReviewItem | undefined, move: Received) => {
    const events = decideReview(before, move);
    const state = events.reduce<ReviewItem | undefined>(evolveReview, before) as ReviewItem;
    const change = { id: reviewIdOf(failed), command: move, before, after: state, events };
    return messagesOf(reviewItems, change).map(({ payload }) => JSON.parse(payload));
  };
  const caseUrn = `urn:case:${caseId}`;
  t.match(told(undefined, opened), [
    { type: "review.opened", case_urn: caseUrn, data: { priority: "HIGH", affectedGroups: ["G1", "G2"] } },
    { type: "audit.recorded", case_urn: caseUrn, data: { action: "review.open", before: null } },
  ]);
  t.match(told(after(opened, claimed), resolved), [
    { type: "review.resolved", data: { resolution: "REBOOKED", resolvedBy: "urn:user:ana" } },
    { name: "case.note-review", entity: caseId, data: { resolution: "REBOOKED" } },
    {
      type: "audit.recorded",
      data: {
        action: "review.resolve",
        principal: "urn:user:ana",
        reason: done.reason,
        before: { state: "CLAIMED" },
        after: { state: "RESOLVED", resolution: "REBOOKED" },
      },
    },
  ]);
  t.match(told(after(opened, housed("G1")), housed("G2")), [
    { type: "review.group-housed", data: { groupId: "G2", affectedGroups: ["G1", "G2"] } },
    { type: "review.resolved", data: { resolution: "HOUSED", resolvedBy: system.urn } },
    {
      type: "audit.recorded",
      data: { action: "review.note-group-housed", after: { state: "RESOLVED", resolution: "HOUSED" } },
    },
  ]);
  t.match(told(after(opened, claimed), withdraw), [
    { type: "review.resolved", data: { resolution: "CASE_CLOSED", reason: "All are home" } },
    { type: "audit.recorded", data: { action: "review.resolve", reason: "All are home" } },
  ]);
  t.match(told(after(opened, withdraw), changed("reinstate", 30)), [
    { type: "review.reinstated", data: { dueAt: minutesLater(45).toISOString() } },
    {
      type: "audit.recorded",
      data: { action: "review.reinstate", before: { state: "RESOLVED" }, after: { state: "OPEN" } },
    },
  ]);
  t.strictSame(told(after(opened), changed("reinstate", 30)), [], "who only hears of the case says nothing");
  const missed = command("breach-sla", { dueAt: minutesLater(15).toISOString() }, system, minutesLater(15));
  t.match(told(after(opened), missed), [
    { type: "review.sla-breached", data: { priority: "HIGH", raised: false, breaches: 1 } },
    { type: "audit.recorded", data: { action: "review.breach-sla", principal: "urn:user:system-case" } },
  ]);
});
