// Processes and servers go away in the middle of the work and come back: everybody is housed all the same, and once.
import t from "tap";
import { runTroubles } from "./outages.ts";

t.test("a night with trouble", { timeout: 115_000 }, (t) => runTroubles(t, 12));
