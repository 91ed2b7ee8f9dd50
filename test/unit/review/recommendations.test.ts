// What an item keeps of the agent's proposals, as they come: in order, late, the same again, before and after a resolution.
import t from "tap";
import { decideReview } from "../../../actors/review/decide.ts";
import { reviewActor, reviewItems } from "../../../actors/review/service.ts";
import type { ReviewEvent, ReviewItem } from "../../../actors/review/state.ts";
import { reviewView } from "../../../actors/review/view.ts";
import type { Received } from "../../../actors/runtime/decider.ts";
import type { ActorContext } from "../../../actors/runtime/host.ts";
import {
  after,
  ana,
  atLax,
  changed,
  claimed,
  command,
  minutesLater,
  opened,
  resolved,
  start,
  system,
} from "./review-item.ts";

t.test(
  "what the agent recommends: the newest three, while there is something to do, and no new version by it",
  async (t) => {
    const recommendation = (reason: string) => ({ action: "rebook", reason, source: "agent" });
    const note = (minutes: number, ...reasons: string[]) =>
      command("note-recommendations", {
        recommendations: reasons.map(recommendation),
        at: minutesLater(minutes).toISOString(),
      });
    const told = (...moves: Received[]) => {
      const item = after(opened, ...moves) as ReviewItem;
      return reviewView("XN-1", item, 1, start).recommendations.map(({ reason }) => reason);
    };
    t.same(told(), []);
    t.same(told(note(1, "a", "b", "c", "d")), ["a", "b", "c"]);
    t.same(told(note(2, "a"), note(1, "old")), ["a"], "what comes late is older");
    t.same(told(note(1, "a"), note(2)), [], "nothing is proposed any more");
    t.same(told(resolved, note(1, "a")), []);
    t.same(
      told(note(0, "a"), note(1, "b"), note(3, "b"), note(2, "old")),
      ["b"],
      "nor does it after the same again",
    );
    t.same(told(note(0, "a"), resolved), [], "nobody can act on it any more");
    const closing = changed("withdraw", 5);
    const reopening = changed("reinstate", 9);
    t.same(told(note(1, "a"), closing, reopening), [], "what was proposed before has expired");
    t.same(told(closing, reopening, note(4, "late")), []);
    t.same(told(closing, note(6, "ended"), reopening, note(7, "late")), [], "nor what was made meanwhile");
    t.same(told(closing, reopening, note(10, "new")), ["new"]);
    const noted = after(opened, note(1, "a")) as ReviewItem;
    t.same(decideReview(noted, note(1, "a")), [], "the same note again is nothing");
    const [still] = decideReview(noted, note(2, "a")) as [ReviewEvent];
    t.match(still, { type: "review.recommended", data: { unchanged: true } });
    t.same(
      reviewItems.outgoing?.(still, noted, note(2, "a"), "XN-1"),
      [],
      "nor is the same content told anew",
    );
    t.same(reviewItems.technical, new Set(["review.recommended"]));
    const [event] = decideReview(after(opened), note(1, "a")) as [ReviewEvent];
    t.match(reviewItems.outgoing?.(event, noted, note(1, "a"), "XN-1"), [
      { to: "internal", type: "review.recommended", data: { recommendations: 1 } },
    ]);
    const change = {
      id: "XN-1",
      command: note(1, "a"),
      before: after(opened),
      after: noted,
      events: [event],
    };
    t.equal(reviewItems.audit?.(change), null, "proposals have a trail of their own");
  },
);

t.test("how the action stands that a command began", async (t) => {
  const begun = { ...command("rebook", { hotelUrn: "urn:hotel:a", reason: "Now" }, ana), id: "agent-1" };
  const targets = [{ groupId: "G1" }];
  const [event] = decideReview(after(opened, claimed), begun, { sla: {}, targets }) as [ReviewEvent];
  const item = reviewItems.evolve(after(opened, claimed), event);
  const asked = (kept: object | null, commandId: string, principal = system) => {
    const document = kept === null ? null : { _id: "XN-1", schemaVersion: 1, handled: [], ...kept };
    const documents = { tenant: () => ({ collection: () => ({ findOne: async () => document }) }) };
    const query = reviewActor({ documents } as unknown as ActorContext).queries?.["action-of"];
    const params = { reviewUrn: "urn:review:XN-1", commandId };
    return query?.({ ...begun, principal, params });
  };
  t.same(await asked(item, "agent-1"), {
    itemState: "CLAIMED",
    action: { state: "UNDER_WAY", groups: targets },
  });
  t.same(await asked(item, "another"), { itemState: "CLAIMED", action: null });
  t.same(await asked(after(opened) as ReviewItem, "agent-1"), { itemState: "OPEN", action: null });
  await t.rejects(asked(null, "agent-1") as Promise<unknown>, { code: "not-found/resource" });
  await t.rejects(asked(item, "agent-1", atLax) as Promise<unknown>, { code: "auth/foreign-airport" });
});
