// What must hold once everything has settled, whatever died on the way: state, outbox, events and the vendors' ledgers agree.
import type { Document } from "mongodb";
import type { Test } from "tap";
import type { SubCaseState } from "../../actors/sub-case/state.ts";
import { idOf, urn } from "../../schemas/urn.ts";
import { readFleet, rideDifferences } from "../../scripts/administration/consistency/rides.ts";
import { listDeadLetters } from "../../streams/dead-letters.ts";
import type { Ledger, TestInstance } from "../harness/instance.ts";
import { eventually } from "../harness/patience.ts";

type SubCase = SubCaseState & { _id: string };
type Entry = Ledger["entries"][number];

/** What outlives a settled call to a vendor; holds are used up by bookings or expire. */
const soldKinds = ["booking", "card", "ride", "message"];

/** Waits until no outbox of the airline holds anything and no command waits or is under way. */
export const untilQuiet = async (it: TestInstance, tenant: string): Promise<void> => {
  const shared = ["transfers", "transportRuns", "messages"];
  for (const name of [...shared, "cases", "subCases", "waves", "reviewItems", "policies", "policyContexts"]) {
    await eventually(`outboxes of ${name} drained`, async () => {
      const found = await it.documents
        .tenant(tenant)
        .collection<Document>(name)
        .findOne({ pendingSince: { $gt: new Date(0) } });
      return found === null ? undefined : { _id: found._id, outbox: found.outbox };
    });
  }
  await eventually("every command handled", async () => {
    const { state } = await it.streams.manager.streams.info("COMMANDS", { subjects_filter: ">" });
    return state.messages === 0 ? undefined : { waiting: state.messages, subjects: state.subjects };
  });
  for (const name of shared) {
    await eventually(`${name} wait for nothing`, async () => {
      const collection = it.documents.tenant(tenant).collection<Document>(name);
      const found = await collection.findOne({ nextDueAt: { $gt: new Date(0) } });
      return found === null ? undefined : { _id: found._id, nextDueAt: found.nextDueAt };
    });
  }
};

/** Asserts it for one case of which everybody has decided: `declined` groups did, all others accepted. */
export const assertAgreement = async (
  t: Test,
  it: TestInstance,
  caseUrn: string,
  declined: number,
): Promise<void> => {
  const tenant = it.documents.tenant(idOf(caseUrn).slice(0, 2));
  await untilQuiet(it, tenant.tenant);
  const found = await tenant.collection<Document>("cases").findOne({ _id: idOf(caseUrn) as never });
  t.ok(found?.resolvedAt, "the case is resolved");
  const subCases = (await tenant
    .collection<Document>("subCases")
    .find({ caseId: idOf(caseUrn) })
    .toArray()) as unknown as SubCase[];
  t.equal(subCases.length, found?.groups.length, "one sub-case a group");
  t.equal(new Set(subCases.map(({ groupId }) => groupId)).size, subCases.length, "no group has two");
  const statuses = countBy(subCases, ({ status }) => status);
  t.strictSame(
    statuses,
    { RESOLVED: subCases.length - declined, ...(declined > 0 && { DECLINED: declined }) },
    "every group has decided and nothing is left under way",
  );
  t.strictSame(await listDeadLetters(it.streams, { tenant: tenant.tenant, limit: 5 }), [], "no dead letters");
  assertEvents(t, it, caseUrn, subCases, declined);
  await assertLedgers(t, it, subCases);
  await assertRides(t, it, subCases);
};

/** Both ways for who stays, none for who doesn't; vehicles, seats and the vendor's book agree, whoever shares them. */
const assertRides = async (t: Test, it: TestInstance, subCases: SubCase[]): Promise<void> => {
  const tenant = subCases[0]?._id.slice(0, 2) ?? "";
  const fleet = await readFleet(it.documents.tenant(tenant));
  const entries = (await it.ledger("ridefleet")).entries
    .filter(({ reference }) => reference.startsWith(`${tenant}-`))
    .map((entry) => ({ ...entry, kind: "ride" as const, changedAt: "" }));
  t.strictSame(
    rideDifferences([{ vendor: "ridefleet", entries }], fleet, new Date()).map(({ detail }) => detail),
    [],
    "nobody sits in two vehicles, none goes empty, and the vendor holds each once",
  );
  const wrong = subCases.flatMap(({ _id, status }) => {
    const segments = fleet.transfers.find((transfer) => transfer._id === _id)?.segments ?? [];
    const has = segments.map((segment) => `${segment.direction} ${segment.status}`).sort();
    const each = status === "RESOLVED" ? "booked" : "cancelled";
    const should = [`AIRPORT_TO_HOTEL ${each}`, `HOTEL_TO_AIRPORT ${each}`];
    return JSON.stringify(has) === JSON.stringify(should) ? [] : [{ id: _id, has, should }];
  });
  t.strictSame(wrong, [], "each group is driven there and back, once");
};

const countBy = <T>(items: readonly T[], keyOf: (item: T) => string): Record<string, number> => {
  const counts: Record<string, number> = {};
  for (const item of items) counts[keyOf(item)] = (counts[keyOf(item)] ?? 0) + 1;
  return counts;
};

/** By URN: the same event may stand twice on the stream after a crash, the same happening must not under two URNs. */
const assertEvents = (
  t: Test,
  it: TestInstance,
  caseUrn: string,
  subCases: SubCase[],
  declined: number,
): void => {
  const byUrn = new Map(
    it.events.all
      .filter((event) => event.stream === "EVENTS" && event.case_urn === caseUrn)
      .map((event) => [event.urn, event]),
  );
  const events = [...byUrn.values()];
  const happenings = countBy(events, ({ type, data }) => `${type} of ${data.subCaseUrn ?? "the case"}`);
  // Whom every hotel of a wave has let down is processed once more, after the next wave.
  const returned = new Map(
    subCases.map(({ _id, returns }) => [`subcase.processing of ${urn("sub-case", _id)}`, returns]),
  );
  t.strictSame(
    Object.entries(happenings).filter(([what, times]) => times !== 1 + (returned.get(what) ?? 0)),
    [],
    "each thing has happened once",
  );
  const groups = subCases.length;
  const expected = {
    "case.opened": 1,
    "case.resolved": 1,
    "subcase.processing": subCases.reduce((sum, { returns }) => sum + 1 + returns, 0),
    "subcase.offer-ready": groups,
    "subcase.resolved": groups - declined,
    "subcase.declined": declined,
    "voucher.issued": groups,
    "voucher.amended": declined,
    "wallet.card-issued": groups,
  };
  const types = countBy(events, ({ type }) => type);
  t.strictSame(
    types,
    Object.fromEntries(Object.entries(expected).filter(([, times]) => times > 0)),
    "no event is missing",
  );
};

const assertLedgers = async (t: Test, it: TestInstance, subCases: SubCase[]): Promise<void> => {
  const names = ["stayhub", "roomlink", "cardworks", "ridefleet", "sendwell"];
  const ledgers = await Promise.all(names.map((name) => it.ledger(name)));
  const sold = ledgers.flatMap(({ entries }, i) => entries.map((entry) => ({ ...entry, vendor: names[i] })));
  const own = (entry: Entry) => subCases.find(({ _id }) => entry.reference.startsWith(`${_id}.`));
  const ours = sold.filter((entry) => soldKinds.includes(entry.kind) && own(entry) !== undefined);
  const doubled = Object.entries(countBy(ours, ({ kind, reference }) => `${kind} ${reference}`));
  t.strictSame(
    doubled.filter(([, times]) => times > 1),
    [],
    "nothing was sold twice under one reference",
  );
  const standing = (kind: string, state: string, subCase: SubCase) =>
    ours.filter((entry) => entry.kind === kind && entry.state === state && own(entry) === subCase);
  // Some hotels near an airport take no guarantee: each stay there has a card of its own, beside the passengers'.
  const payments = (subCase: SubCase) => (subCase.payment?.status === "ACTIVE" ? 1 : 0);
  const wrong = subCases.flatMap((subCase) => {
    const kept = subCase.status === "RESOLVED" ? 1 : 0;
    const has = {
      bookings: standing("booking", "BOOKED", subCase).length,
      cards: standing("card", "ACTIVE", subCase).length,
      messages: ours.filter((entry) => entry.kind === "message" && own(entry) === subCase).length,
    };
    const should = { bookings: kept, cards: kept + payments(subCase), messages: 1 };
    return JSON.stringify(has) === JSON.stringify(should) ? [] : [{ id: subCase._id, has, should }];
  });
  t.strictSame(wrong, [], "one room, card and message for who stays; none but the message for who doesn't");
  const elsewhere = subCases.filter(
    ({ status, reservation }) =>
      status === "RESOLVED" &&
      !ours.some(
        (entry) =>
          entry.kind === "booking" &&
          entry.id === reservation?.bookingId &&
          entry.vendor === reservation.vendor,
      ),
  );
  t.strictSame(
    elsewhere.map(({ _id }) => _id),
    [],
    "each sub-case names the booking that its vendor has",
  );
  t.strictSame(
    sold
      .filter((entry) => entry.kind === "hold" && entry.state === "HELD" && own(entry) !== undefined)
      .map(({ reference }) => reference),
    [],
    "no room is held for nobody",
  );
};
