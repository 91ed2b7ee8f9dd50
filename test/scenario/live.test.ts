// Operators' live channel, over two gateways: who is let in, what each is told, and that nobody misses or hears twice what happened
// while they were away, whoever serves them then. A standard client and a raw one go through the same.
import t from "tap";
import type { ManifestItem } from "../../schemas/case.ts";
import { operatorEvents } from "../../schemas/live.ts";
import { publishLoggedOut } from "../../scripts/embedded/issuer/logged-out.ts";
import type { Membership } from "../../scripts/embedded/issuer/users.ts";
import { connectRaw, type LiveClient } from "../../scripts/soaking/live-client.ts";
import { Crowd } from "../../scripts/soaking/live-crowd.ts";
import { randomFrom } from "../../scripts/soaking/scenario.ts";
import { publish } from "../../streams/publish.ts";
import { internalSubject } from "../../streams/subjects.ts";
import { connectStandard, liveClients } from "../harness/live-clients.ts";
import { checkLiveEvent } from "../harness/live-events.ts";
import { takesLong } from "../harness/patience.ts";
import { refusalOf, startLiveNight } from "./live-night.ts";

takesLong(t);
const night = await startLiveNight(t);
const { xn, qz, first, second, gateway, admin } = night;
const { operator, shortLived, push, settled, groupsOf, lock, close, reopen, toggled, enter, hasHeardAll } =
  night;

const quiet = await push("quiet");
const foreign = await push("foreign", qz);
const elsewhere = await push("elsewhere", xn, "LAX");
await settled(quiet);
let flights = 0;
/** It never says who it is. */
const mute = connectRaw({ baseUrl: first, token: undefined, silent: true }).catch(({ closed }) => closed);

for (const [name, connect] of liveClients)
  t.test(name, async (t) => {
    t.test("is let in with an operator's live token alone", async (t) => {
      const partner = await night.partnerToken(xn);
      const revoked = await operator("gone");
      await night.sent("revokeAccess", { token: admin, body: { subject: "urn:user:gone", reason: "Lost" } });
      const asks = () => night.sent("listCases", { token: revoked, baseUrl: second });
      await night.eventually("withdrawn", asks, ({ status }) => status === 401);
      const tokens: [string, string | undefined, string][] = [
        ["no token", undefined, "auth/missing-token"],
        ["no token at all", "garbage", "auth/invalid-token"],
        ["a partner's", partner, "auth/invalid-token"],
        ["an expired one", await shortLived("late", -1), "auth/expired-token"],
        ["a withdrawn one", revoked, "auth/invalid-token"],
      ];
      for (const [what, token, problem] of tokens) {
        const refusal = await refusalOf(t, connect({ baseUrl: second, token }));
        t.match(refusal.data, { code: 4401, problem: { status: 401 } }, what);
        t.match(refusal.data.problem?.type, new RegExp(`/${problem}$`), what);
        if (name !== "a standard client") t.equal(await refusal.closed, 4401, "and closed so");
      }
      const slashed = await enter(connect, {
        baseUrl: first,
        token: await operator("eve"),
        path: "/ws/cases/",
      });
      t.ok(slashed.pid, "with a slash at the end, too");
      const foreignPage = { Origin: "https://elsewhere.example" };
      await refusalOf(t, connect({ baseUrl: first, token: await operator("eve"), headers: foreignPage }));
    });

    t.test("hears of what is within its operator's reach", async (t) => {
      const principals: [string, Promise<string>][] = [
        ["supervisor", operator("sue", "OPS_SUPERVISOR")],
        ["auditor", operator("fin", "FINANCE_AUDIT")],
        ["at JFK", operator("jan", "AIRPORT_OPERATOR", "JFK")],
        ["at LAX", operator("lou", "OPS_SUPERVISOR", "LAX")],
        ["of another airline", operator("quinn", "ADMIN", undefined, qz)],
      ];
      const missing = quiet.replace(/.{4}$/, "ZZZZ");
      const rooms: [Record<string, unknown>, ...number[]][] = [
        [{ caseUrn: quiet }, 200, 200, 200, 403, 403],
        [{ caseUrn: elsewhere }, 200, 200, 403, 200, 403],
        [{ caseUrn: foreign }, 403, 403, 403, 403, 200],
        [{ caseUrn: missing }, 404, 404, 404, 404, 403],
        [{ airport: "JFK" }, 200, 200, 200, 403, 200],
        [{ airport: "LAX" }, 200, 200, 403, 200, 200],
        [{ airport: "jfk" }, 422, 422, 422, 422, 422],
        [{ caseUrn: quiet, airport: "JFK" }, 422, 422, 422, 422, 422],
        [{ caseUrn: "urn:hotel:x" }, 422, 422, 422, 422, 422],
        [{}, 422, 422, 422, 422, 422],
      ];
      for (const [i, [who, token]] of principals.entries()) {
        const client = await enter(connect, { baseUrl: second, token: await token });
        for (const [room, ...expected] of rooms) {
          const answer = await client.ask("subscribe", room);
          const status = answer.ok ? 200 : answer.problem?.status;
          t.equal(status, expected[i], `${who}: ${JSON.stringify(room)}`);
        }
        t.match(
          await client.ask("unsubscribe", { airport: "SFO" }),
          who.endsWith("LAX") || who.endsWith("JFK") ? { ok: false } : { ok: true },
        );
        client.drop();
      }
    });

    t.test("is told everything, in the shapes that are described", async (t) => {
      const token = await operator("ana");
      const wall = await enter(connect, { baseUrl: second, token });
      const answer = await wall.ask("subscribe", { airport: "JFK" });
      const foreign = await operator("quinn", "ADMIN", undefined, qz);
      const foreignWall = await enter(connect, { baseUrl: first, token: foreign });
      await foreignWall.ask("subscribe", { airport: "JFK" });
      t.ok((answer.cases as { caseUrn: string }[]).some(({ caseUrn }) => caseUrn === quiet));
      await night.control({ sendwell: { failNext: [{ operation: "send", kind: "unavailable", times: 1 }] } });
      const caseUrn = await push(`told-${flights++}`);
      const client = await enter(connect, { baseUrl: first, token });
      t.match(await client.ask("subscribe", { caseUrn }), {
        ok: true,
        caseUrn,
        watchers: [{ operatorUrn: "urn:user:ana" }],
      });
      await settled(caseUrn);
      const [group] = await groupsOf(caseUrn);
      const { subCaseUrn = "" } = group ?? {};
      await lock(token, subCaseUrn);
      const locked = { subCaseUrn, lockedBy: "urn:user:ana" };
      await client.until("subcase:state-changed", (told) => told.lockedBy === locked.lockedBy);
      const again = await enter(connect, { baseUrl: second, token });
      t.match(await again.ask("subscribe", { caseUrn }), { ok: true, status: "OPEN", locks: [locked] });
      await close(caseUrn);
      await client.until("case:updated", (told) => told.caseUrn === caseUrn && told.status === "CLOSED");
      await wall.until("case:updated", (told) => told.caseUrn === caseUrn && told.status === "CLOSED");
      for (const { event, payload } of [...client.events, ...wall.events]) checkLiveEvent(event, payload);
      const names = new Set(client.events.map(({ event }) => event));
      const seldom = ["session:position", "session:ended", "graph:step:progress"];
      t.strictSame(
        Object.keys(operatorEvents).filter((event) => !names.has(event) && !seldom.includes(event)),
        [],
      );
      t.ok(
        client.of("notification:dispatched").every(({ recipient }) => /•/.test(String(recipient))),
        "masked",
      );
      for (const about of await groupsOf(caseUrn)) {
        const states = wall
          .of("subcase:state-changed")
          .filter((told) => told.subCaseUrn === about.subCaseUrn && told.lockedBy === null)
          .map(({ status }) => status);
        t.match(states.join(), /^PROCESSING,OFFER_READY/, "each transition, once");
      }
      t.strictSame(
        foreignWall.events.filter(({ payload }) => payload.caseUrn === caseUrn),
        [],
        "another airline's wall hears nothing of it",
      );
      t.notOk(
        wall.events.some(({ event }) => event.startsWith("graph:")),
        "steps go to who watches the case",
      );
      t.strictSame(await client.ask("unsubscribe", { caseUrn }), { ok: true });
      const before = client.of("case:updated").length;
      await reopen(caseUrn);
      await wall.until(
        "case:updated",
        (told) => told.caseUrn === caseUrn && told.status === "OPEN" && told !== wall.of("case:updated")[0],
      );
      t.equal(client.of("case:updated").length, before, "nothing after it has left");
      client.drop();
      again.drop();
      wall.drop();
      foreignWall.drop();
    });

    t.test("comes back to another gateway, and lacks nothing", async (t) => {
      const token = await operator("bo");
      const watch = async (client: LiveClient): Promise<string> =>
        String((await client.ask("subscribe", { caseUrn: quiet })).position);
      const steady = await enter(connect, { baseUrl: first, token });
      const steadyFrom = await watch(steady);
      let roving = await enter(connect, { baseUrl: first, token });
      const rovingFrom = await watch(roving);
      const told: LiveClient["events"] = [];
      const gaps: [string, string, () => Promise<unknown>][] = [
        ["at once, elsewhere", second, async () => undefined],
        ["after changes, elsewhere", first, () => toggled(quiet, 2)],
      ];
      for (const [what, baseUrl, meanwhile] of gaps) {
        const since = roving.events.length;
        const changing = toggled(quiet, 3);
        await roving.untilMore("case:updated", since);
        roving.drop();
        await roving.closed;
        told.push(...roving.events);
        await meanwhile();
        roving = await enter(connect, { baseUrl, token, resume: { pid: roving.pid, offset: roving.offset } });
        t.ok(roving.recovered, what);
        t.match(roving.of("session:ready"), [{ resumed: true, complete: true, rooms: [{ caseUrn: quiet }] }]);
        await changing;
      }
      await close(quiet);
      const isWithdrawn = ({ subCaseUrn }: ManifestItem): boolean =>
        night.events.of("subcase.state-changed", quiet).findLast(({ data }) => data.subCaseUrn === subCaseUrn)
          ?.data.offer === "WITHDRAWN";
      const groups = await groupsOf(quiet);
      await night.events.until("its groups have heard of it", () => groups.every(isWithdrawn));
      for (const [who, client, from, before] of [
        ["who stayed", steady, steadyFrom, []],
        ["who came and went", roving, rovingFrom, told],
      ] as const) {
        t.ok(await hasHeardAll(quiet, who, from, () => [...before, ...client.events]));
      }
      await reopen(quiet);
      steady.drop();
      roving.drop();
    });
  });

t.test("nobody stays who may not", async (t) => {
  const connect = connectRaw;
  const enterAs = async (token: string) => enter(connect, { baseUrl: second, token });
  const endedBy = async (client: LiveClient, reason: string): Promise<void> => {
    t.match(await client.until("session:ended"), { reason });
    t.equal(await client.closed, 4401, `${reason}: closed with 4401`);
  };
  const expiring = await enterAs(await shortLived("ned", 3));
  const renewing = await enterAs(await shortLived("nia", 3));
  const renewed = await renewing.ask("authenticate", {
    token: await operator("nia", "OPS_SUPERVISOR", "LAX"),
  });
  t.match(renewed, { ok: true, expiresAt: /Z$/ });
  t.match(
    await renewing.ask("subscribe", { caseUrn: quiet }),
    { problem: { status: 403 } },
    "as the newer token says",
  );
  t.match(await renewing.ask("authenticate", { token: await operator("ned") }), { problem: { status: 401 } });

  const withdrawn = await enterAs(await operator("wim"));
  await night.call("revokeAccess", { token: admin, body: { subject: "urn:user:wim", reason: "Lost" } });
  await endedBy(withdrawn, "access-withdrawn");

  const token = await operator("sam");
  const [here, other] = [await enterAs(token), await enter(connect, { baseUrl: first, token })];
  await night.call("closeSession", { token, baseUrl: first });
  for (const client of [here, other]) await endedBy(client, "logged-out");

  const loggedOut = await enterAs(await operator("lea"));
  const membership = { airline: "XN", subject: "lea" } as Membership;
  await publishLoggedOut(night.streams, membership, undefined, new Date());
  await endedBy(loggedOut, "logged-out");

  await endedBy(expiring, "token-expired");
  t.strictSame(renewing.of("session:ended"), [], "who has shown a newer token stays");
  renewing.drop();
});

t.test("a client that does too much, or takes nothing, is closed", async (t) => {
  const connect = connectRaw;
  const token = await operator("flo");
  const flood = await enter(connect, { baseUrl: first, token });
  for (let i = 0; i < 200; i++) flood.say("subscribe", {});
  t.equal(await flood.closed, 1008, "a flood");
  const large = await enter(connect, { baseUrl: first, token });
  large.say("subscribe", { caseUrn: "x".repeat(20_000) });
  t.ok(await large.closed, "a large message");

  const stalled = await enter(connect, { baseUrl: first, token });
  await stalled.ask("subscribe", { caseUrn: quiet });
  const [group] = await groupsOf(quiet);
  stalled.stall();
  const step = (n: number) => {
    const { subCaseUrn = "" } = group ?? {};
    const stepUrn = "urn:step:XN-01JD0000000000000000000000";
    const data = {
      caseUrn: quiet,
      subCaseUrn,
      stepUrn,
      name: "book",
      progress: n / 100,
      message: "x".repeat(60_000),
    };
    const event = {
      urn: `urn:event:XN-${n}`,
      type: "graph.step-progress",
      case_urn: quiet,
      occurred_at: new Date().toISOString(),
      data,
    };
    const subject = internalSubject("XN", "graph.step-progress", "XN-1");
    return publish(night.streams, { subject, payload: JSON.stringify(event), messageId: `large-${n}` });
  };
  for (let n = 1; n <= 150; n++) await step(n);
  stalled.goOn();
  await stalled.closed;
  const told = stalled.of("graph:step:progress").length;
  t.ok(told < 150, `closed after ${told} of 150`);
  const { pid, offset } = stalled;
  const again = await enter(connect, { baseUrl: second, token, resume: { pid, offset } });
  t.ok(again.recovered, "and comes back");
  t.strictSame(
    [...stalled.of("graph:step:progress"), ...again.of("graph:step:progress")].map(
      ({ progress }) => progress,
    ),
    Array.from({ length: 150 }, (_, i) => (i + 1) / 100),
    "to what it has missed",
  );
  again.drop();
  t.ok(await mute, "who never says who it is");
});

t.test("a crowd that drops and comes back while cases change and a gateway begins anew", async (t) => {
  const cases = await Promise.all(
    [quiet, elsewhere].map(async (caseUrn) => ({
      caseUrn,
      subCaseUrn: (await groupsOf(caseUrn))[0]?.subCaseUrn ?? "",
    })),
  );
  const tokens = await Promise.all(["c1", "c2", "c3"].map((sub) => operator(sub)));
  const { streams } = night;
  const stage = { streams, tenant: "XN", gateways: [first, second], cases, tokens, random: randomFrom(1) };
  const token = await operator("bo");
  const away = await enter(connectRaw, { baseUrl: second, token });
  const { position } = await away.ask("subscribe", { caseUrn: quiet });
  away.drop();
  await away.closed;
  const crowd = new Crowd(stage, 40);
  await crowd.enter();
  const changing = (async () => {
    for (let i = 0; i < 60; i++) await crowd.change();
  })();
  let restarting: Promise<void> | undefined;
  for (let drops = 0; drops < 60; ) {
    if (crowd.dropOne()) drops++;
    if (drops === 20) restarting ??= gateway?.restart();
    await crowd.change();
  }
  await Promise.all([changing, restarting]);
  const { pid, offset } = away;
  const back = await enter(connectRaw, { baseUrl: second, token, resume: { pid, offset } });
  t.ok(back.recovered, "at a gateway that has begun anew");
  t.match(back.of("session:ready"), [{ resumed: true, complete: true, rooms: [{ caseUrn: quiet }] }]);
  t.strictSame(await crowd.check(15_000), [], `${crowd.changes} changes`);
  await crowd.leave();
  t.ok(await hasHeardAll(quiet, "who was away", String(position), () => [...away.events, ...back.events]));
  back.drop();
});

t.test("a lock goes with its holder's last connection, and watchers see who comes and goes", async (t) => {
  const [group, other] = await groupsOf(quiet);
  const { subCaseUrn = "" } = group ?? {};
  const watcher = await enter(connectStandard, { baseUrl: first, token: await operator("wanda") });
  await watcher.ask("subscribe", { caseUrn: quiet });
  const names = (payload: Record<string, unknown>): string =>
    (payload.watchers as { operatorUrn: string }[])
      .map(({ operatorUrn }) => operatorUrn.slice(9))
      .toSorted()
      .join();
  const sees = (expected: string) =>
    watcher.untilHeard(() => {
      const last = watcher.of("presence:changed").at(-1);
      return last !== undefined && names(last) === expected;
    });
  const lockedBy = (who: string | null) =>
    watcher.untilHeard(
      () =>
        watcher.of("subcase:state-changed").at(-1)?.lockedBy === (who === null ? null : `urn:user:${who}`),
    );
  await sees("wanda");
  const token = await operator("hal");
  const [one, two] = [
    await enter(connectRaw, { baseUrl: second, token }),
    await enter(connectStandard, { baseUrl: first, token }),
  ];
  for (const client of [one, two]) await client.ask("subscribe", { caseUrn: quiet });
  await sees("hal,wanda");
  await lock(token, subCaseUrn);
  await lockedBy("hal");
  two.drop();
  await two.closed;
  const { subCaseUrn: otherUrn = "" } = other ?? {};
  const nora = await operator("nora");
  await lock(nora, otherUrn);
  await lockedBy("nora");
  t.match(
    (await night.call("getManifest", { token: admin, params: { caseUrn: quiet } })).body,
    { items: [{ lockedBy: "urn:user:hal" }, { lockedBy: "urn:user:nora" }] },
    "one connection of its holder is left; who has none holds on all the same",
  );
  const begun = performance.now();
  one.drop();
  await lockedBy(null);
  t.comment(`given back ${Math.round(performance.now() - begun)} ms after the drop`);
  await sees("wanda");
  t.match(watcher.of("subcase:state-changed").at(-1), { subCaseUrn, lockedBy: null });

  const late = await enter(connectRaw, { baseUrl: second, token });
  await late.ask("subscribe", { caseUrn: quiet });
  await lock(token, subCaseUrn);
  await lockedBy("hal");
  await sees("hal,wanda");
  await gateway?.kill();
  await lockedBy(null);
  await sees("wanda");
  watcher.drop();
});
