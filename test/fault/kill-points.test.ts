import t from "tap";
import { smallFlight, startInstance, travellersOf } from "../harness/instance.ts";

t.test("smoke", async (t) => {
  const began = Date.now();
  const it = await startInstance(t, { settings: { SWEEP_INTERVAL_MS: "500", STEP_DEADLINE_MS: "1500" } });
  t.comment(`instance ${Date.now() - began}`);
  const xn = it.airlines[0];
  const flight = smallFlight("XN", "smoke", 6);
  const { caseUrn, subCaseCount } = await it.push(xn, flight);
  await it.events.untilCount("subcase.offer-ready", subCaseCount, { caseUrn });
  t.comment(`ready ${Date.now() - began}`);
  for (const traveller of travellersOf(flight.passengers)) {
    const token = await it.passengerToken(xn, traveller);
    const accepted = await it.ask({ method: "POST", path: "/v1/me/offer/accept", token, host: xn.passengerHost, body: {} });
    t.equal(accepted.status, 200);
  }
  await it.events.untilCount("case.resolved", 1, { caseUrn });
  t.comment(`resolved ${Date.now() - began}`);
  const ledger = await it.ledger("stayhub");
  t.comment(JSON.stringify(ledger.counts), ledger.entries[0]);
});
