// The rules of manual review items, as tables: what opens one, who may work it, what a missed deadline does.
import t from "tap";
import { decideReview, reviewIdOf } from "../../../actors/review/decide.ts";
import { reviewItems } from "../../../actors/review/service.ts";
import { evolveReview, type ReviewEvent, type ReviewItem } from "../../../actors/review/state.ts";
import type { Received } from "../../../actors/runtime/decider.ts";
import { messagesOf } from "../../../actors/runtime/handle.ts";
import type { Principal } from "../../../schemas/command.ts";
import { Problem } from "../../../schemas/problems.ts";
import type { OpenReview } from "../../../schemas/review.ts";
import { parseUrn } from "../../../schemas/urn.ts";

const start = new Date("2026-11-21T21:00:00.000Z");
const minutesLater = (minutes: number) => new Date(start.getTime() + minutes * 60_000);
const caseId = "XN-01KAMVW9G0ABCDEFGHJKMNPQRS";

const failed: OpenReview = {
  caseId,
  airport: "JFK",
  category: "BOOKING_FAILED",
  origin: "booking",
  detail: "Every hotel refused.",
  attemptedHotels: [{ hotelUrn: "urn:hotel:jfk-garden-court", reason: "sold out" }],
  affectedGroups: ["G1", "G2"],
};

const system: Principal = { surface: "system", tenant: "XN", urn: "urn:user:system-case" };
const ana: Principal = { surface: "operator", tenant: "XN", urn: "urn:user:ana", role: "AIRPORT_OPERATOR" };
const ben: Principal = { ...ana, urn: "urn:user:ben" };
const atLax: Principal = { ...ana, urn: "urn:user:lax", airport: "LAX" };
const atJfk: Principal = { ...ana, urn: "urn:user:jfk", airport: "JFK" };

const command = (name: string, data: unknown = {}, principal = system, now = start): Received => ({
  id: "c1",
  name: `review.${name}`,
  tenant: "XN",
  entity: "",
  principal,
  correlationUrn: "urn:correlation:x",
  traceparent: "00-0-0-01",
  issuedAt: now.toISOString(),
  data,
  now,
});

const after = (...commands: Received[]): ReviewItem | undefined =>
  commands.reduce<ReviewItem | undefined>(
    (state, each) => decideReview(state, each).reduce<ReviewItem | undefined>(evolveReview, state),
    undefined,
  );
const done = { resolution: "REBOOKED", reason: "Found a room by phone" };
const opened = command("open", failed);
const claimed = command("claim", {}, ana);
const resolved = command("resolve", done, ana);

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
  const missed = command("breach-sla", { dueAt: minutesLater(15).toISOString() }, system, minutesLater(15));
  t.match(told(after(opened), missed), [
    { type: "review.sla-breached", data: { priority: "HIGH", raised: false, breaches: 1 } },
    { type: "audit.recorded", data: { action: "review.breach-sla", principal: "urn:user:system-case" } },
  ]);
});
