/**
 * Owns the comparison of the route tables with the contract's endpoints, which stand here as data: what is served has the
 * contract's method, path and least role or scope; what is not served yet stands in one list, which has to shrink.
 */
import t, { type Test } from "tap";
import { roleAllows } from "../../../gateway/auth/roles.ts";
import { pathsOf, type Route } from "../../../gateway/route.ts";
import { allRoutes } from "../../../gateway/routes/all.ts";
import { type Role, roles } from "../../../schemas/vocabulary.ts";

/** Contract, "Operator API": method, path, least roles (any one of them). */
const operator = `
  POST /v1/cases OPS_SUPERVISOR
  GET /v1/cases AIRPORT_OPERATOR
  GET /v1/cases/dashboard AIRPORT_OPERATOR
  GET /v1/cases/{case_urn} AIRPORT_OPERATOR
  GET /v1/cases/{case_urn}/manifest AIRPORT_OPERATOR
  POST /v1/cases/{case_urn}/passenger-groups AIRPORT_OPERATOR
  POST /v1/cases/{case_urn}/allocate OPS_SUPERVISOR
  POST /v1/cases/{case_urn}/book-rooms OPS_SUPERVISOR
  POST /v1/subcases/{sub_case_urn}/lock AIRPORT_OPERATOR
  POST /v1/subcases/{sub_case_urn}/unlock AIRPORT_OPERATOR
  POST /v1/subcases/{sub_case_urn}/compensate AIRPORT_OPERATOR
  POST /v1/hotels/search AIRPORT_OPERATOR
  GET /v1/hotels/list AIRPORT_OPERATOR
  GET /v1/hotels/cases/{case_urn} AIRPORT_OPERATOR
  GET /v1/booking/cases/{case_urn}/reservations AIRPORT_OPERATOR
  GET /v1/booking/reservations/{reservation_urn} AIRPORT_OPERATOR
  GET /v1/booking/reservations/{reservation_urn}/voucher/html AIRPORT_OPERATOR
  POST /v1/booking/manual-reservations OPS_SUPERVISOR
  GET /v1/booking/manual-review OPS_SUPERVISOR
  POST /v1/booking/manual-review/{review_urn}/assign OPS_SUPERVISOR
  POST /v1/booking/manual-review/{review_urn}/resolve OPS_SUPERVISOR
  POST /v1/booking/manual-review/{review_urn}/escalate OPS_SUPERVISOR
  POST /v1/policies OPS_SUPERVISOR
  POST /v1/policies/generate-ai OPS_SUPERVISOR
  GET /v1/policies/active AIRPORT_OPERATOR
  GET /v1/policies/resolve AIRPORT_OPERATOR
  POST /v1/policies/{policy_urn}/activate ADMIN
  POST /v1/policies/{policy_urn}/patch OPS_SUPERVISOR
  POST /v1/policies/{policy_urn}/deactivate ADMIN
  POST /v1/demand/case/{case_urn} AIRPORT_OPERATOR
  POST /v1/demand/{demand_urn}/approve OPS_SUPERVISOR
  POST /v1/demand/{demand_urn}/reject OPS_SUPERVISOR
  GET /v1/demand/pending/approvals OPS_SUPERVISOR
  POST /v1/allocation/allocate OPS_SUPERVISOR
  GET /v1/contracts OPS_SUPERVISOR
  POST /v1/contracts OPS_SUPERVISOR
  POST /v1/contracts/analyze-pdf OPS_SUPERVISOR
  GET /v1/audit/case/{case_urn} FINANCE_AUDIT OPS_SUPERVISOR
  GET /v1/audit/entity/{entity_urn} FINANCE_AUDIT OPS_SUPERVISOR
  GET /v1/notifications/case/{case_urn} AIRPORT_OPERATOR
  POST /v1/notifications/{case_urn}/send AIRPORT_OPERATOR
  POST /v1/agent/triage OPS_SUPERVISOR
  POST /v1/agent/{agent_action_urn}/approve OPS_SUPERVISOR
  POST /v1/agent/{agent_action_urn}/reject OPS_SUPERVISOR
  POST /v1/agent/{agent_action_urn}/execute OPS_SUPERVISOR
  GET /v1/airports/search AIRPORT_OPERATOR
  GET /v1/orchestration/cases/{case_urn}/progress AIRPORT_OPERATOR
  POST /v1/transport/cases/{case_urn}/transfers/request AIRPORT_OPERATOR`;

/**
 * Contract, "Operator field-manual routes", with the roles that it names; where it names none, those of the route's
 * siblings. Each is served with and without /v1.
 */
const fieldManual = `
  POST /cases OPS_SUPERVISOR
  POST /cases/{case_urn}/passengers:bulk OPS_SUPERVISOR
  GET /cases/{case_urn} AIRPORT_OPERATOR
  PATCH /cases/{case_urn}/reaccommodate AIRPORT_OPERATOR
  GET /audit FINANCE_AUDIT OPS_SUPERVISOR
  POST /cases/{case_urn}/groups/{group_id}/split AIRPORT_OPERATOR
  POST /cases/{case_urn}/groups:merge AIRPORT_OPERATOR
  POST /cases/{case_urn}/close AIRPORT_OPERATOR
  POST /cases/{case_urn}/reopen ADMIN
  POST /manual-review/{item_urn}/claim AIRPORT_OPERATOR
  POST /manual-review/{item_urn}/rebook AIRPORT_OPERATOR
  POST /manual-review/{item_urn}/relax AIRPORT_OPERATOR
  POST /manual-review/{item_urn}/split AIRPORT_OPERATOR
  POST /manual-review/{item_urn}/override OPS_SUPERVISOR
  POST /manual-review/{item_urn}/resolve AIRPORT_OPERATOR
  POST /demand/case/{case_urn} AIRPORT_OPERATOR
  POST /demand/{demand_urn}/approve OPS_SUPERVISOR
  POST /demand/{demand_urn}/reject OPS_SUPERVISOR
  GET /demand/case/{case_urn}/summary AIRPORT_OPERATOR
  POST /policies OPS_SUPERVISOR
  POST /policies/{policy_urn}/activate ADMIN
  POST /policies/synthesize OPS_SUPERVISOR
  POST /allocation/wave/{wave_urn}/override OPS_SUPERVISOR
  POST /allocation/wave/{wave_urn}/rerun OPS_SUPERVISOR
  GET /allocation/wave/{wave_urn} AIRPORT_OPERATOR
  POST /hotels/cache/invalidate OPS_SUPERVISOR
  POST /transport/segments AIRPORT_OPERATOR
  POST /transport/segments/{segment_urn}/retime AIRPORT_OPERATOR
  POST /transport/segments/{segment_urn}/vehicle AIRPORT_OPERATOR
  POST /transport/segments/{segment_urn}/cancel AIRPORT_OPERATOR`;

/** Contract, "Passenger API". */
const passenger = `
  POST /v1/auth/pnr-login
  GET /v1/me
  GET /v1/me/offer
  GET /v1/me/voucher
  GET /v1/me/wallet
  GET /v1/me/wallet/reveal
  GET /v1/me/transport
  GET /v1/me/notifications
  GET /v1/me/events
  POST /v1/me/offer/accept
  POST /v1/me/offer/decline
  POST /v1/me/check-in
  POST /v1/me/transport/request
  POST /v1/me/problem`;

/** Contract, "Partner API", with the scopes of which any one opens the route. */
const partner = `
  GET /partner/v1/cases/{case_urn} cases.read
  GET /partner/v1/cases cases.read
  GET /partner/v1/cases/{case_urn}/passengers cases.read
  GET /partner/v1/cases/{case_urn}/services cases.read
  GET /partner/v1/disruptions disruptions.events.subscribe
  GET /partner/v1/bookings/{booking_urn} bookings.read
  GET /partner/v1/vouchers/{voucher_urn} vouchers.read
  GET /partner/v1/passengers/{passenger_urn}/cases cases.read
  GET /partner/v1/passengers/{passenger_urn}/vouchers vouchers.read
  GET /partner/v1/policies policies.read
  GET /partner/v1/metrics metrics.read
  POST /partner/v1/disruptions disruptions.events.publish
  PATCH /partner/v1/cases/{case_urn}/manifest disruptions.events.publish
  POST /partner/v1/cases/{case_urn}/priority-request cases.priority.request
  POST /partner/v1/passengers/{passenger_urn}/notify passenger.notify
  GET /partner/v1/events/replay cases.events.subscribe disruptions.events.subscribe vouchers.read wallet.events.subscribe
  POST /partner/v1/webhooks/test cases.events.subscribe disruptions.events.subscribe vouchers.read wallet.events.subscribe`;

/** Contract, "Token endpoint" and "Versioning": no role or scope. */
const platform = `
  POST /oauth/token
  GET /openapi/{surface}/v1.json`;

/** Of the contract, and not served yet; field-manual ones stand once. */
const open = "";

interface Endpoint {
  method: string;
  /** Parameters without their names: the contract's and ours are written differently. */
  path: string;
  access: string[];
}

const endpointsOf = (text: string): Endpoint[] =>
  text
    .trim()
    .split("\n")
    .filter((line) => line.trim() !== "")
    .map((line) => {
      const [method = "", path = "", ...access] = line.trim().split(" ");
      return { method, path: unnamed(path), access };
    });

const unnamed = (path: string): string => path.replaceAll(/\{\w+\}/g, "{}");
const keyOf = ({ method, path }: Endpoint): string => `${method} ${path}`;

const served = new Map<string, Route>(
  allRoutes.flatMap((route) =>
    pathsOf(route).map((path) => [`${route.method.toUpperCase()} ${unnamed(path)}`, route] as const),
  ),
);
const both = (endpoint: Endpoint): Endpoint[] => [endpoint, { ...endpoint, path: `/v1${endpoint.path}` }];
const notServed = new Set(
  endpointsOf(open).flatMap((endpoint) =>
    /^\/(partner\/)?v1\//.test(endpoint.path) ? keyOf(endpoint) : both(endpoint).map(keyOf),
  ),
);

const mayCall = (allowed: readonly string[]): Role[] =>
  roles.filter((role) => roleAllows(role, allowed as Role[]));

const opens: Record<Route["surface"], (t: Test, route: Route, endpoint: Endpoint) => void> = {
  operator: (t, route, { access }) =>
    t.same(mayCall("role" in route ? [route.role].flat() : []), mayCall(access), "who may call"),
  partner: (t, route, { access }) =>
    t.same("scope" in route ? [route.scope].flat().sort() : [], access.toSorted(), "the scopes"),
  passenger: (t, route, { path }) => t.equal("public" in route, path.includes("/auth/"), "with a session"),
  platform: (t, route) => t.ok("public" in route, "for everybody"),
};

const contract: Record<Route["surface"], Endpoint[]> = {
  operator: [...endpointsOf(operator), ...endpointsOf(fieldManual).flatMap(both)],
  passenger: endpointsOf(passenger),
  partner: endpointsOf(partner),
  platform: endpointsOf(platform),
};

for (const [surface, endpoints] of Object.entries(contract) as [Route["surface"], Endpoint[]][]) {
  t.test(`${surface}: ${endpoints.length} endpoints of the contract`, async (t) => {
    for (const endpoint of endpoints) {
      const key = keyOf(endpoint);
      t.test(key, async (t) => {
        const route = served.get(key);
        if (route === undefined) {
          t.ok(notServed.has(key), "not served: it has to stand in the list of open ones");
          return;
        }
        t.equal(route.surface, surface, "on its surface");
        opens[surface](t, route, endpoint);
      });
    }
  });
}

t.test("the list of open endpoints names only what is the contract's, and is not served", async (t) => {
  const known = new Set(Object.values(contract).flat().map(keyOf));
  for (const key of notServed) {
    t.ok(known.has(key), `${key} is one of the contract's`);
    t.notOk(served.has(key), `${key} is not served`);
  }
});
