// What a rollback promises: it takes back in the reverse order of what was got, asking twice changes nothing and costs nothing,
// and what cannot be taken back is on a person's desk and told to the partner.
import t from "tap";
import type { SubCaseState } from "../../actors/sub-case/state.ts";
import type { Command } from "../../schemas/command.ts";
import { idOf } from "../../schemas/urn.ts";
import type { VendorAnswer, VendorCall } from "../../schemas/vendor-call.ts";
import { publish } from "../../streams/publish.ts";
import { watch } from "../harness/actors.ts";
import { payByCard } from "../harness/card-policy.ts";
import { startClients } from "../harness/clients.ts";
import { smallFlight, travellersOf } from "../harness/instance.ts";
import { takesLong } from "../harness/patience.ts";

takesLong(t);
const night = await startClients(t);
const [xn] = night.airlines;
const host = xn.passengerHost;
await payByCard(night, xn);

const vendors = ["stayhub", "roomlink", "cardworks", "ridefleet"] as const;
/** The operation that gets each kind of thing, and the one that takes it back. */
const gets = ["book", "issueCard"];
const takesBack = ["cancel", "cancelCard"];

/** One group with all that there is to be had for it. */
const offered = async (name: string): Promise<{ caseUrn: string; subCaseId: string; token: string }> => {
  const flight = smallFlight("XN", name, 1);
  const { caseUrn } = await night.push(xn, flight);
  const [ready] = await night.events.untilCount("subcase.offer-ready", 1, { caseUrn });
  const [traveller] = travellersOf(flight.passengers);
  const token = await night.passengerToken(xn, traveller as { pnr: string; lastName: string });
  return { caseUrn, subCaseId: idOf(String(ready?.data.subCaseUrn)), token };
};
const decline = (token: string) => night.call("declineMyOffer", { host, token, body: {} });
const ledgers = () => Promise.all(vendors.map((name) => night.ledger(name)));
/** References are `<sub-case>.<what>.<numbers>`. */
const whatOf = (reference: string): string => reference.split(".")[1] ?? "";
/** What the vendors hold for a group: what, reference, state and what taking it back cost. */
const holdings = async (subCaseId: string): Promise<string[]> =>
  (await ledgers())
    .flatMap(({ entries }) => entries)
    .filter(({ kind, reference }) => kind !== "hold" && reference.startsWith(`${subCaseId}.`))
    .map(
      ({ kind, reference, state, details }) =>
        `${kind} ${whatOf(reference)} ${state} ${details.cancellationFeeMinor ?? "-"}`,
    )
    .sort();
/** References in the order in which vendors were asked to do one of the operations. */
const askedFor = async (subCaseId: string, operations: readonly string[]): Promise<string[]> =>
  (await ledgers())
    .flatMap(({ requests }) => requests)
    .filter(
      ({ operation, idempotencyKey }) =>
        operations.includes(operation) && idempotencyKey?.startsWith(`${subCaseId}.`),
    )
    .sort((a, b) => a.at.localeCompare(b.at))
    .map(({ idempotencyKey }) => idempotencyKey ?? "");

t.test("in reverse order, and twice is once", async (t) => {
  const { caseUrn, subCaseId, token } = await offered("BACK");
  const commands = await watch(night.streams.connection, "cmd.XN.>");
  const named = (pattern: RegExp) =>
    commands.seen
      .map(({ subject, text }) => ({ subject, text, command: JSON.parse(text) as Command }))
      .filter(({ command }) => pattern.test(command.name));
  await decline(token);
  await night.events.untilCount("case.resolved", 1, { caseUrn });

  const got = await askedFor(subCaseId, gets);
  t.same(
    got.map((reference) => whatOf(reference)),
    ["payment", "room", "card", "ride", "ride"],
    "everything was got, rides there and back",
  );
  t.same(
    (await askedFor(subCaseId, takesBack)).map(whatOf),
    ["ride", "ride", "card", "room", "payment"],
    "last got, first given back; the room's card after the room",
  );
  const before = await holdings(subCaseId);
  t.equal(before.length, 5);
  t.ok(
    before.every((holding) => holding.includes("CANCELLED")),
    before.join(", "),
  );

  // Of the vendors: the saga's, and those of the vehicles.
  const answers = () =>
    named(/\.record-answer$/)
      .filter(({ command }) => command.principal.urn.endsWith("vendor-adapter"))
      .map(({ command }) => command.data as VendorAnswer);
  const cancels = named(/^vendor-.+\.cancel/);
  const first = answers();
  t.same([cancels.length, first.length], [5, 5]);
  for (const { subject, command } of cancels) {
    const again = { ...command, id: `${command.id}:again` };
    await publish(night.streams, { subject, payload: JSON.stringify(again), messageId: again.id });
  }
  await commands.until(() => answers().length === 2 * first.length);
  const byReference = (all: readonly VendorAnswer[]) =>
    Object.fromEntries(all.map(({ reference, ...answer }) => [reference, answer]));
  t.same(byReference(answers().slice(first.length)), byReference(first), "the same answers");
  t.same(await holdings(subCaseId), before, "nothing is cancelled twice, and no fee doubled");
  t.equal((await askedFor(subCaseId, takesBack)).length, 10, "the vendors were asked again");
  t.same(cancels.map(({ command }) => (command.data as VendorCall).reference).sort(), [...got].sort());
});

t.test("what the vendor will not take back is told, and the rest is given back", async (t) => {
  const { caseUrn, subCaseId, token } = await offered("KEPT");
  const refusing = { failNext: [{ operation: "cancel", kind: "refuse", times: 20, match: subCaseId }] };
  await night.control({ stayhub: refusing, roomlink: refusing });
  await decline(token);
  const [failed] = await night.events.untilCount("subcase.compensation-failed", 1, { caseUrn });
  t.match(failed?.data, { status: "COMPENSATION_FAILED" });
  await night.events.untilCount("review.opened", 1, { caseUrn });
  const supervisor = await night.operatorToken(xn.urn, "OPS_SUPERVISOR");
  const seen = await night.call("getCase", { token: supervisor, params: { caseUrn } });
  t.match(seen.body, {
    manualReviewItems: [{ category: "BOOKING_FAILED", origin: "rollback", detail: /cancel-room/ }],
  });
  t.same(
    (await holdings(subCaseId)).map((holding) => holding.split(" ").slice(0, 3).join(" ")),
    [
      "booking room BOOKED",
      "card card CANCELLED",
      "card payment ACTIVE",
      "ride ride CANCELLED",
      "ride ride CANCELLED",
    ],
  );
  const heard = await night.eventually(
    "the partner hears of it",
    () => night.deliveries(xn, caseUrn),
    (deliveries) => deliveries.some(({ eventType }) => eventType === "subcase.compensation-failed"),
  );
  t.match(
    heard.find(({ eventType }) => eventType === "subcase.compensation-failed"),
    { verified: true, eventUrn: failed?.urn, body: { data: { status: "COMPENSATION_FAILED" } } },
  );
  const subCase = await night.documents
    .tenant("XN")
    .collection<SubCaseState & { _id: string }>("subCases")
    .findOne({ _id: subCaseId });
  t.equal(subCase?.status, "COMPENSATION_FAILED");
});
