// The kill points and outages at full numbers, for scripts/soak: every named point, and larger flights.
import t from "tap";
import { decisionPoints, paymentPoints, pushPoints, rollbackPoints, runKillChain } from "./kill-chain.ts";
import { runKillChanges } from "./kill-changes.ts";
import { runTroubles } from "./outages.ts";

t.test("every named point", (t) =>
  runKillChain(t, { groups: 6, pushPoints, rollbackPoints, decisionPoints }),
);
t.test("every point of a payment by card", (t) =>
  runKillChain(t, { groups: 3, ...paymentPoints, decisionPoints: [], byCard: true }),
);
t.test("every point of what people change in the night", runKillChanges);
t.test("outages under larger flights", (t) => runTroubles(t, { groups: 40 }));
