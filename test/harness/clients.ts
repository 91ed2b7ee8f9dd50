// The service's clients: every call by its route's name, every answer held against what the route promises, and waiting for
// what only a read can show. Which calls make a story is the tests'.
import { Agent, type IncomingHttpHeaders, request } from "node:http";
import { Ajv, type ValidateFunction } from "ajv";
import type { Test } from "tap";
import { isTagged, problemsOf, type Route, successesOf } from "../../gateway/route.ts";
import { allRoutes } from "../../gateway/routes/all.ts";
import { quicklyCompiled, withFormats } from "../../schemas/formats.ts";
import type { DisruptionPushBody } from "../../schemas/partner-api.ts";
import { ProblemResponse } from "../../schemas/problem-response.ts";
import { urnKeyword } from "../../schemas/urn.ts";
import type { DemoAirline } from "../../scripts/demonstration/provision.ts";
import { mintOperatorToken } from "../../scripts/supervisor/operator-token.ts";
import { type InstanceOptions, type Ledger, startInstance, type TestInstance } from "./instance.ts";

export interface Call {
  token?: string;
  /** The path's parameters; written into it percent-encoded. */
  params?: Record<string, string>;
  query?: Record<string, string | number>;
  body?: unknown;
  /** Path and query to be sent as they are, in place of those made of `params` and `query`; percent-encoded, without the prefix. */
  rawPath?: string;
  /** Sent as it is, in place of `body`. */
  raw?: string | Buffer;
  host?: string;
  headers?: Record<string, string>;
  /** Of another gateway than the instance's first. */
  baseUrl?: string;
}

export interface Told<Body> {
  status: number;
  headers: IncomingHttpHeaders;
  body: Body;
}

/** Members that problems have; the rest depends on the problem. */
export interface ToldProblem {
  type: string;
  status: number;
  detail: string;
  instance: string;
  state?: string;
  version?: number;
  errors?: { pointer: string; detail: string }[];
}

export interface Delivery {
  path: string;
  verified: boolean;
  duplicate: boolean;
  eventUrn: string;
  eventType: string;
  headers: Record<string, string>;
  body: { type: string; case_urn?: string; data: Record<string, unknown> } & Record<string, unknown>;
}

/** The gateway closes a connection that was idle for 10 s: one that has been for half as long is not used again. */
const agent = new Agent({ keepAlive: true, maxSockets: 64, timeout: 5000 });
const withinMs = 30_000;
const pauseMs = 20;

const ajv = withFormats(new Ajv({ strict: false, allErrors: true, ...quicklyCompiled }));
ajv.addKeyword(urnKeyword);
const compiled = new Map<string, ValidateFunction>();
const isProblem = ajv.compile(ProblemResponse);

const rowOf = (id: string): Route => {
  const row = allRoutes.find((route) => route.id === id);
  if (row === undefined) throw new Error(`no route is called ${id}`);
  return row;
};

/** @throws Error when a success doesn't fit its route's schema, or an error is no problem */
export const checkPromise = (routeId: string, { status, headers, body }: Told<unknown>): void => {
  const row = rowOf(routeId);
  const doing = `${row.id} answered ${status}`;
  if (status >= 400) {
    if (!isProblem(body) || headers["content-type"] !== "application/problem+json")
      throw new Error(`${doing} with no problem: ${JSON.stringify(body).slice(0, 300)}`);
    const { type } = body as ToldProblem;
    if (problemsOf(row).some((code) => type.endsWith(`/${code}`))) return;
    throw new Error(`${doing} with a problem that its route doesn't name: ${JSON.stringify(body)}`);
  }
  if (status === 304 && isTagged(row)) return;
  if (status === 204 && row.success === 204) return;
  if (!successesOf(row).includes(status))
    throw new Error(`${doing}, its route says ${successesOf(row).join(" or ")}`);
  if (row.produces !== undefined && row.produces !== "application/json") return;
  const fits = compiled.get(row.id) ?? ajv.compile(row.response);
  compiled.set(row.id, fits);
  if (!fits(body)) throw new Error(`${doing} with another body: ${ajv.errorsText(fits.errors)}`);
};

const send = (url: URL, path: string, method: string, call: Call): Promise<Told<unknown>> =>
  new Promise((resolve, reject) => {
    const body = call.raw ?? (call.body === undefined ? undefined : JSON.stringify(call.body));
    const headers: Record<string, string> = {
      ...(call.token === undefined ? {} : { Authorization: `Bearer ${call.token}` }),
      ...(call.host === undefined ? {} : { Host: call.host }),
      ...(body === undefined
        ? {}
        : { "Content-Type": "application/json", "Content-Length": String(Buffer.byteLength(body)) }),
      ...call.headers,
    };
    const sent = request(url, { path, method, headers, agent }, (response) => {
      const { headers, statusCode: status = 0 } = response;
      // A stream has no end: what it begins with is its answer.
      if (headers["content-type"] === "text/event-stream") {
        response.once("data", (chunk: Buffer) => {
          resolve({ status, headers, body: chunk.toString() });
          sent.destroy();
        });
        return;
      }
      const chunks: Buffer[] = [];
      response.on("data", (chunk: Buffer) => chunks.push(chunk));
      response.on("error", reject);
      response.on("end", () => {
        const text = Buffer.concat(chunks).toString();
        const json = /json/.test(headers["content-type"] ?? "");
        const told = json && text !== "" ? JSON.parse(text) : text;
        resolve({ status, headers, body: told });
      });
    });
    sent.on("error", reject);
    sent.end(body);
  });

export interface Clients extends TestInstance {
  /** What the route answers, whatever that is. */
  sent(routeId: string, call: Call): Promise<Told<unknown>>;
  /** @throws Error when the answer is not what the route's row promises */
  call<Body = Record<string, unknown>>(routeId: string, call?: Call): Promise<Told<Body>>;
  /** The same where a refusal is expected: its problem, whose status is the answer's. */
  refused(routeId: string, call?: Call): Promise<ToldProblem>;
  /** A token of an operator who is scoped to one airport. */
  scopedToken(airline: string, role: string, airport: string): Promise<string>;
  /** Reads until it holds. @throws Error after 30 s, with what was read last */
  eventually<Read>(what: string, read: () => Promise<Read>, holds: (read: Read) => boolean): Promise<Read>;
  /** Deliveries to this airline's partner, of this case. */
  deliveries(airline: DemoAirline, caseUrn?: string): Promise<Delivery[]>;
  /** Pushes with what was answered beside the case. */
  pushed(
    airline: DemoAirline,
    body: DisruptionPushBody,
  ): Promise<Told<{ caseUrn: string; subCaseCount: number }>>;
}

/** A whole instance and its clients. */
export async function startClients(t: Test, options: InstanceOptions = {}): Promise<Clients> {
  const started = await startInstance(t, options);
  const sent: Clients["sent"] = (routeId, asked) => {
    const row = rowOf(routeId);
    const path = row.path.replace(/\{(\w+)\}/g, (_, name) => encodeURIComponent(asked.params?.[name] ?? ""));
    const url = new URL(`${row.prefixes.at(-1)}${path}`, asked.baseUrl ?? started.instance.baseUrl);
    for (const [name, value] of Object.entries(asked.query ?? {})) url.searchParams.set(name, String(value));
    const target =
      asked.rawPath === undefined ? url.pathname + url.search : row.prefixes.at(-1) + asked.rawPath;
    return send(url, target, row.method.toUpperCase(), asked);
  };
  const call: Clients["call"] = async <Body>(routeId: string, asked: Call = {}) => {
    const told = await sent(routeId, asked);
    checkPromise(routeId, told);
    return told as Told<Body>;
  };
  const eventually: Clients["eventually"] = async (what, read, holds) => {
    const deadline = performance.now() + withinMs;
    for (;;) {
      const found = await read();
      if (holds(found)) return found;
      if (performance.now() > deadline)
        throw new Error(
          `${what}: not within ${withinMs} ms; last read ${JSON.stringify(found).slice(0, 2000)}`,
        );
      await new Promise((resolve) => setTimeout(resolve, pauseMs));
    }
  };
  return {
    ...started,
    sent,
    call,
    eventually,
    refused: async (routeId, asked) => {
      const told = await call<ToldProblem>(routeId, asked);
      if (told.status < 400)
        throw new Error(`${routeId} answered ${told.status}: ${JSON.stringify(told.body)}`);
      return told.body;
    },
    scopedToken: (airline, role, airport) => mintOperatorToken(started.instance, { airline, role, airport }),
    deliveries: async ({ partners }, caseUrn) => {
      const ledger = (await started.ledger("receiver")) as Ledger & { deliveries: Delivery[] };
      return ledger.deliveries.filter(
        ({ path, body }) =>
          path === partners[0]?.clientId && (caseUrn === undefined || body.case_urn === caseUrn),
      );
    },
    pushed: async (airline, body) =>
      call("pushDisruption", { token: await started.partnerToken(airline), body }),
  };
}
