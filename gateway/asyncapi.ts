/** Owns the published AsyncAPI 3.0 description of what partners' webhooks receive, made from the catalogue of events (contract, "Outbound webhooks"). */
import Type from "typebox";
import { type PublicEventType, publicEvents } from "../schemas/events.ts";
import { eventsDescribed, webhookBody } from "../schemas/events-described.ts";
import { Urn } from "../schemas/urn.ts";
import { signatureOf, timestampSkewSecondsMax } from "../schemas/webhook-signature.ts";
import { plain } from "./openapi.ts";
import { exampleOf } from "./schema-example.ts";

type Json = Record<string, unknown>;

/** Where the receiver's kit is served, below the base address. */
export const webhookPaths = {
  description: "/asyncapi/partner/v1.json",
  kit: "/asyncapi/partner/webhook-signature.ts",
  vectors: "/asyncapi/partner/webhook-test-vectors.json",
} as const;

/** Of the examples: whoever checks their signatures needs it. */
const exampleSecret = "whsec-of-the-examples";
const exampleTimestamp = 1_795_296_600;

const Signature = Type.String({
  pattern: "^sha256=[A-Za-z0-9+/]{43}=$",
  description:
    "`sha256=` and the base64 of HMAC-SHA256 over `<X-Service-Signature-Timestamp>.<raw body>` under your webhook secret. Compare in constant time.",
});

const headersOf = (type: PublicEventType) =>
  Type.Object({
    "Content-Type": Type.Literal("application/json"),
    "User-Agent": Type.String({ examples: ["Stopover-Webhook/1.0"] }),
    "X-Service-Signature": Signature,
    "X-Service-Signature-Previous": Type.Optional(
      Type.String({
        pattern: "^sha256=[A-Za-z0-9+/]{43}=$",
        description: "For 14 days after a rotation: the same under the secret before.",
      }),
    ),
    "X-Service-Signature-Timestamp": Type.String({
      pattern: "^\\d{1,12}$",
      description: `Unix seconds, fresh with each attempt. Refuse what is more than ${timestampSkewSecondsMax} s from your clock.`,
    }),
    "X-Service-Event-Type": Type.Literal(type),
    "X-Service-Event-Urn": Type.Unsafe<string>({
      ...Urn("event"),
      description:
        "The same for every attempt and every replay of an event: tell repeats by it. It is not under the signature, which covers the timestamp and the body alone.",
    }),
    "X-Service-Tenant": Urn("airline"),
    "X-Service-Correlation": Type.Unsafe<string>({
      ...Urn("correlation"),
      examples: ["urn:correlation:01JD0000000000000000000000"],
    }),
    traceparent: Type.String({
      description: "W3C Trace Context.",
      examples: ["00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"],
    }),
  });

/** A delivery of this type, signed under {@link exampleSecret} as every delivery is. */
export const webhookExample = (type: PublicEventType): { headers: Record<string, string>; payload: Json } => {
  const payload = exampleOf(webhookBody(type)) as Json;
  const made = exampleOf(headersOf(type)) as Record<string, string>;
  const { "X-Service-Signature-Previous": _, ...headers } = made;
  return {
    payload,
    headers: {
      ...headers,
      "X-Service-Signature-Timestamp": String(exampleTimestamp),
      "X-Service-Signature": signatureOf(exampleSecret, exampleTimestamp, JSON.stringify(payload)),
    },
  };
};

const nameOf = (type: string): string =>
  type.replaceAll(/(?:^|[.-])(\w)/g, (_all, letter: string) => letter.toUpperCase());

const messageOf = (type: PublicEventType): Json => ({
  name: type,
  title: type,
  summary: eventsDescribed[type].when,
  description: `Sent to holders of ${publicEvents[type].map((scope) => `\`${scope}\``).join(" or ")}.`,
  contentType: "application/json",
  "x-scopes": publicEvents[type],
  headers: plain(headersOf(type)),
  payload: plain(webhookBody(type)),
  correlationId: { location: "$message.header#/X-Service-Correlation" },
  examples: [{ name: type, summary: `Signed with \`${exampleSecret}\`.`, ...webhookExample(type) }],
});

const deliveryDescription = (baseUrl: string): string =>
  [
    "Events are posted to the HTTPS address of your registration. Any 2xx within 10 seconds is a success; redirects are not followed. What fails is tried again after 1 min, 5 min, 30 min, 2 h, 6 h and 24 h, each from the failure before and up to 10 % later; a longer `Retry-After` is honoured. After the seventh failure your subscription is paused and your contact is told; a successful test delivery (`POST /partner/v1/webhooks/test`) resumes it.",
    "An event may come more than once, and events may overtake each other: tell repeats by `X-Service-Event-Urn`. `GET /partner/v1/events/replay` has events of the last 7 days delivered again.",
    "Versions: names of types and the meaning of members never change, and members are only ever added; ignore what you do not know. Anything else would be a new description (`/asyncapi/partner/v2.json`), announced like a new version of the API.",
    `A ready-made check of deliveries, to be copied: ${baseUrl}${webhookPaths.kit}; its test vectors: ${baseUrl}${webhookPaths.vectors}.`,
  ].join("\n\n");

/** @param baseUrl of this service, without a slash at its end */
export const describeWebhooks = (baseUrl: string): Json => {
  const types = Object.keys(publicEvents) as PublicEventType[];
  return {
    asyncapi: "3.0.0",
    id: "urn:stopover:partner-webhooks",
    info: {
      title: "Stopover partner webhooks",
      version: "1",
      description: deliveryDescription(baseUrl),
    },
    defaultContentType: "application/json",
    channels: {
      webhook: {
        // Each registration has its own.
        address: null,
        title: "Your receiver",
        description: "The HTTPS address that your registration names.",
        messages: Object.fromEntries(
          types.map((type) => [nameOf(type), { $ref: `#/components/messages/${nameOf(type)}` }]),
        ),
      },
    },
    operations: Object.fromEntries(
      types.map((type) => [
        `deliver${nameOf(type)}`,
        {
          action: "send",
          channel: { $ref: "#/channels/webhook" },
          summary: eventsDescribed[type].when,
          messages: [{ $ref: `#/channels/webhook/messages/${nameOf(type)}` }],
          bindings: { http: { method: "POST", bindingVersion: "0.3.0" } },
        },
      ]),
    ),
    components: { messages: Object.fromEntries(types.map((type) => [nameOf(type), messageOf(type)])) },
  };
};
