/** The sandbox as a program: what it announces, its control address, its memory over restarts, its receiver, its seed. */
import { spawnSync } from "node:child_process";
import { createHmac } from "node:crypto";
import { once } from "node:events";
import t, { type Test } from "tap";
import { RideFleet } from "../../../actors/vendor-adapter/adapters/ridefleet.ts";
import { StayHub } from "../../../actors/vendor-adapter/adapters/stayhub.ts";
import { ridesOf } from "../../../actors/vendor-adapter/reconcile.ts";
import { airport } from "../../../schemas/airports.ts";
import { faultFor, faultKinds, quietSettings } from "../../../scripts/sandbox/faults.ts";
import { distanceKm, hotelVendors, listingsOf } from "../../../scripts/sandbox/hotels.ts";
import { VendorServer } from "../../../scripts/sandbox/vendor-server.ts";
import { loadVendor } from "../../../scripts/sandbox/vendors/index.ts";
import { sandboxAccount as twilioAccount } from "../../../scripts/sandbox/vendors/twilio.ts";
import { context, done, type Sandbox, startSandbox } from "./sandbox.ts";

const stay = { checkIn: "2031-03-14", checkOut: "2031-03-15" };

const bookOne = async (t: Test, sandbox: Sandbox, reference: string) => {
  const hotels = new StayHub("stayhub", { ...sandbox.vendor("stayhub"), timeoutMs: 20_000 });
  const { latitude, longitude } = airport("LIS")!;
  const search = { airport: "LIS", coordinates: { latitude, longitude }, radiusKm: 60, rooms: 1, ...stay };
  const found = await hotels.search(search, context);
  const offer = found.outcome === "done" ? found.offers[0]! : t.fail("no offers");
  const held = await hotels.hold({ reference, offer: offer as never, rooms: 1, needs: [], ...stay }, context);
  const holdId = held.outcome === "done" ? held.holdId : "";
  const guest = { leadGuest: { givenName: "Ana", familyName: "Silva" }, guests: [] };
  return hotels.book({ reference, holdId, payment: { method: "GUARANTEE" }, ...guest }, context);
};

const post = (url: string, body: string, headers: Record<string, string>) =>
  fetch(url, { method: "POST", body, headers }).then((response) => response.status);

const signed = (secret: string, timestamp: number, body: string): string =>
  `sha256=${createHmac("sha256", secret).update(`${timestamp}.${body}`).digest("base64")}`;

t.test("one process each, remembered over kills and restarts", async (t) => {
  const dir = t.testdir();
  const first = await startSandbox(t, dir);
  const { announcement } = first;
  t.match(announcement, {
    controlUrl: /^http:\/\/127\.0\.0\.1:\d+$/,
    receiverUrl: /^http:\/\/127\.0\.0\.1:\d+\/hooks$/,
    vendors: [
      { name: "stayhub", kind: "hotel" },
      { name: "roomlink", kind: "hotel" },
      { name: "cardworks", kind: "payment" },
      { name: "sendwell", kind: "message" },
      { name: "ridefleet", kind: "transport" },
    ],
  });
  t.equal(new Set(announcement.vendors.map((vendor) => vendor.baseUrl)).size, 5);
  t.equal(new Set(announcement.vendors.map((vendor) => vendor.apiKey)).size, 5);
  const again = await fetch(announcement.controlUrl).then((response) => response.json());
  t.same(again, announcement);
  const health = await fetch(`${announcement.controlUrl}/health`);
  t.match([health.status, await health.json()], [200, { stayhub: true, receiver: true }]);

  t.match(await first.control({ "*": { latencyMs: 1 }, stayhub: { refusalRate: 0.5 } }), {
    status: 200,
    body: { stayhub: { refusalRate: 0.5 }, ridefleet: { latencyMs: 1 } },
  });
  t.match(await first.control({ stayhub: { refusalRate: 2 } }), {
    status: 400,
    body: { detail: /refusalRate/ },
  });
  t.match(await first.control({ stayhub: { typo: 1 } }), { status: 400, body: { detail: /typo/ } });
  t.match(await first.control({ nobody: {} }), { status: 404 });
  await first.reset();

  t.match(await bookOne(t, first, "kept"), { outcome: "done" });
  await first.control({ receiver: { secrets: { "XN-partner": { current: "s3cret" } } } });
  first.process.kill("SIGKILL");
  await once(first.process, "exit");

  const second = await startSandbox(t, dir, ["--only", "stayhub,receiver"]);
  t.equal(second.vendor("stayhub").apiKey, first.vendor("stayhub").apiKey);
  t.match(await second.ledger("stayhub"), { counts: { searched: 1, held: 1, booked: 1 } });
  const hotels = new StayHub("stayhub", { ...second.vendor("stayhub"), timeoutMs: 20_000 });
  t.match(await hotels.lookup({ reference: "kept" }, context), { state: "BOOKED" });
  const now = Math.floor(Date.now() / 1000);
  const headers = {
    "X-Service-Signature": signed("s3cret", now, "{}"),
    "X-Service-Signature-Timestamp": `${now}`,
    "X-Service-Event-Urn": "urn:event:XN-1",
  };
  t.equal(await post(`${second.announcement.receiverUrl}/XN-partner`, "{}", headers), 200);
  const stopping = performance.now();
  second.process.kill("SIGTERM");
  const [code] = await once(second.process, "exit");
  t.equal(code, 0);
  t.ok(performance.now() - stopping < 2_000);

  const third = await startSandbox(t, dir, ["--only", "stayhub"]);
  t.equal(third.vendor("stayhub").baseUrl, second.vendor("stayhub").baseUrl, "the same port again");
  third.process.stdin!.end();
  t.same(await once(third.process, "exit"), [0, null], "it ends with its parent");
});

t.test("the partner's receiver", async (t) => {
  const sandbox = await startSandbox(t, t.testdir(), ["--only", "receiver"]);
  const url = sandbox.announcement.receiverUrl!;
  const secrets = { "XN-one": { current: "new", previous: "old" }, "XN-two/sub-2": { current: "other" } };
  const told = await sandbox.control({ receiver: { secrets } });
  t.notMatch(JSON.stringify(told), /old|other/, "secrets are not told back");
  const body = JSON.stringify({ type: "case.opened", data: { city: "São Paulo" } });
  const now = Math.floor(Date.now() / 1000);
  const deliver = (
    path: string,
    urn: string,
    secret: string,
    at = now,
    change: Record<string, string> = {},
  ) =>
    post(`${url}/${path}`, body, {
      "Content-Type": "application/json",
      "X-Service-Signature": signed(secret, at, body),
      "X-Service-Signature-Timestamp": String(at),
      "X-Service-Event-Type": "case.opened",
      "X-Service-Event-Urn": `urn:event:${urn}`,
      ...change,
    });
  const previous = { "X-Service-Signature-Previous": signed("old", now, body) };
  const cases: [what: string, status: number, delivery: Promise<number>][] = [
    ["the current secret", 200, deliver("XN-one/sub-1", "1", "new")],
    ["the previous secret", 200, deliver("XN-one", "2", "old")],
    ["the previous header", 200, deliver("XN-one", "3", "newest", now, previous)],
    ["a secret of one path", 200, deliver("XN-two/sub-2", "4", "other")],
    ["that secret elsewhere", 401, deliver("XN-two", "5", "other")],
    ["another's secret", 401, deliver("XN-one", "6", "other")],
    ["299 s old", 200, deliver("XN-one", "7", "new", now - 295)],
    ["over 300 s old", 401, deliver("XN-one", "8", "new", now - 310)],
    ["over 300 s ahead", 401, deliver("XN-one", "9", "new", now + 310)],
    ["no timestamp", 401, deliver("XN-one", "10", "new", now, { "X-Service-Signature-Timestamp": "" })],
    ["no signature", 401, deliver("XN-one", "11", "new", now, { "X-Service-Signature": "" })],
    ["hex, not base64", 401, deliver("XN-one", "12", "new", now, { "X-Service-Signature": "sha256=00ff" })],
  ];
  for (const [what, status, delivery] of cases) t.equal(await delivery, status, what);
  t.equal(await deliver("XN-one/sub-1", "1", "new"), 200);
  await sandbox.control({
    receiver: { failNext: [{ path: "XN-one", kind: "status", status: 503, times: 1 }] },
  });
  t.equal(await deliver("XN-one", "13", "new"), 503);
  t.equal(await deliver("XN-one", "13", "new"), 200);
  await sandbox.control({ receiver: { failNext: [{ path: "*", kind: "drop", times: 1 }] } });
  await t.rejects(deliver("XN-one", "14", "new"));
  const { counts, deliveries } = await sandbox.ledger("receiver");
  t.match(counts, { received: 16, verified: 9, rejected: 7, duplicates: 1 });
  const of = (urn: string) => deliveries.filter(({ eventUrn }) => eventUrn === `urn:event:${urn}`);
  t.match(of("1"), [
    {
      verified: true,
      duplicate: false,
      path: "XN-one/sub-1",
      by: { secret: "current" },
      body: JSON.parse(body),
    },
    { verified: true, duplicate: true },
  ]);
  t.match(of("3"), [{ by: { secret: "previous", header: "X-Service-Signature-Previous" } }]);
  t.match(of("8"), [{ verified: false, reason: "timestamp-skew" }]);
  t.match(of("13"), [
    { duplicate: false, status: 503 },
    { duplicate: false, status: 200 },
  ]);
  await sandbox.reset();
  t.same((await sandbox.ledger("receiver")).deliveries, []);
  t.equal(await deliver("XN-one", "15", "new"), 200, "secrets outlive a reset");
});

t.test("faults follow from the seed and the request, not from the order", (t) => {
  const settings = {
    ...quietSettings("s", 50),
    jitterMs: 30,
    refusalRate: 0.1,
    unavailableRate: 0.1,
    errorRate: 0.2,
    timeoutRate: 0.1,
    lostAnswerRate: 0.1,
    malformedRate: 0.1,
    priceChangeRate: 0.1,
    oversellRate: 0.1,
    lateWorkRate: 0.1,
  };
  const faultOf = (number: number, seed = "s") =>
    faultFor(
      { ...settings, seed },
      { vendor: "v", operation: "book", key: `k${number}`, attempt: 1, rawBody: "" },
    );
  const numbers = Array.from({ length: 4000 }, (_, number) => number);
  const forward = numbers.map((number) => faultOf(number));
  const backward = numbers.toReversed().map((number) => faultOf(number));
  // As text: comparing thousands of objects one by one takes the test runner seconds.
  t.equal(JSON.stringify(backward.toReversed()), JSON.stringify(forward));
  t.not(JSON.stringify(numbers.map((number) => faultOf(number, "other"))), JSON.stringify(forward));
  for (const kind of faultKinds) {
    const share = forward.filter(({ fault }) => fault === kind).length / numbers.length;
    t.ok(Math.abs(share - 0.1) < 0.02, `${kind}: ${share}`);
  }
  t.ok(forward.every(({ latencyMs }) => latencyMs >= 50 && latencyMs <= 80));
  const scripted = {
    ...quietSettings("s", 0),
    failNext: [{ operation: "*", kind: "refuse", times: 2, match: "k7" }],
  };
  const next = (key: string) =>
    faultFor(scripted as never, { vendor: "v", operation: "book", key, attempt: 1, rawBody: "" }).fault;
  t.same([next("k1"), next("k7"), next("k7"), next("k7")], [undefined, "refuse", "refuse", undefined]);
  t.end();
});

t.test("hotels around any airport", (t) => {
  for (const code of ["JFK", "FRA", "GRU", "NRT", "SYD", "KEF", "FJI", "NAN", "SVO"]) {
    const around = airport(code);
    const all = hotelVendors.flatMap((vendor) => listingsOf("seed", vendor, code));
    if (around === undefined) {
      t.same(all, [], code);
      continue;
    }
    const again = hotelVendors.flatMap((vendor) => listingsOf("seed", vendor, code));
    t.equal(JSON.stringify(again), JSON.stringify(all));
    const hotels = new Set(all.map((listing) => listing.hotelCode)).size;
    t.ok(hotels >= 8 && hotels <= 25, `${code}: ${hotels} hotels`);
    const distances = all.map((listing) => distanceKm(listing.coordinates, around));
    t.ok(Math.min(...distances) > 0.3 && Math.max(...distances) < 61, code);
    t.ok(all.every(({ rooms }) => rooms.every((room) => room.nightlyRateMinor > 0 && room.capacity > 0)));
    const twice = all.filter((one) =>
      all.some((other) => other !== one && other.hotelCode === one.hotelCode),
    );
    t.ok(twice.length >= 6, `${code}: three hotels at both`);
  }
  t.notSame(listingsOf("other", "stayhub", "JFK"), listingsOf("seed", "stayhub", "JFK"));
  t.end();
});

t.test("lists by pages, and what a client must not ask for", async (t) => {
  const keys = { apiKey: "key", apiSecret: "secret", webhookSecret: "whsec" };
  const asked = async (name: string, own: Record<string, string>) => {
    const file = `${t.testdirName}/${name}.sqlite`;
    const vendor = new VendorServer(await loadVendor(name), { file, ...keys, seed: "s", latencyMs: 0 });
    await vendor.start();
    t.teardown(() => vendor.stop());
    return async (path: string, form?: Record<string, string>) => {
      const sent = form && { method: "POST", body: new URLSearchParams(form) };
      const headers = { ...own, "idempotency-key": JSON.stringify(form ?? "").replaceAll(" ", "") };
      const response = await fetch(vendor.baseUrl + path, { ...sent, headers });
      return (await response.json()) as Record<string, unknown>;
    };
  };
  t.testdir();

  const { accountSid } = twilioAccount;
  const messages = `/2010-04-01/Accounts/${accountSid}/Messages.json`;
  const basic = `Basic ${Buffer.from(`${accountSid}:key`).toString("base64")}`;
  const twilio = await asked("twilio", { authorization: basic });
  const one = { To: "+351912345678", From: "+15005550006" };
  for (const Body of ["a", "b", "c"]) t.match(await twilio(messages, { ...one, Body }), { status: "queued" });
  await twilio(messages, { ...one, Body: "d", To: "+351912345679" });
  t.match(await twilio(messages, { ...one, Body: "e", StatusCallback: "nowhere" }), { code: 21609 });
  const bodies: unknown[][] = [];
  for (let next: unknown = `${messages}?To=%2B351912345678&PageSize=2`; typeof next === "string"; ) {
    const page = await twilio(next);
    bodies.push((page.messages as { body: string }[]).map(({ body }) => body));
    next = page.next_page_uri;
  }
  t.strictSame(bodies, [["c", "b"], ["a"]], "newest first, each once, those to one recipient");
  t.match(await twilio(`${messages}?PageSize=x`), { code: 20001 });

  const stripe = await asked("stripe-issuing", { authorization: "Bearer key" });
  for (const [limit, answer] of [
    ["100", { object: "list", has_more: false }],
    ["101", { error: { type: "invalid_request_error" } }],
    ["0", { error: { type: "invalid_request_error" } }],
  ] as const)
    t.match(await stripe(`/v1/issuing/cards?limit=${limit}`), answer, `limit ${limit}`);

  const sky = await asked("skywatch", { "x-sky-key": "key" });
  const begun = performance.now();
  t.match(await sky("/v1/stream?cursor=nobodys&wait=30"), { error: "bad_cursor" });
  t.ok(performance.now() - begun < 25_000, "nobody waits for what will never come");
});

t.test("a fleet drives a ride no more, by itself", async (t) => {
  const sandbox = await startSandbox(t, t.testdir(), ["--only", "ridefleet", "--latency", "1"]);
  const fleet = new RideFleet({ ...sandbox.vendor("ridefleet"), timeoutMs: 20_000 });
  const run = "XN-01KAMVW9G0RVNRVNRVNRVNRVNR";
  const reference = `XN-01KAMVW9G0ABCDEFGHJKMNPQRS.ride.${run}.1`;
  const place = { label: "LIS", coordinates: { latitude: 38.77, longitude: -9.13 } };
  const ride = { direction: "AIRPORT_TO_HOTEL", vehicleType: "PRIVATE_CAR", from: place, to: place } as const;
  const asked = { ...ride, pickupAt: "2031-03-14T20:30:00Z", passengers: 2, specialRequirements: [] };
  const { rideId } = done(await fleet.book({ ...asked, reference }, context));
  const told = async () =>
    done(await ridesOf(fleet)({}, { ...context, signal: AbortSignal.timeout(20_000) })).reports;
  t.strictSame(await told(), []);
  const recall = async (marking: object) => {
    const url = `${sandbox.announcement.controlUrl}/stay/ridefleet`;
    const answer = await fetch(url, { method: "POST", body: JSON.stringify(marking) });
    return { status: answer.status, body: (await answer.json()) as unknown };
  };
  const state = "CANCELLED";
  const marked = await recall({ reference, state });
  t.strictSame(marked, { status: 200, body: { marked: [rideId], passedOver: [] } });
  t.match(await recall({ reference, state }), { status: 200, body: { marked: [], passedOver: [rideId] } });
  t.match(await fleet.lookup({ reference }, context), { state, rideId });
  t.match(await told(), [{ reference, entity: run, data: { rideId, state, at: String } }]);
  for (const wrong of [{ reference }, { reference, state: "NO_SHOW" }, { reference: "XN-none", state }])
    t.match(await recall(wrong), { status: 400, body: { detail: String } });
});

t.test("its command line", (t) => {
  const main = new URL("../../../scripts/sandbox/main.ts", import.meta.url).pathname;
  const run = (...args: string[]) => spawnSync(process.execPath, [main, ...args], { encoding: "utf8" });
  t.match(run("--help"), { status: 0, stdout: /usage: .*--dir DIR[\s\S]*--only/ });
  t.match(run(), { status: 1, stderr: /error: --dir is needed/ });
  t.match(run("--dir", "/x", "--only", "nobody"), { status: 1, stderr: /error: --only knows stayhub/ });
  t.end();
});
