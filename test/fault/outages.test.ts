// Processes and servers go away in the middle of the work and come back, and commands come twice: everybody is housed all the same, and once.
import t from "tap";
import { takesLong } from "../harness/patience.ts";
import { runTroubles } from "./outages.ts";

takesLong(t);

t.test("a night with trouble", { timeout: 235_000 }, (t) =>
  runTroubles(t, {
    groups: 3,
    flights: [
      ["one of two processes is killed", "every command comes twice, out of order"],
      ["NATS goes away"],
      ["the document server goes away"],
    ],
  }),
);
