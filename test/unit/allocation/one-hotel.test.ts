/** Which offers are one hotel, and which of them is the cheapest, in whatever currency. */
import fc from "fast-check";
import t from "tap";
import { money } from "../../../actors/wave/allocation/gates.ts";
import type { HotelOffer } from "../../../schemas/hotel.ts";
import { hotelId, hotelUrns } from "../../../schemas/hotel-identity.ts";
import { isUrnOf } from "../../../schemas/urn.ts";
import { group } from "../../harness/group-needs.ts";
import { north, offer, run } from "./hotels-at-jfk.ts";

t.test(
  "prices in several currencies are compared by the dated table; one without a rate counts as the dearest",
  async (t) => {
    const usd = [offer({ providerHotelId: "1" }), offer({ providerHotelId: "2", nightlyRateMinor: 20_000 })];
    const costOf = ({ rankingInputs }: ReturnType<typeof run>, currency: string) =>
      rankingInputs.find(({ offer }) => offer.currency === currency)!.scores!.cost;
    const unknown = run(
      [group("a")],
      [...usd, offer({ providerHotelId: "3", currency: "XYZ", nightlyRateMinor: 100 })],
    );
    t.equal(unknown.allocations[0]!.offer.providerHotelId, "1");
    t.equal(costOf(unknown, "XYZ"), 0);
    for (const [yen, chosen, cost] of [
      [10_000, "3", 1],
      [25_000, "1", 0.368],
      [50_000, "1", 0],
    ] as const) {
      const result = run(
        [group("a")],
        [...usd, offer({ providerHotelId: "3", currency: "JPY", nightlyRateMinor: yen })],
      );
      t.equal(result.allocations[0]!.offer.providerHotelId, chosen, `${yen} JPY`);
      t.ok(Math.abs(costOf(result, "JPY") - cost) < 0.01, `${yen} JPY: ${costOf(result, "JPY")}`);
      t.equal(result.allocations[0]!.currency, chosen === "3" ? "JPY" : "USD", "it is paid in its own");
    }
    const one = { masterHotelId: "m1" };
    const twice = run(
      [group("a")],
      [
        offer({ ...one, providerHotelId: "1", providerOfferId: "dear" }),
        offer({ ...one, vendor: "roomlink", providerHotelId: "9", currency: "EUR", nightlyRateMinor: 8_000 }),
      ],
    );
    t.equal(
      twice.allocations[0]!.offer.currency,
      "EUR",
      "of one hotel's offers the cheapest, whatever it is priced in",
    );
    t.equal(money(100, "JPY"), "100 JPY");
    t.equal(money(12_345, "KWD"), "12.345 KWD");
  },
);

t.test("dedup: which offers are one hotel", async (t) => {
  const at = (metres: number) => north(3 + metres / 1000);
  const rows: [string, boolean, Partial<HotelOffer>, Partial<HotelOffer>][] = [
    ["same id, far apart", true, { masterHotelId: "G1" }, { masterHotelId: "G1", coordinates: north(4) }],
    ["within 100 m, same stars", true, { stars: 4 }, { stars: 4, coordinates: at(99) }],
    ["beyond 100 m", false, { stars: 4 }, { stars: 4, coordinates: at(101) }],
    ["within 100 m, other stars", false, { stars: 4 }, { stars: 3 }],
    ["within 100 m, both unrated", false, {}, {}],
    [
      "different ids under one roof",
      false,
      { stars: 4, masterHotelId: "G1" },
      { stars: 4, masterHotelId: "G2" },
    ],
    ["one has an id, the other is near", true, { stars: 4, masterHotelId: "G1" }, { stars: 4 }],
    [
      "same name and address",
      true,
      { name: "Inn", address: "1 St" },
      { name: "Inn", address: "1 St", coordinates: north(5) },
    ],
    ["same name, other address", false, { name: "Inn", address: "1 St" }, { name: "Inn", address: "2 St" }],
    ["same name, no address", false, { name: "Inn", address: "" }, { name: "Inn", address: "", stars: 4 }],
    ["two codes of one vendor", false, { stars: 4, vendor: "v" }, { stars: 4, vendor: "v" }],
  ];
  for (const [name, same, a, b] of rows) {
    const urns = hotelUrns([
      offer({ vendor: "one", providerHotelId: "a", ...a }),
      offer({ vendor: "two", providerHotelId: "b", ...b }),
    ]);
    t.equal(urns[0] === urns[1], same, name);
  }
  const chain = [
    offer({ vendor: "one", providerHotelId: "a", masterHotelId: "G/7" }),
    offer({ vendor: "two", providerHotelId: "b", masterHotelId: "G/7", stars: 4, coordinates: north(6) }),
    offer({ vendor: "three", providerHotelId: "c", stars: 4, coordinates: north(6.05) }),
  ];
  t.same(
    hotelUrns(chain),
    Array(3).fill("urn:hotel:G~2F7"),
    "matching is transitive, the id is the cluster's",
  );
  t.same(hotelUrns([...chain].reverse()), hotelUrns(chain));
});

t.test("hotel ids stay inside the URN alphabet and apart", async () => {
  fc.assert(
    fc.property(
      fc.string({ minLength: 1, maxLength: 200, unit: "grapheme" }),
      fc.string({ minLength: 1 }),
      (a, b) => {
        const fine = [a, b].every((text) => isUrnOf(`urn:hotel:${hotelId(text)}`, ["hotel"]));
        return fine && (a === b) === (hotelId(a) === hotelId(b));
      },
    ),
    { seed: 3, numRuns: 500 },
  );
});
