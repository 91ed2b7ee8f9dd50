// scripts/up as the person at the terminal has it: it starts, keeps its folder to itself, stops in time with work under way,
// and goes on the next day with what it had.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import t from "tap";
import type { CaseView } from "../../../schemas/case.ts";
import { openClient } from "../../../scripts/administration/client.ts";
import { request } from "../../../scripts/demonstration/http.ts";
import { operatorToken, provisionAirlines } from "../../../scripts/demonstration/provision.ts";
import type { Instance } from "../../../scripts/supervisor/environment.ts";
import { openStreams } from "../../../streams/connection.ts";
import { EventLog } from "../../harness/event-log.ts";
import { smallFlight } from "../../harness/instance.ts";
import { startControlledScript, temporaryFolder } from "../../harness/processes.ts";

const stopWithinMs = 5_000;
const dataDir = join(temporaryFolder(t), "data");
// No server of the machine's own: this is about the embedded ones.
const embedded = { NATS_URL: "", MONGODB_URL: "" };
const startUp = () =>
  startControlledScript(t, {
    script: "scripts/up.ts",
    args: (port) => ["--port", String(port ?? 0), "--data", dataDir],
    env: embedded,
    readyLine: /^ready (http:\S+)/,
  });
/** What the service complained of, for a run that failed: the folder goes with the test. */
t.teardown(() => {
  if (t.passing()) return;
  const lines = readFileSync(join(dataDir, "logs/service.log"), "utf8").split("\n");
  t.comment(lines.filter((line) => /"level":[456]0/.test(line)).join("\n"));
});
const up = await startUp();
const instance = (): Instance => JSON.parse(readFileSync(join(dataDir, "instance.json"), "utf8"));
const push = smallFlight("XN", "overnight", 3);

const partnerToken = async (clientId: string, clientSecret: string): Promise<string> => {
  const { audiences } = instance();
  const body = {
    grant_type: "client_credentials",
    client_id: clientId,
    client_secret: clientSecret,
    audience: audiences.partner,
  };
  const told = await request(up.url, { method: "POST", path: "/oauth/token", body });
  return (told.body as { access_token: string }).access_token;
};
const pushAs = async (token: string, body: unknown) =>
  (await request(up.url, { method: "POST", path: "/partner/v1/disruptions", token, body })) as {
    status: number;
    body: { caseUrn: string; subCaseCount: number };
  };
/** Of the development issuer, whose keys and address outlive a restart. */
let agentToken: Promise<string> | undefined;
const detail = async (caseUrn: string): Promise<CaseView> => {
  agentToken ??= operatorToken(dataDir, "urn:airline:XN", "AIRPORT_OPERATOR");
  const token = await agentToken;
  const told = await request(up.url, {
    method: "GET",
    path: `/v1/cases/${encodeURIComponent(caseUrn)}`,
    token,
  });
  return told.body as CaseView;
};
/** Ended by the signal that a terminal or an init system sends. */
const stopped = async () => {
  const since = performance.now();
  process.kill(up.pid, "SIGTERM");
  return { ...(await up.exited), tookMs: performance.now() - since };
};

/** Provisions the airlines, pushes, and waits until the case is with a person: there are no vendors here. */
const firstNight = async () => {
  const client = await openClient(instance().natsUrl);
  const streams = await openStreams(instance().natsUrl, "test");
  const events = await EventLog.open(streams);
  try {
    const receiverUrl = "http://127.0.0.1:9/hooks";
    const provisioning = { instance: instance(), dataDir, client, vendors: [], receiverUrl };
    const [xn] = await provisionAirlines(provisioning);
    const [partner] = xn?.partners ?? [];
    if (partner === undefined) throw new Error("no partner was registered");
    const token = await partnerToken(partner.clientId, partner.clientSecret);
    const { status, body } = await pushAs(token, push);
    t.equal(status, 202);
    await events.untilCount("review.opened", 1, { caseUrn: body.caseUrn });
    return { partner, token, ...body };
  } finally {
    events.close();
    await Promise.all([client.close(), streams.close()]);
  }
};

t.test("one night on scripts/up, and the next", async (t) => {
  const ready = await request(up.url, { method: "GET", path: "/health/ready" });
  t.match(ready, { status: 200, body: { ready: true } });
  const { caseUrn, partner, token } = await firstNight();
  const before = await detail(caseUrn);
  t.match(before, {
    status: "OPEN",
    subCaseCount: 3,
    manualReviewItems: [{ category: "ALLOCATION_FAILED" }],
  });

  const refused = await startUp().then(
    () => "it started",
    (error: Error) => error.message,
  );
  t.match(refused, "ended with code 1");
  const log = readFileSync(/\(log: (.*)\)$/.exec(refused)?.[1] ?? "", "utf8");
  t.same(
    log.split("\n").filter((line) => line !== "" && !/Warning: SQLite|--trace-warnings/.test(line)),
    [`error: ${dataDir} is in use by process ${up.pid}: stop it, or choose another folder`],
    "one line says what is wrong and what to do",
  );
  t.equal((await pushAs(token, push)).body.caseUrn, caseUrn, "the first one goes on");

  const underWay = Array.from({ length: 3 }, (_, i) => pushAs(token, smallFlight("XN", `late${i}`, 10)));
  // A connection that the gateway has not taken yet when it stops is reset; what it answered is what counts.
  const settled = Promise.allSettled(underWay);
  await underWay[0];
  const end = await stopped();
  const answered = (await settled).flatMap((one) =>
    one.status === "fulfilled" && one.value.status === 202 ? one.value.body : [],
  );
  t.match(end, { code: 0, signal: null });
  t.ok(end.tookMs < stopWithinMs, `stopped in ${Math.round(end.tookMs)} ms`);

  await up.restart();
  t.same(await detail(caseUrn), before, "the case as it was");
  const again = await partnerToken(partner.clientId, partner.clientSecret);
  t.equal((await pushAs(again, push)).body.caseUrn, caseUrn, "the same event finds the same case");
  t.ok(answered.length >= 1);
  const streams = await openStreams(instance().natsUrl, "test");
  const events = await EventLog.open(streams);
  try {
    for (const late of answered) {
      await events.untilCount("case.opened", 1, { caseUrn: late.caseUrn });
      t.equal(
        (await detail(late.caseUrn)).passengerGroups.length,
        late.subCaseCount,
        "what was answered is there",
      );
    }
  } finally {
    events.close();
    await streams.close();
  }
  t.match(await stopped(), { code: 0, signal: null });
});

t.test("the simulated vendors by themselves", async (t) => {
  const data = join(temporaryFolder(t), "integrator");
  const alone = await startControlledScript(t, {
    script: "scripts/up.ts",
    args: () => ["--sandbox-only", "--vendors", "stayhub,receiver", "--port", "0", "--data", data],
    readyLine: /^ready (http:\S+)/,
  });
  const kept = JSON.parse(readFileSync(join(data, "sandbox.json"), "utf8"));
  t.match(kept, { controlUrl: alone.url, vendors: [{ name: "stayhub", kind: "hotel", apiKey: /./ }] });
  t.match(await request(alone.url, { method: "GET", path: "/health" }), { status: 200 });
  const offers = await fetch(`${kept.vendors[0].baseUrl}/`);
  t.ok(offers.status < 500, "a vendor answers at its own address");
  const ended = alone.exited;
  await alone.stop();
  t.match(await ended, { code: 0 });
  await t.rejects(fetch(alone.url), "nothing is left of it");
});
