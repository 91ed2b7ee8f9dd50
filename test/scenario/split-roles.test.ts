// The service over three processes (a gateway alone, the case and sub-case actors, everybody else) is the same service:
// a body that no message could hold gets to its actor, and a night runs to its offers.
import type { Document } from "mongodb";
import t from "tap";
import type { ContractState } from "../../actors/contract/state.ts";
import type { PassengerInput } from "../../schemas/passenger.ts";
import { webhookBytesMax } from "../../schemas/vendor-webhook.ts";
import { expectStatus } from "../../scripts/demonstration/http.ts";
import { jfkBlock } from "../../scripts/soaking/block.ts";
import { smallFlight, startInstance } from "../harness/instance.ts";
import { eventually } from "../harness/patience.ts";
import { signedWebhook } from "../harness/vendor-webhook.ts";

const others =
  "actors=identity,audit,policy,contract,wave,review,transport,message,webhook,vendor-adapter,metrics,agent,flight";
const night = await startInstance(t, {
  sandbox: false,
  services: [{ ROLE: "gateway" }, { ROLE: "actors=case,sub-case" }, { ROLE: others }],
});
const [xn] = night.airlines;
const contract = {
  method: "POST",
  path: "/v1/contracts",
  token: await night.operatorToken(xn.urn, "OPS_SUPERVISOR"),
  body: jfkBlock(new Date(), 10),
} as const;

t.test("a flight runs to its offers over three processes", async (t) => {
  // Rooms of the airline's own: the vendors' own processes are no subject here.
  expectStatus(await night.ask(contract), 201, "a contract");
  const { caseUrn, subCaseCount } = await night.push(xn, smallFlight("XN", "split-roles", 4));
  t.equal(subCaseCount, 4);
  await night.events.untilCount("subcase.offer-ready", 4, { caseUrn });
  const [{ taken = [] } = {}] = await night.documents
    .tenant(xn.code)
    .collection<ContractState & Document>("contracts")
    .find()
    .toArray();
  t.strictSame(
    taken.map(({ state }) => state),
    Array(4).fill("BOOKED"),
    "one booking for each group",
  );
});

t.test("a push of over a megabyte is handed to the actors in pieces", async (t) => {
  const groups = 600;
  const passengers: PassengerInput[] = Array.from({ length: 5000 }, (_, i) => ({
    pnr: `P${String(i % groups).padStart(5, "0")}`,
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
  t.equal(subCaseCount, groups);
  const [opened] = await night.events.untilCount("case.opened", 1, { caseUrn });
  t.equal(opened?.data.subCaseCount, groups, "every group is owned");
});

t.test("a vendor's webhook as large as it may be is handed on", async (t) => {
  const [vendor, webhookSecret] = ["cards", "whsec_of_split_roles"];
  const account = { name: vendor, dialect: "cardworks", baseUrl: "http://127.0.0.1:9", apiKey: "key" };
  await night.client.command("vendor-adapter.put-vendor", {
    ...{ tenant: "QZ", data: { ...account, webhookSecret } },
  });
  const event = { id: "evt", type: "card.created", data: "" };
  const room = webhookBytesMax - Buffer.byteLength(JSON.stringify(event));
  // In its worst form for a message: what JSON would have to escape.
  const { raw, headers } = signedWebhook(vendor, webhookSecret, {
    ...{ ...event, data: '"'.repeat(Math.floor(room / 2)) },
  });
  const post = async (body: string) => {
    const url = `${night.instance.baseUrl}/v1/webhooks/vendors/${vendor}`;
    return (await fetch(url, { method: "POST", headers, body })).status;
  };
  await eventually("the secret is known everywhere", async () => {
    const status = await post(raw);
    return status === 204 ? undefined : status;
  });
  t.equal(await post(raw.replace("evt", "evu")), 401, "another one");
});
