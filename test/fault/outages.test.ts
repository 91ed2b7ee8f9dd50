// Processes and servers go away in the middle of the work and come back: everybody is housed all the same, and once.
import t from "tap";
import { runTroubles } from "./outages.ts";

// A busy machine takes long to start a process, and here many are started.
t.setTimeout(240_000);

t.test("a night with trouble", { timeout: 235_000 }, (t) => runTroubles(t, 12));
