// Where passengers see their card's number: how often in a day, and what of it stays on the group's document.
import type { Document } from "mongodb";
import t from "tap";
import { decideInTurn } from "../../../actors/runtime/fold.ts";
import type { ActorContext, Dispatch } from "../../../actors/runtime/host.ts";
import { revealCard } from "../../../actors/sub-case/reveal-card.ts";
import { subCaseActor } from "../../../actors/sub-case/service.ts";
import type { Principal } from "../../../schemas/command.ts";
import { sessionIdOf } from "../../../schemas/passenger-session.ts";
import { evening, eventsOf, givenOf, received, secondsLater } from "../../harness/given.ts";
import { caseId, ready, rules, stateOf, subCaseId } from "./group-story.ts";

const reveal = (seconds: number) => received("sub-case.reveal-card", {}, { now: secondsLater(seconds) });
const fifty = eventsOf(rules, ready, ...Array.from({ length: 50 }, (_, i) => reveal(i)));
const dayAfter = 86_400;

t.test("fifty times in a day", async (t) => {
  const given = givenOf(t, rules, subCaseId);
  given(...fifty)
    .when(reveal(60))
    .refused("rate/exceeded", { retryAfterSeconds: dayAfter - 60 });
  given(...fifty)
    .when(reveal(dayAfter))
    .then({ type: "subcase.card-revealed" });
  const next = eventsOf(rules, fifty, reveal(dayAfter));
  given(...next)
    .when(reveal(dayAfter))
    .refused("rate/exceeded", { retryAfterSeconds: 1 });
  const later = eventsOf(rules, next, reveal(3 * dayAfter));
  t.strictSame(stateOf(later).reveals, [secondsLater(3 * dayAfter)], "those of before are forgotten");
});

t.test("no command of it is remembered: one that comes again is on the trail again", async (t) => {
  const config = { STEP_DEADLINE_MS: 1000, LOCK_LEASE_MS: 1000 };
  const decider = subCaseActor({ config } as ActorContext).deciders[0];
  if (decider === undefined) throw new Error("no decider");
  const meta = { _id: subCaseId, version: 3, handled: [] };
  const before = { meta, state: stateOf(ready), stored: {} } as unknown as Parameters<typeof decideInTurn>[2];
  const command = reveal(0);
  const fold = await decideInTurn(decider, [command, command], before, () => evening);
  t.equal(fold.changes.length, 2);
  t.strictSame(fold.handled, []);
});

t.test(
  "the vendor is asked for nothing over the limit, and nothing is read but what is needed",
  async (t) => {
    const urn = `urn:passenger-session:${sessionIdOf("urn:passenger:XN-ADA", "7d1f0f0e-1a35-4f43-8d0a-0d4f1ab0a001")}`;
    const principal: Principal = { surface: "passenger", tenant: "XN", urn, caseId, groupId: "K7QX2M" };
    const [asked, projections, noted]: [string[], unknown[], string[]] = [[], [], []];
    const revealOf = (state: object) => {
      const findOne = async (_: Document, { projection }: { projection?: Document } = {}) => {
        projections.push(projection);
        return { _id: subCaseId, schemaVersion: 1, ...state };
      };
      const context = {
        documents: { tenant: () => ({ collection: () => ({ findOne }) }) },
        clock: { now: () => secondsLater(60) },
        call: async (name: string) => {
          asked.push(name);
          return { url: "https://frames.example/1" };
        },
      } as unknown as ActorContext;
      const dispatch: Dispatch = async (verb) => {
        noted.push(verb);
        return { ok: null };
      };
      const command = { ...reveal(60), principal };
      return revealCard(context, { collection: "subCases", schemaVersion: 1 })(command, dispatch);
    };
    t.strictSame(await revealOf(stateOf(ready)), { ok: { url: "https://frames.example/1" } });
    t.strictSame([asked, noted], [["vendor-adapter.reveal-card"], ["reveal-card"]]);
    await t.rejects(revealOf(stateOf(fifty)), { code: "rate/exceeded" });
    t.strictSame([asked.length, noted.length], [1, 1]);
    t.strictSame(projections[0], { handled: 0, outbox: 0, steps: 0 });
  },
);
