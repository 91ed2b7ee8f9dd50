// What counts as loosening a policy for one case, field by field, and what then holds.
import t from "tap";
import type { ResolvedPolicy } from "../../schemas/policy.ts";
import { notLooser, type RelaxedFields, relaxed } from "../../schemas/relaxation.ts";
import { policy } from "../harness/policies.ts";

const strict = policy({
  minStars: 3,
  maxDistanceKm: 20,
  maxNightlyRate: { amountMinor: 15_000, currency: "EUR" },
  requiredAmenities: ["24H_RECEPTION", "AIRPORT_SHUTTLE"],
  excludedChains: ["Grand", "Tiny"],
  acceptedPayments: ["GUARANTEE"],
  allowProviders: ["stayhub"],
});

t.test("each field, looser or not", async (t) => {
  /** What then holds; undefined: it is refused. */
  const table: [RelaxedFields, Partial<ResolvedPolicy> | undefined][] = [
    [{ minStars: 2 }, { minStars: 2 }],
    [{ minStars: null }, { minStars: undefined }],
    [{ minStars: 3 }, undefined],
    [{ minStars: 4 }, undefined],
    [{ maxDistanceKm: 30 }, { maxDistanceKm: 30 }],
    [{ maxDistanceKm: null }, { maxDistanceKm: undefined }],
    [{ maxDistanceKm: 20 }, undefined],
    [{ maxDistanceKm: 5 }, undefined],
    [{ maxNightlyRate: 200 }, { maxNightlyRate: { amountMinor: 20_000, currency: "EUR" } }],
    [{ maxNightlyRate: null }, { maxNightlyRate: undefined }],
    [{ maxNightlyRate: 150 }, undefined],
    [{ maxNightlyRate: 149.99 }, undefined],
    [{ requiredAmenities: ["24H_RECEPTION"] }, { requiredAmenities: ["24H_RECEPTION"] }],
    [{ requiredAmenities: [] }, { requiredAmenities: [] }],
    [{ requiredAmenities: null }, { requiredAmenities: [] }],
    [{ requiredAmenities: ["24H_RECEPTION", "AIRPORT_SHUTTLE"] }, undefined],
    [{ requiredAmenities: ["24H_RECEPTION", "WIFI"] as never }, undefined],
    [{ excludedChains: ["grand"] }, undefined],
    [{ excludedChains: ["Grand"] }, { excludedChains: ["Grand"] }],
    [{ excludedChains: null }, { excludedChains: [] }],
    [{ excludedChains: ["Grand", "Other"] }, undefined],
    [{ acceptedPayments: ["GUARANTEE", "CARD"] }, { acceptedPayments: ["GUARANTEE", "CARD"] }],
    [{ acceptedPayments: ["CARD"] }, undefined],
    [{ acceptedPayments: null }, undefined],
    [{ allowProviders: ["stayhub", "direct"] }, { allowProviders: ["stayhub", "direct"] }],
    [{ allowProviders: null }, { allowProviders: undefined }],
    [{ allowProviders: ["direct"] }, undefined],
    [
      { minStars: 2, maxDistanceKm: 25 },
      { minStars: 2, maxDistanceKm: 25 },
    ],
    [{ minStars: 2, maxDistanceKm: 15 }, undefined],
    [{}, undefined],
  ];
  for (const [fields, expected] of table) {
    const what = JSON.stringify(fields);
    const faults = notLooser([strict], fields);
    t.equal(faults.length === 0, expected !== undefined, what);
    if (expected !== undefined) t.same(relaxed(strict, [{ fields }]), { ...strict, ...expected }, what);
  }
  t.match(notLooser([strict], { minStars: 2, maxDistanceKm: 15 }), [
    { pointer: "/fields/maxDistanceKm", detail: /no looser than what holds: 20/ },
  ]);
  t.match(notLooser([policy()], { maxDistanceKm: 30 }), [{ detail: /null: no limit/ }], "there is no limit");
});

t.test("of several tiers, several relaxations, and a policy that changes later", async (t) => {
  const wide = policy({ maxDistanceKm: 40 });
  t.same(notLooser([strict, wide], { maxDistanceKm: 30 }), [], "looser for one of them");
  t.equal(relaxed(wide, [{ fields: { maxDistanceKm: 30 } }]).maxDistanceKm, 40, "and narrower for none");
  const both = [{ fields: { maxDistanceKm: 30 } }, { fields: { maxDistanceKm: 25, minStars: 2 } }];
  t.match(relaxed(strict, both), { maxDistanceKm: 30, minStars: 2 });
  const later = { ...strict, maxDistanceKm: 60 };
  t.match(relaxed(later, both), { maxDistanceKm: 60 });
  t.equal(relaxed(strict), strict);
});
