// Two airlines in one night, as the matrix finds them: what stands there to be read, decided and undone, and a session of
// each kind of passenger. Without vendors: rooms come from the airlines' own contracts.
import type { Test } from "tap";
import { searchAirports } from "../../../schemas/airports.ts";
import type { CaseView } from "../../../schemas/case.ts";
import type { Page } from "../../../schemas/command.ts";
import type { ContractView } from "../../../schemas/contract.ts";
import type { ContractAnalysisView } from "../../../schemas/contract-analysis.ts";
import type { DemandView } from "../../../schemas/demand.ts";
import type { PolicyView } from "../../../schemas/policy.ts";
import type { ReservationDetail } from "../../../schemas/reservation.ts";
import type { RevocationView } from "../../../schemas/revocation.ts";
import type { SegmentView } from "../../../schemas/transport.ts";
import type { WaveView } from "../../../schemas/wave.ts";
import type { DemoAirline } from "../../../scripts/demonstration/provision.ts";
import { type Clients, startClients } from "../../harness/clients.ts";
import { fileForm } from "../../harness/forms.ts";
import { smallFlight, travellersOf } from "../../harness/instance.ts";
import { endow } from "./endowment.ts";
import { writeLinks } from "./links.ts";
import { openReviewDesk, type ReviewDesk } from "./review-desk.ts";
import { contractBody, policyBody, rideBody } from "./terms.ts";

/** What of one airline can be named in a request. */
export interface Belongings {
  airline: DemoAirline;
  caseUrn: string;
  subCaseUrn: string;
  passengerUrn: string;
  reservationUrn: string;
  bookingUrn: string;
  voucherUrn: string;
  waveUrn: string;
  policyUrn: string;
  demandUrn: string;
  contractUrn: string;
  analysisUrn: string;
  revocationUrn: string;
}

export interface World {
  clients: Clients;
  xn: Belongings;
  qz: Belongings;
  /** XN's, each for one success that changes what it names. */
  spare: {
    closable: string;
    closed: string;
    allocatable: readonly [string, string];
    compensable: string;
    /** A case whose group waits for its booking. */
    bookable: string;
    /** A group's wave, and the hotel that it did not choose. */
    choice: { waveUrn: string; groupId: string; hotelUrn: string };
    /** A case's newest wave. */
    repeatable: string;
    demands: readonly [string, string];
    reviews: readonly [string, string, string];
    draft: string;
    revocation: string;
    freeze: string;
    /** Groups that wait: two of two passengers each, and two of one. */
    regroup: {
      caseUrn: string;
      splittable: string;
      pairs: readonly [string[], string[]];
      mergeable: readonly [string, string];
    };
    handheld: { caseUrn: string; groupId: string };
    /** A case whose only group is held. */
    amendable: { caseUrn: string; groupId: string };
    /** Of the partner's own events, from this one on. */
    replay: { urn: string; since: string };
    /** A vendor that tells us things, and what it signs with. */
    webhooks: { vendor: string; secret: string };
    desk: ReviewDesk;
    /** A drill, whose vendors drive people, and three rides of its only group. */
    driven: {
      caseUrn: string;
      reservationUrn: string;
      segments: readonly [string, string, string];
    };
  };
  /** An airport with no case and no freeze, another one each time. */
  freezable: () => string;
  /** Passengers of XN by what they are for, and one of QZ. */
  sessions: Record<"owner" | "decliner" | "otherCase" | "closedCase" | "foreign", string>;
  /** A booking that nobody has logged in with. */
  booking: { pnr: string; lastName: string };
  /** Of a link that logs the owner in, another one each time. */
  link: () => string;
  /** URNs of the case that `otherCase` must not see. */
  ownersUrns: readonly string[];
}

const putContracts = async (
  clients: Clients,
  admin: string,
  hotels: readonly (readonly [airport: string, name?: string])[],
): Promise<string> => {
  const put = hotels.map((hotel) =>
    clients.call<ContractView>("putContract", { token: admin, body: contractBody(...hotel) }),
  );
  return (await Promise.all(put))[0]?.body.urn ?? "";
};

const activate = async (clients: Clients, admin: string, body: unknown): Promise<void> => {
  const { urn } = (await clients.call<PolicyView>("createPolicy", { token: admin, body })).body;
  await clients.call("activatePolicy", { token: admin, params: { policyUrn: urn } });
};

const freezes = (): (() => string) => {
  const airports = searchAirports("a", 150).map(({ code }) => code);
  const spare = airports.filter((code) => !["JFK", "LAX", "OPO", "LHR", "SFO", "MIA"].includes(code));
  return () => spare.pop() ?? "";
};

const regroupOf = ({ urn, passengerGroups }: CaseView): World["spare"]["regroup"] => {
  const members = passengerGroups.map(({ groupId, passengers }) => ({
    groupId,
    urns: passengers.map((passenger) => passenger.urn),
  }));
  const [split, apart] = members.filter(({ urns }) => urns.length === 2);
  const [first, second] = members.filter(({ urns }) => urns.length === 1);
  return {
    caseUrn: urn,
    splittable: split?.groupId ?? "",
    pairs: [split?.urns ?? [], apart?.urns ?? []],
    mergeable: [first?.groupId ?? "", second?.groupId ?? ""],
  };
};

/** Of the other airline, whose groups all have their cards' answers by now: nobody serves at its address. */
const webhooksOf = async ({ client }: Clients): Promise<World["spare"]["webhooks"]> => {
  const account = { name: "cards", dialect: "cardworks", baseUrl: "http://127.0.0.1:9", apiKey: "key" };
  const webhookSecret = "whsec_of_the_matrix";
  await client.command("vendor-adapter.put-vendor", { tenant: "QZ", data: { ...account, webhookSecret } });
  return { vendor: account.name, secret: webhookSecret };
};

const choiceOf = async (
  clients: Clients,
  admin: string,
  { wave }: CaseView,
): Promise<World["spare"]["choice"]> => {
  const waveUrn = wave?.urn ?? "";
  const [chosen] = wave?.allocations ?? [];
  const { body } = await clients.call<WaveView>("getWave", { token: admin, params: { waveUrn } });
  const other = body.rankingInputs.find(({ candidate }) => candidate.hotelUrn !== chosen?.hotelUrn);
  return { waveUrn, groupId: chosen?.groupId ?? "", hotelUrn: other?.candidate.hotelUrn ?? "" };
};

const withinReach = async (
  clients: Clients,
  airline: DemoAirline,
  admin: string,
  caseUrn: string,
  contractUrn: string,
): Promise<Belongings> => {
  const seen = (await clients.call<CaseView>("getCase", { token: admin, params: { caseUrn } })).body;
  const policies = await clients.call<Page<PolicyView>>("listActivePolicies", { token: admin });
  const body = { subject: `nobody-${airline.code}`, reason: "Lost" };
  const revoked = await clients.call<RevocationView>("revokeAccess", { token: admin, body });
  const document = fileForm("%PDF-1.7\n", "contract.pdf");
  const analysis = await clients.call<ContractAnalysisView>("analyzeContract", { token: admin, ...document });
  const [group] = seen.passengerGroups;
  const reservationUrn = seen.reservations[0]?.urn ?? "";
  const { voucher } = (
    await clients.call<ReservationDetail>("getReservation", { token: admin, params: { reservationUrn } })
  ).body;
  return {
    airline,
    caseUrn,
    subCaseUrn: group?.subCaseUrn ?? "",
    passengerUrn: group?.passengers[0]?.urn ?? "",
    reservationUrn,
    bookingUrn: seen.reservations[0]?.bookingUrn ?? "",
    voucherUrn: voucher?.urn ?? "",
    waveUrn: seen.wave?.urn ?? "",
    policyUrn: policies.body.items[0]?.urn ?? "",
    demandUrn: `urn:demand:${clients.events.of("demand.requested", caseUrn)[0]?.data.demandId}`,
    contractUrn,
    analysisUrn: analysis.body.urn,
    revocationUrn: revoked.body.urn,
  };
};

/** Drills have vendors of every kind, also where the airline has none. */
const drillOf = async (clients: Clients, admin: string): Promise<World["spare"]["driven"]> => {
  const { flight, nextFlight } = smallFlight("XN", "drill", 0);
  const opened = await clients.call<{ caseUrn: string }>("openCaseManually", {
    token: admin,
    body: {
      externalEventId: "XN-drill",
      kind: "DRILL",
      flight: {
        number: "XN9",
        origin: "JFK",
        destination: "LIS",
        scheduledDeparture: flight.scheduledDeparture,
        status: "CANCELLED",
      },
      nextFlight: { number: "XN10", scheduledDeparture: nextFlight?.scheduledDeparture },
      passengerGroups: [{ passengers: [{ pnr: "DRIVEN", lastName: "Lovelace", cabinClass: "ECONOMY" }] }],
    },
  });
  const { caseUrn } = opened.body;
  const asked = { token: admin, params: { caseUrn } };
  const { items } = await clients.eventually(
    "the drill's group is driven there and back",
    async () => (await clients.call<Page<SegmentView>>("listSegments", asked)).body,
    (page) => page.items.length === 2 && page.items.every(({ status }) => status === "booked"),
  );
  await clients.events.untilCount("subcase.offer-ready", 1, { caseUrn });
  const reservationUrn = items[0]?.reservationUrn ?? "";
  const created = await clients.call<SegmentView>("createSegment", {
    token: admin,
    body: rideBody(reservationUrn, 59),
  });
  return { caseUrn, reservationUrn, segments: [items[0]?.urn ?? "", items[1]?.urn ?? "", created.body.urn] };
};

/** The airlines, their contracts and policies, and a night's cases with everything settled that settles itself. */
export const openWorld = async (t: Test): Promise<World> => {
  const clients = await startClients(t, { sandbox: false });
  const { events } = clients;
  const [xn, qz] = clients.airlines;
  const [admin, foreignAdmin] = (await Promise.all(
    [xn, qz].map(({ urn }) => clients.operatorToken(urn, "ADMIN")),
  )) as [string, string];
  const [contract, foreignContract] = await Promise.all([
    putContracts(clients, admin, [["JFK"], ["LAX"], ["LAX", "Another inn at LAX"]]),
    putContracts(clients, foreignAdmin, [["JFK"]]),
  ]);
  await activate(clients, admin, policyBody("Booked by hand", { airport: "LAX" }, { autoBook: false }));
  await activate(clients, admin, policyBody("No hotel there", { airport: "OPO" }));

  const push = async (airline: DemoAirline, name: string, bookings: number, airport = "JFK") => {
    const body = smallFlight(airline.code, name, bookings);
    const flight = { ...body.flight, originAirport: airport };
    // Two airlines may call two events the same.
    const { caseUrn } = (await clients.pushed(airline, { ...body, externalEventId: name, flight })).body;
    return { caseUrn, travellers: travellersOf(body.passengers) };
  };
  const waiting = await Promise.all(
    ["compensable", "bookable", "choosable", "repeatable"].map((name) => push(xn, name, 1, "LAX")),
  );
  const [tonight, other, closing, closable, ...stranded] = await Promise.all([
    push(xn, "tonight", 3),
    push(xn, "other", 1),
    push(xn, "closing", 1),
    push(xn, "closable", 1),
    push(xn, "stranded-a", 1, "OPO"),
    push(xn, "stranded-b", 1, "OPO"),
    push(xn, "stranded-c", 1, "LHR"),
    push(xn, "regroup", 4, "LHR"),
    push(xn, "by-desk", 1, "LHR"),
    push(xn, "amendable", 1, "LHR"),
  ]);
  const foreign = await push(qz, "tonight", 1);
  for (const [{ caseUrn }, groups] of [
    [tonight, 3],
    [other, 1],
    [closing, 1],
    [closable, 1],
    [foreign, 1],
  ] as const)
    await events.untilCount("subcase.offer-ready", groups, { caseUrn });
  for (const { caseUrn } of stranded) await events.untilCount("review.opened", 1, { caseUrn });
  const read = (caseUrn: string) => clients.call<CaseView>("getCase", { token: admin, params: { caseUrn } });
  const [compensable, bookable, choosable, repeatable] = (await Promise.all(
    waiting.map(({ caseUrn }) =>
      clients.eventually(
        "the group at LAX waits with its hotel",
        async () => (await read(caseUrn)).body,
        ({ wave }) => (wave?.allocations.length ?? 0) > 0,
      ),
    ),
  )) as [CaseView, CaseView, CaseView, CaseView];

  await endow(clients, [tonight.caseUrn, other.caseUrn]);
  const session = (airline: DemoAirline, { travellers }: typeof tonight, index = 0) =>
    clients.passengerToken(airline, travellers[index] ?? { pnr: "", lastName: "" });
  const [owner, decliner, otherCase, closedCase, foreignSession] = (await Promise.all([
    session(xn, tonight),
    session(xn, tonight, 1),
    session(xn, other),
    session(xn, closing),
    session(qz, foreign),
  ])) as [string, string, string, string, string];
  await clients.call("closeCase", {
    token: admin,
    params: { caseUrn: closing.caseUrn },
    body: { reason: "Everybody left" },
  });
  await clients.eventually(
    "the closing is known",
    () => clients.call("getMe", { token: closedCase, host: xn.passengerHost }),
    ({ status }) => status === 403,
  );

  const demand = async () =>
    (
      await clients.call<DemandView>("requestDemand", {
        token: admin,
        params: { caseUrn: tonight.caseUrn },
        body: { type: "INCREMENTAL", roomsRequested: 1 },
      })
    ).body.urn;
  const demands = [await demand(), await demand(), await demand()] as const;
  const reviews = await Promise.all(
    stranded.map(async ({ caseUrn }) => (await read(caseUrn)).body.manualReviewItems[0]?.urn ?? ""),
  );
  const draft = await clients.call<PolicyView>("createPolicy", {
    token: admin,
    body: policyBody("A draft", { airport: "SFO" }),
  });
  const revocation = await clients.call<RevocationView>("revokeAccess", {
    token: admin,
    body: { subject: "somebody", reason: "Lost" },
  });
  const freezable = freezes();
  const freeze = await clients.call<{ urn: string }>("freezeDemand", {
    token: admin,
    body: { airport: freezable(), reason: "Fog" },
  });
  const [{ urn: since = "" } = {}] = events.of("case.opened", tonight.caseUrn);
  const replay = await clients.call<{ urn: string }>("replayEvents", {
    token: await clients.partnerToken(xn),
    query: { since },
  });
  const [, , , regrouped, byDesk, amendable] = await Promise.all(
    stranded.map(async ({ caseUrn }) => (await read(caseUrn)).body),
  );
  const seen = (await read(tonight.caseUrn)).body;
  const belongings = await withinReach(clients, xn, admin, tonight.caseUrn, contract);
  return {
    clients,
    xn: belongings,
    link: await writeLinks(clients, belongings),
    qz: await withinReach(clients, qz, foreignAdmin, foreign.caseUrn, foreignContract),
    spare: {
      closable: closable.caseUrn,
      closed: closing.caseUrn,
      allocatable: [stranded[0]?.caseUrn ?? "", stranded[1]?.caseUrn ?? ""],
      compensable: compensable.passengerGroups[0]?.subCaseUrn ?? "",
      bookable: bookable.urn,
      choice: await choiceOf(clients, admin, choosable),
      repeatable: repeatable.wave?.urn ?? "",
      demands: [demands[0], demands[1]],
      reviews: reviews as [string, string, string],
      draft: draft.body.urn,
      revocation: revocation.body.urn,
      freeze: freeze.body.urn,
      regroup: regroupOf(regrouped as CaseView),
      desk: await openReviewDesk(clients),
      driven: await drillOf(clients, admin),
      replay: { urn: replay.body.urn, since },
      webhooks: await webhooksOf(clients),
      handheld: { caseUrn: byDesk?.urn ?? "", groupId: byDesk?.passengerGroups[0]?.groupId ?? "" },
      amendable: { caseUrn: amendable?.urn ?? "", groupId: amendable?.passengerGroups[0]?.groupId ?? "" },
    },
    freezable,
    sessions: { owner, decliner, otherCase, closedCase, foreign: foreignSession },
    booking: tonight.travellers[2] ?? { pnr: "", lastName: "" },
    ownersUrns: [
      ...new Set(JSON.stringify(seen).match(/urn:(?:case|sub-case|passenger|reservation):[\w-]+/g)),
    ],
  };
};
