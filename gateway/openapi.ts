/** Owns the published OpenAPI 3.1 descriptions, made from the route tables (contract, "Versioning"). */
import type { TObject, TSchema } from "typebox";
import { ProblemResponse } from "../schemas/problem-response.ts";
import { type ProblemCode, problems } from "../schemas/problems.ts";
import { surrogateKeyHeader } from "../schemas/surrogate-keys.ts";
import { scopes } from "../schemas/vocabulary.ts";
import { deprecationHeaders } from "./deprecation.ts";
import {
  type DocumentedSurface,
  isTagged,
  pathsOf,
  problemsOf,
  type Route,
  successesOf,
  takesIdempotencyKey,
} from "./route.ts";
import { exampleOf } from "./schema-example.ts";

type Json = Record<string, unknown>;

export interface DescriptionSettings {
  baseUrl: string;
  authUrl: string;
  errorsBase: string;
}

const titles: Readonly<Record<DocumentedSurface, string>> = {
  operator: "Stopover operator API",
  passenger: "Stopover passenger API",
  partner: "Stopover partner API",
};

/** The description of one surface: its own routes, and the platform's that name it. */
export const describeSurface = (
  surface: DocumentedSurface,
  routes: readonly Route[],
  settings: DescriptionSettings,
): Json => {
  const components = new Components(settings.errorsBase);
  const paths: Record<string, Json> = {};
  for (const route of routes) {
    if (route.surface !== surface && !route.describedIn?.includes(surface)) continue;
    for (const [index, path] of pathsOf(route).entries()) {
      // Operation ids are unique: the path as the field manual prints it is the same operation again.
      const operationId = index === 0 ? route.id : `${route.id}${index + 1}`;
      const place = { operationId, prefix: route.prefixes[index] ?? "" };
      paths[path] = {
        ...paths[path],
        [route.method]: operation(route, place, components),
      };
    }
  }
  return {
    openapi: "3.1.0",
    info: { title: titles[surface], version: "1" },
    servers: serversOf(surface, settings),
    paths,
    components: { ...components.used, headers, securitySchemes: securitySchemes(surface, settings) },
  };
};

const serversOf = (surface: DocumentedSurface, { baseUrl }: DescriptionSettings): Json[] =>
  surface === "passenger"
    ? [
        {
          url: "https://{airlineHost}",
          description: "Each airline's passengers have a host of their own.",
          variables: { airlineHost: { default: "stay.airline.example" } },
        },
      ]
    : [{ url: baseUrl }];

const securitySchemes = (surface: DocumentedSurface, { authUrl }: DescriptionSettings): Json => {
  const bearer = { type: "http", scheme: "bearer", bearerFormat: "JWT" };
  if (surface === "operator")
    return { operatorToken: { ...bearer, description: "Access token of the identity provider, RS256." } };
  if (surface === "passenger")
    return {
      sessionToken: { ...bearer, description: "Session token, EdDSA." },
      sessionCookie: { type: "apiKey", in: "cookie", name: "__Host-session" },
    };
  const granted = Object.fromEntries(scopes.map((scope) => [scope, scope]));
  return {
    clientCredentials: {
      type: "oauth2",
      flows: { clientCredentials: { tokenUrl: `${authUrl}/oauth/token`, scopes: granted } },
    },
  };
};

const securityOf = (route: Route): Json[] => {
  if ("public" in route) return [];
  if ("scope" in route) return [route.scope].flat().map((scope) => ({ clientCredentials: [scope] }));
  return route.surface === "passenger"
    ? [{ sessionToken: [] }, { sessionCookie: [] }]
    : [{ operatorToken: [] }];
};

interface Place {
  operationId: string;
  prefix: string;
}

const operation = (route: Route, { operationId, prefix }: Place, components: Components): Json => ({
  operationId,
  summary: route.summary,
  description: route.description,
  ...(route.deprecated !== undefined && deprecationHeaders(route.deprecated, prefix).length > 0
    ? { deprecated: true }
    : {}),
  tags: [route.path.split("/")[1]],
  ...("role" in route ? { "x-roles": [route.role].flat() } : {}),
  security: securityOf(route),
  parameters: parametersOf(route),
  ...(route.body === undefined ? {} : { requestBody: requestBody(route.body, components) }),
  ...(route.rawBody === undefined ? {} : { requestBody: rawBody(route.rawBody) }),
  ...(route.form === undefined ? {} : { requestBody: form(route.form) }),
  responses: {
    ...Object.fromEntries(successesOf(route).map((status) => [status, successOf(route, components)])),
    ...(isTagged(route)
      ? { 304: { description: "It is as it was: the tag in `If-None-Match` stands." } }
      : {}),
    ...problemResponses(route, components),
  },
});

const parametersOf = (route: Route): Json[] => {
  const parameters: Json[] = [
    ...Object.entries(route.params?.properties ?? {}).map(([name, schema]) => ({
      ...parameter(name, "path", schema),
      required: true,
    })),
    ...Object.entries(route.querystring?.properties ?? {}).map(([name, schema]) => ({
      ...parameter(name, "query", schema),
      required: ((route.querystring?.required as string[] | undefined) ?? []).includes(name),
    })),
  ];
  if (takesIdempotencyKey(route))
    parameters.push({
      name: "Idempotency-Key",
      in: "header",
      description:
        "Names this write for 24 hours: sent again it has no further effect and gets the same answer; another request under its key is refused.",
      required: false,
      schema: { type: "string", minLength: 1, maxLength: 255 },
    });
  if (changesEntity(route) && (route.params ?? route.body?.properties.version) !== undefined)
    parameters.push({
      name: "If-Match",
      in: "header",
      description: "The ETag you have seen; a change since then is refused with 409.",
      required: false,
      schema: { type: "string", examples: ['"7"'] },
    });
  if (isTagged(route))
    parameters.push({
      name: "If-None-Match",
      in: "header",
      description: "The ETag of what you have: the body is left out when it is still that.",
      required: false,
      schema: { type: "string", examples: ['"7-d5c1xK0a9mB2u4Qz"'] },
    });
  return parameters;
};

/** By a command of its own, or by one that its handler sends on. */
const changesEntity = (route: Route): boolean =>
  "command" in route || route.problems.includes("conflict/version");

const parameter = (name: string, place: "path" | "query", schema: TSchema): Json => {
  const { description, ...rest } = plain(schema) as Json;
  return { name, in: place, ...(description === undefined ? {} : { description }), schema: rest };
};

const requestBody = (body: TObject, components: Components): Json => ({
  required: ((body.required as string[] | undefined) ?? []).length > 0,
  content: { "application/json": { schema: components.use(body), example: exampleOf(body) } },
});

const rawBody = ({ description }: { description: string }): Json => ({
  description,
  required: true,
  content: { "*/*": { schema: {} } },
});

const form = ({ fields, file }: NonNullable<Route["form"]>): Json => ({
  required: true,
  content: {
    "multipart/form-data": {
      schema: {
        type: "object",
        required: ["file", ...((fields.required as string[] | undefined) ?? [])],
        properties: {
          file: { type: "string", format: "binary", description: file.description },
          ...(plain(fields) as { properties: Json }).properties,
        },
      },
    },
  },
});

const headers: Json = {
  traceparent: { description: "W3C Trace Context.", schema: { type: "string" } },
  "X-RateLimit-Remaining": {
    description: "Requests that may follow at once, by the tightest limit that this one counts in.",
    schema: { type: "integer", minimum: 0 },
  },
  "Retry-After": { description: "Seconds.", schema: { type: "integer", minimum: 1 } },
  "Idempotency-Replayed": {
    description: "Present when this answer was kept of an earlier request with the same key.",
    schema: { type: "string", enum: ["true"] },
  },
  ETag: {
    description: "The entity's version where it has one, with a digest of what is shown.",
    schema: { type: "string" },
  },
  [surrogateKeyHeader]: {
    description:
      "The names by which an edge that keeps this answer is told to let go of it. Of no use to clients.",
    schema: { type: "string" },
  },
};

const headersNamed = (...names: string[]): Json =>
  Object.fromEntries(
    ["traceparent", "X-RateLimit-Remaining", ...names].map((name) => [
      name,
      { $ref: `#/components/headers/${name}` },
    ]),
  );

const successOf = (route: Route, components: Components): Json => ({
  description: route.summary,
  headers: headersNamed(
    ...(takesIdempotencyKey(route) ? ["Idempotency-Replayed"] : []),
    ...(changesEntity(route) || isTagged(route) ? ["ETag"] : []),
    ...(route.cache === "passenger" ? [surrogateKeyHeader] : []),
  ),
  ...(route.success === 204 ? {} : { content: contentOf(route, components) }),
});

const contentOf = (route: Route, components: Components): Json => ({
  [route.produces ?? "application/json"]: {
    schema: components.use(route.response),
    ...(route.produces === undefined ? { example: exampleOf(route.response) } : {}),
  },
});

/** One response per status; its codes stand as named examples. */
const problemResponses = (route: Route, components: Components): Json => {
  const byStatus = new Map<number, ProblemCode[]>();
  for (const code of problemsOf(route)) {
    const { status } = problems[code];
    byStatus.set(status, [...(byStatus.get(status) ?? []), code]);
  }
  const schema = components.use(ProblemResponse);
  return Object.fromEntries(
    [...byStatus].map(([status, codes]) => [
      status,
      {
        description: codes.map((code) => `\`${code}\`: ${problems[code].title}`).join("; "),
        headers: headersNamed(...(status === 429 || status === 503 ? ["Retry-After"] : [])),
        content: {
          "application/problem+json": {
            schema,
            examples: Object.fromEntries(codes.map((code) => [code, components.problem(code)])),
          },
        },
      },
    ]),
  );
};

const problemExample = (code: ProblemCode, errorsBase: string): Json => ({
  type: `${errorsBase.replace(/\/$/, "")}/${code}`,
  title: problems[code].title,
  status: problems[code].status,
  detail: "What went wrong this time, and what to do.",
  instance: "urn:correlation:01JD0000000000000000000000",
});

/** What stands once and is referred to: schemas with a title, problems' examples. */
class Components {
  readonly used = { schemas: {} as Record<string, unknown>, examples: {} as Record<string, unknown> };
  readonly #errorsBase: string;
  /** A route is described once for each of its paths, and many share a schema. */
  readonly #collected = new Map<TSchema, unknown>();

  constructor(errorsBase: string) {
    this.#errorsBase = errorsBase;
  }

  use(schema: TSchema): unknown {
    const found = this.#collected.get(schema);
    if (found !== undefined) return found;
    const collected = this.#collect(plain(schema));
    this.#collected.set(schema, collected);
    return collected;
  }

  problem(code: ProblemCode): unknown {
    const name = code.replace("/", ".");
    this.used.examples[name] ??= { value: problemExample(code, this.#errorsBase) };
    return { $ref: `#/components/examples/${name}` };
  }

  #collect(node: unknown): unknown {
    if (Array.isArray(node)) return node.map((item) => this.#collect(item));
    if (node === null || typeof node !== "object") return node;
    const collected = Object.fromEntries(
      Object.entries(node).map(([key, value]) => [key, this.#collect(value)]),
    );
    // A member may be called "title" too: there it is a schema, not a text.
    if (typeof collected.title !== "string") return collected;
    const known = this.used.schemas[collected.title];
    if (known !== undefined && JSON.stringify(known) !== JSON.stringify(collected))
      throw new Error(`two schemas are titled ${collected.title}`);
    this.used.schemas[collected.title] = collected;
    return { $ref: `#/components/schemas/${collected.title}` };
  }
}

/** Plain JSON Schema: our own keyword becomes an extension that tools pass over. */
export const plain = (schema: TSchema): unknown =>
  JSON.parse(JSON.stringify(schema), (_key, value: unknown) => {
    if (value === null || typeof value !== "object" || !("urn" in value) || !Array.isArray(value.urn))
      return value;
    const { urn, ...rest } = value;
    return { ...rest, "x-urn": urn };
  });
