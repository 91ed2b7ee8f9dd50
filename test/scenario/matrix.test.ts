// Every route of the tables under every principal and every bad input: each cell is what the row says, or a reviewed exception;
// nobody's answer holds another airline's URN; and a route that has no example here fails.
import t from "tap";
import type { Route } from "../../gateway/route.ts";
import { takesIdempotencyKey } from "../../gateway/route.ts";
import { allRoutes } from "../../gateway/routes/all.ts";
import type { Page } from "../../schemas/command.ts";
import { eventFault } from "../../scripts/soaking/described-events.ts";
import type { Call } from "../harness/clients.ts";
import { takesLong } from "../harness/patience.ts";
import { badInputs } from "./matrix/bad-inputs.ts";
import { type Cell, createCells, harmless } from "./matrix/cells.ts";
import { examples } from "./matrix/examples.ts";
import { adds, isList, walk } from "./matrix/pages.ts";
import { openPrincipals, resignerOf, weakestRole } from "./matrix/principals.ts";
import { contractBody } from "./matrix/terms.ts";
import { openWorld } from "./matrix/world.ts";

takesLong(t);
t.strictSame(
  Object.keys(examples).sort(),
  allRoutes.map(({ id }) => id).sort(),
  "every route has its example, and every example its route",
);
const world = await openWorld(t);
const { clients, xn, sessions } = world;
const principals = await openPrincipals(world);
const cells = createCells(world);
/** One without an example has failed above already. */
const rows = allRoutes.filter(({ id }) => Object.hasOwn(examples, id));
const closed = rows.filter((route) => !("public" in route));
const partner = await clients.partnerToken(xn.airline);
const operatorTokens = new Map<string, string>();
for (const role of ["ADMIN", "OPS_SUPERVISOR", "AIRPORT_OPERATOR", "FINANCE_AUDIT"])
  operatorTokens.set(role, await clients.operatorToken(xn.airline.urn, role));

/** A call that succeeds, by whoever may just about make it. */
const rightCall = (route: Route): Call => {
  const call = examples[route.id]?.(world) ?? {};
  const token = {
    operator: () => operatorTokens.get(weakestRole(route)),
    partner: () => partner,
    passenger: () => sessions.owner,
    platform: () => undefined,
  }[route.surface]();
  return {
    ...("public" in route || token === undefined ? {} : { token }),
    ...(route.surface === "passenger" ? { host: xn.airline.passengerHost } : {}),
    ...call,
  };
};

t.test("who calls", async (t) => {
  for (const surface of ["operator", "partner", "passenger"] as const) {
    t.ok(principals[surface].length >= 12, `${surface}: ${principals[surface].length} principals`);
    for (const { name, token, airline, host, headers, expects } of principals[surface]) {
      const column = closed
        .filter((route) => route.surface === surface)
        .map((route): Cell => {
          const { token: _own, ...call } = rightCall(route);
          const asked = {
            ...harmless(route, { ...call, ...(headers && { headers }) }),
            ...(token === undefined ? {} : { token }),
            ...(host === undefined ? {} : { host }),
          };
          const never = name === "a session of another case" ? world.ownersUrns : [];
          return { route, column: name, call: asked, expects: expects(route, call), airline, never };
        });
      t.strictSame(await cells.judge(column), [], `${surface}: ${name}`);
    }
  }
});

t.test("what is sent", async (t) => {
  for (const route of rows) {
    const call = rightCall(route);
    const bad = badInputs(route, harmless(route, call), world).map(
      (input): Cell => ({ route, airline: "XN", ...input }),
    );
    t.strictSame(await cells.judge(bad), [], route.id);
  }
});

t.test("the same event id on two airlines is two cases", async (t) => {
  t.match(world.xn.caseUrn, /^urn:case:XN-/);
  t.match(world.qz.caseUrn, /^urn:case:QZ-/);
});

t.test("an operator of one airport sees and changes nothing of another", async (t) => {
  const admin = operatorTokens.get("ADMIN") ?? "";
  const airport = { [`${clients.instance.claimNamespace}/airport`]: "OPO" };
  const token = await resignerOf(world)("operator", admin, airport);
  const read = async <Item>(id: string, query = {}) =>
    (await clients.call<Page<Item>>(id, { token, query: { limit: 200, ...query } })).body.items;
  const cases = (await read<{ urn: string }>("listCases")).map(({ urn }) => urn);
  t.strictSame(cases.sort(), [...world.spare.allocatable].sort());
  const items = await read<{ caseUrn: string }>("listManualReview");
  t.strictSame([...new Set(items.map(({ caseUrn }) => caseUrn))].sort(), cases);
  t.strictSame(await read("listPendingApprovals"), []);
  t.strictSame(await read("listContracts"), []);
  t.equal((await clients.call("getCase", { token, params: { caseUrn: cases[0] ?? "" } })).status, 200);
  const policy = { name: "x", tiers: ["CREW"] };
  for (const [id, call] of [
    ["listCases", { query: { airport: "JFK" } }],
    ["listManualReview", { query: { airport: "JFK" } }],
    ["createPolicy", { body: { ...policy, context: { airport: "JFK" } } }],
    ["createPolicy", { body: { ...policy, context: {} } }],
    ["putContract", { body: contractBody("JFK") }],
    ["allocate", { body: { caseUrn: xn.caseUrn } }],
  ] as const) {
    const problem = await clients.refused(id, { token, ...call });
    t.match(problem, { status: 403, type: /auth\/foreign-airport$/ }, id);
  }
});

t.test("every route succeeds for whoever may just about call it", async (t) => {
  for (const route of rows) {
    const cell: Cell = {
      route,
      column: "success",
      call: rightCall(route),
      expects: "success",
      airline: "XN",
    };
    t.strictSame(await cells.judge([cell]), [], route.id);
  }
});

t.test("a key names one request", async (t) => {
  for (const route of rows.filter(takesIdempotencyKey)) {
    const call = harmless(route, rightCall(route));
    const headers = { ...call.headers, "Idempotency-Key": `matrix ${route.id}` };
    const first = await clients.call(route.id, { ...call, headers });
    const again = await clients.call(route.id, { ...call, headers });
    t.strictSame([again.status, again.body], [first.status, first.body], route.id);
    t.equal(first.headers["idempotency-replayed"], undefined);
    t.equal(again.headers["idempotency-replayed"], "true");
    const other = { ...call, headers: { ...headers, "If-Match": '"888888"' } };
    const cell: Cell = {
      route,
      column: "a key of another payload",
      call: other,
      expects: "idempotency/payload-differs",
      airline: "XN",
    };
    t.strictSame(await cells.judge([cell]), [], route.id);
  }
});

t.test("over the rate, at a gateway of the least rates", async (t) => {
  const least = {
    RATE_OPERATOR: "1/1x1",
    RATE_PASSENGER: "1/1x1",
    RATE_SESSION: "1/1x1",
    RATE_ADDRESS: "1x1",
  };
  const tiers = { RATE_PARTNER_TIER1: "1/1x1", RATE_PARTNER_TIER2: "1/1x1", RATE_PARTNER_TIER3: "1/1x1" };
  const slow = await clients.startService({ ROLE: "gateway", ...least, ...tiers });
  const [, baseUrl = ""] = await slow.line(/^ready (\S+)/);
  for (const route of rows) {
    const call = { ...harmless(route, rightCall(route)), baseUrl };
    const isCounted = route.rate !== "exempt";
    // The other gateway has let through more than this one may: it is over the rate at once, or after its only token.
    if (isCounted) await clients.call(route.id, call);
    const expects = isCounted ? "rate/exceeded" : "success";
    const cell: Cell = { route, column: "over the rate", call, expects, airline: "XN" };
    t.strictSame(await cells.judge([cell]), [], route.id);
    if (!isCounted) continue;
    const { headers } = await clients.call(route.id, call);
    t.match(headers, { "retry-after": /^[1-9]\d*$/, "x-ratelimit-remaining": "0" });
  }
});

t.test("lists are stable while items are added", async (t) => {
  const lists = rows.filter(isList);
  t.strictSame(Object.keys(adds).sort(), lists.map(({ id }) => id).sort(), "each list can be added to");
  for (const [add, routes] of Map.groupBy(lists, ({ id }) => adds[id])) {
    const walked = routes.map((route) => ({ route, call: rightCall(route) }));
    if (add !== undefined)
      t.strictSame(await walk(world, walked, add), [], routes.map(({ id }) => id).join(", "));
  }
});

t.test("the matrix sees what it looks for", async (t) => {
  const route = rows.find(({ id }) => id === "getCase") as Route;
  const cell: Cell = { route, column: "control", call: rightCall(route), expects: "success", airline: "XN" };
  t.strictSame(await cells.judge([cell]), []);
  const sees = async (change: Partial<Cell>, what: RegExp): Promise<void> => {
    const wrong = await cells.judge([{ ...cell, ...change }]);
    t.ok(
      wrong.some((line) => what.test(line)),
      String(what),
    );
  };
  await sees({ airline: "QZ" }, /tells of urn:sub-case:XN/);
  await sees({ never: world.ownersUrns }, /tells of urn:passenger:XN/);
  await sees({ expects: "not-found/resource" }, /success in place of not-found/);
});

t.test("every public event is as partners are told", async (t) => {
  const told = world.clients.events.all.filter(({ stream }) => stream === "EVENTS");
  t.ok(new Set(told.map(({ type }) => type)).size >= 7);
  t.strictSame(
    told.flatMap(({ stream: _, sequence: __, ...event }) => eventFault(event) ?? []),
    [],
  );
});

t.test("the table of exceptions holds nothing that is not met", async (t) => {
  t.strictSame(cells.unused(), []);
  t.comment(`${cells.count} cells`);
});
