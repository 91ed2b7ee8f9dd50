// How passengers log in with the link in a message, and what their pages hear while the night goes on: in two tabs, on two gateways, after
// a restart, after a split, up to the closing; and that nobody hears of anybody else.
import { readFileSync } from "node:fs";
import t from "tap";
import type { MeView, PnrLoginView } from "../../schemas/passenger-api.ts";
import { type Call, startClients, type ToldProblem } from "../harness/clients.ts";
import { type StreamAsked, Watching } from "../harness/event-source.ts";
import { smallFlight, travellersOf } from "../harness/instance.ts";
import { takesLong } from "../harness/patience.ts";

takesLong(t);
const night = await startClients(t, {
  services: [{}, { ROLE: "gateway" }],
  settings: { LOG_LEVEL: "info", STEP_DEADLINE_MS: "1500", LOGIN_LINKS_ADDRESS: "8/15m" },
});
const [xn, qz] = night.airlines;
const [one, two] = night.services.map(({ url }) => url) as [string, string];
const host = xn.passengerHost;
const supervisor = await night.operatorToken(xn.urn, "OPS_SUPERVISOR");
// Messages take their time, so that whoever logs in at once is there before the offer.
await night.control({ sendwell: { latencyMs: 400 } });

const flight = smallFlight("XN", "stream", 7);
const travellers = travellersOf(flight.passengers);
const travellerOf = (i: number) => travellers[i] as { pnr: string; lastName: string };
const { caseUrn } = (await night.pushed(xn, flight)).body;
await night.events.untilCount("case.opened", 1, { caseUrn });
const tokens = await Promise.all(travellers.map((traveller) => night.passengerToken(xn, traveller)));
const tokenOf = (i: number): string => tokens[i] as string;

const open: Watching[] = [];
t.teardown(() => {
  for (const watching of open) watching.close();
});
const watch = (asked: Partial<StreamAsked>): Watching => {
  const watching = new Watching({ baseUrl: one, host, ...asked });
  open.push(watching);
  return watching;
};
interface OfferTold {
  offer?: { state: string };
}
const isReady = ({ offer }: OfferTold) => offer?.state === "READY";
const isAccepted = ({ offer }: OfferTold) => offer?.state === "ACCEPTED";

/** Each booking's page, opened at once: on the first gateway, as a browser has it. */
const pages = tokens.map((token) => watch({ cookie: `other=1; __Host-session=${token}` }));
const pageOf = (i: number): Watching => pages[i] as Watching;

t.test("a page and a second tab: the offer arrives, is accepted, is declined", async (t) => {
  const [page, tab] = [pageOf(0), watch({ baseUrl: two, token: tokenOf(0) })];
  await Promise.all([page, tab].map((each) => each.until("offer.updated", isReady)));
  for (const { received, headers, statuses } of [page, tab]) {
    t.equal(received[0]?.event, "snapshot");
    t.match(received[0]?.data.me, { caseUrn, passengers: [{ firstName: "Ada" }, { firstName: "Bruno" }] });
    t.same(statuses, [200]);
    t.match(Object.fromEntries(headers), {
      ...{ "content-type": "text/event-stream", "cache-control": "no-store", "x-accel-buffering": "no" },
      ...{ traceparent: /^00-/, "x-ratelimit-remaining": /^\d+$/ },
    });
  }
  await Promise.all([page.until("voucher.updated"), page.until("notification.sent")]);
  const ready = await page.until("offer.updated", isReady);
  const { body: offer } = await night.call("getMyOffer", { token: tokenOf(0), host });
  t.same(ready.data.offer, offer, "the offer is told as its GET shows it");
  t.match(await page.until("notification.sent"), {
    data: { channel: "EMAIL", template: "offer-ready", recipient: /•/ },
  });

  const cookie = `__Host-session=${tokenOf(0)}`;
  const accepting: Call = { host, headers: { Cookie: cookie, Origin: `http://${host}` }, body: {} };
  t.equal((await night.call("acceptMyOffer", accepting)).status, 200);
  await night.call("declineMyOffer", { host, token: tokenOf(1), body: {} });
  await Promise.all([page, tab].map((each) => each.until("offer.updated", isAccepted)));
  await pageOf(1).until("offer.updated", ({ offer }) => offer?.state === "DECLINED");
  for (const { received } of [page, tab]) {
    const ids = received.map(({ id }) => id);
    t.equal(received.filter(({ data }) => data.offer?.state === "ACCEPTED").length, 1, "once");
    t.ok(new Set(ids).size >= ids.length - 1, "each piece has a place of its own");
  }
});

t.test("who comes back hears what it has missed: elsewhere, by either way, after a restart", async (t) => {
  const page = pageOf(0);
  const [first] = page.received;
  const missed = page.events.slice(1);
  const lastEventId = first?.id ?? "";
  for (const asked of [
    { baseUrl: two, token: tokenOf(0), lastEventId },
    { baseUrl: two, token: tokenOf(0), query: `?lastEventId=${lastEventId}` },
    { baseUrl: one, cookie: `__Host-session=${tokenOf(0)}`, lastEventId },
  ]) {
    const back = watch(asked);
    await back.holds("all that was missed", () => back.received.length >= missed.length);
    t.same([...back.events].sort(), [...missed].sort(), "everything, once, and no snapshot");
    t.same(
      back.received.filter(({ event }) => event === "offer.updated").map(({ data }) => data.at),
      page.received.filter(({ event }) => event === "offer.updated").map(({ data }) => data.at),
      "in order",
    );
    back.close();
  }
  const tab = watch({ baseUrl: two, token: tokenOf(2) });
  await tab.until("snapshot");
  await pageOf(2).until("offer.updated", isReady);
  await night.services[1]?.stop();
  await night.call("acceptMyOffer", { host, token: tokenOf(2), body: {} });
  await pageOf(2).until("offer.updated", isAccepted);
  await night.services[1]?.restart();
  await tab.until("offer.updated", isAccepted);
  t.equal(tab.events.filter((event) => event === "snapshot").length, 1, "it went on where it was");
  const toldOf = ({ received }: Watching) =>
    received.filter(({ event }) => event !== "snapshot").map(({ data }) => [data.at, data.status]);
  const tail = toldOf(tab);
  t.same(toldOf(pageOf(2)).slice(-tail.length), tail, "as who was never away");
});

t.test("nobody hears of another group, case or airline", async (t) => {
  const other = pageOf(3);
  await other.until("offer.updated", isReady);
  const place = pageOf(0).received.at(-1)?.id ?? "";
  const borrowed = watch({ token: tokenOf(3), lastEventId: place });
  const snapshot = await borrowed.until("snapshot");
  t.match(snapshot.data.me.passengers, [{ lastName: "Traveller3" }, { lastName: "Traveller3" }]);
  const foreign = await night.pushed(qz, smallFlight("QZ", "stream", 1));
  await night.events.untilCount("case.opened", 1, { caseUrn: foreign.body.caseUrn });
  const [stranger] = travellersOf(smallFlight("QZ", "stream", 1).passengers);
  const strange = await night.passengerToken(qz, stranger as { pnr: string; lastName: string });
  const refused = async (call: Call) => {
    const { status, type } = await night.refused("streamMyEvents", call);
    return [status, type.split("/").slice(-2).join("/")];
  };
  t.same(await refused({ host, token: strange }), [403, "auth/foreign-tenant"]);
  t.same(await refused({ host: qz.passengerHost, token: tokenOf(0) }), [403, "auth/foreign-tenant"]);
  t.same(await refused({ host: qz.passengerHost, headers: { Cookie: `__Host-session=${tokenOf(0)}` } }), [
    403,
    "auth/foreign-tenant",
  ]);
  t.same(await refused({ host }), [401, "auth/missing-token"]);
  t.same(await refused({ host: "nobody.example", token: tokenOf(0) }), [404, "not-found/host"]);
  t.same(await refused({ host, token: supervisor }), [401, "auth/invalid-token"]);
  const theirs = watch({ host: qz.passengerHost, token: strange, lastEventId: place });
  await theirs.until("snapshot");
  const own = new Map(
    pages.map((page, i) => [
      i,
      new Set(JSON.stringify(page.received).match(/urn:(voucher|passenger):[\w-]+/g)),
    ]),
  );
  for (const [i, urns] of own)
    for (const [j, others] of own)
      if (i !== j)
        t.same(
          [...urns].filter((urn) => others.has(urn)),
          [],
          `${i} and ${j}`,
        );
  t.notMatch(JSON.stringify(theirs.received), /XN-/);
  t.notMatch(
    JSON.stringify(pages.map(({ received }) => received)),
    /QZ-|[a-z0-9]@example|urn:user|urn:vendor/,
  );
});

t.test("a stream follows its passenger into another group", async (t) => {
  // No policy covers Boston: the group waits, and may be changed.
  const { flight: flown, ...rest } = smallFlight("XN", "split", 1);
  const waiting = { ...rest, flight: { ...flown, originAirport: "BOS" } };
  const params = { caseUrn: (await night.pushed(xn, waiting)).body.caseUrn };
  await night.events.untilCount("review.opened", 1, params);
  const [traveller] = travellersOf(waiting.passengers);
  const token = await night.passengerToken(xn, traveller as { pnr: string; lastName: string });
  const ada = watch({ token });
  const { me } = (await ada.until("snapshot")).data;
  const into = me.passengers.map(({ urn }: { urn: string }) => [urn]).reverse();
  const split = await night.call("splitGroup", {
    token: supervisor,
    params: { ...params, groupId: me.groupId },
    body: { into, reason: "Two rooms" },
  });
  t.equal(split.status, 200, JSON.stringify(split.body));
  const again = await ada.until("snapshot", (data) => data.me.groupId !== me.groupId);
  t.match(again.data.me.passengers, [{ firstName: "Ada" }]);
  t.equal(again.data.me.passengers.length, 1);
});

const exchange = async (token: string, at: { host?: string; baseUrl?: string } = {}) => {
  const told = await night.call<PnrLoginView & ToldProblem>("exchangeMagicLink", {
    host,
    body: { token },
    ...at,
  });
  return { ...told.body, status: told.status, cookie: String(told.headers["set-cookie"] ?? "") };
};
/** Of the newest e-mail that a booking was sent. */
const mailsTo = async (pnr: string) =>
  (await night.ledger("sendwell")).entries.filter(
    ({ details }) => details.to === `${pnr.toLowerCase()}@example.com`,
  );
const linkTo = async (pnr: string): Promise<string> => {
  const body = String((await mailsTo(pnr)).at(-1)?.details.body);
  const [, token = ""] = /https:[^\s"<]+\?token=([A-Z]{2}-[\w-]{43})/.exec(body) ?? [];
  return token;
};
const linkOf = (i: number): Promise<string> => linkTo(travellerOf(i).pnr);

t.test("the link in a message logs its reader in, once", async (t) => {
  await pageOf(4).until("notification.sent");
  const token = await linkOf(4);
  const session = await exchange(token, { baseUrl: two });
  t.match(session, {
    ...{ status: 200, caseUrn, expiresAt: /Z$/ },
    cookie: /^__Host-session=[^;]+; Path=\/; Max-Age=604800; Secure; HttpOnly; SameSite=Lax$/,
  });
  const [mine, theirs] = await Promise.all([
    night.call<MeView>("getMe", { host, token: session.sessionToken }),
    night.call<MeView>("getMe", { host, token: tokenOf(4) }),
  ]);
  t.same(mine.body, theirs.body);
  const [cookie] = session.cookie.split(";");
  await watch({ cookie: cookie ?? "" }).until("snapshot");

  await pageOf(5).until("notification.sent");
  const second = await linkOf(5);
  const both = await Promise.all([exchange(second), exchange(second, { baseUrl: two })]);
  t.same(both.map(({ status }) => status).sort(), [200, 401], "of two at once one");
  const messages = night.documents.tenant("XN").collection("messages");
  await pageOf(6).until("notification.sent");
  const old = await linkOf(6);
  const ofBooking = {
    groupId: (await night.call<MeView>("getMe", { host, token: tokenOf(6) })).body.groupId,
  };
  await messages.updateMany(ofBooking, { $set: { queuedAt: new Date(Date.now() - 7 * 86_400_000) } });
  const refusals = [
    await exchange(token),
    await exchange(second),
    await exchange(old),
    await exchange(`XN-${"A".repeat(43)}`),
    await exchange("guessed"),
    await exchange(token, { host: qz.passengerHost }),
  ];
  for (const refusal of refusals)
    t.match(refusal, { status: 401, type: /auth\/login-failed$/, detail: refusals[0]?.detail, cookie: "" });
  const logs = await night.eventually(
    "the last refusal is logged",
    async () => night.services.map(({ logFile }) => readFileSync(logFile, "utf8")).join("\n"),
    (text) => text.includes("foreign-airline"),
  );
  const told = [...logs.matchAll(/"refusal":"([a-z-]+)"/g)].map(([, refusal]) => refusal);
  t.same(told.sort(), ["expired", "foreign-airline", "malformed", "unknown", "used", "used", "used"]);
  for (const secret of [token, second, old]) t.notOk(logs.includes(secret), "no token is logged");
  const stored = JSON.stringify([
    await messages.find().toArray(),
    await night.documents.tenant("XN").collection("sessions").find().toArray(),
    night.events.all,
    (await night.call("listNotifications", { token: supervisor, params: { caseUrn } })).body,
  ]);
  for (const secret of [token, second, old]) t.notOk(stored.includes(secret), "nor kept");
});

t.test("a message that is sent again has the link that it had", async (t) => {
  const before = (await mailsTo(travellerOf(4).pnr)).length;
  await night.control({
    sendwell: { latencyMs: 0, failNext: [{ operation: "send", kind: "error", times: 2 }] },
  });
  const me = (await night.call<MeView>("getMe", { host, token: tokenOf(4) })).body;
  const body = { templateId: "voucher-issued", groupIds: [me.groupId], reason: "Lost it" };
  await night.call("sendNotification", { token: supervisor, params: { caseUrn }, body });
  await pageOf(4).until("notification.sent", ({ template }) => template === "voucher-issued");
  const { requests } = await night.ledger("sendwell");
  const sends = requests.filter(({ operation }) => operation === "send");
  t.ok(sends.filter(({ status }) => status === 500).length >= 1, "it was sent more than once");
  t.equal((await mailsTo(travellerOf(4).pnr)).length, before + 1);
  t.equal((await exchange(await linkOf(4))).status, 200);
});

t.test("guesses from one address come to an end, and good links do not count", async (t) => {
  let status = 401;
  for (let guesses = 0; status === 401 && guesses < 10; guesses++)
    ({ status } = await exchange(`XN-${String(guesses).padStart(43, "x")}`));
  t.equal(status, 429);
});

t.test("the closing ends it all", async (t) => {
  const page = pageOf(6);
  await page.until("offer.updated", isReady);
  await night.call("closeCase", {
    token: supervisor,
    params: { caseUrn },
    body: { reason: "Everybody left" },
  });
  const last = await page.until("session.revoked");
  t.same(last.data, { reason: "CASE_CLOSED" });
  await page.until("offer.withdrawn");
  t.equal(page.events.at(-1), "session.revoked");
  t.equal(pageOf(0).events.includes("offer.withdrawn"), false, "an accepted one stands");
  t.match(await night.refused("streamMyEvents", { host, token: tokenOf(6) }), { status: 403 });
  const quiet = smallFlight("QZ", "closing", 1);
  const { caseUrn: closing } = (await night.pushed(qz, quiet)).body;
  await night.events.untilCount("notification.dispatched", 1, { caseUrn: closing });
  const link = await linkTo(quiet.passengers[0]?.pnr ?? "");
  const admin = await night.operatorToken(qz.urn, "ADMIN");
  await night.call("closeCase", { token: admin, params: { caseUrn: closing }, body: { reason: "Done" } });
  const at = { host: qz.passengerHost };
  const closed = await exchange(link, at);
  t.match(closed, { status: 401, type: /auth\/login-failed$/ });
  await night.call("reopenCase", {
    token: admin,
    params: { caseUrn: closing },
    body: { reason: "One came back" },
  });
  t.match(await exchange(link, at), { status: 401 }, "and stays dead");
  await page.holds("its EventSource gives up", () => page.hasGivenUp);
  t.equal(page.statuses.at(-1), 403);
});
