// Passengers meet their offer: login, what they see, printing it, deciding once; with what the vendors' ledgers, the partner's
// receiver and the operators hear of it, and what nobody may read anywhere.
import { readFileSync } from "node:fs";
import t from "tap";
import type { CaseView } from "../../../schemas/case.ts";
import type { Page } from "../../../schemas/command.ts";
import type { NotificationView } from "../../../schemas/notification.ts";
import type { PassengerInput } from "../../../schemas/passenger.ts";
import type { MeView, OfferView, PnrLoginView } from "../../../schemas/passenger-api.ts";
import type { MyTransportView } from "../../../schemas/transport.ts";
import { type Call, type Delivery, startClients } from "../../harness/clients.ts";
import { smallFlight } from "../../harness/instance.ts";

const night = await startClients(t, { settings: { LOG_LEVEL: "trace" } });
const [xn] = night.airlines;
const { events } = night;
const host = xn.passengerHost;
const { captcha } = night.instance;
const supervisor = await night.operatorToken(xn.urn, "OPS_SUPERVISOR");
/** Whatever must stand in no webhook and no log line. */
const secrets = new Set<string>([captcha]);

const traveller = (pnr: string, lastName: string, more: PassengerInput = {}): PassengerInput => ({
  pnr,
  firstName: "Ada",
  lastName,
  cabinClass: "ECONOMY",
  contact: { email: `${pnr.toLowerCase()}@mail.example`, phone: "+12025550143", language: "en" },
  ...more,
});

const push = async (name: string, passengers: PassengerInput[], airport = "JFK"): Promise<string> => {
  const body = smallFlight("XN", name, 0);
  const flight = { ...body.flight, originAirport: airport };
  for (const { contact, lastName } of passengers)
    for (const text of [contact?.email, contact?.phone, lastName]) if (text) secrets.add(text);
  return (await night.pushed(xn, { ...body, flight, passengers })).body.caseUrn;
};
const ready = async (name: string, passengers: PassengerInput[], groups = 1): Promise<string> => {
  const caseUrn = await push(name, passengers);
  await events.untilCount("subcase.offer-ready", groups, { caseUrn });
  return caseUrn;
};
const logIn = async (pnr: string, lastName: string): Promise<string> => {
  const told = await night.call<PnrLoginView>("logIn", { host, body: { pnr, lastName, captcha } });
  t.equal(told.status, 200, `${pnr} logs in`);
  secrets.add(told.body.sessionToken);
  return told.body.sessionToken;
};
const offerOf = async (token: string) => (await night.call<OfferView>("getMyOffer", { host, token })).body;
const meOf = async (token: string) => (await night.call<MeView>("getMe", { host, token })).body;
const detail = async (caseUrn: string): Promise<CaseView> =>
  (await night.call<CaseView>("getCase", { token: supervisor, params: { caseUrn } })).body;

/** What the vendors hold for the case's only group, as `<vendor> <kind> <state>`. */
const soldTo = async (caseUrn: string): Promise<string[]> => {
  const [group] = (await detail(caseUrn)).passengerGroups;
  const id = group?.subCaseUrn?.slice("urn:sub-case:".length) ?? "?";
  const names = ["stayhub", "roomlink", "cardworks", "sendwell"];
  const ledgers = await Promise.all(names.map((name) => night.ledger(name)));
  return ledgers
    .flatMap(({ entries }) => entries)
    .filter(({ reference, kind }) => reference.startsWith(`${id}.`) && kind !== "hold")
    .map(({ kind, state }) => `${kind} ${state}`)
    .sort();
};

/** There and back: vehicles are shared, so whose they are the groups tell. */
const ridesOf = async (token: string): Promise<string[]> =>
  (await night.call<MyTransportView>("getMyTransport", { host, token })).body.rides.map(
    ({ direction, status }) => `${direction} ${status}`,
  );

t.test("login: by reference and name as people write them", async (t) => {
  const caseUrn = await ready("login", [traveller("LOGIN1", "Núñez-O'Brien"), traveller("LOGIN1", "Çelik")]);
  for (const [pnr, name] of [
    ["LOGIN1", "Núñez-O'Brien"],
    ["login1", "nunez obrien"],
    [" lo gin-1 ", "NUNEZOBRIEN"],
    ["LOGIN1", "celik"],
  ] as const) {
    t.equal((await meOf(await logIn(pnr, name))).caseUrn, caseUrn, name);
  }
  const refusals: [Call, number][] = [
    [{ host, body: { pnr: "LOGIN1", lastName: "Other", captcha } }, 401],
    [{ host, body: { pnr: "LOGIN9", lastName: "Çelik", captcha } }, 401],
    [{ host, body: { pnr: "LOGIN1", lastName: "'-'", captcha } }, 401],
    [{ host, body: { pnr: "LOGIN1", lastName: "Çelik", captcha: "a robot" } }, 400],
    [{ host, body: { pnr: "LOGIN1", lastName: "Çelik" } }, 422],
    [{ host: "nobody.example", body: { pnr: "LOGIN1", lastName: "Çelik", captcha } }, 404],
    [{ host: night.airlines[1].passengerHost, body: { pnr: "LOGIN1", lastName: "Çelik", captcha } }, 401],
  ];
  for (const [call, status] of refusals) t.equal((await night.refused("logIn", call)).status, status);
  const told = await night.call<PnrLoginView>("logIn", {
    host,
    body: { pnr: "LOGIN1", lastName: "Çelik", captcha },
  });
  const weekMs = 7 * 86_400_000;
  t.ok(Math.abs(Date.parse(told.body.expiresAt) - Date.now() - weekMs) < 60_000);
  t.match(told.headers["cache-control"], "no-store");
  const [cookie = ""] = told.headers["set-cookie"] ?? [];
  const [session, ...attributes] = cookie.split("; ");
  t.equal(session, `__Host-session=${told.body.sessionToken}`);
  t.match(attributes.sort().join(), /^HttpOnly,Max-Age=6\d+,Path=\/,SameSite=Lax,Secure$/);
  secrets.add(told.body.sessionToken);
  const byCookie = { host, headers: { Cookie: session ?? "" } };
  t.equal((await night.call("getMe", byCookie)).status, 200);
  t.equal(
    (await night.refused("acceptMyOffer", { ...byCookie, body: {} })).status,
    403,
    "no Origin, no write",
  );
});

t.test("before there is an offer it is PENDING", async (t) => {
  await push("pending", [traveller("PENDI1", "Wartend", { contact: { language: "de" } })], "OPO");
  await events.until("its sub-case stands", () => events.of("review.opened").length > 0);
  const token = await logIn("PENDI1", "Wartend");
  t.match(await offerOf(token), { state: "PENDING", hotel: undefined, voucher: undefined });
  t.match(await meOf(token), { status: "PENDING", language: "de", tier: "ECONOMY" });
  t.equal((await night.refused("getMyVoucher", { host, token })).status, 404);
  for (const id of ["acceptMyOffer", "declineMyOffer"])
    t.match(await night.refused(id, { host, token, body: {} }), { status: 409, state: "PENDING" });
});

t.test("ready: everything a tired person needs", async (t) => {
  const family = [
    traveller("READY1", "Okafor"),
    traveller("READY1", "Okafor", { firstName: "Ben" }),
    traveller("READY1", "Okafor", { firstName: "Chidi", passengerType: "CHILD" }),
  ];
  const caseUrn = await ready("ready", family);
  const token = await logIn("READY1", "Okafor");
  const told = await night.call<OfferView>("getMyOffer", { host, token });
  const offer = told.body;
  t.match(told.headers, { "cache-control": "private, max-age=60", vary: /Authorization/i });
  const { etag = "" } = told.headers;
  t.match(etag, new RegExp(`^"${offer.version}-`));
  const known = { headers: { "If-None-Match": etag } };
  t.equal((await night.call("getMyOffer", { host, token, ...known })).status, 304);
  t.match(offer, {
    state: "READY",
    hotel: { urn: /^urn:hotel:/, name: /\S/, address: /\S/ },
    checkIn: /^\d{4}-\d\d-\d\d$/,
    rooms: 2,
    nights: 1,
    voucher: { urn: /^urn:voucher:XN-/, code: /^\w{8}$/, qr: /^data:image\/(png|svg\+xml);base64,/ },
    transport: { status: "booked", vehicleType: "SHUTTLE", pickupAt: /Z$/ },
    walletCardUrl: /\/wallet$/,
  });
  t.ok((offer.checkIn ?? "") < (offer.checkOut ?? ""));
  const notified = await night.call<Page<NotificationView>>("listMyNotifications", { host, token });
  t.match(notified.body, {
    items: [{ channel: "SMS", template: "offer-ready", status: "SENT", recipient: "•••0143", sentAt: /Z$/ }],
    nextCursor: null,
    hasMore: false,
  });
  const seen = await detail(caseUrn);
  const [reservation] = seen.reservations;
  t.match(reservation, { status: "CONFIRMED", hotelUrn: offer.hotel?.urn, hotelName: offer.hotel?.name });
  t.match(seen.wave?.allocations, [{ hotelUrn: offer.hotel?.urn, rooms: 2, nights: 1 }]);
  const vendor = await night.ledger(reservation?.vendor ?? "");
  const booked = vendor.entries.find(
    ({ details }) => details.confirmationNumber === reservation?.confirmationNumber,
  );
  t.match(booked, {
    state: "BOOKED",
    details: {
      hotelName: offer.hotel?.name,
      rooms: 2,
      checkIn: offer.checkIn,
      checkOut: offer.checkOut,
      totalMinor: reservation?.totalMinor,
      leadGuest: /Ada Okafor|Okafor/,
    },
  });
  t.same(await soldTo(caseUrn), ["booking BOOKED", "card ACTIVE", "message ACCEPTED"]);
  t.same(await ridesOf(token), ["AIRPORT_TO_HOTEL booked", "HOTEL_TO_AIRPORT booked"]);
  const message = (await night.ledger("sendwell")).entries.at(-1);
  t.match(JSON.stringify(message?.details), new RegExp(`${offer.voucher?.code}`));
  const me = await meOf(token);
  t.match(me, { status: "OFFER_READY", flight: { number: "XN482" }, nextFlight: { number: "XN484" } });
  t.same(
    me.passengers.map(({ firstName }) => firstName),
    ["Ada", "Ben", "Chidi"],
  );
  const list = await night.call<{ items: unknown[]; nextCursor: string | null }>("listReservations", {
    token: supervisor,
    params: { caseUrn },
    query: { limit: 1 },
  });
  t.same([list.body.items.length, list.body.nextCursor], [1, null]);
  const bad = { token: supervisor, params: { caseUrn }, query: { cursor: "x" } };
  t.equal((await night.refused("listReservations", bad)).status, 400);
});

t.test("the voucher prints, and hostile names do nothing", async (t) => {
  const evil = `O'<img src=x onerror=alert(1)>"&`;
  await ready("voucher", [
    traveller("VOUCH1", evil, {
      firstName: "<script>alert(1)</script>",
      contact: { phone: "+12025550144", language: "fr" },
    }),
  ]);
  const token = await logIn("VOUCH1", evil);
  const told = await night.call<string>("getMyVoucher", { host, token });
  const { body: page } = told as unknown as { body: string };
  t.match(told.headers, {
    "content-type": "text/html; charset=utf-8",
    "cache-control": "private, max-age=60",
    "content-security-policy": /default-src 'none'/,
  });
  t.match(page, /^<!doctype html>\s*<html lang="fr">/);
  t.match(page, "<svg");
  t.match(page, "&lt;script&gt;alert(1)&lt;/script&gt;");
  t.notMatch(page, /<script|<img|onerror=alert\(1\)>/);
  const offer = await offerOf(token);
  t.ok(page.includes(offer.voucher?.code ?? "?"));
});

t.test("accepted twice: one answer, one event", async (t) => {
  const caseUrn = await ready("accept", [traveller("ACCEP1", "Yes")]);
  const token = await logIn("ACCEP1", "Yes");
  const accept = () => night.call<OfferView>("acceptMyOffer", { host, token, body: {} });
  const first = await accept();
  t.equal(first.body.state, "ACCEPTED");
  t.match(first.headers, { "cache-control": "no-store", "clear-site-data": '"cache"' });
  const again = await Promise.all(Array.from({ length: 5 }, accept));
  for (const told of again) t.same(told.body, first.body);
  await events.untilCount("case.resolved", 1, { caseUrn });
  t.equal(events.of("subcase.resolved", caseUrn).length, 1);
  t.match(await night.refused("declineMyOffer", { host, token, body: {} }), {
    status: 409,
    type: /conflict\/offer-decided$/,
    state: "ACCEPTED",
  });
  t.match(await soldTo(caseUrn), ["booking BOOKED", "card ACTIVE", "message ACCEPTED"]);
  t.equal((await meOf(token)).status, "RESOLVED");
});

t.test("declined: everything is given back, operators and partner hear of it", async (t) => {
  const caseUrn = await ready("decline", [
    traveller("DECLI1", "Nein", { contact: { email: "nein@mail.example", language: "de" } }),
  ]);
  const token = await logIn("DECLI1", "Nein");
  const told = await night.call<OfferView>("declineMyOffer", {
    host,
    token,
    body: { reason: "I found a room myself" },
  });
  t.match(told.body, { state: "DECLINED", hotel: { name: /\S/ } });
  for (const id of ["declineMyOffer", "acceptMyOffer"])
    t.match(await night.refused(id, { host, token, body: {} }), { status: 409, state: "DECLINED" });
  await events.untilCount("case.resolved", 1, { caseUrn });
  t.same(await soldTo(caseUrn), ["booking CANCELLED", "card CANCELLED", "message ACCEPTED"]);
  t.same(await ridesOf(token), []);
  t.equal(events.of("subcase.declined", caseUrn).length, 1);
  t.match(events.of("operator.alerted", caseUrn), [
    { data: { kind: "offer-declined", airport: "JFK", reason: "I found a room myself" } },
  ]);
  const offer = await offerOf(token);
  t.match(offer, {
    state: "DECLINED",
    voucher: undefined,
    walletCardUrl: undefined,
    transport: { status: "declined" },
  });
  t.match((await night.call<string>("getMyVoucher", { host, token })).body, /class="void".*nicht mehr/);
  const seen = await detail(caseUrn);
  t.match(seen, {
    passengerGroups: [{ operationalStatus: "DECLINED" }],
    reservations: [{ status: "CANCELLED" }],
    resolvedAt: /Z$/,
  });
});

t.test("twenty decisions at once: one counts", async (t) => {
  const caseUrn = await ready("race", [traveller("RACER1", "Both")]);
  const token = await logIn("RACER1", "Both");
  const told = await Promise.all(
    Array.from({ length: 20 }, (_, i) =>
      night.call<OfferView>(i % 2 === 0 ? "declineMyOffer" : "acceptMyOffer", { host, token, body: {} }),
    ),
  );
  await events.untilCount("case.resolved", 1, { caseUrn });
  const states = new Set(told.map(({ body }) => body.state));
  t.equal(states.size, 1, "winners and losers name the same state");
  const [state] = states;
  const won = told.filter(({ status }) => status === 200).length;
  t.equal(won, state === "ACCEPTED" ? 10 : 1);
  t.equal(events.of("subcase.resolved", caseUrn).length + events.of("subcase.declined", caseUrn).length, 1);
});

const headerNames = [
  "connection",
  "content-length",
  "content-type",
  "host",
  "traceparent",
  "user-agent",
  "x-service-correlation",
  "x-service-event-type",
  "x-service-event-urn",
  "x-service-signature",
  "x-service-signature-timestamp",
  "x-service-tenant",
];

t.test("another airline's partner hears of its own cases alone", async (t) => {
  const qz = night.airlines[1];
  const body = smallFlight("QZ", "other", 1);
  const { caseUrn } = (await night.pushed(qz, body)).body;
  await events.untilCount("subcase.offer-ready", 1, { caseUrn });
  const heard = await night.eventually(
    "QZ's partner hears of its offer",
    () => night.deliveries(qz),
    (deliveries) => deliveries.some(({ eventType }) => eventType === "subcase.offer-ready"),
  );
  const strange = heard.filter((delivery) => delivery.body.case_urn !== caseUrn || !delivery.verified);
  t.same(strange, []);
});

t.test("the partner hears each event once, signed, in the contract's form", async (t) => {
  const published = events.all.filter(({ stream, tenant }) => stream === "EVENTS" && tenant === xn.urn);
  const heard: Delivery[] = await night.eventually(
    "every event delivered",
    () => night.deliveries(xn),
    (deliveries) => deliveries.length >= published.length,
  );
  t.same(heard.map(({ eventUrn }) => eventUrn).sort(), published.map(({ urn }) => urn).sort());
  const types = new Set(heard.map(({ eventType }) => eventType));
  for (const type of ["case.opened", "subcase.processing", "subcase.offer-ready", "voucher.issued"])
    t.ok(types.has(type), type);
  for (const type of ["wallet.card-issued", "subcase.resolved", "subcase.declined", "case.resolved"])
    t.ok(types.has(type), type);
  const wrong = heard.filter(({ verified, duplicate, headers, body, eventType, eventUrn }) => {
    const { accept: _, "accept-encoding": __, ...sent } = headers;
    const event = published.find(({ urn }) => urn === eventUrn);
    return !(
      verified &&
      !duplicate &&
      Object.keys(sent).sort().join() === headerNames.join() &&
      Object.keys(body).join() === "type,occurred_at,tenant,case_urn,correlation_urn,data" &&
      body.type === eventType &&
      headers["x-service-tenant"] === "urn:airline:XN" &&
      headers["x-service-correlation"] === body.correlation_urn &&
      headers["content-type"] === "application/json" &&
      /^sha256=[A-Za-z0-9+/]{43}=$/.test(headers["x-service-signature"] ?? "") &&
      JSON.stringify(body.data) === JSON.stringify(event?.data)
    );
  });
  t.same(wrong, []);
});

t.test("no contact, name, token or secret in any webhook or log line", async (t) => {
  const [partner] = xn.partners;
  for (const text of [
    partner?.clientSecret,
    partner?.webhookSecret,
    supervisor,
    await night.partnerToken(xn),
  ])
    if (text) secrets.add(text);
  // Short names would be found in other words; e-mail addresses and the longer names are search terms enough.
  const telling = [...secrets].filter((text) => text.length > 5);
  const sent = JSON.stringify((await night.deliveries(xn)).map(({ body, headers }) => ({ body, headers })));
  const logged = night.services.map(({ logFile }) => readFileSync(logFile, "utf8")).join("\n");
  t.ok(telling.length > 15 && sent.length > 10_000);
  for (const [where, text] of [
    ["webhooks", sent],
    ["log", logged],
  ] as const) {
    t.same(
      telling.filter((secret) => text.includes(secret)),
      [],
      where,
    );
    t.notMatch(text, /[\w.]+@(mail|example)\.(example|com)/, where);
  }
  t.notMatch(logged, /"level":(50|60)/, "nothing went wrong unseen");
});
