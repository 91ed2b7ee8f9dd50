// A case is closed and reopened: the identity actor notes it, and every gateway, on a connection of its own, ends the sessions
// of before. Commands come twice, late and in the wrong order.
import { pino } from "pino";
import t, { type Test } from "tap";
import { identityActor } from "../../actors/identity/service.ts";
import { sendCommand } from "../../actors/runtime/send.ts";
import { passengerSessionLifetimeSeconds } from "../../gateway/auth/passenger-token.ts";
import { type CaseChange, noteCase, openClosedCases, Standings } from "../../streams/closed-cases.ts";
import { openStreams } from "../../streams/connection.ts";
import {
  bearer,
  captcha,
  passengerHost,
  passengerToken,
  startTestGateway,
  type TestGateway,
  ulid,
} from "../contract/gateway/fixture.ts";
import { isAck, startActorsUnderTest, watch } from "../harness/actors.ts";
import { eventually } from "../harness/patience.ts";

const silent = pino({ level: "silent" });
const { context, commandOf, send } = await startActorsUnderTest(t, [identityActor]);
const { streams } = context;
await send("identity.register-tenant", { name: "Xenia", passengerHosts: [], homeCountry: "US" });

/** As another process knows them. */
const closedCasesOf = async (t: Test) => {
  const own = await openStreams(context.config.NATS_URL, "gateway");
  const closedCases = await openClosedCases(own, silent);
  t.teardown(async () => {
    closedCases.close();
    await own.close();
  });
  return closedCases;
};

const at = (second: number): Date => new Date(Date.UTC(2026, 10, 21, 22, 0, second));
const closed: CaseChange = { closedAt: at(10), open: false, changedAt: at(10) };
const reopened: CaseChange = { closedAt: at(10), open: true, changedAt: at(20) };
const closedAgain: CaseChange = { closedAt: at(30), open: false, changedAt: at(30) };
const reopenedAtOnce: CaseChange = { closedAt: at(30), open: true, changedAt: at(30) };
const changes = [closed, reopened, closedAgain, reopenedAtOnce];

const orders = <Item>(items: readonly Item[]): Item[][] =>
  items.length === 0
    ? [[]]
    : items.flatMap((first) =>
        orders(items.filter((item) => item !== first)).map((rest) => [first, ...rest]),
      );

t.test("the newest change stands, in whatever order and however often they come", async (t) => {
  const closedCases = await closedCasesOf(t);
  const noted = async (caseId: string, told: readonly CaseChange[]): Promise<void> => {
    for (const change of told) await noteCase(streams, caseId, change, at(40));
  };
  const expected = new Map<string, Pick<CaseChange, "closedAt" | "open">>();
  for (const [upTo, last] of changes.entries()) {
    for (const [i, order] of orders(changes.slice(0, upTo + 1)).entries()) {
      const caseId = `XN-${upTo}-${i}`;
      await noted(caseId, [...order, ...order.slice(0, 1)]);
      expected.set(caseId, last);
    }
  }
  await Promise.all(
    [...changes, ...changes].map((change) => noteCase(streams, "XN-AT-ONCE", change, at(40))),
  );
  expected.set("XN-AT-ONCE", reopenedAtOnce);
  await noteCase(streams, "XN-LAST", closed, at(40));
  await eventually("all is told", async () =>
    closedCases.standing("XN-LAST") === undefined ? "not the last one" : undefined,
  );
  t.equal(expected.size, 1 + 2 + 6 + 24 + 1);
  for (const [caseId, { closedAt, open }] of expected)
    t.match(closedCases.standing(caseId), { closedAt, open }, caseId);
  t.equal(closedCases.standing("XN-NEVER"), undefined);
  t.match(
    (await closedCasesOf(t)).standing("XN-AT-ONCE"),
    { open: true },
    "a later process knows it at its start",
  );
});

const daysLater = (days: number): Date => new Date(at(40).getTime() + days * 86_400_000);
const closedOn = (date: Date): CaseChange => ({ closedAt: date, open: false, changedAt: date });

t.test("what is older than any session is forgotten, by the bucket's time alone", async (t) => {
  const standings = new Standings();
  const learn = (caseId: string, closedAt: Date, putAt: Date): void =>
    standings.learn(caseId, { closedAt: closedAt.toISOString(), open: false }, putAt);
  learn("XN-OLD", daysLater(1), daysLater(1));
  learn("XN-YOUNGER", daysLater(3), daysLater(3));
  learn("XN-AHEAD", daysLater(300), daysLater(4));
  t.match(standings.of("XN-OLD"), { open: false }, "a clock that is ahead makes nobody forget");
  learn("XN-NEW", daysLater(0), daysLater(10));
  t.equal(standings.of("XN-OLD"), undefined, "after eight days");
  for (const caseId of ["XN-YOUNGER", "XN-AHEAD", "XN-NEW"])
    t.match(standings.of(caseId), { open: false }, caseId);
  t.equal(await standings.untilOpen("XN-OLD", 1), true);
  t.equal(await standings.untilOpen("XN-YOUNGER", 1), false, "nobody reopens it in time");
});

t.test("what cannot be read ends no other, and the bucket forgets, too", async (t) => {
  const closedCases = await closedCasesOf(t);
  const bucket = await streams.kv.open("closed-cases");
  const broken = { closedAt: "soon", open: false, changedAt: at(50).toISOString() };
  await bucket.put("XN-BROKEN", JSON.stringify(broken));
  await noteCase(streams, "XN-NEW", closedOn(daysLater(0)), daysLater(0));
  await eventually("all is told", async () =>
    closedCases.standing("XN-NEW") === undefined ? "not the last one" : undefined,
  );
  t.equal(closedCases.standing("XN-BROKEN"), undefined);
  const { streamInfo } = await bucket.status();
  t.equal(streamInfo.config.max_age, 8 * 86_400 * 1e9);
  const noTime = noteCase(streams, "XN-NEW", closedOn(new Date("soon")), daysLater(0));
  await t.rejects(noTime, RangeError, "no time is no time");
});

t.test("a change of a later day counts as of when it was told, and blocks none that follow", async (t) => {
  const closedCases = await closedCasesOf(t);
  const ahead = closedOn(daysLater(8));
  await noteCase(streams, "XN-AHEAD", ahead, at(10));
  await noteCase(streams, "XN-AHEAD", { closedAt: daysLater(8), open: true, changedAt: at(12) }, at(12));
  await noteCase(streams, "XN-AHEAD", ahead, at(10));
  const skewed: CaseChange = { closedAt: at(20), open: false, changedAt: at(20) };
  await noteCase(streams, "XN-SKEWED", { closedAt: at(5), open: true, changedAt: at(15) }, at(16));
  await noteCase(streams, "XN-SKEWED", skewed, at(14));
  await eventually("all is told", async () =>
    closedCases.standing("XN-SKEWED")?.open === false ? undefined : "not the last one",
  );
  t.match(closedCases.standing("XN-AHEAD"), { open: true }, "the reopening stands, however often they come");
  t.match(
    closedCases.standing("XN-SKEWED"),
    { closedAt: at(20) },
    "clocks that differ by little keep the order",
  );
});

t.test("two gateways end a case's sessions within a second, and let new ones in", async (t) => {
  const gatewayOf = async (): Promise<TestGateway> => {
    const gateway = await startTestGateway({}, [], { closedCases: await closedCasesOf(t) });
    t.teardown(() => gateway.close());
    return gateway;
  };
  const gateways = await Promise.all([gatewayOf(), gatewayOf()]);
  const caseId = `XN-${ulid}`;
  const asked = (of: readonly TestGateway[], token: string): Promise<number[]> =>
    Promise.all(
      of.map(async (gateway) => {
        const headers = { ...bearer(token), Host: passengerHost };
        return (await gateway.ask("/v1/me", { headers })).status;
      }),
    );
  /** A second, and another one for a busy machine. */
  const becomes = (statuses: number[], token: string): Promise<void> =>
    eventually(
      statuses.join(),
      async () => {
        const got = await asked(gateways, token);
        return got.join() === statuses.join() ? undefined : got;
      },
      2000,
    );
  const acks = await watch(streams.connection, "$JS.ACK.COMMANDS.cmd_identity_XN.>");
  let sent = 0;
  /** As the case actor's outbox sends it: at least once, under ids of their own when a stalled relay repeats it. */
  const tell = async (name: string, closedAt: Date, changedAt: Date): Promise<void> => {
    const data = { closedAt: closedAt.toISOString(), changedAt: changedAt.toISOString() };
    for (let i = 0; i < 2; i++) await sendCommand(streams, commandOf(name, data, { entity: caseId }));
    sent += 2;
    await acks.until((messages) => messages.filter(isAck).length === sent);
  };

  const closedAt = new Date();
  const issuedBefore = closedAt.getTime() - 1;
  const old = await passengerToken(gateways[0], {
    exp: Math.floor(issuedBefore / 1000) + passengerSessionLifetimeSeconds,
  });
  t.strictSame(await asked(gateways, old), [200, 200], "and both remember the token");
  await tell("identity.close-case", closedAt, closedAt);
  await becomes([403, 403], old);

  gateways[0].act("identity.pnr-login", () => ({
    ok: { sessionId: "7d1f0f0e-1a35-4f43-8d0a-0d4f1ab0a001", caseUrn: `urn:case:${caseId}`, groupId: "G1" },
  }));
  const loggingIn = gateways[0].ask("/v1/auth/pnr-login", {
    method: "POST",
    body: { pnr: "K7QX2M", lastName: "Lovelace", captcha },
    headers: { Host: passengerHost },
  });
  await eventually("the actor has found the case open", async () =>
    gateways[0].received.some(({ name }) => name === "identity.pnr-login") ? undefined : "not asked yet",
  );
  await tell("identity.reopen-case", closedAt, new Date());
  const login = await loggingIn;
  t.equal(login.status, 200, "it waits for its gateway to hear of the reopening");
  const fresh: string = login.json.sessionToken;
  t.strictSame(await asked([gateways[0]], fresh), [200], "so that its very first request is let in");
  await becomes([401, 401], old);
  await tell("identity.close-case", closedAt, closedAt);
  t.strictSame(await asked(gateways, fresh), [200, 200], "a login of after the reopening");
  t.strictSame(await asked(gateways, old), [401, 401], "for good, whatever comes late");

  const later = await gatewayOf();
  t.strictSame(
    await asked([later], old),
    [401],
    "a gateway that starts later knows it with its first request",
  );
  t.strictSame(await asked([later], fresh), [200]);
});
