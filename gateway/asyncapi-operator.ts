/** Owns the published AsyncAPI 3.0 description of the operators' live channel, made from its shapes (contract, "Operator WebSocket events"). */
import type { TSchema } from "typebox";
import { operatorEvents, operatorRequests } from "../schemas/live.ts";
import { plain } from "./openapi.ts";
import { exampleOf } from "./schema-example.ts";

type Json = Record<string, unknown>;

/** Below the base address. */
export const operatorChannelPath = "/asyncapi/operator/v1.json";

const description = [
  'A Socket.IO 4 channel over WebSocket. Connect with `io(base, { path: "/ws/cases", transports: ["websocket"], auth: { token } })`, or with a WebSocket that speaks Engine.IO 4 and Socket.IO 5 in the main namespace. `token` is an operator\'s access token; without a good one CONNECT_ERROR has `data.code` 4401, and the connection is closed with 4401. So it is when the token expires (send a newer one with `authenticate` before), when access is withdrawn, and at a logout.',
  "`subscribe` to cases and airports; everything that you hear follows from that. An airport's room is told `case:updated` and `subcase:state-changed` of all its cases, a case's room everything of the case. The acknowledgement of a case says how it stands: what changes after that comes as events.",
  "Each event's last argument is an offset. A client that hands back its `pid` and the offset of its last event in CONNECT, as Socket.IO's connection state recovery does, has its rooms again and is told what it has missed, in order, none twice, by whichever server it reaches. `recovered` says that nothing is missing; after more than 60 s, or else, `session:ready` says `complete: false`: load what you show again.",
  "`case:updated` gathers the changes of a case over 100 ms. All other events are told one by one.",
].join("\n\n");

const nameOf = (name: string): string =>
  name.replaceAll(/(?:^|[:-])(\w)/g, (_all, letter: string) => letter.toUpperCase());

const message = (name: string, summary: string, payload: TSchema): Json => ({
  name,
  title: name,
  summary,
  contentType: "application/json",
  payload: plain(payload),
  examples: [{ name, payload: exampleOf(payload) }],
});

const messages = (): Record<string, Json> => {
  const events = Object.entries(operatorEvents).map(
    ([name, { summary, payload }]) => [nameOf(name), message(name, summary, payload)] as const,
  );
  const requests = Object.entries(operatorRequests).flatMap(
    ([name, { summary, payload, acknowledgements }]) => [
      [nameOf(name), message(name, summary, payload)] as const,
      ...acknowledgements.map(
        (answer, i) =>
          [answerName(name, i), message(`${name} acknowledgement`, `Of ${name}.`, answer)] as const,
      ),
    ],
  );
  return Object.fromEntries([...events, ...requests]);
};

const answerName = (name: string, i: number): string => `${nameOf(name)}Acknowledgement${i + 1}`;

const inChannel = (name: string): Json => ({ $ref: `#/channels/cases/messages/${name}` });

/** @param baseUrl of this service */
export const describeOperatorChannel = (baseUrl: string): Json => {
  const all = messages();
  const { host, protocol } = new URL(baseUrl);
  const requests = Object.entries(operatorRequests).map(([name, { summary, acknowledgements }]) => [
    name,
    {
      action: "receive",
      channel: { $ref: "#/channels/cases" },
      summary,
      messages: [inChannel(nameOf(name))],
      reply: {
        channel: { $ref: "#/channels/cases" },
        messages: acknowledgements.map((_, i) => inChannel(answerName(name, i))),
      },
    },
  ]);
  const events = Object.entries(operatorEvents).map(([name, { summary }]) => [
    `tell${nameOf(name)}`,
    { action: "send", channel: { $ref: "#/channels/cases" }, summary, messages: [inChannel(nameOf(name))] },
  ]);
  return {
    asyncapi: "3.0.0",
    id: "urn:stopover:operator-channel",
    info: { title: "Stopover operators' live channel", version: "1", description },
    defaultContentType: "application/json",
    servers: { region: { host, protocol: protocol === "https:" ? "wss" : "ws" } },
    channels: {
      cases: {
        address: "/ws/cases",
        title: "Cases",
        description: "Of the main namespace. Messages are Socket.IO events by their names.",
        messages: Object.fromEntries(
          Object.keys(all).map((name) => [name, { $ref: `#/components/messages/${name}` }]),
        ),
      },
    },
    operations: Object.fromEntries([...requests, ...events]),
    components: { messages: all },
  };
};
