// Vendors' answers that come late, twice or not at all, as tables, and what is told of a step that has an answer.
import t from "tap";
import type { SubCaseEvent } from "../../../actors/sub-case/state.ts";
import { urn } from "../../../schemas/urn.ts";
import { evening, eventsOf, givenOf, secondsLater } from "../../harness/given.ts";
import {
  answer,
  calls,
  opened,
  progressed,
  ready,
  reissue,
  review,
  rules,
  stateOf,
  story,
  subCaseId,
} from "./group-story.ts";

t.test("late and repeated answers change nothing", async (t) => {
  const given = givenOf(t, rules, subCaseId);
  const second = story(answer("hold", "refused"));
  for (const outcome of ["done", "refused", "unavailable", "in-doubt"] as const) {
    for (const verb of ["hold", "book", "issue-card", "cancel"] as const)
      given(...second)
        .when(answer(verb, outcome))
        .nothing();
    given(...ready)
      .when(answer("send", outcome))
      .nothing();
    given(opened()).when(answer("hold", outcome)).nothing();
  }
  given(...story(answer("hold")))
    .when(answer("hold", "refused"))
    .nothing();
});

t.test("a call in doubt for the 8th time is somebody's work, once", async (t) => {
  const given = givenOf(t, rules, subCaseId);
  const at = (times: number) =>
    Array.from({ length: times }, (_, i) => [
      ...(i === 0 ? [] : [reissue(100 * i)]),
      answer("book", "in-doubt", { now: secondsLater(100 * i) }),
    ]).flat();
  const told = review("BOOKING_FAILED", "in-doubt", { occurrence: `book ${subCaseId}.room.1.1` });
  const asked = (times: number) =>
    eventsOf(rules, story(answer("hold")), ...at(times - 1), reissue(100 * (times - 1)));
  for (const times of [7, 9, 20])
    given(...asked(times))
      .when(answer("book", "in-doubt", { now: secondsLater(100 * times) }))
      .sends(progressed(2 / 8, `stayhub does not say whether it was done; asked ${times} times`));
  const stillAsked = progressed(2 / 8, "stayhub does not say whether it was done; asked 8 times");
  given(...asked(8))
    .when(answer("book", "in-doubt", { now: secondsLater(800) }))
    .then({ type: "subcase.call-postponed", data: { call: { tries: 8, doubt: true } } })
    .sends(stillAsked, told);
  given(...asked(8))
    .when(answer("book", "unavailable", { now: secondsLater(800) }))
    .sends(stillAsked, told);
  for (const [times, items] of [
    [7, []],
    [8, [told]],
    [9, []],
  ] as const)
    given(...asked(times))
      .when(reissue(100_000))
      .then({ type: "subcase.call-reissued", data: { call: { tries: times + 1, doubt: true } } })
      .sends(
        { to: "command", name: "vendor-stayhub.book" },
        progressed(2 / 8, `stayhub has not answered; asked ${times + 1} times`),
        ...items,
      );
});

t.test("graph events name the step that began, and the one that ended", async (t) => {
  const given = givenOf(t, rules, subCaseId);
  const here = story();
  const stepUrns = (events: SubCaseEvent[]) => stateOf(events).steps.map(({ stepId }) => urn("step", stepId));
  const [refused = "", next = ""] = stepUrns(eventsOf(rules, here, answer("hold", "refused")));
  t.not(refused, next, "the next hotel's hold is a step of its own");
  given(...here)
    .when(answer("hold", "refused"))
    .sends(
      {
        to: "internal",
        type: "graph.step-completed",
        data: { name: "hold", stepUrn: refused, result: "REFUSED", completedAt: evening },
      },
      { to: "internal", type: "graph.step-started", data: { name: "hold", stepUrn: next } },
      calls("stayhub", "hold", "room.1.2"),
    );
});
