// A night whose passengers ride together: an airline with small shuttles and two hotels of its own, what is asked of it, and what must be
// true of its vehicles at any rest.
import type { Document } from "mongodb";
import type { Test } from "tap";
import type { RunState } from "../../actors/transport/run-state.ts";
import type { TransferState } from "../../actors/transport/transfer-state.ts";
import type { CaseView } from "../../schemas/case.ts";
import type { Page } from "../../schemas/command.ts";
import type { DisruptionPushBody } from "../../schemas/partner-api.ts";
import type { PolicyView } from "../../schemas/policy.ts";
import type { MyTransportView, SegmentView } from "../../schemas/transport.ts";
import { demoPolicies } from "../../scripts/demonstration/provision.ts";
import { type Clients, startClients } from "../harness/clients.ts";
import { smallFlight } from "../harness/instance.ts";

export const minuteMs = 60_000;
export const capacity = 5;
export const minutesBeforePickup = 150;
const dayFromNow = (days: number): string =>
  new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);
const season = { from: dayFromNow(-2), until: dayFromNow(30) };

export type DrivenNight = Awaited<ReturnType<typeof startDrivenNight>>;

export async function startDrivenNight(t: Test) {
  const night = await startClients(t, {
    settings: { SWEEP_INTERVAL_MS: "300", STEP_DEADLINE_MS: "6000", ACK_WAIT_MS: "2000" },
  });
  const [xn] = night.airlines;
  const { events } = night;
  const host = xn.passengerHost;
  const supervisor = await night.operatorToken(xn.urn, "OPS_SUPERVISOR");
  const operator = await night.operatorToken(xn.urn, "AIRPORT_OPERATOR");
  const auditor = await night.operatorToken(xn.urn, "FINANCE_AUDIT");
  const admin = await night.operatorToken(xn.urn, "ADMIN");

  /** One hotel for everybody, so that they ride together; another for those who move. */
  const putHotel = (name: string, nightlyRateMinor: number, latitude: number) =>
    night.call("putContract", {
      token: supervisor,
      body: {
        name,
        hotel: {
          hotelUrn: `urn:hotel:${name.toLowerCase()}-jfk`,
          name,
          address: "1 Runway Road, New York, US",
          coordinates: { latitude, longitude: -73.7781 },
          stars: 4,
          amenities: ["24H_RECEPTION"],
        },
        airport: "JFK",
        validFrom: season.from,
        validUntil: season.until,
        rates: [{ ...season, nightlyRateMinor }],
        currency: "USD",
        maxOccupancy: 2,
        accessibleRooms: 20,
        block: { roomsPerNight: 200 },
      },
    });
  await putHotel("Runway", 900, 40.6413);
  await putHotel("Harbour", 1200, 40.7);
  const economy = demoPolicies(xn.urn).find(({ tiers }) => tiers?.includes("ECONOMY"));
  const policy = await night.call<PolicyView>("createPolicy", {
    token: admin,
    body: {
      ...economy,
      name: "Small shuttles",
      constraints: { ...economy?.constraints, allowProviders: ["direct"] },
      transport: { mode: "SHUTTLE", perTier: {}, minutesBeforePickup, shuttleCapacity: capacity },
    },
  });
  await night.call("activatePolicy", { token: admin, params: { policyUrn: policy.body.urn } });

  const offered = async (
    flight: DisruptionPushBody,
    groups: number,
  ): Promise<{ caseUrn: string; flight: DisruptionPushBody }> => {
    const { caseUrn } = (await night.pushed(xn, flight)).body;
    await events.untilCount("subcase.offer-ready", groups, { caseUrn, withinMs: 120_000 });
    return { caseUrn, flight };
  };
  /** In business class, and so in cars of their own: a shuttle with free seats may stand there already. */
  const inOwnCars = (flight: DisruptionPushBody): DisruptionPushBody => ({
    ...flight,
    passengers: flight.passengers.map((one) => ({ ...one, cabinClass: "BUSINESS" })),
  });
  const ready = (name: string, bookings: number) => offered(smallFlight("XN", name, bookings), bookings);
  const segmentsOf = async (caseUrn: string, token = operator): Promise<SegmentView[]> =>
    (
      await night.call<Page<SegmentView>>("listSegments", {
        token,
        params: { caseUrn },
        query: { limit: 200 },
      })
    ).body.items;
  /** Once none is sought any more. */
  const settled = (caseUrn: string): Promise<SegmentView[]> =>
    night.eventually(
      "every segment is settled",
      () => segmentsOf(caseUrn),
      (all) => all.length > 0 && all.every(({ status }) => status !== "pending"),
    );
  const detail = async (caseUrn: string): Promise<CaseView> =>
    (await night.call<CaseView>("getCase", { token: supervisor, params: { caseUrn } })).body;
  const mine = async (token: string) =>
    (await night.call<MyTransportView>("getMyTransport", { token, host })).body;
  const booked = async () =>
    (await night.ledger("ridefleet")).entries.filter(({ state }) => state === "BOOKED");
  const refuseRides = (operation: string, times: number) =>
    night.control({ ridefleet: { failNext: [{ operation, kind: "refuse", times }] } });

  return {
    ...{ night, xn, events, host, supervisor, operator, auditor },
    ...{ offered, inOwnCars, ready, segmentsOf, settled, detail, mine, booked, refuseRides },
    checkSeats: (t: Test) => checkSeats(t, night),
  };
}

/**
 * What the runs believe, what the groups believe and what the vendor holds are one: nobody sits in two vehicles or in none,
 * no vehicle is over its seats, and each vehicle that carries somebody is booked once.
 */
const checkSeats = async (t: Test, night: Clients): Promise<void> => {
  const stored = <State>(name: string) =>
    night.documents.tenant("XN").collection<State & Document & { _id: string }>(name);
  const held = await night.eventually(
    "runs and vendor agree",
    async () => {
      const [runs, transfers, rides] = await Promise.all([
        stored<RunState>("transportRuns").find().toArray(),
        stored<TransferState>("transfers").find().toArray(),
        night.ledger("ridefleet").then(({ entries }) => entries.filter(({ state }) => state === "BOOKED")),
      ]);
      return { runs, transfers, rides };
    },
    ({ runs, transfers, rides }) =>
      runs.every(({ vehicles }) => vehicles.every(({ call }) => call === undefined)) &&
      transfers.every(
        ({ segments, leaving }) => leaving.length === 0 && segments.every(({ sought }) => !sought),
      ) &&
      rides.length ===
        runs.flatMap(({ vehicles }) => vehicles).filter(({ status }) => status === "BOOKED").length,
  );
  const vehicles = held.runs.flatMap((run) => run.vehicles.map((vehicle) => ({ run, ...vehicle })));
  for (const { reference, riders, seats, status } of vehicles) {
    const taken = riders.reduce((sum, { passengers }) => sum + passengers, 0);
    if (taken > seats) t.fail(`${reference} has ${seats} seats and ${taken} riders`);
    if (taken > 0 !== (status === "BOOKED")) t.fail(`${reference} is ${status} with ${taken} riders`);
  }
  t.strictSame(
    held.rides.map(({ reference }) => reference).sort(),
    vehicles
      .filter(({ status }) => status === "BOOKED")
      .map(({ reference }) => reference)
      .sort(),
    "the vendor holds each vehicle once",
  );
  const seated = vehicles.flatMap(({ run, riders }) =>
    riders.map(({ segmentId, attempt, passengers }) => ({
      key: `${segmentId}.${attempt}@${run._id}`,
      passengers,
    })),
  );
  const sums = new Map<string, number>();
  for (const { key, passengers } of seated) sums.set(key, (sums.get(key) ?? 0) + passengers);
  const wanted = new Map(
    held.transfers.flatMap(({ segments }) =>
      segments.flatMap(({ segmentId, seat, passengers }) =>
        seat === undefined ? [] : [[`${segmentId}.${seat.attempt}@${seat.runId}`, passengers] as const],
      ),
    ),
  );
  t.strictSame([...sums].sort(), [...wanted].sort(), "who has seats sits in them, all of each group");
};
