// The service dies at each named point and is started again: nothing is lost, and nothing is done twice.
import t from "tap";
import { decisionPoints, pushPoints, runKillChain } from "./kill-chain.ts";

t.test("a service that keeps dying houses everybody once", { timeout: 110_000 }, (t) =>
  runKillChain(t, { pushPoints, decisionPoints, groups: 6 }),
);
