// A contract's terms: which are whole, who may change them, and what a search and a supervisor see of them, as tables.
import t from "tap";
import { decide } from "../../../actors/contract/decide.ts";
import { offerOf } from "../../../actors/contract/queries.ts";
import type { ContractEvent } from "../../../actors/contract/state.ts";
import { contractView } from "../../../actors/contract/view.ts";
import type { ContractBody } from "../../../schemas/contract.ts";
import type { HotelSearch } from "../../../schemas/hotel.ts";
import { Problem } from "../../../schemas/problems.ts";
import { evening, received, supervisor } from "../../harness/given.ts";
import { after, agreed, bookedAs, contractBody, contractId, given, put, stateOf } from "./night-block.ts";

t.test("terms that are whole, and what is wrong with others", async (t) => {
  const season = (from: string, until: string) => ({ from, until, nightlyRateMinor: 5000 });
  const year = season("2026-11-01", "2027-02-01");
  const wrong: [string, Partial<ContractBody>, string[]][] = [
    ["no such airport", { airport: "QQQ" }, ["/airport"]],
    ["no such currency", { currency: "XQX" }, ["/currency"]],
    ["no night", { validUntil: "2026-11-01" }, ["/validUntil"]],
    ["a season of no night", { rates: [year, season("2026-12-01", "2026-12-01")] }, ["/rates/1/until"]],
    ["seasons overlap", { rates: [year, season("2027-01-31", "2027-03-01")] }, ["/rates/1/from"]],
    ["one season inside another", { rates: [season("2026-12-01", "2026-12-02"), year] }, ["/rates/0/from"]],
    ["the same season twice", { rates: [year, year] }, ["/rates/1/from"]],
    ["no rate at first", { rates: [season("2026-11-02", "2027-02-01")] }, ["/rates"]],
    ["no rate at last", { rates: [season("2026-11-01", "2027-01-31")] }, ["/rates"]],
    [
      "no rate in between",
      { rates: [season("2027-01-01", "2027-02-01"), season("2026-11-01", "2026-12-31")] },
      ["/rates"],
    ],
    [
      "a night excepted twice",
      {
        block: {
          roomsPerNight: 1,
          exceptions: [
            { night: "2026-12-24", rooms: 0 },
            { night: "2026-12-25", rooms: 0 },
            { night: "2026-12-24", rooms: 5 },
          ],
        },
      },
      ["/block/exceptions/2/night"],
    ],
    [
      "several at once",
      { airport: "QQQ", rates: [season("2030-01-01", "2030-01-02")] },
      ["/airport", "/rates"],
    ],
  ];
  for (const [what, more, pointers] of wrong) {
    const refused = given(t)().when(put(more));
    refused.refused("validation/body");
    try {
      decide(undefined, put(more));
    } catch (error) {
      const found = error instanceof Problem ? error.members.errors?.map(({ pointer }) => pointer) : [];
      t.strictSame([...new Set(found)], pointers, what);
    }
  }
  const right: Partial<ContractBody>[] = [
    {},
    { rates: [season("2020-01-01", "2026-11-02"), season("2026-11-02", "2040-01-01")] },
    { block: { roomsPerNight: 0, exceptions: [{ night: "2026-12-24", rooms: 4 }] } },
  ];
  for (const more of right) given(t)().when(put(more)).then({ type: "contract.put" });
});

t.test("agreeing and changing terms", async (t) => {
  given(t)()
    .when(put())
    .then({ type: "contract.put", data: { by: supervisor.urn, at: evening } })
    .leads({ terms: { acceptedPayments: ["GUARANTEE"], block: { exceptions: [] } }, taken: [] });
  given(t)().when(put({}, contractId)).refused("not-found/resource");
  given(t)(...agreed())
    .when(put({}, contractId))
    .nothing();
  given(t)(...agreed())
    .when(put({ name: "Other" }))
    .nothing();
  given(t)(...agreed())
    .when(put({ name: "Other" }, contractId))
    .then({ type: "contract.put", data: { terms: { name: "Other" } } });
  const scoped = { ...supervisor, airport: "LAX" };
  given(t)()
    .when(received("contract.put", contractBody(), { principal: scoped }))
    .refused("auth/foreign-airport");
  given(t)(...agreed())
    .when(
      received("contract.put", contractBody({ airport: "LAX" }), { principal: scoped, entity: contractId }),
    )
    .refused("auth/foreign-airport");
});

t.test("offers", async (t) => {
  const jfk = { latitude: 40.6398, longitude: -73.7789 };
  const search = (more: Partial<HotelSearch> = {}): HotelSearch => ({
    airport: "JFK",
    coordinates: jfk,
    radiusKm: 50,
    checkIn: "2026-11-21",
    checkOut: "2026-11-22",
    rooms: 1,
    ...more,
  });
  const offered = (past: ContractEvent[], more: Partial<HotelSearch> = {}) =>
    offerOf(contractId, stateOf(past), search(more), evening);
  t.strictSame(offered(agreed()), {
    name: "Garden Court",
    address: "1 Runway Road, New York, US",
    coordinates: { latitude: 40.65, longitude: -73.79 },
    stars: 4,
    amenities: ["24H_RECEPTION", "WIFI"],
    vendor: "direct",
    providerOfferId: contractId,
    providerHotelId: contractId,
    acceptedPayments: ["GUARANTEE"],
    nightlyRateMinor: 5000,
    currency: "USD",
    roomsLeft: 10,
    maxOccupancy: 2,
    accessibleRooms: 3,
  });
  const known = { ...contractBody().hotel, hotelUrn: "urn:hotel:giata-42" };
  t.match(offered(agreed({ hotel: known })), { masterHotelId: "giata-42", providerHotelId: "giata-42" });
  t.notOk("hotelUrn" in (offered(agreed({ hotel: known })) ?? {}));
  t.match(offered(bookedAs("A", 8)), { roomsLeft: 2, accessibleRooms: 2 }, "an accessible room is a room");
  t.equal(offered(bookedAs("A", 10)), undefined);
  t.equal(offered(agreed(), { radiusKm: 1 }), undefined);
  const blackouts = [{ from: "2026-11-20", until: "2026-11-22", reason: "Fair" }];
  t.equal(offered(agreed({ block: { roomsPerNight: 10, blackouts } })), undefined, "a blackout");
  t.match(offered(agreed(), { checkIn: "2026-12-23", checkOut: "2026-12-25" }), { nightlyRateMinor: 6500 });
  t.equal(offered(agreed(), { checkIn: "2027-01-31", checkOut: "2027-02-02" }), undefined);
  t.equal(offered(agreed(), { checkIn: "2026-10-31", checkOut: "2026-11-01" }), undefined);
});

t.test("what a supervisor sees", async (t) => {
  const seen = contractView(contractId, stateOf(bookedAs("A", 4)), 3, evening);
  t.match(seen, { urn: `urn:contract:${contractId}`, version: 3, status: "ACTIVE", name: /Garden/ });
  t.equal(seen.nights.length, 14);
  t.strictSame(seen.nights.slice(0, 2), [
    { night: "2026-11-21", rooms: 10, taken: 4, left: 6, accessibleLeft: 3 },
    { night: "2026-11-22", rooms: 10, taken: 0, left: 10, accessibleLeft: 3 },
  ]);
  const shrunk = after(bookedAs("A", 4), put({ block: { roomsPerNight: 1 } }, contractId));
  t.match(contractView(contractId, stateOf(shrunk), 4, evening).nights[0], { rooms: 1, taken: 4, left: 0 });
  const at = (iso: string) => contractView(contractId, stateOf(agreed()), 1, new Date(iso));
  const rows: [string, string, string | undefined, number][] = [
    ["2026-10-31T12:00:00Z", "UPCOMING", "2026-11-01", 13],
    ["2026-11-01T03:59:00Z", "UPCOMING", "2026-11-01", 13],
    ["2026-11-01T04:01:00Z", "ACTIVE", "2026-11-01", 14],
    ["2027-02-01T04:59:00Z", "ACTIVE", "2027-01-31", 1],
    ["2027-02-01T05:01:00Z", "ENDED", undefined, 0],
  ];
  for (const [iso, status, first, count] of rows) {
    t.match(at(iso), { status }, iso);
    t.equal(at(iso).nights[0]?.night, first, iso);
    t.equal(at(iso).nights.length, count, iso);
  }
});
