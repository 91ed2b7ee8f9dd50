// When a group is picked up, in what, and beside whom: tables.
import t from "tap";
import { nextPickup, pickupBefore } from "../../../actors/transport/pickup.ts";
import { type OpenVehicle, seating } from "../../../actors/transport/seating.ts";
import { termsOf } from "../../../actors/wave/terms.ts";
import { airport } from "../../../schemas/airports.ts";
import type { ResolvedPolicy } from "../../../schemas/policy.ts";
import type { VehicleType } from "../../../schemas/vocabulary.ts";

t.test("to the hotel: the first quarter of an hour that leaves half an hour", async (t) => {
  for (const [now, pickup] of [
    ["2026-11-21T21:00:00.000Z", "2026-11-21T21:30:00.000Z"],
    ["2026-11-21T21:00:00.001Z", "2026-11-21T21:45:00.000Z"],
    ["2026-11-21T21:14:59.999Z", "2026-11-21T21:45:00.000Z"],
    ["2026-11-21T21:15:00.000Z", "2026-11-21T21:45:00.000Z"],
    // Over midnight, a month's and a year's end.
    ["2026-12-31T23:31:00.000Z", "2027-01-01T00:15:00.000Z"],
    // Kathmandu, at 5:45 h from UTC, has its quarters where UTC has them.
    ["2026-11-21T15:20:00.000Z", "2026-11-21T16:00:00.000Z"],
    // New York sets its clocks back at 06:00 UTC, and forward at 07:00 UTC: half an hour stays half an hour.
    ["2026-11-01T05:40:00.000Z", "2026-11-01T06:15:00.000Z"],
    ["2026-03-08T06:40:00.000Z", "2026-03-08T07:15:00.000Z"],
  ] as const)
    t.equal(nextPickup(new Date(now)).toISOString(), pickup, now);
  const now = new Date("2026-11-21T10:00:00.000Z");
  for (const [stranded, pickup] of [
    ["2026-11-22T22:00:00.000Z", "2026-11-22T22:30:00.000Z"],
    ["2026-11-22T22:07:00.000Z", "2026-11-22T22:45:00.000Z"],
    ["2026-11-21T09:00:00.000Z", "2026-11-21T10:30:00.000Z"],
  ] as const)
    t.equal(nextPickup(now, new Date(stranded)).toISOString(), pickup, `stranded at ${stranded}`);
});

t.test("back: so many minutes before the departure, whatever the clocks do meanwhile", async (t) => {
  const long = new Date("2026-01-01T00:00:00Z");
  for (const [departure, minutes, pickup] of [
    ["2026-11-22T14:00:00Z", 180, "2026-11-22T11:00:00.000Z"],
    ["2026-11-22T14:07:00Z", 180, "2026-11-22T11:07:00.000Z"],
    ["2026-11-22T14:00:00+01:00", 90, "2026-11-22T11:30:00.000Z"],
    ["2026-11-22T01:30:00Z", 120, "2026-11-21T23:30:00.000Z"],
    ["2026-11-22T14:00:00Z", 0, "2026-11-22T14:00:00.000Z"],
    // A flight at 02:30 in New York, after the hour that comes twice; and one at 03:30, after the hour that is left out.
    ["2026-11-01T07:30:00Z", 180, "2026-11-01T04:30:00.000Z"],
    ["2026-03-08T07:30:00Z", 180, "2026-03-08T04:30:00.000Z"],
  ] as const)
    t.equal(pickupBefore(new Date(departure), minutes, long)?.toISOString(), pickup, departure);
  const now = new Date("2026-11-22T12:10:00Z");
  for (const [departure, minutes, pickup] of [
    ["2026-11-22T15:00:00Z", 180, "2026-11-22T12:45:00.000Z"],
    // A minute away is too near where the flight leaves time for more; and what has passed helps nobody.
    ["2026-11-22T15:11:00Z", 180, "2026-11-22T12:45:00.000Z"],
    ["2026-11-22T15:39:59Z", 180, "2026-11-22T12:45:00.000Z"],
    ["2026-11-22T15:40:00Z", 180, "2026-11-22T12:40:00.000Z"],
    ["2026-11-22T12:30:00Z", 10, "2026-11-22T12:20:00.000Z"],
    ["2026-11-22T12:45:00Z", 180, undefined],
    ["2026-11-22T12:10:00Z", 180, undefined],
    ["2026-11-21T14:00:00Z", 180, undefined],
  ] as const)
    t.equal(
      pickupBefore(new Date(departure), minutes, now)?.toISOString(),
      pickup,
      `${departure}, told late`,
    );
});

t.test(
  "a wheelchair before the tier, the tier before the mode; seats by the policy and the vendor",
  async (t) => {
    const place = airport("JFK");
    if (place === undefined) throw new Error("JFK is gone");
    const transport = (more: Partial<ResolvedPolicy["transport"]> = {}) => ({
      mode: "SHUTTLE",
      perTier: { FIRST: "PRIVATE_CAR", CREW: "WHEELCHAIR_VAN" },
      minutesBeforePickup: 150,
      shuttleCapacity: 24,
      onDemand: false,
      ...more,
    });
    type Row = [
      tier: "ECONOMY" | "FIRST" | "CREW",
      needs: string[],
      policy: ReturnType<typeof transport> | undefined,
      vehicle: VehicleType,
      seats: number,
    ];
    const rows: Row[] = [
      ["ECONOMY", [], transport(), "SHUTTLE", 24],
      ["FIRST", [], transport(), "PRIVATE_CAR", 4],
      ["CREW", [], transport(), "WHEELCHAIR_VAN", 6],
      ["FIRST", ["WHEELCHAIR"], transport(), "WHEELCHAIR_VAN", 6],
      ["FIRST", ["REDUCED_MOBILITY"], transport(), "PRIVATE_CAR", 4],
      ["ECONOMY", [], transport({ mode: "PRIVATE_CAR" }), "PRIVATE_CAR", 4],
      ["ECONOMY", [], transport({ shuttleCapacity: 8 }), "SHUTTLE", 8],
      ["ECONOMY", [], transport({ shuttleCapacity: 200 }), "SHUTTLE", 50],
      ["ECONOMY", [], undefined, "SHUTTLE", 24],
      ["FIRST", ["WHEELCHAIR"], undefined, "WHEELCHAIR_VAN", 6],
    ];
    const vehicleSeats = { SHUTTLE: 50, PRIVATE_CAR: 4, WHEELCHAIR_VAN: 6 };
    for (const [tier, needs, policy, vehicle, seats] of rows) {
      const terms = termsOf(
        { tier, needs, passengers: 2, nights: 1 },
        policy && { incidentalsMinor: 0, transport: policy },
        "USD",
        {
          airport: place,
          airlineName: "Xenon",
          passengerHost: "",
          vendors: { transport: "r", vehicleSeats },
        },
      );
      t.equal(terms.vehicleType, vehicle, `${tier} ${needs}`);
      t.equal(terms.rides.seats[vehicle], seats, `${tier} ${needs}: seats`);
      t.equal(terms.rides.minutesBeforePickup, policy === undefined ? 180 : 150);
    }
  },
);

const vehicle = (number: number, taken: number, more: Partial<OpenVehicle> = {}): OpenVehicle => ({
  number,
  seats: 8,
  taken,
  needs: [],
  ...more,
});

t.test("who sits where", async (t) => {
  const shared = { seats: 8, needs: [], shared: true };
  for (const [what, open, wanted, seats] of [
    ["an empty run", [], { ...shared, passengers: 3 }, [[undefined, 3]]],
    ["beside others", [vehicle(1, 5)], { ...shared, passengers: 3 }, [[1, 3]]],
    ["not over the seats", [vehicle(1, 6)], { ...shared, passengers: 3 }, [[undefined, 3]]],
    ["where it fits best", [vehicle(1, 2), vehicle(2, 5)], { ...shared, passengers: 3 }, [[2, 3]]],
    ["the first of two alike", [vehicle(2, 5), vehicle(1, 5)], { ...shared, passengers: 2 }, [[1, 2]]],
    [
      "together rather than in two",
      [vehicle(1, 6), vehicle(2, 6)],
      { ...shared, passengers: 4 },
      [[undefined, 4]],
    ],
    ["as many as there are seats", [], { ...shared, passengers: 8 }, [[undefined, 8]]],
    [
      "more than a vehicle takes",
      [vehicle(1, 5), vehicle(2, 1)],
      { ...shared, passengers: 19 },
      [
        [undefined, 8],
        [undefined, 8],
        [1, 3],
      ],
    ],
    [
      "a multiple of it",
      [vehicle(1, 0)],
      { ...shared, passengers: 16 },
      [
        [undefined, 8],
        [undefined, 8],
      ],
    ],
    ["of another size", [vehicle(1, 0, { seats: 12 })], { ...shared, passengers: 2 }, [[undefined, 2]]],
    [
      "one that was ordered for nobody with a dog",
      [vehicle(1, 0)],
      { ...shared, passengers: 2, needs: ["SERVICE_ANIMAL"] },
      [[undefined, 2]],
    ],
    [
      "one that was",
      [vehicle(1, 0), vehicle(2, 1, { needs: ["SERVICE_ANIMAL", "VISUAL"] })],
      { ...shared, passengers: 2, needs: ["SERVICE_ANIMAL"] },
      [[2, 2]],
    ],
    ["never with strangers", [vehicle(1, 1)], { ...shared, shared: false, passengers: 2 }, [[undefined, 2]]],
    [
      "a family of six in cars of four",
      [],
      { seats: 4, needs: [], shared: false, passengers: 6 },
      [
        [undefined, 4],
        [undefined, 2],
      ],
    ],
  ] as const)
    t.strictSame(
      seating(open, wanted).map(({ number, passengers }) => [number, passengers]),
      seats,
      what,
    );
});
