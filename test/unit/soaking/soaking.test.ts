// What a soak goes by, without an instance: when nothing is under way any more, and who could never decide.
import t from "tap";
import { Deciding } from "../../../scripts/soaking/deciding.ts";
import type { Decision } from "../../../scripts/soaking/decisions.ts";
import { quietLooks, waitForRest } from "../../../scripts/soaking/rest.ts";

const lookMs = 10;
const pauseMs = 100;
/** On a clock of its own, on which looks and pauses take their time; what the looks find, then nothing any more. */
const resting = async (timeoutMs: number, finds: readonly (string | undefined)[]) => {
  let now = 0;
  let looks = 0;
  const told: string[] = [];
  const rest = await waitForRest(
    async () => {
      now += lookMs;
      return finds[looks++];
    },
    {
      timeoutMs,
      nowMs: () => now,
      pause: async () => {
        now += pauseMs;
      },
      say: (line) => told.push(line),
    },
  );
  return { rest, looks, told };
};
const lastLookAt = (quietLooks - 1) * (lookMs + pauseMs);

t.test("rest is quiet for long enough, and in time", async (t) => {
  t.strictSame(await resting(10_000, []), { rest: undefined, looks: quietLooks, told: [] });
  t.match(await resting(10_000, ["a", undefined, "b"]), { rest: undefined, looks: quietLooks + 3 });
  t.match(await resting(lastLookAt + lookMs / 2, []), { rest: undefined }, "over within the last quiet look");
  t.match(await resting(lastLookAt - pauseMs - lookMs, []), {
    rest: "it came to rest and did not stay there",
  });
  const { rest, told } = await resting(
    20_000,
    Array.from({ length: 1000 }, () => "busy"),
  );
  t.equal(rest, "busy");
  t.strictSame(told, ["waiting: busy"]);
});

const decisionOf = (pnr: string): Decision => ({
  airline: { code: "XN" } as Decision["airline"],
  traveller: { pnr, lastName: "Okafor" },
  does: "accept",
});
/** Each PNR's answers, one a time. */
const decidingOn = (answers: Record<string, (boolean | Error)[]>, kills = 1) =>
  new Deciding(Object.keys(answers).map(decisionOf), kills, async ({ traveller: { pnr } }) => {
    const answer = answers[pnr]?.shift() ?? false;
    if (answer instanceof Error) throw answer;
    return answer;
  });
const ready = async (waiting: readonly Decision[]) =>
  new Set(waiting.filter(({ traveller }) => traveller.pnr.startsWith("READY")));

t.test("who still waits comes once more at rest", async (t) => {
  const deciding = decidingOn({
    A: [true],
    READY1: [false, true],
    READY2: [false, false],
    NONE: [false, false],
  });
  deciding.some();
  await deciding.ended();
  t.strictSame(await deciding.lastly(ready), [
    "READY2 has an offer, and could never log in and decide on it",
  ]);
  t.strictSame(
    deciding.answered.map(({ traveller }) => traveller.pnr),
    ["A", "READY1"],
  );
  t.strictSame(await deciding.lastly(ready), [], "nobody is asked for ever");
});

t.test("a run in which nobody decided proves nothing", async (t) => {
  t.strictSame(await decidingOn({ NONE: [false] }).lastly(ready), ["nobody's decision was answered"]);
  t.strictSame(await decidingOn({}).lastly(ready), ["nobody's decision was answered"]);
  t.strictSame(await decidingOn({ READY: [new Error("500")] }).lastly(ready), [
    "Error: 500",
    "nobody's decision was answered",
  ]);
});
