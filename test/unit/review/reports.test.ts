// What passengers report, as tables: the first report opens an item, those after it are added until it is resolved, urgent ones raise it,
// and their words stand nowhere but on the item.
import t from "tap";
import { decideReview } from "../../../actors/review/decide.ts";
import { openingOf } from "../../../actors/review/reports.ts";
import { reviewItems } from "../../../actors/review/service.ts";
import { evolveReview, type ReviewEvent, type ReviewItem } from "../../../actors/review/state.ts";
import { reviewView } from "../../../actors/review/view.ts";
import type { PassengerReport, ProblemCategory } from "../../../schemas/passenger-problem.ts";
import { reviewSlaDefault } from "../../../schemas/review.ts";
import { givenOf } from "../../harness/given.ts";
import { ana, caseId, changed, command, done, housed, minutesLater, start } from "./review-item.ts";

const rules = {
  decide: decideReview,
  evolve: evolveReview,
  outgoing: (...given: Parameters<NonNullable<typeof reviewItems.outgoing>>) =>
    reviewItems.outgoing?.(...given) ?? [],
};
const given = (t: Parameters<typeof givenOf>[0], ...events: ReviewEvent[]) =>
  givenOf<ReviewItem, ReviewEvent>(t, rules, "XN-REVIEW")(...events);

let reports = 0;
const words = "The desk has no room under our name.";
const said = (category: ProblemCategory = "ROOM", more: Partial<PassengerReport> = {}, minutes = 0) => {
  const report: PassengerReport = {
    ...{ reportId: `R${++reports}`, caseId, airport: "JFK", groupId: "G1", category, text: words },
    ...{ passengerUrn: "urn:passenger:XN-ADA", at: minutesLater(minutes).toISOString() },
    ...more,
  };
  return command("add-report", { ...report, occurrence: 0 }, undefined, minutesLater(minutes));
};
const events = (...commands: ReturnType<typeof said>[]): ReviewEvent[] => {
  const past: ReviewEvent[] = [];
  for (const each of commands)
    past.push(...decideReview(past.reduce<ReviewItem | undefined>(evolveReview, undefined), each));
  return past;
};
const itemOf = (past: ReviewEvent[]) =>
  past.reduce<ReviewItem | undefined>(evolveReview, undefined) as ReviewItem;

t.test("the first opens an item, the next is added", async (t) => {
  const first = said();
  given(t)
    .when(first)
    .then(
      {
        type: "review.opened",
        data: {
          ...{ category: "PARTIAL_FULFILLMENT", origin: "passenger", priority: "MEDIUM" },
          ...{ affectedGroups: ["G1"], detail: "The passengers report a problem: ROOM." },
        },
      },
      { type: "review.reported", data: { report: { category: "ROOM", text: words } } },
    )
    .sends(
      { to: "internal", type: "review.opened" },
      { to: "internal", type: "review.reported", data: { problem: "ROOM" } },
    );
  const past = events(first);
  given(t, ...past)
    .when(first)
    .nothing();
  given(t, ...past)
    .when(said("TRANSPORT", {}, 5))
    .then({ type: "review.reported" });
  const seen = reviewView("XN-R", itemOf(events(first, said("TRANSPORT", {}, 5))), 2, start);
  t.match(seen.reports, [
    { category: "ROOM", text: words, passengerUrn: "urn:passenger:XN-ADA", at: start.toISOString() },
    { category: "TRANSPORT", at: minutesLater(5).toISOString() },
  ]);
  t.notOk("reportId" in (seen.reports?.[0] ?? {}));
});

t.test("their words stand on the item alone", async (t) => {
  const told = said();
  const past = events(told);
  const after = itemOf(past);
  const change = { id: "XN-R", command: told, before: undefined, after, events: past };
  t.notMatch(JSON.stringify(reviewItems.audit?.(change)), words, "not in the trail");
  for (const event of past)
    t.notMatch(JSON.stringify(reviewItems.outgoing?.(event, after, told, "XN-R")), words, event.type);
});

t.test("who is in danger is heard of first", async (t) => {
  given(t)
    .when(said("SAFETY"))
    .then({ type: "review.opened", data: { priority: "HIGH" } }, { type: "review.reported" });
  given(t, ...events(said()))
    .when(said("ACCESSIBILITY", {}, 10))
    .then({ type: "review.reported" }, { type: "review.escalated", data: { raised: { priority: "HIGH" } } })
    .leads({ priority: "HIGH", dueAt: minutesLater(10 + reviewSlaDefault.HIGH) });
  given(t, ...events(said("SAFETY")))
    .when(said("SAFETY", {}, 5))
    .then({ type: "review.reported" });
  given(t, ...events(said()))
    .when(said("SAFETY", {}, 55))
    .leads({ priority: "HIGH", dueAt: minutesLater(reviewSlaDefault.MEDIUM) });
});

t.test("a resolved item takes no more, a closed case's does", async (t) => {
  const resolved = events(said(), command("resolve", done, ana));
  given(t, ...resolved)
    .when(said("CARD"))
    .refused("conflict/state", { state: "RESOLVED" });
  const closed = events(said(), changed("withdraw", 1));
  given(t, ...closed)
    .when(said("SAFETY"))
    .then({ type: "review.reported" })
    .leads({ status: "RESOLVED", priority: "MEDIUM" });
  const late = decideReview(undefined, said("SAFETY"), { sla: reviewSlaDefault, caseIsOpen: false });
  t.strictSame(
    late.map(({ type }) => type),
    ["review.opened", "review.resolved", "review.reported"],
  );
  t.match(itemOf(late), { status: "RESOLVED", resolution: "CASE_CLOSED", reports: [{ text: words }] });
});

t.test("no room and no other group settles it", async (t) => {
  for (const note of [housed("G1"), command("note-group-housed", { groupId: "G1", resolution: "MERGED" })])
    given(t, ...events(said()))
      .when(note)
      .nothing();
});

t.test("it keeps the newest", async (t) => {
  const many = itemOf(events(...Array.from({ length: 35 }, (_, i) => said("OTHER", { text: `No. ${i}` }))));
  t.equal(many.reports?.length, 30);
  t.equal(many.reports?.at(-1)?.text, "No. 34");
  const { occurrence: _, ...report } = said().data as PassengerReport & { occurrence: number };
  t.match(openingOf(report, 3), { occurrence: 3 });
});
