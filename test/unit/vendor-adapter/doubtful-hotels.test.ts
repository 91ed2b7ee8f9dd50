// What Hotelbeds and Rapid have not said for certain: late, refused after a try that may have been done, pending, given back in part, dearer.
import t from "tap";
import type { Rapid } from "../../../actors/vendor-adapter/adapters/rapid.ts";
import type { CallContext } from "../../../actors/vendor-adapter/ports.ts";
import type { HotelOffer } from "../../../schemas/hotel.ts";
import { trace } from "../../harness/given.ts";
import { jfk, now, type Said, search, stay, toldVendor } from "../../harness/told-vendor.ts";

const context = { traceparent: trace.traceparent };
const secondsAgo = (seconds: number): Date => new Date(now.getTime() - seconds * 1000);
const payment = { method: "GUARANTEE" } as const;
const guest = { leadGuest: { givenName: "Ana", familyName: "Silva" }, guests: [] };
const inDoubt = { outcome: "in-doubt" };
const gone = { outcome: "refused", code: "HOLD_EXPIRED" };

t.test("Hotelbeds", async (t) => {
  let at = now;
  const beds = await toldVendor(t, { now: () => at });
  const hold = Buffer.from(JSON.stringify(["K1", 1, 2, []])).toString("base64url");
  const none = { "GET /hotel-api/1.0/bookings?": { body: { bookings: { total: 0 } } } };
  const room = { rates: [{}] };
  const booked = {
    ...{ reference: "1-1", clientReference: "C", creationDate: "2026-11-20", status: "CONFIRMED" },
    ...{ totalNet: "200.00", currency: "USD" },
    hotel: { checkIn: stay.checkIn, checkOut: stay.checkOut, rooms: [room, room] },
  };
  const bookingWith = (status: string, ...rooms: (string | undefined)[]) => ({
    ...booked,
    status,
    hotel: {
      ...booked.hotel,
      rooms: rooms.map((one) => ({ ...room, ...(one !== undefined && { status: one }) })),
    },
  });
  const request = { reference: "XN-1.room.1.1", holdId: hold, payment, ...guest };

  const port = beds.hotelbeds();
  beds.says({ ...none, "POST /hotel-api/1.0/bookings": { status: 500, body: {} } });
  const posts = () => beds.asked.filter(({ at: asked }) => asked.startsWith("POST")).length;
  for (const [afterS, made] of [
    [0, 1],
    [1, 1],
    [89, 1],
    [90, 2],
    [100, 2],
    [180, 3],
  ] as const) {
    at = new Date(now.getTime() + afterS * 1000);
    t.match(await port.book(request, context), inDoubt, `after ${afterS} s`);
    t.equal(posts(), made, `after ${afterS} s`);
  }

  const answered = (booking: object) => ({
    "GET /hotel-api/1.0/bookings?": { body: { bookings: { total: 1, bookings: [booked] } } },
    "GET /hotel-api/1.0/bookings/1-1": { body: { booking } },
    "POST /hotel-api/1.0/bookings": { body: { booking } },
  });
  for (const [booking, made, found] of [
    [booked, "done", { state: "BOOKED" }],
    [bookingWith("CONFIRMED", "CONFIRMED", "CONFIRMED"), "done", { state: "BOOKED" }],
    [bookingWith("PRECONFIRMED", undefined), "in-doubt", { outcome: "unavailable" }],
    [bookingWith("CONFIRMED", "CONFIRMED", "PENDING"), "in-doubt", { outcome: "unavailable" }],
    [bookingWith("CONFIRMED", "CONFIRMED", "CANCELLED"), "done", { state: "BOOKED" }],
  ] as const) {
    const what = JSON.stringify([booking.status, booking.hotel.rooms]);
    beds.says({ ...answered(booking), ...none });
    t.match(await beds.hotelbeds().book(request, context), { outcome: made }, what);
    beds.says(answered(booking));
    t.match(await beds.hotelbeds().lookup({ reference: request.reference }, context), found, what);
  }

  beds.says({ ...answered(booked), ...none });
  const long = "Wolfeschlegelsteinhausenbergerdorffwelchevoralternwaren";
  const named = { leadGuest: { givenName: "Hubert", familyName: long }, guests: [] };
  await beds.hotelbeds().book({ ...request, ...named }, context);
  const { holder, rooms } = JSON.parse(
    beds.asked.find(({ at: asked }) => asked.startsWith("POST"))?.body ?? "{}",
  );
  t.equal(holder.surname, long.slice(0, 50));
  t.equal(rooms[0].paxes[0].surname, long.slice(0, 50));

  beds.says({ "POST /hotel-api/1.0/hotels": { body: { hotels: { total: 0 } } } });
  await beds.hotelbeds().search(search, context);
  t.match(JSON.parse(beds.asked[0]!.body).filter, { paymentType: "AT_WEB", maxRatesPerRoom: 2 });

  const nightlyMax = { amountMinor: 12_000, currency: "USD" };
  const bothInOne = [{ rates: [{ rooms: 2 }] }];
  for (const [totalNet, limit, expected, listed] of [
    // Two rooms for three nights, which were 100.00 a night together.
    ["300.00", nightlyMax, "done", [room, room]],
    ["720.00", nightlyMax, "done", [room, room]],
    ["720.06", nightlyMax, "refused", [room, room]],
    ["720.00", nightlyMax, "done", bothInOne],
    ["720.06", nightlyMax, "refused", bothInOne],
    ["720.06", undefined, "done", [room, room]],
    ["300.00", { amountMinor: 1, currency: "USD" }, "done", [room, room]],
  ] as const) {
    const before = { ...booked, hotel: { ...booked.hotel, rooms: listed } };
    const changed = { ...before, totalNet, hotel: { ...before.hotel, checkOut: "2026-11-24" } };
    beds.says({
      "GET /hotel-api/1.0/bookings/1-1": { body: { booking: before } },
      "PUT /hotel-api/1.0/bookings/1-1": { body: { booking: changed } },
    });
    const dates = { checkIn: stay.checkIn, checkOut: "2026-11-24" };
    const asked = { reference: "r.stay.1", bookedUnder: "r", bookingId: "1-1", ...dates };
    const end = await beds
      .hotelbeds()
      .modify({ ...asked, ...(limit !== undefined && { nightlyMax: limit }) }, context);
    t.equal(end.outcome, expected, `${totalNet} ${JSON.stringify(limit)}`);
    const modes = beds.asked.flatMap(({ at: put, body }) =>
      put.startsWith("PUT") ? JSON.parse(body).mode : [],
    );
    t.equal(modes.includes("UPDATE"), expected === "done", "before anything is changed");
  }
});

t.test("Rapid", async (t) => {
  const rapid = await toldVendor(t);
  const price = (value: string) => ({
    totals: { inclusive: { billable_currency: { value, currency: "USD" } } },
  });
  const check = "/v3/properties/7/rooms/1/rates/2?token=t";
  const rate = {
    ...{ id: "2", available_rooms: 12, holdable: true },
    bed_groups: { a: { links: { price_check: { href: check } } } },
    occupancy_pricing: { 2: price("200.10") },
  };
  const shop = (...rates: object[]) => ({
    body: [{ property_id: "7", rooms: [{ id: "1", rates }] }],
  });
  const offer: HotelOffer = {
    ...{ vendor: "rapid", providerOfferId: "7/1/2/2", providerHotelId: "7", name: "Inn", address: "" },
    ...{ coordinates: jfk, amenities: [], acceptedPayments: ["GUARANTEE"], nightlyRateMinor: 10_005 },
    ...{ currency: "USD", roomsLeft: 8, maxOccupancy: 2, accessibleRooms: 0 },
  };
  const resume = { href: "/v3/itineraries/9?token=r", expires: "2026-11-20T12:30:00Z" };
  const pricing = { id: "2", pricing: price("200.10") };
  const room = (status: string, more: object = {}) => ({
    ...{ id: "1", checkin: stay.checkIn, checkout: stay.checkOut, status, number_of_adults: 2 },
    rate: pricing,
    ...more,
  });
  const itinerary = (links: object, ...rooms: object[]) => ({
    body: { itinerary_id: "9", links, rooms, creation_date_time: "2026-11-20T12:00:00Z" },
  });
  const heldItinerary = itinerary({ resume }, room("pending"));
  const lapsed = itinerary({ resume: { ...resume, expires: "2026-11-20T11:59:00Z" } }, room("pending"));
  const bookedItinerary = itinerary({}, room("booked"));
  const cancelled = itinerary({}, room("canceled"));
  const notFound: Said = { status: 404, body: { type: "resource_not_found" } };
  const under = (said: Said) => ({
    ...said,
    ...(said.body !== undefined && said.status === undefined && { body: [said.body] }),
  });

  const created = { itinerary_id: "9", links: { resume } };
  const checked = {
    status: "available",
    occupancy_pricing: { 2: price("200.10") },
    links: { book: { href: "/v3/itineraries?token=b" }, commit: { href: "/v3/commit?token=c" } },
  };
  const holding = (...said: [Said, Said]) => ({
    "GET /v3/properties/availability": shop(rate),
    [`GET ${check}`]: { body: checked },
    "POST /v3/itineraries": said[0],
    "GET /v3/itineraries?affiliate_reference_id=": said[1],
  });
  const duplicate = {
    status: 400,
    body: { type: "invalid_input", errors: [{ type: "duplicate_itinerary" }] },
  };
  const conflict = { status: 409, body: { type: "duplicate_itinerary" } };
  const hold = (port: Rapid, more: Partial<CallContext> = {}) =>
    port.hold({ reference: "r", offer, rooms: 2, ...stay, needs: [] }, { ...context, ...more });
  for (const [what, made, seen, firstAskedAt, expected] of [
    ["made, and not to be seen", { status: 201, body: created }, notFound, undefined, { outcome: "done" }],
    ["made before, not to be seen", duplicate, notFound, undefined, inDoubt],
    ["made before, not to be seen soon after", duplicate, notFound, secondsAgo(119), inDoubt],
    ["made before, and over", duplicate, notFound, secondsAgo(121), gone],
    ["made before", conflict, under(heldItinerary), undefined, { outcome: "done", holdId: "9" }],
    ["made before", duplicate, under(heldItinerary), undefined, { outcome: "done", holdId: "9" }],
  ] as const) {
    rapid.says(holding(made, seen));
    t.match(await hold(rapid.rapid(), { ...(firstAskedAt && { firstAskedAt }) }), expected, what);
  }
  rapid.says(holding({ status: 201, body: created }, notFound));
  t.match(await hold(rapid.rapid()), {
    ...{ holdId: "9", expiresAt: resume.expires, total: { amountMinor: 40_020, currency: "USD" } },
  });

  const many = Object.fromEntries(Array.from({ length: 600 }, (_, i) => [i, { property_id: String(i) }]));
  const contentsOf = (url: string) =>
    Object.fromEntries(
      new URL(url, "http://v").searchParams.getAll("property_id").map((id) => {
        const near = { latitude: jfk.latitude + Number(id) / 10_000, longitude: jfk.longitude };
        return [id, { property_id: id, name: `Inn ${id}`, address: {}, location: { coordinates: near } }];
      }),
    );
  const learning = rapid.rapid();
  let fill = 0;
  rapid.says({
    "POST /v3/properties/geography": { body: many },
    "GET /v3/properties/content": {
      answer: (url) => (++fill === 2 ? { status: 503 } : { body: contentsOf(url) }),
    },
    "GET /v3/properties/availability": shop(rate),
  });
  const asked = (path: string): number => rapid.asked.filter(({ at }) => at.includes(path)).length;
  const gone0 = AbortSignal.abort();
  t.match(
    await learning.search(search, { ...context, signal: gone0 }),
    { outcome: "unavailable", detail: /still being learnt/ },
    "nobody waits for it",
  );
  t.match(
    await learning.search(search, context),
    { outcome: "unavailable" },
    "it goes on, and fails half-way",
  );
  t.same([asked("/geography"), asked("/content")], [1, 2], "one fill for both");
  const [first, second] = await Promise.all([
    learning.search(search, context),
    learning.search(search, context),
  ]);
  t.match(first, { outcome: "done", offers: [{ providerHotelId: "7" }] });
  t.same(second, first);
  t.same([asked("/geography"), asked("/content")], [1, 4], "only what was missing is asked for");
  const shopped = rapid.asked.filter(({ at }) => at.includes("/availability"));
  for (const { at } of shopped) {
    const query = new URL(at.slice("GET ".length), "http://v").searchParams;
    t.ok(query.getAll("property_id").length <= 100);
    t.equal(query.get("rate_plan_count"), "3");
  }
  t.equal(
    new Set(shopped.flatMap(({ at }) => new URL(at.slice(4), "http://v").searchParams.getAll("property_id")))
      .size,
    250,
  );

  const linkInvalid: Said = {
    status: 400,
    body: { type: "invalid_input", errors: [{ type: "link.invalid" }] },
  };
  const soldOut: Said = { status: 410, body: { type: "rooms_unavailable" } };
  const soon = secondsAgo(30);
  const later = secondsAgo(600);
  for (const [what, seen, put, more, expected] of [
    ["not to be seen soon after the hold", notFound, {}, { firstAskedAt: soon }, inDoubt],
    ["not to be seen later", notFound, {}, { firstAskedAt: later }, gone],
    ["refused at once", heldItinerary, soldOut, { firstAskedAt: soon }, { code: "SOLD_OUT" }],
    ["a link that is none, at once", heldItinerary, linkInvalid, {}, gone],
    ["its resumption unknown soon after", heldItinerary, notFound, { firstAskedAt: soon }, inDoubt],
    [
      "refused in doubt, held still",
      heldItinerary,
      linkInvalid,
      { doubt: true, firstAskedAt: later },
      inDoubt,
    ],
    ["sold out in doubt, held still", heldItinerary, soldOut, { doubt: true, firstAskedAt: later }, inDoubt],
    ["refused in doubt, its time over", lapsed, linkInvalid, { doubt: true, firstAskedAt: later }, gone],
    ["refused in doubt soon after", lapsed, linkInvalid, { doubt: true, firstAskedAt: soon }, inDoubt],
    ["booked meanwhile", bookedItinerary, {}, { doubt: true, firstAskedAt: soon }, { outcome: "done" }],
    ["cancelled meanwhile", cancelled, {}, { doubt: true, firstAskedAt: soon }, gone],
    ["neither, soon after", itinerary({}, room("pending")), {}, { doubt: true, firstAskedAt: soon }, inDoubt],
    ["pending for long", itinerary({}, room("pending")), {}, { firstAskedAt: later }, inDoubt],
  ] as [string, Said, Said, Partial<CallContext>, object][]) {
    rapid.says({ "GET /v3/itineraries/9?": seen, "PUT /v3/itineraries/9?": put });
    const asked = { reference: "r", holdId: "9", payment, ...guest };
    t.match(await rapid.rapid().book(asked, { ...context, ...more }), expected, what);
  }

  for (const [rooms, state, oddity] of [
    [[room("booked"), room("booked")], "BOOKED", undefined],
    [[room("booked"), room("pending")], undefined, undefined],
    [[room("booked"), room("canceled")], "BOOKED", "PARTLY_CANCELLED"],
    [[room("pending"), room("canceled")], undefined, undefined],
    [[room("canceled"), room("canceled")], "CANCELLED", undefined],
  ] as const) {
    const what = rooms.map(({ status }) => status).join();
    rapid.says({ "GET /v3/itineraries?affiliate_reference_id=": under(itinerary({}, ...rooms)) });
    const found = await rapid.rapid().lookup({ reference: "r" }, context);
    t.match(found, state === undefined ? { outcome: "unavailable" } : { state }, what);
    const page = await rapid.rapid().reconcile({ standing: ["r"] }, context);
    t.match(page, state === undefined ? { outcome: "unavailable" } : { entries: [{ state, oddity }] }, what);
  }

  const change = { shop_for_change: { href: "/v3/change?token=s" } };
  const standing = itinerary({}, room("booked", { links: change }));
  const nightlyMax = { amountMinor: 15_000, currency: "USD" };
  const dates = { checkIn: stay.checkIn, checkOut: "2026-11-24" };
  for (const [what, rates, newPrice, limit, expected] of [
    ["its own rate at its own price", [rate], "300.15", nightlyMax, "PUT"],
    ["its own rate within the limit", [rate], "450.00", nightlyMax, "PUT"],
    ["its own rate beyond the limit", [rate], "450.03", nightlyMax, "PRICE_CHANGED"],
    ["beyond any limit, where there is none", [rate], "999.00", undefined, "PUT"],
    ["another rate", [{ ...rate, id: "3" }], "300.15", nightlyMax, "SOLD_OUT"],
  ] as const) {
    rapid.says({
      "GET /v3/itineraries/9?": standing,
      "GET /v3/change": shop(...rates),
      [`GET ${check}`]: { body: { ...checked, occupancy_pricing: { 2: price(newPrice) } } },
      "PUT /v3/commit": { status: 204 },
    });
    const asked = { reference: "r.stay.1", bookedUnder: "r", bookingId: "9", ...dates };
    const end = await rapid
      .rapid()
      .modify({ ...asked, ...(limit !== undefined && { nightlyMax: limit }) }, context);
    const isPut = rapid.asked.some(({ at }) => at.startsWith("PUT"));
    t.equal(isPut, expected === "PUT", what);
    if (expected !== "PUT") t.match(end, { outcome: "refused", code: expected }, what);
  }
});
