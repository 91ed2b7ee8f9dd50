// The service dies at named points and is started again: nothing is lost, and nothing is done twice. One for each kind of step
// here; all of them are `scripts/soak kill-points`.
import t from "tap";
import { takesLong } from "../harness/patience.ts";
import { runKillChain } from "./kill-chain.ts";

takesLong(t);

t.test("a service that keeps dying houses everybody once", { timeout: 235_000 }, (t) =>
  runKillChain(t, {
    groups: 3,
    pushPoints: ["after-vendor-answer@*.book#2"],
    rollbackPoints: ["before-ack@*.cancel"],
    decisionPoints: ["after-commit@sub-case.accept-offer#2"],
  }),
);
