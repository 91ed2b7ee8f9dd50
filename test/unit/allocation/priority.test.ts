// Groups that a partner has asked priority for: where they come in a wave.
import t from "tap";
import { group } from "../../harness/group-needs.ts";
import { offer, run } from "./hotels-at-jfk.ts";

t.test("who has priority goes first within the tier pass, and never before another tier", async (t) => {
  const [last] = [offer({ providerHotelId: "last", roomsLeft: 1 })];
  const groups = [group("a"), group("b"), { ...group("z"), priority: true as const }];
  const { allocations, rankingInputs } = run(groups, [last]);
  t.strictSame(
    allocations.map(({ groupId }) => groupId),
    ["z"],
  );
  t.strictSame([...new Set(rankingInputs.map(({ pass }) => pass))], ["ECONOMY_PRIORITY", "ECONOMY"]);
  const business = { ...group("y"), tier: "BUSINESS" as const };
  t.strictSame(
    run([...groups, business], [last]).allocations.map(({ groupId }) => groupId),
    ["y"],
  );
});
