// What the closing and reopening of its case do to a review item, as tables.
import t from "tap";
import { decideReview } from "../../../actors/review/decide.ts";
import { reviewActor, reviewItems } from "../../../actors/review/service.ts";
import { evolveReview, type ReviewItem } from "../../../actors/review/state.ts";
import type { Received } from "../../../actors/runtime/decider.ts";
import type { ActorContext } from "../../../actors/runtime/host.ts";
import { Problem } from "../../../schemas/problems.ts";
import { reviewSlaDefault } from "../../../schemas/review.ts";
import {
  after,
  atLax,
  caseId,
  changed,
  claimed,
  command,
  failed,
  housed,
  minutesLater,
  opened,
  resolved,
  start,
  system,
  withdraw,
} from "./review-item.ts";

const closedTerms = { sla: reviewSlaDefault, caseIsOpen: false };

t.test("a closed case takes no work, and what is told late is kept for its reopening", async (t) => {
  const late = decideReview(undefined, opened, closedTerms);
  t.match(late, [
    { type: "review.opened" },
    { type: "review.resolved", data: { resolution: "CASE_CLOSED", by: system.urn } },
  ]);
  t.match(
    [
      ...late,
      ...decideReview(late.reduce(evolveReview, after(opened) as ReviewItem), changed("reinstate", 9)),
    ].reduce<ReviewItem | undefined>(evolveReview, undefined),
    { status: "OPEN", dueAt: minutesLater(24) },
  );
  for (const caseIsOpen of [{ caseIsOpen: true }, {}])
    t.equal(
      decideReview(undefined, opened, { sla: reviewSlaDefault, ...caseIsOpen })[0]?.type,
      "review.opened",
      "an open one does",
    );
  t.strictSame(decideReview(after(opened), opened, closedTerms), [], "what was opened before is settled");
  const closed = new Problem("conflict/state", "The case is closed and takes no further change.", {
    state: "CLOSED",
  });
  for (const state of [after(opened), after(opened, claimed), after(opened, resolved)])
    for (const move of [claimed, resolved]) t.throws(() => decideReview(state, move, closedTerms), closed);
  t.throws(() => decideReview(after(opened), command("claim", {}, atLax), closedTerms), {
    code: "auth/foreign-airport",
  });
  t.equal(
    decideReview(after(opened), withdraw, closedTerms).length,
    2,
    "the service itself still works on it",
  );

  const calls: unknown[] = [];
  const answering = (isClosed: boolean) =>
    ({
      tenants: { byCode: () => undefined },
      call: async (action: string, query: { params: unknown }) => {
        calls.push([action, query.params]);
        return action === "case.housed-groups" ? ["G1"] : isClosed;
      },
    }) as unknown as ActorContext;
  const [decider] = reviewActor(answering(false)).deciders ?? [];
  const sla = reviewSlaDefault;
  const groupIds = ["G1", "G2"];
  const askedOfRooms = [
    ["case.is-closed", { caseId }],
    ["case.housed-groups", { caseId, groupIds }],
  ];
  const comes: [Received, ReviewItem | undefined][] = [
    [opened, undefined],
    [changed("reinstate", 30), after(opened, withdraw)],
  ];
  for (const [move, state] of comes) {
    t.same(await decider?.gather?.(move, state), { sla, caseIsOpen: true, housed: ["G1"] });
    t.strictSame(calls.splice(0), askedOfRooms, "who has a room when it comes to the desks");
  }
  const card = command("open", { ...failed, category: "PAYMENT_FAILED", origin: "card" });
  t.same(await decider?.gather?.(card, undefined), { sla, caseIsOpen: true });
  t.strictSame(calls, [["case.is-closed", { caseId }]]);
  const ofClosed = await reviewActor(answering(true)).deciders?.[0]?.gather?.(opened, undefined);
  t.same(ofClosed, { sla, caseIsOpen: false });
  for (const move of [claimed, resolved])
    t.same(await decider?.gather?.(move, after(opened)), { sla, caseIsOpen: true }, "a person's work asks");
  const asked = calls.length;
  t.same(await decider?.gather?.(housed("G1"), after(opened)), { sla }, "the service's own does not");
  t.same(await decider?.gather?.(claimed, undefined), { sla }, "nor what isn't there");
  t.equal(calls.length, asked);
  for (const move of [withdraw, changed("reinstate", 30), command("breach-sla")])
    t.same(
      await decider?.gather?.(move, after(opened)),
      { sla, caseIsOpen: true },
      "but for what the case may have overtaken",
    );
});

t.test("the closing of its case takes an item off the desk", async (t) => {
  for (const state of [after(opened), after(opened, claimed), after(opened, housed("G1"))])
    t.match(decideReview(state, withdraw), [
      { type: "review.case-noted", data: { changedAt: start } },
      {
        type: "review.resolved",
        data: { resolution: "CASE_CLOSED", reason: "All are home", by: system.urn },
      },
    ]);
  t.strictSame(decideReview(after(opened, withdraw), withdraw), []);
  t.strictSame(decideReview(after(opened, resolved), withdraw), []);
  t.strictSame(reviewItems.timers?.(after(opened, withdraw) as ReviewItem), [], "and its deadline with it");
  t.throws(() => decideReview(after(opened, withdraw), resolved), { code: "conflict/state" });
});

t.test("what the case has overtaken changes nothing, whenever the item was opened", async (t) => {
  const sla = reviewSlaDefault;
  const late = decideReview(undefined, opened, closedTerms).reduce<ReviewItem | undefined>(
    evolveReview,
    undefined,
  );
  /** Where the item stands, what is told, whether the case is open now, and what comes of it. */
  const table: [ReviewItem | undefined, Received, boolean, string | undefined][] = [
    [after(opened), changed("withdraw", 10, 50), true, undefined],
    [after(opened), changed("withdraw", 10, 50), false, "RESOLVED"],
    [late, changed("reinstate", 10, 50), false, undefined],
    [late, changed("reinstate", 10, 50), true, "OPEN"],
  ];
  for (const [state, move, caseIsOpen, status] of table) {
    const events = decideReview(state, move, { sla, caseIsOpen });
    const then = events.length === 0 ? undefined : events.reduce(evolveReview, state as ReviewItem).status;
    t.equal(then, status, `${move.name} of a case that is ${caseIsOpen ? "open" : "closed"}`);
  }
});

t.test("the reopening of its case puts an item back as it was, with a new deadline", async (t) => {
  const closed = after(opened, claimed, withdraw) as ReviewItem;
  t.match(decideReview(closed, changed("reinstate", 30)), [
    { type: "review.case-noted", data: { changedAt: minutesLater(30) } },
    { type: "review.reinstated", data: { dueAt: minutesLater(45) } },
  ]);
  const back = after(opened, claimed, withdraw, changed("reinstate", 30)) as ReviewItem;
  t.match(back, { status: "OPEN", priority: "HIGH", dueAt: minutesLater(45), overdue: false });
  for (const key of ["assignedTo", "resolution", "reason", "resolvedAt"]) t.notOk(key in back, key);
  t.strictSame(reviewItems.timers?.(back), [{ name: "breach-sla", dueAt: minutesLater(45) }]);
  /** Closings (`-`) and openings (`+`) by the minute of the case's change, in the order of their arrival, and where it stands then. */
  const table: [string[], string][] = [
    [["-10"], "RESOLVED"],
    [["+20"], "OPEN"],
    [["-10", "+20"], "OPEN"],
    [["+20", "-10"], "OPEN"],
    [["-10", "+20", "-10"], "OPEN"],
    [["-10", "+20", "-30"], "RESOLVED"],
    [["+20", "-30", "-10"], "RESOLVED"],
    [["-30", "+20"], "RESOLVED"],
    [["-10", "+10"], "RESOLVED"],
    [["-10", "-30", "+20"], "OPEN"],
  ];
  for (const [told, status] of table) {
    const moves = told.map((one) => changed(one[0] === "-" ? "withdraw" : "reinstate", +one.slice(1), 90));
    t.equal(after(opened, ...moves)?.status, status, told.join(" "));
  }
  t.match(after(opened, resolved, changed("reinstate", 30)), { status: "RESOLVED", resolution: "REBOOKED" });
  const both = after(opened, housed("G1"), housed("G2"), changed("reinstate", 30));
  t.match(both, { status: "RESOLVED", resolution: "HOUSED" }, "only what the closing took away");
});
