// What partners write to a case that stands: passengers who come late and corrected next flights, in any order, twice and in megabytes,
// and priority within its bounds.
import t from "tap";
import type { CaseView } from "../../schemas/case.ts";
import type { Page } from "../../schemas/command.ts";
import type { PendingApproval } from "../../schemas/demand.ts";
import type { ManifestAmended, ManifestPatchBody } from "../../schemas/partner-manifest.ts";
import type { PriorityGranted } from "../../schemas/partner-priority.ts";
import type { PartnerServices } from "../../schemas/partner-reads.ts";
import { idOf } from "../../schemas/urn.ts";
import { startClients } from "../harness/clients.ts";
import { smallFlight } from "../harness/instance.ts";
import { takesLong } from "../harness/patience.ts";

takesLong(t);
const night = await startClients(t, { settings: { PARTNER_PRIORITY_DAILY: "3" } });
const [xn] = night.airlines;
const { events } = night;
const token = await night.partnerToken(xn);
const supervisor = await night.operatorToken(xn.urn, "OPS_SUPERVISOR");

const ago = (minutes: number): string => new Date(Date.now() - minutes * 60_000).toISOString();
const inHours = (hours: number): string => new Date(Date.now() + hours * 3_600_000).toISOString();
const push = async (name: string, bookings: number, airport = "JFK"): Promise<string> => {
  const body = smallFlight("XN", name, bookings);
  const flight = { ...body.flight, originAirport: airport };
  return (await night.pushed(xn, { ...body, flight })).body.caseUrn;
};
const read = async <Body>(id: string, params: Record<string, string> = {}, query = {}): Promise<Body> =>
  (await night.call<Body>(id, { token, params, query })).body;
const detail = async (caseUrn: string): Promise<CaseView> =>
  (await night.call<CaseView>("getCase", { token: supervisor, params: { caseUrn } })).body;
const patch = async (caseUrn: string, body: ManifestPatchBody): Promise<ManifestAmended> =>
  (await night.call<ManifestAmended>("amendManifest", { token, params: { caseUrn }, body })).body;
const traveller = (pnr: string, lastName: string, firstName = "Grace") => ({
  ...{ pnr, lastName, firstName, cabinClass: "ECONOMY" },
  contact: { email: `${lastName.toLowerCase().replaceAll(/\W/g, "")}@example.com`, language: "en" },
});
const housed = async (caseUrn: string, groups: number): Promise<PartnerServices[]> => {
  await events.untilCount("subcase.offer-ready", groups, { caseUrn });
  return (await read<Page<PartnerServices>>("listPartnerServices", { caseUrn })).items;
};

const tonight = await push("tonight", 3);
const services = await housed(tonight, 3);

t.test(
  "passengers who come while the case is being provisioned, twice and in any order, are all owned",
  async (t) => {
    const caseUrn = await push("growing", 40);
    const late = Array.from({ length: 24 }, (_, i) =>
      traveller(`LT${String(i).padStart(4, "0")}`, "Løvås-李"),
    );
    const parts = [late.slice(0, 12), late.slice(8, 24), late.slice(0, 12)];
    const told = await Promise.all(
      parts.map((passengers, i) => patch(caseUrn, { decidedAt: ago(i + 1), passengers })),
    );
    t.equal(
      told.reduce((sum, { passengersAdded }) => sum + passengersAdded, 0),
      24,
      "each is added once",
    );
    await events.untilCount("subcase.offer-ready", 64, { caseUrn });
    const view = await detail(caseUrn);
    t.equal(view.passengerGroups.length, 64);
    t.equal(view.subCaseCount, 64);
    t.equal(
      view.passengerGroups.filter(({ passengers }) => passengers[0]?.lastName === "Løvås-李").length,
      24,
    );
  },
);

t.test(
  "who is added to a booking that waits joins it, to one that has its room is housed apart",
  async (t) => {
    const waiting = await push("held", 3, "LHR");
    await events.untilCount("review.opened", 1, { caseUrn: waiting });
    const [group] = (await detail(waiting)).passengerGroups;
    const [member] = group?.passengers ?? [];
    const child = {
      ...traveller(member?.pnr ?? "", member?.lastName ?? "", "Junior"),
      passengerType: "CHILD",
    };
    const joined = await patch(waiting, { decidedAt: ago(1), passengers: [child] });
    t.match(joined, { passengersAdded: 1, groupsAdded: 0, groupsJoined: 1, subCaseCount: 3 });
    await night.eventually(
      "the child is with its family",
      () => detail(waiting),
      ({ passengerGroups }) =>
        passengerGroups.find(({ groupId }) => groupId === group?.groupId)?.passengers.length ===
        (group?.passengers.length ?? 0) + 1,
    );
    const again = await patch(waiting, { decidedAt: ago(1), passengers: [child] });
    t.match(again, { passengersAdded: 0, passengersKnown: 1, groupsJoined: 0 });

    const room = (await detail(tonight)).passengerGroups[0]?.passengers[0];
    const apart = await patch(tonight, {
      decidedAt: ago(1),
      passengers: [traveller(room?.pnr ?? "", room?.lastName ?? "", "Junior")],
    });
    t.match(apart, { passengersAdded: 1, groupsAdded: 1, groupsJoined: 0, subCaseCount: 4 });
    const asked = await night.eventually(
      "more rooms are asked for",
      () => night.call<Page<PendingApproval>>("listPendingApprovals", { token: supervisor }),
      ({ body }) => body.items.some((demand) => demand.caseUrn === tonight),
    );
    const demandUrn = asked.body.items.find((demand) => demand.caseUrn === tonight)?.urn ?? "";
    const body = { reason: "One more" };
    await night.call("approveDemand", { token: supervisor, params: { demandUrn }, body });
    t.equal((await housed(tonight, 4)).length, 4);
    const amended = await night.deliveries(xn, tonight);
    t.ok(amended.length > 0);
  },
);

t.test("of next flights that come in the wrong order the one decided last stands", async (t) => {
  const caseUrn = await push("flights", 2);
  const flight = (n: number, hours: number) => ({
    iataDesignator: `XN${n}`,
    scheduledDeparture: inHours(hours),
  });
  const early = { decidedAt: new Date().toISOString(), nextFlight: flight(700, 40) };
  const first = await patch(caseUrn, early);
  t.match(
    first.nextFlight,
    /^(DEFERRED|APPLIED)$/,
    "while it is being provisioned or allocated, or right after",
  );
  t.equal(
    (await patch(caseUrn, { ...early, nextFlight: flight(701, 41), decidedAt: ago(30) })).nextFlight,
    "SUPERSEDED",
  );
  await events.untilCount("subcase.offer-ready", 2, { caseUrn });
  const settled = await night.eventually(
    "the correction is applied",
    () => detail(caseUrn),
    ({ nextFlight }) => nextFlight?.number === "XN700",
  );
  t.equal(settled.nextFlight?.scheduledDeparture, early.nextFlight.scheduledDeparture);
  t.equal((await patch(caseUrn, early)).nextFlight, "UNCHANGED");
  for (const [body, pointer] of [
    [{ decidedAt: inHours(2), nextFlight: flight(702, 42) }, "/decidedAt"],
    [{ decidedAt: ago(1) }, "/passengers"],
  ] as const) {
    const refusal = await night.refused("amendManifest", { token, params: { caseUrn }, body });
    t.match(refusal, { status: 422, errors: [{ pointer }] });
  }
});

t.test("ten thousand passengers in five megabytes hold nobody else up", async (t) => {
  const caseUrn = await push("huge", 1, "LHR");
  await events.untilCount("review.opened", 1, { caseUrn });
  const passengers = Array.from({ length: 10_000 }, (_, i) => ({
    ...traveller(`H${String(i % 5000).padStart(5, "0")}`, `Ærøskøbing-${"ß".repeat(60)}`, `Šárka ${i}`),
    loyaltyTier: "x".repeat(40),
    specialRequirements: Array.from({ length: 8 }, (_, n) => `NEED_${n}_${"y".repeat(20)}`),
  }));
  const body = { decidedAt: ago(1), passengers };
  const megabytes = Buffer.byteLength(JSON.stringify(body)) / 1024 / 1024;
  let isDone = false;
  const waits: number[] = [];
  const watch = (async () => {
    while (!isDone) {
      const from = performance.now();
      await night.call("reportLiveness", {});
      waits.push(performance.now() - from);
    }
  })();
  const from = performance.now();
  const told = await patch(caseUrn, body).finally(() => {
    isDone = true;
  });
  const tookMs = performance.now() - from;
  await watch;
  t.match(told, { passengersAdded: 10_000, groupsAdded: 5000 });
  t.comment(
    `${megabytes.toFixed(1)} MB in ${Math.round(tookMs)} ms; others waited ${Math.round(Math.max(...waits))} ms at most`,
  );
  const subCases = night.documents.tenant("XN").collection("subCases");
  await night.eventually(
    "all of them are owned",
    () => subCases.find({ caseId: idOf(caseUrn) }, { projection: { _id: 1 } }).toArray(),
    ({ length }) => length === 5001,
  );
});

t.test("priority goes to few, without a room, and the operators see it", async (t) => {
  const caseUrn = await push("hurried", 20, "LHR");
  await events.untilCount("review.opened", 1, { caseUrn });
  const [first, second] = (await detail(caseUrn)).passengerGroups;
  const ask = (body: object, params = { caseUrn }) => ({ token, params, body });
  const passengerUrns = [first?.passengers[0]?.urn];
  const granted = await night.call<PriorityGranted>(
    "requestPriority",
    ask({ passengerUrns, reason: "MEDICAL" }),
  );
  t.match(granted.body, { groups: [{ groupId: first?.groupId }], groupsLeft: 0 });
  const seen = await night.eventually(
    "its items are one level up",
    () => detail(caseUrn),
    ({ manualReviewItems }) => manualReviewItems.some(({ priority }) => priority === "MEDIUM"),
  );
  const partnerUrn = seen.passengerGroups.find(({ groupId }) => groupId === first?.groupId)?.priority;
  t.match(partnerUrn, { reason: "MEDICAL", requestedBy: /^urn:partner:XN-/ });
  t.equal(seen.passengerGroups.filter(({ priority }) => priority !== undefined).length, 1);
  const repeat = ask({ groupIds: [first?.groupId], reason: "VIP" });
  t.match((await night.call("requestPriority", repeat)).body, { groupsLeft: 0 }, "again is nothing more");
  const more = await night.refused("requestPriority", ask({ groupIds: [second?.groupId], reason: "VIP" }));
  t.match(more, { status: 409, state: "PRIORITY_USED_UP" });
  const unknown = await night.refused("requestPriority", ask({ groupIds: ["nobody"], reason: "VIP" }));
  t.match(unknown, { status: 422, errors: [{ pointer: "/groupIds/0" }] });
  t.match(await night.refused("requestPriority", ask({ reason: "VIP" })), { status: 422 });
  t.match(await night.refused("requestPriority", ask({ groupIds: ["G"], reason: "because" })), {
    status: 422,
  });
  const withRoom = services[0]?.groupId;
  const late = await night.refused(
    "requestPriority",
    ask({ groupIds: [withRoom], reason: "VIP" }, { caseUrn: tonight }),
  );
  t.match(late, { status: 409 });
  for (const name of ["hurried-b", "hurried-c", "hurried-d"]) {
    const other = await push(name, 1, "LHR");
    await events.untilCount("review.opened", 1, { caseUrn: other });
    const groupIds = (await detail(other)).passengerGroups.map(({ groupId }) => groupId);
    const told = await night.call("requestPriority", ask({ groupIds, reason: "VIP" }, { caseUrn: other }));
    if (name !== "hurried-d") t.equal(told.status, 200);
    else
      t.ok(told.status === 429 && Number(told.headers["retry-after"]) > 0, "the day's requests are used up");
  }
});
