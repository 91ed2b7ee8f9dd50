// How a manifest becomes groups of passengers, as tables and over any manifest: bookings, cabins, what is missing, who is who.
import fc from "fast-check";
import t from "tap";
import { groupByPnr, groupOf } from "../../../actors/case/manifest.ts";
import type { PassengerInput } from "../../../schemas/passenger.ts";
import { parseUrn } from "../../../schemas/urn.ts";
import { ada, charles, passenger } from "./passengers.ts";

t.test("groups of a manifest", async (t) => {
  const groups = (...inputs: PassengerInput[]) => groupByPnr("XN", "seed", inputs);
  const sizes = (...inputs: PassengerInput[]) => groups(...inputs).map(({ passengers }) => passengers.length);
  t.strictSame(
    sizes(ada, charles, passenger({ firstName: "Annabella" })),
    [2, 1],
    "in the order of first mention",
  );
  t.strictSame(
    sizes(ada, passenger({ pnr: " k7q-x2m " })),
    [2],
    "references compare without case and blanks",
  );
  t.strictSame(
    sizes(passenger({ pnr: undefined }), passenger({ pnr: "  " })),
    [1, 1],
    "none is nobody's company",
  );
  const dashes = ["-", "--", " - ", "-"].map((pnr) => passenger({ pnr }));
  t.strictSame(sizes(...dashes), [1, 1, 1, 1], "dashes are nobody's reference");
  t.ok(groups(...dashes).every(({ passengers }) => passengers.every((each) => !("pnr" in each))));
  t.strictSame(sizes(), []);

  const tiers: [string, (string | undefined)[], string | undefined][] = [
    ["one cabin", ["BUSINESS", "BUSINESS"], "BUSINESS"],
    ["its case and blanks", [" business "], "BUSINESS"],
    ["none, and one that nobody knows, is economy", [undefined, "HAMMOCK"], "ECONOMY"],
    ["two cabins", ["BUSINESS", "ECONOMY"], undefined],
    ["crew", ["CREW"], "CREW"],
  ];
  for (const [what, cabins, tier] of tiers)
    t.equal(groups(...cabins.map((cabinClass) => passenger({ cabinClass })))[0]?.tier, tier, what);

  const missing: [string, PassengerInput[], string[]][] = [
    ["nothing", [ada], []],
    ["everything", [{}], ["pnr", "lastName", "cabinClass", "contact"]],
    ["blanks are nothing", [passenger({ lastName: " ", cabinClass: "" })], ["lastName", "cabinClass"]],
    ["nothing is left of dashes", [passenger({ pnr: "--" })], ["pnr"]],
    ["one contact is enough for a group", [ada, passenger({ contact: {} })], []],
    ["a phone will do", [passenger({ contact: { phone: "+12025550143" } })], []],
    ["a language is no contact", [passenger({ contact: { language: "en" } })], ["contact"]],
  ];
  for (const [what, inputs, fields] of missing) t.strictSame(groups(...inputs)[0]?.missing, fields, what);

  const kept = groups(passenger({ loyaltyTier: "gold", passengerType: "adult", pnr: "k7qx2m" }))[0]
    ?.passengers[0];
  t.match(kept, { loyaltyTier: "GOLD", passengerType: "ADULT", pnr: "K7QX2M", specialRequirements: [] });
});

t.test("a passenger is the same one in every case", async (t) => {
  const urns = (seed: string, ...inputs: PassengerInput[]) =>
    groupByPnr("XN", seed, inputs).flatMap(({ passengers }) => passengers.map((each) => each.urn));
  t.strictSame(urns("case 1", ada, charles), urns("case 2", ada, charles));
  t.strictSame(urns("case 1", ada, charles), urns("case 1", charles, ada).reverse(), "in any order");
  t.strictSame(urns("case 1", ada), urns("case 1", passenger({ pnr: "k7qx2m", cabinClass: "FIRST" })));
  t.strictSame(
    groupOf("XN", "tour", "s", [ada]).passengers[0]?.urn,
    urns("case 1", ada)[0],
    "declared by hand too",
  );
  t.not(
    urns("case 1", ada)[0],
    groupByPnr("QF", "case 1", [ada])[0]?.passengers[0]?.urn,
    "another airline's is another",
  );
  t.equal(new Set(urns("case 1", ada, ada)).size, 2, "a father and a son of one name are two");
  t.strictSame(urns("case 1", ada, ada), urns("case 2", ada, ada));
  const written = { firstName: "aDA", lastName: " LOVELACE " };
  t.strictSame(urns("case 1", passenger(written)), urns("case 1", ada), "however the name is written");
  t.strictSame(
    urns("case 1", ada, passenger(written)),
    urns("case 1", ada, ada),
    "also where it is a namesake's",
  );
  t.strictSame(
    urns("case 1", passenger({ firstName: "Annabella" }), ada, ada).slice(1),
    urns("case 1", ada, ada),
    "whoever else is named before them",
  );
  const nameless = { cabinClass: "ECONOMY" };
  t.equal(new Set(urns("case 1", nameless, nameless)).size, 2, "two of whom nothing is known are two");
  t.not(urns("case 1", nameless)[0], urns("case 2", nameless)[0], "in two cases as well");
  const dashed = passenger({ pnr: "-" });
  t.equal(
    new Set([...urns("case 1", dashed, dashed), ...urns("case 2", dashed)]).size,
    3,
    "nor are dashes one",
  );
  const own = "urn:passenger:XN-01J0000000000000000000000A";
  t.equal(urns("case 1", passenger({ passengerUrn: own }))[0], own, "the sender may name them");
  t.match(parseUrn(urns("case 1", ada)[0] as string), { kind: "passenger", tenant: "XN" });
});

const oddText = fc.oneof(
  fc.constantFrom("", " ", "-", "--", "K7QX2M", "k7q x2m", "B2BBGE"),
  fc.string({ maxLength: 8 }),
);
const anyPassenger: fc.Arbitrary<PassengerInput> = fc.record(
  {
    pnr: oddText,
    firstName: oddText,
    lastName: oddText,
    cabinClass: fc.constantFrom("ECONOMY", "BUSINESS", "x"),
    contact: fc.record({ email: fc.constant("a@example.com") }, { requiredKeys: [] }),
  },
  { requiredKeys: [] },
);

t.test("nobody is lost, doubled, or taken for another", async (t) => {
  fc.assert(
    fc.property(fc.array(anyPassenger, { maxLength: 40 }), (inputs) => {
      const groups = groupByPnr("XN", "seed", inputs);
      const passengers = groups.flatMap((group) => group.passengers);
      const known = new Set(passengers.map(({ urn }) => urn));
      const pnrs = groups.flatMap((group) => [...new Set(group.passengers.flatMap(({ pnr }) => pnr ?? []))]);
      return (
        passengers.length === inputs.length &&
        known.size === inputs.length &&
        new Set(groups.map(({ groupId }) => groupId)).size === groups.length &&
        new Set(pnrs).size === pnrs.length &&
        groups.every(
          (group) => group.passengers.length === 1 || group.passengers.every(({ pnr }) => pnr !== undefined),
        )
      );
    }),
    { numRuns: 300 },
  );
  t.pass("in 300 manifests");
});
