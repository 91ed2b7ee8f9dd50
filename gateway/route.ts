/** Owns what a row of a route table says, and what follows from it alone. Compiling a row for the hot path is `compile-route.ts`. */
import type { TObject, TSchema } from "typebox";
import type { ProblemCode } from "../schemas/problems.ts";
import type { Role, Scope } from "../schemas/vocabulary.ts";
import type { Deprecation } from "./deprecation.ts";

export type Surface = "operator" | "passenger" | "partner" | "platform";
export type DocumentedSurface = Exclude<Surface, "platform">;
export type Method = "get" | "post" | "put" | "patch" | "delete";

/** The few answers that the gateway gives itself, or that wrap an actor's with something only it can do. */
export type HandlerName =
  | "logIn"
  | "exchangeMagicLink"
  | "streamMyEvents"
  | "issueAccessToken"
  | "receiveVendorWebhook"
  | "exportAudit"
  | "takePassengerFile"
  | "analyzeContract"
  | "showPassengerTemplate"
  | "showKeySet"
  | "showDescription"
  | "showWebhookKit"
  | "reportLiveness"
  | "reportReadiness";

/** Bytes of a JSON body where a row sets nothing else. */
export const bodyBytesDefault = 1024 * 1024;

/** What routes produce, problems aside; the first where a row says nothing. */
export const mediaTypes = [
  "application/json",
  "text/html",
  "text/csv",
  "text/plain",
  "text/event-stream",
  "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
] as const;
export type MediaType = (typeof mediaTypes)[number];

/** Who may call. A list means any one of them. */
type Access =
  | { surface: "operator"; role: Role | readonly Role[] }
  | { surface: "partner"; scope: Scope | readonly Scope[] }
  | { surface: "passenger" }
  | { surface: "passenger" | "platform"; public: true };

/** What answers: an actor's command or query by its wire name, or one of the gateway's few own handlers. */
type Target =
  | { command: `${string}.${string}`; entity?: string }
  | { query: `${string}.${string}` }
  | { handler: HandlerName };

interface RouteFacts {
  /** The OpenAPI operation id; also the name in metrics and idempotency keys. */
  id: string;
  method: Method;
  /** Parameters in braces, named like their member in the command's data. */
  path: `/${string}`;
  /** Each is put before the path; several mean that the route is served under each. */
  prefixes: readonly ("" | "/v1" | "/partner/v1")[];
  summary: string;
  description: string;
  params?: TObject;
  querystring?: TObject;
  body?: TObject;
  bodyBytesMax?: number;
  /** In place of `body`: its handler gets the bytes and all headers as they came, of whatever media type. What it describes is shown. */
  rawBody?: {
    description: string;
    bytesMax: number;
    /** Lower case: one of them carries its signature. Without any it is refused before its body is waited for. */
    signedIn: readonly string[];
  };
  /** In place of `body`: a multipart form (RFC 7578) with one file, in its part `file`, and these texts beside it. */
  form?: { fields: TObject; file: { description: string; bytesMax: number } };
  /** `exempt`: counts in no limit. */
  rate: "read" | "write" | "exempt";
  success: number;
  /** In place of `success` where the command may create, and has changed what was there. */
  successUnlessCreated?: number;
  /** What a success looks like: the body's schema, or, for other media, a description alone. */
  response: TSchema;
  produces?: MediaType;
  /** `none`: never kept; `passenger`: a private minute; `purge`: also empties it; `public`: any cache, five minutes. */
  cache?: "none" | "passenger" | "purge" | "public";
  /** What the target may refuse with, beyond what `problemsOf` adds from the row itself. */
  problems: readonly ProblemCode[];
  /** Set: it will go; every answer tells so. */
  deprecated?: Deprecation;
  /** Which published descriptions list a platform route. */
  describedIn?: readonly DocumentedSurface[];
}

/**
 * `entity` names the parameter (of the path, else of the body) whose id becomes `command.entity`; without it the
 * actor finds or makes the entity.
 */
export type Route = RouteFacts & Access & Target;

/** Every problem that a route may answer with: the row's own, and those that its checks bring. */
export const problemsOf = (route: Route): ProblemCode[] => {
  const codes = new Set<ProblemCode>(route.problems);
  const add = (...more: ProblemCode[]): void => {
    for (const code of more) codes.add(code);
  };
  if (route.surface === "passenger") add("not-found/host");
  if (!("public" in route)) {
    add("auth/missing-token", "auth/invalid-token", "auth/expired-token", "auth/foreign-tenant");
    if (route.surface === "operator") add("auth/insufficient-role");
    if (route.surface === "partner") add("auth/insufficient-scope");
    if (route.surface === "passenger") add("auth/case-closed");
    if (route.surface === "passenger" && route.rate === "write") add("auth/foreign-origin");
  }
  if (route.rate !== "exempt") add("rate/exceeded");
  if (route.params !== undefined) add("not-found/resource", "validation/malformed");
  if (route.querystring !== undefined) add("validation/query");
  if (route.rawBody !== undefined)
    add("validation/too-large", "validation/malformed", "auth/bad-signature", "upstream/unavailable");
  if (route.form !== undefined) add("upstream/unavailable");
  if (route.body !== undefined || route.form !== undefined)
    add("validation/too-large", "validation/media-type", "validation/malformed", "validation/body");
  if (takesIdempotencyKey(route))
    add("validation/malformed", "conflict/in-flight", "idempotency/payload-differs", "upstream/unavailable");
  if (!("handler" in route)) add("upstream/unavailable");
  add("validation/not-acceptable", "internal/unexpected");
  return [...codes].sort();
};

/**
 * Every write of somebody who is known (contract, "Endpoints"): an `Idempotency-Key` names the command, and its answer is kept.
 * A GET that has an effect takes none: clients repeat it without one, so its command has to know a repeat by itself.
 */
export const takesIdempotencyKey = (route: Route): boolean =>
  route.rate === "write" && route.method !== "get" && !("public" in route);

/** Every status of a success. */
export const successesOf = ({ success, successUnlessCreated }: Route): number[] =>
  successUnlessCreated === undefined ? [success] : [success, successUnlessCreated];

/** Whether its successes carry the entity tag of what they show, and a client's own tag spares it the body. */
export const isTagged = (route: Route): boolean => route.rate === "read" && "query" in route;

/** Every path under which a route is served. */
export const pathsOf = (route: Route): string[] => route.prefixes.map((prefix) => prefix + route.path);

/** The action of an actor that answers a route; undefined where the gateway does so itself. */
export const actionOf = (route: Route): string | undefined =>
  "command" in route ? route.command : "query" in route ? route.query : undefined;
