/** Owns the way of a request: the checks in their order, one screen. Each refuses by throwing a Problem; only `respond` writes. */
import type { Logger } from "pino";
import type { Trace } from "../schemas/command.ts";
import { Problem } from "../schemas/problems.ts";
import type { ClosedCases } from "../streams/closed-cases.ts";
import type { Revocations } from "../streams/revocations.ts";
import type { TenantDirectory } from "../streams/tenant-directory.ts";
import { requireAcceptable } from "./checks/acceptable.ts";
import { airlineOfHost, authenticate, authorize, type Verifiers } from "./checks/authenticate.ts";
import { requireOpenCase } from "./checks/case-standing.ts";
import { readConditions } from "./checks/conditions.ts";
import type { CrossOrigin } from "./checks/cross-origin.ts";
import { Quota } from "./checks/rate.ts";
import { readForm } from "./checks/read-form.ts";
import { type ReadBody, readJson } from "./checks/read-json.ts";
import { type KeyedWrite, keyedWriteOf, type Replays } from "./checks/replay.ts";
import type { CompiledRoute } from "./compile-route.ts";
import type { CheckedRequest, RawRequest } from "./dispatch.ts";
import type { Handler } from "./handlers/handlers.ts";
import { type Exchange, type HttpAnswer, RequestAborted } from "./http/exchange.ts";
import type { TellProblem } from "./problem-response.ts";
import type { AlertPartner } from "./rates/partner-alerts.ts";
import type { PartnerTally } from "./rates/partner-tally.ts";
import type { Rates } from "./rates/rates.ts";
import type { Router } from "./router.ts";
import { beginTrace } from "./trace.ts";

export interface PipelineParts {
  router: Router<CompiledRoute>;
  tenants: TenantDirectory;
  closedCases: ClosedCases;
  revocations: Revocations;
  verifiers: Verifiers;
  replays: Replays;
  rates: Rates;
  alertPartner: AlertPartner;
  tally: PartnerTally;
  handle: Handler;
  tellProblem: TellProblem;
  crossOrigin: CrossOrigin;
  now: () => Date;
  log: Logger;
}

/** What every answer to a request carries beside its own headers, a refusal too; known once the route is. */
interface Notices {
  headers: CompiledRoute["notices"];
}

/** Answers every exchange exactly once, whatever happens; never rejects. */
export const createPipeline = (parts: PipelineParts) => {
  const { router, tenants, closedCases, crossOrigin, replays, handle } = parts;

  const answerTo = async (
    exchange: Exchange,
    trace: Trace,
    now: Date,
    notices: Notices,
    quota: Quota,
  ): Promise<HttpAnswer> => {
    if (exchange.method === "OPTIONS") {
      const allowed = router.allowed(exchange.path);
      quota.take();
      return optionsOf(allowed, exchange, crossOrigin);
    }
    const { row: route, values } = router.match(exchange.method, exchange.path);
    notices.headers = route.notices;
    const rawHeaders = route.rawSignedIn === undefined ? undefined : exchange.everyHeader();
    requireSignature(route, rawHeaders);
    // In the request's own tick, or its first bytes are lost; what a check refuses is dropped with the exchange.
    if (route.bodyBytesMax > 0) exchange.collectBody(route.bodyBytesMax, route.bodyRoom);
    const airline = airlineOfHost(route, exchange, tenants);
    const { principal, presented } = await authenticate(route, exchange, airline, parts);
    requireOpenCase(principal, closedCases);
    authorize(route, principal);
    quota.admit(route, principal);
    // Before a key is looked up: what was kept for it may be of a type that this client does not take.
    requireAcceptable(route.produces, exchange.headers.accept);
    const conditions = readConditions(route, exchange);
    const readBody = bodyReader(route, exchange);
    const write = keyedWriteOf(route, values, exchange, principal, conditions.idempotencyKey, readBody);
    const run = async (): Promise<HttpAnswer> => {
      const raw = rawHeaders === undefined ? undefined : await readRaw(exchange, rawHeaders);
      const read: ReadBody =
        raw === undefined ? await readBody() : { value: undefined, bytes: raw.body.length };
      const input = matchInput(route, values, exchange.query, read.value, read.bytes);
      checkUrns(route, input, principal.tenant);
      const address = (): string => exchange.address();
      return handle({
        route,
        trace,
        now,
        principal,
        presented,
        address,
        bodyBytes: read.bytes,
        raw,
        file: read.file,
        ...conditions,
        ...input,
      });
    };
    if (write === undefined) {
      quota.take();
      return run();
    }
    // Asked for at once, the lease itself tells whether the key is new: one way to the bucket less.
    if (quota.hasRoom()) return countedOnce(write, trace, run, quota);
    // Past the limit only what was answered before is answered, and no key is noted; each look counts as a retry.
    quota.takeRetry();
    const standing = await replays.find(write);
    if ("answer" in standing) return standing.answer;
    quota.take();
    return replays.once(write, standing.revision, trace, run);
  };

  /** Counted before its body is waited for, so that no more are let in than may run; a retry counts as one instead. */
  const countedOnce = async (
    write: KeyedWrite,
    trace: Trace,
    run: () => Promise<HttpAnswer>,
    quota: Quota,
  ): Promise<HttpAnswer> => {
    quota.take();
    let isRetry = true;
    let answer: HttpAnswer;
    try {
      answer = await replays.once(write, 0, trace, () => {
        isRetry = false;
        return run();
      });
    } catch (error) {
      if (isRetry && error instanceof Problem && error.code === "conflict/in-flight") quota.exemptRetry();
      throw error;
    }
    if (isRetry) quota.exemptRetry();
    return answer;
  };

  return async (exchange: Exchange): Promise<void> => {
    const now = parts.now();
    const trace = beginTrace(exchange.headers.traceparent, now);
    const notices: Notices = { headers: [] };
    const quota = new Quota(parts.rates, parts.alertPartner, exchange, trace, now);
    let answer: HttpAnswer;
    try {
      answer = await answerTo(exchange, trace, now, notices, quota);
    } catch (error) {
      if (error instanceof RequestAborted) return;
      const problem = quota.refusalOf(asProblem(error, exchange, trace, parts.log));
      answer = parts.tellProblem(problem, trace.correlationUrn);
    }
    const call = quota.partnerCall();
    if (call !== undefined) parts.tally.note(call.partner, call.rate, answer.status);
    const sending = exchange.respond({
      ...answer,
      headers: [
        ...answer.headers,
        ...notices.headers,
        ...crossOrigin.headers(exchange.headers.origin),
        ["traceparent", trace.traceparent],
        ["X-RateLimit-Remaining", String(quota.remaining())],
      ],
    });
    await sending?.catch((error) => {
      const { correlationUrn } = trace;
      parts.log.error({ correlationUrn, path: exchange.path, err: error }, "answer broken off");
    });
  };
};

/**
 * Whether it is a good one the handler tells; without any nothing is waited for, or kept.
 * @throws Problem auth/bad-signature
 */
const requireSignature = (
  { rawSignedIn = [] }: CompiledRoute,
  headers: Record<string, string> | undefined,
): void => {
  if (headers !== undefined && !rawSignedIn.some((name) => headers[name]))
    throw new Problem("auth/bad-signature", "The request has no signature.");
};

const readRaw = async (exchange: Exchange, headers: Record<string, string>): Promise<RawRequest> => {
  const { path, query } = exchange;
  return { headers, body: await exchange.body(), target: query === "" ? path : `${path}?${query}` };
};

/** Reads a body once, however often it is asked for. */
const bodyReader = (route: CompiledRoute, exchange: Exchange): (() => Promise<ReadBody>) => {
  let reading: Promise<ReadBody> | undefined;
  const read = (): Promise<ReadBody> => {
    if (route.fileBytesMax !== undefined) return readForm(exchange, route.fileBytesMax);
    return route.bodyBytesMax > 0 ? readJson(exchange) : Promise.resolve({ value: undefined, bytes: 0 });
  };
  return () => {
    reading ??= read();
    return reading;
  };
};

type Input = Pick<CheckedRequest, "params" | "query" | "body">;

/** @throws Problem not-found/resource, validation/query, validation/body */
const matchInput = (
  route: CompiledRoute,
  values: readonly string[],
  query: string,
  body: unknown,
  bytes: number,
): Input => {
  const params: Record<string, unknown> = {};
  for (const [i, name] of route.paramNames.entries()) params[name] = values[i];
  // What cannot be the name of such a resource names none.
  if (route.matchParams?.(params) === false)
    throw new Problem("not-found/resource", `The path names no ${route.paramNames.join(", ")} of ours.`);
  return {
    params,
    query: route.matchQuery?.(query) ?? {},
    body: route.matchBody?.(body, bytes) ?? {},
  };
};

/** @throws Problem auth/foreign-tenant */
const checkUrns = (route: CompiledRoute, input: Input, tenant: string): void => {
  route.checkParamUrns?.(input.params, tenant);
  route.checkQueryUrns?.(input.query, tenant);
  route.checkBodyUrns?.(input.body, tenant);
};

const optionsOf = (allowed: readonly string[], exchange: Exchange, crossOrigin: CrossOrigin): HttpAnswer => ({
  status: 204,
  headers: [["Allow", allowed.join(", ")], ...crossOrigin.preflight(exchange, allowed)],
  body: undefined,
});

/** A refusal as it is; anything else is a bug or an outage of ours, logged here and told without its details. */
const asProblem = (error: unknown, exchange: Exchange, trace: Trace, log: Logger): Problem => {
  const facts = { correlationUrn: trace.correlationUrn, method: exchange.method, path: exchange.path };
  if (error instanceof Problem) {
    if (error.status >= 500) log.warn({ ...facts, code: error.code, ...error.members }, error.message);
    return error;
  }
  log.error({ ...facts, err: error }, "request failed unexpectedly");
  return new Problem("internal/unexpected", "Quote the `instance` of this problem when you report it.");
};
