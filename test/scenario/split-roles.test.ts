// The service over three processes (a gateway alone, the case and sub-case actors, everybody else) is the same service:
// a body that no message could hold gets to its actor, and a night runs to its offers.
import t from "tap";
import type { PassengerInput } from "../../schemas/passenger.ts";
import { smallFlight, startInstance } from "../harness/instance.ts";

const others = "actors=identity,audit,policy,contract,wave,review,transport,webhook,vendor-adapter,metrics";
const night = await startInstance(t, {
  services: [{ ROLE: "gateway" }, { ROLE: "actors=case,sub-case" }, { ROLE: others }],
});
const [xn] = night.airlines;

t.test("a flight runs to its offers over three processes", async (t) => {
  const { caseUrn, subCaseCount } = await night.push(xn, smallFlight("XN", "split-roles", 4));
  t.equal(subCaseCount, 4);
  await night.events.untilCount("subcase.offer-ready", 4, { caseUrn });
  const booked = (await night.ledger("stayhub")).counts.booked ?? 0;
  const others = (await night.ledger("roomlink")).counts.booked ?? 0;
  t.equal(booked + others, 4, "one booking for each group");
});

t.test("a push of over a megabyte is handed to the actors in pieces", async (t) => {
  const passengers: PassengerInput[] = Array.from({ length: 5000 }, (_, i) => ({
    pnr: `P${String(i % 2500).padStart(5, "0")}`,
    firstName: "Núñez".repeat(19),
    lastName: `Traveller ${i}`,
    cabinClass: "ECONOMY",
    contact: { email: `traveller${i}@example.com`, language: "es" },
  }));
  const flight = smallFlight("XN", "pieces", 0);
  // No policy covers Boston, so that nobody is booked and the test is about the body alone.
  const body = { ...flight, flight: { ...flight.flight, originAirport: "BOS" }, passengers };
  t.ok(JSON.stringify(body).length > 1_048_576, "larger than a message may be");
  const { caseUrn, subCaseCount } = await night.push(xn, body);
  t.equal(subCaseCount, 2500);
  const [opened] = await night.events.untilCount("case.opened", 1, { caseUrn });
  t.equal(opened?.data.subCaseCount, 2500, "every group is owned");
});
