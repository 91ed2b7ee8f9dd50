// Who calls: the columns of the matrix, each with a token of its own and what it must be told on a route, from the route's row
// alone. What a row cannot tell stands in exceptions.ts.
import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { decodeJwt, decodeProtectedHeader, SignJWT } from "jose";
import { parseSigningKeys } from "../../../config/signing-keys.ts";
import type { Route } from "../../../gateway/route.ts";
import type { ProblemCode } from "../../../schemas/problems.ts";
import { type Role, roles, type Scope, scopes } from "../../../schemas/vocabulary.ts";
import { keyFiles } from "../../../scripts/supervisor/keys.ts";
import type { Call } from "../../harness/clients.ts";
import type { World } from "./world.ts";

/** A problem's code; `passes`: whatever the call meets behind the checks of who calls. */
export type Expected = ProblemCode | "passes";

export interface Principal {
  name: string;
  /** Undefined: the request has none. */
  token: string | undefined;
  /** Whose airline's data may be in the answer; undefined: nobody's. */
  airline: "XN" | "QZ" | undefined;
  /** Of passengers: another host than that of the airline XN. */
  host?: string;
  headers?: Record<string, string>;
  expects(route: Route, call: Call): Expected;
}

type Surface = "operator" | "partner" | "passenger";
const algorithms = { operator: "RS256", partner: "RS256", passenger: "EdDSA" } as const;

/** Contract, "Operator": who inherits what, once more and by hand. */
const opens: Readonly<Record<Role, readonly Role[]>> = {
  ADMIN: ["ADMIN", "OPS_SUPERVISOR", "AIRPORT_OPERATOR", "FINANCE_AUDIT"],
  OPS_SUPERVISOR: ["OPS_SUPERVISOR", "AIRPORT_OPERATOR"],
  AIRPORT_OPERATOR: ["AIRPORT_OPERATOR"],
  FINANCE_AUDIT: ["FINANCE_AUDIT"],
};
const allowedRoles = (route: Route): Role[] => ("role" in route ? [route.role].flat() : []);
export const neededScopes = (route: Route): Scope[] => ("scope" in route ? [route.scope].flat() : []);

const mayAs = (role: Role, route: Route): boolean =>
  allowedRoles(route).some((allowed) => opens[role].includes(allowed));
/** The weakest that may, so that a success proves the least. */
export const weakestRole = (route: Route): Role =>
  [...roles]
    .filter((role) => mayAs(role, route))
    .sort((a, b) => opens[a].length - opens[b].length)[0] as Role;

const always =
  (code: Expected): Principal["expects"] =>
  () =>
    code;
/** Another airline is stopped where it names something of XN's, and else finds its own. */
const otherAirline = (_route: Route, { params, query, body }: Call): Expected =>
  /urn:(?!airline:QZ)[a-z-]+:XN\b/.test(JSON.stringify([params, query, body]))
    ? "auth/foreign-tenant"
    : "passes";

/** Whatever stands at an airport is closed to who is scoped to another, also where a row forgets to say so. */
const otherAirport = ({ problems }: Route, { params, query, body }: Call): Expected =>
  /urn:(?!airline:)[a-z-]+:XN-/.test(JSON.stringify([params, query, body])) ||
  (problems as readonly ProblemCode[]).includes("auth/foreign-airport")
    ? "auth/foreign-airport"
    : "passes";

/** A token that says something else, signed by the same key. */
export const resignerOf =
  ({ clients }: World) =>
  async (surface: Surface, token: string, changes: Record<string, unknown>): Promise<string> => {
    const file = join(clients.instance.keysDir, keyFiles[surface]);
    const { signing } = parseSigningKeys(readFileSync(file, "utf8"), algorithms[surface]);
    const { alg = "", ...header } = decodeProtectedHeader(token);
    return new SignJWT({ ...decodeJwt(token), ...changes })
      .setProtectedHeader({ ...header, alg })
      .sign(signing.key);
  };

/** Of each surface a good token, and everything that can be wrong with one. */
export const openPrincipals = async (world: World): Promise<Record<Surface, Principal[]>> => {
  const { clients, sessions, xn, qz } = world;
  const resign = resignerOf(world);
  const namespace = clients.instance.claimNamespace;
  const good: Record<Surface, string> = {
    operator: await clients.operatorToken(xn.airline.urn, "ADMIN"),
    partner: await clients.partnerToken(xn.airline),
    passenger: sessions.owner,
  };
  const ago = { exp: Math.floor(Date.now() / 1000) - 120, iat: Math.floor(Date.now() / 1000) - 300 };
  const airlineClaim = {
    operator: `${namespace}/airline`,
    partner: `${namespace}/tenant_urn`,
    passenger: "tenant",
  };

  const ofEach = async (surface: Surface): Promise<Principal[]> => {
    const token = good[surface];
    const others = (Object.keys(good) as Surface[]).filter((other) => other !== surface);
    const revoked = await resign(surface, token, { exp: (decodeJwt(token).exp ?? 0) - 1 });
    await revoke(world, good.operator, revoked);
    const unserved = {
      [airlineClaim[surface]]: "urn:airline:ZZ",
      ...(surface === "passenger" ? { case_urn: "urn:case:ZZ-01JD0000000000000000000000" } : {}),
    };
    const column = (name: string, bad: string | undefined, code: Expected): Principal => ({
      name,
      token: bad,
      airline: undefined,
      expects: always(code),
    });
    // A passenger's expired token may have no `iat`, as the contract lists its claims.
    const expired = surface === "passenger" ? { exp: ago.exp } : ago;
    return [
      column("no token", undefined, "auth/missing-token"),
      column("a broken token", `${token.slice(0, -8)}AAAAAAAA`, "auth/invalid-token"),
      column("no JWT", "x.y.z", "auth/invalid-token"),
      ...others.map((other) => column(`a token of the ${other} surface`, good[other], "auth/invalid-token")),
      column("an expired token", await resign(surface, token, expired), "auth/expired-token"),
      column("a revoked token", revoked, "auth/invalid-token"),
      column("an airline that is not served", await resign(surface, token, unserved), "auth/foreign-tenant"),
    ];
  };

  const [supervisor, operator, finance, foreignAdmin] = (await Promise.all([
    clients.operatorToken(xn.airline.urn, "OPS_SUPERVISOR"),
    clients.operatorToken(xn.airline.urn, "AIRPORT_OPERATOR"),
    clients.operatorToken(xn.airline.urn, "FINANCE_AUDIT"),
    clients.operatorToken(qz.airline.urn, "ADMIN"),
  ])) as [string, string, string, string];
  const ofRole = {
    ADMIN: good.operator,
    OPS_SUPERVISOR: supervisor,
    AIRPORT_OPERATOR: operator,
    FINANCE_AUDIT: finance,
  };
  const roleColumns = roles.map(
    (role): Principal => ({
      name: role,
      token: ofRole[role],
      airline: "XN",
      expects: (route) => (mayAs(role, route) ? "passes" : "auth/insufficient-role"),
    }),
  );
  const scopeColumns = await Promise.all(
    scopes.map(
      async (scope): Promise<Principal> => ({
        name: `the scope ${scope} alone`,
        token: await resign("partner", good.partner, { scope }),
        airline: "XN",
        expects: (route) => (neededScopes(route).includes(scope) ? "passes" : "auth/insufficient-scope"),
      }),
    ),
  );
  const cookie = { Cookie: `__Host-session=${good.passenger}` };
  return {
    operator: [
      ...(await ofEach("operator")),
      ...roleColumns,
      {
        name: "ADMIN of another airport",
        token: await resign("operator", good.operator, { [`${namespace}/airport`]: "MIA" }),
        airline: "XN",
        expects: otherAirport,
      },
      { name: "ADMIN of another airline", token: foreignAdmin, airline: "QZ", expects: otherAirline },
    ],
    partner: [
      ...(await ofEach("partner")),
      ...scopeColumns,
      {
        name: "no scope at all",
        token: await resign("partner", good.partner, { scope: "" }),
        airline: "XN",
        expects: always("auth/insufficient-scope"),
      },
      {
        name: "a partner of another airline",
        token: await resign("partner", await clients.partnerToken(qz.airline), { scope: scopes.join(" ") }),
        airline: "QZ",
        expects: otherAirline,
      },
    ],
    passenger: [
      ...(await ofEach("passenger")),
      { name: "a session", token: good.passenger, airline: "XN", expects: always("passes") },
      {
        name: "a session in its cookie, from its own page",
        token: undefined,
        airline: "XN",
        headers: { ...cookie, Origin: `https://${xn.airline.passengerHost}` },
        expects: always("passes"),
      },
      {
        name: "a session in its cookie, from another site",
        token: undefined,
        airline: "XN",
        headers: { ...cookie, Origin: "https://elsewhere.example" },
        expects: ({ rate }) => (rate === "write" ? "auth/foreign-origin" : "passes"),
      },
      {
        name: "a session of another case",
        token: sessions.otherCase,
        airline: "XN",
        expects: always("passes"),
      },
      {
        name: "a session of a closed case",
        token: sessions.closedCase,
        airline: undefined,
        expects: always("auth/case-closed"),
      },
      {
        name: "a session of another airline",
        token: sessions.foreign,
        airline: undefined,
        expects: always("auth/foreign-tenant"),
      },
      {
        name: "a session at another airline's host",
        token: good.passenger,
        airline: undefined,
        host: qz.airline.passengerHost,
        expects: always("auth/foreign-tenant"),
      },
      {
        name: "no such host",
        token: good.passenger,
        airline: undefined,
        host: "nobody.example",
        expects: always("not-found/host"),
      },
    ],
  };
};

/** By the digest of the whole token, and until the gateway has heard of it. */
const revoke = async ({ clients, xn }: World, admin: string, token: string): Promise<void> => {
  const tokenId = createHash("sha256").update(token).digest("base64url");
  await clients.call("revokeAccess", { token: admin, body: { tokenId, reason: "Lost" } });
  const surfaces = [
    ["listCases", {}],
    ["listPartnerCases", {}],
    ["getMe", { host: xn.airline.passengerHost }],
  ] as const;
  for (const [id, call] of surfaces)
    await clients.eventually(
      "the token is shut out",
      () => clients.call(id, { token, ...call }),
      ({ status }) => status === 401,
    );
};
