// At which price held rooms are kept, and what cancelling costs when, as tables.
import t from "tap";
import { cancellingNow, feeIn, termsAnew, termsIn, termsShown } from "../../../actors/sub-case/room-terms.ts";
import { ladderOf } from "../../../actors/vendor-adapter/adapters/rapid-answers.ts";
import { carryOut } from "../../../actors/vendor-adapter/calls.ts";
import type { HoldRequest, HotelPort } from "../../../actors/vendor-adapter/ports.ts";
import { changeRefusal, priceRefusal } from "../../../actors/vendor-adapter/price-recheck.ts";
import {
  type CancellationLadder,
  cancellationPriceAt,
  cheapestCancellation,
  freeCancellationUntil,
  ladderOfPenalties,
  sumOfLadders,
} from "../../../schemas/cancellation.ts";
import type { HotelOffer } from "../../../schemas/hotel.ts";
import type { Money } from "../../../schemas/vocabulary.ts";
import { trace } from "../../harness/given.ts";

const usd = (amountMinor: number): Money => ({ amountMinor, currency: "USD" });
const eur = (amountMinor: number): Money => ({ amountMinor, currency: "EUR" });
/** 100.00 USD a night, of which two rooms are wanted for two nights: 400.00 in all. */
const asked = {
  offer: { nightlyRateMinor: 10_000, currency: "USD" } as HotelOffer,
  ...{ rooms: 2, checkIn: "2026-11-21", checkOut: "2026-11-23" },
};

t.test("at which price rooms are kept", (t) => {
  const table: [what: string, total: Money, nightlyMax: Money | undefined, kept: boolean][] = [
    ["as it was offered", usd(40_000), usd(10_000), true],
    ["cheaper", usd(39_000), usd(10_000), true],
    ["dearer, within the policy", usd(48_000), usd(12_000), true],
    ["just beyond the policy", usd(48_004), usd(12_000), false],
    ["far beyond it", usd(80_000), usd(12_000), false],
    ["less than a cent a night over, for rounding", usd(48_003), usd(12_000), true],
    ["dearer, and nobody has set a limit", usd(80_000), undefined, true],
    ["as it was chosen by a person, beyond the policy", usd(40_000), usd(8_000), true],
    ["dearer than a person chose it, beyond the policy", usd(40_004), usd(8_000), false],
    ["in another currency", eur(40_000), usd(12_000), false],
    ["dearer, within a limit in another currency", usd(40_004), eur(9_000), true],
    ["dearer, beyond a limit in another currency", usd(40_004), eur(8_000), false],
    [
      "dearer, with a limit that it cannot be compared with",
      usd(40_004),
      { ...eur(90_000), currency: "XYZ" },
      false,
    ],
  ];
  for (const [what, total, nightlyMax, kept] of table) {
    const refusal = priceRefusal({ ...asked, ...(nightlyMax && { nightlyMax }) }, total);
    t.equal(refusal?.code, kept ? undefined : "PRICE_CHANGED", what);
  }
  const refusal = priceRefusal({ ...asked, nightlyMax: usd(12_000) }, usd(80_000));
  t.equal(refusal?.detail, "A night is 200.00 USD now, and was 100.00 USD; the policy allows 120.00 USD.");
  t.end();
});

t.test("at which price other dates are taken", (t) => {
  const dates = { rooms: 2, checkIn: "2026-11-21", checkOut: "2026-11-24" };
  const nightlyMax = usd(12_000);
  const table: [what: string, before: Money, after: Money | undefined, taken: boolean][] = [
    ["at what it was a night", usd(40_000), usd(60_000), true],
    ["dearer, within the policy", usd(40_000), usd(72_000), true],
    ["beyond it", usd(40_000), usd(72_003), false],
    ["dearer, within a limit in another currency", eur(30_000), eur(60_000), true],
    ["beyond one in another currency", eur(30_000), eur(66_000), false],
    ["in another currency than before", usd(40_000), eur(40_000), false],
    ["not told", usd(40_000), undefined, false],
  ];
  for (const [what, before, after, taken] of table) {
    const refusal = changeRefusal({ ...dates, nightlyMax }, { before, nightsBefore: 2, after });
    t.equal(refusal?.code, taken ? undefined : "PRICE_CHANGED", what);
  }
  t.equal(changeRefusal(dates, { before: usd(1), nightsBefore: 2, after: usd(900_000) }), undefined);
  t.end();
});

t.test("what is not kept is given up, found by a look-up or not", async (t) => {
  for (const [doubt, releases, attempt] of [
    [false, true, 1],
    [true, true, 1],
    [false, true, 2],
    [false, false, 1],
  ] as const) {
    const given: string[] = [];
    const hold = { holdId: "h1", expiresAt: "2026-11-21T22:00:00Z", total: usd(80_000) };
    const port = {
      hold: async () => ({ outcome: "done", ...hold }),
      lookup: async () => ({ outcome: "done", state: "HELD", ...hold }),
      ...(releases && {
        release: async ({ reference, holdId }: { reference: string; holdId: string }) => {
          given.push(`${reference} ${holdId}`);
          return { outcome: "unavailable", detail: "it ends by itself" };
        },
      }),
    } as unknown as HotelPort;
    const request = { ...asked, nightlyMax: usd(12_000), needs: [] } satisfies Omit<HoldRequest, "reference">;
    const call = { reference: "r.1", tries: 1, doubt, request, replyTo: { name: "a.b", entity: "" } };
    const carry = (nightlyMax: Money) =>
      carryOut(
        { name: "inn", kind: "hotel", port },
        "hold",
        { ...call, request: { ...request, nightlyMax } },
        { traceparent: trace.traceparent, attempt },
      );
    t.match(await carry(usd(12_000)), { outcome: "refused", code: "PRICE_CHANGED" });
    t.same(given, releases ? ["r.1 h1"] : []);
    t.match(await carry(usd(20_000)), { outcome: "done", result: { holdId: "h1" } });
    t.equal(given.length, releases ? 1 : 0, "what is kept is not given up");
  }
});

const ladder: CancellationLadder = [
  { until: "2026-11-21T16:00:00Z", price: usd(0) },
  { until: "2026-11-21T22:00:00Z", price: usd(10_000) },
  { price: usd(20_000) },
];

t.test("what cancelling costs when", (t) => {
  const table: [at: string, price: number, before: string | undefined][] = [
    ["2026-11-20T00:00:00Z", 0, "2026-11-21T16:00:00Z"],
    ["2026-11-21T16:00:00Z", 0, "2026-11-21T16:00:00Z"],
    ["2026-11-21T16:00:01Z", 10_000, "2026-11-21T22:00:00Z"],
    ["2026-11-21T22:00:01Z", 20_000, undefined],
  ];
  for (const [at, price, before] of table) {
    t.same(cancellationPriceAt(ladder, new Date(at)), usd(price), at);
    const cheapest = { ...(before !== undefined && { before }), price: usd(price) };
    t.same(cheapestCancellation(ladder, new Date(at)), cheapest, at);
  }
  t.equal(freeCancellationUntil(ladder), "2026-11-21T16:00:00Z");
  const past = [{ until: "2026-11-21T16:00:00Z", price: usd(700) }];
  t.same(
    cancellationPriceAt(past, new Date("2026-11-22T00:00:00Z")),
    usd(700),
    "the last known price goes on",
  );
  const waits = [{ until: "2026-11-21T16:00:00Z", price: usd(900) }, { price: usd(300) }];
  const cheaper = { from: "2026-11-21T16:00:00Z", price: usd(300) };
  t.same(cheapestCancellation(waits, new Date("2026-11-20T00:00:00Z")), cheaper, "waiting is cheaper");
  const equal = [
    { until: "2026-11-21T16:00:00Z", price: usd(5) },
    { until: "2026-11-22T16:00:00Z", price: usd(5) },
  ];
  const stretch = { before: "2026-11-22T16:00:00Z", price: usd(5) };
  t.same(cheapestCancellation(equal, new Date("2026-11-20T00:00:00Z")), stretch, "as long as it is the same");
  for (const none of [
    freeCancellationUntil([]),
    cancellationPriceAt([], new Date(0)),
    cheapestCancellation([], new Date(0)),
  ])
    t.equal(none, undefined, "not told");
  t.equal(freeCancellationUntil([{ price: usd(0) }]), undefined, "always free has no end");
  t.equal(freeCancellationUntil([{ price: usd(5) }]), undefined);
  t.end();
});

t.test("ladders as real vendors word them", (t) => {
  const now = new Date("2026-11-20T12:00:00Z");
  const penalties = [
    { from: "2026-11-21T23:00:00+01:00", price: usd(20_000) },
    { from: "2026-11-21T16:00:00Z", price: usd(10_000) },
    { from: "2026-11-21T16:00:00Z", price: usd(9_000) },
  ];
  t.same(ladderOfPenalties(penalties, usd(0), now), [
    { until: "2026-11-21T16:00:00.000Z", price: usd(0) },
    { until: "2026-11-21T22:00:00.000Z", price: usd(10_000) },
    { price: usd(20_000) },
  ]);
  const begun = [{ from: "2026-11-20T00:00:00Z", price: usd(20_000) }];
  t.same(ladderOfPenalties(begun, usd(0), now), [{ price: usd(20_000) }], "never free");
  t.same(ladderOfPenalties([], usd(0), now), [{ price: usd(0) }], "free for good");
  const other: CancellationLadder = [{ until: "2026-11-21T18:00:00Z", price: usd(1) }, { price: usd(2) }];
  t.same(sumOfLadders([ladder, other]), [
    { until: "2026-11-21T16:00:00Z", price: usd(1) },
    { until: "2026-11-21T18:00:00Z", price: usd(10_001) },
    { until: "2026-11-21T22:00:00Z", price: usd(10_002) },
    { price: usd(20_002) },
  ]);
  t.same(sumOfLadders([ladder, []]), [], "one that doesn't tell leaves the sum unknown");
  const room = { total: usd(20_000), nights: 2, now };
  for (const [rate, expected] of [
    [{ refundable: true }, [{ price: usd(0) }]],
    [{ refundable: false }, [{ price: usd(20_000) }]],
    [{}, []],
    [{ refundable: true, cancel_penalties: [{ start: "2026-11-21T16:00:00Z" }] }, []],
  ] as const)
    t.same(ladderOf(rate as never, room), expected, JSON.stringify(rate));
  t.end();
});

t.test("what a reservation says of it", (t) => {
  const booked = { ...termsIn({ cancellation: ladder }), status: "CONFIRMED" };
  t.same(termsShown(booked), { freeCancellationUntil: "2026-11-21T16:00:00Z", cancellation: ladder });
  t.same(cancellingNow(booked, new Date("2026-11-21T20:00:00Z")), {
    cancellingNow: usd(10_000),
    cheapestCancellation: { before: "2026-11-21T22:00:00Z", price: usd(10_000) },
  });
  t.same(cancellingNow({ ...booked, status: "CANCELLED" }, new Date(0)), {}, "cancelled is cancelled");
  t.same(termsShown({ ...feeIn({ fee: usd(10_000) }) }), { cancellationFee: usd(10_000) });
  t.same([termsIn({}), feeIn({}), termsShown({})], [{}, {}, {}], "not told");
  t.same(
    termsAnew(booked, {}),
    { status: "CONFIRMED" },
    "other dates, and not told anew: not known any more",
  );
  const [last] = ladder.slice(-1) as [CancellationLadder[0]];
  t.same(termsAnew(booked, { cancellation: [last] }).cancellation, [last]);
  t.end();
});
