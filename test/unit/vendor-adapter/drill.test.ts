// The simulated vendor of drills, through the way that every call takes, and that nothing of a drill leaves the house.
import t from "tap";
import type { Outgoing } from "../../../actors/runtime/decider.ts";
import { inTheHouse } from "../../../actors/runtime/drill.ts";
import { drillHotels, drillInstance } from "../../../actors/vendor-adapter/adapters/drill.ts";
import { carryOut } from "../../../actors/vendor-adapter/calls.ts";
import type { HotelOffer, HotelSearch } from "../../../schemas/hotel.ts";
import { type VendorCall, type VendorVerb, vendorVerbs } from "../../../schemas/vendor-call.ts";
import { trace } from "../../harness/given.ts";

const search: HotelSearch = {
  airport: "JFK",
  coordinates: { latitude: 40.64, longitude: -73.78 },
  radiusKm: 50,
  checkIn: "2026-11-30",
  checkOut: "2026-12-02",
  rooms: 3,
};

const offers = async (airport = search.airport): Promise<HotelOffer[]> => {
  const found = await drillHotels.port.search({ ...search, airport }, trace);
  if (found.outcome !== "done") throw new Error(found.detail);
  return found.offers;
};

const requests: Readonly<Partial<Record<VendorVerb, (offer: HotelOffer) => Record<string, unknown>>>> = {
  hold: (offer) => ({ offer, rooms: 3, checkIn: search.checkIn, checkOut: search.checkOut, needs: [] }),
  book: () => ({ holdId: "hold_81000_USD_abc", leadGuest: {}, guests: [], payment: { method: "GUARANTEE" } }),
  modify: () => ({
    bookedUnder: "XN-1.book.1",
    bookingId: "booking_81000_USD_abc",
    checkIn: "2026-11-30",
    checkOut: "2026-12-01",
  }),
  cancel: () => ({ bookingId: "booking_81000_USD_abc" }),
  "issue-card": () => ({ balance: { amountMinor: 5000, currency: "EUR" }, label: "x" }),
  "load-card": () => ({
    issuedUnder: "XN-1.card.1",
    cardId: "card_5000_EUR_abc",
    loaded: { amountMinor: 9000, currency: "EUR" },
  }),
  "cancel-card": () => ({ cardId: "card_5000_EUR_abc" }),
  "book-ride": () => ({ vehicleType: "WHEELCHAIR_VAN", pickupAt: "2026-11-30T21:00:00.000Z" }),
  "cancel-ride": () => ({ rideId: "ride_abc" }),
  send: () => ({ channel: "SMS", recipient: "+12025550143", text: "x", language: "en" }),
};

const results: Readonly<Partial<Record<VendorVerb, object>>> = {
  hold: { holdId: /^hold_/, total: { amountMinor: 81_000, currency: "USD" } },
  book: {
    bookingId: /^booking_/,
    confirmationNumber: /^DRILL-/,
    total: { amountMinor: 81_000, currency: "USD" },
  },
  modify: { bookingId: "booking_81000_USD_abc", stay: { checkIn: "2026-11-30", checkOut: "2026-12-01" } },
  cancel: { fee: { amountMinor: 0, currency: "USD" } },
  "issue-card": { cardId: /^card_/, last4: "0000", balance: { amountMinor: 5000, currency: "EUR" } },
  "load-card": { cardId: "card_5000_EUR_abc", balance: { amountMinor: 9000, currency: "EUR" } },
  "cancel-card": { cardId: "card_5000_EUR_abc", balance: { amountMinor: 0, currency: "EUR" } },
  "book-ride": { rideId: /^ride_/, vehicleType: "WHEELCHAIR_VAN", pickupAt: "2026-11-30T21:00:00.000Z" },
  "cancel-ride": { rideId: "ride_abc" },
  send: { messageId: /^message_/ },
};

t.test("every verb is taken, and answered the same again", async (t) => {
  const all = await offers();
  t.same(await offers(), all);
  const garden = all.find(({ name }) => name === "Drill Garden Inn") as HotelOffer;
  t.equal(garden.nightlyRateMinor * 3 * 2, 81_000);
  for (const verb of vendorVerbs) {
    const request = requests[verb]?.(garden);
    if (request === undefined) throw new Error(`no request for ${verb}`);
    const call: VendorCall = {
      reference: `XN-1.${verb}.1`,
      tries: 1,
      doubt: false,
      request,
      replyTo: { name: "x.y", entity: "" },
    };
    const answer = await carryOut(drillInstance(verb), verb, call, { ...trace, attempt: 1 });
    t.match(answer, { outcome: "done", vendor: "drill", result: results[verb] ?? "no result" }, verb);
    t.same(
      await carryOut(drillInstance(verb), verb, { ...call, doubt: true }, { ...trace, attempt: 1 }),
      answer,
    );
    const again = await carryOut(drillInstance(verb), verb, call, { ...trace, attempt: 2 });
    t.equal(again.outcome, "in-doubt", "a redelivered call is asked anew by whoever still waits");
  }
});

t.test("its hotels lie around the airport, and none is real", async (t) => {
  const all = await offers();
  t.ok(all.every(({ vendor, name }) => vendor === "drill" && name.startsWith("Drill ")));
  t.same(new Set(all.map(({ stars }) => stars)), new Set([2, 3, 4, 5]));
  t.ok(all.every(({ coordinates }) => Math.abs(coordinates.latitude - search.coordinates.latitude) < 0.2));
});

t.test("its prices are in the currency that a policy's limit has there", async (t) => {
  const cheapest = async (airport: string) => (await offers(airport)).find(({ stars }) => stars === 2);
  t.match(await cheapest("JFK"), { currency: "USD", nightlyRateMinor: 6_900 });
  t.match(await cheapest("LHR"), { currency: "GBP", nightlyRateMinor: 5_220 });
  t.match(await cheapest("HND"), { currency: "JPY", nightlyRateMinor: 10_560 });
  t.match(await cheapest("KTM"), { currency: "USD", nightlyRateMinor: 6_900 }, "where no rate is known");
});

t.test("nothing of a drill leaves the house", async (t) => {
  const messages: Outgoing[] = [
    { to: "public", type: "case.opened", caseId: "XN-C", data: { a: 1 } },
    { to: "internal", type: "case.closed", id: "XN-C", data: {} },
    { to: "command", name: "wave.run", entity: "XN-W", data: {} },
  ];
  t.equal(inTheHouse(undefined, messages), messages);
  t.same(inTheHouse("DRILL", messages), [
    { to: "internal", type: "case.opened", id: "XN-C", caseId: "XN-C", data: { a: 1, kind: "DRILL" } },
    { to: "internal", type: "case.closed", id: "XN-C", data: { kind: "DRILL" } },
    messages[2],
  ]);
});
