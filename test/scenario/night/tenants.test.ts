// Two airlines, three surfaces, several airports on one service: nobody reaches across, whatever they send; told by trying
// every route of the tables with the wrong airline's URNs, the wrong surface's tokens, and the wrong airport's operator.
import t from "tap";
import type { TSchema } from "typebox";
import type { Route } from "../../../gateway/route.ts";
import { allRoutes } from "../../../gateway/routes/all.ts";
import type { CaseView } from "../../../schemas/case.ts";
import type { Page } from "../../../schemas/command.ts";
import type { PolicyView } from "../../../schemas/policy.ts";
import { type Call, startClients } from "../../harness/clients.ts";
import { smallFlight, travellersOf } from "../../harness/instance.ts";

// Nobody needs a hotel to be kept apart: without vendors every group is held for a person.
const night = await startClients(t, { sandbox: false });
const [xn, qz] = night.airlines;
const { events } = night;
const [xnAdmin, qzAdmin] = await Promise.all([xn, qz].map(({ urn }) => night.operatorToken(urn, "ADMIN")));
const [xnPartner, qzPartner] = await Promise.all([xn, qz].map((airline) => night.partnerToken(airline)));

const push = smallFlight("XN", "tonight", 2);
const { caseUrn } = (await night.pushed(xn, push)).body;
const lhr = { ...smallFlight("XN", "london", 2), flight: { ...push.flight, originAirport: "LHR" } };
const londonUrn = (await night.pushed(xn, lhr)).body.caseUrn;
const qzPush = { ...smallFlight("QZ", "tonight", 2), externalEventId: push.externalEventId };
const qzCase = (await night.pushed(qz, qzPush)).body.caseUrn;
for (const urn of [caseUrn, qzCase, londonUrn]) await events.untilCount("review.opened", 1, { caseUrn: urn });

const seen = (await night.call<CaseView>("getCase", { token: xnAdmin, params: { caseUrn } })).body;
const london = (await night.call<CaseView>("getCase", { token: xnAdmin, params: { caseUrn: londonUrn } }))
  .body;
const [policy] = (await night.call<Page<PolicyView>>("listActivePolicies", { token: xnAdmin })).body.items;
/** One URN of the airline XN for each kind that a request can name. */
const theirs: Record<string, string> = {
  case: caseUrn,
  "sub-case": seen.passengerGroups[0]?.subCaseUrn ?? "",
  passenger: seen.passengerGroups[0]?.passengers[0]?.urn ?? "",
  reservation: "urn:reservation:XN-01JD0000000000000000000000",
  booking: "urn:booking:XN-01JD0000000000000000000000",
  wave: seen.wave?.urn ?? "",
  policy: policy?.urn ?? "",
  demand: `urn:demand:${events.of("demand.requested", caseUrn)[0]?.data.demandId}`,
  review: london.manualReviewItems[0]?.urn ?? "",
  airline: xn.urn,
};
const travellers = [xn, qz].map((airline, i) => ({
  airline,
  traveller: travellersOf((i === 0 ? push : qzPush).passengers)[0],
}));
const [xnPassenger, qzPassenger] = await Promise.all(
  travellers.map(({ airline, traveller }) =>
    night.passengerToken(airline, traveller ?? { pnr: "", lastName: "" }),
  ),
);

const urnKindsOf = (schema: TSchema | undefined): string[] =>
  (schema as { urn?: string[] } | undefined)?.urn ?? [];
const tokenFor = (surface: Route["surface"], airline: "XN" | "QZ"): string | undefined =>
  ({
    operator: airline === "XN" ? xnAdmin : qzAdmin,
    partner: airline === "XN" ? xnPartner : qzPartner,
    passenger: airline === "XN" ? xnPassenger : qzPassenger,
    platform: undefined,
  })[surface];
const bodies: Record<string, unknown> = {
  approveDemand: { reason: "x" },
  rejectDemand: { reason: "x" },
  requestDemand: { type: "INCREMENTAL", roomsRequested: 1 },
  closeCase: { reason: "x" },
  reopenCase: { reason: "x" },
  resolveReview: { resolution: "REBOOKED", reason: "x" },
  resolveReviewAtDesk: { resolution: "REBOOKED", reason: "x" },
};
const queries: Record<string, Call["query"]> = { resolvePolicy: { airport: "JFK", tier: "ECONOMY" } };
const closed = allRoutes.filter((route) => !("public" in route));
const paramsOf = (route: Route): Record<string, string> =>
  Object.fromEntries(
    Object.entries(route.params?.properties ?? {}).map(([name, schema]) => {
      const [kind = ""] = urnKindsOf(schema);
      return [name, theirs[kind] ?? theirs.case ?? ""];
    }),
  );

t.test("an airline's URNs are closed to every other airline, wherever they stand", async (t) => {
  t.ok(
    Object.values(theirs).every((urn) => /^urn:[a-z-]+:XN/.test(urn)),
    JSON.stringify(theirs),
  );
  const inPath = closed.filter((route) => route.params !== undefined);
  t.ok(inPath.length > 10);
  for (const route of inPath) {
    const token = tokenFor(route.surface, "QZ") ?? "";
    const call = { token, params: paramsOf(route), body: bodies[route.id] ?? (route.body ? {} : undefined) };
    const problem = await night.refused(route.id, call);
    t.match(problem, { status: 403, type: /auth\/foreign-tenant$/ }, route.id);
  }
  for (const entityUrn of Object.values(theirs)) {
    const problem = await night.refused("getEntityAudit", { token: qzAdmin, params: { entityUrn } });
    t.equal(problem.status, 403, entityUrn);
    const long = entityUrn.replace(/^urn:/, "urn:stopover:");
    t.equal(
      (await night.refused("getEntityAudit", { token: qzAdmin, params: { entityUrn: long } })).status,
      403,
    );
  }
  const theirPassenger = { ...qzPush, passengers: [{ passengerUrn: theirs.passenger }] };
  const inBody: [string, Call][] = [
    ["allocate", { token: qzAdmin, body: { caseUrn } }],
    ["pushDisruption", { token: qzPartner, body: push }],
    ["pushDisruption", { token: qzPartner, body: theirPassenger }],
    ["createPolicy", { token: qzAdmin, body: { name: "x", context: { airline: xn.urn }, tiers: ["CREW"] } }],
  ];
  for (const [id, call] of inBody) {
    const problem = await night.refused(id, call);
    t.match(problem, { status: 403, type: /auth\/foreign-tenant$/ }, id);
  }
});

t.test("the same event id on two airlines is two cases; lists keep to their own", async (t) => {
  t.not(caseUrn, qzCase);
  const lists = closed.filter(
    (route) => route.method === "get" && route.params === undefined && route.surface !== "passenger",
  );
  t.ok(lists.length >= 5);
  for (const route of lists) {
    for (const [own, other] of [
      ["XN", "QZ"],
      ["QZ", "XN"],
    ] as const) {
      const call = { token: tokenFor(route.surface, own) ?? "", query: queries[route.id] ?? { limit: 200 } };
      const text = JSON.stringify((await night.call(route.id, call)).body);
      t.notOk(new RegExp(`urn:[a-z-]+:${other}\\b`).test(text), `${route.id} of ${own}`);
    }
  }
});

t.test("a passenger's session is of one airline and one case", async (t) => {
  for (const [token, host] of [
    [xnPassenger, qz.passengerHost],
    [qzPassenger, xn.passengerHost],
  ]) {
    for (const id of ["getMe", "getMyOffer", "getMyVoucher", "acceptMyOffer", "declineMyOffer"]) {
      const call: Call = {
        token: token ?? "",
        host: host ?? "",
        ...(id.endsWith("Offer") && id !== "getMyOffer" ? { body: {} } : {}),
      };
      t.match(await night.refused(id, call), { status: 403, type: /auth\/foreign-tenant$/ }, id);
    }
  }
});

t.test("a token opens its own surface alone, and nothing opens without one", async (t) => {
  const surfaces = ["operator", "partner", "passenger"] as const;
  for (const route of closed) {
    const base: Call = {
      host: route.surface === "passenger" ? xn.passengerHost : "",
      params: paramsOf(route),
      query: queries[route.id] ?? {},
      ...(route.body ? { body: bodies[route.id] ?? {} } : {}),
    };
    if (base.host === "") delete base.host;
    const wrong = surfaces
      .filter((surface) => surface !== route.surface)
      .map((surface) => tokenFor(surface, "XN") ?? "");
    for (const token of [undefined, "", "x.y.z", ...wrong]) {
      const call = token === undefined ? base : { ...base, token };
      const told = await night.call(route.id, call);
      t.equal(told.status, 401, route.id);
      t.match(told.headers["www-authenticate"], /^Bearer .*error="invalid_token"/, route.id);
    }
  }
});

t.test("an operator of one airport acts at no other", async (t) => {
  const scoped = await night.scopedToken(xn.urn, "OPS_SUPERVISOR", "LHR");
  const closedToLondon = [
    "getCase",
    "getManifest",
    "getWave",
    "listReservations",
    "getDemandSummary",
    "getCaseAudit",
    "allocateCase",
    "requestDemand",
    "approveDemand",
    "rejectDemand",
  ];
  for (const id of closedToLondon) {
    const route = allRoutes.find((row) => row.id === id) as Route;
    const call = {
      token: scoped,
      params: paramsOf(route),
      ...(route.body ? { body: bodies[id] ?? {} } : {}),
    };
    t.match(await night.refused(id, call), { status: 403, type: /auth\/foreign-airport$/ }, id);
  }
  const elsewhere: [string, Call][] = [
    ["listCases", { query: { airport: "JFK" } }],
    ["listManualReview", { query: { airport: "JFK" } }],
    ["allocate", { body: { caseUrn } }],
    ["createPolicy", { body: { name: "x", context: { airport: "JFK" }, tiers: ["CREW"] } }],
    ["createPolicy", { body: { name: "x", context: {}, tiers: ["CREW"] } }],
  ];
  for (const [id, call] of elsewhere)
    t.match(
      await night.refused(id, { ...call, token: scoped }),
      { status: 403, type: /foreign-airport$/ },
      id,
    );
  const own = { token: scoped };
  const cases = await night.call<Page<{ urn: string }>>("listCases", own);
  t.same(
    cases.body.items.map(({ urn }) => urn),
    [londonUrn],
  );
  const items = await night.call<Page<{ caseUrn: string }>>("listManualReview", own);
  t.same([...new Set(items.body.items.map((item) => item.caseUrn))], [londonUrn]);
  t.equal((await night.call("getCase", { ...own, params: { caseUrn: londonUrn } })).status, 200);
  t.same((await night.call<Page<unknown>>("listPendingApprovals", own)).body.items, []);
});
