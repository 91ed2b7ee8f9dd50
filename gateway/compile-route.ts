/** Owns turning a row of a route table into what a request needs, once at start: validators, tenant checks, headers. */
import type { Role, Scope } from "../schemas/vocabulary.ts";
import {
  compileBody,
  compileParams,
  compileQuery,
  type MatchBody,
  type MatchParams,
  type MatchQuery,
} from "./checks/match-schema.ts";
import { type CheckUrns, compileUrnCheck } from "./checks/own-urns.ts";
import { formBytesMax } from "./checks/read-form.ts";
import { deprecationHeaders } from "./deprecation.ts";
import { BodyRoom } from "./http/body-room.ts";
import {
  bodyBytesDefault,
  type HandlerName,
  isTagged,
  type MediaType,
  mediaTypes,
  type Route,
  type Surface,
  takesIdempotencyKey,
} from "./route.ts";

export type Target =
  | { kind: "command"; name: string; entity: string | undefined }
  | { kind: "query"; name: string }
  | { kind: "handler"; name: HandlerName };

export interface CompiledRoute {
  id: string;
  surface: Surface;
  public: boolean;
  /** Undefined: not a matter of roles. Any one of them opens the route. */
  roles: readonly Role[] | undefined;
  scopes: readonly Scope[] | undefined;
  rate: Route["rate"];
  idempotent: boolean;
  target: Target;
  success: number;
  successUnlessCreated: number;
  produces: MediaType;
  tagged: boolean;
  /** Kept by an edge, under the names of whose read it is. */
  named: boolean;
  /** Names of the path's parameters, in their order. */
  paramNames: readonly string[];
  /** 0: the route takes no body. */
  bodyBytesMax: number;
  /** Its body is nobody's to read but the handler's, and signed in one of these headers. Undefined: it is read here. */
  rawSignedIn: readonly string[] | undefined;
  /** What its bodies share in this process; undefined: they are small, and their senders known. */
  bodyRoom: BodyRoom | undefined;
  /** Of the file in its form; undefined: it takes none. */
  fileBytesMax: number | undefined;
  matchParams: MatchParams | undefined;
  matchQuery: MatchQuery | undefined;
  matchBody: MatchBody | undefined;
  checkParamUrns: CheckUrns | undefined;
  checkQueryUrns: CheckUrns | undefined;
  checkBodyUrns: CheckUrns | undefined;
  /** Of every success. */
  headers: readonly (readonly [string, string])[];
  /** Of every answer, refusals too. */
  notices: readonly (readonly [string, string])[];
}

/** The row under each of its prefixes, which may be deprecated one by one. */
export const compileRoute = (route: Route): CompiledRoute[] => {
  const compiled = compile(route);
  return route.prefixes.map((prefix) => ({
    ...compiled,
    notices: deprecationHeaders(route.deprecated, prefix),
  }));
};

const compile = (route: Route): Omit<CompiledRoute, "notices"> => ({
  id: route.id,
  surface: route.surface,
  public: "public" in route,
  roles: "role" in route ? [route.role].flat() : undefined,
  scopes: "scope" in route ? [route.scope].flat() : undefined,
  rate: route.rate,
  idempotent: takesIdempotencyKey(route),
  target: targetOf(route),
  success: route.success,
  successUnlessCreated: route.successUnlessCreated ?? route.success,
  produces: route.produces ?? mediaTypes[0],
  tagged: isTagged(route),
  named: route.cache === "passenger",
  paramNames: paramNames(route),
  bodyBytesMax: bodyBytesMaxOf(route),
  rawSignedIn: route.rawBody?.signedIn,
  bodyRoom: bodyRoomOf(route),
  fileBytesMax: route.form?.file.bytesMax,
  matchParams: route.params && compileParams(route.params),
  matchQuery: route.querystring && compileQuery(route.querystring),
  matchBody: matchBodyOf(route),
  checkParamUrns: compileUrnCheck(route.params),
  checkQueryUrns: compileUrnCheck(route.querystring),
  checkBodyUrns: compileUrnCheck(route.body ?? route.form?.fields),
  headers: successHeaders(route),
});

/** Of one route's raw bodies or forms: some sixty of the largest webhooks, or a few of the largest files. */
const roomBytesMin = 32 * 1024 * 1024;

const bodyRoomOf = (route: Route): BodyRoom | undefined =>
  route.rawBody === undefined && route.form === undefined
    ? undefined
    : new BodyRoom(Math.max(roomBytesMin, 2 * bodyBytesMaxOf(route)));

const bodyBytesMaxOf = ({ body, rawBody, form, bodyBytesMax = bodyBytesDefault }: Route): number => {
  if (form !== undefined) return form.file.bytesMax + formBytesMax;
  return rawBody?.bytesMax ?? (body === undefined ? 0 : bodyBytesMax);
};

const matchBodyOf = ({ body, form }: Route): MatchBody | undefined => {
  const described = body ?? form?.fields;
  return described && compileBody(described);
};

const targetOf = (route: Route): Target => {
  if ("command" in route) return { kind: "command", name: route.command, entity: route.entity };
  if ("query" in route) return { kind: "query", name: route.query };
  return { kind: "handler", name: route.handler };
};

/** @throws Error when the path's braces and the schema of the parameters differ */
const paramNames = (route: Route): string[] => {
  const names = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
  const described = Object.keys(route.params?.properties ?? {});
  if ([...names].sort().join() !== described.sort().join())
    throw new Error(`route ${route.id}: path parameters and their schema differ`);
  return names;
};

const cacheHeaders: Record<NonNullable<Route["cache"]>, [string, string][]> = {
  none: [["Cache-Control", "no-store"]],
  // Contract, "Passenger API".
  passenger: [
    ["Cache-Control", "private, max-age=60"],
    ["Vary", "Authorization, Cookie"],
  ],
  // "Writes emit a cache purge" (the same place): private caches are the only ones that may keep those reads.
  purge: [
    ["Cache-Control", "no-store"],
    ["Clear-Site-Data", '"cache"'],
  ],
  public: [["Cache-Control", "public, max-age=300"]],
};

/** RFC 4180 §3: a table whose first line names its columns. */
const contentTypes: Record<MediaType, string> = {
  "application/json": "application/json",
  "text/html": "text/html; charset=utf-8",
  "text/csv": "text/csv; charset=utf-8; header=present",
  "text/plain": "text/plain; charset=utf-8",
  "text/event-stream": "text/event-stream",
  "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet":
    "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
};

const successHeaders = (route: Route): [string, string][] => {
  const html = route.produces === "text/html";
  return [
    ["Content-Type", contentTypes[route.produces ?? "application/json"]],
    ...cacheHeaders[route.cache ?? "none"],
    ["X-Content-Type-Options", "nosniff"],
    ...(html ? [["Content-Security-Policy", pagePolicy] as [string, string]] : []),
  ];
};

/** A printable page needs its own style and its embedded QR code, and nothing else from anywhere. */
const pagePolicy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; frame-ancestors 'none'";
