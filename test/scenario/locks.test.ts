// Operators lock groups, over two gateways: one at a time, renewed, given back, taken away, lapsed and outlived; and whoever writes
// under a lock that has ended is refused, whatever they still believe.
import t from "tap";
import type { AuditEntryView } from "../../schemas/audit.ts";
import type { CaseView, CompensationStarted, ManifestItem } from "../../schemas/case.ts";
import type { Page } from "../../schemas/command.ts";
import type { LockView, SessionClosed, UnlockedView } from "../../schemas/lock.ts";
import type { CaseProgressView } from "../../schemas/orchestration.ts";
import type { PolicyView } from "../../schemas/policy.ts";
import type { RegroupView } from "../../schemas/regroup.ts";
import { type Answer, request } from "../../scripts/demonstration/http.ts";
import { publishLoggedOut } from "../../scripts/embedded/issuer/logged-out.ts";
import type { Membership } from "../../scripts/embedded/issuer/users.ts";
import { mintOperatorToken } from "../../scripts/supervisor/operator-token.ts";
import { type Call, startClients, type ToldProblem } from "../harness/clients.ts";
import { isFullSize } from "../harness/environment.ts";
import { smallFlight } from "../harness/instance.ts";
import { takesLong } from "../harness/patience.ts";
import { startControlledScript } from "../harness/processes.ts";
import { contractBody, policyBody } from "./matrix/terms.ts";

takesLong(t);
const leaseMs = 4000;
const night = await startClients(t, {
  sandbox: false,
  settings: { LOCK_LEASE_MS: String(leaseMs), SWEEP_INTERVAL_MS: "1000", ACK_WAIT_MS: "3000" },
  services: [{}, {}],
});
const [xn] = night.airlines;
const { events } = night;
const [first, second] = night.services.map(({ url }) => url) as [string, string];
const admin = await night.operatorToken(xn.urn, "ADMIN");

interface Operator {
  token: string;
  urn: string;
}
const operator = async (sub: string, role = "AIRPORT_OPERATOR"): Promise<Operator> => ({
  token: await mintOperatorToken(night.instance, { airline: xn.urn, role, sub }),
  urn: `urn:user:${sub}`,
});
const [ana, bo, senior] = await Promise.all([
  operator("ana"),
  operator("bo"),
  operator("senior", "OPS_SUPERVISOR"),
]);

type Told<Body> = Omit<Body, "status"> & ToldProblem & { lockedBy?: string; expiresInSeconds?: number };
const send = <Body>(id: string, who: Operator, subCaseUrn: string, more: Call = {}) =>
  night.call<Told<Body>>(id, { token: who.token, params: { subCaseUrn }, ...more });
const lock = (who: Operator, subCaseUrn: string, more: Call = {}) =>
  send<LockView>("lockSubCase", who, subCaseUrn, more);
const unlock = (who: Operator, subCaseUrn: string, body: object = {}) =>
  send<UnlockedView>("unlockSubCase", who, subCaseUrn, { body });
const compensate = (who: Operator, subCaseUrn: string, body: object = {}) =>
  send<CompensationStarted>("compensate", who, subCaseUrn, { body });

/** What the service has told of the group's lock, oldest first. */
const changesOf = (subCaseUrn: string) =>
  events
    .of("subcase.lock-changed")
    .filter(({ data }) => data.subCaseUrn === subCaseUrn)
    .map(({ data, occurred_at }) => ({ ...data, occurredAt: occurred_at })) as {
    lockedBy: string | null;
    fencingToken: number;
    expiresAt: string | null;
    occurredAt: string;
  }[];
const whenFree = (subCaseUrn: string): Promise<void> =>
  events.until("its lock lapses", () => changesOf(subCaseUrn).at(-1)?.lockedBy === null);

const push = async (name: string, bookings: number, airport = "LAX"): Promise<string> => {
  const body = smallFlight("XN", name, bookings);
  const flight = { ...body.flight, originAirport: airport };
  return (await night.pushed(xn, { ...body, flight })).body.caseUrn;
};
const detail = async (caseUrn: string): Promise<CaseView> =>
  (await night.call<CaseView>("getCase", { token: admin, params: { caseUrn } })).body;
const manifest = async (caseUrn: string): Promise<ManifestItem[]> =>
  (await night.call<Page<ManifestItem>>("getManifest", { token: admin, params: { caseUrn } })).body.items;
const itemOf = async (caseUrn: string, subCaseUrn: string): Promise<ManifestItem> =>
  (await manifest(caseUrn)).find((item) => item.subCaseUrn === subCaseUrn) as ManifestItem;
/** Groups that are allocated and have heard of it (their second version), and wait for somebody to have them booked. */
const waitingGroups = async (
  name: string,
  bookings: number,
): Promise<{ caseUrn: string; urns: string[] }> => {
  const caseUrn = await push(name, bookings);
  const items = await night.eventually(
    "its groups wait with their hotel",
    () => manifest(caseUrn),
    (found) => found.length === bookings && found.every(({ version }) => version >= 2),
  );
  return { caseUrn, urns: items.map(({ subCaseUrn }) => subCaseUrn) };
};

for (const name of ["Inn", "Lodge"])
  await night.call("putContract", { token: admin, body: contractBody("LAX", name) });
const policy = policyBody("Booked by hand", { airport: "LAX" }, { autoBook: false });
const { urn: policyUrn } = (await night.call<PolicyView>("createPolicy", { token: admin, body: policy }))
  .body;
await night.call("activatePolicy", { token: admin, params: { policyUrn } });

t.test("fifty operators want one group, at two gateways: one has it", async (t) => {
  const { caseUrn, urns } = await waitingGroups("race", 1);
  const [subCaseUrn = ""] = urns;
  const before = await itemOf(caseUrn, subCaseUrn);
  const crowd = await Promise.all(Array.from({ length: 50 }, (_, i) => operator(`racer-${i}`)));
  const all = await Promise.all(
    crowd.map((who, i) => lock(who, subCaseUrn, { body: {}, baseUrl: i % 2 === 0 ? first : second })),
  );
  const won = crowd.filter((_, i) => all[i]?.status === 200);
  t.equal(won.length, 1, "one wins");
  const [winner] = won as [Operator];
  const losers = all.filter(({ status }) => status === 409).map(({ body }) => body);
  t.equal(losers.length, 49, "the others hear who");
  for (const problem of losers) {
    t.match(problem, { type: /\/conflict\/sub-case-locked$/, lockedBy: winner.urn });
    const { expiresInSeconds = 0 } = problem;
    t.ok(expiresInSeconds >= 1 && expiresInSeconds <= leaseMs / 1000, `${expiresInSeconds} s are left`);
  }
  const told = all.find(({ status }) => status === 200)?.body;
  t.match(told, { subCaseUrn, fencingToken: 1, lockedBy: winner.urn, expiresAt: /Z$/ });

  const facts = { lockedBy: winner.urn, lockExpiresAt: told?.expiresAt };
  const params = { caseUrn };
  t.match(
    await itemOf(caseUrn, subCaseUrn),
    { ...facts, version: before.version },
    "nobody's version is outdated",
  );
  t.match((await detail(caseUrn)).passengerGroups, [facts]);
  const progress = await night.call<CaseProgressView>("getCaseProgress", { token: admin, params });
  t.match(progress.body.items, [facts]);

  const renewed = await lock(winner, subCaseUrn, { baseUrl: second });
  t.equal(renewed.body.fencingToken, 1, "renewed under the same token, also without a body");
  t.ok(Date.parse(renewed.body.expiresAt) > Date.parse(told?.expiresAt ?? ""), "and for longer");
  await whenFree(subCaseUrn);
  t.strictSame(
    changesOf(subCaseUrn).map(({ lockedBy, fencingToken, expiresAt }) => [lockedBy, fencingToken, expiresAt]),
    [
      [winner.urn, 1, told?.expiresAt],
      [winner.urn, 1, renewed.body.expiresAt],
      [null, 1, null],
    ],
    "each change is told once, in order",
  );
  const lateMs =
    Date.parse(changesOf(subCaseUrn).at(-1)?.occurredAt ?? "") - Date.parse(renewed.body.expiresAt);
  t.ok(lateMs >= 0, "not before it is over");
  t.comment(`its end is told ${lateMs} ms after it`);
  t.match(await itemOf(caseUrn, subCaseUrn), { lockedBy: null, lockExpiresAt: null });
  t.match(
    (await lock(ana, subCaseUrn)).body,
    { fencingToken: 2, lockedBy: ana.urn },
    "the next one's token is greater",
  );
});

t.test(
  "a holder who was stopped past the lease wakes up and writes: refused, and nothing has changed",
  async (t) => {
    const { caseUrn, urns } = await waitingGroups("fenced", 1);
    const [subCaseUrn = ""] = urns;
    const holder = await startControlledScript(t, {
      script: "test/harness/lock-holder.ts",
      env: { HOLDER_BASE_URL: first, HOLDER_TOKEN: ana.token, HOLDER_SUB_CASE: subCaseUrn },
      readyLine: /^listening (\S+)/,
    });
    const tell = async (path: string): Promise<Answer> =>
      (await request(holder.url, { method: "POST", path })).body as Answer;
    t.match(await tell("/lock"), { status: 200, body: { fencingToken: 1, lockedBy: ana.urn } });
    const before = await itemOf(caseUrn, subCaseUrn);
    holder.suspend();
    const writing = tell("/write");
    t.match(
      await compensate(bo, subCaseUrn),
      { status: 409, body: { type: /sub-case-locked$/, lockedBy: ana.urn } },
      "others wait while its lease runs",
    );
    await whenFree(subCaseUrn);
    t.match(await lock(bo, subCaseUrn, { baseUrl: second }), { status: 200, body: { fencingToken: 2 } });
    holder.resume();
    t.match(await writing, {
      status: 409,
      body: { type: /\/conflict\/sub-case-locked$/, lockedBy: bo.urn, version: before.version },
    });
    await unlock(bo, subCaseUrn, { fencingToken: 2 });
    t.match(
      await tell("/write"),
      { status: 409, body: { type: /\/conflict\/stale-fencing-token$/ } },
      "nor when nobody holds it any more",
    );
    const { status, version, offerState } = await itemOf(caseUrn, subCaseUrn);
    t.strictSame([status, version, offerState], [before.status, before.version, before.offerState]);
    t.equal(events.of("subcase.processing", caseUrn).length, 0, "no saga was begun");

    const again = await lock(bo, subCaseUrn);
    t.equal(again.body.fencingToken, 3);
    const started = await compensate(bo, subCaseUrn, { fencingToken: 3 });
    t.match(started, { status: 202, body: { status: "PROCESSING" } }, "who holds it may");
    await events.untilCount("subcase.offer-ready", 1, { caseUrn });
    t.pass("and no lock keeps the saga from going on");
  },
);

t.test("a keyed lock is one lock; a stale version is told", async (t) => {
  const { caseUrn, urns } = await waitingGroups("keyed", 1);
  const [subCaseUrn = ""] = urns;
  const { version } = await itemOf(caseUrn, subCaseUrn);
  const old = await lock(ana, subCaseUrn, { body: { version: version - 1 } });
  t.match(old, { status: 409, body: { type: /\/conflict\/version$/, version } });
  const headers = { "Idempotency-Key": "one-lock" };
  const once = await lock(ana, subCaseUrn, { headers, body: { version } });
  const twice = await lock(ana, subCaseUrn, { headers, body: { version } });
  t.equal(once.body.fencingToken, 1);
  t.strictSame(twice.body, once.body);
  t.equal(changesOf(subCaseUrn).length <= 1, true, "one change");
  const unknown = "urn:sub-case:XN-01JD0000000000000000000000";
  t.match(await lock(ana, unknown), { status: 404 });
  const scoped = await night.scopedToken(xn.urn, "AIRPORT_OPERATOR", "JFK");
  t.match(await lock({ token: scoped, urn: "" }, subCaseUrn), {
    status: 403,
    body: { type: /foreign-airport$/ },
  });
});

t.test("closing the session gives back all that the operator holds, and nobody else's", async (t) => {
  const { urns } = await waitingGroups("session", 3);
  const [one = "", two = "", others = ""] = urns;
  const cy = await operator("cy");
  for (const urn of [one, two]) t.equal((await lock(cy, urn)).status, 200);
  await lock(bo, others);
  const close = (who: Operator) => night.call<SessionClosed>("closeSession", { token: who.token });
  t.strictSame((await close(cy)).body.released.sort(), [one, two].sort());
  for (const urn of [one, two]) {
    await events.until("its watchers hear", () => changesOf(urn).at(-1)?.lockedBy === null);
    t.match(await lock(ana, urn), { status: 200, body: { fencingToken: 2 } }, "free at once");
  }
  t.strictSame((await close(cy)).body.released, [], "again: nothing is left");
  t.match(await lock(cy, others), { status: 409, body: { lockedBy: bo.urn } });
  const auditor = await operator("auditor", "FINANCE_AUDIT");
  t.strictSame((await close(auditor)).body.released, [], "who may lock nothing can log out, too");
});

t.test("a logout at the issuer gives back what was held by then", async (t) => {
  const { urns } = await waitingGroups("logout", 2);
  const [subCaseUrn = "", later = ""] = urns;
  const dee = await operator("dee");
  await lock(dee, subCaseUrn);
  const leftAt = new Date();
  const leaves = (subject: string, at: Date) =>
    publishLoggedOut(night.streams, { airline: "XN", subject } as Membership, undefined, at);
  await leaves("dee", leftAt);
  await events.until("its watchers hear", () => changesOf(subCaseUrn).at(-1)?.lockedBy === null);
  t.match(await lock(ana, subCaseUrn), { status: 200, body: { fencingToken: 2 } });
  await lock(dee, later);
  await leaves("dee", leftAt);
  await leaves("ana", new Date());
  await events.until("the last one is heard", () => changesOf(subCaseUrn).at(-1)?.lockedBy === null);
  t.match(await lock(bo, later), { status: 409, body: { lockedBy: dee.urn } }, "not what was taken since");
});

t.test("a supervisor takes a lock away, with a reason that stays on record", async (t) => {
  const { urns } = await waitingGroups("broken", 1);
  const [subCaseUrn = ""] = urns;
  const { body } = await lock(ana, subCaseUrn);
  const reason = "Her shift is over";
  t.match(await unlock(bo, subCaseUrn, { reason }), { status: 409, body: { lockedBy: ana.urn } });
  t.match(await unlock(senior, subCaseUrn), { status: 409, body: { lockedBy: ana.urn } });
  t.match(await unlock(senior, subCaseUrn, { reason }), {
    status: 200,
    body: { subCaseUrn, lockedBy: null },
  });
  t.match(
    await unlock(senior, subCaseUrn),
    { status: 200, body: { lockedBy: null } },
    "nothing is left to do",
  );
  const { fencingToken } = body;
  t.match(await compensate(ana, subCaseUrn, { fencingToken }), {
    status: 409,
    body: { type: /stale-fencing-token$/ },
  });
  const trail = await night.eventually(
    "both stand in the trail",
    async () =>
      (
        await night.call<Page<AuditEntryView>>("getEntityAudit", {
          token: admin,
          params: { entityUrn: subCaseUrn },
        })
      ).body.items.filter(({ action }) => /lock$/.test(action)),
    (found) => found.length === 2,
  );
  const byAction = Object.fromEntries(trail.map((entry) => [entry.action, entry]));
  t.match(byAction["sub-case.lock"], { actor: ana.urn, after: { lockedBy: ana.urn } });
  t.match(byAction["sub-case.unlock"], {
    actor: senior.urn,
    reason,
    before: { lockedBy: ana.urn },
    after: { lockedBy: null },
  });
});

t.test("what goes through the case and the wave is kept from others, too", async (t) => {
  const { caseUrn, urns } = await waitingGroups("beside", 2);
  const { passengerGroups, wave } = await detail(caseUrn);
  const [{ groupId = "", subCaseUrn = "" } = {}] = passengerGroups;
  t.ok(urns.includes(subCaseUrn));
  await lock(ana, subCaseUrn);
  const reason = "As agreed";
  const chosen = wave?.allocations.find((one) => one.groupId === groupId);
  const choice = {
    token: senior.token,
    params: { waveUrn: wave?.urn ?? "" },
    body: { groupId, hotelUrn: chosen?.hotelUrn, reason },
  };
  t.match(await night.refused("overrideWave", choice), { status: 409, lockedBy: ana.urn });
  const own = await operator("ana", "OPS_SUPERVISOR");
  const stale = { ...choice, token: own.token, body: { ...choice.body, fencingToken: 9 } };
  t.match(await night.refused("overrideWave", stale), { type: /stale-fencing-token$/ });
  const overridden = { ...choice, token: own.token, body: { ...choice.body, fencingToken: 1 } };
  t.equal((await night.call("overrideWave", overridden)).status, 202, "the holder chooses");

  const waiting = await push("regrouped", 2, "LHR");
  const held = await night.eventually(
    "two groups that no policy covers",
    () => manifest(waiting),
    (items) => items.length === 2,
  );
  await events.untilCount("review.opened", 1, { caseUrn: waiting });
  await lock(bo, held[1]?.subCaseUrn ?? "");
  const merge = { groupIds: held.map((item) => item.groupId), reason };
  const merging = (who: Operator, more: object = {}): Call => ({
    token: who.token,
    params: { caseUrn: waiting },
    body: { ...merge, ...more },
  });
  const nextFlight = { number: "XN999", scheduledDeparture: "2027-01-01T12:00:00.000Z" };
  const groupIds = [held[1]?.groupId ?? ""];
  const named: [string, object][] = [
    ["reaccommodate", { groups: [{ groupId: groupIds[0], nextFlight }], reason }],
    ["requestTransfers", { groupIds, reason }],
  ];
  for (const [order, body] of named) {
    const call = (who: Operator, more: object): Call => ({
      token: who.token,
      params: { caseUrn: waiting },
      body: { ...body, ...more },
    });
    t.match(await night.refused(order, call(ana, {})), { status: 409, lockedBy: bo.urn }, order);
    t.match(await night.refused(order, call(bo, { fencingToken: 2 })), { type: /stale-fencing-token$/ });
  }
  t.match(await night.refused("mergeGroups", merging(ana)), { status: 409, lockedBy: bo.urn });
  t.match(await night.refused("mergeGroups", merging(bo, { fencingToken: 2 })), {
    type: /stale-fencing-token$/,
  });
  const merged = await night.call<RegroupView>("mergeGroups", merging(bo, { fencingToken: 1 }));
  t.match(merged, { status: 200, body: { mergedAway: [{ groupId: held[1]?.groupId }] } });
});

if (isFullSize)
  t.test("a process dies with a lock just taken: it is told, it holds, and it lapses", async (t) => {
    const { caseUrn, urns } = await waitingGroups("killed", 1);
    const [subCaseUrn = ""] = urns;
    const [, dying] = night.services;
    if (dying === undefined) throw new Error("two services were asked for");
    dying.settings.KILL_POINT = "after-commit@sub-case.lock";
    await dying.restart();
    const taking = lock(ana, subCaseUrn, { baseUrl: second });
    await Promise.all([t.rejects(taking, "nobody answers"), dying.exited]);
    t.match(await lock(bo, subCaseUrn), { status: 409, body: { lockedBy: ana.urn } }, "it is hers");
    await whenFree(subCaseUrn);
    t.match(changesOf(subCaseUrn), [
      { lockedBy: ana.urn, fencingToken: 1 },
      { lockedBy: null, fencingToken: 1 },
    ]);
    t.match(await lock(bo, subCaseUrn), { status: 200, body: { fencingToken: 2 } });
    t.match(await itemOf(caseUrn, subCaseUrn), { status: "PENDING", lockedBy: bo.urn });
  });
