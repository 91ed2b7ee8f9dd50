/** Owns who is calling: the airline that a host names, the token that a request carries, and whether its role or scope opens the route. */
import type { Principal } from "../../schemas/command.ts";
import { systemPrincipal } from "../../schemas/command.ts";
import { Problem } from "../../schemas/problems.ts";
import { urn } from "../../schemas/urn.ts";
import type { PresentedToken, Revocations } from "../../streams/revocations.ts";
import type { Tenant, TenantDirectory } from "../../streams/tenant-directory.ts";
import { sessionOfCookie } from "../auth/passenger-token.ts";
import { roleAllows, scopeAllows } from "../auth/roles.ts";
import type { VerifyToken } from "../auth/verify-jwt.ts";
import type { CompiledRoute } from "../compile-route.ts";
import type { Exchange } from "../http/exchange.ts";
import { requireGrantedAccess } from "./granted-access.ts";

/** One verifier per surface, with that surface's keys alone: a token is only ever shown to the one of the surface that was called. */
export type Verifiers = Readonly<Record<"operator" | "passenger" | "partner", VerifyToken>>;

/** Whom a token is held against. */
export interface Authorities {
  verifiers: Verifiers;
  tenants: TenantDirectory;
  revocations: Revocations;
}

/** Who calls, and by what token; undefined on a public route. */
export interface Caller {
  principal: Principal;
  presented: PresentedToken | undefined;
}

/** RFC 6750 §2.1. Its length is bounded by the server's own limit on all headers together (4 KiB, else 431). */
const bearer = /^Bearer +([A-Za-z0-9._~+/=-]+) *$/i;

/**
 * The airline whose passengers use this host; undefined on the other surfaces, which have no host of their own.
 * @throws Problem not-found/host
 */
export const airlineOfHost = (
  route: CompiledRoute,
  exchange: Exchange,
  tenants: TenantDirectory,
): Tenant | undefined => {
  if (route.surface !== "passenger") return undefined;
  const host = exchange.headers.host.toLowerCase().replace(/:\d+$/, "");
  const airline = tenants.byPassengerHost(host);
  if (airline === undefined)
    throw new Problem("not-found/host", "Use the address in the message that your airline sent you.");
  return airline;
};

/**
 * Who calls. On a public route nobody in particular: an anonymous passenger, or the service itself.
 * @throws Problem auth/missing-token, auth/invalid-token, auth/expired-token, auth/foreign-tenant, auth/foreign-origin
 */
export const authenticate = async (
  route: CompiledRoute,
  exchange: Exchange,
  airline: Tenant | undefined,
  { verifiers, tenants, revocations }: Authorities,
): Promise<Caller> => {
  if (route.public) return { principal: anonymous(airline), presented: undefined };
  if (route.surface === "platform") throw new Error(`route ${route.id} is neither public nor on a surface`);
  const token = route.surface === "passenger" ? passengerToken(route, exchange) : bearerToken(exchange);
  const { principal, presented } = await verifiers[route.surface](token);
  requireGrantedAccess(presented, revocations);
  if (airline !== undefined && airline.code !== principal.tenant)
    throw new Problem("auth/foreign-tenant", "This session belongs to another airline's passengers.");
  if (tenants.byCode(principal.tenant) === undefined)
    throw new Problem("auth/foreign-tenant", "The token's airline is not served here.");
  return { principal, presented };
};

/** @throws Problem auth/insufficient-role, auth/insufficient-scope */
export const authorize = (route: CompiledRoute, principal: Principal): void => {
  if (route.roles !== undefined && !roleAllows(principal.role, route.roles))
    throw new Problem("auth/insufficient-role", `This takes ${route.roles.join(" or ")}.`);
  if (route.scopes !== undefined && !scopeAllows(principal.scopes, route.scopes))
    throw new Problem("auth/insufficient-scope", `This takes the scope ${route.scopes.join(" or ")}.`, {
      scope: route.scopes.join(" "),
    });
};

const anonymous = (airline: Tenant | undefined): Principal =>
  airline === undefined
    ? systemPrincipal("", "gateway")
    : { surface: "passenger", tenant: airline.code, urn: urn("passenger-session", "anonymous") };

const bearerToken = (exchange: Exchange): string => {
  const { authorization } = exchange.headers;
  if (authorization === "")
    throw new Problem("auth/missing-token", "Send `Authorization: Bearer <access token>`.");
  const token = bearer.exec(authorization)?.[1];
  if (token === undefined)
    throw new Problem("auth/invalid-token", "The Authorization header holds no bearer token.");
  return token;
};

/** The bearer token, else the session cookie, with which a browser may write from our own pages only. */
const passengerToken = (route: CompiledRoute, exchange: Exchange): string => {
  const { authorization, cookie, host, origin } = exchange.headers;
  const session = authorization === "" ? sessionOfCookie(cookie) : undefined;
  if (session === undefined) return bearerToken(exchange);
  // A page's own GET names no origin; from another site the cookie (SameSite=Lax) comes with a navigation alone, whose answer it cannot read.
  const isOwnRead = exchange.method === "GET" && origin === "";
  if (route.rate === "write" && !isOwnRead && hostOfOrigin(origin) !== host.toLowerCase())
    throw new Problem("auth/foreign-origin", "Open the page at your airline's own address and try again.");
  return session;
};

const hostOfOrigin = (origin: string): string | undefined =>
  URL.canParse(origin) ? new URL(origin).host : undefined;
