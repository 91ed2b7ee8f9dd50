// What real vendors' answers come to, wrong and hostile ones too: Hotelbeds' and Rapid's dialects over HTTP, before a server that says what it is told to.
import { createHash } from "node:crypto";
import t from "tap";
import { shortReference } from "../../../actors/vendor-adapter/adapters/short-reference.ts";
import type { HotelPort } from "../../../actors/vendor-adapter/ports.ts";
import type { HotelOffer } from "../../../schemas/hotel.ts";
import { trace } from "../../harness/given.ts";
import { jfk, now, type Said, search, stay, toldVendor } from "../../harness/told-vendor.ts";

const context = { traceparent: trace.traceparent };

const offersOf = async (port: HotelPort): Promise<HotelOffer[] | string> => {
  const end = await port.search(search, context);
  return end.outcome === "done" ? end.offers : `${end.outcome}: ${end.detail}`;
};

t.test("Hotelbeds", async (t) => {
  const beds = await toldVendor(t);
  const rate = {
    ...{
      rateKey: "K1",
      rateClass: "NOR",
      rateType: "BOOKABLE",
      net: "200.10",
      allotment: 3,
      paymentType: "AT_WEB",
    },
    ...{ boardCode: "RO", rooms: 1, adults: 2, children: 0 },
    cancellationPolicies: [{ amount: "100.05", from: "2026-11-21T17:00:00+01:00" }],
  };
  const hotel = {
    ...{ code: 7, name: "Inn", categoryCode: "4EST", currency: "USD" },
    ...{ latitude: "40.64", longitude: -73.78, rooms: [{ code: "DBL.ST", rates: [rate] }] },
  };
  const content = {
    ...{
      code: 7,
      address: { content: "1 Street" },
      city: { content: "NEW YORK" },
      countryCode: "US",
      chainCode: "C",
    },
    facilities: [
      { facilityGroupCode: 70, facilityCode: 550, indYesOrNo: true },
      { facilityGroupCode: 60, facilityCode: 261, indLogic: true },
      { facilityGroupCode: 70, facilityCode: 320, indYesOrNo: false },
      { facilityGroupCode: 99, facilityCode: 1 },
    ],
  };
  const hotels = (...found: object[]) => ({
    "POST /hotel-api/1.0/hotels": { body: { hotels: found.length === 0 ? { total: 0 } : { hotels: found } } },
    "GET /hotel-content-api/1.0/hotels": { body: { hotels: [content] } },
  });
  const hotelWith = (more: object, of: object = {}) => ({
    ...hotel,
    ...of,
    rooms: [{ code: "DBL.ST", rates: [{ ...rate, ...more }] }],
  });

  beds.says(hotels(hotel));
  const [offer] = (await offersOf(beds.hotelbeds())) as [HotelOffer];
  t.match(offer, {
    ...{
      vendor: "beds",
      providerHotelId: "7",
      name: "Inn",
      address: "1 Street, NEW YORK, US",
      stars: 4,
      chain: "C",
    },
    ...{ amenities: ["WIFI"], acceptedPayments: ["GUARANTEE"], nightlyRateMinor: 10_005, currency: "USD" },
    ...{ roomsLeft: 3, accessibleRooms: 0, freeCancellationUntil: "2026-11-21T16:00:00.000Z" },
  });
  const seconds = now.getTime() / 1000;
  const signature = createHash("sha256").update(`keysecret${seconds}`).digest("hex");
  for (const { headers } of beds.asked) t.match(headers, { "api-key": "key", "x-signature": signature });
  t.match(JSON.parse(beds.asked[0]!.body), {
    occupancies: [{ rooms: 1, adults: 2, children: 0 }],
    geolocation: { ...jfk, radius: 50, unit: "km" },
  });

  for (const [what, answers, expected] of [
    ["nothing there", hotels(), []],
    ["paid at the hotel", hotels(hotelWith({ paymentType: "AT_HOTEL" })), []],
    ["an amount that can't be paid", hotels(hotelWith({ net: "1.001" })), []],
    ["a hotel that nothing is said of", hotels({ ...hotel, code: 8 }), []],
    ["a rate without a key", hotels(hotelWith({ rateKey: "" })), /^unavailable: .*malformed/],
    [
      "no JSON in its content",
      { ...hotels(hotel), "GET /hotel-content-api/1.0/hotels": { body: "no" } },
      /^unavailable/,
    ],
    [
      "throttled",
      { "": { status: 403, headers: { "x-mashery-error-code": "ERR_403_DEVELOPER_OVER_QPS" } } },
      /^unavailable/,
    ],
    ["not let in", { "": { status: 403 } }, /^refused/],
  ] as const) {
    beds.says(answers as Record<string, Said>);
    t.match(await offersOf(beds.hotelbeds()), expected, what);
  }
  for (const [categoryCode, stars] of [
    ["5LUX", 5],
    ["H4_5", 4],
    ["3LL", 3],
    ["HS", undefined],
    ["9EST", undefined],
  ] as const) {
    beds.says(hotels({ ...hotel, categoryCode }));
    const [first] = (await offersOf(beds.hotelbeds())) as HotelOffer[];
    t.equal(first?.stars, stars, categoryCode);
  }
  beds.says(hotels(hotelWith({ cancellationPolicies: [{ amount: 200.1, from: "2026-11-01T00:00:00Z" }] })));
  const [never] = (await offersOf(beds.hotelbeds())) as HotelOffer[];
  t.equal(never?.freeCancellationUntil, undefined, "a penalty that has begun never was free");

  const port = beds.hotelbeds();
  beds.says(hotels(hotelWith({ rooms: 2, net: "400.20" })));
  const hold = await port.hold({ reference: "r", offer, rooms: 2, ...stay, needs: ["QUIET"] }, context);
  t.match(hold, { outcome: "done", total: { amountMinor: 40_020 }, expiresAt: "2026-11-20T12:10:00.000Z" });
  const { holdId } = hold as unknown as { holdId: string };
  const guest = { givenName: "Ana", familyName: "Silva" };
  const booking = { reference: "XN-1.room.1.1", holdId, leadGuest: guest, guests: [guest] };
  // Of a port that has asked for nothing before.
  const book = () => beds.hotelbeds().book({ ...booking, payment: { method: "GUARANTEE" } }, context);
  const none = { "GET /hotel-api/1.0/bookings?": { body: { bookings: { total: 0 } } } };
  for (const [said, expected] of [
    [
      { status: 500, body: { error: { code: "PRODUCT_ERROR", message: "Insufficient allotment" } } },
      { code: "SOLD_OUT" },
    ],
    [
      { status: 500, body: { error: { code: "PRODUCT_ERROR", message: "Price has increased" } } },
      { code: "PRICE_CHANGED" },
    ],
    [{ status: 500, body: { error: { code: "SYSTEM_ERROR", message: "oops" } } }, { outcome: "in-doubt" }],
    [{ status: 410, body: { error: { code: "INVALID_DATA", message: "Stop sales" } } }, { code: "SOLD_OUT" }],
    [
      { status: 400, body: { error: { code: "INVALID_DATA", message: "The ratekey is wrong" } } },
      { code: "HOLD_EXPIRED" },
    ],
    [{ status: 400, body: { error: "what?" } }, { code: "REFUSED" }],
    [{ status: 200, body: { booking: { reference: "1" } } }, { outcome: "in-doubt" }],
    [{ status: 502, body: "<html>" }, { outcome: "in-doubt" }],
    [
      { status: 403, body: { error: "Account Over Queries Per Second Limit: quota exceeded" } },
      { outcome: "unavailable" },
    ],
    [{ status: 403, body: { error: "Not Authorized" } }, { code: "NOT_AUTHORISED" }],
  ] as [Said, object][]) {
    beds.says({ ...none, "POST /hotel-api/1.0/bookings": said });
    t.match(await book(), expected, JSON.stringify(said));
  }
  const sent = JSON.parse(beds.asked.find(({ at }) => at.startsWith("POST"))?.body ?? "{}");
  t.match(sent, {
    clientReference: /^[0-9A-Z]{20}$/,
    remark: "Ref. XN-1.room.1.1 - QUIET",
    rooms: [{ rateKey: "K1" }],
  });
  t.same(
    sent.rooms[0].paxes.map(({ roomId, name }: { roomId: number; name?: string }) => [roomId, name]),
    [
      ...[
        [1, "Ana"],
        [2, "Ana"],
        [1, undefined],
        [2, undefined],
      ],
    ],
  );
  t.match(await port.book({ ...booking, holdId: "x", payment: { method: "GUARANTEE" } }, context), {
    code: "NOT_FOUND",
  });
  const reconciled = async (...bookings: object[]) => {
    beds.says({
      "GET /hotel-api/1.0/bookings?": { body: { bookings: { total: bookings.length, bookings } } },
    });
    return port.reconcile({}, context);
  };
  const listed = { reference: "1-1", creationDate: "2026-11-20", status: "CONFIRMED", remark: sent.remark };
  for (const remark of [sent.remark, sent.remark.toUpperCase()]) {
    const entries = [{ reference: booking.reference }];
    t.match(await reconciled({ ...listed, remark }), { entries }, remark);
  }
  for (const odd of [{ status: "LOST" }, { creationDate: "2026-02-31" }, { remark: "x".repeat(2001) }]) {
    const other = { ...listed, reference: "2-2", ...odd };
    const page = await reconciled(other, listed);
    t.match(page, { outcome: "done", entries: [{ id: "1-1" }], unreadable: ["2-2"] }, JSON.stringify(page));
    t.match(await reconciled(other), { outcome: "unavailable", detail: /malformed/ });
    t.match(await port.lookup({ reference: "r" }, context), { outcome: "unavailable" }, "it may be ours");
  }
});

t.test("Rapid", async (t) => {
  const rapid = await toldVendor(t);
  const price = (value: string) => ({
    totals: { inclusive: { billable_currency: { value, currency: "USD" } } },
  });
  const check = "/v3/properties/7/rooms/1/rates/2?token=t";
  const rate = {
    ...{ id: "2", available_rooms: 12, refundable: true, holdable: true },
    bed_groups: { a: { links: { price_check: { href: check } } } },
    occupancy_pricing: { 2: price("200.10") },
  };
  const content = {
    ...{
      property_id: "7",
      name: "Inn",
      address: { line_1: "1 Street", city: "New York", country_code: "US" },
    },
    ...{
      location: { coordinates: jfk },
      ratings: { property: { rating: "3.5" } },
      checkin: { "24_hour": "24-hour check-in" },
    },
    amenities: {
      1: { name: "Free WiFi" },
      2: { name: "Pets not allowed" },
      3: { name: "No wheelchair access" },
    },
    chain: { name: "Inns & Co" },
  };
  const shop = (...rates: object[]) => ({
    "POST /v3/properties/geography": { body: { 7: { property_id: "7" } } },
    "GET /v3/properties/content": { body: { 7: content } },
    "GET /v3/properties/availability": { body: [{ property_id: "7", rooms: [{ id: "1", rates }] }] },
  });
  rapid.says(shop(rate));
  const [offer] = (await offersOf(rapid.rapid())) as [HotelOffer];
  t.match(offer, {
    ...{ providerHotelId: "7", providerOfferId: "7/1/2/2", address: "1 Street, New York, US", stars: 3 },
    ...{ chain: "INNS_CO", amenities: ["24H_RECEPTION", "WIFI"], roomsLeft: 8, nightlyRateMinor: 10_005 },
  });
  const seconds = now.getTime() / 1000;
  const signature = createHash("sha512").update(`keysecret${seconds}`).digest("hex");
  const authorization = `EAN APIKey=key,Signature=${signature},timestamp=${seconds}`;
  for (const { headers } of rapid.asked) t.match(headers, { authorization, "customer-ip": "192.0.2.7" });
  const [{ body: polygon } = { body: "" }] = rapid.asked;
  const [ring] = JSON.parse(polygon).coordinates as number[][][];
  t.same(ring?.at(0), ring?.at(-1), "GeoJSON rings are closed");

  const leads = { a: { links: { price_check: { href: "https://elsewhere.example/v3/x" } } } };
  for (const [what, answers, expected] of [
    ["a rate that can't be held", shop({ ...rate, holdable: false }), []],
    ["priced for others", shop({ ...rate, occupancy_pricing: { 3: price("1.00") } }), []],
    ["a link that leads elsewhere", shop({ ...rate, bed_groups: leads }), /^unavailable: .*malformed/],
    ["no list", { ...shop(rate), "GET /v3/properties/availability": { body: {} } }, /^unavailable/],
    [
      "a property nowhere on earth",
      {
        ...shop(rate),
        "GET /v3/properties/content": {
          body: { 7: { ...content, location: { coordinates: { latitude: 300, longitude: 0 } } } },
        },
      },
      /^unavailable/,
    ],
  ] as const) {
    rapid.says(answers as Record<string, Said>);
    t.match(await offersOf(rapid.rapid()), expected, what);
  }
  for (const [penalty, until] of [
    [{ start: "2026-11-21T12:00:00-05:00", percent: "50%" }, "2026-11-21T17:00:00.000Z"],
    [{ start: "2026-11-21T12:00:00-05:00", nights: "1" }, "2026-11-21T17:00:00.000Z"],
    [{ start: "2026-11-01T00:00:00Z", amount: "10.00", currency: "USD" }, undefined],
    [{ start: "2026-11-21T12:00:00Z", amount: "10.00", currency: "EUR" }, undefined],
    [{ start: "2026-11-21T12:00:00Z" }, undefined],
  ] as const) {
    rapid.says(shop({ ...rate, cancel_penalties: [penalty] }));
    const [first] = (await offersOf(rapid.rapid())) as HotelOffer[];
    t.equal(first?.freeCancellationUntil, until, JSON.stringify(penalty));
  }

  const port = rapid.rapid();
  const hold = (rooms = 1) => port.hold({ reference: "r", offer, rooms, ...stay, needs: [] }, context);
  rapid.says({ ...shop(rate), [`GET ${check}`]: { body: { status: "sold_out" } } });
  t.match(await hold(), { outcome: "refused", code: "SOLD_OUT" });
  t.match(await hold(9), { outcome: "refused", code: "SOLD_OUT" }, "eight at once");
  const room = {
    ...{ id: "1", checkin: "2026-11-21", checkout: "2026-11-23", status: "pending", number_of_adults: 2 },
    rate: { pricing: price("300.00") },
  };
  const resume = { href: "/v3/itineraries/9?token=r", expires: "2026-11-20T12:30:00Z" };
  const itinerary = {
    itinerary_id: "9",
    links: { resume },
    rooms: [room],
    creation_date_time: "2026-11-20T12:00:00Z",
  };
  const checked = {
    status: "price_changed",
    occupancy_pricing: { 2: price("300.00") },
    links: { book: { href: "/v3/itineraries?token=b" } },
  };
  const duplicate = { type: "invalid_input", errors: [{ type: "duplicate_itinerary" }] };
  rapid.says({
    ...shop(rate),
    [`GET ${check}`]: { body: checked },
    "POST /v3/itineraries": { status: 400, body: duplicate },
    "GET /v3/itineraries?affiliate_reference_id=": { body: [itinerary] },
  });
  t.match(await hold(), {
    outcome: "done",
    holdId: "9",
    expiresAt: resume.expires,
    total: { amountMinor: 30_000 },
  });
  const payment = { method: "GUARANTEE" } as const;
  const guest = { leadGuest: { givenName: "Ana", familyName: "Silva" }, guests: [] };
  const book = () => port.book({ reference: "r", holdId: "9", payment, ...guest }, context);
  for (const [said, expected] of [
    [{ status: 202 }, { outcome: "in-doubt" }],
    [{ status: 204 }, { outcome: "in-doubt", detail: "The itinerary is not booked yet." }],
    [
      { status: 404, body: { type: "resource_not_found" } },
      { outcome: "refused", code: "HOLD_EXPIRED" },
    ],
    [
      { status: 400, body: { type: "invalid_input", errors: [{ type: "link.invalid" }] } },
      { code: "HOLD_EXPIRED" },
    ],
    [{ status: 500, body: {} }, { outcome: "in-doubt" }],
    [{ status: 410, body: { type: "rooms_unavailable" } }, { code: "SOLD_OUT" }],
    [{ status: 409, body: { type: "price_mismatch" } }, { code: "PRICE_CHANGED" }],
  ] as [Said, object][]) {
    rapid.says({ "GET /v3/itineraries/9?": { body: itinerary }, "PUT /v3/itineraries/9?": said });
    t.match(await book(), expected, JSON.stringify(said));
  }
  rapid.says({
    "GET /v3/itineraries/9?": { body: { itinerary_id: "9", creation_date_time: "2026-11-20T12:00:00Z" } },
  });
  t.match(await book(), { outcome: "unavailable" }, "not to be seen yet");
});

t.test("short references", (t) => {
  t.match(shortReference("XN-01ARZ3NDEKTSV4RRFFQ69G5FAV.room.1.1", 20), /^[0-9A-HJKMNP-TV-Z]{20}$/);
  t.equal(shortReference("a", 28).slice(0, 20), shortReference("a", 20));
  t.equal(new Set(Array.from({ length: 5000 }, (_, i) => shortReference(`XN-1.room.1.${i}`, 20))).size, 5000);
  t.end();
});
