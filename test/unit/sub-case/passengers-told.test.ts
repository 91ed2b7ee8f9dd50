// What the passengers' streams hear of a group beside its state, found by comparing what it was with what it is.
import t from "tap";
import { passengersTold } from "../../../actors/sub-case/passengers-told.ts";
import type { SubCaseEvent, SubCaseState } from "../../../actors/sub-case/state.ts";
import { eventsOf, received } from "../../harness/given.ts";
import { accept, assign, opened, ready, rules, stateOf, story, subCaseId } from "./group-story.ts";

const told = (before: SubCaseState | undefined, after: SubCaseState): string[] => {
  const command = received("sub-case.any", {});
  const events: SubCaseEvent[] = [];
  const messages = passengersTold({ id: subCaseId, command, before, after, events });
  for (const message of messages)
    t.match(message, { to: "internal", id: subCaseId, data: { subCaseUrn: `urn:sub-case:${subCaseId}` } });
  return messages.map((message) => ("type" in message ? message.type : ""));
};

t.test("members, and an offer that shows something else", async (t) => {
  const waiting = stateOf([opened()]);
  const offered = stateOf(eventsOf(rules, ready));
  const accepted = stateOf(eventsOf(rules, ready, accept));
  const { reservation, voucher, assignment } = offered;
  if (reservation === undefined || voucher === undefined || assignment === undefined)
    throw new Error("no room");
  const [first] = offered.passengers;
  const table: [string, SubCaseState | undefined, SubCaseState, string[]][] = [
    ["it begins", undefined, waiting, []],
    ["nothing", offered, offered, []],
    ["a saga under way shows nothing yet", waiting, stateOf(story(assign())), []],
    ["its state is told elsewhere", offered, accepted, []],
    [
      "somebody has left",
      offered,
      { ...offered, passengers: first ? [first] : [] },
      ["subcase.members-changed"],
    ],
    [
      "merged away",
      waiting,
      { ...waiting, mergedInto: { groupId: "OTHER", subCaseId: "XN-OTHER" } },
      ["subcase.members-changed"],
    ],
    [
      "arrived",
      accepted,
      { ...accepted, reservation: { ...reservation, status: "CHECKED_IN" } },
      ["subcase.offer-changed"],
    ],
    [
      "other dates",
      accepted,
      { ...accepted, assignment: { ...assignment, stay: { ...assignment.stay, nights: 2 } } },
      ["subcase.offer-changed"],
    ],
    ["void", accepted, { ...accepted, voucher: { ...voucher, status: "VOID" } }, ["subcase.offer-changed"]],
    ["no ride", accepted, { ...accepted, ride: undefined as never }, ["subcase.offer-changed"]],
    ["a lock", accepted, { ...accepted, shape: 7 }, []],
  ];
  for (const [what, before, after, expected] of table) t.same(told(before, after), expected, what);
});
