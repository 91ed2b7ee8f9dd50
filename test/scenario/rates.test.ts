// Limits over two service processes: what one lets through the other knows of, the overshoot is within its bound, tiers and
// alerts reach whom they must, and logins are counted exactly, whoever counts them.
import { Agent, type IncomingHttpHeaders, request } from "node:http";
import { pino } from "pino";
import t from "tap";
import { createLoginAttempts } from "../../actors/identity/login-attempts.ts";
import { attemptLimitOf } from "../../config/limits.ts";
import type { AuditEntryView } from "../../schemas/audit.ts";
import type { Page } from "../../schemas/command.ts";
import type { PartnerView } from "../../schemas/partner-registration.ts";
import { watchPartnerTiers } from "../../streams/partner-tiers.ts";
import { smallFlight, startInstance, travellersOf } from "../harness/instance.ts";
import { eventually, takesLong } from "../harness/patience.ts";

takesLong(t);
/** Little flows in while a busy machine is slow. */
const operators = { perMinute: 60, capacity: 300 };
const night = await startInstance(t, {
  sandbox: false,
  settings: {
    RATE_OPERATOR: "60/60x5",
    RATE_PARTNER_TIER1: "40/10x1",
    RATE_PARTNER_TIER3: "4/2x1",
    LOGIN_ATTEMPTS_ADDRESS: "5/15m",
    LOGIN_ATTEMPTS_PNR: "10/24h",
    TRUSTED_PROXIES: "127.0.0.1",
  },
  services: [{}, {}],
});
const [xn, qz] = night.airlines;
const [one, two] = night.services.map(({ url }) => url) as [string, string];

interface Answered {
  status: number;
  left: number;
  headers: IncomingHttpHeaders;
}

const agent = new Agent({ keepAlive: true });
t.teardown(() => agent.destroy());

const ask = (
  baseUrl: string,
  path: string,
  headers: Record<string, string>,
  body?: unknown,
): Promise<Answered> =>
  new Promise((resolve, reject) => {
    const method = body === undefined ? "GET" : "POST";
    const type = body === undefined ? {} : { "Content-Type": "application/json" };
    const sent = request(new URL(path, baseUrl), { method, headers: { ...headers, ...type }, agent });
    sent.on("error", reject);
    sent.on("response", (response) => {
      const left = Number(response.headers["x-ratelimit-remaining"]);
      response.on("end", () =>
        resolve({ status: response.statusCode ?? 0, left, headers: response.headers }),
      );
      response.resume();
    });
    sent.end(body === undefined ? undefined : JSON.stringify(body));
  });
const bearer = (token: string) => ({ Authorization: `Bearer ${token}` });
const operator = bearer(await night.operatorToken(xn.urn, "ADMIN"));

t.test("what one gateway lets through the other subtracts", async (t) => {
  const read = (baseUrl: string) => ask(baseUrl, "/v1/contracts", operator);
  const startedAt = performance.now();
  let admitted = 0;
  const count = ({ status }: Answered): boolean => {
    if (status !== 429) admitted += 1;
    return status !== 429;
  };
  for (let i = 0; i < 150; i++) count(await read(one));
  t.equal(admitted, 150);
  // Each look takes a token, and is counted with the others.
  await eventually("the other gateway has heard", async () => {
    const answer = await read(two);
    count(answer);
    return answer.left < operators.capacity - 125 ? undefined : answer.left;
  });
  while (count(await read(two)));
  const seconds = (performance.now() - startedAt) / 1000;
  t.comment(`${admitted} let through in ${seconds.toFixed(2)} s`);
  // The first gateway let nothing through meanwhile, so there is no overshoot at all.
  t.ok(
    admitted <= operators.capacity + (seconds * operators.perMinute) / 60,
    "no more than one bucket holds",
  );
  t.ok(admitted >= operators.capacity, "and all that it holds");
  const refused = await read(one);
  t.ok(refused.status === 429 || refused.left < 50, "the first has heard of it too");
});

t.test("the overshoot of both at once is at most what the other lets through before it tells", async (t) => {
  const startedAt = performance.now();
  /** When each let one through. */
  const times: Record<string, number[]> = { [one]: [], [two]: [] };
  const hammer = async (baseUrl: string): Promise<void> => {
    for (let refusals = 0; refusals < 50; ) {
      const { status } = await ask(baseUrl, "/v1/policies/active", operator);
      if (status === 429) refusals += 1;
      else times[baseUrl]!.push(performance.now());
    }
  };
  await Promise.all([one, two].map(hammer));
  const seconds = (performance.now() - startedAt) / 1000;
  const admitted = times[one]!.length + times[two]!.length;
  /** Told every 100 ms; the rest is for a busy machine's timers and for the way. */
  const windowMs = 300;
  const mostInWindow = (all: readonly number[]): number =>
    Math.max(0, ...all.map((since) => all.filter((at) => at >= since && at < since + windowMs).length));
  const bound = Math.max(mostInWindow(times[one]!), mostInWindow(times[two]!));
  const allowed = operators.capacity + (seconds * operators.perMinute) / 60;
  t.comment(
    `${admitted} let through by both in ${seconds.toFixed(2)} s where one bucket holds ${Math.floor(allowed)}; bound of the overshoot ${bound}`,
  );
  t.ok(admitted >= operators.capacity);
  t.ok(admitted <= allowed + bound);
});

t.test("a partner's tier is known to every gateway, and its limit is told of once a minute", async (t) => {
  const token = bearer(await night.partnerToken(xn));
  const read = (baseUrl: string) => ask(baseUrl, "/partner/v1/cases", token);
  const answers: Answered[] = [];
  for (const gateway of [one, two])
    do answers.push(await read(gateway));
    while (answers.at(-1)!.status !== 429);
  const refused = answers.filter(({ status }) => status === 429);
  t.match(answers[0]?.left, 39, "tier 1");
  t.equal(refused.length, 2, "by both");
  t.ok(refused.every(({ headers, left }) => Number(headers["retry-after"]) >= 1 && left === 0));
  const { clientId } = xn.partners[0]!;
  await night.events.until("the alert", () => night.events.of("partner.limit-exceeded").length > 0);
  const alerts = night.events.of("partner.limit-exceeded").map(({ data }) => data);
  const windows = alerts.map(({ windowStartedAt }) => windowStartedAt);
  t.equal(new Set(windows).size, windows.length, "once a minute over both gateways");
  const partner = `urn:partner:${clientId}`;
  const limit = "40 reads a minute for a partner of tier 1";
  t.match(alerts, [{ partner, limit }]);
  const shown = await night.client.query<PartnerView>("identity.partner", {
    tenant: xn.code,
    params: { clientId },
  });
  t.match(shown.limitMet, { at: windows.at(-1), limit });
  const trail = () =>
    night.client.query<Page<AuditEntryView>>("audit.of-entity", {
      tenant: xn.code,
      params: { entityUrn: partner },
    });
  const noted = async () =>
    (await trail()).items.filter(({ action }) => action === "identity.note-limit-exceeded");
  await eventually("the audit entry", async () => ((await noted()).length > 0 ? undefined : "not there"));
  t.match((await noted()).at(-1), { actor: "urn:user:system-gateway", after: { clientId, limit } });
  const other = bearer(await night.partnerToken(qz));
  t.equal((await ask(two, "/partner/v1/cases", other)).status, 200, "another airline's partner");
});

t.test("a bucket of tiers that is away, or hangs, holds nobody up", async (t) => {
  const { clientId } = xn.partners[0]!;
  const kv = night.streams.kv;
  const quiet = pino({ level: "silent" });
  const watchWith = (create: typeof kv.create) =>
    watchPartnerTiers({ ...night.streams, kv: { create } as typeof kv }, quiet, {
      primedWithinMs: 10,
      watchAgainMs: 10,
    });
  const hanging = await watchWith(() => new Promise(() => {}));
  t.equal(hanging.of(clientId), undefined, "the start goes on without it");
  hanging.close();
  let tries = 0;
  const away = await watchWith(async (...given) => {
    tries += 1;
    if (tries < 3) throw new Error("no responders");
    return kv.create(...given);
  });
  await eventually("the tier", async () => (away.of(clientId) === 1 ? undefined : tries));
  t.equal(tries, 3, "tried until it is there");
  away.close();
});

const flight = smallFlight(xn.code, "rates", 3);
const [ada, ...others] = travellersOf(flight.passengers);
const login = (baseUrl: string, address: string, traveller = ada) =>
  ask(
    baseUrl,
    "/v1/auth/pnr-login",
    { Host: xn.passengerHost, "X-Forwarded-For": address },
    { ...traveller, captcha: night.instance.captcha },
  );

t.test("logins are counted over both processes", async (t) => {
  await night.push(xn, flight);
  const crowd = await Promise.all(
    Array.from({ length: 12 }, (_, i) =>
      login(i % 2 ? one : two, "198.51.100.1", { pnr: `ZZZZ${i}`, lastName: "Nobody" }),
    ),
  );
  const counts = (status: number) => crowd.filter((answer) => answer.status === status).length;
  t.same([counts(401), counts(429)], [5, 7], "five of one address, by whichever process");
  const retryAfter = Number(crowd.find(({ status }) => status === 429)?.headers["retry-after"]);
  t.ok(retryAfter > 800 && retryAfter <= 900, `in a quarter of an hour, not ${retryAfter} s`);
  for (let i = 0; i < 10; i++)
    t.equal((await login(one, `198.51.100.${10 + i}`)).status, 200, "another address; a success counts too");
  t.equal((await login(two, "198.51.100.40")).status, 429, "ten of one booking, from wherever");
});

// From here on a process is killed, and for a while others would call it in vain: nothing asks through the broker.
t.test("after a restart a gateway is told what is gone, and logins still count", async (t) => {
  // As after a loss of the bucket: every start tells all tiers again.
  const { clientId } = xn.partners[0]!;
  const tiers = await night.streams.kv.open("partner-tiers");
  await tiers.delete(clientId);
  await night.services[1]!.restart();
  t.match((await tiers.get(clientId))?.json(), { tier: 1 });
  const route = "/v1/policies/active";
  // Within a second one of 300 tokens flows in.
  await eventually("the new one has heard", async () => {
    const answer = await ask(two, route, operator);
    return answer.status === 429 || answer.left < 150 ? undefined : answer.left;
  });
  t.equal((await login(two, "198.51.100.1", others[0])).status, 429, "of the address");
  t.equal((await login(two, "198.51.100.40")).status, 429, "of the booking");
  t.equal(
    (await login(two, "198.51.100.40", others[0])).status,
    200,
    "which counted nothing for its address",
  );
});

t.test("no more attempts than the limits, however many at once", async (t) => {
  let nowMs = Date.now();
  const parts = {
    documents: night.documents,
    clock: { now: () => new Date(nowMs) },
    config: {
      loginAttempts: {
        ...{ address: attemptLimitOf("5/15m"), pnr: attemptLimitOf("10/24h") },
        link: attemptLimitOf("20/15m"),
      },
      sealKey: Buffer.alloc(32, 7),
    },
  };
  const processes = [createLoginAttempts(parts), createLoginAttempts(parts)];
  let ids = 0;
  const allowed = async (attempts: { address: string; pnr: string }[]): Promise<number> => {
    const counted = await Promise.allSettled(
      attempts.map((attempt, i) => processes[i % 2]!({ tenant: xn.code, id: `a${++ids}`, ...attempt })),
    );
    for (const each of counted)
      if (each.status === "rejected") t.equal((each.reason as { code?: string }).code, "rate/exceeded");
    return counted.filter(({ status }) => status === "fulfilled").length;
  };
  const many = Array.from({ length: 16 }, (_, i) => i);
  const ofOneAddress = many.map((i) => ({ address: "203.0.113.1", pnr: `AAAA${i}` }));
  const ofOnePnr = many.map((i) => ({ address: `203.0.113.${100 + i}`, pnr: "BBBBBB" }));
  t.equal(await allowed(ofOneAddress), 5);
  t.equal(await allowed(ofOnePnr), 10);
  const elsewhere = many
    .slice(0, 5)
    .map((i) => ({ address: `203.0.113.${100 + many.length - 1}`, pnr: `CCCC${i}` }));
  t.equal(
    (await allowed(elsewhere)) >= 4,
    true,
    "what was refused for its booking counts nothing for its address",
  );
  nowMs += 14 * 60_000;
  t.equal(await allowed(ofOneAddress), 0, "the window slides");
  nowMs += 60_000;
  t.equal(await allowed(ofOneAddress), 5);
  t.equal(await allowed(ofOnePnr), 0);
  nowMs += 24 * 3_600_000 - 15 * 60_000;
  t.equal(await allowed(ofOnePnr), 10);

  const kept = await night.documents.tenant(xn.code).collection("loginAttempts").find().toArray();
  t.notMatch(JSON.stringify(kept), /203\.0\.113|198\.51\.100|BBBBBB/, "neither address nor booking is kept");
});
