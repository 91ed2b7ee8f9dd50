// The kill points and outages at full numbers, for scripts/soak: every named point, and larger flights.
import t from "tap";
import { decisionPoints, pushPoints, runKillChain } from "./kill-chain.ts";
import { runTroubles } from "./outages.ts";

t.test("every named point", (t) => runKillChain(t, { groups: 6, pushPoints, decisionPoints }));
t.test("outages under larger flights", (t) => runTroubles(t, 40));
