// The outages at full numbers, for scripts/soak: the servers are really away, and for long.
import t from "tap";
import { outage } from "../harness/environment.ts";
import { runTroubles } from "./outages.ts";

t.test("servers that are away for long", (t) =>
  runTroubles(t, { ...outage, flights: [["NATS goes away"], ["the document server goes away"]] }),
);
