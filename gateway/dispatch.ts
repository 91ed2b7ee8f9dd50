/** Owns calling the actors: the envelope made of a checked request, and what a failed call means to the caller. */
import type { ServiceBroker } from "moleculer";
import type { Accepted, Command, Principal, Query, Reply, StagedRef, Trace } from "../schemas/command.ts";
import { Problem } from "../schemas/problems.ts";
import { idOf } from "../schemas/urn.ts";
import { outageOf } from "../streams/outage.ts";
import type { PresentedToken } from "../streams/revocations.ts";
import type { UploadedFile } from "./checks/read-json.ts";
import type { CompiledRoute } from "./compile-route.ts";

/** Longer than the slowest synchronous answer, a webhook's test that waits 10 s; the caller is then told to come back. */
const callTimeoutMs = 13_000;

/** A request as it came. */
export interface RawRequest {
  /** Names in lower case; the values of one that came several times are joined by a comma and a blank. */
  headers: Record<string, string>;
  body: Buffer;
  /** Path and query, percent-encoded. */
  target: string;
}

/** A request that has passed every check of the gateway. Members are stripped of what no schema knows. */
export interface CheckedRequest {
  route: CompiledRoute;
  trace: Trace;
  principal: Principal;
  /** What a token can be withdrawn by, for answers that outlast their check; undefined: the route takes none. */
  presented: PresentedToken | undefined;
  now: Date;
  params: Record<string, unknown>;
  query: Record<string, unknown>;
  body: Record<string, unknown>;
  /** Of the body as it came. */
  bodyBytes: number;
  /** Of a route that takes its body as it came. */
  raw: RawRequest | undefined;
  /** Of a route that takes a form. */
  file: UploadedFile | undefined;
  idempotencyKey: string | undefined;
  /** From `If-Match`. */
  expectedVersion: number | undefined;
  /** What the client has of it already; empty: nothing, or it does not count here. */
  ifNoneMatch: string;
  /** The event that a client of a stream has received last; empty: none. */
  lastEventId: string;
  /** The client's address; empty once it has gone. Asked for by few, and a native call. */
  address: () => string;
}

/** Keeps a large command's data elsewhere and gives back the command with a reference in its place. */
export type StageCommand = (command: Command) => Promise<Command>;

/** Keeps what no command carries; its reference stands in the command's data. */
export type StageText = (command: Pick<Command, "tenant" | "issuedAt">, text: string) => Promise<StagedRef>;

export interface Dispatch {
  /** @throws Problem the actor's refusal, or upstream/unavailable; anything else that is thrown is a bug */
  command(name: string, command: Command): Promise<Accepted>;
  query(name: string, query: Query): Promise<Accepted>;
}

export const createDispatch = (broker: ServiceBroker): Dispatch => {
  const call = async (name: string, envelope: Command | Query): Promise<Accepted> => {
    const reply = await reached<Reply>(broker, name, envelope);
    if ("problem" in reply) throw Problem.from(reply.problem);
    return reply;
  };
  return { command: call, query: call };
};

/** What an action answers. @throws Problem upstream/unavailable where nobody does, or what it needs is away; else what it threw */
export const reached = async <Answer>(
  broker: ServiceBroker,
  name: string,
  params: object,
): Promise<Answer> => {
  try {
    return await broker.call<Answer, object>(name, params, { timeout: callTimeoutMs });
  } catch (error) {
    const away = isUnreachable(error) ? name.slice(0, name.indexOf(".")) : outageOf(error);
    throw away === undefined ? error : unavailable(away);
  }
};

/** Whether some process answers each of these actions, as far as this one has heard. */
export const reachesAll = (broker: ServiceBroker, actions: Iterable<string>): boolean => {
  const { actions: known } = broker.registry as unknown as {
    actions: { isAvailable(name: string): boolean };
  };
  for (const name of actions) if (!known.isAvailable(name)) return false;
  return true;
};

/** By name, because an error from another process is not an instance of this one's classes. */
const unreachable: ReadonlySet<string> = new Set([
  "ServiceNotFoundError",
  "ServiceNotAvailableError",
  "RequestTimeoutError",
  "RequestSkippedError",
  "RequestRejectedError",
  "QueueIsFullError",
  "BrokerDisconnectedError",
]);

const isUnreachable = (error: unknown): boolean => error instanceof Error && unreachable.has(error.name);

const unavailable = (failedDomain: string): Problem =>
  new Problem("upstream/unavailable", `The ${failedDomain} service does not answer right now.`, {
    failedDomain,
    retryAfterSeconds: 30,
  });

/** The command that a row and its request make. Its data is the body, the other path parameters and the query. */
export const commandOf = (
  request: CheckedRequest,
  target: { name: string; entity: string | undefined },
): Command => {
  const { route, trace, principal, body, idempotencyKey } = request;
  const data: Record<string, unknown> = { ...body, ...request.params, ...request.query };
  const entity = target.entity === undefined ? "" : idOf(String(data[target.entity]));
  if (target.entity !== undefined) delete data[target.entity];
  const expectedVersion = (body.version as number | undefined) ?? request.expectedVersion;
  const fencingToken = body.fencingToken as number | undefined;
  return {
    ...trace,
    id:
      idempotencyKey === undefined
        ? `api:${trace.correlationUrn.slice("urn:correlation:".length)}`
        : `api:${[principal.tenant, principal.urn, route.id, ...Object.values(request.params), idempotencyKey].join(":")}`,
    name: target.name,
    tenant: principal.tenant,
    entity,
    principal,
    issuedAt: request.now.toISOString(),
    ...(expectedVersion === undefined ? {} : { expectedVersion }),
    ...(fencingToken === undefined ? {} : { fencingToken }),
    data,
  };
};

/** A query's params are the path's and the query's; of a search that is posted the body's, too. */
export const queryOf = ({ trace, principal, params, query, body }: CheckedRequest): Query => ({
  ...trace,
  tenant: principal.tenant,
  principal,
  params: { ...body, ...params, ...query },
});
