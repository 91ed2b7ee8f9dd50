// What a soak goes by, without an instance: when nothing is under way any more, who could never decide, how badly vendors behave, and
// what is wrong with their books.
import { spawnSync } from "node:child_process";
import { resolve } from "node:path";
import t from "tap";
import { Deciding } from "../../../scripts/soaking/deciding.ts";
import type { Decision } from "../../../scripts/soaking/decisions.ts";
import { quietLooks, waitForRest } from "../../../scripts/soaking/rest.ts";
import { bookFaults, type Housed, type Sold } from "../../../scripts/soaking/vendor-books.ts";
import { calmVendors, mischiefOf } from "../../../scripts/soaking/vendor-mischief.ts";

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

t.test("vendors misbehave as the seed says, in every way, until they are calm", async (t) => {
  const vendors = [
    { name: "stayhub", kind: "hotel" },
    { name: "cardworks", kind: "payment" },
  ];
  t.strictSame(mischiefOf(7, vendors), mischiefOf(7, vendors));
  const drawn = Array.from({ length: 200 }, (_, seed) => mischiefOf(seed, vendors));
  const met = new Set(
    drawn.flatMap(({ settings }) =>
      Object.values(settings).flatMap((one) =>
        Object.entries(one).flatMap(([name, rate]) =>
          name.endsWith("Rate") && Number(rate) > 0 ? [name] : [],
        ),
      ),
    ),
  );
  const calm = calmVendors(vendors);
  const rates = Object.keys(calm.stayhub ?? {}).filter((name) => name.endsWith("Rate"));
  t.same([...met].sort(), rates.sort(), "each fault that is ended had begun, and each that begins is ended");
  t.ok(drawn.some(({ outage }) => outage?.settings.timeoutRate === 1));
  t.ok(drawn.some(({ outage }) => outage?.settings.unavailableRate === 1));
  for (const { settings } of drawn) {
    const [booking, lookUp] = settings.stayhub?.failNext ?? [];
    t.match([booking, lookUp], [{ operation: "book", times: 1 }, { operation: "lookup" }]);
    t.notOk(settings.cardworks?.oversellRate);
  }
});

const id = "XN-01KAMVW9G0ABCDEFGHJKMNPQ01";
const card = { cardId: "c1", vendor: "cardworks", status: "ACTIVE" as const, last4: "1234", currency: "USD" };
const housed = (more: object = {}): Housed =>
  ({
    _id: id,
    status: "RESOLVED",
    tier: "ECONOMY",
    pnrs: ["ABC123"],
    reservation: {
      status: "CONFIRMED",
      vendor: "stayhub",
      reference: `${id}.room.1.1`,
      bookingId: "B-1",
      confirmationNumber: "N1",
    },
    card: { ...card, reference: `${id}.card.1`, balanceMinor: 100 },
    ...more,
  }) as unknown as Housed;
const sold = (kind: string, name: string, more: Partial<Sold> = {}): Sold => ({
  vendor: kind === "booking" ? "stayhub" : "cardworks",
  kind,
  id: name,
  reference: `${id}.${kind === "booking" ? "room.1.1" : "card.1"}`,
  state: kind === "booking" ? "BOOKED" : "ACTIVE",
  details: kind === "booking" ? { confirmationNumber: "N1", currency: "USD", nightlyRateMinor: 9000 } : {},
  ...more,
});
const room = sold("booking", "B-1");
const works = sold("card", "c1");
const cancelled = { state: "CANCELLED" };
const use = (state: string, amountMinor: number): Sold =>
  sold("transaction", `t${amountMinor}`, { state, details: { amountMinor } });
const heard = { uses: [{ kind: "AUTHORIZATION", amountMinor: 800 }] };

t.test("books and groups: what is wrong with them", async (t) => {
  const none = { reservation: undefined, card: undefined, status: "FAILED" };
  const table: [string, Housed[], Sold[], (string | RegExp)[], string[]?][] = [
    ["as it should be", [housed()], [room, works], []],
    ["a booking that was cancelled", [housed(none)], [{ ...room, ...cancelled }], []],
    ["without a room in our books", [housed(none)], [room], [/B-1 .*has no room/]],
    ["without a room in the vendor's", [housed()], [works], [/believes to have stayhub booking B-1/]],
    [
      "two rooms",
      [housed()],
      [room, works, sold("booking", "B-2", { vendor: "roomlink", reference: `${id}.room.1.2` })],
      [/has 2 rooms: stayhub booking B-1 .* roomlink booking B-2/],
    ],
    [
      "sold twice under one reference",
      [housed()],
      [room, works, sold("booking", "B-2", cancelled)],
      [/booking \S+ was sold 2 times/],
    ],
    ["another number", [housed()], [{ ...room, details: { confirmationNumber: "N2" } }, works], [/believes/]],
    ["another booking", [housed()], [sold("booking", "B-9"), works], [/has .*B-9.* believes in stayhub B-1/]],
    ["another vendor", [housed()], [{ ...room, vendor: "roomlink" }, works], [/has roomlink booking B-1/]],
    [
      "too dear",
      [housed()],
      [{ ...room, details: { ...room.details, nightlyRateMinor: 32_001 } }, works],
      [/costs 32001 a night, and 32000/],
    ],
    ["a card without a room", [housed({ ...none, card: housed().card })], [works], [/c1 .*has no room/]],
    ["a card of nobody's", [housed({ card: undefined })], [room, works], [/c1 .*nobody knows of it/]],
    ["under way", [housed({ status: "ROLLING_BACK" })], [room, works], ["is ROLLING_BACK at rest"]],
    ["on a person's desk", [housed({ ...none, status: "COMPENSATION_FAILED" })], [room, works], []],
    ["a stranger's", [], [room, { ...works, ...cancelled }], [/B-1 .*nobody has it/]],
    [
      "of a reference that is none",
      [housed()],
      [room, works, sold("card", "c2", { reference: "" })],
      [/c2 .*nobody/],
    ],
    ["another night's", [], [room, works], [], [id]],
    [
      "a card that was used",
      [housed({ card: { ...housed().card, ...heard } })],
      [room, works, use("authorization", 800)],
      [],
    ],
    [
      "of whose use something was never heard",
      [housed({ card: { ...housed().card, ...heard } })],
      [room, works, use("authorization", 800), use("capture", 700)],
      [/AUTHORIZATION 800,SETTLEMENT 700; we have heard of AUTHORIZATION 800$/],
    ],
  ];
  for (const [name, groups, books, expected, others] of table) {
    const faults = bookFaults(groups, books, { ECONOMY: 32_000 }, others).map(({ detail }) => detail);
    t.match(faults, expected, name);
    t.equal(faults.length, expected.length, `${name}: ${faults.join("; ")}`);
  }
});

t.test("what is not understood is not a fault found", async (t) => {
  const soak = resolve(import.meta.dirname, "../../../scripts/soak.ts");
  const { status, stderr } = spawnSync(process.execPath, [soak, "nothing"], { encoding: "utf8" });
  t.match({ status, stderr }, { status: 2, stderr: /there is no scenario 'nothing'/ });
});
