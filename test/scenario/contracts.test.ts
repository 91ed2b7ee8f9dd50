// An airline's own contract with a hotel, from its signing to its last room: agreed by a supervisor, sold to the night's groups
// beside the vendors' hotels, never oversold, and given back by who declines.
import t, { type Test } from "tap";
import type { AuditEntryView } from "../../schemas/audit.ts";
import type { CaseView } from "../../schemas/case.ts";
import type { Page } from "../../schemas/command.ts";
import type { ContractBody, ContractView } from "../../schemas/contract.ts";
import type { ContractAnalysisView, Extraction } from "../../schemas/contract-analysis.ts";
import type { CatalogueHotelView } from "../../schemas/hotel-catalogue.ts";
import type { OfferView } from "../../schemas/passenger-api.ts";
import type { WaveView } from "../../schemas/wave.ts";
import { startClients } from "../harness/clients.ts";
import { contractLines, pdfOf, scannedPdf, scanOf } from "../harness/contract-documents.ts";
import { fileForm } from "../harness/forms.ts";
import { smallFlight, travellersOf } from "../harness/instance.ts";
import { eventually, takesLong } from "../harness/patience.ts";

takesLong(t);
/** Scans alone are told page by page: nothing else here comes by that point. */
const night = await startClients(t, {
  settings: { ACK_WAIT_MS: "3000" },
  services: [{ KILL_POINT: "after-commit@contract.note-progress" }],
});
const [xn, qz] = night.airlines;
const { events } = night;
const host = xn.passengerHost;
const supervisor = await night.operatorToken(xn.urn, "OPS_SUPERVISOR");
const hotelUrn = "urn:hotel:runway-house-jfk";
const roomsPerNight = 3;

const dayFromNow = (days: number): string =>
  new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
const season = { from: dayFromNow(-2), until: dayFromNow(30) };
const body = (more: Partial<ContractBody> = {}): ContractBody => ({
  name: "Runway House, winter",
  hotel: {
    hotelUrn,
    name: "Runway House",
    address: "1 Runway Road, New York, US",
    coordinates: { latitude: 40.6413, longitude: -73.7781 },
    stars: 4,
    amenities: ["24H_RECEPTION", "AIRPORT_SHUTTLE", "BREAKFAST", "WIFI"],
  },
  airport: "JFK",
  validFrom: season.from,
  validUntil: season.until,
  rates: [{ ...season, nightlyRateMinor: 900 }],
  currency: "USD",
  maxOccupancy: 2,
  accessibleRooms: 1,
  block: { roomsPerNight },
  ...more,
});
const put = (contract: ContractBody) =>
  night.call<ContractView>("putContract", { token: supervisor, body: contract });
const listed = async (token = supervisor): Promise<ContractView[]> =>
  (await night.call<Page<ContractView>>("listContracts", { token })).body.items;
const detail = async (caseUrn: string): Promise<CaseView> =>
  (await night.call<CaseView>("getCase", { token: supervisor, params: { caseUrn } })).body;
const waveOf = async ({ wave }: CaseView): Promise<WaveView> => {
  const params = { waveUrn: wave?.urn ?? "" };
  return (await night.call<WaveView>("getWave", { token: supervisor, params })).body;
};
/** Rooms taken of the block, in all the nights that are shown. */
const taken = async (): Promise<number> =>
  (await listed()).flatMap(({ nights }) => nights).reduce((sum, one) => sum + one.taken, 0);
const booked = async (name: string): Promise<number> =>
  (await night.ledger(name)).entries.filter(({ kind, state }) => kind === "booking" && state === "BOOKED")
    .length;

/** Each room of the contract is compared with the market of the same wave, and the wave says what that comes to. */
const checkSavings = (t: Test, wave: WaveView): void => {
  const direct = wave.allocations.filter((allocation) => allocation.hotelUrn === hotelUrn);
  const rates = wave.rankingInputs
    .filter(({ candidate }) => candidate.vendor !== "direct" && candidate.stars === 4)
    .map(({ candidate }) => candidate.nightlyRateMinor);
  t.ok(rates.length > 0, "some of the vendors' hotels have as many stars");
  for (const { marketTotalMinor = 0, marketBasis, rooms, nights } of direct) {
    t.equal(marketBasis, "SAME_STARS");
    t.ok(rates.includes(marketTotalMinor / (rooms * nights)), "what one of them asks");
  }
  const saved = direct.reduce((sum, one) => sum + (one.marketTotalMinor ?? 0) - one.totalMinor, 0);
  t.ok(saved > 0 || direct.length === 0);
  t.strictSame(
    wave.savingsVersusMarket,
    direct.length === 0 ? undefined : [{ currency: "USD", amountMinor: saved }],
  );
};

t.test("an airline without contracts is as before", async (t) => {
  t.strictSame(await listed(), []);
  const { caseUrn } = (await night.pushed(xn, smallFlight("XN", "plain", 1))).body;
  await events.untilCount("subcase.offer-ready", 1, { caseUrn });
  const wave = await waveOf(await detail(caseUrn));
  t.strictSame(wave.partialFailures, []);
  t.ok(wave.rankingInputs.every(({ candidate }) => candidate.vendor !== "direct"));
});

t.test("agreeing: who may, what is checked, what is kept", async (t) => {
  const created = await put(body({ block: { roomsPerNight: 1 } }));
  t.equal(created.status, 201);
  const contract = created.body;
  t.match(contract, {
    urn: /^urn:contract:XN-/,
    status: "ACTIVE",
    acceptedPayments: ["GUARANTEE"],
    version: 1,
  });
  t.equal(contract.nights.length, 14);
  const until = dayFromNow(20);
  const wrong = body({ rates: [{ ...season, until, nightlyRateMinor: 900 }] });
  t.match(await night.refused("putContract", { token: supervisor, body: wrong }), {
    status: 422,
    errors: [{ pointer: "/rates", detail: new RegExp(`${until} until ${season.until}`) }],
  });
  const missing = { ...body(), block: {} };
  t.match(await night.refused("putContract", { token: supervisor, body: missing }), {
    status: 422,
    errors: [{ pointer: "/block/roomsPerNight" }],
  });
  const operator = await night.operatorToken(xn.urn, "AIRPORT_OPERATOR");
  for (const id of ["putContract", "listContracts"])
    t.equal((await night.refused(id, { token: operator, body: body() })).status, 403, id);
  const elsewhere = await night.scopedToken(xn.urn, "OPS_SUPERVISOR", "LAX");
  t.equal((await night.refused("putContract", { token: elsewhere, body: body() })).status, 403);
  t.strictSame(await listed(elsewhere), []);
  const others = await night.operatorToken(qz.urn, "OPS_SUPERVISOR");
  const change = { ...body(), contractUrn: contract.urn };
  t.equal((await night.refused("putContract", { token: others, body: change })).status, 403);
  t.strictSame(await listed(others), []);

  const replaced = await put({ ...change, version: contract.version });
  t.equal(replaced.status, 200, "nothing is created");
  const changed = replaced.body;
  t.match(changed, { urn: contract.urn, version: 2, block: { roomsPerNight } });
  const stale = { ...change, name: "Other", version: 1 };
  t.match(await night.refused("putContract", { token: supervisor, body: stale }), {
    status: 409,
    version: 2,
  });
  const raced = await Promise.all(
    Array.from({ length: 50 }, (_, i) => put({ ...change, name: `Renewed ${i}`, version: 2 })),
  );
  const won = raced.filter(({ status }) => status === 200);
  t.equal(won.length, 1, "of fifty who have seen the same version one changes it");
  t.match(won[0]?.body, { version: 3 });
  t.ok(raced.every(({ status, body }) => status === 200 || (status === 409 && body.version === 3)));
  const unknown = { ...change, contractUrn: "urn:contract:XN-01JD0000000000000000000000" };
  t.equal((await night.refused("putContract", { token: supervisor, body: unknown })).status, 404);
  t.match(await listed(), [{ urn: contract.urn, version: 3 }]);
  for (const [status, count] of [
    ["ACTIVE", 1],
    ["UPCOMING", 0],
    ["ENDED", 0],
  ] as const) {
    const page = await night.call<Page<ContractView>>("listContracts", {
      token: supervisor,
      query: { status },
    });
    t.equal(page.body.items.length, count, status);
  }
  await night.eventually(
    "the catalogue knows its hotel",
    async () =>
      (
        await night.call<Page<CatalogueHotelView>>("listHotels", {
          token: operator,
          query: { stars: 4, limit: 200 },
        })
      ).body.items,
    (items) => items.some((one) => one.hotelUrn === hotelUrn && one.vendors.includes("direct")),
  );
  const trail = await night.eventually(
    "all changes are in the trail",
    async () =>
      (
        await night.call<Page<AuditEntryView>>("getEntityAudit", {
          token: supervisor,
          params: { entityUrn: contract.urn },
        })
      ).body.items,
    (items) => items.length === 3,
  );
  t.match(
    trail.findLast(({ action }) => action === "contract.update"),
    { before: { block: { roomsPerNight: 1 } }, after: { block: { roomsPerNight } } },
  );
});

t.test("two flights at once want more rooms than the block has", async (t) => {
  const before = (await booked("stayhub")) + (await booked("roomlink"));
  const flights = ["block-a", "block-b"].map((name) => smallFlight("XN", name, 4));
  const pushed = await Promise.all(flights.map((flight) => night.pushed(xn, flight)));
  const urns = pushed.map(({ body: { caseUrn } }) => caseUrn);
  for (const caseUrn of urns) await events.untilCount("subcase.offer-ready", 4, { caseUrn });
  const cases = await Promise.all(urns.map(detail));
  const hotels = cases.flatMap(({ reservations }) =>
    reservations.filter(({ status }) => status === "CONFIRMED").map((reservation) => reservation.hotelUrn),
  );
  t.equal(hotels.length, 8, "everybody has a room");
  t.equal(hotels.filter((urn) => urn === hotelUrn).length, roomsPerNight);
  t.equal(await taken(), roomsPerNight, "and the contract says the same");
  t.equal((await booked("stayhub")) + (await booked("roomlink")) - before, 8 - roomsPerNight);
  for (const wave of await Promise.all(cases.map(waveOf))) {
    t.strictSame(wave.partialFailures, []);
    t.ok(wave.rankingInputs.some(({ candidate }) => candidate.vendor === "direct"));
    checkSavings(t, wave);
  }

  const guests = flights.flatMap((flight) => travellersOf(flight.passengers));
  const offers = await Promise.all(
    guests.map(async (guest) => {
      const token = await night.passengerToken(xn, guest);
      return { token, offer: (await night.call<OfferView>("getMyOffer", { host, token })).body };
    }),
  );
  const direct = offers.filter(({ offer }) => offer.hotel?.urn === hotelUrn);
  t.equal(direct.length, roomsPerNight);
  t.match(direct[0]?.offer, { state: "READY", hotel: { name: "Runway House" }, voucher: { code: /\S/ } });

  await night.call("declineMyOffer", {
    host,
    token: direct[0]?.token as string,
    body: { reason: "No thanks" },
  });
  await night.eventually("the room is given back", taken, (rooms) => rooms === roomsPerNight - 1);
  const { caseUrn } = (await night.pushed(xn, smallFlight("XN", "next", 2))).body;
  await events.untilCount("subcase.offer-ready", 2, { caseUrn });
  const next = (await detail(caseUrn)).reservations.map((reservation) => reservation.hotelUrn);
  t.equal(next.filter((urn) => urn === hotelUrn).length, 1, "and the next case gets it");
  t.equal(await taken(), roomsPerNight);
});

const analysis = (analysisUrn: string) =>
  night.call<ContractAnalysisView>("getContractAnalysis", { token: supervisor, params: { analysisUrn } });
const handedIn = async (t: Test, content: Buffer, name: string): Promise<string> => {
  const form = fileForm(content, name);
  const { body } = await night.call<ContractAnalysisView>("analyzeContract", { token: supervisor, ...form });
  t.match(body, { status: "QUEUED", file: { name, bytes: content.length }, contractUrns: [] });
  return body.urn;
};
const untilRead = async (analysisUrn: string): Promise<ContractAnalysisView> => {
  const isUnread = ({ status }: ContractAnalysisView): boolean => status === "QUEUED" || status === "READING";
  const unread = async () => [(await analysis(analysisUrn)).body].find(isUnread);
  await eventually("it has been read", unread, 120_000);
  return (await analysis(analysisUrn)).body;
};

t.test("a contract's document is read, and counts once somebody stands by it", async (t) => {
  const pdf = await pdfOf();
  const found = await untilRead(await handedIn(t, pdf, "garden-court.pdf"));
  t.match(found, {
    status: "READY",
    progress: { pages: 1, pagesRead: 1 },
    extraction: { draft: { airport: "LIS", block: { roomsPerNight: 25 } }, conditions: { releaseDays: 2 } },
  });
  const staged = night.documents.tenant("XN").collection("staged");
  await night.eventually(
    "the document is forgotten",
    () => staged.countDocuments({}),
    (count) => count === 0,
  );
  t.notOk(
    (await listed()).some(({ hotel }) => hotel.name === "Garden Court Lisboa"),
    "it has no effect yet",
  );

  const { draft, missing } = found.extraction as Extraction;
  t.strictSame(missing, ["/name", "/hotel/coordinates", "/hotel/amenities", "/accessibleRooms"]);
  const completed = body({
    ...(draft as Partial<ContractBody>),
    analysisUrn: found.urn,
    hotel: { ...body().hotel, ...draft.hotel, hotelUrn: "urn:hotel:garden-court-lis" },
    conditions: { releaseDays: 2, cancellation: "Free of charge until 18:00 on the day of arrival" },
  });
  const { body: contract } = await put(completed);
  t.match(contract, {
    provenance: { analysisUrn: found.urn, confirmedBy: /^urn:/ },
    conditions: { releaseDays: 2 },
    block: { roomsPerNight: 25 },
  });
  const confirmed = await night.eventually(
    "the analysis knows its contract",
    async () => (await analysis(found.urn)).body,
    ({ status }) => status === "CONFIRMED",
  );
  t.strictSame(confirmed.contractUrns, [contract.urn]);

  const broken = await untilRead(await handedIn(t, Buffer.from("%PDF-1.7\nnothing"), "broken.pdf"));
  t.match(broken, { status: "REFUSED", refusal: { reason: "BROKEN", detail: /\S/ } });
  t.notOk("extraction" in broken);
  const refusing = (analysisUrn: string, token = supervisor) =>
    night.refused("putContract", { token, body: { ...completed, analysisUrn } });
  t.match(await refusing(broken.urn), { status: 409, state: "REFUSED" });
  t.match(await refusing("urn:contract-analysis:XN-01JD0000000000000000000000"), { status: 404 });
  t.match(await refusing("urn:contract-analysis:QZ-01JD0000000000000000000000"), { status: 403 });
  const atJfk = await night.scopedToken(xn.urn, "OPS_SUPERVISOR", "JFK");
  t.match(await night.refused("getContractAnalysis", { token: atJfk, params: { analysisUrn: found.urn } }), {
    status: 403,
  });
  const wrong = (content: string, name: string) =>
    night.refused("analyzeContract", { token: supervisor, ...fileForm(content, name) });
  t.match(await wrong("PK\u0003\u0004", "contract.pdf"), { status: 415 });
  t.match(await wrong("%PDF-1.7", "contract.docx"), { status: 415 });
  const tooLarge = fileForm(Buffer.concat([pdf, Buffer.alloc(10 * 1024 * 1024)]), "contract.pdf");
  t.match(await night.refused("analyzeContract", { token: supervisor, ...tooLarge }), { status: 413 });
});

t.test("the service dies in the middle of a reading, and reads the document once it is back", async (t) => {
  const [service] = night.services;
  if (service === undefined) throw new Error("there is no service");
  const halves = [contractLines.slice(0, 5), contractLines.slice(5)];
  const urn = await handedIn(
    t,
    await scannedPdf(halves.map((lines) => ({ bytes: scanOf(lines) }))),
    "scan.pdf",
  );
  t.equal((await service.exited).signal, "SIGKILL", "when it had told of the first page");
  const kept = night.documents.tenant("XN").collection("contractAnalyses");
  t.match(await kept.findOne({ "file.name": "scan.pdf" }), { status: "READING", attempts: 1, pagesRead: 1 });
  service.settings.KILL_POINT = "";
  await service.restart();
  t.match(await untilRead(urn), {
    status: "READY",
    progress: { pages: 2, pagesRead: 2 },
    extraction: { pagesRecognised: [1, 2], draft: { airport: "LIS", block: { roomsPerNight: 25 } } },
  });
});
