/** Owns the table of what belongs to no surface: tokens, keys, descriptions, health. All of it is public. */
import Type from "typebox";
import { TokenRequestBody, TokenView } from "../../schemas/partner-api.ts";
import { webhookPaths } from "../asyncapi.ts";
import { operatorChannelPath } from "../asyncapi-operator.ts";
import type { Route } from "../route.ts";

const fact = {
  surface: "platform",
  public: true,
  method: "get",
  prefixes: [""],
  rate: "read",
  success: 200,
} as const;

const keySetFiles = ["partner.json", "passenger.json"] as const;
export type KeySetFile = (typeof keySetFiles)[number];

const KeySetView = Type.Object(
  {
    keys: Type.Array(
      Type.Object({ kty: Type.String(), kid: Type.String(), alg: Type.String(), use: Type.String() }),
    ),
  },
  { title: "KeySet" },
);

export const platformRoutes = [
  {
    id: "issueAccessToken",
    surface: "platform",
    public: true,
    describedIn: ["partner"],
    method: "post",
    path: "/oauth/token",
    prefixes: [""],
    summary: "Get an access token",
    description: "Client credentials for a token of one hour. Keep it until a minute before it expires.",
    rate: "write",
    body: TokenRequestBody,
    bodyBytesMax: 16 * 1024,
    handler: "issueAccessToken",
    success: 200,
    response: TokenView,
    problems: ["auth/invalid-client", "upstream/unavailable"],
  },
  {
    ...fact,
    id: "showKeySet",
    describedIn: ["partner"],
    path: "/.well-known/jwks.json",
    summary: "Read the public keys",
    description:
      "What partners' access tokens and passengers' sessions are signed with (RFC 7517). Keep them for five minutes at most: a new key is published longer than that before it signs.",
    cache: "public",
    handler: "showKeySet",
    response: KeySetView,
    problems: [],
  },
  {
    ...fact,
    id: "showKeySetOfSurface",
    describedIn: ["passenger", "partner"],
    path: "/.well-known/jwks/{file}",
    summary: "Read one surface's public keys",
    description: "Whoever checks tokens of one surface needs no key of another.",
    params: Type.Object({ file: Type.Enum([...keySetFiles]) }),
    cache: "public",
    handler: "showKeySet",
    response: KeySetView,
    problems: ["not-found/resource"],
  },
  {
    ...fact,
    id: "showDescription",
    describedIn: ["operator", "passenger", "partner"],
    path: "/openapi/{surface}/v1.json",
    summary: "Read this description",
    description: "OpenAPI 3.1, made from the tables that the service routes by.",
    params: Type.Object({ surface: Type.String({ maxLength: 20, examples: ["operator"] }) }),
    cache: "public",
    handler: "showDescription",
    response: Type.Object({ openapi: Type.String(), paths: Type.Object({}) }),
    problems: ["not-found/resource"],
  },
  {
    ...fact,
    id: "showWebhookDescription",
    describedIn: ["partner"],
    path: webhookPaths.description,
    summary: "Read what webhooks receive",
    description:
      "AsyncAPI 3.0: every event type with its headers, body and an example, how deliveries are signed, tried again and told apart. An addition to the published contract.",
    cache: "public",
    handler: "showWebhookKit",
    response: Type.Object({ asyncapi: Type.String({ examples: ["3.0.0"] }), channels: Type.Object({}) }),
    problems: [],
  },
  {
    ...fact,
    id: "showOperatorChannel",
    describedIn: ["operator"],
    path: operatorChannelPath,
    summary: "Read what the live channel tells",
    description:
      "AsyncAPI 3.0: how to connect to /ws/cases, what may be asked there, and every event with its payload. An addition to the published contract.",
    cache: "public",
    handler: "showWebhookKit",
    response: Type.Object({ asyncapi: Type.String({ examples: ["3.0.0"] }), channels: Type.Object({}) }),
    problems: [],
  },
  {
    ...fact,
    id: "showWebhookSignatureModule",
    describedIn: ["partner"],
    path: webhookPaths.kit,
    summary: "Get the receiver's kit",
    description:
      "A TypeScript module without dependencies that checks a delivery's signature, to be copied into your receiver. An addition to the published contract.",
    cache: "public",
    handler: "showWebhookKit",
    produces: "text/plain",
    response: Type.String({ description: "The module's source." }),
    problems: [],
  },
  {
    ...fact,
    id: "showWebhookTestVectors",
    describedIn: ["partner"],
    path: webhookPaths.vectors,
    summary: "Get test vectors for a receiver",
    description:
      "Deliveries, good and forged, each with what a receiver must make of it. An addition to the published contract.",
    cache: "public",
    handler: "showWebhookKit",
    response: Type.Object({
      signature: Type.String({ examples: ["sha256=<base64 of HMAC-SHA256>"] }),
      vectors: Type.Array(Type.Object({ name: Type.String({ examples: ["valid"] }) })),
    }),
    problems: [],
  },
  {
    ...fact,
    rate: "exempt",
    id: "reportLiveness",
    describedIn: ["operator"],
    path: "/health/live",
    summary: "Ask whether the process lives",
    description: "Answers as long as it can answer at all.",
    handler: "reportLiveness",
    response: Type.Object({ status: Type.Enum(["live"]) }),
    problems: [],
  },
  {
    ...fact,
    rate: "exempt",
    id: "reportReadiness",
    describedIn: ["operator"],
    path: "/health/ready",
    summary: "Ask whether it is ready for requests",
    description: "200 when it is; until then 503 with the same members, what fails, and `Retry-After`.",
    handler: "reportReadiness",
    response: Type.Object({
      ready: Type.Boolean(),
      checks: Type.Object({}),
      failedDomain: Type.Optional(Type.String({ description: "Which checks fail; only with 503." })),
    }),
    problems: [],
  },
] as const satisfies readonly Route[];
